//! Assembly formats, compiled from text against a definition. That ensures that everything a format
//! omits can be inferred.

use crate::definition::has_several_variadic;
use crate::{AttrKind, OpDefinition};

/// The values that a directive refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// All operands, or all results.
    All,
    /// One specification of them, by position.
    One(usize),
}

/// One element after an operation's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// A keyword or punctuation.
    Literal(String),
    Operands(Group),
    /// An attribute's value, by position in the definition.
    Attr(usize),
    AttrDict,
    OperandTypes(Group),
    ResultTypes(Group),
    /// The number of results of this specification.
    ResultCount(usize),
    /// The types `(types) -> types` of these operands and results.
    FunctionalType(Group, Group),
    /// Elements that are present if the anchor is.
    Optional(Vec<Element>, Anchor),
}

/// Decides whether an optional group is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// Present if there are operands of this specification.
    Operand(usize),
    /// Present if there is this attribute.
    Attr(usize),
}

/// The compiled format of one definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    pub(super) elements: Vec<Element>,
}

impl Format {
    /// Compiles a format for `definition`.
    ///
    /// # Errors
    /// The mistake in the text, or the type or operand that it fails to state.
    pub fn compile(text: &str, definition: &OpDefinition) -> Result<Format, String> {
        let mut compiler = Compiler { rest: text, definition };
        let elements = compiler.elements(false)?;
        let format = Format { elements };
        format.check(definition).map_err(|message| format!("format of {}: {message}", definition.name))?;
        Ok(format)
    }

    /// Returns the default format: the operands; the attribute, if exactly one is required and it
    /// is a number, string, array, symbol or dense elements; `attr-dict`; and `:
    /// functional-type(operands, results)` if the definition does not fix all types.
    pub fn default_of(definition: &OpDefinition) -> Format {
        let mut elements = Vec::new();
        if !definition.operands.is_empty() {
            elements.push(Element::Operands(Group::All));
        }
        let mut required = (0..).zip(&definition.attributes).filter(|(_, attr)| !attr.optional);
        if let (Some((index, attr)), None) = (required.next(), required.next())
            && !matches!(attr.kind, AttrKind::Dictionary | AttrKind::Unit)
        {
            elements.push(Element::Attr(index));
        }
        elements.push(Element::AttrDict);
        let inferable = definition.operands.iter().all(|spec| spec.constraint.exact().is_some())
            && definition.results.iter().all(|spec| spec.constraint.exact().is_some() && !spec.variadic);
        if !inferable {
            elements.push(Element::Literal(":".to_owned()));
            elements.push(Element::FunctionalType(Group::All, Group::All));
        }
        Format { elements }
    }

    /// Returns all elements, including those in optional groups.
    fn flat(&self) -> impl Iterator<Item = &Element> {
        self.elements.iter().flat_map(|element| match element {
            Element::Optional(inner, _) => inner.as_slice(),
            other => std::slice::from_ref(other),
        })
    }

    /// Returns whether an element writes this attribute by position.
    pub(super) fn writes_attr(&self, index: usize) -> bool {
        self.flat().any(|element| *element == Element::Attr(index))
    }

    /// Checks that the text states every operand, and every type that the definition does not fix.
    fn check(&self, definition: &OpDefinition) -> Result<(), String> {
        let covers = |group: &Group, index: usize| *group == Group::All || *group == Group::One(index);
        for (index, spec) in definition.operands.iter().enumerate() {
            let written =
                self.flat().any(|element| matches!(element, Element::Operands(g) if covers(g, index)));
            if !written {
                return Err(format!("operand {index} is not written"));
            }
            let typed = self.flat().any(|element| match element {
                Element::OperandTypes(group) | Element::FunctionalType(group, _) => covers(group, index),
                _ => false,
            });
            if !typed && spec.constraint.exact().is_none() {
                return Err(format!("the type of operand {index} is neither fixed nor written"));
            }
        }
        for (index, spec) in definition.results.iter().enumerate() {
            let typed = self.flat().any(|element| match element {
                Element::ResultTypes(group) | Element::FunctionalType(_, group) => covers(group, index),
                _ => false,
            });
            let counted = self.flat().any(|element| *element == Element::ResultCount(index));
            if !typed && ((spec.variadic && !counted) || spec.constraint.exact().is_none()) {
                return Err(format!("the type of result {index} is neither fixed nor written"));
            }
        }
        let several_operands = has_several_variadic(&definition.operands);
        if several_operands && self.flat().any(|element| *element == Element::Operands(Group::All)) {
            return Err("'operands' cannot be divided among several variadic groups".to_owned());
        }
        let is_undivided = |element: &Element| {
            matches!(element, Element::ResultTypes(Group::All) | Element::FunctionalType(_, Group::All))
        };
        if has_several_variadic(&definition.results) && self.flat().any(is_undivided) {
            return Err("'results' cannot be divided among several variadic groups".to_owned());
        }
        if !self.elements.contains(&Element::AttrDict) {
            return Err("'attr-dict' is missing".to_owned());
        }
        Ok(())
    }
}

struct Compiler<'a> {
    rest: &'a str,
    definition: &'a OpDefinition,
}

/// A token of a format.
#[derive(Debug, PartialEq)]
enum Word<'a> {
    Literal(&'a str),
    Variable(&'a str),
    Keyword(&'a str),
    Punctuation(char),
}

impl<'a> Compiler<'a> {
    fn next(&mut self) -> Result<Option<Word<'a>>, String> {
        self.rest = self.rest.trim_start();
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        if first == '`' {
            let (text, rest) = self.rest[1..].split_once('`').ok_or("a '`' is not closed")?;
            self.rest = rest;
            return Ok(Some(Word::Literal(text.trim())));
        }
        if let Some(rest) = self.rest.strip_prefix("->") {
            self.rest = rest;
            return Ok(Some(Word::Literal("->")));
        }
        let start = usize::from(first == '$');
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let length = self.rest[start..].find(|c| !is_word(c)).unwrap_or(self.rest.len() - start);
        if length == 0 {
            let (_, rest) = self.rest.split_at(first.len_utf8());
            self.rest = rest;
            return match first {
                ':' => Ok(Some(Word::Literal(":"))),
                '(' | ')' | ',' | '^' | '?' => Ok(Some(Word::Punctuation(first))),
                _ => Err(format!("unexpected '{first}' in a format")),
            };
        }
        let (word, rest) = self.rest.split_at(start + length);
        self.rest = rest;
        Ok(Some(if start == 1 { Word::Variable(&word[1..]) } else { Word::Keyword(word) }))
    }

    fn expect(&mut self, punctuation: char) -> Result<(), String> {
        match self.next()? {
            Some(Word::Punctuation(found)) if found == punctuation => Ok(()),
            other => Err(format!("expected '{punctuation}' in a format, found {other:?}")),
        }
    }

    /// Parses elements up to the end, or up to the `)` of a group.
    fn elements(&mut self, in_group: bool) -> Result<Vec<Element>, String> {
        let mut elements = Vec::new();
        loop {
            let Some(word) = self.next()? else {
                return if in_group { Err("a group is not closed".to_owned()) } else { Ok(elements) };
            };
            elements.push(match word {
                Word::Literal(text) => Element::Literal(text.to_owned()),
                Word::Punctuation(',') => Element::Literal(",".to_owned()),
                Word::Punctuation(')') if in_group => return Ok(elements),
                Word::Punctuation('(') if !in_group => self.group()?,
                Word::Punctuation(other) => return Err(format!("unexpected '{other}' in a format")),
                Word::Variable(name) => self.variable(name)?,
                Word::Keyword("operands") => Element::Operands(Group::All),
                Word::Keyword("attr-dict") => Element::AttrDict,
                Word::Keyword("type") => {
                    self.expect('(')?;
                    let element = self.types()?;
                    self.expect(')')?;
                    element
                }
                Word::Keyword("count") => {
                    self.expect('(')?;
                    let Element::ResultTypes(Group::One(index)) = self.types()? else {
                        return Err("count takes a run of results".to_owned());
                    };
                    self.expect(')')?;
                    Element::ResultCount(index)
                }
                Word::Keyword("functional-type") => {
                    self.expect('(')?;
                    let Element::OperandTypes(inputs) = self.types()? else {
                        return Err("functional-type takes operands first".to_owned());
                    };
                    self.expect(',')?;
                    let Element::ResultTypes(results) = self.types()? else {
                        return Err("functional-type takes results second".to_owned());
                    };
                    self.expect(')')?;
                    Element::FunctionalType(inputs, results)
                }
                Word::Keyword(other) => return Err(format!("unknown directive '{other}' in a format")),
            });
        }
    }

    /// Parses the rest of `( … $name^ … )?`.
    fn group(&mut self) -> Result<Element, String> {
        let start = self.rest;
        let elements = self.elements_with_anchor()?;
        self.expect('?')?;
        let text = &start[..start.len() - self.rest.len()];
        let before = text.split_once('^').ok_or("a group needs a '$name^'")?.0;
        let name = before.rsplit_once('$').ok_or("a group needs a '$name^'")?.1;
        let anchor = match self.variable(name)? {
            Element::Operands(Group::One(index)) => Anchor::Operand(index),
            Element::Attr(index) => Anchor::Attr(index),
            _ => return Err("a group is anchored by an operand or attribute".to_owned()),
        };
        Ok(Element::Optional(elements, anchor))
    }

    fn elements_with_anchor(&mut self) -> Result<Vec<Element>, String> {
        // The `^` is only a mark and not an element.
        let (inner, rest) = self.rest.split_once(")?").ok_or("a group ends in ')?'")?;
        let unmarked = inner.replacen('^', "", 1);
        let mut compiler = Compiler { rest: &unmarked, definition: self.definition };
        let elements = compiler.elements(false)?;
        let _ = rest;
        self.rest = &self.rest[inner.len() + 1..];
        Ok(elements)
    }

    /// Parses `$name` of an operand or attribute.
    fn variable(&self, name: &str) -> Result<Element, String> {
        if let Some(index) = self.definition.operands.iter().position(|spec| spec.name == name) {
            return Ok(Element::Operands(Group::One(index)));
        }
        if let Some(index) = self.definition.attributes.iter().position(|attr| attr.name == name) {
            return Ok(Element::Attr(index));
        }
        Err(format!("no operand or attribute is named '${name}'"))
    }

    /// Parses the contents of `type(…)`.
    fn types(&mut self) -> Result<Element, String> {
        match self.next()? {
            Some(Word::Keyword("operands")) => Ok(Element::OperandTypes(Group::All)),
            Some(Word::Keyword("results")) => Ok(Element::ResultTypes(Group::All)),
            Some(Word::Variable(name)) => {
                if let Some(index) = self.definition.operands.iter().position(|spec| spec.name == name) {
                    return Ok(Element::OperandTypes(Group::One(index)));
                }
                if let Some(index) = self.definition.results.iter().position(|spec| spec.name == name) {
                    return Ok(Element::ResultTypes(Group::One(index)));
                }
                Err(format!("no operand or result is named '${name}'"))
            }
            other => Err(format!("expected operands or results in a format, found {other:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Type, TypeConstraint};

    fn definition() -> OpDefinition {
        OpDefinition::new("a.b")
            .named_operand("x", Type::int(32))
            .variadic_operands("rest", TypeConstraint::Any)
            .attr("value", AttrKind::Any)
            .variadic_results("out", TypeConstraint::Any)
    }

    #[test]
    fn formats_compile() {
        let text = "$x $value (`,` $rest^ `:` type($rest))? attr-dict `->` type($out)";
        let format = Format::compile(text, &definition()).unwrap();
        assert_eq!(format.elements.len(), 6);
        assert!(
            matches!(&format.elements[2], Element::Optional(inner, Anchor::Operand(1)) if inner.len() == 4)
        );
    }

    #[test]
    fn formats_must_say_what_the_definition_leaves_open() {
        let table = [
            ("operands attr-dict", "the type of operand 1"),
            ("operands attr-dict : type(operands)", "the type of result 0"),
            ("$x attr-dict -> type(results)", "operand 1 is not written"),
            ("operands : functional-type(operands, results)", "'attr-dict' is missing"),
            ("$y attr-dict", "no operand or attribute is named '$y'"),
            ("operands %", "unexpected '%'"),
            ("( $x )?", "needs a '$name^'"),
        ];
        for (text, message) in table {
            let error = Format::compile(text, &definition()).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn the_default_names_types_only_when_it_must() {
        let add = OpDefinition::new("add").operand(Type::F32).result(Type::F32);
        assert_eq!(Format::default_of(&add).elements, [Element::Operands(Group::All), Element::AttrDict]);
        assert_eq!(Format::default_of(&definition()).elements.len(), 5);
    }
}
