//! Writes an operation by its format.

use std::fmt;

use super::format::{Anchor, Element, Format, Group};
use crate::print::{Printer, TypeElision};
use crate::registry::{AttrKind, ValueSpec};
use crate::types::{FunctionType, TypeList};
use crate::{Module, OpDefinition, OpId, Operation, ValueId};

/// Where spaces go: none before closing punctuation, none after opening.
struct Spacing {
    space: bool,
    after_punctuation: bool,
}

impl Spacing {
    fn before_literal(&self, text: &str) -> bool {
        if text.len() != 1 {
            return self.space;
        }
        let tight = if self.after_punctuation { ">)}]," } else { "<>(){}[]," };
        self.space && !tight.contains(text)
    }

    fn after_literal(&mut self, text: &str) {
        self.space = !(text.len() == 1 && "<({[".contains(text));
        self.after_punctuation = !text.starts_with(|c: char| c.is_ascii_alphabetic());
    }

    fn after_value(&mut self) {
        self.space = true;
        self.after_punctuation = false;
    }
}

/// The values of one specification out of all operands or results of an operation.
fn slice<'a>(specs: &[ValueSpec], values: &'a [ValueId], index: usize) -> &'a [ValueId] {
    let spare = (values.len() + 1).saturating_sub(specs.len());
    let width = |spec: &ValueSpec| if spec.variadic { spare } else { 1 };
    let start: usize = specs.iter().take(index).map(width).sum();
    let end = start + specs.get(index).map_or(0, width);
    values.get(start..end).unwrap_or_default()
}

fn group<'a>(specs: &[ValueSpec], values: &'a [ValueId], group: &Group) -> &'a [ValueId] {
    match group {
        Group::All => values,
        Group::One(index) => slice(specs, values, *index),
    }
}

impl Format {
    /// Whether the operation has what the format takes for granted.
    pub(crate) fn can_print(&self, module: &Module, definition: &OpDefinition, op: &Operation) -> bool {
        let fits = |specs: &[ValueSpec], values: &[ValueId]| {
            let single = specs.iter().filter(|spec| !spec.variadic).count();
            let count_fits =
                if single < specs.len() { values.len() >= single } else { values.len() == single };
            count_fits
                && specs.iter().enumerate().all(|(index, spec)| {
                    let values = slice(specs, values, index);
                    values.iter().all(|&value| spec.constraint.admits(module.value_type(value)))
                })
        };
        let attrs_fit =
            definition.attributes.iter().enumerate().all(|(index, spec)| match op.attr(&spec.name) {
                Some(value) => !self.writes_attr(index) || spec.kind.admits(value),
                None => spec.optional || !self.writes_attr(index),
            });
        fits(&definition.operands, &op.operands)
            && fits(&definition.results, &op.results)
            && attrs_fit
            && op.regions.is_empty()
            && op.attributes.contains("bef.nonstrict") == definition.nonstrict
    }

    /// Writes what stands after the operation's name.
    pub(crate) fn print(
        &self,
        printer: &mut Printer<'_>,
        definition: &OpDefinition,
        op: OpId,
    ) -> fmt::Result {
        let mut spacing = Spacing { space: true, after_punctuation: false };
        self.print_elements(&self.elements, printer, definition, op, &mut spacing)
    }

    fn print_elements(
        &self,
        elements: &[Element],
        printer: &mut Printer<'_>,
        definition: &OpDefinition,
        id: OpId,
        spacing: &mut Spacing,
    ) -> fmt::Result {
        let module = printer.module();
        let op = module.op(id);
        for element in elements {
            match element {
                Element::Literal(text) => {
                    printer.write(if spacing.before_literal(text) { " " } else { "" })?;
                    printer.write(text)?;
                    spacing.after_literal(text);
                    continue;
                }
                Element::Optional(inner, anchor) => {
                    let present = match anchor {
                        Anchor::Operand(index) => {
                            !slice(&definition.operands, &op.operands, *index).is_empty()
                        }
                        Anchor::Attr(index) => op.attributes.contains(&definition.attributes[*index].name),
                    };
                    if present {
                        self.print_elements(inner, printer, definition, id, spacing)?;
                    }
                    continue;
                }
                Element::AttrDict => {
                    let positional = |name: &str| {
                        let index = definition.attributes.iter().position(|attr| attr.name == name);
                        index.is_some_and(|index| self.writes_attr(index))
                    };
                    printer.optional_attr_dict(op, |name| {
                        let implied = definition.nonstrict && name == "bef.nonstrict";
                        !(implied || positional(name))
                    })?;
                }
                Element::Operands(which) => {
                    let values = group(&definition.operands, &op.operands, which);
                    if values.is_empty() {
                        continue;
                    }
                    printer.write(if spacing.space { " " } else { "" })?;
                    printer.values(values)?;
                }
                Element::Attr(index) => {
                    let spec = &definition.attributes[*index];
                    let Some(value) = op.attr(&spec.name) else { continue };
                    let typed = matches!(spec.kind, AttrKind::Number(_) | AttrKind::Bool | AttrKind::String);
                    printer.write(if spacing.space { " " } else { "" })?;
                    printer.attribute(value, if typed { TypeElision::Always } else { TypeElision::Never })?;
                }
                Element::OperandTypes(which) => {
                    let types = module.types_of(group(&definition.operands, &op.operands, which));
                    let space = spacing.space && !types.is_empty();
                    write!(printer, "{}{}", if space { " " } else { "" }, TypeList(&types))?;
                }
                Element::ResultTypes(which) => {
                    let types = module.types_of(group(&definition.results, &op.results, which));
                    let space = spacing.space && !types.is_empty();
                    write!(printer, "{}{}", if space { " " } else { "" }, TypeList(&types))?;
                }
                Element::ResultCount(index) => {
                    let space = if spacing.space { " " } else { "" };
                    write!(printer, "{space}{}", slice(&definition.results, &op.results, *index).len())?;
                }
                Element::FunctionalType(inputs, results) => {
                    let inputs = module.types_of(group(&definition.operands, &op.operands, inputs));
                    let results = module.types_of(group(&definition.results, &op.results, results));
                    let space = if spacing.space { " " } else { "" };
                    write!(printer, "{space}{}", FunctionType { inputs, results })?;
                }
            }
            spacing.after_value();
        }
        Ok(())
    }
}
