//! Numbers in PTX: `12`, `0x1FU`, `0b101`, `017`, `1.5e3`, `0f3F800000`, `0d3FF0000000000000`.

use super::lexer::shortened;

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// 64 bits, unsigned if they end in `U` or do not fit a signed integer.
    Integer { bits: u64, unsigned: bool },
    /// `0f…`: the bits of an `f32`.
    F32(u32),
    /// `0d…` or a decimal fraction: the bits of an `f64`.
    F64(u64),
}

/// The reason why digits are not a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Invalid {
    /// More than 64 bits.
    IntegerRange,
    /// More than an `f64` holds.
    FloatRange,
    /// Not the eight or sixteen digits of `0f` or `0d`.
    FloatDigits(usize),
    /// An invalid digit or letter.
    Digits,
}

impl Invalid {
    pub(super) fn describe(self, text: &str) -> String {
        let text = shortened(text);
        match self {
            Invalid::IntegerRange => format!("'{text}' does not fit in 64 bits"),
            Invalid::FloatRange => format!("'{text}' is beyond the range of .f64"),
            Invalid::FloatDigits(count) => format!("'{text}' must have {count} hexadecimal digits"),
            Invalid::Digits => format!("'{text}' is no number"),
        }
    }
}

/// Scans the number at the start of `bytes`, which begin with a digit, or a dot and a digit.
/// Returns its length and value.
pub(super) fn scan(bytes: &[u8]) -> (usize, Result<Number, Invalid>) {
    let word = run(bytes, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match (bytes[0], bytes.get(1).copied().unwrap_or(0)) {
        (b'0', b'f' | b'F') => (word, exact_float(&bytes[2..word], 8)),
        (b'0', b'd' | b'D') => (word, exact_float(&bytes[2..word], 16)),
        (b'0', b'x' | b'X') => (word, integer(&bytes[2..word], 16)),
        (b'0', b'b' | b'B') => (word, integer(&bytes[2..word], 2)),
        _ => decimal(bytes, word),
    }
}

fn run(bytes: &[u8], keep: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !keep(byte)).unwrap_or(bytes.len())
}

fn exact_float(digits: &[u8], count: usize) -> Result<Number, Invalid> {
    let value = value(digits, 16).filter(|_| digits.len() == count);
    let bits = value.ok_or(Invalid::FloatDigits(count))?.map_err(|_| Invalid::FloatDigits(count))?;
    Ok(if count == 8 { Number::F32(bits as u32) } else { Number::F64(bits) })
}

fn integer(digits: &[u8], radix: u32) -> Result<Number, Invalid> {
    let (digits, suffix) = match digits {
        [digits @ .., b'U'] => (digits, true),
        _ => (digits, false),
    };
    let bits = value(digits, radix).ok_or(Invalid::Digits)??;
    Ok(Number::Integer { bits, unsigned: suffix || i64::try_from(bits).is_err() })
}

/// Returns the value of digits, or `None` if there are none or a digit is not valid in the radix.
fn value(digits: &[u8], radix: u32) -> Option<Result<u64, Invalid>> {
    if digits.is_empty() {
        return None;
    }
    let mut sum = Some(0_u64);
    for &digit in digits {
        let digit = char::from(digit).to_digit(radix)?;
        sum = sum.and_then(|sum| sum.checked_mul(u64::from(radix))?.checked_add(u64::from(digit)));
    }
    Some(sum.ok_or(Invalid::IntegerRange))
}

/// Scans a decimal or octal integer or a decimal fraction. `word` is the length up to the first
/// character that no word contains.
fn decimal(bytes: &[u8], word: usize) -> (usize, Result<Number, Invalid>) {
    let mut length = run(bytes, |byte| byte.is_ascii_digit());
    let whole = length;
    // A dot followed by a word ends an integer, as between a number and `.x`.
    if bytes.get(length) == Some(&b'.') {
        length += 1;
        length += run(&bytes[length..], |byte| byte.is_ascii_digit());
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let digits = run(&bytes[length + 1 + sign..], |byte| byte.is_ascii_digit());
        if digits > 0 {
            length += 1 + sign + digits;
        }
    }
    let tail = run(&bytes[length..], |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if length > whole {
        if tail > 0 {
            return (length + tail, Err(Invalid::Digits));
        }
        let text = std::str::from_utf8(&bytes[..length]).unwrap_or_default();
        let number = match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Number::F64(value.to_bits())),
            Ok(_) => Err(Invalid::FloatRange),
            Err(_) => Err(Invalid::Digits),
        };
        return (length, number);
    }
    let octal = bytes[0] == b'0' && whole > 1;
    let digits = if octal { &bytes[1..word] } else { &bytes[..word] };
    (word, integer(digits, if octal { 8 } else { 10 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Result<Number, Invalid> {
        let (length, number) = scan(text.as_bytes());
        assert_eq!(length, text.len(), "{text}");
        number
    }

    fn int(bits: u64) -> Result<Number, Invalid> {
        Ok(Number::Integer { bits, unsigned: false })
    }

    fn unsigned(bits: u64) -> Result<Number, Invalid> {
        Ok(Number::Integer { bits, unsigned: true })
    }

    fn float(value: f64) -> Result<Number, Invalid> {
        Ok(Number::F64(value.to_bits()))
    }

    #[test]
    fn integers_of_every_base() {
        assert_eq!(number("0"), int(0));
        assert_eq!(number("42"), int(42));
        assert_eq!(number("42U"), unsigned(42));
        assert_eq!(number("0U"), unsigned(0));
        assert_eq!(number("0x1f"), int(31));
        assert_eq!(number("0X1FU"), unsigned(31));
        assert_eq!(number("0b101"), int(5));
        assert_eq!(number("0B101U"), unsigned(5));
        assert_eq!(number("017"), int(15));
        assert_eq!(number("9223372036854775807"), int(i64::MAX as u64));
        assert_eq!(number("9223372036854775808"), unsigned(1 << 63));
        assert_eq!(number("0xFFFFFFFFFFFFFFFF"), unsigned(u64::MAX));
        assert_eq!(number("18446744073709551616"), Err(Invalid::IntegerRange));
        assert_eq!(number("09"), Err(Invalid::Digits));
        assert_eq!(number("0x"), Err(Invalid::Digits));
        assert_eq!(number("0b12"), Err(Invalid::Digits));
        assert_eq!(number("12ab"), Err(Invalid::Digits));
        assert_eq!(number("1_000"), Err(Invalid::Digits));
    }

    #[test]
    fn fractions() {
        assert_eq!(number("1.5"), float(1.5));
        assert_eq!(number("1."), float(1.0));
        assert_eq!(number(".5"), float(0.5));
        assert_eq!(number("1e3"), float(1000.0));
        assert_eq!(number("1.5E-3"), float(0.0015));
        assert_eq!(number("1e+3"), float(1000.0));
        assert_eq!(number("1e400"), Err(Invalid::FloatRange));
        assert_eq!(number("1.0f"), Err(Invalid::Digits));
        assert_eq!(number("1e"), Err(Invalid::Digits));
        assert_eq!(number("007.5"), float(7.5));
    }

    #[test]
    fn exact_floats() {
        assert_eq!(number("0f3F800000"), Ok(Number::F32(0x3f80_0000)));
        assert_eq!(number("0Fff800000"), Ok(Number::F32(0xff80_0000)));
        assert_eq!(number("0d3FF0000000000000"), Ok(Number::F64(0x3ff0_0000_0000_0000)));
        assert_eq!(number("0f3f8"), Err(Invalid::FloatDigits(8)));
        assert_eq!(number("0f3f80000g"), Err(Invalid::FloatDigits(8)));
        assert_eq!(number("0d3FF00000000000000"), Err(Invalid::FloatDigits(16)));
    }

    #[test]
    fn a_number_ends_where_it_ends() {
        assert_eq!(scan(b"12;").0, 2);
        assert_eq!(scan(b"1.5,").0, 3);
        assert_eq!(scan(b"1+2").0, 1);
        assert_eq!(scan(b"1e+2+3").0, 4);
        assert_eq!(scan(b"0f3F800000]").0, 10);
    }
}
