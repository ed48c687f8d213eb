//! Device memory, pinned and unified memory, and copies.

use std::ffi::{c_uint, c_void};

use cudarc::driver::sys::{CUDA_MEMCPY2D, CUmemorytype};

use super::{NOT_FOUND, entry_points, put};
use crate::state::{
    Answer, Context, DEVICE_BYTES, INVALID_VALUE, OUT_OF_MEMORY, PINNED, all, allocate, allocate_managed,
    block_of, check_pinned, check_range, free, free_bytes, own, read, violation, write,
};
use crate::stream::Stream;

/// The pitch of rows that are copied on a device must be a multiple of this.
const PITCH_BYTES: usize = 512;

/// Queues a copy from the host.
fn copy_in(stream: &Stream, dst: u64, src: usize, bytes: usize) -> Answer {
    stream.submit("copy from the host", move || {
        let src = std::ptr::with_exposed_provenance::<u8>(src);
        // SAFETY: the caller of the copy keeps `bytes` bytes readable and unchanged until the
        // stream has passed the copy.
        write(dst, unsafe { std::slice::from_raw_parts(src, bytes) })
    })
}

/// Queues a copy to the host.
fn copy_out(stream: &Stream, dst: usize, src: u64, bytes: usize) -> Answer {
    stream.submit("copy to the host", move || {
        let (from, to) = (read(src, bytes)?, std::ptr::with_exposed_provenance_mut::<u8>(dst));
        // SAFETY: `bytes` bytes were read, and the caller of the copy keeps as many writable until
        // the stream has passed it.
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

/// Returns one end of a copy of rows: whether it is on the device, and the address of a row.
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
        // SAFETY: the row is in host memory, which the caller of the copy keeps readable until the
        // stream has passed it.
        unsafe { std::slice::from_raw_parts(from, width) }.to_vec()
    };
    if to_device {
        return write(to, &row);
    }
    let to = std::ptr::with_exposed_provenance_mut::<u8>(to as usize);
    // SAFETY: the row has `width` bytes, and the caller of the copy keeps as many writable until
    // the stream has passed it.
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
        // A driver may wait for queued work, but does not promise to: the caller ensures that none
        // uses the memory.
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
        // Like the driver, waits for all work of the device.
        all::<Stream>(Context::current("cuMemFreeHost")).iter().for_each(|stream| stream.synchronize());
        let Some((bytes, false)) = PINNED.lock().remove(&memory.addr()) else {
            violation("cuMemFreeHost of what cuMemHostAlloc did not give");
        };
        if let Ok(layout) = std::alloc::Layout::from_size_align(bytes.max(1), 4096) {
            // SAFETY: `cuMemHostAlloc` allocated the block with this layout, and it was just
            // removed from the list, so it is freed once.
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
        // SAFETY: the caller's description of the copy is valid for the call.
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
