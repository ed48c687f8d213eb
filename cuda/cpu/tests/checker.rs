//! The checker on a CPU device, through the front: what a program forgot is found in every run.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::sync::{Arc, mpsc};

use tfrt_cpu::CpuOptions;
use tfrt_device::allocator::Options;
use tfrt_device::checker::{Checker, Mistake, Report};
use tfrt_device::front::{
    Argument, Context, DeviceAllocator, DeviceBuffer, Platform, PlatformOptions, Stream,
};
use tfrt_device::hal::{EventOptions, LaunchConfig, Pattern, StreamOptions};
use tfrt_device::observer::Observer;
use tfrt_host::host_buffer::HostBuffer;

const BYTES: u64 = 1 << 16;

/// A device, two streams, and an allocator.
struct Setup {
    checker: Arc<Checker>,
    context: Context,
    first: Stream,
    second: Stream,
    allocator: DeviceAllocator,
}

impl Setup {
    fn new() -> Self {
        let checker = Checker::new();
        let observer: Option<Arc<dyn Observer>> = Some(checker.clone());
        let options =
            CpuOptions { memory_bytes: 64 << 20, observer: observer.clone(), ..CpuOptions::default() };
        let backend = tfrt_cpu::open(&options).unwrap();
        let options = PlatformOptions { observer, ..PlatformOptions::default() };
        let platform = Platform::with_options(backend, &options).unwrap();
        let context = platform.device(0).unwrap().create_context().unwrap();
        let stream = || context.create_stream(StreamOptions::default()).unwrap();
        let (first, second) = (stream(), stream());
        let allocator = context.create_allocator(Options::default());
        Self { checker, context, first, second, allocator }
    }

    /// Ends the program and gives what was found.
    fn finish(self) -> Vec<Mistake> {
        self.first.synchronize().unwrap();
        self.second.synchronize().unwrap();
        let Self { checker, context, first, second, allocator } = self;
        drop((first, second, allocator, context));
        checker.finish().iter().map(|report| report.mistake).collect()
    }
}

/// Fills a buffer on one stream and reads it on the other; the event between them may be forgotten.
fn produce_and_consume(with_event: bool) -> Vec<Mistake> {
    let setup = Setup::new();
    let Setup { context, first, second, allocator, .. } = &setup;
    let from = allocator.allocate(first, BYTES as i64, "from").unwrap();
    let to = allocator.allocate(second, BYTES as i64, "to").unwrap();
    first.set(&from, 0, Pattern::U8(7), BYTES).unwrap();
    if with_event {
        let event = context.create_event(EventOptions::default()).unwrap();
        event.record(first).unwrap();
        second.wait(&event).unwrap();
    }
    second.copy((&to, 0), (&from, 0), BYTES, false).unwrap();
    drop((from, to));
    setup.finish()
}

#[test]
fn a_forgotten_event_is_found_in_every_run() {
    for _ in 0..20 {
        assert_eq!(produce_and_consume(false), [Mistake::Race]);
        assert_eq!(produce_and_consume(true), []);
    }
}

#[test]
fn work_the_host_waited_for_is_ordered() {
    let setup = Setup::new();
    let buffer = setup.allocator.allocate(&setup.first, BYTES as i64, "buffer").unwrap();
    setup.first.set(&buffer, 0, Pattern::U8(7), BYTES).unwrap();
    setup.first.synchronize().unwrap();
    let host = HostBuffer::from_vec(vec![0u8; BYTES as usize]);
    let copied = setup.second.copy_to_host(&host, 0, &buffer, 0, BYTES).unwrap();
    let (sender, receiver) = mpsc::channel();
    copied.when_done(move |outcome| sender.send(outcome).unwrap()).unwrap();
    receiver.recv().unwrap().unwrap();
    // The copy was waited for by its completion alone.
    setup.first.set(&buffer, 0, Pattern::U8(8), BYTES).unwrap();
    drop(buffer);
    assert_eq!(setup.finish(), []);
}

#[test]
fn memory_reused_between_streams_is_in_order() {
    let setup = Setup::new();
    for round in 0..20 {
        let (here, there) =
            if round % 2 == 0 { (&setup.first, &setup.second) } else { (&setup.second, &setup.first) };
        let buffers: Vec<_> =
            (0..5).map(|_| setup.allocator.allocate(here, 3 << 20, "buffer").unwrap()).collect();
        for buffer in &buffers {
            here.set(buffer, 0, Pattern::U32(round), 100).unwrap();
        }
        let event = setup.context.create_event(EventOptions::default()).unwrap();
        event.record(here).unwrap();
        there.wait(&event).unwrap();
        for buffer in &buffers {
            there.set(buffer, 0, Pattern::U32(round), 100).unwrap();
        }
    }
    assert_eq!(setup.finish(), []);
}

#[test]
fn memory_that_was_never_written_is_not_copied() {
    let setup = Setup::new();
    let from = setup.allocator.allocate(&setup.first, BYTES as i64, "from").unwrap();
    let to = setup.allocator.allocate(&setup.first, BYTES as i64, "to").unwrap();
    setup.first.set(&from, 0, Pattern::U8(1), BYTES / 2).unwrap();
    setup.first.copy((&to, 0), (&from, 0), BYTES, false).unwrap();
    drop((from, to));
    assert_eq!(setup.finish(), [Mistake::Uninitialized]);
}

#[test]
fn an_event_that_was_not_recorded_is_no_order() {
    let setup = Setup::new();
    let event = setup.context.create_event(EventOptions::default()).unwrap();
    setup.second.wait(&event).unwrap();
    drop(event);
    assert_eq!(setup.finish(), [Mistake::NeverRecorded]);
}

#[test]
fn leaks_are_found() {
    let setup = Setup::new();
    let event = setup.context.create_event(EventOptions::default()).unwrap();
    let buffer = setup.allocator.allocate(&setup.first, BYTES as i64, "buffer").unwrap();
    let stream = setup.context.create_stream(StreamOptions::default()).unwrap();
    std::mem::forget((event, buffer, stream));
    let leaks = setup.finish();
    for leak in [Mistake::LeakedStream, Mistake::LeakedEvent, Mistake::LeakedBuffer] {
        assert!(leaks.contains(&leak), "{leaks:?}");
    }
}

/// Doubles the numbers of a buffer, one for each thread of its one block.
const DOUBLE: &str = "
    .version 7.0
    .target sm_70
    .address_size 64
    .visible .entry double(.param .u64 numbers)
    {
        .reg .b64 %rd<5>;
        .reg .b32 %r<4>;
        ld.param.u64 %rd1, [numbers];
        cvta.to.global.u64 %rd2, %rd1;
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd4, %rd2, %rd3;
        ld.global.u32 %r2, [%rd4];
        add.u32 %r3, %r2, %r2;
        st.global.u32 [%rd4], %r3;
        ret;
    }";

/// A launch on the first stream doubles as many numbers as it has threads; the second one copies
/// the first 256 bytes.
fn launch_and_copy(threads: u32, offset: u64) -> Vec<Mistake> {
    let setup = Setup::new();
    let Setup { context, first, second, allocator, .. } = &setup;
    let module = context.load_module(DOUBLE.as_bytes()).unwrap();
    let double = module.function("double").unwrap();
    let numbers = allocator.allocate(first, BYTES as i64, "numbers").unwrap();
    let copy = allocator.allocate(second, BYTES as i64, "copy").unwrap();
    first.set(&numbers, 0, Pattern::U32(1), 128).unwrap();
    first.synchronize().unwrap();
    let config =
        LaunchConfig { grid: 1.into(), block: threads.into(), shared_memory_bytes: 0, cooperative: false };
    first.launch(&double, &config, &[Argument::Buffer(&numbers, None)]).unwrap();
    second.copy((&copy, 0), (&numbers, offset), 256, false).unwrap();
    drop((numbers, copy, double, module));
    setup.finish()
}

#[test]
fn launches_are_observed() {
    assert_eq!(launch_and_copy(64, 0), [Mistake::Race]);
    // Other bytes of the same buffer.
    assert_eq!(launch_and_copy(64, 256), []);
    assert_eq!(launch_and_copy(65, 256), [Mistake::Race]);
    // Behind what was written, which the launch reads before it writes.
    assert_eq!(launch_and_copy(129, 0), [Mistake::Race, Mistake::Uninitialized]);
}

/// Doubles the numbers of two buffers with one launch, one number for each thread; the buffers have
/// `count` of them.
fn double_both(count: u64, threads: u32) -> Vec<Report> {
    const DOUBLE_BOTH: &str = "
        .version 7.0
        .target sm_70
        .address_size 64
        .visible .entry double_both(.param .u64 one, .param .u64 other)
        {
            .reg .b64 %rd<6>;
            .reg .b32 %r<4>;
            mov.u32 %r1, %tid.x;
            mul.wide.u32 %rd1, %r1, 4;
            ld.param.u64 %rd2, [one];
            add.u64 %rd3, %rd2, %rd1;
            ld.global.u32 %r2, [%rd3];
            add.u32 %r3, %r2, %r2;
            st.global.u32 [%rd3], %r3;
            ld.param.u64 %rd4, [other];
            add.u64 %rd5, %rd4, %rd1;
            ld.global.u32 %r2, [%rd5];
            add.u32 %r3, %r2, %r2;
            st.global.u32 [%rd5], %r3;
            ret;
        }";
    let setup = Setup::new();
    let Setup { context, first, allocator, .. } = &setup;
    let module = context.load_module(DOUBLE_BOTH.as_bytes()).unwrap();
    let double = module.function("double_both").unwrap();
    // Blocks of the allocator are multiples of 512 bytes and lie side by side.
    let [one, other] =
        ["one", "other"].map(|name| allocator.allocate(first, 4 * count as i64, name).unwrap());
    for buffer in [&one, &other] {
        first.set(buffer, 0, Pattern::U32(1), count).unwrap();
    }
    let config =
        LaunchConfig { grid: 1.into(), block: threads.into(), shared_memory_bytes: 0, cooperative: false };
    first.launch(&double, &config, &[Argument::Buffer(&one, None), Argument::Buffer(&other, None)]).unwrap();
    first.synchronize().unwrap();
    drop((one, other, double, module));
    let checker = setup.checker.clone();
    setup.finish();
    checker.finish()
}

#[test]
fn a_launch_may_use_buffers_to_their_ends_and_no_further() {
    assert_eq!(double_both(128, 128), []);
    // One element off the end of the first buffer, although the launch writes the second one too.
    let reports = double_both(128, 129);
    let off = reports.iter().find(|report| report.mistake == Mistake::OutOfBounds).unwrap();
    let expected = "accesses 4 bytes from byte 512 of a buffer of 512 bytes: ld.global.u32 at PTX line 13";
    assert!(off.message.contains(expected), "{off}");
    assert!(off.message.ends_with("block (0, 0, 0), thread (128, 0, 0)"), "{off}");
}

#[test]
fn red_zones_do_not_count_against_a_limit() {
    let setup = Setup::new();
    let options = Options { bytes_limit: Some(4 << 20), ..Options::default() };
    let allocator = setup.context.create_allocator(options);
    let quarter = || allocator.allocate(&setup.first, 1 << 20, "quarter").unwrap();
    drop([quarter(), quarter(), quarter(), quarter()]);
    drop(allocator);
    assert_eq!(setup.finish(), []);
}

/// Copies 4 columns of bytes out of a row of 16, from column `from` to column `to`, 8 rows.
fn copy_columns(stream: &Stream, to: (&DeviceBuffer, u64), from: (&DeviceBuffer, u64)) {
    stream.copy_2d((to.0, to.1, 16), (from.0, from.1, 16), 4, 8).unwrap();
}

#[test]
fn a_two_dimensional_copy_uses_its_columns_alone() {
    const PICTURE: i64 = 16 * 8;
    let setup = Setup::new();
    let Setup { first, second, allocator, .. } = &setup;
    let [from, to] = ["from", "to"].map(|name| allocator.allocate(first, PICTURE, name).unwrap());
    first.set(&from, 0, Pattern::U8(1), PICTURE as u64).unwrap();
    // The buffers are ordered before the second stream, what follows is not.
    let event = setup.context.create_event(EventOptions::default()).unwrap();
    event.record(first).unwrap();
    second.wait(&event).unwrap();
    copy_columns(first, (&to, 0), (&from, 0));
    copy_columns(second, (&to, 4), (&from, 4));
    // What was copied on this stream is written, and may be read.
    copy_columns(first, (&from, 8), (&to, 0));
    drop((from, to, event));
    assert_eq!(setup.finish(), []);
}

#[test]
fn the_gaps_of_a_two_dimensional_copy_stay_unwritten() {
    const PICTURE: i64 = 16 * 8;
    let setup = Setup::new();
    let Setup { first, allocator, .. } = &setup;
    let [from, to] = ["from", "to"].map(|name| allocator.allocate(first, PICTURE, name).unwrap());
    first.set(&from, 0, Pattern::U8(1), PICTURE as u64).unwrap();
    copy_columns(first, (&to, 0), (&from, 0));
    copy_columns(first, (&from, 8), (&to, 4));
    drop((from, to));
    assert_eq!(setup.finish(), [Mistake::Uninitialized]);
}

const COUNT: &str = r"
    .version 6.4
    .target sm_52
    .address_size 64
    .visible .global .align 4 .u32 calls = 40;
    .visible .global .align 4 .u32 others[2];
    .visible .entry count()
    {
        .reg .b32 %r<3>;
        ld.global.u32 %r1, [calls];
        add.u32 %r2, %r1, 1;
        st.global.u32 [calls], %r2;
        ret;
    }
    .visible .entry look()
    {
        .reg .b32 %r<2>;
        ld.global.u32 %r1, [others];
        st.global.u32 [others+4], %r1;
        ret;
    }";

/// Two launches that use variables of a module, on two streams, the first of which the second may
/// wait for.
fn two_launches(names: [&str; 2], with_event: bool) -> Vec<Mistake> {
    let setup = Setup::new();
    let Setup { context, first, second, .. } = &setup;
    let module = context.load_module(COUNT.as_bytes()).unwrap();
    let [one, other] = names.map(|name| module.function(name).unwrap());
    let config = LaunchConfig { grid: 1.into(), block: 1.into(), shared_memory_bytes: 0, cooperative: false };
    first.launch(&one, &config, &[]).unwrap();
    if with_event {
        let event = context.create_event(EventOptions::default()).unwrap();
        event.record(first).unwrap();
        second.wait(&event).unwrap();
    }
    second.launch(&other, &config, &[]).unwrap();
    drop((one, other, module));
    setup.finish()
}

#[test]
fn variables_of_modules_are_observed() {
    for _ in 0..5 {
        assert_eq!(two_launches(["count", "count"], false), [Mistake::Race]);
        assert_eq!(two_launches(["count", "count"], true), []);
        // They have contents from the beginning, and others are other bytes.
        assert_eq!(two_launches(["count", "look"], false), []);
    }
}

#[test]
fn copies_of_variables_are_in_order_too() {
    let setup = Setup::new();
    let module = setup.context.load_module(COUNT.as_bytes()).unwrap();
    let calls = module.global("calls").unwrap();
    setup.first.set(&calls, 0, Pattern::U32(1), 1).unwrap();
    setup.second.set(&calls, 0, Pattern::U32(2), 1).unwrap();
    drop((calls, module));
    assert_eq!(setup.finish(), [Mistake::Race]);
}

/// Copies a buffer to pinned memory on one stream and back from it on the other; the event may be
/// forgotten.
fn copy_through_pinned_memory(with_event: bool) -> Vec<Report> {
    let setup = Setup::new();
    let Setup { checker, context, first, second, allocator } = &setup;
    let checker = checker.clone();
    let [from, to] = [(first, "from"), (second, "to")]
        .map(|(stream, name)| allocator.allocate(stream, BYTES as i64, name).unwrap());
    first.set(&from, 0, Pattern::U8(7), BYTES).unwrap();
    let pinned = context.allocate_pinned(BYTES as usize).unwrap();
    drop(first.copy_to_host(&pinned, 0, &from, 0, BYTES).unwrap());
    if with_event {
        let event = context.create_event(EventOptions::default()).unwrap();
        event.record(first).unwrap();
        second.wait(&event).unwrap();
    }
    // Half of it, from its middle.
    drop(second.copy_from_host(&to, 0, &pinned, BYTES / 2, BYTES / 2).unwrap());
    first.synchronize().unwrap();
    second.synchronize().unwrap();
    drop((from, to, pinned));
    setup.finish();
    checker.finish()
}

#[test]
fn copies_through_pinned_memory_are_in_order() {
    for _ in 0..5 {
        let reports = copy_through_pinned_memory(false);
        let mistakes: Vec<_> = reports.iter().map(|report| report.mistake).collect();
        assert_eq!(mistakes, [Mistake::Race], "{reports:?}");
        assert!(reports[0].message.ends_with("(in pinned host memory)"), "{}", reports[0]);
        assert_eq!(copy_through_pinned_memory(true), []);
    }
}

#[test]
fn copies_to_parts_of_pinned_memory_need_no_order() {
    let setup = Setup::new();
    let from = setup.allocator.allocate(&setup.first, 256, "from").unwrap();
    setup.first.set(&from, 0, Pattern::U8(1), 256).unwrap();
    setup.first.synchronize().unwrap();
    let pinned = setup.context.allocate_pinned(256).unwrap();
    drop(setup.first.copy_to_host(&pinned, 0, &from, 0, 128).unwrap());
    drop(setup.second.copy_to_host(&pinned, 128, &from, 0, 128).unwrap());
    // Memory that is pinned later at the same place is other memory.
    drop(pinned);
    setup.first.synchronize().unwrap();
    setup.second.synchronize().unwrap();
    let again = setup.context.allocate_pinned(256).unwrap();
    drop(setup.first.copy_to_host(&again, 0, &from, 0, 256).unwrap());
    setup.first.synchronize().unwrap();
    drop((again, from));
    assert_eq!(setup.finish(), []);
}

#[test]
fn unified_memory_is_in_order_through_either_address() {
    let setup = Setup::new();
    let (device, host) = setup.context.allocate_managed(BYTES).unwrap();
    let from = setup.allocator.allocate(&setup.first, BYTES as i64, "from").unwrap();
    setup.first.set(&from, 0, Pattern::U8(1), BYTES).unwrap();
    setup.first.synchronize().unwrap();
    // Once the first copy is known to be done, the second one is in order.
    let (open, gate) = mpsc::channel::<()>();
    setup.first.host_callback(move || gate.recv().unwrap_or(())).unwrap();
    let address_of_host = setup.first.copy_to_host(&host, 0, &from, 0, BYTES);
    let address_of_device = setup.second.copy((&from, 0), (&device, 0), BYTES, false);
    open.send(()).unwrap();
    let was_refused = address_of_host.is_err() || address_of_device.is_err();
    setup.first.synchronize().unwrap();
    setup.second.synchronize().unwrap();
    drop((device, host, from));
    let found = setup.finish();
    assert!(was_refused || found.contains(&Mistake::Race), "{found:?}");
}

/// Captures a write on one branch and a read on another, which may wait for it, and launches the
/// graph twice.
fn branches(with_event: bool) -> Vec<Mistake> {
    let setup = Setup::new();
    let Setup { context, first, second, allocator, .. } = &setup;
    let [from, to] = ["from", "to"].map(|name| allocator.allocate(first, BYTES as i64, name).unwrap());
    first.set(&from, 0, Pattern::U8(1), BYTES).unwrap();
    first.begin_capture().unwrap();
    let [fork, order, join] = [(); 3].map(|()| context.create_event(EventOptions::default()).unwrap());
    fork.record(first).unwrap();
    second.wait(&fork).unwrap();
    first.set(&from, 0, Pattern::U8(2), BYTES).unwrap();
    if with_event {
        order.record(first).unwrap();
        second.wait(&order).unwrap();
    }
    second.copy((&to, 0), (&from, 0), BYTES, false).unwrap();
    join.record(second).unwrap();
    first.wait(&join).unwrap();
    let graph = first.end_capture().unwrap();
    for _ in 0..2 {
        first.launch_graph(&graph).unwrap();
    }
    // All branches come before what follows the graph.
    first.set(&to, 0, Pattern::U8(3), BYTES).unwrap();
    first.synchronize().unwrap();
    drop((from, to, graph, fork, order, join));
    setup.finish()
}

#[test]
fn branches_of_a_graph_are_in_order() {
    for _ in 0..5 {
        assert_eq!(branches(false), [Mistake::Race]);
        assert_eq!(branches(true), []);
    }
}

/// Launches a graph that writes on one stream and one that reads on another, which may wait for it.
fn two_graphs(with_event: bool) -> Vec<Mistake> {
    let setup = Setup::new();
    let Setup { context, first, second, allocator, .. } = &setup;
    let [from, to] = ["from", "to"].map(|name| allocator.allocate(first, BYTES as i64, name).unwrap());
    first.set(&from, 0, Pattern::U8(1), BYTES).unwrap();
    first.synchronize().unwrap();
    first.begin_capture().unwrap();
    first.set(&from, 0, Pattern::U8(2), BYTES).unwrap();
    let writes = first.end_capture().unwrap();
    second.begin_capture().unwrap();
    second.copy((&to, 0), (&from, 0), BYTES, false).unwrap();
    let reads = second.end_capture().unwrap();
    first.launch_graph(&writes).unwrap();
    if with_event {
        let event = context.create_event(EventOptions::default()).unwrap();
        event.record(first).unwrap();
        second.wait(&event).unwrap();
    }
    second.launch_graph(&reads).unwrap();
    first.synchronize().unwrap();
    second.synchronize().unwrap();
    drop((from, to, writes, reads));
    setup.finish()
}

#[test]
fn launches_of_graphs_are_in_order() {
    for _ in 0..5 {
        assert_eq!(two_graphs(false), [Mistake::Race]);
        assert_eq!(two_graphs(true), []);
    }
}
