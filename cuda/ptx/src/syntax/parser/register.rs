//! Declarations of registers.

use super::{Body, Failed, Parser};
use crate::syntax::{
    ast::{Register, RegisterId},
    lexer::{Tok, Token},
    scope::{Entry, Family},
    types::Type,
};

/// The greatest number of registers in one declaration.
const MAX_FAMILY: u64 = 1 << 32;

impl<'s> Parser<'s> {
    /// Parses `.reg .v2 .b32 %r<10>, a, b;`.
    pub(super) fn registers(&mut self, body: &mut Body<'s>) -> Result<(), Failed> {
        self.bump();
        let layout = self.layout_before_name()?;
        // ptxas accepts a declaration without names.
        if self.accept(Tok::Semicolon) {
            return Ok(());
        }
        loop {
            let name = self.expect_name("the name of a register")?;
            if self.accept(Tok::Less) {
                self.register_family(body, name, layout.element, layout.vector)?;
            } else {
                let entry = body.new_register(name.text, layout.element, layout.vector, name.span);
                if let Err(place) = body.scopes.declare(name.text, entry, name.span) {
                    self.report(name.span, format!("{} is declared twice; see {place}", name.describe()));
                }
            }
            if !self.accept(Tok::Comma) {
                return self.expect_semicolon();
            }
        }
    }

    /// Parses `10>`, which follows `%r<`. The registers are created when they are used.
    fn register_family(
        &mut self,
        body: &mut Body<'s>,
        name: Token<'s>,
        ty: Type,
        width: u32,
    ) -> Result<(), Failed> {
        let span = self.token.span;
        let count = self.expect_u64("how many registers there are")?;
        if count > MAX_FAMILY {
            return self.fail(span, format!("{count} registers are too many"));
        }
        self.expect(Tok::Greater, "'>'")?;
        if let Err(place) =
            body.scopes.declare_family(name.text, Family { ty, width, count, span: name.span })
        {
            self.report(name.span, format!("'{}<…>' is declared twice; see {place}", name.text));
        }
        Ok(())
    }
}

impl<'s> Body<'s> {
    /// Adds a register, or one for each component of a vector.
    pub(super) fn new_register(&mut self, name: &'s str, ty: Type, width: u32, span: crate::Span) -> Entry {
        let first = RegisterId(self.registers.len() as u32);
        for _ in 0..width {
            self.add_register(Register { name, ty, span });
        }
        if width == 1 { Entry::Register(first) } else { Entry::VectorRegister { first, width } }
    }
}
