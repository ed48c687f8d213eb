//! The gradients of batch normalization in training.
//!
//! With `x̂ = (x - μ) / s`, `s = sqrt(σ² + ε)` and `N` rows: `doffset = Σ dy`, `dscale = Σ dy·x̂`,
//! and `dx = scale / s · (dy - doffset / N - x̂ · dscale / N)`.

use std::marker::PhantomData;

use super::statistics::ColumnParts;
use crate::error::check_len;
use crate::parallel::Chunks;
use crate::simd::vectorize;
use crate::{BlockOp, Float, Number, ParallelFor, ShapeError};

/// The gradients of batch normalization, in three stages. Its own blocks write partial sums to
/// scratch memory of [`BatchNormBackward::partials_len`] accumulators.
/// [`BatchNormBackward::finish`] computes the gradients of scale and offset from them, and the
/// coefficients with which [`BatchNormBackward::input_gradient`] computes the rest.
#[derive(Debug, Clone)]
pub struct BatchNormBackward<T> {
    parts: ColumnParts,
    epsilon: f64,
    /// The last stage.
    pub input_gradient: InputGradient<T>,
}

/// The operands of [`BatchNormBackward`].
#[derive(Debug, Clone, Copy)]
pub struct BatchNormBackwardInput<'a, T> {
    /// The operand of the forward pass, `rows` × `cols`.
    pub x: &'a [T],
    /// The gradient of its result, `rows` × `cols`.
    pub dy: &'a [T],
    /// The scale, `cols`.
    pub scale: &'a [T],
    /// The batch's mean, `cols`.
    pub mean: &'a [T],
    /// The batch's biased variance, `cols`.
    pub variance: &'a [T],
}

/// The outputs of the backward pass.
#[derive(Debug)]
pub struct BatchNormGradients<'a, T> {
    /// With respect to the operand, `rows` × `cols`.
    pub dx: &'a mut [T],
    /// With respect to the scale, `cols`.
    pub dscale: &'a mut [T],
    /// With respect to the offset, `cols`.
    pub doffset: &'a mut [T],
}

/// `a`, `b`, `m` and the mean `μ` of each column, with which `dx = a · (dy - m) + b · (x - μ)`.
pub type Coefficients<T> = [Vec<<T as Number>::Acc>; 4];

impl<T: Float<Acc: Float>> BatchNormBackward<T> {
    /// Plans `rows` rows of `cols` channels; `epsilon` is that of the forward pass.
    pub fn new(rows: usize, cols: usize, epsilon: f64) -> Result<Self, ShapeError> {
        let chunks = Chunks::new(rows, cols, cols)?;
        let input_gradient = InputGradient { cols, chunks, element: PhantomData };
        Ok(Self { parts: ColumnParts::new(rows, cols)?, epsilon, input_gradient })
    }

    /// Returns the number of accumulators of scratch memory.
    pub fn partials_len(&self) -> usize {
        self.parts.partials_len()
    }

    /// Computes the gradients of scale and offset and the coefficients of the last stage from the
    /// sums. This is cheap.
    pub fn finish(
        &self,
        input: BatchNormBackwardInput<'_, T>,
        partials: &[T::Acc],
        dscale: &mut [T],
        doffset: &mut [T],
    ) -> Result<Coefficients<T>, ShapeError> {
        let cols = self.parts.cols;
        self.check(&input)?;
        check_len("partial sums", self.partials_len(), partials.len())?;
        check_len("gradient of scale", cols, dscale.len())?;
        check_len("gradient of offset", cols, doffset.len())?;
        let count = self.parts.rows as f64;
        let mut coefficients: Coefficients<T> = [(); 4].map(|()| Vec::with_capacity(cols));
        for col in 0..cols {
            // Σ dy and Σ dy·(x - μ). The rest is computed in double precision, and only the results
            // are rounded.
            let [sum, product] = self.parts.total(partials, col).map(Float::to_f64);
            let inverse = 1.0 / (input.variance[col].to_f64() + self.epsilon).sqrt();
            let scaled = product * inverse;
            (dscale[col], doffset[col]) = (T::from_f64(scaled), T::from_f64(sum));
            let a = input.scale[col].to_f64() * inverse;
            let b = -a * inverse * scaled / count;
            for (list, value) in coefficients.iter_mut().zip([a, b, sum / count, input.mean[col].to_f64()]) {
                list.push(T::Acc::from_f64(value));
            }
        }
        Ok(coefficients)
    }

    /// Runs all stages.
    pub fn run(
        &self,
        parallel: &dyn ParallelFor,
        input: BatchNormBackwardInput<'_, T>,
        output: BatchNormGradients<'_, T>,
    ) -> Result<(), ShapeError> {
        let BatchNormGradients { dx, dscale, doffset } = output;
        let mut partials = vec![T::Acc::ZERO; self.partials_len()];
        BlockOp::run(self, parallel, input, &mut partials)?;
        let coefficients = self.finish(input, &partials, dscale, doffset)?;
        self.input_gradient.run(parallel, (input.dy, input.x, &coefficients), dx)
    }

    fn check(&self, input: &BatchNormBackwardInput<'_, T>) -> Result<(), ShapeError> {
        check_len("operand", self.parts.len(), input.x.len())?;
        check_len("gradient", self.parts.len(), input.dy.len())?;
        check_len("scale", self.parts.cols, input.scale.len())?;
        check_len("mean", self.parts.cols, input.mean.len())?;
        check_len("variance", self.parts.cols, input.variance.len())
    }
}

impl<T: Float<Acc: Float>> BlockOp for BatchNormBackward<T> {
    type Input<'a> = BatchNormBackwardInput<'a, T>;
    type Output<'a> = &'a mut [T::Acc];
    type Piece<'a> = &'a mut [T::Acc];

    fn block_count(&self) -> usize {
        self.parts.parts()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.parts.split(output)
    }

    fn run_block(
        &self,
        block: usize,
        input: BatchNormBackwardInput<'_, T>,
        piece: &mut [T::Acc],
    ) -> Result<(), ShapeError> {
        let rows = self.parts.part(block, piece.len())?;
        self.check(&input)?;
        let cols = self.parts.cols;
        piece.fill(T::Acc::ZERO);
        let (sums, products) = piece.split_at_mut(cols);
        let elements = rows.start * cols..rows.end * cols;
        let pairs = input.x[elements.clone()].chunks_exact(cols).zip(input.dy[elements].chunks_exact(cols));
        for (x, dy) in pairs {
            vectorize(|| {
                let sums = sums.iter_mut().zip(products.iter_mut());
                for ((((sum, product), &x), &dy), &mean) in sums.zip(x).zip(dy).zip(input.mean) {
                    let dy = dy.to_acc();
                    *sum = sum.plus(dy);
                    *product = product.plus(dy.times(x.to_acc().minus(mean.to_acc())));
                }
            });
        }
        Ok(())
    }
}

/// The last stage of [`BatchNormBackward`]: the gradient with respect to the operand.
#[derive(Debug, Clone)]
pub struct InputGradient<T> {
    cols: usize,
    chunks: Chunks,
    element: PhantomData<fn(T) -> T>,
}

impl<T: Float> BlockOp for InputGradient<T> {
    /// `dy`, `x` and the coefficients.
    type Input<'a> = (&'a [T], &'a [T], &'a Coefficients<T>);
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
        (dy, x, k): Self::Input<'_>,
        piece: &mut [T],
    ) -> Result<(), ShapeError> {
        let range = self.chunks.elements_of(block, piece.len())?;
        check_len("gradient", self.chunks.len(), dy.len())?;
        check_len("operand", self.chunks.len(), x.len())?;
        for list in k {
            check_len("coefficients", self.cols, list.len())?;
        }
        let operands = dy[range.clone()].chunks_exact(self.cols).zip(x[range].chunks_exact(self.cols));
        for (out, (dy, x)) in piece.chunks_exact_mut(self.cols).zip(operands) {
            vectorize(|| {
                // Subtracts the means first: the differences may have fewer digits, but all of them
                // are correct.
                let factors = k[0].iter().zip(&k[1]).zip(k[2].iter().zip(&k[3]));
                for (((o, &dy), &x), ((&a, &b), (&m, &mean))) in out.iter_mut().zip(dy).zip(x).zip(factors) {
                    let (dy, x) = (dy.to_acc().minus(m), x.to_acc().minus(mean));
                    *o = T::from_acc(a.times(dy).plus(b.times(x)));
                }
            });
        }
        Ok(())
    }
}
