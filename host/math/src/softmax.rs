//! Softmax and log-softmax over the last axis, and over the columns of a matrix.

use std::marker::PhantomData;

use crate::error::check_len;
use crate::exp::exp;
use crate::parallel::Chunks;
use crate::reduce::reduce_run;
use crate::simd::{Body, Products, vectorize, vectorize_products};
use crate::{BlockOp, Float, Max, Number, ShapeError, Sum, ops};

/// The cost of one exponential, in elements of streaming.
pub(crate) const EXP_COST: usize = 4;

/// Returns the greatest of a row; NaN if any is NaN, negative infinity if there is none.
pub(crate) fn row_max<T: Float>(row: &[T]) -> T {
    reduce_run::<T, Max>(row)
}

/// Writes `exp(x - max)` of a row and returns the sum.
pub(crate) fn exp_row<T: Float>(out: &mut [T], x: &[T], max: T) -> T::Acc {
    T::exp_minus(out, x, max);
    reduce_run::<T, Sum>(out)
}

/// The loop of `exp(x - max)` in single precision.
pub(crate) struct ExpMinus<'a> {
    pub(crate) out: &'a mut [f32],
    pub(crate) x: &'a [f32],
    pub(crate) max: f32,
}

impl ExpMinus<'_> {
    pub(crate) fn run_wide(self) {
        vectorize_products(self);
    }
}

impl Body for ExpMinus<'_> {
    #[inline(always)]
    fn run<P: Products>(self) {
        let Self { out, x, max } = self;
        out.iter_mut().zip(x).for_each(|(out, &x)| *out = exp::<P>(x - max));
    }
}

macro_rules! row_plan {
    ($name:ident, $doc:literal, $rows:path) => {
        #[doc = $doc]
        #[derive(Debug, Clone)]
        pub struct $name<T> {
            cols: usize,
            chunks: Chunks,
            element: PhantomData<fn(T) -> T>,
        }

        impl<T: Float> $name<T> {
            /// Plans `rows` rows of `cols` columns.
            pub fn new(rows: usize, cols: usize) -> Result<Self, ShapeError> {
                let chunks = Chunks::new(rows, cols, cols.saturating_mul(EXP_COST))?;
                Ok(Self { cols, chunks, element: PhantomData })
            }
        }

        impl<T: Float> BlockOp for $name<T> {
            type Input<'a> = &'a [T];
            type Output<'a> = &'a mut [T];
            type Piece<'a> = &'a mut [T];

            fn block_count(&self) -> usize {
                self.chunks.block_count()
            }

            fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
                self.chunks.split(output)
            }

            fn run_block(&self, block: usize, x: &[T], piece: &mut [T]) -> Result<(), ShapeError> {
                let range = self.chunks.elements_of(block, piece.len())?;
                check_len("operand", self.chunks.len(), x.len())?;
                $rows(piece, &x[range], self.cols);
                Ok(())
            }
        }
    };
}

row_plan!(
    Softmax,
    "`out[r, c] = exp(x[r, c]) / Σ exp(x[r, ·])`, computed after subtracting the row's greatest element, so that \
     nothing overflows. A row with a NaN becomes all NaN.",
    softmax_rows
);
row_plan!(
    LogSoftmax,
    "`out[r, c] = x[r, c] - ln Σ exp(x[r, ·])`, computed after subtracting the row's greatest element, so that \
     nothing overflows. A row with a NaN becomes all NaN.",
    log_softmax_rows
);

/// The number of columns that are computed at a time.
const COLUMNS: usize = 256;

/// Writes the softmax of each column of a matrix whose rows have `inner` elements, or its logarithm.
/// A column with a NaN becomes all NaN.
pub fn softmax_columns<T: Float>(out: &mut [T], x: &[T], inner: usize, is_logarithm: bool) {
    if inner == 0 {
        return;
    }
    let width = COLUMNS.min(inner);
    let (mut maxima, mut sums) = (vec![T::LOWEST; width], vec![T::Acc::ZERO; width]);
    for first in (0..inner).step_by(COLUMNS) {
        let columns = first..inner.min(first + COLUMNS);
        let (maxima, sums) = (&mut maxima[..columns.len()], &mut sums[..columns.len()]);
        maxima.fill(T::LOWEST);
        sums.fill(T::Acc::ZERO);
        for row in x.chunks_exact(inner) {
            let row = &row[columns.clone()];
            vectorize(|| maxima.iter_mut().zip(row).for_each(|(max, &x)| *max = ops::maximum(x, *max)));
        }
        for (out, row) in out.chunks_exact_mut(inner).zip(x.chunks_exact(inner)) {
            let (out, row) = (&mut out[columns.clone()], &row[columns.clone()]);
            exp_columns(out, (row, maxima));
            vectorize(|| sums.iter_mut().zip(&*out).for_each(|(sum, &e)| *sum = sum.plus(e.to_acc())));
        }
        for (out, row) in out.chunks_exact_mut(inner).zip(x.chunks_exact(inner)) {
            let (out, row) = (&mut out[columns.clone()], &row[columns.clone()]);
            if is_logarithm {
                let value = |x: T, max: T, sum: T::Acc| x.minus(max).minus(T::from_acc(sum).ln());
                let columns = row.iter().zip(&*maxima).zip(&*sums);
                out.iter_mut().zip(columns).for_each(|(out, ((&x, &max), &sum))| *out = value(x, max, sum));
            } else {
                let scaled = |e: T, sum: T::Acc| T::from_acc(e.to_acc().over(sum));
                vectorize(|| out.iter_mut().zip(&*sums).for_each(|(out, &sum)| *out = scaled(*out, sum)));
            }
        }
    }
}

/// Writes `exp(x - max)` of a row whose elements each have a greatest of their own.
fn exp_columns<T: Float>(out: &mut [T], (x, maxima): (&[T], &[T])) {
    vectorize(|| {
        for ((out, &x), &max) in out.iter_mut().zip(x).zip(maxima) {
            *out = x.minus(max).exp();
        }
    });
}

/// Writes the softmax of one row after the other.
fn softmax_rows<T: Float>(out: &mut [T], x: &[T], cols: usize) {
    out.chunks_exact_mut(cols).zip(x.chunks_exact(cols)).for_each(|(out, x)| softmax_row(out, x));
}

fn log_softmax_rows<T: Float>(out: &mut [T], x: &[T], cols: usize) {
    out.chunks_exact_mut(cols).zip(x.chunks_exact(cols)).for_each(|(out, x)| log_softmax_row(out, x));
}

fn softmax_row<T: Float>(out: &mut [T], x: &[T]) {
    let sum = exp_row(out, x, row_max(x));
    let scale = T::Acc::ONE.over(sum);
    vectorize(|| out.iter_mut().for_each(|o| *o = T::from_acc(o.to_acc().times(scale))));
}

fn log_softmax_row<T: Float>(out: &mut [T], x: &[T]) {
    let max = row_max(x);
    let log_sum = T::from_acc(exp_row(out, x, max)).ln();
    vectorize(|| out.iter_mut().zip(x).for_each(|(o, &x)| *o = x.minus(max).minus(log_sum)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_transposed_rows() {
        for (count, inner) in [(1, 1), (3, 5), (21, 700), (2, 256)] {
            let x: Vec<f32> = (0..count * inner).map(|i| (i as f32 * 0.37).sin() * 30.0).collect();
            for is_logarithm in [false, true] {
                let mut out = vec![0.0; x.len()];
                softmax_columns(&mut out, &x, inner, is_logarithm);
                for column in 0..inner {
                    let of = |x: &[f32]| x[column..].iter().step_by(inner).copied().collect::<Vec<f32>>();
                    let mut row = vec![0.0; count];
                    let function = if is_logarithm { log_softmax_row } else { softmax_row };
                    function(&mut row, &of(&x));
                    let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-6 * b.abs().max(1e-3);
                    assert!(of(&out).iter().zip(&row).all(close), "{count} x {inner}, column {column}");
                }
            }
        }
        let mut out = [0.0f32; 4];
        softmax_columns(&mut out, &[f32::NAN, 1.0, 2.0, 1.0], 2, false);
        assert!(out[0].is_nan() && out[2].is_nan() && out[1] == 0.5 && out[3] == 0.5);
    }
}
