//! Softmax and log-softmax over the last axis.

use std::marker::PhantomData;

use crate::error::check_len;
use crate::parallel::Chunks;
use crate::reduce::reduce_run;
use crate::simd::vectorize;
use crate::{BlockOp, Float, Max, Number, ShapeError, Sum, UnaryLoop};

/// The cost of one exponential, in elements of streaming.
pub(crate) const EXP_COST: usize = 4;

/// Returns the greatest of a row; NaN if any is NaN, negative infinity if there is none.
pub(crate) fn row_max<T: Float>(row: &[T]) -> T {
    reduce_run::<T, Max>(row)
}

/// Writes `exp(x - max)` of a row and returns the sum.
pub(crate) fn exp_row<T: Float>(out: &mut [T], x: &[T], max: T) -> T::Acc {
    UnaryLoop::map(&|x: T| x.minus(max).exp(), out, x);
    reduce_run::<T, Sum>(out)
}

macro_rules! row_plan {
    ($name:ident, $doc:literal, $row:path) => {
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
                let rows = piece.chunks_exact_mut(self.cols).zip(x[range].chunks_exact(self.cols));
                rows.for_each(|(out, x)| $row(out, x));
                Ok(())
            }
        }
    };
}

row_plan!(
    Softmax,
    "`out[r, c] = exp(x[r, c]) / Σ exp(x[r, ·])`, computed after subtracting the row's greatest element, so that \
     nothing overflows. A row with a NaN becomes all NaN.",
    softmax_row
);
row_plan!(
    LogSoftmax,
    "`out[r, c] = x[r, c] - ln Σ exp(x[r, ·])`, computed after subtracting the row's greatest element, so that \
     nothing overflows. A row with a NaN becomes all NaN.",
    log_softmax_row
);

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
