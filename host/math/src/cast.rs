//! Conversion between all numeric types and `bool`.

use half::{bf16, f16};

use crate::elementwise::Unary;
use crate::{Element, Float, Number, ShapeError};

/// A conversion that always succeeds.
///
/// Conversion between integers wraps. Floating point to integer truncates toward zero and
/// saturates, and NaN becomes zero. Conversion to a narrower floating-point type rounds to nearest
/// even. Conversion to `bool` is "not zero" (NaN is true), and from `bool` it is 0 or 1.
pub trait CastTo<To>: Element {
    /// Converts one value.
    fn cast_to(self) -> To;
}

/// Returns a plan that converts `len` elements.
pub fn cast<A, B>(len: usize) -> Result<Unary<A, B, impl Fn(A) -> B + Copy + Sync>, ShapeError>
where
    A: CastTo<B>,
    B: Element,
{
    Unary::new(A::cast_to, len)
}

macro_rules! cast_impl {
    ($from:ident => $($to:ident),*; |$x:ident| $value:expr) => {$(
        impl CastTo<$to> for $from {
            #[inline]
            fn cast_to(self) -> $to { let $x = self; ($value) as $to }
        }
    )*};
}

macro_rules! cast_native {
    ($($from:ident)*) => {$(
        cast_impl!($from => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64; |x| x);
        impl CastTo<bool> for $from {
            #[inline]
            fn cast_to(self) -> bool { self != (0 as $from) }
        }
        impl CastTo<$from> for bool {
            #[inline]
            fn cast_to(self) -> $from { u8::from(self) as $from }
        }
    )*};
}

macro_rules! cast_to_half {
    ($($from:ident)*; |$x:ident| $value:expr) => {$(
        impl CastTo<f16> for $from {
            #[inline]
            fn cast_to(self) -> f16 { let $x = self; $value }
        }
        impl CastTo<bf16> for $from {
            #[inline]
            fn cast_to(self) -> bf16 { let $x = self; $value }
        }
    )*};
}

macro_rules! cast_half {
    ($($from:ident)*) => {$(
        cast_impl!($from => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64; |x| Number::to_acc(x));
        impl CastTo<f16> for $from {
            #[inline]
            fn cast_to(self) -> f16 { Number::from_acc(Number::to_acc(self)) }
        }
        impl CastTo<bf16> for $from {
            #[inline]
            fn cast_to(self) -> bf16 { Number::from_acc(Number::to_acc(self)) }
        }
        impl CastTo<bool> for $from {
            #[inline]
            fn cast_to(self) -> bool { self != $from::ZERO }
        }
        impl CastTo<$from> for bool {
            #[inline]
            fn cast_to(self) -> $from { if self { $from::ONE } else { $from::ZERO } }
        }
    )*};
}

cast_native!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
cast_to_half!(i8 i16 i32 u8 u16 u32; |x| Float::from_f64(x.into()));
cast_to_half!(f32; |x| Number::from_acc(x));
cast_to_half!(f64; |x| Float::from_f64(x));
cast_to_half!(i64 u64; |x| Float::from_integer(x.into()));
cast_half!(f16 bf16);

impl CastTo<bool> for bool {
    #[inline]
    fn cast_to(self) -> bool {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockOp, Serial};

    fn check<A: CastTo<B>, B: Element + std::fmt::Debug>(from: &[A], to: &[B]) {
        let mut out = vec![B::default(); to.len()];
        cast::<A, B>(from.len()).unwrap().run(&Serial, from, &mut out).unwrap();
        assert_eq!(out, to);
    }

    #[test]
    fn values_convert_as_documented() {
        check::<f32, u8>(&[-1.0, 300.0, f32::NAN, 2.9], &[0, 255, 0, 2]);
        check::<i32, i8>(&[128, -129, 5], &[-128, 127, 5]);
        check::<f64, bool>(&[0.0, -0.0, f64::NAN, 0.1], &[false, false, true, true]);
        check::<bool, f16>(&[true, false], &[f16::ONE, f16::ZERO]);
        check::<f32, bf16>(&[1.0, 3.140_625], &[bf16::ONE, bf16::from_f32(3.140_625)]);
        check::<i64, f32>(&[1 << 40, -3], &[1_099_511_627_776.0, -3.0]);
        check::<f16, i32>(&[f16::from_f32(-7.5)], &[-7]);
    }

    /// Compares with the integers next to the tie, exactly: every larger number rounds up.
    #[test]
    fn large_integers_are_rounded_once() {
        for exponent in 41..63 {
            let (one, tie) = (1i64 << exponent, 1i64 << (exponent - 8));
            let value = |steps: i32| (1.0 + f64::from(steps) / 128.0) * 2f64.powi(exponent);
            for sign in [1, -1] {
                let to = |steps| bf16::from_f64(sign as f64 * value(steps));
                check(
                    &[sign * (one + tie), sign * (one + tie - 1), sign * (one + tie + 1)],
                    &[to(0), to(0), to(1)],
                );
                check(&[sign * (one + 3 * tie), sign * (one + 3 * tie - 1)], &[to(2), to(1)]);
            }
        }
        let tie = (1u64 << 63) + (1 << 55);
        check(
            &[tie, tie + 1, u64::MAX],
            &[1.0, 1.0 + 1.0 / 128.0, 2.0].map(|x| bf16::from_f64(x * 2f64.powi(63))),
        );
        check(&[i64::MIN, i64::MAX], &[-1.0, 1.0].map(|x| bf16::from_f64(x * 2f64.powi(63))));
        check(&[65519i64, 65520], &[f16::MAX, f16::INFINITY]);
        let from_integer = |value: i128| <bf16 as Float>::from_integer(value);
        assert_eq!(
            [i128::MAX, i128::MIN].map(from_integer),
            [1.0, -1.0].map(|x| bf16::from_f64(x * 2f64.powi(127)))
        );
    }

    /// Next to a tie, no digit may be dropped, and no intermediate result may be rounded.
    #[test]
    fn halves_are_rounded_once() {
        let ulp = |exponent: i32| 2f64.powi(-exponent);
        for sign in [1.0, -1.0] {
            for by in [0.0, ulp(17), ulp(23), ulp(40), ulp(52)] {
                let tie = |digits: i32, by: f64| sign * (1.0 + ulp(digits + 1) + by);
                let expected = |digits, is_above| sign * if is_above { 1.0 + ulp(digits) } else { 1.0 };
                check(&[tie(10, by)], &[f16::from_f64(expected(10, by > 0.0))]);
                check(&[tie(7, by)], &[bf16::from_f64(expected(7, by > 0.0))]);
                check(&[tie(10, -by)], &[f16::from_f64(expected(10, false))]);
                check(&[tie(7, -by)], &[bf16::from_f64(expected(7, false))]);
            }
            // The least number, half of it, and slightly more than that; the greatest number, and
            // numbers that round beyond it.
            check(
                &[sign * ulp(25), sign * ulp(25) * (1.0 + ulp(50))],
                &[f16::from_f64(sign * 0.0), f16::from_bits(1).copysign(f16::from_f64(sign))],
            );
            check(
                &[sign * 65519.999, sign * 65520.0, sign * 1e300],
                &[65504.0, f64::INFINITY, f64::INFINITY].map(|x| f16::from_f64(sign * x)),
            );
            check(&[sign * 1e300, sign * 1e-300], &[f64::INFINITY, 0.0].map(|x| bf16::from_f64(sign * x)));
        }
        for bits in (0x3f80_7ff0..0x3f80_8010).chain(0x7f7f_7ff0..0x7f7f_8010).chain(0x7ff8..0x8008) {
            let x = f32::from_bits(bits);
            check(&[x], &[bf16::from_f32(x)]);
        }
        assert!(f16::from_f64(f64::NAN).is_nan() && CastTo::<bf16>::cast_to(f64::NAN).is_nan());
        check(&[f64::NEG_INFINITY], &[bf16::NEG_INFINITY]);
    }
}
