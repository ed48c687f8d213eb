//! A served device: a context of the CPU backend, and handles of the objects created on it.

use std::ffi::c_void;
use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{DynBackend, DynContext, Erased, EventOptions, StreamOptions};
use tfrt_plugin::abi::{SP_Device, SP_DeviceMemoryBase, SP_Event, SP_Stream, SP_Timer};

/// A device.
pub(crate) struct Served {
    pub(crate) context: Box<DynContext>,
    /// The streams that exist, so that the device can wait for all of them.
    streams: Mutex<Vec<Arc<ServedStream>>>,
}

/// A stream.
pub(crate) struct ServedStream(pub(crate) Erased);

/// A timer: events at its start and its stop.
pub(crate) struct ServedTimer {
    device: Arc<Served>,
    pub(crate) start: Erased,
    pub(crate) stop: Erased,
}

/// Returns the device behind a core's pointer.
///
/// # Safety
/// This plug-in filled the struct, and the device has not been destroyed.
pub(crate) unsafe fn served<'a>(device: *const SP_Device) -> &'a Arc<Served> {
    // SAFETY: the caller promises a device of this plug-in that has not been destroyed. Until then
    // the handle is a leaked `Box<Arc<Served>>`.
    unsafe { &*(*device).device_handle.cast::<Arc<Served>>() }
}

impl Served {
    pub(crate) fn create(backend: &dyn DynBackend, ordinal: u32) -> Result<*mut c_void> {
        let context = backend.create_context(ordinal)?;
        let served = Arc::new(Self { context, streams: Mutex::default() });
        Ok(Box::into_raw(Box::new(served)).cast())
    }

    pub(crate) fn create_stream(&self) -> Result<SP_Stream> {
        let stream = Arc::new(ServedStream(self.context.create_stream(StreamOptions::default())?));
        self.streams.lock().push(stream.clone());
        Ok(Arc::into_raw(stream).cast_mut().cast())
    }

    /// Forgets a stream. Its queued work continues.
    pub(crate) fn destroy_stream(&self, stream: SP_Stream) {
        let mut streams = self.streams.lock();
        let found = streams.iter().position(|known| std::ptr::eq(Arc::as_ptr(known).cast(), stream));
        let Some(found) = found else { return };
        let known = streams.swap_remove(found);
        drop(streams);
        // SAFETY: `create_stream` leaked this reference for the core. The stream was in the list,
        // so it was not released before.
        drop(unsafe { Arc::from_raw(stream.cast::<ServedStream>().cast_const()) });
        drop(known);
    }

    pub(crate) fn create_event(&self, timing: bool) -> Result<Erased> {
        self.context.create_event(EventOptions { timing, internal: false })
    }

    pub(crate) fn create_timer(self: &Arc<Self>) -> Result<SP_Timer> {
        let (start, stop) = (self.create_event(true)?, self.create_event(true)?);
        let timer = ServedTimer { device: self.clone(), start, stop };
        Ok(Box::into_raw(Box::new(timer)).cast())
    }

    pub(crate) fn synchronize(&self) -> Result<()> {
        let streams = self.streams.lock().clone();
        streams.iter().try_for_each(|stream| self.context.synchronize_stream(&stream.0))
    }

    /// Returns the address of a range of the device's memory, after checking it.
    ///
    /// # Safety
    /// `memory` is a struct of the API.
    pub(crate) unsafe fn part(&self, memory: *const SP_DeviceMemoryBase, bytes: u64) -> Result<u64> {
        // SAFETY: the caller promises a struct of the API.
        let address = unsafe { (*memory).opaque }.addr() as u64;
        if bytes > 0 && !self.context.is_allocated(address, bytes) {
            let detail = format!("{bytes} bytes at {address:#x} do not lie in memory of the device");
            return Err(DeviceError::new(Status::IllegalAddress, detail));
        }
        Ok(address)
    }

    /// Queues work on a new stream, and waits for it.
    pub(crate) fn at_once(&self, work: impl FnOnce(&Erased) -> Result<()>) -> Result<()> {
        let stream = self.context.create_stream(StreamOptions::default())?;
        work(&stream).and(self.context.synchronize_stream(&stream))
    }
}

impl ServedTimer {
    /// Returns the time from start to stop, or zero while it is unknown.
    pub(crate) fn nanoseconds(&self) -> u64 {
        let elapsed = self.device.context.elapsed_ms(&self.start, &self.stop);
        elapsed.map_or(0, |milliseconds| (f64::from(milliseconds) * 1e6) as u64)
    }
}

/// Returns the stream behind a core's pointer.
///
/// # Safety
/// The pointer came from `create_stream` and has not been destroyed.
pub(crate) unsafe fn stream<'a>(stream: SP_Stream) -> &'a Erased {
    // SAFETY: the caller promises a stream of `create_stream` that has not been destroyed.
    unsafe { &(*stream.cast::<ServedStream>()).0 }
}

/// Returns the event behind a core's pointer.
///
/// # Safety
/// The pointer came from `create_event` and has not been destroyed.
pub(crate) unsafe fn event<'a>(event: SP_Event) -> &'a Erased {
    // SAFETY: the caller promises an event of `create_event` that has not been destroyed.
    unsafe { &*event.cast::<Erased>() }
}

/// Returns the timer behind a core's pointer.
///
/// # Safety
/// The pointer came from `create_timer` and has not been destroyed.
pub(crate) unsafe fn timer<'a>(timer: SP_Timer) -> &'a ServedTimer {
    // SAFETY: the caller promises a timer of `create_timer` that has not been destroyed.
    unsafe { &*timer.cast::<ServedTimer>() }
}
