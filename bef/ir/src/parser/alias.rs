//! Aliases: `#name = attribute` and `!name = type` at the top of a file. Locations may use an alias
//! before its definition; the parser then looks the definition up and parses it out of turn.
//!
//! Aliases of aliases could make a short text stand for a huge or deeply nested one. So each alias
//! records the length and depth of the text it stands for. Both are bounded as if the text were
//! written out.

use std::collections::HashMap;

use super::{Failed, Parsed, Parser};
use crate::lexer::{MAX_DEPTH, Tok};
use crate::source::Span;
use crate::{Attribute, Type};

/// The most bytes of text that all uses of aliases in a file may stand for: 64 MiB.
pub const MAX_ALIAS_EXPANSION: u64 = 64 << 20;

/// The meaning of an alias.
#[derive(Clone, Debug)]
enum Alias {
    Attribute(Attribute),
    Type(Type),
    /// The definition is being parsed; a use within it is an error.
    Open,
    /// The definition did not parse, which has been reported.
    Broken,
}

#[derive(Clone, Debug)]
struct Known {
    alias: Alias,
    /// The depth of nesting inside it.
    depth: usize,
    /// The number of bytes of text it stands for.
    length: u64,
}

#[derive(Debug, Default)]
pub(super) struct Aliases<'s> {
    /// Aliases by name, including the sigil.
    known: HashMap<&'s [u8], Known>,
    /// The offset of each line that looks like a definition. Built when first needed.
    index: Option<HashMap<&'s [u8], u32>>,
    /// The number of bytes that the uses of aliases so far stand for.
    expansion: u64,
}

/// Returns the offsets of the statements `#name =` and `!name =`; for each name the first.
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
    /// Parses a statement `#name = …` or `!name = …`.
    pub(super) fn alias_definition(&mut self) -> Parsed<()> {
        let span = self.token.span;
        let name = self.bytes(span);
        if name.contains(&b'.') {
            return Err(self.error(span, "names with a dot are reserved for dialects and cannot be aliases"));
        }
        let known = self.aliases.known.get(name);
        if matches!(known, Some(Known { alias: Alias::Broken, .. })) {
            return Err(Failed);
        }
        let out_of_turn = self.aliases.index.as_ref().and_then(|index| index.get(name)) == Some(&span.start);
        if known.is_some() && !out_of_turn {
            let text = String::from_utf8_lossy(name);
            return Err(self.error(span, format!("redefinition of alias '{text}'")));
        }
        match self.define_alias(name).alias {
            Alias::Broken => Err(Failed),
            _ => Ok(()),
        }
    }

    /// Parses the definition at the current token and records its meaning.
    fn define_alias(&mut self, name: &'s [u8]) -> Known {
        let start = self.token.span.start;
        let expansion = self.aliases.expansion;
        let outer_peak = std::mem::replace(&mut self.peak_depth, self.depth);
        let alias = self.alias_body().unwrap_or(Alias::Broken);
        let depth = self.peak_depth - self.depth;
        self.peak_depth = self.peak_depth.max(outer_peak);
        let length = u64::from(self.last_end.saturating_sub(start)) + self.aliases.expansion - expansion;
        let known = Known { alias, depth, length };
        self.aliases.known.insert(name, known.clone());
        known
    }

    /// Parses the rest of `#name = attribute` or `!name = type`.
    fn alias_body(&mut self) -> Parsed<Alias> {
        let is_type = self.bump().kind == Tok::Bang;
        self.expect(Tok::Equal, "after the alias name")?;
        if is_type {
            // Older texts write the word `type` here.
            self.eat_word("type");
            return Ok(Alias::Type(self.ty()?));
        }
        Ok(Alias::Attribute(self.attribute(None)?))
    }

    /// Returns the meaning of the alias at `span`, which includes the sigil.
    fn alias(&mut self, span: Span) -> Parsed<Alias> {
        let name = self.bytes(span);
        let known = match self.aliases.known.get(name) {
            Some(known) => known.clone(),
            None => self.look_up(name, span)?,
        };
        match known.alias {
            Alias::Broken => return Err(Failed),
            Alias::Open => {
                let text = String::from_utf8_lossy(name);
                return Err(self.error(span, format!("alias '{text}' is defined by itself")));
            }
            Alias::Attribute(_) | Alias::Type(_) => {}
        }
        self.peak_depth = self.peak_depth.max(self.depth + known.depth);
        if self.depth + known.depth > MAX_DEPTH {
            return Err(self.error(span, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        self.aliases.expansion = self.aliases.expansion.saturating_add(known.length);
        if self.aliases.expansion > MAX_ALIAS_EXPANSION {
            let message = format!("the aliases of this text expand to more than {MAX_ALIAS_EXPANSION} bytes");
            return Err(self.error(span, message));
        }
        Ok(known.alias)
    }

    /// Finds and parses a definition elsewhere in the text, then returns to the current place.
    fn look_up(&mut self, name: &'s [u8], span: Span) -> Parsed<Known> {
        let source = self.source.text();
        let index = self.aliases.index.get_or_insert_with(|| index_definitions(source));
        let Some(&offset) = index.get(name) else {
            let text = String::from_utf8_lossy(name);
            return Err(self.error(span, format!("undefined alias '{text}'")));
        };
        let (resume, last_end) = (self.token.span.start, self.last_end);
        self.seek(offset);
        self.aliases.known.insert(name, Known { alias: Alias::Open, depth: 0, length: 0 });
        let known = self.nested(|parser| Ok(parser.define_alias(name)));
        self.seek(resume);
        self.last_end = last_end;
        if known.is_err() {
            self.aliases.known.insert(name, Known { alias: Alias::Broken, depth: 0, length: 0 });
        }
        known
    }

    /// Returns the attribute that an alias `#name` stands for.
    pub(super) fn attribute_alias(&mut self, span: Span) -> Parsed<Attribute> {
        match self.alias(span)? {
            Alias::Attribute(attribute) => Ok(attribute),
            _ => Err(self.error(span, "this alias is not an attribute")),
        }
    }

    /// Returns the type that an alias `!name` stands for.
    pub(super) fn type_alias(&mut self, span: Span) -> Parsed<Type> {
        match self.alias(span)? {
            Alias::Type(ty) => Ok(ty),
            _ => Err(self.error(span, "this alias is not a type")),
        }
    }
}
