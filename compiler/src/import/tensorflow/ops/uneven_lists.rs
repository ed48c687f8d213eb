//! Lists of tensors whose elements may have different shapes. Such a list is a tensor of strings, of
//! which each holds an element (`eager/src/ops/variants.rs`). Lists whose elements have one shape are
//! dense tensors, which most models have alone: only a model that joins or splits lists has others.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, generic, tensor_lists};
use crate::{
    Dims,
    import::tensorflow::{
        node::{Imported, Node, Value, dims_attribute, type_attribute},
        proto::{Attr, NodeDef},
    },
};

pub(super) const OPS: Family = &[
    ("EmptyTensorList", create),
    ("TensorListConcat", concat),
    ("TensorListConcatV2", concat),
    ("TensorListGather", gather),
    ("TensorListGetItem", get),
    ("TensorListPopBack", pop),
    ("TensorListPushBack", |node| put(node, 1)),
    ("TensorListReserve", create),
    ("TensorListScatterIntoExistingList", |node| match is_uneven(node)? {
        true => Err("elements are set one at a time in a list of different shapes".into()),
        false => tensor_lists::scatter(node),
    }),
    ("TensorListSetItem", |node| put(node, 2)),
    ("TensorListSplit", split),
    ("TensorListStack", stack),
];

/// The number of the type of variants.
const VARIANT: i32 = 21;

/// Whether a node makes or takes a list of elements of different shapes.
pub(in crate::import::tensorflow) fn needs_uneven_lists(node: &NodeDef) -> bool {
    matches!(node.op.as_str(), "TensorListConcat" | "TensorListConcatV2" | "TensorListSplit")
}

/// Whether a node sets several elements of a list at once, which only lists of one shape can.
pub(in crate::import::tensorflow) fn needs_even_lists(node: &NodeDef) -> bool {
    node.op == "TensorListScatterIntoExistingList"
}

/// Whether the elements are no tensors by themselves, such as rows of ragged tensors.
fn holds_variants(node: &Node<'_, '_>) -> bool {
    matches!(node.attr("element_dtype"), Some(Attr::Type(VARIANT)))
}

/// Whether the first input is a list of strings that hold the elements.
fn is_uneven(node: &Node<'_, '_>) -> Imported<bool> {
    Ok(node.dtype(node.input(0)?)? == DType::String
        && (holds_variants(node) || node.type_attr("element_dtype")? != Some(DType::String)))
}

/// The shape of elements that an input tells, as far as it does.
fn told_dims(node: &mut Node<'_, '_>, input: usize) -> Imported<Dims> {
    let shape = node.input(input)?;
    if node.ty(shape)?.rank() == Some(0) {
        return Ok(None);
    }
    let known = node.builder().known_elements(shape);
    Ok(known.map(|dims| dims.into_iter().map(|dim| u64::try_from(dim?).ok()).collect()))
}

/// The shape of a scalar as an input of ops on lists.
fn no_dims(node: &mut Node<'_, '_>) -> Imported<ValueId> {
    Ok(node.builder().add_elements::<i32>(&[0], &[])?)
}

fn create(node: &mut Node<'_, '_>) -> Imported {
    let is_even = !holds_variants(node)
        && (!node.importer.has_uneven_lists
            || node.type_attr("element_dtype")? == Some(DType::String)
            || told_dims(node, 0)?.is_some_and(|dims| !dims.contains(&None)));
    if is_even {
        return generic(node);
    }
    let (shape, count) = (no_dims(node)?, node.input(1)?);
    let op = format!("tf.{}", node.proto.op);
    let attributes = [("element_dtype", type_attribute(DType::String))];
    Ok(vec![node.op(&op, &[shape, count], &attributes)?.into()])
}

/// The attributes of an op that takes tensors out of variants.
fn opening(node: &Node<'_, '_>, dims: Dims) -> Imported<[(&'static str, Attribute); 2]> {
    let dtype = node.type_attr("element_dtype")?.ok_or("attribute 'element_dtype' is missing")?;
    Ok([("dtype", type_attribute(dtype)), ("shape", dims_attribute(dims.as_deref()))])
}

/// The tensor that a variant holds, or the variant if the list is of those.
fn opened(node: &mut Node<'_, '_>, variant: ValueId, input: usize) -> Imported<Value> {
    if holds_variants(node) {
        return Ok(variant.into());
    }
    let dims = told_dims(node, input)?;
    let attributes = opening(node, dims)?;
    Ok(node.op("tfrt.FromVariant", &[variant], &attributes)?.into())
}

fn get(node: &mut Node<'_, '_>) -> Imported {
    if !is_uneven(node)? {
        return generic(node);
    }
    let (list, index, shape) = (node.input(0)?, node.input(1)?, no_dims(node)?);
    let variant = node.op("tf.TensorListGetItem", &[list, index, shape], &[])?;
    Ok(vec![opened(node, variant, 2)?])
}

fn pop(node: &mut Node<'_, '_>) -> Imported {
    if !is_uneven(node)? {
        return generic(node);
    }
    let (list, shape) = (node.input(0)?, no_dims(node)?);
    let [rest, variant] = node.ops("tf.TensorListPopBack", &[list, shape], &[], 2)?[..] else {
        return Err("a list gives what is left and an element".into());
    };
    Ok(vec![rest.into(), opened(node, variant, 1)?])
}

/// Sets an element, which is the input of this number.
fn put(node: &mut Node<'_, '_>, input: usize) -> Imported {
    if !is_uneven(node)? {
        return generic(node);
    }
    let mut operands = node.inputs_from(0)?;
    let element = operands.get_mut(input).ok_or("an element is missing")?;
    let is_variant = holds_variants(node) && node.dtype(*element)? == DType::String;
    if !is_variant {
        *element = node.op("tfrt.ToVariant", &[*element], &[])?;
    }
    let op = format!("tf.{}", node.proto.op);
    let attributes = node.forwarded(&op)?;
    Ok(vec![node.op(&op, &operands, &attributes)?.into()])
}

/// The elements of a list behind each other, which must have one shape.
fn stacked(node: &mut Node<'_, '_>, list: ValueId, input: usize) -> Imported {
    if holds_variants(node) {
        return Ok(vec![list.into()]);
    }
    let dims = told_dims(node, input)?;
    let attributes = opening(node, dims)?;
    Ok(vec![node.op("tfrt.StackVariants", &[list], &attributes)?.into()])
}

fn stack(node: &mut Node<'_, '_>) -> Imported {
    if !is_uneven(node)? {
        return generic(node);
    }
    let (list, shape) = (node.input(0)?, no_dims(node)?);
    let attributes = node.forwarded("tf.TensorListStack")?;
    let list = node.op("tf.TensorListStack", &[list, shape], &attributes)?;
    stacked(node, list, 1)
}

fn gather(node: &mut Node<'_, '_>) -> Imported {
    if !is_uneven(node)? {
        return generic(node);
    }
    let (list, indices, shape) = (node.input(0)?, node.input(1)?, no_dims(node)?);
    let list = node.op("tf.TensorListGather", &[list, indices, shape], &[])?;
    stacked(node, list, 2)
}

/// The elements behind each other in their first dimension, and how long each is.
fn concat(node: &mut Node<'_, '_>) -> Imported {
    if !is_uneven(node)? {
        return tensor_lists::concat(node);
    }
    let list = node.input(0)?;
    let dims = match node.attr("element_shape") {
        Some(Attr::Shape(shape)) => crate::import::tensorflow::tensor::dims(Some(shape)),
        _ if node.inputs.len() > 1 => told_dims(node, 1)?,
        _ => None,
    };
    let attributes = opening(node, dims)?;
    let results = node.ops("tfrt.JoinVariants", &[list], &attributes, 2)?;
    Ok(results.into_iter().map(Value::from).collect())
}

/// A list of the parts of a tensor.
fn split(node: &mut Node<'_, '_>) -> Imported {
    let (value, lengths) = (node.input(0)?, node.input(2)?);
    let known = node.integers(lengths);
    let is_even = known.is_some_and(|known| known.windows(2).all(|pair| pair[0] == pair[1]));
    if is_even || node.dtype(value)? == DType::String {
        return tensor_lists::split(node);
    }
    Ok(vec![node.op("tfrt.SplitVariants", &[value, lengths], &[])?.into()])
}
