//! Functions in single precision, in arithmetic alone, so that loops over them are vectorized.
//!
//! They are as accurate whether products are added with one rounding or with two.

use crate::UnaryLoop;
use crate::exp::{exp, exp_m1, ln, softplus};
use crate::simd::{Body, Plain, Products, vectorize_products};

/// The hyperbolic tangent of `x`, within 4 units in the last place.
#[inline(always)]
pub(crate) fn tanh_f32(x: f32) -> f32 {
    tanh::<Plain>(x)
}

#[inline(always)]
fn tanh<P: Products>(x: f32) -> f32 {
    let size = x.abs();
    // Near zero the fifth convergent of the continued fraction x / (1 + x² / (3 + x² / (5 + …))),
    // else by the exponential.
    let square = x * x;
    let dividend = P::product_plus(square + 105.0, square, 945.0);
    let near = x * dividend / P::product_plus(P::product_plus(15.0, square, 420.0), square, 945.0);
    let far = 1.0 - 2.0 / (exp::<P>(2.0 * size) + 1.0);
    let far = if x < 0.0 { -far } else { far };
    if size < 0.625 { near } else { far }
}

/// The complementary error function of `x >= 0`, with a relative error of about 10⁻⁶ for results
/// that are not tiny: the Chebyshev approximation of W. H. Press and others, *Numerical Recipes*,
/// of its logarithm.
#[inline(always)]
fn erfc_of_positive<P: Products>(x: f32) -> f32 {
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
        p = P::product_plus(p, t, c);
    }
    t * exp::<P>(p - x * x)
}

/// The error function of `x`.
#[inline(always)]
fn erf<P: Products>(x: f32) -> f32 {
    let square = x * x;
    // Near zero the Taylor series up to x¹⁷, whose terms are 2 / √π · (-1)ⁿ x²ⁿ⁺¹ / (n! (2n + 1)).
    let mut p = 1.0 / 685_440.0f32;
    for c in [-1.0 / 75_600.0, 1.0 / 9_360.0, -1.0 / 1_320.0, 1.0 / 216.0, -1.0 / 42.0, 0.1, -1.0 / 3.0, 1.0]
    {
        p = P::product_plus(p, square, c);
    }
    let near = std::f32::consts::FRAC_2_SQRT_PI * x * p;
    let far = 1.0 - erfc_of_positive::<P>(x.abs());
    let far = if x < 0.0 { -far } else { far };
    if x.abs() < 0.9 { near } else { far }
}

/// `x · Φ(x)`, where Φ is the standard normal distribution.
#[inline(always)]
fn gelu<P: Products>(x: f32) -> f32 {
    let tail = 0.5 * erfc_of_positive::<P>(x.abs() * std::f32::consts::FRAC_1_SQRT_2);
    x * if x < 0.0 { tail } else { 1.0 - tail }
}

/// `x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`, which approximates [`gelu`].
#[inline(always)]
fn gelu_tanh<P: Products>(x: f32) -> f32 {
    /// `2 · √(2/π)`.
    const DOUBLED: f32 = 1.595_769;
    // The half of one and a hyperbolic tangent is a logistic function.
    x / (1.0 + exp::<P>(-DOUBLED * (x + 0.044_715 * x * x * x)))
}

/// `x` where it is not negative, else `e^x - 1`.
#[inline(always)]
fn elu<P: Products>(x: f32) -> f32 {
    if x < 0.0 { exp_m1::<P>(x) } else { x }
}

/// A scaled [`elu`] that preserves means and variances.
#[inline(always)]
fn selu<P: Products>(x: f32) -> f32 {
    const SCALE: f32 = 1.050_701;
    const SCALE_ALPHA: f32 = 1.758_099_3;
    if x < 0.0 { SCALE_ALPHA * exp_m1::<P>(x) } else { SCALE * x }
}

/// The loops of these functions.
macro_rules! loops {
    ($($name:ident => $f:ident;)*) => {$(
        /// The loop of the function of this name.
        pub(crate) struct $name;

        const _: () = {
            struct Each<'a> {
                out: &'a mut [f32],
                x: &'a [f32],
            }

            impl Body for Each<'_> {
                #[inline(always)]
                fn run<P: Products>(self) {
                    self.out.iter_mut().zip(self.x).for_each(|(out, &x)| *out = $f::<P>(x));
                }
            }

            impl UnaryLoop<f32, f32> for $name {
                fn map(&self, out: &mut [f32], x: &[f32]) {
                    vectorize_products(Each { out, x });
                }
            }
        };
    )*};
}

loops! {
    Elu => elu;
    Erf => erf;
    Exp => exp;
    Expm1 => exp_m1;
    Gelu => gelu;
    GeluTanh => gelu_tanh;
    Log => ln;
    Selu => selu;
    Softplus => softplus;
    Tanh => tanh;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: f32, exact: f64, relative: f64, what: &str) {
        let error = (f64::from(found) - exact).abs();
        assert!(error <= relative * exact.abs() + 1e-12, "{what}: {found}, not {exact}");
    }

    fn all<P: Products>() {
        for i in -12_000..=12_000 {
            let x = i as f32 * 1e-3;
            let wide = f64::from(x);
            check(tanh::<P>(x), wide.tanh(), 3e-7, "tanh");
            check(erf::<P>(x), libm::erf(wide), 6e-7, "erf");
            let exact = 0.5 * wide * libm::erfc(-wide * std::f64::consts::FRAC_1_SQRT_2);
            let error = (f64::from(gelu::<P>(x)) - exact).abs();
            assert!(error <= 3e-7 * wide.abs().max(1e-3), "gelu({x})");
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (wide + 0.044715 * wide.powi(3));
            let error = (f64::from(gelu_tanh::<P>(x)) - 0.5 * wide * (1.0 + inner.tanh())).abs();
            assert!(error <= 1e-6 * wide.abs().max(1e-3), "gelu_tanh({x})");
        }
    }

    #[test]
    fn they_agree_with_double_precision() {
        all::<Plain>();
        all::<crate::simd::Fused>();
    }

    #[test]
    fn special_values() {
        for (f, low, high) in [(tanh_f32 as fn(f32) -> f32, -1.0, 1.0), (erf::<Plain>, -1.0, 1.0)] {
            assert!(f(f32::NAN).is_nan());
            assert_eq!([f(f32::NEG_INFINITY), f(f32::INFINITY), f(0.0)], [low, high, 0.0]);
        }
        assert!(gelu::<Plain>(f32::NAN).is_nan());
        assert_eq!([gelu::<Plain>(0.0), gelu::<Plain>(f32::INFINITY)], [0.0, f32::INFINITY]);
    }

    #[test]
    fn exponential_units_are_linear_above_zero() {
        let x = [-f32::INFINITY, -1.0, -0.0, 2.0, f32::INFINITY, f32::NAN];
        let mut out = [0.0; 6];
        Elu.map(&mut out, &x);
        assert_eq!(out[..5], [-1.0, (-1.0f64).exp_m1() as f32, -0.0, 2.0, f32::INFINITY]);
        assert!(out[5].is_nan());
        Selu.map(&mut out, &x);
        let exact = [-1.758_099_340_847_376_6, -1.111_330_737_812_562_7, 0.0, 2.101_401_974_196_071];
        assert!(out.iter().zip(exact).all(|(&out, exact)| (f64::from(out) - exact).abs() < 3e-7));
        assert!(out[4] == f32::INFINITY && out[5].is_nan());
    }
}
