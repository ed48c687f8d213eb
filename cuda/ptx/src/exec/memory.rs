//! Device memory: the allocations that a launch may access.
//!
//! Device addresses are not host addresses. Each is used once in the life of the process. Gaps
//! between allocations keep an overrun from reaching a neighbour, and no address is zero. A
//! [`Memory`] maps addresses to storage. A launch works on a snapshot of the table, which keeps
//! every allocation alive that existed when the launch began. A worker may replace its snapshot by
//! a newer one, and then forgets the storage it found through the old one. So a `free` during a
//! launch is at worst an error of the program, and never undefined behaviour here.
//!
//! Only [`Memory::read`], [`Memory::write`] and their relatives and running kernels access the
//! bytes. Kernels of parallel blocks may race on them. Every access from a kernel is atomic or
//! volatile (see `exec/raw.rs`), so a race yields an unspecified value and no undefined behaviour.
//!
//! This module never dereferences a device address itself and never hands out a reference to device
//! bytes.

#![expect(unsafe_code, reason = "owns raw storage that interpreted programs read and write concurrently")]

use std::alloc::Layout;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::instrument::{Unwatched, Written};
use super::raw;

/// The first address of all. It is so high that small integers are never addresses.
const FIRST_ADDRESS: u64 = 0x10_0000_0000;
/// The end of global memory. The addresses from here on belong to the windows of `exec/address.rs`.
pub(crate) const ADDRESS_END: u64 = 1 << 56;
/// Unused bytes between two allocations.
const GUARD_BYTES: u64 = 1 << 16;
/// The alignment of every allocation.
const ALIGNMENT: u64 = 256;
/// The number of frees that are remembered for reports of use after free.
const MAX_FREED: usize = 4096;

static NEXT_ADDRESS: AtomicU64 = AtomicU64::new(FIRST_ADDRESS);

/// The error of an operation on device memory by the host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryError {
    /// The storage could not be allocated.
    OutOfMemory {
        /// The bytes that were requested.
        bytes: u64,
    },
    /// No allocation holds the whole range.
    OutOfBounds {
        /// The first byte of the range.
        address: u64,
        /// The length of the range in bytes.
        bytes: u64,
        /// A description of the allocation nearest to the address.
        nearest: String,
    },
    /// The address is not the start of an allocation.
    NotAllocated {
        /// The address.
        address: u64,
    },
    /// A registration overlaps another allocation, or its address is null, misaligned to its
    /// storage, or too high.
    BadRegistration {
        /// The address.
        address: u64,
        /// The reason.
        reason: &'static str,
    },
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory { bytes } => write!(f, "out of memory allocating {bytes} bytes"),
            Self::OutOfBounds { address, bytes, nearest } => {
                write!(f, "{bytes} bytes at {address:#x} are not inside an allocation; {nearest}")
            }
            Self::NotAllocated { address } => write!(f, "no allocation starts at {address:#x}"),
            Self::BadRegistration { address, reason } => write!(f, "cannot register {address:#x}: {reason}"),
        }
    }
}

impl std::error::Error for MemoryError {}

/// The storage of an allocation, and who frees it.
enum Storage {
    Owned(Layout),
    /// The caller's storage, which this handle keeps alive.
    Shared(#[expect(dead_code, reason = "kept, and never looked at")] Owner),
    Empty,
}

/// A handle that keeps registered storage alive.
pub type Owner = Arc<dyn Send + Sync>;

/// A range of device addresses and its bytes.
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    pub(crate) pointer: *mut u8,
    pub(crate) read_only: bool,
    pub(crate) label: Arc<str>,
    storage: Storage,
    written: Written,
    /// How often bytes may have been changed; see [`Held::changes`].
    changes: AtomicU64,
}

// SAFETY: `pointer` refers to bytes that `Allocation::new` allocated, or that the caller of
// `Memory::register` promised to keep alive and to share. Only the functions of `raw` access them,
// and those may race, so an allocation may be used and dropped on any thread.
unsafe impl Send for Allocation {}
// SAFETY: all fields but the bytes behind `pointer` are immutable or synchronized, and the
// functions of `raw` may reach the bytes from several threads.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// Allocates `bytes` zero bytes at a new address.
    pub(crate) fn new(bytes: u64, read_only: bool, label: impl Into<Arc<str>>) -> Result<Self, MemoryError> {
        let out_of_memory = MemoryError::OutOfMemory { bytes };
        let span = bytes.checked_next_multiple_of(ALIGNMENT).and_then(|b| b.checked_add(GUARD_BYTES));
        let Some(span) = span.filter(|&span| span < ADDRESS_END / 2) else { return Err(out_of_memory) };
        let mut allocation = Self {
            base: 0,
            bytes,
            pointer: std::ptr::null_mut(),
            read_only,
            label: label.into(),
            storage: Storage::Empty,
            written: Written::everything(),
            changes: AtomicU64::new(0),
        };
        if bytes > 0 {
            let layout =
                usize::try_from(bytes).ok().and_then(|b| Layout::from_size_align(b, ALIGNMENT as usize).ok());
            let Some(layout) = layout else { return Err(out_of_memory) };
            // SAFETY: the layout has a size above zero.
            let pointer = unsafe { std::alloc::alloc_zeroed(layout) };
            if pointer.is_null() {
                return Err(out_of_memory);
            }
            allocation.pointer = pointer;
            allocation.storage = Storage::Owned(layout);
        }
        allocation.base = NEXT_ADDRESS.fetch_add(span, Ordering::Relaxed);
        if allocation.base.saturating_add(span) >= ADDRESS_END { Err(out_of_memory) } else { Ok(allocation) }
    }

    /// Returns the address after the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.base + self.bytes
    }

    /// Notes that bytes are about to be changed, or were just now.
    pub(crate) fn note_change(&self) {
        // Relaxed: who compares the numbers is ordered after the change by other means.
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Describes where `address` lies relative to this allocation.
    pub(crate) fn describe(&self, address: u64) -> String {
        let Self { base, bytes, label, .. } = self;
        let what = format!("{label} of {bytes} bytes at {base:#x}");
        if address < *base {
            format!("{} bytes before {what}", base - address)
        } else if address < self.end() {
            format!("{} bytes into {what}", address - base)
        } else {
            format!("{} bytes past the end of {what}", address - self.end())
        }
    }

    /// Returns the pointer to `bytes` bytes at `address`, if all are inside the allocation.
    pub(crate) fn pointer_to(&self, address: u64, bytes: u64) -> Option<*mut u8> {
        let offset = address.checked_sub(self.base)?;
        // `offset <= self.bytes` fits a usize because the storage does.
        (offset <= self.bytes && self.bytes - offset >= bytes)
            .then(|| self.pointer.wrapping_add(offset as usize))
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Storage::Owned(layout) = self.storage {
            // SAFETY: `new` allocated the storage with this layout, and nothing else frees it.
            unsafe { std::alloc::dealloc(self.pointer, layout) }
        }
    }
}

/// A freed allocation, for reports of use after free.
#[derive(Clone)]
pub(crate) struct Freed {
    base: u64,
    bytes: u64,
    label: Arc<str>,
}

/// The allocations of a memory at one point in time.
#[derive(Clone, Default)]
pub(crate) struct Table {
    /// Sorted by address, disjoint.
    live: Vec<Arc<Allocation>>,
    freed: VecDeque<Freed>,
}

impl Table {
    /// Returns the allocation that holds `address` (or ends there, for empty ranges).
    pub(crate) fn find(&self, address: u64) -> Option<&Arc<Allocation>> {
        let after = self.live.partition_point(|a| a.base <= address);
        let candidate = self.live.get(after.checked_sub(1)?)?;
        (address - candidate.base < candidate.bytes.max(1)).then_some(candidate)
    }

    /// Describes the freed allocation that held `address`.
    pub(crate) fn find_freed(&self, address: u64) -> Option<String> {
        let held = |f: &&Freed| address >= f.base && address - f.base < f.bytes;
        self.freed.iter().rev().find(held).map(|f| {
            format!(
                "{} bytes into {} of {} bytes at {:#x}, which was freed",
                address - f.base,
                f.label,
                f.bytes,
                f.base
            )
        })
    }

    /// Returns the allocation closest to `address`, and its distance in bytes.
    pub(crate) fn nearest(&self, address: u64) -> Option<(u64, &Allocation)> {
        let after = self.live.partition_point(|a| a.base <= address);
        let before = after.checked_sub(1).and_then(|i| self.live.get(i));
        let distance = |a: &Allocation| {
            if address < a.base { a.base - address } else { (address - a.base).saturating_sub(a.bytes) }
        };
        before.into_iter().chain(self.live.get(after)).map(|a| (distance(a), &**a)).min_by_key(|(d, _)| *d)
    }

    pub(crate) fn insert(&mut self, allocation: Arc<Allocation>) {
        let at = self.live.partition_point(|a| a.base < allocation.base);
        self.live.insert(at, allocation);
    }

    fn remove(&mut self, address: u64) -> Option<Arc<Allocation>> {
        let at = self.live.binary_search_by_key(&address, |a| a.base).ok()?;
        Some(self.live.remove(at))
    }
}

/// The device memory that launches work on. Threads may share it.
#[derive(Default)]
pub struct Memory {
    table: RwLock<Arc<Table>>,
    unwatched: Unwatched,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.snapshot();
        let bytes: u64 = table.live.iter().map(|a| a.bytes).sum();
        write!(f, "Memory {{ allocations: {}, bytes: {bytes} }}", table.live.len())
    }
}

impl Memory {
    /// Creates an empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allocates `bytes` bytes and returns their device address, a multiple of 256. A size of zero
    /// is allowed and returns a unique address.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`].
    pub fn allocate(&self, bytes: u64) -> Result<u64, MemoryError> {
        self.allocate_labelled(bytes, "an allocation")
    }

    /// Allocates memory that reports call `label`, see [`Memory::allocate`].
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`].
    pub fn allocate_labelled(&self, bytes: u64, label: &str) -> Result<u64, MemoryError> {
        let mut allocation = Allocation::new(bytes, false, label)?;
        allocation.written = Written::nothing(bytes, &self.unwatched);
        let base = allocation.base;
        self.update(|table| table.insert(Arc::new(allocation)));
        Ok(base)
    }

    /// Allocates memory and copies `bytes` to it.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`].
    pub fn allocate_from(&self, bytes: &[u8]) -> Result<u64, MemoryError> {
        let address = self.allocate(bytes.len() as u64)?;
        self.write(address, bytes)?;
        Ok(address)
    }

    /// Frees the allocation that starts at `address`. Launches that are already running may
    /// continue to access it; an access by a later launch is a fault.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`].
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        self.update(|table| {
            let allocation = table.remove(address).ok_or(MemoryError::NotAllocated { address })?;
            if table.freed.len() == MAX_FREED {
                table.freed.pop_front();
            }
            table.freed.push_back(Freed {
                base: address,
                bytes: allocation.bytes,
                label: Arc::clone(&allocation.label),
            });
            Ok(())
        })
    }

    /// Makes `bytes` bytes of the caller's storage visible to kernels at device address `address`,
    /// until [`Memory::free`]. `owner` is dropped after that, when every launch and every [`Held`]
    /// that began before has ended.
    ///
    /// # Errors
    /// [`MemoryError::BadRegistration`].
    ///
    /// # Safety
    /// `pointer` must be valid for reads and writes of `bytes` bytes as long as `owner` is alive.
    /// While a launch runs, the bytes may be accessed only through this memory's methods and by
    /// atomic accesses.
    pub unsafe fn register(
        &self,
        address: u64,
        pointer: *mut u8,
        bytes: u64,
        label: &str,
        owner: Owner,
    ) -> Result<(), MemoryError> {
        let bad = |reason| Err(MemoryError::BadRegistration { address, reason });
        if address == 0 || pointer.is_null() {
            return bad("the address or the pointer is null");
        }
        if address.checked_add(bytes).is_none_or(|end| end > ADDRESS_END) {
            return bad("device addresses end at 2^56");
        }
        if address % 16 != pointer.addr() as u64 % 16 {
            return bad("address and storage are aligned differently");
        }
        let allocation = Arc::new(Allocation {
            base: address,
            bytes,
            pointer,
            read_only: false,
            label: label.into(),
            storage: Storage::Shared(owner),
            written: Written::everything(),
            changes: AtomicU64::new(0),
        });
        self.update(|table| {
            let overlaps =
                |a: &Arc<Allocation>| a.base < address + bytes.max(1) && address < a.base + a.bytes.max(1);
            if table.live.iter().any(overlaps) {
                return bad("the range overlaps another allocation");
            }
            table.insert(allocation);
            Ok(())
        })
    }

    /// Removes allocations that [`Memory::attach`] added.
    pub(crate) fn detach(&self, allocations: &[Arc<Allocation>]) {
        self.update(|table| allocations.iter().for_each(|allocation| drop(table.remove(allocation.base))));
    }

    /// Adds allocations that others own, such as the variables of a module.
    pub(crate) fn attach(&self, allocations: &[Arc<Allocation>]) {
        let table = self.snapshot();
        if allocations.iter().all(|allocation| table.find(allocation.base).is_some()) {
            return;
        }
        drop(table);
        self.update(|table| {
            for allocation in allocations {
                if table.find(allocation.base).is_none() {
                    table.insert(Arc::clone(allocation));
                }
            }
        });
    }

    /// Copies `bytes` to device memory.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`].
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        // SAFETY: `bytes` is borrowed for the call, so it is valid for reads and nothing writes it.
        unsafe { self.write_from(address, bytes.as_ptr(), bytes.len()) }
    }

    /// Copies `bytes` bytes from host memory to device memory.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`].
    ///
    /// # Safety
    /// `source` is valid for reads of `bytes` bytes. During the call, only [`Memory::read_to`]
    /// writes them.
    pub unsafe fn write_from(
        &self,
        address: u64,
        source: *const u8,
        bytes: usize,
    ) -> Result<(), MemoryError> {
        let target = self.hold(address, bytes as u64)?;
        // SAFETY: `hold` checked the target and keeps its storage alive; the caller promises that
        // the source is valid.
        unsafe { raw::copy(source, target.pointer, bytes) };
        target.note_written(address, bytes as u64);
        Ok(())
    }

    /// Notes the start of a launch that does not report what it writes.
    pub(crate) fn launch_unwatched(&self) {
        self.unwatched.add();
    }

    /// Records an access of an observed kernel. If it is a read, returns whether all its bytes have
    /// been written.
    pub(crate) fn kernel_accesses(
        &self,
        allocation: &Allocation,
        address: u64,
        bytes: u32,
        reads: bool,
    ) -> bool {
        allocation.written.kernel_accesses(address - allocation.base, bytes, reads, &self.unwatched)
    }

    /// Copies device memory to `bytes`.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`].
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        // SAFETY: `bytes` is borrowed mutably for the call, so it is valid for writes and nothing
        // else accesses it.
        unsafe { self.read_to(address, bytes.as_mut_ptr(), bytes.len()) }
    }

    /// Copies `bytes` bytes from device memory to host memory.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`].
    ///
    /// # Safety
    /// `target` is valid for writes of `bytes` bytes. During the call, only [`Memory::write_from`]
    /// and this method use them.
    pub unsafe fn read_to(&self, address: u64, target: *mut u8, bytes: usize) -> Result<(), MemoryError> {
        let source = self.hold(address, bytes as u64)?;
        // SAFETY: `hold` checked the source and keeps its storage alive; the caller promises that
        // the target is valid.
        unsafe { raw::copy(source.pointer, target, bytes) };
        Ok(())
    }

    /// Copies one range of device memory to another, which may overlap it.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`].
    pub fn copy(&self, to: u64, from: u64, bytes: u64) -> Result<(), MemoryError> {
        let (target, source) = (self.hold(to, bytes)?, self.hold(from, bytes)?);
        // SAFETY: `hold` checked both ranges and keeps their storage alive.
        unsafe { raw::copy(source.pointer, target.pointer, bytes as usize) };
        target.note_written(to, bytes);
        Ok(())
    }

    /// Fills device memory with `count` copies of a pattern.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`].
    pub fn fill(&self, address: u64, pattern: &[u8], count: u64) -> Result<(), MemoryError> {
        let bytes = (pattern.len() as u64).saturating_mul(count);
        let target = self.hold(address, bytes)?;
        // SAFETY: `hold` checked the range and keeps its storage alive.
        unsafe { raw::fill(target.pointer, pattern, bytes as usize) };
        target.note_written(address, bytes);
        Ok(())
    }

    /// Returns a handle that keeps a range of device memory alive, even if it is freed.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`].
    pub fn hold(&self, address: u64, bytes: u64) -> Result<Held, MemoryError> {
        let table = self.snapshot();
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        let pointer = locate(&table, address, length)?;
        Ok(Held { pointer, allocation: table.find(address).cloned() })
    }

    /// Returns the current allocations.
    pub(crate) fn snapshot(&self) -> Arc<Table> {
        Arc::clone(&self.table.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn update<R>(&self, change: impl FnOnce(&mut Table) -> R) -> R {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut table))
    }
}

/// A handle that keeps a range of device memory alive.
pub struct Held {
    pointer: *mut u8,
    /// `None` for an empty range outside all allocations.
    allocation: Option<Arc<Allocation>>,
}

impl Held {
    /// Returns a pointer to the first byte. Kernels may access the bytes at any time, by atomic or
    /// volatile accesses.
    pub fn pointer(&self) -> *mut u8 {
        self.pointer
    }

    /// Returns a number that differs if bytes of the allocation may have been changed in between:
    /// by a launch, by a method of the memory, or by who called [`Held::note_change`]. It counts
    /// for the whole allocation, and only for changes that happened before both calls. `None` for
    /// an empty range outside all allocations.
    pub fn changes(&self) -> Option<u64> {
        Some(self.allocation.as_ref()?.changes.load(Ordering::Relaxed))
    }

    /// Notes that the caller changes bytes through [`Held::pointer`].
    pub fn note_change(&self) {
        if let Some(allocation) = &self.allocation {
            allocation.note_change();
        }
    }

    fn note_written(&self, address: u64, bytes: u64) {
        if let Some(allocation) = &self.allocation {
            allocation.note_change();
            allocation.written.host_wrote(address - allocation.base, bytes);
        }
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").finish_non_exhaustive()
    }
}

fn locate(table: &Table, address: u64, bytes: usize) -> Result<*mut u8, MemoryError> {
    let bytes = bytes as u64;
    if let Some(pointer) = table.find(address).and_then(|a| a.pointer_to(address, bytes)) {
        return Ok(pointer);
    }
    if bytes == 0 {
        return Ok(std::ptr::dangling_mut());
    }
    let nearest = match table.find_freed(address) {
        Some(freed) => freed,
        None => {
            table.nearest(address).map_or_else(|| "nothing is allocated".into(), |(_, a)| a.describe(address))
        }
    };
    Err(MemoryError::OutOfBounds { address, bytes, nearest })
}

#[cfg(test)]
mod tests;
