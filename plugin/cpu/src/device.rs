//! A served device: a context of the CPU backend, and handles of what is made on it.

use std::ffi::c_void;
use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{DynBackend, DynContext, Erased, EventOptions, StreamOptions};
use tfrt_plugin::abi::{SP_Device, SP_DeviceMemoryBase, SP_Event, SP_Stream, SP_Timer};

/// A device.
pub(crate) struct Served {
    pub(crate) context: Box<DynContext>,
    /// Streams that there are, for waiting for all.
    streams: Mutex<Vec<Arc<ServedStream>>>,
}

/// A stream.
pub(crate) struct ServedStream(pub(crate) Erased);

/// A timer: events where it starts and stops.
pub(crate) struct ServedTimer {
    device: Arc<Served>,
    pub(crate) start: Erased,
    pub(crate) stop: Erased,
}

/// What a core's pointer to a device holds.
///
/// # Safety
/// It was filled by this plug-in, and the device was not destroyed.
pub(crate) unsafe fn served<'a>(device: *const SP_Device) -> &'a Arc<Served> {
    // SAFETY: the handle is a leaked `Box<Arc<Served>>` until the device is destroyed.
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

    /// Forgets a stream; its work goes on.
    pub(crate) fn destroy_stream(&self, stream: SP_Stream) {
        let mut streams = self.streams.lock();
        let found = streams.iter().position(|known| std::ptr::eq(Arc::as_ptr(known).cast(), stream));
        let Some(found) = found else { return };
        let known = streams.swap_remove(found);
        drop(streams);
        // SAFETY: the core's count, taken in `create_stream`; the stream was in the list, so that it was not given up.
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

    /// The address of a part of the device's memory.
    ///
    /// # Safety
    /// `memory` is a struct of the API.
    pub(crate) unsafe fn part(&self, memory: *const SP_DeviceMemoryBase, bytes: u64) -> Result<u64> {
        // SAFETY: by the caller's promise.
        let address = unsafe { (*memory).opaque }.addr() as u64;
        if bytes > 0 && !self.context.is_allocated(address, bytes) {
            let detail = format!("{bytes} bytes at {address:#x} do not lie in memory of the device");
            return Err(DeviceError::new(Status::IllegalAddress, detail));
        }
        Ok(address)
    }

    /// Does something on a stream of its own, and waits for it.
    pub(crate) fn at_once(&self, work: impl FnOnce(&Erased) -> Result<()>) -> Result<()> {
        let stream = self.context.create_stream(StreamOptions::default())?;
        work(&stream).and(self.context.synchronize_stream(&stream))
    }
}

impl ServedTimer {
    /// From start to stop, zero as long as that is not known.
    pub(crate) fn nanoseconds(&self) -> u64 {
        let elapsed = self.device.context.elapsed_ms(&self.start, &self.stop);
        elapsed.map_or(0, |milliseconds| (f64::from(milliseconds) * 1e6) as u64)
    }
}

/// The stream behind a core's pointer.
///
/// # Safety
/// It came from `create_stream` and was not destroyed.
pub(crate) unsafe fn stream<'a>(stream: SP_Stream) -> &'a Erased {
    // SAFETY: by the caller's promise.
    unsafe { &(*stream.cast::<ServedStream>()).0 }
}

/// The event behind a core's pointer.
///
/// # Safety
/// It came from `create_event` and was not destroyed.
pub(crate) unsafe fn event<'a>(event: SP_Event) -> &'a Erased {
    // SAFETY: by the caller's promise.
    unsafe { &*event.cast::<Erased>() }
}

/// The timer behind a core's pointer.
///
/// # Safety
/// It came from `create_timer` and was not destroyed.
pub(crate) unsafe fn timer<'a>(timer: SP_Timer) -> &'a ServedTimer {
    // SAFETY: by the caller's promise.
    unsafe { &*timer.cast::<ServedTimer>() }
}
