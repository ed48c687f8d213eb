//! Dividing and distributing work: the block protocol, and the trait that a runtime implements to
//! run blocks in parallel.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::ShapeError;
use crate::error::check_len;

/// Runs the iterations of a loop, perhaps on several threads.
pub trait ParallelFor: Sync {
    /// Calls `body` with disjoint ranges that together cover `0..total`, in any order and on any
    /// threads, and returns when all of them are done. Ranges other than the last should hold at
    /// least `min_block` iterations.
    fn parallel_for(&self, total: usize, min_block: usize, body: &(dyn Fn(Range<usize>) + Sync));

    /// Returns the number of iterations that may run at the same time, at least 1. Plans are cut to
    /// suit it.
    fn parallelism(&self) -> usize;
}

/// Runs everything on the calling thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Serial;

impl ParallelFor for Serial {
    fn parallel_for(&self, total: usize, _min_block: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
        if total > 0 {
            body(0..total);
        }
    }

    fn parallelism(&self) -> usize {
        1
    }
}

/// An operation cut into independent blocks, each of which owns a piece of the output.
///
/// The contract: `split` returns exactly `block_count` pieces, which cover the output and are
/// disjoint (the borrow checker ensures this). `run_block(i, input, piece_i)` computes piece `i`
/// and touches nothing else. Blocks may run in any order, at the same time, and on any thread; each
/// must be given its own piece. The output is complete after all have run. A block that fails
/// leaves its piece in an unspecified but initialized state.
pub trait BlockOp: Sync {
    /// The operands that are only read.
    type Input<'a>: Copy + Send + Sync;
    /// The whole output: a slice, or a tuple of slices.
    type Output<'a>;
    /// One block's exclusive piece of the output.
    type Piece<'a>: Send;

    /// Returns the number of blocks; zero when there is nothing to compute.
    fn block_count(&self) -> usize;

    /// Cuts the output into one piece for each block, in the order of blocks.
    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError>;

    /// Computes one block.
    fn run_block(
        &self,
        block: usize,
        input: Self::Input<'_>,
        piece: Self::Piece<'_>,
    ) -> Result<(), ShapeError>;

    /// Runs all blocks through `parallel` and returns when they are done, with the error of the
    /// lowest-numbered block that failed, if any.
    fn run<'a>(
        &self,
        parallel: &dyn ParallelFor,
        input: Self::Input<'_>,
        output: Self::Output<'a>,
    ) -> Result<(), ShapeError> {
        let count = self.block_count();
        if count <= 1 || parallel.parallelism() <= 1 {
            return self.run_in_turn(input, output);
        }
        let pieces = Pieces::new(self.split(output)?);
        run_blocks(parallel, count, &|block| match pieces.take(block) {
            Some(piece) => self.run_block(block, input, piece),
            None => Ok(()),
        })
    }

    /// Runs all blocks one after another on the calling thread, up to the first that fails.
    fn run_in_turn(&self, input: Self::Input<'_>, output: Self::Output<'_>) -> Result<(), ShapeError> {
        let pieces = self.split(output)?;
        pieces.into_iter().enumerate().try_for_each(|(block, piece)| self.run_block(block, input, piece))
    }
}

/// The pieces of an output, each of which is taken once, by the task that computes its block.
#[derive(Debug)]
pub struct Pieces<P>(Vec<Mutex<Option<P>>>);

impl<P> Pieces<P> {
    /// Returns the pieces of all blocks, in their order.
    pub fn new(pieces: Vec<P>) -> Self {
        Self(pieces.into_iter().map(|piece| Mutex::new(Some(piece))).collect())
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a block's piece, unless it is taken already or there is no such block.
    pub fn take(&self, block: usize) -> Option<P> {
        self.0.get(block)?.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Runs blocks on several threads. It is not generic over the operation, so that it is compiled
/// once.
fn run_blocks(
    parallel: &dyn ParallelFor,
    count: usize,
    run_block: &(dyn Fn(usize) -> Result<(), ShapeError> + Sync),
) -> Result<(), ShapeError> {
    let failure: Mutex<Option<(usize, ShapeError)>> = Mutex::new(None);
    parallel.parallel_for(count, 1, &|range| {
        for block in range {
            let Err(error) = run_block(block) else { continue };
            let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
            if failure.as_ref().is_none_or(|(first, _)| block < *first) {
                *failure = Some((block, error));
            }
        }
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// The number of elements of memory-bound work that justifies a separate task: about 5 µs of
/// streaming.
const MEMORY_BLOCK: usize = 16 * 1024;

/// A dense output of `count` units (elements, rows, images) of `unit` elements each, cut into runs
/// of whole units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunks {
    count: usize,
    unit: usize,
    units_per_block: usize,
}

impl Chunks {
    /// Cuts the output so that a block processes about [`MEMORY_BLOCK`] elements, where a unit
    /// costs as much as `cost` elements.
    pub(crate) fn new(count: usize, unit: usize, cost: usize) -> Result<Self, ShapeError> {
        count.checked_mul(unit).ok_or(ShapeError::TooLarge)?;
        Ok(Self { count, unit, units_per_block: Self::units_worth_a_block(cost) })
    }

    /// Returns the number of units that justifies a separate task, where one costs as much as
    /// `cost` elements.
    #[inline]
    pub(crate) fn units_worth_a_block(cost: usize) -> usize {
        (MEMORY_BLOCK / cost.max(1)).max(1)
    }

    /// Cuts the output with a given number of units in a block.
    pub(crate) fn with_units_per_block(
        count: usize,
        unit: usize,
        units_per_block: usize,
    ) -> Result<Self, ShapeError> {
        count.checked_mul(unit).ok_or(ShapeError::TooLarge)?;
        Ok(Self { count, unit, units_per_block: units_per_block.max(1) })
    }

    /// Enlarges blocks to at least this many units.
    pub(crate) fn at_least(self, units: usize) -> Self {
        Self { units_per_block: self.units_per_block.max(units), ..self }
    }

    /// Makes the number of units of each block but the last a multiple of `units`, which is not zero.
    pub(crate) fn in_multiples_of(self, units: usize) -> Self {
        let whole = self.units_per_block / units * units;
        Self { units_per_block: whole.max(units), ..self }
    }

    /// Returns the number of elements of the whole output.
    pub(crate) fn len(&self) -> usize {
        self.count * self.unit
    }

    /// Returns the number of blocks.
    pub(crate) fn block_count(&self) -> usize {
        if self.unit == 0 { 0 } else { self.count.div_ceil(self.units_per_block) }
    }

    /// Returns the units that a block computes.
    pub(crate) fn units(&self, block: usize) -> Result<Range<usize>, ShapeError> {
        let count = self.block_count();
        if block >= count {
            return Err(ShapeError::Block { block, count });
        }
        let start = block * self.units_per_block;
        Ok(start..(start + self.units_per_block).min(self.count))
    }

    /// Returns the units that a block computes, after checking that `piece_len` is the size of its
    /// piece.
    pub(crate) fn units_of(&self, block: usize, piece_len: usize) -> Result<Range<usize>, ShapeError> {
        let units = self.units(block)?;
        check_len("output block", units.len() * self.unit, piece_len)?;
        Ok(units)
    }

    /// Returns the elements of the output that a block owns, after checking the size of its piece.
    pub(crate) fn elements_of(&self, block: usize, piece_len: usize) -> Result<Range<usize>, ShapeError> {
        let units = self.units_of(block, piece_len)?;
        Ok(units.start * self.unit..units.end * self.unit)
    }

    /// Cuts an output slice into pieces.
    pub(crate) fn split<'a, T>(&self, output: &'a mut [T]) -> Result<Vec<&'a mut [T]>, ShapeError> {
        check_len("output", self.len(), output.len())?;
        if output.is_empty() {
            return Ok(Vec::new());
        }
        Ok(output.chunks_mut(self.units_per_block.saturating_mul(self.unit)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_output() {
        for (count, unit, per_block) in [(0, 3, 2), (7, 3, 2), (8, 1, 8), (5, 0, 1), (1, 9, 100)] {
            let chunks = Chunks::with_units_per_block(count, unit, per_block).unwrap();
            let mut out = vec![0u8; count * unit];
            let pieces = chunks.split(&mut out).unwrap();
            assert_eq!(pieces.len(), chunks.block_count());
            let mut end = 0;
            for (block, piece) in pieces.into_iter().enumerate() {
                let range = chunks.elements_of(block, piece.len()).unwrap();
                assert_eq!(range.start, end);
                end = range.end;
            }
            assert_eq!(end, count * unit);
            let missing = chunks.block_count();
            assert_eq!(chunks.units(missing), Err(ShapeError::Block { block: missing, count: missing }));
        }
    }

    #[test]
    fn counts_that_overflow_are_errors() {
        assert_eq!(Chunks::new(usize::MAX, 2, 1), Err(ShapeError::TooLarge));
    }
}
