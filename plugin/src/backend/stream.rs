//! Streams and their progress.
//!
//! The API does not report whether a stream is done. So each stream counts the calls queued on it,
//! and has a private event that is recorded when somebody asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{StreamOptions, Streams};

use super::device::Device;
use super::event::{Event, state_of};
use super::remains::Remaining;
use super::timer::Chain;
use super::{PluginContext, callback};
use crate::abi::{SP_Event, SP_Stream};

/// The handle of a stream.
pub(crate) struct Stream {
    pub(super) device: Arc<Device>,
    pub(super) core: Arc<StreamCore>,
}

/// A stream, kept as long as something may refer to it.
pub(super) struct StreamCore {
    pub(super) handle: SP_Stream,
    /// The number of returned calls that have queued something.
    queued: AtomicU64,
    probe: Mutex<Probe>,
    /// The marks of events with timing.
    pub(super) chain: Mutex<Chain>,
}

// SAFETY: the handles belong to the plug-in and are only passed back to it. The API allows that on
// any thread.
unsafe impl Send for StreamCore {}
// SAFETY: the handles belong to the plug-in and are only passed back to it. The API allows that on
// any thread.
unsafe impl Sync for StreamCore {}

/// A point of a stream: the number of calls queued before it.
pub(super) type Point = (Arc<StreamCore>, u64);

/// The private event of a stream.
struct Probe {
    /// Null until it is needed.
    event: SP_Event,
    /// The point at which it was recorded, unless it is known to be reached.
    recorded: Option<u64>,
    /// A point that the stream has passed.
    passed: u64,
}

impl Stream {
    #[inline]
    pub(super) fn handle(&self) -> SP_Stream {
        self.core.handle
    }

    /// Records that something may have been queued.
    #[inline]
    pub(super) fn queued(&self) {
        self.core.queued.fetch_add(1, Ordering::Release);
    }

    /// Returns the point after all work queued so far.
    pub(super) fn point(&self) -> Point {
        self.core.point()
    }
}

impl Stream {
    /// Makes the plug-in call the host when the stream gets here.
    pub(super) fn call_host(&self, callback: Box<dyn FnOnce() + Send>) -> Result<()> {
        let device = &self.device;
        let Some(call) = device.calls().host_callback else {
            return Err(device.wrong(Status::NotSupported, "it was built without host_callback"));
        };
        let entry = callback::register(device.id, callback);
        // SAFETY: this is the plug-in's function with its device and stream, and a function that
        // takes the given number.
        let accepted = unsafe { call(device.pointer(), self.handle(), Some(callback::run), entry.pointer()) };
        self.queued();
        if accepted == 0 {
            entry.withdraw();
            return Err(device.wrong(Status::Unknown, "host_callback refused the callback"));
        }
        Ok(())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let chain = std::mem::take(&mut *self.core.chain.lock());
        drop(chain);
        self.device.remains.bury(&self.device, Remaining::Stream(self.core.clone()), vec![self.point()]);
    }
}

impl StreamCore {
    /// Returns the point after all work queued so far.
    pub(super) fn point(self: &Arc<Self>) -> Point {
        (self.clone(), self.queued.load(Ordering::Acquire))
    }

    /// Returns whether the stream is known to have passed this point, without asking the plug-in.
    pub(super) fn is_known_to_have_passed(&self, point: u64) -> bool {
        self.probe.lock().passed >= point
    }

    /// Returns whether the stream has passed this point.
    pub(super) fn has_passed(&self, device: &Device, point: u64) -> Result<bool> {
        let mut probe = self.probe.lock();
        if probe.passed >= point {
            return Ok(true);
        }
        if let Some(recorded) = probe.recorded {
            if !state_of(device, probe.event)? {
                return Ok(false);
            }
            probe.recorded = None;
            probe.passed = probe.passed.max(recorded);
            if probe.passed >= point {
                return Ok(true);
            }
        }
        if probe.event.is_null() {
            probe.event = device.create_event()?;
        }
        let queued = self.queued.load(Ordering::Acquire);
        device.record(self.handle, probe.event)?;
        probe.recorded = Some(queued);
        if state_of(device, probe.event)? {
            probe.recorded = None;
            probe.passed = probe.passed.max(queued);
        }
        Ok(probe.passed >= point)
    }

    /// Waits until the stream has passed this point.
    pub(super) fn wait_for(&self, device: &Device, point: u64) -> Result<()> {
        if self.is_known_to_have_passed(point) {
            return Ok(());
        }
        device.wait_for_stream(self.handle)?;
        self.has_waited(point);
        Ok(())
    }

    /// Records that the host has waited up to this point.
    fn has_waited(&self, point: u64) {
        let mut probe = self.probe.lock();
        probe.passed = probe.passed.max(point);
    }

    /// Destroys the plug-in's stream, to which nothing refers any more.
    pub(super) fn destroy(&self, device: &Device) {
        let event = std::mem::replace(&mut self.probe.lock().event, std::ptr::null_mut());
        // SAFETY: these are the plug-in's functions with what it created, each called once.
        unsafe {
            if !event.is_null() {
                (device.calls().destroy_event)(device.pointer(), event);
            }
            (device.calls().destroy_stream)(device.pointer(), self.handle);
        }
    }
}

impl Device {
    /// Returns the failure of a stream's work.
    fn check_stream(&self, stream: SP_Stream) -> Result<()> {
        // SAFETY: this is the plug-in's function with its device and stream.
        self.call("get_stream_status", |device, status| unsafe {
            (self.calls().get_stream_status)(device, stream, status);
        })
    }

    fn wait_for_stream(&self, stream: SP_Stream) -> Result<()> {
        if let Some(block) = self.calls().block_host_until_done {
            // SAFETY: this is the plug-in's function with its device and stream.
            return self.call("block_host_until_done", |device, status| unsafe {
                block(device, stream, status);
            });
        }
        let event = self.create_event()?;
        let waited = self.record(stream, event).and_then(|()| self.wait_for(event));
        // SAFETY: this is the plug-in's function with its device, and an event that was waited for.
        unsafe { (self.calls().destroy_event)(self.pointer(), event) };
        waited
    }
}

impl Streams for PluginContext {
    fn create_stream(&self, _options: StreamOptions) -> Result<Stream> {
        let device = self.device.clone();
        device.remains.clear(&device);
        let mut handle: SP_Stream = std::ptr::null_mut();
        // SAFETY: this is the plug-in's function with its device, and the stream is written to a
        // valid place.
        device.call("create_stream", |pointer, status| unsafe {
            (device.calls().create_stream)(pointer, &raw mut handle, status);
        })?;
        if handle.is_null() {
            return Err(device.wrong(Status::Unknown, "create_stream returned no stream"));
        }
        let probe = Probe { event: std::ptr::null_mut(), recorded: None, passed: 0 };
        let core = StreamCore {
            handle,
            queued: AtomicU64::new(0),
            probe: Mutex::new(probe),
            chain: Mutex::default(),
        };
        Ok(Stream { device, core: Arc::new(core) })
    }

    fn priority_range(&self) -> Result<(i32, i32)> {
        Ok((0, 0))
    }

    fn query_stream(&self, stream: &Stream) -> Result<bool> {
        self.device.check_stream(stream.handle())?;
        let (core, point) = stream.point();
        core.has_passed(&self.device, point)
    }

    fn synchronize_stream(&self, stream: &Stream) -> Result<()> {
        let (core, point) = stream.point();
        self.device.wait_for_stream(stream.handle())?;
        core.has_waited(point);
        self.device.check_stream(stream.handle())
    }

    fn wait_event(&self, stream: &Stream, event: &Event) -> Result<()> {
        if !Arc::ptr_eq(&event.device, &self.device) {
            let why = "a stream of one device cannot wait for an event of another";
            return Err(self.device.wrong(Status::NotSupported, why));
        }
        if !event.is_recorded() {
            return Ok(());
        }
        // SAFETY: this is the plug-in's function with its device, stream and event.
        let done = self.device.call("wait_for_event", |device, status| unsafe {
            (self.device.calls().wait_for_event)(device, stream.handle(), event.handle(), status);
        });
        stream.queued();
        event.used_by(stream);
        done
    }

    fn host_callback(&self, stream: &Stream, callback: Box<dyn FnOnce() + Send>) -> Result<()> {
        stream.call_host(callback)
    }
}

/// Returns the error for an answer that is not an event state.
pub(super) fn unknown_state(device: &Device, state: i32) -> DeviceError {
    device.wrong(
        Status::LaunchFailed,
        format!("get_event_status returned {state}: the work before the event failed"),
    )
}
