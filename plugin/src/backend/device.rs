//! A device: its functions, and the tables of its memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use tfrt_device::error::{DeviceError, Result, Status};

use super::remains::Remains;
use super::{Source, callback};
use crate::abi::{SP_Device, SP_DeviceMemoryBase};
use crate::load::{Calls, Devices, Handle};
use crate::status::{CallStatus, Failure, TF_Status};

/// Memory that the plug-in allocated.
pub(super) struct Allocation {
    /// The plug-in's description, which is passed back to free it.
    pub(super) memory: SP_DeviceMemoryBase,
    /// The size from the address handed out, in bytes.
    pub(super) bytes: u64,
    pub(super) unified: bool,
}

// SAFETY: the pointers belong to the plug-in, and are only passed back to it.
unsafe impl Send for Allocation {}
// SAFETY: the pointers belong to the plug-in, and are only passed back to it.
unsafe impl Sync for Allocation {}

/// A device.
pub(super) struct Device {
    pub(super) id: u64,
    pub(super) made: Arc<Devices>,
    index: usize,
    /// By the address handed out.
    pub(super) allocations: RwLock<BTreeMap<u64, Allocation>>,
    /// Whether some allocation has its own payload, so that copies must pass the description of
    /// their memory.
    pub(super) described: AtomicBool,
    /// Host memory: the plug-in's address, by the address handed out.
    pub(super) host: Mutex<HashMap<usize, usize>>,
    pub(super) remains: Remains,
}

impl Device {
    pub(super) fn new(made: Arc<Devices>, index: usize) -> Self {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            made,
            index,
            allocations: RwLock::default(),
            described: AtomicBool::new(false),
            host: Mutex::default(),
            remains: Remains::default(),
        }
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.made.handles[self.index]
    }

    pub(super) fn platform(&self) -> &crate::load::Platform {
        &self.made.platform
    }

    #[inline]
    pub(super) fn calls(&self) -> &Calls {
        &self.handle().calls
    }

    /// Returns the argument of the plug-in's functions.
    #[inline]
    pub(super) fn pointer(&self) -> *mut SP_Device {
        self.handle().pointer()
    }

    pub(super) fn source(&self) -> Source<'_> {
        Source { replacement: self.made.replacement.as_ref(), calls: self.calls(), device: self.pointer() }
    }

    /// Makes a call that can fail.
    #[inline]
    pub(super) fn call(
        &self,
        name: &'static str,
        call: impl FnOnce(*mut SP_Device, *mut TF_Status),
    ) -> Result<()> {
        let status = CallStatus::new();
        call(self.pointer(), status.pointer());
        status.result().map_err(|failure| self.failed(name, &failure))
    }

    #[cold]
    fn failed(&self, name: &str, failure: &Failure) -> DeviceError {
        self.platform().failed(name, failure)
    }

    /// Creates an error that the plug-in itself did not report.
    #[cold]
    pub(super) fn wrong(&self, status: Status, why: impl std::fmt::Display) -> DeviceError {
        self.platform().wrong(status, why)
    }

    /// Waits for all work on the device.
    pub(super) fn synchronize(&self) -> Result<()> {
        match self.calls().synchronize_all_activity {
            // SAFETY: this is the plug-in's function with its device.
            Some(synchronize) => self.call("synchronize_all_activity", |device, status| unsafe {
                synchronize(device, status);
            }),
            // An older plug-in lacks this function, but its streams tell what still runs.
            None => self.remains.wait(self),
        }
    }
}

impl Drop for Device {
    /// Waits for the device, and releases everything.
    fn drop(&mut self) {
        // A failure could not be reported. A device that fails here fails everywhere.
        drop(self.synchronize());
        self.remains.destroy_all(self);
        callback::forget(self.id);
        let allocations = std::mem::take(&mut *self.allocations.write());
        for allocation in allocations.into_values() {
            self.deallocate(&allocation);
        }
        let host = std::mem::take(&mut *self.host.lock());
        for memory in host.into_values() {
            self.source().deallocate_host(std::ptr::with_exposed_provenance_mut(memory));
        }
    }
}
