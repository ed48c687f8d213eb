//! Batch normalization over the rows of a matrix, whose columns are channels (`NHWC` images are
//! `N·H·W` rows).
//!
//! With the mean `μ` and the biased variance `σ²` of a column: `y = (x - μ) / sqrt(σ² + ε) · scale + offset`.

mod backward;
mod rows;
mod statistics;

use std::marker::PhantomData;

use crate::error::check_len;
use crate::matmul::Activation;
use crate::parallel::Chunks;
use crate::simd::vectorize;
use crate::{BlockOp, Float, Number, ParallelFor, ShapeError, ops};

pub use backward::{
    BatchNormBackward, BatchNormBackwardInput, BatchNormGradients, Coefficients, InputGradient,
};
pub use rows::normalize_row;
pub use statistics::ColumnStatistics;

/// `out[r, c] = activation(x[r, c] · multiplier[c] + addend[c] + residual[r, c])`: batch
/// normalization with known statistics, which [`fold_batch_norm`] turns into multiplier and addend.
#[derive(Debug, Clone)]
pub struct ScaleShift<T> {
    cols: usize,
    activation: Activation,
    chunks: Chunks,
    element: PhantomData<fn(T) -> T>,
}

/// The operands of [`ScaleShift`].
#[derive(Debug, Clone, Copy)]
pub struct ScaleShiftInput<'a, T> {
    /// `rows` × `cols` elements.
    pub x: &'a [T],
    /// `cols` factors.
    pub multiplier: &'a [T],
    /// `cols` addends.
    pub addend: &'a [T],
    /// `rows` × `cols` elements to add, if any.
    pub residual: Option<&'a [T]>,
}

impl<T: Number> ScaleShift<T> {
    /// Plans `rows` rows of `cols` columns.
    pub fn new(rows: usize, cols: usize, activation: Activation) -> Result<Self, ShapeError> {
        Ok(Self { cols, activation, chunks: Chunks::new(rows, cols, cols)?, element: PhantomData })
    }
}

impl<T: Number> BlockOp for ScaleShift<T> {
    type Input<'a> = ScaleShiftInput<'a, T>;
    type Output<'a> = &'a mut [T];
    type Piece<'a> = &'a mut [T];

    fn block_count(&self) -> usize {
        self.chunks.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.chunks.split(output)
    }

    fn run_block(
        &self,
        block: usize,
        input: ScaleShiftInput<'_, T>,
        piece: &mut [T],
    ) -> Result<(), ShapeError> {
        let range = self.chunks.elements_of(block, piece.len())?;
        check_len("operand", self.chunks.len(), input.x.len())?;
        check_len("multiplier", self.cols, input.multiplier.len())?;
        check_len("addend", self.cols, input.addend.len())?;
        if let Some(residual) = input.residual {
            check_len("residual", self.chunks.len(), residual.len())?;
        }
        let rows = piece.chunks_exact_mut(self.cols).zip(input.x[range.clone()].chunks_exact(self.cols));
        for (row, (out, x)) in rows.enumerate() {
            let residual = input.residual.map(|r| &r[range.start + row * self.cols..][..self.cols]);
            vectorize(|| {
                let terms = x.iter().zip(input.multiplier).zip(input.addend);
                out.iter_mut().zip(terms).for_each(|(o, ((&x, &m), &a))| *o = x.times(m).plus(a));
                if let Some(residual) = residual {
                    out.iter_mut().zip(residual).for_each(|(o, &r)| *o = o.plus(r));
                }
                if self.activation == Activation::Relu {
                    out.iter_mut().for_each(|o| *o = ops::relu(*o));
                }
            });
        }
        Ok(())
    }
}

/// Folds scale, offset, mean and variance of batch normalization into one factor and one addend for
/// each channel: `multiplier = scale / sqrt(variance + epsilon)`, `addend = offset - mean ·
/// multiplier`.
pub fn fold_batch_norm<T: Float>(
    scale: &[T],
    offset: &[T],
    mean: &[T],
    variance: &[T],
    epsilon: f64,
) -> Result<(Vec<T>, Vec<T>), ShapeError> {
    let channels = scale.len();
    check_len("offset", channels, offset.len())?;
    check_len("mean", channels, mean.len())?;
    check_len("variance", channels, variance.len())?;
    let multiplier = |c: usize| scale[c].to_f64() / (variance[c].to_f64() + epsilon).sqrt();
    let addend = |c: usize| offset[c].to_f64() - mean[c].to_f64() * multiplier(c);
    Ok((0..channels).map(|c| (T::from_f64(multiplier(c)), T::from_f64(addend(c)))).unzip())
}

/// Batch normalization with the statistics of the batch itself, in three stages:
/// [`BatchNormTraining::statistics`], [`fold_batch_norm`], [`BatchNormTraining::apply`].
#[derive(Debug, Clone)]
pub struct BatchNormTraining<T> {
    /// The first stage.
    pub statistics: ColumnStatistics<T>,
    /// The last stage.
    pub apply: ScaleShift<T>,
    epsilon: f64,
}

/// What batch normalization in training computes.
#[derive(Debug)]
pub struct BatchNormOutput<'a, T> {
    /// The normalized operand, `rows` × `cols`.
    pub y: &'a mut [T],
    /// The mean of each column.
    pub mean: &'a mut [T],
    /// The biased variance of each column. Running averages are customarily kept of `variance ·
    /// rows / (rows - 1)`.
    pub variance: &'a mut [T],
}

impl<T: Float> BatchNormTraining<T> {
    /// Plans `rows` rows of `cols` channels.
    pub fn new(rows: usize, cols: usize, epsilon: f64, activation: Activation) -> Result<Self, ShapeError> {
        let statistics = ColumnStatistics::new(rows, cols)?;
        Ok(Self { statistics, apply: ScaleShift::new(rows, cols, activation)?, epsilon })
    }

    /// Runs all stages.
    pub fn run(
        &self,
        parallel: &dyn ParallelFor,
        x: &[T],
        scale: &[T],
        offset: &[T],
        output: BatchNormOutput<'_, T>,
    ) -> Result<(), ShapeError> {
        let BatchNormOutput { y, mean, variance } = output;
        let mut partials = vec![T::Acc::ZERO; self.statistics.partials_len()];
        self.statistics.run(parallel, x, &mut partials)?;
        self.statistics.finish(x, &partials, mean, variance)?;
        let (multiplier, addend) = fold_batch_norm(scale, offset, mean, variance, self.epsilon)?;
        let input = ScaleShiftInput { x, multiplier: &multiplier, addend: &addend, residual: None };
        self.apply.run(parallel, input, y)
    }
}
