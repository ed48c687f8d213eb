//! Prints attributes.

use std::fmt::{self, Display, Write};

use super::float::write_float;
use crate::dense::{DenseData, element_size};
use crate::{AttrDict, Attribute, DenseElements, Type};

/// Whether to omit an attribute's type where readers assume it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeElision {
    /// Always printed.
    Never,
    /// Omitted for `i64` and `f64`, as inside arrays.
    Default,
    /// Always omitted, because the operation's definition gives it.
    Always,
}

/// The text style of attributes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttrStyle {
    /// When to omit the type.
    pub(crate) types: TypeElision,
    /// Dense elements with more elements than this are elided unless they are a splat.
    pub(crate) max_dense_elements: Option<u64>,
}

impl AttrStyle {
    fn with(self, types: TypeElision) -> AttrStyle {
        AttrStyle { types, ..self }
    }
}

/// Dense elements with more elements than this print as hexadecimal bytes unless they are a splat.
const MAX_ELEMENTS_IN_DECIMAL: u64 = 100;

/// Bytes that print as a quoted string literal.
pub(crate) struct Quoted<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for &byte in self.0 {
            match byte {
                b'\\' => f.write_str("\\\\")?,
                b'"' => f.write_str("\\22")?,
                0x20..=0x7E => f.write_char(byte.into())?,
                _ => write!(f, "\\{byte:02X}")?,
            }
        }
        f.write_char('"')
    }
}

/// Prints all types that are not implied, as inside a dictionary.
impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        attribute(f, self, AttrStyle { types: TypeElision::Never, max_dense_elements: None })
    }
}

/// Returns whether a name needs no quotes as an attribute's name or after `@`.
fn is_bare_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.'))
}

/// A name that prints as `@name`, quoted if necessary.
pub(crate) struct SymbolName<'a>(pub(crate) &'a str);

impl fmt::Display for SymbolName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_bare_name(self.0) {
            write!(f, "@{}", self.0)
        } else {
            write!(f, "@{}", Quoted(self.0.as_bytes()))
        }
    }
}

/// Prints the body of a dialect symbol after its dialect: `.body` if that parses back, else
/// `<"body">`.
pub(crate) fn dialect_body(f: &mut fmt::Formatter<'_>, body: &str) -> fmt::Result {
    let name_length =
        body.bytes().take_while(|&byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.');
    let name_length = name_length.count();
    let (name, rest) = body.split_at(name_length);
    let starts_well = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    let balanced = || {
        let taken = crate::lexer::Lexer::new(rest.as_bytes()).balanced(0, crate::lexer::MAX_DEPTH);
        rest.starts_with('<') && taken.is_ok_and(|taken| taken.len() == rest.len())
    };
    if starts_well && (rest.is_empty() || balanced()) {
        write!(f, ".{body}")
    } else {
        write!(f, "<{}>", Quoted(body.as_bytes()))
    }
}

/// Prints an attribute.
pub(crate) fn attribute(f: &mut fmt::Formatter<'_>, attribute: &Attribute, style: AttrStyle) -> fmt::Result {
    match attribute {
        Attribute::Unit => f.write_str("unit"),
        Attribute::Bool(value) => write!(f, "{value}"),
        Attribute::Integer { value, ty } => {
            write!(f, "{value}")?;
            suffix(f, ty, style.types, *ty == Type::int(64))
        }
        Attribute::Float { bits, ty } => {
            let mut text = String::new();
            write_float(&mut text, *bits, ty)?;
            f.write_str(&text)?;
            // Bits in hexadecimal would parse back as an integer.
            suffix(f, ty, style.types, *ty == Type::F64 && !text.starts_with("0x"))
        }
        Attribute::String(bytes) => Quoted(bytes).fmt(f),
        Attribute::TypedString(pair) => {
            Quoted(&pair.0).fmt(f)?;
            suffix(f, &pair.1, style.types, false)
        }
        Attribute::Array(elements) => {
            f.write_char('[')?;
            for (index, element) in elements.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                self::attribute(f, element, style.with(TypeElision::Default))?;
            }
            f.write_char(']')
        }
        Attribute::Dictionary(dict) => dictionary(f, dict, style, |_| true),
        Attribute::Type(ty) => ty.fmt(f),
        Attribute::SymbolRef(path) => {
            for (index, name) in path.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { "::" })?;
                SymbolName(name).fmt(f)?;
            }
            Ok(())
        }
        Attribute::Dense(dense) => {
            match style.max_dense_elements {
                Some(limit) if !dense.is_splat() && dense.num_elements() > limit => {
                    f.write_str("dense_resource<__elided__>")?;
                }
                _ => dense_elements(f, dense)?,
            }
            suffix(f, dense.ty(), style.types, false)
        }
        Attribute::Dialect(symbol) => {
            write!(f, "#{symbol}")
        }
        Attribute::Location(location) => write!(f, "loc({location})"),
    }
}

fn suffix(f: &mut fmt::Formatter<'_>, ty: &Type, elision: TypeElision, is_default: bool) -> fmt::Result {
    match elision {
        TypeElision::Always => Ok(()),
        TypeElision::Default if is_default => Ok(()),
        _ => write!(f, " : {ty}"),
    }
}

/// Prints `{a = 1 : i32, b}` with the entries whose names `keep` accepts.
pub(crate) fn dictionary(
    f: &mut fmt::Formatter<'_>,
    dict: &AttrDict,
    style: AttrStyle,
    keep: impl Fn(&str) -> bool,
) -> fmt::Result {
    f.write_char('{')?;
    for (index, (name, value)) in dict.iter().filter(|(name, _)| keep(name)).enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        named_attribute(f, name, value, style)?;
    }
    f.write_char('}')
}

/// Prints `name = value`, or just `name` for a unit.
pub(crate) fn named_attribute(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    value: &Attribute,
    style: AttrStyle,
) -> fmt::Result {
    if is_bare_name(name) {
        f.write_str(name)?;
    } else {
        Quoted(name.as_bytes()).fmt(f)?;
    }
    if *value == Attribute::Unit {
        return Ok(());
    }
    f.write_str(" = ")?;
    attribute(f, value, style.with(TypeElision::Never))
}

fn dense_elements(f: &mut fmt::Formatter<'_>, dense: &DenseElements) -> fmt::Result {
    f.write_str("dense<")?;
    match dense.data() {
        DenseData::Strings(strings) => {
            nested_list(f, dense, strings.len(), |f, index| Quoted(&strings[index]).fmt(f))?;
        }
        DenseData::Numbers(bytes) => {
            let size = element_size(dense.element_type()).unwrap_or(1);
            if !dense.is_splat() && dense.num_elements() > MAX_ELEMENTS_IN_DECIMAL {
                hex_elements(f, dense.element_type(), bytes)?;
            } else {
                let element = |f: &mut fmt::Formatter<'_>, index: usize| {
                    number(f, &bytes[index * size..(index + 1) * size], dense.element_type())
                };
                nested_list(f, dense, bytes.len() / size, element)?;
            }
        }
    }
    f.write_char('>')
}

/// Prints elements as lists nested like the shape. A splat prints alone, and an empty list prints
/// nothing.
fn nested_list(
    f: &mut fmt::Formatter<'_>,
    dense: &DenseElements,
    count: usize,
    element: impl Fn(&mut fmt::Formatter<'_>, usize) -> fmt::Result,
) -> fmt::Result {
    if dense.is_splat() {
        return element(f, 0);
    }
    let shape = dense.shape();
    for index in 0..count {
        // Opens a list for each dimension whose block begins at this element, and closes lists
        // likewise.
        let mut block = 1;
        let (mut opened, mut closed) = (0, 0);
        for &dim in shape.iter().rev() {
            block *= dim as usize;
            opened += usize::from(index % block == 0);
            closed += usize::from((index + 1) % block == 0);
        }
        if index > 0 {
            f.write_str(", ")?;
        }
        f.write_str(&"[".repeat(opened))?;
        element(f, index)?;
        f.write_str(&"]".repeat(closed))?;
    }
    Ok(())
}

/// Prints one packed number without its type.
fn number(f: &mut fmt::Formatter<'_>, bytes: &[u8], ty: &Type) -> fmt::Result {
    if let Type::Complex(part) = ty {
        let (re, im) = bytes.split_at(bytes.len() / 2);
        f.write_char('(')?;
        number(f, re, part)?;
        f.write_char(',')?;
        number(f, im, part)?;
        return f.write_char(')');
    }
    let mut word = [0u8; 16];
    word[..bytes.len()].copy_from_slice(bytes);
    let unsigned = u128::from_le_bytes(word);
    if ty.is_float() {
        return write_float(f, unsigned as u64, ty);
    }
    if ty.is_i1() {
        return write!(f, "{}", unsigned != 0);
    }
    if ty.is_unsigned() {
        return write!(f, "{unsigned}");
    }
    let shift = 128 - bytes.len() as u32 * 8;
    write!(f, "{}", (unsigned << shift) as i128 >> shift)
}

fn hex_elements(f: &mut fmt::Formatter<'_>, ty: &Type, bytes: &[u8]) -> fmt::Result {
    f.write_str("\"0x")?;
    if ty.is_i1() {
        for bits in bytes.chunks(8) {
            let byte = bits.iter().rev().fold(0u8, |byte, bit| byte << 1 | bit & 1);
            write!(f, "{byte:02X}")?;
        }
    } else {
        // In pieces, because there may be hundreds of megabytes.
        let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0').to_ascii_uppercase();
        let mut digits = String::new();
        for piece in bytes.chunks(4096) {
            digits.clear();
            digits.extend(piece.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]));
            f.write_str(&digits)?;
        }
    }
    f.write_char('"')
}
