//! Statements: operations in generic form, their results, regions and blocks.

use std::collections::HashMap;

use super::scope::MAX_RESULTS;
use super::{Failed, Parsed, Parser};
use crate::assembly::Assembly;
use crate::lexer::{Tok, Token, unescape};
use crate::module::OpState;
use crate::source::Span;
use crate::{Attribute, BlockId, Location, Name, OpId, RegionId, Type, ValueId};

/// A use of a value by name that has not been resolved yet: `%x` or `%x#1`.
#[derive(Clone, Copy, Debug)]
pub struct UnresolvedOperand<'s> {
    /// The name without the `%`.
    pub(crate) name: &'s [u8],
    pub(crate) index: u32,
    pub(crate) span: Span,
}

/// A name before the `=` of a statement: `%x` or `%x:2`.
#[derive(Clone, Copy, Debug)]
struct ResultName<'s> {
    name: &'s [u8],
    count: u32,
    span: Span,
}

impl<'s> Parser<'s, '_> {
    /// Parses the whole text: operations of the top-level module, and aliases.
    pub(super) fn top_level(&mut self) {
        let body = self.module.body();
        while !self.at(Tok::Eof) && !self.gave_up() {
            let start = self.token.span.start;
            let result = match self.token.kind {
                Tok::Hash | Tok::Bang => self.alias_definition(),
                _ => self.statement(body).map(|_| ()),
            };
            if result.is_err() {
                self.all_symbols = false;
                self.recover(start);
                // A bracket that closes nothing would stop every attempt to continue.
                self.eat(Tok::RBrace);
            }
        }
        self.pop_isolated_scope();
        self.finish_top_level();
        if self.options.verify && !self.gave_up() {
            let found =
                crate::verify::verify_parsed(&self.module, self.registry, &self.broken, self.all_symbols);
            let wanted = if self.options.first_error_only { 1 } else { usize::MAX };
            for diagnostic in found.iter().take(wanted) {
                self.diagnostics.push(diagnostic.clone());
            }
        }
    }

    /// Unwraps a text that consists of one `module`: the result is that module, not one within
    /// another.
    fn finish_top_level(&mut self) {
        let body = self.module.body();
        if self.module.op_count(body) == 1
            && let Some(inner) = self.module.first_op(body)
            && self.module.op(inner).name == "module"
        {
            self.module.unwrap_inner_module(inner);
        }
    }

    /// Parses statements up to a `}`, a block label or the end.
    fn statements(&mut self, block: BlockId) {
        while !matches!(self.token.kind, Tok::Eof | Tok::RBrace | Tok::Caret) && !self.gave_up() {
            let start = self.token.span.start;
            if self.statement(block).is_err() {
                self.poison_results(start);
                self.recover(start);
            }
        }
    }

    /// Treats the results of a failed statement as defined.
    fn poison_results(&mut self, start: u32) {
        let (resume, last_end) = (self.token.span.start, self.last_end);
        self.seek(start);
        let mut names = Vec::new();
        while self.at(Tok::Value) && names.len() < MAX_RESULTS as usize {
            let span = self.bump().span;
            names.push((self.bytes(span).get(1..).unwrap_or_default(), span));
            if self.eat(Tok::Colon) {
                self.eat(Tok::Int);
            }
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        if self.at(Tok::Equal) {
            for (name, span) in names {
                self.poison(name, span);
            }
        }
        self.seek(resume);
        self.last_end = last_end;
    }

    /// Parses one operation with its result names and location, and appends it to `block`.
    pub(super) fn statement(&mut self, block: BlockId) -> Parsed<OpId> {
        let names = if self.at(Tok::Value) { self.result_names()? } else { Vec::new() };
        let Token { kind, span } = self.token;
        let errors = self.diagnostics.len() + self.diagnostics.dropped();
        let state = match kind {
            Tok::String => self.generic_op(),
            Tok::Bare => self.custom_op(),
            _ => Err(self.unexpected("an operation")),
        };
        let mut state = state?;
        if let Some(location) = self.optional_location()? {
            state.location = location;
        }
        let results = self.bind_results(&names, &state.result_types, span)?;
        let op = self.module.create_op_with_results(state, results);
        self.module.append_op(block, op);
        if self.diagnostics.len() + self.diagnostics.dropped() > errors && self.module.op(op).name == "func" {
            self.broken.insert(op);
        }
        Ok(op)
    }

    fn result_names(&mut self) -> Parsed<Vec<ResultName<'s>>> {
        let mut names = Vec::new();
        loop {
            let span = self.expect(Tok::Value, "to name a result")?.span;
            let mut count = 1;
            if self.eat(Tok::Colon) {
                let at = self.token.span;
                count = self.plain_integer("a number of results")?;
                if count == 0 || count > MAX_RESULTS {
                    return Err(
                        self.error(at, format!("expected a number of results from 1 to {MAX_RESULTS}"))
                    );
                }
            }
            let name = self.bytes(span).get(1..).unwrap_or_default();
            names.push(ResultName { name, count, span });
            if names.len() > MAX_RESULTS as usize {
                return Err(self.error(span, format!("an operation has at most {MAX_RESULTS} results")));
            }
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::Equal, "after the result names")?;
        Ok(names)
    }

    /// Returns values for the results: those that names refer to, and new ones.
    fn bind_results(
        &mut self,
        names: &[ResultName<'s>],
        types: &[Type],
        op_span: Span,
    ) -> Parsed<Vec<ValueId>> {
        if names.is_empty() {
            return Ok(types.iter().map(|ty| self.module.undefined_value(ty.clone())).collect());
        }
        let named: u64 = names.iter().map(|name| u64::from(name.count)).sum();
        if named != types.len() as u64 {
            let message = match types.len() {
                0 => "cannot name an operation with no results".to_owned(),
                count => format!("operation defines {count} results but was provided {named} to bind"),
            };
            return Err(self.error(op_span, message));
        }
        let mut values = Vec::with_capacity(types.len());
        let mut rest = types;
        let mut result = Ok(());
        for name in names {
            let (own, others) = rest.split_at((name.count as usize).min(rest.len()));
            rest = others;
            match self.define(name.name, name.span, own) {
                Ok(defined) => values.extend(defined),
                Err(failed) => result = Err(failed),
            }
        }
        result.map(|()| values)
    }

    /// Parses `"name"(operands) (regions)? {attributes}? : (types) -> types`.
    fn generic_op(&mut self) -> Parsed<OpState> {
        let span = self.bump().span;
        let name = unescape(self.bytes(span));
        let name = match String::from_utf8(name) {
            Ok(name) if !name.is_empty() => self.intern(&name),
            _ => return Err(self.error(span, "an operation's name must be UTF-8 and not empty")),
        };
        let mut state = OpState::new(name).at(self.source.location(span.start));
        let builtin =
            matches!(&*state.name, "func" | "func.func" | "builtin.func" | "module" | "builtin.module");
        if !builtin && !self.registry.accepts(&state.name, self.options.allow_unregistered) {
            let message = format!("operation '{}' is not registered", state.name);
            self.error(span, message);
        }
        self.expect(Tok::LParen, "before the operands")?;
        let mut operands = Vec::new();
        self.list_until(Tok::RParen, |parser| {
            operands.push(parser.operand()?);
            Ok(())
        })?;
        if self.at(Tok::LSquare) {
            let span = self.token.span;
            return Err(self.error(span, "successor blocks are not supported"));
        }
        let properties = if self.eat(Tok::Less) { self.properties()? } else { Vec::new() };
        if self.eat(Tok::LParen) {
            let isolated = matches!(&*state.name, "func" | "func.func" | "module" | "builtin.module");
            self.list_until(Tok::RParen, |parser| {
                state.regions.push(parser.scoped_region(isolated, &[])?);
                Ok(())
            })?;
        }
        state.attributes = self.optional_attr_dict()?;
        for (name, value) in properties {
            if state.attributes.set(&name, value).is_some() {
                self.error(span, format!("'{name}' is a property and an attribute of the operation"));
            }
        }
        self.expect(Tok::Colon, "before the operation's type")?;
        let at = self.token.span;
        let function = self.function_type()?;
        state.operands = self.resolve_all(&operands, &function.inputs, at)?;
        state.result_types = function.results;
        self.normalize_builtin(&mut state);
        Ok(state)
    }

    /// Parses the rest of `<{a = 1}>`, the attributes that MLIR keeps as properties of an operation.
    fn properties(&mut self) -> Parsed<Vec<(Name, Attribute)>> {
        let entries = self.attr_entries()?;
        self.expect(Tok::Greater, "after the properties")?;
        Ok(entries)
    }

    /// Parses an operation in the custom form of its name.
    fn custom_op(&mut self) -> Parsed<OpState> {
        let span = self.token.span;
        match self.text(span) {
            "func" | "func.func" | "builtin.func" => self.func_op(),
            "module" | "builtin.module" => self.module_op(),
            name => {
                let registry = self.registry;
                let Some(definition) = registry.get(name) else {
                    let hint = crate::suggest::hint(name, registry.names());
                    let message = format!("custom op '{name}' is unknown{hint}");
                    return Err(self.error(span, message));
                };
                let mut state = OpState::new(&definition.name).at(self.here());
                self.bump();
                match &definition.assembly {
                    Assembly::Generic | Assembly::Default => {
                        let message =
                            format!("operation '{name}' has no custom form; write it as \"{name}\"(…)");
                        return Err(self.error(span, message));
                    }
                    Assembly::Format(format) => format.parse(self, definition, &mut state)?,
                    Assembly::Custom(custom) => custom.parse(self, &mut state)?,
                }
                Ok(state)
            }
        }
    }

    /// Returns the location of the current token, for an operation that begins here.
    pub(crate) fn here(&self) -> Location {
        self.source.location(self.token.span.start)
    }

    /// Parses `%x` or `%x#1`.
    pub fn operand(&mut self) -> Parsed<UnresolvedOperand<'s>> {
        let span = self.expect(Tok::Value, "as operand")?.span;
        let name = self.bytes(span).get(1..).unwrap_or_default();
        let mut index = 0;
        let next = self.token;
        if next.kind == Tok::Hash && next.span.start == span.end {
            let digits = self.text(next.span).get(1..).unwrap_or_default();
            index = match digits.parse() {
                Ok(index) if index < MAX_RESULTS => index,
                _ => return Err(self.error(next.span, "expected a result number after '#'")),
            };
            self.bump();
        }
        Ok(UnresolvedOperand { name, index, span: Span { start: span.start, end: self.last_end } })
    }

    /// Parses `operand (',' operand)*`, or nothing.
    pub fn operand_list(&mut self) -> Parsed<Vec<UnresolvedOperand<'s>>> {
        let mut operands = Vec::new();
        if !self.at(Tok::Value) {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand()?);
            if !self.eat(Tok::Comma) {
                return Ok(operands);
            }
        }
    }

    /// Returns the values of operands of these types. A wrong number of operands is reported at
    /// `at`.
    pub fn resolve_all(
        &mut self,
        operands: &[UnresolvedOperand<'s>],
        types: &[Type],
        at: Span,
    ) -> Parsed<Vec<ValueId>> {
        if operands.len() != types.len() {
            let message = format!("{} operands present, but expected {}", operands.len(), types.len());
            return Err(self.error(at, message));
        }
        let mut values = Vec::with_capacity(operands.len());
        let mut result = Ok(());
        for (operand, ty) in operands.iter().zip(types) {
            match self.resolve(operand, ty) {
                Ok(value) => values.push(value),
                Err(failed) => result = Err(failed),
            }
        }
        result.map(|()| values)
    }

    /// Parses `{ … }` with one unlabelled block whose arguments have these names. No outer name is
    /// visible inside.
    ///
    /// # Errors
    /// If there is no region. Errors inside it are reported and leave it incomplete.
    pub fn isolated_region(&mut self, arguments: &[(UnresolvedOperand<'s>, Type)]) -> Parsed<RegionId> {
        self.region_with_block(true, arguments)
    }

    /// Parses `{ … }` with one unlabelled block whose arguments have these names. Outer names are
    /// visible inside.
    ///
    /// # Errors
    /// If there is no region. Errors inside it are reported and leave it incomplete.
    pub fn capturing_region(&mut self, arguments: &[(UnresolvedOperand<'s>, Type)]) -> Parsed<RegionId> {
        self.region_with_block(false, arguments)
    }

    fn region_with_block(
        &mut self,
        isolated: bool,
        arguments: &[(UnresolvedOperand<'s>, Type)],
    ) -> Parsed<RegionId> {
        let region = self.scoped_region(isolated, arguments)?;
        if self.module.region(region).blocks.is_empty() {
            self.module.create_block(region, &[]);
        }
        Ok(region)
    }

    /// Parses a region. If `isolated`, no outer name is visible inside.
    pub(super) fn scoped_region(
        &mut self,
        isolated: bool,
        arguments: &[(UnresolvedOperand<'s>, Type)],
    ) -> Parsed<RegionId> {
        self.expect(Tok::LBrace, "to begin a region")?;
        if isolated {
            self.push_isolated_scope();
        } else {
            self.push_frame();
        }
        let result = self.nested(|parser| parser.region_body(arguments));
        if isolated {
            self.pop_isolated_scope();
        } else {
            self.pop_frame();
        }
        let region = result?;
        self.expect(Tok::RBrace, "to end the region")?;
        Ok(region)
    }

    fn region_body(&mut self, arguments: &[(UnresolvedOperand<'s>, Type)]) -> Parsed<RegionId> {
        let region = self.module.create_region();
        let mut labels = HashMap::new();
        if !arguments.is_empty() || !matches!(self.token.kind, Tok::Caret | Tok::RBrace) {
            let block = self.module.create_block(region, &[]);
            for (name, ty) in arguments {
                self.block_argument(block, name, ty)?;
            }
            self.statements(block);
        }
        while self.at(Tok::Caret) && !self.gave_up() {
            let start = self.token.span.start;
            let block = self.module.create_block(region, &[]);
            if self.block_label(block, &mut labels).is_err() {
                self.recover(start);
            }
            self.statements(block);
        }
        Ok(region)
    }

    /// Parses `^name(%a: i32, …):`.
    fn block_label(&mut self, block: BlockId, labels: &mut HashMap<&'s [u8], Span>) -> Parsed<()> {
        let span = self.bump().span;
        if let Some(prior) = labels.insert(self.bytes(span), span) {
            let label = self.text(span);
            let prior = self.source.location(prior.start);
            let diagnostic = self
                .diagnostic(span, format!("redefinition of block '{label}'"))
                .note(prior, "previously defined here");
            self.report(diagnostic);
            return Err(Failed);
        }
        if self.eat(Tok::LParen) {
            self.list_until(Tok::RParen, |parser| {
                let name = parser.operand()?;
                parser.expect(Tok::Colon, "before the argument's type")?;
                let ty = parser.ty()?;
                parser.optional_location()?;
                parser.block_argument(block, &name, &ty)
            })?;
        }
        self.expect(Tok::Colon, "after the block label")?;
        Ok(())
    }

    fn block_argument(&mut self, block: BlockId, name: &UnresolvedOperand<'s>, ty: &Type) -> Parsed<()> {
        let value = self.define_one(name, ty)?;
        self.module.adopt_argument(block, value);
        Ok(())
    }
}
