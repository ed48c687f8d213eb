//! `tfrt_test.benchmark` measures its body, `tfrt_test.sync_benchmark` a function.

use std::fmt;

use super::RETURN;
use crate::lexer::Tok;
use crate::parser::{Parsed, Parser, UnresolvedOperand};
use crate::print::{Printer, TypeElision};
use crate::{
    AttrKind, Attribute, CustomAssembly, Module, OpDefinition, OpId, OpState, Operation, Type,
    TypeConstraint, Verifier,
};

const WARMUP: &str = "num_warmup_runs";

pub(super) fn definitions() -> Vec<OpDefinition> {
    let base = |name: &str| {
        OpDefinition::new(name)
            .variadic_operands("operands", TypeConstraint::Any)
            .attr("duration_secs", AttrKind::Number(Type::int(32)))
            .attr("max_count", AttrKind::Number(Type::int(32)))
            .optional_attr(WARMUP, AttrKind::Number(Type::int(32)))
    };
    vec![
        base("tfrt_test.benchmark")
            .attr("name", AttrKind::String)
            .result(Type::chain())
            .regions(1)
            .custom(Benchmark { subject: "name", by_function: false })
            .verified_by(verify_body),
        base("tfrt_test.sync_benchmark")
            .attr("target_fn", AttrKind::Symbol)
            .custom(Benchmark { subject: "target_fn", by_function: true })
            .verified_by(verify_function),
    ]
}

/// `tfrt_test.benchmark "name"(%a : i32) duration_secs = 1, max_count = 100 {…}`, or with a
/// function's name and no body.
#[derive(Debug)]
struct Benchmark {
    /// The name of the attribute that comes first.
    subject: &'static str,
    by_function: bool,
}

impl CustomAssembly for Benchmark {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let subject = if self.by_function {
            parser.symbol_ref()?
        } else {
            parser.attribute_of_kind(&AttrKind::String, false)?
        };
        state.attributes.set(self.subject, subject);
        let at = parser.token().span;
        let arguments = parse_arguments(parser)?;
        let (operands, types): (Vec<_>, Vec<_>) = arguments.iter().cloned().unzip();
        state.operands = parser.resolve_all(&operands, &types, at)?;
        loop {
            let at = parser.token().span;
            let name = parser.word("an attribute name")?;
            parser.expect(Tok::Equal, "after the attribute's name")?;
            let value = parser.attribute(Some(&Type::int(32)))?;
            if state.attributes.set(name, value).is_some() {
                return Err(parser.error(at, format!("attribute '{name}' is given twice")));
            }
            if !parser.eat(Tok::Comma) {
                break;
            }
        }
        if !state.attributes.contains(WARMUP) {
            state.attributes.set(WARMUP, Attribute::i32(1));
        }
        if !self.by_function {
            state.result_types.push(Type::chain());
            state.regions.push(parser.isolated_region(&arguments)?);
        }
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let module = printer.module();
        let data = module.op(op);
        printer.write(" ")?;
        if let Some(subject) = data.attr(self.subject) {
            printer.attribute(subject, TypeElision::Always)?;
        }
        printer.write("(")?;
        for (index, &operand) in data.operands.iter().enumerate() {
            printer.write(if index == 0 { "" } else { ", " })?;
            printer.value(operand)?;
            write!(printer, " : {}", module.value_type(operand))?;
        }
        printer.write(")")?;
        for (index, (name, value)) in self.numbers(data).enumerate() {
            write!(
                printer,
                "{} {name} = {}",
                if index == 0 { "" } else { "," },
                value.as_int().unwrap_or(0)
            )?;
        }
        match data.regions.first() {
            Some(&region) => {
                printer.write(" ")?;
                printer.region_shadowing(region, &data.operands)
            }
            None => Ok(()),
        }
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let data = module.op(op);
        let subject_fits = data.attr(self.subject).is_some_and(|subject| match self.by_function {
            true => AttrKind::Symbol.admits(subject),
            false => AttrKind::String.admits(subject),
        });
        let number = AttrKind::Number(Type::int(32));
        subject_fits
            && self.numbers(data).all(|(name, value)| number.admits(value) && !name.contains(['"', ' ']))
            && data.attributes.contains(WARMUP)
            && data.regions.len() == usize::from(!self.by_function)
            && Printer::can_shadow(module, &data.regions, &data.operands)
    }
}

impl Benchmark {
    /// Returns the attributes after the operands.
    fn numbers<'a>(&self, op: &'a Operation) -> impl Iterator<Item = (&'a crate::Name, &'a Attribute)> {
        let subject = self.subject;
        op.attributes.iter().filter(move |(name, _)| *name != subject)
    }
}

/// Parses `(%a : i32, %b : f32)`.
fn parse_arguments<'s>(parser: &mut Parser<'s, '_>) -> Parsed<Vec<(UnresolvedOperand<'s>, Type)>> {
    parser.expect(Tok::LParen, "before the operands")?;
    let mut arguments = Vec::new();
    parser.list_until(Tok::RParen, |parser| {
        let operand = parser.operand()?;
        parser.expect(Tok::Colon, "before the operand's type")?;
        arguments.push((operand, parser.ty()?));
        Ok(())
    })?;
    Ok(arguments)
}

/// Checks that the body returns one value.
fn verify_body(verifier: &mut Verifier<'_>, op: OpId) {
    super::check_entry_arguments(verifier, op, &verifier.op(op).operands);
    let module = verifier.module();
    let block = verifier.op(op).regions.first().and_then(|&region| module.entry_block(region));
    match block.and_then(|block| module.ops_in(block).next_back()) {
        Some((_, last)) if last.name == RETURN && last.operands.len() == 1 => {}
        Some((_, last)) if last.name == RETURN => {
            verifier.error(op, "incorrect number of return values. One return value is expected");
        }
        _ => verifier.error(op, "missing return statement"),
    }
}

/// Checks that the function takes the operands and returns nothing.
fn verify_function(verifier: &mut Verifier<'_>, op: OpId) {
    let Some(ty) = verifier.callee(op, "target_fn").and_then(|func| func.ty()) else { return };
    let operands = verifier.module().operand_types(op);
    super::call::check_signature(verifier, op, ty, &operands, &[], "target function");
}
