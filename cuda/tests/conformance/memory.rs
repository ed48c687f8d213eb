//! Memory and copies.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use tfrt_device::allocator::Options;
use tfrt_device::error::Status;
use tfrt_device::front::{Context, DeviceBuffer, LiveCounts};
use tfrt_device::hal::{EventOptions, Intent, Pattern, StreamOptions};
use tfrt_host::ErrorCode;
use tfrt_host::work_queue::{ConcurrentWorkQueue, MultiThreadedWorkQueue, Task};

use super::Case;
use super::support::{
    Bench, VECTOR_ADD, config, counts_memory_exactly, elements, fails, function, host, wait, zeros,
};

pub(crate) const CASES: &[Case] = &[
    ("memory/round_trip", round_trip),
    ("memory/offsets", offsets),
    ("memory/device_to_device", device_to_device),
    ("memory/set", set),
    ("memory/copy_2d", copy_2d),
    ("memory/copy_2d_with_the_host", copy_2d_with_the_host),
    ("memory/rows_are_checked", rows_are_checked),
    ("memory/pinned", pinned),
    ("memory/registered", registered),
    ("memory/large_copies", large_copies),
    ("memory/sizes_and_ranges_are_checked", sizes_and_ranges_are_checked),
    ("memory/empty_buffers", empty_buffers),
    ("memory/buffers_may_go_when_queued", buffers_may_go_when_queued),
    ("memory/reuse_across_streams_is_ordered", reuse_across_streams_is_ordered),
    ("memory/copies_before_reuse_are_done", copies_before_reuse_are_done),
    ("memory/parts_of_host_memory", parts_of_host_memory),
    ("memory/registered_until_the_context_goes", registered_until_the_context_goes),
    ("memory/host_kernels", host_kernels),
    ("memory/host_access_in_flight_is_an_error", host_access_in_flight_is_an_error),
    ("memory/out_of_memory_is_an_error", out_of_memory_is_an_error),
    ("memory/nothing_leaks", nothing_leaks),
    ("memory/drops_in_flight_do_not_wait", drops_in_flight_do_not_wait),
    ("memory/requests_wait_for_what_is_given_back", requests_wait_for_what_is_given_back),
    ("memory/holes_make_a_block_by_the_page", holes_make_a_block_by_the_page),
    ("memory/contents_stay_by_the_page", contents_stay_by_the_page),
];

fn round_trip(context: &Context) {
    let bench = Bench::new(context);
    for count in [1usize, 3, 255, 4096, 100_000] {
        let sent: Vec<u32> = (0..count as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        let buffer = bench.upload(&sent);
        assert_eq!(bench.download::<u32>(&buffer, count), sent);
    }
}

fn offsets(context: &Context) {
    let bench = Bench::new(context);
    let buffer = bench.upload(&[0u8; 16]);
    let source = host(&[1u8, 2, 3, 4]);
    bench.stream.copy_from_host(&buffer, 5, &source, 1, 3).unwrap();
    let result = zeros(16);
    wait(|then| bench.stream.copy_to_host(&result, 2, &buffer, 4, 5).unwrap().when_done(then));
    assert_eq!(elements::<u8>(&result), [0, 0, 0, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

fn device_to_device(context: &Context) {
    let bench = Bench::new(context);
    let a = bench.upload(&[1u32, 2, 3, 4]);
    let b = bench.upload(&[0u32; 4]);
    bench.stream.copy((&b, 4), (&a, 8), 8, false).unwrap();
    assert_eq!(bench.download::<u32>(&b, 4), [0, 3, 4, 0]);
}

fn set(context: &Context) {
    let bench = Bench::new(context);
    let buffer = bench.upload(&[0u8; 16]);
    bench.stream.set(&buffer, 0, Pattern::U32(0x0403_0201), 2).unwrap();
    bench.stream.set(&buffer, 8, Pattern::U16(0x0605), 2).unwrap();
    bench.stream.set(&buffer, 13, Pattern::U8(9), 3).unwrap();
    let expected = [1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 5, 6, 0, 9, 9, 9];
    assert_eq!(bench.download::<u8>(&buffer, 16), expected);
    fails(bench.stream.set(&buffer, 2, Pattern::U32(0), 1), Status::InvalidValue);
    fails(bench.stream.set(&buffer, 0, Pattern::U32(0), 5), Status::InvalidValue);
    fails(bench.stream.set(&buffer, 0, Pattern::U32(0), u64::MAX), Status::InvalidValue);
}

fn copy_2d(context: &Context) {
    let bench = Bench::new(context);
    let a = bench.upload(&[1u8, 2, 3, 4, 5, 6, 7, 8, 9]);
    let b = bench.upload(&[0u8; 8]);
    bench.stream.copy_2d((&b, 0, 4), (&a, 1, 3), 2, 2).unwrap();
    assert_eq!(bench.download::<u8>(&b, 8), [2, 3, 0, 0, 5, 6, 0, 0]);
    // A pitch that drivers like.
    let rows: Vec<u8> = (0..4096).map(|i| (i / 512 * 16 + i % 512 % 16) as u8).collect();
    let (a_large, b_large) = (bench.upload(&rows), bench.upload(&[0u8; 8 * 1024]));
    bench.stream.copy_2d((&b_large, 512, 1024), (&a_large, 3, 512), 300, 7).unwrap();
    let copied = bench.download::<u8>(&b_large, 8 * 1024);
    for (row, line) in copied.chunks(1024).enumerate() {
        let expected = if row < 7 { &rows[row * 512 + 3..][..300] } else { &[0; 300] };
        assert_eq!(&line[512..812], expected, "row {row}");
        assert!(line[..512].iter().chain(&line[812..]).all(|&byte| byte == 0), "row {row}");
    }
    fails(bench.stream.copy_2d((&b, 0, 1), (&a, 0, 3), 2, 2), Status::InvalidValue);
    fails(bench.stream.copy_2d((&b, 0, 4), (&a, 0, 3), 2, 3), Status::InvalidValue);
}

/// Pageable memory (copied aside or not, by size) and pinned memory; bytes between rows stay as
/// they are.
fn copy_2d_with_the_host(context: &Context) {
    let bench = Bench::new(context);
    for (width, height) in [(3usize, 5usize), (1000, 300)] {
        let (host_pitch, device_pitch) = (width + 2, width + 5);
        let bytes = |pitch: usize| pitch * (height - 1) + width;
        let sent: Vec<u8> = (0..bytes(host_pitch)).map(|i| (i * 7 % 251) as u8).collect();
        let pinned = context.allocate_pinned(sent.len()).unwrap();
        pinned.write(0).unwrap().copy_from_slice(&sent);
        for source in [host(&sent), pinned.clone()] {
            let buffer = bench.upload(&vec![255u8; bytes(device_pitch)]);
            let rows = (source.clone(), 0u64, host_pitch as u64);
            let copy = bench.stream.copy_2d_from_host(
                (&buffer, 0, device_pitch as u64),
                (&rows.0, rows.1, rows.2),
                width as u64,
                height as u64,
            );
            wait(|then| copy.unwrap().when_done(then));
            let back = bench.download::<u8>(&buffer, bytes(device_pitch));
            for (at, &byte) in back.iter().enumerate() {
                let (row, column) = (at / device_pitch, at % device_pitch);
                let expected = if column < width { sent[row * host_pitch + column] } else { 255 };
                assert_eq!(byte, expected, "row {row}, column {column}");
            }
            let result = zeros(bytes(host_pitch));
            let copy = bench.stream.copy_2d_to_host(
                (&result, 0, host_pitch as u64),
                (&buffer, 0, device_pitch as u64),
                width as u64,
                height as u64,
            );
            wait(|then| copy.unwrap().when_done(then));
            for (at, &byte) in elements::<u8>(&result).iter().enumerate() {
                assert_eq!(byte, if at % host_pitch < width { sent[at] } else { 0 }, "byte {at}");
            }
        }
    }
}

fn rows_are_checked(context: &Context) {
    let bench = Bench::new(context);
    let (buffer, memory) = (bench.buffer(12), zeros(12));
    let from = |pitches: (u64, u64), width, height| {
        let (to, from) = ((&buffer, 0, pitches.0), (&memory, 0, pitches.1));
        bench.stream.copy_2d_from_host(to, from, width, height)
    };
    let to = |pitches: (u64, u64), width, height| {
        let (to, from) = ((&memory, 0, pitches.0), (&buffer, 0, pitches.1));
        bench.stream.copy_2d_to_host(to, from, width, height)
    };
    from((4, 4), 4, 3).unwrap();
    to((4, 4), 4, 3).unwrap();
    // Rows that overlap, one row too many, sizes that cannot be counted; nothing at all is fine.
    for (pitches, width, height) in [
        ((3, 4), 4, 3),
        ((4, 3), 4, 3),
        ((4, 4), 4, 4),
        ((6, 4), 4, 3),
        ((u64::MAX, 4), 4, 3),
        ((4, 4), 4, u64::MAX),
    ] {
        fails(from(pitches, width, height), Status::InvalidValue);
        fails(to(pitches, width, height), Status::InvalidValue);
    }
    from((4, 4), 0, 3).unwrap();
    to((4, 4), 4, 0).unwrap();
    bench.stream.synchronize().unwrap();
}

fn pinned(context: &Context) {
    let bench = Bench::new(context);
    let memory = context.allocate_pinned(16).unwrap();
    memory.write(0).unwrap().copy_from_slice(&[7; 16]);
    let buffer = bench.buffer(16);
    bench.stream.copy_from_host(&buffer, 0, &memory, 0, 16).unwrap();
    bench.stream.synchronize().unwrap();
    assert_eq!(bench.download::<u8>(&buffer, 16), [7; 16]);
}

fn registered(context: &Context) {
    let bench = Bench::new(context);
    let buffer = bench.upload(&[7u8; 16]);
    let registered = zeros(4096);
    context.register_host(&registered).unwrap();
    fails(context.register_host(&registered), Status::HostMemoryAlreadyRegistered);
    bench.stream.copy_to_host(&registered, 0, &buffer, 0, 16).unwrap();
    bench.stream.synchronize().unwrap();
    assert_eq!(elements::<u8>(&registered)[..16], [7; 16]);
    context.unregister_host(&registered).unwrap();
    fails(context.unregister_host(&registered), Status::HostMemoryNotRegistered);
}

fn large_copies(context: &Context) {
    let bench = Bench::new(context);
    let sent: Vec<u64> = (0..1 << 18).collect();
    let buffer = bench.upload(&sent);
    assert_eq!(bench.download::<u64>(&buffer, sent.len()), sent);
    // More than is pinned at a time: in one row, and in rows of which several, and less than one,
    // fit into it.
    let byte = |i: usize| (i % 251) as u8;
    let sent = host(&(0..(35 << 20) + 5).map(byte).collect::<Vec<_>>());
    let buffer = bench.buffer(sent.len());
    let copy = bench.stream.copy_from_host(&buffer, 0, &sent, 0, sent.len() as u64).unwrap();
    bench.stream.set(&buffer, 0, Pattern::U8(255), 1).unwrap();
    wait(|then| copy.when_done(then));
    let received = zeros(sent.len());
    let copy = bench.stream.copy_to_host(&received, 0, &buffer, 0, sent.len() as u64).unwrap();
    wait(|then| copy.when_done(then));
    let (sent_bytes, bytes) = (sent.read(0).unwrap(), received.read(0).unwrap());
    assert!(bytes[0] == 255 && bytes[1..] == sent_bytes[1..]);
    drop((sent_bytes, bytes));
    for (width, height) in [(3 << 20, 7), (17 << 20, 2)] {
        let rows = bench.buffer(height * (width + 16));
        let device = (&rows, 0, (width + 16) as u64);
        let (pitch, extent) = ((width - 3) as u64, ((width - 3) as u64, height as u64));
        let copy = bench.stream.copy_2d_from_host(device, (&sent, 0, pitch), extent.0, extent.1).unwrap();
        wait(|then| copy.when_done(then));
        let back = zeros(height * width);
        let to = (&back, 0, width as u64);
        let copy = bench.stream.copy_2d_to_host(to, device, extent.0, extent.1).unwrap();
        wait(|then| copy.when_done(then));
        for (row, line) in back.read(0).unwrap().chunks(width).enumerate() {
            let expected = &sent.read(0).unwrap()[row * (width - 3)..][..width - 3];
            assert!(line[..width - 3] == *expected && line[width - 3..] == [0; 3], "row {row} of {width}");
        }
    }
}

fn sizes_and_ranges_are_checked(context: &Context) {
    let bench = Bench::new(context);
    let buffer = bench.buffer(16);
    let memory = zeros(8);
    fails(bench.stream.copy_from_host(&buffer, 0, &memory, 0, 9), Status::InvalidValue);
    fails(bench.stream.copy_from_host(&buffer, 9, &memory, 0, 8), Status::InvalidValue);
    fails(bench.stream.copy_from_host(&buffer, u64::MAX, &memory, 0, 8), Status::InvalidValue);
    fails(bench.stream.copy_to_host(&memory, 1, &buffer, 0, 8), Status::InvalidValue);
    fails(bench.stream.copy((&buffer, 8), (&buffer, 0), 9, false), Status::InvalidValue);
    fails(bench.allocator.allocate(&bench.stream, -1, "test"), Status::InvalidValue);
}

fn empty_buffers(context: &Context) {
    let bench = Bench::new(context);
    let buffer = bench.buffer(0);
    assert!(buffer.is_empty() && buffer.address() != 0);
    let nothing = zeros(0);
    bench.stream.copy_from_host(&buffer, 0, &nothing, 0, 0).unwrap();
    bench.stream.copy_to_host(&nothing, 0, &buffer, 0, 0).unwrap();
    bench.stream.set(&buffer, 0, Pattern::U32(1), 0).unwrap();
    bench.stream.synchronize().unwrap();
}

fn buffers_may_go_when_queued(context: &Context) {
    let bench = Bench::new(context);
    for _ in 0..100 {
        let buffer = bench.buffer(4096);
        bench.stream.set(&buffer, 0, Pattern::U8(1), 4096).unwrap();
    }
    bench.stream.synchronize().unwrap();
    let statistics = bench.allocator.statistics();
    assert_eq!((statistics.bytes_in_use, statistics.num_allocs), (0, 100));
}

/// Memory freed on one stream and granted to another is not written by the other before the first
/// is done with it.
fn reuse_across_streams_is_ordered(context: &Context) {
    let bench = Bench::new(context);
    let other = context.create_stream(StreamOptions::default()).unwrap();
    let add = function(context, VECTOR_ADD, "vector_add");
    let count = 100_000usize;
    let ones = bench.upload(&vec![1f32; count]);
    for _ in 0..10 {
        let sum = bench.upload(&vec![0f32; count]);
        for _ in 0..4 {
            let arguments = [(count as u32).into(), (&ones).into(), (&sum).into()];
            bench.stream.launch(&add, &config(count.div_ceil(256) as u32, 256), &arguments).unwrap();
        }
        let kept = bench.buffer(4 * count);
        bench.stream.copy((&kept, 0), (&sum, 0), 4 * count as u64, false).unwrap();
        drop(sum);
        let reused = bench.allocator.allocate(&other, 4 * count as i64, "test").unwrap();
        other.set(&reused, 0, Pattern::U32(0xffff_ffff), count as u64).unwrap();
        drop(reused);
        assert_eq!(bench.download::<f32>(&kept, count), vec![4.0; count]);
    }
    other.synchronize().unwrap();
}

/// As above, for devices without kernels: what was freed is copied first, however late that is.
fn copies_before_reuse_are_done(context: &Context) {
    let bench = Bench::new(context);
    let other = context.create_stream(StreamOptions::default()).unwrap();
    let count = 100_000usize;
    for round in 0..10 {
        let source = bench.upload(&vec![round; count]);
        let kept = bench.buffer(4 * count);
        bench.stream.host_callback(|| std::thread::sleep(std::time::Duration::from_millis(2))).unwrap();
        bench.stream.copy((&kept, 0), (&source, 0), 4 * count as u64, false).unwrap();
        drop(source);
        let reused = bench.allocator.allocate(&other, 4 * count as i64, "test").unwrap();
        other.set(&reused, 0, Pattern::U32(0xffff_ffff), count as u64).unwrap();
        drop(reused);
        assert_eq!(bench.download::<u32>(&kept, count), vec![round; count]);
    }
    other.synchronize().unwrap();
}

/// Functions of the host as kernels: in the stream's order, with what was there, and what they
/// leave comes back.
fn host_kernels(context: &Context) {
    let bench = Bench::new(context);
    let x = bench.upload(&[1u32, 2, 3, 4]);
    let (y, nothing) = (bench.upload(&[10u32; 4]), bench.buffer(0));
    let add = |buffers: &mut [&mut [u8]]| {
        let [x, y, nothing] = buffers else { panic!("three buffers") };
        assert!(nothing.is_empty());
        for (y, x) in bytemuck::cast_slice_mut::<u8, u32>(y).iter_mut().zip(bytemuck::cast_slice_mut(x)) {
            *y += *x;
            *x = 0u32;
        }
    };
    let operands = [(&x, Intent::Read), (&y, Intent::ReadWrite), (&nothing, Intent::Write)];
    for _ in 0..3 {
        bench.stream.host_kernel(&operands, add).unwrap();
    }
    assert_eq!(bench.download::<u32>(&y, 4), [13, 16, 19, 22]);
    assert_eq!(bench.download::<u32>(&x, 4), [1, 2, 3, 4], "what is only read stays");
    let fill = |buffers: &mut [&mut [u8]]| {
        assert_eq!(buffers[0], [0; 16], "what is only written is zero");
        buffers[0][3..5].fill(7);
    };
    bench.stream.host_kernel(&[(&y, Intent::Write)], fill).unwrap();
    assert_eq!(bench.download::<u8>(&y, 16), [0, 0, 0, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

fn host_access_in_flight_is_an_error(context: &Context) {
    let bench = Bench::new(context);
    let memory = context.allocate_pinned(1 << 20).unwrap();
    let buffer = bench.upload(&vec![3u8; 1 << 20]);
    // What is in front of the copy keeps it in flight for a while.
    let (open, closed) = std::sync::mpsc::channel::<()>();
    bench.stream.host_callback(move || assert!(closed.recv().is_err())).unwrap();
    bench.stream.copy_to_host(&memory, 0, &buffer, 0, 1 << 20).unwrap();
    assert!(memory.read(0).is_err(), "the copy is in flight");
    drop(open);
    bench.stream.synchronize().unwrap();
    assert_eq!(memory.read(0).unwrap()[77], 3);
}

fn out_of_memory_is_an_error(context: &Context) {
    let bench = Bench::new(context);
    let error = bench.allocator.allocate(&bench.stream, i64::MAX, "much").unwrap_err();
    assert_eq!(error.code, ErrorCode::OutOfMemory, "{error}");
    // The device is as good as before.
    drop(bench.buffer(1024));
    bench.stream.synchronize().unwrap();
}

fn nothing_leaks(context: &Context) {
    assert_eq!(context.live(), LiveCounts::default());
    {
        let bench = Bench::new(context);
        let buffer = bench.buffer(64);
        let event = context.create_event(EventOptions::default()).unwrap();
        event.record(&bench.stream).unwrap();
        let live = context.live();
        assert_eq!((live.streams, live.events, live.buffers), (1, 1, 1));
        bench.stream.synchronize().unwrap();
        drop(buffer);
    }
    assert_eq!(context.live(), LiveCounts::default());
}

/// Does something on the one thread that computes for a host, and waits for its end.
fn on_a_compute_thread(body: impl FnOnce() + Send + 'static) {
    let queue = MultiThreadedWorkQueue::new(1, 1).unwrap();
    let (done, ended) = mpsc::channel::<()>();
    queue.add_task(Task::new(move || {
        body();
        drop(done);
    }));
    assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Err(RecvTimeoutError::Disconnected));
    assert!(queue.take_panics().is_empty());
}

/// Dropping the last handle of memory that work in flight uses does not wait, even in the only
/// thread that can end the work. When the work is done, the memory is freed and all observers learn
/// of it.
fn drops_in_flight_do_not_wait(context: &Context) {
    let device = context.device().clone();
    let (own, on_context) = (device.create_context().unwrap(), context.clone());
    device.finish_teardown();
    let free_bytes = |context: &Context| context.memory_info().map(|info| info.free).ok();
    let free_before = free_bytes(context);
    let (tell, told) = mpsc::channel();
    on_a_compute_thread(move || {
        let gates: Vec<_> = [on_context, own]
            .into_iter()
            .map(|context| {
                let bench = Bench::new(&context);
                let second = context.create_stream(StreamOptions::default()).unwrap();
                let (a, b) = (bench.upload(&[7u8; 4096]), bench.upload(&[0u8; 4096]));
                let result = zeros(4096);
                let (open, closed) = mpsc::channel::<()>();
                bench.stream.host_callback(move || assert!(closed.recv().is_err())).unwrap();
                bench.stream.copy((&b, 0), (&a, 0), 4096, false).unwrap();
                let event = context.create_event(EventOptions::default()).unwrap();
                event.record(&bench.stream).unwrap();
                second.wait(&event).unwrap();
                let copy = second.copy_to_host(&result, 0, &b, 0, 4096).unwrap();
                let tell = tell.clone();
                copy.when_done(Box::new(move |done| {
                    tell.send((done, elements::<u8>(&result))).unwrap();
                }))
                .unwrap();
                open
            })
            .collect();
        drop(gates);
    });
    for _ in 0..2 {
        let (done, bytes) = told.recv_timeout(Duration::from_secs(60)).unwrap();
        done.unwrap();
        assert_eq!(bytes, [7; 4096]);
    }
    device.finish_teardown();
    assert_eq!(context.live(), LiveCounts::default());
    if counts_memory_exactly(context) {
        assert_eq!(free_bytes(context), free_before);
    }
}

/// Memory of an allocator that is gone comes back late; a request that needs it waits instead of
/// failing.
fn requests_wait_for_what_is_given_back(context: &Context) {
    let Ok(total) = context.memory_info().map(|info| info.total) else { return };
    let most = total as i64 / 5 * 3;
    let bench = Bench::new(context);
    let large = bench.allocator.allocate(&bench.stream, most, "first").unwrap();
    let (open, closed) = mpsc::channel::<()>();
    bench.stream.host_callback(move || assert!(closed.recv().is_err())).unwrap();
    drop((large, bench));
    let second = Bench::new(context);
    let (tell, told) = mpsc::channel();
    second
        .allocator
        .allocate_with(&second.stream, most, "second", move |granted| tell.send(granted).unwrap());
    assert!(told.try_recv().is_err(), "the first is in flight");
    drop(open);
    let granted = told.recv_timeout(Duration::from_secs(60)).unwrap().unwrap();
    assert_eq!(granted.len() as i64, most);
}

/// Bytes of a block of [`eight_blocks`]: two of the usual pages.
const BLOCK: usize = 4 << 20;

/// A bench whose memory is eight blocks, taken by the page where the device can.
fn eight_blocks(context: &Context) -> (Bench, Vec<DeviceBuffer>) {
    let options = Options { bytes_limit: Some(8 * BLOCK as u64), ..Options::default() };
    let bench = Bench { allocator: context.create_allocator(options), ..Bench::new(context) };
    let blocks = (0..8).map(|_| bench.buffer(BLOCK)).collect();
    (bench, blocks)
}

fn holes_make_a_block_by_the_page(context: &Context) {
    let (bench, mut blocks) = eight_blocks(context);
    for hole in [6, 4, 2, 0] {
        blocks.remove(hole);
    }
    let large = bench.buffer(4 * BLOCK);
    let end = large.address() + large.len();
    assert!(blocks.iter().all(|b| b.address() + b.len() <= large.address() || end <= b.address()));
    assert_eq!(bench.allocator.statistics().bytes_reserved, 8 * BLOCK as u64);
    let error = bench.allocator.allocate(&bench.stream, 1, "too much").unwrap_err();
    assert_eq!(error.code, ErrorCode::OutOfMemory, "{error}");
    drop((blocks, large));
    assert_eq!(bench.allocator.clear_cache().unwrap(), 8 * BLOCK as u64);
}

fn contents_stay_by_the_page(context: &Context) {
    let (bench, mut blocks) = eight_blocks(context);
    let numbers = |first: u32| (0..BLOCK as u32 / 4).map(|i| first.wrapping_add(i)).collect::<Vec<_>>();
    for (i, block) in (0..).zip(&blocks) {
        let source = host(&numbers(i << 20));
        wait(|then| bench.stream.copy_from_host(block, 0, &source, 0, BLOCK as u64).unwrap().when_done(then));
    }
    // Work that still reads the holes is queued when another stream gets their memory.
    let [copy, other] = [0, 1].map(|_| context.create_stream(StreamOptions::default()).unwrap());
    let kept = zeros(BLOCK);
    let copied = copy.copy_to_host(&kept, 0, &blocks[6], 0, BLOCK as u64).unwrap();
    for hole in [6, 4, 2, 0] {
        blocks.remove(hole);
    }
    let large = bench.allocator.allocate(&other, 4 * BLOCK as i64, "test").unwrap();
    other.set(&large, 0, Pattern::U8(7), 4 * BLOCK as u64).unwrap();
    wait(|then| copied.when_done(then));
    assert!(elements::<u32>(&kept) == numbers(6 << 20));
    for (i, block) in [1, 3, 5, 7].into_iter().zip(&blocks) {
        assert!(bench.download::<u32>(block, BLOCK / 4) == numbers(i << 20), "block {i}");
    }
    let result = zeros(4 * BLOCK);
    let read = other.copy_to_host(&result, 0, &large, 0, 4 * BLOCK as u64).unwrap();
    wait(|then| read.when_done(then));
    assert!(elements::<u8>(&result).iter().all(|&byte| byte == 7));
}

/// Copies to and from parts of one host buffer are in the order of their stream, as those of the
/// whole are.
fn parts_of_host_memory(context: &Context) {
    let bench = Bench::new(context);
    let (low, high) = (bench.upload(&[1u32; 64]), bench.upload(&[2u32; 64]));
    let (memory, back) = (context.allocate_pinned(512).unwrap(), bench.upload(&[0u32; 128]));
    let (first, second) = (memory.slice(0, 256).unwrap(), memory.slice(256, 256).unwrap());
    let copies = [
        bench.stream.copy_to_host(&first, 0, &low, 0, 256).unwrap(),
        bench.stream.copy_to_host(&second, 0, &high, 0, 256).unwrap(),
        bench.stream.copy_from_host(&back, 0, &memory, 0, 512).unwrap(),
        bench.stream.copy_to_host(&first, 0, &high, 0, 256).unwrap(),
    ];
    copies.into_iter().for_each(|copy| wait(|then| copy.when_done(then)));
    bench.stream.synchronize().unwrap();
    assert_eq!(elements::<u32>(&memory), [2; 128]);
    assert_eq!(bench.download::<u32>(&back, 128), [[1; 64], [2; 64]].concat());
    drop((first, second));
    // Nobody holds it any more.
    drop(memory.write(0).unwrap());
    // What is copied aside at once is in no stream's order.
    let (go, wait_for) = mpsc::channel();
    bench.stream.host_callback(move || wait_for.recv().unwrap_or_default()).unwrap();
    let memory = zeros(256);
    let copy = bench.stream.copy_to_host(&memory, 0, &low, 0, 256).unwrap();
    let error = bench.stream.copy_from_host(&back, 0, &memory, 0, 256).unwrap_err();
    assert_eq!(error.code, ErrorCode::DataRace, "{error}");
    go.send(()).unwrap();
    wait(|then| copy.when_done(then));
    bench.stream.copy_from_host(&back, 0, &memory, 0, 256).unwrap();
}

/// A context that goes ends what it registered, also while others use the device.
fn registered_until_the_context_goes(context: &Context) {
    let memory = zeros(1 << 16);
    let going = Bench::new(&context.device().create_context().unwrap());
    going.context.register_host(&memory).unwrap();
    let buffer = going.buffer(memory.len());
    going.stream.copy_from_host(&buffer, 0, &memory, 0, memory.len() as u64).unwrap();
    drop((buffer, going));
    context.device().finish_teardown();
    context.register_host(&memory).unwrap();
    context.unregister_host(&memory).unwrap();
}
