//! Constants, identities, and nodes that only order others.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::tensorflow::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("Assert", assert),
    ("Const", constant),
    ("ControlTrigger", nothing),
    ("Identity", identity),
    ("IdentityN", |node| Ok(node.inputs.clone())),
    ("NoOp", nothing),
    ("Placeholder", placeholder),
    ("PlaceholderV2", placeholder),
    ("PlaceholderWithDefault", identity),
    ("PreventGradient", identity),
    ("PrintV2", print),
    ("RefIdentity", identity),
    ("Snapshot", identity),
    ("StopGradient", identity),
    ("_Arg", placeholder),
    ("_HostRecv", receive),
    ("_HostSend", nothing),
    ("_Recv", receive),
    ("_Retval", identity),
    ("_Send", nothing),
];

fn nothing(_node: &mut Node<'_, '_>) -> Imported {
    Ok(Vec::new())
}

/// Resources pass, too.
fn identity(node: &mut Node<'_, '_>) -> Imported {
    Ok(vec![node.value(0)?.clone()])
}

/// What the node gives that sends under the same name.
fn receive(node: &mut Node<'_, '_>) -> Imported {
    if node.inputs.is_empty() {
        let name = node.string("tensor_name")?.unwrap_or_default();
        return Err(format!("nothing in the graph sends '{name}'").into());
    }
    identity(node)
}

fn constant(node: &mut Node<'_, '_>) -> Imported {
    let tensor = node.tensor("value")?;
    let name = node.proto.name.clone();
    Ok(vec![node.builder().add_constant(&name, tensor).into()])
}

fn placeholder(node: &mut Node<'_, '_>) -> Imported {
    Err(format!("nothing is given for the placeholder '{}'", node.proto.name).into())
}

fn print(node: &mut Node<'_, '_>) -> Imported {
    node.importer.warn("the model's prints are left out");
    Ok(Vec::new())
}

/// A condition that must hold for the results to be right. One that is known to hold is left out.
fn assert(node: &mut Node<'_, '_>) -> Imported {
    let condition = node.input(0)?;
    let message = message(node)?;
    let all = all(node, condition)?;
    if let Some(truth) = node.constant(all).cloned() {
        let number = node.builder().cast(all, DType::I64)?;
        let holds = node.integers(number).is_none_or(|truth| truth != [0]);
        if holds || truth.shape().rank() != 0 {
            return Ok(Vec::new());
        }
    }
    node.importer.checks.push((all, message));
    Ok(Vec::new())
}

/// Whether all elements are true.
fn all(node: &mut Node<'_, '_>, condition: ValueId) -> Imported<ValueId> {
    if node.ty(condition)?.rank() == Some(0) {
        return Ok(condition);
    }
    let flat = node.builder().add_integers(&[-1])?;
    let flat = node.op("tf.Reshape", &[condition, flat], &[])?;
    let axis = node.builder().add_integers(&[0])?;
    node.op("tf.All", &[flat, axis], &[("keep_dims", Attribute::Bool(false))])
}

/// What the node says of a failure: those of its data that are texts.
fn message(node: &Node<'_, '_>) -> Imported<String> {
    let mut texts = vec!["assertion failed:".to_owned()];
    for data in node.inputs_from(1)? {
        if let Some(tfrt_tensor::HostTensor::String(strings)) = node.constant(data) {
            texts.extend(strings.strings().iter().map(ToString::to_string));
        }
    }
    texts.push(format!("(node '{}')", node.proto.name));
    Ok(texts.join(" "))
}
