//! The chains of single operations: where they stand, and operations with more or fewer of them.

use tfrt_ir::{
    InsertionPoint, Module, Name, OpDefinition, OpId, OpRegistry, OpState, Operation, Type, TypeConstraint,
    ValueId, ValueSpec,
};

use super::NEW_CHAIN;

/// Whether a specification stands for one chain.
pub(super) fn is_chain(spec: &ValueSpec) -> bool {
    !spec.variadic && spec.constraint == TypeConstraint::Exactly(Type::chain())
}

/// Returns the position of an operation's first chain operand, as its definition has it.
pub(super) fn chain_operand(module: &Module, ops: &OpRegistry, op: OpId) -> Option<usize> {
    let data = module.op(op);
    let definition = ops.get(&data.name)?;
    let spec = definition.operands.iter().position(is_chain)?;
    let position = (0..spec).map(|before| definition.operand_group(data, before).map_or(0, <[_]>::len)).sum();
    let value = *data.operands.get(position)?;
    (*module.value_type(value) == Type::chain()).then_some(position)
}

/// Returns an operation's first chain result, as its definition has it.
pub(super) fn chain_result(module: &Module, ops: &OpRegistry, op: OpId) -> Option<ValueId> {
    let data = module.op(op);
    let definition = ops.get(&data.name)?;
    let spec = definition.results.iter().position(is_chain)?;
    definition.result_group(data, spec)?.first().copied()
}

/// Whether an operation, or its chain form, gives a chain.
pub(super) fn gives_chain(module: &Module, ops: &OpRegistry, op: OpId) -> bool {
    let has_form = |definition: &OpDefinition| definition.chain_form.is_some();
    chain_result(module, ops, op).is_some() || ops.get(&module.op(op).name).is_some_and(has_form)
}

/// Whether a value is a chain that orders nothing.
pub(super) fn is_trivial(module: &Module, value: ValueId) -> bool {
    module.defining_op(value).is_some_and(|op| module.op(op).name == NEW_CHAIN)
}

/// Replaces an operation by one with this name and these operands and results, which takes over its
/// regions. Each old result becomes the new one that `place_of` names.
pub(super) fn rebuild(
    module: &mut Module,
    op: OpId,
    name: Name,
    operands: Vec<ValueId>,
    result_types: Vec<Type>,
    place_of: impl Fn(usize) -> usize,
) -> OpId {
    let data = module.op(op);
    let (attributes, location) = (data.attributes.clone(), data.location.clone());
    let (regions, results) = (data.regions.clone(), data.results.clone());
    let mut state = OpState::new(name).operands(operands).results(result_types).at(location);
    state.attributes = attributes;
    let new = module.create_op(state);
    module.insert_op(InsertionPoint::Before(op), new);
    for region in regions {
        module.append_region(new, region);
    }
    for (index, result) in results.into_iter().enumerate() {
        if let Some(&replacement) = module.op(new).results.get(place_of(index)) {
            module.replace_all_uses(result, replacement);
        }
    }
    module.erase_op(op);
    new
}

/// An operation in full: operands, result types, and where each result that is there goes.
type Completed = (Vec<ValueId>, Vec<Type>, Vec<usize>);

/// Returns the operation with `chain` for each chain that its text leaves out; `None` if it leaves
/// out none. A text leaves out all chains of an operation or none.
pub(super) fn complete(
    module: &Module,
    definition: &OpDefinition,
    op: &Operation,
    chain: ValueId,
) -> Option<Completed> {
    if !lacks_chains(module, definition, op) {
        return None;
    }
    let operands = spread(&definition.operands, &op.operands)?;
    let operands = operands.into_iter().map(|operand| operand.copied().unwrap_or(chain)).collect();
    let results = spread(&definition.results, &op.results)?;
    let types = results.iter().map(|result| match result {
        Some(result) => module.value_type(**result).clone(),
        None => Type::chain(),
    });
    let places = results.iter().enumerate().filter(|(_, result)| result.is_some()).map(|(place, _)| place);
    Some((operands, types.collect(), places.collect()))
}

/// Whether the definition has chain operands that the operation lacks.
fn lacks_chains(module: &Module, definition: &OpDefinition, op: &Operation) -> bool {
    let chain = Type::chain();
    definition.operands.iter().enumerate().filter(|(_, spec)| is_chain(spec)).any(|(index, _)| {
        let group = definition.operand_group(op, index);
        group.is_none_or(|group| !matches!(group, [value] if *module.value_type(*value) == chain))
    })
}

/// Distributes values over specifications, none for each chain.
fn spread<'v>(specs: &[ValueSpec], values: &'v [ValueId]) -> Option<Vec<Option<&'v ValueId>>> {
    let single = specs.iter().filter(|spec| !spec.variadic && !is_chain(spec)).count();
    let variadic = specs.iter().filter(|spec| spec.variadic).count();
    let spare = values.len().checked_sub(single)?;
    if variadic > 1 || (variadic == 0 && spare > 0) {
        return None;
    }
    let mut rest = values.iter();
    let mut spread = Vec::new();
    for spec in specs {
        if is_chain(spec) {
            spread.push(None);
        } else {
            let count = if spec.variadic { spare } else { 1 };
            spread.extend(rest.by_ref().take(count).map(Some));
        }
    }
    Some(spread)
}
