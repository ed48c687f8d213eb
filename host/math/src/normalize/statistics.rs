//! Mean and variance of columns, by sums over parts of the rows.

use std::marker::PhantomData;
use std::ops::Range;

use crate::error::check_len;
use crate::simd::vectorize;
use crate::{BlockOp, Float, Number, ShapeError};

/// Elements of the operand that one part takes.
const PART_ELEMENTS: usize = 64 * 1024;

/// Two sums for each column over parts of the rows: the frame of both passes of batch
/// normalization.
#[derive(Debug, Clone)]
pub(super) struct ColumnParts {
    pub(super) rows: usize,
    pub(super) cols: usize,
    rows_per_part: usize,
}

impl ColumnParts {
    pub(super) fn new(rows: usize, cols: usize) -> Result<Self, ShapeError> {
        rows.checked_mul(cols).ok_or(ShapeError::TooLarge)?;
        // The scratch of at most 64 parts.
        cols.checked_mul(2 * 64).ok_or(ShapeError::TooLarge)?;
        // By size alone, so that the sums do not depend on the number of workers.
        let rows_per_part = (PART_ELEMENTS / cols.max(1)).max(rows.div_ceil(64)).max(1);
        Ok(Self { rows, cols, rows_per_part })
    }

    pub(super) fn len(&self) -> usize {
        self.rows * self.cols
    }

    pub(super) fn parts(&self) -> usize {
        if self.cols == 0 { 0 } else { self.rows.div_ceil(self.rows_per_part) }
    }

    pub(super) fn partials_len(&self) -> usize {
        self.parts() * self.cols * 2
    }

    pub(super) fn split<'a, A>(&self, output: &'a mut [A]) -> Result<Vec<&'a mut [A]>, ShapeError> {
        check_len("partial sums", self.partials_len(), output.len())?;
        Ok(if output.is_empty() { Vec::new() } else { output.chunks_mut(self.cols * 2).collect() })
    }

    /// Returns the rows of a part, after checking its piece.
    pub(super) fn part(&self, block: usize, piece_len: usize) -> Result<Range<usize>, ShapeError> {
        if block >= self.parts() {
            return Err(ShapeError::Block { block, count: self.parts() });
        }
        check_len("output block", self.cols * 2, piece_len)?;
        let start = block * self.rows_per_part;
        Ok(start..(start + self.rows_per_part).min(self.rows))
    }

    /// Returns the two sums of a column over all parts.
    pub(super) fn total<A: Number>(&self, partials: &[A], col: usize) -> [A; 2] {
        let sum =
            |at: usize| partials[at..].iter().step_by(self.cols * 2).fold(A::ZERO, |sum, &p| sum.plus(p));
        if partials.is_empty() { [A::ZERO; 2] } else { [sum(col), sum(self.cols + col)] }
    }
}

/// Mean and biased variance of each column of a matrix; NaN if it has no rows.
///
/// Blocks write the sums of `x - x₀` and `(x - x₀)²`, where `x₀` is the column's first element
/// (which keeps the difference of squares well conditioned), into scratch of
/// [`ColumnStatistics::partials_len`] accumulators; [`ColumnStatistics::finish`] turns them into
/// the result.
#[derive(Debug, Clone)]
pub struct ColumnStatistics<T> {
    parts: ColumnParts,
    element: PhantomData<fn(T) -> T>,
}

impl<T: Float> ColumnStatistics<T> {
    /// Plans `rows` rows of `cols` columns.
    pub fn new(rows: usize, cols: usize) -> Result<Self, ShapeError> {
        Ok(Self { parts: ColumnParts::new(rows, cols)?, element: PhantomData })
    }

    /// Accumulators of scratch.
    pub fn partials_len(&self) -> usize {
        self.parts.partials_len()
    }

    /// Turns the sums into mean and biased variance. Cheap.
    pub fn finish(
        &self,
        x: &[T],
        partials: &[T::Acc],
        mean: &mut [T],
        variance: &mut [T],
    ) -> Result<(), ShapeError> {
        let cols = self.parts.cols;
        check_len("operand", self.parts.len(), x.len())?;
        check_len("partial sums", self.partials_len(), partials.len())?;
        check_len("mean", cols, mean.len())?;
        check_len("variance", cols, variance.len())?;
        let count = T::Acc::from_count(self.parts.rows);
        for col in 0..cols {
            let [sum, squares] = self.parts.total(partials, col);
            let shift = sum.over(count);
            let spread = squares.over(count).minus(shift.times(shift));
            let first = x.get(col).map_or(T::Acc::ZERO, |x| x.to_acc());
            mean[col] = T::from_acc(first.plus(shift));
            // Rounding may leave a constant column slightly below zero.
            variance[col] = T::from_acc(crate::ops::maximum(spread, T::Acc::ZERO));
        }
        Ok(())
    }
}

impl<T: Float> BlockOp for ColumnStatistics<T> {
    type Input<'a> = &'a [T];
    type Output<'a> = &'a mut [T::Acc];
    type Piece<'a> = &'a mut [T::Acc];

    fn block_count(&self) -> usize {
        self.parts.parts()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.parts.split(output)
    }

    fn run_block(&self, block: usize, x: &[T], piece: &mut [T::Acc]) -> Result<(), ShapeError> {
        let rows = self.parts.part(block, piece.len())?;
        check_len("operand", self.parts.len(), x.len())?;
        let cols = self.parts.cols;
        piece.fill(T::Acc::ZERO);
        let (sums, squares) = piece.split_at_mut(cols);
        let first = &x[..cols];
        for row in x[rows.start * cols..rows.end * cols].chunks_exact(cols) {
            vectorize(|| {
                for (((sum, square), &x), &x0) in sums.iter_mut().zip(squares.iter_mut()).zip(row).zip(first)
                {
                    let d = x.to_acc().minus(x0.to_acc());
                    *sum = sum.plus(d);
                    *square = square.plus(d.times(d));
                }
            });
        }
        Ok(())
    }
}
