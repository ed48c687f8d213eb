//! Rational numbers of any size and their rounding, straight from the definition. It is slow, and
//! shares nothing with the code under test.

use super::Rounding;
use num_bigint::BigUint;

/// `±numerator / denominator · 2^exponent`.
#[derive(Clone, Debug)]
pub(super) struct Rational {
    negative: bool,
    numerator: BigUint,
    denominator: BigUint,
    exponent: i64,
}

/// The number of bits of the fraction and of the exponent.
#[derive(Clone, Copy)]
pub(super) struct Format(u32, u32);

pub(super) const F16: Format = Format(10, 5);
pub(super) const BF16: Format = Format(7, 8);
pub(super) const F32: Format = Format(23, 8);
pub(super) const F64: Format = Format(52, 11);

impl Rational {
    pub(super) fn from_bits(bits: u64, Format(fraction, exponent): Format) -> Self {
        let field = (bits >> fraction) & ((1 << exponent) - 1);
        let low = bits & ((1 << fraction) - 1);
        let numerator = if field == 0 { low } else { low | 1 << fraction };
        let bias = (1i64 << (exponent - 1)) - 1;
        Self {
            negative: bits >> (fraction + exponent) & 1 == 1,
            numerator: BigUint::from(numerator),
            denominator: BigUint::from(1u32),
            exponent: (field.max(1) as i64) - bias - i64::from(fraction),
        }
    }

    pub(super) fn from_i128(x: i128) -> Self {
        Self {
            negative: x < 0,
            numerator: BigUint::from(x.unsigned_abs()),
            denominator: BigUint::from(1u32),
            exponent: 0,
        }
    }

    pub(super) fn f32(x: f32) -> Self {
        Self::from_bits(x.to_bits().into(), F32)
    }

    pub(super) fn f64(x: f64) -> Self {
        Self::from_bits(x.to_bits(), F64)
    }

    pub(super) fn mul(&self, b: &Self) -> Self {
        Self {
            negative: self.negative ^ b.negative,
            numerator: &self.numerator * &b.numerator,
            denominator: &self.denominator * &b.denominator,
            exponent: self.exponent + b.exponent,
        }
    }

    pub(super) fn div(&self, b: &Self) -> Self {
        Self {
            negative: self.negative ^ b.negative,
            numerator: &self.numerator * &b.denominator,
            denominator: &self.denominator * &b.numerator,
            exponent: self.exponent - b.exponent,
        }
    }

    /// Returns the sum of two numbers without denominators. An exact zero takes the sign that IEEE
    /// 754 gives it.
    pub(super) fn add(&self, b: &Self, rounding: Rounding) -> Self {
        let exponent = self.exponent.min(b.exponent);
        let one = &self.numerator << (self.exponent - exponent) as u64;
        let two = &b.numerator << (b.exponent - exponent) as u64;
        let (negative, numerator) = if self.negative == b.negative {
            (self.negative, one + two)
        } else if one == two {
            (rounding == Rounding::Down, BigUint::ZERO)
        } else if one > two {
            (self.negative, one - two)
        } else {
            (b.negative, two - one)
        };
        Self { negative, numerator, denominator: BigUint::from(1u32), exponent }
    }

    /// Returns a number that rounds like the root, in a format of 60 bits or fewer.
    pub(super) fn sqrt(&self) -> Self {
        let shift = 200 + (self.exponent & 1) as u64;
        let scaled = &self.numerator << shift;
        let root = scaled.sqrt();
        let inexact = &root * &root != scaled;
        Self {
            negative: self.negative,
            numerator: (root << 1u32) + u32::from(inexact),
            denominator: BigUint::from(1u32),
            exponent: (self.exponent - shift as i64) / 2 - 1,
        }
    }

    /// Rounds to a format and returns the bits.
    pub(super) fn round(&self, Format(fraction, exponent): Format, rounding: Rounding) -> u64 {
        let sign = u64::from(self.negative) << (fraction + exponent);
        if self.numerator == BigUint::ZERO {
            return sign;
        }
        let bias = (1i64 << (exponent - 1)) - 1;
        let least = 1 - bias - i64::from(fraction);
        // The quotient's leading bit is here or one lower. The division decides.
        let guess = self.numerator.bits() as i64 - self.denominator.bits() as i64 + self.exponent;
        let mut last = (guess - i64::from(fraction)).max(least);
        let (mut kept, mut half, mut exact) = self.divide(last);
        if kept.bits() <= u64::from(fraction) && last > least {
            last -= 1;
            (kept, half, exact) = self.divide(last);
        }
        let away = match rounding {
            Rounding::NearestEven => half.is_gt() || (half.is_eq() && kept.bit(0)),
            Rounding::Zero => false,
            Rounding::Down => !exact && self.negative,
            Rounding::Up => !exact && !self.negative,
        };
        let mut kept = u64::try_from(kept).expect("a format of 64 bits or fewer") + u64::from(away);
        if kept >> (fraction + 1) != 0 {
            kept >>= 1;
            last += 1;
        }
        let infinity = ((1u64 << exponent) - 1) << fraction;
        let bits = if kept >> fraction == 0 { kept } else { (((last - least) as u64) << fraction) + kept };
        if bits < infinity {
            return sign | bits;
        }
        let to_infinity = match rounding {
            Rounding::NearestEven => true,
            Rounding::Zero => false,
            Rounding::Down => self.negative,
            Rounding::Up => !self.negative,
        };
        sign | (infinity - u64::from(!to_infinity))
    }

    /// Returns this number in units of `2^last`: the whole part, how the rest compares with one
    /// half, and whether the rest is zero.
    fn divide(&self, last: i64) -> (BigUint, std::cmp::Ordering, bool) {
        let shift = self.exponent - last;
        let (numerator, denominator) = if shift >= 0 {
            (&self.numerator << shift as u64, self.denominator.clone())
        } else {
            (self.numerator.clone(), &self.denominator << shift.unsigned_abs())
        };
        let whole = &numerator / &denominator;
        let rest = numerator - &whole * &denominator;
        let exact = rest == BigUint::ZERO;
        let half = (rest << 1u32).cmp(&denominator);
        (whole, half, exact)
    }
}
