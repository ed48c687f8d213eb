//! Device memory, host memory that the device can reach, and copies between them.

#![expect(unsafe_code, reason = "what callers promise a backend is part of the contract")]

use std::any::Any;
use std::fmt;

use super::{Resources, Result};
use crate::error::Status;

/// The free and the total memory of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that can still be allocated.
    pub free: u64,
    /// Bytes of the whole device.
    pub total: u64,
}

/// Unified memory: one block that device and host can reach.
pub struct ManagedMemory {
    /// The address on the device, valid until [`Memory::free`].
    pub address: u64,
    /// The address on the host.
    pub host: *mut u8,
    /// Keeps the host's side alive, independently of the device's side and of the context.
    pub host_owner: Box<dyn Any + Send + Sync>,
}

impl fmt::Debug for ManagedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unified memory at {:#x}, on the host at {:p}", self.address, self.host)
    }
}

/// Allocates device memory and pinned host memory.
pub trait Memory: Resources {
    /// Returns the free and the total memory of a device.
    fn memory_info(&self) -> Result<MemoryInfo>;

    /// Allocates `bytes` (not zero) of device memory, aligned to at least 256 bytes, with arbitrary
    /// contents.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::error::Status::OutOfMemory).
    fn allocate(&self, bytes: u64) -> Result<u64>;

    /// Releases memory from `allocate` that no queued work uses any more. Does not wait: the memory
    /// may return to the device later, through the backend's [`Teardown`](super::Teardown).
    fn free(&self, address: u64) -> Result<()>;

    /// Releases device memory that the backend caches, in all contexts of the device, once queued
    /// work no longer uses it. Returns whether there was any. Does not wait.
    fn trim(&self) -> bool {
        false
    }

    /// Allocates `bytes` (not zero) of pinned, page-aligned host memory.
    fn allocate_host(&self, bytes: usize) -> Result<*mut u8>;

    /// Releases memory from `allocate_host`.
    ///
    /// # Safety
    /// It came from `allocate_host` of this context and nothing uses it any more.
    unsafe fn free_host(&self, memory: *mut u8) -> Result<()>;

    /// Pins existing host memory, so that copies need no staging.
    ///
    /// # Safety
    /// The memory stays allocated until it is unregistered.
    unsafe fn register_host(&self, memory: *mut u8, bytes: usize) -> Result<()>;

    /// Unpins memory that `register_host` pinned.
    fn unregister_host(&self, memory: *mut u8) -> Result<()>;

    /// Allocates `bytes` (not zero) of unified memory, filled with zeros. `free` releases the
    /// device's side, and dropping the owner releases the host's. The two sides never access the
    /// memory at the same time.
    fn allocate_managed(&self, bytes: u64) -> Result<ManagedMemory>;

    /// Returns whether `address .. address + bytes` lies in one live allocation of this backend. A
    /// backend that cannot know returns true.
    fn is_allocated(&self, address: u64, bytes: u64) -> bool;

    /// Returns whether `allocate` and `free` cache memory themselves. The front's allocator then
    /// returns unused memory at once.
    fn is_cached(&self) -> bool {
        false
    }
}

/// Maps memory in pages. Any page can be mapped at any address, and at several at once, so memory
/// moves without being copied. A backend without pages implements nothing.
pub trait Paging: Resources {
    /// Returns the size of a page in bytes, a power of two; `None` if there are no pages.
    fn page_bytes(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Reserves a range of addresses without memory, aligned to the page size. `bytes` is a
    /// multiple of that size.
    fn reserve_range(&self, _bytes: u64) -> Result<u64> {
        Err(Status::NotSupported.into())
    }

    /// Releases a whole reserved range in which nothing is mapped.
    fn release_range(&self, _address: u64, _bytes: u64) -> Result<()> {
        Err(Status::NotSupported.into())
    }

    /// Creates `count` pages, or none if there is an error.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    fn create_pages(&self, _count: u64) -> Result<Vec<u64>> {
        Err(Status::NotSupported.into())
    }

    /// Destroys a page. Its memory stays alive where it is still mapped.
    fn destroy_page(&self, _page: u64) -> Result<()> {
        Err(Status::NotSupported.into())
    }

    /// Maps pages contiguously from `address` on, or none if there is an error.
    fn map_pages(&self, _address: u64, _pages: &[u64]) -> Result<()> {
        Err(Status::NotSupported.into())
    }

    /// Unmaps whole pages that no queued work uses any more.
    fn unmap_pages(&self, _address: u64, _bytes: u64) -> Result<()> {
        Err(Status::NotSupported.into())
    }
}

/// One end of a two-dimensional copy.
#[derive(Clone, Copy, Debug)]
pub enum Endpoint {
    /// Device memory.
    Device(u64),
    /// Host memory. A source is only read.
    Host(*mut u8),
}

/// A two-dimensional copy: rows of bytes, `pitch` apart.
#[derive(Clone, Copy, Debug)]
pub struct Copy2d {
    /// The destination.
    pub dst: Endpoint,
    /// The distance between rows on that side, in bytes.
    pub dst_pitch: usize,
    /// The source.
    pub src: Endpoint,
    /// The distance between rows on that side, in bytes.
    pub src_pitch: usize,
    /// The size of a row in bytes.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
}

/// A pattern with which memory is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// One byte.
    U8(u8),
    /// Two bytes, aligned.
    U16(u16),
    /// Four bytes, aligned.
    U32(u32),
}

impl Pattern {
    /// Returns the size of the pattern in bytes.
    pub fn size(self) -> u64 {
        match self {
            Self::U8(_) => 1,
            Self::U16(_) => 2,
            Self::U32(_) => 4,
        }
    }
}

/// Queues copies and fills. Ranges of device memory lie in live allocations of this backend.
pub trait Transfers: Resources {
    /// Queues a copy from the host.
    ///
    /// # Safety
    /// `src` is readable for `bytes`, and only other copies write there, until the stream has
    /// passed this copy. It is pinned unless the device accepts pageable copies.
    unsafe fn copy_host_to_device(
        &self,
        stream: &Self::Stream,
        dst: u64,
        src: *const u8,
        bytes: usize,
    ) -> Result<()>;

    /// Queues a copy to the host.
    ///
    /// # Safety
    /// `dst` is writable for `bytes`, and only other copies read or write there, until the stream
    /// has passed this copy. It is pinned unless the device accepts pageable copies.
    unsafe fn copy_device_to_host(
        &self,
        stream: &Self::Stream,
        dst: *mut u8,
        src: u64,
        bytes: usize,
    ) -> Result<()>;

    /// Queues a copy on one device or between two. Neither needs to be the stream's device.
    fn copy_device_to_device(&self, stream: &Self::Stream, dst: u64, src: u64, bytes: u64) -> Result<()>;

    /// Queues a two-dimensional copy.
    ///
    /// # Safety
    /// An end on the host meets the requirements of [`Transfers::copy_host_to_device`] as a source,
    /// and of [`Transfers::copy_device_to_host`] as a destination.
    unsafe fn copy_2d(&self, stream: &Self::Stream, copy: &Copy2d) -> Result<()>;

    /// Queues a fill with `count` repetitions of a pattern.
    fn set(&self, stream: &Self::Stream, dst: u64, pattern: Pattern, count: u64) -> Result<()>;
}
