//! The primary context of a device, bound to each thread that makes a call.

#![expect(unsafe_code, reason = "calls of the driver's C interface")]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUresult};
use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result};
use tfrt_device::hal::{Attends, Context, Contexts, Promised, Resources, Teardown};

use super::GpuOptions;
use super::blas::BlasHandle;
use super::callback;
use super::dnn::DnnHandle;
use super::driver::check;
use super::event::Event;
use super::graph::Graph;
use super::launches::Launches;
use super::memory::{Allocations, HostPool, Managed};
use super::module::{Function, Module};
use super::paging::PagingFacts;
use super::stream::Stream;
use super::workspace::{Going, Workspaces};

/// A context of the hal.
pub(crate) struct GpuContext {
    pub(super) shared: Arc<Shared>,
    /// Unified memory that has not been freed on the device side, by address.
    pub(super) managed: Mutex<HashMap<u64, Arc<Managed>>>,
}

/// The state that a context shares with its resources. It lives as long as the last of them.
pub(super) struct Shared {
    pub(super) device: CUdevice,
    pub(super) options: GpuOptions,
    raw: CUcontext,
    /// The first failure that made the context unusable.
    failure: Mutex<Option<DeviceError>>,
    /// The launches that may have caused it.
    pub(super) launches: Launches,
    pub(super) allocations: Arc<Allocations>,
    pub(super) host_pool: HostPool,
    pub(super) workspaces: Workspaces,
    pub(super) paging: PagingFacts,
    /// The thread that frees memory, because the driver may first wait for queued work.
    teardown: Teardown,
    contexts: Arc<Contexts<Self>>,
    /// Whether the failure was reported at the end of a program.
    taken: AtomicBool,
}

// SAFETY: the driver allows the use of `raw` on any thread. The other fields are `Send` themselves.
unsafe impl Send for Shared {}
// SAFETY: the driver allows the use of `raw` on any thread. The other fields are `Sync` themselves.
unsafe impl Sync for Shared {}

impl Shared {
    /// Retains the primary context of a device, so that it is shared with libraries that use the
    /// CUDA runtime.
    pub(super) fn new(
        device: CUdevice,
        options: GpuOptions,
        allocations: Arc<Allocations>,
        teardown: Teardown,
        contexts: Arc<Contexts<Self>>,
    ) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the driver is initialized, `device` is one of its devices, and the pointer is
        // valid for the call.
        check(unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut raw, device) }, "cuDevicePrimaryCtxRetain")?;
        Ok(Self {
            device,
            options,
            raw,
            failure: Mutex::default(),
            launches: Launches::default(),
            allocations,
            host_pool: HostPool::default(),
            workspaces: Workspaces::default(),
            paging: PagingFacts::default(),
            teardown,
            contexts,
            taken: AtomicBool::new(false),
        })
    }

    /// Makes the context current on this thread. Fails if the context has failed.
    pub(super) fn bind(&self) -> Result<()> {
        self.check_usable()?;
        self.make_current()
    }

    /// Returns the failure of the context as an error, if it has failed.
    pub(super) fn check_usable(&self) -> Result<()> {
        self.failure.lock().clone().map_or(Ok(()), Err)
    }

    /// Makes the context current on this thread even if it has failed, for cleaning up.
    pub(super) fn make_current(&self) -> Result<()> {
        let mut current = std::ptr::null_mut();
        // SAFETY: the driver is initialized, and the pointer is valid for the call.
        check(unsafe { sys::cuCtxGetCurrent(&raw mut current) }, "cuCtxGetCurrent")?;
        if current == self.raw {
            return Ok(());
        }
        // SAFETY: `self` keeps this context retained.
        check(unsafe { sys::cuCtxSetCurrent(self.raw) }, "cuCtxSetCurrent")
    }

    /// Converts a result like [`check`]. Remembers an error that makes the context unusable.
    pub(super) fn check(&self, result: CUresult, call: &'static str) -> Result<()> {
        check(result, call).map_err(|error| self.remember(error))
    }

    /// Returns the error, and remembers it if it makes the context unusable. The driver returns
    /// such an error from every later, unrelated call, so all of them return the remembered one.
    pub(super) fn remember(&self, error: DeviceError) -> DeviceError {
        if !error.is_sticky() {
            return error;
        }
        if self.check_usable().is_ok() {
            self.fail(&self.launches.blame(error.clone()));
        }
        self.check_usable().err().filter(DeviceError::is_sticky).unwrap_or(error)
    }

    /// Makes the context unusable for the given reason, unless it already is.
    pub(super) fn fail(&self, why: &DeviceError) {
        self.failure.lock().get_or_insert_with(|| why.clone());
        self.drop_callbacks();
    }

    /// Waits for all work and returns the context's failure unless it was already reported. A
    /// failure of work that was never waited for is only discovered here. A failure of the driver
    /// affects all contexts of the device but is reported once.
    pub(super) fn take_failure(&self) -> Option<DeviceError> {
        self.synchronize();
        let is_told = |other: &Arc<Self>| {
            let is_other = !std::ptr::eq(Arc::as_ptr(other), self) && other.device == self.device;
            is_other
                && other.taken.load(Ordering::Relaxed)
                && other.check_usable().is_err_and(|why| why.is_sticky())
        };
        let is_told = self.contexts.alive().iter().any(is_told);
        self.take_known_failure().filter(|why| !why.is_sticky() || !is_told)
    }

    fn take_known_failure(&self) -> Option<DeviceError> {
        let failure = self.check_usable().err()?;
        (!self.taken.swap(true, Ordering::Relaxed)).then_some(failure)
    }

    /// Waits for all work, and remembers a failure.
    fn synchronize(&self) {
        if self.bind().is_ok() {
            self.synchronize_current();
        }
    }

    /// Waits for all work of the current context, which may have failed but may still be running
    /// work.
    pub(super) fn synchronize_current(&self) {
        // SAFETY: the context is current. Errors other than failures of work, such as that of an
        // ongoing capture, are ignored.
        drop(self.check(unsafe { sys::cuCtxSynchronize() }, "cuCtxSynchronize"));
    }

    /// Returns a number that distinguishes the context from others that are alive.
    pub(super) fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Drops pending host callbacks, because the driver does not call them in a failed context.
    pub(super) fn drop_callbacks(&self) {
        let gone = callback::take_all(self.identity());
        if !gone.is_empty() {
            // Dropped on the teardown thread: the drop may wait for the caller of this function.
            self.teardown.hand_over(move || drop(gone));
        }
    }

    /// Runs a job that may wait for queued work on the teardown thread, with the context current.
    /// Failures cannot be returned to a caller, but one that makes the context unusable is
    /// remembered.
    pub(super) fn hand_over(self: &Arc<Self>, job: impl FnOnce() -> Result<()> + Send + 'static) {
        let shared = Arc::clone(self);
        self.teardown.hand_over(move || {
            let done = shared.make_current().and_then(|()| job());
            drop(done.map_err(|error| shared.remember(error)));
        });
    }

    /// Runs `attempt` on the teardown thread until it returns true, without delaying other jobs.
    pub(super) fn hand_over_until(self: &Arc<Self>, mut attempt: impl FnMut() -> bool + Send + 'static) {
        let shared = Arc::clone(self);
        self.teardown.hand_over_until(move || shared.make_current().is_err() || attempt());
    }

    /// Announces that a job will be handed over later.
    pub(super) fn promise(&self) -> Promised {
        self.teardown.promise()
    }

    /// Releases the workspaces of the device's libraries, in all of its contexts. Returns whether
    /// there were any.
    pub(super) fn trim(self: &Arc<Self>) -> bool {
        let (mut is_something, mut going) = (false, Vec::new());
        for context in self.contexts.alive() {
            if context.device == self.device {
                is_something |= context.trim_workspaces(&mut going);
            }
            // Destroying a context may wait, so the teardown thread does it.
            if let Some(last) = Arc::into_inner(context) {
                self.teardown.hand_over(move || drop(last));
            }
        }
        going.into_iter().for_each(Going::free_when_done);
        is_something
    }

    /// Enables access from this context's device to the memory of the other's, if the hardware
    /// supports it.
    pub(super) fn reach(&self, other: &Self) -> Result<()> {
        let mut can = 0;
        // SAFETY: the driver is initialized, and the pointer is valid for the call.
        let result = unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, self.device, other.device) };
        check(result, "cuDeviceCanAccessPeer")?;
        if can == 0 {
            return Ok(());
        }
        self.make_current()?;
        // SAFETY: both contexts are alive, and this one is current.
        match unsafe { sys::cuCtxEnablePeerAccess(other.raw, 0) } {
            // Primary contexts are shared with all libraries of the process.
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            result => check(result, "cuCtxEnablePeerAccess"),
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.drop_callbacks();
        // If another context has the same device, it will observe failures of the driver, because
        // the driver treats both as one context. Waiting for all work here would invalidate a
        // capture of that context.
        let other = self.contexts.alive().into_iter().find(|other| other.device == self.device);
        let failure = match other {
            None => self.take_failure(),
            Some(_) => self.take_known_failure().filter(|why| !why.is_sticky()),
        };
        self.contexts.leave(failure);
        if self.make_current().is_ok() {
            self.host_pool.free_all();
            self.free_workspaces(other.as_deref());
        }
        // SAFETY: `new` retained the context, and nothing made from it is left. A failure could not
        // be returned to a caller.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

impl GpuContext {
    /// Returns the shared state, with the context current on this thread.
    pub(super) fn bound(&self) -> Result<&Arc<Shared>> {
        self.shared.bind()?;
        Ok(&self.shared)
    }
}

impl Resources for GpuContext {
    type Stream = Stream;
    type Event = Event;
    type Module = Module;
    type Function = Function;
    type Graph = Graph;
    type BlasHandle = BlasHandle;
    type DnnHandle = DnnHandle;
    type Communicator = super::collectives::Communicator;
}

impl Attends for GpuContext {}

impl Context for GpuContext {
    fn failure(&self) -> Option<DeviceError> {
        self.shared.failure.lock().clone()
    }
}
