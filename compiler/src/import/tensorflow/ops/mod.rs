//! Importers of ops, one file a family. Ops that are not here and that the core runtime has under
//! their TensorFlow name are taken over as they are: it has their arguments, results and
//! attributes.

mod array_states;
mod arrays;
mod basic;
mod composed;
mod counts;
mod examples;
mod files;
mod gradients;
mod older;
mod optimizers;
mod optionals;
mod quantization;
mod ragged;
mod ragged_rows;
mod recurrent;
mod selection;
mod sequence_examples;
mod sequences;
mod sets;
mod signal;
mod sparse;
mod sparse_steps;
mod stacks;
mod tables;
mod tensor_arrays;
mod tensor_lists;
mod uneven_lists;
mod variables;
mod variants;
mod versions;
mod volume_gradients;
mod volumes;

use std::{collections::HashMap, sync::OnceLock};

use tfrt_eager::Op;

use super::{
    control_flow,
    node::{Imported, Node, Value},
    outputs,
};
use crate::Evaluator;

pub(super) use array_states::needs_state as needs_array_state;
pub(super) use tables::columns_of;
pub(super) use uneven_lists::{needs_even_lists, needs_uneven_lists};

/// Imports a node: appends its operations and gives its outputs, in order.
pub(super) type ImportFn = fn(&mut Node<'_, '_>) -> Imported;

/// Ops of one family and their importers.
pub(super) type Family = &'static [(&'static str, ImportFn)];

const FAMILIES: &[Family] = &[
    arrays::OPS,
    basic::OPS,
    composed::OPS,
    control_flow::OPS,
    counts::OPS,
    examples::OPS,
    files::OPS,
    gradients::OPS,
    older::OPS,
    optimizers::OPS,
    optionals::OPS,
    quantization::OPS,
    ragged::OPS,
    ragged_rows::OPS,
    recurrent::OPS,
    selection::OPS,
    sequence_examples::OPS,
    sequences::OPS,
    sets::OPS,
    signal::OPS,
    sparse::OPS,
    sparse_steps::OPS,
    stacks::OPS,
    tables::OPS,
    tensor_arrays::OPS,
    tensor_lists::OPS,
    uneven_lists::OPS,
    variables::OPS,
    variants::OPS,
    versions::OPS,
    volume_gradients::OPS,
    volumes::OPS,
];

/// The importer of an op that has one here.
pub(super) fn find(op: &str) -> Option<ImportFn> {
    static OPS: OnceLock<HashMap<&str, ImportFn>> = OnceLock::new();
    let ops = OPS.get_or_init(|| FAMILIES.iter().flat_map(|family| family.iter().copied()).collect());
    ops.get(op).copied()
}

/// Whether an op can be imported.
pub(super) fn is_known(evaluator: &Evaluator, op: &str) -> bool {
    find(op).is_some()
        || is_v1_control_flow(op)
        || evaluator.op(&format!("tf.{op}")).is_some_and(Op::runs_on_host)
}

/// The names of the ops that have an importer here, sorted.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = FAMILIES.iter().flat_map(|family| family.iter().map(|(name, _)| *name)).collect();
    names.sort_unstable();
    names
}

/// Whether an op is an input of a graph.
pub(super) fn is_graph_input(op: &str) -> bool {
    matches!(op, "Placeholder" | "PlaceholderV2" | "_Arg")
}

/// Whether an op belongs to the control flow of TensorFlow's first version.
pub(super) fn is_v1_control_flow(op: &str) -> bool {
    let op = op.strip_prefix("Ref").unwrap_or(op);
    matches!(op, "Switch" | "_SwitchN" | "Merge" | "Enter" | "Exit" | "NextIteration" | "LoopCond")
}

/// Whether a node does something beyond its outputs, so that a function runs it although nothing
/// uses them.
pub(super) fn has_effects(op: &str) -> bool {
    const IDLE: [&str; 6] =
        ["NoOp", "ControlTrigger", "DestroyResourceOp", "StackCloseV2", "TensorArrayCloseV3", "_Retval"];
    let is_idle = IDLE.contains(&op);
    outputs::has_none(op) && !is_idle && !op.ends_with("Send")
}

/// What to say of an op that cannot be imported.
pub(super) fn unsupported(op: &str) -> String {
    format!("unsupported op '{op}'")
}

/// An op that the core runtime has under the same name.
pub(super) fn generic(node: &mut Node<'_, '_>) -> Imported {
    let name = format!("tf.{}", node.proto.op);
    let operands = node.inputs_from(0)?;
    let attributes = node.forwarded(&name)?;
    let count = node.output_count();
    let results = node.ops(&name, &operands, &attributes, count)?;
    Ok(results.into_iter().map(Value::from).collect())
}
