//! Passes over the op graph.

mod dead_code;

use crate::{Evaluator, Graph};

/// Runs the passes that improve a graph, in order.
pub fn run_all(graph: &mut Graph, _evaluator: &Evaluator) {
    dead_code::run(graph);
}
