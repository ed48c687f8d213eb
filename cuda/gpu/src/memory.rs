//! Device memory, pinned and unified memory, and copies.

#![expect(unsafe_code, reason = "calls of the driver's C interface")]

use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUDA_MEMCPY2D, CUdevice_attribute as Attribute, CUmemorytype, CUresult};
use parking_lot::{Mutex, RwLock};
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Copy2d, Endpoint, ManagedMemory, Memory, MemoryInfo, Pattern, Transfers};

use super::context::{GpuContext, Shared};
use super::device::attribute;
use super::driver::check;
use super::stream::Stream;

/// The live allocations of all devices, by address. Addresses are unique over devices (unified
/// addressing).
#[derive(Default)]
pub(super) struct Allocations(RwLock<BTreeMap<u64, u64>>);

impl Allocations {
    pub(super) fn insert(&self, address: u64, bytes: u64) {
        self.0.write().insert(address, bytes);
    }

    pub(super) fn remove(&self, address: u64) {
        self.0.write().remove(&address);
    }

    fn contains(&self, address: u64, bytes: u64) -> bool {
        let allocations = self.0.read();
        let Some((&start, &length)) = allocations.range(..=address).next_back() else { return false };
        address.checked_add(bytes).is_some_and(|end| end <= start + length)
    }
}

/// Freed pinned host memory, kept for reuse because pinning costs as much as copying megabytes.
/// Block sizes are powers of two, so that blocks fit later requests.
#[derive(Default)]
pub(super) struct HostPool(Mutex<HostBlocks>);

#[derive(Default)]
struct HostBlocks {
    /// The size of each block in use, by address.
    live: HashMap<usize, usize>,
    /// The addresses of unused blocks, by size.
    cached: HashMap<usize, Vec<usize>>,
    cached_bytes: usize,
}

/// The greatest number of bytes of unused pinned memory to keep.
const MAX_HOST_CACHE_BYTES: usize = 256 << 20;
/// The smallest block: a page.
const MIN_HOST_BLOCK_BYTES: usize = 4096;

impl HostPool {
    /// Allocates a block of at least `bytes` bytes. The context must be current.
    pub(super) fn allocate(&self, bytes: usize) -> Result<*mut u8> {
        let bytes = bytes.max(MIN_HOST_BLOCK_BYTES).checked_next_power_of_two().ok_or(Status::OutOfMemory)?;
        let mut blocks = self.0.lock();
        let address = match blocks.cached.get_mut(&bytes).and_then(Vec::pop) {
            Some(address) => {
                blocks.cached_bytes -= bytes;
                address
            }
            None => pin(bytes)?,
        };
        blocks.live.insert(address, bytes);
        Ok(std::ptr::with_exposed_provenance_mut(address))
    }

    /// Takes a block back. Returns its address if it must be unpinned because the cache is full.
    pub(super) fn free(&self, memory: *mut u8) -> Result<Option<usize>> {
        let address = memory.expose_provenance();
        let mut blocks = self.0.lock();
        let bytes = blocks
            .live
            .remove(&address)
            .ok_or_else(|| DeviceError::invalid_value("not pinned memory of this context"))?;
        if blocks.cached_bytes + bytes > MAX_HOST_CACHE_BYTES {
            return Ok(Some(address));
        }
        blocks.cached_bytes += bytes;
        blocks.cached.entry(bytes).or_default().push(address);
        Ok(None)
    }

    /// Frees all cached memory. The context must be current.
    pub(super) fn free_all(&self) {
        let mut blocks = self.0.lock();
        for address in std::mem::take(&mut blocks.cached).into_values().flatten() {
            // Called when the context is destroyed, so a failure could not be returned to a caller.
            let _ = unpin(address);
        }
        blocks.cached_bytes = 0;
    }
}

fn pin(bytes: usize) -> Result<usize> {
    let mut memory = std::ptr::null_mut();
    // Portable memory is pinned for all contexts, because copies between devices may pass through
    // it.
    let flags = sys::CU_MEMHOSTALLOC_PORTABLE;
    // SAFETY: a context is current, and the pointer is valid for the call.
    check(unsafe { sys::cuMemHostAlloc(&raw mut memory, bytes, flags) }, "cuMemHostAlloc")?;
    Ok(memory.expose_provenance())
}

/// Unpins a block that [`HostPool::free`] returned. The context must be current.
pub(super) fn unpin(address: usize) -> Result<()> {
    // SAFETY: `pin` returned the address, and the pool unpins each address once.
    let result = unsafe { sys::cuMemFreeHost(std::ptr::with_exposed_provenance_mut(address)) };
    check(result, "cuMemFreeHost")
}

/// Allocates device memory in the current context.
pub(super) fn allocate_device(bytes: usize) -> Result<u64> {
    let mut address = 0;
    // SAFETY: a context is current, and the pointer is valid for the call.
    check(unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes) }, "cuMemAlloc")?;
    Ok(address)
}

/// Frees memory of [`allocate_device`], which queued work must no longer use: the driver does not
/// promise to wait for such work.
pub(super) fn free_device(address: u64) -> Result<()> {
    // SAFETY: the driver checks the address.
    check(unsafe { sys::cuMemFree_v2(address) }, "cuMemFree")
}

/// Converts a number of bytes to the type that the driver expects.
pub(super) fn size(bytes: u64) -> Result<usize> {
    usize::try_from(bytes).map_err(|_| Status::OutOfMemory.into())
}

/// A block of unified memory, freed when neither side uses it any more.
pub(super) struct Managed {
    address: u64,
    shared: Arc<Shared>,
}

impl Drop for Managed {
    fn drop(&mut self) {
        let address = self.address;
        self.shared.hand_over(move || free_device(address));
    }
}

impl Memory for GpuContext {
    fn memory_info(&self) -> Result<MemoryInfo> {
        let shared = self.bound()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: the context is current, and the pointers are valid for the call.
        shared.check(unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) }, "cuMemGetInfo")?;
        Ok(MemoryInfo { free: free as u64, total: total as u64 })
    }

    fn allocate(&self, bytes: u64) -> Result<u64> {
        let shared = self.bound()?;
        let address = allocate_device(size(bytes)?).map_err(|error| shared.remember(error))?;
        shared.allocations.insert(address, bytes);
        Ok(address)
    }

    fn free(&self, address: u64) -> Result<()> {
        self.shared.allocations.remove(address);
        // The host may still have its side of unified memory.
        if self.managed.lock().remove(&address).is_none() {
            self.shared.hand_over(move || free_device(address));
        }
        Ok(())
    }

    fn trim(&self) -> bool {
        self.shared.trim()
    }

    fn allocate_host(&self, bytes: usize) -> Result<*mut u8> {
        self.bound()?.host_pool.allocate(bytes)
    }

    unsafe fn free_host(&self, memory: *mut u8) -> Result<()> {
        if let Some(address) = self.shared.host_pool.free(memory)? {
            self.shared.hand_over(move || unpin(address));
        }
        Ok(())
    }

    unsafe fn register_host(&self, memory: *mut u8, bytes: usize) -> Result<()> {
        let shared = self.bound()?;
        let flags = sys::CU_MEMHOSTREGISTER_PORTABLE;
        // SAFETY: the caller keeps the memory allocated.
        let result = unsafe { sys::cuMemHostRegister_v2(memory.cast(), bytes, flags) };
        shared.check(result, "cuMemHostRegister")
    }

    fn unregister_host(&self, memory: *mut u8) -> Result<()> {
        self.shared.make_current()?;
        // SAFETY: the driver checks that the memory is registered.
        self.shared.check(unsafe { sys::cuMemHostUnregister(memory.cast()) }, "cuMemHostUnregister")
    }

    fn allocate_managed(&self, bytes: u64) -> Result<ManagedMemory> {
        let shared = self.bound()?;
        // Without concurrent access, the system kills a host process that touches the memory while
        // any work of the device is running, even unrelated work.
        if attribute(shared.device, Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)? == 0 {
            let detail = "the host cannot use unified memory while this device works";
            return Err(DeviceError::new(Status::NotSupported, detail));
        }
        // Requests for more memory than is free may hang the GPU.
        let free = self.memory_info()?.free;
        if bytes > free {
            let detail = format!("{bytes} bytes of unified memory, and the device has {free} free");
            return Err(DeviceError::new(Status::OutOfMemory, detail));
        }
        let mut address = 0;
        let flags = sys::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL as u32;
        // SAFETY: the context is current, and the pointer is valid for the call.
        let result = unsafe { sys::cuMemAllocManaged(&raw mut address, size(bytes)?, flags) };
        shared.check(result, "cuMemAllocManaged")?;
        let block = Arc::new(Managed { address, shared: shared.clone() });
        let host = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: the memory was just allocated with this size, and no work of the device knows it.
        unsafe { host.write_bytes(0, size(bytes)?) };
        shared.allocations.insert(address, bytes);
        self.managed.lock().insert(address, block.clone());
        Ok(ManagedMemory { address, host, host_owner: Box::new(block) })
    }

    fn is_allocated(&self, address: u64, bytes: u64) -> bool {
        if self.shared.allocations.contains(address, bytes) {
            return true;
        }
        // The address is not from `allocate`: it belongs to a module's variable or to another
        // library.
        let (mut start, mut length) = (0, 0);
        // SAFETY: the context is current if `bind` succeeded, and the pointers are valid for the
        // call.
        let found = self.shared.bind().is_ok()
            && check(
                unsafe { sys::cuMemGetAddressRange_v2(&raw mut start, &raw mut length, address) },
                "cuMemGetAddressRange",
            )
            .is_ok();
        found && address.checked_add(bytes).is_some_and(|end| end <= start + length as u64)
    }
}

impl Transfers for GpuContext {
    unsafe fn copy_host_to_device(
        &self,
        stream: &Stream,
        dst: u64,
        src: *const u8,
        bytes: usize,
    ) -> Result<()> {
        let shared = self.bound()?;
        // SAFETY: the caller keeps `src` readable until the copy has finished. The front checked
        // `dst`.
        let result = unsafe { sys::cuMemcpyHtoDAsync_v2(dst, src.cast(), bytes, stream.raw()) };
        shared.check(result, "cuMemcpyHtoDAsync")
    }

    unsafe fn copy_device_to_host(
        &self,
        stream: &Stream,
        dst: *mut u8,
        src: u64,
        bytes: usize,
    ) -> Result<()> {
        let shared = self.bound()?;
        // SAFETY: the caller keeps `dst` writable until the copy has finished. The front checked
        // `src`.
        let result = unsafe { sys::cuMemcpyDtoHAsync_v2(dst.cast(), src, bytes, stream.raw()) };
        shared.check(result, "cuMemcpyDtoHAsync")
    }

    fn copy_device_to_device(&self, stream: &Stream, dst: u64, src: u64, bytes: u64) -> Result<()> {
        let shared = self.bound()?;
        // SAFETY: the front checked both ranges. With unified addressing the driver finds the
        // devices from the addresses.
        let result = unsafe { sys::cuMemcpyAsync(dst, src, size(bytes)?, stream.raw()) };
        shared.check(result, "cuMemcpyAsync")
    }

    unsafe fn copy_2d(&self, stream: &Stream, copy: &Copy2d) -> Result<()> {
        let shared = self.bound()?;
        let (src_type, src_device, src_host) = endpoint(copy.src);
        let (dst_type, dst_device, dst_host) = endpoint(copy.dst);
        let parameters = CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: src_type,
            srcHost: src_host,
            srcDevice: src_device,
            srcArray: std::ptr::null_mut(),
            srcPitch: copy.src_pitch,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: dst_type,
            dstHost: dst_host,
            dstDevice: dst_device,
            dstArray: std::ptr::null_mut(),
            dstPitch: copy.dst_pitch,
            WidthInBytes: copy.width,
            Height: copy.height,
        };
        // SAFETY: the caller promises that ends on the host are valid, and the front checked those
        // on the device. The driver copies the struct.
        let result = unsafe { sys::cuMemcpy2DAsync_v2(&raw const parameters, stream.raw()) };
        match (result, copy.dst, copy.src) {
            // On one device the driver may reject pitches that it did not choose itself
            // (`cuMemAllocPitch`).
            (CUresult::CUDA_ERROR_INVALID_VALUE, Endpoint::Device(dst), Endpoint::Device(src)) => {
                (0..copy.height).try_for_each(|row| {
                    let (to, from) = ((row * copy.dst_pitch) as u64, (row * copy.src_pitch) as u64);
                    self.copy_device_to_device(stream, dst + to, src + from, copy.width as u64)
                })
            }
            _ => shared.check(result, "cuMemcpy2DAsync"),
        }
    }

    fn set(&self, stream: &Stream, dst: u64, pattern: Pattern, count: u64) -> Result<()> {
        let shared = self.bound()?;
        let (count, stream) = (size(count)?, stream.raw());
        // SAFETY: the front checked the range and its alignment.
        let result = unsafe {
            match pattern {
                Pattern::U8(value) => sys::cuMemsetD8Async(dst, value, count, stream),
                Pattern::U16(value) => sys::cuMemsetD16Async(dst, value, count, stream),
                Pattern::U32(value) => sys::cuMemsetD32Async(dst, value, count, stream),
            }
        };
        shared.check(result, "cuMemsetAsync")
    }
}

fn endpoint(end: Endpoint) -> (CUmemorytype, u64, *mut c_void) {
    match end {
        Endpoint::Device(address) => (CUmemorytype::CU_MEMORYTYPE_DEVICE, address, std::ptr::null_mut()),
        Endpoint::Host(memory) => (CUmemorytype::CU_MEMORYTYPE_HOST, 0, memory.cast()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lie_in_one_allocation() {
        let allocations = Allocations::default();
        allocations.insert(1000, 100);
        allocations.insert(1100, 50);
        assert!(allocations.contains(1000, 100) && allocations.contains(1099, 1));
        assert!(!allocations.contains(999, 1) && !allocations.contains(1050, 51));
        assert!(!allocations.contains(1090, u64::MAX));
        allocations.remove(1000);
        assert!(!allocations.contains(1050, 1) && allocations.contains(1149, 1));
    }
}
