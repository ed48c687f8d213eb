//! The exponential function in single precision, in arithmetic alone, so that loops over it are
//! vectorized and its results are the same on every platform.

/// `e` to the power of `x`, within 2 units in the last place; subnormal results included.
///
/// `x = n · ln 2 + r` with `|r| <= ln 2 / 2`, so that `exp(x) = 2ⁿ · exp(r)`; `exp(r)` is its
/// Taylor polynomial of degree 7, whose error is below 2⁻²⁸.
#[inline(always)]
pub(crate) fn exp_f32(x: f32) -> f32 {
    /// Adding this rounds to an integer, which the low bits of the sum then hold.
    const ROUNDER: f32 = 12_582_912.0;
    /// The first has few enough digits for `n · LN_2_HIGH` to be exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    // Beyond these the result is zero or infinite; NaN passes through both comparisons.
    let bounded = if x > 90.0 { 90.0 } else { x };
    let bounded = if bounded < -105.0 { -105.0 } else { bounded };
    let rounded = bounded * std::f32::consts::LOG2_E + ROUNDER;
    let n = rounded - ROUNDER;
    let r = bounded - n * LN_2_HIGH - n * LN_2_LOW;
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = p * r + c;
    }
    // 2ⁿ in two factors, as it may exceed what one holds though the result does not.
    let n = rounded.to_bits().wrapping_sub(ROUNDER.to_bits()) as i32;
    let power = |n: i32| f32::from_bits((n.wrapping_add(127) as u32) << 23);
    p * power(n >> 1) * power(n - (n >> 1))
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

    #[test]
    fn special_values() {
        assert_eq!(exp_f32(0.0), 1.0);
        assert_eq!(exp_f32(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp_f32(f32::INFINITY), f32::INFINITY);
        assert!(exp_f32(f32::NAN).is_nan());
    }
}
