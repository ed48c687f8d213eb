//! The arithmetic that the operations need of an element type.

use half::{bf16, f16};

use crate::elementwise::Function;
use crate::exp::exp_f32;
use crate::softmax::ExpMinus;
use crate::special::tanh_f32;
use crate::{UnaryLoop, map_in_place, ops};

/// A plain value that a tensor may hold: anything that is copied bit by bit.
pub trait Element: Copy + Default + Send + Sync + PartialEq + 'static {}

impl<T: Copy + Default + Send + Sync + PartialEq + 'static> Element for T {}

/// A number, with the arithmetic of tensors: integers wrap, an integer divided by zero is zero, and
/// floating-point numbers follow IEEE 754 (`f16` and `bf16` are computed in `f32` and rounded
/// once).
pub trait Number: Element + PartialOrd {
    /// What sums and products are accumulated in: `f64` for `f32` and `f64`, `f32` for the half
    /// types, and the widest integer of the same sign for integers.
    type Acc: Number;

    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// The least value: negative infinity for floating point.
    const LOWEST: Self;
    /// The least value that is finite.
    const LEAST_FINITE: Self;
    /// The greatest value: infinity for floating point.
    const HIGHEST: Self;

    /// `self + other`.
    fn plus(self, other: Self) -> Self;
    /// `self - other`.
    fn minus(self, other: Self) -> Self;
    /// `self * other`.
    fn times(self, other: Self) -> Self;
    /// `self / other`; integers round toward zero.
    fn over(self, other: Self) -> Self;
    /// The remainder of [`Number::over`], with the sign of `self`; for integers zero where `other`
    /// is zero.
    fn remainder(self, other: Self) -> Self;
    /// Whether this is a NaN.
    fn is_nan(self) -> bool;
    /// Widens to the accumulator.
    fn to_acc(self) -> Self::Acc;
    /// Rounds (floating point) or truncates (integers) an accumulator.
    fn from_acc(acc: Self::Acc) -> Self;
    /// Converts a count, rounding or wrapping where it does not fit.
    fn from_count(count: usize) -> Self;
    /// Returns an integer that is ordered as the numbers are. Equal numbers have equal keys, and
    /// the key of a NaN is the greatest.
    fn order_key(self) -> u64;
}

/// A floating-point number.
pub trait Float: Number {
    /// From an `f64`, rounded once.
    fn from_f64(value: f64) -> Self;
    /// From an integer, rounded once.
    fn from_integer(value: i128) -> Self;
    /// To an `f64`, exactly.
    fn to_f64(self) -> f64;
    /// `e` to the power of `self`.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// `self` to the power of `other`.
    fn power(self, other: Self) -> Self;
    /// The greatest integer not above.
    fn floor(self) -> Self;
    /// The least integer not below.
    fn ceil(self) -> Self;
    /// The nearest integer, halves to even.
    fn round_even(self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;

    /// Writes `exp(x - max)` of each element of a row.
    fn exp_minus(out: &mut [Self], x: &[Self], max: Self) {
        UnaryLoop::map(&|x: Self| x.minus(max).exp(), out, x);
    }
    /// Replaces each element of a row by its sigmoid.
    fn sigmoid_row(row: &mut [Self]) {
        map_in_place(row, ops::sigmoid);
    }
    /// Replaces each element of a row by its hyperbolic tangent.
    fn tanh_row(row: &mut [Self]) {
        map_in_place(row, Self::tanh);
    }
}

/// Implements [`Number::order_key`] for all floating-point numbers.
#[inline]
fn float_key(x: f64) -> u64 {
    if x.is_nan() {
        return u64::MAX;
    }
    // Both zeros become the positive one.
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
}

macro_rules! native_float {
    ($($t:ident: $exp:path, $tanh:path, { $($rows:tt)* };)*) => {$(
        impl Number for $t {
            type Acc = f64;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const LOWEST: Self = $t::NEG_INFINITY;
            const LEAST_FINITE: Self = $t::MIN;
            const HIGHEST: Self = $t::INFINITY;
            #[inline]
            fn plus(self, other: Self) -> Self { self + other }
            #[inline]
            fn minus(self, other: Self) -> Self { self - other }
            #[inline]
            fn times(self, other: Self) -> Self { self * other }
            #[inline]
            fn over(self, other: Self) -> Self { self / other }
            #[inline]
            fn remainder(self, other: Self) -> Self { self % other }
            #[inline]
            fn is_nan(self) -> bool { self.is_nan() }
            #[inline]
            fn to_acc(self) -> f64 { f64::from(self) }
            #[inline]
            fn from_acc(acc: f64) -> Self { acc as $t }
            #[inline]
            fn from_count(count: usize) -> Self { count as $t }
            #[inline]
            fn order_key(self) -> u64 { float_key(f64::from(self)) }
        }

        impl Float for $t {
            #[inline]
            fn from_f64(value: f64) -> Self { value as $t }
            #[inline]
            fn from_integer(value: i128) -> Self { value as $t }
            #[inline]
            fn to_f64(self) -> f64 { f64::from(self) }
            #[inline(always)]
            fn exp(self) -> Self { $exp(self) }
            #[inline]
            fn ln(self) -> Self { self.ln() }
            #[inline]
            fn sqrt(self) -> Self { self.sqrt() }
            #[inline(always)]
            fn tanh(self) -> Self { $tanh(self) }
            #[inline]
            fn power(self, other: Self) -> Self { self.powf(other) }
            #[inline]
            fn floor(self) -> Self { self.floor() }
            #[inline]
            fn ceil(self) -> Self { self.ceil() }
            #[inline]
            fn round_even(self) -> Self { self.round_ties_even() }
            #[inline]
            fn sin(self) -> Self { self.sin() }
            #[inline]
            fn cos(self) -> Self { self.cos() }
            $($rows)*
        }
    )*};
}

/// An `f64` as the `f32` beside it whose last digit is odd, unless it is one exactly. Rounded from
/// there to a type of fewer digits it is what it is rounded to at once, so that halves are rounded
/// once. (Conversions of the crate `half` round twice, or look at a part of the digits. `attr.rs`
/// in tfrt-ir, which does not depend on this crate, has the same.)
fn rounded_to_odd(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) == value || value.is_nan() {
        return near;
    }
    let is_beyond = f64::from(near).abs() > value.abs();
    f32::from_bits((near.to_bits() - u32::from(is_beyond)) | 1)
}

/// An integer as [`rounded_to_odd`] has an `f64`.
fn integer_rounded_to_odd(value: i128) -> f64 {
    let near = value as f64;
    // What is next to the largest integers is none, and saturates to one that is not beyond them.
    let back = near as i128;
    if back == value {
        return near;
    }
    let is_beyond = back.unsigned_abs() > value.unsigned_abs();
    f64::from_bits((near.to_bits() - u64::from(is_beyond)) | 1)
}

/// An `f16` as an `f32`, in integer arithmetic that loops are vectorized with. The conversions of the
/// crate `half` ask for instructions of the processor, one number at a time.
#[inline(always)]
fn widened(x: f16) -> f32 {
    const EXPONENT: u32 = 0x7c00 << 13;
    /// What the exponents of the two types differ by.
    const BIAS: u32 = (127 - 15) << 23;
    let bits = u32::from(x.to_bits());
    let size = (bits & 0x7fff) << 13;
    let normal = size + BIAS;
    // Infinities and NaN have the greatest exponent there, too.
    let normal = if size & EXPONENT == EXPONENT { normal + BIAS } else { normal };
    // NaN becomes a quiet one.
    let normal = if size > EXPONENT { normal | 1 << 22 } else { normal };
    // Subnormal numbers are multiples of the least one.
    let small = (f32::from_bits(size + BIAS + (1 << 23)) - f32::from_bits(BIAS + (1 << 23))).to_bits();
    let size = if size & EXPONENT == 0 { small } else { normal };
    f32::from_bits(size | (bits & 0x8000) << 16)
}

/// An `f32` rounded to an `f16`, like [`widened`].
#[inline(always)]
fn narrowed(x: f32) -> f16 {
    /// Added to a number that is subnormal as an `f16`, this rounds it to a multiple of the least
    /// one, which the low bits of the sum then count.
    const ROUNDER: f32 = 0.5;
    const LEAST_NORMAL: u32 = (127 - 14) << 23;
    const INFINITY: u32 = 0xff << 23;
    /// The first number that is rounded to infinity.
    const TOO_LARGE: u32 = ((127 + 15) << 23) + (0x7ff << 12);
    let bits = x.to_bits();
    let size = bits & 0x7fff_ffff;
    let small = (f32::from_bits(size) + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits());
    // Half of the last digit, less one where the result is even so far.
    let rounded = size.wrapping_add(0xfff + (size >> 13 & 1));
    let normal = rounded.wrapping_sub((127 - 15) << 23) >> 13;
    let result = if size < LEAST_NORMAL { small } else { normal };
    let result = if size >= TOO_LARGE { 0x7c00 } else { result };
    // NaN stays one with the digits that fit.
    let result = if size > INFINITY { 0x7e00 | (size >> 13 & 0x3ff) } else { result };
    f16::from_bits((result | bits >> 16 & 0x8000) as u16)
}

macro_rules! half_float {
    ($($t:ident: $widen:path, $narrow:path;)*) => {$(
        impl Number for $t {
            type Acc = f32;
            const ZERO: Self = $t::ZERO;
            const ONE: Self = $t::ONE;
            const LOWEST: Self = $t::NEG_INFINITY;
            const LEAST_FINITE: Self = $t::MIN;
            const HIGHEST: Self = $t::INFINITY;
            #[inline]
            fn plus(self, other: Self) -> Self { $narrow($widen(self) + $widen(other)) }
            #[inline]
            fn minus(self, other: Self) -> Self { $narrow($widen(self) - $widen(other)) }
            #[inline]
            fn times(self, other: Self) -> Self { $narrow($widen(self) * $widen(other)) }
            #[inline]
            fn over(self, other: Self) -> Self { $narrow($widen(self) / $widen(other)) }
            #[inline]
            fn remainder(self, other: Self) -> Self { $narrow($widen(self) % $widen(other)) }
            #[inline]
            fn is_nan(self) -> bool { self.is_nan() }
            #[inline]
            fn to_acc(self) -> f32 { $widen(self) }
            #[inline]
            fn from_acc(acc: f32) -> Self { $narrow(acc) }
            #[inline]
            fn from_count(count: usize) -> Self { Float::from_f64(count as f64) }
            #[inline]
            fn order_key(self) -> u64 { float_key(f64::from($widen(self))) }
        }

        impl Float for $t {
            #[inline]
            fn from_f64(value: f64) -> Self { $narrow(rounded_to_odd(value)) }
            #[inline]
            fn from_integer(value: i128) -> Self { Float::from_f64(integer_rounded_to_odd(value)) }
            #[inline]
            fn to_f64(self) -> f64 { self.to_f64() }
            #[inline]
            fn exp(self) -> Self { $narrow(exp_f32($widen(self))) }
            #[inline]
            fn ln(self) -> Self { $narrow($widen(self).ln()) }
            #[inline]
            fn sqrt(self) -> Self { $narrow($widen(self).sqrt()) }
            #[inline]
            fn tanh(self) -> Self { $narrow(tanh_f32($widen(self))) }
            #[inline]
            fn power(self, other: Self) -> Self { $narrow($widen(self).powf($widen(other))) }
            #[inline]
            fn floor(self) -> Self { $narrow($widen(self).floor()) }
            #[inline]
            fn ceil(self) -> Self { $narrow($widen(self).ceil()) }
            #[inline]
            fn round_even(self) -> Self { $narrow($widen(self).round_ties_even()) }
            #[inline]
            fn sin(self) -> Self { $narrow($widen(self).sin()) }
            #[inline]
            fn cos(self) -> Self { $narrow($widen(self).cos()) }
        }
    )*};
}

macro_rules! integer {
    ($($t:ident: $acc:ident),*) => {$(
        impl Number for $t {
            type Acc = $acc;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LOWEST: Self = $t::MIN;
            const LEAST_FINITE: Self = $t::MIN;
            const HIGHEST: Self = $t::MAX;
            #[inline]
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline]
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline]
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline]
            fn over(self, other: Self) -> Self { if other == 0 { 0 } else { self.wrapping_div(other) } }
            #[inline]
            fn remainder(self, other: Self) -> Self { if other == 0 { 0 } else { self.wrapping_rem(other) } }
            #[inline]
            fn is_nan(self) -> bool { false }
            #[inline]
            fn to_acc(self) -> $acc { $acc::from(self) }
            #[inline]
            fn from_acc(acc: $acc) -> Self { acc as $t }
            #[inline]
            fn from_count(count: usize) -> Self { count as $t }
            #[inline]
            fn order_key(self) -> u64 {
                // Negative numbers come before the others.
                (self as u64) ^ (u64::from($t::MIN != 0) << 63)
            }
        }
    )*};
}

native_float! {
    f32: exp_f32, tanh_f32, {
        fn exp_minus(out: &mut [f32], x: &[f32], max: f32) { ExpMinus { out, x, max }.run_wide() }
        fn sigmoid_row(row: &mut [f32]) { Function::Sigmoid.map_in_place(row) }
        fn tanh_row(row: &mut [f32]) { Function::Tanh.map_in_place(row) }
    };
    f64: f64::exp, f64::tanh, {};
}
half_float!(f16: widened, narrowed; bf16: bf16::to_f32, bf16::from_f32;);
integer!(i8: i64, i16: i64, i32: i64, i64: i64, u8: u64, u16: u64, u32: u64, u64: u64);

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Number + std::fmt::Debug>(numbers: &[T]) {
        for x in numbers {
            for y in numbers {
                let order = x.order_key().cmp(&y.order_key());
                let expected = x.partial_cmp(y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()));
                assert_eq!(order, expected, "{x:?} and {y:?}");
            }
        }
    }

    #[test]
    fn halves_are_converted_as_by_the_crate_half() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            assert_eq!(widened(half).to_bits(), half.to_f32().to_bits(), "{bits:#x}");
            // Around each half and around each middle between two.
            for near in -2i32..=2 {
                for middle in [0, 0x1000] {
                    let wide = widened(half).to_bits().wrapping_add_signed(near).wrapping_add(middle);
                    let x = f32::from_bits(wide);
                    assert_eq!(narrowed(x).to_bits(), f16::from_f32_const(x).to_bits(), "{x}");
                }
            }
        }
        for x in [f32::MAX, f32::MIN_POSITIVE, 1e-45, -0.0, 2f32.powi(-25), f32::INFINITY] {
            assert_eq!(narrowed(x).to_bits(), f16::from_f32_const(x).to_bits(), "{x}");
        }
    }

    #[test]
    fn keys_are_ordered_as_numbers() {
        let floats = [f64::NAN, -f64::NAN, f64::INFINITY, f64::MAX, 1.5, 1.0, 5e-324, 0.0, -0.0, -1.0];
        let floats = [&floats[..], &[f64::MIN, f64::NEG_INFINITY]].concat();
        check(&floats);
        check(&floats.iter().map(|&x| x as f32).collect::<Vec<_>>());
        check(&floats.iter().map(|&x| f16::from_f64(x)).collect::<Vec<_>>());
        check(&floats.iter().map(|&x| bf16::from_f64(x)).collect::<Vec<_>>());
        check(&[i8::MIN, -1, 0, 1, i8::MAX]);
        check(&[i64::MIN, -1, 0, 1, i64::MAX]);
        check(&[0, 1, u8::MAX]);
        check(&[0, 1, i64::MAX as u64, u64::MAX]);
    }
}
