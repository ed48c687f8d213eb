//! Graphs.

use std::sync::mpsc;
use std::time::Duration;

use tfrt_device::allocator::Options;
use tfrt_device::error::Status;
use tfrt_device::front::{Context, DeviceBuffer};
use tfrt_device::hal::{EventOptions, Pattern, StreamOptions};
use tfrt_host::tracing;

use super::Case;
use super::support::{Bench, VECTOR_ADD, config, fails, function, outcome, zeros};
use super::traces::take_rows;

pub(crate) const CASES: &[Case] = &[
    ("graphs/replay", replay),
    ("graphs/fork_and_join", fork_and_join),
    ("graphs/update", update),
    ("graphs/update_is_refused", update_is_refused),
    ("graphs/unjoined", unjoined),
    ("graphs/what_is_refused_meanwhile", what_is_refused_meanwhile),
    ("graphs/a_capture_that_nobody_ends", a_capture_that_nobody_ends),
    ("graphs/memory_in_use_before_a_capture", memory_in_use_before_a_capture),
    ("graphs/memory_is_waited_for_past_a_capture", memory_is_waited_for_past_a_capture),
    ("graphs/a_module_goes_during_a_capture", a_module_goes_during_a_capture),
    ("graphs/events_of_captures", events_of_captures),
    ("graphs/copies_of_host_memory", copies_of_host_memory),
    ("graphs/traced_when_launched", traced_when_launched),
];

fn replay(context: &Context) {
    let bench = Bench::new(context);
    let add = function(context, VECTOR_ADD, "vector_add");
    let (x, y) = (bench.upload(&[1f32; 64]), bench.upload(&[0f32; 64]));
    bench.stream.begin_capture().unwrap();
    for _ in 0..3 {
        bench.stream.launch(&add, &config(1, 64), &[64u32.into(), (&x).into(), (&y).into()]).unwrap();
    }
    let graph = bench.stream.end_capture().unwrap();
    assert_eq!(graph.node_count(), 3);
    assert_eq!(bench.download::<f32>(&y, 64), [0.0; 64], "captured work is not done");
    drop((x, add));
    for _ in 0..5 {
        bench.stream.launch_graph(&graph).unwrap();
    }
    assert_eq!(bench.download::<f32>(&y, 64), [15.0; 64]);
}

fn fork_and_join(context: &Context) {
    let bench = Bench::new(context);
    let side = context.create_stream(StreamOptions::default()).unwrap();
    let event = || context.create_event(EventOptions::default()).unwrap();
    let (a, b) = (bench.upload(&[0u32; 16]), bench.upload(&[0u32; 16]));
    let (fork, join) = (event(), event());
    bench.stream.begin_capture().unwrap();
    bench.stream.set(&a, 0, Pattern::U32(5), 16).unwrap();
    fork.record(&bench.stream).unwrap();
    side.wait(&fork).unwrap();
    side.copy((&b, 0), (&a, 0), 64, false).unwrap();
    join.record(&side).unwrap();
    bench.stream.wait(&join).unwrap();
    bench.stream.set(&a, 0, Pattern::U32(6), 16).unwrap();
    let graph = bench.stream.end_capture().unwrap();
    assert!(!side.is_capturing());
    bench.stream.launch_graph(&graph).unwrap();
    assert_eq!(bench.download::<u32>(&b, 16), [5; 16]);
    assert_eq!(bench.download::<u32>(&a, 16), [6; 16]);
    side.synchronize().unwrap();
}

/// The same operations with other parameters and buffers; launches that are queued do what the
/// graph was before.
fn update(context: &Context) {
    let bench = Bench::new(context);
    let add = function(context, VECTOR_ADD, "vector_add");
    let (x, y, z) = (bench.upload(&[1f32; 64]), bench.upload(&[0f32; 64]), bench.upload(&[0f32; 64]));
    let capture = |count: u32, sum: &DeviceBuffer, ones: u32| {
        bench.stream.begin_capture().unwrap();
        bench.stream.set(&x, 0, Pattern::U32(ones), 64).unwrap();
        bench.stream.launch(&add, &config(1, 64), &[count.into(), (&x).into(), sum.into()]).unwrap();
    };
    capture(64, &y, 1f32.to_bits());
    let graph = bench.stream.end_capture().unwrap();
    bench.stream.launch_graph(&graph).unwrap();
    bench.stream.launch_graph(&graph).unwrap();
    capture(32, &z, 3f32.to_bits());
    bench.stream.end_capture_into(&graph).unwrap();
    assert_eq!(graph.node_count(), 2);
    bench.stream.launch_graph(&graph).unwrap();
    assert_eq!(bench.download::<f32>(&y, 64), [2.0; 64]);
    let sum = bench.download::<f32>(&z, 64);
    assert_eq!((&sum[..32], &sum[32..]), ([3f32; 32].as_slice(), [0f32; 32].as_slice()));
}

/// Other operations, another number of them, other dependences: the graph stays as it was.
fn update_is_refused(context: &Context) {
    let bench = Bench::new(context);
    let side = context.create_stream(StreamOptions::default()).unwrap();
    let (a, b) = (bench.upload(&[1u32; 16]), bench.upload(&[2u32; 16]));
    let event = || context.create_event(EventOptions::default()).unwrap();
    bench.stream.begin_capture().unwrap();
    bench.stream.set(&a, 0, Pattern::U32(5), 16).unwrap();
    bench.stream.copy((&b, 0), (&a, 0), 64, false).unwrap();
    let graph = bench.stream.end_capture().unwrap();
    fails(bench.stream.end_capture_into(&graph), Status::IllegalState);

    bench.stream.begin_capture().unwrap();
    bench.stream.copy((&b, 0), (&a, 0), 64, false).unwrap();
    bench.stream.set(&a, 0, Pattern::U32(6), 16).unwrap();
    fails(bench.stream.end_capture_into(&graph), Status::GraphExecUpdateFailure);

    bench.stream.begin_capture().unwrap();
    bench.stream.set(&a, 0, Pattern::U32(6), 16).unwrap();
    fails(bench.stream.end_capture_into(&graph), Status::GraphExecUpdateFailure);

    let (fork, join) = (event(), event());
    bench.stream.begin_capture().unwrap();
    fork.record(&bench.stream).unwrap();
    side.wait(&fork).unwrap();
    bench.stream.set(&a, 0, Pattern::U32(6), 16).unwrap();
    side.copy((&b, 0), (&a, 0), 64, false).unwrap();
    join.record(&side).unwrap();
    bench.stream.wait(&join).unwrap();
    fails(bench.stream.end_capture_into(&graph), Status::GraphExecUpdateFailure);
    assert!(!bench.stream.is_capturing() && !side.is_capturing());

    bench.stream.launch_graph(&graph).unwrap();
    assert_eq!(bench.download::<u32>(&b, 16), [5; 16]);
    side.synchronize().unwrap();
}

fn unjoined(context: &Context) {
    let bench = Bench::new(context);
    let side = context.create_stream(StreamOptions::default()).unwrap();
    let fork = context.create_event(EventOptions::default()).unwrap();
    let a = bench.buffer(64);
    bench.stream.begin_capture().unwrap();
    fork.record(&bench.stream).unwrap();
    side.wait(&fork).unwrap();
    side.set(&a, 0, Pattern::U8(1), 64).unwrap();
    fails(bench.stream.end_capture(), Status::StreamCaptureUnjoined);
    // Both streams are as good as before.
    bench.stream.synchronize().unwrap();
    side.synchronize().unwrap();
}

fn what_is_refused_meanwhile(context: &Context) {
    let bench = Bench::new(context);
    fails(bench.stream.end_capture(), Status::IllegalState);
    bench.stream.begin_capture().unwrap();
    fails(bench.stream.begin_capture(), Status::IllegalState);
    fails(bench.stream.synchronize(), Status::StreamCaptureUnsupported);
    fails(outcome(|then| bench.stream.when_done(then)), Status::StreamCaptureUnsupported);
    fails(bench.stream.host_callback(|| ()), Status::StreamCaptureUnsupported);
    fails(bench.allocator.allocate(&bench.stream, 64, "test"), Status::StreamCaptureUnsupported);
    fails(bench.stream.query(), Status::StreamCaptureUnsupported);
    let graph = bench.stream.end_capture().unwrap();
    assert_eq!(graph.node_count(), 0);
    // What a graph uses is its own: another one's launches would use it as well.
    bench.stream.begin_capture().unwrap();
    fails(bench.stream.launch_graph(&graph), Status::StreamCaptureUnsupported);
    bench.stream.end_capture().unwrap();
    bench.stream.launch_graph(&graph).unwrap();
    bench.stream.synchronize().unwrap();
}

/// Streams that go while they are captured are gone, and so is what was recorded.
fn a_capture_that_nobody_ends(context: &Context) {
    let stream = || context.create_stream(StreamOptions::default()).unwrap();
    let (first, second) = (stream(), stream());
    let event = context.create_event(EventOptions::default()).unwrap();
    let allocator = context.create_allocator(Options::default());
    // Memory of the very stream that is captured: what is recorded keeps it.
    let buffer = allocator.allocate(&first, 64, "test").unwrap();
    first.begin_capture().unwrap();
    first.set(&buffer, 0, Pattern::U8(1), 64).unwrap();
    event.record(&first).unwrap();
    second.wait(&event).unwrap();
    second.set(&buffer, 0, Pattern::U8(2), 64).unwrap();
    drop((first, second, event, allocator, buffer));
    context.device().finish_teardown();
    assert_eq!(context.live(), tfrt_device::front::LiveCounts::default());
}

/// A stream whose work waits until the sender says so, or goes.
fn held_back(bench: &Bench) -> mpsc::Sender<()> {
    let (go, wait) = mpsc::channel::<()>();
    bench.stream.host_callback(move || wait.recv().unwrap_or_default()).unwrap();
    go
}

/// Memory that the stream still uses when its capture begins is not another stream's before that is
/// done.
fn memory_in_use_before_a_capture(context: &Context) {
    let bench = Bench::new(context);
    let other = Bench { stream: context.create_stream(StreamOptions::default()).unwrap(), ..bench.clone() };
    let first = bench.buffer(4096);
    let go = held_back(&bench);
    bench.stream.set(&first, 0, Pattern::U32(1), 1024).unwrap();
    drop(first);
    bench.stream.begin_capture().unwrap();
    // Before the capture this would be found to be done with, or would spoil the capture.
    let second = other.buffer(4096);
    other.stream.set(&second, 0, Pattern::U32(2), 1024).unwrap();
    other.stream.synchronize().unwrap();
    drop(go);
    bench.stream.end_capture().unwrap();
    bench.stream.synchronize().unwrap();
    assert_eq!(other.download::<u32>(&second, 1024), [2; 1024]);
}

/// Where there is no other memory it is waited for, by the stream that wants it, which does not
/// come into the capture.
fn memory_is_waited_for_past_a_capture(context: &Context) {
    let bytes_limit = Some(2 << 20);
    let allocator = context.create_allocator(Options { bytes_limit, ..Options::default() });
    let bench = Bench { allocator, ..Bench::new(context) };
    let other = Bench { stream: context.create_stream(StreamOptions::default()).unwrap(), ..bench.clone() };
    let count = (2usize << 20) / 4;
    let first = bench.buffer(4 * count);
    let go = held_back(&bench);
    bench.stream.set(&first, 0, Pattern::U32(1), count as u64).unwrap();
    drop(first);
    bench.stream.begin_capture().unwrap();
    let second = other.buffer(4 * count);
    assert!(!other.stream.is_capturing());
    other.stream.set(&second, 0, Pattern::U32(2), count as u64).unwrap();
    let done = other.context.create_event(EventOptions::default()).unwrap();
    done.record(&other.stream).unwrap();
    drop(go);
    done.synchronize().unwrap();
    bench.stream.end_capture().unwrap();
    assert_eq!(other.download::<u32>(&second, count), vec![2; count]);
    drop(second);
    allocator_is_sound(&other);
}

/// That the cache can still be cleared, which asks for every fence.
fn allocator_is_sound(bench: &Bench) {
    bench.allocator.clear_cache().unwrap();
    assert_eq!(bench.allocator.statistics().bytes_in_use, 0);
}

/// The last handle of a variable is dropped while its stream is captured. The variable is freed when
/// the stream has passed its last use.
fn a_module_goes_during_a_capture(context: &Context) {
    const VARIABLE: &str =
        ".version 6.4\n.target sm_52\n.address_size 64\n.visible .global .align 4 .b8 table[64];\n";
    let bench = Bench::new(context);
    let module = context.load_module(VARIABLE.as_bytes()).unwrap();
    let table = module.global("table").unwrap();
    let go = held_back(&bench);
    bench.stream.set(&table, 0, Pattern::U32(7), 16).unwrap();
    bench.stream.begin_capture().unwrap();
    drop((table, module));
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(context.live().modules, 1, "the stream has not passed the last use");
    drop(go);
    assert_eq!(bench.stream.end_capture().unwrap().node_count(), 0);
    bench.stream.synchronize().unwrap();
    context.device().finish_teardown();
    assert_eq!(context.live().modules, 0);
}

/// An event that was recorded in a capture marks nothing outside of it, and nothing at all after the
/// capture has ended.
fn events_of_captures(context: &Context) {
    let bench = Bench::new(context);
    let side = context.create_stream(StreamOptions::default()).unwrap();
    let event = || context.create_event(EventOptions { timing: true, ..EventOptions::default() }).unwrap();
    let (inside, outside) = (event(), event());
    outside.record(&bench.stream).unwrap();
    bench.stream.begin_capture().unwrap();
    inside.record(&bench.stream).unwrap();
    fails(inside.query(), Status::StreamCaptureUnsupported);
    fails(inside.elapsed_ms(&outside), Status::StreamCaptureUnsupported);
    fails(bench.stream.wait(&outside), Status::StreamCaptureUnsupported);
    side.begin_capture().unwrap();
    fails(side.wait(&inside), Status::StreamCaptureUnsupported);
    side.end_capture().unwrap();
    side.wait(&inside).unwrap();
    // It goes on until the stream ends it that it began on.
    fails(side.end_capture(), Status::IllegalState);
    assert!(side.is_capturing() && bench.stream.is_capturing());
    bench.stream.end_capture().unwrap();
    fails(side.wait(&inside), Status::StreamCaptureUnsupported);
    assert!(!side.is_capturing());
    fails(inside.query(), Status::StreamCaptureUnsupported);
    side.synchronize().unwrap();
    // Recorded anew it is an event like any other.
    inside.record(&bench.stream).unwrap();
    side.wait(&inside).unwrap();
    side.synchronize().unwrap();
    assert!(inside.query().unwrap());
}

/// Pinned memory is copied from and to anew by each launch, and held meanwhile; other memory only
/// where a device copies that itself.
fn copies_of_host_memory(context: &Context) {
    let bench = Bench::new(context);
    let buffer = bench.buffer(256);
    let (from, to) = (context.allocate_pinned(256).unwrap(), context.allocate_pinned(256).unwrap());
    bench.stream.begin_capture().unwrap();
    bench.stream.copy_from_host(&buffer, 0, &from, 0, 256).unwrap();
    bench.stream.copy_to_host(&to, 0, &buffer, 0, 256).unwrap();
    let pageable = bench.stream.copy_from_host(&buffer, 0, &zeros(256), 0, 256);
    if context.device().properties().pageable_copies {
        pageable.unwrap();
    } else {
        fails(pageable, Status::StreamCaptureUnsupported);
    }
    let graph = bench.stream.end_capture().unwrap();
    for byte in 1..4 {
        from.write(0).unwrap().fill(byte);
        let go = held_back(&bench);
        bench.stream.launch_graph(&graph).unwrap();
        assert!(from.write(0).is_err() && to.read(0).is_err(), "the graph has not run");
        drop(go);
        bench.stream.synchronize().unwrap();
        assert_eq!(to.read(0).unwrap()[..], [byte; 256]);
    }
}

fn traced_when_launched(context: &Context) {
    let bench = Bench::new(context);
    let a = bench.upload(&[1u8; 4096]);
    bench.stream.synchronize().unwrap();
    drop(tracing::take());
    tracing::enable();
    bench.stream.begin_capture().unwrap();
    bench.stream.set(&a, 0, Pattern::U32(7), 1024).unwrap();
    let graph = bench.stream.end_capture().unwrap();
    bench.stream.synchronize().unwrap();
    assert!(take_rows().is_empty(), "captured work has not run");
    bench.stream.launch_graph(&graph).unwrap();
    bench.stream.synchronize().unwrap();
    tracing::disable();
    let names: Vec<_> = take_rows().concat().into_iter().map(|event| event.name).collect();
    // A backend that records its work shows that of the graph.
    assert!(["launch of a graph", "memory set, 4096 bytes"].contains(&&*names.concat()), "{names:?}");
}
