//! Takes the chains out of a kernel graph.

use std::collections::HashSet;

use tfrt_ir::{
    Attribute, BlockId, FUNC_TYPE, InsertionPoint, Module, OpId, OpRegistry, OpState, Type, ValueId,
};

use super::bodies::{Bodies, Control, results_of};
use super::{MERGE_CHAINS, NEW_CHAIN, forms};

/// Takes out all chains: operations take a new chain, which orders nothing, and functions that are
/// called from within the module, branches and loops take and give none. What remains are the
/// chains that functions take from outside and give to it.
pub fn strip(module: &mut Module, ops: &OpRegistry) {
    let bodies = Bodies::new(module);
    let kept = kept(&bodies);
    let keeps = |body: usize| kept.contains(&body);
    for body in bodies.list() {
        forget_chains(module, ops, &bodies, body.block);
    }
    for (op, invocation) in sorted_invocations(&bodies) {
        if !invocation.1.iter().any(|&callee| keeps(callee)) {
            strip_call(module, op, invocation.0);
        }
    }
    let changed: HashSet<usize> =
        bodies.invocations().flat_map(|(_, invocation)| &invocation.callees).copied().collect();
    for body in changed.into_iter().filter(|&body| !keeps(body)) {
        strip_body(module, bodies.list()[body].owner, bodies.list()[body].block);
    }
    for body in bodies.list() {
        remove_unused(module, body.block);
    }
}

/// The bodies whose chains stay: those that something unknown calls, and those that stand for them
/// in branches.
fn kept(bodies: &Bodies) -> HashSet<usize> {
    let is_kept = |index: &usize| bodies.list()[*index].is_opaque || !bodies.list()[*index].is_called;
    let mut kept: HashSet<usize> = (0..bodies.list().len()).filter(is_kept).collect();
    loop {
        let before = kept.len();
        for (_, invocation) in bodies.invocations() {
            if invocation.callees.iter().any(|callee| kept.contains(callee)) {
                kept.extend(&invocation.callees);
            }
        }
        if kept.len() == before {
            return kept;
        }
    }
}

/// The invocations in a fixed order.
fn sorted_invocations(bodies: &Bodies) -> Vec<(OpId, (Control, Vec<usize>))> {
    let mut all: Vec<_> =
        bodies.invocations().map(|(op, found)| (op, (found.control, found.callees.clone()))).collect();
    all.sort_by_key(|&(op, _)| op);
    all
}

/// Makes all operations of a block use one new chain. Chains stay that tell of something that takes
/// no chain itself, such as the end of a timer or of a parallel loop.
fn forget_chains(module: &mut Module, ops: &OpRegistry, bodies: &Bodies, block: BlockId) {
    let chain = Type::chain();
    let in_block: Vec<OpId> = module.ops_in(block).map(|(op, _)| op).collect();
    let mut trivial: Option<ValueId> = None;
    let mut kept: HashSet<ValueId> = HashSet::new();
    for op in in_block {
        let mut keeps_results = !takes_chain(module, ops, bodies, op);
        for index in 0..module.op(op).operands.len() {
            let operand = module.op(op).operands[index];
            if *module.value_type(operand) == chain && !kept.contains(&operand) {
                let value = *trivial.get_or_insert_with(|| new_chain(module, block));
                module.set_operand(op, index, value);
                keeps_results = false;
            }
        }
        if keeps_results {
            kept.extend(&module.op(op).results);
        }
    }
}

/// Whether an operation makes chains of those that it takes.
fn takes_chain(module: &Module, ops: &OpRegistry, bodies: &Bodies, op: OpId) -> bool {
    let name = &module.op(op).name;
    match bodies.invocation(op) {
        Some(invocation) => invocation.control != Control::Parallel,
        None => {
            matches!(name.as_str(), NEW_CHAIN | MERGE_CHAINS)
                || ops.get(name).is_some_and(|definition| definition.operands.iter().any(forms::is_chain))
        }
    }
}

/// Adds a new chain at the beginning of a block.
pub(super) fn new_chain(module: &mut Module, block: BlockId) -> ValueId {
    let location = module.first_op(block).map(|first| module.op(first).location.clone());
    let state =
        OpState::new(NEW_CHAIN).results([Type::chain()]).at(location.unwrap_or(tfrt_ir::Location::Unknown));
    let op = module.create_op(state);
    module.insert_op(InsertionPoint::Start(block), op);
    module.op(op).results[0]
}

/// Takes the chains from an operation that runs bodies.
fn strip_call(module: &mut Module, op: OpId, control: Control) {
    let chain = Type::chain();
    let data = module.op(op);
    let is_chain = |value: &ValueId| *module.value_type(*value) == chain;
    let operands = data.operands.iter().copied().filter(|value| !is_chain(value)).collect();
    // A parallel loop always tells when it is done.
    let stays = |value: &ValueId| control == Control::Parallel || !is_chain(value);
    let types =
        data.results.iter().filter(|value| stays(value)).map(|&value| module.value_type(value).clone());
    let mut places = Vec::new();
    let mut count = 0;
    for result in &data.results {
        places.push(if stays(result) { count } else { usize::MAX });
        count += usize::from(stays(result));
    }
    let (name, types) = (data.name.clone(), types.collect());
    forms::rebuild(module, op, name, operands, types, |index| places[index]);
}

/// Takes the chains from what a body takes and returns.
fn strip_body(module: &mut Module, owner: OpId, block: BlockId) {
    let chain = Type::chain();
    for index in (0..module.block(block).arguments.len()).rev() {
        if *module.value_type(module.block(block).arguments[index]) == chain {
            module.remove_argument(block, index);
        }
    }
    if let Some(last) = module.last_op(block) {
        let kept: Vec<ValueId> = results_of(module, block)
            .iter()
            .copied()
            .filter(|&value| *module.value_type(value) != chain)
            .collect();
        module.set_operands(last, kept);
    }
    retype(module, owner, block);
}

/// Gives a function the type of its body.
pub(super) fn retype(module: &mut Module, owner: OpId, block: BlockId) {
    if module.is_erased(owner) || module.as_function(owner).is_none() {
        return;
    }
    let inputs = module.types_of(&module.block(block).arguments);
    let results = module.types_of(results_of(module, block));
    module.op_mut(owner).attributes.set(FUNC_TYPE, Attribute::Type(Type::function(inputs, results)));
}

/// Removes chains that nothing uses.
pub(super) fn remove_unused(module: &mut Module, block: BlockId) {
    let ops: Vec<OpId> = module.ops_in(block).map(|(op, _)| op).collect();
    for op in ops.into_iter().rev() {
        if matches!(&*module.op(op).name, NEW_CHAIN | MERGE_CHAINS) && !module.has_used_results(op) {
            module.erase_op(op);
        }
    }
}
