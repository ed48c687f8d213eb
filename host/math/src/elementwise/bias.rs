//! Adding a vector to each row of a matrix, with the activation applied on the way.

use std::marker::PhantomData;

use super::ops;
use crate::error::check_len;
use crate::matmul::Activation;
use crate::parallel::Chunks;
use crate::simd::vectorize;
use crate::{BlockOp, Number, ShapeError};

/// `out[r, c] = activation(x[r, c] + bias[c])`, where `x` is any tensor whose last axis has `cols`
/// elements.
#[derive(Debug, Clone)]
pub struct BiasAdd<T> {
    cols: usize,
    activation: Activation,
    chunks: Chunks,
    element: PhantomData<fn(T) -> T>,
}

impl<T: Number> BiasAdd<T> {
    /// Plans `rows` rows of `cols` columns.
    pub fn new(rows: usize, cols: usize, activation: Activation) -> Result<Self, ShapeError> {
        Ok(Self { cols, activation, chunks: Chunks::new(rows, cols, cols)?, element: PhantomData })
    }
}

impl<T: Number> BlockOp for BiasAdd<T> {
    /// `x`, then the bias.
    type Input<'a> = (&'a [T], &'a [T]);
    type Output<'a> = &'a mut [T];
    type Piece<'a> = &'a mut [T];

    fn block_count(&self) -> usize {
        self.chunks.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.chunks.split(output)
    }

    fn run_block(&self, block: usize, (x, bias): (&[T], &[T]), piece: &mut [T]) -> Result<(), ShapeError> {
        let range = self.chunks.elements_of(block, piece.len())?;
        check_len("operand", self.chunks.len(), x.len())?;
        check_len("bias", self.cols, bias.len())?;
        let rows = piece.chunks_exact_mut(self.cols).zip(x[range].chunks_exact(self.cols));
        vectorize(|| {
            for (out, x) in rows {
                let sums = out.iter_mut().zip(x).zip(bias);
                match self.activation {
                    Activation::None => sums.for_each(|((o, &x), &b)| *o = ops::add(x, b)),
                    Activation::Relu => sums.for_each(|((o, &x), &b)| *o = ops::relu(ops::add(x, b))),
                }
            }
        });
        Ok(())
    }
}
