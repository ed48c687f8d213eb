//! The time between events, by the plug-in's timers.
//!
//! The API measures from one place in a stream to another, and must be told of both when they are queued. So each record
//! of an event with timing ends a timer and starts the next: the time between two marks of a stream is the sum of the
//! timers between them. Between streams there is no such measure; there the host's clock serves, read in a callback
//! between the two timers, so that it does not count in either.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use tfrt_device::error::{Result, Status};

use super::device::Device;
use super::remains::Remaining;
use super::stream::{Stream, StreamCore};
use crate::abi::SP_Timer;

/// The last mark of a stream.
pub(super) type Chain = Option<Arc<Node>>;

/// A mark: where a timer was started, and the mark where it was stopped.
pub(super) struct Node {
    device: Arc<Device>,
    stream: Arc<StreamCore>,
    timer: SP_Timer,
    /// When the stream came by, as the host saw it; empty if the plug-in does not call the host.
    host_time: Arc<OnceLock<Instant>>,
    /// Once the timer is stopped.
    next: OnceLock<Arc<Self>>,
}

// SAFETY: the handle is the plug-in's, and only handed back to it, from any thread as the API has it.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

impl Drop for Node {
    fn drop(&mut self) {
        // One after the other, as there may be many and only the first is anybody's.
        let mut next = self.next.take();
        while let Some(node) = next {
            next = Arc::into_inner(node).and_then(|mut node| node.next.take());
        }
        self.device.remains.bury(&self.device, Remaining::Timer(self.timer), vec![self.stream.point()]);
    }
}

/// A place in a stream whose time is known once it is passed.
#[derive(Clone)]
pub(super) struct Mark(Arc<Node>);

impl Mark {
    /// A mark behind all that is queued on the stream now.
    pub(super) fn put(stream: &Stream) -> Result<Self> {
        let device = &stream.device;
        let mut timer: SP_Timer = std::ptr::null_mut();
        // SAFETY: the plug-in's function, its device, and a place for the timer.
        device.call("create_timer", |pointer, status| unsafe {
            (device.calls().create_timer)(pointer, &raw mut timer, status);
        })?;
        if timer.is_null() {
            return Err(device.wrong(Status::Unknown, "create_timer gave no timer"));
        }
        let (next, host_time) = (OnceLock::new(), Arc::<OnceLock<_>>::default());
        let seen = host_time.clone();
        let node =
            Arc::new(Node { device: device.clone(), stream: stream.core.clone(), timer, host_time, next });
        let mut last = stream.core.chain.lock();
        if let Some(last) = &*last {
            // SAFETY: the plug-in's function, its device, stream and timer.
            device.call("stop_timer", |pointer, status| unsafe {
                (device.calls().stop_timer)(pointer, stream.handle(), last.timer, status);
            })?;
            stream.queued();
            // There was none: marks are put under the lock.
            drop(last.next.set(node.clone()));
        }
        // Without it there is no time between streams, and nothing else is lost. The time is set once.
        drop(stream.call_host(Box::new(move || _ = seen.set(Instant::now()))));
        // SAFETY: as above.
        let started = device.call("start_timer", |pointer, status| unsafe {
            (device.calls().start_timer)(pointer, stream.handle(), node.timer, status);
        });
        stream.queued();
        // What came before belongs to whoever measures from there.
        let before = std::mem::replace(&mut *last, started.is_ok().then(|| node.clone()));
        drop(last);
        drop(before);
        started.map(|()| Self(node))
    }

    /// Milliseconds from one to the other; both are passed.
    pub(super) fn elapsed_ms(device: &Device, start: &Self, end: &Self) -> Result<f32> {
        if !Arc::ptr_eq(&start.0.stream, &end.0.stream) {
            return Self::elapsed_on_host(&start.0, &end.0).ok_or_else(|| {
                let why = "it has no time between events of different streams, as it does not call the host";
                device.wrong(Status::NotSupported, why)
            });
        }
        let nanoseconds = match (Self::sum(device, &start.0, &end.0), || Self::sum(device, &end.0, &start.0))
        {
            (Some(sum), _) => sum,
            (None, back) => match back() {
                Some(sum) => -sum,
                None => return Err(device.wrong(Status::InvalidHandle, "an event has no time")),
            },
        };
        Ok((nanoseconds / 1e6) as f32)
    }

    /// Milliseconds by the host's clock.
    fn elapsed_on_host(start: &Node, end: &Node) -> Option<f32> {
        let (start, end) = (*start.host_time.get()?, *end.host_time.get()?);
        let forward = end.saturating_duration_since(start).as_secs_f64();
        Some(((forward - start.saturating_duration_since(end).as_secs_f64()) * 1e3) as f32)
    }

    /// Nanoseconds from one mark to a later one.
    fn sum(device: &Device, from: &Arc<Node>, to: &Arc<Node>) -> Option<f64> {
        let (mut sum, mut at) = (0.0, from);
        while !Arc::ptr_eq(at, to) {
            let next = at.next.get()?;
            // SAFETY: the plug-in's function, and a timer that was started and stopped.
            sum += unsafe { (device.made.nanoseconds)(at.timer) } as f64;
            at = next;
        }
        Some(sum)
    }
}
