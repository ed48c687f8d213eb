//! `corert.executeop`, `corert.executeop.seq` and `corert_sync.executeop`: run an op of the core
//! runtime by name.

use std::fmt;

use crate::lexer::Tok;
use crate::parser::{Parsed, Parser};
use crate::print::{Printer, TypeElision};
use crate::{AttrKind, Attribute, CustomAssembly, Module, OpDefinition, OpId, OpState, Type, Verifier};

const OP_NAME: &str = "op_name";
const OP_ATTRS: &str = "op_attrs";
const OP_FUNC_ATTRS: &str = "op_func_attrs";

pub(super) fn definitions() -> Vec<OpDefinition> {
    let forms = [
        ("corert.executeop", ExecuteOp { chains: 0, has_func_attrs: true }),
        ("corert.executeop.seq", ExecuteOp { chains: 1, has_func_attrs: true }),
        ("corert_sync.executeop", ExecuteOp { chains: 0, has_func_attrs: false }),
    ];
    let define = |(name, form): (&str, ExecuteOp)| {
        let mut definition = OpDefinition::new(name)
            .named_operand("op_handler", op_handler())
            .attr(OP_NAME, AttrKind::String)
            .attr(OP_ATTRS, AttrKind::array());
        for _ in 0..form.chains {
            definition =
                definition.operand(Type::chain()).named_result("out_op_chain", Type::chain()).names_results();
        }
        if form.has_func_attrs {
            definition = definition.attr(OP_FUNC_ATTRS, AttrKind::array());
        }
        definition
            .variadic_operands("operands", tensor_handle())
            .variadic_results("results", tensor_handle())
            .custom(form)
            .verified_by(verify)
    };
    forms.into_iter().map(define).collect()
}

fn op_handler() -> Type {
    Type::dialect("corert", "ophandler")
}

fn tensor_handle() -> Type {
    Type::dialect("corert", "tensorhandle")
}

/// The form `corert.executeop(%handler) "tf.Add"(%a, %b) {attributes} {function attributes} : 1`.
///
/// The attributes keep their order: they are arrays of pairs `[name, value]`.
#[derive(Debug)]
struct ExecuteOp {
    /// The number of chains taken and returned besides tensors.
    chains: usize,
    has_func_attrs: bool,
}

impl CustomAssembly for ExecuteOp {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let at = parser.token().span;
        parser.expect(Tok::LParen, "before the op handler")?;
        let mut operands = parser.operand_list()?;
        if operands.len() != 1 + self.chains {
            let message = if self.chains == 0 {
                "expected an op handler"
            } else {
                "expected an op handler and a chain"
            };
            return Err(parser.error(at, message));
        }
        parser.expect(Tok::RParen, "after the op handler")?;
        let name = parser.attribute_of_kind(&AttrKind::String, false)?;
        state.attributes.set(OP_NAME, name);
        parser.expect(Tok::LParen, "before the operands")?;
        operands.extend(parser.operand_list()?);
        parser.expect(Tok::RParen, "after the operands")?;
        state.attributes.set(OP_ATTRS, parse_pairs(parser)?);
        if self.has_func_attrs {
            state.attributes.set(OP_FUNC_ATTRS, parse_pairs(parser)?);
        }
        let mut results = 0;
        if parser.eat(Tok::Colon) {
            results = parser.count("a number of results")?;
        }
        let mut types = vec![op_handler()];
        types.extend(vec![Type::chain(); self.chains]);
        types.resize(operands.len(), tensor_handle());
        state.operands = parser.resolve_all(&operands, &types, at)?;
        state.result_types = vec![Type::chain(); self.chains];
        state.result_types.resize(self.chains + results, tensor_handle());
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let data = printer.module().op(op);
        let (first, rest) = data.operands.split_at((1 + self.chains).min(data.operands.len()));
        printer.write("(")?;
        printer.values(first)?;
        printer.write(") ")?;
        if let Some(name) = data.attr(OP_NAME) {
            printer.attribute(name, TypeElision::Always)?;
        }
        printer.write("(")?;
        printer.values(rest)?;
        printer.write(")")?;
        let func_attrs = data.attr(OP_FUNC_ATTRS).and_then(Attribute::as_array).unwrap_or_default();
        let op_attrs = data.attr(OP_ATTRS).and_then(Attribute::as_array).unwrap_or_default();
        if !op_attrs.is_empty() || !func_attrs.is_empty() {
            print_pairs(printer, op_attrs)?;
        }
        if !func_attrs.is_empty() {
            print_pairs(printer, func_attrs)?;
        }
        match data.results.len() - self.chains {
            0 => Ok(()),
            results => write!(printer, " : {results}"),
        }
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let data = module.op(op);
        let plain_pairs = |attr: &str| {
            let pairs = data.attr(attr).and_then(Attribute::as_array);
            pairs.is_some_and(|pairs| pairs.iter().all(|pair| as_pair(pair).is_some()) && unique_keys(pairs))
        };
        let expected = if self.has_func_attrs { 3 } else { 2 };
        let handle = tensor_handle();
        let operands = module.operand_types(op);
        let results = module.result_types(op);
        data.regions.is_empty()
            && data.attributes.len() == expected
            && data.attr(OP_NAME).is_some_and(|name| AttrKind::String.admits(name))
            && plain_pairs(OP_ATTRS)
            && (!self.has_func_attrs || plain_pairs(OP_FUNC_ATTRS))
            && operands.get(1 + self.chains..).is_some_and(|rest| rest.iter().all(|ty| *ty == handle))
            && results.get(self.chains..).is_some_and(|rest| rest.iter().all(|ty| *ty == handle))
    }
}

/// Returns the name and value of a pair `[name, value]`.
fn as_pair(pair: &Attribute) -> Option<(&str, &Attribute)> {
    match pair.as_array()? {
        [key @ Attribute::String(_), value] => Some((key.as_str()?, value)),
        _ => None,
    }
}

fn unique_keys(pairs: &[Attribute]) -> bool {
    let mut keys: Vec<_> = pairs.iter().filter_map(as_pair).map(|(key, _)| key).collect();
    keys.sort_unstable();
    keys.windows(2).all(|pair| pair[0] != pair[1])
}

/// Parses `{name = value, …}` as an array of pairs. Without braces the array is empty.
fn parse_pairs(parser: &mut Parser<'_, '_>) -> Parsed<Attribute> {
    let entries = parser.optional_attr_entries()?;
    let pairs: Vec<Attribute> = entries
        .into_iter()
        .map(|(name, value)| Attribute::array([Attribute::string(name.as_bytes()), value]))
        .collect();
    Ok(Attribute::array(pairs))
}

fn print_pairs(printer: &mut Printer<'_>, pairs: &[Attribute]) -> fmt::Result {
    printer.write(" {")?;
    for (index, (name, value)) in pairs.iter().filter_map(as_pair).enumerate() {
        printer.write(if index == 0 { "" } else { ", " })?;
        printer.named_attribute(name, value)?;
    }
    printer.write("}")
}

fn verify(verifier: &mut Verifier<'_>, op: OpId) {
    for attr in [OP_ATTRS, OP_FUNC_ATTRS] {
        let pairs = verifier.op(op).attr(attr).and_then(Attribute::as_array).unwrap_or_default();
        if pairs.iter().any(|pair| as_pair(pair).is_none()) {
            let what = attr.strip_suffix('s').unwrap_or(attr);
            verifier.error(op, format!("each {what} should be a key-value pair, where the key is a string"));
        }
    }
}
