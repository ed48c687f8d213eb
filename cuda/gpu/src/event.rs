//! Events.

#![expect(unsafe_code, reason = "calls of the driver's C interface")]

use std::sync::Arc;

use cudarc::driver::sys::{self, CUevent, CUevent_flags};
use parking_lot::Mutex;
use tfrt_device::error::Result;
use tfrt_device::hal::{EventOptions, Events};

use super::context::{GpuContext, Shared};
use super::driver::check_ready;
use super::launches::Point;
use super::stream::{Handle, Stream};

/// An event.
pub(crate) struct Event {
    shared: Arc<Shared>,
    raw: CUevent,
    /// What it was last recorded behind.
    point: Mutex<Option<Point>>,
}

// SAFETY: the driver lets every thread use an event; the rest is `Send` and `Sync` itself.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

/// What the driver is told of an event. Threads that wait for the runtime's own are not to compute meanwhile; what the
/// program's are waited for with is the driver's choice.
pub(super) fn flags(options: EventOptions) -> u32 {
    let timing =
        if options.timing { CUevent_flags::CU_EVENT_DEFAULT } else { CUevent_flags::CU_EVENT_DISABLE_TIMING };
    let waiting = if options.internal {
        CUevent_flags::CU_EVENT_BLOCKING_SYNC
    } else {
        CUevent_flags::CU_EVENT_DEFAULT
    };
    timing as u32 | waiting as u32
}

impl Event {
    fn new(shared: &Arc<Shared>, options: EventOptions) -> Result<Self> {
        shared.make_current()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the context is current, and the pointer is valid for the call.
        shared.check(unsafe { sys::cuEventCreate(&raw mut raw, flags(options)) }, "cuEventCreate")?;
        Ok(Self { shared: Arc::clone(shared), raw, point: Mutex::default() })
    }

    /// For those who let go of memory that work uses, also in a context that is of no use any more: there, too, work may go on.
    pub(super) fn internal(shared: &Arc<Shared>) -> Result<Self> {
        Self::new(shared, EventOptions { timing: false, internal: true })
    }

    /// Behind all that the stream was given. `None` while it is captured: what is recorded then cannot be waited for.
    pub(super) fn behind(stream: &Handle) -> Result<Option<Self>> {
        let event = Self::internal(stream.shared())?;
        event.record(stream)?;
        // Asked afterwards, as a capture may begin at any time, and to wait for an event of its would spoil it.
        Ok(stream.capture()?.is_none().then_some(event))
    }

    pub(super) fn raw(&self) -> CUevent {
        self.raw
    }

    pub(super) fn record(&self, stream: &Handle) -> Result<()> {
        self.shared.make_current()?;
        let mut point = self.point.lock();
        let end = self.shared.launches.end_of(stream.raw().addr());
        // SAFETY: event and stream are alive.
        self.shared.check(unsafe { sys::cuEventRecord(self.raw, stream.raw()) }, "cuEventRecord")?;
        *point = Some(end);
        Ok(())
    }

    /// Notes that the event is reached, as it was recorded before.
    fn reached(&self, point: Option<Point>) {
        if let Some(point) = point {
            self.shared.launches.reached(point);
        }
    }

    pub(super) fn query(&self) -> Result<bool> {
        self.shared.make_current()?;
        let point = *self.point.lock();
        // SAFETY: the event is alive.
        let is_ready = check_ready(unsafe { sys::cuEventQuery(self.raw) }, "cuEventQuery")
            .map_err(|error| self.shared.remember(error))?;
        self.reached(point.filter(|_| is_ready));
        Ok(is_ready)
    }

    /// Waits for what it was recorded behind.
    pub(super) fn wait(&self) -> Result<()> {
        self.shared.make_current()?;
        let point = *self.point.lock();
        // SAFETY: the event is alive.
        self.shared.check(unsafe { sys::cuEventSynchronize(self.raw) }, "cuEventSynchronize")?;
        self.reached(point);
        Ok(())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.shared.make_current().is_ok() {
            // SAFETY: the event is alive and this is its only owner; waits for it that are queued keep their meaning.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}

impl Events for GpuContext {
    fn create_event(&self, options: EventOptions) -> Result<Event> {
        Event::new(self.bound()?, options)
    }

    fn record_event(&self, event: &Event, stream: &Stream) -> Result<()> {
        self.bound()?;
        event.record(stream.handle())
    }

    fn query_event(&self, event: &Event) -> Result<bool> {
        self.bound()?;
        event.query()
    }

    fn synchronize_event(&self, event: &Event) -> Result<()> {
        // Also in a context that is of no use any more: work that goes on uses memory that the caller lets go of.
        event.wait()?;
        self.shared.works()
    }

    fn elapsed_ms(&self, start: &Event, end: &Event) -> Result<f32> {
        let shared = self.bound()?;
        let mut elapsed_ms = 0.0;
        // SAFETY: both events are alive, and the pointer is valid for the call.
        let result = unsafe { sys::cuEventElapsedTime_v2(&raw mut elapsed_ms, start.raw, end.raw) };
        shared.check(result, "cuEventElapsedTime")?;
        Ok(elapsed_ms)
    }
}
