//! Branches and loops: `tfrt.if` and `tfrt.repeat.i32` with inline bodies; `tfrt.cond`,
//! `tfrt.case`, `tfrt.while`, `corert.cond` and `corert.while` with functions.

use std::fmt;

use super::call::check_signature;
use super::{NONSTRICT, check_entry_arguments, check_returns, optional_attributes};
use crate::lexer::Tok;
use crate::parser::{Parsed, Parser, UnresolvedOperand};
use crate::print::{Printer, TypeList};
use crate::{
    AttrKind, Attribute, CustomAssembly, Module, OpDefinition, OpId, OpState, RegionId, Type, TypeConstraint,
    Verifier,
};

pub(super) fn definitions() -> Result<Vec<OpDefinition>, String> {
    let mut definitions = vec![
        OpDefinition::new("tfrt.if")
            .named_operand("cond", Type::i1())
            .variadic_operands("operands", TypeConstraint::Any)
            .variadic_results("results", TypeConstraint::Any)
            .regions(2)
            .nonstrict()
            .custom(If)
            .verified_by(verify_bodies),
        OpDefinition::new("tfrt.repeat.i32")
            .named_operand("trip_count", Type::int(32))
            .variadic_operands("operands", TypeConstraint::Any)
            .variadic_results("results", TypeConstraint::Any)
            .regions(1)
            .nonstrict()
            .custom(Repeat)
            .verified_by(verify_repeat),
    ];
    for definition in by_function() {
        definitions.push(definition?);
    }
    Ok(definitions)
}

/// Returns the operations whose bodies are functions.
fn by_function() -> [Result<OpDefinition, String>; 5] {
    let handle = Type::dialect("corert", "tensorhandle");
    let cond = OpDefinition::new("tfrt.cond")
        .named_operand("cond", Type::i1())
        .variadic_operands("args", TypeConstraint::Any)
        .variadic_results("outputs", TypeConstraint::Any)
        .attr("a_true_fn", AttrKind::Symbol)
        .attr("b_false_fn", AttrKind::Symbol)
        .verified_by(verify_cond)
        .format("$cond $a_true_fn $b_false_fn `(` $args `)` attr-dict : `(` type($args) `)` -> `(` type($outputs) `)`");
    let case = OpDefinition::new("tfrt.case")
        .named_operand("branch_index", Type::int(32))
        .variadic_operands("args", TypeConstraint::Any)
        .variadic_results("outputs", TypeConstraint::Any)
        .attr("branches", AttrKind::Array(Box::new(AttrKind::Symbol)))
        .verified_by(verify_case)
        .format(
            "$branch_index $branches `(` $args `)` attr-dict : `(` type($args) `)` -> `(` type($outputs) `)`",
        );
    let while_loop = OpDefinition::new("tfrt.while")
        .named_operand("cond", Type::i1())
        .variadic_operands("args", TypeConstraint::Any)
        .variadic_results("outputs", TypeConstraint::Any)
        .attr("body_fn", AttrKind::Symbol)
        .verified_by(verify_while)
        .format("$cond $body_fn `(` $args `)` attr-dict : `(` type($args) `)` -> `(` type($outputs) `)`");
    let corert_cond = OpDefinition::new("corert.cond")
        .named_operand("cond", handle.clone())
        .named_operand("in_op_chain", Type::chain())
        .variadic_operands("args", handle.clone())
        .named_result("out_op_chain", Type::chain())
        .variadic_results("fn_outputs", handle.clone())
        .names_results()
        .attr("a_true_fn", AttrKind::Symbol)
        .attr("b_false_fn", AttrKind::Symbol)
        .verified_by(verify_cond)
        .format("$cond $a_true_fn $b_false_fn `(` $in_op_chain (`,` $args^)? `)` attr-dict : `(` type($fn_outputs) `)`");
    let corert_while = OpDefinition::new("corert.while")
        .named_operand("in_op_chain", Type::chain())
        .variadic_operands("args", handle.clone())
        .named_result("out_op_chain", Type::chain())
        .variadic_results("fn_outputs", handle)
        .names_results()
        .attr("a_cond_fn", AttrKind::Symbol)
        .attr("b_body_fn", AttrKind::Symbol)
        .verified_by(verify_corert_while)
        .format(
            "$a_cond_fn $b_body_fn `(` $in_op_chain (`,` $args^)? `)` attr-dict : `(` type($fn_outputs) `)`",
        );
    [cond, case, while_loop, corert_cond, corert_while]
}

/// Parses the operands before the `:`. The first is not an argument of the bodies.
fn parse_head<'s>(
    parser: &mut Parser<'s, '_>,
    state: &mut OpState,
    first: &str,
) -> Parsed<Vec<UnresolvedOperand<'s>>> {
    let at = parser.token().span;
    let operands = parser.operand_list()?;
    if operands.is_empty() {
        return Err(parser.error(at, format!("expected {first}")));
    }
    state.attributes = optional_attributes(parser)?.into_iter().collect();
    state.attributes.set(NONSTRICT, Attribute::Unit);
    Ok(operands)
}

/// Resolves the operands, the first of type `first`, and pairs the others with their types as names
/// of arguments.
fn bind<'s>(
    parser: &mut Parser<'s, '_>,
    state: &mut OpState,
    operands: &[UnresolvedOperand<'s>],
    first: Type,
    types: &[Type],
) -> Parsed<Vec<(UnresolvedOperand<'s>, Type)>> {
    let all: Vec<Type> = std::iter::once(first).chain(types.iter().cloned()).collect();
    let at = parser.token().span;
    state.operands = parser.resolve_all(operands, &all, at)?;
    Ok(operands.iter().skip(1).copied().zip(types.iter().cloned()).collect())
}

fn print_head(printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
    let data = printer.module().op(op);
    printer.write(" ")?;
    printer.values(&data.operands)?;
    if data.attributes.iter().any(|(name, _)| name != NONSTRICT) {
        printer.write(" attributes")?;
        printer.optional_attr_dict(data, |name| name != NONSTRICT)?;
    }
    Ok(())
}

fn can_print_bodies(module: &Module, op: OpId, count: usize) -> bool {
    let data = module.op(op);
    data.regions.len() == count
        && !data.operands.is_empty()
        && data.attributes.contains(NONSTRICT)
        && Printer::can_shadow(module, &data.regions, &data.operands[1..])
}

/// The form `tfrt.if %cond, %a : (i32) -> (i32) {…} else {…}`. Without results, the `else` may be
/// omitted.
#[derive(Debug)]
struct If;

impl CustomAssembly for If {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let operands = parse_head(parser, state, "a condition")?;
        parser.expect(Tok::Colon, "before the types")?;
        let function = parser.function_type()?;
        let arguments = bind(parser, state, &operands, Type::i1(), &function.inputs)?;
        state.regions.push(parser.isolated_region(&arguments)?);
        if parser.eat_word("else") {
            state.regions.push(parser.isolated_region(&arguments)?);
        } else if function.results.is_empty() {
            let region = empty_else(parser, &function.inputs, state);
            state.regions.push(region);
        } else {
            return Err(parser.unexpected("'else', for 'tfrt.if' has results"));
        }
        state.result_types = function.results;
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        print_head(printer, op)?;
        let module = printer.module();
        let data = module.op(op);
        let operands = data.operands.get(1..).unwrap_or_default();
        let (inputs, results) = (module.types_of(operands), module.types_of(&data.results));
        write!(printer, " : ({}) -> ({}) ", TypeList(&inputs), TypeList(&results))?;
        for (index, &region) in data.regions.iter().enumerate() {
            printer.write(if index == 0 { "" } else { " else " })?;
            printer.region_shadowing(region, operands)?;
        }
        Ok(())
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        can_print_bodies(module, op, 2)
    }
}

/// Creates the body for an absent `else`: it returns nothing.
fn empty_else(parser: &mut Parser<'_, '_>, inputs: &[Type], state: &OpState) -> RegionId {
    let module = &mut parser.module;
    let region = module.create_region();
    let block = module.create_block(region, inputs);
    let ret = module.create_op(OpState::new(super::RETURN).at(state.location.clone()));
    module.append_op(block, ret);
    region
}

/// The form `tfrt.repeat.i32 %count, %a : i32 {…}`. The results have the types of the operands.
#[derive(Debug)]
struct Repeat;

impl CustomAssembly for Repeat {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let operands = parse_head(parser, state, "a trip count")?;
        let types = if parser.eat(Tok::Colon) { parser.type_list()? } else { Vec::new() };
        let arguments = bind(parser, state, &operands, Type::int(32), &types)?;
        state.regions.push(parser.isolated_region(&arguments)?);
        state.result_types = types;
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        print_head(printer, op)?;
        let data = printer.module().op(op);
        let operands = data.operands.get(1..).unwrap_or_default();
        if !operands.is_empty() {
            printer.write(" : ")?;
            printer.types(operands)?;
        }
        printer.write(" ")?;
        match data.regions.first() {
            Some(&region) => printer.region_shadowing(region, operands),
            None => Ok(()),
        }
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let data = module.op(op);
        can_print_bodies(module, op, 1)
            && module.types_of(&data.operands[1..]) == module.types_of(&data.results)
    }
}

fn verify_bodies(verifier: &mut Verifier<'_>, op: OpId) {
    let operands = verifier.op(op).operands.get(1..).unwrap_or_default();
    check_entry_arguments(verifier, op, operands);
    check_returns(verifier, op);
}

fn verify_repeat(verifier: &mut Verifier<'_>, op: OpId) {
    let data = verifier.op(op);
    let module = verifier.module();
    if module.types_of(data.operands.get(1..).unwrap_or_default()) != module.types_of(&data.results) {
        verifier.error(op, "operand/result type mismatch");
    }
    verify_bodies(verifier, op);
}

/// Checks that both functions take the operands after the condition and return the results.
fn verify_cond(verifier: &mut Verifier<'_>, op: OpId) {
    let operands = verifier.module().operand_types(op);
    let results = verifier.module().result_types(op);
    for (attr, whose) in [("a_true_fn", "true function"), ("b_false_fn", "false function")] {
        if let Some(ty) = verifier.callee(op, attr).and_then(|func| func.ty()) {
            check_signature(verifier, op, ty, operands.get(1..).unwrap_or_default(), &results, whose);
        }
    }
}

/// Checks that each branch takes the operands after the index and returns the results, and that
/// there is at least one.
fn verify_case(verifier: &mut Verifier<'_>, op: OpId) {
    let operands = verifier.module().operand_types(op);
    let results = verifier.module().result_types(op);
    let branches = verifier.op(op).attr("branches").and_then(Attribute::as_array).unwrap_or_default();
    if branches.is_empty() {
        verifier.error(op, "needs at least one branch");
    }
    for (index, branch) in branches.iter().enumerate() {
        let Some(name) = branch.as_flat_symbol() else { continue };
        if let Some(ty) = verifier.function(op, name).and_then(|func| func.ty()) {
            let operands = operands.get(1..).unwrap_or_default();
            check_signature(verifier, op, ty, operands, &results, &format!("branch #{index}"));
        }
    }
}

/// Checks that the body takes the operands after the condition and returns the results and then the
/// next condition.
fn verify_while(verifier: &mut Verifier<'_>, op: OpId) {
    let operands = verifier.module().operand_types(op);
    let mut results = verifier.module().result_types(op);
    results.push(Type::i1());
    if let Some(ty) = verifier.callee(op, "body_fn").and_then(|func| func.ty()) {
        check_signature(verifier, op, ty, operands.get(1..).unwrap_or_default(), &results, "body function");
    }
}

/// Checks that the condition takes the operands, and that the body takes them and returns the
/// results.
fn verify_corert_while(verifier: &mut Verifier<'_>, op: OpId) {
    let operands = verifier.module().operand_types(op);
    let results = verifier.module().result_types(op);
    if let Some(ty) = verifier.callee(op, "a_cond_fn").and_then(|func| func.ty()) {
        // The kernel that calls a condition checks its results.
        check_signature(verifier, op, ty, &operands, &ty.results.clone(), "cond function");
    }
    if let Some(ty) = verifier.callee(op, "b_body_fn").and_then(|func| func.ty()) {
        check_signature(verifier, op, ty, &operands, &results, "body function");
    }
}
