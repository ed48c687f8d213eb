//! Events.

#![expect(unsafe_code, reason = "calls of the driver's C interface")]

use std::sync::Arc;

use cudarc::driver::sys::{self, CUevent, CUevent_flags};

use super::context::{GpuContext, Shared};
use super::driver::check_ready;
use super::stream::Stream;
use crate::error::Result;
use crate::hal::{EventOptions, Events};

/// An event.
pub(crate) struct Event {
    shared: Arc<Shared>,
    raw: CUevent,
}

// SAFETY: the driver lets every thread use an event; the rest is `Send` and `Sync` itself.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    pub(super) fn raw(&self) -> CUevent {
        self.raw
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
        let shared = self.bound()?;
        let flags = if options.timing {
            CUevent_flags::CU_EVENT_DEFAULT
        } else {
            CUevent_flags::CU_EVENT_DISABLE_TIMING
        };
        let mut raw = std::ptr::null_mut();
        // SAFETY: the context is current, and the pointer is valid for the call.
        shared.check(unsafe { sys::cuEventCreate(&raw mut raw, flags as u32) }, "cuEventCreate")?;
        Ok(Event { shared: Arc::clone(&self.shared), raw })
    }

    fn record_event(&self, event: &Event, stream: &Stream) -> Result<()> {
        let shared = self.bound()?;
        // SAFETY: event and stream are alive.
        shared.check(unsafe { sys::cuEventRecord(event.raw, stream.raw()) }, "cuEventRecord")
    }

    fn query_event(&self, event: &Event) -> Result<bool> {
        let shared = self.bound()?;
        // SAFETY: the event is alive.
        check_ready(unsafe { sys::cuEventQuery(event.raw) }, "cuEventQuery")
            .map_err(|error| shared.remember(error))
    }

    fn synchronize_event(&self, event: &Event) -> Result<()> {
        // Also in a context that is of no use any more: work that goes on uses memory that the caller lets go of.
        self.shared.make_current()?;
        // SAFETY: the event is alive.
        self.shared.check(unsafe { sys::cuEventSynchronize(event.raw) }, "cuEventSynchronize")?;
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
