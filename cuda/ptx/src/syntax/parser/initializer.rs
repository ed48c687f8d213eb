//! Initial values of variables: numbers, and addresses of other variables.

use super::{Body, Failed, Global, Parser};
use crate::{
    Span,
    syntax::{
        MAX_INITIALIZED_BYTES,
        ast::{Immediate, Initializer, Layout, Relocation, Symbol},
        lexer::Tok,
        number::Number,
        scope::{Entry, Found},
        types::{Space, Type},
    },
};

/// An initializer while it is parsed.
struct Draft<'d> {
    initializer: Initializer,
    element: Type,
    /// The number of elements of each level of braces; the innermost level is a vector's
    /// components. The first is 0 if it is open.
    levels: &'d [u64],
    /// The distance between two elements of each level, in bytes.
    strides: Vec<u64>,
}

impl<'s> Parser<'s> {
    /// Parses what follows the `=`. The size of an open dimension is taken from it.
    pub(super) fn initializer(
        &mut self,
        layout: &mut Layout,
        dimensions: &[u64],
        body: Option<&Body<'s>>,
    ) -> Result<Initializer, Failed> {
        let span = self.token.span;
        let element = layout.element;
        if matches!(element, Type::F16 | Type::F16x2) {
            return self
                .fail(span, format!("a variable of type {element} has no initial value; use .b16 or .b32"));
        }
        let mut levels = dimensions.to_vec();
        if layout.vector > 1 {
            levels.push(layout.vector.into());
        }
        let mut strides = vec![u64::from(element.bytes()); levels.len()];
        for level in (1..levels.len()).rev() {
            strides[level - 1] = strides[level].saturating_mul(levels[level]);
        }
        let initializer = Initializer { bytes: Vec::new(), relocations: Vec::new() };
        let mut draft = Draft { initializer, element, levels: &levels, strides };
        let count = self.initializer_level(&mut draft, 0, 0, body)?;
        if layout.is_unsized {
            let rest: u64 =
                dimensions.iter().skip(1).fold(1, |product: u64, &size| product.saturating_mul(size));
            layout.count = count.saturating_mul(rest);
            layout.is_unsized = layout.count == 0;
            self.check_size(layout, span)?;
        }
        Ok(draft.initializer)
    }

    /// Parses a level of braces, or a value in the innermost one. Returns the number of elements.
    fn initializer_level(
        &mut self,
        draft: &mut Draft<'_>,
        level: usize,
        offset: u64,
        body: Option<&Body<'s>>,
    ) -> Result<u64, Failed> {
        let Some(&size) = draft.levels.get(level) else {
            self.initializer_value(draft, offset, body)?;
            return Ok(1);
        };
        self.expect(Tok::LBrace, "'{'")?;
        self.open_braces += 1;
        let mut count = 0;
        while !self.is(Tok::RBrace) {
            if count > 0 {
                self.expect(Tok::Comma, "',' or '}'")?;
            }
            let is_open = level == 0 && size == 0;
            if count == size && !is_open {
                return self.fail(self.token.span, format!("there are more than {size} values"));
            }
            let position = offset.saturating_add(draft.strides[level].saturating_mul(count));
            self.initializer_level(draft, level + 1, position, body)?;
            count += 1;
        }
        self.bump();
        self.open_braces -= 1;
        Ok(count)
    }

    fn initializer_value(
        &mut self,
        draft: &mut Draft<'_>,
        offset: u64,
        body: Option<&Body<'s>>,
    ) -> Result<(), Failed> {
        let span = self.token.span;
        let is_address = self.is(Tok::Word) && self.token.text != "WARP_SZ";
        let is_number = matches!(self.token.kind, Tok::Number(Number::Integer { .. }));
        let bits = if is_address || (is_number && self.peek().kind == Tok::LParen) {
            self.address_value(draft, offset, body)?;
            0
        } else {
            let value = self.constant()?;
            self.value_bits(value, draft.element, span)?
        };
        let width = draft.element.bytes() as usize;
        let end = offset.saturating_add(width as u64);
        self.reserve_initialized(end.saturating_sub(draft.initializer.bytes.len() as u64), span)?;
        let bytes = &mut draft.initializer.bytes;
        bytes.resize(end as usize, 0);
        let value = bits.to_le_bytes();
        let stored = width.min(value.len());
        bytes[offset as usize..][..stored].copy_from_slice(&value[..stored]);
        Ok(())
    }

    /// Counts the bytes of initializers, over all variables, and fails if they exceed the limit.
    fn reserve_initialized(&mut self, bytes: u64, span: Span) -> Result<(), Failed> {
        self.initialized_bytes = self.initialized_bytes.saturating_add(bytes);
        if self.initialized_bytes <= MAX_INITIALIZED_BYTES {
            return Ok(());
        }
        self.fail(
            span,
            format!("the initial values of all variables take more than {MAX_INITIALIZED_BYTES} bytes"),
        )
    }

    /// Returns the bits of a constant in a variable of that type. Integers are truncated to its
    /// width.
    fn value_bits(&mut self, value: Immediate, element: Type, span: Span) -> Result<u64, Failed> {
        let double = match value {
            Immediate::Integer { .. } if element.is_float() => {
                return self.fail(
                    span,
                    format!("a variable of type {element} cannot hold an integer; write 1.0 for 1"),
                );
            }
            Immediate::Integer { bits, unsigned: false } if element == Type::B128 && bits as i64 <= -1 => {
                return self.fail(span, "a negative number in a variable of type .b128 is not supported");
            }
            Immediate::Integer { bits, .. } => return Ok(bits),
            Immediate::F32(bits) if matches!(element, Type::F32 | Type::B32) => return Ok(bits.into()),
            Immediate::F32(bits) => f64::from(f32::from_bits(bits)),
            Immediate::F64(bits) => f64::from_bits(bits),
        };
        match element {
            Type::F32 | Type::B32 => Ok(u64::from((double as f32).to_bits())),
            Type::F64 | Type::B64 => Ok(double.to_bits()),
            _ => self.fail(span, format!("a variable of type {element} cannot hold a floating-point number")),
        }
    }

    /// Parses `x`, `x+4`, `generic(x)+4` or `0xFF00(x)`.
    fn address_value(
        &mut self,
        draft: &mut Draft<'_>,
        offset: u64,
        body: Option<&Body<'s>>,
    ) -> Result<(), Failed> {
        let span = self.token.span;
        let bytes = draft.element.bytes();
        let mask = if let Tok::Number(Number::Integer { bits, .. }) = self.token.kind {
            self.bump();
            self.bump();
            Some(bits)
        } else {
            None
        };
        if draft.element.is_float() || bytes > 8 || (mask.is_none() && bytes < 4) {
            return self.fail(span, format!("a variable of type {} cannot hold an address", draft.element));
        }
        if mask
            .is_some_and(|mask| mask == 0 || (mask >> mask.trailing_zeros()) > u64::MAX >> (64 - 8 * bytes))
        {
            return self.fail(span, format!("the mask picks no part that fits in {}", draft.element));
        }
        let generic = self.is_word("generic") && self.peek().kind == Tok::LParen;
        if generic {
            self.bump();
            self.bump();
        }
        let symbol = self.initializer_symbol(body)?;
        if generic {
            self.expect(Tok::RParen, "')'")?;
        }
        let addend =
            if matches!(self.token.kind, Tok::Plus | Tok::Minus) { self.constant_integer()? } else { 0 };
        if mask.is_some() {
            self.expect(Tok::RParen, "')'")?;
        }
        let mask = mask.unwrap_or(u64::MAX);
        draft.initializer.relocations.push(Relocation { offset, bytes, symbol, addend, generic, mask });
        Ok(())
    }

    fn initializer_symbol(&mut self, body: Option<&Body<'s>>) -> Result<Symbol, Failed> {
        let token = self.expect(Tok::Word, "a name")?;
        let local = match body.map(|body| body.scopes.find(token.text)) {
            Some(Found::Entry(Entry::Variable(id))) => Some(Global::Variable(id)),
            Some(Found::Entry(_) | Found::Member(..)) => {
                return self.fail(token.span, format!("{} has no constant address", token.describe()));
            }
            _ => None,
        };
        match local.or(self.globals.get(token.text).copied()) {
            Some(Global::Function(id)) => Ok(Symbol::Function(id)),
            Some(Global::Variable(id)) => {
                let space = self.module.variables[id.index()].space;
                if matches!(space, Space::Global | Space::Const) {
                    return Ok(Symbol::Variable(id));
                }
                self.fail(
                    token.span,
                    format!("{} is in {space} and has no constant address", token.describe()),
                )
            }
            None => self.fail(token.span, format!("{} is not declared", token.describe())),
        }
    }
}
