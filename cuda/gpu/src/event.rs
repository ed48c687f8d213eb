//! Events: points on streams that can be waited for.

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

/// An event of the driver.
pub(crate) struct Event {
    shared: Arc<Shared>,
    raw: CUevent,
    /// The point on a stream that it was last recorded at.
    point: Mutex<Option<Point>>,
}

// SAFETY: the driver allows the use of an event on any thread. The other fields are `Send`
// themselves.
unsafe impl Send for Event {}
// SAFETY: the driver allows the use of an event on any thread. The other fields are `Sync`
// themselves.
unsafe impl Sync for Event {}

/// Returns the driver's flags for an event. Threads that wait for one of the runtime's own events
/// sleep instead of spinning. For events of the program, the driver chooses.
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
    pub(super) fn new(shared: &Arc<Shared>, options: EventOptions) -> Result<Self> {
        shared.make_current()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the context is current, and the pointer is valid for the call.
        shared.check(unsafe { sys::cuEventCreate(&raw mut raw, flags(options)) }, "cuEventCreate")?;
        Ok(Self { shared: Arc::clone(shared), raw, point: Mutex::default() })
    }

    /// Creates an event for internal use. This also works in a failed context, where work may still
    /// be running: the memory it uses must not be released early.
    pub(super) fn new_internal(shared: &Arc<Shared>) -> Result<Self> {
        Self::new(shared, EventOptions { timing: false, internal: true })
    }

    /// Records a new event after all work of the stream. Returns `None` while the stream is
    /// captured, because the event would become part of the capture and could not be waited for.
    pub(super) fn after_queued_work(stream: &Handle) -> Result<Option<Self>> {
        let event = Self::new_internal(stream.shared())?;
        event.record(stream)?;
        // Checked after recording because a capture may begin at any time. Waiting for an event of
        // the capture would invalidate it.
        Ok(stream.capture()?.is_none().then_some(event))
    }

    pub(super) fn raw(&self) -> CUevent {
        self.raw
    }

    pub(super) fn record(&self, stream: &Handle) -> Result<()> {
        self.shared.make_current()?;
        let mut point = self.point.lock();
        let end = self.shared.launches.end_of(stream.raw().addr());
        // SAFETY: `self` and `stream` own their handles, which are destroyed on drop.
        let result = unsafe { sys::cuEventRecord(self.raw, stream.raw()) };
        self.shared.check(result, "cuEventRecord")?;
        *point = Some(end);
        Ok(())
    }

    /// Records that `point`, at which the event was recorded, has been reached.
    fn mark_reached(&self, point: Option<Point>) {
        if let Some(point) = point {
            self.shared.launches.forget_until(point);
        }
    }

    pub(super) fn query(&self) -> Result<bool> {
        self.shared.make_current()?;
        let point = *self.point.lock();
        // SAFETY: `self` owns the event, which is destroyed on drop.
        let result = unsafe { sys::cuEventQuery(self.raw) };
        let is_ready = check_ready(result, "cuEventQuery").map_err(|error| self.shared.remember(error))?;
        self.mark_reached(point.filter(|_| is_ready));
        Ok(is_ready)
    }

    /// Returns the milliseconds since an earlier event. Both have timing and are reached.
    pub(super) fn ms_since(&self, start: &Self) -> Result<f32> {
        let mut elapsed_ms = 0.0;
        // SAFETY: both events are alive, and the pointer is valid for the call.
        let result = unsafe { sys::cuEventElapsedTime_v2(&raw mut elapsed_ms, start.raw, self.raw) };
        self.shared.check(result, "cuEventElapsedTime")?;
        Ok(elapsed_ms)
    }

    /// Waits until the work before the recorded point has finished.
    pub(super) fn wait(&self) -> Result<()> {
        self.shared.make_current()?;
        let point = *self.point.lock();
        // SAFETY: `self` owns the event, which is destroyed on drop.
        let result = unsafe { sys::cuEventSynchronize(self.raw) };
        self.shared.check(result, "cuEventSynchronize")?;
        self.mark_reached(point);
        Ok(())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.shared.make_current().is_ok() {
            // SAFETY: the event is alive and this is its only owner. Queued waits for it remain
            // valid.
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
        // Waits even in a failed context: work that is still running may use memory that the caller
        // is about to release.
        event.wait()?;
        self.shared.check_usable()
    }

    fn elapsed_ms(&self, start: &Event, end: &Event) -> Result<f32> {
        self.bound()?;
        end.ms_since(start)
    }
}
