//! Values on the command line: parses, prints, writes and compares them.

/// Calls a macro with each scalar type of MLIR programs and its spelling.
macro_rules! scalars {
    ($use:ident) => {
        $use! {
            i8 "i8", i16 "i16", i32 "i32", i64 "i64", u8 "ui8", u16 "ui16", u32 "ui32", u64 "ui64",
            f16 "f16", bf16 "bf16", f32 "f32", f64 "f64"
        }
    };
}

mod compare;
mod file;
mod json;
mod output;
pub(super) mod random;

use std::{str::FromStr, sync::Arc};

use serde_json::Value as Json;
use tfrt_host::{AsyncValue, Chain, DType, Diagnostic, ErrorCode, Value, allocator::HostAllocator};
use tfrt_tensor::{
    Accessor, DenseHostTensor, Element, HostTensor, StringHostTensor, TensorShape, bf16, f16, with_element,
};

use self::file::TensorFile;
use super::Failure;

pub(super) use self::{
    compare::{Difference, difference},
    file::{check_output, file_bytes, is_image_file, is_number_file, write},
    json::JsonValue,
    output::show_output,
};

/// MLIR spelling of the type of chains.
pub(super) const CHAIN: &str = Chain::TYPE_NAME;

static ME: Accessor = Accessor::new("tfrt");

type Allocator = Arc<dyn HostAllocator>;

fn wrong(message: impl Into<String>) -> Diagnostic {
    Diagnostic::invalid_argument(message)
}

/// Parses a value of the type of an argument or result. A number may name its type, as tensors do:
/// `i32=5`. A file that the text names has at most `max_bytes` bytes.
///
/// # Errors
/// [`Failure::Usage`] if the text is malformed or values of the type cannot be written as text,
/// [`Failure::Errors`] if a file cannot be read or there is no memory for the value.
pub(super) fn parse(
    text: &str,
    ty: &str,
    max_bytes: u64,
    allocator: &Allocator,
) -> Result<AsyncValue, Failure> {
    if ty == HostTensor::TYPE_NAME
        && let Some(file) = text.strip_prefix('@')
    {
        let file = TensorFile::parse(file)?;
        return Ok(AsyncValue::new(file.read(max_bytes, allocator)?));
    }
    parse_text(text, ty, allocator).map_err(|error| match error.code {
        ErrorCode::OutOfMemory | ErrorCode::ResourceExhausted => error.into(),
        _ => Failure::Usage(error.message),
    })
}

fn parse_text(text: &str, ty: &str, allocator: &Allocator) -> Result<AsyncValue, Diagnostic> {
    macro_rules! parse_scalar {
        ($($scalar:ident $name:literal),*) => {
            let bare = text.strip_prefix(ty).and_then(|rest| rest.strip_prefix('=')).unwrap_or(text);
            match ty {
                $($name => return Ok(AsyncValue::new(number::<$scalar>(bare)?)),)*
                _ => {}
            }
        };
    }
    scalars!(parse_scalar);
    match ty {
        "i1" => Ok(AsyncValue::new(boolean(text)?)),
        String::TYPE_NAME => Ok(AsyncValue::new(text.to_owned())),
        HostTensor::TYPE_NAME => Ok(AsyncValue::new(tensor(text, allocator)?)),
        _ => Err(wrong("values of this type cannot be passed on the command line")),
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, Diagnostic> {
    text.trim().parse().map_err(|_| wrong(format!("'{}' is not a number of this type", text.trim())))
}

fn boolean(text: &str) -> Result<bool, Diagnostic> {
    match text.trim() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        other => Err(wrong(format!("'{other}' is neither true nor false"))),
    }
}

/// Parses `2x2xf32=[1,2,3,4]`, `2x2xf32=0` or `2x2xf32=random(SEED)`.
fn tensor(text: &str, allocator: &Allocator) -> Result<HostTensor, Diagnostic> {
    let (form, elements) = text.split_once('=').ok_or_else(|| {
        wrong("a tensor is written as 2x2xf32=[1,2,3,4], f32=0, f32=random(1) or @file.npy")
    })?;
    let (mut dimensions, mut name) = (Vec::new(), form);
    // `complex<f32>` contains an x as well.
    while let Some((extent, rest)) = name.split_once('x')
        && extent.trim_start().starts_with(|c: char| c.is_ascii_digit())
    {
        dimensions.push(number::<usize>(extent)?);
        name = rest;
    }
    let name = name.trim();
    // The second form is how types are printed.
    if matches!(name, "string" | "!corert.string") {
        return string_tensor(TensorShape::new(&dimensions)?, elements);
    }
    let dtype =
        DType::from_mlir_name(name).ok_or_else(|| wrong(format!("'{name}' is not an element type")))?;
    let shape = TensorShape::new(&dimensions)?;
    if let Some(seed) = random::seed(elements)? {
        return Ok(random::tensor(dtype, shape, seed, allocator)?.into());
    }
    let dense = with_element!(dtype, |T| elements_of::<T>(shape, elements, allocator), else {
        Err(wrong(format!("tensors of {name} cannot be passed on the command line")))
    })?;
    Ok(dense.into())
}

/// Parses `["a", "b"]`, with the strings as in JSON, or the text of one string.
fn string_tensor(shape: TensorShape, text: &str) -> Result<HostTensor, Diagnostic> {
    fn flatten(json: Json, strings: &mut Vec<String>) -> Result<(), Diagnostic> {
        match json {
            Json::String(text) => strings.push(text),
            Json::Array(elements) => {
                elements.into_iter().try_for_each(|element| flatten(element, strings))?
            }
            other => return Err(wrong(format!("'{other}' is not a string in quotes"))),
        }
        Ok(())
    }
    let mut strings = Vec::new();
    if text.trim_start().starts_with(['[', '"']) {
        let json = serde_json::from_str(text);
        flatten(
            json.map_err(|error| wrong(format!("the strings are not valid JSON: {error}")))?,
            &mut strings,
        )?;
    } else {
        strings.push(text.to_owned());
    }
    Ok(StringHostTensor::new(shape, strings)?.into())
}

fn elements_of<T: Element + FromStr>(
    shape: TensorShape,
    text: &str,
    allocator: &Allocator,
) -> Result<DenseHostTensor, Diagnostic> {
    let element = |text: &str| match (T::DTYPE, text.trim()) {
        (DType::I1, "1") => number("true"),
        (DType::I1, "0") => number("false"),
        (_, text) => number::<T>(text),
    };
    if !text.trim_start().starts_with('[') {
        return DenseHostTensor::full(shape, element(text)?, allocator);
    }
    let mut texts = list(text)?;
    if texts.iter().any(|text| text.trim_start().starts_with('[')) {
        texts = unnest(texts, shape.dims())?;
    }
    let elements = texts.into_iter().map(element).collect::<Result<Vec<T>, _>>()?;
    DenseHostTensor::from_slice(shape, &elements, allocator)
}

/// Splits a list in brackets at its commas; lists within it stay whole.
fn list(text: &str) -> Result<Vec<&str>, Diagnostic> {
    let text = text.trim();
    let unmatched = || wrong(format!("'{text}' is not a list in brackets"));
    let inside = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).ok_or_else(unmatched)?;
    if inside.trim().is_empty() {
        return Ok(Vec::new());
    }
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, character) in inside.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1).ok_or_else(unmatched)?,
            ',' if depth == 0 => {
                parts.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[start..]);
    if depth == 0 { Ok(parts) } else { Err(unmatched()) }
}

/// Returns the elements of nested lists, whose nesting must match the shape.
fn unnest<'t>(mut texts: Vec<&'t str>, dimensions: &[usize]) -> Result<Vec<&'t str>, Diagnostic> {
    let counted = |texts: Vec<&'t str>, extent: usize| match texts.len() {
        count if count == extent => Ok(texts),
        count => Err(wrong(format!("a list has {count} elements, but the shape has {extent} there"))),
    };
    let Some((&outer, inner)) = dimensions.split_first() else { return Ok(texts) };
    texts = counted(texts, outer)?;
    for &extent in inner {
        let lists = texts.into_iter().map(|text| counted(list(text)?, extent));
        texts = lists.collect::<Result<Vec<_>, _>>()?.concat();
    }
    Ok(texts)
}

/// Formats a value as a line of text.
pub(super) fn show(value: &AsyncValue, ty: &str) -> Result<String, Diagnostic> {
    macro_rules! show_scalar {
        ($($scalar:ident $name:literal),*) => {
            $(if let Some(number) = value.get::<$scalar>() { return Ok(number.to_string()); })*
        };
    }
    scalars!(show_scalar);
    if let Some(flag) = value.get::<bool>() {
        return Ok(flag.to_string());
    }
    if let Some(text) = value.get::<String>() {
        return Ok(format!("{text:?}"));
    }
    match value.get::<HostTensor>() {
        Some(tensor) => Ok(tensor.print(&ME)?.trim_end().to_owned()),
        None => Ok(format!("a {ty}")),
    }
}

#[cfg(test)]
mod tests {
    use tfrt_host::allocator::SystemAllocator;

    use super::*;

    fn read(text: &str, ty: &str) -> Result<AsyncValue, Failure> {
        parse(text, ty, u64::MAX, &(Arc::new(SystemAllocator) as Allocator))
    }

    #[test]
    fn malformed_values_are_wrong_usage_and_missing_files_are_errors() {
        let is_usage = |text: &str| match read(text, "!t.tensor") {
            Err(failure) => matches!(failure, Failure::Usage(_)),
            Ok(_) => panic!("{text} is a value"),
        };
        for text in ["2xi32=[1]", "@x.npy#5", "@x.png#a", "@x.btf#a", "@x.txt", "7"] {
            assert!(is_usage(text), "{text}");
        }
        for text in ["@missing.npy", "@missing.btf#5", "@missing#5.npy", "@missing.safetensors#a.npy"] {
            assert!(!is_usage(text), "{text}");
        }
    }

    fn value(text: &str, ty: &str) -> AsyncValue {
        read(text, ty).unwrap_or_else(|_| panic!("{text} is not a value"))
    }

    #[test]
    fn values_read_and_print() {
        let cases = [
            ("42", "i32", "42"),
            ("-1.5", "f32", "-1.5"),
            ("i32=42", "i32", "42"),
            ("true", "i1", "true"),
            ("a b", "!tfrt.string", "\"a b\""),
            ("2xi32=[1,2]", "!t.tensor", "DenseHostTensor dtype = I32, shape = [2], values = [1, 2]"),
            (
                "2x2xi8=[[1,2],[3,4]]",
                "!t.tensor",
                "DenseHostTensor dtype = I8, shape = [2, 2], values = [1, 2, 3, 4]",
            ),
            ("2 x 1xi64 =7", "!t.tensor", "DenseHostTensor dtype = I64, shape = [2, 1], values = [7, 7]"),
            ("2xi64=random(1)", "!t.tensor", "DenseHostTensor dtype = I64, shape = [2], values = [1, 1]"),
            ("2xi64=7", "!t.tensor", "DenseHostTensor dtype = I64, shape = [2], values = [7, 7]"),
            ("0xi64=[]", "!t.tensor", "DenseHostTensor dtype = I64, shape = [0], values = []"),
            ("i1=1", "!t.tensor", "DenseHostTensor dtype = I1, shape = [], values = [1]"),
            ("2x0xi64=[ [], [ ] ]", "!t.tensor", "DenseHostTensor dtype = I64, shape = [2, 0], values = []"),
            (
                "2x1x2xi8=[[[1, 2]], [[3, 4]]]",
                "!t.tensor",
                "DenseHostTensor dtype = I8, shape = [2, 1, 2], values = [1, 2, 3, 4]",
            ),
            (
                "2xcomplex<f32>=[1+2i,-3]",
                "!t.tensor",
                "DenseHostTensor dtype = Complex64, shape = [2], values = [(1.000000e+00,2.000000e+00), (-3.000000e+00,0.000000e+00)]",
            ),
        ];
        for (text, ty, expected) in cases {
            assert_eq!(show(&value(text, ty), ty).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn strings_are_named_for_short_or_as_they_are_printed() {
        for name in ["string", "!corert.string"] {
            let text = format!(r#"2x{name}=["a", "b"]"#);
            let shown = show(&value(&text, "!t.tensor"), "!t.tensor").unwrap();
            assert!(shown.contains("[2]") && shown.contains("\"a\", \"b\""), "{shown}");
        }
    }

    #[test]
    fn what_is_no_value_is_an_error() {
        let cases = [
            ("x", "i32"),
            ("300", "i8"),
            ("i64=1", "i32"),
            ("2", "i1"),
            ("2xi32=[1]", "!t.tensor"),
            ("2xq9=[1]", "!t.tensor"),
            ("-1xi32=[1]", "!t.tensor"),
            ("2xi32=[1,2", "!t.tensor"),
            ("2xi32=]1,2[", "!t.tensor"),
            ("2xi32=[1,2]]", "!t.tensor"),
            ("2x2xi32=[[1,2,3],[4]]", "!t.tensor"),
            ("2x2xi32=[[1],[2],[3],[4]]", "!t.tensor"),
            ("4xi32=[[1,2],[3,4]]", "!t.tensor"),
            ("2x2xi32=[1,2,[3,4]]", "!t.tensor"),
            ("i32=[[1]]", "!t.tensor"),
            ("2xf32=random(x)", "!t.tensor"),
            ("2xf32=random", "!t.tensor"),
            ("@no.such.file.npy", "!t.tensor"),
            ("@no.txt", "!t.tensor"),
            ("1", "!my.type"),
        ];
        for (text, ty) in cases {
            assert!(read(text, ty).is_err(), "{text}");
        }
    }
}
