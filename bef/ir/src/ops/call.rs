//! `tfrt.call`: calls a function. Its arguments may still be pending.

use std::fmt;

use super::NONSTRICT;
use crate::lexer::Tok;
use crate::parser::{Parsed, Parser};
use crate::print::{Printer, TypeElision};
use crate::types::FunctionType;
use crate::{
    AttrKind, Attribute, CustomAssembly, Module, OpDefinition, OpId, OpState, Type, TypeConstraint, Verifier,
};

const CALLEE: &str = "callee";

pub(super) fn definitions() -> Vec<OpDefinition> {
    let definition = OpDefinition::new("tfrt.call")
        .variadic_operands("operands", TypeConstraint::Any)
        .variadic_results("results", TypeConstraint::Any)
        .attr(CALLEE, AttrKind::Symbol)
        .nonstrict()
        .custom(Call)
        .verified_by(verify);
    vec![definition]
}

/// `tfrt.call @f(%a) {…} : (i32) -> i32`.
#[derive(Debug)]
struct Call;

impl CustomAssembly for Call {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let at = parser.token().span;
        let callee = parser.symbol_ref()?;
        parser.expect(Tok::LParen, "before the arguments")?;
        let operands = parser.operand_list()?;
        parser.expect(Tok::RParen, "after the arguments")?;
        state.attributes = parser.optional_attr_dict()?;
        state.attributes.set(CALLEE, callee);
        state.attributes.set(NONSTRICT, Attribute::Unit);
        parser.expect(Tok::Colon, "before the type of the call")?;
        let function = parser.function_type()?;
        state.operands = parser.resolve_all(&operands, &function.inputs, at)?;
        state.result_types = function.results;
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let data = printer.module().op(op);
        printer.write(" ")?;
        if let Some(callee) = data.attr(CALLEE) {
            printer.attribute(callee, TypeElision::Never)?;
        }
        printer.write("(")?;
        printer.values(&data.operands)?;
        printer.write(")")?;
        printer.optional_attr_dict(data, |name| name != CALLEE && name != NONSTRICT)?;
        let module = printer.module();
        let function =
            FunctionType { inputs: module.types_of(&data.operands), results: module.types_of(&data.results) };
        write!(printer, " : {function}")
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let data = module.op(op);
        data.regions.is_empty()
            && matches!(data.attr(CALLEE), Some(Attribute::SymbolRef(_)))
            && data.attributes.contains(NONSTRICT)
    }
}

fn verify(verifier: &mut Verifier<'_>, op: OpId) {
    let Some(ty) = verifier.callee(op, CALLEE).and_then(|func| func.ty()) else { return };
    let module = verifier.module();
    check_signature(verifier, op, ty, &module.operand_types(op), &module.result_types(op), "callee");
}

/// Checks that a function takes these operands and returns these results.
pub(super) fn check_signature(
    verifier: &mut Verifier<'_>,
    op: OpId,
    function: &FunctionType,
    operands: &[Type],
    results: &[Type],
    whose: &str,
) {
    for (what, expected, found) in
        [("operand", &function.inputs[..], operands), ("result", &function.results[..], results)]
    {
        if expected.len() != found.len() {
            let (expected, found) = (expected.len(), found.len());
            verifier
                .error(op, format!("incorrect number of {what}s for {whose}: {found}, expected {expected}"));
            continue;
        }
        for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
            if found != expected {
                let message =
                    format!("{what} type mismatch for {whose}: #{index} is {found}, expected {expected}");
                verifier.error(op, message);
            }
        }
    }
}
