//! Instructions: guard, opcode, modifiers, operands.

use super::{Body, Failed, Parser};
use crate::syntax::{
    MAX_INSTRUCTIONS,
    ast::{Guard, Instruction},
    lexer::Tok,
    types::Type,
};

impl<'s> Parser<'s> {
    /// Parses `@%p1 add.s32 %r1, %r2, 1;`.
    pub(super) fn instruction(&mut self, body: &mut Body<'s>) -> Result<(), Failed> {
        let guard = if self.is(Tok::At) { Some(self.guard(body)?) } else { None };
        let opcode = self.expect(Tok::Word, "an instruction")?;
        let mut modifiers = Vec::new();
        while self.is(Tok::Dotted) {
            modifiers.push(self.token.text);
            self.bump();
        }
        let operands = match opcode.text {
            "call" => vec![self.call(body)?],
            _ => self.operands(body, opcode.text)?,
        };
        self.expect_semicolon()?;
        self.instructions += 1;
        if self.instructions > MAX_INSTRUCTIONS {
            return self.fail(opcode.span, format!("a module has at most {MAX_INSTRUCTIONS} instructions"));
        }
        body.instructions.push(Instruction {
            guard,
            opcode: opcode.text,
            modifiers: modifiers.into(),
            operands: operands.into(),
            span: opcode.span,
            source: body.location,
        });
        Ok(())
    }

    /// Parses `@%p1` or `@!%p1`.
    fn guard(&mut self, body: &mut Body<'s>) -> Result<Guard, Failed> {
        self.bump();
        let negated = self.accept(Tok::Bang);
        let register = self.predicate(body)?;
        Ok(Guard { negated, register })
    }

    /// Parses a register that must be a predicate.
    pub(super) fn predicate(
        &mut self,
        body: &mut Body<'s>,
    ) -> Result<crate::syntax::ast::RegisterId, Failed> {
        let token = self.token;
        let id = self.register(body, "a predicate")?;
        // An undeclared register has no type.
        if let Some(register) = body.registers.get(id.index())
            && register.ty != Type::Pred
        {
            let message = format!("{} is of type {}, not a predicate", token.describe(), register.ty);
            self.report(token.span, message);
        }
        Ok(id)
    }
}
