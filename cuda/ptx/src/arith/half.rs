//! `f16` and `bf16` arithmetic on bit patterns, with one rounding each.
//!
//! A sum, difference or product of halves may be rounded to `f32` first and then to the half
//! format: the result is the same as with one rounding, because `f32` has more than twice as many
//! bits plus two. This does not hold for a fused multiply-add, so its sum is rounded to odd.

use super::single::{self, Extremum};
use super::{Modes, Rounding, approx};

/// A 16-bit floating-point format.
pub(crate) trait Half {
    /// The least positive normal number.
    const MIN_NORMAL: u16;
    /// Positive infinity.
    const INFINITY: u16;

    /// Returns the number that a bit pattern stands for.
    fn to_f32(bits: u16) -> f32;
    /// Returns the nearest half, ties to even. A NaN becomes the canonical one.
    fn from_f32(x: f32) -> u16;
    /// `a · b + c` with one rounding.
    fn fused(a: f32, b: f32, c: f32) -> u16;
}

/// The result of an operation that makes a NaN, in both formats.
pub(crate) const CANONICAL_NAN: u16 = 0x7fff;

const SIGN: u16 = 0x8000;

/// `f16`: IEEE binary16.
#[derive(Clone, Copy, Debug)]
pub(crate) struct F16;

/// `bf16`: the upper half of an `f32`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bf16;

impl Half for F16 {
    const MIN_NORMAL: u16 = 0x0400;
    const INFINITY: u16 = 0x7c00;

    #[inline(always)]
    fn to_f32(bits: u16) -> f32 {
        /// The difference of the exponents' biases, at the position of an `f32`'s exponent.
        const REBIAS: u32 = 112 << 23;
        let sign = u32::from(bits & SIGN) << 16;
        let magnitude = u32::from(bits & !SIGN) << 13;
        let normal = magnitude + REBIAS;
        let special = magnitude + 2 * REBIAS;
        // A subnormal is its fraction plus the least normal number, which is then subtracted
        // exactly.
        let subnormal =
            (f32::from_bits(magnitude + REBIAS + (1 << 23)) - f32::from_bits(REBIAS + (1 << 23))).to_bits();
        let finite = if bits & !SIGN < Self::MIN_NORMAL { subnormal } else { normal };
        let value = if bits & !SIGN >= Self::INFINITY { special } else { finite };
        f32::from_bits(value | sign)
    }

    #[inline(always)]
    fn from_f32(x: f32) -> u16 {
        let sign = (x.to_bits() >> 16) as u16 & SIGN;
        let magnitude = x.to_bits() & 0x7fff_ffff;
        // Adds half a unit less one, and one more if the kept bits are odd: a tie goes to even.
        let odd = magnitude >> 13 & 1;
        let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + odd) >> 13;
        // The last bit of 0.5 is the unit of f16's subnormals, so the addition rounds to it.
        let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
        let finite = if magnitude < 113 << 23 { subnormal } else { normal };
        let number = if magnitude >= 143 << 23 { u32::from(Self::INFINITY) } else { finite };
        if magnitude > 0x7f80_0000 { CANONICAL_NAN } else { number as u16 | sign }
    }

    #[inline(always)]
    fn fused(a: f32, b: f32, c: f32) -> u16 {
        // The product is exact: it has 22 bits and lies between 2^-48 and 2^32.
        Self::from_f32(odd_sum(a * b, c))
    }
}

impl Half for Bf16 {
    const MIN_NORMAL: u16 = 0x0080;
    const INFINITY: u16 = 0x7f80;

    #[inline(always)]
    fn to_f32(bits: u16) -> f32 {
        f32::from_bits(u32::from(bits) << 16)
    }

    #[inline(always)]
    fn from_f32(x: f32) -> u16 {
        let bits = x.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        if x.is_nan() { CANONICAL_NAN } else { rounded as u16 }
    }

    #[inline(always)]
    fn fused(a: f32, b: f32, c: f32) -> u16 {
        // The product may leave the range of f32 even if the sum does not.
        let sum = single::odd_sum(f64::from(a) * f64::from(b), f64::from(c));
        Self::from_f32(single::odd_from_double(sum))
    }
}

/// Returns a sum rounded to odd, like `single::odd_sum` but in `f32`.
#[inline(always)]
fn odd_sum(a: f32, b: f32) -> f32 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    let outward = (error > 0.0) == (sum > 0.0);
    let step = 2 * i32::from(outward) - 1;
    let inexact = (error > 0.0) | (error < 0.0);
    let odd = (bits as i32).wrapping_add(step * i32::from(inexact & (bits & 1 == 0)));
    f32::from_bits(odd as u32)
}

/// Returns an `f32` rounded to a half in any direction.
#[inline(always)]
pub(crate) fn round<H: Half>(x: f32, rounding: Rounding) -> u16 {
    let bits = H::from_f32(x);
    let back = H::to_f32(bits);
    let toward_zero = bits.wrapping_sub(1);
    let away = bits.wrapping_add(1);
    let negative = bits & SIGN != 0;
    match rounding {
        Rounding::NearestEven => bits,
        Rounding::Zero if back.abs() > x.abs() => toward_zero,
        Rounding::Down if back > x => {
            if negative {
                away
            } else {
                toward_zero
            }
        }
        Rounding::Up if back < x => {
            if negative {
                toward_zero
            } else {
                away
            }
        }
        _ => bits,
    }
}

/// `.ftz`: a subnormal becomes a zero of its sign.
#[inline(always)]
pub(crate) fn flush<H: Half>(bits: u16, ftz: bool) -> u16 {
    if ftz & (bits & !SIGN < H::MIN_NORMAL) { bits & SIGN } else { bits }
}

/// Returns whether a bit pattern is a NaN.
#[inline(always)]
pub(crate) fn is_nan<H: Half>(bits: u16) -> bool {
    bits & !SIGN > H::INFINITY
}

/// `.sat`: clamps to `[0.0, 1.0]`; a NaN becomes `+0.0`.
#[inline(always)]
pub(crate) fn saturate<H: Half>(bits: u16) -> u16 {
    H::from_f32(single::saturate(H::to_f32(bits)))
}

/// `.relu`: a negative number becomes `+0.0`, a NaN the canonical one.
#[inline(always)]
pub(crate) fn relu<H: Half>(bits: u16) -> u16 {
    let positive = if bits & SIGN != 0 { 0 } else { bits };
    if is_nan::<H>(bits) { CANONICAL_NAN } else { positive }
}

#[inline(always)]
fn finish<H: Half>(bits: u16, modes: Modes) -> u16 {
    let flushed = flush::<H>(bits, modes.ftz);
    if modes.saturate { saturate::<H>(flushed) } else { flushed }
}

/// `add.f16`, `add.bf16`: rounds to nearest and ignores the modes' rounding.
#[inline(always)]
pub(crate) fn add<H: Half>(a: u16, b: u16, modes: Modes) -> u16 {
    let (a, b) = (flush::<H>(a, modes.ftz), flush::<H>(b, modes.ftz));
    finish::<H>(H::from_f32(H::to_f32(a) + H::to_f32(b)), modes)
}

/// `sub.f16`, `sub.bf16`.
#[inline(always)]
pub(crate) fn sub<H: Half>(a: u16, b: u16, modes: Modes) -> u16 {
    add::<H>(a, b ^ SIGN, modes)
}

/// `mul.f16`, `mul.bf16`.
#[inline(always)]
pub(crate) fn mul<H: Half>(a: u16, b: u16, modes: Modes) -> u16 {
    let (a, b) = (flush::<H>(a, modes.ftz), flush::<H>(b, modes.ftz));
    finish::<H>(H::from_f32(H::to_f32(a) * H::to_f32(b)), modes)
}

/// `fma.f16`, `fma.bf16`; `.relu` is [`relu`] of the result.
#[inline(always)]
pub(crate) fn fma<H: Half>(a: u16, b: u16, c: u16, modes: Modes) -> u16 {
    let (a, b, c) = (flush::<H>(a, modes.ftz), flush::<H>(b, modes.ftz), flush::<H>(c, modes.ftz));
    finish::<H>(H::fused(H::to_f32(a), H::to_f32(b), H::to_f32(c)), modes)
}

/// `neg.f16`, `neg.bf16`: the sign changes, also a NaN's.
#[inline(always)]
pub(crate) fn neg<H: Half>(a: u16, ftz: bool) -> u16 {
    flush::<H>(a, ftz) ^ SIGN
}

/// `abs.f16`, `abs.bf16`: the sign is cleared, also a NaN's.
#[inline(always)]
pub(crate) fn abs<H: Half>(a: u16, ftz: bool) -> u16 {
    flush::<H>(a, ftz) & !SIGN
}

/// `min.f16`, `min.bf16`.
#[inline(always)]
pub(crate) fn min<H: Half>(a: u16, b: u16, modes: Extremum) -> u16 {
    extremum::<H>(a, b, modes, single::min)
}

/// `max.f16`, `max.bf16`.
#[inline(always)]
pub(crate) fn max<H: Half>(a: u16, b: u16, modes: Extremum) -> u16 {
    extremum::<H>(a, b, modes, single::max)
}

#[inline(always)]
fn extremum<H: Half>(a: u16, b: u16, modes: Extremum, pick: impl Fn(f32, f32, Extremum) -> f32) -> u16 {
    let (a, b) = (flush::<H>(a, modes.ftz), flush::<H>(b, modes.ftz));
    // A number that is subnormal in bf16 is subnormal in f32 and has been flushed by the format's
    // own rule.
    let picked = pick(H::to_f32(a), H::to_f32(b), Extremum { ftz: false, ..modes });
    H::from_f32(picked)
}

/// `ex2.approx.f16`, `ex2.approx.ftz.bf16`.
#[inline(always)]
pub(crate) fn ex2<H: Half>(a: u16, ftz: bool) -> u16 {
    flush::<H>(H::from_f32(approx::ex2(H::to_f32(flush::<H>(a, ftz)), false)), ftz)
}

/// `tanh.approx.f16`, `tanh.approx.bf16`.
#[inline(always)]
pub(crate) fn tanh<H: Half>(a: u16) -> u16 {
    H::from_f32(approx::tanh(H::to_f32(a)))
}
