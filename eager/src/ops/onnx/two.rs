//! Ops that compute two results unit by unit.

use std::ops::Range;

use smallvec::smallvec;
use tfrt_compute::run;
use tfrt_host::{AsyncValue, Chain};
use tfrt_math::{BlockOp, ShapeError};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor};

use crate::ops::support::{Computed, tensors_after};
use crate::{CpuCall, OpResult};

/// Elements of streaming that are worth a block.
const BLOCK_COST: usize = 32 * 1024;

type Body<A, B> = dyn Fn(Range<usize>, &mut [A], &mut [B]) -> Result<(), ShapeError> + Send + Sync;

/// Two outputs of `count` units, cut into runs of units.
struct Two<A, B> {
    count: usize,
    units: [usize; 2],
    per_block: usize,
    body: Box<Body<A, B>>,
}

impl<A: Element, B: Element> BlockOp for Two<A, B> {
    type Input<'a> = ();
    type Output<'a> = (&'a mut [A], &'a mut [B]);
    type Piece<'a> = (&'a mut [A], &'a mut [B]);

    fn block_count(&self) -> usize {
        self.count.div_ceil(self.per_block)
    }

    fn split<'a>(&self, (mut a, mut b): Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        let mut pieces = Vec::with_capacity(self.block_count());
        for block in 0..self.block_count() {
            let units = self.per_block.min(self.count - block * self.per_block);
            let (first_a, rest_a) =
                a.split_at_mut_checked(units * self.units[0]).ok_or(ShapeError::TooLarge)?;
            let (first_b, rest_b) =
                b.split_at_mut_checked(units * self.units[1]).ok_or(ShapeError::TooLarge)?;
            pieces.push((first_a, first_b));
            (a, b) = (rest_a, rest_b);
        }
        Ok(pieces)
    }

    fn run_block(&self, block: usize, (): (), (a, b): Self::Piece<'_>) -> Result<(), ShapeError> {
        let start = block * self.per_block;
        (self.body)(start..(start + self.per_block).min(self.count), a, b)
    }
}

/// Computes two tensors of `count` units, whose sizes in elements `units` are and each of which
/// costs as much as `cost` elements of streaming.
pub(super) fn compute_two<A: Element, B: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    (a, b): (DenseHostTensor, DenseHostTensor),
    (count, units, cost): (usize, [usize; 2], usize),
    body: impl Fn(Range<usize>, &mut [A], &mut [B]) -> Result<(), ShapeError> + Send + Sync + 'static,
) -> Computed {
    if a.num_elements() == 0 && b.num_elements() == 0 {
        return Ok(results([a, b]));
    }
    let plan = Two { count, units, per_block: (BLOCK_COST / cost.max(1)).max(1), body: Box::new(body) };
    let writes = (a.write_owned::<A>(me)?, b.write_owned::<B>(me)?);
    let done = run(call.cx, Ok(plan), ((), writes), |()| (), |(a, b)| (a, b), Chain)?;
    Ok(tensors_after(done, [a, b]))
}

/// Results that are complete.
pub(super) fn results(tensors: impl IntoIterator<Item = DenseHostTensor>) -> OpResult {
    let tensors = tensors.into_iter().map(|tensor| AsyncValue::new(HostTensor::from(tensor))).collect();
    OpResult { tensors, done: None }
}

/// The second of two results alone.
pub(super) fn second(result: OpResult) -> OpResult {
    let tensors = result.tensors.into_iter().nth(1).map_or_else(Default::default, |tensor| smallvec![tensor]);
    OpResult { tensors, done: result.done }
}
