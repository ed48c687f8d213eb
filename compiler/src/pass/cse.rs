//! Computes equal operations once.

use std::collections::HashMap;

use tfrt_ir::{AttrDict, Name, ValueId};

use crate::{Evaluator, Graph, graph::CONST, import::onnx::RETURN};

/// Replaces each operation of a function by an equal one before it.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    let blocks: Vec<_> = graph.module.functions().filter_map(|function| function.body()).collect();
    for block in blocks {
        let mut first: HashMap<(Name, Vec<ValueId>, AttrDict), Vec<ValueId>> = HashMap::new();
        let ops: Vec<_> = graph.module.ops_in(block).map(|(op, _)| op).collect();
        for id in ops {
            let op = graph.module.op(id);
            let is_pure = evaluator
                .op(&op.name)
                .is_some_and(|known| !known.is_side_effecting() && !crate::builder::is_random(&op.name));
            if op.name == *RETURN || !(is_pure || op.name == *CONST) {
                continue;
            }
            let key = (op.name.clone(), op.operands.clone(), op.attributes.clone());
            match first.get(&key) {
                Some(results) => {
                    let results = results.clone();
                    graph.module.replace_op(id, &results);
                }
                None => {
                    first.insert(key, op.results.clone());
                }
            }
        }
    }
}
