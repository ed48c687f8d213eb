//! Events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{EventOptions, Events};

use super::PluginContext;
use super::device::Device;
use super::remains::Remaining;
use super::stream::{Point, Stream, unknown_state};
use super::timer::Mark;
use crate::abi::{SP_Event, SP_Stream};

/// The states of events, numbered as in the C header.
const PENDING: i32 = 2;
const COMPLETE: i32 = 3;

/// The handle of an event.
pub(crate) struct Event {
    pub(super) device: Arc<Device>,
    handle: SP_Event,
    recorded: AtomicBool,
    /// The last point of each stream that records the event or waits for it.
    uses: Mutex<Vec<Point>>,
    /// Its mark among those of its stream, if it has timing.
    mark: Option<Mutex<Option<Mark>>>,
}

// SAFETY: the handle belongs to the plug-in and is only passed back to it. The API allows that on
// any thread.
unsafe impl Send for Event {}
// SAFETY: the handle belongs to the plug-in and is only passed back to it. The API allows that on
// any thread.
unsafe impl Sync for Event {}

impl Event {
    pub(super) fn handle(&self) -> SP_Event {
        self.handle
    }

    pub(super) fn is_recorded(&self) -> bool {
        self.recorded.load(Ordering::Acquire)
    }

    /// Records that the work queued on the stream so far refers to the event.
    pub(super) fn used_by(&self, stream: &Stream) {
        let (core, point) = stream.point();
        let mut uses = self.uses.lock();
        match uses.iter_mut().find(|(known, _)| Arc::ptr_eq(known, &core)) {
            Some(known) => known.1 = point,
            None => uses.push((core, point)),
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let uses = std::mem::take(self.uses.get_mut());
        self.device.remains.bury(&self.device, Remaining::Event(self.handle), uses);
    }
}

/// Returns whether an event is reached.
pub(super) fn state_of(device: &Device, event: SP_Event) -> Result<bool> {
    // SAFETY: this is the plug-in's function with its device and event.
    match unsafe { (device.calls().get_event_status)(device.pointer(), event) } {
        COMPLETE => Ok(true),
        PENDING => Ok(false),
        state => Err(unknown_state(device, state)),
    }
}

impl Device {
    pub(super) fn create_event(&self) -> Result<SP_Event> {
        let mut handle: SP_Event = std::ptr::null_mut();
        // SAFETY: this is the plug-in's function with its device, and the event is written to a
        // valid place.
        self.call("create_event", |device, status| unsafe {
            (self.calls().create_event)(device, &raw mut handle, status);
        })?;
        if handle.is_null() {
            Err(self.wrong(Status::Unknown, "create_event returned no event"))
        } else {
            Ok(handle)
        }
    }

    pub(super) fn record(&self, stream: SP_Stream, event: SP_Event) -> Result<()> {
        // SAFETY: this is the plug-in's function with its device, stream and event.
        self.call("record_event", |device, status| unsafe {
            (self.calls().record_event)(device, stream, event, status);
        })
    }

    pub(super) fn wait_for(&self, event: SP_Event) -> Result<()> {
        // SAFETY: this is the plug-in's function with its device and event.
        self.call("block_host_for_event", |device, status| unsafe {
            (self.calls().block_host_for_event)(device, event, status);
        })
    }
}

impl Events for PluginContext {
    fn create_event(&self, options: EventOptions) -> Result<Event> {
        let device = self.device.clone();
        device.remains.clear(&device);
        Ok(Event {
            handle: device.create_event()?,
            device,
            recorded: AtomicBool::new(false),
            uses: Mutex::default(),
            mark: options.timing.then(Mutex::default),
        })
    }

    fn record_event(&self, event: &Event, stream: &Stream) -> Result<()> {
        if let Some(mark) = &event.mark {
            let new = Mark::put(stream)?;
            *mark.lock() = Some(new);
        }
        let done = self.device.record(stream.handle(), event.handle);
        stream.queued();
        event.used_by(stream);
        done?;
        event.recorded.store(true, Ordering::Release);
        Ok(())
    }

    fn query_event(&self, event: &Event) -> Result<bool> {
        if event.is_recorded() { state_of(&self.device, event.handle) } else { Ok(true) }
    }

    fn synchronize_event(&self, event: &Event) -> Result<()> {
        if !event.is_recorded() {
            return Ok(());
        }
        self.device.wait_for(event.handle)?;
        // The work is done. This reports a failure before the event.
        state_of(&self.device, event.handle).map(drop)
    }

    fn elapsed_ms(&self, start: &Event, end: &Event) -> Result<f32> {
        let mark = |event: &Event| event.mark.as_ref().and_then(|mark| mark.lock().clone());
        let (Some(start), Some(end)) = (mark(start), mark(end)) else {
            return Err(DeviceError::new(Status::InvalidHandle, "an event was created without timing"));
        };
        Mark::elapsed_ms(&self.device, &start, &end)
    }
}
