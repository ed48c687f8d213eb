//! Exponential functions and logarithms in single precision, in arithmetic alone, so that loops over
//! them are vectorized. [`exp_f32`] is the same on every platform; the others are as accurate
//! whether products are added with one rounding or with two.

use crate::simd::{Plain, Products};

/// `e` to the power of `x`, within 2 units in the last place; subnormal results included.
///
/// `x = n · ln 2 + r` with `|r| <= ln 2 / 2`, so that `exp(x) = 2ⁿ · exp(r)`; `exp(r)` is its
/// Taylor polynomial of degree 7, whose error is below 2⁻²⁸.
#[inline(always)]
pub(crate) fn exp_f32(x: f32) -> f32 {
    exp::<Plain>(x)
}

/// [`exp_f32`] with products that `P` adds.
#[inline(always)]
pub(crate) fn exp<P: Products>(x: f32) -> f32 {
    // Beyond these the result is zero or infinite; NaN passes through both comparisons.
    let bounded = if x > 90.0 { 90.0 } else { x };
    let bounded = if bounded < -105.0 { -105.0 } else { bounded };
    let (n, r) = reduced::<P>(bounded);
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = P::product_plus(p, r, c);
    }
    // 2ⁿ in two factors, as it may exceed what one holds though the result does not.
    p * power_of_two(n >> 1) * power_of_two(n - (n >> 1))
}

/// `e` to the power of `x`, minus one, within 3 units in the last place. Close to zero it is not the
/// difference of two numbers that are almost the same.
#[inline(always)]
pub(crate) fn exp_m1<P: Products>(x: f32) -> f32 {
    // Beyond these the result is infinite or rounded to -1; NaN passes through both comparisons.
    let bounded = if x > 89.0 { 89.0 } else { x };
    let bounded = if bounded < -25.0 { -25.0 } else { bounded };
    let (n, r) = reduced::<P>(bounded);
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5] {
        p = P::product_plus(p, r, c);
    }
    let p = P::product_plus(p * r, r, r);
    // Half of 2ⁿ, which always fits.
    let half = power_of_two(n - 1);
    let other = 2.0 * P::product_plus(half, p, half - 0.5);
    let y = if n == 0 { p } else { other };
    // The reduction loses the sign of zero.
    if x == 0.0 { x } else { y }
}

/// `n` and `r` where `x` is `n · ln 2 + r` and `|r| <= ln 2 / 2`.
#[inline(always)]
fn reduced<P: Products>(x: f32) -> (i32, f32) {
    /// Adding this rounds to an integer, which the low bits of the sum then hold.
    const ROUNDER: f32 = 12_582_912.0;
    /// The first has few enough digits for `n · LN_2_HIGH` to be exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let rounded = P::product_plus(x, std::f32::consts::LOG2_E, ROUNDER);
    let n = rounded - ROUNDER;
    let r = P::product_plus(n, -LN_2_LOW, P::product_plus(n, -LN_2_HIGH, x));
    (rounded.to_bits().wrapping_sub(ROUNDER.to_bits()) as i32, r)
}

#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// The natural logarithm of `x`, within 2 units in the last place.
///
/// `x = 2ⁿ · m` with `m` between the roots of 1/2 and 2, so that `ln x = n · ln 2 + ln m`; with
/// `s = (m - 1) / (m + 1)`, `ln m` is `2 · (s + s³ / 3 + s⁵ / 5 + …)`.
#[inline(always)]
pub(crate) fn ln<P: Products>(x: f32) -> f32 {
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    /// The bits of the root of 1/2.
    const ROOT: u32 = 0x3f35_04f3;
    let is_small = x < f32::MIN_POSITIVE;
    let normal = if is_small { x * 8_388_608.0 } else { x };
    let bits = normal.to_bits();
    let above = (bits.wrapping_sub(ROOT) as i32) >> 23;
    let m = f32::from_bits(bits.wrapping_sub((above << 23) as u32));
    let n = (above - if is_small { 23 } else { 0 }) as f32;
    let f = m - 1.0;
    let y = P::product_plus(n, LN_2_LOW, twice_atanh::<P>(f, f / (2.0 + f)));
    let y = P::product_plus(n, LN_2_HIGH, y);
    let y = if x == f32::INFINITY { x } else { y };
    let y = if x == 0.0 { f32::NEG_INFINITY } else { y };
    if x >= 0.0 { y } else { f32::NAN }
}

/// `2 · atanh(s)` for `s = f / (2 + f)` of at most 1/3 in size, which is `ln(1 + f)`. The first term
/// is taken from `f` itself, without the rounding of `s`.
#[inline(always)]
fn twice_atanh<P: Products>(f: f32, s: f32) -> f32 {
    let square = s * s;
    let mut p = 1.0 / 15.0;
    for c in [1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 0.2, 1.0 / 3.0] {
        p = P::product_plus(p, square, c);
    }
    // 2 s is f - f s.
    f - s * P::product_plus(-2.0 * square, p, f)
}

/// `ln(1 + e^x)`, within 4 units in the last place.
#[inline(always)]
pub(crate) fn softplus<P: Products>(x: f32) -> f32 {
    let power = exp::<P>(-x.abs());
    let logarithm = twice_atanh::<P>(power, power / (2.0 + power));
    // NaN comes through the power.
    (if x > 0.0 { x } else { 0.0 }) + logarithm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_double_precision() {
        for i in -106_000..=91_000 {
            let x = i as f32 * 1e-3;
            let (found, exact) = (exp_f32(x), f64::from(x).exp());
            let unit = f64::from((exact as f32).max(f32::MIN_POSITIVE)) * f64::from(f32::EPSILON);
            let close = (f64::from(found) - exact).abs() <= 2.0 * unit;
            assert!(close || f64::from(found) == f64::from(exact as f32), "exp({x}) = {found}, not {exact}");
        }
    }

    fn check(found: f32, exact: f64, units: f64, what: &str) {
        let unit = f64::from((exact as f32).abs().max(f32::MIN_POSITIVE)) * f64::from(f32::EPSILON);
        let close = (f64::from(found) - exact).abs() <= units * unit || found == exact as f32;
        assert!(close, "{what}: {found}, not {exact}");
    }

    fn all<P: Products>() {
        for i in -106_000..=91_000 {
            let x = i as f32 * 1e-3;
            check(exp::<P>(x), f64::from(x).exp(), 2.0, "exp");
            check(exp_m1::<P>(x), f64::from(x).exp_m1(), 3.0, "exp_m1");
            check(exp_m1::<P>(x * 1e-5), f64::from(x * 1e-5).exp_m1(), 3.0, "exp_m1");
            check(softplus::<P>(x), f64::from(x).exp().ln_1p(), 4.0, "softplus");
            let x = f64::from(x).exp2() as f32;
            check(ln::<P>(x), f64::from(x).ln(), 2.0, "ln");
            let x = 1.0 + i as f32 * 1e-6;
            check(ln::<P>(x), f64::from(x).ln(), 2.0, "ln");
        }
        for x in [f32::MIN_POSITIVE, 1e-40, 1e-45, f32::MAX] {
            check(ln::<P>(x), f64::from(x).ln(), 2.0, "ln");
        }
    }

    #[test]
    fn they_agree_with_double_precision() {
        all::<Plain>();
        all::<crate::simd::Fused>();
    }

    #[test]
    fn special_values_of_the_others() {
        let (low, high) = (f32::NEG_INFINITY, f32::INFINITY);
        assert_eq!([exp_m1::<Plain>(low), exp_m1::<Plain>(high)], [-1.0, high]);
        assert_eq!(exp_m1::<Plain>(-0.0).to_bits(), (-0.0f32).to_bits());
        assert_eq!([softplus::<Plain>(low), softplus::<Plain>(high)], [0.0, high]);
        assert_eq!(
            [ln::<Plain>(0.0), ln::<Plain>(-0.0), ln::<Plain>(1.0), ln::<Plain>(high)],
            [low, low, 0.0, high]
        );
        for x in [exp_m1::<Plain>(f32::NAN), softplus::<Plain>(f32::NAN), ln::<Plain>(f32::NAN)] {
            assert!(x.is_nan());
        }
        assert!(ln::<Plain>(-1.0).is_nan() && ln::<Plain>(low).is_nan());
    }

    #[test]
    fn special_values() {
        assert_eq!(exp_f32(0.0), 1.0);
        assert_eq!(exp_f32(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp_f32(f32::INFINITY), f32::INFINITY);
        assert!(exp_f32(f32::NAN).is_nan());
    }
}
