//! Tests that need no GPU, and a short one for machines that have one. The conformance suite covers
//! the rest.

#![expect(unsafe_code, reason = "launches and copies have contracts")]

use std::sync::mpsc;
use std::time::Duration;

use tfrt_device::error::Status;
use tfrt_device::hal::{
    Backend, Context, Dim3, EventOptions, Events, Graphs, LaunchConfig, Memory, Modules, PackedParameters,
    Pattern, StreamOptions, Streams, Transfers,
};

use super::GpuBackend;

const ADD_ONE: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry add_one(.param .u64 x, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p ret;
    mul.wide.u32 %d2, %r2, 4;
    add.u64 %d3, %d1, %d2;
    ld.global.u32 %r5, [%d3];
    add.u32 %r5, %r5, 1;
    st.global.u32 [%d3], %r5;
    ret;
}
";

/// Returns the backend. If there is none, checks that the reason is one of three.
fn backend() -> Option<GpuBackend> {
    match GpuBackend::discover(crate::GpuOptions::default()) {
        Ok(backend) => Some(backend),
        Err(error) => {
            let reasons = [Status::StubLibrary, Status::SystemDriverMismatch, Status::NoDevice];
            assert!(reasons.contains(&error.status), "{error}");
            assert!(!error.detail.is_empty(), "{error}");
            eprintln!("{error}");
            None
        }
    }
}

#[test]
fn absence_is_an_error_again_and_again() {
    assert_eq!(backend().is_some(), backend().is_some());
}

#[test]
fn the_runtime_waits_for_its_own_events_without_computing() {
    let flags = |timing, internal| super::event::flags(EventOptions { timing, internal });
    assert_eq!(
        [flags(true, false), flags(false, false), flags(false, true), flags(true, true)],
        [0, 2, 3, 1]
    );
}

#[test]
fn a_graph_of_a_copy_and_a_launch() {
    let Some(backend) = backend() else { return };
    let context = backend.create_context(0).unwrap();
    let stream = context.create_stream(StreamOptions::default()).unwrap();
    let module = context.load_module(ADD_ONE.as_bytes()).unwrap();
    let function = context.function(&module, "add_one").unwrap();
    assert_eq!(context.function(&module, "add_two").err().unwrap().status, Status::NotFound);
    let attributes = context.function_attributes(&function).unwrap();
    let declared: Vec<_> = attributes.parameters.unwrap().iter().map(|p| (p.offset, p.size)).collect();
    assert_eq!(declared, [(0, 8), (8, 4)]);

    let count = 1000u32;
    let address = context.allocate(4 * u64::from(count)).unwrap();
    assert!(context.is_allocated(address, 4000) && !context.is_allocated(address, u64::MAX));
    let bytes: Vec<u8> = address.to_le_bytes().into_iter().chain(count.to_le_bytes()).collect();
    let config = LaunchConfig {
        grid: Dim3::from(8),
        block: Dim3::from(128),
        shared_memory_bytes: 0,
        cooperative: false,
    };
    context.begin_capture(&stream).unwrap();
    for _ in 0..2 {
        let parameters = PackedParameters { bytes: &bytes, offsets: &[0, 8], buffers: &[] };
        // SAFETY: the parameters are those declared, and the buffer has as many elements as they
        // say.
        unsafe { context.launch(&stream, &function, &config, parameters) }.unwrap();
    }
    let graph = context.end_capture(&stream).unwrap();
    assert_eq!(context.graph_nodes(&graph), Ok(2));

    let event = context.create_event(EventOptions { timing: true, ..EventOptions::default() }).unwrap();
    context.set(&stream, address, Pattern::U32(40), count.into()).unwrap();
    context.launch_graph(&graph, &stream).unwrap();
    context.record_event(&event, &stream).unwrap();
    let pinned = context.allocate_host(4000).unwrap();
    // SAFETY: the pinned block is large enough, and is read after the copy has finished.
    unsafe { context.copy_device_to_host(&stream, pinned, address, 4000) }.unwrap();
    let (sender, receiver) = mpsc::channel();
    context.host_callback(&stream, Box::new(move || sender.send(()).unwrap())).unwrap();
    context.synchronize_stream(&stream).unwrap();
    receiver.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(context.query_event(&event), Ok(true));
    // SAFETY: the copy wrote this many numbers, and pinned memory is aligned to a page.
    let numbers = unsafe { std::slice::from_raw_parts(pinned.cast::<u32>(), count as usize) };
    assert!(numbers.iter().all(|&number| number == 42));
    // SAFETY: it came from `allocate_host`, and nothing uses it any more.
    unsafe { context.free_host(pinned) }.unwrap();
    context.free(address).unwrap();
    assert_eq!(context.failure(), None);
}

#[test]
fn the_compiler_says_what_is_wrong() {
    let Some(backend) = backend() else { return };
    let context = backend.create_context(0).unwrap();
    let broken = ADD_ONE.replace("mul.wide.u32", "mul.wider.u32");
    let error = context.load_module(broken.as_bytes()).err().unwrap();
    assert_eq!(error.status, Status::InvalidPtx);
    assert!(error.detail.contains("line"), "{error}");
}
