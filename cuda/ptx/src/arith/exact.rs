//! Exact intermediate results, and the only function that rounds them.
//!
//! They serve the combinations that no host instruction covers: `f64` with directed rounding, and
//! 64-bit integers to floating point. This is slow compared with the host's arithmetic, and correct
//! by construction.

use super::Rounding;

/// A binary floating-point format with subnormals, infinities and NaNs.
#[derive(Clone, Copy)]
pub(super) struct Format {
    /// The number of bits of the fraction, without the leading one.
    pub(super) fraction: u32,
    /// The number of bits of the exponent.
    pub(super) exponent: u32,
}

pub(super) const DOUBLE: Format = Format { fraction: 52, exponent: 11 };

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }
}

/// A number: `±magnitude · 2^exponent`. The last bit of the magnitude is sticky: it may stand for
/// anything cut off below it, provided that the magnitude has at least two bits more than any
/// format keeps.
#[derive(Clone, Copy)]
pub(super) struct Exact {
    pub(super) negative: bool,
    pub(super) magnitude: u128,
    pub(super) exponent: i32,
}

impl Exact {
    /// Creates a finite `f64`.
    pub(super) fn from_f64(x: f64) -> Self {
        let bits = x.to_bits();
        let field = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let (magnitude, exponent) =
            if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        Self { negative: bits >> 63 != 0, magnitude: u128::from(magnitude), exponent }
    }

    pub(super) fn from_int(negative: bool, magnitude: u64) -> Self {
        Self { negative, magnitude: u128::from(magnitude), exponent: 0 }
    }

    /// Returns the product; exact if the magnitudes have 64 bits or fewer.
    pub(super) fn mul(self, b: Self) -> Self {
        Self {
            negative: self.negative ^ b.negative,
            magnitude: self.magnitude * b.magnitude,
            exponent: self.exponent + b.exponent,
        }
    }

    /// Returns the same number with its leading bit at bit 125, which leaves room for a carry above
    /// and guard bits below.
    fn normalized(self) -> Self {
        let leading = self.magnitude.leading_zeros() as i32;
        let shift = leading - 2;
        let magnitude = if shift >= 0 { self.magnitude << shift } else { self.magnitude >> -shift };
        Self { magnitude, exponent: self.exponent - shift, ..self }
    }

    /// Returns the sum. `zero_negative` is the sign of a sum that is exactly zero. Magnitudes have
    /// 107 bits or fewer.
    pub(super) fn add(self, b: Self, zero_negative: bool) -> Self {
        if self.magnitude == 0 && b.magnitude == 0 {
            let negative = if self.negative == b.negative { self.negative } else { zero_negative };
            return Self { negative, magnitude: 0, exponent: 0 };
        }
        if self.magnitude == 0 {
            return b;
        }
        if b.magnitude == 0 {
            return self;
        }
        let (x, y) = (self.normalized(), b.normalized());
        let (high, low) =
            if (x.exponent, x.magnitude) >= (y.exponent, y.magnitude) { (x, y) } else { (y, x) };
        let low_magnitude = shift_right_sticky(low.magnitude, high.exponent.abs_diff(low.exponent));
        if high.negative == low.negative {
            return Self { magnitude: high.magnitude + low_magnitude, ..high };
        }
        let magnitude = high.magnitude - low_magnitude;
        let negative = if magnitude == 0 { zero_negative } else { high.negative };
        Self { negative, magnitude, exponent: high.exponent }
    }

    /// Returns the quotient of two numbers of 53 bits or fewer. The divisor must not be zero.
    pub(super) fn div(self, b: Self) -> Self {
        // Aligned to their leading bits, so the quotient has 74 bits or more.
        let numerator = self.normalized();
        let shift = b.magnitude.leading_zeros() - 75;
        let divisor = b.magnitude << shift;
        let divisor_exponent = b.exponent - shift as i32;
        let quotient = numerator.magnitude / divisor;
        let sticky = u128::from(quotient * divisor != numerator.magnitude);
        Self {
            negative: self.negative ^ b.negative,
            magnitude: quotient << 1 | sticky,
            exponent: numerator.exponent - divisor_exponent - 1,
        }
    }

    /// Returns the root of a number that is not negative.
    pub(super) fn sqrt(self) -> Self {
        let mut x = self.normalized();
        if x.exponent & 1 != 0 {
            x.magnitude <<= 1;
            x.exponent -= 1;
        }
        let root = x.magnitude.isqrt();
        let sticky = u128::from(root * root != x.magnitude);
        Self { negative: self.negative, magnitude: root << 1 | sticky, exponent: x.exponent / 2 - 1 }
    }

    /// Returns the bits of this number in a format.
    pub(super) fn round(self, format: Format, rounding: Rounding) -> u64 {
        let sign = u64::from(self.negative) << (format.fraction + format.exponent);
        if self.magnitude == 0 {
            return sign;
        }
        let top = 127 - self.magnitude.leading_zeros() as i32;
        // The exponent of the last bit that is kept. All subnormals share the least exponent.
        let least = 1 - format.bias() - format.fraction as i32;
        let last = (self.exponent + top - format.fraction as i32).max(least);
        let cut = last - self.exponent;
        let (kept, half, rest) = split(self.magnitude, cut);
        let up = match rounding {
            Rounding::NearestEven => half && (rest || kept & 1 == 1),
            Rounding::Zero => false,
            Rounding::Down => self.negative && (half || rest),
            Rounding::Up => !self.negative && (half || rest),
        };
        // A carry out of the fraction increments the exponent, as the layout of the format intends.
        let field = (last - least) as u64 + u64::from(kept >> format.fraction != 0);
        if field >= (1 << format.exponent) - 1 {
            return sign | overflow(self.negative, format, rounding);
        }
        let bits = field << format.fraction | (kept & ((1 << format.fraction) - 1));
        sign | (bits + u64::from(up))
    }
}

/// Returns the bits that a number above the largest finite one is rounded to, without its sign.
fn overflow(negative: bool, format: Format, rounding: Rounding) -> u64 {
    let away = match rounding {
        Rounding::NearestEven => true,
        Rounding::Zero => false,
        Rounding::Down => negative,
        Rounding::Up => !negative,
    };
    format.infinity() - u64::from(!away)
}

/// Returns the bits above a cut (at most 64), the bit just below it, and whether any lower bit is
/// set.
fn split(magnitude: u128, cut: i32) -> (u64, bool, bool) {
    match cut {
        ..=0 => ((magnitude << -cut) as u64, false, false),
        1..=127 => {
            let half = magnitude >> (cut - 1) & 1 == 1;
            let rest = magnitude & ((1 << (cut - 1)) - 1) != 0;
            ((magnitude >> cut) as u64, half, rest)
        }
        128 => (0, magnitude >> 127 == 1, magnitude << 1 != 0),
        _ => (0, false, magnitude != 0),
    }
}

/// Shifts right. The last bit of the result stands for all bits that were shifted out.
fn shift_right_sticky(magnitude: u128, amount: u32) -> u128 {
    if amount > 127 {
        return u128::from(magnitude != 0);
    }
    let kept = magnitude >> amount;
    kept | u128::from(kept << amount != magnitude)
}
