//! Removes operations whose results nothing uses.

use super::effects::Effects;
use crate::{Evaluator, Graph, import::onnx::RETURN};

/// Removes operations without effects whose results nothing uses, and what only they used.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    let effects = Effects::find(&graph.module, evaluator);
    let blocks: Vec<_> = graph.module.functions().filter_map(|function| function.body()).collect();
    for block in blocks {
        // Backwards, so that the users of an operation go before it.
        let ops: Vec<_> = graph.module.ops_in(block).rev().map(|(op, _)| op).collect();
        for op in ops {
            let is_needed = graph.module.op(op).name == RETURN || effects.has_effects(&graph.module, op);
            if !is_needed && !graph.module.has_used_results(op) {
                graph.module.erase_op(op);
            }
        }
    }
}
