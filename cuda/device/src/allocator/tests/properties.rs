//! Properties that hold for every sequence of calls, every progress of the streams, and every
//! failing device.

use std::sync::Arc;

use parking_lot::Mutex;
use proptest::prelude::*;
use tfrt_host::Diagnostic;

use super::super::blocks::{NONE, State};
use super::super::{Allocation, CachingAllocator};
use super::simulated::Simulated;
use super::{MIB, Options, request};

const STREAMS: u32 = 4;

#[derive(Debug, Clone)]
enum Op {
    Allocate { stream: u32, bytes: u64 },
    Free { which: usize },
    Use { which: usize, stream: u32 },
    Step { stream: u32, times: u32 },
    Forget { stream: u32 },
    Clear,
}

fn ops(length: usize) -> impl Strategy<Value = Vec<Op>> {
    let bytes = prop_oneof![0u64..2000, 1u64..300_000, MIB / 2..5 * MIB];
    let op = prop_oneof![
        6 => (0..STREAMS, bytes).prop_map(|(stream, bytes)| Op::Allocate { stream, bytes }),
        4 => any::<usize>().prop_map(|which| Op::Free { which }),
        4 => (any::<usize>(), 0..STREAMS).prop_map(|(which, stream)| Op::Use { which, stream }),
        3 => (0..STREAMS, 1u32..9).prop_map(|(stream, times)| Op::Step { stream, times }),
        1 => (0..STREAMS).prop_map(|stream| Op::Forget { stream }),
        1 => Just(Op::Clear),
    ];
    prop::collection::vec(op, 1..length)
}

type Outcomes = Arc<Mutex<Vec<(usize, Result<Allocation, Diagnostic>)>>>;

/// A running program.
struct Run {
    device: Arc<Simulated>,
    allocator: Arc<CachingAllocator<Simulated>>,
    /// The held memory, and its stream.
    held: Vec<(Allocation, u32)>,
    outcomes: Outcomes,
    /// The streams, by request.
    requests: Vec<u32>,
    settled: usize,
    errors: usize,
}

impl Run {
    fn new(limit: u64) -> Self {
        Self::on(Simulated::new(limit))
    }

    fn with_pages(limit: u64) -> Self {
        Self::on(Simulated::with_pages(limit))
    }

    fn on(device: Simulated) -> Self {
        let device = Arc::new(device);
        Self {
            allocator: CachingAllocator::new(device.clone(), Options::default()),
            device,
            held: vec![],
            outcomes: Arc::default(),
            requests: vec![],
            settled: 0,
            errors: 0,
        }
    }

    fn op(&mut self, op: &Op) {
        match *op {
            Op::Allocate { stream, bytes } => {
                let (number, outcomes) = (self.requests.len(), self.outcomes.clone());
                self.requests.push(stream);
                self.allocator.allocate_with(request(&stream, bytes, "property"), move |outcome| {
                    outcomes.lock().push((number, outcome));
                });
            }
            Op::Free { which } => {
                if !self.held.is_empty() {
                    let (allocation, _) = self.held.swap_remove(which % self.held.len());
                    self.allocator.free(allocation).unwrap();
                }
            }
            Op::Use { which, stream } => {
                if !self.held.is_empty() {
                    let (allocation, granted_for) = &self.held[which % self.held.len()];
                    if *granted_for != stream {
                        self.device.order(*granted_for, stream);
                        self.allocator.record_use(allocation, &stream).unwrap();
                    }
                    self.device.queue_use(stream, allocation);
                }
            }
            Op::Step { stream, times } => {
                for _ in 0..times {
                    self.device.step(stream);
                }
            }
            // A forgotten stream's name is not reused while its memory is held.
            Op::Forget { stream } => {
                if self.held.iter().all(|(_, granted_for)| *granted_for != stream) {
                    self.errors += usize::from(self.allocator.forget_stream(&stream).is_err());
                }
            }
            Op::Clear => self.errors += usize::from(self.allocator.clear_cache().is_err()),
        }
        self.collect();
    }

    /// Checks that grants come in the order of requests, each exactly once.
    fn collect(&mut self) {
        for (number, outcome) in self.outcomes.lock().drain(..) {
            assert_eq!(number, self.settled, "requests are settled in order");
            self.settled += 1;
            match outcome {
                Ok(allocation) => {
                    self.device.granted(&allocation);
                    self.held.push((allocation, self.requests[number]));
                }
                Err(_) => self.errors += 1,
            }
        }
        check(&self.allocator);
    }

    /// Releases everything and lets all work finish. Nothing is left.
    fn finish(mut self, device_works: bool) {
        self.device.run_all();
        self.collect();
        while let Some((allocation, _)) = self.held.pop() {
            self.allocator.free(allocation).unwrap();
            self.device.run_all();
            self.collect();
        }
        assert_eq!(self.settled, self.requests.len(), "every request is settled");
        assert_eq!(self.allocator.statistics().bytes_in_use, 0);
        if device_works {
            self.allocator.clear_cache().unwrap();
            check(&self.allocator);
        }
        drop(self.allocator);
        if device_works {
            assert!(self.device.is_clean(), "nothing leaks");
        }
    }
}

/// Checks what holds between any two calls.
pub(super) fn check(allocator: &CachingAllocator<Simulated>) {
    let shared = allocator.shared.lock();
    let pool = &shared.pool;
    let (mut reserved, mut live, mut requested, mut pieces) = (0, 0, 0, 0);
    let mut free = vec![0; pool.streams.len()];
    let mut cached = 0;
    for segment in pool.segments.iter().flatten() {
        reserved += segment.bytes;
        let (mut at, mut before, mut address) = (segment.first, NONE, segment.address);
        while at != NONE {
            let block = pool.blocks.get(at);
            assert_eq!((block.address, block.before), (address, before), "blocks cover their segment");
            match block.state {
                State::Live => {
                    live += block.bytes;
                    requested += block.requested;
                    assert!(block.requested <= block.bytes);
                }
                State::Binned => cached += block.bytes,
                State::Free => free[block.stream as usize] += block.bytes,
                State::Hole => reserved -= block.bytes,
                State::Pending => assert!(pool.pending.contains_key(&at)),
                State::Vacant => panic!("a vacant block in a segment"),
            }
            pieces += 1;
            address += block.bytes;
            (before, at) = (at, block.after);
        }
        assert_eq!(address, segment.address + segment.bytes, "blocks cover their segment");
    }
    let listed: Vec<u64> = pool.streams.slots().map(|slot| pool.streams.free_bytes(slot)).collect();
    assert_eq!(free, listed, "free blocks are in their streams' lists");
    assert_eq!(pieces, pool.blocks.iter().count(), "every block is in a segment");
    assert_eq!(
        pool.streams.slots().map(|slot| pool.streams.binned_bytes(slot, &pool.blocks)).sum::<u64>(),
        cached
    );
    reserved += pool.spare_bytes();
    let statistics = pool.statistics();
    assert_eq!(statistics.bytes_reserved, reserved);
    assert_eq!(statistics.bytes_in_use, live);
    assert_eq!(statistics.bytes_requested, requested);
    assert!(statistics.peak_bytes_in_use >= live && statistics.peak_bytes_reserved >= reserved);
    assert!(statistics.largest_free_block_bytes <= reserved - live);
    drop(shared);
    assert_eq!(allocator.backing().reserved(), reserved);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn nothing_overlaps_or_leaks_with_much_memory(ops in ops(120)) {
        let mut run = Run::new(u64::MAX);
        ops.iter().for_each(|op| run.op(op));
        prop_assert_eq!(run.errors, 0);
        run.finish(true);
    }

    #[test]
    fn nothing_overlaps_or_leaks_with_little_memory(ops in ops(120), limit in 4u64..24) {
        let mut run = Run::new(limit * MIB);
        ops.iter().for_each(|op| run.op(op));
        run.finish(true);
    }

    #[test]
    fn nothing_overlaps_or_leaks_by_the_page(ops in ops(120), limit in 4u64..40) {
        let mut run = Run::with_pages(limit * MIB);
        ops.iter().for_each(|op| run.op(op));
        run.finish(true);
    }

    #[test]
    fn one_failing_call_is_one_error_at_most(ops in ops(50), limit in 6u64..40, pages in any::<bool>()) {
        let start = if pages { Run::with_pages } else { Run::new };
        let calls = {
            let mut run = start(limit * MIB);
            ops.iter().for_each(|op| run.op(op));
            run.device.calls()
        };
        for n in 1..=calls {
            let mut run = start(limit * MIB);
            run.device.fail(n, n + 1);
            ops.iter().for_each(|op| run.op(op));
            let failed = run.device.calls() >= n;
            run.finish(failed);
        }
    }

    #[test]
    fn a_lost_device_loses_no_request(
        ops in ops(50), limit in 6u64..40, from in 1u64..60, pages in any::<bool>(),
    ) {
        let mut run = if pages { Run::with_pages(limit * MIB) } else { Run::new(limit * MIB) };
        run.device.fail(from, u64::MAX);
        ops.iter().for_each(|op| run.op(op));
        run.finish(false);
    }
}
