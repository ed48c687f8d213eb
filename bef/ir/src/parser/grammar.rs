//! What grammars in code read that no other file of the parser offers: punctuation, strings, and
//! operations within operations.

use super::{Parsed, Parser};
use crate::lexer::{Tok, unescape};
use crate::{FunctionType, Module, Name, OpId, OpRegistry, RegionId, Type};

/// The token that this punctuation is.
fn punctuation(text: &str) -> Option<Tok> {
    Some(match text {
        "(" => Tok::LParen,
        ")" => Tok::RParen,
        "[" => Tok::LSquare,
        "]" => Tok::RSquare,
        "," => Tok::Comma,
        ":" => Tok::Colon,
        "=" => Tok::Equal,
        "->" => Tok::Arrow,
        _ => return None,
    })
}

impl Parser<'_, '_> {
    /// The module as far as it was parsed.
    pub fn module(&mut self) -> &mut Module {
        &mut self.module
    }

    /// The operations that are known.
    pub fn registry(&self) -> &OpRegistry {
        self.registry
    }

    /// Takes the current token if it is this punctuation, one of `(` `)` `[` `]` `,` `:` `=` `->`.
    pub fn eat_punctuation(&mut self, text: &str) -> bool {
        punctuation(text).is_some_and(|token| self.eat(token))
    }

    /// Takes the current token, which must be this punctuation. `context` says where it stands, as
    /// "after the name".
    pub fn expect_punctuation(&mut self, text: &str, context: &str) -> Parsed<()> {
        if self.eat_punctuation(text) {
            return Ok(());
        }
        Err(self.unexpected(&format!("'{text}' {context}")))
    }

    /// A string without its quotes and escapes, which must be UTF-8.
    pub fn string(&mut self, what: &str) -> Parsed<Name> {
        if !self.at(Tok::String) {
            return Err(self.unexpected(what));
        }
        let span = self.bump().span;
        match String::from_utf8(unescape(self.bytes(span))) {
            Ok(text) => Ok(self.intern(&text)),
            Err(_) => Err(self.error(span, format!("{what} must be UTF-8"))),
        }
    }

    /// An integer without a sign that fits 32 bits.
    pub fn integer(&mut self, what: &str) -> Parsed<u32> {
        self.plain_integer(what)
    }

    /// Whether the current token begins a region.
    pub fn at_region(&self) -> bool {
        self.at(Tok::LBrace)
    }

    /// Whether the current token begins a function type.
    pub fn at_function_type(&self) -> bool {
        self.at(Tok::LParen)
    }

    /// A function type, or the types of a list as neither.
    ///
    /// # Errors
    /// Text that is neither.
    pub fn types_or_function(&mut self) -> Parsed<Result<FunctionType, Vec<Type>>> {
        if self.at_function_type() { self.function_type().map(Ok) } else { self.type_list().map(Err) }
    }

    /// One operation without result names, alone in the block of a new region; outer names are
    /// visible inside.
    ///
    /// # Errors
    /// Text that is no operation.
    pub fn wrapped_op(&mut self) -> Parsed<(RegionId, OpId)> {
        let region = self.module.create_region();
        let block = self.module.create_block(region, &[]);
        self.push_frame();
        let op = self.nested(|parser| {
            if parser.at(Tok::Value) {
                let span = parser.span();
                return Err(parser.error(span, "the results of a wrapped operation have no names here"));
            }
            parser.statement(block)
        });
        self.pop_frame();
        Ok((region, op?))
    }
}
