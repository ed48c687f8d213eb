//! Sums, products and means of quantized numbers, element by element, and tables of bytes.
//!
//! Signed bytes are read and written as unsigned ones that are larger by 128, see [`FLIP`].

use std::ops::Range;

use super::{Bytes, FLIP};
use crate::quantize::nearest;
use crate::simd::vectorize;

/// What bytes stand for: `(q − zero) · scale`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByteScale {
    /// From one number to the next.
    pub scale: f32,
    /// The integer that stands for zero.
    pub zero: i32,
    /// Whether the bytes are signed.
    pub is_signed: bool,
}

impl ByteScale {
    /// Returns what the bits of a byte are flipped by, and the zero of the unsigned number then.
    fn as_unsigned(self) -> (u8, i32) {
        if self.is_signed { (FLIP, self.zero.wrapping_add(128)) } else { (0, self.zero) }
    }
}

/// What is made of two quantized numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOperation {
    /// Their sum.
    Add,
    /// Their product.
    Multiply,
}

/// Sums or products of quantized numbers, rounded to the nearest quantized number (ties to even ones)
/// and bounded.
#[derive(Debug, Clone, Copy)]
pub struct ByteElements {
    pub(super) operation: ByteOperation,
    pub(super) flips: [u8; 3],
    /// What is subtracted from the bytes.
    pub(super) zeros: [i32; 2],
    /// What the numbers are multiplied by; of products, the first.
    pub(super) factors: [f32; 2],
    pub(super) zero: i32,
}

impl ByteElements {
    /// Creates the operation on numbers of two scales that gives numbers of a third.
    pub fn new(operation: ByteOperation, a: ByteScale, b: ByteScale, y: ByteScale) -> Self {
        let [(a_flip, a_zero), (b_flip, b_zero), (flip, zero)] = [a, b, y].map(ByteScale::as_unsigned);
        let factors = match operation {
            ByteOperation::Add => [a.scale / y.scale, b.scale / y.scale],
            ByteOperation::Multiply => [a.scale * b.scale / y.scale, 0.0],
        };
        Self { operation, flips: [a_flip, b_flip, flip], zeros: [a_zero, b_zero], factors, zero }
    }

    /// Computes as many elements as `a` and `out` have. Those of `b` repeat, from `first` on. Where
    /// `b` is empty, `out` does not change.
    pub fn run(&self, a: Bytes<'_>, (b, first): (Bytes<'_>, usize), out: &mut [u8]) {
        let (a, b) = (a.bits(), b.bits());
        if b.is_empty() {
            return;
        }
        // Few elements are written out until a loop over them is worth its while.
        let repeated;
        let b = if b.len() < FEW && a.len() > b.len() {
            repeated = b.repeat(FEW.div_ceil(b.len()).min(a.len().div_ceil(b.len()) + 1));
            &repeated[..]
        } else {
            b
        };
        let (mut at, mut from) = (0, first % b.len());
        while at < a.len().min(out.len()) {
            let count = (b.len() - from).min(a.len() - at).min(out.len() - at);
            self.run_part(&a[at..at + count], &b[from..from + count], &mut out[at..at + count]);
            (at, from) = (at + count, 0);
        }
    }

    /// Returns whether results are far below the greatest `i32` before they are bounded, unless they
    /// are NaN, and the zero is a byte.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn are_small(&self) -> bool {
        let is_byte = |zero: &i32| (0..256).contains(zero);
        self.zeros.iter().chain([&self.zero]).all(is_byte)
            && self.factors.iter().all(|factor| factor.is_nan() || factor.abs() < 4096.0)
    }

    fn run_part(&self, a: &[u8], b: &[u8], out: &mut [u8]) {
        #[cfg(target_arch = "x86_64")]
        let (a, b, out) = {
            let done = super::wide::combine(self, a, b, out);
            (&a[done..], &b[done..], &mut out[done..])
        };
        self.run_rest(a, b, out);
    }

    fn run_rest(&self, a: &[u8], b: &[u8], out: &mut [u8]) {
        let Self { operation, flips: [a_flip, b_flip, flip], zeros, factors, zero } = *self;
        let integer = |byte: u8, flip: u8, zero: i32| i32::from(byte ^ flip).wrapping_sub(zero);
        let all = out.iter_mut().zip(a.iter().zip(b));
        match operation {
            ByteOperation::Add => vectorize(
                #[inline(always)]
                || {
                    for (out, (&a, &b)) in all {
                        let (a, b) = (integer(a, a_flip, zeros[0]), integer(b, b_flip, zeros[1]));
                        let sum = a as f32 * factors[0] + b as f32 * factors[1];
                        *out = nearest::<u8>(sum, zero) ^ flip;
                    }
                },
            ),
            ByteOperation::Multiply => vectorize(
                #[inline(always)]
                || {
                    for (out, (&a, &b)) in all {
                        let (a, b) = (integer(a, a_flip, zeros[0]), integer(b, b_flip, zeros[1]));
                        *out = nearest::<u8>(a.wrapping_mul(b) as f32 * factors[0], zero) ^ flip;
                    }
                },
            ),
        }
    }
}

/// The elements for which a loop is worth its while.
const FEW: usize = 512;

/// Sets `out` to the means of `channels` quantized numbers over adjacent pixels of an image, for some
/// of the channels. What has no room is left out.
pub fn mean_of_bytes(
    (x, channels): (Bytes<'_>, usize),
    own: Range<usize>,
    (from, to): (ByteScale, ByteScale),
    out: &mut [u8],
) {
    let ((flip, zero), (out_flip, out_zero)) = (from.as_unsigned(), to.as_unsigned());
    let mut sums = vec![0i64; own.len()];
    let mut partial = vec![0u32; own.len()];
    let pixels = x.bits().chunks_exact(channels.max(1));
    let count = pixels.len();
    // As many pixels as fit into the partial sums.
    for pixels in x.bits().chunks((1 << 20) * channels.max(1)) {
        partial.fill(0);
        vectorize(
            #[inline(always)]
            || {
                for pixel in pixels.chunks_exact(channels.max(1)) {
                    let all = partial.iter_mut().zip(&pixel[own.clone()]);
                    all.for_each(|(sum, &byte)| *sum += u32::from(byte ^ flip));
                }
            },
        );
        sums.iter_mut().zip(&partial).for_each(|(sum, &part)| *sum += i64::from(part));
    }
    let factor = from.scale / (count as f32 * to.scale);
    for (out, &sum) in out.iter_mut().zip(&sums) {
        let distance = sum - i64::from(zero) * count as i64;
        *out = nearest::<u8>(distance as f32 * factor, out_zero) ^ out_flip;
    }
}

/// Sets `out` to the bytes in the places of a table that others name.
pub fn look_up(table: &[u8; 256], x: &[u8], out: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    let done = super::wide::look_up(table, x, out);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    out.iter_mut().zip(x).skip(done).for_each(|(out, &x)| *out = table[usize::from(x)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(scale: f32, zero: i32, is_signed: bool) -> ByteScale {
        ByteScale { scale, zero, is_signed }
    }

    fn value(byte: u8, scale: ByteScale) -> f64 {
        let integer = if scale.is_signed { i32::from(byte as i8) } else { i32::from(byte) };
        f64::from(integer - scale.zero) * f64::from(scale.scale)
    }

    /// Checks that a byte stands for a number that is no further from `exact` than the nearest one,
    /// but for the error of `f32` numbers.
    fn is_nearest(byte: u8, exact: f64, scale: ByteScale) {
        if scale.scale < 1e-6 {
            return;
        }
        let (least, greatest) = if scale.is_signed { (0x80, 0x7f) } else { (0, 0xff) };
        let bounded = exact.clamp(value(least, scale), value(greatest, scale));
        let error = (value(byte, scale) - bounded).abs() / f64::from(scale.scale);
        assert!(error <= 0.5 + 1e-3, "{byte} for {exact} of {scale:?}");
    }

    fn as_bytes(bits: &[u8], scale: ByteScale) -> Bytes<'_> {
        if scale.is_signed { Bytes::Signed(bytemuck::cast_slice(bits)) } else { Bytes::Unsigned(bits) }
    }

    #[test]
    fn elements_are_rounded_and_bounded() {
        let a: Vec<u8> = (0..3000).map(|i| (i * 37 % 256) as u8).collect();
        let b: Vec<u8> = (0..3000).map(|i| (i * 101 / 3 % 256) as u8).collect();
        let scales = [scale(0.02, 128, false), scale(0.05, -5, true), scale(0.011, 0, false)];
        for operation in [ByteOperation::Add, ByteOperation::Multiply] {
            for (a_scale, b_scale) in scales.iter().flat_map(|&a| scales.map(|b| (a, b))) {
                for y_scale in [
                    scale(0.03, 0, false),
                    scale(0.07, -128, true),
                    scale(0.001, 255, false),
                    scale(1e-9, 0, false),
                ] {
                    let elements = ByteElements::new(operation, a_scale, b_scale, y_scale);
                    for (period, first, count) in
                        [(3000, 0, 3000), (1, 0, 70), (7, 3, 2999), (600, 599, 1300), (5, 1, 3), (3, 0, 0)]
                    {
                        let (a, b) = (&a[..count], &b[..period]);
                        let mut out = vec![1; count];
                        elements.run(as_bytes(a, a_scale), (as_bytes(b, b_scale), first), &mut out);
                        // The portable code gives the same bytes.
                        let all: Vec<u8> = (0..count).map(|at| b[(first + at) % period]).collect();
                        let mut portable = vec![2; count];
                        elements.run_rest(a, &all, &mut portable);
                        assert_eq!(out, portable);
                        for (at, &byte) in out.iter().enumerate() {
                            let (a, b) = (value(a[at], a_scale), value(b[(first + at) % period], b_scale));
                            let exact = if operation == ByteOperation::Add { a + b } else { a * b };
                            is_nearest(byte, exact, y_scale);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn means_are_rounded_and_bounded() {
        for (from, to) in [
            (scale(0.02, 128, false), scale(0.01, 3, false)),
            (scale(0.05, -5, true), scale(0.002, 0, true)),
            (scale(1.0, 0, false), scale(1.0, -128, true)),
        ] {
            for (pixels, channels, own) in [(49, 70, 0..70), (5, 20, 3..20), (1, 1, 0..1), (4, 3, 1..1)] {
                let x: Vec<u8> = (0..pixels * channels).map(|i| (i * 89 % 256) as u8).collect();
                let mut out = vec![1; own.len()];
                mean_of_bytes((as_bytes(&x, from), channels), own.clone(), (from, to), &mut out);
                for (channel, &byte) in own.zip(&out) {
                    let sum: f64 = (0..pixels).map(|pixel| value(x[pixel * channels + channel], from)).sum();
                    is_nearest(byte, sum / pixels as f64, to);
                }
            }
        }
    }

    #[test]
    fn tables_are_looked_up_in_every_place() {
        let table: [u8; 256] = std::array::from_fn(|at| (at * 7 + 3) as u8);
        for count in [0, 1, 63, 64, 65, 700] {
            let x: Vec<u8> = (0..count).map(|i| (i * 5) as u8).collect();
            let mut out = vec![1; count];
            look_up(&table, &x, &mut out);
            assert!(out.iter().zip(&x).all(|(&out, &x)| out == table[usize::from(x)]));
            let mut short = vec![1; count / 2];
            look_up(&table, &x, &mut short);
            assert_eq!(short, out[..count / 2]);
        }
    }
}
