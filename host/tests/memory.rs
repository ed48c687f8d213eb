//! What programs of a million kernels cost in memory, and what a call allocates once the runtime is
//! warm.
//!
//! The process's allocator is counted, so this file has a test binary, and one test, of its own.

#![expect(unsafe_code, reason = "the global allocator is replaced by one that counts")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tfrt_bef::{
    BefBuilder, FunctionBuilder, FunctionKind, KernelSpec, OptionalSections, Register, VerifiedBef,
};
use tfrt_host::{
    AsyncValue, BefFile, ExecutionContext, HostContext, KernelRegistry, RequestContext, ResourceContext,
    allocator::SystemAllocator, work_queue,
};

/// The system's allocator, with every byte counted.
struct Counting;

static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

fn count(size: usize) {
    let live = LIVE_BYTES.fetch_add(size, Ordering::Relaxed) + size;
    PEAK_BYTES.fetch_max(live, Ordering::Relaxed);
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
}

// SAFETY: all calls are passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is the same.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Growing a block may need room for both at once.
        count(size);
        LIVE_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is the same.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// Calls `body`; gives what it gives, and the most bytes that were alive meanwhile beyond those
/// alive before.
fn peak_bytes<R>(body: impl FnOnce() -> R) -> (R, usize) {
    let before = LIVE_BYTES.load(Ordering::Relaxed);
    PEAK_BYTES.store(before, Ordering::Relaxed);
    let result = body();
    (result, PEAK_BYTES.load(Ordering::Relaxed) - before)
}

const KERNELS: usize = 1_000_000;
/// Beyond the file itself.
const MAX_BYTES_PER_KERNEL: usize = 300;

/// A function of one parameter and `count` kernels: each adds to the result of the one before
/// (`chained`), or all of them add the parameter to itself.
fn program(kernel: &str, count: usize, chained: bool) -> Vec<u8> {
    let mut bef = BefBuilder::new(OptionalSections::Keep);
    let (i32_type, kernel) = (bef.type_name("i32"), bef.kernel(kernel));
    let location = bef.location("memory.mlir", 1, 1);
    let mut body = FunctionBuilder::new(location, &[i32_type]);
    let parameter: Register = body.arguments()[0];
    let mut last = parameter;
    for _ in 0..count {
        let left = if chained { last } else { parameter };
        last = body.kernel(&KernelSpec {
            kernel,
            location,
            arguments: &[left, parameter],
            attributes: &[],
            functions: &[],
            result_types: &[i32_type],
            nonstrict: false,
        })[0];
    }
    let function = bef.declare_function("f");
    bef.define_function(function, FunctionKind::Async, &body, &[last]);
    bef.finish().expect("a program that can be written")
}

fn registry() -> KernelRegistry {
    let mut registry = KernelRegistry::new();
    registry.add("add", |a: i32, b: i32| a.wrapping_add(b));
    registry
        .add("async_add", |a: i32, b: i32, cx: &ExecutionContext| cx.spawn(move || Ok(a.wrapping_add(b))));
    registry
}

fn load(file: Vec<u8>) -> Arc<BefFile> {
    let verified = VerifiedBef::new(file).expect("a program that verifies");
    BefFile::load(verified, &registry()).expect("known kernels")
}

fn context(queue: &str, program: &Arc<BefFile>) -> ExecutionContext {
    let queue = work_queue::from_str(queue).expect("a queue");
    let host = HostContext::builder(queue, Arc::new(SystemAllocator)).build();
    let request = RequestContext::new(host, Arc::new(ResourceContext::new()));
    ExecutionContext::new(request, program.clone())
}

/// Calls `f` with one and waits until all work is done.
fn call(program: &Arc<BefFile>, cx: &ExecutionContext) -> Option<i32> {
    let mut call = program.function("f").expect("it was defined").call(cx);
    call.argument(AsyncValue::new(1i32));
    let mut result = None;
    call.run(|_, value| result = Some(value));
    cx.host().quiesce().expect("not on a compute thread");
    result.and_then(|value| value.get().copied())
}

/// Bytes per kernel at the peak of verifying and loading a file, and of running it.
fn bytes_per_kernel(file: Vec<u8>, queue: &str, expected: i32) -> (usize, usize) {
    let before = LIVE_BYTES.load(Ordering::Relaxed);
    let (program, to_load) = peak_bytes(|| load(file));
    let loaded = LIVE_BYTES.load(Ordering::Relaxed) - before;
    let (result, to_run) = peak_bytes(|| call(&program, &context(queue, &program)));
    assert_eq!(result, Some(expected));
    (to_load / KERNELS, (loaded + to_run) / KERNELS)
}

/// Allocations of one call of a warm runtime.
fn allocations_per_call(file: Vec<u8>, queue: &str) -> usize {
    let program = load(file);
    let cx = context(queue, &program);
    (0..10).for_each(|_| assert!(call(&program, &cx).is_some()));
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    call(&program, &cx);
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

#[test]
fn kernels_cost_little_memory() {
    let cases = [
        ("s", "add", true),
        ("s", "async_add", false),
        ("mstd:2", "async_add", false),
        // Here every kernel but the first waits, all at once.
        ("s", "async_add", true),
    ];
    for (queue, kernel, chained) in cases {
        let expected = if chained { KERNELS as i32 + 1 } else { 2 };
        let (load, run) = bytes_per_kernel(program(kernel, KERNELS, chained), queue, expected);
        println!("{kernel} on {queue}, chained: {chained}: {load} bytes a kernel to load, {run} to run");
        assert!(
            load.max(run) < MAX_BYTES_PER_KERNEL,
            "{kernel} on {queue}, chained: {chained}: {load} bytes a kernel to load, {run} to run"
        );
    }
    // Kernels that are done at once, or that run later but wait for none, allocate nothing once the
    // runtime is warm.
    for (kernel, chained) in [("add", true), ("async_add", false), ("async_add", true)] {
        assert_eq!(allocations_per_call(program(kernel, 100, chained), "s"), 0, "{kernel}");
    }
}
