//! Functions of one or two elements, to be handed to [`Unary`](crate::Unary),
//! [`Binary`](crate::Binary) or [`Update`](crate::Update).

use crate::{Element, Float, Number};

/// `a + b`.
#[inline]
pub fn add<T: Number>(a: T, b: T) -> T {
    a.plus(b)
}

/// `a - b`.
#[inline]
pub fn sub<T: Number>(a: T, b: T) -> T {
    a.minus(b)
}

/// `a * b`.
#[inline]
pub fn mul<T: Number>(a: T, b: T) -> T {
    a.times(b)
}

/// `a / b`; integers round toward zero and give zero for `b == 0`.
#[inline]
pub fn div<T: Number>(a: T, b: T) -> T {
    a.over(b)
}

/// `a - floor(a / b) * b`: the remainder with the sign of `b`.
#[inline]
pub fn floor_mod<T: Number>(a: T, b: T) -> T {
    let r = a.remainder(b);
    if r != T::ZERO && (r < T::ZERO) != (b < T::ZERO) { r.plus(b) } else { r }
}

/// `a / b` rounded down.
#[inline]
pub fn floor_div<T: Number>(a: T, b: T) -> T {
    let r = a.remainder(b);
    // The difference is no larger than `a`, unlike one with the remainder's other sign.
    let quotient = a.minus(r).over(b);
    if r != T::ZERO && (r < T::ZERO) != (b < T::ZERO) { quotient.minus(T::ONE) } else { quotient }
}

/// The greater; NaN if either is NaN.
#[inline]
pub fn maximum<T: Number>(a: T, b: T) -> T {
    if a > b || a.is_nan() { a } else { b }
}

/// The lesser; NaN if either is NaN.
#[inline]
pub fn minimum<T: Number>(a: T, b: T) -> T {
    if a < b || a.is_nan() { a } else { b }
}

/// `(a - b)²`.
#[inline]
pub fn squared_difference<T: Number>(a: T, b: T) -> T {
    let d = a.minus(b);
    d.times(d)
}

/// `a` to the power of `b`.
#[inline]
pub fn pow<T: Float>(a: T, b: T) -> T {
    a.power(b)
}

/// `a == b`; false if either is NaN.
#[inline]
pub fn equal<T: Element>(a: T, b: T) -> bool {
    a == b
}

/// `a != b`; true if either is NaN.
#[inline]
pub fn not_equal<T: Element>(a: T, b: T) -> bool {
    a != b
}

/// `a < b`.
#[inline]
pub fn less<T: Element + PartialOrd>(a: T, b: T) -> bool {
    a < b
}

/// `a <= b`.
#[inline]
pub fn less_equal<T: Element + PartialOrd>(a: T, b: T) -> bool {
    a <= b
}

/// `a > b`.
#[inline]
pub fn greater<T: Element + PartialOrd>(a: T, b: T) -> bool {
    a > b
}

/// `a >= b`.
#[inline]
pub fn greater_equal<T: Element + PartialOrd>(a: T, b: T) -> bool {
    a >= b
}

/// `x` where it is positive, else zero; NaN stays.
#[inline]
pub fn relu<T: Number>(x: T) -> T {
    if x < T::ZERO { T::ZERO } else { x }
}

/// `x` where it is positive, else `slope · x`; NaN stays.
#[inline]
pub fn leaky_relu<T: Number>(x: T, slope: T) -> T {
    // A choice between factors, because one between results becomes a branch or, in place, a store
    // under a mask, which takes many times as long as others on AMD's processors.
    x.times(if x > T::ZERO { T::ONE } else { slope })
}

/// The gradient of [`relu`]: `gradient` where the feature (its input or its output) is positive,
/// else zero.
#[inline]
pub fn relu_gradient<T: Number>(gradient: T, feature: T) -> T {
    if feature > T::ZERO { gradient } else { T::ZERO }
}

/// `-x`.
#[inline]
pub fn neg<T: Number>(x: T) -> T {
    // Through the product, so that zero changes its sign as IEEE 754 has it.
    x.times(T::ZERO.minus(T::ONE))
}

/// `|x|`; the least integer stays as it is.
#[inline]
pub fn abs<T: Number>(x: T) -> T {
    if x < T::ZERO { neg(x) } else { T::ZERO.plus(x) }
}

/// -1, 0 or 1; NaN stays.
#[inline]
pub fn sign<T: Number>(x: T) -> T {
    if x > T::ZERO {
        T::ONE
    } else if x < T::ZERO {
        T::ZERO.minus(T::ONE)
    } else {
        x
    }
}

/// `x²`.
#[inline]
pub fn square<T: Number>(x: T) -> T {
    x.times(x)
}

/// `e` to the power of `x`.
#[inline(always)]
pub fn exp<T: Float>(x: T) -> T {
    x.exp()
}

/// Natural logarithm.
#[inline]
pub fn log<T: Float>(x: T) -> T {
    x.ln()
}

/// Square root.
#[inline]
pub fn sqrt<T: Float>(x: T) -> T {
    x.sqrt()
}

/// `1 / sqrt(x)`.
#[inline]
pub fn rsqrt<T: Float>(x: T) -> T {
    T::ONE.over(x.sqrt())
}

/// `1 / x`.
#[inline]
pub fn reciprocal<T: Number>(x: T) -> T {
    T::ONE.over(x)
}

/// Hyperbolic tangent.
#[inline(always)]
pub fn tanh<T: Float>(x: T) -> T {
    x.tanh()
}

/// `1 / (1 + e^-x)`, without overflow on either side.
#[inline(always)]
pub fn sigmoid<T: Float>(x: T) -> T {
    // Of numbers of either sign without a branch, so that loops are vectorized.
    let e = neg(abs(x)).exp();
    let dividend = if x < T::ZERO { e } else { T::ONE };
    dividend.over(T::ONE.plus(e))
}

/// The greatest integer not above.
#[inline]
pub fn floor<T: Float>(x: T) -> T {
    x.floor()
}

/// The least integer not below.
#[inline]
pub fn ceil<T: Float>(x: T) -> T {
    x.ceil()
}

/// The nearest integer, halves to even.
#[inline]
pub fn round<T: Float>(x: T) -> T {
    x.round_even()
}

/// Sine.
#[inline]
pub fn sin<T: Float>(x: T) -> T {
    x.sin()
}

/// Cosine.
#[inline]
pub fn cos<T: Float>(x: T) -> T {
    x.cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_wins_extremes_and_relu() {
        for (a, b) in [(f32::NAN, 1.0), (1.0, f32::NAN)] {
            assert!(maximum(a, b).is_nan() && minimum(a, b).is_nan());
        }
        assert!(relu(f32::NAN).is_nan() && sign(f32::NAN).is_nan());
        assert!(leaky_relu(f32::NAN, 0.1).is_nan());
        assert_eq!([2.0, -2.0, 0.0].map(|x| leaky_relu(x, 0.5)), [2.0, -1.0, 0.0]);
        assert_eq!(relu_gradient(3.0, f32::NAN), 0.0);
    }

    #[test]
    fn integer_corners() {
        assert_eq!(div(7, 0), 0);
        assert_eq!(div(i32::MIN, -1), i32::MIN);
        assert_eq!(add(i8::MAX, 1), i8::MIN);
        assert_eq!(abs(-5i64), 5);
        for (a, b, quotient, rest) in
            [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, -1), (-7, -2, 3, -1), (5, 0, 0, 0)]
        {
            assert_eq!((floor_div(a, b), floor_mod(a, b)), (quotient, rest), "{a} by {b}");
        }
        assert_eq!(floor_div(i32::MIN, i32::MAX), -2);
    }

    #[test]
    fn float_corners() {
        assert_eq!(neg(0.0f32).to_bits(), (-0.0f32).to_bits());
        assert_eq!(abs(-0.0f32).to_bits(), 0);
        assert_eq!(sigmoid(-1000.0f64), 0.0);
        assert_eq!(sigmoid(1000.0f64), 1.0);
        assert_eq!(floor_mod(-1.0, 3.0), 2.0);
        assert_eq!(round(2.5), 2.0);
    }
}
