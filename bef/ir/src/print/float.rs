//! Prints floating-point numbers as MLIR does: `1.000000e+00` if six digits suffice, else with
//! enough digits, else the bits in hexadecimal. The digits are those of the exact decimal expansion
//! with MLIR's truncation, so that texts compare equal.

use std::fmt;

use crate::Type;
use crate::attr::{float_bits, float_value};

/// Prints the float with these bits in float type `ty`.
pub(crate) fn write_float(f: &mut dyn fmt::Write, bits: u64, ty: &Type) -> fmt::Result {
    let value = float_value(bits, ty);
    if value.is_finite() {
        let short = six_digits(value);
        if reads_back(&short, bits, ty) {
            return f.write_str(&short);
        }
        let full = full_digits(value, precision(ty));
        // Without a point the text would parse back as an integer.
        if full.contains('.') && reads_back(&full, bits, ty) {
            return f.write_str(&full);
        }
    }
    write!(f, "0x{bits:X}")
}

fn reads_back(text: &str, bits: u64, ty: &Type) -> bool {
    text.parse::<f64>().ok().and_then(|value| float_bits(value, ty)) == Some(bits)
}

/// Returns the number of bits of the significand, including the hidden one.
fn precision(ty: &Type) -> usize {
    match ty {
        Type::F16 => 11,
        Type::BF16 => 8,
        Type::F32 => 24,
        _ => 53,
    }
}

/// A positive number as decimal digits, most significant first and without trailing zeros, times
/// `10^exponent`.
struct Decimal {
    digits: Vec<u8>,
    exponent: i32,
}

/// Converts the magnitude of a finite, non-zero value to about `wanted` digits.
///
/// The exact expansion is first truncated, not rounded, to the number of bits that `wanted` digits
/// need, and then rounded half up to `wanted` digits.
fn decimal(value: f64, wanted: usize) -> Decimal {
    let bits = value.to_bits();
    let raw_exponent = (bits >> 52 & 0x7FF) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (significand, exponent) =
        if raw_exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, raw_exponent - 1075) };
    let zeros = significand.trailing_zeros().min(63);
    let mut number = Big::from(significand >> zeros);
    let mut exponent = exponent + zeros as i32;
    if exponent > 0 {
        for _ in 0..exponent {
            number.multiply(2);
        }
        exponent = 0;
    } else {
        for _ in 0..-exponent {
            number.multiply(5);
        }
    }
    let bits_wanted = (wanted * 196).div_ceil(59);
    if let Some(excess) = number.bits().checked_sub(bits_wanted) {
        let tens = excess * 59 / 196;
        for _ in 0..tens {
            number.divide_by_ten();
        }
        exponent += tens as i32;
    }
    let mut digits = Vec::new();
    while !number.is_zero() {
        digits.push(number.divide_by_ten());
    }
    digits.reverse();
    if digits.len() > wanted {
        exponent += (digits.len() - wanted) as i32;
        let round_up = digits[wanted] >= 5;
        digits.truncate(wanted);
        if round_up {
            increment(&mut digits, &mut exponent);
        }
    }
    while digits.len() > 1 && digits.last() == Some(&0) {
        digits.pop();
        exponent += 1;
    }
    Decimal { digits, exponent }
}

/// Adds one to the last digit.
fn increment(digits: &mut Vec<u8>, exponent: &mut i32) {
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return;
        }
        *digit = 0;
    }
    *exponent += digits.len() as i32;
    *digits = vec![1];
}

fn sign(value: f64) -> &'static str {
    if value.is_sign_negative() { "-" } else { "" }
}

fn ascii(digits: &[u8]) -> String {
    digits.iter().map(|digit| char::from(b'0' + digit)).collect()
}

/// Formats as `1.500000e+00`: six digits after the point, of which at most five are significant.
fn six_digits(value: f64) -> String {
    let sign = sign(value);
    if value == 0.0 {
        return format!("{sign}0.000000e+00");
    }
    let Decimal { digits, exponent } = decimal(value, 6);
    let exponent = exponent + digits.len() as i32 - 1;
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    let fraction = ascii(&digits[1..]);
    format!("{sign}{}.{fraction:0<6}e{exponent_sign}{:02}", digits[0], exponent.abs())
}

/// Formats with enough digits to distinguish the number from its neighbours, positionally unless
/// that takes much padding.
fn full_digits(value: f64, precision: usize) -> String {
    const MAX_PADDING: i32 = 3;
    let sign = sign(value);
    if value == 0.0 {
        return format!("{sign}0");
    }
    let wanted = 2 + precision * 59 / 196;
    let Decimal { digits, exponent } = decimal(value, wanted);
    let count = digits.len() as i32;
    let leading = exponent + count - 1;
    let scientific = match exponent {
        0.. => exponent > MAX_PADDING || count + exponent > wanted as i32,
        _ => leading < 0 && -leading > MAX_PADDING,
    };
    if scientific {
        let fraction = if count == 1 { "0".to_owned() } else { ascii(&digits[1..]) };
        let exponent_sign = if leading < 0 { '-' } else { '+' };
        return format!("{sign}{}.{fraction}E{exponent_sign}{}", digits[0], leading.abs());
    }
    let text = ascii(&digits);
    if exponent >= 0 {
        return format!("{sign}{text}{}", "0".repeat(exponent as usize));
    }
    if leading >= 0 {
        let (whole, fraction) = text.split_at(leading as usize + 1);
        return format!("{sign}{whole}.{fraction}");
    }
    format!("{sign}0.{}{text}", "0".repeat(-leading as usize - 1))
}

/// A natural number of any size: least significant word first, without leading zero words.
struct Big(Vec<u32>);

impl From<u64> for Big {
    fn from(value: u64) -> Big {
        let mut big = Big(vec![value as u32, (value >> 32) as u32]);
        big.trim();
        big
    }
}

impl Big {
    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn bits(&self) -> usize {
        self.0.last().map_or(0, |last| self.0.len() * 32 - last.leading_zeros() as usize)
    }

    fn multiply(&mut self, factor: u32) {
        let mut carry = 0u64;
        for word in &mut self.0 {
            let product = u64::from(*word) * u64::from(factor) + carry;
            *word = product as u32;
            carry = product >> 32;
        }
        if carry != 0 {
            self.0.push(carry as u32);
        }
    }

    /// Divides and returns the remainder.
    fn divide_by_ten(&mut self) -> u8 {
        let mut remainder = 0u64;
        for word in self.0.iter_mut().rev() {
            let dividend = remainder << 32 | u64::from(*word);
            *word = (dividend / 10) as u32;
            remainder = dividend % 10;
        }
        self.trim();
        remainder as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(value: f64, ty: &Type) -> String {
        let mut text = String::new();
        write_float(&mut text, float_bits(value, ty).unwrap(), ty).unwrap();
        text
    }

    #[test]
    fn numbers_print_as_mlir_prints_them() {
        let table = [
            (1.0, Type::F32, "1.000000e+00"),
            (-0.1, Type::F32, "-1.000000e-01"),
            (0.0, Type::F64, "0.000000e+00"),
            (-0.0, Type::F32, "-0.000000e+00"),
            (0.1, Type::F64, "1.000000e-01"),
            // Truncated before it is rounded: six digits of this one would be 6.99999.
            (0.7, Type::F32, "0.699999988"),
            (1.0 / 3.0, Type::F32, "0.333333343"),
            (1.0 / 3.0, Type::F64, "0.33333333333333331"),
            (123456.0, Type::F32, "1.234560e+05"),
            (2.2, Type::F32, "2.200000e+00"),
            (std::f64::consts::PI, Type::F32, "3.14159274"),
            (1e30, Type::F32, "1.000000e+30"),
            (f64::MAX, Type::F64, "1.7976931348623157E+308"),
            (5e-324, Type::F64, "4.940660e-324"),
            // Positional without a point, so the bits are printed instead.
            (16_777_216.0, Type::F32, "0x4B800000"),
            (1.5, Type::F16, "1.500000e+00"),
            (1.0, Type::BF16, "1.000000e+00"),
            (f64::INFINITY, Type::F32, "0x7F800000"),
            (f64::NAN, Type::F16, "0x7E00"),
            (f64::NEG_INFINITY, Type::F64, "0xFFF0000000000000"),
        ];
        for (value, ty, text) in table {
            assert_eq!(print(value, &ty), text, "{value} : {ty}");
        }
    }

    #[test]
    fn every_half_reads_back() {
        for ty in [Type::F16, Type::BF16] {
            for bits in 0..=u64::from(u16::MAX) {
                let mut text = String::new();
                write_float(&mut text, bits, &ty).unwrap();
                let back = match text.strip_prefix("0x") {
                    Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
                    None => float_bits(text.parse().unwrap(), &ty).unwrap(),
                };
                assert_eq!(back, bits, "{text} : {ty}");
            }
        }
    }
}
