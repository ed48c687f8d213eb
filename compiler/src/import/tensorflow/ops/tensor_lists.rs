//! Lists of tensors as a whole: their elements behind each other, and elements that are given all
//! at once.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::tensorflow::node::{Imported, Node, type_attribute};

pub(super) const OPS: Family =
    &[("TensorListElementShape", element_shape), ("TensorListScatterV2", scatter_new)];

/// The extents of a tensor from one dimension on.
fn extents(node: &mut Node<'_, '_>, tensor: ValueId, from: i64, count: i64) -> Imported<ValueId> {
    let shape = node.op("tf.Shape", &[tensor], &[("out_type", type_attribute(DType::I64))])?;
    let mut builder = node.builder();
    let (from, count) = (builder.add_integers(&[from])?, builder.add_integers(&[count])?);
    node.op("tf.Slice", &[shape, from, count], &[])
}

/// The shape of the elements, which all have the same.
fn element_shape(node: &mut Node<'_, '_>) -> Imported {
    let list = node.input(0)?;
    let shape = extents(node, list, 1, -1)?;
    let dtype = node.type_attr("shape_type")?.unwrap_or(DType::I64);
    Ok(vec![node.builder().cast(shape, dtype)?.into()])
}

fn joined(node: &mut Node<'_, '_>, parts: &[ValueId]) -> Imported<ValueId> {
    let axis = node.builder().add_integer(0)?;
    node.op("tf.ConcatV2", &[parts, &[axis]].concat(), &[])
}

/// The elements behind each other, and how long each is. All have the same shape.
pub(super) fn concat(node: &mut Node<'_, '_>) -> Imported {
    let list = node.input(0)?;
    joined_elements(node, list)
}

/// The elements of a list behind each other, and the length of each.
pub(super) fn joined_elements(node: &mut Node<'_, '_>, list: ValueId) -> Imported {
    let (count, length, inner) =
        (extents(node, list, 0, 1)?, extents(node, list, 1, 1)?, extents(node, list, 2, -1)?);
    let total = node.op("tf.Mul", &[count, length], &[])?;
    let shape = joined(node, &[total, inner])?;
    let value = node.op("tf.Reshape", &[list, shape], &[])?;
    let scalar = node.builder().add_integers(&[])?;
    let length = node.op("tf.Reshape", &[length, scalar], &[])?;
    Ok(vec![value.into(), node.op("tf.Fill", &[count, length], &[])?.into()])
}

pub(super) fn split(node: &mut Node<'_, '_>) -> Imported {
    let (value, lengths) = (node.input(0)?, node.input(2)?);
    split_evenly(node, value, lengths)
}

/// A list of the parts of a tensor, which must be equally long.
fn split_evenly(node: &mut Node<'_, '_>, value: ValueId, lengths: ValueId) -> Imported {
    let mut builder = node.builder();
    let (zero, axes) = (builder.add_integer(0)?, builder.add_integers(&[0])?);
    let first = node.op("tf.GatherV2", &[lengths, zero, zero], &[])?;
    let same = node.op("tf.Equal", &[lengths, first], &[])?;
    let same = node.op("tf.All", &[same, axes], &[("keep_dims", Attribute::Bool(false))])?;
    let message = "a list is split into parts of one length alone";
    let value = node.op("tfrt.Require", &[value, same], &[("message", Attribute::string(message))])?;
    let count = extents(node, lengths, 0, 1)?;
    let first = node.builder().cast(first, DType::I64)?;
    let form = node.builder().add_integers(&[1])?;
    let length = node.op("tf.Reshape", &[first, form], &[])?;
    let inner = extents(node, value, 1, -1)?;
    let shape = joined(node, &[count, length, inner])?;
    Ok(vec![node.op("tf.Reshape", &[value, shape], &[])?.into()])
}

/// A list of elements at places; places without an element hold zeros.
fn list_of(node: &mut Node<'_, '_>, value: ValueId, indices: ValueId, length: ValueId) -> Imported<ValueId> {
    let last = node.builder().add_integer(-1)?;
    let indices = node.op("tf.ExpandDims", &[indices, last], &[])?;
    let indices = node.builder().cast(indices, DType::I64)?;
    let inner = extents(node, value, 1, -1)?;
    let shape = joined(node, &[length, inner])?;
    node.op("tf.ScatterNd", &[indices, value, shape], &[])
}

pub(super) fn scatter(node: &mut Node<'_, '_>) -> Imported {
    let [list, value, indices] = [node.input(0)?, node.input(1)?, node.input(2)?];
    let is_known = node.ty(list)?.static_dims().is_some_and(|dims| !dims.contains(&0));
    if is_known {
        let last = node.builder().add_integer(-1)?;
        let indices = node.op("tf.ExpandDims", &[indices, last], &[])?;
        return Ok(vec![node.op("tf.TensorScatterUpdate", &[list, indices, value], &[])?.into()]);
    }
    // The elements of a list without a shape have not been set.
    let length = extents(node, list, 0, 1)?;
    Ok(vec![list_of(node, value, indices, length)?.into()])
}

/// A new list that is as long as the greatest index needs, or longer.
fn scatter_new(node: &mut Node<'_, '_>) -> Imported {
    let [value, indices, length] = [node.input(0)?, node.input(1)?, node.input(3)?];
    scattered(node, value, indices, length)
}

/// A list with elements at some places, of at least this length.
pub(super) fn scattered(
    node: &mut Node<'_, '_>,
    value: ValueId,
    indices: ValueId,
    length: ValueId,
) -> Imported {
    let mut builder = node.builder();
    let (axes, one, none) =
        (builder.add_integers(&[0])?, builder.add_integer(1)?, builder.add_integers(&[-1])?);
    let wide = builder.cast(indices, DType::I64)?;
    let all = joined(node, &[wide, none])?;
    let last = node.op("tf.Max", &[all, axes], &[("keep_dims", Attribute::Bool(false))])?;
    let needed = node.op("tf.AddV2", &[last, one], &[])?;
    let length = node.builder().cast(length, DType::I64)?;
    let length = node.op("tf.Maximum", &[length, needed], &[])?;
    let form = node.builder().add_integers(&[1])?;
    let length = node.op("tf.Reshape", &[length, form], &[])?;
    Ok(vec![list_of(node, value, indices, length)?.into()])
}
