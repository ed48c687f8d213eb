//! Cases of ops that are written as text.
#![allow(dead_code, clippy::panic, reason = "each test uses its part, and a test ends that way")]

use std::sync::Arc;

use tfrt_eager::OpAttrs;
use tfrt_host::allocator::SystemAllocator;
use tfrt_tensor::{
    Complex, DType, DenseHostTensor, HostTensor, SharedAllocator, StringHostTensor, TensorShape, bf16, f16,
};

/// The allocator of the tests' tensors.
pub(crate) fn allocator() -> SharedAllocator {
    Arc::new(SystemAllocator)
}

/// One call of an op and what it gives: see `tests/reference/make.py`.
pub(crate) struct Case {
    pub(crate) op: String,
    pub(crate) attrs: OpAttrs,
    pub(crate) arguments: Vec<HostTensor>,
    /// Its results; nothing where it is an error.
    pub(crate) expected: Option<Vec<HostTensor>>,
}

impl Case {
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let (op, rest) = line.split_once(" {").ok_or("no attributes")?;
        let (attrs, rest) = rest.split_once('}').ok_or("attributes without an end")?;
        let (arguments, expected) = rest.rsplit_once(" -> ").ok_or("no results")?;
        let expected = match expected {
            "error" => None,
            results => Some(tensors(results)?),
        };
        Ok(Self { op: op.to_owned(), attrs: attributes(attrs)?, arguments: tensors(arguments)?, expected })
    }
}

fn attributes(text: &str) -> Result<OpAttrs, String> {
    let mut attrs = OpAttrs::new();
    for word in text.split_whitespace() {
        let (name, value) = word.split_once('=').ok_or("an attribute without a value")?;
        let (kind, value) = value.split_once(':').ok_or("an attribute without a kind")?;
        let list = || value.split(',').filter(|item| !item.is_empty());
        let numbers =
            || list().map(|n| n.parse::<i64>().map_err(|e| e.to_string())).collect::<Result<Vec<_>, _>>();
        let set = match kind {
            "b" => attrs.set(name, value == "true"),
            "i" => attrs.set(name, value.parse::<i64>().map_err(|e| e.to_string())?),
            "f" => attrs.set(name, value.parse::<f32>().map_err(|e| e.to_string())?),
            "s" => attrs.set_string(name, &decoded(value)),
            "t" => attrs.set_type(name, dtype(value)?),
            "li" => attrs.set_array(name, &numbers()?),
            "lf" => {
                let numbers: Result<Vec<f32>, String> =
                    list().map(|n| n.parse::<f32>().map_err(|e| e.to_string())).collect();
                attrs.set_array(name, &numbers?)
            }
            "ls" => attrs.set_strings(name, list()),
            _ => return Err(format!("an attribute of kind '{kind}'")),
        };
        set.map_err(|error| error.to_string())?;
    }
    Ok(attrs)
}

/// A text in which bytes may be written as `%` and two digits.
fn decoded(text: &str) -> String {
    String::from_utf8(decoded_bytes(text)).expect("text in UTF-8")
}

/// Bytes, some of which may be written as `%` and two digits.
fn decoded_bytes(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(&after[..2], 16).expect("two digits"));
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn dtype(name: &str) -> Result<DType, String> {
    let known = [
        ("f16", DType::F16),
        ("bf16", DType::BF16),
        ("f32", DType::F32),
        ("f64", DType::F64),
        ("i1", DType::I1),
        ("i8", DType::I8),
        ("i16", DType::I16),
        ("i32", DType::I32),
        ("i64", DType::I64),
        ("ui8", DType::UI8),
        ("ui16", DType::UI16),
        ("ui32", DType::UI32),
        ("ui64", DType::UI64),
        ("c64", DType::Complex64),
        ("c128", DType::Complex128),
        ("str", DType::String),
    ];
    known.iter().find(|known| known.0 == name).map(|known| known.1).ok_or(format!("no data type '{name}'"))
}

fn tensors(text: &str) -> Result<Vec<HostTensor>, String> {
    text.split(';').map(str::trim).filter(|text| !text.is_empty()).map(tensor).collect()
}

fn tensor(text: &str) -> Result<HostTensor, String> {
    let (head, elements) = text.split_once(']').ok_or(format!("no shape in '{text}'"))?;
    let (name, dims) = head.split_once('[').ok_or("no shape")?;
    let dims = dims
        .split(',')
        .filter(|dim| !dim.is_empty())
        .map(|dim| dim.parse().map_err(|_| "no extent".to_owned()));
    let shape =
        TensorShape::new(&dims.collect::<Result<Vec<usize>, String>>()?).map_err(|e| e.to_string())?;
    let elements: Vec<&str> = elements.split_whitespace().collect();
    let dtype = dtype(name)?;
    let failed = |error: &dyn std::fmt::Display| format!("'{text}': {error}");
    macro_rules! dense {
        ($type:ty, $parse:expr) => {{
            let values: Result<Vec<$type>, String> = elements.iter().map(|&e| $parse(e)).collect();
            DenseHostTensor::from_slice(shape, &values?, &allocator()).map(HostTensor::from)
        }};
    }
    macro_rules! number {
        ($type:ty) => {
            dense!($type, |e: &str| e.parse::<$type>().map_err(|error| failed(&error)))
        };
    }
    macro_rules! complex {
        ($type:ty) => {
            dense!(Complex<$type>, |e: &str| {
                let (re, im) = e.split_once(':').ok_or_else(|| failed(&"no complex number"))?;
                let part = |part: &str| part.parse::<$type>().map_err(|error| failed(&error));
                Ok(Complex::new(part(re)?, part(im)?))
            })
        };
    }
    let float = |e: &str| e.parse::<f64>().map_err(|error| failed(&error));
    match dtype {
        DType::String => {
            let strings = elements.iter().map(|e| decoded_bytes(e.trim_matches('"'))).collect();
            StringHostTensor::new(shape, strings).map(HostTensor::from)
        }
        DType::I1 => dense!(bool, |e| Ok(e == "1")),
        DType::I8 => number!(i8),
        DType::I16 => number!(i16),
        DType::I32 => number!(i32),
        DType::I64 => number!(i64),
        DType::UI8 => number!(u8),
        DType::UI16 => number!(u16),
        DType::UI32 => number!(u32),
        DType::UI64 => number!(u64),
        DType::F16 => dense!(f16, |e| float(e).map(f16::from_f64)),
        DType::BF16 => dense!(bf16, |e| float(e).map(bf16::from_f64)),
        DType::F32 => number!(f32),
        DType::F64 => number!(f64),
        DType::Complex64 => complex!(f32),
        DType::Complex128 => complex!(f64),
        _ => return Err(failed(&"no such elements")),
    }
    .map_err(|error| failed(&error))
}
