//! Functions of complex numbers in double precision: principal values with the branch cuts of C's
//! `<complex.h>`.
//!
//! Each is written so that both parts are accurate near branch points, poles and zeros, and where
//! squares or powers would overflow. This module does not depend on tensors or ops.

use std::f64::consts::{FRAC_PI_2, LN_2};

use super::{C, ONE};

/// From here on, `z² + 1` equals `z²`, and its square is finite.
const FAR: f64 = 1e100;
/// Real parts for which powers of e are near the largest number, but a sine could bring them back
/// into range.
const STEEP: std::ops::Range<f64> = 700.0..1400.0;

/// Returns a power of two that scales the larger part of a number near 1, so that its square
/// neither overflows nor underflows.
fn near_one(z: C) -> f64 {
    let exponent = (z.re.abs().max(z.im.abs()).to_bits() >> 52).clamp(23, 2023);
    f64::from_bits((2046 - exponent) << 52)
}

/// Returns whether a part is infinite, regardless of the other.
fn is_infinite(z: C) -> bool {
    z.re.is_infinite() || z.im.is_infinite()
}

/// Returns whether both parts are finite.
fn is_finite(z: C) -> bool {
    z.re.is_finite() && z.im.is_finite()
}

/// Returns `x / y`, even if neither square is finite. A quotient by zero, or with only the dividend
/// infinite, is infinite; a quotient by infinity is zero, regardless of the other part (C, Annex
/// G).
pub(in crate::ops) fn quotient(x: C, y: C) -> C {
    let (of_x, of_y) = (near_one(x), near_one(y));
    let (near_x, near_y) = (x.scale(of_x), y.scale(of_y));
    let quotient = (near_x * near_y.conj()).unscale(near_y.norm_sqr());
    // In two steps, because the ratio of both powers of two may overflow even if the quotient does
    // not.
    let exponent = |power: f64| (power.to_bits() >> 52).cast_signed();
    let all = exponent(of_y) - exponent(of_x);
    let power = |exponent: i64| f64::from_bits((exponent + 1023).cast_unsigned() << 52);
    let quotient = quotient.scale(power(all / 2)).scale(power(all - all / 2));
    // For infinity only the direction counts.
    let direction = |z: C| {
        let unit = |part: f64| f64::from(u8::from(part.is_infinite())).copysign(part);
        C::new(unit(z.re), unit(z.im))
    };
    if !(quotient.re.is_nan() && quotient.im.is_nan()) {
        quotient
    } else if y == C::default() {
        x.scale(f64::INFINITY.copysign(y.re))
    } else if is_infinite(x) && is_finite(y) {
        (direction(x) * y.conj()).scale(f64::INFINITY)
    } else if is_infinite(y) && is_finite(x) {
        (x * direction(y).conj()).scale(0.0)
    } else {
        quotient
    }
}

pub(in crate::ops) fn reciprocal(z: C) -> C {
    quotient(ONE, z)
}

pub(in crate::ops) fn square(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    // Half of the sum is finite even if the sum is not.
    C::new((x - y) * (0.5 * x + 0.5 * y) * 2.0, 2.0 * (z.re * z.im))
}

/// Returns the number of length one in the same direction, or zero for zero.
pub(in crate::ops) fn sign(z: C) -> C {
    let near = z.scale(near_one(z));
    if z == C::default() { z } else { near.unscale(near.norm()) }
}

/// Returns the square of the distance, which is real if it is finite.
pub(in crate::ops) fn squared_difference(x: C, y: C) -> C {
    (x - y) * (x - y).conj()
}

/// Returns `x` to the power of `y`, computed as `exp(y · ln x)`: NaN if both are zero.
pub(in crate::ops) fn power(x: C, y: C) -> C {
    exp(y * ln(x))
}

/// Returns `along · cos(angle) + i · across · sin(angle)`, where zero times infinity is zero, as on
/// the real axis. If the angle is NaN, the directions are unknown, but an infinite length stays
/// infinite.
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

/// The result if the length is finite, the angle is NaN, and both parts depend on it.
const LOST: C = C::new(f64::NAN, f64::NAN);

/// Returns whether functions of powers of e are [`LOST`] for this number.
fn is_lost(z: C) -> bool {
    z.re.is_finite() && z.re != 0.0 && !z.im.is_finite()
}

pub(in crate::ops) fn exp(z: C) -> C {
    if is_lost(z) {
        return LOST;
    }
    if STEEP.contains(&z.re) {
        let half = (0.5 * z.re).exp();
        return parts(half, half, z.im).scale(half);
    }
    let length = z.re.exp();
    parts(length, length, z.im)
}

pub(in crate::ops) fn sinh(z: C) -> C {
    if is_lost(z) {
        return LOST;
    }
    if STEEP.contains(&z.re.abs()) {
        let half = (0.5 * z.re.abs()).exp();
        return parts(half.copysign(z.re), half, z.im).scale(0.5 * half);
    }
    parts(z.re.sinh(), z.re.cosh(), z.im)
}

pub(in crate::ops) fn cosh(z: C) -> C {
    if is_lost(z) {
        return LOST;
    }
    if STEEP.contains(&z.re.abs()) {
        let half = (0.5 * z.re.abs()).exp();
        return parts(half, half.copysign(z.re), z.im).scale(0.5 * half);
    }
    parts(z.re.cosh(), z.re.sinh(), z.im)
}

pub(in crate::ops) fn sin(z: C) -> C {
    turned(z, sinh)
}

pub(in crate::ops) fn cos(z: C) -> C {
    cosh(C::new(-z.im, z.re))
}

/// Returns `1 / (1 + exp(-z))`, computed as `exp(z/2) / (2 cosh(z/2))`, whose denominator is
/// accurate near its zeros.
pub(in crate::ops) fn sigmoid(z: C) -> C {
    if is_lost(z) {
        return LOST;
    }
    if z.re < -40.0 {
        return exp(z);
    }
    if z.re > 40.0 {
        return C::new(1.0, -exp(-z).im);
    }
    let (sin, cos) = (0.5 * z.im).sin_cos();
    let sinh = (0.5 * z.re).sinh();
    // exp(x) + cos(y); both are close to 1 in magnitude where the sum is small.
    let along = match z.re.abs() < 1.0 {
        true => z.re.exp_m1() + 2.0 * cos * cos,
        false => z.re.exp() + z.im.cos(),
    };
    C::new(0.5 * along, sin * cos).unscale(2.0 * (sinh * sinh + cos * cos))
}

pub(in crate::ops) fn rsqrt(z: C) -> C {
    let root = sqrt(z);
    if is_infinite(root) {
        return C::default();
    }
    if root == C::default() { C::new(f64::INFINITY, f64::NAN) } else { reciprocal(root) }
}

pub(in crate::ops) fn sqrt(z: C) -> C {
    if z == C::default() || z.im.is_infinite() {
        return C::new(z.im.abs(), z.im);
    }
    let norm = z.norm();
    if norm.is_infinite() && z.re.is_finite() {
        return sqrt(z.unscale(4.0)).scale(2.0);
    }
    if norm < f64::MIN_POSITIVE {
        // Subnormal numbers have few digits.
        return sqrt(z.scale(2f64.powi(108))).unscale(2f64.powi(54));
    }
    let length = norm.midpoint(z.re.abs()).sqrt();
    let other = z.im / (2.0 * length);
    if z.re >= 0.0 { C::new(length, other) } else { C::new(other.abs(), length.copysign(z.im)) }
}

/// Returns `exp(z) - 1`, also accurate if it is small.
pub(in crate::ops) fn expm1(z: C) -> C {
    if z.re.abs() > 40.0 {
        // 1 is less than the last digit of the greater number, and infinity is not subtracted from
        // infinity.
        return exp(z) - ONE;
    }
    let ((sin, cos), half) = (z.im.sin_cos(), (0.5 * z.im).sin());
    C::new(z.re.exp_m1() * cos - 2.0 * half * half, z.re.exp() * sin)
}

/// Returns `(1 + x)² + y² - 1`, accurate even where its terms cancel.
fn beyond_one(x: f64, y: f64) -> f64 {
    // A product or a sum, and its rounding error.
    let square = |x: f64| (x * x, x.mul_add(x, -(x * x)));
    let sum = |x: f64, y: f64| {
        let sum = x + y;
        let from_y = sum - x;
        (sum, (x - (sum - from_y)) + (y - from_y))
    };
    let ((xx, first), (yy, second)) = (square(x), square(y));
    let (partial, third) = sum(2.0 * x, yy);
    let (total, fourth) = sum(partial, xx);
    total + (first + second + third + fourth)
}

/// Lengths whose logarithm is computed as that of a number near 1: the larger part is between a
/// half and twice 1.
const NEAR_ONE: std::ops::Range<f64> = 0.75..1.375;

/// Returns `ln |z|`.
fn ln_norm(z: C) -> f64 {
    let norm = z.norm();
    if NEAR_ONE.contains(&norm) {
        let (x, y) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
        return 0.5 * beyond_one(x - 1.0, y).ln_1p();
    }
    if norm.is_normal() {
        return norm.ln();
    }
    let scale = near_one(z);
    z.scale(scale).norm().ln() - scale.ln()
}

pub(in crate::ops) fn ln(z: C) -> C {
    C::new(ln_norm(z), z.arg())
}

/// Returns `ln(1 + z)`, also accurate if it is small.
pub(in crate::ops) fn log1p(z: C) -> C {
    let sum = plus(1.0, z);
    let along = match NEAR_ONE.contains(&sum.norm()) {
        true => 0.5 * beyond_one(z.re, z.im).ln_1p(),
        false => ln_norm(sum),
    };
    C::new(along, sum.arg())
}

/// Returns `-i · f(i · z)`, which converts hyperbolic functions and their inverses to circular
/// ones, and back.
fn turned(z: C, f: fn(C) -> C) -> C {
    let turned = f(C::new(-z.im, z.re));
    C::new(turned.im, -turned.re)
}

/// Returns a real number plus a complex one. The imaginary part is unchanged: the sign of zero
/// tells the side of a cut.
fn plus(real: f64, z: C) -> C {
    C::new(real + z.re, z.im)
}

// W. Kahan's formulas (Branch cuts for complex elementary functions, 1987), which are accurate near
// cuts and poles and for small numbers. For large ones, their products would overflow.

pub(in crate::ops) fn tanh(z: C) -> C {
    if is_lost(z) {
        return LOST;
    }
    if z.im == 0.0 {
        return C::new(z.re.tanh(), z.im);
    }
    // Hyperbolic functions overflow long before the result differs from ±1.
    if z.re.abs() > 20.0 {
        // At infinity the direction does not matter.
        let (sin, cos) = match z.re.is_infinite() && !z.im.is_finite() {
            true => (1f64.copysign(z.im), 1.0),
            false => z.im.sin_cos(),
        };
        let across = 4.0 * sin * cos * (-2.0 * z.re.abs()).exp();
        return C::new(1f64.copysign(z.re), across);
    }
    let (tan, sinh) = (z.im.tan(), z.re.sinh());
    let slope = 1.0 + tan * tan;
    C::new(slope * (1.0 + sinh * sinh).sqrt() * sinh, tan).unscale(1.0 + slope * sinh * sinh)
}

pub(in crate::ops) fn tan(z: C) -> C {
    turned(z, tanh)
}

pub(in crate::ops) fn asin(z: C) -> C {
    if z.norm() > FAR {
        return C::new(z.re.atan2(z.im.abs()), (ln_norm(z) + LN_2).copysign(z.im));
    }
    let (below, above) = (sqrt(plus(1.0, -z)), sqrt(plus(1.0, z)));
    C::new(z.re.atan2((below * above).re), (below.conj() * above).im.asinh())
}

pub(in crate::ops) fn acos(z: C) -> C {
    if z.norm() > FAR {
        return C::new(z.im.abs().atan2(z.re), -(ln_norm(z) + LN_2).copysign(z.im));
    }
    let (below, above) = (sqrt(plus(1.0, -z)), sqrt(plus(1.0, z)));
    C::new(2.0 * below.re.atan2(above.re), (above.conj() * below).im.asinh())
}

pub(in crate::ops) fn acosh(z: C) -> C {
    if z.norm() > FAR {
        return C::new(ln_norm(z) + LN_2, z.arg());
    }
    let (below, above) = (sqrt(plus(-1.0, z)), sqrt(plus(1.0, z)));
    C::new((below.conj() * above).re.asinh(), 2.0 * below.im.atan2(above.re))
}

pub(in crate::ops) fn asinh(z: C) -> C {
    turned(z, asin)
}

pub(in crate::ops) fn atanh(z: C) -> C {
    if z.norm() > FAR {
        let along = if is_infinite(z) { 0f64.copysign(z.re) } else { reciprocal(z).re };
        return C::new(along, if z.im.is_nan() { z.im } else { FRAC_PI_2.copysign(z.im) });
    }
    let (x, y) = (z.re.abs(), z.im);
    let along = if x == 1.0 && y.abs() < FAR.recip() {
        // The square of y may overflow.
        0.5 * (LN_2 - y.abs().ln())
    } else {
        0.25 * (4.0 * x / ((1.0 - x) * (1.0 - x) + y * y)).ln_1p()
    };
    C::new(along.copysign(z.re), 0.5 * (2.0 * y).atan2((1.0 - x) * (1.0 + x) - y * y))
}

pub(in crate::ops) fn atan(z: C) -> C {
    turned(z, atanh)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: C, expected: C) -> bool {
        (found - expected).norm() <= 1e-14 * expected.norm().max(1.0)
    }

    /// Returns points in all quadrants, near and far from zero and from the cuts.
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
    fn overflow_stays_on_its_axis() {
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

    /// Compares with values computed with 3,000 bits, at points where otherwise correct formulas
    /// lose digits: near branch points, poles and zeros, and near the largest and smallest numbers.
    #[test]
    fn no_digits_are_lost() {
        use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4, PI};
        const INFINITY: f64 = f64::INFINITY;
        let c = C::new;
        for (name, f, z, expected) in [
            ("atanh", atanh as fn(C) -> C, c(-1.0, 1e-8), c(-9.556913962256155, 0.7853981658974483)),
            ("atanh", atanh, c(1.0, 1e-8), c(9.556913962256155, 0.7853981658974483)),
            ("atanh", atanh, c(-1.0, 1e-6), c(-7.254328869262173, 0.7853984133974483)),
            ("atanh", atanh, c(-0.999999, 1e-300), c(-7.254328619247669, 5.000002499857472e-295)),
            ("atanh", atanh, c(-0.999999999, -1e-300), c(-10.708206522644144, -5.000000143909662e-292)),
            ("atanh", atanh, c(1.0, 1e-200), c(230.60508288968455, FRAC_PI_4)),
            ("atanh", atanh, c(-1.7e308, 1.7e308), c(-2.941176470588236e-309, FRAC_PI_2)),
            ("atan", atan, c(1e-8, 1.0), c(0.7853981658974483, 9.556913962256155)),
            ("atan", atan, c(-1e-6, -1.0), c(-0.7853984133974483, -7.254328869262173)),
            ("tan", tan, c(FRAC_PI_2, 1e-300), c(1.633123935319537e16, 2.6670937881135714e-268)),
            ("tan", tan, c(1.5707963705062866, 1e-300), c(-22877332.42885646, 5.233723390604084e-286)),
            ("tan", tan, c(4.71238899230957, 1e-9), c(-83272691.81493916, 6983104.956945553)),
            ("tanh", tanh, c(1e-6, 1.5707963705062866), c(998092.9581418863, -43628.030551423406)),
            ("tanh", tanh, c(1e-7, FRAC_PI_2), c(10000000.000000034, 0.006123233995736746)),
            ("tanh", tanh, c(30.0, 100000000.0), c(1.0, -1.1857847300555773e-26)),
            ("asin", asin, c(1.000000000000001, 1e-17), c(1.5707963265826819, 4.712208701164651e-8)),
            ("asin", asin, c(-1.7e308, 1e308), c(-1.039072259536091, 710.5685604015412)),
            ("acos", acos, c(0.999999999999999, -1e-17), c(4.470404325190511e-8, 2.2369341277813489e-10)),
            ("acos", acos, c(-0.75, 1.7e308), c(FRAC_PI_2, -710.4199840737882)),
            ("acosh", acosh, c(1.000000000001, 1e-14), c(1.414294097940775e-6, 7.0706651569548064e-9)),
            ("acosh", acosh, c(1.7e308, -1.7e308), c(710.7665576640682, -FRAC_PI_4)),
            ("asinh", asinh, c(1e-9, 1.000000001), c(4.9134648705206415e-5, 1.570775974558216)),
            ("exp", exp, c(710.2, -0.3), c(INFINITY, -8.063586136156882e307)),
            ("exp", exp, c(712.0, FRAC_PI_2), c(1.0107691336148694e293, INFINITY)),
            ("expm1", expm1, c(-30.0, 2.0), c(-1.0000000000000389, 8.508862486771267e-14)),
            ("expm1", expm1, c(1e-9, 1e-5), c(9.500000004504166e-10, 1.0000000009833333e-5)),
            ("sinh", sinh, c(-712.0, 3.0), c(INFINITY, 1.1647419352396685e308)),
            ("cosh", cosh, c(710.5, 1.5), c(1.3027085751398349e307, INFINITY)),
            ("sin", sin, c(1.5, 711.0), c(INFINITY, 2.1478033373565022e307)),
            ("cos", cos, c(1.5, -711.0), c(2.1478033373565022e307, INFINITY)),
            ("ln", ln, c(0.5403023058681398, 0.8414709848078965), c(2.4228383963033683e-17, 1.0)),
            ("ln", ln, c(1.0000000001, -1e-5), c(1.500000082565371e-10, -9.999999998666668e-6)),
            ("ln", ln, c(5e-324, -5e-324), c(-744.0934983311013, -FRAC_PI_4)),
            ("ln", ln, c(1.7e308, 1.7e308), c(710.0734104835083, FRAC_PI_4)),
            ("log1p", log1p, c(-1e-6, 0.001414213562373095), c(5.000000000124424e-13, 0.001414214033777333)),
            ("log1p", log1p, c(-1.4161468365471424, 0.9092974268256817), c(-2.067811780509355e-18, 2.0)),
            ("sigmoid", sigmoid, c(1e-17, PI), c(662357026252812.8, 8111534120932658.0)),
            ("sigmoid", sigmoid, c(-1e-6, -PI), c(-999999.5000000834, -0.00012246467991472513)),
            ("sigmoid", sigmoid, c(-30.0, 2.0), c(-3.894145196083145e-14, 8.508862486771929e-14)),
            (
                "reciprocal",
                reciprocal,
                c(1.7e308, 1.7e308),
                c(2.941176470588236e-309, -2.941176470588236e-309),
            ),
            ("sign", sign, c(1.7e308, -1.7e308), c(FRAC_1_SQRT_2, -FRAC_1_SQRT_2)),
            ("sign", sign, c(5e-324, 5e-324), c(FRAC_1_SQRT_2, FRAC_1_SQRT_2)),
            ("square", square, c(1.000000001, 0.999999999), c(4.000000108916879e-9, 2.0)),
            ("square", square, c(1e200, -1e200), c(0.0, -INFINITY)),
        ] {
            let found = f(z);
            for (found, expected) in [(found.re, expected.re), (found.im, expected.im)] {
                let is_close = found == expected || (found - expected).abs() <= 2e-15 * expected.abs();
                assert!(is_close, "{name} {z}: {found:?} instead of {expected:?}");
            }
        }
        // The squares of both operands underflow.
        assert!(near(quotient(C::new(1e-310, 3e-310), C::new(1e-310, -1e-310)), C::new(-1.0, 2.0)));
        assert!(near(quotient(C::new(1e308, 1e308), C::new(1.5e308, 1.5e308)), C::new(2.0 / 3.0, 0.0)));
    }

    #[test]
    fn functions_are_odd_and_symmetric_in_every_bit() {
        let beside = [-1.0, 1.0].into_iter().flat_map(|x| [1e-9, -1e-6].map(|y| C::new(x, y)));
        for z in points().chain(beside.clone()).chain(beside.map(|z| C::new(z.im, z.re))) {
            for f in [sin, sinh, tan, tanh, asin, asinh, atan, atanh] {
                assert_eq!(f(-z), -f(z), "{z}");
            }
            for f in
                [exp, expm1, ln, log1p, cos, cosh, sqrt, rsqrt, sigmoid, acos, acosh, reciprocal, tan, atan]
            {
                assert_eq!(f(z.conj()), f(z).conj(), "{z}");
            }
        }
    }

    /// Returns whether two numbers are equal in every bit, except for the payload of NaN.
    fn same(found: C, expected: C) -> bool {
        let is_same = |x: f64, y: f64| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
        is_same(found.re, expected.re) && is_same(found.im, expected.im)
    }

    /// Compares with TensorFlow and C.
    #[test]
    fn quotients_at_zero_and_infinity() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let c = C::new;
        for (x, y, expected) in [
            (c(inf, 1.0), c(1.0, 2.0), c(inf, -inf)),
            (c(1.0, inf), c(1.0, 2.0), c(inf, inf)),
            (c(inf, inf), c(1.0, 2.0), c(inf, nan)),
            (c(inf, nan), c(1.0, 2.0), c(inf, -inf)),
            (c(nan, inf), c(1.0, 2.0), c(inf, inf)),
            (c(inf, 1.0), c(0.0, 0.0), c(inf, inf)),
            (c(inf, nan), c(-0.0, 0.0), c(-inf, nan)),
            (c(1.0, 2.0), c(0.0, 0.0), c(inf, inf)),
            (c(1.0, 2.0), c(-0.0, 0.0), c(-inf, -inf)),
            (c(0.0, 0.0), c(0.0, 0.0), LOST),
            (c(1.0, 2.0), c(inf, 1.0), c(0.0, 0.0)),
            (c(1.0, 2.0), c(1.0, inf), c(0.0, -0.0)),
            (c(1.0, 2.0), c(nan, inf), c(0.0, -0.0)),
            (c(0.0, 0.0), c(inf, nan), c(0.0, 0.0)),
            (c(inf, 1.0), c(inf, inf), LOST),
            (c(nan, 0.0), c(inf, 1.0), LOST),
            (c(1.0, 2.0), c(nan, 0.0), LOST),
        ] {
            let found = quotient(x, y);
            assert!(same(found, expected), "{x} / {y}: {found} instead of {expected}");
        }
        for (z, expected) in [
            (c(inf, 0.0), c(0.0, 0.0)),
            (c(inf, 2.0), c(0.0, 0.0)),
            (c(1.0, inf), c(0.0, -0.0)),
            (c(inf, nan), c(0.0, 0.0)),
            (c(0.0, 0.0), c(inf, nan)),
            (c(-0.0, 0.0), c(-inf, nan)),
        ] {
            let (found, conjugate) = (reciprocal(z), reciprocal(z.conj()));
            assert!(found == expected || same(found, expected), "1 / {z}: {found} instead of {expected}");
            assert!(conjugate == expected.conj() || same(conjugate, expected), "1 / {}", z.conj());
        }
    }

    /// As in TensorFlow, the result of a finite length with an angle of NaN is unknown.
    #[test]
    fn angles_that_are_no_numbers() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        for angle in [nan, inf, -inf] {
            for re in [-1500.0, -750.0, -1.0, 1.0, 750.0, 1500.0] {
                for f in [exp, sinh, cosh, expm1, sigmoid, tanh] {
                    assert!(same(f(C::new(re, angle)), LOST), "{re} {angle}");
                }
                for f in [sin, cos] {
                    assert!(same(f(C::new(angle, re)), LOST), "{re} {angle}");
                }
            }
            assert!(same(exp(C::new(0.0, angle)), LOST));
            let (sinh, cosh) = (sinh(C::new(0.0, angle)), cosh(C::new(0.0, angle)));
            assert!(sinh.re == 0.0 && sinh.im.is_nan() && cosh.re.is_nan() && cosh.im == 0.0, "{angle}");
            assert!(same(exp(C::new(inf, angle)), C::new(inf, nan)));
            assert_eq!(exp(C::new(-inf, angle)), C::default());
        }
    }

    #[test]
    fn at_infinity_there_are_limits() {
        let (right, infinite) = (std::f64::consts::FRAC_PI_2, f64::INFINITY);
        for y in [0.0, 1.0, infinite, f64::NAN] {
            assert_eq!(rsqrt(C::new(infinite, y)), C::default());
            let limit = tanh(C::new(-infinite, y));
            assert!(limit.re == -1.0 && limit.im == 0.0, "{limit}");
            if !y.is_nan() {
                assert_eq!(atanh(C::new(infinite, y)), C::new(0.0, right));
                assert_eq!(acos(C::new(y, infinite)).im, -infinite);
                assert_eq!(asin(C::new(y, infinite)).im, infinite);
            }
        }
        assert_eq!(asin(C::new(infinite, 1.0)), C::new(right, infinite));
        assert_eq!(acosh(C::new(-infinite, 1.0)), C::new(infinite, 2.0 * right));
    }
}
