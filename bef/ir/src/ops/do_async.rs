//! `tfrt_test.do.async`: runs its body on another thread.

use std::fmt;

use super::{check_entry_arguments, check_returns, optional_attributes};
use crate::lexer::Tok;
use crate::parser::{Parsed, Parser};
use crate::print::{Printer, TypeList};
use crate::{CustomAssembly, Module, OpDefinition, OpId, OpState, TypeConstraint, Verifier};

pub(super) fn definitions() -> Vec<OpDefinition> {
    let definition = OpDefinition::new("tfrt_test.do.async")
        .variadic_operands("operands", TypeConstraint::Any)
        .variadic_results("results", TypeConstraint::Any)
        .regions(1)
        .custom(DoAsync)
        .verified_by(verify);
    vec![definition]
}

/// `tfrt_test.do.async %a attributes {…} : (i32) -> (i32) {…}`.
#[derive(Debug)]
struct DoAsync;

impl CustomAssembly for DoAsync {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let at = parser.token().span;
        let operands = parser.operand_list()?;
        state.attributes = optional_attributes(parser)?.into_iter().collect();
        parser.expect(Tok::Colon, "before the types")?;
        let function = parser.function_type()?;
        state.operands = parser.resolve_all(&operands, &function.inputs, at)?;
        let arguments: Vec<_> = operands.into_iter().zip(function.inputs).collect();
        state.regions.push(parser.isolated_region(&arguments)?);
        state.result_types = function.results;
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let module = printer.module();
        let data = module.op(op);
        if !data.operands.is_empty() {
            printer.write(" ")?;
            printer.values(&data.operands)?;
        }
        if !data.attributes.is_empty() {
            printer.write(" attributes")?;
            printer.optional_attr_dict(data, |_| true)?;
        }
        let (inputs, results) = (module.types_of(&data.operands), module.types_of(&data.results));
        write!(printer, " : ({}) -> ({}) ", TypeList(&inputs), TypeList(&results))?;
        match data.regions.first() {
            Some(&region) => printer.region_shadowing(region, &data.operands),
            None => Ok(()),
        }
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let data = module.op(op);
        data.regions.len() == 1 && Printer::can_shadow(module, &data.regions, &data.operands)
    }
}

fn verify(verifier: &mut Verifier<'_>, op: OpId) {
    check_entry_arguments(verifier, op, &verifier.op(op).operands);
    check_returns(verifier, op);
}
