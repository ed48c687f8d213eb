//! The driver's entry points.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::sys::{
    CUDA_MEMCPY2D, CUdevice_attribute as DeviceAttribute, CUfunction_attribute as FunctionAttribute,
    CUlaunchConfig, CUmemorytype,
};
use parking_lot::Mutex;
use tfrt_ptx::{FaultKind, Launch, OwnThreads, Params};

use super::graph::{Capture, Instance, Node};
use super::paging;
use super::state::{
    Answer, Context, DEVICE_BYTES, DEVICES, INVALID_VALUE, MEMORY, OUT_OF_MEMORY, PINNED, add_variable, all,
    allocate, allocate_managed, block_of, check_pinned, check_range, find, forget, forget_variables, free,
    free_bytes, keep, own, read, violation, write,
};
use super::stream::{Event, Stream, status};

/// Rows that are copied on a device are multiples of this apart.
const PITCH_BYTES: usize = 512;
/// How many events a device may have at once.
const MAX_EVENTS: usize = 2000;
const NOT_READY: c_int = 600;
const NOT_FOUND: c_int = 500;
const NO_DEVICE: c_int = 100;

/// Declares entry points, whose bodies give an [`Answer`].
macro_rules! entry_points {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> std::ffi::c_int {
            let body = || -> $crate::state::Answer { $body };
            $crate::state::answer(body())
        }
    )*};
}
pub(crate) use entry_points;

/// Writes a result where the caller wants it.
pub(crate) fn put<T>(place: *mut T, value: T) -> Answer {
    if place.is_null() {
        violation("a result has no place");
    }
    // SAFETY: an entry point's place for a result of this type, which its caller keeps for the call, and not null.
    unsafe { place.write(value) };
    Ok(())
}

fn text(place: *mut c_char, bytes: c_int, text: &str) -> Answer {
    let length = text.len().min(bytes as usize - 1);
    // SAFETY: an entry point's buffer of so many bytes, of which the text and a zero are no more.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast(), length);
        place.add(length).write(0);
    }
    Ok(())
}

static STARTED: AtomicU32 = AtomicU32::new(0);

fn started(call: &str) {
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
        started("cuDeviceGetCount");
        put(count, DEVICES as c_int)
    }
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        started("cuDeviceGet");
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
            // The other one is as devices are under systems whose host must wait for them.
            (A::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, c_int::from(device == 0)),
        ];
        // As of a driver that has dropped an attribute: what is only told to people may be missing.
        put(value, known.iter().find(|(known, _)| *known as c_int == attribute).ok_or(INVALID_VALUE)?.1)
    }
    fn cuDeviceCanAccessPeer(can: *mut c_int, from: c_int, to: c_int) { put(can, c_int::from(from != to)) }
    fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) {
        started("cuDevicePrimaryCtxRetain");
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
        // Others of the process may have done so before.
        if flags == 0 { Err(704) } else { Err(INVALID_VALUE) }
    }
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        Context::working("cuCtxGetStreamPriorityRange")?;
        put(least, 0)?;
        put(greatest, -5)
    }
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

/// Queues a copy from the host.
fn copy_in(stream: &Stream, dst: u64, src: usize, bytes: usize) -> Answer {
    stream.submit("copy from the host", move || {
        let src = std::ptr::with_exposed_provenance::<u8>(src);
        // SAFETY: the caller of the copy keeps so many bytes readable, and nobody writes them, until the stream has passed.
        write(dst, unsafe { std::slice::from_raw_parts(src, bytes) })
    })
}

/// Queues a copy to the host.
fn copy_out(stream: &Stream, dst: usize, src: u64, bytes: usize) -> Answer {
    stream.submit("copy to the host", move || {
        let (from, to) = (read(src, bytes)?, std::ptr::with_exposed_provenance_mut::<u8>(dst));
        // SAFETY: as many bytes were read, and the caller of the copy keeps as many writable until the stream has passed.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, bytes) };
        Ok(())
    })
}

fn set(stream: *mut c_void, dst: u64, pattern: &[u8], count: usize) -> Answer {
    let stream = own::<Stream>(stream, "cuMemsetAsync");
    check_range(dst, (pattern.len() * count) as u64)?;
    if !dst.is_multiple_of(pattern.len() as u64) {
        return Err(INVALID_VALUE);
    }
    let bytes = pattern.repeat(count);
    stream.submit("memory set", move || write(dst, &bytes))
}

/// One end of a copy of rows: where a row begins, and on which side.
fn end(kind: CUmemorytype, device: u64, host: usize, at: usize) -> (bool, u64) {
    match kind {
        CUmemorytype::CU_MEMORYTYPE_DEVICE => (true, device + at as u64),
        CUmemorytype::CU_MEMORYTYPE_HOST => (false, (host + at) as u64),
        _ => violation("a copy of rows between memory of other kinds"),
    }
}

fn copy_row((to_device, to): (bool, u64), (from_device, from): (bool, u64), width: usize) -> Answer {
    let row = if from_device {
        read(from, width)?
    } else {
        let from = std::ptr::with_exposed_provenance::<u8>(from as usize);
        // SAFETY: a row of the host's, which the caller of the copy keeps readable until the stream has passed.
        unsafe { std::slice::from_raw_parts(from, width) }.to_vec()
    };
    if to_device {
        return write(to, &row);
    }
    let to = std::ptr::with_exposed_provenance_mut::<u8>(to as usize);
    // SAFETY: a row has so many bytes, and the caller of the copy keeps as many writable until the stream has passed.
    unsafe { std::ptr::copy_nonoverlapping(row.as_ptr(), to, width) };
    Ok(())
}

entry_points! {
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        put(free, free_bytes(Context::working("cuMemGetInfo")?))?;
        put(total, DEVICE_BYTES)
    }
    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) {
        put(address, allocate(Context::working("cuMemAlloc")?, bytes)?)
    }
    fn cuMemFree_v2(address: u64) {
        // A driver may wait for work that is queued, and need not: whoever frees memory has seen to it that none uses it.
        free(address)
    }
    fn cuMemAllocManaged(address: *mut u64, bytes: usize, _flags: c_uint) {
        put(address, allocate_managed(Context::working("cuMemAllocManaged")?, bytes)?)
    }
    fn cuMemGetAddressRange_v2(start: *mut u64, bytes: *mut usize, address: u64) {
        Context::working("cuMemGetAddressRange")?;
        let (base, length) = block_of(address).ok_or(NOT_FOUND)?;
        put(start, base)?;
        put(bytes, length as usize)
    }
    fn cuMemHostAlloc(memory: *mut *mut c_void, bytes: usize, _flags: c_uint) {
        Context::working("cuMemHostAlloc")?;
        let Ok(layout) = std::alloc::Layout::from_size_align(bytes.max(1), 4096) else { return Err(2) };
        // SAFETY: the size is not zero.
        let block = unsafe { std::alloc::alloc(layout) };
        if block.is_null() {
            return Err(OUT_OF_MEMORY);
        }
        PINNED.lock().insert(block.expose_provenance(), (bytes, false));
        put(memory, block.cast())
    }
    fn cuMemFreeHost(memory: *mut c_void) {
        // It waits for all work of the device.
        all::<Stream>(Context::current("cuMemFreeHost")).iter().for_each(|stream| stream.synchronize());
        let Some((bytes, false)) = PINNED.lock().remove(&memory.addr()) else {
            violation("cuMemFreeHost of what cuMemHostAlloc did not give");
        };
        if let Ok(layout) = std::alloc::Layout::from_size_align(bytes.max(1), 4096) {
            // SAFETY: allocated with this layout by `cuMemHostAlloc`, and no longer listed, so that it is freed once.
            unsafe { std::alloc::dealloc(memory.cast(), layout) };
        }
        Ok(())
    }
    fn cuMemHostRegister_v2(memory: *mut c_void, bytes: usize, _flags: c_uint) {
        Context::working("cuMemHostRegister")?;
        match PINNED.lock().insert(memory.expose_provenance(), (bytes, true)) {
            None => Ok(()),
            Some(_) => violation("memory is pinned twice"),
        }
    }
    fn cuMemHostUnregister(memory: *mut c_void) {
        Context::current("cuMemHostUnregister");
        if PINNED.lock().remove(&memory.addr()).is_some_and(|(_, registered)| registered) { Ok(()) } else { Err(713) }
    }
    fn cuMemcpyHtoDAsync_v2(dst: u64, src: *const c_void, bytes: usize, stream: *mut c_void) {
        let stream = own::<Stream>(stream, "cuMemcpyHtoDAsync");
        check_pinned(src.expose_provenance(), bytes, "cuMemcpyHtoDAsync");
        check_range(dst, bytes as u64)?;
        copy_in(&stream, dst, src.expose_provenance(), bytes)
    }
    fn cuMemcpyDtoHAsync_v2(dst: *mut c_void, src: u64, bytes: usize, stream: *mut c_void) {
        let stream = own::<Stream>(stream, "cuMemcpyDtoHAsync");
        check_pinned(dst.expose_provenance(), bytes, "cuMemcpyDtoHAsync");
        check_range(src, bytes as u64)?;
        copy_out(&stream, dst.expose_provenance(), src, bytes)
    }
    fn cuMemcpyAsync(dst: u64, src: u64, bytes: usize, stream: *mut c_void) {
        let stream = own::<Stream>(stream, "cuMemcpyAsync");
        check_range(dst, bytes as u64)?;
        check_range(src, bytes as u64)?;
        stream.submit("copy on the device", move || write(dst, &read(src, bytes)?))
    }
    fn cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: *mut c_void) {
        let stream = own::<Stream>(stream, "cuMemcpy2DAsync");
        // SAFETY: the caller's description of the copy.
        let copy = unsafe { *copy };
        let (width, height) = (copy.WidthInBytes, copy.Height);
        let (src_host, dst_host) = (copy.srcHost.expose_provenance(), copy.dstHost.expose_provenance());
        if copy.srcPitch < width || copy.dstPitch < width {
            return Err(INVALID_VALUE);
        }
        let (src_kind, dst_kind) = (copy.srcMemoryType, copy.dstMemoryType);
        let (src_pitch, dst_pitch) = (copy.srcPitch, copy.dstPitch);
        let (src_device, dst_device) = (copy.srcDevice, copy.dstDevice);
        let on_device = [src_kind, dst_kind] == [CUmemorytype::CU_MEMORYTYPE_DEVICE; 2];
        if on_device && [src_pitch, dst_pitch].iter().any(|pitch| !pitch.is_multiple_of(PITCH_BYTES)) {
            return Err(INVALID_VALUE);
        }
        let span = |pitch: usize| pitch * (height - 1) + width;
        for (kind, device, host, pitch) in
            [(src_kind, src_device, src_host, src_pitch), (dst_kind, dst_device, dst_host, dst_pitch)]
        {
            match end(kind, device, host, 0) {
                (true, _) => check_range(device, span(pitch) as u64)?,
                (false, _) => check_pinned(host, span(pitch), "cuMemcpy2DAsync"),
            }
        }
        stream.submit("copy of rows", move || {
            (0..height).try_for_each(|row| {
                let to = end(dst_kind, dst_device, dst_host, row * dst_pitch);
                copy_row(to, end(src_kind, src_device, src_host, row * src_pitch), width)
            })
        })
    }
    fn cuMemsetD8Async(dst: u64, value: u8, count: usize, stream: *mut c_void) { set(stream, dst, &[value], count) }
    fn cuMemsetD16Async(dst: u64, value: u16, count: usize, stream: *mut c_void) {
        set(stream, dst, &value.to_le_bytes(), count)
    }
    fn cuMemsetD32Async(dst: u64, value: u32, count: usize, stream: *mut c_void) {
        set(stream, dst, &value.to_le_bytes(), count)
    }
}

// ---- Streams and events ---------------------------------------------------------------------------------------------

/// That a stream may be asked and waited for.
fn not_captured(stream: &Stream) -> Answer {
    match &*stream.capture.lock() {
        Some(capture) => {
            capture.spoil();
            // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
            Err(900)
        }
        None => Ok(()),
    }
}

entry_points! {
    fn cuStreamCreateWithPriority(stream: *mut *mut c_void, flags: c_uint, _priority: c_int) {
        let context = Context::working("cuStreamCreateWithPriority")?;
        if flags != 1 {
            violation("a stream that synchronizes with the legacy default stream");
        }
        put(stream, keep(context, "stream", Arc::new(Stream::new(context))))
    }
    fn cuStreamDestroy_v2(stream: *mut c_void) {
        drop(forget::<Stream>(stream, "cuStreamDestroy"));
        Ok(())
    }
    fn cuStreamQuery(stream: *mut c_void) {
        let stream = own::<Stream>(stream, "cuStreamQuery");
        not_captured(&stream)?;
        let idle = stream.is_idle();
        match status(stream.context) {
            0 if idle => Ok(()),
            0 => Err(NOT_READY),
            status => Err(status),
        }
    }
    fn cuStreamSynchronize(stream: *mut c_void) {
        let stream = own::<Stream>(stream, "cuStreamSynchronize");
        not_captured(&stream)?;
        stream.synchronize();
        stream.context.failure().map_or(Ok(()), Err)
    }
    fn cuStreamWaitEvent(stream: *mut c_void, event: *mut c_void, flags: c_uint) {
        let stream = own::<Stream>(stream, "cuStreamWaitEvent");
        Context::working("cuStreamWaitEvent")?;
        if flags == 0 { stream.wait(&find::<Event>(event, "cuStreamWaitEvent")) } else { Err(INVALID_VALUE) }
    }
    fn cuLaunchHostFunc(stream: *mut c_void, function: unsafe extern "C" fn(*mut c_void), data: *mut c_void) {
        let stream = own::<Stream>(stream, "cuLaunchHostFunc");
        Context::working("cuLaunchHostFunc")?;
        if stream.capture.lock().is_some() {
            violation("a host function is captured that can be called once");
        }
        stream.call_host(function, data);
        Ok(())
    }
    fn cuStreamBeginCapture_v2(stream: *mut c_void, _mode: c_int) {
        Context::working("cuStreamBeginCapture")?;
        Capture::begin(&own::<Stream>(stream, "cuStreamBeginCapture"))
    }
    fn cuStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void) {
        let context = Context::current("cuStreamEndCapture");
        let nodes = Capture::end(&own::<Stream>(stream, "cuStreamEndCapture"))?;
        put(graph, keep(context, "graph", Arc::new(nodes)))
    }
    fn cuStreamGetCaptureInfo_v3(
        stream: *mut c_void,
        capture_status: *mut c_int,
        id: *mut u64,
        graph: *mut *mut c_void,
        dependencies: *mut *const c_void,
        edges: *mut *const c_void,
        count: *mut usize,
    ) {
        if !(graph.is_null() && dependencies.is_null() && edges.is_null() && count.is_null()) {
            violation("cuStreamGetCaptureInfo is asked for more than status and number");
        }
        let capture = own::<Stream>(stream, "cuStreamGetCaptureInfo").capture.lock().clone();
        match capture {
            None => put(capture_status, 0),
            // The number is told of a capture that goes on.
            Some(capture) if capture.check().is_ok() => put(capture_status, 1).and_then(|()| put(id, capture.id)),
            Some(_) => put(capture_status, 2),
        }
    }
    fn cuEventCreate(event: *mut *mut c_void, flags: c_uint) {
        let context = Context::working("cuEventCreate")?;
        const DISABLE_TIMING: c_uint = 2;
        const INTERPROCESS: c_uint = 4;
        let timing = flags & DISABLE_TIMING == 0;
        // A thread that waits sleeps here, with the flag for that (1) or without it.
        if flags > 7 || (flags & INTERPROCESS != 0 && timing) {
            return Err(INVALID_VALUE);
        }
        if all::<Event>(context).len() >= MAX_EVENTS {
            return Err(OUT_OF_MEMORY);
        }
        put(event, keep(context, "event", Arc::new(Event::new(timing))))
    }
    fn cuEventDestroy_v2(event: *mut c_void) {
        drop(forget::<Event>(event, "cuEventDestroy"));
        Ok(())
    }
    fn cuEventRecord(event: *mut c_void, stream: *mut c_void) {
        Context::working("cuEventRecord")?;
        own::<Stream>(stream, "cuEventRecord").record(&own(event, "cuEventRecord"));
        Ok(())
    }
    fn cuEventQuery(event: *mut c_void) {
        Context::working("cuEventQuery")?;
        if own::<Event>(event, "cuEventQuery").query()? { Ok(()) } else { Err(NOT_READY) }
    }
    fn cuEventSynchronize(event: *mut c_void) {
        let context = Context::current("cuEventSynchronize");
        own::<Event>(event, "cuEventSynchronize").synchronize()?;
        context.failure().map_or(Ok(()), Err)
    }
    fn cuEventElapsedTime_v2(elapsed_ms: *mut f32, start: *mut c_void, end: *mut c_void) {
        Context::working("cuEventElapsedTime")?;
        let start = own::<Event>(start, "cuEventElapsedTime").time()?;
        let end = own::<Event>(end, "cuEventElapsedTime").time()?;
        put(elapsed_ms, end.saturating_duration_since(start).as_secs_f32() * 1e3)
    }
}

// ---- Graphs ---------------------------------------------------------------------------------------------------------

entry_points! {
    fn cuGraphGetNodes(graph: *mut c_void, nodes: *mut *mut c_void, count: *mut usize) {
        if !nodes.is_null() {
            violation("cuGraphGetNodes is asked for nodes");
        }
        put(count, own::<Vec<Node>>(graph, "cuGraphGetNodes").len())
    }
    fn cuGraphInstantiateWithFlags(instance: *mut *mut c_void, graph: *mut c_void, _flags: u64) {
        let context = Context::working("cuGraphInstantiate")?;
        let nodes = own::<Vec<Node>>(graph, "cuGraphInstantiate");
        put(instance, keep(context, "graph instance", Arc::new(Instance::new(nodes.to_vec()))))
    }
    fn cuGraphExecUpdate_v2(instance: *mut c_void, graph: *mut c_void, info: *mut c_int) {
        Context::working("cuGraphExecUpdate")?;
        let instance = own::<Instance>(instance, "cuGraphExecUpdate");
        let updated = instance.update(&own::<Vec<Node>>(graph, "cuGraphExecUpdate"));
        put(info, updated.err().unwrap_or(0))?;
        updated.map_err(|_| 910)
    }
    fn cuGraphDestroy(graph: *mut c_void) {
        drop(forget::<Vec<Node>>(graph, "cuGraphDestroy"));
        Ok(())
    }
    fn cuGraphExecDestroy(instance: *mut c_void) {
        drop(forget::<Instance>(instance, "cuGraphExecDestroy"));
        Ok(())
    }
    fn cuGraphLaunch(instance: *mut c_void, stream: *mut c_void) {
        Context::working("cuGraphLaunch")?;
        let stream = own::<Stream>(stream, "cuGraphLaunch");
        if stream.capture.lock().is_some() {
            violation("a graph is launched into a capture, whose nodes would use the other graph's workspaces");
        }
        own::<Instance>(instance, "cuGraphLaunch").launch(&stream)
    }
}

// ---- Modules --------------------------------------------------------------------------------------------------------

struct Module {
    ptx: tfrt_ptx::Module,
    functions: Mutex<Vec<usize>>,
}

struct Function {
    ptx: tfrt_ptx::Function,
    /// Dynamic shared memory that it may be launched with.
    dynamic_bytes: AtomicU32,
}

/// The log that a caller of cuModuleLoadDataEx wants errors in.
fn log(count: c_uint, options: *const c_int, values: *const *mut c_void) -> Option<(*mut u8, usize)> {
    let (mut buffer, mut bytes) = (None, 0);
    for index in 0..count as usize {
        // SAFETY: the entry point's two arrays have `count` elements each.
        let (option, value) = unsafe { (*options.add(index), *values.add(index)) };
        match option {
            5 => buffer = Some(value.cast::<u8>()),
            6 => bytes = value.addr(),
            _ => violation("an option of the compiler that it does not know"),
        }
    }
    buffer.map(|buffer| (buffer, bytes))
}

fn fault(kind: &FaultKind) -> c_int {
    match kind {
        FaultKind::OutOfBounds | FaultKind::UseAfterFree | FaultKind::WrongSpace => 700,
        FaultKind::Misaligned => 716,
        FaultKind::Assert { .. } => 710,
        _ => 719,
    }
}

entry_points! {
    fn cuModuleLoadDataEx(
        module: *mut *mut c_void,
        image: *const c_char,
        count: c_uint,
        options: *const c_int,
        values: *const *mut c_void,
    ) {
        let context = Context::working("cuModuleLoadDataEx")?;
        // SAFETY: the caller's image: a text ends with a zero, and a binary has some in its header.
        let text = unsafe { CStr::from_ptr(image) }.to_str().map_err(|_| 200)?;
        if text.starts_with('\x7f') {
            return Err(209);
        }
        match tfrt_ptx::Module::parse(text) {
            Ok(ptx) => {
                let loaded = Module { ptx, functions: Mutex::default() };
                put(module, keep(context, "module", Arc::new(loaded)))
            }
            Err(errors) => {
                if let Some((buffer, bytes)) = log(count, options, values) {
                    let message = errors.to_string();
                    let length = message.len().min(bytes - 1);
                    // SAFETY: the caller's buffer has so many bytes, of which the text and a zero are no more.
                    unsafe {
                        std::ptr::copy_nonoverlapping(message.as_ptr(), buffer, length);
                        buffer.add(length).write(0);
                    }
                }
                Err(218)
            }
        }
    }
    fn cuModuleUnload(module: *mut c_void) {
        // Code that runs is not taken away.
        all::<Stream>(Context::current("cuModuleUnload")).iter().for_each(|stream| stream.synchronize());
        forget_variables(module);
        let module = forget::<Module>(module, "cuModuleUnload");
        for function in module.functions.lock().drain(..) {
            let raw = std::ptr::with_exposed_provenance_mut(function);
            drop(forget::<Function>(raw, "cuModuleUnload"));
        }
        Ok(())
    }
    fn cuModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) {
        let context = Context::working("cuModuleGetFunction")?;
        let module = own::<Module>(module, "cuModuleGetFunction");
        // SAFETY: the caller's name ends with a zero.
        let name = unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| NOT_FOUND)?;
        let ptx = module.ptx.function(name).map_err(|_| NOT_FOUND)?;
        let dynamic_bytes = AtomicU32::new((48 << 10) - ptx.shared_bytes().min(48 << 10));
        let raw = keep(context, "function", Arc::new(Function { ptx, dynamic_bytes }));
        module.functions.lock().push(raw.expose_provenance());
        put(function, raw)
    }
    fn cuModuleGetGlobal_v2(address: *mut u64, bytes: *mut usize, module: *mut c_void, name: *const c_char) {
        Context::working("cuModuleGetGlobal")?;
        // SAFETY: the caller's name ends with a zero.
        let name = unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| NOT_FOUND)?;
        let ptx = &own::<Module>(module, "cuModuleGetGlobal").ptx;
        let global = ptx.global(name).ok_or(NOT_FOUND)?;
        add_variable(module, ptx, global.address, global.bytes);
        put(address, global.address)?;
        put(bytes, global.bytes as usize)
    }
    fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: *mut c_void) {
        use FunctionAttribute as A;
        let ptx = &own::<Function>(function, "cuFuncGetAttribute").ptx;
        let known = [
            (A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, ptx.max_threads()),
            (A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, ptx.shared_bytes()),
            (A::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 0),
            (A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, ptx.local_bytes()),
            (A::CU_FUNC_ATTRIBUTE_NUM_REGS, ptx.registers()),
        ];
        put(value, known.iter().find(|(known, _)| *known as c_int == attribute).ok_or(INVALID_VALUE)?.1 as c_int)
    }
    fn cuFuncSetAttribute(function: *mut c_void, attribute: c_int, value: c_int) {
        let function = own::<Function>(function, "cuFuncSetAttribute");
        let most = (227 << 10) - function.ptx.shared_bytes() as c_int;
        if attribute != FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as c_int || value > most {
            return Err(INVALID_VALUE);
        }
        // Who asks at the same time is in between.
        std::thread::sleep(std::time::Duration::from_millis(2));
        function.dynamic_bytes.store(value as u32, Ordering::SeqCst);
        Ok(())
    }
    fn cuFuncGetParamInfo(function: *mut c_void, index: usize, offset: *mut usize, size: *mut usize) {
        let function = own::<Function>(function, "cuFuncGetParamInfo");
        let parameter = function.ptx.parameters().get(index).ok_or(INVALID_VALUE)?;
        put(offset, parameter.offset as usize)?;
        put(size, parameter.bytes as usize)
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: *mut c_void,
        threads: c_int,
        dynamic_bytes: usize,
    ) {
        let function = own::<Function>(function, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
        let fits = dynamic_bytes <= function.dynamic_bytes.load(Ordering::SeqCst) as usize;
        put(blocks, if fits { 2048 / threads.max(1) } else { 0 })
    }
    fn cuLaunchKernelEx(
        config: *const CUlaunchConfig,
        function: *mut c_void,
        parameters: *const *const c_void,
        extra: *const c_void,
    ) {
        Context::working("cuLaunchKernelEx")?;
        let function = own::<Function>(function, "cuLaunchKernelEx");
        // SAFETY: the caller's configuration, for the call.
        let config = unsafe { &*config };
        let stream = own::<Stream>(config.hStream.cast(), "cuLaunchKernelEx");
        let (grid, block) = (
            [config.gridDimX, config.gridDimY, config.gridDimZ],
            [config.blockDimX, config.blockDimY, config.blockDimZ],
        );
        let threads: u64 = block.iter().map(|&extent| u64::from(extent)).product();
        let shared = config.sharedMemBytes;
        if !extra.is_null()
            || grid.contains(&0)
            || threads == 0
            || threads > 1024
            || shared > function.dynamic_bytes.load(Ordering::SeqCst)
        {
            return Err(INVALID_VALUE);
        }
        let mut params = Params::new();
        for (index, parameter) in function.ptx.parameters().iter().enumerate() {
            // SAFETY: the caller's array has a pointer for each parameter of the function, to as many bytes as it declares.
            let bytes = unsafe {
                let source = (*parameters.add(index)).cast::<u8>();
                std::slice::from_raw_parts(source, parameter.bytes as usize)
            };
            params = params.bytes(bytes);
        }
        stream.submit("launch", move || {
            let launch = Launch::new(&function.ptx)
                .grid((grid[0], grid[1], grid[2]))
                .block((block[0], block[1], block[2]))
                .shared(shared.into())
                .parallel(&OwnThreads);
            let _pages = paging::stay();
            launch.run(&params, &MEMORY).map(drop).map_err(|failure| fault(&failure.kind))
        })
    }
}
