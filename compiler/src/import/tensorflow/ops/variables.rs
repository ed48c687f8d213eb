//! Variables, which are followed while nodes are imported.

use std::sync::Arc;

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};
use tfrt_tensor::HostTensor;

use super::Family;
use crate::import::tensorflow::{
    node::{Imported, Node, Value},
    slices,
};

pub(super) const OPS: Family = &[
    ("Assign", assign),
    ("AssignAdd", |node| update_reference(node, "tf.AddV2")),
    ("AssignAddVariableOp", |node| update(node, "tf.AddV2")),
    ("AssignSub", |node| update_reference(node, "tf.Sub")),
    ("AssignSubVariableOp", |node| update(node, "tf.Sub")),
    ("AssignVariableOp", assign_variable),
    ("DestroyResourceOp", |_| Ok(Vec::new())),
    ("IsVariableInitialized", is_initialized),
    ("ReadVariableOp", read),
    ("ResourceGather", gather),
    ("ResourceScatterAdd", scatter),
    ("ResourceScatterDiv", scatter),
    ("ResourceScatterMax", scatter),
    ("ResourceScatterMin", scatter),
    ("ResourceScatterMul", scatter),
    ("ResourceScatterNdAdd", scatter),
    ("ResourceScatterNdMax", scatter),
    ("ResourceScatterNdMin", scatter),
    ("ResourceScatterNdSub", scatter),
    ("ResourceScatterNdUpdate", scatter),
    ("ResourceScatterSub", scatter),
    ("ResourceScatterUpdate", scatter),
    ("ResourceStridedSliceAssign", assign_slice),
    ("RestoreV2", restore),
    ("ScatterAdd", scatter),
    ("ScatterDiv", scatter),
    ("ScatterMax", scatter),
    ("ScatterMin", scatter),
    ("ScatterMul", scatter),
    ("ScatterNdAdd", scatter),
    ("ScatterNdSub", scatter),
    ("ScatterNdUpdate", scatter),
    ("ScatterSub", scatter),
    ("ScatterUpdate", scatter),
    ("StridedSliceAssign", |node| {
        assign_slice(node)?;
        Ok(vec![node.value(0)?.clone()])
    }),
    ("VarHandleOp", handle),
    ("VarIsInitializedOp", is_initialized),
    ("Variable", handle),
    ("VariableShape", shape),
    ("VariableV2", handle),
];

/// The name that all nodes of one resource share.
pub(super) fn resource_name(node: &Node<'_, '_>) -> Imported<Arc<str>> {
    let shared = node.string("shared_name")?.unwrap_or_default();
    // Exporters give resources without a name a number that is no name.
    let name = if shared.is_empty() || shared.len() == 36 && shared.matches('-').count() == 4 {
        node.proto.name.clone()
    } else {
        shared
    };
    let container = node.string("container")?.unwrap_or_default();
    Ok(if container.is_empty() { name.into() } else { format!("{container}/{name}").into() })
}

fn handle(node: &mut Node<'_, '_>) -> Imported {
    Ok(vec![Value::Resource(resource_name(node)?)])
}

pub(super) fn held(node: &Node<'_, '_>, input: usize) -> Imported<(Arc<str>, ValueId)> {
    let name = node.resource(input)?;
    let held = node.importer.read_variable(&name)?;
    Ok((name, held))
}

pub(super) fn set(node: &mut Node<'_, '_>, name: Arc<str>, value: ValueId) {
    node.importer.state.variables.insert(name, value);
}

fn read(node: &mut Node<'_, '_>) -> Imported {
    Ok(vec![held(node, 0)?.1.into()])
}

fn is_initialized(node: &mut Node<'_, '_>) -> Imported {
    let name = node.resource(0)?;
    let is_set = node.importer.state.variables.contains_key(&name);
    let mut builder = node.builder();
    let number = builder.add_integer(i64::from(is_set))?;
    Ok(vec![builder.cast(number, DType::I1)?.into()])
}

fn shape(node: &mut Node<'_, '_>) -> Imported {
    let (_, held) = held(node, 0)?;
    let attributes = node.forwarded("tf.Shape")?;
    Ok(vec![node.op("tf.Shape", &[held], &attributes)?.into()])
}

fn assign_variable(node: &mut Node<'_, '_>) -> Imported {
    let name = node.resource(0)?;
    if matches!(node.value(1)?, Value::Missing(_)) {
        // A variable without a value is an error if it is read.
        node.importer.state.variables.remove(&name);
        return Ok(Vec::new());
    }
    let value = node.input(1)?;
    set(node, name, value);
    Ok(Vec::new())
}

/// The assignments of the first version of TensorFlow give the variable.
fn assign(node: &mut Node<'_, '_>) -> Imported {
    assign_variable(node)?;
    Ok(vec![node.value(0)?.clone()])
}

fn update(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let (name, held) = held(node, 0)?;
    let by = node.input(1)?;
    let value = node.op(op, &[held, by], &[])?;
    set(node, name, value);
    Ok(Vec::new())
}

fn update_reference(node: &mut Node<'_, '_>, op: &str) -> Imported {
    update(node, op)?;
    Ok(vec![node.value(0)?.clone()])
}

fn gather(node: &mut Node<'_, '_>) -> Imported {
    let ((_, held), indices) = (held(node, 0)?, node.input(1)?);
    let axis = node.int("batch_dims")?.unwrap_or(0);
    let attributes = [("batch_dims", Attribute::i64(axis))];
    let axis = node.builder().add_integer(axis)?;
    Ok(vec![node.op("tf.GatherV2", &[held, indices, axis], &attributes)?.into()])
}

/// The ops that change rows of a variable, and what they do with them.
const ROW_CHANGES: [(&str, &str); 7] = [
    ("Add", "tf.TensorScatterAdd"),
    ("Div", "tf.RealDiv"),
    ("Max", "tf.TensorScatterMax"),
    ("Min", "tf.TensorScatterMin"),
    ("Mul", "tf.Mul"),
    ("Sub", "tf.TensorScatterSub"),
    ("Update", "tf.TensorScatterUpdate"),
];

/// Changes a part of a variable: rows at indices, or with `Nd` in the op's name what whole
/// coordinates name.
fn scatter(node: &mut Node<'_, '_>) -> Imported {
    let ((name, held), mut indices, updates) = (held(node, 0)?, node.input(1)?, node.input(2)?);
    let proto = node.proto.op.as_str();
    let is_reference = !proto.starts_with("Resource");
    let kind = proto.trim_start_matches("Resource").trim_start_matches("Scatter");
    let (is_nd, kind) = (kind.starts_with("Nd"), kind.trim_start_matches("Nd"));
    let op = ROW_CHANGES.iter().find(|known| known.0 == kind).map_or("", |known| known.1);
    let last = node.builder().add_integer(-1)?;
    if !is_nd {
        // Indices may have any shape, and the scatter ops take one more dimension.
        indices = node.op("tf.ExpandDims", &[indices, last], &[])?;
    }
    let mut updates = updates;
    if node.ty(updates)?.rank() == Some(0) && !is_nd {
        // A number stands for whole rows.
        let rows = node.op("tf.GatherNd", &[held, indices], &[])?;
        let shape = node.op("tf.Shape", &[rows], &[])?;
        updates = node.op("tf.BroadcastTo", &[updates, shape], &[])?;
    }
    let value = if op.starts_with("tf.TensorScatter") {
        node.op(op, &[held, indices, updates], &[])?
    } else {
        let old = node.op("tf.GatherNd", &[held, indices], &[])?;
        let new = node.op(op, &[old, updates], &[])?;
        node.op("tf.TensorScatterUpdate", &[held, indices, new], &[])?
    };
    set(node, name, value);
    Ok(if is_reference { vec![node.value(0)?.clone()] } else { Vec::new() })
}

/// Changes a slice of a variable.
fn assign_slice(node: &mut Node<'_, '_>) -> Imported {
    let (name, held) = held(node, 0)?;
    let inputs = [node.input(1)?, node.input(2)?, node.input(3)?, node.input(4)?];
    let changed = with_slice(node, held, inputs)?;
    set(node, name, changed);
    Ok(Vec::new())
}

/// A tensor with new elements in a slice, whose places among all elements are updated.
pub(super) fn with_slice(
    node: &mut Node<'_, '_>,
    held: ValueId,
    [begin, end, strides, value]: [ValueId; 4],
) -> Imported<ValueId> {
    let mut attributes = Vec::new();
    for mask in ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"] {
        attributes.push((mask, Attribute::i64(node.int(mask)?.unwrap_or(0))));
    }
    let mut builder = node.builder();
    let (zero, one, flat) = (builder.add_integer(0)?, builder.add_integer(1)?, builder.add_integers(&[-1])?);
    let wide = [("out_type", crate::import::tensorflow::node::type_attribute(DType::I64))];
    let (size, shape) = (node.op("tf.Size", &[held], &wide)?, node.op("tf.Shape", &[held], &wide)?);
    let numbers = node.op("tf.Range", &[zero, size, one], &[])?;
    let numbers = node.op("tf.Reshape", &[numbers, shape], &[])?;
    let places = node.op("tf.StridedSlice", &[numbers, begin, end, strides], &attributes)?;
    let extents = node.op("tf.Shape", &[places], &wide)?;
    let value = node.op("tf.BroadcastTo", &[value, extents], &[])?;
    let column = node.builder().add_integers(&[-1, 1])?;
    let (places, value) =
        (node.op("tf.Reshape", &[places, column], &[])?, node.op("tf.Reshape", &[value, flat], &[])?);
    let whole = node.op("tf.Reshape", &[held, flat], &[])?;
    let changed = node.op("tf.TensorScatterUpdate", &[whole, places, value], &[])?;
    node.op("tf.Reshape", &[changed, shape], &[])
}

/// The texts in a constant vector.
fn texts(node: &Node<'_, '_>, input: usize) -> Imported<Vec<String>> {
    match node.constant(node.input(input)?) {
        Some(HostTensor::String(names)) => Ok(names.strings().iter().map(ToString::to_string).collect()),
        _ => Err("the names of the tensors to restore are not known".into()),
    }
}

/// The tensors of the checkpoint that is being restored, or parts of them.
fn restore(node: &mut Node<'_, '_>) -> Imported {
    let (names, parts) = (texts(node, 1)?, texts(node, 2)?);
    let mut values = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let checkpoint = node.importer.checkpoint.as_mut();
        let checkpoint = checkpoint.ok_or("only SavedModels can be restored from a checkpoint")?;
        let tensor = match checkpoint.tensor(name) {
            Ok(tensor) => tensor,
            // Checkpoints hold things that no variable is, such as the tree of objects in binary
            // form.
            Err(why) => {
                values.push(Value::Missing(why.into()));
                continue;
            }
        };
        let mut value = node.builder().add_constant(name, tensor);
        if let Some((start, size)) = slices::parse(parts.get(number).map_or("", String::as_str))? {
            let (start, size) = (node.builder().add_integers(&start)?, node.builder().add_integers(&size)?);
            value = node.op("tf.Slice", &[value, start, size], &[])?;
        }
        values.push(value.into());
    }
    Ok(values)
}
