//! Stages of ops that run one after the other, each in parallel on the work queue.

use tfrt_compute::OnQueue;
use tfrt_host::ExecutionContext;
use tfrt_math::{ParallelFor, Pieces};

/// Elements of streaming that are worth a block.
const BLOCK_COST: usize = 32 * 1024;

/// Computes units of `unit` elements of `out`, each of which costs as much as `cost` elements of
/// streaming, and returns when all are done. `f` gets a unit's number and its elements.
pub(super) fn for_units<T: Send>(
    cx: &ExecutionContext,
    out: &mut [T],
    (unit, cost): (usize, usize),
    f: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    if unit == 0 || out.is_empty() {
        return;
    }
    let per_block = (BLOCK_COST / cost.max(1)).max(1);
    let pieces = Pieces::new(out.chunks_mut(unit.saturating_mul(per_block)).collect());
    let blocks = pieces.len();
    let run = |block: usize| {
        let Some(piece) = pieces.take(block) else { return };
        for (index, out) in piece.chunks_mut(unit).enumerate() {
            f(block * per_block + index, out);
        }
    };
    match blocks {
        1 => run(0),
        blocks => OnQueue(cx).parallel_for(blocks, 1, &|range| range.for_each(&run)),
    }
}
