//! Memory and copies.

use std::ffi::c_void;
use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tfrt_device::allocator::ALIGNMENT;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Copy2d, Endpoint, ManagedMemory, Memory, MemoryInfo, Pattern, Teardown, Transfers};

use super::PluginContext;
use super::device::{Allocation, Device};
use super::remains::Remaining;
use super::stream::Stream;
use crate::abi::{SP_DeviceMemoryBase, SP_Stream};
use crate::load::Replacement;

/// The alignment of host memory, in bytes.
const HOST_ALIGNMENT: usize = 64;
/// The largest copy, in bytes, that fills memory of a device without a fill function.
const MAX_FILL_BYTES: u64 = 1 << 20;

/// Returns the pointer that represents a device address.
fn opaque(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Checks that memory returned by `call` does not exceed the address space.
fn within_addresses(call: &str, memory: &SP_DeviceMemoryBase) -> Result<(), String> {
    let address = memory.opaque.expose_provenance() as u64;
    match address.checked_add(memory.size) {
        Some(_) => Ok(()),
        None => Err(format!(
            "{call} returned {} bytes at {address:#x}, which exceed the address space",
            memory.size
        )),
    }
}

impl Device {
    /// Allocates at least this many bytes from the plug-in, and checks the result.
    fn given(&self, bytes: u64) -> Result<SP_DeviceMemoryBase> {
        let memory = self.source().allocate(bytes);
        if memory.opaque.is_null() {
            return Err(
                self.wrong(Status::OutOfMemory, format!("allocate returned no memory for {bytes} bytes"))
            );
        }
        let least = offset_of!(SP_DeviceMemoryBase, payload);
        let why = if memory.struct_size < least {
            let size = memory.struct_size;
            Err(format!(
                "allocate returned an SP_DeviceMemoryBase of {size} bytes, but at least {least} are needed"
            ))
        } else if memory.size < bytes {
            Err(format!("allocate returned {} bytes instead of {bytes}", memory.size))
        } else {
            within_addresses("allocate", &memory)
        };
        why.map(|()| memory).map_err(|why| {
            self.source().deallocate(&memory);
            self.wrong(Status::Unknown, why)
        })
    }

    /// Records memory and returns its address.
    fn keep(&self, memory: SP_DeviceMemoryBase, bytes: u64, alignment: u64, unified: bool) -> Result<u64> {
        let address = (memory.opaque.expose_provenance() as u64).next_multiple_of(alignment);
        let mut allocations = self.allocations.write();
        let below = allocations.range(..address + bytes).next_back();
        if let Some((&other, allocation)) = below.filter(|(other, known)| address < *other + known.bytes) {
            // It is in use, so it cannot be freed.
            let why = format!(
                "allocate returned {bytes} bytes at {address:#x}, where {} bytes at {other:#x} are in use",
                allocation.bytes
            );
            return Err(self.wrong(Status::Unknown, why));
        }
        if !memory.ext.is_null() || memory.payload != 0 {
            self.described.store(true, Ordering::Release);
        }
        allocations.insert(address, Allocation { memory, bytes, unified });
        Ok(address)
    }

    pub(super) fn deallocate(&self, allocation: &Allocation) {
        if !allocation.unified {
            self.source().deallocate(&allocation.memory);
        } else if let Some(unified) = self.made.replacement.as_ref().and_then(Replacement::unified) {
            unified.deallocate(self.pointer(), allocation.memory.opaque);
        } else if let Some(deallocate) = self.calls().unified_memory_deallocate {
            // SAFETY: this is the plug-in's function with its device, and memory that it allocated
            // and nobody uses.
            unsafe { deallocate(self.pointer(), allocation.memory.opaque) };
        }
    }

    /// Allocates unified memory. Returns null if there is none.
    fn unified(&self, bytes: u64) -> *mut c_void {
        if let Some(unified) = self.made.replacement.as_ref().and_then(Replacement::unified) {
            return unified.allocate(self.pointer(), bytes);
        }
        let calls = self.calls();
        match (calls.unified_memory_allocate, calls.unified_memory_deallocate) {
            // SAFETY: this is the plug-in's function with its device.
            (Some(allocate), Some(_)) if self.platform().unified => unsafe {
                allocate(self.pointer(), bytes)
            },
            _ => std::ptr::null_mut(),
        }
    }

    /// Describes a part of the device's memory for the plug-in.
    #[inline]
    fn part(&self, address: u64, bytes: u64) -> SP_DeviceMemoryBase {
        let mut part = SP_DeviceMemoryBase {
            struct_size: size_of::<SP_DeviceMemoryBase>(),
            ext: std::ptr::null_mut(),
            opaque: opaque(address),
            size: bytes,
            payload: 0,
        };
        if self.described.load(Ordering::Acquire) {
            self.describe(address, &mut part);
        }
        part
    }

    /// Adds the plug-in's description of the allocation.
    #[cold]
    fn describe(&self, address: u64, part: &mut SP_DeviceMemoryBase) {
        if let Some((_, allocation)) = self.allocations.read().range(..=address).next_back() {
            (part.ext, part.payload) = (allocation.memory.ext, allocation.memory.payload);
        }
    }

    /// Allocates host memory.
    fn allocate_host(&self, bytes: usize) -> Result<*mut u8> {
        let nothing = || {
            self.wrong(
                Status::OutOfMemory,
                format!("host_memory_allocate returned no memory for {bytes} bytes"),
            )
        };
        let mut given = self.source().allocate_host(bytes as u64);
        let mut memory = given.cast::<u8>();
        if !given.is_null() && !given.addr().is_multiple_of(HOST_ALIGNMENT) {
            self.source().deallocate_host(given);
            let larger = bytes.checked_add(HOST_ALIGNMENT - 1).ok_or_else(nothing)?;
            given = self.source().allocate_host(larger as u64);
            // Within the allocation, or null if that is null.
            memory = given.cast::<u8>().wrapping_add(given.cast::<u8>().align_offset(HOST_ALIGNMENT));
        }
        if given.is_null() {
            return Err(nothing());
        }
        self.host.lock().insert(memory.expose_provenance(), given.expose_provenance());
        Ok(memory)
    }

    /// Frees host memory.
    pub(super) fn free_host(&self, memory: *mut u8) -> Result<()> {
        let given = self.host.lock().remove(&memory.addr());
        let given = given.ok_or_else(|| DeviceError::invalid_value("not pinned memory of this device"))?;
        self.source().deallocate_host(std::ptr::with_exposed_provenance_mut(given));
        Ok(())
    }

    fn to_device(&self, stream: SP_Stream, dst: u64, src: *const u8, bytes: u64) -> Result<()> {
        let mut dst = self.part(dst, bytes);
        // SAFETY: this is the plug-in's function with its device and stream, and the caller
        // promises that the ranges are valid.
        self.call("memcpy_htod", |device, status| unsafe {
            (self.calls().memcpy_htod)(device, stream, &raw mut dst, src.cast(), bytes, status);
        })
    }

    fn to_host(&self, stream: SP_Stream, dst: *mut u8, src: u64, bytes: u64) -> Result<()> {
        let src = self.part(src, bytes);
        // SAFETY: this is the plug-in's function with its device and stream, and the caller
        // promises that the ranges are valid.
        self.call("memcpy_dtoh", |device, status| unsafe {
            (self.calls().memcpy_dtoh)(device, stream, dst.cast(), &raw const src, bytes, status);
        })
    }

    fn within(&self, stream: SP_Stream, dst: u64, src: u64, bytes: u64) -> Result<()> {
        let (mut dst, src) = (self.part(dst, bytes), self.part(src, bytes));
        // SAFETY: this is the plug-in's function with its device and stream, and the ranges lie in
        // memory it allocated.
        self.call("memcpy_dtod", |device, status| unsafe {
            (self.calls().memcpy_dtod)(device, stream, &raw mut dst, &raw const src, bytes, status);
        })
    }

    /// Fills memory with the plug-in's functions. Returns false if they cannot do it.
    fn fill(&self, stream: SP_Stream, dst: u64, pattern: Pattern, bytes: u64) -> Result<bool> {
        let calls = self.calls();
        let word = match pattern {
            Pattern::U8(byte) => u32::from_ne_bytes([byte; 4]),
            Pattern::U16(half) => u32::from(half) << 16 | u32::from(half),
            Pattern::U32(word) => word,
        };
        let bytes_alike = word == u32::from_ne_bytes([word as u8; 4]);
        let words_fit = dst.is_multiple_of(4) && bytes.is_multiple_of(4);
        let mut dst = self.part(dst, bytes);
        let dst = &raw mut dst;
        // SAFETY (of each call): this is the plug-in's function with its device and stream, and
        // memory that it allocated.
        match (calls.mem_zero, calls.memset, calls.memset32) {
            (Some(zero), ..) if word == 0 => {
                // SAFETY: see the comment before this `match`.
                self.call("mem_zero", |device, status| unsafe { zero(device, stream, dst, bytes, status) })?;
            }
            (_, Some(set), _) if bytes_alike => {
                // SAFETY: see the comment before this `match`.
                self.call("memset", |device, status| unsafe {
                    set(device, stream, dst, word as u8, bytes, status);
                })?;
            }
            (.., Some(set)) if words_fit => {
                // SAFETY: see the comment before this `match`.
                self.call("memset32", |device, status| unsafe {
                    set(device, stream, dst, word, bytes, status);
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Fills memory by repeated copies from the host.
    fn fill_by_copies(&self, stream: &Stream, dst: u64, pattern: Pattern, bytes: u64) -> Result<()> {
        let period = bytes.min(MAX_FILL_BYTES) as usize;
        let memory = self.allocate_host(period)?;
        // SAFETY: the memory was just allocated with this size.
        let filled = unsafe {
            memory.write_bytes(0, period);
            std::slice::from_raw_parts_mut(memory, period)
        };
        match pattern {
            Pattern::U8(byte) => filled.fill(byte),
            Pattern::U16(half) => {
                filled.chunks_exact_mut(2).for_each(|c| c.copy_from_slice(&half.to_ne_bytes()))
            }
            Pattern::U32(word) => {
                filled.chunks_exact_mut(4).for_each(|c| c.copy_from_slice(&word.to_ne_bytes()))
            }
        }
        let mut result = Ok(());
        let mut at = 0;
        while at < bytes && result.is_ok() {
            let part = (bytes - at).min(period as u64);
            result = self.to_device(stream.handle(), dst + at, memory, part);
            stream.queued();
            at += part;
        }
        self.remains.bury(self, Remaining::Host(memory), vec![stream.point()]);
        result
    }
}

/// A block of unified memory, freed when neither side uses it any more.
pub(super) struct Unified {
    address: u64,
    allocation: Option<Allocation>,
    device: Arc<Device>,
    teardown: Teardown,
}

impl Drop for Unified {
    fn drop(&mut self) {
        // It is still in the table unless the device's side has ended.
        self.device.allocations.write().remove(&self.address);
        let device = self.device.clone();
        if let Some(allocation) = self.allocation.take() {
            self.teardown.hand_over(move || device.deallocate(&allocation));
        }
    }
}

impl Memory for PluginContext {
    fn memory_info(&self) -> Result<MemoryInfo> {
        let usage = self.device.source().usage();
        let (free, total) = usage.ok_or_else(|| {
            self.device.wrong(Status::NotSupported, "the device does not report its memory")
        })?;
        Ok(MemoryInfo { free, total })
    }

    fn allocate(&self, bytes: u64) -> Result<u64> {
        let device = &self.device;
        let mut memory = device.given(bytes)?;
        if !(memory.opaque.addr() as u64).is_multiple_of(ALIGNMENT) {
            device.source().deallocate(&memory);
            let larger =
                bytes.checked_add(ALIGNMENT - 1).ok_or_else(|| DeviceError::from(Status::OutOfMemory))?;
            memory = device.given(larger)?;
        }
        device.keep(memory, bytes, ALIGNMENT, false)
    }

    fn free(&self, address: u64) -> Result<()> {
        let allocation = self.device.allocations.write().remove(&address);
        let allocation = allocation.ok_or_else(|| DeviceError::invalid_value("not memory of this device"))?;
        if allocation.unified {
            // The host may still use its side.
            drop(self.unified.lock().remove(&address));
        } else if self.is_cached() {
            // Such an allocator is meant to be called often.
            self.device.deallocate(&allocation);
        } else {
            let device = self.device.clone();
            self.teardown.hand_over(move || device.deallocate(&allocation));
        }
        Ok(())
    }

    fn allocate_host(&self, bytes: usize) -> Result<*mut u8> {
        self.device.allocate_host(bytes)
    }

    unsafe fn free_host(&self, memory: *mut u8) -> Result<()> {
        self.device.free_host(memory)
    }

    unsafe fn register_host(&self, _memory: *mut u8, _bytes: usize) -> Result<()> {
        Err(self
            .device
            .wrong(Status::NotSupported, "the API cannot pin memory that the plug-in did not allocate"))
    }

    fn unregister_host(&self, _memory: *mut u8) -> Result<()> {
        Err(Status::HostMemoryNotRegistered.into())
    }

    fn allocate_managed(&self, bytes: u64) -> Result<ManagedMemory> {
        let given = self.device.unified(bytes);
        if given.is_null() {
            return Err(self.device.wrong(Status::NotSupported, "the device has no unified memory"));
        }
        let memory = SP_DeviceMemoryBase {
            struct_size: size_of::<SP_DeviceMemoryBase>(),
            ext: std::ptr::null_mut(),
            opaque: given,
            size: bytes,
            payload: 0,
        };
        if let Err(why) = within_addresses("unified_memory_allocate", &memory) {
            self.device.deallocate(&Allocation { memory, bytes, unified: true });
            return Err(self.device.wrong(Status::Unknown, why));
        }
        let address = self.device.keep(memory, bytes, 1, true)?;
        let block = Arc::new(Unified {
            address,
            allocation: Some(Allocation { memory, bytes, unified: true }),
            device: self.device.clone(),
            teardown: self.teardown.clone(),
        });
        self.unified.lock().insert(address, block.clone());
        let host = given.cast::<u8>();
        // SAFETY: the memory was just allocated with this size, and no work of the device uses it
        // yet.
        unsafe { host.write_bytes(0, bytes as usize) };
        Ok(ManagedMemory { address, host, host_owner: Box::new(block) })
    }

    fn is_allocated(&self, address: u64, bytes: u64) -> bool {
        let allocations = self.device.allocations.read();
        let found = allocations.range(..=address).next_back();
        found.is_some_and(|(&start, known)| bytes <= known.bytes && address - start <= known.bytes - bytes)
    }

    fn is_cached(&self) -> bool {
        matches!(self.device.made.replacement, Some(Replacement::Custom(..)))
    }
}

impl Transfers for PluginContext {
    unsafe fn copy_host_to_device(
        &self,
        stream: &Stream,
        dst: u64,
        src: *const u8,
        bytes: usize,
    ) -> Result<()> {
        let done = self.device.to_device(stream.handle(), dst, src, bytes as u64);
        stream.queued();
        done
    }

    unsafe fn copy_device_to_host(
        &self,
        stream: &Stream,
        dst: *mut u8,
        src: u64,
        bytes: usize,
    ) -> Result<()> {
        let done = self.device.to_host(stream.handle(), dst, src, bytes as u64);
        stream.queued();
        done
    }

    fn copy_device_to_device(&self, stream: &Stream, dst: u64, src: u64, bytes: u64) -> Result<()> {
        let done = self.device.within(stream.handle(), dst, src, bytes);
        stream.queued();
        done
    }

    unsafe fn copy_2d(&self, stream: &Stream, copy: &Copy2d) -> Result<()> {
        let (device, handle, width) = (&self.device, stream.handle(), copy.width as u64);
        for row in 0..copy.height {
            let (to, from) = (row * copy.dst_pitch, row * copy.src_pitch);
            let done = match (copy.dst, copy.src) {
                (Endpoint::Device(dst), Endpoint::Device(src)) => {
                    device.within(handle, dst + to as u64, src + from as u64, width)
                }
                (Endpoint::Device(dst), Endpoint::Host(src)) => {
                    device.to_device(handle, dst + to as u64, src.wrapping_add(from), width)
                }
                (Endpoint::Host(dst), Endpoint::Device(src)) => {
                    device.to_host(handle, dst.wrapping_add(to), src + from as u64, width)
                }
                (Endpoint::Host(_), Endpoint::Host(_)) => Err(Status::InvalidValue.into()),
            };
            stream.queued();
            done?;
        }
        Ok(())
    }

    fn set(&self, stream: &Stream, dst: u64, pattern: Pattern, count: u64) -> Result<()> {
        let bytes = count * pattern.size();
        let done = self.device.fill(stream.handle(), dst, pattern, bytes);
        stream.queued();
        if done? { Ok(()) } else { self.device.fill_by_copies(stream, dst, pattern, bytes) }
    }
}
