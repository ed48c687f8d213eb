//! Attributes as text, in the form of the original runtime.

use std::fmt;

use tfrt_host::DType;
use tfrt_tensor::{Element, with_element};

use super::{AttrValue, OpAttrs};

/// Elements of an array that are printed.
const ELEMENTS_PRINTED: usize = 5;

impl fmt::Display for OpAttrs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("OpAttrs is empty\n");
        }
        let mut entries: Vec<_> = self.iter().collect();
        entries.sort_unstable_by_key(|(name, _)| *name);
        writeln!(f, "OpAttrs contains {} entries:", entries.len())?;
        for (name, value) in entries {
            writeln!(f, "  '{name}' type={} value={}", kind(value), Printed(value))?;
        }
        f.write_str("\n")
    }
}

/// Returns the name of an attribute's type.
fn kind(value: AttrValue<'_>) -> &'static str {
    match value {
        AttrValue::Scalar(dtype, _) | AttrValue::Array(dtype, _) => type_name(dtype),
        AttrValue::String(_) => type_name(DType::String),
        AttrValue::Function(_) => "FUNC",
        AttrValue::Type(_) => "DTYPE",
        AttrValue::Shape(_) => "SHAPE",
        AttrValue::Dense(_) => "DENSE",
        AttrValue::Aggregate(_) => "AGGREGATE",
    }
}

fn type_name(dtype: DType) -> &'static str {
    match dtype {
        DType::UI8 => "UI8",
        DType::UI16 => "UI16",
        DType::UI32 => "UI32",
        DType::UI64 => "UI64",
        DType::I1 => "BOOL",
        DType::I8 => "I8",
        DType::I16 => "I16",
        DType::I32 => "I32",
        DType::I64 => "I64",
        DType::F32 => "F32",
        DType::F64 => "F64",
        DType::Complex64 => "COMPLEX64",
        DType::Complex128 => "COMPLEX128",
        DType::F16 => "F16",
        DType::BF16 => "BF16",
        DType::String => "CHAR",
        DType::Resource => "RESOURCE",
        DType::Variant => "VARIANT",
    }
}

struct Printed<'a>(AttrValue<'a>);

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            AttrValue::Scalar(dtype, bytes) => element(dtype, bytes, f),
            AttrValue::Array(dtype, bytes) => {
                let size = dtype.size().unwrap_or(1);
                list(f, bytes.chunks_exact(size), |f, bytes| element(dtype, bytes, f))
            }
            AttrValue::String(text) => list(f, text.chars(), |f, letter| write!(f, "{letter}")),
            AttrValue::Function(name) => write!(f, "FUNC function_name: {name}"),
            AttrValue::Type(dtype) => f.write_str(type_name(dtype)),
            AttrValue::Shape(shape) => match shape.dims() {
                None => f.write_str("<*>"),
                Some(dims) => {
                    let dims: Vec<_> = dims.iter().map(i64::to_string).collect();
                    write!(f, "<{}>", dims.join("x"))
                }
            },
            AttrValue::Dense(tensor) => write!(
                f,
                "dtype={}, rank={}, elt_count={}",
                type_name(tensor.dtype()),
                tensor.shape().rank(),
                tensor.num_elements()
            ),
            AttrValue::Aggregate(elements) => {
                write!(f, "elt_count={} [", elements.iter().len())?;
                for (index, value) in elements.iter().enumerate() {
                    write!(f, "{}{{{}}}", if index == 0 { "" } else { ", " }, Printed(value))?;
                }
                f.write_str("]")
            }
        }
    }
}

/// Returns the first elements in brackets.
fn list<T>(
    f: &mut fmt::Formatter<'_>,
    elements: impl Iterator<Item = T>,
    print: impl Fn(&mut fmt::Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("[")?;
    for (index, value) in elements.take(ELEMENTS_PRINTED + 1).enumerate() {
        if index == ELEMENTS_PRINTED {
            f.write_str("...")?;
            break;
        }
        if index > 0 {
            f.write_str(", ")?;
        }
        print(f, value)?;
    }
    f.write_str("]")
}

fn element(dtype: DType, bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    with_element!(
        dtype,
        |T| match bytemuck::checked::try_pod_read_unaligned::<T>(bytes) {
            Ok(value) => value.print(f),
            Err(_) => f.write_str("?"),
        },
        else f.write_str("?")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_by_name_and_abridged() {
        let mut attrs = OpAttrs::new();
        assert_eq!(attrs.to_string(), "OpAttrs is empty\n");
        attrs.set_array("z", &[1i64, 2, 3, 4, 5, 6]).unwrap();
        attrs.set_type("T", DType::F32).unwrap();
        attrs.set("b", true).unwrap();
        let text = "OpAttrs contains 3 entries:\n  'T' type=DTYPE value=F32\n  'b' type=BOOL value=1\n  \
                    'z' type=I64 value=[1, 2, 3, 4, 5...]\n\n";
        assert_eq!(attrs.to_string(), text);
    }
}
