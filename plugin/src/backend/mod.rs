//! A plug-in's devices as a backend of the device layer: each method one call of the plug-in's, or what the API has it
//! replaced by.
//!
//! It checks nothing that the front checks. What a plug-in says is checked here: answers that cannot be are errors which
//! name the plug-in and the call. A plug-in is asked to destroy nothing that work in flight may still use ([`remains`]).
//!
//! It never calls a plug-in while it holds a lock that a host callback may want.

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

/// A plug-in's devices.
pub(crate) struct PluginBackend {
    made: Arc<Devices>,
    devices: Vec<Arc<Device>>,
    teardown: Teardown,
}

impl PluginBackend {
    pub(crate) fn new(made: Arc<Devices>) -> Self {
        let devices =
            (0..made.handles.len()).map(|index| Arc::new(Device::new(made.clone(), index))).collect();
        // What a plug-in's functions wait for is not known.
        Self { made, devices, teardown: Teardown::waiting() }
    }

    fn device(&self, ordinal: u32) -> Result<&Arc<Device>> {
        self.devices.get(ordinal as usize).ok_or_else(|| Status::InvalidDevice.into())
    }
}

impl Backend for PluginBackend {
    type Context = PluginContext;

    /// The type of its devices, as programs name them.
    #[expect(
        clippy::misnamed_getters,
        reason = "a backend is called by its devices' type, not by the platform's name"
    )]
    fn name(&self) -> &str {
        &self.made.platform.device_type
    }

    fn device_count(&self) -> u32 {
        self.devices.len() as u32
    }

    /// What the API does not tell is zero.
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

    /// The API copies on one device alone.
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
    /// Unified memory of which the device has its side, by its address.
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
    /// The API knows no failure that ends a device's life; each call tells its own.
    fn failure(&self) -> Option<DeviceError> {
        None
    }
}
