//! Tests that a context rings its bell when events are reached, so that nobody has to poll them.
#![expect(clippy::unwrap_used, reason = "tests end that way")]

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use tfrt_cpu::CpuOptions;
use tfrt_device::front::Platform;
use tfrt_device::hal::{DynContext, Erased, EventOptions, Pattern, StreamOptions};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

/// A context and what its bell sends.
fn context() -> (Box<DynContext>, Receiver<()>) {
    let context = tfrt_cpu::open(&CpuOptions::default()).unwrap().create_context(0).unwrap();
    let (ring, rung) = mpsc::channel();
    // Nobody listens any more when a test has ended.
    assert!(context.ring_for_events(Box::new(move || ring.send(()).unwrap_or(()))));
    (context, rung)
}

/// An event that is reached when something is sent.
fn blocked_event(context: &DynContext) -> (Erased, Sender<()>) {
    let stream = context.create_stream(StreamOptions::default()).unwrap();
    let event = context.create_event(EventOptions::default()).unwrap();
    let (open, gate) = mpsc::channel();
    context.host_callback(&stream, Box::new(move || gate.recv().unwrap_or(()))).unwrap();
    context.record_event(&event, &stream).unwrap();
    (event, open)
}

#[test]
fn the_bell_rings_when_an_event_is_reached() {
    let (context, rung) = context();
    let (event, open) = blocked_event(&*context);
    assert_eq!(rung.recv_timeout(Duration::from_millis(20)), Err(RecvTimeoutError::Timeout));
    assert_eq!(context.query_event(&event), Ok(false));
    open.send(()).unwrap();
    rung.recv_timeout(LONG).unwrap();
    assert_eq!(context.query_event(&event), Ok(true));
}

/// Events between streams, which the host does not look at, would ring for nothing.
#[test]
fn an_event_that_nobody_has_looked_at_rings_no_bell() {
    let (context, rung) = context();
    let (event, open) = blocked_event(&*context);
    open.send(()).unwrap();
    context.synchronize_event(&event).unwrap();
    assert_eq!(rung.recv_timeout(Duration::from_millis(20)), Err(RecvTimeoutError::Timeout));
    assert_eq!(context.query_event(&event), Ok(true));
}

#[test]
fn the_bell_rings_when_the_context_fails() {
    let (context, rung) = context();
    let (event, open) = blocked_event(&*context);
    let stream = context.create_stream(StreamOptions::default()).unwrap();
    let result =
        context.set(&stream, 8, Pattern::U8(0), 1).and_then(|()| context.synchronize_stream(&stream));
    assert!(result.is_err(), "nothing is allocated at the address");
    rung.recv_timeout(LONG).unwrap();
    assert!(context.query_event(&event).is_err());
    open.send(()).unwrap();
}

/// A context ends while another thread finds that its last work is done.
#[test]
fn a_context_ends_even_if_another_thread_finds_its_last_event() {
    for _ in 0..300 {
        let platform = Platform::new(tfrt_cpu::open(&CpuOptions::default()).unwrap());
        let ending = platform.device(0).unwrap().create_context().unwrap();
        let other = platform.device(0).unwrap().create_context().unwrap();
        let finder = other.create_stream(StreamOptions::default()).unwrap();
        let (open, gate) = mpsc::channel::<()>();
        let stream = ending.create_stream(StreamOptions::default()).unwrap();
        stream.host_callback(move || gate.recv().unwrap_or(())).unwrap();
        drop((stream, ending));
        open.send(()).unwrap();
        for _ in 0..20 {
            // Releases what is due in all contexts.
            finder.synchronize().unwrap();
        }
        let (tell, told) = mpsc::channel();
        let finish = std::thread::spawn(move || {
            drop((finder, other));
            platform.finish_teardown();
            tell.send(()).unwrap_or(());
        });
        told.recv_timeout(LONG).unwrap();
        finish.join().unwrap();
    }
}
