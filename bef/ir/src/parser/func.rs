//! The built-in operations `func` and `module`, under their old and new names.

use super::{Parsed, Parser, UnresolvedOperand};
use crate::func::{FUNC, FUNC_TYPE, SYM_NAME, SYM_VISIBILITY};
use crate::lexer::Tok;
use crate::module::OpState;
use crate::{AttrDict, Attribute, FunctionType, Type};

/// Parsed arguments: types, attributes, and names if the function has a body.
#[derive(Debug, Default)]
struct Arguments<'s> {
    names: Vec<Option<UnresolvedOperand<'s>>>,
    types: Vec<Type>,
    attributes: Vec<AttrDict>,
}

impl<'s> Parser<'s, '_> {
    /// Parses `func private? @name(arguments) -> results attributes {…} { body }`.
    pub(super) fn func_op(&mut self) -> Parsed<OpState> {
        let location = self.here();
        self.bump();
        let mut state = OpState::new(self.intern(FUNC)).at(location);
        for visibility in ["public", "private", "nested"] {
            if self.eat_word(visibility) {
                state.attributes.set(self.intern(SYM_VISIBILITY), Attribute::string(visibility));
                break;
            }
        }
        let name = self.symbol_name()?;
        let arguments = self.func_arguments()?;
        let (results, result_attributes) =
            if self.eat(Tok::Arrow) { self.func_results()? } else { Default::default() };
        if self.eat_word("attributes") {
            let span = self.token.span;
            for (key, value) in self.attr_entries()? {
                if state.attributes.set(&key, value).is_some() || matches!(&*key, SYM_NAME | FUNC_TYPE) {
                    self.error(span, format!("attribute '{key}' is already set by the function's signature"));
                }
            }
        }
        for (prefix, list) in [("arg", &arguments.attributes), ("result", &result_attributes)] {
            for (index, dict) in list.iter().enumerate().filter(|(_, dict)| !dict.is_empty()) {
                state.attributes.set(format!("{prefix}{index}"), Attribute::Dictionary(dict.clone()));
            }
        }
        let function = FunctionType { inputs: arguments.types.clone(), results };
        state.attributes.set(self.intern(SYM_NAME), Attribute::string(name.as_bytes()));
        state.attributes.set(self.intern(FUNC_TYPE), Attribute::Type(Type::Function(function.into())));
        let region =
            if self.at(Tok::LBrace) { self.func_body(arguments)? } else { self.module.create_region() };
        state.regions.push(region);
        Ok(state)
    }

    fn func_arguments(&mut self) -> Parsed<Arguments<'s>> {
        let mut arguments = Arguments::default();
        self.expect(Tok::LParen, "after the function's name")?;
        self.list_until(Tok::RParen, |parser| {
            let mut name = None;
            if parser.at(Tok::Value) {
                name = Some(parser.operand()?);
                parser.expect(Tok::Colon, "before the argument's type")?;
            }
            arguments.names.push(name);
            arguments.types.push(parser.ty()?);
            arguments.attributes.push(parser.optional_attr_dict()?);
            parser.optional_location()?;
            Ok(())
        })?;
        Ok(arguments)
    }

    /// Parses a type, or types with attributes in parentheses.
    fn func_results(&mut self) -> Parsed<(Vec<Type>, Vec<AttrDict>)> {
        if !self.at(Tok::LParen) {
            return Ok((vec![self.ty()?], Vec::new()));
        }
        self.bump();
        let (mut types, mut attributes) = (Vec::new(), Vec::new());
        self.list_until(Tok::RParen, |parser| {
            types.push(parser.ty()?);
            attributes.push(parser.optional_attr_dict()?);
            Ok(())
        })?;
        Ok((types, attributes))
    }

    fn func_body(&mut self, arguments: Arguments<'s>) -> Parsed<crate::RegionId> {
        let span = self.token.span;
        let named = arguments.names.iter().flatten().count();
        if named != arguments.names.len() {
            // The label of the first block may name them.
            let region = if named == 0 { Some(self.isolated_region(&[])?) } else { None };
            let entry = region.and_then(|region| self.module.region(region).blocks.first());
            let given = entry.map(|&block| self.module.types_of(&self.module.block(block).arguments));
            return match (region, given) {
                (Some(region), Some(given)) if given == arguments.types => Ok(region),
                _ => Err(self.error(span, "a function with a body needs names for its arguments")),
            };
        }
        let entry: Vec<_> = arguments.names.into_iter().flatten().zip(arguments.types).collect();
        self.isolated_region(&entry)
    }

    /// Parses `module @name? attributes {…}? { body }`.
    pub(super) fn module_op(&mut self) -> Parsed<OpState> {
        let location = self.here();
        self.bump();
        let mut state = OpState::new("module").at(location);
        let name = if self.at(Tok::Symbol) { Some(self.symbol_name()?) } else { None };
        if self.eat_word("attributes") {
            state.attributes = self.optional_attr_dict()?;
        }
        if let Some(name) = name {
            state.attributes.set(SYM_NAME, Attribute::string(name.as_bytes()));
        }
        state.regions.push(self.isolated_region(&[])?);
        Ok(state)
    }

    /// Gives built-in operations in generic form the names and attributes of their custom form.
    pub(super) fn normalize_builtin(&mut self, state: &mut OpState) {
        match &*state.name {
            "func.func" | "builtin.func" | FUNC => {
                state.name = self.intern(FUNC);
                if let Some(ty) = state.attributes.remove("function_type") {
                    state.attributes.set(FUNC_TYPE, ty);
                }
            }
            "builtin.module" | "module" => {
                state.name = self.intern("module");
                if let [region] = state.regions[..]
                    && self.module.region(region).blocks.is_empty()
                {
                    self.module.create_block(region, &[]);
                }
            }
            _ => {}
        }
    }
}
