//! `f32` arithmetic: all roundings, `.ftz`, `.sat`; minima, maxima, signs, properties.
//!
//! If PTX rounds to nearest, the results are the host's own. Directed roundings use `f64`, which
//! represents the result exactly, or rounded to odd with enough bits to be rounded again. A value
//! rounded to odd is inexact if and only if its last bit is set, so a later rounding to 50 bits or
//! fewer never mistakes it for a tie or an exact value.

use super::{Modes, Rounding};

/// The result of an operation that makes a NaN.
pub(crate) const CANONICAL_NAN: f32 = f32::from_bits(0x7fff_ffff);

const SIGN: u32 = 0x8000_0000;

/// Replaces a NaN by the canonical one.
#[inline(always)]
pub(crate) fn canonical(x: f32) -> f32 {
    // Works on bits: the compiler treats all NaNs of a floating-point operation as equal, and would
    // drop a choice between two of them.
    let bits = x.to_bits();
    let is_nan = bits & !SIGN > f32::INFINITY.to_bits();
    f32::from_bits(if is_nan { CANONICAL_NAN.to_bits() } else { bits })
}

/// `.ftz`: a subnormal becomes a zero of its sign.
#[inline(always)]
pub(crate) fn flush(x: f32, ftz: bool) -> f32 {
    let zero = f32::from_bits(x.to_bits() & SIGN);
    if ftz & (x.abs() < f32::MIN_POSITIVE) { zero } else { x }
}

/// `.sat`: clamps to `[0.0, 1.0]`; a NaN and both zeros become `+0.0`.
#[inline(always)]
pub(crate) fn saturate(x: f32) -> f32 {
    let positive = if x > 0.0 { x } else { 0.0 };
    if positive < 1.0 { positive } else { 1.0 }
}

/// Applies `.ftz` and `.sat` to a rounded result.
#[inline(always)]
fn finish(x: f32, modes: Modes) -> f32 {
    let x = flush(x, modes.ftz);
    if modes.saturate { saturate(x) } else { canonical(x) }
}

/// Rounds a value to `f32` that is exact in `f64` or was rounded to odd there.
#[inline(always)]
pub(crate) fn from_double(x: f64, rounding: Rounding) -> f32 {
    let nearest = x as f32;
    let back = f64::from(nearest);
    let bits = nearest.to_bits();
    let toward_zero = bits.wrapping_sub(1);
    let away = bits.wrapping_add(1);
    let negative = bits & SIGN != 0;
    let adjusted = match rounding {
        Rounding::NearestEven => bits,
        Rounding::Zero => {
            if back.abs() > x.abs() {
                toward_zero
            } else {
                bits
            }
        }
        Rounding::Down => match (back > x, negative) {
            (false, _) => bits,
            (true, false) => toward_zero,
            (true, true) => away,
        },
        Rounding::Up => match (back < x, negative) {
            (false, _) => bits,
            (true, false) => away,
            (true, true) => toward_zero,
        },
    };
    f32::from_bits(adjusted)
}

/// Rounds a value to odd `f32` that is exact in `f64` or was rounded to odd there.
#[inline(always)]
pub(super) fn odd_from_double(x: f64) -> f32 {
    let nearest = x as f32;
    let back = f64::from(nearest);
    let bits = nearest.to_bits();
    let step = if back.abs() > x.abs() { u32::MAX } else { 1 };
    // One of the two neighbours of an inexact value is odd. A NaN compares as neither and is kept.
    let inexact = (back < x) | (back > x);
    let moved = if inexact { step } else { 0 };
    f32::from_bits(bits.wrapping_add(if bits & 1 == 0 { moved } else { 0 }))
}

/// Returns the sum of two `f64`, rounded to odd. Exact zero sums have the same sign as with
/// rounding to nearest.
#[inline(always)]
pub(super) fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    // An inexact sum whose last bit is clear was rounded away from its odd neighbour, which lies in
    // the direction of the error.
    let outward = (error > 0.0) == (sum > 0.0);
    let step = if outward { 1 } else { u64::MAX };
    // The error of an infinite sum is a NaN, for which both comparisons are false.
    let inexact = (error > 0.0) | (error < 0.0);
    let moved = if inexact { step } else { 0 };
    f64::from_bits(bits.wrapping_add(if bits & 1 == 0 { moved } else { 0 }))
}

/// Returns the sum of two exact `f64` terms, rounded to `f32`. A zero sum has the sign that the
/// rounding requires.
#[inline(always)]
fn rounded_sum(a: f64, b: f64, rounding: Rounding) -> f32 {
    let sum = from_double(odd_sum(a, b), rounding);
    let both_positive = (a.to_bits() | b.to_bits()) >> 63 == 0;
    let exact_zero = a + b == 0.0;
    if rounding == Rounding::Down && exact_zero & !both_positive { -0.0 } else { sum }
}

/// `add.f32`.
#[inline(always)]
pub(crate) fn add(a: f32, b: f32, modes: Modes) -> f32 {
    let (a, b) = (flush(a, modes.ftz), flush(b, modes.ftz));
    let sum = match modes.rounding {
        Rounding::NearestEven => a + b,
        directed => rounded_sum(f64::from(a), f64::from(b), directed),
    };
    finish(sum, modes)
}

/// `sub.f32`.
#[inline(always)]
pub(crate) fn sub(a: f32, b: f32, modes: Modes) -> f32 {
    add(a, -b, modes)
}

/// `mul.f32`.
#[inline(always)]
pub(crate) fn mul(a: f32, b: f32, modes: Modes) -> f32 {
    let (a, b) = (flush(a, modes.ftz), flush(b, modes.ftz));
    let product = match modes.rounding {
        Rounding::NearestEven => a * b,
        directed => from_double(f64::from(a) * f64::from(b), directed),
    };
    finish(product, modes)
}

/// `fma.f32`, `mad.f32`. `HARDWARE` says that the caller is compiled for a processor with a fused
/// multiply-add. Without one, the result is the same but slower.
#[inline(always)]
pub(crate) fn fma<const HARDWARE: bool>(a: f32, b: f32, c: f32, modes: Modes) -> f32 {
    let (a, b, c) = (flush(a, modes.ftz), flush(b, modes.ftz), flush(c, modes.ftz));
    let result = match modes.rounding {
        Rounding::NearestEven if HARDWARE => a.mul_add(b, c),
        // The product of two `f32` is exact in `f64`.
        Rounding::NearestEven => odd_sum(f64::from(a) * f64::from(b), f64::from(c)) as f32,
        directed => rounded_sum(f64::from(a) * f64::from(b), f64::from(c), directed),
    };
    finish(result, modes)
}

/// Applies an operation to each half of some 64-bit registers: `.f32x2`.
#[inline(always)]
pub(crate) fn pairwise<const N: usize>(registers: [u64; N], operation: impl Fn([f32; N]) -> f32) -> u64 {
    let mut result = 0;
    // A single call of the operation, so that it is inlined.
    for shift in [0, 32] {
        let half = operation(registers.map(|register| f32::from_bits((register >> shift) as u32)));
        result |= u64::from(half.to_bits()) << shift;
    }
    result
}

/// `div.rn`, `div.rz`, `div.rm`, `div.rp`; there is no `.sat`.
#[inline(always)]
pub(crate) fn div(a: f32, b: f32, rounding: Rounding, ftz: bool) -> f32 {
    let (a, b) = (flush(a, ftz), flush(b, ftz));
    let quotient = match rounding {
        Rounding::NearestEven => a / b,
        // A quotient of two 24-bit numbers that is not a 25-bit number is further than 2^-50 from
        // all such numbers, so the rounding to `f64` never yields one.
        directed => from_double(f64::from(a) / f64::from(b), directed),
    };
    canonical(flush(quotient, ftz))
}

/// `rcp.rn` and the other roundings.
#[inline(always)]
pub(crate) fn rcp(a: f32, rounding: Rounding, ftz: bool) -> f32 {
    div(1.0, a, rounding, ftz)
}

/// `sqrt.rn` and the other roundings.
#[inline(always)]
pub(crate) fn sqrt(a: f32, rounding: Rounding, ftz: bool) -> f32 {
    let a = flush(a, ftz);
    let root = match rounding {
        Rounding::NearestEven => a.sqrt(),
        // As with quotients, a root that is not a 25-bit number is further than 2^-51 from all such
        // numbers.
        directed => from_double(f64::from(a).sqrt(), directed),
    };
    canonical(root)
}

/// `neg.f32`: the sign changes, also a NaN's.
#[inline(always)]
pub(crate) fn neg(a: f32, ftz: bool) -> f32 {
    f32::from_bits(flush(a, ftz).to_bits() ^ SIGN)
}

/// `abs.f32`: the sign is cleared, also a NaN's.
#[inline(always)]
pub(crate) fn abs(a: f32, ftz: bool) -> f32 {
    f32::from_bits(flush(a, ftz).to_bits() & !SIGN)
}

/// `copysign.f32`: the sign of `a` on the value of `b`.
#[inline(always)]
pub(crate) fn copysign(a: f32, b: f32) -> f32 {
    f32::from_bits((a.to_bits() & SIGN) | (b.to_bits() & !SIGN))
}

/// The modifiers of `min` and `max`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub(crate) struct Extremum {
    /// `.ftz`: subnormal operands become zeros.
    pub(crate) ftz: bool,
    /// `.NaN`: a NaN operand makes the result the canonical NaN; otherwise the other operand is the
    /// result.
    pub(crate) nan: bool,
    /// `.xorsign.abs`: magnitudes are compared, and the result takes the product of the signs.
    pub(crate) xorsign_abs: bool,
}

/// Returns the larger of two numbers: `+0.0` is above `-0.0`, and a NaN is below all.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    // Equal numbers have the same bits, or are zeros of two signs.
    let equal = f32::from_bits(a.to_bits() & b.to_bits());
    let ordered = if a > b { a } else { b };
    let ordered = if a == b { equal } else { ordered };
    if b.is_nan() { a } else { ordered }
}

/// Returns the smaller of two numbers: `-0.0` is below `+0.0`, and a NaN is above all.
#[inline(always)]
fn smaller(a: f32, b: f32) -> f32 {
    let equal = f32::from_bits(a.to_bits() | b.to_bits());
    let ordered = if a < b { a } else { b };
    let ordered = if a == b { equal } else { ordered };
    if b.is_nan() { a } else { ordered }
}

#[inline(always)]
fn extremum(a: f32, b: f32, modes: Extremum, pick: impl Fn(f32, f32) -> f32) -> f32 {
    let (a, b) = (flush(a, modes.ftz), flush(b, modes.ftz));
    let sign = (a.to_bits() ^ b.to_bits()) & SIGN;
    let picked = if modes.xorsign_abs { pick(a.abs(), b.abs()) } else { pick(a, b) };
    let signed = if modes.xorsign_abs { f32::from_bits(picked.to_bits() | sign) } else { picked };
    let make_nan = if modes.nan { a.is_nan() | b.is_nan() } else { a.is_nan() & b.is_nan() };
    if make_nan { CANONICAL_NAN } else { signed }
}

/// `min.f32`.
#[inline(always)]
pub(crate) fn min(a: f32, b: f32, modes: Extremum) -> f32 {
    extremum(a, b, modes, smaller)
}

/// `max.f32`.
#[inline(always)]
pub(crate) fn max(a: f32, b: f32, modes: Extremum) -> f32 {
    extremum(a, b, modes, larger)
}

/// The property that `testp` tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Property {
    /// Neither infinite nor NaN.
    Finite,
    /// An infinity.
    Infinite,
    /// Not NaN.
    Number,
    /// NaN.
    NotANumber,
    /// Normal or zero.
    Normal,
    /// Subnormal, and not zero.
    Subnormal,
}

/// `testp.f32`.
#[inline(always)]
pub(crate) fn test(a: f32, property: Property) -> bool {
    let magnitude = a.abs();
    match property {
        Property::Finite => magnitude < f32::INFINITY,
        Property::Infinite => magnitude == f32::INFINITY,
        Property::Number => !a.is_nan(),
        Property::NotANumber => a.is_nan(),
        Property::Normal => magnitude == 0.0 || (f32::MIN_POSITIVE..f32::INFINITY).contains(&magnitude),
        Property::Subnormal => magnitude > 0.0 && magnitude < f32::MIN_POSITIVE,
    }
}
