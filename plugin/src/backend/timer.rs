//! The time between events, measured by the plug-in's timers.
//!
//! The API measures from one point of a stream to another, and both must be announced when they are
//! queued. So each record of an event with timing stops a timer and starts the next one. The time
//! between two marks of a stream is the sum of the timers between them. Between streams the API has
//! no measure. There the host's clock is read in a callback between the two timers, so that the
//! callback counts in neither.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use tfrt_device::error::{Result, Status};

use super::device::Device;
use super::remains::Remaining;
use super::stream::{Stream, StreamCore};
use crate::abi::SP_Timer;

/// The last mark of a stream.
pub(super) type Chain = Option<Arc<Node>>;

/// A mark: the timer that starts there, and the mark where it stops.
pub(super) struct Node {
    device: Arc<Device>,
    stream: Arc<StreamCore>,
    timer: SP_Timer,
    /// The host time at which the stream passed, or empty if the plug-in does not call the host.
    host_time: Arc<OnceLock<Instant>>,
    /// Set once the timer is stopped.
    next: OnceLock<Arc<Self>>,
}

// SAFETY: the handle belongs to the plug-in and is only passed back to it. The API allows that on
// any thread.
unsafe impl Send for Node {}
// SAFETY: the handle belongs to the plug-in and is only passed back to it. The API allows that on
// any thread.
unsafe impl Sync for Node {}

impl Drop for Node {
    fn drop(&mut self) {
        // One after the other without recursion, because there may be many and usually only the
        // first has other owners.
        let mut next = self.next.take();
        while let Some(node) = next {
            next = Arc::into_inner(node).and_then(|mut node| node.next.take());
        }
        self.device.remains.bury(&self.device, Remaining::Timer(self.timer), vec![self.stream.point()]);
    }
}

/// A point of a stream whose time is known once it is passed.
#[derive(Clone)]
pub(super) struct Mark(Arc<Node>);

impl Mark {
    /// Creates a mark after all work queued on the stream so far.
    pub(super) fn put(stream: &Stream) -> Result<Self> {
        let device = &stream.device;
        let mut timer: SP_Timer = std::ptr::null_mut();
        // SAFETY: this is the plug-in's function with its device, and the timer is written to a
        // valid place.
        device.call("create_timer", |pointer, status| unsafe {
            (device.calls().create_timer)(pointer, &raw mut timer, status);
        })?;
        if timer.is_null() {
            return Err(device.wrong(Status::Unknown, "create_timer returned no timer"));
        }
        let (next, host_time) = (OnceLock::new(), Arc::<OnceLock<_>>::default());
        let seen = host_time.clone();
        let node =
            Arc::new(Node { device: device.clone(), stream: stream.core.clone(), timer, host_time, next });
        let mut last = stream.core.chain.lock();
        if let Some(last) = &*last {
            // SAFETY: this is the plug-in's function with its device, stream and timer.
            device.call("stop_timer", |pointer, status| unsafe {
                (device.calls().stop_timer)(pointer, stream.handle(), last.timer, status);
            })?;
            stream.queued();
            // It was empty, because marks are set under the lock.
            drop(last.next.set(node.clone()));
        }
        // If this fails, there is no time between streams, but everything else works. The time is
        // set once.
        drop(stream.call_host(Box::new(move || _ = seen.set(Instant::now()))));
        // SAFETY: this is the plug-in's function with its device, stream and timer.
        let started = device.call("start_timer", |pointer, status| unsafe {
            (device.calls().start_timer)(pointer, stream.handle(), node.timer, status);
        });
        stream.queued();
        // Earlier marks stay alive only if an event measures from them.
        let before = std::mem::replace(&mut *last, started.is_ok().then(|| node.clone()));
        drop(last);
        drop(before);
        started.map(|()| Self(node))
    }

    /// Returns the milliseconds from one mark to another, both passed.
    pub(super) fn elapsed_ms(device: &Device, start: &Self, end: &Self) -> Result<f32> {
        if !Arc::ptr_eq(&start.0.stream, &end.0.stream) {
            return Self::elapsed_on_host(&start.0, &end.0).ok_or_else(|| {
                let why = "it cannot measure between events of different streams, because it does not call the host";
                device.wrong(Status::NotSupported, why)
            });
        }
        let nanoseconds = match (Self::sum(device, &start.0, &end.0), || Self::sum(device, &end.0, &start.0))
        {
            (Some(sum), _) => sum,
            (None, back) => match back() {
                Some(sum) => -sum,
                None => {
                    return Err(device.wrong(Status::InvalidHandle, "an event was created without timing"));
                }
            },
        };
        Ok((nanoseconds / 1e6) as f32)
    }

    /// Returns the milliseconds by the host's clock.
    fn elapsed_on_host(start: &Node, end: &Node) -> Option<f32> {
        let (start, end) = (*start.host_time.get()?, *end.host_time.get()?);
        let forward = end.saturating_duration_since(start).as_secs_f64();
        Some(((forward - start.saturating_duration_since(end).as_secs_f64()) * 1e3) as f32)
    }

    /// Returns the nanoseconds from one mark to a later one.
    fn sum(device: &Device, from: &Arc<Node>, to: &Arc<Node>) -> Option<f64> {
        let (mut sum, mut at) = (0.0, from);
        while !Arc::ptr_eq(at, to) {
            let next = at.next.get()?;
            // SAFETY: this is the plug-in's function with a timer that was started and stopped.
            sum += unsafe { (device.made.nanoseconds)(at.timer) } as f64;
            at = next;
        }
        Some(sum)
    }
}
