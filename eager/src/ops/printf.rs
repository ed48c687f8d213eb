//! Formats numbers like C's `printf`, as TensorFlow's string ops do.
//!
//! Widths and precisions come from programs. Their memory is reserved first, so that excessive ones
//! are errors.

use std::{fmt::Write as _, iter::repeat_n};

use tfrt_host::Diagnostic;

use bstr::BString;

use super::strings::{reserve, with_room};

/// The greatest number of decimal places, and of digits, of a finite number. All further digits are
/// zero.
const MAX_PLACES: usize = 1100;
/// The length of the longest exponent, with its letter and sign.
const MAX_EXPONENT: usize = 5;

/// The notation of a floating-point number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// `%f`: without an exponent.
    Fixed,
    /// `%e`: one digit before the point, and an exponent.
    Scientific,
    /// `%g`: the shorter of the two, without trailing zeros.
    Shortest,
}

/// A conversion: `%`, a flag, width, precision, notation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// One of ` `, `+`, `-`, `0`, `#`.
    pub(super) flag: Option<char>,
    /// The least length.
    pub(super) width: usize,
    /// The digits after the point, or significant digits for [`Notation::Shortest`]. The default is
    /// 6.
    pub(super) precision: Option<usize>,
    pub(super) notation: Notation,
}

impl Format {
    /// Returns the format `%.{digits}g`.
    pub(super) fn significant(digits: usize) -> Self {
        Self { flag: None, width: 0, precision: Some(digits), notation: Notation::Shortest }
    }

    /// Formats a floating-point number.
    ///
    /// # Errors
    /// OutOfMemory for too many characters, as for the other methods.
    pub(super) fn float(&self, x: f64) -> Result<String, Diagnostic> {
        let sign = self.sign(x.is_sign_negative());
        if !x.is_finite() {
            return self.padded(sign, if x.is_nan() { "nan" } else { "inf" }, false);
        }
        let (x, precision) = (x.abs(), self.precision.unwrap_or(6));
        let digits = match self.notation {
            Notation::Fixed => self.fixed(x, precision)?,
            Notation::Scientific => self.scientific(x, precision)?.0,
            Notation::Shortest => self.shortest(x, precision.max(1))?,
        };
        self.padded(sign, &digits, true)
    }

    /// Formats a signed integer.
    pub(super) fn signed(&self, x: impl Into<i64>) -> Result<String, Diagnostic> {
        let x = x.into();
        self.padded(self.sign(x < 0), &x.unsigned_abs().to_string(), true)
    }

    /// Formats an unsigned integer, which never gets a sign.
    pub(super) fn unsigned(&self, x: impl Into<u64>) -> Result<String, Diagnostic> {
        self.padded("", &x.into().to_string(), true)
    }

    /// Formats a string, whose length is counted in bytes. If there is a width, the precision
    /// limits the length.
    ///
    /// # Errors
    /// InvalidArgument if that would cut a character.
    pub(super) fn text(&self, text: &[u8]) -> Result<BString, Diagnostic> {
        let most = self.precision.filter(|_| self.width > 0).unwrap_or(text.len());
        let part = &text[..most.min(text.len())];
        let spaces = self.width.saturating_sub(part.len());
        let mut padded = with_room(part.len().saturating_add(spaces))?;
        let is_left = self.flag == Some('-');
        if !is_left {
            padded.resize(spaces, b' ');
        }
        padded.extend_from_slice(part);
        padded.resize(part.len() + spaces, b' ');
        Ok(padded)
    }

    fn sign(&self, is_negative: bool) -> &'static str {
        match self.flag {
            _ if is_negative => "-",
            Some('+') => "+",
            Some(' ') => " ",
            _ => "",
        }
    }

    fn is_alternate(&self) -> bool {
        self.flag == Some('#')
    }

    fn padded(&self, sign: &str, digits: &str, is_number: bool) -> Result<String, Diagnostic> {
        let own = sign.len() + digits.len();
        let (mut text, fill) = (String::new(), |fill| repeat_n(fill, self.width.saturating_sub(own)));
        reserve(&mut text, self.width.max(own))?;
        if self.flag != Some('-') && !(self.flag == Some('0') && is_number) {
            text.extend(fill(' '));
        }
        text.push_str(sign);
        if self.flag == Some('0') && is_number {
            text.extend(fill('0'));
        }
        text.push_str(digits);
        if self.flag == Some('-') {
            text.extend(fill(' '));
        }
        Ok(text)
    }

    fn fixed(&self, x: f64, places: usize) -> Result<String, Diagnostic> {
        let (mut text, zeros) =
            (format!("{x:.*}", places.min(MAX_PLACES)), places.saturating_sub(MAX_PLACES));
        reserve(&mut text, zeros)?;
        text.extend(repeat_n('0', zeros));
        if places == 0 && self.is_alternate() {
            text.push('.');
        }
        Ok(text)
    }

    /// Returns the number in scientific notation, and its exponent.
    fn scientific(&self, x: f64, places: usize) -> Result<(String, i32), Diagnostic> {
        let text = format!("{x:.*e}", places.min(MAX_PLACES));
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or_default();
        let (mut text, zeros) = (digits.to_owned(), places.saturating_sub(MAX_PLACES));
        reserve(&mut text, zeros.saturating_add(MAX_EXPONENT))?;
        text.extend(repeat_n('0', zeros));
        if places == 0 && self.is_alternate() {
            text.push('.');
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        // Writing to a string cannot fail.
        let _ = write!(text, "e{sign}{:02}", exponent.unsigned_abs());
        Ok((text, exponent))
    }

    fn shortest(&self, x: f64, digits: usize) -> Result<String, Diagnostic> {
        let (scientific, exponent) = self.scientific(x, digits - 1)?;
        let places = digits as i64 - 1 - i64::from(exponent);
        if exponent >= -4 && places >= 0 {
            let fixed = self.fixed(x, places as usize)?;
            return Ok(if self.is_alternate() { fixed } else { without_zeros(&fixed).to_owned() });
        }
        match scientific.split_once('e') {
            Some((digits, exponent)) if !self.is_alternate() => {
                Ok(format!("{}e{exponent}", without_zeros(digits)))
            }
            _ => Ok(scientific),
        }
    }
}

/// Returns digits without trailing zeros of a fraction, and without a trailing point.
fn without_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

#[cfg(test)]
mod tests {
    use tfrt_host::ErrorCode;

    use super::*;

    fn written(
        flag: Option<char>,
        width: usize,
        precision: Option<usize>,
        notation: Notation,
        x: f64,
    ) -> String {
        Format { flag, width, precision, notation }.float(x).unwrap()
    }

    #[test]
    fn numbers_are_written_as_in_c() {
        use Notation::{Fixed, Scientific, Shortest};
        let cases = [
            (written(None, 0, None, Fixed, 0.1), "0.100000"),
            (written(Some('0'), 8, Some(1), Fixed, -2.55), "-00002.5"),
            (written(Some('0'), 6, None, Fixed, f64::NEG_INFINITY), "  -inf"),
            (written(Some('+'), 0, Some(0), Scientific, 12345.0), "+1e+04"),
            (written(Some('#'), 0, Some(0), Fixed, 2.0), "2."),
            (written(None, 0, None, Scientific, 1e-300), "1.000000e-300"),
            (written(None, 0, None, Shortest, 1e-5), "1e-05"),
            (written(None, 0, None, Shortest, 0.0001), "0.0001"),
            (written(None, 0, None, Shortest, 999_999.5), "1e+06"),
            (written(None, 0, Some(0), Shortest, 0.0), "0"),
            (written(Some('#'), 0, None, Shortest, 100.0), "100.000"),
            (written(Some('-'), 5, Some(1), Fixed, 1.5), "1.5  "),
        ];
        for (written, expected) in cases {
            assert_eq!(written, expected);
        }
        let long = written(None, 0, Some(70_000), Fixed, f64::MIN_POSITIVE);
        assert_eq!(long.len(), 70_002);
        assert!(long.ends_with("000") && long.contains("22250738585072013"));
    }

    #[test]
    fn oversized_output_is_an_error() {
        let wide = Format { flag: None, width: usize::MAX, precision: None, notation: Notation::Fixed };
        assert_eq!(wide.signed(1).unwrap_err().code, ErrorCode::OutOfMemory);
        // The reserved memory is enough: a string that had grown would have twice the capacity.
        for flag in [None, Some('0'), Some('-')] {
            let text = Format { flag, width: 100_000, ..wide }.signed(-12).unwrap();
            assert!(text.len() == 100_000 && text.capacity() < 150_000, "{flag:?}");
        }
        assert!(wide.scientific(1e-300, 100_000).unwrap().0.capacity() < 150_000);
    }
}
