//! What device memory costs: a cached block handed out and taken back, and the allocations of whole
//! programs, for ours and two baselines; and how much is reserved for them.

#[path = "support/allocations.rs"]
#[expect(dead_code, reason = "shared with a test")]
mod allocations;
#[path = "support/replay.rs"]
mod replay;
mod support;

use std::hint::black_box;
use std::sync::Arc;
use std::thread;

use allocations::{Trace, traces};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use replay::{Bump, Caching, FirstFit, LaggingDevice, Replay};
use tfrt_device::allocator::{CachingAllocator, Options, Origin, Request};

/// Calls by which the simulated device is behind the host.
const LAG: u64 = 20;

/// An allocation and its free.
fn pair(allocator: &CachingAllocator<LaggingDevice>, stream: u32) {
    let request = Request { stream: &stream, bytes: black_box(100_000), origin: Origin::label("bench") };
    let allocation = allocator.allocate(request).expect("memory without end");
    allocator.free(black_box(allocation)).expect("its own memory");
}

/// A block that is in the cache.
fn cached_pair(c: &mut Criterion) {
    let mut group = c.benchmark_group("cached pair");
    group.throughput(Throughput::Elements(1));
    for (name, streams) in [("one stream", 1), ("two streams by turns", 2)] {
        let allocator = CachingAllocator::new(Arc::new(LaggingDevice::new(0, false)), Options::default());
        let mut turn = 0;
        group.bench_function(name, |b| {
            b.iter(|| {
                turn = (turn + 1) % streams;
                pair(&allocator, turn);
            });
        });
    }
}

/// Whole programs, replayed again and again, as a training loop does.
fn replays(c: &mut Criterion) {
    for trace in traces() {
        let mut group = c.benchmark_group(&trace.name);
        group.throughput(Throughput::Elements(trace.pairs()));
        for by_page in [false, true] {
            let name = if by_page { "caching, by the page" } else { "caching, in segments" };
            let mut caching = Caching::new(LAG, by_page);
            replay(&mut group, name, &mut caching, &trace);
            report_costs(&caching);
        }
        replay(&mut group, "first fit", &mut FirstFit::default(), &trace);
        replay(&mut group, "bump", &mut Bump::default(), &trace);
    }
}

fn replay(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, allocator: &mut impl Replay, trace: &Trace) {
    allocator.replay(trace);
    let first = allocator.peak_reserved();
    for _ in 0..20 {
        allocator.replay(trace);
    }
    let then = allocator.peak_reserved();
    group.bench_function(name, |b| b.iter(|| allocator.replay(trace)));
    report(name, trace.peak_live(), first, then);
}

#[expect(clippy::print_stdout, reason = "a measurement beside criterion's")]
fn report(name: &str, live: u64, first: u64, then: u64) {
    let ratio = |reserved: u64| reserved as f64 / live as f64;
    println!(
        "    {name}: reserved {:.3} of the {} MiB held at most; after 20 more replays {:.3}",
        ratio(first),
        live >> 20,
        ratio(then)
    );
}

/// What reuse took beside handing blocks out, for each thousand allocations.
#[expect(clippy::print_stdout, reason = "a measurement beside criterion's")]
fn report_costs(caching: &Caching) {
    let statistics = caching.statistics();
    let of_thousand = |count: u64| count as f64 * 1000.0 / statistics.num_allocs as f64;
    println!(
        "    of 1,000 allocations: {:.2} waits inserted, {:.1} pages mapped; asked the device {} times in all",
        of_thousand(statistics.num_waits),
        of_thousand(caching.pages_mapped()),
        statistics.num_device_allocs
    );
}

/// Two threads with a stream each, which allocate and free as fast as they can.
fn contention(c: &mut Criterion) {
    const PAIRS: u64 = 10_000;
    let mut group = c.benchmark_group("cached pairs by threads");
    for threads in [1u32, 2] {
        let allocator = CachingAllocator::new(Arc::new(LaggingDevice::new(0, false)), Options::default());
        group.throughput(Throughput::Elements(PAIRS * u64::from(threads)));
        group.bench_function(threads.to_string(), |b| {
            b.iter(|| {
                thread::scope(|scope| {
                    for stream in 0..threads {
                        let allocator = &allocator;
                        scope.spawn(move || (0..PAIRS).for_each(|_| pair(allocator, stream)));
                    }
                });
            });
        });
    }
}

criterion_group! {
    name = benches; config = support::criterion(); targets = cached_pair, contention, replays
}
criterion_main!(benches);
