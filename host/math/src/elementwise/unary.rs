//! Elementwise functions of one operand, and updates of the output in place.

use std::marker::PhantomData;

use super::{UnaryLoop, ops, zip_in_place};
use crate::error::check_len;
use crate::parallel::Chunks;
use crate::{BlockOp, Element, Number, ShapeError};

/// `out[i] = f(x[i])`.
#[derive(Debug, Clone)]
pub struct Unary<A, O, F> {
    f: F,
    chunks: Chunks,
    types: PhantomData<fn(A) -> O>,
}

impl<A: Element, O: Element, F: Fn(A) -> O + Sync> Unary<A, O, F> {
    /// Plans `f` over `len` elements.
    pub fn new(f: F, len: usize) -> Result<Self, ShapeError> {
        Ok(Self { f, chunks: Chunks::new(len, 1, 1)?, types: PhantomData })
    }
}

impl<A: Element, O: Element, F: Fn(A) -> O + Sync> BlockOp for Unary<A, O, F> {
    type Input<'a> = &'a [A];
    type Output<'a> = &'a mut [O];
    type Piece<'a> = &'a mut [O];

    fn block_count(&self) -> usize {
        self.chunks.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.chunks.split(output)
    }

    fn run_block(&self, block: usize, x: &[A], piece: &mut [O]) -> Result<(), ShapeError> {
        let range = self.chunks.elements_of(block, piece.len())?;
        check_len("operand", self.chunks.len(), x.len())?;
        self.f.map(piece, &x[range]);
        Ok(())
    }
}

/// `y[i] = f(y[i], x[i])`: the output is updated in place.
#[derive(Debug, Clone)]
pub struct Update<A, O, F> {
    f: F,
    chunks: Chunks,
    types: PhantomData<fn(O, A) -> O>,
}

impl<A: Element, O: Element, F: Fn(O, A) -> O + Sync> Update<A, O, F> {
    /// Plans `f(old, operand)` over `len` elements.
    pub fn new(f: F, len: usize) -> Result<Self, ShapeError> {
        Ok(Self { f, chunks: Chunks::new(len, 1, 1)?, types: PhantomData })
    }
}

impl<A: Element, O: Element, F: Fn(O, A) -> O + Sync> BlockOp for Update<A, O, F> {
    type Input<'a> = &'a [A];
    type Output<'a> = &'a mut [O];
    type Piece<'a> = &'a mut [O];

    fn block_count(&self) -> usize {
        self.chunks.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.chunks.split(output)
    }

    fn run_block(&self, block: usize, x: &[A], piece: &mut [O]) -> Result<(), ShapeError> {
        let range = self.chunks.elements_of(block, piece.len())?;
        check_len("operand", self.chunks.len(), x.len())?;
        zip_in_place(piece, &x[range], &self.f);
        Ok(())
    }
}

/// `y += alpha * x` over `len` elements, in place. A step of gradient descent is `alpha =
/// -learning_rate`.
pub fn axpy<T: Number>(
    alpha: T,
    len: usize,
) -> Result<Update<T, T, impl Fn(T, T) -> T + Copy + Sync>, ShapeError> {
    Update::new(move |y: T, x: T| ops::add(y, ops::mul(alpha, x)), len)
}
