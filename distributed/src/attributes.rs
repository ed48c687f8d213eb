//! The attributes of an op as messages, and back. All kinds travel, not integers alone.

use bytes::Bytes;
use tfrt_eager::{AttrValue, OpAttrs};
use tfrt_host::Diagnostic;
use tfrt_tensor::{Accessor, DenseHostTensor, Element, PartialTensorShape, SharedAllocator, with_element};

use crate::{
    payload,
    proto::{Attribute, Attributes, Dense, Numbers, Shape, attribute::Value},
    wire,
};

static READ: Accessor = Accessor::new("an attribute of a remote op");

/// Lists within lists deeper than this are refused.
const MAX_DEPTH: usize = 8;

/// Returns attributes as messages.
///
/// # Errors
/// DataRace while somebody writes to a constant tensor.
pub(crate) fn to_messages(attrs: &OpAttrs) -> Result<Vec<Attribute>, Diagnostic> {
    attrs
        .iter()
        .map(|(name, value)| Ok(Attribute { name: name.to_owned(), value: Some(to_value(value)?) }))
        .collect()
}

fn to_value(value: AttrValue<'_>) -> Result<Value, Diagnostic> {
    let numbers = |dtype: tfrt_host::DType, bytes: &[u8]| Numbers {
        dtype: dtype.code().into(),
        bytes: Bytes::copy_from_slice(bytes),
    };
    Ok(match value {
        AttrValue::Scalar(dtype, bytes) => Value::Scalar(numbers(dtype, bytes)),
        AttrValue::Array(dtype, bytes) => Value::Array(numbers(dtype, bytes)),
        AttrValue::String(text) => Value::Text(text.to_owned()),
        AttrValue::Function(name) => Value::Function(name.to_owned()),
        AttrValue::Type(dtype) => Value::Type(dtype.code().into()),
        AttrValue::Shape(shape) => Value::Shape(Shape {
            unranked: shape.dims().is_none(),
            dims: shape.dims().unwrap_or_default().to_vec(),
        }),
        AttrValue::Dense(tensor) => Value::Dense(Dense {
            metadata: Some(wire::from_metadata(tensor.metadata())),
            bytes: Bytes::copy_from_slice(&tensor.read_bytes(&READ)?),
        }),
        AttrValue::Aggregate(elements) => {
            let element = |value| Ok(Attribute { name: String::new(), value: Some(to_value(value)?) });
            let attributes = elements.iter().map(element).collect::<Result<_, Diagnostic>>()?;
            Value::List(Attributes { attributes })
        }
    })
}

/// Returns the attributes of messages. Tensors take memory from `allocator`.
///
/// # Errors
/// InvalidArgument for values that are none of their type.
pub(crate) fn from_messages(
    messages: Vec<Attribute>,
    allocator: &SharedAllocator,
) -> Result<OpAttrs, Diagnostic> {
    let mut attrs = OpAttrs::new();
    messages.into_iter().try_for_each(|message| insert(&mut attrs, message, allocator, 0))?;
    Ok(attrs)
}

fn insert(
    attrs: &mut OpAttrs,
    Attribute { name, value }: Attribute,
    allocator: &SharedAllocator,
    depth: usize,
) -> Result<(), Diagnostic> {
    let invalid = |reason: &str| Diagnostic::invalid_argument(format!("attribute '{name}' {reason}"));
    match value.ok_or_else(|| invalid("has no value"))? {
        Value::Scalar(numbers) => with_element!(
            wire::dtype(numbers.dtype)?,
            |T| match elements::<T>(&numbers.bytes)?[..] {
                [value] => attrs.set(&name, value),
                _ => Err(invalid("is not one number")),
            },
            else Err(invalid("is of a type that has no numbers"))
        ),
        Value::Array(numbers) => with_element!(
            wire::dtype(numbers.dtype)?,
            |T| attrs.set_array(&name, &elements::<T>(&numbers.bytes)?),
            else Err(invalid("is of a type that has no numbers"))
        ),
        Value::Text(text) => attrs.set_string(&name, &text),
        Value::Function(function) => attrs.set_function(&name, &function),
        Value::Type(code) => attrs.set_type(&name, wire::dtype(code)?),
        Value::Shape(Shape { unranked: true, .. }) => attrs.set_shape(&name, PartialTensorShape::unranked()),
        Value::Shape(Shape { dims, .. }) => attrs.set_shape(&name, PartialTensorShape::ranked(&dims)?),
        Value::Dense(Dense { metadata, bytes }) => {
            let tensor: DenseHostTensor =
                payload::dense(&metadata.unwrap_or_default(), &bytes.into(), allocator)?;
            attrs.set_dense(&name, tensor)
        }
        Value::List(_) if depth >= MAX_DEPTH => Err(invalid("is nested too deeply")),
        Value::List(list) => {
            let element = |message: Attribute| {
                let mut element = OpAttrs::new();
                let message = Attribute { name: String::new(), ..message };
                insert(&mut element, message, allocator, depth + 1).map(|()| element)
            };
            attrs.set_aggregate(&name, list.attributes.into_iter().map(element))
        }
    }
}

/// Returns the elements that bytes are, which need not be aligned.
fn elements<T: Element>(bytes: &[u8]) -> Result<Vec<T>, Diagnostic> {
    let chunks = bytes.chunks_exact(size_of::<T>());
    let invalid = || Diagnostic::invalid_argument(format!("the bytes are no values of type {}", T::DTYPE));
    if !chunks.remainder().is_empty() {
        return Err(invalid());
    }
    chunks.map(|chunk| bytemuck::checked::try_pod_read_unaligned(chunk).map_err(|_| invalid())).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::{DType, allocator::SystemAllocator};

    use super::*;

    #[test]
    fn attributes_of_all_kinds_survive_the_way() {
        let allocator: SharedAllocator = Arc::new(SystemAllocator);
        let mut attrs = OpAttrs::new();
        attrs.set("alpha", 0.5_f32).unwrap();
        attrs.set("flag", true).unwrap();
        attrs.set_array("strides", &[1_i64, 2, 2]).unwrap();
        attrs.set_string("padding", "SAME").unwrap();
        attrs.set_function("body", "loop").unwrap();
        attrs.set_type("T", DType::BF16).unwrap();
        attrs.set_shape("shape", PartialTensorShape::ranked(&[-1, 3]).unwrap()).unwrap();
        attrs.set_shape("any", PartialTensorShape::unranked()).unwrap();
        attrs.set_dense("value", DenseHostTensor::from_slice([2], &[1_i32, 2], &allocator).unwrap()).unwrap();
        attrs.set_strings("names", ["a", "b"]).unwrap();
        let messages = to_messages(&attrs).unwrap();
        let back = from_messages(messages.clone(), &allocator).unwrap();
        assert_eq!(back.to_string(), attrs.to_string());
        assert_eq!(to_messages(&back).unwrap(), messages);
    }

    #[test]
    fn values_that_lie_are_refused() {
        let allocator: SharedAllocator = Arc::new(SystemAllocator);
        let numbers = |dtype: DType, bytes: &'static [u8]| Numbers {
            dtype: dtype.code().into(),
            bytes: Bytes::from_static(bytes),
        };
        let mut nested = Value::Text(String::new());
        for _ in 0..20 {
            nested = Value::List(Attributes {
                attributes: vec![Attribute { name: String::new(), value: Some(nested) }],
            });
        }
        for value in [
            Value::Scalar(numbers(DType::I1, &[7])),
            Value::Scalar(numbers(DType::F32, &[1, 2, 3])),
            Value::Scalar(numbers(DType::I8, &[1, 2])),
            Value::Array(numbers(DType::String, &[1])),
            Value::Type(250),
            Value::Shape(Shape { unranked: false, dims: vec![-7] }),
            Value::Dense(Dense::default()),
            nested,
        ] {
            let message = Attribute { name: "a".to_owned(), value: Some(value) };
            assert!(from_messages(vec![message], &allocator).is_err());
        }
        assert!(from_messages(vec![Attribute::default()], &allocator).is_err());
    }
}
