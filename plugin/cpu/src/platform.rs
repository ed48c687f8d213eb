//! The platform, which a core requests first, in the core's layout.

use std::ffi::c_int;
use std::mem::offset_of;
use std::sync::{Arc, OnceLock};

use tfrt_cpu::CpuOptions;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::DynBackend;
use tfrt_plugin::abi::{
    Layout, SE_CreateDeviceParams, SE_CreateStreamExecutorParams, SE_MAJOR, SE_MINOR, SE_PATCH,
    SE_PlatformRegistrationParams, SP_Device, SP_Platform, SP_PlatformFns, SP_StreamExecutor, SP_TimerFns,
    Zeroed, released, sizes,
};
use tfrt_plugin::status::TF_Status;

use super::core_status::answer;
use super::device::Served;
use super::executor;
use super::fill::{fill, size_of_core};

/// The greatest number of devices.
const MAX_DEVICES: u32 = 64;

/// Returns the devices, created at the first call.
fn backend() -> Result<&'static Arc<dyn DynBackend>> {
    static BACKEND: OnceLock<Result<Arc<dyn DynBackend>>> = OnceLock::new();
    let backend = BACKEND.get_or_init(|| {
        let count = match std::env::var("TFRT_CPU_PLUGIN_DEVICES") {
            Ok(text) => {
                text.parse().ok().filter(|count| (1..=MAX_DEVICES).contains(count)).ok_or_else(|| {
                    let detail =
                        format!("TFRT_CPU_PLUGIN_DEVICES is '{text}'; it is a number up to {MAX_DEVICES}");
                    DeviceError::new(Status::InvalidValue, detail)
                })?
            }
            Err(_) => 1,
        };
        tfrt_cpu::open(&CpuOptions { devices: count, ..CpuOptions::default() })
    });
    backend.as_ref().map_err(Clone::clone)
}

/// Fills the structs that `SE_InitPlugin` gets.
///
/// # Safety
/// The pointer is valid as the API requires of a core.
pub(crate) unsafe fn register(params: *mut SE_PlatformRegistrationParams) -> Result<()> {
    // SAFETY: the caller promises a pointer as the API requires.
    let given = unsafe { &mut *params };
    let least = size_of::<SE_PlatformRegistrationParams>();
    if given.struct_size < least || given.platform.is_null() || given.platform_fns.is_null() {
        let detail = format!("the core's registration has {} bytes; {least} are needed", given.struct_size);
        return Err(DeviceError::new(Status::IllegalState, detail));
    }
    if given.major_version != SE_MAJOR {
        let detail = format!(
            "the core has version {}.{}.{} of the API, and this plug-in {SE_MAJOR}.{SE_MINOR}.{SE_PATCH}",
            given.major_version, given.minor_version, given.patch_version
        );
        return Err(DeviceError::new(Status::IllegalState, detail));
    }
    let count = backend()?.device_count();
    // SAFETY: the structs are those of the API, each as long as it states.
    unsafe {
        match Layout::of(size_of_core(given.platform), size_of_core(given.platform_fns)) {
            Layout::Rfc => register_rfc(given, count)?,
            Layout::Released => register_released(given)?,
        }
    }
    given.destroy_platform = Some(destroy_platform);
    given.destroy_platform_fns = Some(destroy_platform_fns);
    Ok(())
}

/// Checks that a core's struct has the members that every core needs.
unsafe fn require<T>(name: &str, to: *const T, least: usize) -> Result<()> {
    // SAFETY: the caller passes a struct of the API.
    let size = unsafe { size_of_core(to) };
    if size < least {
        let detail = format!("the core's {name} has {size} bytes; {least} are needed");
        return Err(DeviceError::new(Status::IllegalState, detail));
    }
    Ok(())
}

/// Sets the functions that both layouts have.
macro_rules! functions {
    ($type:ty, $size:expr) => {{
        let mut fns = <$type>::zeroed();
        fns.struct_size = $size;
        fns.create_device = Some(create_device);
        fns.destroy_device = Some(destroy_device);
        fns.create_stream_executor = Some(create_stream_executor);
        fns.destroy_stream_executor = Some(destroy_stream_executor);
        fns.create_timer_fns = Some(create_timer_fns);
        fns.destroy_timer_fns = Some(destroy_timer_fns);
        fns
    }};
}

unsafe fn register_rfc(given: &SE_PlatformRegistrationParams, count: u32) -> Result<()> {
    let mut platform = SP_Platform::zeroed();
    platform.struct_size = size_of::<SP_Platform>();
    (platform.name, platform.r#type) = (c"TFRT_CPU".as_ptr(), c"TFRT_CPU".as_ptr());
    platform.visible_device_count = count as usize;
    let fns = functions!(SP_PlatformFns, sizes::PLATFORM_FNS_MACRO);
    // SAFETY: the structs are the core's, each as long as it states.
    unsafe {
        require("SP_Platform", given.platform, size_of::<SP_Platform>())?;
        require("SP_PlatformFns", given.platform_fns, sizes::PLATFORM_FNS_MACRO)?;
        fill(given.platform, &platform, platform.struct_size);
        fill(given.platform_fns, &fns, fns.struct_size);
    }
    Ok(())
}

unsafe fn register_released(given: &SE_PlatformRegistrationParams) -> Result<()> {
    let mut platform = released::SP_Platform::zeroed();
    platform.struct_size = sizes::RELEASED_PLATFORM;
    (platform.name, platform.r#type) = (c"TFRT_CPU".as_ptr(), c"TFRT_CPU".as_ptr());
    // Selects the core's allocator, which allocates memory on demand, because the host has other
    // users.
    (platform.use_bfc_allocator, platform.force_memory_growth) = (1, 1);
    let mut fns = functions!(released::SP_PlatformFns, size_of::<released::SP_PlatformFns>());
    fns.get_device_count = Some(get_device_count);
    fns.create_device_fns = Some(create_device_fns);
    fns.destroy_device_fns = Some(destroy_device_fns);
    // SAFETY: the structs are the core's, each as long as it states.
    unsafe {
        let least = offset_of!(released::SP_Platform, supports_unified_memory);
        require("SP_Platform", given.platform, least)?;
        require("SP_PlatformFns", given.platform_fns, fns.struct_size)?;
        fill(given.platform.cast(), &platform, platform.struct_size);
        fill(given.platform_fns.cast(), &fns, fns.struct_size);
    }
    Ok(())
}

unsafe extern "C-unwind" fn destroy_platform(_platform: *mut SP_Platform) {}

unsafe extern "C-unwind" fn destroy_platform_fns(_fns: *mut SP_PlatformFns) {}

unsafe extern "C-unwind" fn get_device_count(
    _platform: *const SP_Platform,
    count: *mut c_int,
    status: *mut TF_Status,
) {
    let found = backend().map(|backend| {
        // SAFETY: the pointer is the core's place for the number.
        unsafe { count.write(backend.device_count() as c_int) };
    });
    answer(status, found);
}

unsafe extern "C-unwind" fn create_device(
    _platform: *const SP_Platform,
    params: *mut SE_CreateDeviceParams,
    status: *mut TF_Status,
) {
    // SAFETY: the core passes structs as the API requires.
    let (ordinal, device) = unsafe { ((*params).ordinal, (*params).device) };
    let made = u32::try_from(ordinal)
        .ok()
        .zip(backend().ok())
        .filter(|(ordinal, backend)| *ordinal < backend.device_count())
        .ok_or_else(|| DeviceError::new(Status::InvalidDevice, format!("there is no device {ordinal}")))
        .and_then(|(ordinal, backend)| Served::create(&**backend, ordinal));
    let filled = made.map(|handle| {
        let mut ours = released::SP_Device::zeroed();
        ours.struct_size = size_of::<released::SP_Device>();
        (ours.ordinal, ours.device_handle) = (ordinal, handle);
        ours.hardware_name = c"TFRT CPU device".as_ptr();
        ours.device_vendor = c"TFRT".as_ptr();
        ours.pci_bus_id = c"".as_ptr();
        // SAFETY: the struct is the core's, as long as it states. One of the two layouts is a
        // prefix of the other.
        unsafe { fill(device.cast(), &ours, ours.struct_size) };
    });
    answer(status, filled);
}

unsafe extern "C-unwind" fn destroy_device(_platform: *const SP_Platform, device: *mut SP_Device) {
    // SAFETY: `create_device` filled the struct. A device is destroyed once, and the handle is null
    // from then on.
    unsafe {
        let handle = std::mem::replace(&mut (*device).device_handle, std::ptr::null_mut());
        if !handle.is_null() {
            drop(Box::from_raw(handle.cast::<Arc<Served>>()));
        }
    }
}

unsafe extern "C-unwind" fn create_device_fns(
    _platform: *const SP_Platform,
    params: *mut released::SE_CreateDeviceFnsParams,
    status: *mut TF_Status,
) {
    let mut fns = released::SP_DeviceFns::zeroed();
    fns.struct_size = size_of::<released::SP_DeviceFns>();
    fns.get_numa_node = Some(no_numa_node);
    fns.get_memory_bandwidth = Some(unknown_bandwidth);
    fns.get_gflops = Some(unknown_gflops);
    // SAFETY: the core passes structs as the API requires.
    unsafe { fill((*params).device_fns, &fns, fns.struct_size) };
    answer(status, Ok(()));
}

unsafe extern "C-unwind" fn destroy_device_fns(
    _platform: *const SP_Platform,
    _fns: *mut released::SP_DeviceFns,
) {
}

unsafe extern "C-unwind" fn no_numa_node(_device: *const SP_Device) -> i32 {
    -1
}

unsafe extern "C-unwind" fn unknown_bandwidth(_device: *const SP_Device) -> i64 {
    -1
}

unsafe extern "C-unwind" fn unknown_gflops(_device: *const SP_Device) -> f64 {
    -1.0
}

unsafe extern "C-unwind" fn create_stream_executor(
    platform: *const SP_Platform,
    params: *mut SE_CreateStreamExecutorParams,
    status: *mut TF_Status,
) {
    // SAFETY: the core passes structs as the API requires.
    unsafe {
        let to = (*params).stream_executor;
        // The size of the platform is what was filled at its registration. It only tells the
        // layout.
        match Layout::of(size_of_core(platform), 0).of_stream_executor(size_of_core(to)) {
            Layout::Rfc => {
                let ours = executor::rfc();
                fill(to, &ours, ours.struct_size);
            }
            Layout::Released => {
                let ours = executor::of_release();
                fill(to.cast(), &ours, ours.struct_size);
            }
        }
    }
    answer(status, Ok(()));
}

unsafe extern "C-unwind" fn destroy_stream_executor(
    _platform: *const SP_Platform,
    _executor: *mut SP_StreamExecutor,
) {
}

unsafe extern "C-unwind" fn create_timer_fns(
    _platform: *const SP_Platform,
    fns: *mut SP_TimerFns,
    status: *mut TF_Status,
) {
    let mut ours = SP_TimerFns::zeroed();
    ours.struct_size = size_of::<SP_TimerFns>();
    ours.nanoseconds = Some(executor::nanoseconds);
    // SAFETY: the struct is the core's, as long as it states.
    unsafe { fill(fns, &ours, ours.struct_size) };
    answer(status, Ok(()));
}

unsafe extern "C-unwind" fn destroy_timer_fns(_platform: *const SP_Platform, _fns: *mut SP_TimerFns) {}
