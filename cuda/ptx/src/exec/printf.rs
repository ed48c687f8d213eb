//! `printf` for programs: C's format, with arguments from device memory.

use std::fmt::Write as _;

/// A sink for output. It is called with the text of one `printf`, possibly by several threads at
/// once.
pub type Sink<'s> = dyn Fn(&str) + Sync + 's;

/// The greatest width and precision of a conversion.
const MAX_FIELD: usize = 4096;

/// A reader of arguments, which CUDA passes in memory, each at its natural alignment.
pub(crate) trait Arguments {
    /// The error of a read.
    type Error;
    fn next(&mut self, bytes: u64) -> Result<u64, Self::Error>;
    /// Returns the string at an address.
    fn string(&mut self, address: u64) -> Result<Vec<u8>, Self::Error>;
}

/// A conversion: `%-08.3lld`.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Whether an integer has 64 bits.
    long: bool,
    /// The width of an integer below 32 bits: `h`, `hh`.
    short: Option<u32>,
}

/// Returns the text of a `printf`.
pub(crate) fn format<A: Arguments>(format: &[u8], arguments: &mut A) -> Result<String, A::Error> {
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.iter().position(|&byte| byte == b'%') {
        out.push_str(&String::from_utf8_lossy(&rest[..at]));
        rest = &rest[at + 1..];
        rest = convert(rest, arguments, &mut out)?;
    }
    out.push_str(&String::from_utf8_lossy(rest));
    Ok(out)
}

/// Formats one conversion and returns the rest of the format. `rest` starts after the `%`.
fn convert<'f, A: Arguments>(
    mut rest: &'f [u8],
    arguments: &mut A,
    out: &mut String,
) -> Result<&'f [u8], A::Error> {
    let start = rest;
    let mut spec = Spec::default();
    while let Some((&flag, tail)) = rest.split_first() {
        match flag {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alternate = true,
            b'0' => spec.zero = true,
            _ => break,
        }
        rest = tail;
    }
    let width;
    (width, rest) = number(rest, arguments)?;
    let width = width.unwrap_or(0);
    spec.left |= width < 0;
    spec.width = (width.unsigned_abs() as usize).min(MAX_FIELD);
    if let [b'.', tail @ ..] = rest {
        let precision;
        (precision, rest) = number(tail, arguments)?;
        let precision = precision.unwrap_or(0);
        spec.precision = usize::try_from(precision).ok().map(|precision| precision.min(MAX_FIELD));
    }
    while let Some((&length, tail)) = rest.split_first() {
        match length {
            b'l' | b'j' | b'z' | b't' | b'q' => spec.long = true,
            b'h' => spec.short = Some(if spec.short.is_some() { 8 } else { 16 }),
            b'L' => {}
            _ => break,
        }
        rest = tail;
    }
    let Some((&conversion, tail)) = rest.split_first() else {
        out.push('%');
        out.push_str(&String::from_utf8_lossy(start));
        return Ok(&[]);
    };
    match conversion {
        b'%' => out.push('%'),
        b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => {
            let value = arguments.next(if spec.long { 8 } else { 4 })?;
            out.push_str(&spec.integer(conversion, value));
        }
        b'c' => {
            let value = arguments.next(4)? as u8;
            out.push_str(&spec.pad(String::from_utf8_lossy(&[value]).into_owned(), false));
        }
        b'p' => {
            let value = arguments.next(8)?;
            out.push_str(&spec.pad(format!("{value:#x}"), false));
        }
        b's' => {
            let address = arguments.next(8)?;
            let mut text = if address == 0 { b"(null)".to_vec() } else { arguments.string(address)? };
            text.truncate(spec.precision.unwrap_or(usize::MAX));
            out.push_str(&spec.pad(String::from_utf8_lossy(&text).into_owned(), false));
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = f64::from_bits(arguments.next(8)?);
            out.push_str(&spec.float(conversion, value));
        }
        _ => {
            out.push('%');
            out.push_str(&String::from_utf8_lossy(&start[..start.len() - tail.len()]));
        }
    }
    Ok(tail)
}

/// Reads a width or a precision, which is digits or `*` for an argument, and returns it with the
/// rest of the format.
fn number<'f, A: Arguments>(
    mut rest: &'f [u8],
    arguments: &mut A,
) -> Result<(Option<i32>, &'f [u8]), A::Error> {
    if let [b'*', tail @ ..] = rest {
        return Ok((Some(arguments.next(4)? as i32), tail));
    }
    let mut value = None;
    while let Some((digit, tail)) = rest.split_first().filter(|(byte, _)| byte.is_ascii_digit()) {
        value = Some(value.unwrap_or(0i32).saturating_mul(10).saturating_add(i32::from(digit - b'0')));
        rest = tail;
    }
    Ok((value, rest))
}

impl Spec {
    /// Pads a field. Zeros go between the sign or `0x` and the digits.
    fn pad(&self, text: String, numeric: bool) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        if self.left {
            return text + &" ".repeat(missing);
        }
        if !self.zero || !numeric {
            return " ".repeat(missing) + &text;
        }
        let sign = usize::from(text.starts_with(['-', '+', ' ']));
        let prefix =
            if text[sign..].starts_with("0x") || text[sign..].starts_with("0X") { sign + 2 } else { sign };
        format!("{}{}{}", &text[..prefix], "0".repeat(missing), &text[prefix..])
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        }
    }

    fn integer(&self, conversion: u8, value: u64) -> String {
        let bits = self.short.unwrap_or(if self.long { 64 } else { 32 });
        let unused = 64 - bits;
        let (magnitude, sign) = if matches!(conversion, b'd' | b'i') {
            let value = (value << unused) as i64 >> unused;
            (value.unsigned_abs(), self.sign(value < 0))
        } else {
            (value << unused >> unused, "")
        };
        let mut digits = match conversion {
            b'x' => format!("{magnitude:x}"),
            b'X' => format!("{magnitude:X}"),
            b'o' => format!("{magnitude:o}"),
            _ => magnitude.to_string(),
        };
        if self.precision == Some(0) && magnitude == 0 {
            digits.clear();
        }
        let missing = self.precision.unwrap_or(0).saturating_sub(digits.len());
        digits.insert_str(0, &"0".repeat(missing));
        let prefix = match conversion {
            b'x' if self.alternate && magnitude != 0 => "0x",
            b'X' if self.alternate && magnitude != 0 => "0X",
            b'o' if self.alternate && !digits.starts_with('0') => "0",
            _ => "",
        };
        self.pad(format!("{sign}{prefix}{digits}"), self.precision.is_none())
    }

    fn float(&self, conversion: u8, value: f64) -> String {
        let upper = conversion.is_ascii_uppercase();
        let sign = self.sign(value.is_sign_negative());
        let magnitude = value.abs();
        let finite = magnitude.is_finite();
        let body = if magnitude.is_nan() {
            "nan".into()
        } else if !finite {
            "inf".into()
        } else {
            match conversion.to_ascii_lowercase() {
                b'f' => self.fixed(magnitude, self.precision.unwrap_or(6)),
                b'e' => exponential(magnitude, self.precision.unwrap_or(6), self.alternate),
                b'g' => self.shortest(magnitude),
                _ => self.hexadecimal(magnitude),
            }
        };
        let body = if upper { body.to_ascii_uppercase() } else { body };
        self.pad(format!("{sign}{body}"), finite)
    }

    fn fixed(&self, value: f64, precision: usize) -> String {
        let point = if self.alternate && precision == 0 { "." } else { "" };
        format!("{value:.precision$}{point}")
    }

    /// Formats `%g`: fixed or exponential notation, whichever suits, without trailing zeros.
    fn shortest(&self, value: f64) -> String {
        let precision = self.precision.unwrap_or(6).max(1);
        let rounded = exponential(value, precision - 1, true);
        let exponent: i32 = rounded.rsplit('e').next().and_then(|e| e.parse().ok()).unwrap_or(0);
        let trim = |text: &str| {
            if self.alternate || !text.contains('.') {
                return text.to_owned();
            }
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        if exponent < -4 || exponent >= precision as i32 {
            let (digits, exponent) = rounded.split_once('e').unwrap_or((&rounded, "+00"));
            format!("{}e{exponent}", trim(digits))
        } else {
            trim(&self.fixed(value, (precision as i32 - 1 - exponent) as usize))
        }
    }

    /// Formats `%a`.
    fn hexadecimal(&self, value: f64) -> String {
        let bits = value.to_bits();
        let (exponent, mut fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        let mut lead = u64::from(exponent != 0);
        let power = if value == 0.0 { 0 } else { exponent.max(1) - 1023 };
        let mut digits = 13;
        if let Some(precision) = self.precision.filter(|&precision| precision < 13) {
            let shift = 52 - 4 * precision as u32;
            let whole = lead << 52 | fraction;
            let (kept, lost) = (whole >> shift, whole & ((1 << shift) - 1));
            let half = 1 << (shift - 1);
            let kept = kept + u64::from(lost > half || lost == half && kept & 1 == 1);
            lead = kept >> (4 * precision);
            fraction = kept & ((1 << (4 * precision)) - 1);
            digits = precision;
        }
        let mut text = if digits == 0 { String::new() } else { format!("{fraction:0digits$x}") };
        match self.precision {
            None => text.truncate(text.trim_end_matches('0').len()),
            Some(precision) => text.push_str(&"0".repeat(precision.saturating_sub(13))),
        }
        let point = if text.is_empty() && !self.alternate { "" } else { "." };
        format!("0x{lead}{point}{text}p{power:+}")
    }
}

fn exponential(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut out = digits.to_owned();
    if point && precision == 0 {
        out.push('.');
    }
    // Writing to a string cannot fail.
    let _ = write!(out, "e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    struct List(Vec<u64>);
    impl Arguments for List {
        type Error = ();
        fn next(&mut self, _: u64) -> Result<u64, ()> {
            if self.0.is_empty() { Err(()) } else { Ok(self.0.remove(0)) }
        }
        fn string(&mut self, _: u64) -> Result<Vec<u8>, ()> {
            Ok(b"text".to_vec())
        }
    }

    fn check(spec: &str, arguments: &[u64], expected: &str) {
        assert_eq!(format(spec.as_bytes(), &mut List(arguments.to_vec())).as_deref(), Ok(expected), "{spec}");
    }

    #[test]
    fn integers() {
        check("%d%%", &[-5i64 as u64], "-5%");
        check("[%5d|%-5d|%05d|%+d]", &[42, 42, 42, 42], "[   42|42   |00042|+42]");
        check("%u %x %X %#x %o", &[u64::MAX, 255, 255, 255, 8], "4294967295 ff FF 0xff 10");
        check("%lld %llu", &[u64::MAX, u64::MAX], "-1 18446744073709551615");
        check("%hhd %hu", &[0x1ff, 0x1_0001], "-1 1");
        check("%.3d|%*d|%.0d|", &[7, 4, 7, 0], "007|   7||");
        check("%c%s%p", &[65, 1, 16], "Atext0x10");
        check("%-6s|%6.2s|", &[1, 1], "text  |    te|");
    }

    #[test]
    fn floats() {
        let f = f64::to_bits;
        check("%f %.2f %5.1f|", &[f(1.5), f(2.375), f(9.96)], "1.500000 2.38  10.0|");
        check("%e %E", &[f(12345.678), f(0.0)], "1.234568e+04 0.000000E+00");
        check("%g %g %g %g", &[f(0.0001), f(1e-5), f(123_456.0), f(1e6)], "0.0001 1e-05 123456 1e+06");
        check("%f %f %F", &[f(f64::NAN), f(f64::NEG_INFINITY), f(f64::INFINITY)], "nan -inf INF");
        check("%a %.1a", &[f(1.0), f(1.96875)], "0x1p+0 0x2.0p+0");
        check("%08.2f|%+.0f", &[f(-3.25), f(2.5)], "-0003.25|+2");
    }

    #[test]
    fn unknown_conversions_are_printed_verbatim() {
        check("100%", &[], "100%");
        check("%y %", &[], "%y %");
        assert!(format(b"%d", &mut List(vec![])).is_err());
    }
}
