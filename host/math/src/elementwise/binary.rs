//! Elementwise functions of two operands that are broadcast together.

use std::{marker::PhantomData, ops::Range};

use super::{BinaryLoop, Broadcast, with_left, with_right};
use crate::error::check_len;
use crate::parallel::Chunks;
use crate::shape::{StridedWalk, element_count};
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

    /// Returns the shape of the output.
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
        f: &dyn BinaryLoop<A, B, O>,
        range: Range<usize>,
        (a, b): (&[A], &[B]),
        out: &mut [O],
    ) -> Result<(), ShapeError> {
        let [a_len, b_len] = self.operand_lens();
        check_len("left operand", a_len, a.len())?;
        check_len("right operand", b_len, b.len())?;
        check_len("output block", range.len(), out.len())?;
        for (run, [i, j]) in self.runs(range) {
            let out = &mut out[run];
            let n = out.len();
            match self.moves {
                [true, true] => f.zip(out, &a[i..i + n], &b[j..j + n]),
                [false, true] => with_left(f, out, a[i], &b[j..j + n]),
                // A run along which neither moves is one element.
                [_, false] => with_right(f, out, &a[i..i + n], b[j]),
            }
        }
        Ok(())
    }

    /// Returns the runs along the innermost axis that a range of the output consists of.
    fn runs(&self, range: Range<usize>) -> BroadcastRuns<'_> {
        // Without elements an axis may be of any extent, also of none.
        let inner = self.inner.max(1);
        BroadcastRuns {
            broadcast: self,
            walk: StridedWalk::new(&self.outer, range.start / inner),
            from: range.start % inner,
            inner,
            done: 0,
            len: range.len(),
        }
    }
}

/// Where each run lies: in the output, counted from the start of the range, and in the operands.
struct BroadcastRuns<'a> {
    broadcast: &'a Broadcast,
    walk: StridedWalk<'a, 2>,
    /// Elements of the first run that are before the range.
    from: usize,
    inner: usize,
    done: usize,
    len: usize,
}

impl Iterator for BroadcastRuns<'_> {
    type Item = (Range<usize>, [usize; 2]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.done == self.len {
            return None;
        }
        let start = self.done;
        // The first and the last run of a range may be partial.
        let from = std::mem::take(&mut self.from);
        self.done += (self.len - start).min(self.inner - from);
        let offsets = self.walk.offsets();
        let at = [0, 1].map(|k| offsets[k] + if self.broadcast.moves[k] { from } else { 0 });
        self.walk.advance();
        Some((start..self.done, at))
    }
}
