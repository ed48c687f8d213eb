//! Operands that are addresses: `x`, `x+4`, `x[1]`, `[x]`, `[%rd1+4]`.

use super::{Body, Failed, Parser, operand::Named};
use crate::syntax::{
    ast::{AddressBase, Operand, Symbol},
    lexer::{Tok, Token},
    scope::Entry,
    types::Type,
};

impl<'s> Parser<'s> {
    /// Parses `[%rd1+4]`, `[x]` or `[16]`.
    pub(super) fn address(&mut self, body: &mut Body<'s>, opcode: &str) -> Result<Operand, Failed> {
        self.bump();
        let (base, offset) = if self.is(Tok::Word) && self.token.text != "WARP_SZ" {
            let token = self.token;
            self.bump();
            let base = self.address_base(body, token)?;
            (base, self.offset()?)
        } else {
            (AddressBase::Zero, self.constant_integer()?)
        };
        if self.is(Tok::Comma) {
            let message = format!("'{opcode}' of a texture or a tensor is not supported");
            return self.fail(self.token.span, message);
        }
        self.expect(Tok::RSquare, "'+' or ']'")?;
        Ok(Operand::Address { base, offset })
    }

    fn address_base(&mut self, body: &mut Body<'s>, token: Token<'s>) -> Result<AddressBase, Failed> {
        match self.resolve(body, token) {
            Named::Entry(Entry::Register(id)) => {
                let ty = Self::register_type(body, id).unwrap_or(Type::B64);
                if !matches!(ty.bits(), 32 | 64) || ty.is_float() {
                    let message = format!("{} is of type {ty} and cannot be an address", token.describe());
                    self.report(token.span, message);
                }
                Ok(AddressBase::Register(id))
            }
            Named::Entry(Entry::Undeclared) => Ok(AddressBase::Zero),
            Named::Symbol(symbol) => Ok(AddressBase::Symbol(symbol)),
            Named::Entry(entry) => {
                self.report_wrong_meaning(token, "an address", entry);
                Ok(AddressBase::Zero)
            }
            Named::Special(_) => {
                self.report(token.span, format!("{} cannot be an address", token.describe()));
                if self.is(Tok::Dotted) {
                    self.bump();
                }
                Ok(AddressBase::Zero)
            }
        }
    }

    /// Parses an offset, `+4` or `-4`, if there is one.
    pub(super) fn offset(&mut self) -> Result<i64, Failed> {
        match self.token.kind {
            // The sign belongs to a constant expression.
            Tok::Plus | Tok::Minus => self.constant_integer(),
            _ => Ok(0),
        }
    }

    /// Parses what follows the name of a variable, a parameter or a function: an index, an offset,
    /// or nothing.
    pub(super) fn symbol(
        &mut self,
        token: Token<'s>,
        symbol: Symbol,
        opcode: &str,
    ) -> Result<Operand, Failed> {
        if !self.is(Tok::LSquare) {
            return Ok(Operand::Symbol { symbol, offset: self.offset()? });
        }
        let Symbol::Variable(id) = symbol else {
            return self.fail(self.token.span, format!("{} is no array", token.describe()));
        };
        self.bump();
        if self.is(Tok::Word) && self.token.text != "WARP_SZ" {
            return self.fail(self.token.span, "an index must be constant; compute the address instead");
        }
        let index = self.constant_integer()?;
        self.expect(Tok::RSquare, "']'")?;
        let offset = index.wrapping_mul(self.element_bytes(id) as i64);
        if matches!(opcode, "mov" | "cvta" | "cvt" | "add") {
            return Ok(Operand::Symbol { symbol, offset });
        }
        Ok(Operand::Address { base: AddressBase::Symbol(symbol), offset })
    }
}
