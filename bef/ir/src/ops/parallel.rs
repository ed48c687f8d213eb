//! `tfrt.parallel_for.i32` and `tfrt.parallel_call.i32`: run a body or a function on blocks of a
//! range in parallel.

use std::fmt;

use super::check_return;
use crate::lexer::Tok;
use crate::parser::{Parsed, Parser, UnresolvedOperand};
use crate::print::{Printer, TypeElision};
use crate::{
    AttrKind, CustomAssembly, Module, OpDefinition, OpId, OpState, Type, TypeConstraint, ValueId, Verifier,
};

const CALLEE: &str = "callee";

pub(super) fn definitions() -> Vec<OpDefinition> {
    let base = |name: &str| {
        OpDefinition::new(name)
            .named_operand("start", Type::int(32))
            .named_operand("end", Type::int(32))
            .named_operand("block_size", Type::int(32))
            .variadic_operands("operands", TypeConstraint::Any)
            .result(Type::chain())
    };
    vec![
        base("tfrt.parallel_for.i32").regions(1).custom(ParallelFor).verified_by(verify_for),
        base("tfrt.parallel_call.i32")
            .attr(CALLEE, AttrKind::Symbol)
            .custom(ParallelCall)
            .verified_by(verify_call),
    ]
}

/// Parses `%start to %end fixed %block_size`.
fn parse_bounds<'s>(parser: &mut Parser<'s, '_>) -> Parsed<Vec<UnresolvedOperand<'s>>> {
    let start = parser.operand()?;
    parser.expect_word("to")?;
    let end = parser.operand()?;
    parser.expect_word("fixed")?;
    Ok(vec![start, end, parser.operand()?])
}

/// Returns the types of all operands: those of the bounds, then those parsed after a `:`.
fn parse_types(parser: &mut Parser<'_, '_>) -> Parsed<Vec<Type>> {
    let mut types = vec![Type::int(32); 3];
    if parser.eat(Tok::Colon) {
        types.extend(parser.type_list()?);
    }
    Ok(types)
}

fn print_bounds(printer: &mut Printer<'_>, operands: &[ValueId]) -> fmt::Result {
    for (word, &operand) in [" ", " to ", " fixed "].into_iter().zip(operands) {
        printer.write(word)?;
        printer.value(operand)?;
    }
    Ok(())
}

fn print_types(printer: &mut Printer<'_>, rest: &[ValueId]) -> fmt::Result {
    if rest.is_empty() {
        return Ok(());
    }
    printer.write(" : ")?;
    printer.types(rest)
}

/// Returns the operands that are arguments of the body: all but the block size.
fn body_operands(operands: &[ValueId]) -> Vec<ValueId> {
    operands.iter().enumerate().filter(|(index, _)| *index != 2).map(|(_, &operand)| operand).collect()
}

/// `tfrt.parallel_for.i32 %start to %end fixed %size, %a : !t {…}`.
#[derive(Debug)]
struct ParallelFor;

impl CustomAssembly for ParallelFor {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let mut operands = parse_bounds(parser)?;
        if parser.eat(Tok::Comma) {
            operands.extend(parser.operand_list()?);
        }
        let types = parse_types(parser)?;
        let at = parser.token().span;
        state.operands = parser.resolve_all(&operands, &types, at)?;
        let mut arguments: Vec<_> = operands.into_iter().zip(types).collect();
        arguments.remove(2);
        state.regions.push(parser.isolated_region(&arguments)?);
        state.result_types.push(Type::chain());
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let data = printer.module().op(op);
        print_bounds(printer, &data.operands)?;
        let rest = data.operands.get(3..).unwrap_or_default();
        if !rest.is_empty() {
            printer.write(", ")?;
            printer.values(rest)?;
        }
        print_types(printer, rest)?;
        printer.write(" ")?;
        match data.regions.first() {
            Some(&region) => printer.region_shadowing(region, &body_operands(&data.operands)),
            None => Ok(()),
        }
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let data = module.op(op);
        data.regions.len() == 1
            && data.operands.len() >= 3
            && data.attributes.is_empty()
            && Printer::can_shadow(module, &data.regions, &body_operands(&data.operands))
    }
}

/// Checks that the body takes the bounds and operands and returns nothing, or a chain if it
/// completes later.
fn verify_for(verifier: &mut Verifier<'_>, op: OpId) {
    let module = verifier.module();
    let data = verifier.op(op);
    super::check_entry_arguments(verifier, op, &body_operands(&data.operands));
    let Some(&region) = data.regions.first() else { return };
    let last = module.entry_block(region).and_then(|block| module.ops_in(block).next_back());
    let returns_nothing =
        last.is_some_and(|(_, last)| last.name == super::RETURN && last.operands.is_empty());
    if !returns_nothing {
        check_return(verifier, op, region, &data.results);
    }
}

/// `tfrt.parallel_call.i32 %start to %end fixed %size @f(%a) : !t`.
#[derive(Debug)]
struct ParallelCall;

impl CustomAssembly for ParallelCall {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let mut operands = parse_bounds(parser)?;
        let callee = parser.symbol_ref()?;
        state.attributes.set(CALLEE, callee);
        parser.expect(Tok::LParen, "before the arguments")?;
        operands.extend(parser.operand_list()?);
        parser.expect(Tok::RParen, "after the arguments")?;
        let types = parse_types(parser)?;
        let at = parser.token().span;
        state.operands = parser.resolve_all(&operands, &types, at)?;
        state.result_types.push(Type::chain());
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let data = printer.module().op(op);
        print_bounds(printer, &data.operands)?;
        printer.write(" ")?;
        if let Some(callee) = data.attr(CALLEE) {
            printer.attribute(callee, TypeElision::Never)?;
        }
        let rest = data.operands.get(3..).unwrap_or_default();
        printer.write("(")?;
        printer.values(rest)?;
        printer.write(")")?;
        print_types(printer, rest)
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let data = module.op(op);
        data.regions.is_empty() && data.operands.len() >= 3 && data.attributes.len() == 1
    }
}

/// Checks that the callee takes the bounds and operands and returns nothing, or a chain if it
/// completes later.
fn verify_call(verifier: &mut Verifier<'_>, op: OpId) {
    let Some(ty) = verifier.callee(op, CALLEE).and_then(|func| func.ty()) else { return };
    let module = verifier.module();
    let operands = module.types_of(&body_operands(&verifier.op(op).operands));
    let results = if ty.results.is_empty() { Vec::new() } else { vec![Type::chain()] };
    super::call::check_signature(verifier, op, ty, &operands, &results, "callee");
}
