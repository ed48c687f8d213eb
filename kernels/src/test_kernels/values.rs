//! Values with observable lifetimes: they print when they are created and destroyed, are counted,
//! or are changed in place.

use std::{
    alloc::Layout,
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicI32, AtomicU32, Ordering},
    },
};

use parking_lot::Mutex;
use tfrt_host::{
    Arg, AsyncValue, Attr, Chain, Diagnostic, ErrorCode, ExecutionContext, HostContext, KernelRegistry,
    value_type,
};

/// Prints to the host's output while the host exists. Values do not keep it alive.
struct Voice(Weak<HostContext>);

impl Voice {
    fn of(cx: &ExecutionContext) -> Self {
        Self(Arc::downgrade(cx.host()))
    }

    fn say(&self, text: fmt::Arguments<'_>) {
        if let Some(host) = self.0.upgrade() {
            host.print(text);
        }
    }
}

/// An integer that prints when it is created and destroyed.
struct TrackedValue {
    value: i32,
    voice: Voice,
}
value_type!(TrackedValue, "!vt.value");

impl TrackedValue {
    fn new(value: i32, cx: &ExecutionContext) -> Self {
        let voice = Voice::of(cx);
        // A value is created and then moved to the runtime's storage.
        voice.say(format_args!("constructed vt.value({value})\nmove constructed vt.value({value})\n"));
        Self { value, voice }
    }
}

impl Drop for TrackedValue {
    fn drop(&mut self) {
        self.voice.say(format_args!("destroyed vt.value({})\n", self.value));
    }
}

/// A resource that is released by a kernel, or else with its value.
struct TestResource(Voice);

impl Drop for TestResource {
    fn drop(&mut self) {
        self.0.say(format_args!("Destroyed TestResource\n"));
    }
}

struct ResourceHolder(Mutex<Option<TestResource>>);
value_type!(ResourceHolder, "!tfrt.test.resource");

struct AtomicCounter(AtomicI32);
value_type!(AtomicCounter, "!test.atomic.i32");

#[derive(Clone, Copy)]
struct Coordinate {
    x: i32,
    y: i32,
}
value_type!(Coordinate, "!my.coordinate");

pub(super) fn register(registry: &mut KernelRegistry) {
    register_tracked(registry);
    register_atomic(registry);
    register_resources(registry);
    registry.add("tfrt_tutorial.create_coordinate", |x: i32, y: i32| Coordinate { x, y }).doc("A point.");
    registry
        .add("tfrt_tutorial.print_coordinate", |point: Coordinate, _chain: Chain, cx: &ExecutionContext| {
            cx.host().print(format_args!("({}, {})\n", point.x, point.y));
            Chain
        })
        .side_effecting()
        .doc("Prints a point on a line of its own.");
}

fn register_tracked(registry: &mut KernelRegistry) {
    registry
        .add("vt.constant", |value: Attr<'_, i32>, cx: &ExecutionContext| TrackedValue::new(value.0, cx))
        .doc("A value that prints when it is made and destroyed.");
    registry
        .add("vt.add", |a: Arg<'_, TrackedValue>, b: Arg<'_, TrackedValue>, cx: &ExecutionContext| {
            TrackedValue::new(a.value.wrapping_add(b.value), cx)
        })
        .doc("Sum of two values, itself one that prints when it is made and destroyed.");
    registry
        .add("vt.print", |value: Arg<'_, TrackedValue>, _chain: Chain, cx: &ExecutionContext| {
            cx.host().print(format_args!("print vt_value({})\n", value.value));
            Chain
        })
        .side_effecting()
        .doc("Prints a value on a line of its own.");
    registry
        .add("tfrt_test.share_to_two", |value: Arg<'_, AsyncValue>| (value.clone(), value.clone()))
        .aliases(0, 0)
        .aliases(1, 0)
        .doc("The argument, twice, without a copy.");
}

fn register_atomic(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_test.atomic.create.i32", || AtomicCounter(AtomicI32::new(0)))
        .doc("A counter of zero, which kernels may change at the same time.");
    registry
        .add("tfrt_test.atomic.inc.i32", |counter: Arg<'_, AtomicCounter>, _chain: Chain| {
            counter.0.fetch_add(1, Ordering::Relaxed);
            Chain
        })
        .mutates(&[0])
        .doc("Adds one to the counter.");
    registry
        .add("tfrt_test.atomic.add.i32", |counter: Arg<'_, AtomicCounter>, value: i32, _chain: Chain| {
            counter.0.fetch_add(value, Ordering::Relaxed);
            Chain
        })
        .mutates(&[0])
        .doc("Adds a number to the counter, wrapping.");
    registry
        .add("tfrt_test.atomic.get.i32", |counter: Arg<'_, AtomicCounter>, _chain: Chain| {
            (counter.0.load(Ordering::Relaxed), Chain)
        })
        .reads(&[0])
        .doc("What the counter is at.");
}

fn register_resources(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_test.allocate_resource", |_chain: Chain, cx: &ExecutionContext| {
            cx.host().print(format_args!("Allocated TestResource\n"));
            (ResourceHolder(Mutex::new(Some(TestResource(Voice::of(cx))))), Chain)
        })
        .side_effecting()
        .doc("A resource that prints when it is made and destroyed.");
    registry
        .add(
            "tfrt_test.deallocate_resource",
            |holder: Arg<'_, ResourceHolder>, _chain: Chain, cx: &ExecutionContext| {
                let resource = holder.0.lock().take();
                drop(resource);
                cx.host().print(format_args!("tfrt_test.deallocate_resource done\n"));
                Chain
            },
        )
        .mutates(&[0])
        .side_effecting()
        .doc("Destroys a resource before its value goes.");
    registry
        .add("tfrt_test.use_sample_shared_context", |_chain: Chain, cx: &ExecutionContext| {
            (shared_name(cx), Chain)
        })
        .doc("The name of something of which each host has one, numbered by how many were made before.");
    registry
        .add("tfrt_test.memory_leak_one_int32", |cx: &ExecutionContext| {
            // Deliberately leaked.
            cx.host()
                .allocator()
                .allocate(Layout::new::<i32>())
                .map(drop)
                .ok_or_else(|| Diagnostic::new(ErrorCode::OutOfMemory, "no memory to leak"))
        })
        .side_effecting()
        .doc("Allocates four bytes and never gives them back.");
}

/// The number of a host's shared contexts that were created.
#[derive(Default)]
struct Made(AtomicU32);

struct SampleSharedContext {
    name: String,
}

fn shared_name(cx: &ExecutionContext) -> String {
    let made = cx.host().shared_context(Made::default);
    let shared = cx.host().shared_context(|| SampleSharedContext {
        name: format!("sample_shared_context{}", made.0.fetch_add(1, Ordering::Relaxed)),
    });
    shared.name.clone()
}
