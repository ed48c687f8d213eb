//! What a kernel costs: from the call of a function until its result is there and the queue is
//! quiet, divided by the kernels of the program.

#[path = "support/programs.rs"]
mod programs;
mod support;

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use programs::{Program, registry, serial};
use tfrt::host::{
    AsyncValue, BefFile, ExecutionContext, FunctionRef, HostContext, RequestContext, ResourceContext, Status,
    allocator::SystemAllocator, work_queue,
};
use tfrt_bef::{FunctionKind, VerifiedBef};

/// Asynchronous kernels that all have the same arguments.
fn parallel(kernels: usize) -> Vec<u8> {
    let mut p = Program::new();
    let one = p.parameter();
    let sums: Vec<_> = (0..kernels).map(|_| p.kernel("tfrt_test.async_add.i32", &[one, one])).collect();
    p.finish(FunctionKind::Async, *sums.last().unwrap_or(&one))
}

/// Asynchronous kernels that all have the same arguments, and the sum of what they give, added
/// pairwise.
fn star(kernels: usize) -> Vec<u8> {
    let mut p = Program::new();
    let one = p.parameter();
    let mut sums: Vec<_> = (0..kernels).map(|_| p.kernel("tfrt_test.async_add.i32", &[one, one])).collect();
    while sums.len() > 1 {
        let pairs = sums.chunks(2);
        sums = pairs
            .map(|pair| match *pair {
                [left, right] => p.kernel("tfrt.add.i32", &[left, right]),
                _ => pair[0],
            })
            .collect();
    }
    p.finish(FunctionKind::Async, sums[0])
}

fn load(file: Vec<u8>) -> Arc<BefFile> {
    let verified = VerifiedBef::new(file).expect("a program that verifies");
    BefFile::load(verified, &registry()).expect("known kernels")
}

fn host(queue: &str) -> Arc<HostContext> {
    HostContext::builder(work_queue::from_str(queue).expect("a queue"), Arc::new(SystemAllocator)).build()
}

/// A context to call functions of `program` from, on a host of its own.
fn context(queue: &str, program: &Arc<BefFile>) -> ExecutionContext {
    let request = RequestContext::new(host(queue), Arc::new(ResourceContext::new()));
    ExecutionContext::new(request, program.clone())
}

/// Calls a function with one; returns when its result is there and the queue has nothing left to
/// do.
// Not inlined, so that a profile tells how often it was called.
#[inline(never)]
fn call_and_wait(function: FunctionRef<'_>, cx: &ExecutionContext) -> i32 {
    let result = call(function, cx);
    if result.status() == Status::Pending {
        cx.host().await_values(std::slice::from_ref(&result)).expect("not on a compute thread");
    }
    cx.host().quiesce().expect("not on a compute thread");
    result.get().copied().unwrap_or_default()
}

/// Calls a function with one; its result may be pending.
#[inline(never)]
fn call(function: FunctionRef<'_>, cx: &ExecutionContext) -> AsyncValue {
    let mut call = function.call(cx);
    call.argument(AsyncValue::new(1i32));
    let mut result = AsyncValue::new(0i32);
    call.run(|_, value| result = value);
    result
}

/// Makes a program of one shape with the given number of kernels. A star has this many asynchronous
/// kernels, and as many more that add up their results.
type Build = fn(usize) -> Vec<u8>;

fn shapes(c: &mut Criterion) {
    let serial: Build = |kernels| serial(kernels, FunctionKind::Async);
    for (name, build) in [("serial", serial), ("parallel", parallel), ("star", star)] {
        let mut group = c.benchmark_group(name);
        for count in [100, 1000] {
            let program = load(build(count));
            group.throughput(Throughput::Elements(count as u64));
            for queue in ["s", "mstd:2"] {
                let cx = context(queue, &program);
                let f = program.function("f").expect("it was defined");
                let id = BenchmarkId::new(queue.replace(':', ""), count);
                group.bench_function(id, |b| b.iter(|| call_and_wait(f, &cx)));
            }
        }
    }
}

/// Programs whose results are there when the call returns: nothing is waited for.
fn calls(c: &mut Criterion) {
    let cases = [
        ("one add, call and return", 1, FunctionKind::Async),
        ("synchronous, 10 kernels", 10, FunctionKind::Sync),
        ("synchronous, 100 kernels", 100, FunctionKind::Sync),
    ];
    let mut group = c.benchmark_group("call");
    for (name, count, kind) in cases {
        let program = load(serial(count, kind));
        let cx = context("s", &program);
        let f = program.function("f").expect("it was defined");
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(name, |b| b.iter(|| call(f, &cx)));
    }
}

criterion_group! { name = benches; config = support::criterion(); targets = shapes, calls }
criterion_main!(benches);
