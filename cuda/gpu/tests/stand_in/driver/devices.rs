//! Initialization, devices and contexts.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::sys::CUdevice_attribute as DeviceAttribute;

use super::{entry_points, put};
use crate::state::{Answer, Context, DEVICE_BYTES, DEVICES, INVALID_VALUE, all, violation};
use crate::stream::Stream;

/// `CUDA_ERROR_NO_DEVICE`.
const NO_DEVICE: c_int = 100;

fn text(place: *mut c_char, bytes: c_int, text: &str) -> Answer {
    let length = text.len().min(bytes as usize - 1);
    // SAFETY: the pointer is an entry point's buffer of `bytes` bytes, which the text and a zero do
    // not exceed.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast(), length);
        place.add(length).write(0);
    }
    Ok(())
}

static STARTED: AtomicU32 = AtomicU32::new(0);

fn require_started(call: &str) {
    if STARTED.load(Ordering::SeqCst) == 0 {
        violation(format_args!("{call} before cuInit"));
    }
}

entry_points! {
    fn cuInit(flags: c_uint) {
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        if std::env::var_os("TFRT_STAND_IN_WITHOUT_DEVICE").is_some() {
            return Err(NO_DEVICE);
        }
        STARTED.store(1, Ordering::SeqCst);
        Ok(())
    }
    fn cuDriverGetVersion(version: *mut c_int) { put(version, 13_000) }
    fn cuDeviceGetCount(count: *mut c_int) {
        require_started("cuDeviceGetCount");
        put(count, DEVICES as c_int)
    }
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        require_started("cuDeviceGet");
        put(device, Context::of_device(ordinal)?.device as c_int)
    }
    fn cuDeviceGetName(name: *mut c_char, bytes: c_int, device: c_int) {
        text(name, bytes, &format!("Stand-in GPU {device}"))
    }
    fn cuDeviceGetPCIBusId(id: *mut c_char, bytes: c_int, device: c_int) {
        text(id, bytes, &format!("0000:{device:02}:00.0"))
    }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) { put(bytes, DEVICE_BYTES) }
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) {
        use DeviceAttribute as A;
        Context::of_device(device)?;
        let known = [
            (A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024),
            (A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024),
            (A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024),
            (A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64),
            (A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, c_int::MAX),
            (A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535),
            (A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535),
            (A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10),
            (A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 << 10),
            (A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536),
            (A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048),
            (A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 2),
            (A::CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32),
            (A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9),
            (A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0),
            (A::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1),
            (A::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1),
            (A::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1),
            // The second device models systems on which the host must wait for the device.
            (A::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, c_int::from(device == 0)),
        ];
        // Unknown attributes fail, as in a driver that has dropped one. The backend must tolerate
        // that for attributes that are only displayed.
        put(value, known.iter().find(|(known, _)| *known as c_int == attribute).ok_or(INVALID_VALUE)?.1)
    }
    fn cuDeviceCanAccessPeer(can: *mut c_int, from: c_int, to: c_int) { put(can, c_int::from(from != to)) }
    fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) {
        require_started("cuDevicePrimaryCtxRetain");
        let found = Context::of_device(device)?;
        found.retain();
        put(context, found.raw())
    }
    fn cuDevicePrimaryCtxRelease_v2(device: c_int) {
        Context::of_device(device)?.release();
        Ok(())
    }
    fn cuCtxGetCurrent(context: *mut *mut c_void) { put(context, Context::current_raw()) }
    fn cuCtxSetCurrent(context: *mut c_void) {
        Context::from_raw(context).make_current();
        Ok(())
    }
    fn cuCtxSynchronize() {
        let context = Context::current("cuCtxSynchronize");
        if let Some(capture) = all::<Stream>(context).iter().find_map(|stream| stream.capture.lock().clone()) {
            capture.spoil();
            // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
            return Err(900);
        }
        context.synchronize();
        context.failure().map_or(Ok(()), Err)
    }
    fn cuCtxEnablePeerAccess(_context: *mut c_void, flags: c_uint) {
        Context::working("cuCtxEnablePeerAccess")?;
        // Other users of the primary context may have enabled it before.
        if flags == 0 { Err(704) } else { Err(INVALID_VALUE) }
    }
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        Context::working("cuCtxGetStreamPriorityRange")?;
        put(least, 0)?;
        put(greatest, -5)
    }
}
