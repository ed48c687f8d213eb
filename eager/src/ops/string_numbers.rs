//! Strings and numbers: `tf.AsString`, `tf.StringToNumber`, and whole tensors as text,
//! `tf.StringFormat`.

use bstr::{BStr, ByteSlice};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::Float;
use tfrt_tensor::{
    Accessor, Complex, DenseHostTensor, Element, HostTensor, StringHostTensor, TensorMetadata, TensorShape,
    bf16, f16,
};

use super::printf::{Format, Notation};
use super::strings::{strings, stripped};
use super::support::{Computed, Described, int_attr, invalid, one, product, room_for, take, with_type};
use super::types;
use crate::{AttrSpec, CpuCall, Forms, MetadataCall, OpRegistry, attr};

static ME: Accessor = Accessor::new("tf op of strings and numbers");

/// Returns the format that the attributes of `tf.AsString` define.
fn format_of(call: &CpuCall<'_>, dtype: DType) -> Result<Format, Diagnostic> {
    let flag = |name| Ok::<bool, Diagnostic>(call.attrs.optional(name)?.unwrap_or(false));
    let size = |name| Ok::<_, Diagnostic>(usize::try_from(int_attr(call.attrs, name)?.unwrap_or(-1)).ok());
    let notation = match (flag("scientific")?, flag("shortest")?) {
        (true, true) => return Err(invalid("Cannot select both scientific and shortest notation")),
        (true, false) => Notation::Scientific,
        (false, true) => Notation::Shortest,
        (false, false) => Notation::Fixed,
    };
    let precision = size("precision")?;
    let is_fraction = matches!(
        dtype,
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::Complex64 | DType::Complex128
    );
    if !is_fraction && dtype != DType::String {
        if notation != Notation::Fixed {
            return Err(invalid(format!(
                "scientific and shortest format not supported for datatype {dtype}"
            )));
        }
        if precision.is_some() {
            return Err(invalid(format!("precision not supported for datatype {dtype}")));
        }
    }
    let fill = call.attrs.optional::<&str>("fill")?.unwrap_or("");
    let flag = match fill {
        "" => None,
        " " | "+" | "-" | "0" | "#" => fill.chars().next(),
        other if other.len() > 1 => return Err(invalid("Fill string must be one or fewer characters")),
        other => return Err(invalid(format!("Fill argument not supported: \"{other}\""))),
    };
    Ok(Format { flag, width: size("width")?.unwrap_or(0), precision, notation })
}

/// Returns a string for each element.
fn texts<T: Element>(
    x: &DenseHostTensor,
    f: impl Fn(T) -> Result<String, Diagnostic>,
) -> Result<Vec<String>, Diagnostic> {
    let x = x.read::<T>(&ME)?;
    let mut texts = room_for(x.len())?;
    for &x in &*x {
        texts.push(f(x)?);
    }
    Ok(texts)
}

fn as_string(call: CpuCall<'_>) -> Computed {
    let [x] = take(&call)?;
    let format = format_of(&call, x.dtype())?;
    let complex = |re, im| Ok(format!("({},{})", format.float(re)?, format.float(im)?));
    let texts = match x {
        HostTensor::String(x) => {
            let texts = x.strings().iter().map(|text| format.text(text)).collect::<Result<Vec<_>, _>>()?;
            return Ok(StringHostTensor::new(x.shape().clone(), texts)?.into());
        }
        x => {
            let dense = x.dense()?;
            match dense.dtype() {
                DType::I1 => texts::<bool>(dense, |x| Ok(x.to_string()))?,
                DType::Complex64 => texts::<Complex<f32>>(dense, |x| complex(x.re.into(), x.im.into()))?,
                DType::Complex128 => texts::<Complex<f64>>(dense, |x| complex(x.re, x.im))?,
                dtype => number_texts(dense, dtype, &format)?,
            }
        }
    };
    Ok(StringHostTensor::new(x.shape().clone(), texts)?.into())
}

fn number_texts(x: &DenseHostTensor, dtype: DType, format: &Format) -> Result<Vec<String>, Diagnostic> {
    match dtype {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => {
            with_type!(dtype, "tf.AsString", |T| texts::<T>(x, |x| format.signed(x)),
                I8 i8, I16 i16, I32 i32, I64 i64)
        }
        DType::UI8 | DType::UI16 | DType::UI32 | DType::UI64 => {
            with_type!(dtype, "tf.AsString", |T| texts::<T>(x, |x| format.unsigned(x)),
                UI8 u8, UI16 u16, UI32 u32, UI64 u64)
        }
        dtype => with_type!(dtype, "tf.AsString", |T| texts::<T>(x, |x| format.float(x.to_f64())),
            F16 f16, BF16 bf16, F32 f32, F64 f64),
    }
}

fn to_number_metadata(call: MetadataCall<'_>) -> Described {
    let [argument] = call.take()?;
    let dtype = call.attrs.optional::<DType>("out_type")?.unwrap_or(DType::F32);
    one(TensorMetadata::new(dtype, argument.shape.clone()))
}

/// A number type that strings are parsed as.
trait Read: Element {
    fn read(text: &str) -> Option<Self>;
}

macro_rules! read {
    ($($t:ty: $read:expr),+) => {$(
        impl Read for $t {
            fn read(text: &str) -> Option<Self> {
                $read(text)
            }
        }
    )+};
}

read! {
    i32: |text: &str| text.parse().ok(),
    i64: |text: &str| text.parse().ok(),
    u32: |text: &str| text.parse().ok(),
    u64: |text: &str| text.parse().ok(),
    f32: |text: &str| text.parse().ok().or_else(|| hexadecimal(text, f64::MANTISSA_DIGITS).map(|x| x as f32)),
    f64: |text: &str| text.parse().ok().or_else(|| hexadecimal(text, u64::BITS))
}

/// Parses a hexadecimal number, which may have a fraction and a power of two after `p`. Keeps
/// `bits` leading bits, of which the last one is set if any bit after it is, so that rounding to
/// fewer bits is correct. Fewer bits are kept for numbers so small that double precision has fewer.
fn hexadecimal(text: &str, bits: u32) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"))?;
    let (digits, power) = match digits.split_once(['p', 'P']) {
        Some((digits, power)) => (digits, power.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // Digits that do not fit leave a sticky bit, so that the number is rounded once.
    let (mut value, mut exponent) = (0u64, i64::from(power) - 4 * fraction.len() as i64);
    for digit in whole.chars().chain(fraction.chars()) {
        let digit = u64::from(digit.to_digit(16)?);
        if value >> 58 == 0 {
            value = value << 4 | digit;
        } else {
            (value, exponent) = (value | u64::from(digit != 0), exponent.saturating_add(4));
        }
    }
    if value == 0 {
        return Some(if text.starts_with('-') { -0.0 } else { 0.0 });
    }
    let length = u64::BITS - value.leading_zeros();
    // Down to half of the least number, and one bit for the rest.
    let room = exponent.saturating_add(i64::from(length) + 1076).clamp(1, bits.into()) as u32;
    let excess = length.saturating_sub(room);
    let lost = value & !(u64::MAX << excess) != 0;
    (value, exponent) = (value >> excess | u64::from(lost), exponent.saturating_add(excess.into()));
    // In two steps, neither of which leaves the range.
    let half = (exponent / 2).clamp(-1100, 1100) as i32;
    let rest = (exponent - exponent / 2).clamp(-1100, 1100) as i32;
    let magnitude = value as f64 * 2f64.powi(half) * 2f64.powi(rest);
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

fn numbers<T: Read>(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let (x, mut out) = (strings(x)?, call.allocate_unset(0)?);
    for (out, text) in out.elements_mut::<T>()?.iter_mut().zip(x.strings()) {
        *out =
            stripped(text).to_str().ok().and_then(T::read).ok_or_else(|| {
                invalid(format!("StringToNumberOp could not correctly convert string: {text}"))
            })?;
    }
    Ok(out.into())
}

fn to_number(call: CpuCall<'_>) -> Computed {
    with_type!(call.result(0)?.dtype, "tf.StringToNumber", |T| numbers::<T>(&call),
        I32 i32, I64 i64, UI32 u32, UI64 u64, F32 f32, F64 f64)
}

/// Writes the element of a tensor with this index.
type WriteElement<'t> = Box<dyn Fn(usize, &mut String) -> Result<(), Diagnostic> + 't>;

fn element_writer(tensor: &HostTensor) -> Result<WriteElement<'_>, Diagnostic> {
    fn of<'t, T: Element>(
        x: &'t DenseHostTensor,
        write: impl Fn(T, &mut String) -> Result<(), Diagnostic> + 't,
    ) -> Result<WriteElement<'t>, Diagnostic> {
        let x = x.read::<T>(&ME)?;
        Ok(Box::new(move |i, text| write(x[i], text)))
    }
    if let HostTensor::String(x) = tensor {
        return Ok(Box::new(|i, text| {
            quote(x.strings()[i].as_bstr(), text);
            Ok(())
        }));
    }
    let x = tensor.dense()?;
    match x.dtype() {
        DType::I1 => of::<bool>(x, |x, text| {
            text.push(if x { '1' } else { '0' });
            Ok(())
        }),
        DType::F64 => of::<f64>(x, |x, text| round_trip(x, [15, 17], |text| text.parse() == Ok(x), text)),
        DType::F16 => of::<f16>(x, |x, text| single(x.to_f32(), text)),
        DType::BF16 => of::<bf16>(x, |x, text| single(x.to_f32(), text)),
        DType::F32 => of::<f32>(x, single),
        dtype => with_type!(dtype, "tf.StringFormat", |T| of::<T>(x, |x, text| {
            text.push_str(&x.to_string());
            Ok(())
        }), I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32, UI64 u64),
    }
}

fn single(x: f32, text: &mut String) -> Result<(), Diagnostic> {
    round_trip(f64::from(x), [6, 9], |text| text.parse() == Ok(x), text)
}

/// Formats a number with few digits, or with as many as every number needs if it could not be
/// parsed back from those.
fn round_trip(
    x: f64,
    digits: [usize; 2],
    is_read_back: impl Fn(&str) -> bool,
    text: &mut String,
) -> Result<(), Diagnostic> {
    let short = Format::significant(digits[0]).float(x)?;
    let is_short = x.is_nan() || is_read_back(&short);
    text.push_str(&if is_short { short } else { Format::significant(digits[1]).float(x)? });
    Ok(())
}

/// Writes a string as a C literal.
fn quote(string: &BStr, text: &mut String) {
    text.push('"');
    for c in string.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '"' | '\'' | '\\' => text.extend(['\\', c]),
            '\0'..' ' | '\x7f' => text.push_str(&format!("\\{:03o}", u32::from(c))),
            c => text.push(c),
        }
    }
    text.push('"');
}

/// Writes a tensor in brackets, with the first and last `ends` elements of each dimension.
struct Summary<'t> {
    dims: &'t [usize],
    ends: usize,
    write: WriteElement<'t>,
}

impl Summary<'_> {
    /// Writes the elements from index `first` on, in `axis` and the dimensions after it.
    fn dimension(&self, axis: usize, first: usize, text: &mut String) -> Result<(), Diagnostic> {
        let Some(&extent) = self.dims.get(axis) else { return (self.write)(first, text) };
        let unit = product(&self.dims[axis + 1..]);
        let ends = self.ends.min(extent);
        let last = extent.saturating_sub(ends).max(ends);
        text.push('[');
        for i in (0..ends).chain(last..extent) {
            if i > 0 {
                self.space(axis, text);
            }
            if i == last && last > ends {
                text.push_str("...");
                self.space(axis, text);
            }
            self.dimension(axis + 1, first + i * unit, text)?;
        }
        if ends == 0 && extent > 0 {
            self.space(axis, text);
            text.push_str("...");
        }
        text.push(']');
        Ok(())
    }

    fn space(&self, axis: usize, text: &mut String) {
        let behind = self.dims.len() - axis - 1;
        text.extend(std::iter::repeat_n('\n', behind));
        text.extend(std::iter::repeat_n(' ', if behind > 0 { axis + 1 } else { 1 }));
    }
}

/// Formats a tensor, with the first and last `ends` elements of each dimension, or all.
fn summary(tensor: &HostTensor, ends: Option<usize>, text: &mut String) -> Result<(), Diagnostic> {
    let count = tensor.shape().num_elements()?;
    if count == 0 && tensor.dtype() == DType::I1 {
        // For a tensor of no truth values, TensorFlow does not even write brackets.
        return Ok(());
    }
    let ends = ends.map_or(count, |ends| ends.min(count));
    if ends == 0 && tensor.shape().rank() == 0 {
        text.push_str("...");
        return Ok(());
    }
    Summary { dims: tensor.shape().dims(), ends, write: element_writer(tensor)? }.dimension(0, 0, text)
}

fn format_metadata(_: MetadataCall<'_>) -> Described {
    one(TensorMetadata::new(DType::String, TensorShape::scalar()))
}

/// Formats tensors in place of a template's placeholders.
fn format_tensors(call: CpuCall<'_>) -> Computed {
    let template = call.attrs.optional::<&str>("template")?.unwrap_or("%s");
    let placeholder = call.attrs.optional::<&str>("placeholder")?.unwrap_or("%s");
    let ends = usize::try_from(int_attr(call.attrs, "summarize")?.unwrap_or(3)).ok();
    let pieces: Vec<&str> = match placeholder {
        "" => vec![template],
        placeholder => template.split(placeholder).collect(),
    };
    if pieces.len() != call.arguments.len() + 1 {
        let (places, inputs) = (pieces.len() - 1, call.arguments.len());
        return Err(invalid(format!(
            "num placeholders in template and num inputs must match: {places} vs. {inputs}"
        )));
    }
    let mut text = String::new();
    for (number, piece) in pieces.into_iter().enumerate() {
        text.push_str(piece);
        if let Some(tensor) = call.arguments.get(number) {
            summary(tensor, ends, &mut text)?;
        }
    }
    Ok(StringHostTensor::new(TensorShape::scalar(), vec![text])?.into())
}

fn as_string_metadata(call: MetadataCall<'_>) -> Described {
    let [argument] = call.take()?;
    one(TensorMetadata::new(DType::String, argument.shape.clone()))
}

const AS_STRING: [AttrSpec; 5] = [
    attr::int_or("precision", -1),
    attr::boolean_or("scientific", false),
    attr::boolean_or("shortest", false),
    attr::int_or("width", -1),
    attr::string_or("fill", ""),
];

const STRING_FORMAT: [AttrSpec; 3] =
    [attr::string_or("template", "%s"), attr::string_or("placeholder", "%s"), attr::int_or("summarize", 3)];

const READ: &[DType] =
    &[DType::String, DType::I32, DType::I64, DType::UI32, DType::UI64, DType::F32, DType::F64];

const FORMATTED: &[DType] = &[
    DType::I1,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::UI8,
    DType::UI16,
    DType::UI32,
    DType::UI64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::String,
];

pub(super) fn register(ops: &mut OpRegistry) {
    let forms = Forms::STRING;
    ops.add("tf.AsString")
        .types(types::ANY)
        .attrs(AS_STRING)
        .metadata(as_string_metadata)
        .cpu(as_string)
        .forms(forms);
    ops.add("tf.StringToNumber")
        .types(READ)
        .attrs([attr::dtype_or("out_type", DType::F32)])
        .metadata(to_number_metadata)
        .cpu(to_number)
        .forms(forms);
    ops.add("tf.StringFormat")
        .types(FORMATTED)
        .attrs(STRING_FORMAT)
        .metadata(format_metadata)
        .cpu(format_tensors)
        .forms(forms);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_numbers_are_read() {
        let cases = [
            ("0x10", Some(16.0)),
            ("-0X1.8p1", Some(-3.0)),
            ("0x.8", Some(0.5)),
            ("0x1p-1074", Some(f64::from_bits(1))),
            ("0x1p99999", Some(f64::INFINITY)),
            ("0x0p99999", Some(0.0)),
            ("0x1p-99999", Some(0.0)),
            ("0x1fffffffffffff8", Some(144_115_188_075_855_864.0)),
            ("0x", None),
            ("0xg", None),
            ("0x1p", None),
            ("10", None),
        ];
        for (text, expected) in cases {
            assert_eq!(hexadecimal(text, u64::BITS), expected, "{text}");
        }
        // Subnormal numbers have fewer digits, and are also rounded once.
        let least = f64::from_bits(1);
        assert_eq!(f64::read("0x1.000000000000001p-1075"), Some(least));
        assert_eq!(f64::read("0x1p-1075"), Some(0.0));
        assert_eq!(f64::read("0x1.8p-1074"), Some(2.0 * least));
        assert_eq!(f64::read("0x1.7ffffffffffffffp-1074"), Some(least));
        assert_eq!(f64::read("-0x1.00000000000010000000001p-1023"), Some(-(f64::MIN_POSITIVE / 2.0 + least)));
        // Rounded once, not to double precision first.
        assert_eq!(f32::read("0x1.000001"), Some(1.0));
        assert_eq!(f32::read("0x1.00000100000000001"), Some(1.0 + f32::EPSILON));
    }
}
