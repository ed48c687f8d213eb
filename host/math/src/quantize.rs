//! Numbers that stand for others by a scale and a zero: `x ≈ (q − zero) · scale`, as in ONNX's
//! `QuantizeLinear` and `DequantizeLinear`.

use crate::Element;
use crate::simd::vectorize;

/// A type of quantized numbers.
pub trait Quantized: Element {
    /// The least number.
    const LEAST: i32;
    /// The greatest number.
    const GREATEST: i32;

    /// Converts an integer that the type has.
    fn from_integer(integer: i32) -> Self;

    /// Sets `out` to the numbers that stand for others: `round(x / scale) + zero` within the bounds
    /// of the type. Ties go to even numbers, and NaN becomes 0. What has no scale or no room is left
    /// out.
    fn quantize(scaling: Scaling<'_>, x: &[f32], out: &mut [Self]);

    /// Sets `out` to the numbers that others stand for: `(q − zero) · scale`. What has no scale or
    /// no room is left out.
    fn dequantize(scaling: Scaling<'_>, q: &[Self], out: &mut [f32]);
}

macro_rules! quantized {
    ($($t:ty),*) => {$(
        impl Quantized for $t {
            const LEAST: i32 = <$t>::MIN as i32;
            const GREATEST: i32 = <$t>::MAX as i32;

            #[inline(always)]
            fn from_integer(integer: i32) -> Self {
                integer as Self
            }

            fn quantize(scaling: Scaling<'_>, x: &[f32], out: &mut [Self]) {
                vectorize(
                    #[inline(always)]
                    || match (scaling.scales, scaling.zeros) {
                        (&[scale], &[zero]) => {
                            out.iter_mut().zip(x).for_each(|(out, &x)| *out = number(x / scale, zero));
                        }
                        (scales, zeros) => out.iter_mut().zip(x).zip(scales.iter().zip(zeros)).for_each(
                            |((out, &x), (&scale, &zero))| *out = number(x / scale, zero),
                        ),
                    },
                );
            }

            fn dequantize(scaling: Scaling<'_>, q: &[Self], out: &mut [f32]) {
                let value = |q: Self, scale: f32, zero: i32| i32::from(q).wrapping_sub(zero) as f32 * scale;
                vectorize(
                    #[inline(always)]
                    || match (scaling.scales, scaling.zeros) {
                        (&[scale], &[zero]) => {
                            out.iter_mut().zip(q).for_each(|(out, &q)| *out = value(q, scale, zero));
                        }
                        (scales, zeros) => out.iter_mut().zip(q).zip(scales.iter().zip(zeros)).for_each(
                            |((out, &q), (&scale, &zero))| *out = value(q, scale, zero),
                        ),
                    },
                );
            }
        }
    )*};
}

quantized!(i8, u8, i16, u16);

/// Returns the number nearest to `x + zero`, within the bounds of the type. Ties of `x` go to even
/// numbers; NaN gives the least number. `zero` is a number of the type.
#[inline(always)]
pub(crate) fn nearest<Q: Quantized>(x: f32, zero: i32) -> Q {
    Q::from_integer(nearest_integer::<Q>(x, zero))
}

#[inline(always)]
fn nearest_integer<Q: Quantized>(x: f32, zero: i32) -> i32 {
    // Added to this number, others round to integers, which are the low bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    let (least, greatest) = (Q::LEAST.wrapping_sub(zero) as f32, Q::GREATEST.wrapping_sub(zero) as f32);
    // Instructions compare so; `f32::max` takes more of them.
    let bounded = if x > least { x } else { least };
    let bounded = if bounded < greatest { bounded } else { greatest };
    ((bounded + ROUND).to_bits().wrapping_sub(ROUND.to_bits()) as i32).wrapping_add(zero)
}

/// Returns the number nearest to `x + zero`, or to 0 for NaN.
#[inline(always)]
fn number<Q: Quantized>(x: f32, zero: i32) -> Q {
    let number = nearest_integer::<Q>(x, zero);
    // All bits of the mask are set unless `x` is NaN.
    Q::from_integer(number & -i32::from(!x.is_nan()))
}

/// The scales and zeros of adjacent numbers: one pair for all of them, or one for each.
#[derive(Debug, Clone, Copy)]
pub struct Scaling<'a> {
    /// One scale, or one for each number.
    pub scales: &'a [f32],
    /// As many integers that stand for zero.
    pub zeros: &'a [i32],
}

/// Returns the least and the greatest of numbers, and of zero. NaN is left out.
pub fn range_with_zero(x: &[f32]) -> (f32, f32) {
    const LANES: usize = 32;
    let (whole, rest) = x.as_chunks::<LANES>();
    let (least, greatest) = vectorize(
        #[inline(always)]
        || {
            let (mut least, mut greatest) = ([0.0f32; LANES], [0.0f32; LANES]);
            for x in whole {
                for lane in 0..LANES {
                    least[lane] = if x[lane] < least[lane] { x[lane] } else { least[lane] };
                    greatest[lane] = if x[lane] > greatest[lane] { x[lane] } else { greatest[lane] };
                }
            }
            (least, greatest)
        },
    );
    // `f32::min` and `f32::max` leave NaN out.
    let least = least.iter().chain(rest).fold(0.0f32, |least, &x| least.min(x));
    (least, greatest.iter().chain(rest).fold(0.0f32, |greatest, &x| greatest.max(x)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<Q: Quantized + PartialEq + std::fmt::Debug + Into<i32>>(zero: i32) {
        let special = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 1e30, -1e30, f32::INFINITY, f32::NEG_INFINITY];
        let x: Vec<f32> = special.into_iter().chain((-3000..3000).map(|i| i as f32 / 7.0)).collect();
        for scale in [1.0, 0.37] {
            let scaling = Scaling { scales: &[scale], zeros: &[zero] };
            let mut out = vec![Q::from_integer(1); x.len()];
            Q::quantize(scaling, &x, &mut out);
            let mut each = vec![Q::from_integer(1); x.len()];
            let of_each = Scaling { scales: &vec![scale; x.len()], zeros: &vec![zero; x.len()] };
            Q::quantize(of_each, &x, &mut each);
            assert_eq!(out, each);
            let mut back = vec![0.0; x.len()];
            Q::dequantize(scaling, &out, &mut back);
            for ((&x, &q), &y) in x.iter().zip(&out).zip(&back) {
                let exact = f64::from(x / scale).round_ties_even() + f64::from(zero);
                assert_eq!(f64::from(q.into()), exact.clamp(Q::LEAST.into(), Q::GREATEST.into()), "{x}");
                assert_eq!(y, (q.into() - zero) as f32 * scale);
            }
        }
        let mut out = [Q::from_integer(1)];
        Q::quantize(Scaling { scales: &[1.0], zeros: &[zero] }, &[f32::NAN], &mut out);
        assert_eq!(out[0].into(), 0);
    }

    #[test]
    fn numbers_are_rounded_to_nearest_and_bounded() {
        check::<i8>(0);
        check::<i8>(-128);
        check::<u8>(128);
        check::<i16>(-5);
        check::<u16>(65535);
    }

    #[test]
    fn ranges_contain_zero() {
        assert_eq!(range_with_zero(&[]), (0.0, 0.0));
        let mut x: Vec<f32> = (0..50).map(|i| 1.0 + i as f32).collect();
        assert_eq!(range_with_zero(&x), (0.0, 50.0));
        x[3] = f32::NAN;
        x[49] = -7.0;
        assert_eq!(range_with_zero(&x), (-7.0, 49.0));
    }
}
