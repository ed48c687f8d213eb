//! Measures the work of streams for the program's trace, on backends that do not record it
//! themselves ([`crate::trace`]).
//!
//! While tracing is on, an event is recorded before and after each call that queues work. Events
//! tell the time between two of them. An *anchor*, an event that was reached at a known time of the
//! host, relates that to the clock of the trace. The completion thread records the work when the
//! stream has passed it, so nobody waits.

use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_host::tracing;

use super::context::Context;
use super::stream::Stream;
use crate::error::{DeviceError, Result};
use crate::hal::{Erased, EventOptions, ReleasedOnDrop, StreamOptions};

/// The age at which an anchor is replaced. Times between events are of single precision, which
/// resolves less than 0.1 µs of a second.
const MAX_ANCHOR_AGE_NS: u64 = 1_000_000_000;

/// An event that was reached at a known time.
struct Anchor {
    event: Erased,
    at_ns: u64,
}

/// Relates the events of a context to the clock of the trace.
#[derive(Default)]
pub(super) struct Clock(Mutex<Option<Ticking>>);

struct Ticking {
    /// A stream without other work, so that an event on it is reached at once.
    stream: ReleasedOnDrop<Erased>,
    anchor: Arc<Anchor>,
}

impl Clock {
    /// Returns an anchor that is not old.
    fn anchor(&self, context: &Context) -> Result<Arc<Anchor>> {
        let mut clock = self.0.lock();
        if let Some(Ticking { anchor, .. }) = &*clock
            && tracing::now_ns().saturating_sub(anchor.at_ns) < MAX_ANCHOR_AGE_NS
        {
            return Ok(anchor.clone());
        }
        let hal = context.hal();
        let stream = match clock.take() {
            Some(ticking) => ticking.stream,
            None => context.owned(hal.create_stream(StreamOptions::default())?),
        };
        let event = hal.create_event(TIMING)?;
        let before_ns = tracing::now_ns();
        hal.record_event(&event, &stream)?;
        hal.synchronize_event(&event)?;
        let at_ns = before_ns.midpoint(tracing::now_ns());
        let anchor = Arc::new(Anchor { event, at_ns });
        *clock = Some(Ticking { stream, anchor: anchor.clone() });
        Ok(anchor)
    }
}

const TIMING: EventOptions = EventOptions { timing: true, internal: true };

/// The beginning of work that is measured.
pub(super) struct Begun {
    anchor: Arc<Anchor>,
    start: Erased,
}

impl Stream {
    /// Calls `queue`, which queues work on this stream, and records that work in the trace if
    /// tracing is on. `describe` is called only then.
    #[inline]
    pub(super) fn traced<T, E>(
        &self,
        describe: impl FnOnce() -> String,
        queue: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let begun = self.begin_work();
        let queued = queue()?;
        self.end_work(begun, describe);
        Ok(queued)
    }

    /// Begins to measure the work that is queued from now on, if tracing is on. If that fails, the
    /// work is missing in the trace.
    #[inline]
    pub(super) fn begin_work(&self) -> Option<Begun> {
        if tracing::is_enabled() && self.row().is_some() { self.begin().ok()? } else { None }
    }

    /// Ends what [`Stream::begin_work`] began.
    #[inline]
    pub(super) fn end_work(&self, begun: Option<Begun>, describe: impl FnOnce() -> String) {
        if let Some(begun) = begun {
            drop(self.end(begun, describe()));
        }
    }

    #[cold]
    fn begin(&self) -> Result<Option<Begun>> {
        let anchor = self.context().clock().anchor(self.context())?;
        Ok(self.record_time()?.map(|start| Begun { anchor, start }))
    }

    #[cold]
    fn end(&self, Begun { anchor, start }: Begun, work: String) -> Result<()> {
        let (Some(end), Some(row)) = (self.record_time()?, self.row().cloned()) else { return Ok(()) };
        let hal = self.context().hal_shared().clone();
        let record = move || {
            let times = || -> Result<_, DeviceError> {
                let from_anchor_ms = hal.elapsed_ms(&anchor.event, &start)?;
                Ok((from_anchor_ms, hal.elapsed_ms(&start, &end)?))
            };
            if let Ok((from_anchor_ms, lasted_ms)) = times() {
                let start_ns = anchor.at_ns + nanoseconds(from_anchor_ms);
                row.record(work, start_ns, start_ns + nanoseconds(lasted_ms));
            }
        };
        self.as_ref().mark(Some(Box::new(record)))
    }

    /// Records an event with the time, unless the stream is captured.
    fn record_time(&self) -> Result<Option<Erased>> {
        let hal = self.context().hal();
        let capture = self.as_ref().capture();
        if capture.is_some() {
            return Ok(None);
        }
        let event = hal.create_event(TIMING)?;
        hal.record_event(&event, self.hal())?;
        Ok(Some(event))
    }
}

fn nanoseconds(milliseconds: f32) -> u64 {
    (f64::from(milliseconds) * 1e6) as u64
}
