//! Functionalization: the nodes of `tf_executor.graph` become ops in program order, Switch and
//! Merge become `tf.If`, and frames become `tf.While`.
//!
//! Each loop of the form that TensorFlow makes, Enter, Merge, LoopCond, Switch, NextIteration,
//! Exit, becomes one node of the frame around it (`loops.rs`). What is left has no cycles; there
//! each node runs under conditions, the Switches that its inputs went through (`conditions.rs`).
//! The nodes under one condition and its opposite become the branches of a `tf.If`, whose results
//! are the Merges of both (`emit.rs`). Ops keep an order that all data and control edges agree
//! with.
//!
//! A graph that is not made of such loops and conditionals stays as it is; the direct executor runs
//! it.

mod captures;
mod conditions;
mod emit;
mod loops;

use std::collections::HashSet;

use tfrt_ir::{Diagnostic, Diagnostics, OpId};

use loops::Structure;

use crate::{
    Evaluator, Graph,
    dialect::tf_executor::GRAPH,
    executor::{Frames, Nodes},
};

/// Why a graph, or a part of it, has no functional form: the operation that is in the way, and what
/// is wrong with it.
type Obstacle = (OpId, String);

/// How deep conditionals and loops may nest.
const MAX_NESTING: usize = 64;

/// Replaces each `tf_executor.graph` that has a functional form, those in functions and in islands
/// included.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    functionalize_all(graph, evaluator);
}

/// Replaces each `tf_executor.graph` that has a functional form, those in functions and in islands
/// included. Returns a warning for each graph that stays.
pub fn functionalize_all(graph: &mut Graph, evaluator: &Evaluator) -> Diagnostics {
    let mut warnings = Diagnostics::new();
    let mut kept = HashSet::new();
    while let Some(op) = next_graph(graph, &kept) {
        if let Err((at, why)) = functionalize(graph, evaluator, op) {
            kept.insert(op);
            let at = graph.module.op(at);
            let message = format!("'{}' {why}; the graph runs as it is", at.name);
            warnings.push(Diagnostic::new(tfrt_ir::Severity::Warning, at.location.clone(), message));
        }
    }
    warnings
}

/// An outermost graph that was not tried yet. Those in islands follow when the graph around them is
/// gone, or stays.
fn next_graph(graph: &Graph, kept: &HashSet<OpId>) -> Option<OpId> {
    let module = &graph.module;
    module.walk(module.root()).find(|&op| module.op(op).name == GRAPH && !kept.contains(&op))
}

/// Replaces one graph by ops before it. If it has no functional form, nothing changes.
fn functionalize(graph: &mut Graph, evaluator: &Evaluator, op: OpId) -> Result<(), Obstacle> {
    let nodes = Nodes::read(&graph.module, op).ok_or_else(|| (op, "is not a valid graph".to_owned()))?;
    let at = |number: usize| nodes.list.get(number).map_or(op, |node| node.op);
    let frames = Frames::find(&graph.module, &nodes).map_err(|(number, why)| (at(number), why))?;
    let structure = Structure::find(&graph.module, &nodes, &frames, evaluator)?;
    let mut emitter = emit::Emitter::new(graph, evaluator, &structure);
    match emitter.emit_graph(op) {
        Ok(results) => {
            graph.module.replace_op(op, &results);
            Ok(())
        }
        Err(obstacle) => {
            emitter.undo();
            Err(obstacle)
        }
    }
}
