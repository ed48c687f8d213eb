//! Removes nodes of graphs that are not needed.

use std::collections::HashSet;

use tfrt_ir::{Module, OpId};

use super::effects::Effects;
use crate::{
    Evaluator, Graph,
    dialect::tf_executor::GRAPH,
    executor::{Kind, Nodes, Output},
};

/// Removes the nodes of each graph that have no effects and that neither its fetch nor a node with
/// effects depends on.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    let effects = Effects::find(&graph.module, evaluator);
    let module = &mut graph.module;
    let graphs: Vec<OpId> = module.walk(module.root()).filter(|&op| module.op(op).name == GRAPH).collect();
    for graph in graphs {
        // A graph inside of a removed island is gone already.
        if !module.is_erased(graph) {
            prune(module, graph, &effects);
        }
    }
}

fn prune(module: &mut Module, graph: OpId, effects: &Effects) {
    let Some(nodes) = Nodes::read(module, graph) else { return };
    let sinks: Vec<(usize, usize)> = nodes
        .list
        .iter()
        .enumerate()
        .filter_map(|(number, node)| match node.kind {
            Kind::Sink(source) => Some((source, number)),
            _ => None,
        })
        .collect();
    let made = |outputs: &[Output]| -> Vec<usize> {
        let made = outputs.iter().filter_map(|output| match output {
            Output::Of(node, _) => Some(*node),
            Output::Outer(_) => None,
        });
        made.collect()
    };
    let mut worklist = made(&nodes.fetches);
    worklist.extend(&nodes.fetch_controls);
    let with_effects = nodes.list.iter().enumerate().filter(|(_, node)| effects.has_effects(module, node.op));
    worklist.extend(with_effects.map(|(number, _)| number));
    let mut reached = HashSet::new();
    while let Some(node) = worklist.pop() {
        if reached.insert(node) {
            worklist.extend(made(&nodes.list[node].inputs));
            worklist.extend(&nodes.list[node].controls);
            worklist.extend(sinks.iter().filter(|(source, _)| *source == node).map(|(_, sink)| *sink));
        }
    }
    // From the end, so that the users of a node go before it.
    for (number, node) in nodes.list.iter().enumerate().rev() {
        if !reached.contains(&number) {
            module.erase_op(node.op);
        }
    }
}
