//! Approximate functions, within the error that the PTX manual documents, with its results for
//! special operands.
//!
//! They are straight-line arithmetic in `f32`, or in `f64` where `f32` is not enough, which
//! vectorizes. They use no library calls and no fused operations. Where the host has a correctly
//! rounding instruction (division, square root), they use it.

use super::single::{CANONICAL_NAN, canonical, flush};

/// Adding this to a number below 2^22 leaves the nearest integer in the low bits.
const ROUND: f32 = 12_582_912.0;

/// Returns a power of two. The exponent must be between −126 and 127.
#[inline(always)]
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) << 23) as u32)
}

/// `ex2.approx.f32`: 2 to the power of `a`, within 0.501 ulp. The manual allows 2 ulp, but the
/// device functions built on it expect more.
#[inline(always)]
pub(crate) fn ex2(a: f32, ftz: bool) -> f32 {
    // Outside of this range the result is zero or infinite anyway.
    let x = if a > -160.0 { a } else { -160.0 };
    let x = if x < 130.0 { x } else { 130.0 };
    let shifted = x + ROUND;
    let integer = (shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
    let f = f64::from(x - (shifted - ROUND));
    let mut p = 1.519_615_648_614_646_8e-5;
    p = p * f + 1.546_675_632_488_432_4e-4;
    p = p * f + 1.333_393_505_585_214_7e-3;
    p = p * f + 9.618_038_132_031_26e-3;
    p = p * f + 5.550_410_365_991_089e-2;
    p = p * f + 2.402_265_106_656_130_7e-1;
    p = p * f + 6.931_471_807_045_326e-1;
    let fraction = (p * f + 1.0) as f32;
    // Multiplies in two steps, so that neither power leaves the range. Only the second step rounds,
    // if the result is subnormal.
    let half = integer >> 1;
    let result = fraction * power_of_two(half) * power_of_two(integer - half);
    flush(if a.is_nan() { CANONICAL_NAN } else { result }, ftz)
}

/// `lg2.approx.f32`: within 2^-22, absolute between 0.5 and 2, relative elsewhere.
#[inline(always)]
pub(crate) fn lg2(a: f32, ftz: bool) -> f32 {
    let a = flush(a, ftz);
    // A subnormal is scaled into the normal range.
    let subnormal = a < f32::MIN_POSITIVE;
    let scaled = if subnormal { a * 16_777_216.0 } else { a };
    let bias = if subnormal { -24.0 } else { 0.0 };
    // The fraction is taken between the root of one half and the root of two.
    let offset = scaled.to_bits().wrapping_sub(0x3f35_04f3) as i32;
    let exponent = offset >> 23;
    let fraction = f32::from_bits(scaled.to_bits().wrapping_sub((exponent << 23) as u32));
    let t = fraction - 1.0;
    let mut p = -1.099_495_2e-1;
    p = p * t + 1.861_749_4e-1;
    p = p * t - 1.910_627_6e-1;
    p = p * t + 2.046_006_2e-1;
    p = p * t - 2.396_174e-1;
    p = p * t + 2.885_674e-1;
    p = p * t - 3.606_966_4e-1;
    p = p * t + 4.808_982_3e-1;
    p = p * t - 7.213_473_3e-1;
    p = p * t + std::f32::consts::LOG2_E;
    let result = (exponent as f32 + bias) + p * t;
    let result = if a == f32::INFINITY { a } else { result };
    let result = if a == 0.0 { f32::NEG_INFINITY } else { result };
    if (a < 0.0) | a.is_nan() { CANONICAL_NAN } else { result }
}

/// Returns an angle as a multiple of a quarter turn and a remainder of an eighth turn or less. The
/// multiple is correct modulo four for angles up to about 2^28. Beyond, the remainder loses its
/// meaning, as on devices.
#[inline(always)]
fn quarter_turns(a: f32) -> (u32, f32) {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const TURNS: f64 = std::f64::consts::FRAC_2_PI;
    const QUARTER_HIGH: f64 = std::f64::consts::FRAC_PI_2;
    const QUARTER_LOW: f64 = 6.123_233_995_736_766e-17;
    let x = f64::from(a);
    let shifted = x * TURNS + ROUND;
    let turns = shifted - ROUND;
    let rest = (x - turns * QUARTER_HIGH) - turns * QUARTER_LOW;
    // For very large angles the remainder can have any value, so it is clamped: a sine never leaves
    // [-1, 1].
    let rest = rest as f32;
    let inside = (rest > -0.79) & (rest < 0.79);
    (shifted.to_bits() as u32, if inside { rest } else { 0.0 })
}

/// Returns the sine of a remainder.
#[inline(always)]
fn sine(r: f32) -> f32 {
    let u = r * r;
    let p = (-1.951_202_9e-4 * u + 8.332_137e-3) * u - 1.666_665_4e-1;
    r + r * u * p
}

/// Returns the cosine of a remainder.
#[inline(always)]
fn cosine(r: f32) -> f32 {
    let u = r * r;
    let p = (2.443_484_7e-5 * u - 1.388_733_7e-3) * u + 4.166_664_6e-2;
    1.0 - (0.5 * u - u * u * p)
}

/// `sin.approx.f32`: absolute error below 2^-20.5 in `[-2π, 2π]`. The reduction adds no error up to
/// 100π.
#[inline(always)]
pub(crate) fn sin(a: f32, ftz: bool) -> f32 {
    let a = flush(a, ftz);
    let (quarter, rest) = quarter_turns(a);
    let magnitude = if quarter & 1 == 0 { sine(rest) } else { cosine(rest) };
    let result = if quarter & 2 == 0 { magnitude } else { -magnitude };
    // Small angles are their own sine, zero keeps its sign.
    let result = if a.abs() < 1.0e-4 { a } else { result };
    if a.abs() < f32::INFINITY { flush(result, ftz) } else { CANONICAL_NAN }
}

/// `cos.approx.f32`: errors as for [`sin`].
#[inline(always)]
pub(crate) fn cos(a: f32, ftz: bool) -> f32 {
    let a = flush(a, ftz);
    let (quarter, rest) = quarter_turns(a);
    let magnitude = if quarter & 1 == 0 { cosine(rest) } else { sine(rest) };
    let result = if quarter.wrapping_add(1) & 2 == 0 { magnitude } else { -magnitude };
    if a.abs() < f32::INFINITY { flush(result, ftz) } else { CANONICAL_NAN }
}

/// `tanh.approx.f32`: relative error below 2^-21; the manual allows 2^-11. Subnormals are returned
/// unchanged.
#[inline(always)]
pub(crate) fn tanh(a: f32) -> f32 {
    let x = a.abs();
    let u = x * x;
    let mut p = -5.704_987e-3;
    p = p * u + 2.063_908_8e-2;
    p = p * u - 5.373_971_5e-2;
    p = p * u + 1.333_144_2e-1;
    p = p * u - 3.333_328e-1;
    let near_zero = x + x * u * p;
    // 1 − 2 / (e^2x + 1)
    let far = 1.0 - 2.0 / (ex2(x * (2.0 * std::f32::consts::LOG2_E), false) + 1.0);
    let magnitude = if x < 0.625 { near_zero } else { far };
    canonical(magnitude.copysign(a))
}

/// `rcp.approx.f32`: correctly rounded.
#[inline(always)]
pub(crate) fn rcp(a: f32, ftz: bool) -> f32 {
    canonical(flush(1.0 / flush(a, ftz), ftz))
}

/// `sqrt.approx.f32`: correctly rounded.
#[inline(always)]
pub(crate) fn sqrt(a: f32, ftz: bool) -> f32 {
    canonical(flush(a, ftz).sqrt())
}

/// `rsqrt.approx.f32`: relative error below 2^-23; the manual allows 2^-22.9.
#[inline(always)]
pub(crate) fn rsqrt(a: f32, ftz: bool) -> f32 {
    // The root of negative zero is negative zero, and its reciprocal is negative infinity, as
    // documented.
    canonical(1.0 / flush(a, ftz).sqrt())
}

/// `rsqrt.approx.f64`.
#[inline(always)]
pub(crate) fn rsqrt_f64(a: f64) -> f64 {
    super::double::rcp(super::double::sqrt(a, super::Rounding::NearestEven), super::Rounding::NearestEven)
}

/// `div.approx.f32`: correctly rounded while `|b|` is at most 2^126. Above, the reciprocal is
/// flushed to zero, as documented: the quotient is zero, or NaN if `a` is infinite.
#[inline(always)]
pub(crate) fn div(a: f32, b: f32, ftz: bool) -> f32 {
    const LIMIT: f32 = f32::from_bits(253 << 23);
    let (a, b) = (flush(a, ftz), flush(b, ftz));
    let by_zero = a * 0.0f32.copysign(b);
    let huge = (b.abs() > LIMIT) & (b.abs() < f32::INFINITY);
    canonical(flush(if huge { by_zero } else { a / b }, ftz))
}

/// `div.full.f32`: correctly rounded; the manual allows 2 ulp.
#[inline(always)]
pub(crate) fn div_full(a: f32, b: f32, ftz: bool) -> f32 {
    super::single::div(a, b, super::Rounding::NearestEven, ftz)
}

/// Flushes an operand and clears the low half of its bits.
#[inline(always)]
fn upper_half(a: f64) -> f64 {
    let upper = f64::from_bits(a.to_bits() & 0xffff_ffff_0000_0000);
    let subnormal = upper.abs() < f64::MIN_POSITIVE;
    if subnormal { 0.0f64.copysign(upper) } else { upper }
}

/// Clears the low half of a result's bits. A NaN becomes `0x7fffffff00000000`.
#[inline(always)]
fn cut_to_upper_half(x: f64) -> f64 {
    let cut = upper_half(x);
    if x.is_nan() { f64::from_bits(0x7fff_ffff_0000_0000) } else { cut }
}

/// `rcp.approx.ftz.f64`: uses the upper half of the operand and returns the upper half of the
/// result.
#[inline(always)]
pub(crate) fn rcp_gross_f64(a: f64) -> f64 {
    cut_to_upper_half(if a.is_nan() { a } else { 1.0 / upper_half(a) })
}

/// `rsqrt.approx.ftz.f64`: uses the upper half of the operand and returns the upper half of the
/// result.
#[inline(always)]
pub(crate) fn rsqrt_gross_f64(a: f64) -> f64 {
    cut_to_upper_half(if a.is_nan() { a } else { 1.0 / upper_half(a).sqrt() })
}
