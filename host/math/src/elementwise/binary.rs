//! Elementwise functions of two operands that are broadcast together.

use std::{marker::PhantomData, ops::Range};

use super::Broadcast;
use crate::error::check_len;
use crate::parallel::Chunks;
use crate::shape::{StridedWalk, element_count};
use crate::simd::vectorize;
use crate::{BlockOp, Element, ShapeError};

/// `out[i] = f(a[i], b[i])` under broadcasting.
#[derive(Debug, Clone)]
pub struct Binary<A, B, O, F> {
    f: F,
    broadcast: Broadcast,
    chunks: Chunks,
    types: PhantomData<fn(A, B) -> O>,
}

impl<A: Element, B: Element, O: Element, F: Fn(A, B) -> O + Sync> Binary<A, B, O, F> {
    /// Plans `f` over operands of these shapes.
    pub fn new(f: F, left: &[usize], right: &[usize]) -> Result<Self, ShapeError> {
        let broadcast = Broadcast::new(left, right)?;
        let chunks = Chunks::new(element_count(broadcast.shape())?, 1, 1)?;
        Ok(Self { f, broadcast, chunks, types: PhantomData })
    }

    /// The shape of the output.
    pub fn shape(&self) -> &[usize] {
        self.broadcast.shape()
    }
}

impl<A: Element, B: Element, O: Element, F: Fn(A, B) -> O + Sync> BlockOp for Binary<A, B, O, F> {
    type Input<'a> = (&'a [A], &'a [B]);
    type Output<'a> = &'a mut [O];
    type Piece<'a> = &'a mut [O];

    fn block_count(&self) -> usize {
        self.chunks.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.chunks.split(output)
    }

    fn run_block(&self, block: usize, operands: (&[A], &[B]), piece: &mut [O]) -> Result<(), ShapeError> {
        let range = self.chunks.elements_of(block, piece.len())?;
        self.broadcast.combine(&self.f, range, operands, piece)
    }
}

impl Broadcast {
    /// `out[i] = f(a, b)` for the elements `range` of the output, where `out` is those elements.
    pub fn combine<A: Copy, B: Copy, O>(
        &self,
        f: &impl Fn(A, B) -> O,
        range: Range<usize>,
        (a, b): (&[A], &[B]),
        out: &mut [O],
    ) -> Result<(), ShapeError> {
        let [a_len, b_len] = self.operand_lens();
        check_len("left operand", a_len, a.len())?;
        check_len("right operand", b_len, b.len())?;
        check_len("output block", range.len(), out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        // The first and the last run of a range may be partial.
        let mut piece = out;
        let mut walk = StridedWalk::new(&self.outer, range.start / self.inner);
        let mut from = range.start % self.inner;
        while !piece.is_empty() {
            let (run, rest) = piece.split_at_mut(piece.len().min(self.inner - from));
            let offsets = walk.offsets();
            let [i, j] = [0, 1].map(|k| offsets[k] + if self.moves[k] { from } else { 0 });
            let n = run.len();
            match self.moves {
                [true, true] => both(f, &a[i..i + n], &b[j..j + n], run),
                [true, false] => left(f, &a[i..i + n], b[j], run),
                [false, true] => right(f, a[i], &b[j..j + n], run),
                [false, false] => run.fill_with(|| f(a[i], b[j])),
            }
            piece = rest;
            from = 0;
            walk.advance();
        }
        Ok(())
    }
}

fn both<A: Copy, B: Copy, O>(f: &impl Fn(A, B) -> O, a: &[A], b: &[B], out: &mut [O]) {
    vectorize(|| out.iter_mut().zip(a).zip(b).for_each(|((o, &a), &b)| *o = f(a, b)));
}

fn left<A: Copy, B: Copy, O>(f: &impl Fn(A, B) -> O, a: &[A], b: B, out: &mut [O]) {
    vectorize(|| out.iter_mut().zip(a).for_each(|(o, &a)| *o = f(a, b)));
}

fn right<A: Copy, B: Copy, O>(f: &impl Fn(A, B) -> O, a: A, b: &[B], out: &mut [O]) {
    vectorize(|| out.iter_mut().zip(b).for_each(|(o, &b)| *o = f(a, b)));
}
