//! Makes one island of islands that always run together.

use std::collections::BTreeSet;

use tfrt_ir::{InsertionPoint, Module, OpId, OpState, ValueId};

use super::effects::Effects;
use crate::{
    Evaluator, Graph,
    dialect::tf_executor::{GRAPH, ISLAND, control},
    executor::{Kind, Node, Nodes, Output},
};

/// Graphs of more nodes stay as they are, because each merge looks at all of them.
const MAX_NODES: usize = 4096;

/// Merges islands until none can be. An island that depends on one other island, and on what that
/// depends on, joins it. An island without effects joins the only island that uses it.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    let graphs: Vec<OpId> = {
        let module = &graph.module;
        module.walk(module.root()).filter(|&op| module.op(op).name == GRAPH).collect()
    };
    for op in graphs {
        let effects = Effects::find(&graph.module, evaluator);
        while merge_one(&mut graph.module, op, &effects) {}
    }
}

/// Merges the first pair of islands that can be; whether there was one.
fn merge_one(module: &mut Module, graph: OpId, effects: &Effects) -> bool {
    let Some(nodes) = Nodes::read(module, graph).filter(|nodes| nodes.list.len() <= MAX_NODES) else {
        return false;
    };
    let dependencies: Vec<BTreeSet<usize>> = nodes.list.iter().map(dependencies).collect();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); nodes.list.len() + 1];
    for (number, own) in dependencies.iter().enumerate() {
        own.iter().for_each(|&dependency| users[dependency].push(number));
    }
    let fetched = nodes.fetches.iter().filter_map(|output| match output {
        Output::Of(node, _) => Some(*node),
        Output::Outer(_) => None,
    });
    for node in fetched.chain(nodes.fetch_controls.iter().copied()) {
        users[node].push(nodes.list.len());
    }
    for (second, node) in nodes.list.iter().enumerate() {
        if node.kind != Kind::Island {
            continue;
        }
        let islands = dependencies[second].iter().filter(|&&first| nodes.list[first].kind == Kind::Island);
        for &first in islands {
            let (a, b) = (nodes.list[first].op, node.op);
            let follows_alone = dependencies[second]
                .iter()
                .all(|dependency| *dependency == first || dependencies[first].contains(dependency));
            if follows_alone {
                merge(module, a, b, a);
                return true;
            }
            if users[first] == [second] && !effects.has_effects(module, a) {
                merge(module, a, b, b);
                return true;
            }
        }
    }
    false
}

/// The nodes that a node takes data or control from.
fn dependencies(node: &Node) -> BTreeSet<usize> {
    let data = node.inputs.iter().filter_map(|input| match input {
        Output::Of(node, _) => Some(*node),
        Output::Outer(_) => None,
    });
    data.chain(node.controls.iter().copied()).collect()
}

/// Makes one island of two, the second of which may use what the first one gives, in the place of
/// `at`.
fn merge(module: &mut Module, first: OpId, second: OpId, at: OpId) {
    debug_assert!(module.op(first).name == ISLAND && module.op(second).name == ISLAND);
    let [Some((region, end)), Some((_, second_end))] = [first, second].map(|island| body(module, island))
    else {
        return;
    };
    let given = module.op(end).operands.clone();
    let results = module.op(first).results.clone();
    for (&result, &value) in results.iter().zip(&given) {
        module.replace_uses_if(result, value, |module, found| module.is_inside(found.op, second));
    }
    while let Some(op) = module.op(second_end).parent.and_then(|block| module.first_op(block)) {
        if op == second_end {
            break;
        }
        module.insert_op(InsertionPoint::Before(end), op);
    }
    let yielded = [given, module.op(second_end).operands.clone()].concat();
    module.set_operands(end, yielded.clone());
    let own_control = results.last().copied();
    let mut controls: Vec<ValueId> = Vec::new();
    for &operand in module.op(first).operands.iter().chain(&module.op(second).operands) {
        if Some(operand) != own_control && !controls.contains(&operand) {
            controls.push(operand);
        }
    }
    let mut types = module.types_of(&yielded);
    types.push(control());
    let location = module.op(second).location.clone();
    let merged = module.create_op(OpState::new(ISLAND).operands(controls).results(types).at(location));
    module.append_region(merged, region);
    module.insert_op(InsertionPoint::Before(at), merged);
    let outputs = module.op(merged).results.clone();
    let (own, second_results) = (results.len() - 1, module.op(second).results.clone());
    for (index, &result) in results.iter().enumerate() {
        let to = if index == own { outputs.len() - 1 } else { index };
        module.replace_all_uses(result, outputs[to]);
    }
    for (index, &result) in second_results.iter().enumerate() {
        let to = if index + 1 == second_results.len() { outputs.len() - 1 } else { own + index };
        module.replace_all_uses(result, outputs[to]);
    }
    module.erase_op(second);
    module.erase_op(first);
}

/// The region of an island and what ends it.
fn body(module: &Module, island: OpId) -> Option<(tfrt_ir::RegionId, OpId)> {
    let region = *module.op(island).regions.first()?;
    Some((region, module.last_op(module.entry_block(region)?)?))
}
