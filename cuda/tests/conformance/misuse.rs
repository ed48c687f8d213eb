//! What belongs elsewhere, or is gone.

use tfrt_device::error::Status;
use tfrt_device::front::Context;
use tfrt_device::hal::{EventOptions, Pattern};

use super::Case;
use super::support::{Bench, config, fails, function, host, zeros};

pub(crate) const CASES: &[Case] = &[
    ("misuse/other_contexts", other_contexts),
    ("misuse/libraries_of_other_contexts", libraries_of_other_contexts),
    ("misuse/moved_buffers", moved_buffers),
    ("misuse/destroyed_allocators", destroyed_allocators),
    ("misuse/read_only_host_memory", read_only_host_memory),
];

/// Everything of one context is refused by another.
fn other_contexts(context: &Context) {
    let ours = Bench::new(context);
    let theirs = Bench::new(&context.device().create_context().unwrap());
    let (buffer, foreign) = (ours.buffer(64), theirs.buffer(64));
    let memory = zeros(64);
    fails(ours.stream.set(&foreign, 0, Pattern::U8(0), 1), Status::InvalidContext);
    fails(ours.stream.copy_from_host(&foreign, 0, &memory, 0, 1), Status::InvalidContext);
    fails(ours.stream.copy_to_host(&memory, 0, &foreign, 0, 1), Status::InvalidContext);
    fails(ours.stream.copy((&buffer, 0), (&foreign, 0), 1, false), Status::InvalidContext);
    fails(ours.allocator.allocate(&theirs.stream, 64, "test"), Status::InvalidContext);
    let event = theirs.context.create_event(EventOptions::default()).unwrap();
    fails(event.record(&ours.stream), Status::InvalidContext);
    // To wait for another context's event, and to copy from another's memory, is what they are for.
    event.record(&theirs.stream).unwrap();
    ours.stream.wait(&event).unwrap();
    ours.stream.copy((&buffer, 0), (&foreign, 0), 64, true).unwrap();
    ours.stream.synchronize().unwrap();
    theirs.stream.synchronize().unwrap();
}

fn libraries_of_other_contexts(context: &Context) {
    let ours = Bench::new(context);
    let theirs = Bench::new(&context.device().create_context().unwrap());
    let blas = theirs.context.create_blas().unwrap();
    fails(blas.set_stream(&ours.stream), Status::InvalidContext);
    let empty = ".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry empty() { ret; }";
    let empty = function(&theirs.context, empty, "empty");
    fails(ours.stream.launch(&empty, &config(1, 1), &[]), Status::InvalidContext);
}

fn moved_buffers(context: &Context) {
    let bench = Bench::new(context);
    let buffer = bench.buffer(64);
    let clone = buffer.clone();
    let taken = buffer.take_over().unwrap();
    assert!(!buffer.is_valid() && !clone.is_valid() && taken.is_valid());
    fails(buffer.take_over(), Status::InvalidHandle);
    fails(bench.stream.set(&clone, 0, Pattern::U8(0), 1), Status::InvalidHandle);
    drop((buffer, clone));
    bench.stream.set(&taken, 0, Pattern::U8(0), 64).unwrap();
    bench.stream.synchronize().unwrap();
}

fn destroyed_allocators(context: &Context) {
    let bench = Bench::new(context);
    let buffer = bench.buffer(64);
    bench.allocator.destroy().unwrap();
    fails(bench.allocator.destroy(), Status::InvalidHandle);
    fails(bench.allocator.allocate(&bench.stream, 64, "test"), Status::InvalidHandle);
    // What was handed out stays.
    bench.stream.set(&buffer, 0, Pattern::U8(0), 64).unwrap();
    bench.stream.synchronize().unwrap();
}

fn read_only_host_memory(context: &Context) {
    let bench = Bench::new(context);
    let buffer = bench.buffer(4);
    bench.stream.set(&buffer, 0, Pattern::U8(1), 4).unwrap();
    let memory = tfrt_host::host_buffer::HostBuffer::from_readonly(vec![1u8, 2, 3, 4]);
    let error = bench.stream.copy_to_host(&memory, 0, &buffer, 0, 4).unwrap_err();
    assert!(error.message.contains("read-only"), "{error}");
    bench.stream.copy_from_host(&buffer, 0, &host(&[1u8; 4]), 0, 4).unwrap();
    bench.stream.synchronize().unwrap();
}
