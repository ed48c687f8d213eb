//! Parses types.

use std::sync::Arc;

use super::{Parsed, Parser};
use crate::Type;
use crate::lexer::{MAX_DEPTH, Tok, unescape};
use crate::source::Span;
use crate::types::{Dim, FunctionType, MAX_INTEGER_WIDTH, ShapedType, Signedness};

/// The most dimensions of a shape.
const MAX_RANK: usize = 256;

impl<'s> Parser<'s, '_> {
    /// Parses any type.
    pub fn ty(&mut self) -> Parsed<Type> {
        self.nested(|parser| match parser.token.kind {
            Tok::Bare => parser.builtin_type(),
            Tok::Bang => parser.dialect_type(),
            Tok::LParen => parser.function_type().map(|function| Type::Function(Arc::new(function))),
            _ => Err(parser.unexpected("a type")),
        })
    }

    /// Returns whether the current token can begin a type.
    pub(super) fn at_type(&self) -> bool {
        match self.token.kind {
            Tok::Bang | Tok::LParen => true,
            Tok::Bare => {
                let text = self.text(self.token.span);
                simple_type(text).is_some()
                    || matches!(text, "complex" | "tuple" | "tensor" | "vector" | "memref")
            }
            _ => false,
        }
    }

    /// Parses `type (',' type)*`.
    pub fn type_list(&mut self) -> Parsed<Vec<Type>> {
        let mut types = vec![self.ty()?];
        while self.eat(Tok::Comma) {
            types.push(self.ty()?);
        }
        Ok(types)
    }

    /// Parses `type (',' type)*`, or nothing.
    pub(crate) fn optional_type_list(&mut self) -> Parsed<Vec<Type>> {
        if self.at_type() { self.type_list() } else { Ok(Vec::new()) }
    }

    /// Parses `'(' types ')'`.
    pub(crate) fn paren_types(&mut self) -> Parsed<Vec<Type>> {
        self.expect(Tok::LParen, "before the types")?;
        let mut types = Vec::new();
        self.list_until(Tok::RParen, |parser| {
            types.push(parser.ty()?);
            Ok(())
        })?;
        Ok(types)
    }

    /// Parses a type, or any number of types in parentheses.
    pub(crate) fn result_types(&mut self) -> Parsed<Vec<Type>> {
        if self.at(Tok::LParen) { self.paren_types() } else { Ok(vec![self.ty()?]) }
    }

    /// Parses `'(' types ')' '->' results`.
    pub fn function_type(&mut self) -> Parsed<FunctionType> {
        let inputs = self.paren_types()?;
        self.expect(Tok::Arrow, "in the function type")?;
        let results = self.result_types()?;
        Ok(FunctionType { inputs, results })
    }

    fn builtin_type(&mut self) -> Parsed<Type> {
        let span = self.token.span;
        let text = self.text(span);
        if let Some(ty) = simple_type(text) {
            self.bump();
            return Ok(ty);
        }
        match text {
            "complex" => {
                self.bump();
                self.expect(Tok::Less, "after 'complex'")?;
                let at = self.token.span;
                let element = self.ty()?;
                if !element.is_integer() && !element.is_float() {
                    return Err(
                        self.error(at, format!("type {element} cannot be the element of a complex type"))
                    );
                }
                self.expect(Tok::Greater, "after the complex type")?;
                Ok(Type::complex(element))
            }
            "tuple" => {
                self.bump();
                self.expect(Tok::Less, "after 'tuple'")?;
                let mut types = Vec::new();
                self.list_until(Tok::Greater, |parser| {
                    types.push(parser.ty()?);
                    Ok(())
                })?;
                Ok(Type::tuple(types))
            }
            "tensor" | "vector" => self.shaped_type(text == "tensor"),
            "memref" => {
                self.bump();
                let body = self.balanced_text()?;
                Ok(Type::Opaque(self.intern(&format!("memref{body}"))))
            }
            _ => Err(self.unexpected("a type")),
        }
    }

    /// Parses `tensor<2x?xf32>`, `tensor<*xf32>` or `vector<4xf32>`.
    fn shaped_type(&mut self, tensor: bool) -> Parsed<Type> {
        let start = self.bump().span;
        if !self.at(Tok::Less) {
            return Err(self.unexpected("'<' of a shape"));
        }
        let dims = self.dimensions()?;
        let element = self.ty()?;
        if self.at(Tok::Comma) {
            let at = self.token.span;
            return Err(self.error(at, "encodings of tensor types are not supported"));
        }
        self.expect(Tok::Greater, "after the element type")?;
        let whole = Span { start: start.start, end: self.last_end };
        let shaped = ShapedType { dims, element };
        if tensor {
            return Ok(Type::Tensor(Arc::new(shaped)));
        }
        match &shaped.dims {
            Some(dims) if !dims.is_empty() && dims.iter().all(Option::is_some) => {
                Ok(Type::Vector(Arc::new(shaped)))
            }
            _ => Err(self.error(whole, "a vector type needs a static shape")),
        }
    }

    /// Parses the dimensions after the current `<`, including the last `x`. Dimensions are not
    /// tokens: `2x3xf32` lexes as `2` and a name.
    fn dimensions(&mut self) -> Parsed<Option<Vec<Dim>>> {
        let text = self.source.text();
        let mut at = self.token.span.end as usize;
        let byte = |at: usize| text.get(at).copied().unwrap_or(0);
        while byte(at).is_ascii_whitespace() {
            at += 1;
        }
        if byte(at) == b'*' && byte(at + 1) == b'x' {
            self.seek(at as u32 + 2);
            return Ok(None);
        }
        let mut dims = Vec::new();
        loop {
            let start = at;
            let dim = if byte(at) == b'?' {
                at += 1;
                None
            } else {
                while byte(at).is_ascii_digit() {
                    at += 1;
                }
                if at == start {
                    break;
                }
                let span = Span { start: start as u32, end: at as u32 };
                match self.text(span).parse::<u64>() {
                    Ok(size) => Some(size),
                    Err(_) => return Err(self.error(span, "dimension is too large")),
                }
            };
            let span = Span { start: start as u32, end: at as u32 };
            if byte(at) != b'x' {
                return Err(self.error(span, "expected 'x' after the dimension"));
            }
            if dims.len() >= MAX_RANK {
                return Err(self.error(span, format!("a shape has at most {MAX_RANK} dimensions")));
            }
            at += 1;
            dims.push(dim);
        }
        self.seek(at as u32);
        Ok(Some(dims))
    }

    /// Takes the balanced text `<…>` at the current token.
    pub(super) fn balanced_text(&mut self) -> Parsed<&'s str> {
        if !self.at(Tok::Less) {
            return Err(self.unexpected("'<'"));
        }
        let span = self.token.span;
        match self.lexer.balanced(span.start, MAX_DEPTH) {
            Err(message) => Err(self.error(span, message)),
            Ok(bytes) => {
                self.last_end = span.start + bytes.len() as u32;
                self.seek(self.last_end);
                std::str::from_utf8(bytes).map_err(|_| self.error(span, "this text must be UTF-8"))
            }
        }
    }

    /// Parses `!dialect.body`, `!dialect.body<…>`, `!dialect<"body">` or an alias.
    fn dialect_type(&mut self) -> Parsed<Type> {
        let span = self.token.span;
        let bytes = self.bytes(span);
        let has_body = self.source.text().get(span.end as usize) == Some(&b'<');
        if !has_body {
            if let Some(ty) = self.dialect_types.get(bytes) {
                let ty = ty.clone();
                self.bump();
                return Ok(ty);
            }
            if !bytes.contains(&b'.') {
                self.bump();
                return self.type_alias(span);
            }
        }
        let (dialect, body) = self.dialect_symbol()?;
        if let Some(Err(message)) = self.registry.type_check(dialect).map(|check| check(&body)) {
            let span = Span { start: span.start, end: self.last_end };
            return Err(self.error(span, message));
        }
        let (dialect, body) = (self.intern(dialect), self.intern(&body));
        let ty = Type::dialect(dialect, body);
        if !has_body {
            self.dialect_types.insert(bytes, ty.clone());
        }
        Ok(ty)
    }

    /// Returns dialect and body of the `!` or `#` symbol at the current token, which is not an
    /// alias.
    pub(super) fn dialect_symbol(&mut self) -> Parsed<(&'s str, String)> {
        let span = self.token.span;
        let text = self.text(span).get(1..).unwrap_or_default();
        let has_body = self.source.text().get(span.end as usize) == Some(&b'<');
        self.bump();
        match text.split_once('.') {
            Some((dialect, body)) if !dialect.is_empty() && !body.is_empty() => {
                let rest = if has_body { self.balanced_text()? } else { "" };
                Ok((dialect, format!("{body}{rest}")))
            }
            None if has_body => {
                self.expect(Tok::Less, "after the dialect's name")?;
                let body = self.expect(Tok::String, "with the body of the dialect symbol")?;
                self.expect(Tok::Greater, "after the body of the dialect symbol")?;
                let body = String::from_utf8(unescape(self.bytes(body.span)));
                let body = body.map_err(|_| self.error(span, "this text must be UTF-8"))?;
                Ok((text, body))
            }
            _ => Err(self.error(span, "expected a name on both sides of the dot")),
        }
    }
}

/// Returns the type for one of the single-word types.
fn simple_type(text: &str) -> Option<Type> {
    Some(match text {
        "index" => Type::Index,
        "f16" => Type::F16,
        "bf16" => Type::BF16,
        "f32" => Type::F32,
        "f64" => Type::F64,
        "none" => Type::None,
        _ => {
            let (signedness, digits) = match text.split_at_checked(2) {
                Some(("si", digits)) => (Signedness::Signed, digits),
                Some(("ui", digits)) => (Signedness::Unsigned, digits),
                _ => (Signedness::Signless, text.strip_prefix('i')?),
            };
            if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            let width: u32 = digits.parse().ok()?;
            if !(1..=MAX_INTEGER_WIDTH).contains(&width) {
                return None;
            }
            Type::integer(width, signedness)
        }
    })
}
