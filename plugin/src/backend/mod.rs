//! A plug-in's devices as a backend of the device layer. Each method makes one call of the plug-in,
//! or a replacement if the API lacks the call.
//!
//! It does not repeat the checks of the front. But it checks the plug-in: an impossible answer is
//! an error that names the plug-in and the call. A plug-in never has to destroy anything that work
//! in flight may still use ([`remains`]).
//!
//! It calls no plug-in while it holds a lock that a host callback may need.

#![expect(unsafe_code, reason = "a plug-in's functions are called with handles that it gave")]

mod callback;
mod device;
mod event;
mod memory;
mod remains;
mod stream;
mod timer;

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Backend, Context, DeviceProperties, Dim3, MemoryOnly, Resources, Teardown};

use crate::load::{Devices, Source};
use device::Device;

/// The devices of a plug-in.
pub(crate) struct PluginBackend {
    made: Arc<Devices>,
    devices: Vec<Arc<Device>>,
    teardown: Teardown,
}

impl PluginBackend {
    pub(crate) fn new(made: Arc<Devices>) -> Self {
        let devices =
            (0..made.handles.len()).map(|index| Arc::new(Device::new(made.clone(), index))).collect();
        // The functions of a plug-in may wait for anything.
        Self { made, devices, teardown: Teardown::new_blocking() }
    }

    fn device(&self, ordinal: u32) -> Result<&Arc<Device>> {
        self.devices.get(ordinal as usize).ok_or_else(|| Status::InvalidDevice.into())
    }
}

impl Backend for PluginBackend {
    type Context = PluginContext;

    /// Returns the type of its devices, which is their name in programs.
    #[expect(
        clippy::misnamed_getters,
        reason = "a backend has the name of its devices' type, not the platform's name"
    )]
    fn name(&self) -> &str {
        &self.made.platform.device_type
    }

    fn device_count(&self) -> u32 {
        self.devices.len() as u32
    }

    /// Returns the properties. Those that the API does not have are zero.
    fn properties(&self, ordinal: u32) -> Result<DeviceProperties> {
        let device = self.device(ordinal)?;
        let (platform, handle) = (&self.made.platform, device.handle());
        let name = if handle.hardware.is_empty() { &platform.name } else { &handle.hardware };
        Ok(DeviceProperties {
            name: name.clone(),
            memory_bytes: device.source().usage().map_or(0, |(_, total)| total),
            compute_capability: (0, 0),
            driver: format!("{} ({})", platform.library, platform.layout.name()),
            multiprocessors: 0,
            warp_size: 0,
            threads_per_block_max: 0,
            threads_per_multiprocessor_max: 0,
            block_max: Dim3::new(0, 0, 0),
            grid_max: Dim3::new(0, 0, 0),
            shared_memory_per_block: 0,
            shared_memory_per_block_max: 0,
            registers_per_multiprocessor: 0,
            l2_cache_bytes: 0,
            clock_khz: 0,
            memory_bandwidth: handle.memory_bandwidth,
            pageable_copies: false,
            cooperative_blocks_max: 0,
            bus_id: handle.bus_id.clone(),
        })
    }

    /// Returns whether the devices are the same, because the API copies only on one device.
    fn can_access_peer(&self, from: u32, to: u32) -> Result<bool> {
        Ok(from == to)
    }

    fn create_context(&self, ordinal: u32) -> Result<PluginContext> {
        Ok(PluginContext {
            device: self.device(ordinal)?.clone(),
            teardown: self.teardown.clone(),
            unified: Mutex::default(),
        })
    }

    fn teardown(&self) -> &Teardown {
        &self.teardown
    }
}

/// A context: the device, which all its contexts share.
pub(crate) struct PluginContext {
    device: Arc<Device>,
    teardown: Teardown,
    /// Unified memory whose device side is alive, by address.
    unified: Mutex<HashMap<u64, Arc<memory::Unified>>>,
}

impl Resources for PluginContext {
    type Stream = stream::Stream;
    type Event = event::Event;
    type Module = Infallible;
    type Function = Infallible;
    type Graph = Infallible;
    type BlasHandle = Infallible;
    type DnnHandle = Infallible;
    type Communicator = Infallible;
}

impl MemoryOnly for PluginContext {
    fn who(&self) -> String {
        format!("plug-in '{}'", self.device.platform().name)
    }
}

impl Context for PluginContext {
    /// Returns nothing: the API has no failure that ends a device; each call reports its own.
    fn failure(&self) -> Option<DeviceError> {
        None
    }
}
