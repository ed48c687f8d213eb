//! Optional values and maps of tensors. An optional value is a string that holds its components, or
//! nothing. A map is a matrix of such strings: a key and a value in each row.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};
use tfrt_tensor::{StringHostTensor, TensorShape};

use super::{
    Family,
    sparse::{column, gather},
};
use crate::import::tensorflow::{
    node::{Imported, Node, dims_attribute, ints, type_attribute},
    proto::Attr,
    tensor,
};

pub(super) const OPS: Family = &[
    ("EmptyTensorMap", |node| Ok(vec![strings(node, &[0, 2], 0)?.into()])),
    ("OptionalFromValue", from_value),
    ("OptionalGetValue", get_value),
    ("OptionalHasValue", |node| {
        let value = node.input(0)?;
        Ok(vec![has_value(node, value)?.into()])
    }),
    ("OptionalNone", |node| Ok(vec![strings(node, &[], 1)?.into()])),
    ("TensorMapErase", erase),
    ("TensorMapHasKey", |node| {
        let (_, found) = find(node)?;
        Ok(vec![any(node, found)?.into()])
    }),
    ("TensorMapInsert", insert),
    ("TensorMapLookup", look_up),
    ("TensorMapSize", size),
    ("TensorMapStackKeys", keys),
];

/// A constant of empty strings.
fn strings(node: &mut Node<'_, '_>, dims: &[usize], count: usize) -> Imported<ValueId> {
    let empty = StringHostTensor::new(TensorShape::new(dims)?, vec![String::new(); count])?;
    Ok(node.builder().add_constant("", empty))
}

fn from_value(node: &mut Node<'_, '_>) -> Imported {
    let components = node.inputs_from(0)?;
    if components.is_empty() {
        return Err("an optional value without components is not supported".into());
    }
    Ok(vec![node.op("tfrt.ToVariant", &components, &[])?.into()])
}

fn has_value(node: &mut Node<'_, '_>, value: ValueId) -> Imported<ValueId> {
    let none = strings(node, &[], 1)?;
    node.op("tf.NotEqual", &[value, none], &[])
}

/// A value that stays only if a condition holds.
fn required(
    node: &mut Node<'_, '_>,
    value: ValueId,
    condition: ValueId,
    message: &'static str,
) -> Imported<ValueId> {
    node.op("tfrt.Require", &[value, condition], &[("message", Attribute::string(message))])
}

fn get_value(node: &mut Node<'_, '_>) -> Imported {
    let (types, shapes) = match (node.attr("output_types"), node.attr("output_shapes")) {
        (Some(Attr::List(types)), Some(Attr::List(shapes))) => (types.r#type.clone(), shapes.shape.clone()),
        _ => return Err("attributes 'output_types' and 'output_shapes' must be lists".into()),
    };
    let value = node.input(0)?;
    let is_there = has_value(node, value)?;
    let value = required(node, value, is_there, "The given optional does not have a value.")?;
    let mut components = Vec::new();
    for (index, number) in types.into_iter().enumerate() {
        let dims = tensor::dims(shapes.get(index));
        let attributes = [
            ("dtype", type_attribute(tensor::dtype(number)?)),
            ("index", Attribute::i64(index as i64)),
            ("shape", dims_attribute(dims.as_deref())),
        ];
        components.push(node.op("tfrt.FromVariant", &[value], &attributes)?.into());
    }
    Ok(components)
}

/// The key that the second input is, and whether each row of the map has it.
fn find(node: &mut Node<'_, '_>) -> Imported<(ValueId, ValueId)> {
    let (map, key) = (node.input(0)?, node.input(1)?);
    let key = node.op("tfrt.ToVariant", &[key], &[])?;
    let keys = column(node, map, 0)?;
    Ok((key, node.op("tf.Equal", &[keys, key], &[])?))
}

fn any(node: &mut Node<'_, '_>, flags: ValueId) -> Imported<ValueId> {
    let axes = node.builder().add_integers(&[0])?;
    node.op("tf.Any", &[flags, axes], &[("keep_dims", Attribute::Bool(false))])
}

/// The rows of the map for which a flag is set.
fn chosen(node: &mut Node<'_, '_>, flags: ValueId) -> Imported<ValueId> {
    let map = node.input(0)?;
    let places = node.op("tf.Where", &[flags], &[])?;
    let places = node.op("tf.Squeeze", &[places], &[("squeeze_dims", ints(&[-1]))])?;
    gather(node, map, places)
}

/// The map without the row of a key.
fn without(node: &mut Node<'_, '_>, found: ValueId) -> Imported<ValueId> {
    let others = node.op("tf.LogicalNot", &[found], &[])?;
    chosen(node, others)
}

fn insert(node: &mut Node<'_, '_>) -> Imported {
    let (key, found) = find(node)?;
    let rest = without(node, found)?;
    let value = node.input(2)?;
    let value = node.op("tfrt.ToVariant", &[value], &[])?;
    let row = node.op("tf.Pack", &[key, value], &[("axis", Attribute::i64(0))])?;
    let axis = node.builder().add_integer(0)?;
    let row = node.op("tf.ExpandDims", &[row, axis], &[])?;
    Ok(vec![node.op("tf.ConcatV2", &[rest, row, axis], &[])?.into()])
}

const NO_KEY: &str = "the map has no such key";

fn erase(node: &mut Node<'_, '_>) -> Imported {
    let (_, found) = find(node)?;
    let (rest, is_there) = (without(node, found)?, any(node, found)?);
    Ok(vec![required(node, rest, is_there, NO_KEY)?.into()])
}

fn look_up(node: &mut Node<'_, '_>) -> Imported {
    let (_, found) = find(node)?;
    let (rows, is_there) = (chosen(node, found)?, any(node, found)?);
    let rows = required(node, rows, is_there, NO_KEY)?;
    let values = column(node, rows, 1)?;
    let first = node.builder().add_integer(0)?;
    let value = gather(node, values, first)?;
    let dtype = node.type_attr("value_dtype")?.ok_or("attribute 'value_dtype' is missing")?;
    Ok(vec![node.op("tfrt.FromVariant", &[value], &[("dtype", type_attribute(dtype))])?.into()])
}

fn size(node: &mut Node<'_, '_>) -> Imported {
    let map = node.input(0)?;
    let keys = column(node, map, 0)?;
    Ok(vec![node.op("tf.Size", &[keys], &[("out_type", type_attribute(DType::I32))])?.into()])
}

fn keys(node: &mut Node<'_, '_>) -> Imported {
    let map = node.input(0)?;
    let keys = column(node, map, 0)?;
    let dtype = node.type_attr("key_dtype")?.ok_or("attribute 'key_dtype' is missing")?;
    Ok(vec![node.op("tfrt.StackVariants", &[keys], &[("dtype", type_attribute(dtype))])?.into()])
}
