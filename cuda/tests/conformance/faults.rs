//! What goes wrong on the device.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use tfrt_device::error::Status;
use tfrt_device::front::Context;
use tfrt_device::hal::{EventOptions, Pattern};

use super::Case;
use super::support::{Bench, VECTOR_ADD, config, fails, function, outcome};

pub(crate) const CASES: &[Case] = &[
    ("faults/out_of_bounds_fails_the_context", out_of_bounds_fails_the_context),
    ("faults/work_behind_a_fault_is_not_done", work_behind_a_fault_is_not_done),
    ("faults/callbacks_behind_a_fault_are_let_go", callbacks_behind_a_fault_are_let_go),
    ("faults/events_tell_of_it_before_they_are_reached", events_tell_of_it_before_they_are_reached),
];

/// Reads far behind the end of `x`.
fn run_into_the_wall(bench: &Bench) {
    let add = function(&bench.context, VECTOR_ADD, "vector_add");
    let (x, y) = (bench.upload(&[0f32; 4]), bench.upload(&[0f32; 4]));
    let count = 1u32 << 30;
    let arguments = [count.into(), (&x).into(), (&y).into()];
    bench.stream.launch(&add, &config(1 << 22, 256), &arguments).unwrap();
}

fn out_of_bounds_fails_the_context(context: &Context) {
    let bench = Bench::new(context);
    run_into_the_wall(&bench);
    fails(outcome(|then| bench.stream.when_done(then)), Status::IllegalAddress);
    fails(bench.stream.synchronize(), Status::IllegalAddress);
    assert_eq!(context.failure().unwrap().status, Status::IllegalAddress);
    fails(context.create_stream(Default::default()), Status::IllegalAddress);
    // Another context of the same device works.
    let next = Bench::new(&context.device().create_context().unwrap());
    assert_eq!(next.download::<u8>(&next.upload(&[1u8, 2]), 2), [1, 2]);
}

fn work_behind_a_fault_is_not_done(context: &Context) {
    let bench = Bench::new(context);
    let memory = context.allocate_pinned(64).unwrap();
    let buffer = bench.upload(&[0u8; 64]);
    run_into_the_wall(&bench);
    // Whether these are refused or skipped depends on how far the device is; done they are not.
    drop(bench.stream.set(&buffer, 0, Pattern::U8(1), 64));
    drop(bench.stream.copy_to_host(&memory, 0, &buffer, 0, 64));
    fails(bench.stream.synchronize(), Status::IllegalAddress);
    assert_eq!(*memory.read(0).unwrap(), [0; 64]);
}

/// Called or dropped, so that nobody waits for ever for what they would have said, nor for memory
/// that they hold.
fn callbacks_behind_a_fault_are_let_go(context: &Context) {
    let bench = Bench::new(context);
    let other = Bench::new(context);
    let (open, closed) = mpsc::channel::<()>();
    other.stream.host_callback(move || assert!(closed.recv().is_err())).unwrap();
    let (tell, told) = mpsc::channel();
    run_into_the_wall(&bench);
    for stream in [&bench.stream, &other.stream] {
        let tell = tell.clone();
        // It may be refused, if the device is quick.
        drop(stream.host_callback(move || tell.send(()).unwrap()));
    }
    drop((tell, open));
    let end = std::iter::repeat_with(|| told.recv_timeout(Duration::from_secs(60))).find_map(Result::err);
    assert_eq!(end, Some(RecvTimeoutError::Disconnected), "somebody keeps them");
}

/// Also those of other streams, whose work goes on.
fn events_tell_of_it_before_they_are_reached(context: &Context) {
    let bench = Bench::new(context);
    let other = Bench::new(context);
    let (open, closed) = mpsc::channel::<()>();
    other.stream.host_callback(move || assert!(closed.recv().is_err())).unwrap();
    let event = context.create_event(EventOptions::default()).unwrap();
    event.record(&other.stream).unwrap();
    assert!(!event.query().unwrap());
    let (tell, told) = mpsc::channel();
    event.when_reached(move |outcome| tell.send(outcome).unwrap()).unwrap();
    run_into_the_wall(&bench);
    fails(bench.stream.synchronize(), Status::IllegalAddress);
    fails(event.query(), Status::IllegalAddress);
    drop(open);
    fails(told.recv().unwrap(), Status::IllegalAddress);
    fails(event.synchronize(), Status::IllegalAddress);
}
