//! Parses an operation by its format.

use super::format::{Anchor, Element, Format, Group};
use crate::definition::{
    AttrKind, OPERAND_SEGMENT_SIZES, RESULT_SEGMENT_SIZES, ValueSpec, has_several_variadic, segment_sizes,
};
use crate::lexer::{Lexer, Tok};
use crate::parser::{Parsed, Parser, UnresolvedOperand};
use crate::source::Span;
use crate::{OpDefinition, OpState, Type};

/// The parts read so far, by position in the definition.
struct Reading<'s> {
    operands: Vec<Option<Vec<UnresolvedOperand<'s>>>>,
    operand_types: Vec<Option<Vec<Type>>>,
    result_types: Vec<Option<Vec<Type>>>,
}

impl Reading<'_> {
    /// Returns how many operands were read for each specification.
    fn operand_sizes(&self) -> Vec<usize> {
        self.operands.iter().map(|operands| operands.as_ref().map_or(0, Vec::len)).collect()
    }
}

impl Format {
    /// Parses the text after the operation's name.
    pub(crate) fn parse(
        &self,
        parser: &mut Parser<'_, '_>,
        definition: &OpDefinition,
        state: &mut OpState,
    ) -> Parsed<()> {
        let start = parser.token().span;
        let mut reading = Reading {
            operands: vec![None; definition.operands.len()],
            operand_types: vec![None; definition.operands.len()],
            result_types: vec![None; definition.results.len()],
        };
        parse_elements(&self.elements, parser, definition, state, &mut reading)?;
        if has_several_variadic(&definition.operands) {
            state.attributes.set(OPERAND_SEGMENT_SIZES, segment_sizes(&reading.operand_sizes()));
        }
        let mut operands = Vec::new();
        let mut types = Vec::new();
        for (index, spec) in definition.operands.iter().enumerate() {
            let values = reading.operands[index].take().unwrap_or_default();
            types.extend(types_for(parser, spec, reading.operand_types[index].take(), values.len(), start)?);
            operands.extend(values);
        }
        state.operands = parser.resolve_all(&operands, &types, start)?;
        let mut sizes = Vec::new();
        for (index, spec) in definition.results.iter().enumerate() {
            let count = usize::from(!spec.variadic);
            let types = reading.result_types[index].take();
            let count = types.as_ref().map_or(count, Vec::len);
            state.result_types.extend(types_for(parser, spec, types, count, start)?);
            sizes.push(count);
        }
        if has_several_variadic(&definition.results) {
            state.attributes.set(RESULT_SEGMENT_SIZES, segment_sizes(&sizes));
        }
        if definition.nonstrict {
            state.attributes.set("bef.nonstrict", crate::Attribute::Unit);
        }
        Ok(())
    }
}

/// Returns the types of `count` values: those in the text, or those that the definition fixes.
fn types_for(
    parser: &mut Parser<'_, '_>,
    spec: &ValueSpec,
    read: Option<Vec<Type>>,
    count: usize,
    at: Span,
) -> Parsed<Vec<Type>> {
    match (read, spec.constraint.exact()) {
        (Some(types), _) if types.len() == count => Ok(types),
        (Some(types), _) => {
            Err(parser.error(at, format!("{count} operands present, but {} types", types.len())))
        }
        (None, Some(ty)) => Ok(vec![ty.clone(); count]),
        (None, None) if count == 0 => Ok(Vec::new()),
        (None, None) => Err(parser.error(at, "the types of these operands are not written")),
    }
}

fn parse_elements<'s>(
    elements: &[Element],
    parser: &mut Parser<'s, '_>,
    definition: &OpDefinition,
    state: &mut OpState,
    reading: &mut Reading<'s>,
) -> Parsed<()> {
    for (index, element) in elements.iter().enumerate() {
        match element {
            Element::Literal(text) => parser.expect_literal(text)?,
            Element::Operands(Group::One(index)) if !definition.operands[*index].variadic => {
                reading.operands[*index] = Some(vec![parser.operand()?]);
            }
            Element::Operands(Group::One(index)) => reading.operands[*index] = Some(parser.operand_list()?),
            Element::Operands(Group::All) => {
                let at = parser.token().span;
                let operands = parser.operand_list()?;
                split(parser, operands, &definition.operands, &[], &mut reading.operands, at, "operands")?;
            }
            Element::Attr(attr) => {
                let colon_next =
                    matches!(elements.get(index + 1), Some(Element::Literal(text)) if text == ":");
                let spec = &definition.attributes[*attr];
                // The generic form: in a dictionary instead.
                let in_dict = parser.at(Tok::LBrace) && spec.kind != AttrKind::Dictionary;
                if !in_dict && (!spec.optional || parser.at_attribute()) {
                    let value = parser.attribute_of_kind(&spec.kind, !colon_next)?;
                    state.attributes.set(&spec.name, value);
                }
            }
            Element::AttrDict => {
                let at = parser.token().span;
                for (name, value) in parser.optional_attr_entries()? {
                    if state.attributes.set(&name, value).is_some() {
                        return Err(parser.error(at, format!("attribute '{name}' is given twice")));
                    }
                }
            }
            Element::OperandTypes(group) => {
                let at = parser.token().span;
                let types = parser.optional_type_list()?;
                let sizes = reading.operand_sizes();
                assign(parser, group, types, &definition.operands, &sizes, &mut reading.operand_types, at)?;
            }
            Element::ResultTypes(group) => {
                let at = parser.token().span;
                let types = parser.optional_type_list()?;
                assign(parser, group, types, &definition.results, &[], &mut reading.result_types, at)?;
            }
            Element::ResultCount(index) => {
                let count = parser.count("a number of results")?;
                let ty = definition.results[*index].constraint.exact();
                reading.result_types[*index] = Some(vec![ty.cloned().unwrap_or(Type::None); count]);
            }
            Element::FunctionalType(operands, results) => {
                let at = parser.token().span;
                let function = parser.function_type()?;
                let sizes = reading.operand_sizes();
                assign(
                    parser,
                    operands,
                    function.inputs,
                    &definition.operands,
                    &sizes,
                    &mut reading.operand_types,
                    at,
                )?;
                assign(
                    parser,
                    results,
                    function.results,
                    &definition.results,
                    &[],
                    &mut reading.result_types,
                    at,
                )?;
            }
            Element::Optional(inner, anchor) => {
                if begins(parser, inner, *anchor) {
                    parse_elements(inner, parser, definition, state, reading)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns whether the current token begins an optional group.
fn begins(parser: &Parser<'_, '_>, inner: &[Element], anchor: Anchor) -> bool {
    match (inner.first(), anchor) {
        (Some(Element::Literal(text)), _) => parser.at_literal(text),
        (_, Anchor::Operand(_)) => parser.at(Tok::Value),
        (_, Anchor::Attr(_)) => parser.at_attribute(),
    }
}

/// Assigns types to the specifications of a group. `sizes` are those of the operands, which are
/// written first.
fn assign(
    parser: &mut Parser<'_, '_>,
    group: &Group,
    types: Vec<Type>,
    specs: &[ValueSpec],
    sizes: &[usize],
    slots: &mut [Option<Vec<Type>>],
    at: Span,
) -> Parsed<()> {
    match group {
        Group::One(index) => {
            slots[*index] = Some(types);
            Ok(())
        }
        Group::All => split(parser, types, specs, sizes, slots, at, "types"),
    }
}

/// Distributes a flat list over specifications. Each takes one value, and a single variadic one
/// takes the rest. Several variadic ones take as many as `sizes` say.
fn split<T>(
    parser: &mut Parser<'_, '_>,
    list: Vec<T>,
    specs: &[ValueSpec],
    sizes: &[usize],
    slots: &mut [Option<Vec<T>>],
    at: Span,
    what: &str,
) -> Parsed<()> {
    let has_several = has_several_variadic(specs);
    let single =
        if has_several { sizes.iter().sum() } else { specs.iter().filter(|spec| !spec.variadic).count() };
    let is_open = !has_several && single < specs.len();
    if list.len() < single || (list.len() > single && !is_open) {
        let expected = if is_open { format!("at least {single}") } else { single.to_string() };
        return Err(parser.error(at, format!("{} {what} present, but expected {expected}", list.len())));
    }
    let mut spare = list.len() - single;
    let mut list = list.into_iter();
    for (index, (spec, slot)) in specs.iter().zip(slots).enumerate() {
        let count = match sizes.get(index) {
            Some(size) if has_several => *size,
            _ if spec.variadic => std::mem::take(&mut spare),
            _ => 1,
        };
        *slot = Some(list.by_ref().take(count).collect());
    }
    Ok(())
}

impl Parser<'_, '_> {
    /// Returns whether the current token is this keyword or punctuation.
    pub fn at_literal(&self, text: &str) -> bool {
        match literal_token(text) {
            Tok::Bare => self.at_word(text),
            kind => self.at(kind),
        }
    }

    /// Takes the current token if it is this keyword or punctuation.
    pub fn eat_literal(&mut self, text: &str) -> bool {
        let found = self.at_literal(text);
        if found {
            self.bump();
        }
        found
    }

    /// Takes the current token, which must be this keyword or punctuation.
    pub fn expect_literal(&mut self, text: &str) -> Parsed<()> {
        if self.at_literal(text) {
            self.bump();
            return Ok(());
        }
        Err(self.unexpected(&format!("'{text}'")))
    }
}

/// Returns the token of a format's literal.
fn literal_token(text: &str) -> Tok {
    Lexer::new(text.as_bytes()).next().kind
}
