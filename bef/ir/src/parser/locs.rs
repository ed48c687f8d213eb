//! Locations: `loc(…)`.

use std::sync::Arc;

use super::{Parsed, Parser};
use crate::lexer::{Tok, unescape};
use crate::{Attribute, Location};

impl Parser<'_, '_> {
    /// Parses `loc(…)`, or nothing.
    pub(super) fn optional_location(&mut self) -> Parsed<Option<Location>> {
        if self.at_word("loc") { self.location().map(Some) } else { Ok(None) }
    }

    /// Parses `loc(…)`.
    pub(super) fn location(&mut self) -> Parsed<Location> {
        self.expect_word("loc")?;
        self.expect(Tok::LParen, "after 'loc'")?;
        let location = self.location_body()?;
        self.expect(Tok::RParen, "after the location")?;
        Ok(location)
    }

    fn location_body(&mut self) -> Parsed<Location> {
        self.nested(|parser| match parser.token.kind {
            Tok::String => parser.named_location(),
            Tok::Hash => {
                let span = parser.bump().span;
                match parser.attribute_alias(span)? {
                    Attribute::Location(location) => Ok((*location).clone()),
                    _ => Err(parser.error(span, "this alias is not a location")),
                }
            }
            Tok::Bare => parser.location_word(),
            _ => Err(parser.unexpected("a location")),
        })
    }

    fn location_word(&mut self) -> Parsed<Location> {
        if self.eat_word("unknown") {
            return Ok(Location::Unknown);
        }
        if self.eat_word("callsite") {
            return self.callsite();
        }
        if self.eat_word("fused") { self.fused() } else { Err(self.unexpected("a location")) }
    }

    /// Parses `"file":1:2`, `"name"` or `"name"(child)`.
    fn named_location(&mut self) -> Parsed<Location> {
        let span = self.bump().span;
        let name = String::from_utf8_lossy(&unescape(self.bytes(span))).into_owned();
        let name = self.intern(&name);
        if self.eat(Tok::Colon) {
            let line = self.plain_integer("a line number")?;
            self.expect(Tok::Colon, "before the column")?;
            let column = self.plain_integer("a column number")?;
            return Ok(Location::File { file: name, line, column });
        }
        let mut child = Location::Unknown;
        if self.eat(Tok::LParen) {
            child = self.location_body()?;
            self.expect(Tok::RParen, "after the child location")?;
        }
        Ok(Location::Named { name, child: Arc::new(child) })
    }

    fn callsite(&mut self) -> Parsed<Location> {
        self.expect(Tok::LParen, "after 'callsite'")?;
        let callee = Arc::new(self.location_body()?);
        self.expect_word("at")?;
        let caller = Arc::new(self.location_body()?);
        self.expect(Tok::RParen, "after the caller")?;
        Ok(Location::CallSite { callee, caller })
    }

    fn fused(&mut self) -> Parsed<Location> {
        let mut metadata = None;
        if self.eat(Tok::Less) {
            metadata = Some(Arc::new(self.attribute(None)?));
            self.expect(Tok::Greater, "after the metadata")?;
        }
        self.expect(Tok::LSquare, "after 'fused'")?;
        let mut locations = Vec::new();
        self.list_until(Tok::RSquare, |parser| {
            locations.push(parser.location_body()?);
            Ok(())
        })?;
        Ok(Location::Fused { metadata, locations: locations.into() })
    }
}
