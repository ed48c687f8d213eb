//! A device's primary context, bound to whichever thread calls.

#![expect(unsafe_code, reason = "calls of the driver's C interface")]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUresult};
use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result};
use tfrt_device::hal::{Context, Contexts, Promised, Resources, Teardown};

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
    /// Unified memory of which the device has its side, by its address.
    pub(super) managed: Mutex<HashMap<u64, Arc<Managed>>>,
}

/// What a context and its resources share. It lives as long as the last of them.
pub(super) struct Shared {
    pub(super) device: CUdevice,
    pub(super) options: GpuOptions,
    raw: CUcontext,
    /// The first failure after which the context is of no use.
    failure: Mutex<Option<DeviceError>>,
    /// What may have caused it.
    pub(super) launches: Launches,
    pub(super) allocations: Arc<Allocations>,
    pub(super) host_pool: HostPool,
    pub(super) workspaces: Workspaces,
    pub(super) paging: PagingFacts,
    /// Who frees memory: the driver may finish queued work first.
    teardown: Teardown,
    contexts: Arc<Contexts<Self>>,
    /// Whether the failure was told at the end of a program.
    taken: AtomicBool,
}

// SAFETY: `raw` is a handle that the driver lets every thread use; the rest is `Send` and `Sync` itself.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Retains the primary context of a device, so that libraries which use the CUDA runtime share it.
    pub(super) fn new(
        device: CUdevice,
        options: GpuOptions,
        allocations: Arc<Allocations>,
        teardown: Teardown,
        contexts: Arc<Contexts<Self>>,
    ) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the driver is initialized, the device is one of its, and the pointer is valid for the call.
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

    /// Makes the context current on this thread, and fails if it is of no use any more.
    pub(super) fn bind(&self) -> Result<()> {
        self.works()?;
        self.make_current()
    }

    /// The failure that ended the context's life, if one did.
    pub(super) fn works(&self) -> Result<()> {
        self.failure.lock().clone().map_or(Ok(()), Err)
    }

    /// The same for cleaning up, which goes on after a failure.
    pub(super) fn make_current(&self) -> Result<()> {
        let mut current = std::ptr::null_mut();
        // SAFETY: the driver is initialized, and the pointer is valid for the call.
        check(unsafe { sys::cuCtxGetCurrent(&raw mut current) }, "cuCtxGetCurrent")?;
        if current == self.raw {
            return Ok(());
        }
        // SAFETY: this context is retained as long as `self` lives.
        check(unsafe { sys::cuCtxSetCurrent(self.raw) }, "cuCtxSetCurrent")
    }

    /// As [`check`], and remembers a failure that ends the context's life.
    pub(super) fn check(&self, result: CUresult, call: &'static str) -> Result<()> {
        check(result, call).map_err(|error| self.remember(error))
    }

    /// The error, remembered if it ends the context's life. The driver repeats it at every later call, which has nothing to do
    /// with it: all get the error as it was remembered.
    pub(super) fn remember(&self, error: DeviceError) -> DeviceError {
        if !error.is_sticky() {
            return error;
        }
        if self.works().is_ok() {
            self.fail(&self.launches.blame(error.clone()));
        }
        self.works().err().filter(DeviceError::is_sticky).unwrap_or(error)
    }

    /// Ends the context's life for this reason, unless it has ended before.
    pub(super) fn fail(&self, why: &DeviceError) {
        self.failure.lock().get_or_insert_with(|| why.clone());
        self.drop_callbacks();
    }

    /// The failure, if there is one that was not told, after waiting for all work: whoever waited for none of it has not heard
    /// of it. What the driver fails with, all contexts of the device fail with; it is told once.
    pub(super) fn take_failure(&self) -> Option<DeviceError> {
        self.synchronize();
        let is_told = |other: &Arc<Self>| {
            let is_other = !std::ptr::eq(Arc::as_ptr(other), self) && other.device == self.device;
            is_other && other.taken.load(Ordering::Relaxed) && other.works().is_err_and(|why| why.is_sticky())
        };
        let is_told = self.contexts.alive().iter().any(is_told);
        self.take_known_failure().filter(|why| !why.is_sticky() || !is_told)
    }

    fn take_known_failure(&self) -> Option<DeviceError> {
        let failure = self.works().err()?;
        (!self.taken.swap(true, Ordering::Relaxed)).then_some(failure)
    }

    /// Waits for all work, and remembers how it ended.
    fn synchronize(&self) {
        if self.bind().is_ok() {
            self.synchronize_current();
        }
    }

    /// The same of a context that is current, and may have failed: work may go on there.
    pub(super) fn synchronize_current(&self) {
        // SAFETY: the context is current. What is no failure of work (a capture that goes on) is nobody's business.
        drop(self.check(unsafe { sys::cuCtxSynchronize() }, "cuCtxSynchronize"));
    }

    /// Tells the context from others that are alive.
    pub(super) fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Lets go of host callbacks, which the driver does not call in a context that failed.
    pub(super) fn drop_callbacks(&self) {
        let gone = callback::take_all(self.identity());
        if !gone.is_empty() {
            // Not here: what they hold may be let go of by calls that wait for whoever called this.
            self.teardown.hand_over(move || drop(gone));
        }
    }

    /// Does something that may wait for queued work, with the context current, on a thread that may. Nobody could be told
    /// of a failure, but one that ends the context's life is remembered.
    pub(super) fn hand_over(self: &Arc<Self>, job: impl FnOnce() -> Result<()> + Send + 'static) {
        let shared = Arc::clone(self);
        self.teardown.hand_over(move || {
            let done = shared.make_current().and_then(|()| job());
            drop(done.map_err(|error| shared.remember(error)));
        });
    }

    /// As [`Self::hand_over`], for what is tried until it says that it is done, and keeps nothing else waiting.
    pub(super) fn hand_over_until(self: &Arc<Self>, mut attempt: impl FnMut() -> bool + Send + 'static) {
        let shared = Arc::clone(self);
        self.teardown.hand_over_until(move || shared.make_current().is_err() || attempt());
    }

    /// Says that something will be handed over later.
    pub(super) fn promise(&self) -> Promised {
        self.teardown.promise()
    }

    /// Has the device's libraries give their workspaces back, in whichever of its contexts they keep them. Whether there was
    /// something.
    pub(super) fn trim(self: &Arc<Self>) -> bool {
        let (mut is_something, mut going) = (false, Vec::new());
        for context in self.contexts.alive() {
            if context.device == self.device {
                is_something |= context.trim_workspaces(&mut going);
            }
            // The end of a context may wait.
            if let Some(last) = Arc::into_inner(context) {
                self.teardown.hand_over(move || drop(last));
            }
        }
        going.into_iter().for_each(Going::free_when_done);
        is_something
    }

    /// Lets this context's device reach the memory of another's, where the hardware can.
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
            // Primary contexts are shared with everybody in the process.
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            result => check(result, "cuCtxEnablePeerAccess"),
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.drop_callbacks();
        // Where another one has the same device, that one hears of what the driver fails with: they are one context to the
        // driver, and waiting for all of its work would spoil a capture there.
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
        // SAFETY: `new` retained it, and nothing made from it is left. Nobody could be told of a failure.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

impl GpuContext {
    /// The shared part, current on this thread.
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

impl Context for GpuContext {
    fn failure(&self) -> Option<DeviceError> {
        self.shared.failure.lock().clone()
    }
}
