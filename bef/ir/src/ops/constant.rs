//! Scalar constants: `tfrt.constant.i32 42`, and their synchronous variants `tfrt.constant_s.*`.

use std::fmt;

use crate::attr::float_bits;
use crate::lexer::Tok;
use crate::parser::{Parsed, Parser};
use crate::print::{Printer, TypeElision};
use crate::{AttrKind, Attribute, CustomAssembly, Module, OpDefinition, OpId, OpState, Type};

const VALUE: &str = "value";

pub(super) fn definitions() -> Vec<OpDefinition> {
    let types = [
        ("i1", Type::i1()),
        ("i32", Type::int(32)),
        ("i64", Type::int(64)),
        ("ui32", Type::uint(32)),
        ("ui64", Type::uint(64)),
        ("f32", Type::F32),
        ("f64", Type::F64),
    ];
    let mut definitions = Vec::new();
    for prefix in ["tfrt.constant", "tfrt.constant_s"] {
        for (suffix, ty) in &types {
            let definition = OpDefinition::new(format!("{prefix}.{suffix}"))
                .attr(VALUE, AttrKind::Number(ty.clone()))
                .result(ty.clone())
                .custom(Constant { ty: ty.clone() });
            definitions.push(definition);
        }
    }
    definitions
}

/// The form `tfrt.constant.i32 42 {…}`. The attributes may also come first. An `i1` is written `0`
/// or `1`.
#[derive(Debug)]
struct Constant {
    ty: Type,
}

impl CustomAssembly for Constant {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let mut entries = parser.optional_attr_entries()?;
        let value = parser.attribute(Some(&self.ty))?;
        if entries.is_empty() && parser.at(Tok::LBrace) {
            entries = parser.optional_attr_entries()?;
        }
        state.attributes = entries.into_iter().collect();
        state.attributes.set(VALUE, value);
        state.result_types.push(self.ty.clone());
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let data = printer.module().op(op);
        match data.attr(VALUE) {
            Some(Attribute::Bool(value)) => write!(printer, " {}", u8::from(*value))?,
            Some(value @ Attribute::Float { bits, .. }) => match exponential(*bits, &self.ty) {
                Some(text) => write!(printer, " {text}")?,
                None => {
                    printer.write(" ")?;
                    printer.attribute(value, TypeElision::Always)?;
                }
            },
            Some(value) => {
                printer.write(" ")?;
                printer.attribute(value, TypeElision::Always)?;
            }
            None => {}
        }
        printer.optional_attr_dict(data, |name| name != VALUE)
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let data = module.op(op);
        let fits = data.attr(VALUE).is_some_and(|value| AttrKind::Number(self.ty.clone()).admits(value));
        fits && data.operands.is_empty()
            && data.regions.is_empty()
            && matches!(data.results[..], [result] if *module.value_type(result) == self.ty)
    }
}

/// Formats like C, `1.500000e+00`, if that parses back.
fn exponential(bits: u64, ty: &Type) -> Option<String> {
    let value = crate::attr::float_value(bits, ty);
    if !value.is_finite() {
        return None;
    }
    let text = format!("{value:.6e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let sign = if exponent < 0 { '-' } else { '+' };
    let text = format!("{mantissa}e{sign}{:02}", exponent.abs());
    (float_bits(text.parse().ok()?, ty) == Some(bits)).then_some(text)
}
