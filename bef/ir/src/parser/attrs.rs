//! Attributes other than dense elements, and attribute dictionaries.

use std::sync::Arc;

use super::scope::{MAX_COUNTED_RESULTS, MAX_RESULTS};
use super::{Failed, Parsed, Parser};
use crate::attr::float_bits;
use crate::lexer::{Tok, hex_digit, unescape};
use crate::source::Span;
use crate::{AttrDict, AttrKind, Attribute, Name, Type};

impl<'s> Parser<'s, '_> {
    /// Parses any attribute. If the text does not state the type of numbers and strings, `ty` is
    /// their type.
    pub fn attribute(&mut self, ty: Option<&Type>) -> Parsed<Attribute> {
        self.nested(|parser| parser.attribute_inner(ty))
    }

    fn attribute_inner(&mut self, ty: Option<&Type>) -> Parsed<Attribute> {
        let span = self.token.span;
        match self.token.kind {
            Tok::Int | Tok::Float | Tok::Minus => self.number(ty),
            Tok::String => {
                self.bump();
                let bytes: Arc<[u8]> = unescape(self.bytes(span)).into();
                if ty.is_none() && self.eat(Tok::Colon) {
                    return Ok(Attribute::TypedString(Arc::new((bytes, self.ty()?))));
                }
                Ok(Attribute::String(bytes))
            }
            Tok::Symbol => self.symbol_ref(),
            Tok::LSquare => {
                self.bump();
                let mut elements = Vec::new();
                self.list_until(Tok::RSquare, |parser| {
                    elements.push(parser.attribute(None)?);
                    Ok(())
                })?;
                Ok(Attribute::array(elements))
            }
            Tok::LBrace => Ok(Attribute::Dictionary(self.attr_dict()?)),
            Tok::Hash => self.hash_attribute(),
            Tok::Bang | Tok::LParen => Ok(Attribute::Type(self.ty()?)),
            Tok::Bare => self.word_attribute(ty),
            _ => Err(self.unexpected("an attribute value")),
        }
    }

    fn word_attribute(&mut self, ty: Option<&Type>) -> Parsed<Attribute> {
        let span = self.token.span;
        match self.text(span) {
            word @ ("true" | "false") => {
                self.bump();
                if let Some(ty) = ty.filter(|ty| !ty.is_i1()) {
                    return Err(self.error(span, format!("expected a value of type {ty}, found '{word}'")));
                }
                Ok(Attribute::Bool(word == "true"))
            }
            "unit" => {
                self.bump();
                Ok(Attribute::Unit)
            }
            "dense" => self.dense(ty),
            "array" => self.typed_array(),
            "opaque" | "sparse" | "affine_map" | "affine_set" => {
                let word = self.text(span);
                Err(self.error(span, format!("'{word}' attributes are not supported")))
            }
            "loc" => Ok(Attribute::Location(Arc::new(self.location()?))),
            _ if self.at_type() => Ok(Attribute::Type(self.ty()?)),
            _ => Err(self.unexpected("an attribute value")),
        }
    }

    /// Parses `array<i64: 1, 2>`, an array of numbers or booleans of one type.
    fn typed_array(&mut self) -> Parsed<Attribute> {
        self.bump();
        self.expect(Tok::Less, "before the type of the elements")?;
        let ty = self.ty()?;
        let mut elements = Vec::new();
        if self.eat(Tok::Colon) {
            self.list_until(Tok::Greater, |parser| {
                elements.push(parser.attribute(Some(&ty))?);
                Ok(())
            })?;
        } else {
            self.expect(Tok::Greater, "after the type of no elements")?;
        }
        Ok(Attribute::array(elements))
    }

    /// Parses `#alias`, `#dialect.body` or `#dialect<"body">`.
    fn hash_attribute(&mut self) -> Parsed<Attribute> {
        let span = self.token.span;
        let is_dialect =
            self.bytes(span).contains(&b'.') || self.source.text().get(span.end as usize) == Some(&b'<');
        if !is_dialect {
            self.bump();
            return self.attribute_alias(span);
        }
        let (dialect, body) = self.dialect_symbol()?;
        Ok(Attribute::dialect(self.intern(dialect), body))
    }

    /// Parses `@a` or `@a::@b`.
    pub fn symbol_ref(&mut self) -> Parsed<Attribute> {
        let mut path = vec![self.symbol_name()?];
        while self.eat(Tok::ColonColon) {
            path.push(self.symbol_name()?);
        }
        Ok(Attribute::SymbolRef(path.into()))
    }

    /// Parses `@a` or `@"a"`.
    pub(crate) fn symbol_name(&mut self) -> Parsed<Name> {
        let span = self.expect(Tok::Symbol, "as a name")?.span;
        let bytes = self.bytes(span);
        let name = if bytes.get(1) == Some(&b'"') { unescape(bytes) } else { bytes[1..].to_vec() };
        match String::from_utf8(name) {
            Ok(name) if !name.is_empty() => Ok(self.intern(&name)),
            Ok(_) => Err(self.error(span, "a symbol name cannot be empty")),
            Err(_) => Err(self.error(span, "a symbol name must be UTF-8")),
        }
    }

    /// Parses `{a = 1, "b c", d}`, or nothing.
    pub fn optional_attr_dict(&mut self) -> Parsed<AttrDict> {
        if self.at(Tok::LBrace) { self.attr_dict() } else { Ok(AttrDict::new()) }
    }

    fn attr_dict(&mut self) -> Parsed<AttrDict> {
        Ok(self.attr_entries()?.into_iter().collect())
    }

    /// Parses the entries of `{…}`, which have unique names, in the order written.
    pub(crate) fn attr_entries(&mut self) -> Parsed<Vec<(Name, Attribute)>> {
        self.expect(Tok::LBrace, "before the attributes")?;
        let mut entries = Vec::new();
        let mut spans = Vec::new();
        self.list_until(Tok::RBrace, |parser| {
            let span = parser.token.span;
            let name = match parser.token.kind {
                Tok::Bare => parser.intern(parser.text(span)),
                Tok::String => match String::from_utf8(unescape(parser.bytes(span))) {
                    Ok(name) => parser.intern(&name),
                    Err(_) => return Err(parser.error(span, "an attribute name must be UTF-8")),
                },
                _ => return Err(parser.unexpected("an attribute name")),
            };
            parser.bump();
            let value = if parser.eat(Tok::Equal) { parser.attribute(None)? } else { Attribute::Unit };
            entries.push((name, value));
            spans.push(span);
            Ok(())
        })?;
        self.check_unique(&entries, &spans)?;
        Ok(entries)
    }

    fn check_unique(&mut self, entries: &[(Name, Attribute)], spans: &[Span]) -> Parsed<()> {
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by(|&a, &b| entries[a].0.cmp(&entries[b].0));
        let mut result = Ok(());
        for pair in order.windows(2) {
            if let &[first, second] = pair
                && entries[first].0 == entries[second].0
            {
                let message = format!("duplicate key '{}' in the attributes", entries[first].0);
                result = Err(self.error(spans[second], message));
            }
        }
        result
    }

    /// Parses an integer or float with its sign, and with its type unless `ty` gives it.
    fn number(&mut self, ty: Option<&Type>) -> Parsed<Attribute> {
        let start = self.token.span;
        let negative = self.eat(Tok::Minus);
        let token = self.token;
        if !matches!(token.kind, Tok::Int | Tok::Float) {
            return Err(self.unexpected("a number after '-'"));
        }
        self.bump();
        let ty = match ty {
            Some(ty) => ty.clone(),
            None if self.eat(Tok::Colon) => self.ty()?,
            None if token.kind == Tok::Int => Type::int(64),
            None => Type::F64,
        };
        let number = Number { negative, token: token.kind, text: self.text(token.span) };
        match number.to_attribute(&ty) {
            Ok(attribute) => Ok(attribute),
            Err(message) => Err(self.error(start.to(token.span), message)),
        }
    }

    /// Returns whether the current token can begin an attribute that no type or name precedes.
    pub(crate) fn at_attribute(&self) -> bool {
        match self.token.kind {
            Tok::Int | Tok::Float | Tok::Minus | Tok::String | Tok::Symbol | Tok::LSquare | Tok::Hash => true,
            Tok::Bare => {
                matches!(self.text(self.token.span), "true" | "false" | "unit" | "dense" | "array" | "loc")
                    || self.at_type()
            }
            kind => kind == Tok::Bang,
        }
    }

    /// Parses an attribute where the definition expects `kind`. Numbers of a fixed type are written
    /// without it, but with `suffix` they may repeat it. The verifier checks whether the value is
    /// of this kind.
    pub(crate) fn attribute_of_kind(&mut self, kind: &AttrKind, suffix: bool) -> Parsed<Attribute> {
        match kind {
            AttrKind::Number(ty) => {
                let value = self.attribute(Some(ty))?;
                if suffix && self.eat(Tok::Colon) {
                    let span = self.token.span;
                    let given = self.ty()?;
                    if given != *ty {
                        return Err(self.error(span, format!("expected type {ty}, found {given}")));
                    }
                }
                Ok(value)
            }
            AttrKind::Bool => self.attribute(Some(&Type::i1())),
            AttrKind::String if self.at(Tok::String) => self.attribute(Some(&Type::None)),
            _ => self.attribute(None),
        }
    }

    /// Parses the entries of `{…}` in the order written, or nothing.
    pub fn optional_attr_entries(&mut self) -> Parsed<Vec<(Name, Attribute)>> {
        if self.at(Tok::LBrace) { self.attr_entries() } else { Ok(Vec::new()) }
    }

    /// Parses an identifier.
    pub fn word(&mut self, what: &str) -> Parsed<&'s str> {
        if !self.at(Tok::Bare) {
            return Err(self.unexpected(what));
        }
        let span = self.bump().span;
        Ok(self.text(span))
    }

    /// Parses the number of something that an operation has.
    pub fn count(&mut self, what: &str) -> Parsed<usize> {
        let span = self.token.span;
        let count = self.plain_integer(what)?;
        if count > MAX_RESULTS {
            return Err(self.error(span, format!("{what} must be at most {MAX_RESULTS}")));
        }
        // A few bytes can ask for many values, so the sum is bounded too.
        self.counted_results += count as usize;
        if self.counted_results > MAX_COUNTED_RESULTS {
            return Err(self.error(
                span,
                format!("the result counts in this text add up to more than {MAX_COUNTED_RESULTS}"),
            ));
        }
        Ok(count as usize)
    }

    /// Parses a non-negative decimal integer, the form of counts.
    pub(crate) fn plain_integer(&mut self, what: &str) -> Parsed<u32> {
        let span = self.token.span;
        if !self.at(Tok::Int) {
            return Err(self.unexpected(what));
        }
        self.bump();
        self.text(span).parse().map_err(|_| -> Failed { self.error(span, format!("{what} is out of range")) })
    }
}

/// A number as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number<'s> {
    pub(super) negative: bool,
    /// Either [`Tok::Int`] or [`Tok::Float`].
    pub(super) token: Tok,
    pub(super) text: &'s str,
}

impl Number<'_> {
    /// Returns the attribute for this number in an integer or float type.
    pub(super) fn to_attribute(self, ty: &Type) -> Result<Attribute, String> {
        if ty.is_float() {
            let bits = self.float(ty)?;
            return Ok(Attribute::Float { bits, ty: ty.clone() });
        }
        if !ty.is_integer() {
            return Err(format!("a number cannot have type {ty}"));
        }
        if self.token == Tok::Float {
            return Err(format!("a floating-point number cannot have type {ty}"));
        }
        let value = self.integer().and_then(|value| Attribute::int(value, ty.clone()));
        value.ok_or_else(|| format!("integer constant out of range for type {ty}"))
    }

    /// Returns the value of an integer, if it fits into 127 bits and a sign.
    fn integer(&self) -> Option<i128> {
        let magnitude = match self.text.strip_prefix("0x") {
            Some(digits) => u128::from_str_radix(digits, 16).ok()?,
            None => self.text.parse::<u128>().ok()?,
        };
        if self.negative { 0i128.checked_sub_unsigned(magnitude) } else { i128::try_from(magnitude).ok() }
    }

    /// Returns the bits of a float. Hexadecimal digits are the bits themselves.
    fn float(&self, ty: &Type) -> Result<u64, String> {
        if self.token == Tok::Int {
            let Some(digits) = self.text.strip_prefix("0x") else {
                return Err(format!(
                    "an integer cannot have type {ty}; add a trailing dot to make it a float"
                ));
            };
            if self.negative {
                return Err("the bits of a float take no sign".to_owned());
            }
            let bits = digits.bytes().try_fold(0u64, |bits, digit| {
                bits.checked_mul(16).map(|bits| bits | u64::from(hex_digit(digit)))
            });
            let width = ty.bit_width().unwrap_or(0);
            return match bits {
                Some(bits) if width == 64 || bits >> width == 0 => Ok(bits),
                _ => Err(format!("hexadecimal value has more bits than type {ty}")),
            };
        }
        let value = self.text.parse::<f64>().unwrap_or(f64::INFINITY);
        if value.is_infinite() {
            return Err("floating-point number is too large".to_owned());
        }
        let value = if self.negative { -value } else { value };
        float_bits(value, ty).ok_or_else(|| format!("a number cannot have type {ty}"))
    }
}
