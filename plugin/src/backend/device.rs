//! A device: its functions, and the tables of what it was asked for.

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

/// Memory that the plug-in gave.
pub(super) struct Allocation {
    /// As it was given, to be given back.
    pub(super) memory: SP_DeviceMemoryBase,
    /// Bytes from the address handed out.
    pub(super) bytes: u64,
    pub(super) unified: bool,
}

// SAFETY: its pointers are the plug-in's, and only handed back to it.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

/// A device.
pub(super) struct Device {
    pub(super) id: u64,
    pub(super) made: Arc<Devices>,
    index: usize,
    /// By the address handed out.
    pub(super) allocations: RwLock<BTreeMap<u64, Allocation>>,
    /// Whether some allocation has a member of the plug-in's own, so that copies must say which they are in.
    pub(super) described: AtomicBool,
    /// Host memory: what the plug-in gave, by what was handed out.
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

    /// What the plug-in's functions are given.
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

    /// Something wrong that the plug-in did not tell itself.
    #[cold]
    pub(super) fn wrong(&self, status: Status, why: impl std::fmt::Display) -> DeviceError {
        self.platform().wrong(status, why)
    }

    /// Waits for all work on the device.
    pub(super) fn synchronize(&self) -> Result<()> {
        match self.calls().synchronize_all_activity {
            // SAFETY: the plug-in's function and its device.
            Some(synchronize) => self.call("synchronize_all_activity", |device, status| unsafe {
                synchronize(device, status);
            }),
            // An older plug-in: what still runs is known by its streams.
            None => self.remains.wait(self),
        }
    }
}

impl Drop for Device {
    /// Waits for the device, and gives everything back.
    fn drop(&mut self) {
        // A device that fails here fails everywhere.
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
