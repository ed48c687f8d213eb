//! Streams.

#![expect(unsafe_code, reason = "calls of the driver's C interface")]

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cudarc::driver::sys::{self, CUstream, CUstreamCaptureStatus};
use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{StreamOptions, Streams};

use super::callback;
use super::context::{GpuContext, Shared};
use super::driver::check_ready;
use super::event::Event;

/// A stream that does not synchronize with the legacy default stream.
pub(crate) struct Stream {
    handle: Arc<Handle>,
    /// Distinguishes the stream from later ones with the same handle.
    id: u64,
    /// The capture that began on this stream.
    began: Mutex<Option<Began>>,
}

/// A capture between its beginning and its end.
pub(super) struct Began {
    /// The id, because the driver does not report that of an invalidated capture.
    pub(super) id: Option<u64>,
    _counted: Counted,
}

/// The captures of this process that have begun and not ended. While there is none, no stream takes
/// part in one, and the driver need not be asked.
static CAPTURES: AtomicUsize = AtomicUsize::new(0);

/// One of [`CAPTURES`]. It is counted before the capture begins and until it has ended.
pub(super) struct Counted(());

impl Counted {
    pub(super) fn new() -> Self {
        CAPTURES.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        CAPTURES.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A stream of the driver, destroyed on drop.
pub(super) struct Handle {
    shared: Arc<Shared>,
    raw: CUstream,
}

// SAFETY: the driver allows the use of a stream on any thread. The other fields are `Send`
// themselves.
unsafe impl Send for Handle {}
// SAFETY: the driver allows the use of a stream on any thread. The other fields are `Sync`
// themselves.
unsafe impl Sync for Handle {}

impl Handle {
    /// Creates a stream. The context must be current.
    pub(super) fn new(shared: &Arc<Shared>, priority: i32) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the context is current, and the pointer is valid for the call. The driver clamps
        // the priority.
        let result = unsafe { sys::cuStreamCreateWithPriority(&raw mut raw, flags, priority) };
        shared.check(result, "cuStreamCreateWithPriority")?;
        Ok(Self { shared: Arc::clone(shared), raw })
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn raw(&self) -> CUstream {
        self.raw
    }

    /// Returns the id of the capture that this stream takes part in, if any.
    pub(super) fn capture(&self) -> Result<Option<u64>> {
        if CAPTURES.load(Ordering::SeqCst) == 0 {
            return Ok(None);
        }
        // The status is read as a number: one that the bindings do not know must not become a Rust
        // enum.
        let (mut status, mut id) = (0, 0);
        // SAFETY: the stream is alive, `status` and `id` are valid for the call, and the other
        // pointers may be null.
        let result = unsafe {
            sys::cuStreamGetCaptureInfo_v3(
                self.raw,
                (&raw mut status).cast(),
                &raw mut id,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        };
        self.shared.check(result, "cuStreamGetCaptureInfo")?;
        const NONE: c_int = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE as c_int;
        const ACTIVE: c_int = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE as c_int;
        match status {
            NONE => Ok(None),
            ACTIVE => Ok(Some(id)),
            _ => Err(Status::StreamCaptureInvalidated.into()),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.shared.make_current().is_ok() {
            // SAFETY: the stream is alive and this is its only owner. Queued work still finishes.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}

impl Stream {
    pub(super) fn handle(&self) -> &Arc<Handle> {
        &self.handle
    }

    pub(super) fn raw(&self) -> CUstream {
        self.handle.raw
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Returns the id of the capture that this stream takes part in, if any.
    pub(super) fn capture(&self) -> Result<Option<u64>> {
        self.handle.capture()
    }

    /// Remembers the capture that has just begun on this stream.
    pub(super) fn begin_capture(&self, counted: Counted) -> Result<()> {
        let id = self.capture();
        *self.began.lock() = Some(Began { id: *id.as_ref().unwrap_or(&None), _counted: counted });
        id.map(drop)
    }

    /// Returns the capture that began on this stream and ends now, even if it was invalidated.
    pub(super) fn end_capture(&self) -> Option<Began> {
        self.began.lock().take()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Runs while the driver's stream still exists, which tells when its work has finished.
        self.handle.shared.free_stream_workspaces(self.id, &self.handle);
    }
}

impl Streams for GpuContext {
    fn create_stream(&self, options: StreamOptions) -> Result<Stream> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        let handle = Arc::new(Handle::new(self.bound()?, options.priority)?);
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Ok(Stream { handle, id, began: Mutex::default() })
    }

    fn priority_range(&self) -> Result<(i32, i32)> {
        let shared = self.bound()?;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: the context is current, and the pointers are valid for the call.
        let result = unsafe { sys::cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest) };
        shared.check(result, "cuCtxGetStreamPriorityRange")?;
        Ok((least, greatest))
    }

    fn query_stream(&self, stream: &Stream) -> Result<bool> {
        let shared = self.bound()?;
        // SAFETY: the stream is alive.
        check_ready(unsafe { sys::cuStreamQuery(stream.raw()) }, "cuStreamQuery")
            .map_err(|error| shared.remember(error))
    }

    fn synchronize_stream(&self, stream: &Stream) -> Result<()> {
        // Waits even in a failed context: work that is still running may use memory that the caller
        // is about to release.
        self.shared.make_current()?;
        let end = self.shared.launches.end_of(stream.raw().addr());
        // SAFETY: the stream is alive.
        self.shared.check(unsafe { sys::cuStreamSynchronize(stream.raw()) }, "cuStreamSynchronize")?;
        self.shared.launches.forget_until(end);
        self.shared.check_usable()
    }

    fn wait_event(&self, stream: &Stream, event: &Event) -> Result<()> {
        let shared = self.bound()?;
        // SAFETY: stream and event are alive; 0 is the default flag.
        shared.check(unsafe { sys::cuStreamWaitEvent(stream.raw(), event.raw(), 0) }, "cuStreamWaitEvent")
    }

    fn host_callback(&self, stream: &Stream, callback: Box<dyn FnOnce() + Send>) -> Result<()> {
        let shared = self.bound()?;
        if stream.capture()?.is_some() {
            // A graph would call the function at each launch, but it can be called only once.
            return Err(DeviceError::new(
                Status::StreamCaptureUnsupported,
                "a host callback cannot be part of a graph",
            ));
        }
        let data = callback::add(shared.identity(), callback);
        // SAFETY: the stream is alive, and `callback::run` accepts any pointer.
        let result = unsafe { sys::cuLaunchHostFunc(stream.raw(), Some(callback::run), data) };
        shared.check(result, "cuLaunchHostFunc").inspect_err(|_| drop(callback::take(data)))?;
        if shared.check_usable().is_err() {
            // The context failed in the meantime, perhaps before this callback was registered.
            shared.drop_callbacks();
        }
        Ok(())
    }
}
