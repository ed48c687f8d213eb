//! Operands of instructions, and the resolution of names in them.

use super::{Body, Failed, Global, Parser};
use crate::syntax::{
    ast::{Immediate, Operand, RegisterId, Selector, Symbol, VariableId},
    lexer::{Tok, Token},
    scope::{Entry, Family, Found},
    types::{Axis, SpecialRegister, SpecialRegisterName, Type},
};

/// Stands for an undeclared register. The module is never returned in that case.
pub(super) const UNDECLARED: RegisterId = RegisterId(u32::MAX);

/// The meaning of a name in an operand.
#[derive(Clone, Copy)]
pub(super) enum Named {
    Entry(Entry),
    Symbol(Symbol),
    Special(SpecialRegisterName),
}

impl<'s> Parser<'s> {
    /// Parses operands up to the end of the statement.
    pub(super) fn operands(&mut self, body: &mut Body<'s>, opcode: &str) -> Result<Vec<Operand>, Failed> {
        let mut operands = Vec::new();
        if matches!(self.token.kind, Tok::Semicolon | Tok::RBrace | Tok::Eof) {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand(body, opcode)?);
            if !self.accept(Tok::Comma) {
                return Ok(operands);
            }
        }
    }

    fn operand(&mut self, body: &mut Body<'s>, opcode: &str) -> Result<Operand, Failed> {
        let kind = self.token.kind;
        match kind {
            Tok::LSquare => self.address(body, opcode),
            Tok::LBrace => self.vector(body, opcode),
            Tok::Word if opcode == "bra" => Ok(Operand::Label(self.label_reference(body)?)),
            Tok::Word if self.token.text != "WARP_SZ" => {
                let operand = self.word(body, opcode)?;
                self.pair(body, operand)
            }
            Tok::Bang if self.peek().kind == Tok::Word => {
                self.bump();
                Ok(Operand::Not(self.predicate(body)?))
            }
            Tok::Minus if self.peek().kind == Tok::Word && self.peek().text != "WARP_SZ" => {
                self.negated(body)
            }
            _ => Ok(Operand::Immediate(self.constant()?)),
        }
    }

    /// Parses the second part of `%p1|%p2`, if there is one.
    fn pair(&mut self, body: &mut Body<'s>, first: Operand) -> Result<Operand, Failed> {
        if !self.is(Tok::Pipe) || !matches!(first, Operand::Register(_) | Operand::Sink) {
            return Ok(first);
        }
        self.bump();
        let second = if self.is_word("_") {
            self.bump();
            Operand::Sink
        } else {
            Operand::Register(self.register(body, "a register")?)
        };
        Ok(Operand::Pair(Box::new((first, second))))
    }

    /// Parses `{%f1, %f2, _, 1}`.
    fn vector(&mut self, body: &mut Body<'s>, opcode: &str) -> Result<Operand, Failed> {
        self.bump();
        self.open_braces += 1;
        let mut elements = Vec::new();
        loop {
            let span = self.token.span;
            let element = match self.token.kind {
                Tok::LBrace | Tok::LSquare => return self.unexpected("a register or a constant"),
                _ => self.operand(body, opcode)?,
            };
            match element {
                Operand::Register(_) | Operand::Immediate(_) | Operand::Sink | Operand::Special(_) => {}
                _ => self.report(span, "a vector consists of registers and constants"),
            }
            elements.push(element);
            if !self.accept(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::RBrace, "',' or '}'")?;
        self.open_braces -= 1;
        Ok(Operand::Vector(elements.into()))
    }

    /// Parses `-%r1` or `-%r1.b0`, operands of video instructions.
    fn negated(&mut self, body: &mut Body<'s>) -> Result<Operand, Failed> {
        self.bump();
        let register = self.register(body, "a register")?;
        let selector = if self.is(Tok::Dotted) { Some(self.selector()?) } else { None };
        Ok(Operand::Selected { register, negated: true, selector })
    }

    fn selector(&mut self) -> Result<Selector, Failed> {
        let token = self.token;
        match selector_of(token.text) {
            Some(selector) => {
                self.bump();
                Ok(selector)
            }
            None => self.fail(token.span, format!("a scalar register has no component {}", token.describe())),
        }
    }

    /// Parses an operand that begins with a name.
    fn word(&mut self, body: &mut Body<'s>, opcode: &str) -> Result<Operand, Failed> {
        let token = self.token;
        self.bump();
        if token.text == "_" {
            return Ok(Operand::Sink);
        }
        match self.resolve(body, token) {
            Named::Entry(Entry::Register(register)) if self.is(Tok::Dotted) => {
                let selector = Some(self.selector()?);
                Ok(Operand::Selected { register, negated: false, selector })
            }
            Named::Entry(Entry::Register(register)) => Ok(Operand::Register(register)),
            Named::Entry(Entry::VectorRegister { first, width }) => self.vector_register(first, width),
            Named::Entry(Entry::BranchTable(table)) if opcode == "brx" => Ok(Operand::BranchTable(table)),
            Named::Entry(Entry::Undeclared) => {
                if self.is(Tok::Dotted) {
                    self.bump();
                }
                Ok(Operand::Register(UNDECLARED))
            }
            Named::Entry(entry) => {
                self.report_wrong_meaning(token, "an operand of this instruction", entry);
                Ok(Operand::Sink)
            }
            Named::Symbol(symbol) => self.symbol(token, symbol, opcode),
            Named::Special(name) => self.special(token, name),
        }
    }

    /// Parses the rest of `v` or `v.x`, where `v` is a vector register.
    fn vector_register(&mut self, first: RegisterId, width: u32) -> Result<Operand, Failed> {
        let component = |index: u32| Operand::Register(RegisterId(first.0 + index));
        if !self.is(Tok::Dotted) {
            return Ok(Operand::Vector((0..width).map(component).collect()));
        }
        let token = self.token;
        match component_index(token.text).filter(|&index| index < width) {
            Some(index) => {
                self.bump();
                Ok(component(index))
            }
            None => {
                let message = format!("a vector of {width} registers has no component {}", token.describe());
                self.fail(token.span, message)
            }
        }
    }

    /// Parses the rest of `%laneid`, `%tid.x` or `%tid`.
    fn special(&mut self, token: Token<'s>, name: SpecialRegisterName) -> Result<Operand, Failed> {
        // The component `.w` is always 0.
        let component = |register: fn(Axis) -> SpecialRegister, index: u32| match index {
            0 => Operand::Special(register(Axis::X)),
            1 => Operand::Special(register(Axis::Y)),
            2 => Operand::Special(register(Axis::Z)),
            _ => Operand::Immediate(Immediate::Integer { bits: 0, unsigned: false }),
        };
        match name {
            SpecialRegisterName::Scalar(_) if self.is(Tok::Dotted) => {
                let message = format!("{} has no component {}", token.describe(), self.token.describe());
                self.fail(self.token.span, message)
            }
            SpecialRegisterName::Scalar(register) => Ok(Operand::Special(register)),
            SpecialRegisterName::Axes(register) if self.is(Tok::Dotted) => {
                let Some(index) = component_index(self.token.text) else {
                    let message = format!("{} has no component {}", token.describe(), self.token.describe());
                    return self.fail(self.token.span, message);
                };
                self.bump();
                Ok(component(register, index))
            }
            SpecialRegisterName::Axes(register) => {
                Ok(Operand::Vector((0..4).map(|index| component(register, index)).collect()))
            }
        }
    }

    /// Parses the name of a register, where only a register is allowed.
    pub(super) fn register(&mut self, body: &mut Body<'s>, what: &str) -> Result<RegisterId, Failed> {
        let token = self.expect(Tok::Word, what)?;
        match self.resolve(body, token) {
            Named::Entry(Entry::Register(id)) => return Ok(id),
            Named::Entry(Entry::VectorRegister { first, width }) if self.is(Tok::Dotted) => {
                if let Operand::Register(id) = self.vector_register(first, width)? {
                    return Ok(id);
                }
            }
            Named::Entry(Entry::Undeclared) => {}
            Named::Entry(entry) => self.report_wrong_meaning(token, what, entry),
            Named::Symbol(_) => {
                self.report(token.span, format!("{} is an address, not {what}", token.describe()));
            }
            Named::Special(_) => {
                self.report(token.span, format!("{} is a special register, not {what}", token.describe()));
            }
        }
        Ok(UNDECLARED)
    }

    /// Returns the meaning of a name. Reports an undeclared name once.
    pub(super) fn resolve(&mut self, body: &mut Body<'s>, token: Token<'s>) -> Named {
        let near = match body.scopes.find(token.text) {
            Found::Entry(Entry::Variable(id)) => return Named::Symbol(Symbol::Variable(id)),
            Found::Entry(Entry::Parameter(index)) => return Named::Symbol(Symbol::Parameter(index)),
            Found::Entry(Entry::Return(index)) => return Named::Symbol(Symbol::Return(index)),
            Found::Entry(entry) => return Named::Entry(entry),
            Found::Member(family, depth) => {
                let entry = body.new_register(token.text, family.ty, family.width, family.span);
                // It was not found, so it cannot already be declared.
                let _ = body.scopes.declare_at(depth, token.text, entry, family.span);
                return Named::Entry(entry);
            }
            Found::Nothing(near) => near,
        };
        match self.globals.get(token.text) {
            Some(&Global::Variable(id)) => return Named::Symbol(Symbol::Variable(id)),
            Some(&Global::Function(id)) => return Named::Symbol(Symbol::Function(id)),
            None => {}
        }
        if let Some(special) = token.text.strip_prefix('%').and_then(SpecialRegister::from_name) {
            return Named::Special(special);
        }
        self.report_undeclared(token, near);
        body.scopes.set_undeclared(token.text, token.span);
        Named::Entry(Entry::Undeclared)
    }

    fn report_undeclared(&mut self, token: Token<'s>, near: Option<(&'s str, Family)>) {
        let hint = match near {
            Some((name, Family { count: 0, .. })) => format!(": '{name}<0>' declares none"),
            Some((name, family)) => {
                let last = family.count - 1;
                format!(": '{name}<{}>' declares {name}0 to {name}{last}", family.count)
            }
            None if SpecialRegister::from_name(token.text).is_some() => {
                format!("; did you mean '%{}'?", token.text)
            }
            None => String::new(),
        };
        self.report(token.span, format!("{} is not declared{hint}", token.describe()));
    }

    /// Returns the type of a register, or `None` if it is not declared.
    pub(super) fn register_type(body: &Body<'s>, id: RegisterId) -> Option<Type> {
        Some(body.registers.get(id.index())?.ty)
    }

    /// Returns the size of an element of a variable, the unit of an index into it.
    pub(super) fn element_bytes(&self, id: VariableId) -> u64 {
        let layout = &self.module.variables[id.index()].layout;
        u64::from(layout.element.bytes() * layout.vector)
    }
}

/// Parses a selector: `b0`, `h10`, `b7654`.
fn selector_of(name: &str) -> Option<Selector> {
    let (bytes, digits, numbers) = match name.split_at_checked(1)? {
        ("b", digits) => (true, digits, b'0'..b'8'),
        ("h", digits) => (false, digits, b'0'..b'4'),
        _ => return None,
    };
    let mut parts = [0; 4];
    let count = digits.len();
    if !(1..=if bytes { 4 } else { 2 }).contains(&count)
        || !digits.bytes().all(|digit| numbers.contains(&digit))
    {
        return None;
    }
    for (part, digit) in parts.iter_mut().zip(digits.bytes().rev()) {
        *part = digit - b'0';
    }
    Some(match (bytes, count, parts[0]) {
        (true, 1, byte @ 0..4) => Selector::Byte(byte),
        (false, 1, half @ 0..2) => Selector::Half(half),
        (_, 1, _) => return None,
        _ => Selector::Several { bytes, count: count as u8, parts },
    })
}

/// Returns the index of a vector's component that `.x` or `.r` stands for.
fn component_index(name: &str) -> Option<u32> {
    match name {
        "x" | "r" => Some(0),
        "y" | "g" => Some(1),
        "z" | "b" => Some(2),
        "w" | "a" => Some(3),
        _ => None,
    }
}
