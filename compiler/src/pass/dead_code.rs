//! Removes operations whose results nothing uses.

use std::collections::HashSet;

use tfrt_ir::{OpId, ValueId};

use crate::{Graph, import::onnx::RETURN};

/// Removes what nothing uses from every function.
pub(super) fn run(graph: &mut Graph) {
    let functions: Vec<_> = graph.module.functions().filter_map(|function| function.body()).collect();
    for block in functions {
        let mut used: HashSet<ValueId> = HashSet::new();
        let mut kept: Vec<OpId> = Vec::new();
        // Backwards, so that the users of an operation are known before it.
        for (id, op) in graph.module.ops_in(block).rev() {
            if op.name == RETURN || op.results.iter().any(|result| used.contains(result)) {
                used.extend(&op.operands);
                kept.push(id);
            }
        }
        kept.reverse();
        graph.module.set_block_ops(block, kept);
    }
}
