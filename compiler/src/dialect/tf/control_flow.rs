//! Ops that call functions or have regions: conditionals, loops, calls.

use tfrt_ir::{
    AttrKind, Attribute, OpDefinition, OpId, OpRegistry, RegionId, Type, TypeConstraint, ValueId, Verifier,
};

use super::{
    CASE, CASE_REGION, IF, IF_REGION, PARTITIONED_CALL, STATEFUL_PARTITIONED_CALL, WHILE, WHILE_REGION,
    YIELD, is_castable,
};

/// The attribute of calls that names the function.
const FUNCTION: &str = "f";
const THEN_BRANCH: &str = "then_branch";
const ELSE_BRANCH: &str = "else_branch";
const BRANCHES: &str = "branches";
const COND: &str = "cond";
const BODY: &str = "body";

/// Adds the operations.
pub(super) fn register(registry: &mut OpRegistry) {
    for definition in definitions() {
        registry.add(definition);
    }
    register_regions(registry);
}

/// Adds the operations with regions.
pub(super) fn register_regions(registry: &mut OpRegistry) {
    for definition in regions() {
        registry.add(definition);
    }
}

fn op(name: &'static str) -> OpDefinition {
    OpDefinition::new(name)
        .variadic_operands("input", TypeConstraint::Any)
        .variadic_results("output", TypeConstraint::Any)
        .generic()
}

fn choice(name: &'static str, operand: &'static str) -> OpDefinition {
    OpDefinition::new(name)
        .named_operand(operand, TypeConstraint::Any)
        .variadic_operands("input", TypeConstraint::Any)
        .variadic_results("output", TypeConstraint::Any)
        .generic()
}

fn definitions() -> Vec<OpDefinition> {
    let symbols = || AttrKind::Array(Box::new(AttrKind::Symbol));
    vec![
        choice(IF, "cond")
            .attr(THEN_BRANCH, AttrKind::Symbol)
            .attr(ELSE_BRANCH, AttrKind::Symbol)
            .verified_by(verify_if),
        choice(CASE, "branch_index").attr(BRANCHES, symbols()).verified_by(verify_case),
        op(WHILE).attr(COND, AttrKind::Symbol).attr(BODY, AttrKind::Symbol).verified_by(verify_while),
        op(PARTITIONED_CALL).attr(FUNCTION, AttrKind::Symbol).verified_by(verify_call),
        op(STATEFUL_PARTITIONED_CALL).attr(FUNCTION, AttrKind::Symbol).verified_by(verify_call),
    ]
}

fn regions() -> Vec<OpDefinition> {
    vec![
        choice(IF_REGION, "cond").capturing_regions(2).verified_by(verify_if_region),
        choice(CASE_REGION, "branch_index")
            .capturing_regions(1)
            .or_more_regions()
            .verified_by(verify_if_region),
        op(WHILE_REGION).capturing_regions(2).verified_by(verify_while_region),
        OpDefinition::new(YIELD)
            .variadic_operands("values", TypeConstraint::Any)
            .terminator()
            .generic()
            .verified_by(verify_yield),
    ]
}

/// Reports values that cannot be passed on as those of other types.
fn check_passed(verifier: &mut Verifier<'_>, op: OpId, from: &[Type], to: &[Type], what: &str) {
    if from.len() != to.len() {
        let message = format!("{what}: {} values where {} are expected", from.len(), to.len());
        return verifier.error(op, message);
    }
    for (index, (from, to)) in from.iter().zip(to).enumerate() {
        if !is_castable(from, to) && !is_castable(to, from) {
            return verifier.error(op, format!("{what}: value #{index} has type '{from}', expected '{to}'"));
        }
    }
}

/// A function takes these operands and gives these results.
fn check_function(verifier: &mut Verifier<'_>, op: OpId, name: &str, operands: &[Type], results: &[Type]) {
    let Some(ty) = verifier.function(op, name).and_then(|function| function.ty()) else { return };
    check_passed(verifier, op, operands, &ty.inputs, &format!("arguments of @{name}"));
    check_passed(verifier, op, &ty.results, results, &format!("results of @{name}"));
}

/// The names of the functions in an attribute, a symbol or a list of symbols.
fn functions(verifier: &Verifier<'_>, op: OpId, attribute: &str) -> Vec<String> {
    let names = |attribute: &Attribute| match attribute {
        Attribute::Array(elements) => {
            elements.iter().filter_map(|name| Some(name.as_flat_symbol()?.to_string())).collect()
        }
        other => other.as_flat_symbol().map(ToString::to_string).into_iter().collect(),
    };
    verifier.op(op).attr(attribute).map(names).unwrap_or_default()
}

/// The functions of these attributes take the operands from `first` on, and give the results.
fn check_functions(verifier: &mut Verifier<'_>, op: OpId, attributes: &[&str], first: usize) {
    let operands = verifier.module().operand_types(op).split_off(first);
    let results = verifier.module().result_types(op);
    for attribute in attributes {
        for name in functions(verifier, op, attribute) {
            check_function(verifier, op, &name, &operands, &results);
        }
    }
}

fn verify_if(verifier: &mut Verifier<'_>, op: OpId) {
    check_functions(verifier, op, &[THEN_BRANCH, ELSE_BRANCH], 1);
}

fn verify_case(verifier: &mut Verifier<'_>, op: OpId) {
    if functions(verifier, op, BRANCHES).is_empty() {
        return verifier.error(op, "expects at least one branch");
    }
    check_functions(verifier, op, &[BRANCHES], 1);
}

fn verify_call(verifier: &mut Verifier<'_>, op: OpId) {
    check_functions(verifier, op, &[FUNCTION], 0);
}

fn verify_while(verifier: &mut Verifier<'_>, op: OpId) {
    let (operands, results) = (verifier.module().operand_types(op), verifier.module().result_types(op));
    check_passed(verifier, op, &operands, &results, "a loop gives what it takes");
    check_functions(verifier, op, &[BODY], 0);
    for name in functions(verifier, op, COND) {
        let Some(ty) = verifier.function(op, &name).and_then(|function| function.ty()) else { continue };
        check_passed(verifier, op, &operands, &ty.inputs, &format!("arguments of @{name}"));
        if ty.results.len() != 1 {
            let message = format!("@{name} must give one condition, but gives {} values", ty.results.len());
            verifier.error(op, message);
        }
    }
}

/// What the yield at the end of a region gives.
fn yielded<'m>(verifier: &mut Verifier<'m>, op: OpId, region: RegionId) -> Option<&'m [ValueId]> {
    let module = verifier.module();
    let last = match module.region(region).blocks[..] {
        [block] => module.last_op(block).filter(|&last| verifier.op(last).name == YIELD),
        _ => None,
    };
    if last.is_none() {
        verifier.error(op, format!("expects regions of one block that end in '{YIELD}'"));
    }
    Some(&module.op(last?).operands)
}

/// Each region gives the results.
fn verify_if_region(verifier: &mut Verifier<'_>, op: OpId) {
    let module = verifier.module();
    let results = module.result_types(op);
    for &region in &verifier.op(op).regions {
        let Some(values) = yielded(verifier, op, region) else { return };
        check_passed(verifier, op, &module.types_of(values), &results, "results of a region");
        let has_arguments =
            module.entry_block(region).is_some_and(|block| !module.block(block).arguments.is_empty());
        if has_arguments {
            verifier.error(op, "expects regions without arguments; use values from outside directly");
        }
    }
}

/// Both regions take the operands. The first one gives a condition, the second one the next
/// operands.
fn verify_while_region(verifier: &mut Verifier<'_>, op: OpId) {
    let module = verifier.module();
    let (operands, results) = (module.operand_types(op), module.result_types(op));
    check_passed(verifier, op, &operands, &results, "a loop gives what it takes");
    for (index, &region) in verifier.op(op).regions.iter().enumerate() {
        let Some(values) = yielded(verifier, op, region) else { return };
        let block = module.entry_block(region);
        let arguments =
            block.map(|block| module.types_of(&module.block(block).arguments)).unwrap_or_default();
        check_passed(verifier, op, &operands, &arguments, "arguments of a region");
        let values = module.types_of(values);
        match index {
            // Some texts also give the operands, unchanged, behind the condition.
            0 if values.is_empty() => verifier.error(op, "the first region must give a condition"),
            0 => {}
            _ => check_passed(verifier, op, &values, &results, "results of the body"),
        }
    }
}

fn verify_yield(verifier: &mut Verifier<'_>, op: OpId) {
    let parent = verifier.module().parent_op(op).map(|parent| verifier.op(parent).name.clone());
    if !parent.is_some_and(|parent| [IF_REGION, CASE_REGION, WHILE_REGION].contains(&parent.as_str())) {
        verifier.error(
            op,
            format!("expects to be directly inside '{IF_REGION}', '{CASE_REGION}' or '{WHILE_REGION}'"),
        );
    }
}
