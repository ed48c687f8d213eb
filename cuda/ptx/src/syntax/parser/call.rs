//! Calls, checked against the callee's signature.

use super::{Body, Failed, Parser, operand::Named};
use crate::{
    Span,
    syntax::{
        ast::{Call, CallTarget, Layout, Operand, Parameter, ParameterStorage, Signature, Symbol},
        lexer::Tok,
        scope::Entry,
        types::{Space, Type},
    },
};

/// The operands of a call, each with its place.
type CallOperands = Vec<(Operand, Span)>;

impl<'s> Parser<'s> {
    /// Parses `(r), f, (a, b), prototype`: everything after `call`.
    pub(super) fn call(&mut self, body: &mut Body<'s>) -> Result<Operand, Failed> {
        let span = self.token.span;
        let mut results = CallOperands::new();
        if self.is(Tok::LParen) {
            results = self.call_operands(body)?;
            self.expect(Tok::Comma, "','")?;
        }
        let target = self.expect(Tok::Word, "what is called")?;
        let callee = self.resolve(body, target);
        let mut arguments = CallOperands::new();
        let mut comma = self.accept(Tok::Comma);
        if comma && self.is(Tok::LParen) {
            arguments = self.call_operands(body)?;
            comma = self.accept(Tok::Comma);
        }
        let through =
            if comma { Some(self.expect(Tok::Word, "a prototype or a list of targets")?) } else { None };
        let target = match callee {
            Named::Symbol(Symbol::Function(id)) => {
                let function = &self.module.functions[id.index()];
                if function.is_entry {
                    self.report(
                        target.span,
                        format!("{} is a kernel and cannot be called", target.describe()),
                    );
                }
                CallTarget::Direct(id)
            }
            Named::Entry(Entry::Register(register)) => {
                let Some(through) = through else {
                    return self.fail(
                        target.span,
                        "a call through a register needs a prototype or a list of targets",
                    );
                };
                match self.resolve(body, through) {
                    Named::Entry(Entry::Prototype(id)) => CallTarget::Prototype(register, id),
                    Named::Entry(Entry::CallTable(id)) => CallTarget::Table(register, id),
                    Named::Entry(Entry::Undeclared) => return Ok(Operand::Sink),
                    _ => {
                        let message =
                            format!("{} is no prototype and no list of targets", through.describe());
                        return self.fail(through.span, message);
                    }
                }
            }
            Named::Entry(Entry::Undeclared) => return Ok(Operand::Sink),
            _ => return self.fail(target.span, format!("{} cannot be called", target.describe())),
        };
        self.check_call(body, target, &results, &arguments, span);
        let operands = |passed: CallOperands| passed.into_iter().map(|(operand, _)| operand).collect();
        let call = Call { results: operands(results), target, arguments: operands(arguments) };
        Ok(Operand::Call(Box::new(call)))
    }

    /// Parses `(a, 1, _)`.
    fn call_operands(&mut self, body: &mut Body<'s>) -> Result<CallOperands, Failed> {
        self.bump();
        let mut operands = CallOperands::new();
        while !self.is(Tok::RParen) {
            if !operands.is_empty() {
                self.expect(Tok::Comma, "',' or ')'")?;
            }
            let span = self.token.span;
            operands.push((self.call_operand(body)?, span));
        }
        self.bump();
        Ok(operands)
    }

    fn call_operand(&mut self, body: &mut Body<'s>) -> Result<Operand, Failed> {
        let token = self.token;
        if token.kind != Tok::Word || token.text == "WARP_SZ" {
            return Ok(Operand::Immediate(self.constant()?));
        }
        self.bump();
        if token.text == "_" {
            return Ok(Operand::Sink);
        }
        match self.resolve(body, token) {
            Named::Entry(Entry::Register(id)) => return Ok(Operand::Register(id)),
            Named::Entry(Entry::Undeclared) => {}
            Named::Symbol(symbol) if symbol.space(&self.module) == Some(Space::Param) => {
                return Ok(Operand::Symbol { symbol, offset: 0 });
            }
            _ => {
                let message = format!(
                    "{} cannot be passed: pass registers, constants and .param variables",
                    token.describe()
                );
                self.report(token.span, message);
            }
        }
        Ok(Operand::Sink)
    }

    fn check_call(
        &mut self,
        body: &Body<'s>,
        target: CallTarget,
        results: &CallOperands,
        arguments: &CallOperands,
        span: Span,
    ) {
        let (name, signature) = match target {
            CallTarget::Direct(id) => {
                let function = &self.module.functions[id.index()];
                (function.name, &function.signature)
            }
            CallTarget::Prototype(_, id) => {
                let prototype = &body.prototypes[id.index()];
                (prototype.name, &prototype.signature)
            }
            CallTarget::Table(_, id) => {
                let table = &body.call_tables[id.index()];
                let Some(first) = table.targets.first() else { return };
                (table.name, &self.module.functions[first.index()].signature)
            }
        };
        let problems = self.call_problems(body, name, signature, results, arguments, span);
        for (span, message) in problems {
            self.report(span, message);
        }
    }

    fn call_problems(
        &self,
        body: &Body<'s>,
        name: &str,
        signature: &Signature<'s>,
        results: &CallOperands,
        arguments: &CallOperands,
        span: Span,
    ) -> Vec<(Span, String)> {
        let mut problems = Vec::new();
        let lists = [("returns", results, &signature.returns), ("takes", arguments, &signature.parameters)];
        for (verb, passed, declared) in lists {
            let variable_count = declared.last().is_some_and(Parameter::is_unsized);
            let fits =
                passed.len() == declared.len() || (variable_count && passed.len() + 1 == declared.len());
            if !fits {
                let count = declared.len();
                let plural = if count == 1 { "" } else { "s" };
                let message = format!("'{name}' {verb} {count} value{plural}, not {}", passed.len());
                problems.push((span, message));
                continue;
            }
            for ((operand, span), parameter) in passed.iter().zip(declared) {
                if !self.can_pass(body, operand, parameter, verb == "returns") {
                    let message = format!("'{name}' {verb} another type as '{}'", parameter.name);
                    problems.push((*span, message));
                }
            }
        }
        problems
    }

    /// Returns whether the operand can be passed for the parameter.
    fn can_pass(
        &self,
        body: &Body<'s>,
        operand: &Operand,
        parameter: &Parameter<'s>,
        returned: bool,
    ) -> bool {
        let layout = match parameter.storage {
            ParameterStorage::Memory(layout) => layout,
            ParameterStorage::Register(element, _) => Layout {
                element,
                vector: 1,
                count: 1,
                is_array: false,
                is_unsized: false,
                align: element.bytes(),
            },
        };
        match operand {
            Operand::Symbol { symbol, .. } => {
                let Some(passed) = self.symbol_layout(body, *symbol) else { return false };
                layout.is_unsized || passed.bytes() == layout.bytes()
            }
            Operand::Register(id) => {
                let Some(ty) = Self::register_type(body, *id) else { return true };
                let same = ty.bits() == layout.element.bits();
                // Registers narrower than 16 bits are rare: a byte is usually passed in a wider
                // register.
                let wider = layout.element.bits() < 32 && ty.bits() > layout.element.bits();
                let predicates = (ty == Type::Pred) == (layout.element == Type::Pred);
                !layout.is_array && predicates && (same || wider)
            }
            Operand::Immediate(_) => !layout.is_array && !returned,
            _ => returned,
        }
    }

    fn symbol_layout(&self, body: &Body<'s>, symbol: Symbol) -> Option<Layout> {
        let signature = &self.module.functions[body.function.index()].signature;
        let parameter = match symbol {
            Symbol::Variable(id) => return Some(self.module.variables[id.index()].layout),
            Symbol::Parameter(index) => &signature.parameters[index as usize],
            Symbol::Return(index) => &signature.returns[index as usize],
            Symbol::Function(_) => return None,
        };
        match parameter.storage {
            ParameterStorage::Memory(layout) => Some(layout),
            ParameterStorage::Register(..) => None,
        }
    }
}
