//! What device memory costs: a cached block handed out and taken back, and the allocations of whole programs, for ours
//! and two baselines; and how much is reserved for them.

#[path = "support/allocations.rs"]
mod allocations;
mod support;

use std::hint::black_box;
use std::sync::Arc;

use allocations::{Bump, Caching, FirstFit, LaggingDevice, Replay, traces};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tfrt_cuda::allocator::{CachingAllocator, Options, Origin, Request};

/// Calls by which the simulated device is behind the host.
const LAG: u64 = 20;

/// A block that is in the cache.
fn cached_pair(c: &mut Criterion) {
    let mut group = c.benchmark_group("cached pair");
    group.throughput(Throughput::Elements(1));
    for (name, streams) in [("one stream", 1), ("two streams by turns", 2)] {
        let allocator = CachingAllocator::new(Arc::new(LaggingDevice::new(0)), Options::default());
        let mut turn = 0;
        group.bench_function(name, |b| {
            b.iter(|| {
                turn = (turn + 1) % streams;
                let request =
                    Request { stream: turn, bytes: black_box(100_000), origin: Origin::label("bench") };
                let allocation = allocator.allocate(request).expect("memory without end");
                allocator.free(black_box(allocation)).expect("its own memory");
            });
        });
    }
}

/// Whole programs, replayed again and again, as a training loop does.
fn replays(c: &mut Criterion) {
    for trace in traces() {
        let mut group = c.benchmark_group(trace.name);
        group.throughput(Throughput::Elements(trace.pairs()));
        let ours: Box<dyn Replay> = Box::new(Caching::new(LAG));
        let baselines: [(&str, Box<dyn Replay>); 3] = [
            ("caching", ours),
            ("first fit", Box::new(FirstFit::default())),
            ("bump", Box::new(Bump::default())),
        ];
        for (name, mut allocator) in baselines {
            allocator.replay(&trace);
            group.bench_function(name, |b| b.iter(|| allocator.replay(&trace)));
            report(name, allocator.peak_reserved(), trace.peak_live());
        }
    }
}

#[expect(clippy::print_stdout, reason = "a measurement beside criterion's")]
fn report(name: &str, reserved: u64, live: u64) {
    println!("    {name}: {} MiB reserved, {:.3} of the peak", reserved >> 20, reserved as f64 / live as f64);
}

criterion_group! {
    name = benches; config = support::criterion(); targets = cached_pair, replays
}
criterion_main!(benches);
