//! `tfrt.return`: ends a body and returns its values.

use std::fmt;

use crate::lexer::Tok;
use crate::parser::{Parsed, Parser};
use crate::print::Printer;
use crate::{CustomAssembly, Module, OpDefinition, OpId, OpState, TypeConstraint, Verifier};

pub(super) fn definitions() -> Vec<OpDefinition> {
    let definition = OpDefinition::new(super::RETURN)
        .variadic_operands("operands", TypeConstraint::Any)
        .terminator()
        .custom(Return)
        .verified_by(verify);
    vec![definition]
}

/// `tfrt.return %a, %b : i32, f32`.
#[derive(Debug)]
struct Return;

impl CustomAssembly for Return {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let at = parser.token().span;
        let operands = parser.operand_list()?;
        let mut types = Vec::new();
        if !operands.is_empty() {
            parser.expect(Tok::Colon, "before the types of the operands")?;
            types = parser.type_list()?;
        }
        state.operands = parser.resolve_all(&operands, &types, at)?;
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let operands = &printer.module().op(op).operands;
        if operands.is_empty() {
            return Ok(());
        }
        printer.write(" ")?;
        printer.values(operands)?;
        printer.write(" : ")?;
        printer.types(operands)
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        module.op(op).attributes.is_empty()
    }
}

/// Checks that the operands are what the enclosing function returns. Other operations check their
/// bodies themselves.
fn verify(verifier: &mut Verifier<'_>, op: OpId) {
    let module = verifier.module();
    let func = module.parent_op(op).and_then(|parent| module.as_function(parent));
    let Some(ty) = func.and_then(|func| func.ty()) else { return };
    let data = module.op(op);
    let (given, expected) = (data.operands.len(), ty.results.len());
    if given != expected {
        verifier.error(op, format!("has {given} operands, but enclosing function returns {expected}"));
        return;
    }
    for (index, (&operand, result)) in data.operands.iter().zip(&ty.results).enumerate() {
        let found = module.value_type(operand);
        if found != result {
            let message = format!(
                "type of return operand {index} ('{found}') doesn't match function result type ('{result}')"
            );
            verifier.report(&data.location, message);
        }
    }
}
