//! Values on the command line: parses, prints, writes and compares them.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::Path,
    str::FromStr,
    sync::Arc,
};

use serde_json::{Value as Json, json};
use tfrt_host::{AsyncValue, Chain, DType, Diagnostic, Value, allocator::HostAllocator};
use tfrt_models::image::{CHANNELS, Image};
use tfrt_tensor::{
    Accessor, Complex, DenseHostTensor, Element, HostTensor, StringHostTensor, TensorShape, bf16, f16,
    files::{btf::BtfFile, npy, safetensors::SafeTensorsFile},
    with_element,
};

use super::{Failure, file_error, program::enumerate_names};
use crate::files::{check_output_path, replace_file};

/// MLIR spelling of the type of chains.
pub(super) const CHAIN: &str = Chain::TYPE_NAME;

static ME: Accessor = Accessor::new("tfrt");

type Allocator = Arc<dyn HostAllocator>;

fn wrong(message: impl Into<String>) -> Diagnostic {
    Diagnostic::invalid_argument(message)
}

/// Calls a macro with each scalar type of MLIR programs and its spelling.
macro_rules! scalars {
    ($use:ident) => {
        $use! {
            i8 "i8", i16 "i16", i32 "i32", i64 "i64", u8 "ui8", u16 "ui16", u32 "ui32", u64 "ui64",
            f16 "f16", bf16 "bf16", f32 "f32", f64 "f64"
        }
    };
}

/// Parses a value of the type of an argument or result. A number may name its type, as tensors do: `i32=5`.
///
/// # Errors
/// [`Failure::Usage`] if the text is malformed or values of the type cannot be written as text,
/// [`Failure::Errors`] if a file cannot be read.
pub(super) fn parse(text: &str, ty: &str, allocator: &Allocator) -> Result<AsyncValue, Failure> {
    if ty == HostTensor::TYPE_NAME
        && let Some(file) = text.strip_prefix('@')
    {
        let file = TensorFile::parse(file)?;
        return Ok(AsyncValue::new(file.read(allocator)?));
    }
    parse_text(text, ty, allocator).map_err(|error| Failure::Usage(error.message))
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

/// Parses `2x2xf32=[1,2,3,4]` or `2x2xf32=0`.
fn tensor(text: &str, allocator: &Allocator) -> Result<HostTensor, Diagnostic> {
    let (form, elements) = text
        .split_once('=')
        .ok_or_else(|| wrong("a tensor is written as 2x2xf32=[1,2,3,4], f32=0 or @file.npy"))?;
    let (mut dimensions, mut name) = (Vec::new(), form);
    // `complex<f32>` contains an x as well.
    while let Some((extent, rest)) = name.split_once('x')
        && extent.trim_start().starts_with(|c: char| c.is_ascii_digit())
    {
        dimensions.push(number::<usize>(extent)?);
        name = rest;
    }
    let name = name.trim();
    if name == "string" {
        return string_tensor(TensorShape::new(&dimensions)?, elements);
    }
    let dtype =
        DType::from_mlir_name(name).ok_or_else(|| wrong(format!("'{name}' is not an element type")))?;
    let shape = TensorShape::new(&dimensions)?;
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

/// A tensor in a file: `file.npy`, `file.btf#INDEX`, `file.safetensors#NAME`, or an image, whose pixels are
/// `ui8` of height × width × 3.
enum TensorFile<'t> {
    Npy(&'t str),
    Btf(&'t str, usize),
    SafeTensors(&'t str, Option<&'t str>),
    Image(&'t str),
}

impl<'t> TensorFile<'t> {
    fn parse(text: &'t str) -> Result<Self, Failure> {
        // The name of any file may contain '#'.
        let (file, part) = match text.split_once('#') {
            Some((file, part)) if is_tensor_file(file) => (file, Some(part)),
            _ => (text, None),
        };
        let whole = |found: Self| match part {
            None => Ok(found),
            Some(part) => Err(Failure::Usage(format!("'{file}' holds one tensor, so '#{part}' names none"))),
        };
        match &*extension(file) {
            "npy" => whole(Self::Npy(file)),
            "jpg" | "jpeg" | "png" => whole(Self::Image(file)),
            "btf" => match part.map_or(Ok(0), str::parse) {
                Ok(index) => Ok(Self::Btf(file, index)),
                Err(_) => Err(Failure::Usage(format!("'{}' is not an index", part.unwrap_or_default()))),
            },
            "safetensors" => Ok(Self::SafeTensors(file, part)),
            _ => Err(Failure::Usage(format!("'{file}' is neither .npy, .btf, .safetensors, .jpg nor .png"))),
        }
    }

    fn read(&self, allocator: &Allocator) -> Result<HostTensor, Diagnostic> {
        match *self {
            Self::Npy(file) => Ok(npy::read(file, allocator)?.into()),
            Self::Btf(file, index) => BtfFile::open(file)?.tensor(index),
            Self::SafeTensors(file, part) => {
                let opened = SafeTensorsFile::open(file)?;
                let name = match part {
                    Some(name) => name.to_owned(),
                    None => only_name(&opened)?,
                };
                Ok(opened.tensor(&name, allocator)?.into())
            }
            Self::Image(file) => image_file(file, allocator),
        }
    }
}

fn is_tensor_file(file: &str) -> bool {
    ["npy", "btf", "safetensors", "jpg", "jpeg", "png"].contains(&&*extension(file))
}

/// Whether a file is an image, by its name.
pub(super) fn is_image_file(file: &str) -> bool {
    ["jpg", "jpeg", "png"].contains(&&*extension(file))
}

/// The most bytes of an image file.
const MAX_IMAGE_BYTES: u64 = 1 << 28;

fn image_file(file: &str, allocator: &Allocator) -> Result<HostTensor, Diagnostic> {
    let unreadable = |error: io::Error| file_error("read", file, error);
    let mut bytes = Vec::new();
    let opened = File::open(file).map_err(unreadable)?;
    opened.take(MAX_IMAGE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_IMAGE_BYTES {
        return Err(wrong(format!("'{file}' has more than {MAX_IMAGE_BYTES} bytes")));
    }
    let image = Image::decode(&bytes).map_err(|error| wrong(format!("'{file}': {error}")))?;
    let shape = [image.height(), image.width(), CHANNELS];
    Ok(DenseHostTensor::from_slice(shape, image.pixels(), allocator)?.into())
}

fn only_name(file: &SafeTensorsFile) -> Result<String, Diagnostic> {
    let names: Vec<_> = file.names().collect();
    match names[..] {
        [only] => Ok(only.to_owned()),
        _ => Err(wrong(format!(
            "the file holds several tensors; add '#' and one of {}",
            enumerate_names(names.into_iter())
        ))),
    }
}

/// Returns a file's extension in lower case, since cameras write `.JPG`.
fn extension(file: &str) -> String {
    let extension = Path::new(file).extension().and_then(|extension| extension.to_str());
    extension.unwrap_or_default().to_ascii_lowercase()
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

/// Converts a value to JSON; tensors with all their elements.
pub(super) fn to_json(value: &AsyncValue, ty: &str, allocator: &Allocator) -> Result<Json, Diagnostic> {
    macro_rules! json_scalar {
        ($($scalar:ident $name:literal),*) => {
            $(if let Some(number) = value.get::<$scalar>() {
                return Ok(json!({ "type": ty, "value": json_number(number) }));
            })*
        };
    }
    scalars!(json_scalar);
    if let Some(flag) = value.get::<bool>() {
        return Ok(json!({ "type": ty, "value": flag }));
    }
    if let Some(text) = value.get::<String>() {
        return Ok(json!({ "type": ty, "value": text }));
    }
    let Some(tensor) = value.get::<HostTensor>() else { return Ok(json!({ "type": ty })) };
    let elements = match tensor {
        HostTensor::String(strings) => json!(strings.strings()),
        other => {
            let dense = other.to_dense(&ME, allocator)?;
            with_element!(dense.dtype(), |T| json_elements::<T>(&dense)?, else json!(null))
        }
    };
    let shape = tensor.shape().dims();
    Ok(json!({ "type": ty, "dtype": tensor.dtype().mlir_name(), "shape": shape, "values": elements }))
}

fn json_elements<T: Element + fmt::Display>(tensor: &DenseHostTensor) -> Result<Json, Diagnostic> {
    Ok(tensor.read::<T>(&ME)?.iter().map(json_number).collect())
}

/// Converts a number to JSON as it prints. JSON has no infinities and no complex numbers; they become
/// strings.
fn json_number(number: impl fmt::Display) -> Json {
    let text = number.to_string();
    serde_json::from_str(&text).unwrap_or(Json::String(text))
}

/// The formats that tensors are written in.
enum Format {
    Npy,
    Btf,
    SafeTensors,
}

impl Format {
    fn of(file: &str) -> Result<Self, Diagnostic> {
        match &*extension(file) {
            "npy" => Ok(Self::Npy),
            "btf" => Ok(Self::Btf),
            "safetensors" => Ok(Self::SafeTensors),
            _ => Err(wrong(format!("'{file}' is neither .npy nor .btf nor .safetensors"))),
        }
    }
}

/// Checks that a result of type `ty` can be written to `file`, as far as that is known before the run.
///
/// # Errors
/// [`Failure::Usage`] if the type is not a tensor or the name's extension is not a format,
/// [`Failure::Errors`] if the folder does not exist.
pub(super) fn check_output(file: &str, ty: &str) -> Result<(), Failure> {
    if ty != HostTensor::TYPE_NAME {
        return Err(Failure::Usage(format!("'{file}': only tensors can be written to a file, not {ty}")));
    }
    Format::of(file).map_err(|error| Failure::Usage(error.message))?;
    Ok(check_output_path(Path::new(file)).map_err(|error| file_error("write", file, error))?)
}

/// Writes a tensor to a `.npy`, `.btf` or `.safetensors` file.
///
/// # Errors
/// If the value is not a tensor, the name's extension is not a format, or the file cannot be written.
pub(super) fn write(value: &AsyncValue, file: &str, allocator: &Allocator) -> Result<(), Diagnostic> {
    let tensor = value.get::<HostTensor>().ok_or_else(|| wrong("only tensors can be written to a file"))?;
    let format = Format::of(file)?;
    let write = |temporary: &Path| -> Result<(), WriteError> {
        Ok(match format {
            Format::Npy => npy::write(temporary, &tensor.to_dense(&ME, allocator)?, &ME),
            Format::Btf => tfrt_tensor::files::btf::write(temporary, std::slice::from_ref(tensor), &ME),
            Format::SafeTensors => {
                let dense = tensor.to_dense(&ME, allocator)?;
                tfrt_tensor::files::safetensors::write(temporary, &[("output", &dense)], &ME)
            }
        }?)
    };
    replace_file(Path::new(file), write).map_err(|error| match error {
        WriteError::System(error) => file_error("write", file, error),
        WriteError::Format(mut error) => {
            // The format's writer knows the temporary file alone.
            error.message = format!("cannot write '{file}': {}", error.message);
            error
        }
    })
}

/// An error of writing a tensor: of the file system, or of the file's format.
enum WriteError {
    System(io::Error),
    Format(Diagnostic),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<Diagnostic> for WriteError {
    fn from(error: Diagnostic) -> Self {
        Self::Format(error)
    }
}

/// The first difference between a value and its expected value.
#[derive(Debug, PartialEq)]
pub(super) struct Difference {
    /// The element in row-major order, if tensors of one shape and type were compared.
    pub(super) index: Option<usize>,
    /// The value, or its type and shape.
    pub(super) actual: String,
    /// The expected value, or its type and shape.
    pub(super) expected: String,
    /// The number of elements that differ, and of all elements.
    pub(super) count: Option<(usize, usize)>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, actual, expected, count } = self;
        match index {
            Some(index) => write!(f, "element {index} is {actual}, expected {expected}")?,
            None => write!(f, "it is {actual}, expected {expected}")?,
        }
        match count {
            Some((differing, all)) => write!(f, " ({differing} of {all} differ)"),
            None => Ok(()),
        }
    }
}

/// Compares a value with its expected value. Floats, and the parts of complex numbers, may differ by
/// `tolerance`, absolutely or relative to the greater of the two.
///
/// # Errors
/// If the values cannot be compared.
pub(super) fn difference(
    value: &AsyncValue,
    expected: &AsyncValue,
    ty: &str,
    tolerance: f64,
    allocator: &Allocator,
) -> Result<Option<Difference>, Diagnostic> {
    let whole = |actual, expected| Difference { index: None, actual, expected, count: None };
    let (Some(actual), Some(wanted)) = (value.get::<HostTensor>(), expected.get::<HostTensor>()) else {
        let (actual, wanted) = (show(value, ty)?, show(expected, ty)?);
        let tolerance = ["f16", "bf16", "f32", "f64"].contains(&ty).then_some(tolerance);
        let is_close = is_as_expected(&actual, &wanted, tolerance);
        return Ok((!is_close).then(|| whole(actual, wanted)));
    };
    if actual.metadata() != wanted.metadata() {
        let form = |tensor: &HostTensor| format!("a {} {:?}", tensor.shape(), tensor.dtype());
        return Ok(Some(whole(form(actual), form(wanted))));
    }
    if let (HostTensor::String(actual), HostTensor::String(wanted)) = (actual, wanted) {
        return Ok(first_of(actual.strings(), wanted.strings(), |a, w| a == w));
    }
    let (actual, wanted) = (actual.to_dense(&ME, allocator)?, wanted.to_dense(&ME, allocator)?);
    let is_float = matches!(actual.dtype(), DType::F16 | DType::BF16 | DType::F32 | DType::F64);
    let of_floats = is_float.then_some(tolerance);
    match actual.dtype() {
        DType::Complex64 => first_difference::<Complex<f32>>(&actual, &wanted, |a, w| {
            is_close(a.re.into(), w.re.into(), tolerance) && is_close(a.im.into(), w.im.into(), tolerance)
        }),
        DType::Complex128 => first_difference::<Complex<f64>>(&actual, &wanted, |a, w| {
            is_close(a.re, w.re, tolerance) && is_close(a.im, w.im, tolerance)
        }),
        dtype => with_element!(dtype, |T| first_difference::<T>(&actual, &wanted, |a, w| {
            is_as_expected(&a.to_string(), &w.to_string(), of_floats)
        }), else Ok(None)),
    }
}

fn first_difference<T: Element + fmt::Display>(
    actual: &DenseHostTensor,
    wanted: &DenseHostTensor,
    same: impl Fn(&T, &T) -> bool,
) -> Result<Option<Difference>, Diagnostic> {
    let (actual, wanted) = (actual.read::<T>(&ME)?, wanted.read::<T>(&ME)?);
    Ok(first_of(&actual, &wanted, same))
}

fn first_of<T: fmt::Display>(
    actual: &[T],
    wanted: &[T],
    same: impl Fn(&T, &T) -> bool,
) -> Option<Difference> {
    let differs = |(a, w): (&T, &T)| !same(a, w);
    let count = actual.iter().zip(wanted).filter(|&pair| differs(pair)).count();
    let index = actual.iter().zip(wanted).position(differs)?;
    Some(Difference {
        index: Some(index),
        actual: actual[index].to_string(),
        expected: wanted[index].to_string(),
        count: Some((count, actual.len())),
    })
}

/// Whether two values, as they are written, are the same, or close if there is a tolerance. Integers are
/// compared as text, since `f64` cannot represent all of them.
fn is_as_expected(actual: &str, wanted: &str, tolerance: Option<f64>) -> bool {
    let close = |tolerance| Some(is_close(actual.parse().ok()?, wanted.parse().ok()?, tolerance));
    tolerance.and_then(close).unwrap_or(actual == wanted)
}

/// Whether two numbers are the same or less than a tolerance apart. If one of them is infinite, both sides of
/// the comparison are infinite.
fn is_close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() < tolerance * a.abs().max(b.abs()).max(1.0)
}

#[cfg(test)]
mod tests {
    use tfrt_host::allocator::SystemAllocator;

    use super::*;

    fn read(text: &str, ty: &str) -> Result<AsyncValue, Failure> {
        parse(text, ty, &(Arc::new(SystemAllocator) as Allocator))
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
            ("@no.such.file.npy", "!t.tensor"),
            ("@no.txt", "!t.tensor"),
            ("1", "!my.type"),
        ];
        for (text, ty) in cases {
            assert!(read(text, ty).is_err(), "{text}");
        }
    }

    #[test]
    fn differences_are_told() {
        let allocator: Allocator = Arc::new(SystemAllocator);
        let tell = |a: &str, b: &str, ty: &str| {
            let found = difference(&value(a, ty), &value(b, ty), ty, 1e-3, &allocator).unwrap();
            found.map(|difference| difference.to_string())
        };
        assert_eq!(tell("1.0", "1.0001", "f32"), None);
        assert_eq!(tell("inf", "inf", "f32"), None);
        assert!(tell("inf", "5.0", "f32").is_some() && tell("-inf", "inf", "f32").is_some());
        assert!(tell("2xf32=[1,inf]", "2xf32=[1,5]", "!t.tensor").is_some());
        assert_eq!(tell("1", "2", "i32").unwrap(), "it is 1, expected 2");
        assert!(tell("1000000", "1000001", "i32").is_some());
        assert!(tell("9007199254740993", "9007199254740992", "i64").is_some());
        assert!(tell("2xi64=[1,9007199254740993]", "2xi64=[1,9007199254740992]", "!t.tensor").is_some());
        assert_eq!(tell("2xf32=[1,2]", "2xf32=[1,2.0005]", "!t.tensor"), None);
        assert_eq!(
            tell("2xf32=[1,2]", "2xf32=[1,3]", "!t.tensor").unwrap(),
            "element 1 is 2, expected 3 (1 of 2 differ)"
        );
        assert!(tell("2xf32=[1,2]", "1xf32=[1]", "!t.tensor").is_some());
        for of in ["complex<f32>", "complex<f64>"] {
            let tell = |a: &str, b: &str| tell(&format!("{of}={a}"), &format!("{of}={b}"), "!t.tensor");
            assert_eq!(tell("1+2i", "1.0005+2.0005i"), None);
            for other in ["1.1+2i", "1+2.1i", "1-2i"] {
                assert!(tell("1+2i", other).is_some(), "{of} {other}");
            }
        }
    }
}
