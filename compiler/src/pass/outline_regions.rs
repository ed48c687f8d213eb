//! Makes functions of the regions of `tf.IfRegion`, `tf.CaseRegion` and `tf.WhileRegion`.
//!
//! A function takes the values from outside that its region uses, and those that the regions beside
//! it use. Constants among them are made again inside, so that they stay known there.

use std::collections::HashSet;

use tfrt_ir::{
    AttrDict, Attribute, FunctionType, InsertionPoint, Module, OpId, OpState, RegionId, ValueDef, ValueId,
    ValueMap,
};

use crate::{Evaluator, Graph, dialect::tf, graph::CONST, import::onnx::RETURN};

/// Replaces each operation with regions, those in functions of others too.
pub(super) fn run(graph: &mut Graph, _: &Evaluator) {
    let module = &mut graph.module;
    let is_next = |module: &Module, op: OpId| {
        [tf::IF_REGION, tf::CASE_REGION, tf::WHILE_REGION].contains(&module.op(op).name.as_str())
    };
    // The outermost first: what is inside of it is found again in its function.
    while let Some(op) = module.walk(module.root()).find(|&op| is_next(module, op)) {
        replace(module, op);
    }
}

/// The values that functions of an operation's regions take beside its operands.
struct Captured {
    values: Vec<ValueId>,
    constants: Vec<ValueId>,
}

fn captured(module: &Module, owner: OpId) -> Captured {
    let mut captured = Captured { values: Vec::new(), constants: Vec::new() };
    let mut seen = HashSet::new();
    for op in module.walk(owner).skip(1) {
        for &operand in &module.op(op).operands {
            let maker = match module.value(operand).def {
                ValueDef::Result { op, .. } => Some(op),
                ValueDef::Argument { block, .. } => module.block_owner(block),
                ValueDef::Undefined => None,
            };
            let is_inside = |maker: OpId| {
                maker != owner && module.is_inside(maker, owner)
                    || maker == owner && matches!(module.value(operand).def, ValueDef::Argument { .. })
            };
            if maker.is_some_and(is_inside) || !seen.insert(operand) {
                continue;
            }
            match module.defining_op(operand) {
                Some(op) if module.op(op).name == CONST => captured.constants.push(operand),
                _ => captured.values.push(operand),
            }
        }
    }
    captured
}

/// Makes a function of a region. It takes what the region takes, then the captured values. Returns
/// its name.
fn outline(module: &mut Module, region: RegionId, captured: &Captured, gives_captured: bool) -> Attribute {
    let first = module.functions().count();
    let mut names = (first..).map(|number| format!("region.{number}"));
    let name = names.find(|name| module.function(name).is_none()).unwrap_or_default();
    let Some(body) = module.entry_block(region) else { return Attribute::symbol(name) };
    let arguments = module.block(body).arguments.clone();
    let taken = [&arguments[..], &captured.values[..]].concat();
    let ops: Vec<OpId> = module.ops_in(body).map(|(op, _)| op).collect();
    let Some((&end, ops)) = ops.split_last() else { return Attribute::symbol(name) };
    let location = module.op(end).location.clone();
    let mut given = module.op(end).operands.clone();
    if gives_captured {
        given.extend(&captured.values);
    }
    let ty = FunctionType { inputs: module.types_of(&taken), results: module.types_of(&given) };
    let (_, block) = module.add_function(name.as_str(), ty, location.clone());
    let mut map = ValueMap::new();
    let parameters = module.block(block).arguments.clone();
    taken.into_iter().zip(parameters).for_each(|(value, parameter)| map.insert(value, parameter));
    let constants = captured.constants.iter().filter_map(|&constant| module.defining_op(constant));
    let constants: Vec<OpId> = constants.collect();
    for &op in constants.iter().chain(ops) {
        let copy = module.clone_op(op, &mut map);
        module.append_op(block, copy);
    }
    let results: Vec<ValueId> = given.into_iter().map(|value| map.get(value)).collect();
    let end = module.create_op(OpState::new(RETURN).operands(results).at(location));
    module.append_op(block, end);
    Attribute::symbol(name)
}

/// Keeps the first result of a function that a condition is, and drops the others.
fn keep_condition(module: &mut Module, region: RegionId) {
    let end = module.entry_block(region).and_then(|block| module.last_op(block));
    if let Some(end) = end {
        let condition = module.op(end).operands.iter().take(1).copied().collect::<Vec<_>>();
        module.set_operands(end, condition);
    }
}

fn replace(module: &mut Module, op: OpId) {
    let captured = captured(module, op);
    let regions = module.op(op).regions.clone();
    let is_loop = module.op(op).name == tf::WHILE_REGION;
    if let (true, Some(&condition)) = (is_loop, regions.first()) {
        keep_condition(module, condition);
    }
    let gives = |index: usize| is_loop && index == 1;
    let functions: Vec<Attribute> = regions
        .iter()
        .enumerate()
        .map(|(index, &region)| outline(module, region, &captured, gives(index)))
        .collect();
    let data = module.op(op);
    let (name, attributes): (_, AttrDict) = match (data.name.as_str(), &functions[..]) {
        (tf::IF_REGION, [on_true, on_false]) => (
            tf::IF,
            [("then_branch", on_true.clone()), ("else_branch", on_false.clone())].into_iter().collect(),
        ),
        (tf::WHILE_REGION, [condition, body]) => {
            (tf::WHILE, [("cond", condition.clone()), ("body", body.clone())].into_iter().collect())
        }
        _ => (tf::CASE, [("branches", Attribute::array(functions))].into_iter().collect()),
    };
    let operands = [&data.operands[..], &captured.values].concat();
    let (location, count) = (data.location.clone(), data.results.len());
    let mut types = module.result_types(op);
    if is_loop {
        types.extend(module.types_of(&captured.values));
    }
    let mut state = OpState::new(name).operands(operands).results(types).at(location);
    state.attributes = attributes;
    let made = module.create_op(state);
    module.insert_op(InsertionPoint::Before(op), made);
    let results = module.op(made).results[..count].to_vec();
    module.replace_op(op, &results);
}
