//! Unified memory: contents, and whose turn it is.

use std::sync::mpsc;

use tfrt_device::error::Status;
use tfrt_device::front::{Context, DeviceBuffer};
use tfrt_device::hal::{EventOptions, Pattern};
use tfrt_host::host_buffer::HostBuffer;

use super::Case;
use super::support::{
    Bench, VECTOR_ADD, config, counts_memory_exactly, elements, fails, function, host, wait, zeros,
};

pub(crate) const CASES: &[Case] = &[
    ("unified/both_sides_see_the_bytes", both_sides_see_the_bytes),
    ("unified/launches_compute_with_it", launches_compute_with_it),
    ("unified/a_launch_may_reach_all_of_it", a_launch_may_reach_all_of_it),
    ("unified/sides_take_turns", sides_take_turns),
    ("unified/streams_share_it", streams_share_it),
    ("unified/graphs_take_it_when_launched", graphs_take_it_when_launched),
    ("unified/each_side_ends_by_itself", each_side_ends_by_itself),
    ("unified/sizes_are_checked", sizes_are_checked),
];

fn is_the_hosts(memory: &HostBuffer) -> bool {
    memory.write(0).is_ok()
}

/// Queues something that uses a buffer.
fn use_it(bench: &Bench, buffer: &DeviceBuffer) {
    bench.stream.set(buffer, 0, Pattern::U8(1), 1).unwrap();
}

fn both_sides_see_the_bytes(context: &Context) {
    let bench = Bench::new(context);
    let (device, memory) = context.allocate_managed(16).unwrap();
    assert_eq!((device.len(), memory.len()), (16, 16));
    assert_eq!(elements::<u32>(&memory), [0; 4]);
    memory.write(0).unwrap().copy_from_slice(bytemuck::bytes_of(&[1u32, 2, 3, 4]));
    let plain = bench.buffer(16);
    bench.stream.copy((&plain, 0), (&device, 0), 16, false).unwrap();
    bench.stream.set(&device, 4, Pattern::U32(7), 2).unwrap();
    assert_eq!(bench.download::<u32>(&plain, 4), [1, 2, 3, 4]);
    assert_eq!(elements::<u32>(&memory), [1, 7, 7, 4]);
    // Both ends of a copy in one block, and the block as the host's end of one.
    bench.stream.copy((&device, 12), (&device, 0), 4, false).unwrap();
    let copy = bench.stream.copy_to_host(&memory, 0, &device, 12, 4).unwrap();
    wait(|then| copy.when_done(then));
    assert_eq!(elements::<u32>(&memory), [1, 7, 7, 1]);
    wait(|then| bench.stream.copy_from_host(&plain, 0, &memory, 8, 8).unwrap().when_done(then));
    assert_eq!(bench.download::<u32>(&plain, 4), [7, 1, 3, 4]);
}

fn launches_compute_with_it(context: &Context) {
    let bench = Bench::new(context);
    let add = function(context, VECTOR_ADD, "vector_add");
    let count = 1000usize;
    let (y, memory) = context.allocate_managed(4 * count as u64).unwrap();
    let x = bench.upload(&(0..count).map(|i| i as f32).collect::<Vec<_>>());
    for round in 1..=3 {
        let halves = elements::<f32>(&memory).into_iter().map(|value| value + 0.5).collect::<Vec<_>>();
        memory.write(0).unwrap().copy_from_slice(bytemuck::cast_slice(&halves));
        let arguments = [(count as u32).into(), (&x).into(), (&y).into()];
        bench.stream.launch(&add, &config(8, 128), &arguments).unwrap();
        bench.stream.synchronize().unwrap();
        let expected: Vec<f32> = (0..count).map(|i| (i as f32 + 0.5) * round as f32).collect();
        assert_eq!(elements::<f32>(&memory), expected);
    }
}

fn a_launch_may_reach_all_of_it(context: &Context) {
    let bench = Bench::new(context);
    let add = function(context, VECTOR_ADD, "vector_add");
    let (x, y) = (bench.buffer(4), bench.buffer(4));
    let (device, memory) = context.allocate_managed(4).unwrap();
    let launch =
        || bench.stream.launch(&add, &config(1, 32), &[0u32.into(), (&x).into(), (&y).into()]).unwrap();
    launch();
    assert!(!is_the_hosts(&memory), "it was not given, but its address may be anywhere");
    bench.stream.synchronize().unwrap();
    assert!(is_the_hosts(&memory));
    drop(device);
    launch();
    assert!(is_the_hosts(&memory), "it is the host's alone");
}

fn sides_take_turns(context: &Context) {
    let bench = Bench::new(context);
    let (device, memory) = context.allocate_managed(1 << 16).unwrap();
    let event = context.create_event(EventOptions::default()).unwrap();
    let ways: [(&str, &dyn Fn()); 7] = [
        ("a stream", &|| bench.stream.synchronize().unwrap()),
        ("a stream that tells", &|| wait(|then| bench.stream.when_done(then))),
        ("a stream that is asked", &|| while !bench.stream.query().unwrap() {}),
        ("an event", &|| {
            event.record(&bench.stream).unwrap();
            event.synchronize().unwrap();
        }),
        ("an event that is asked", &|| {
            event.record(&bench.stream).unwrap();
            while !event.query().unwrap() {}
        }),
        ("an event that tells", &|| {
            event.record(&bench.stream).unwrap();
            wait(|then| event.when_reached(then));
        }),
        ("a copy", &|| {
            let copy = bench.stream.copy_to_host(&zeros(4), 0, &device, 0, 4).unwrap();
            wait(|then| copy.when_done(then));
        }),
    ];
    for (name, wait) in ways {
        use_it(&bench, &device);
        assert!(memory.read(0).is_err() && !is_the_hosts(&memory), "{name}");
        wait();
        assert!(is_the_hosts(&memory), "{name}");
    }
    let reading = memory.read(0).unwrap();
    fails(bench.stream.set(&device, 0, Pattern::U8(1), 1), Status::Race);
    drop(reading);
    use_it(&bench, &device);
}

fn streams_share_it(context: &Context) {
    let (a, b) = (Bench::new(context), Bench::new(context));
    let (device, memory) = context.allocate_managed(8).unwrap();
    use_it(&a, &device);
    use_it(&b, &device);
    a.stream.synchronize().unwrap();
    assert!(!is_the_hosts(&memory), "the other stream may be at it");
    b.stream.synchronize().unwrap();
    assert!(is_the_hosts(&memory));
    // What waits for a stream's event knows that stream's work.
    use_it(&a, &device);
    let event = context.create_event(EventOptions::default()).unwrap();
    event.record(&a.stream).unwrap();
    b.stream.wait(&event).unwrap();
    use_it(&b, &device);
    b.stream.synchronize().unwrap();
    assert!(is_the_hosts(&memory));
    // A stream that nobody has any more gives it back when it is done.
    use_it(&a, &device);
    drop(a);
    let (tell, told) = mpsc::channel();
    b.stream.when_done(move |done| tell.send(done).unwrap()).unwrap();
    told.recv().unwrap().unwrap();
    context.device().finish_teardown();
    while !is_the_hosts(&memory) {
        std::thread::yield_now();
    }
}

fn graphs_take_it_when_launched(context: &Context) {
    let bench = Bench::new(context);
    let (device, memory) = context.allocate_managed(8).unwrap();
    bench.stream.begin_capture().unwrap();
    use_it(&bench, &device);
    let graph = bench.stream.end_capture().unwrap();
    assert!(is_the_hosts(&memory), "nothing is queued yet");
    bench.stream.launch_graph(&graph).unwrap();
    assert!(!is_the_hosts(&memory));
    bench.stream.synchronize().unwrap();
    let reading = memory.read(0).unwrap();
    fails(bench.stream.launch_graph(&graph), Status::Race);
    drop(reading);
}

fn each_side_ends_by_itself(context: &Context) {
    let bench = Bench::new(context);
    let free = || {
        context.device().finish_teardown();
        context.memory_info().map_or(0, |info| info.free)
    };
    let before = free();
    let (device, memory) = context.allocate_managed(1 << 20).unwrap();
    use_it(&bench, &device);
    drop(device);
    assert!(!is_the_hosts(&memory), "what is queued goes on");
    bench.stream.synchronize().unwrap();
    assert!(is_the_hosts(&memory));
    memory.write(0).unwrap().fill(3);
    drop(memory);
    let (device, memory) = context.allocate_managed(1 << 20).unwrap();
    drop(memory);
    use_it(&bench, &device);
    let copied = zeros(4);
    let copy = bench.stream.copy_to_host(&copied, 0, &device, 0, 4).unwrap();
    wait(|then| copy.when_done(then));
    drop(device);
    wait(|then| bench.stream.when_done(then));
    if counts_memory_exactly(context) {
        assert_eq!(free(), before);
    }
    assert_eq!(context.live().buffers, 0);
}

fn sizes_are_checked(context: &Context) {
    let bench = Bench::new(context);
    fails(context.allocate_managed(0), Status::InvalidValue);
    fails(context.allocate_managed(1 << 60), Status::OutOfMemory);
    if let Ok(info) = context.memory_info()
        && info.free < info.total
    {
        fails(context.allocate_managed(info.total), Status::OutOfMemory);
    }
    let (device, _memory) = context.allocate_managed(8).unwrap();
    fails(bench.stream.set(&device, 0, Pattern::U32(0), 3), Status::InvalidValue);
    fails(bench.stream.copy_from_host(&device, 4, &host(&[0u8; 8]), 0, 8), Status::InvalidValue);
}
