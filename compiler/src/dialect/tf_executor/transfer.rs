//! The custom forms of Send and Recv.

use std::fmt;

use tfrt_ir::{Attribute, CustomAssembly, Module, OpId, OpState, Operation, Parsed, Parser, Printer};

use super::{
    KEY,
    assembly::{Short, parse_types},
    control, is_control,
};

/// `%data, %control key "name" : type`.
#[derive(Debug)]
pub(super) struct Send;

/// `%control key "name" : type`.
#[derive(Debug)]
pub(super) struct Recv;

fn parse_key(parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
    parser.expect_word(KEY)?;
    let key = parser.string("the key of what is sent")?;
    state.attributes.set(KEY, Attribute::string(key.as_bytes()));
    Ok(())
}

fn print_key(printer: &mut Printer<'_>, op: &Operation) -> fmt::Result {
    if !op.operands.is_empty() {
        printer.write(" ")?;
        printer.values(&op.operands)?;
    }
    printer.write(" key ")?;
    printer.string(op.attr(KEY).and_then(Attribute::as_str).unwrap_or_default())
}

fn has_key(op: &Operation) -> bool {
    op.attr(KEY).is_some_and(|key| key.as_str().is_some())
}

impl CustomAssembly for Send {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let operands = parser.operand_list()?;
        parse_key(parser, state)?;
        parse_types(parser, state, &operands, "a data input", |ty| Short {
            inputs: vec![ty],
            results: vec![control()],
        })
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let data = printer.module().op(op);
        print_key(printer, data)?;
        printer.write(" : ")?;
        printer.types(&data.operands[..1])?;
        printer.optional_attr_dict(data, |name| name != KEY)
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let types = module.operand_types(op);
        has_key(module.op(op))
            && module.result_types(op) == [control()]
            && types.split_first().is_some_and(|(_, rest)| rest.iter().all(is_control))
    }
}

impl CustomAssembly for Recv {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let operands = parser.operand_list()?;
        parse_key(parser, state)?;
        parse_types(parser, state, &operands, "nothing but control inputs", |ty| Short {
            inputs: Vec::new(),
            results: vec![ty, control()],
        })
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let data = printer.module().op(op);
        print_key(printer, data)?;
        printer.write(" : ")?;
        printer.types(&data.results[..1])?;
        printer.optional_attr_dict(data, |name| name != KEY)
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let results = module.result_types(op);
        has_key(module.op(op))
            && results.len() == 2
            && is_control(&results[1])
            && module.operand_types(op).iter().all(is_control)
    }
}
