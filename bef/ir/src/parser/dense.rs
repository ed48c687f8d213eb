//! Dense elements, `dense<…> : tensor<…>`: parsed as a flat list of literals and a shape, then
//! packed.

use super::attrs::Number;
use super::{Parsed, Parser};
use crate::dense::{element_size, static_parts};
use crate::lexer::{Tok, hex_digit, unescape};
use crate::source::Span;
use crate::{Attribute, DenseElements, ShapedType, Type};

/// A literal whose type is not known yet.
#[derive(Clone, Copy, Debug)]
struct Literal {
    kind: LiteralKind,
    negative: bool,
    span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LiteralKind {
    Int,
    Float,
    String,
    /// The value `true` or `false`.
    Bool,
}

/// The literals in row-major order. A complex number is two literals.
#[derive(Debug, Default)]
struct Literals {
    list: Vec<Literal>,
    /// Whether the literals are pairs `(real, imaginary)`; set by the first one.
    complex: Option<bool>,
}

impl Literals {
    fn len(&self) -> usize {
        if self.complex == Some(true) { self.list.len() / 2 } else { self.list.len() }
    }
}

impl Parser<'_, '_> {
    /// Parses `dense<…>`, and its type unless `ty` gives it.
    pub(super) fn dense(&mut self, ty: Option<&Type>) -> Parsed<Attribute> {
        let start = self.bump().span;
        self.expect(Tok::Less, "after 'dense'")?;
        let mut literals = Literals::default();
        let mut shape = None;
        if !self.at(Tok::Greater) {
            shape = self.dense_value(&mut literals)?;
        }
        self.expect(Tok::Greater, "after the dense elements")?;
        let whole = Span { start: start.start, end: self.last_end };
        let ty = match ty {
            Some(ty) => ty.clone(),
            None => {
                self.expect(Tok::Colon, "and the type of the dense elements")?;
                self.ty()?
            }
        };
        match self.pack(&literals, shape.as_deref(), &ty) {
            Ok(dense) => Ok(Attribute::Dense(dense.into())),
            Err((span, message)) => Err(self.error(span.unwrap_or(whole), message)),
        }
    }

    /// Parses a literal or a list. Returns the shape of a list, or `None` for a single literal.
    fn dense_value(&mut self, literals: &mut Literals) -> Parsed<Option<Vec<u64>>> {
        if !self.at(Tok::LSquare) {
            self.dense_literal(literals)?;
            return Ok(None);
        }
        self.nested(|parser| parser.dense_list(literals)).map(Some)
    }

    fn dense_list(&mut self, literals: &mut Literals) -> Parsed<Vec<u64>> {
        self.bump();
        let mut inner: Option<Vec<u64>> = None;
        let mut count = 0u64;
        self.list_until(Tok::RSquare, |parser| {
            let span = parser.token.span;
            let shape = parser.dense_value(literals)?.unwrap_or_default();
            count += 1;
            match &inner {
                None => inner = Some(shape),
                Some(first) if *first == shape => {}
                Some(first) => {
                    let message = format!(
                        "this element has shape {shape:?}, but the elements before it have shape {first:?}"
                    );
                    return Err(parser.error(span, message));
                }
            }
            Ok(())
        })?;
        let mut shape = vec![count];
        shape.extend(inner.unwrap_or_default());
        Ok(shape)
    }

    fn dense_literal(&mut self, literals: &mut Literals) -> Parsed<()> {
        let span = self.token.span;
        let complex = self.at(Tok::LParen);
        if literals.complex.is_some_and(|before| before != complex) {
            return Err(self.error(span, "complex and other numbers cannot be mixed"));
        }
        literals.complex = Some(complex);
        if !complex {
            return self.dense_scalar(literals);
        }
        self.bump();
        self.dense_scalar(literals)?;
        self.expect(Tok::Comma, "between real and imaginary part")?;
        self.dense_scalar(literals)?;
        self.expect(Tok::RParen, "after the complex number")?;
        Ok(())
    }

    fn dense_scalar(&mut self, literals: &mut Literals) -> Parsed<()> {
        let negative = self.eat(Tok::Minus);
        let token = self.token;
        let kind = match token.kind {
            Tok::Int => LiteralKind::Int,
            Tok::Float => LiteralKind::Float,
            Tok::String if !negative => LiteralKind::String,
            Tok::Bare if !negative && matches!(self.text(token.span), "true" | "false") => LiteralKind::Bool,
            _ => return Err(self.unexpected("a number, a string, 'true' or 'false'")),
        };
        self.bump();
        literals.list.push(Literal { kind, negative, span: token.span });
        Ok(())
    }

    /// Packs the literals as elements of type `ty`.
    fn pack(
        &self,
        literals: &Literals,
        shape: Option<&[u64]>,
        ty: &Type,
    ) -> Result<DenseElements, (Option<Span>, String)> {
        let fail = |message| (None, message);
        let (count, element) = static_parts(ty).map_err(fail)?;
        let expected = ty.as_shaped().and_then(ShapedType::static_shape).unwrap_or_default();
        let numeric = element_size(element);
        if shape.is_none()
            && let [literal @ Literal { kind: LiteralKind::String, .. }] = literals.list[..]
            && numeric.is_some()
        {
            let blob = unescape(self.bytes(literal.span));
            return unpack_hex(&blob, ty).map_err(|message| (Some(literal.span), message));
        }
        match shape {
            None if literals.list.is_empty() && count != 0 => {
                return Err(fail(format!("expected {count} elements, found none")));
            }
            Some(shape) if shape != expected && !(literals.len() == 0 && count == 0) => {
                return Err(fail(format!(
                    "the elements have shape {shape:?}, but the type has shape {expected:?}"
                )));
            }
            _ => {}
        }
        let Some(size) = numeric else {
            let none = Literals::default();
            return self.pack_strings(if count == 0 { &none } else { literals }, ty);
        };
        if let Some(given) = literals.complex
            && given != matches!(element, Type::Complex(_))
        {
            let message = if given { "complex numbers for" } else { "expected pairs (real, imaginary) for" };
            return Err(fail(format!("{message} element type {element}")));
        }
        let scalar = if let Type::Complex(part) = element { part } else { element };
        let mut bytes = Vec::with_capacity(literals.len() * size);
        for literal in &literals.list {
            self.pack_scalar(*literal, scalar, &mut bytes)
                .map_err(|message| (Some(literal.span), message))?;
        }
        // A splat of a type without elements is none.
        let bytes = if count == 0 { &[] } else { &bytes[..] };
        DenseElements::numbers(ty.clone(), bytes).map_err(fail)
    }

    fn pack_scalar(&self, literal: Literal, ty: &Type, bytes: &mut Vec<u8>) -> Result<(), String> {
        let Literal { kind, negative, span } = literal;
        let attribute = match kind {
            LiteralKind::Bool if ty.is_i1() => Attribute::Bool(self.bytes(span) == b"true"),
            LiteralKind::Int => {
                Number { negative, token: Tok::Int, text: self.text(span) }.to_attribute(ty)?
            }
            LiteralKind::Float => {
                Number { negative, token: Tok::Float, text: self.text(span) }.to_attribute(ty)?
            }
            _ => return Err(format!("expected a number of type {ty}")),
        };
        let size = element_size(ty).unwrap_or(0);
        match attribute {
            Attribute::Float { bits, .. } => bytes.extend_from_slice(&bits.to_le_bytes()[..size]),
            other => bytes.extend_from_slice(&other.as_int().unwrap_or(0).to_le_bytes()[..size]),
        }
        Ok(())
    }

    fn pack_strings(&self, literals: &Literals, ty: &Type) -> Result<DenseElements, (Option<Span>, String)> {
        let mut strings = Vec::with_capacity(literals.list.len());
        for literal in &literals.list {
            if literal.kind != LiteralKind::String {
                return Err((Some(literal.span), format!("expected strings for {ty}")));
            }
            strings.push(unescape(self.bytes(literal.span)).into());
        }
        DenseElements::strings(ty.clone(), strings).map_err(|message| (None, message))
    }
}

/// Unpacks a string `0x…` with the bytes of the elements. Booleans are packed eight to a byte,
/// lowest bit first.
fn unpack_hex(blob: &[u8], ty: &Type) -> Result<DenseElements, String> {
    let digits = blob.strip_prefix(b"0x").filter(|digits| digits.len() % 2 == 0);
    let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let digits = digits.ok_or("expected an even number of hexadecimal digits after '0x'")?;
    let bytes: Vec<u8> =
        digits.chunks_exact(2).map(|pair| hex_digit(pair[0]) << 4 | hex_digit(pair[1])).collect();
    let (count, element) = static_parts(ty)?;
    if !element.is_i1() {
        return DenseElements::numbers(ty.clone(), &bytes);
    }
    if let [splat @ (0x00 | 0xFF)] = bytes[..] {
        return DenseElements::numbers(ty.clone(), &[splat & 1]);
    }
    if bytes.len() as u64 != count.div_ceil(8) {
        return Err(format!("{} bytes do not match {count} elements", bytes.len()));
    }
    let bits: Vec<u8> = (0..count as usize).map(|index| bytes[index / 8] >> (index % 8) & 1).collect();
    DenseElements::numbers(ty.clone(), &bits)
}
