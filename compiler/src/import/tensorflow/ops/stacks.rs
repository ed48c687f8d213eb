//! Stacks, which keep what the gradient of a loop needs of each iteration.

use std::sync::Arc;

use super::{Family, array_states::handle, tensor_arrays::note};
use crate::import::tensorflow::node::{Imported, Node, Value, dims_attribute, type_attribute};

pub(super) const OPS: Family = &[("StackPopV2", pop), ("StackPushV2", push), ("StackV2", stack)];

fn stack(node: &mut Node<'_, '_>) -> Imported {
    let name: Arc<str> = format!("{}/{}", node.importer.node_count, node.proto.name).into();
    Ok(vec![Value::Resource(name)])
}

/// Gives what it puts on the stack.
fn push(node: &mut Node<'_, '_>) -> Imported {
    let element = node.input(1)?;
    let ty = node.ty(element)?;
    note(node, ty)?;
    let handle = handle(node)?;
    node.ops("tfrt.StackPush", &[handle, element], &[], 0)?;
    Ok(vec![element.into()])
}

fn pop(node: &mut Node<'_, '_>) -> Imported {
    let dtype = node.type_attr("elem_type")?.ok_or("attribute 'elem_type' is missing")?;
    let name = node.resource(0)?;
    let dims = node.importer.state.arrays.get(&name).and_then(|ty| ty.dims.clone());
    let handle = handle(node)?;
    let attributes = [("dtype", type_attribute(dtype)), ("shape", dims_attribute(dims.as_deref()))];
    Ok(vec![node.op("tfrt.StackPop", &[handle], &attributes)?.into()])
}
