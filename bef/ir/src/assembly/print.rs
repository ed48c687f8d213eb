//! Prints an operation by its format.

use std::fmt;

use super::format::{Anchor, Element, Format, Group};
use crate::definition::{
    AttrKind, Groups, OPERAND_SEGMENT_SIZES, RESULT_SEGMENT_SIZES, has_several_variadic,
};
use crate::print::{Printer, TypeElision, TypeList};
use crate::types::FunctionType;
use crate::{Module, OpDefinition, OpId, Operation, ValueId};

/// Decides where spaces are printed: not before closing and not after opening punctuation.
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

/// The operands or results of one operation, by specification.
struct Values<'a> {
    groups: Groups<'a>,
    all: &'a [ValueId],
}

impl<'a> Values<'a> {
    fn group(&self, group: &Group) -> &'a [ValueId] {
        match group {
            Group::All => self.all,
            Group::One(index) => self.all.get(self.groups.range(*index)).unwrap_or_default(),
        }
    }

    fn fit(&self, module: &Module) -> bool {
        self.groups
            .pairs(self.all)
            .all(|(spec, group)| group.iter().all(|&value| spec.constraint.admits(module.value_type(value))))
    }
}

/// An operation with its operands and results divided as its definition says.
struct Parts<'a> {
    op: &'a Operation,
    definition: &'a OpDefinition,
    operands: Values<'a>,
    results: Values<'a>,
}

impl<'a> Parts<'a> {
    /// Divides the values. Returns `None` if they do not fit the definition.
    fn new(definition: &'a OpDefinition, op: &'a Operation) -> Option<Parts<'a>> {
        let operands = Values { groups: definition.operand_groups(op).ok()?, all: &op.operands };
        let results = Values { groups: definition.result_groups(op).ok()?, all: &op.results };
        Some(Parts { op, definition, operands, results })
    }

    /// Returns whether the text states an attribute's value outside of a dictionary.
    fn is_implied(&self, name: &str) -> bool {
        let definition = self.definition;
        (definition.nonstrict && name == "bef.nonstrict")
            || (name == OPERAND_SEGMENT_SIZES && has_several_variadic(&definition.operands))
            || (name == RESULT_SEGMENT_SIZES && has_several_variadic(&definition.results))
    }
}

impl Format {
    /// Prints an operation with its name if it has everything that the format assumes. Otherwise
    /// prints nothing and returns false.
    pub(crate) fn print(
        &self,
        printer: &mut Printer<'_>,
        definition: &OpDefinition,
        op: OpId,
    ) -> Result<bool, fmt::Error> {
        let module = printer.module();
        let op = module.op(op);
        let Some(parts) = Parts::new(definition, op) else { return Ok(false) };
        let attrs_fit =
            definition.attributes.iter().enumerate().all(|(index, spec)| match op.attr(&spec.name) {
                Some(value) => !self.writes_attr(index) || spec.kind.admits(value),
                None => spec.optional || !self.writes_attr(index),
            });
        let fits = parts.operands.fit(module)
            && parts.results.fit(module)
            && attrs_fit
            && op.regions.is_empty()
            && op.attributes.contains("bef.nonstrict") == definition.nonstrict;
        if !fits {
            return Ok(false);
        }
        printer.write(&op.name)?;
        let mut spacing = Spacing { space: true, after_punctuation: false };
        self.print_elements(&self.elements, printer, &parts, &mut spacing)?;
        Ok(true)
    }

    fn print_elements(
        &self,
        elements: &[Element],
        printer: &mut Printer<'_>,
        parts: &Parts<'_>,
        spacing: &mut Spacing,
    ) -> fmt::Result {
        let module = printer.module();
        let Parts { op, definition, operands, results } = parts;
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
                        Anchor::Operand(index) => !operands.group(&Group::One(*index)).is_empty(),
                        Anchor::Attr(index) => op.attributes.contains(&definition.attributes[*index].name),
                    };
                    if present {
                        self.print_elements(inner, printer, parts, spacing)?;
                    }
                    continue;
                }
                Element::AttrDict => {
                    let positional = |name: &str| {
                        let index = definition.attributes.iter().position(|attr| attr.name == name);
                        index.is_some_and(|index| self.writes_attr(index))
                    };
                    printer.optional_attr_dict(op, |name| !parts.is_implied(name) && !positional(name))?;
                }
                Element::Operands(which) => {
                    let values = operands.group(which);
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
                    let types = module.types_of(operands.group(which));
                    let space = spacing.space && !types.is_empty();
                    write!(printer, "{}{}", if space { " " } else { "" }, TypeList(&types))?;
                }
                Element::ResultTypes(which) => {
                    let types = module.types_of(results.group(which));
                    let space = spacing.space && !types.is_empty();
                    write!(printer, "{}{}", if space { " " } else { "" }, TypeList(&types))?;
                }
                Element::ResultCount(index) => {
                    let space = if spacing.space { " " } else { "" };
                    write!(printer, "{space}{}", results.group(&Group::One(*index)).len())?;
                }
                Element::FunctionalType(inputs, outputs) => {
                    let inputs = module.types_of(operands.group(inputs));
                    let results = module.types_of(results.group(outputs));
                    let space = if spacing.space { " " } else { "" };
                    write!(printer, "{space}{}", FunctionType { inputs, results })?;
                }
            }
            spacing.after_value();
        }
        Ok(())
    }
}
