//! What a task costs: added and run with many others, and alone on a queue that sleeps.

mod support;

use std::{
    hint,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tfrt::host::work_queue::{self, Latch, Task, parallel_for_scoped};

const TASKS: usize = 1000;

/// Tasks added by a thread that is none of the queue's, until all have run.
fn throughput(c: &mut Criterion) {
    let mut group = c.benchmark_group("add_task");
    group.throughput(Throughput::Elements(TASKS as u64));
    for description in ["s", "mstd:1", "mstd:2"] {
        let queue = work_queue::from_str(description).expect("a queue");
        let count = Arc::new(AtomicUsize::new(0));
        group.bench_function(description.replace(':', ""), |b| {
            b.iter(|| {
                for _ in 0..TASKS {
                    let count = count.clone();
                    queue.add_task(Task::new(move || {
                        count.fetch_add(1, Ordering::Relaxed);
                    }));
                }
                queue.quiesce();
            });
        });
    }
}

/// From adding a task to a queue whose threads sleep until the task runs.
fn wake_up(c: &mut Criterion) {
    /// Longer than threads look for work before they sleep.
    const IDLE: Duration = Duration::from_micros(500);
    let mut group = c.benchmark_group("wake-up from idle");
    for description in ["mstd:1", "mstd:2"] {
        let queue = work_queue::from_str(description).expect("a queue");
        group.bench_function(description.replace(':', ""), |b| {
            b.iter_custom(|iterations| {
                let mut total = Duration::ZERO;
                for _ in 0..iterations {
                    thread::sleep(IDLE);
                    let ran = Arc::new(AtomicBool::new(false));
                    let runs = ran.clone();
                    let start = Instant::now();
                    queue.add_task(Task::new(move || runs.store(true, Ordering::Release)));
                    while !ran.load(Ordering::Acquire) {
                        hint::spin_loop();
                    }
                    total += start.elapsed();
                }
                total
            });
        });
    }
}

/// A caller that sleeps until a task opens its latch.
fn await_latch(c: &mut Criterion) {
    let mut group = c.benchmark_group("await a task");
    for description in ["s", "mstd:1", "mstd:2"] {
        let queue = work_queue::from_str(description).expect("a queue");
        group.bench_function(description.replace(':', ""), |b| {
            b.iter(|| {
                let latch = Arc::new(Latch::new(1));
                let opens = latch.clone();
                queue.add_task(Task::new(move || opens.count_down()));
                queue.await_latch(&latch);
            });
        });
    }
}

/// A loop whose blocks do nothing.
fn parallel_loop(c: &mut Criterion) {
    let mut group = c.benchmark_group("parallel_for");
    for description in ["s", "mstd:2"] {
        let queue = work_queue::from_str(description).expect("a queue");
        group.bench_function(description.replace(':', ""), |b| {
            b.iter(|| {
                parallel_for_scoped(&*queue, 64, 1, &|range| {
                    hint::black_box(range);
                });
            });
        });
    }
}

criterion_group! {
    name = benches; config = support::criterion(); targets = throughput, wake_up, await_latch, parallel_loop
}
criterion_main!(benches);
