//! Removes operations whose results nothing uses.

use crate::{Evaluator, Graph, import::onnx::RETURN};

/// Removes what nothing uses from every function.
pub(super) fn run(graph: &mut Graph, _evaluator: &Evaluator) {
    let blocks: Vec<_> = graph.module.functions().filter_map(|function| function.body()).collect();
    for block in blocks {
        // Backwards, so that the users of an operation go before it.
        let ops: Vec<_> = graph.module.ops_in(block).rev().map(|(op, _)| op).collect();
        for op in ops {
            if graph.module.op(op).name != RETURN && !graph.module.has_used_results(op) {
                graph.module.erase_op(op);
            }
        }
    }
}
