//! Aliases: `#name = attribute` and `!name = type` at the top of a file. A use may stand before the definition, as
//! locations' do; such a definition is looked up and parsed out of turn.

use std::collections::HashMap;

use super::{Failed, Parsed, Parser};
use crate::lexer::Tok;
use crate::source::Span;
use crate::{Attribute, Type};

/// What an alias stands for.
#[derive(Clone, Debug)]
pub(super) enum Alias {
    Attribute(Attribute),
    Type(Type),
    /// Being parsed, so that a definition by itself is noticed.
    Open,
    /// Its definition did not parse, which has been reported.
    Broken,
}

#[derive(Debug, Default)]
pub(super) struct Aliases<'s> {
    /// By name with its sigil.
    known: HashMap<&'s [u8], Alias>,
    /// Where each line that looks like a definition begins; made when first needed.
    index: Option<HashMap<&'s [u8], u32>>,
}

/// The places of lines `#name =` and `!name =`; of several for one name the first.
fn index_definitions(text: &[u8]) -> HashMap<&[u8], u32> {
    let mut index = HashMap::new();
    let mut start = 0usize;
    for line in text.split(|&byte| byte == b'\n') {
        if matches!(line.first(), Some(b'#' | b'!')) {
            let name = line.iter().position(|&byte| byte == b' ' || byte == b'=').unwrap_or(0);
            let equal = line[name..].iter().find(|&&byte| byte != b' ') == Some(&b'=');
            if equal {
                index.entry(&line[..name]).or_insert(start as u32);
            }
        }
        start += line.len() + 1;
    }
    index
}

impl<'s> Parser<'s, '_> {
    /// A statement `#name = …` or `!name = …`.
    pub(super) fn alias_definition(&mut self) -> Parsed<()> {
        let span = self.token.span;
        let name = self.bytes(span);
        if name.contains(&b'.') {
            return Err(self.error(span, "names with a dot are reserved for dialects and cannot be aliases"));
        }
        let out_of_turn = self.aliases.index.as_ref().and_then(|index| index.get(name)) == Some(&span.start);
        if self.aliases.known.contains_key(name) && !out_of_turn {
            let text = String::from_utf8_lossy(name);
            return Err(self.error(span, format!("redefinition of alias '{text}'")));
        }
        if matches!(self.aliases.known.get(name), Some(Alias::Broken)) {
            return Err(Failed);
        }
        let alias = self.alias_body();
        self.aliases.known.insert(name, alias.clone().unwrap_or(Alias::Broken));
        alias.map(|_| ())
    }

    /// `#name = attribute` or `!name = type`.
    fn alias_body(&mut self) -> Parsed<Alias> {
        let is_type = self.bump().kind == Tok::Bang;
        self.expect(Tok::Equal, "after the alias name")?;
        if is_type {
            // The word `type` stood here in older texts.
            self.eat_word("type");
            return Ok(Alias::Type(self.ty()?));
        }
        Ok(Alias::Attribute(self.attribute(None)?))
    }

    /// What the alias at `span`, sigil included, stands for.
    fn alias(&mut self, span: Span) -> Parsed<Alias> {
        let name = self.bytes(span);
        let text = String::from_utf8_lossy(name);
        match self.aliases.known.get(name) {
            Some(Alias::Open) => return Err(self.error(span, format!("alias '{text}' is defined by itself"))),
            Some(Alias::Broken) => return Err(Failed),
            Some(alias) => return Ok(alias.clone()),
            None => {}
        }
        let source = self.source.text();
        let index = self.aliases.index.get_or_insert_with(|| index_definitions(source));
        let Some(&offset) = index.get(name) else {
            return Err(self.error(span, format!("undefined alias '{text}'")));
        };
        let (resume, last_end) = (self.token.span.start, self.last_end);
        self.seek(offset);
        self.aliases.known.insert(name, Alias::Open);
        let alias = self.nested(Self::alias_body);
        self.seek(resume);
        self.last_end = last_end;
        self.aliases.known.insert(name, alias.clone().unwrap_or(Alias::Broken));
        alias
    }

    /// The attribute an alias `#name` stands for.
    pub(super) fn attribute_alias(&mut self, span: Span) -> Parsed<Attribute> {
        match self.alias(span)? {
            Alias::Attribute(attribute) => Ok(attribute),
            _ => Err(self.error(span, "this alias is no attribute")),
        }
    }

    /// The type an alias `!name` stands for.
    pub(super) fn type_alias(&mut self, span: Span) -> Parsed<Type> {
        match self.alias(span)? {
            Alias::Type(ty) => Ok(ty),
            _ => Err(self.error(span, "this alias is no type")),
        }
    }
}
