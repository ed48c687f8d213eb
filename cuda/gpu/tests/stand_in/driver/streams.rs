//! Streams, events and captures.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use super::{entry_points, put};
use crate::graph::Capture;
use crate::state::{Answer, Context, INVALID_VALUE, OUT_OF_MEMORY, all, find, forget, keep, own, violation};
use crate::stream::{Event, Stream, status};

/// The greatest number of events of a device.
const MAX_EVENTS: usize = 2000;
/// `CUDA_ERROR_NOT_READY`.
const NOT_READY: c_int = 600;

/// Checks that a stream may be queried and waited for: it must not be captured.
fn not_captured(stream: &Stream) -> Answer {
    match &*stream.capture.lock() {
        Some(capture) => {
            capture.spoil();
            // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
            Err(900)
        }
        None => Ok(()),
    }
}

entry_points! {
    fn cuStreamCreateWithPriority(stream: *mut *mut c_void, flags: c_uint, _priority: c_int) {
        let context = Context::working("cuStreamCreateWithPriority")?;
        if flags != 1 {
            violation("a stream that synchronizes with the legacy default stream");
        }
        put(stream, keep(context, "stream", Arc::new(Stream::new(context))))
    }
    fn cuStreamDestroy_v2(stream: *mut c_void) {
        drop(forget::<Stream>(stream, "cuStreamDestroy"));
        Ok(())
    }
    fn cuStreamQuery(stream: *mut c_void) {
        let stream = own::<Stream>(stream, "cuStreamQuery");
        not_captured(&stream)?;
        let idle = stream.is_idle();
        match status(stream.context) {
            0 if idle => Ok(()),
            0 => Err(NOT_READY),
            status => Err(status),
        }
    }
    fn cuStreamSynchronize(stream: *mut c_void) {
        let stream = own::<Stream>(stream, "cuStreamSynchronize");
        not_captured(&stream)?;
        stream.synchronize();
        stream.context.failure().map_or(Ok(()), Err)
    }
    fn cuStreamWaitEvent(stream: *mut c_void, event: *mut c_void, flags: c_uint) {
        let stream = own::<Stream>(stream, "cuStreamWaitEvent");
        Context::working("cuStreamWaitEvent")?;
        if flags == 0 { stream.wait(&find::<Event>(event, "cuStreamWaitEvent")) } else { Err(INVALID_VALUE) }
    }
    fn cuLaunchHostFunc(stream: *mut c_void, function: unsafe extern "C" fn(*mut c_void), data: *mut c_void) {
        let stream = own::<Stream>(stream, "cuLaunchHostFunc");
        Context::working("cuLaunchHostFunc")?;
        if stream.capture.lock().is_some() {
            violation("a host function is captured that can be called once");
        }
        stream.call_host(function, data);
        Ok(())
    }
    fn cuStreamBeginCapture_v2(stream: *mut c_void, _mode: c_int) {
        Context::working("cuStreamBeginCapture")?;
        Capture::begin(&own::<Stream>(stream, "cuStreamBeginCapture"))
    }
    fn cuStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void) {
        let context = Context::current("cuStreamEndCapture");
        let nodes = Capture::end(&own::<Stream>(stream, "cuStreamEndCapture"))?;
        put(graph, keep(context, "graph", Arc::new(nodes)))
    }
    fn cuStreamGetCaptureInfo_v3(
        stream: *mut c_void,
        capture_status: *mut c_int,
        id: *mut u64,
        graph: *mut *mut c_void,
        dependencies: *mut *const c_void,
        edges: *mut *const c_void,
        count: *mut usize,
    ) {
        if !(graph.is_null() && dependencies.is_null() && edges.is_null() && count.is_null()) {
            violation("cuStreamGetCaptureInfo is asked for more than status and number");
        }
        let capture = own::<Stream>(stream, "cuStreamGetCaptureInfo").capture.lock().clone();
        match capture {
            None => put(capture_status, 0),
            // The id is only returned for an active capture.
            Some(capture) if capture.check().is_ok() => put(capture_status, 1).and_then(|()| put(id, capture.id)),
            Some(_) => put(capture_status, 2),
        }
    }
    fn cuEventCreate(event: *mut *mut c_void, flags: c_uint) {
        let context = Context::working("cuEventCreate")?;
        const DISABLE_TIMING: c_uint = 2;
        const INTERPROCESS: c_uint = 4;
        let timing = flags & DISABLE_TIMING == 0;
        // Waiting threads always sleep here, with the flag for that (1) or without it.
        if flags > 7 || (flags & INTERPROCESS != 0 && timing) {
            return Err(INVALID_VALUE);
        }
        if all::<Event>(context).len() >= MAX_EVENTS {
            return Err(OUT_OF_MEMORY);
        }
        put(event, keep(context, "event", Arc::new(Event::new(timing))))
    }
    fn cuEventDestroy_v2(event: *mut c_void) {
        drop(forget::<Event>(event, "cuEventDestroy"));
        Ok(())
    }
    fn cuEventRecord(event: *mut c_void, stream: *mut c_void) {
        Context::working("cuEventRecord")?;
        own::<Stream>(stream, "cuEventRecord").record(&own(event, "cuEventRecord"));
        Ok(())
    }
    fn cuEventQuery(event: *mut c_void) {
        Context::working("cuEventQuery")?;
        if own::<Event>(event, "cuEventQuery").query()? { Ok(()) } else { Err(NOT_READY) }
    }
    fn cuEventSynchronize(event: *mut c_void) {
        let context = Context::current("cuEventSynchronize");
        own::<Event>(event, "cuEventSynchronize").synchronize()?;
        context.failure().map_or(Ok(()), Err)
    }
    fn cuEventElapsedTime_v2(elapsed_ms: *mut f32, start: *mut c_void, end: *mut c_void) {
        Context::working("cuEventElapsedTime")?;
        let start = own::<Event>(start, "cuEventElapsedTime").time()?;
        let end = own::<Event>(end, "cuEventElapsedTime").time()?;
        put(elapsed_ms, end.saturating_duration_since(start).as_secs_f32() * 1e3)
    }
}
