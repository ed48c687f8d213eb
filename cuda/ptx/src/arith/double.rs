//! `f64` arithmetic: all roundings; minima, maxima, signs, properties. There is no `.ftz` and no
//! `.sat`.

use super::Rounding;
use super::exact::{DOUBLE, Exact};
use super::single::Property;

/// The result of an operation on numbers that has no number as its result.
pub(crate) const DEFAULT_NAN: f64 = f64::from_bits(0xfff8_0000_0000_0000);

const QUIET: u64 = 0x0008_0000_0000_0000;
const SIGN: u64 = 1 << 63;

/// Returns the result. If it is NaN, returns the first NaN among the operands, made quiet, or else
/// the default NaN.
#[inline(always)]
fn with_payload(result: f64, operands: [f64; 3]) -> f64 {
    let quiet = |x: f64| f64::from_bits(x.to_bits() | QUIET);
    let [a, b, c] = operands;
    let last = if c.is_nan() { quiet(c) } else { DEFAULT_NAN };
    let payload = if b.is_nan() { quiet(b) } else { last };
    let payload = if a.is_nan() { quiet(a) } else { payload };
    if result.is_nan() { payload } else { result }
}

/// Rounds the result of `exact`. If `nearest` or an operand is not finite, the result follows from
/// `nearest`.
#[inline]
fn directed(nearest: f64, operands: [f64; 3], rounding: Rounding, exact: impl Fn(bool) -> Exact) -> f64 {
    if operands.iter().any(|x| !x.is_finite()) || nearest.is_nan() {
        return nearest;
    }
    f64::from_bits(exact(rounding == Rounding::Down).round(DOUBLE, rounding))
}

/// `add.f64`.
#[inline(always)]
pub(crate) fn add(a: f64, b: f64, rounding: Rounding) -> f64 {
    let nearest = a + b;
    let sum = match rounding {
        Rounding::NearestEven => nearest,
        _ => {
            directed(nearest, [a, b, 0.0], rounding, |zero| Exact::from_f64(a).add(Exact::from_f64(b), zero))
        }
    };
    with_payload(sum, [a, b, 0.0])
}

/// `sub.f64`.
#[inline(always)]
pub(crate) fn sub(a: f64, b: f64, rounding: Rounding) -> f64 {
    // A NaN keeps its sign, which negation would change.
    let negated = if b.is_nan() { b } else { -b };
    add(a, negated, rounding)
}

/// `mul.f64`.
#[inline(always)]
pub(crate) fn mul(a: f64, b: f64, rounding: Rounding) -> f64 {
    let nearest = a * b;
    let product = match rounding {
        Rounding::NearestEven => nearest,
        _ => directed(nearest, [a, b, 0.0], rounding, |_| Exact::from_f64(a).mul(Exact::from_f64(b))),
    };
    with_payload(product, [a, b, 0.0])
}

/// `fma.f64`, `mad.f64`.
#[inline(always)]
pub(crate) fn fma(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    let nearest = a.mul_add(b, c);
    let result = match rounding {
        Rounding::NearestEven => nearest,
        _ => directed(nearest, [a, b, c], rounding, |zero| {
            Exact::from_f64(a).mul(Exact::from_f64(b)).add(Exact::from_f64(c), zero)
        }),
    };
    with_payload(result, [a, b, c])
}

/// `div.f64`.
#[inline(always)]
pub(crate) fn div(a: f64, b: f64, rounding: Rounding) -> f64 {
    let nearest = a / b;
    let quotient = match rounding {
        Rounding::NearestEven => nearest,
        _ if b == 0.0 => nearest,
        _ => directed(nearest, [a, b, 0.0], rounding, |_| Exact::from_f64(a).div(Exact::from_f64(b))),
    };
    with_payload(quotient, [a, b, 0.0])
}

/// `rcp.f64`.
#[inline(always)]
pub(crate) fn rcp(a: f64, rounding: Rounding) -> f64 {
    div(1.0, a, rounding)
}

/// `sqrt.f64`.
#[inline(always)]
pub(crate) fn sqrt(a: f64, rounding: Rounding) -> f64 {
    let nearest = a.sqrt();
    let root = match rounding {
        Rounding::NearestEven => nearest,
        _ if a == 0.0 => nearest,
        _ => directed(nearest, [a, 0.0, 0.0], rounding, |_| Exact::from_f64(a).sqrt()),
    };
    with_payload(root, [a, 0.0, 0.0])
}

/// `neg.f64`: the sign changes, also a NaN's.
#[inline(always)]
pub(crate) fn neg(a: f64) -> f64 {
    f64::from_bits(a.to_bits() ^ SIGN)
}

/// `abs.f64`: the sign is cleared; a NaN passes unchanged.
#[inline(always)]
pub(crate) fn abs(a: f64) -> f64 {
    if a.is_nan() { a } else { f64::from_bits(a.to_bits() & !SIGN) }
}

/// `copysign.f64`: the sign of `a` on the value of `b`.
#[inline(always)]
pub(crate) fn copysign(a: f64, b: f64) -> f64 {
    f64::from_bits((a.to_bits() & SIGN) | (b.to_bits() & !SIGN))
}

/// `min.f64`: `-0.0` is below `+0.0`; of a number and a NaN, the number.
#[inline(always)]
pub(crate) fn min(a: f64, b: f64) -> f64 {
    let equal = f64::from_bits(a.to_bits() | b.to_bits());
    let ordered = if a < b { a } else { b };
    let ordered = if a == b { equal } else { ordered };
    let number = if b.is_nan() { a } else { ordered };
    with_payload(number, [a, b, 0.0])
}

/// `max.f64`: `+0.0` is above `-0.0`; of a number and a NaN, the number.
#[inline(always)]
pub(crate) fn max(a: f64, b: f64) -> f64 {
    let equal = f64::from_bits(a.to_bits() & b.to_bits());
    let ordered = if a > b { a } else { b };
    let ordered = if a == b { equal } else { ordered };
    let number = if b.is_nan() { a } else { ordered };
    with_payload(number, [a, b, 0.0])
}

/// `testp.f64`.
#[inline(always)]
pub(crate) fn test(a: f64, property: Property) -> bool {
    let magnitude = a.abs();
    match property {
        Property::Finite => magnitude < f64::INFINITY,
        Property::Infinite => magnitude == f64::INFINITY,
        Property::Number => !a.is_nan(),
        Property::NotANumber => a.is_nan(),
        Property::Normal => magnitude == 0.0 || (f64::MIN_POSITIVE..f64::INFINITY).contains(&magnitude),
        Property::Subnormal => magnitude > 0.0 && magnitude < f64::MIN_POSITIVE,
    }
}
