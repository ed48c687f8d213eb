//! The hyperbolic tangent and the error function in single precision, in arithmetic alone, so that
//! loops over them are vectorized and their results are the same on every platform.

use crate::exp::exp_f32;

/// The hyperbolic tangent of `x`, within 4 units in the last place.
#[inline(always)]
pub(crate) fn tanh_f32(x: f32) -> f32 {
    let size = x.abs();
    // Near zero the fifth convergent of the continued fraction x / (1 + x² / (3 + x² / (5 + …))),
    // else by the exponential.
    let square = x * x;
    let near = x * ((square + 105.0) * square + 945.0) / ((15.0 * square + 420.0) * square + 945.0);
    let far = 1.0 - 2.0 / (exp_f32(2.0 * size) + 1.0);
    let far = if x < 0.0 { -far } else { far };
    if size < 0.625 { near } else { far }
}

/// The complementary error function of `x >= 0`, with a relative error of about 10⁻⁶ for results
/// that are not tiny: the Chebyshev approximation of W. H. Press and others, *Numerical Recipes*,
/// of its logarithm.
#[inline(always)]
fn erfc_of_positive(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.5 * x);
    let mut p = 0.170_872_77f32;
    for c in [
        -0.822_152_23,
        1.488_515_9,
        -1.135_204,
        0.278_868_07,
        -0.186_288_06,
        0.096_784_18,
        0.374_091_96,
        1.000_023_7,
        -1.265_512_2,
    ] {
        p = p * t + c;
    }
    t * exp_f32(p - x * x)
}

/// The error function of `x`.
#[inline(always)]
pub(crate) fn erf_f32(x: f32) -> f32 {
    let square = x * x;
    // Near zero the Taylor series up to x¹⁷, whose terms are 2 / √π · (-1)ⁿ x²ⁿ⁺¹ / (n! (2n + 1)).
    let mut p = 1.0 / 685_440.0f32;
    for c in [-1.0 / 75_600.0, 1.0 / 9_360.0, -1.0 / 1_320.0, 1.0 / 216.0, -1.0 / 42.0, 0.1, -1.0 / 3.0, 1.0]
    {
        p = p * square + c;
    }
    let near = std::f32::consts::FRAC_2_SQRT_PI * x * p;
    let far = 1.0 - erfc_of_positive(x.abs());
    let far = if x < 0.0 { -far } else { far };
    if x.abs() < 0.9 { near } else { far }
}

/// `x · Φ(x)`, where Φ is the standard normal distribution.
#[inline(always)]
pub(crate) fn gelu_f32(x: f32) -> f32 {
    let tail = 0.5 * erfc_of_positive(x.abs() * std::f32::consts::FRAC_1_SQRT_2);
    x * if x < 0.0 { tail } else { 1.0 - tail }
}

/// `x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`, which approximates [`gelu_f32`].
#[inline(always)]
pub(crate) fn gelu_tanh_f32(x: f32) -> f32 {
    /// `2 · √(2/π)`.
    const DOUBLED: f32 = 1.595_769;
    // The half of one and a hyperbolic tangent is a logistic function.
    x / (1.0 + exp_f32(-DOUBLED * (x + 0.044_715 * x * x * x)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: f32, exact: f64, relative: f64, what: &str) {
        let error = (f64::from(found) - exact).abs();
        assert!(error <= relative * exact.abs() + 1e-12, "{what}: {found}, not {exact}");
    }

    #[test]
    fn they_agree_with_double_precision() {
        for i in -12_000..=12_000 {
            let x = i as f32 * 1e-3;
            let wide = f64::from(x);
            check(tanh_f32(x), wide.tanh(), 3e-7, "tanh");
            check(erf_f32(x), libm::erf(wide), 6e-7, "erf");
            let exact = 0.5 * wide * libm::erfc(-wide * std::f64::consts::FRAC_1_SQRT_2);
            let error = (f64::from(gelu_f32(x)) - exact).abs();
            assert!(error <= 3e-7 * wide.abs().max(1e-3), "gelu({x})");
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (wide + 0.044715 * wide.powi(3));
            let error = (f64::from(gelu_tanh_f32(x)) - 0.5 * wide * (1.0 + inner.tanh())).abs();
            assert!(error <= 1e-6 * wide.abs().max(1e-3), "gelu_tanh({x})");
        }
    }

    #[test]
    fn special_values() {
        for (f, low, high) in [(tanh_f32 as fn(f32) -> f32, -1.0, 1.0), (erf_f32, -1.0, 1.0)] {
            assert!(f(f32::NAN).is_nan());
            assert_eq!([f(f32::NEG_INFINITY), f(f32::INFINITY), f(0.0)], [low, high, 0.0]);
        }
        assert!(gelu_f32(f32::NAN).is_nan());
        assert_eq!([gelu_f32(0.0), gelu_f32(f32::INFINITY)], [0.0, f32::INFINITY]);
    }
}
