//! What a value costs: made, produced, waited for, forwarded.

mod support;

use std::{
    hint::black_box,
    sync::atomic::{AtomicUsize, Ordering},
};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tfrt::host::{AsyncValue, IndirectPromise, Promise};

static WOKEN: AtomicUsize = AtomicUsize::new(0);

fn wake() {
    WOKEN.fetch_add(1, Ordering::Relaxed);
}

fn values(c: &mut Criterion) {
    let mut group = c.benchmark_group("async_value");
    group.bench_function("scalar", |b| b.iter(|| AsyncValue::new(black_box(1i32))));
    group.bench_function("cell", |b| b.iter(|| AsyncValue::new(black_box(String::new()))));
    let shared = AsyncValue::new(String::new());
    group.bench_function("clone and drop a cell", |b| b.iter(|| black_box(&shared).clone()));
    group.bench_function("promise, emplace", |b| {
        b.iter(|| {
            let (promise, value) = Promise::new();
            promise.emplace(black_box(1i32));
            value
        });
    });
    group.bench_function("and_then, available", |b| b.iter(|| black_box(&shared).and_then(wake)));
    group.bench_function("and_then, pending", |b| {
        b.iter(|| {
            let (promise, value) = Promise::new();
            value.and_then(wake);
            promise.emplace(black_box(1i32));
        });
    });
    group.bench_function("forward to an available value", |b| {
        b.iter(|| {
            let (promise, value) = IndirectPromise::new();
            promise.forward_to(black_box(AsyncValue::new(1i32)));
            value
        });
    });
    group.bench_function("forward to a pending value", |b| {
        b.iter(|| {
            let (target, later) = Promise::new();
            let (promise, value) = IndirectPromise::new();
            promise.forward_to(later.into_untyped());
            target.emplace(black_box(1i32));
            value
        });
    });
}

/// Values each forwarded to the next, so that the last one produced makes all of them available.
fn forward_chain(c: &mut Criterion) {
    const LINKS: u64 = 1000;
    let mut group = c.benchmark_group("forward chain");
    group.throughput(Throughput::Elements(LINKS));
    group.bench_function("1000 links", |b| {
        b.iter(|| {
            let (last, later) = Promise::new();
            let mut value: AsyncValue = later.into_untyped();
            for _ in 0..LINKS {
                let (promise, next) = IndirectPromise::new();
                promise.forward_to(value);
                value = next;
            }
            last.emplace(1i32);
            value
        });
    });
}

criterion_group! { name = benches; config = support::criterion(); targets = values, forward_chain }
criterion_main!(benches);
