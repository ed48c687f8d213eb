//! What becomes of the sums of a product of bytes.

use std::ops::Range;

use super::kernel::{Finish, MOST_COLS, MOST_ROWS};
use crate::error::check_len;
use crate::quantize::{Quantized, nearest};
use crate::simd::vectorize;
use crate::{Element, ShapeError};

/// What makes results of sums, `sum · scale + bias`, unless the sums themselves are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Rescale<'a> {
    /// One scale for all columns, or one for each.
    pub scales: &'a [f32],
    /// One number for each column, if any.
    pub bias: Option<&'a [f32]>,
    /// The integer that stands for zero, where results are bytes.
    pub zero: i32,
}

impl Rescale<'_> {
    /// For sums that are wanted as they are.
    pub const NONE: Self = Self { scales: &[1.0], bias: None, zero: 0 };

    pub(super) fn check(&self, cols: usize) -> Result<(), ShapeError> {
        if self.scales.len() != 1 {
            check_len("scales", cols, self.scales.len())?;
        }
        self.bias.map_or(Ok(()), |bias| check_len("bias", cols, bias.len()))
    }
}

/// What is done to the sums of each of some columns.
pub struct Columns {
    /// Added to the sums.
    offsets: Vec<i32>,
    scales: Vec<f32>,
    bias: Vec<f32>,
    zero: i32,
    are_small: bool,
}

impl Columns {
    /// Returns what is done to the columns from `first` on, to whose sums `offsets` are added. The
    /// columns are filled up to a multiple of [`MOST_COLS`].
    pub(super) fn new(rescale: Rescale<'_>, first: usize, mut offsets: Vec<i32>) -> Self {
        let cols = offsets.len();
        let mut scales = match rescale.scales {
            &[scale] => vec![scale; cols],
            scales => scales[first..][..cols].to_vec(),
        };
        let mut bias = rescale.bias.map_or_else(|| vec![0.0; cols], |bias| bias[first..][..cols].to_vec());
        let filled = cols.next_multiple_of(MOST_COLS);
        offsets.resize(filled, 0);
        scales.resize(filled, 0.0);
        bias.resize(filled, 0.0);
        let is_small = |number: &f32, bound: f32| number.is_nan() || number.abs() <= bound;
        let are_small = scales.iter().all(|scale| is_small(scale, 0.5))
            && bias.iter().all(|bias| is_small(bias, 500_000_000.0));
        Self { offsets, scales, bias, zero: rescale.zero, are_small }
    }

    /// Returns what makes bytes of sums of the columns `cols`, which belong at `out`.
    pub(super) fn finish(
        &self,
        cols: Range<usize>,
        is_signed: bool,
        out: [*mut u8; MOST_ROWS],
    ) -> Finish<'_> {
        let Self { offsets, scales, bias, zero, .. } = self;
        let first = cols.start;
        Finish {
            offsets: &offsets[first..],
            scales: &scales[first..],
            bias: &bias[first..],
            zero: *zero,
            is_signed,
            cols: cols.len(),
            out,
        }
    }

    /// Returns the offsets, the scales and the bias of the columns, and the zero.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn parts(&self) -> (&[i32], &[f32], &[f32], i32) {
        (&self.offsets, &self.scales, &self.bias, self.zero)
    }

    /// Returns whether results are far below the greatest `i32`, unless they are NaN, so that they may
    /// be rounded to integers before they are bounded.
    pub(super) fn are_small(&self) -> bool {
        self.are_small
    }
}

/// Subtracts a zero of each column from rows, as many times as the sum of each row says. The rows
/// have [`MOST_COLS`] sums.
pub(super) fn subtract_zeros(sums: &mut [i32], zeros: &[i32], row_sums: &[i32]) {
    vectorize(
        #[inline(always)]
        || {
            for (sums, &row_sum) in sums.chunks_exact_mut(MOST_COLS).zip(row_sums) {
                let products = zeros.iter().map(|&zero| zero.wrapping_mul(row_sum));
                sums.iter_mut().zip(products).for_each(|(sum, product)| *sum = sum.wrapping_sub(product));
            }
        },
    );
}

/// A type that products of bytes give: `i32` sums, `f32` numbers, or bytes that stand for numbers,
/// rounded to the nearest (ties to even ones) and bounded.
pub trait ByteResult: Element {
    /// Makes results of the sums of adjacent columns, the first of which is `first` among `columns`.
    #[doc(hidden)]
    fn store(out: &mut [Self], sums: &[i32], first: usize, columns: &Columns);

    /// Returns the memory of results that are bytes, and whether these are signed.
    #[doc(hidden)]
    fn as_bytes(_out: &mut [Self]) -> Option<(&mut [u8], bool)> {
        None
    }
}

impl ByteResult for i32 {
    fn store(out: &mut [Self], sums: &[i32], first: usize, columns: &Columns) {
        let all = out.iter_mut().zip(sums).zip(&columns.offsets[first..]);
        all.for_each(|((out, &sum), &offset)| *out = sum.wrapping_add(offset));
    }
}

/// Scales the sums of columns and sets what `convert` makes of them.
#[inline(always)]
fn scale<T>(out: &mut [T], sums: &[i32], first: usize, columns: &Columns, convert: impl Fn(f32) -> T) {
    let (offsets, scales, bias) =
        (&columns.offsets[first..], &columns.scales[first..], &columns.bias[first..]);
    let columns = offsets.iter().zip(scales).zip(bias);
    for ((out, &sum), ((&offset, &scale), &bias)) in out.iter_mut().zip(sums).zip(columns) {
        *out = convert(sum.wrapping_add(offset) as f32 * scale + bias);
    }
}

impl ByteResult for f32 {
    fn store(out: &mut [Self], sums: &[i32], first: usize, columns: &Columns) {
        vectorize(
            #[inline(always)]
            || scale(out, sums, first, columns, |number| number),
        );
    }
}

macro_rules! bytes {
    ($($t:ty),*) => {$(
        impl ByteResult for $t {
            fn store(out: &mut [Self], sums: &[i32], first: usize, columns: &Columns) {
                let zero = columns.zero;
                vectorize(
                    #[inline(always)]
                    || scale(out, sums, first, columns, |number| nearest(number, zero)),
                );
            }

            fn as_bytes(out: &mut [Self]) -> Option<(&mut [u8], bool)> {
                Some((bytemuck::cast_slice_mut(out), Self::LEAST < 0))
            }
        }
    )*};
}

bytes!(u8, i8);
