//! Arrays of tensors that cannot be lists, as state of the request: the gradients that reads of an
//! array give are collected under its name, and the elements of an array may have different shapes.

use std::sync::Arc;

use tfrt_ir::{Attribute, ValueId};

use super::tensor_arrays::known_dims;
use crate::{
    TensorType,
    import::tensorflow::{
        node::{Imported, Node, Value, dims_attribute, type_attribute},
        proto::{Attr, NodeDef},
    },
};

/// Whether a node takes the gradient of an array, or makes elements of different shapes.
pub(in crate::import::tensorflow) fn needs_state(node: &NodeDef) -> bool {
    let is_alike = |node: &NodeDef| {
        let attr = node.attr.get("identical_element_shapes").and_then(|attr| attr.value.as_ref());
        !matches!(attr, Some(Attr::B(false)))
    };
    match node.op.as_str() {
        "TensorArrayGradV3" | "TensorArraySplitV3" => true,
        "TensorArrayV3" => !is_alike(node),
        _ => false,
    }
}

/// A handle of the array or stack that an input is.
pub(super) fn handle(node: &mut Node<'_, '_>) -> Imported<ValueId> {
    let name = node.resource(0)?;
    named(node, &name)
}

fn named(node: &mut Node<'_, '_>, name: &str) -> Imported<ValueId> {
    let [Value::Tensor(handle)] = node.importer.string_constant(name)?[..] else {
        return Err("a handle is no tensor".into());
    };
    Ok(handle)
}

/// The attributes of an op that reads elements: their type, and their shape as far as it is known.
fn element(node: &mut Node<'_, '_>) -> Imported<[(&'static str, Attribute); 2]> {
    let dtype = node.type_attr("dtype")?.ok_or("attribute 'dtype' is missing")?;
    let dims = known_dims(node)?;
    Ok([("dtype", type_attribute(dtype)), ("shape", dims_attribute(dims.as_deref()))])
}

/// An array of this type of elements.
pub(super) fn array(node: &mut Node<'_, '_>, ty: TensorType) -> Imported {
    let size = node.input(0)?;
    let name: Arc<str> = format!("{}/{}", node.importer.node_count, node.proto.name).into();
    let handle = named(node, &name)?;
    let attributes =
        [("dtype", type_attribute(ty.dtype)), ("dynamic_size", Attribute::Bool(node.flag("dynamic_size")?))];
    let flow = node.op("tfrt.Array", &[handle, size], &attributes)?;
    if ty.dims.is_some() {
        node.importer.state.arrays.insert(name.clone(), ty);
    }
    Ok(vec![Value::Resource(name), flow.into()])
}

/// The gradient of an array, which is another array.
pub(super) fn gradient(node: &mut Node<'_, '_>) -> Imported {
    let (name, flow) = (node.resource(0)?, node.input(1)?);
    let source = node.string("source")?.unwrap_or_default();
    let gradient: Arc<str> = format!("{name}/{source}").into();
    if let Some(ty) = node.importer.state.arrays.get(&name).cloned() {
        node.importer.state.arrays.insert(gradient.clone(), ty);
    }
    let (handle, of_gradient) = (handle(node)?, named(node, &gradient)?);
    let flow = node.op("tfrt.ArrayGradient", &[handle, of_gradient, flow], &[])?;
    Ok(vec![Value::Resource(gradient), flow.into()])
}

/// An op that reads elements, with the inputs behind the handle.
pub(super) fn read(node: &mut Node<'_, '_>, op: &str, result_count: usize) -> Imported {
    let attributes = element(node)?;
    let mut operands = vec![handle(node)?];
    operands.extend(node.inputs_from(1)?);
    let results = node.ops(op, &operands, &attributes, result_count)?;
    Ok(results.into_iter().map(Value::from).collect())
}

/// Any other op on an array, with the inputs behind the handle.
pub(super) fn apply(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let mut operands = vec![handle(node)?];
    operands.extend(node.inputs_from(1)?);
    Ok(vec![node.op(op, &operands, &[])?.into()])
}
