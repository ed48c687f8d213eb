//! Complex numbers: the functions of them, in double precision, and what ops on real and complex numbers have in common.
//!
//! Numbers of 2 × 32 bits are computed in 2 × 64 and rounded once. The functions are principal values: their cuts lie where
//! those of C's `<complex.h>` do. Which op is which function is said in the families' files.

use std::ops::{Add, Div, Mul, Neg, Sub};

use tfrt_math::{Float, Reduction};
use tfrt_tensor::{Accessor, Complex, Element, bf16, f16};

use super::elementwise::{binary, map};
use super::support::{Computed, with_complex};
use crate::CpuCall;

/// A complex number in double precision.
pub(super) type C = Complex<f64>;

const ONE: C = C::new(1.0, 0.0);

/// What real or complex numbers are computed in.
pub(super) trait Wide:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + From<f64>
{
    /// The number with the imaginary part negated.
    fn conj(self) -> Self;
    /// Times a real number.
    fn scaled(self, by: f64) -> Self {
        self * by.into()
    }
    /// `1 - self`.
    fn one_minus(self) -> Self {
        Self::from(1.0) - self
    }
}

impl Wide for f64 {
    fn conj(self) -> Self {
        self
    }
}

impl Wide for C {
    fn conj(self) -> Self {
        C::conj(&self)
    }
}

/// A real or complex number of a tensor.
pub(super) trait Field: Element {
    /// What it is computed in.
    type Wide: Wide;
    /// Exactly this number.
    fn wide(self) -> Self::Wide;
    /// The nearest number of this type.
    fn narrow(wide: Self::Wide) -> Self;
}

macro_rules! real {
    ($($T:ty)+) => {$(
        impl Field for $T {
            type Wide = f64;
            fn wide(self) -> f64 {
                Float::to_f64(self)
            }
            fn narrow(wide: f64) -> Self {
                <Self as Float>::from_f64(wide)
            }
        }
    )+};
}

real!(f16 bf16 f32 f64);

impl Field for Complex<f32> {
    type Wide = C;
    fn wide(self) -> C {
        C::new(self.re.into(), self.im.into())
    }
    fn narrow(wide: C) -> Self {
        Self::new(wide.re as f32, wide.im as f32)
    }
}

impl Field for C {
    type Wide = C;
    fn wide(self) -> C {
        self
    }
    fn narrow(wide: C) -> Self {
        wide
    }
}

/// `f` of each complex number of the one argument.
pub(super) fn map_complex(call: &CpuCall<'_>, me: &'static Accessor, name: &str, f: fn(C) -> C) -> Computed {
    with_complex!(call.result(0)?.dtype, name, |T| map::<T>(call, me, move |z| T::narrow(f(z.wide()))))
}

/// `f` of each pair of complex numbers under broadcasting.
pub(super) fn binary_complex(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    name: &str,
    f: impl Fn(C, C) -> C + Send + Sync + 'static,
) -> Computed {
    with_complex!(call.result(0)?.dtype, name, |T| {
        binary::<T>(call, me, move |x, y| T::narrow(f(x.wide(), y.wide())))
    })
}

/// The sum of complex numbers, zero of none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Total;
/// The mean of complex numbers; of none zero, unlike of real ones, as in TensorFlow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Average;
/// The product of complex numbers, one of none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product;

macro_rules! reduction {
    ($name:ident, $identity:expr, $op:tt, |$acc:ident, $count:ident| $finish:expr) => {
        impl<T: Field<Wide = C>> Reduction<T> for $name {
            type Acc = C;
            const IDENTITY: C = $identity;
            fn fold(acc: C, x: T) -> C {
                acc $op x.wide()
            }
            fn merge(a: C, b: C) -> C {
                a $op b
            }
            fn finish($acc: C, $count: usize) -> T {
                T::narrow($finish)
            }
        }
    };
}

reduction!(Total, C::new(0.0, 0.0), +, |sum, _count| sum);
reduction!(Average, C::new(0.0, 0.0), +, |sum, count| sum / count.max(1) as f64);
reduction!(Product, ONE, *, |product, _count| product);

/// `x / y`, where the square of neither may be a number.
pub(super) fn quotient(x: C, y: C) -> C {
    x.fdiv(y)
}

pub(super) fn reciprocal(z: C) -> C {
    z.finv()
}

pub(super) fn square(z: C) -> C {
    z * z
}

/// The number of length one in the same direction; zero of zero.
pub(super) fn sign(z: C) -> C {
    if z == C::default() { z } else { z.unscale(z.norm()) }
}

/// The square of the distance, which is real where it is finite.
pub(super) fn squared_difference(x: C, y: C) -> C {
    (x - y) * (x - y).conj()
}

/// `x` to the power of `y`, `exp(y · ln x)`, whatever `y` is: NaN where both are zero.
pub(super) fn power(x: C, y: C) -> C {
    exp(y * x.ln())
}

/// `along · cos(angle) + i · across · sin(angle)`, where zero times infinity is zero, as on the real axis, and of an angle that
/// is no number the directions are unknown, but not that the length is infinite.
fn parts(along: f64, across: f64, angle: f64) -> C {
    let times = |x: f64, y: f64| match x == 0.0 || y == 0.0 {
        true => 0f64.copysign(x.signum() * y.signum()),
        false => x * y,
    };
    if along.is_infinite() && !angle.is_finite() {
        return C::new(f64::INFINITY, f64::NAN);
    }
    C::new(times(along, angle.cos()), times(across, angle.sin()))
}

pub(super) fn exp(z: C) -> C {
    let length = z.re.exp();
    parts(length, length, z.im)
}

pub(super) fn sinh(z: C) -> C {
    parts(z.re.sinh(), z.re.cosh(), z.im)
}

pub(super) fn cosh(z: C) -> C {
    parts(z.re.cosh(), z.re.sinh(), z.im)
}

pub(super) fn sin(z: C) -> C {
    turned(z, sinh)
}

pub(super) fn cos(z: C) -> C {
    cosh(C::new(-z.im, z.re))
}

pub(super) fn sigmoid(z: C) -> C {
    // Of the two forms the one whose powers do not overflow.
    if z.re >= 0.0 {
        return reciprocal(ONE + exp(-z));
    }
    let power = exp(z);
    quotient(power, ONE + power)
}

pub(super) fn rsqrt(z: C) -> C {
    reciprocal(sqrt(z))
}

pub(super) fn sqrt(z: C) -> C {
    if z == C::default() || z.im.is_infinite() {
        return C::new(z.im.abs(), z.im);
    }
    let norm = z.norm();
    if norm.is_infinite() && z.re.is_finite() {
        return sqrt(z.unscale(4.0)).scale(2.0);
    }
    if norm < f64::MIN_POSITIVE {
        // Such numbers have few digits.
        return sqrt(z.scale(2f64.powi(108))).unscale(2f64.powi(54));
    }
    let length = norm.midpoint(z.re.abs()).sqrt();
    let other = z.im / (2.0 * length);
    if z.re >= 0.0 { C::new(length, other) } else { C::new(other.abs(), length.copysign(z.im)) }
}

/// `exp(z) - 1`, where it is small too.
pub(super) fn expm1(z: C) -> C {
    if z.re.abs() > 40.0 {
        // Of the greater of the two numbers 1 is less than the last digit, and infinity is not subtracted from infinity.
        return exp(z) - ONE;
    }
    let (grown, half) = (z.re.exp_m1(), (0.5 * z.im).sin());
    C::new(grown - 2.0 * (grown + 1.0) * half * half, (grown + 1.0) * z.im.sin())
}

/// `ln(1 + z)`, where it is small too.
pub(super) fn log1p(z: C) -> C {
    if z.norm_sqr() > 0.25 {
        return plus(1.0, z).ln();
    }
    C::new(0.5 * (2.0 * z.re + z.norm_sqr()).ln_1p(), z.im.atan2(1.0 + z.re))
}

pub(super) fn tanh(z: C) -> C {
    // Hyperbolic functions overflow long before this is anything but ±1.
    if z.re.abs() > 20.0 {
        return C::new(1f64.copysign(z.re), 2.0 * (2.0 * z.im).sin() * (-2.0 * z.re.abs()).exp());
    }
    z.tanh()
}

pub(super) fn tan(z: C) -> C {
    turned(z, tanh)
}

/// `-i · f(i · z)`: what turns hyperbolic functions and their inverses into circular ones, and back.
fn turned(z: C, f: fn(C) -> C) -> C {
    let turned = f(C::new(-z.im, z.re));
    C::new(turned.im, -turned.re)
}

/// A real number plus a complex one, whose imaginary part it leaves as it is: the sign of zero says on which side of a cut.
fn plus(real: f64, z: C) -> C {
    C::new(real + z.re, z.im)
}

// Inverse functions by W. Kahan's formulas (Branch cuts for complex elementary functions, 1987), which are exact near the
// cuts and for small and large numbers.

pub(super) fn asin(z: C) -> C {
    let (below, above) = (sqrt(plus(1.0, -z)), sqrt(plus(1.0, z)));
    C::new(z.re.atan2((below * above).re), (below.conj() * above).im.asinh())
}

pub(super) fn acos(z: C) -> C {
    let (below, above) = (sqrt(plus(1.0, -z)), sqrt(plus(1.0, z)));
    C::new(2.0 * below.re.atan2(above.re), (above.conj() * below).im.asinh())
}

pub(super) fn acosh(z: C) -> C {
    let (below, above) = (sqrt(plus(-1.0, z)), sqrt(plus(1.0, z)));
    C::new((below.conj() * above).re.asinh(), 2.0 * below.im.atan2(above.re))
}

pub(super) fn asinh(z: C) -> C {
    turned(z, asin)
}

pub(super) fn atanh(z: C) -> C {
    if z.norm() > 1e100 {
        return C::new(reciprocal(z).re, std::f64::consts::FRAC_PI_2.copysign(z.im));
    }
    let (x, y) = (z.re, z.im);
    C::new(
        0.25 * (4.0 * x / ((1.0 - x) * (1.0 - x) + y * y)).ln_1p(),
        0.5 * (2.0 * y).atan2((1.0 - x) * (1.0 + x) - y * y),
    )
}

pub(super) fn atan(z: C) -> C {
    turned(z, atanh)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: C, expected: C) -> bool {
        (found - expected).norm() <= 1e-14 * expected.norm().max(1.0)
    }

    /// Points in all quadrants, near and far from zero and from the cuts.
    fn points() -> impl Iterator<Item = C> {
        let parts = [-1e3, -2.0, -0.75, -1e-9, 1e-9, 0.5, 1.5, 40.0];
        parts.into_iter().flat_map(move |re| parts.into_iter().map(move |im| C::new(re, im)))
    }

    #[test]
    fn inverses_undo_functions() {
        for z in points() {
            assert!(near(square(sqrt(z)) / z.norm(), z / z.norm()), "sqrt {z}");
            for (name, inverse, function) in [
                ("asin", asin as fn(C) -> C, sin as fn(C) -> C),
                ("acos", acos, cos),
                ("acosh", acosh, cosh),
                ("asinh", asinh, sinh),
            ] {
                assert!((function(inverse(z)) - z).norm() <= 1e-12 * z.norm().max(1.0), "{name} {z}");
            }
            if z.norm() < 3.0 {
                assert!(near(tanh(atanh(z)), z) && near(tan(atan(z)), z), "{z}");
            }
        }
    }

    #[test]
    fn the_sign_of_zero_chooses_the_side_of_a_cut() {
        let (right, length) = (std::f64::consts::FRAC_PI_2, 2f64.acosh());
        for side in [0.0, -0.0] {
            let (z, sign) = (C::new(2.0, side), 1f64.copysign(side));
            assert!(near(asin(z), C::new(right, sign * length)), "{side:?}");
            assert!(near(asin(-z), C::new(-right, -sign * length)), "{side:?}");
            assert!(near(acos(z), C::new(0.0, -sign * length)), "{side:?}");
            assert!(near(acos(-z), C::new(2.0 * right, sign * length)), "{side:?}");
            assert!(near(acosh(-z), C::new(length, -sign * 2.0 * right)), "{side:?}");
            assert!(near(asinh(C::new(side, 2.0)), C::new(sign * length, right)), "{side:?}");
            assert!(near(log1p(-z), C::new(0.0, -sign * 2.0 * right)), "{side:?}");
        }
    }

    #[test]
    fn what_overflows_stays_on_its_axis() {
        let infinite = C::new(f64::INFINITY, 0.0);
        for f in [exp, expm1, sinh, cosh] {
            assert_eq!(f(C::new(800.0, 0.0)), infinite);
        }
        assert_eq!(sin(C::new(0.0, 800.0)), C::new(0.0, f64::INFINITY));
        assert_eq!(cos(C::new(0.0, -800.0)), infinite);
        assert_eq!(power(C::new(2.0, 0.0), C::new(2000.0, 0.0)), infinite);
        let lost = exp(C::new(f64::INFINITY, f64::INFINITY));
        assert!(lost.re == f64::INFINITY && lost.im.is_nan());
        assert_eq!(exp(C::new(f64::NEG_INFINITY, f64::NAN)), C::default());
    }

    #[test]
    fn roots_of_the_largest_and_the_smallest_numbers() {
        for (z, scale) in
            [(C::new(1.5e308, -1.6e308), 2f64.powi(-512)), (C::new(-3e-320, 4e-320), 2f64.powi(530))]
        {
            let root = sqrt(z).scale(scale);
            assert!(near(square(root), z.scale(scale).scale(scale)), "{z}");
        }
    }

    #[test]
    fn small_and_large_numbers_keep_their_digits() {
        let small = C::new(1e-18, -1e-19);
        for f in [expm1, log1p, tanh, tan, asin, asinh, atan, atanh] {
            assert_eq!(f(small) / 1e-18, small / 1e-18);
        }
        assert_eq!(tanh(C::new(-800.0, 1.0)), C::new(-1.0, 0.0));
        assert_eq!(sigmoid(C::new(-800.0, 1.0)), C::default());
        assert!(near(asinh(C::new(1e30, 1.0)), C::new(2e30f64.ln(), 1e-30)));
        assert!(near(quotient(ONE, C::new(1e200, 1e200)) * 1e200, C::new(0.5, -0.5)));
    }
}
