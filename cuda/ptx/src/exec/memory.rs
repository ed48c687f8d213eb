//! Device memory: the allocations a launch may touch.
//!
//! Addresses are our own: handed out once in the life of the process, spaced so that an overrun never
//! reaches a neighbour, and never zero. A [`Memory`] maps them to storage. A launch works on a snapshot of
//! the table, which keeps every allocation there was when it began alive until it ends; whoever runs a block keeps
//! those of the last table it looked at, and forgets where others were. So a `free` during a launch is a mistake of
//! the program and never one of ours.
//!
//! Bytes are reached through [`Memory::read`], [`Memory::write`] and running kernels alone. Kernels of
//! parallel blocks may race on them: every access from a kernel is an atomic or volatile one (see
//! `exec/raw.rs`), so a race gives some value and no undefined behaviour.
//!
//! This module never dereferences a device address itself and never hands out a reference to device bytes.

#![expect(unsafe_code, reason = "owns raw storage that interpreted programs read and write concurrently")]

use std::alloc::Layout;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::instrument::{Unwatched, Written};
use super::raw;

/// The first address ever handed out. High enough that small integers are never addresses.
const FIRST_ADDRESS: u64 = 0x10_0000_0000;
/// Addresses at and above belong to the windows of `exec/address.rs`.
pub(crate) const ADDRESS_END: u64 = 1 << 56;
/// Unused addresses between two allocations.
const GUARD_BYTES: u64 = 1 << 16;
/// Alignment of every allocation.
const ALIGNMENT: u64 = 256;
/// Frees remembered for reports of use after free.
const FREED_MAX: usize = 4096;

static NEXT_ADDRESS: AtomicU64 = AtomicU64::new(FIRST_ADDRESS);

/// Why an operation of the host on device memory failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryError {
    /// The storage could not be allocated.
    OutOfMemory {
        /// Bytes that were asked for.
        bytes: u64,
    },
    /// No allocation holds the whole range.
    OutOfBounds {
        /// First byte of the range.
        address: u64,
        /// Length of the range.
        bytes: u64,
        /// The allocation nearest to the address, in words.
        nearest: String,
    },
    /// The address is not the start of an allocation.
    NotAllocated {
        /// The address.
        address: u64,
    },
    /// A registration overlaps another allocation, or its address is null, misaligned to its storage, or too
    /// high.
    BadRegistration {
        /// The address.
        address: u64,
        /// What is wrong with it.
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

/// Who frees the bytes of an allocation.
enum Storage {
    Owned(Layout),
    /// The caller's, which this keeps.
    Shared(#[expect(dead_code, reason = "kept, and never looked at")] Owner),
    Empty,
}

/// Whatever keeps registered storage alive.
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
}

// SAFETY: `pointer` is to bytes that `Allocation::new` allocated, or that the caller of `Memory::register` promised to keep and
// to share. They are reached by the functions of `raw` alone, which may race, so that an allocation may be used and dropped on
// any thread.
unsafe impl Send for Allocation {}
// SAFETY: all fields but the bytes behind `pointer` are immutable or synchronized, and the functions of `raw` may reach the
// bytes from several threads.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// New storage of `bytes` zero bytes at a new address.
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

    /// One past the last address.
    pub(crate) fn end(&self) -> u64 {
        self.base + self.bytes
    }

    /// Where `address` lies relative to this allocation, in words.
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

    /// The pointer to `bytes` bytes at `address`, if all are inside.
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
            // SAFETY: allocated with this layout in `new`, freed here alone.
            unsafe { std::alloc::dealloc(self.pointer, layout) }
        }
    }
}

/// What is remembered of a freed allocation.
#[derive(Clone)]
pub(crate) struct Freed {
    base: u64,
    bytes: u64,
    label: Arc<str>,
}

/// The allocations of a memory at one time.
#[derive(Clone, Default)]
pub(crate) struct Table {
    /// Sorted by address, disjoint.
    live: Vec<Arc<Allocation>>,
    freed: VecDeque<Freed>,
}

impl Table {
    /// The allocation that holds `address` (or ends there, for empty ranges).
    pub(crate) fn find(&self, address: u64) -> Option<&Arc<Allocation>> {
        let after = self.live.partition_point(|a| a.base <= address);
        let candidate = self.live.get(after.checked_sub(1)?)?;
        (address - candidate.base < candidate.bytes.max(1)).then_some(candidate)
    }

    /// The freed allocation that held `address`, in words.
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

    /// The allocation closest to `address`, with the distance.
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

/// The device memory that launches work on. Shared freely between threads.
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
    /// An empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allocates `bytes` bytes and gives their device address, a multiple of 256. An empty allocation has an
    /// address too.
    pub fn allocate(&self, bytes: u64) -> Result<u64, MemoryError> {
        self.allocate_labelled(bytes, "an allocation")
    }

    /// As [`Memory::allocate`], with words that name the allocation in reports.
    pub fn allocate_labelled(&self, bytes: u64, label: &str) -> Result<u64, MemoryError> {
        let mut allocation = Allocation::new(bytes, false, label)?;
        allocation.written = Written::nothing(bytes, &self.unwatched);
        let base = allocation.base;
        self.update(|table| table.insert(Arc::new(allocation)));
        Ok(base)
    }

    /// Allocates and fills with `bytes`.
    pub fn allocate_from(&self, bytes: &[u8]) -> Result<u64, MemoryError> {
        let address = self.allocate(bytes.len() as u64)?;
        self.write(address, bytes)?;
        Ok(address)
    }

    /// Frees the allocation that starts at `address`. Kernels that still run may go on using it; later ones
    /// get a fault.
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        self.update(|table| {
            let allocation = table.remove(address).ok_or(MemoryError::NotAllocated { address })?;
            if table.freed.len() == FREED_MAX {
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

    /// Makes `bytes` bytes of the caller's storage visible to kernels at device address `address`.
    /// [`Memory::free`] takes them away again; `owner` is kept until then, and until every launch and every
    /// [`Held`] that began before has ended, whichever of them knows the address.
    ///
    /// # Safety
    /// `pointer` must be valid for reads and writes of `bytes` bytes as long as `owner` is kept. While a launch
    /// runs, others may touch the bytes by this memory's methods and by atomic accesses only.
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

    /// Takes allocations out that [`Memory::attach`] made part of this memory.
    pub(crate) fn detach(&self, allocations: &[Arc<Allocation>]) {
        self.update(|table| allocations.iter().for_each(|allocation| drop(table.remove(allocation.base))));
    }

    /// Makes allocations that others own part of this memory, as a module's variables.
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
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        // SAFETY: `bytes` is borrowed for the call, so that it can be read and nobody writes it.
        unsafe { self.write_from(address, bytes.as_ptr(), bytes.len()) }
    }

    /// Copies `bytes` bytes of the caller's to device memory.
    ///
    /// # Safety
    /// `source` is valid for reads of `bytes` bytes. Nobody writes them meanwhile but by [`Memory::read_to`].
    pub unsafe fn write_from(
        &self,
        address: u64,
        source: *const u8,
        bytes: usize,
    ) -> Result<(), MemoryError> {
        let target = self.hold(address, bytes as u64)?;
        // SAFETY: `hold` checked the target and keeps its storage alive; the caller promises that the source
        // is valid.
        unsafe { raw::copy(source, target.pointer, bytes) };
        target.note_written(address, bytes as u64);
        Ok(())
    }

    /// A launch begins that does not say what it writes.
    pub(crate) fn launch_unwatched(&self) {
        self.unwatched.add();
    }

    /// A kernel that is watched accesses memory; whether all bytes have been written, if it reads them.
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
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        // SAFETY: `bytes` is borrowed mutably for the call, so that it can be written and nobody else uses it.
        unsafe { self.read_to(address, bytes.as_mut_ptr(), bytes.len()) }
    }

    /// Copies `bytes` bytes of device memory to memory of the caller's.
    ///
    /// # Safety
    /// `target` is valid for writes of `bytes` bytes. Nobody uses them meanwhile but by [`Memory::write_from`] and this.
    pub unsafe fn read_to(&self, address: u64, target: *mut u8, bytes: usize) -> Result<(), MemoryError> {
        let source = self.hold(address, bytes as u64)?;
        // SAFETY: `hold` checked the source and keeps its storage alive; the caller promises that the target
        // is valid.
        unsafe { raw::copy(source.pointer, target, bytes) };
        Ok(())
    }

    /// Copies from one range of device memory to another, which may overlap it.
    pub fn copy(&self, to: u64, from: u64, bytes: u64) -> Result<(), MemoryError> {
        let (target, source) = (self.hold(to, bytes)?, self.hold(from, bytes)?);
        // SAFETY: `hold` checked both ranges and keeps their storage alive.
        unsafe { raw::copy(source.pointer, target.pointer, bytes as usize) };
        target.note_written(to, bytes);
        Ok(())
    }

    /// Writes `count` copies of a pattern one behind the other.
    pub fn fill(&self, address: u64, pattern: &[u8], count: u64) -> Result<(), MemoryError> {
        let bytes = (pattern.len() as u64).saturating_mul(count);
        let target = self.hold(address, bytes)?;
        // SAFETY: `hold` checked the range and keeps its storage alive.
        unsafe { raw::fill(target.pointer, pattern, bytes as usize) };
        target.note_written(address, bytes);
        Ok(())
    }

    /// Where a range of device memory lies, for as long as the result is kept; whatever is freed meanwhile.
    pub fn hold(&self, address: u64, bytes: u64) -> Result<Held, MemoryError> {
        let table = self.snapshot();
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        let pointer = locate(&table, address, length)?;
        Ok(Held { pointer, allocation: table.find(address).cloned() })
    }

    /// The allocations there are now.
    pub(crate) fn snapshot(&self) -> Arc<Table> {
        Arc::clone(&self.table.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn update<R>(&self, change: impl FnOnce(&mut Table) -> R) -> R {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut table))
    }
}

/// A range of device memory that stays where it is.
pub struct Held {
    pointer: *mut u8,
    /// None for an empty range that is nowhere.
    allocation: Option<Arc<Allocation>>,
}

impl Held {
    /// The first byte. Others may touch the bytes at any time; the contract of [`Memory::register`] says how.
    pub fn pointer(&self) -> *mut u8 {
        self.pointer
    }

    fn note_written(&self, address: u64, bytes: u64) {
        if let Some(allocation) = &self.allocation {
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
mod tests {
    use super::*;

    #[test]
    fn allocations_hold_what_is_written_and_know_their_bounds() {
        let memory = Memory::new();
        let a = memory.allocate(8).unwrap();
        let b = memory.allocate_labelled(16, "b").unwrap();
        assert_eq!(a % 256, 0);
        assert!(b > a + GUARD_BYTES);
        memory.write(a, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let mut middle = [0; 4];
        memory.read(a + 2, &mut middle).unwrap();
        assert_eq!(middle, [3, 4, 5, 6]);
        let error = memory.write(b + 12, &[0; 5]).unwrap_err();
        assert!(error.to_string().contains("12 bytes into b of 16 bytes"), "{error}");
        assert!(memory.read(a + 8, &mut [0]).is_err());
        memory.read(a + 8, &mut []).unwrap();
    }

    #[test]
    fn frees_are_remembered() {
        let memory = Memory::new();
        let a = memory.allocate_labelled(64, "weights").unwrap();
        memory.free(a).unwrap();
        assert_eq!(memory.free(a), Err(MemoryError::NotAllocated { address: a }));
        let error = memory.read(a + 4, &mut [0]).unwrap_err().to_string();
        assert!(error.contains("4 bytes into weights of 64 bytes") && error.contains("was freed"), "{error}");
    }

    #[test]
    fn registered_storage_is_the_callers() {
        let memory = Memory::new();
        let mut storage = [7u64; 4];
        let pointer = storage.as_mut_ptr().cast::<u8>();
        let address = 0x4000_0000 + pointer.addr() as u64 % 16;
        // SAFETY: the storage outlives the registration and is not touched meanwhile.
        unsafe {
            memory.register(address, pointer, 32, "storage", Arc::new(())).unwrap();
            assert!(memory.register(address + 16, pointer, 32, "twice", Arc::new(())).is_err());
            assert!(memory.register(address + 65, pointer, 32, "misaligned", Arc::new(())).is_err());
            assert!(memory.register(0, pointer, 32, "null", Arc::new(())).is_err());
        }
        memory.write(address + 8, &9u64.to_le_bytes()).unwrap();
        memory.free(address).unwrap();
        assert_eq!(storage, [7, 9, 7, 7]);
    }

    #[test]
    fn registered_storage_outlives_its_registration_while_somebody_may_use_it() {
        let memory = Memory::new();
        let owner = Arc::new([AtomicU64::new(1), AtomicU64::new(2)]);
        let (pointer, gone) = (owner[0].as_ptr().cast::<u8>(), Arc::downgrade(&owner));
        // SAFETY: the storage is the owner's, and made of atomics.
        unsafe { memory.register(0x5000_0000, pointer, 16, "storage", owner).unwrap() };
        // As a launch and a copy have it.
        let (launch, copy) = (memory.snapshot(), memory.hold(0x5000_0008, 8).unwrap());
        memory.free(0x5000_0000).unwrap();
        assert!(memory.read(0x5000_0000, &mut [0]).is_err());
        drop(launch);
        assert!(gone.upgrade().is_some());
        drop(copy);
        assert!(gone.upgrade().is_none());
    }

    #[test]
    fn ranges_are_copied_and_filled_at_any_alignment() {
        let memory = Memory::new();
        let text: Vec<u8> = (0..2000u32).map(|i| (i % 251) as u8).collect();
        let a = memory.allocate_from(&text).unwrap();
        for (to, from, bytes) in [(3, 500, 700), (500, 3, 700), (100, 107, 1500), (107, 100, 1500), (9, 8, 5)]
        {
            let mut expected = text.clone();
            expected.copy_within(from..from + bytes, to);
            memory.write(a, &text).unwrap();
            memory.copy(a + to as u64, a + from as u64, bytes as u64).unwrap();
            let mut found = vec![0; text.len()];
            memory.read(a, &mut found).unwrap();
            assert_eq!(found, expected, "{bytes} bytes from {from} to {to}");
        }
        memory.fill(a + 6, &[1, 2], 300).unwrap();
        memory.fill(a + 1000, &[7], 3).unwrap();
        memory.fill(a + 1004, &[1, 2, 3, 4], 200).unwrap();
        let mut found = vec![0; 810];
        memory.read(a, &mut found[..610]).unwrap();
        assert_eq!(found[6..606], [1, 2].repeat(300));
        memory.read(a + 1000, &mut found).unwrap();
        assert_eq!((&found[..3], &found[4..804]), (&[7; 3][..], &[1, 2, 3, 4].repeat(200)[..]));
        assert!(memory.fill(a, &[0; 4], 501).is_err() && memory.copy(a, a + 1, 2000).is_err());
    }

    #[test]
    fn absurd_sizes_are_an_error() {
        assert!(Memory::new().allocate(u64::MAX).is_err());
        assert!(Memory::new().allocate(1 << 62).is_err());
        assert_ne!(Memory::new().allocate(0).unwrap(), 0);
    }
}
