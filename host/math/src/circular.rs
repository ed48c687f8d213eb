//! Sine and cosine in single precision, in arithmetic alone, so that loops over them are vectorized.
//!
//! They are as accurate whether products are added with one rounding or with two.

use std::f64::consts::FRAC_2_PI;

use crate::UnaryLoop;
use crate::simd::{Body, Products, vectorize_products};

/// The greatest magnitude for which the reduction is exact enough. Beyond it the standard library
/// computes.
const BOUND: f32 = 1_048_576.0;

/// A circular function, as the loop over elements in radians.
///
/// Its results are within 2 units in the last place; those of infinities and NaN are NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circular {
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
}

impl UnaryLoop<f32, f32> for Circular {
    fn map(&self, out: &mut [f32], x: &[f32]) {
        let len = out.len().min(x.len());
        let (out, x) = (&mut out[..len], &x[..len]);
        let mut is_beyond = false;
        match self {
            Self::Sin => vectorize_products(Each::<0> { out, x, is_beyond: &mut is_beyond }),
            Self::Cos => vectorize_products(Each::<1> { out, x, is_beyond: &mut is_beyond }),
        }
        if !is_beyond {
            return;
        }
        for (out, &x) in out.iter_mut().zip(x) {
            if !is_reduced(x) {
                *out = match self {
                    Self::Sin => x.sin(),
                    Self::Cos => x.cos(),
                };
            }
        }
    }
}

/// The loop over the sine of elements that are `QUARTERS` quarters of a turn ahead.
struct Each<'a, const QUARTERS: u32> {
    out: &'a mut [f32],
    x: &'a [f32],
    is_beyond: &'a mut bool,
}

impl<const QUARTERS: u32> Body for Each<'_, QUARTERS> {
    #[inline(always)]
    fn run<P: Products>(self) {
        let mut is_beyond = false;
        for (out, &x) in self.out.iter_mut().zip(self.x) {
            is_beyond |= !is_reduced(x);
            *out = sine::<P, QUARTERS>(x);
        }
        *self.is_beyond = is_beyond;
    }
}

/// Returns whether [`sine`] computes this element. NaN is not.
#[inline(always)]
fn is_reduced(x: f32) -> bool {
    x.abs() <= BOUND
}

/// The sine of `x` and `QUARTERS` quarters of a turn.
///
/// `x = n · π / 2 + r` with `|r| <= π / 4`. The result is the sine or the cosine of `r`, or its
/// negative, depending on `n`. Both are Taylor polynomials. The reduction is in double precision,
/// because it cancels most digits of `x`.
#[inline(always)]
fn sine<P: Products, const QUARTERS: u32>(x: f32) -> f32 {
    /// Adding this rounds to an integer, which the low bits of the sum then hold.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    /// The first 25 bits of π / 2, so that `n · HIGH` is exact.
    const HIGH: f64 = 1.570_796_310_901_641_8;
    /// The rest.
    const LOW: f64 = 1.589_325_477_352_819_6e-8;
    let wide = f64::from(x);
    let rounded = wide * FRAC_2_PI + ROUNDER;
    let n = rounded - ROUNDER;
    let r = (wide - n * HIGH - n * LOW) as f32;
    let square = r * r;
    let mut odd = 1.0 / 362_880.0;
    for c in [-1.0 / 5_040.0, 1.0 / 120.0, -1.0 / 6.0] {
        odd = P::product_plus(odd, square, c);
    }
    let odd = P::product_plus(odd * square, r, r);
    let mut even = -1.0 / 3_628_800.0;
    for c in [1.0 / 40_320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5] {
        even = P::product_plus(even, square, c);
    }
    let even = P::product_plus(even, square, 1.0);
    let quarter = (rounded.to_bits() as u32).wrapping_add(QUARTERS);
    let size = if quarter & 1 == 0 { odd } else { even };
    let y = f32::from_bits(size.to_bits() ^ ((quarter & 2) << 30));
    // The sum loses the sign of zero.
    if QUARTERS == 0 && x == 0.0 { x } else { y }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Plain;

    fn is_near(found: f32, exact: f64) -> bool {
        let unit = exact.abs().max(f64::from(f32::MIN_POSITIVE)) * f64::from(f32::EPSILON);
        (f64::from(found) - exact).abs() <= 2.0 * unit
    }

    /// Compares results with those in double precision.
    fn check(elements: &[f32]) {
        let mut out = vec![0.0; elements.len()];
        for (function, exact) in [(Circular::Sin, f64::sin as fn(f64) -> f64), (Circular::Cos, f64::cos)] {
            function.map(&mut out, elements);
            for (&x, &found) in elements.iter().zip(&out) {
                let exact = exact(f64::from(x));
                assert!(is_near(found, exact), "{function:?} of {x}: {found}, not {exact}");
            }
        }
        // As on processors that do not fuse.
        for &x in elements.iter().filter(|&&x| is_reduced(x)) {
            assert!(is_near(sine::<Plain, 0>(x), f64::from(x).sin()), "sine of {x}");
            assert!(is_near(sine::<Plain, 1>(x), f64::from(x).cos()), "cosine of {x}");
        }
    }

    #[test]
    fn they_agree_with_double_precision() {
        let scales = [1e-30f32, 1e-4, 0.01, 1.0, 5.0, 33.3];
        for scale in scales {
            let elements: Vec<f32> = (-20_001..=20_000).map(|i| i as f32 * scale).collect();
            check(&elements);
        }
        // Beside the bound, and beyond it.
        check(&[BOUND, -BOUND, BOUND + 1.0, 3e7, -1e20, f32::MAX, f32::MIN_POSITIVE, 1e-45]);
    }

    #[test]
    fn results_near_zeros_are_as_accurate() {
        // The numbers beside multiples of a quarter turn, where the reduction cancels most.
        for n in 1..70_000u32 {
            let near = (f64::from(n) * std::f64::consts::FRAC_PI_2) as f32;
            check(&[near.next_down(), near, near.next_up(), -near]);
        }
    }

    #[test]
    fn special_values() {
        let mut out = [1.0; 5];
        Circular::Sin.map(&mut out, &[0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN]);
        assert_eq!([out[0].to_bits(), out[1].to_bits()], [0, (-0.0f32).to_bits()]);
        assert!(out[2..].iter().all(|x| x.is_nan()));
        Circular::Cos.map(&mut out, &[0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN]);
        assert_eq!(out[..2], [1.0, 1.0]);
        assert!(out[2..].iter().all(|x| x.is_nan()));
    }

    #[test]
    fn the_shorter_slice_bounds_the_loop() {
        let mut out = [7.0; 3];
        Circular::Cos.map(&mut out, &[0.0; 2]);
        assert_eq!(out, [1.0, 1.0, 7.0]);
        Circular::Sin.map(&mut out[..1], &[0.0; 2]);
        assert_eq!(out, [0.0, 1.0, 7.0]);
    }
}
