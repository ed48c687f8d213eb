//! Lists of parameters, of functions and of prototypes.

use std::collections::HashSet;

use super::{Failed, Parser};
use crate::syntax::{
    ast::{Parameter, ParameterStorage, PointerAttribute, RegisterId},
    lexer::Tok,
    types::Space,
};

impl<'s> Parser<'s> {
    /// Parses `(.param .u64 a, .reg .u32 b)`. Registers among the parameters are numbered from
    /// `registers` on.
    pub(super) fn parameters(
        &mut self,
        registers: u32,
        in_prototype: bool,
    ) -> Result<Vec<Parameter<'s>>, Failed> {
        self.expect(Tok::LParen, "'('")?;
        let mut parameters = Vec::new();
        let mut names = HashSet::new();
        let mut register = RegisterId(registers);
        while !self.is(Tok::RParen) {
            if !parameters.is_empty() {
                self.expect(Tok::Comma, "',' or ')'")?;
            }
            let parameter = self.parameter(register, in_prototype)?;
            if let ParameterStorage::Register(..) = parameter.storage {
                register.0 += 1;
            }
            if parameter.name != "_" && !names.insert(parameter.name) {
                self.report(parameter.span, format!("two parameters are called '{}'", parameter.name));
            }
            parameters.push(parameter);
        }
        self.bump();
        if let Some(parameter) = parameters.iter().rev().skip(1).find(|parameter| parameter.is_unsized()) {
            self.report(parameter.span, "only the last parameter may be without a size");
        }
        Ok(parameters)
    }

    fn parameter(&mut self, register: RegisterId, in_prototype: bool) -> Result<Parameter<'s>, Failed> {
        let in_register = self.is_dotted("reg");
        if !in_register && !self.is_dotted("param") {
            return self.unexpected("'.param' or '.reg'");
        }
        self.bump();
        let mut layout = self.layout_before_name()?;
        let pointer = if self.is_dotted("ptr") { Some(self.pointer_attribute()?) } else { None };
        let token = if in_prototype && self.is_word("_") {
            let token = self.token;
            self.bump();
            token
        } else {
            self.expect_name("the name of a parameter")?
        };
        let dimensions = self.layout_behind_name(&mut layout)?;
        let unsized_inside = layout.is_unsized && dimensions.len() > 1;
        if layout.vector > 1 || unsized_inside {
            self.report(token.span, "a parameter is a scalar or an array of scalars");
        }
        if !in_register && layout.element == crate::syntax::types::Type::Pred {
            self.report(token.span, "predicates are in registers only");
        }
        let storage = match in_register {
            true if layout.is_array => return self.fail(token.span, "a register is no array"),
            true => ParameterStorage::Register(layout.element, register),
            false => ParameterStorage::Memory(layout),
        };
        Ok(Parameter { name: token.text, span: token.span, storage, pointer })
    }

    /// Parses `.ptr .global .align 16`.
    fn pointer_attribute(&mut self) -> Result<PointerAttribute, Failed> {
        self.bump();
        let mut attribute = PointerAttribute { space: None, align: 0 };
        while self.is(Tok::Dotted) {
            let token = self.token;
            if token.text == "align" {
                attribute.align = self.alignment()?;
            } else if let Some(space) = Space::from_word(token.text) {
                self.bump();
                attribute.space = Some(space);
            } else {
                return self.fail(
                    token.span,
                    format!("expected a state space or '.align', found {}", token.describe()),
                );
            }
        }
        Ok(attribute)
    }
}
