//! The stream executor: each function makes one call of the backend and reports its result as a
//! status.
//!
//! The same contract applies to all functions: pointers are valid as the API requires of a core,
//! and handles were created here and have not been destroyed.

use std::ffi::c_void;

use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{DynContext, Erased, Pattern};
use tfrt_plugin::abi::{
    SE_StatusCallbackFn, SP_AllocatorStats, SP_Device, SP_DeviceMemoryBase, SP_Event, SP_Stream,
    SP_StreamExecutor, SP_Timer, TF_Bool, Zeroed, released,
};
use tfrt_plugin::status::TF_Status;

use super::core_status::{answer, core_status};
use super::device::{event, served, stream, timer};

/// The states of events, by their numbers in the C header.
const ERROR: i32 = 1;
const PENDING: i32 = 2;
const COMPLETE: i32 = 3;

type Device = *const SP_Device;
type Memory = SP_DeviceMemoryBase;

/// Sets the functions that both layouts have.
macro_rules! executor {
    ($type:ty $(, $more:ident: $function:expr)*) => {{
        let mut executor = <$type>::zeroed();
        executor.struct_size = size_of::<$type>();
        executor.allocate = Some(allocate);
        executor.deallocate = Some(deallocate);
        executor.host_memory_allocate = Some(host_memory_allocate);
        executor.host_memory_deallocate = Some(host_memory_deallocate);
        executor.get_allocator_stats = Some(get_allocator_stats);
        executor.device_memory_usage = Some(device_memory_usage);
        executor.create_stream = Some(create_stream);
        executor.destroy_stream = Some(destroy_stream);
        executor.create_stream_dependency = Some(create_stream_dependency);
        executor.get_stream_status = Some(get_stream_status);
        executor.create_event = Some(create_event);
        executor.destroy_event = Some(destroy_event);
        executor.get_event_status = Some(get_event_status);
        executor.record_event = Some(record_event);
        executor.wait_for_event = Some(wait_for_event);
        executor.create_timer = Some(create_timer);
        executor.destroy_timer = Some(destroy_timer);
        executor.start_timer = Some(start_timer);
        executor.stop_timer = Some(stop_timer);
        executor.memcpy_dtoh = Some(memcpy_dtoh);
        executor.memcpy_htod = Some(memcpy_htod);
        executor.memcpy_dtod = Some(memcpy_dtod);
        executor.sync_memcpy_dtoh = Some(sync_memcpy_dtoh);
        executor.sync_memcpy_htod = Some(sync_memcpy_htod);
        executor.sync_memcpy_dtod = Some(sync_memcpy_dtod);
        executor.block_host_for_event = Some(block_host_for_event);
        executor.block_host_until_done = Some(block_host_until_done);
        executor.synchronize_all_activity = Some(synchronize_all_activity);
        executor.host_callback = Some(host_callback);
        $(executor.$more = Some($function);)*
        executor
    }};
}

/// Returns the functions in the RFC's layout.
pub(crate) fn rfc() -> SP_StreamExecutor {
    executor!(SP_StreamExecutor)
}

/// Returns the functions in the released layout.
pub(crate) fn of_release() -> released::SP_StreamExecutor {
    executor!(released::SP_StreamExecutor, mem_zero: mem_zero, memset: memset, memset32: memset32)
}

/// Stores a created object in the core's place for it, or reports the error.
unsafe fn give<T>(place: *mut T, made: Result<T>, status: *mut TF_Status) {
    let given = made.map(|made| {
        // SAFETY: the pointer is the core's place for the result.
        unsafe { place.write(made) };
    });
    answer(status, given);
}

unsafe extern "C-unwind" fn allocate(device: Device, size: u64, _memory_space: i64, memory: *mut Memory) {
    // SAFETY: the core upholds the contract of this module.
    unsafe {
        (*memory).opaque = std::ptr::null_mut();
        // An allocation of the backend has at least one byte.
        if let Ok(address) = served(device).context.allocate(size.max(1)) {
            (*memory).opaque = std::ptr::without_provenance_mut(address as usize);
            (*memory).size = size;
        }
    }
}

unsafe extern "C-unwind" fn deallocate(device: Device, memory: *mut Memory) {
    // SAFETY: the core upholds the contract of this module. The backend ignores memory that is not
    // the device's.
    unsafe { drop(served(device).context.free((*memory).opaque.addr() as u64)) };
}

unsafe extern "C-unwind" fn host_memory_allocate(device: Device, size: u64) -> *mut c_void {
    let Ok(bytes) = usize::try_from(size) else { return std::ptr::null_mut() };
    // SAFETY: the core upholds the contract of this module.
    let memory = unsafe { served(device) }.context.allocate_host(bytes.max(1));
    memory.map_or(std::ptr::null_mut(), <*mut u8>::cast)
}

unsafe extern "C-unwind" fn host_memory_deallocate(device: Device, memory: *mut c_void) {
    // SAFETY: the core upholds the contract of this module. The backend rejects memory that it did
    // not allocate.
    unsafe { drop(served(device).context.free_host(memory.cast())) };
}

unsafe extern "C-unwind" fn get_allocator_stats(_device: Device, _stats: *mut SP_AllocatorStats) -> TF_Bool {
    0
}

unsafe extern "C-unwind" fn device_memory_usage(device: Device, free: *mut i64, total: *mut i64) -> TF_Bool {
    // SAFETY: the core upholds the contract of this module.
    unsafe {
        let Ok(info) = served(device).context.memory_info() else { return 0 };
        free.write(i64::try_from(info.free).unwrap_or(i64::MAX));
        total.write(i64::try_from(info.total).unwrap_or(i64::MAX));
    }
    1
}

unsafe extern "C-unwind" fn create_stream(device: Device, place: *mut SP_Stream, status: *mut TF_Status) {
    // SAFETY: the core upholds the contract of this module.
    unsafe { give(place, served(device).create_stream(), status) };
}

unsafe extern "C-unwind" fn destroy_stream(device: Device, handle: SP_Stream) {
    // SAFETY: the core upholds the contract of this module.
    unsafe { served(device) }.destroy_stream(handle);
}

unsafe extern "C-unwind" fn create_stream_dependency(
    device: Device,
    dependent: SP_Stream,
    other: SP_Stream,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    let (served, dependent, other) = unsafe { (served(device), stream(dependent), stream(other)) };
    let made = served.create_event(false).and_then(|event| {
        served.context.record_event(&event, other)?;
        served.context.wait_event(dependent, &event)
    });
    answer(status, made);
}

unsafe extern "C-unwind" fn get_stream_status(device: Device, handle: SP_Stream, status: *mut TF_Status) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { served(device).context.query_stream(stream(handle)) }.map(drop));
}

unsafe extern "C-unwind" fn create_event(device: Device, place: *mut SP_Event, status: *mut TF_Status) {
    // SAFETY: the core upholds the contract of this module.
    unsafe {
        let made = served(device).create_event(false);
        give(place, made.map(|event| Box::into_raw(Box::new(event)).cast()), status);
    }
}

unsafe extern "C-unwind" fn destroy_event(_device: Device, handle: SP_Event) {
    // SAFETY: `create_event` leaked the box, and the core destroys an event once.
    drop(unsafe { Box::from_raw(handle.cast::<Erased>()) });
}

unsafe extern "C-unwind" fn get_event_status(device: Device, handle: SP_Event) -> i32 {
    // SAFETY: the core upholds the contract of this module.
    match unsafe { served(device).context.query_event(event(handle)) } {
        Ok(true) => COMPLETE,
        Ok(false) => PENDING,
        Err(_) => ERROR,
    }
}

unsafe extern "C-unwind" fn record_event(
    device: Device,
    handle: SP_Stream,
    mark: SP_Event,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { served(device).context.record_event(event(mark), stream(handle)) });
}

unsafe extern "C-unwind" fn wait_for_event(
    device: Device,
    handle: SP_Stream,
    mark: SP_Event,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { served(device).context.wait_event(stream(handle), event(mark)) });
}

unsafe extern "C-unwind" fn create_timer(device: Device, place: *mut SP_Timer, status: *mut TF_Status) {
    // SAFETY: the core upholds the contract of this module.
    unsafe { give(place, served(device).create_timer(), status) };
}

unsafe extern "C-unwind" fn destroy_timer(_device: Device, handle: SP_Timer) {
    // SAFETY: `create_timer` leaked the box, and the core destroys a timer once.
    drop(unsafe { Box::from_raw(handle.cast::<super::device::ServedTimer>()) });
}

unsafe extern "C-unwind" fn start_timer(
    device: Device,
    handle: SP_Stream,
    clock: SP_Timer,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { served(device).context.record_event(&timer(clock).start, stream(handle)) });
}

unsafe extern "C-unwind" fn stop_timer(
    device: Device,
    handle: SP_Stream,
    clock: SP_Timer,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { served(device).context.record_event(&timer(clock).stop, stream(handle)) });
}

/// Returns the time of a timer, for the platform's timer functions.
pub(crate) unsafe extern "C-unwind" fn nanoseconds(clock: SP_Timer) -> u64 {
    // SAFETY: the core upholds the contract of this module.
    unsafe { timer(clock) }.nanoseconds()
}

unsafe fn to_host(
    device: Device,
    on: &Erased,
    dst: *mut c_void,
    src: *const Memory,
    size: u64,
) -> Result<()> {
    // SAFETY: the core upholds the contract of this module. The host's memory has `size` bytes
    // until the stream has passed the copy.
    unsafe {
        let served = served(device);
        let from = served.part(src, size)?;
        served.context.copy_device_to_host(on, dst.cast(), from, size as usize)
    }
}

unsafe fn to_device(
    device: Device,
    on: &Erased,
    dst: *const Memory,
    src: *const c_void,
    size: u64,
) -> Result<()> {
    // SAFETY: the core upholds the contract of this module. The host's memory has `size` bytes
    // until the stream has passed the copy.
    unsafe {
        let served = served(device);
        let to = served.part(dst, size)?;
        served.context.copy_host_to_device(on, to, src.cast(), size as usize)
    }
}

unsafe fn within(
    device: Device,
    on: &Erased,
    dst: *const Memory,
    src: *const Memory,
    size: u64,
) -> Result<()> {
    // SAFETY: the core upholds the contract of this module.
    unsafe {
        let served = served(device);
        let (to, from) = (served.part(dst, size)?, served.part(src, size)?);
        served.context.copy_device_to_device(on, to, from, size)
    }
}

unsafe extern "C-unwind" fn memcpy_dtoh(
    device: Device,
    handle: SP_Stream,
    dst: *mut c_void,
    src: *const Memory,
    size: u64,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { to_host(device, stream(handle), dst, src, size) });
}

unsafe extern "C-unwind" fn memcpy_htod(
    device: Device,
    handle: SP_Stream,
    dst: *mut Memory,
    src: *const c_void,
    size: u64,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { to_device(device, stream(handle), dst, src, size) });
}

unsafe extern "C-unwind" fn memcpy_dtod(
    device: Device,
    handle: SP_Stream,
    dst: *mut Memory,
    src: *const Memory,
    size: u64,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { within(device, stream(handle), dst, src, size) });
}

unsafe extern "C-unwind" fn sync_memcpy_dtoh(
    device: Device,
    dst: *mut c_void,
    src: *const Memory,
    size: u64,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    let done = unsafe { served(device).at_once(|on| to_host(device, on, dst, src, size)) };
    answer(status, done);
}

unsafe extern "C-unwind" fn sync_memcpy_htod(
    device: Device,
    dst: *mut Memory,
    src: *const c_void,
    size: u64,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    let done = unsafe { served(device).at_once(|on| to_device(device, on, dst, src, size)) };
    answer(status, done);
}

unsafe extern "C-unwind" fn sync_memcpy_dtod(
    device: Device,
    dst: *mut Memory,
    src: *const Memory,
    size: u64,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    let done = unsafe { served(device).at_once(|on| within(device, on, dst, src, size)) };
    answer(status, done);
}

unsafe extern "C-unwind" fn block_host_for_event(device: Device, mark: SP_Event, status: *mut TF_Status) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { served(device).context.synchronize_event(event(mark)) });
}

unsafe extern "C-unwind" fn block_host_until_done(device: Device, handle: SP_Stream, status: *mut TF_Status) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { served(device).context.synchronize_stream(stream(handle)) });
}

unsafe extern "C-unwind" fn synchronize_all_activity(device: Device, status: *mut TF_Status) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { served(device) }.synchronize());
}

/// Fills `size` bytes with repetitions of a pattern.
unsafe fn set(device: Device, handle: SP_Stream, to: *mut Memory, pattern: Pattern, size: u64) -> Result<()> {
    // SAFETY: the core upholds the contract of this module.
    let (served, on) = unsafe { (served(device), stream(handle)) };
    // SAFETY: the core upholds the contract of this module.
    let address = unsafe { served.part(to, size)? };
    let unit = pattern.size();
    if !address.is_multiple_of(unit) || !size.is_multiple_of(unit) {
        let detail = format!("{size} bytes at {address:#x} are no multiples of {unit}");
        return Err(DeviceError::new(Status::InvalidValue, detail));
    }
    let context: &DynContext = &*served.context;
    if size == 0 { Ok(()) } else { context.set(on, address, pattern, size / unit) }
}

unsafe extern "C-unwind" fn mem_zero(
    device: Device,
    handle: SP_Stream,
    to: *mut Memory,
    size: u64,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { set(device, handle, to, Pattern::U8(0), size) });
}

unsafe extern "C-unwind" fn memset(
    device: Device,
    handle: SP_Stream,
    to: *mut Memory,
    pattern: u8,
    size: u64,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { set(device, handle, to, Pattern::U8(pattern), size) });
}

unsafe extern "C-unwind" fn memset32(
    device: Device,
    handle: SP_Stream,
    to: *mut Memory,
    pattern: u32,
    size: u64,
    status: *mut TF_Status,
) {
    // SAFETY: the core upholds the contract of this module.
    answer(status, unsafe { set(device, handle, to, Pattern::U32(pattern), size) });
}

unsafe extern "C-unwind" fn host_callback(
    device: *mut SP_Device,
    handle: SP_Stream,
    callback: Option<SE_StatusCallbackFn>,
    argument: *mut c_void,
) -> TF_Bool {
    let (Some(callback), Some(core)) = (callback, core_status()) else { return 0 };
    let argument = argument.expose_provenance();
    let call = move || {
        // SAFETY: the functions are the core's, and get the argument that it passed for this call.
        unsafe {
            let status = (core.create)();
            callback(std::ptr::with_exposed_provenance_mut(argument), status);
            (core.destroy)(status);
        }
    };
    // SAFETY: the core upholds the contract of this module.
    let queued = unsafe { served(device).context.host_callback(stream(handle), Box::new(call)) };
    u8::from(queued.is_ok())
}
