//! Memory of the device, memory of the host that the device may reach, and copies between them.

#![expect(unsafe_code, reason = "what callers promise a backend is part of the contract")]

use std::any::Any;
use std::fmt;

use super::{Resources, Result};
use crate::error::Status;

/// Bytes free and in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that could still be allocated.
    pub free: u64,
    /// Bytes of the device.
    pub total: u64,
}

/// Unified memory: one block that both sides reach.
pub struct ManagedMemory {
    /// Its address on the device, until [`Memory::free`].
    pub address: u64,
    /// Its address on the host.
    pub host: *mut u8,
    /// Who keeps the host's side, whatever becomes of the device's and of the context.
    pub host_owner: Box<dyn Any + Send + Sync>,
}

impl fmt::Debug for ManagedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unified memory at {:#x}, on the host at {:p}", self.address, self.host)
    }
}

/// Allocation.
pub trait Memory: Resources {
    /// Bytes free and in all.
    fn memory_info(&self) -> Result<MemoryInfo>;

    /// `bytes` (not zero) of device memory, aligned to 256 bytes at least, with arbitrary contents.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::error::Status::OutOfMemory).
    fn allocate(&self, bytes: u64) -> Result<u64>;

    /// Gives back what `allocate` gave. No queued work uses it any more. It does not wait: the device may have the memory
    /// later, when the backend's [`Teardown`](super::Teardown) has done what it was given.
    fn free(&self, address: u64) -> Result<()>;

    /// Gives back device memory that the backend itself keeps to be faster, in all contexts of the device, as queued work is done
    /// with it; whether there was any. It does not wait, as `free` does not.
    fn trim(&self) -> bool {
        false
    }

    /// `bytes` (not zero) of pinned host memory, page-aligned.
    fn allocate_host(&self, bytes: usize) -> Result<*mut u8>;

    /// Gives back what `allocate_host` gave.
    ///
    /// # Safety
    /// It came from `allocate_host` of this context and nothing uses it any more.
    unsafe fn free_host(&self, memory: *mut u8) -> Result<()>;

    /// Pins memory of the host's, so that copies need no staging.
    ///
    /// # Safety
    /// The memory stays allocated until it is unregistered.
    unsafe fn register_host(&self, memory: *mut u8, bytes: usize) -> Result<()>;

    /// Ends `register_host`.
    fn unregister_host(&self, memory: *mut u8) -> Result<()>;

    /// `bytes` (not zero) of unified memory, all of them zero. `free` ends the device's side, and dropping the owner the
    /// host's; the block goes when both have ended. The two sides never touch it at a time.
    fn allocate_managed(&self, bytes: u64) -> Result<ManagedMemory>;

    /// Whether all of `address .. address + bytes` lies in one live allocation of this backend. What a backend cannot
    /// know it answers with true.
    fn is_allocated(&self, address: u64, bytes: u64) -> bool;

    /// Whether `allocate` and `free` follow a strategy of their own, so that memory nobody uses is given back at once
    /// instead of being kept.
    fn is_cached(&self) -> bool {
        false
    }
}

/// Memory by the page: any page may be put at any address, and at several at once, so that memory moves without being
/// copied. A backend that lacks it implements nothing.
pub trait Paging: Resources {
    /// Bytes of a page, a power of two; `None` if there is no such thing.
    fn page_bytes(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Addresses without memory, aligned to the page size; `bytes` is a multiple of it.
    fn reserve_range(&self, _bytes: u64) -> Result<u64> {
        Err(Status::NotSupported.into())
    }

    /// Gives back a whole range, of which nothing is mapped.
    fn release_range(&self, _address: u64, _bytes: u64) -> Result<()> {
        Err(Status::NotSupported.into())
    }

    /// So many pages, or none of them.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    fn create_pages(&self, _count: u64) -> Result<Vec<u64>> {
        Err(Status::NotSupported.into())
    }

    /// Gives a page back, whose memory remains where it is still mapped.
    fn destroy_page(&self, _page: u64) -> Result<()> {
        Err(Status::NotSupported.into())
    }

    /// Maps pages side by side from `address` on, or none of them.
    fn map_pages(&self, _address: u64, _pages: &[u64]) -> Result<()> {
        Err(Status::NotSupported.into())
    }

    /// Unmaps whole pages, which no queued work uses any more.
    fn unmap_pages(&self, _address: u64, _bytes: u64) -> Result<()> {
        Err(Status::NotSupported.into())
    }
}

/// One end of a two-dimensional copy.
#[derive(Clone, Copy, Debug)]
pub enum Endpoint {
    /// Device memory.
    Device(u64),
    /// Host memory; of a source it is only read.
    Host(*mut u8),
}

/// Rows of bytes, `pitch` apart.
#[derive(Clone, Copy, Debug)]
pub struct Copy2d {
    /// Where to.
    pub dst: Endpoint,
    /// Bytes from one row to the next there.
    pub dst_pitch: usize,
    /// Where from.
    pub src: Endpoint,
    /// Bytes from one row to the next there.
    pub src_pitch: usize,
    /// Bytes of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// What memory is filled with, again and again.
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
    /// Bytes of the pattern.
    pub fn size(self) -> u64 {
        match self {
            Self::U8(_) => 1,
            Self::U16(_) => 2,
            Self::U32(_) => 4,
        }
    }
}

/// Work on a stream that moves bytes. Ranges of device memory lie in live allocations of this backend.
pub trait Transfers: Resources {
    /// From the host, asynchronously.
    ///
    /// # Safety
    /// `src` is readable for `bytes`, and nobody but other copies writes there, until the stream has passed this copy. It is
    /// pinned unless the device takes pageable copies.
    unsafe fn copy_host_to_device(
        &self,
        stream: &Self::Stream,
        dst: u64,
        src: *const u8,
        bytes: usize,
    ) -> Result<()>;

    /// To the host, asynchronously.
    ///
    /// # Safety
    /// `dst` is writable for `bytes`, and nobody but other copies reads or writes there, until the stream has passed this
    /// copy. It is pinned unless the device takes pageable copies.
    unsafe fn copy_device_to_host(
        &self,
        stream: &Self::Stream,
        dst: *mut u8,
        src: u64,
        bytes: usize,
    ) -> Result<()>;

    /// On one device or between two, neither of which need be the stream's.
    fn copy_device_to_device(&self, stream: &Self::Stream, dst: u64, src: u64, bytes: u64) -> Result<()>;

    /// Rows of bytes.
    ///
    /// # Safety
    /// For ends on the host as for the copies above.
    unsafe fn copy_2d(&self, stream: &Self::Stream, copy: &Copy2d) -> Result<()>;

    /// Fills with `count` repetitions of a pattern.
    fn set(&self, stream: &Self::Stream, dst: u64, pattern: Pattern, count: u64) -> Result<()>;
}
