//! Outputs given as a function of a run of units, for operations that need no plan of their own, and the loops such
//! functions are made of.

use std::{fmt, ops::Range};

use crate::parallel::Chunks;
use crate::simd::vectorize;
use crate::{BlockOp, Element, ShapeError};

/// Computes the units of a range into the elements that they have.
pub type RunFn<O> = dyn Fn(Range<usize>, &mut [O]) -> Result<(), ShapeError> + Send + Sync;

/// An output cut into runs of whole units (elements, rows, matrices), each computed by a function that brings its operands
/// along.
pub struct Runs<O> {
    chunks: Chunks,
    f: Box<RunFn<O>>,
}

impl<O: Element> Runs<O> {
    /// Plans `count` units of `unit` elements, each of which costs as much as `cost` elements of streaming. Elements that
    /// the function does not set keep what the output held.
    pub fn new(count: usize, unit: usize, cost: usize, f: Box<RunFn<O>>) -> Result<Self, ShapeError> {
        Ok(Self { chunks: Chunks::new(count, unit, cost)?, f })
    }

    /// Whether such a plan would have one run at most, so that calling the function does as well.
    pub fn is_one(count: usize, cost: usize) -> bool {
        Chunks::new(count, 1, cost).is_ok_and(|chunks| chunks.block_count() <= 1)
    }
}

impl<O: Element> BlockOp for Runs<O> {
    type Input<'a> = ();
    type Output<'a> = &'a mut [O];
    type Piece<'a> = &'a mut [O];

    fn block_count(&self) -> usize {
        self.chunks.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.chunks.split(output)
    }

    fn run_block(&self, block: usize, (): (), piece: &mut [O]) -> Result<(), ShapeError> {
        (self.f)(self.chunks.units_of(block, piece.len())?, piece)
    }
}

impl<O> fmt::Debug for Runs<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs").field("chunks", &self.chunks).finish_non_exhaustive()
    }
}

/// `out[i] = f(x[i])`, as far as both slices go.
pub fn map_into<A: Copy, O>(out: &mut [O], x: &[A], f: impl Fn(A) -> O) {
    vectorize(|| out.iter_mut().zip(x).for_each(|(o, &x)| *o = f(x)));
}

/// `out[i] = f(out[i])`.
pub fn map_in_place<O: Copy>(out: &mut [O], f: impl Fn(O) -> O) {
    vectorize(|| out.iter_mut().for_each(|o| *o = f(*o)));
}

/// `out[i] = f(a[i], b[i])`, as far as all slices go.
pub fn zip_into<A: Copy, B: Copy, O>(out: &mut [O], a: &[A], b: &[B], f: impl Fn(A, B) -> O) {
    vectorize(|| out.iter_mut().zip(a).zip(b).for_each(|((o, &a), &b)| *o = f(a, b)));
}

/// `out[i] = f(out[i], x[i])`, as far as both slices go.
pub fn zip_in_place<A: Copy, O: Copy>(out: &mut [O], x: &[A], f: impl Fn(O, A) -> O) {
    vectorize(|| out.iter_mut().zip(x).for_each(|(o, &x)| *o = f(*o, x)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Serial;

    #[test]
    fn runs_cover_the_output() {
        let (count, unit) = (100_000, 3);
        let body = move |units: Range<usize>, out: &mut [usize]| {
            assert_eq!(out.len(), units.len() * unit);
            out.chunks_exact_mut(unit).zip(units).for_each(|(out, row)| out.fill(row));
            Ok(())
        };
        let plan = Runs::new(count, unit, unit, Box::new(body)).unwrap();
        assert!(
            plan.block_count() > 1 && !Runs::<usize>::is_one(count, unit) && Runs::<usize>::is_one(7, unit)
        );
        let mut out = vec![usize::MAX; count * unit];
        plan.run(&Serial, (), &mut out).unwrap();
        assert!(out.iter().enumerate().all(|(i, &row)| row == i / unit));
    }
}
