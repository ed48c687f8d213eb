//! Finds GPUs and describes them.

#![expect(unsafe_code, reason = "calls of the driver's C interface")]

use std::ffi::c_char;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute as Attribute};
use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Backend, Contexts, DeviceProperties, Dim3, Teardown};

use super::GpuOptions;
use super::context::{GpuContext, Shared};
use super::driver::{self, check, version_text};
use super::memory::Allocations;

/// The driver, which is known to be present, and its devices.
pub(crate) struct GpuBackend {
    devices: Vec<CUdevice>,
    driver_version: i32,
    options: GpuOptions,
    /// The allocations of all devices.
    allocations: Arc<Allocations>,
    /// The existing contexts, each of which may access the others' memory.
    contexts: Arc<Contexts<Shared>>,
    teardown: Teardown,
}

impl GpuBackend {
    /// Searches for the driver and for devices.
    ///
    /// # Errors
    /// The reason why there are none: [`Status::StubLibrary`] without a driver library,
    /// [`Status::SystemDriverMismatch`] if it is too old, [`Status::NoDevice`] if it finds no
    /// device.
    pub(crate) fn discover(options: GpuOptions) -> Result<Self> {
        let driver_version = driver::start()?;
        let mut count = 0;
        // SAFETY: the driver is initialized, and the pointer is valid for the call.
        check(unsafe { sys::cuDeviceGetCount(&raw mut count) }, "cuDeviceGetCount")?;
        let devices = (0..count).map(device).collect::<Result<Vec<_>>>()?;
        if devices.is_empty() {
            return Err(DeviceError::new(Status::NoDevice, "there is a CUDA driver, but it finds no device"));
        }
        let (allocations, contexts) = (Arc::default(), Arc::default());
        let teardown = Teardown::new_blocking();
        Ok(Self { devices, driver_version, options, allocations, contexts, teardown })
    }

    fn device(&self, ordinal: u32) -> Result<CUdevice> {
        self.devices.get(ordinal as usize).copied().ok_or_else(|| Status::InvalidDevice.into())
    }
}

fn device(ordinal: i32) -> Result<CUdevice> {
    let mut device = 0;
    // SAFETY: the driver is initialized, and the pointer is valid for the call.
    check(unsafe { sys::cuDeviceGet(&raw mut device, ordinal) }, "cuDeviceGet")?;
    Ok(device)
}

/// Returns an attribute. A negative number from the driver becomes zero.
pub(super) fn attribute(device: CUdevice, attribute: Attribute) -> Result<u32> {
    let mut value = 0;
    // SAFETY: the driver is initialized, and the pointer is valid for the call.
    check(unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) }, "cuDeviceGetAttribute")?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// Returns the C string that `fill` writes into the buffer it is given.
fn text(fill: impl FnOnce(*mut c_char, i32) -> Result<()>) -> Result<String> {
    let mut buffer = [0u8; 256];
    // Passes one byte less than the buffer has, so that a zero always follows the text.
    fill(buffer.as_mut_ptr().cast(), buffer.len() as i32 - 1)?;
    let length = buffer.iter().position(|&byte| byte == 0).unwrap_or(buffer.len());
    Ok(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

/// Returns the device's name.
pub(super) fn name(device: CUdevice) -> Result<String> {
    // SAFETY: the buffer has the length that is given.
    text(|p, n| check(unsafe { sys::cuDeviceGetName(p, n, device) }, "cuDeviceGetName"))
}

impl Backend for GpuBackend {
    type Context = GpuContext;

    fn name(&self) -> &'static str {
        "cuda"
    }

    fn device_count(&self) -> u32 {
        self.devices.len() as u32
    }

    fn properties(&self, ordinal: u32) -> Result<DeviceProperties> {
        let device = self.device(ordinal)?;
        let get = |wanted| attribute(device, wanted);
        let extents = |x, y, z| Ok::<_, DeviceError>(Dim3::new(get(x)?, get(y)?, get(z)?));
        let mut memory_bytes = 0;
        // SAFETY: the driver is initialized, and the pointer is valid for the call.
        check(unsafe { sys::cuDeviceTotalMem_v2(&raw mut memory_bytes, device) }, "cuDeviceTotalMem")?;
        let bus_id =
            // SAFETY: the buffer has the length that is given.
            text(|p, n| check(unsafe { sys::cuDeviceGetPCIBusId(p, n, device) }, "cuDeviceGetPCIBusId"))?;
        // Attributes that are only displayed may be missing: they are no reason to reject a device.
        let told = |wanted| get(wanted).unwrap_or(0);
        // Twice the clock, because the memory of all supported devices transfers on both edges.
        let memory_khz = u64::from(told(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
        let bus_bits = u64::from(told(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
        Ok(DeviceProperties {
            name: name(device)?,
            memory_bytes: memory_bytes as u64,
            compute_capability: (
                get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            driver: format!("CUDA {}", version_text(self.driver_version)),
            multiprocessors: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            warp_size: get(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            threads_per_block_max: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            threads_per_multiprocessor_max: get(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
            )?,
            block_max: extents(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
            )?,
            grid_max: extents(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
            )?,
            shared_memory_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            shared_memory_per_block_max: get(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?,
            registers_per_multiprocessor: get(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
            )?,
            l2_cache_bytes: u64::from(told(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)),
            clock_khz: told(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            memory_bandwidth: memory_khz * 1000 * 2 * bus_bits / 8,
            // The driver accepts pageable memory, but the caller waits while it is copied through
            // pinned memory.
            pageable_copies: false,
            cooperative_blocks_max: match get(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? {
                0 => 0,
                _ => u64::MAX,
            },
            bus_id,
        })
    }

    fn can_access_peer(&self, from: u32, to: u32) -> Result<bool> {
        let (from, to) = (self.device(from)?, self.device(to)?);
        let mut can = 0;
        // SAFETY: the driver is initialized, and the pointer is valid for the call.
        check(unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, from, to) }, "cuDeviceCanAccessPeer")?;
        Ok(can != 0)
    }

    fn create_context(&self, ordinal: u32) -> Result<GpuContext> {
        let (allocations, teardown) = (Arc::clone(&self.allocations), self.teardown.clone());
        let contexts = Arc::clone(&self.contexts);
        let device = self.device(ordinal)?;
        let shared = Arc::new(Shared::new(device, self.options, allocations, teardown, contexts)?);
        // Added before the others are searched: if two contexts are created at once, one sees the
        // other.
        self.contexts.add(&shared);
        for other in self.contexts.alive().iter().filter(|other| !Arc::ptr_eq(other, &shared)) {
            // If this fails, copies between the two devices pass through the host: a device reaches
            // a limited number of others, and another context may have failed.
            drop(shared.reach(other));
            drop(other.reach(&shared));
        }
        Ok(GpuContext { shared, managed: Mutex::default() })
    }

    fn teardown(&self) -> &Teardown {
        &self.teardown
    }

    fn take_failures(&self) -> Vec<DeviceError> {
        // Contexts that are gone have reported their failures by then.
        self.teardown.finish();
        self.contexts.take_failures(Shared::take_failure)
    }
}
