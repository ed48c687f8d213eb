//! The address space of the CPU devices.
//!
//! Device addresses are not host addresses. They are spaced so that an overrun never reaches a
//! neighbour, and are in a range where the host has no memory, so that host code faults if it uses
//! one as a pointer. A [`tfrt_ptx::Memory`] maps them to storage, together with the variables of
//! loaded modules. Every access to device memory goes through it, and only operations on streams
//! make such accesses.

#![expect(unsafe_code, reason = "device memory is owned here and reached by address")]

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_ptx::{Held, Memory, MemoryError};

use super::access::Borrows;
use super::dnn::Filters;

/// The alignment of every allocation.
const ALIGNMENT: u64 = 256;
/// Unused bytes between two allocations.
const GUARD_BYTES: u64 = 1 << 16;
/// The first address. It is above 2^47, where no process has memory on the supported machines.
const FIRST_ADDRESS: u64 = 1 << 48;
/// All addresses are below this.
const ADDRESS_END: u64 = 1 << 55;

/// Each address is used once in the life of the process, so a stale one never refers to another
/// allocation.
static NEXT_ADDRESS: AtomicU64 = AtomicU64::new(FIRST_ADDRESS);

/// The storage of a range of addresses.
pub(super) struct Allocation {
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// Whether the host accesses the bytes, too.
    of_host: bool,
    /// The first byte, aligned.
    storage: NonNull<u8>,
    /// The block that contains the storage.
    block: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the storage is plain bytes that this allocation owns. `Borrows` decides which accesses
// may overlap in time.
unsafe impl Send for Allocation {}
// SAFETY: shared access only reads the pointers, which are immutable. `Borrows` decides which
// accesses to the bytes may overlap in time.
unsafe impl Sync for Allocation {}

impl Allocation {
    fn new(bytes: u64, of_host: bool) -> Option<Self> {
        if bytes == 0 {
            return None;
        }
        // Aligned here, because an allocator writes the zeros if a larger alignment is requested,
        // while zeros in untouched pages cost nothing.
        let size = usize::try_from(bytes).ok()?.checked_add(ALIGNMENT as usize - 1)?;
        let layout = Layout::from_size_align(size, 1).ok()?;
        // SAFETY: the size is not zero. The memory is zeroed because its contents are arbitrary but
        // must be initialized.
        let block = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) })?;
        let offset = block.as_ptr().addr().wrapping_neg() % ALIGNMENT as usize;
        // SAFETY: the block has `ALIGNMENT - 1` more bytes than were requested.
        let storage = unsafe { block.add(offset) };
        let mut allocation = Self { address: 0, bytes, of_host, storage, block, layout };
        let span = bytes.next_multiple_of(ALIGNMENT).checked_add(GUARD_BYTES)?;
        allocation.address = NEXT_ADDRESS.fetch_add(span, Ordering::Relaxed);
        (allocation.address < ADDRESS_END - span).then_some(allocation)
    }

    /// Returns the pointer to the first byte, valid while this is alive.
    pub(super) fn pointer(&self) -> *mut u8 {
        self.storage.as_ptr()
    }

    fn holds(&self, address: u64, bytes: u64) -> bool {
        address >= self.address && bytes <= self.bytes && address - self.address <= self.bytes - bytes
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: `new` allocated the block with this layout, and nothing else frees it.
        unsafe { std::alloc::dealloc(self.block.as_ptr(), self.layout) };
    }
}

/// The device memory of all devices.
#[derive(Default)]
pub(crate) struct AddressSpace {
    /// The live allocations.
    table: RwLock<BTreeMap<u64, Arc<Allocation>>>,
    /// Maps addresses to storage.
    pub(super) memory: Memory,
    pub(super) borrows: Borrows,
    /// The cache of laid-out filters.
    pub(super) filters: Filters,
}

/// Returns the driver's error for an invalid access.
pub(super) fn illegal(error: MemoryError) -> DeviceError {
    DeviceError::new(Status::IllegalAddress, error.to_string())
}

impl AddressSpace {
    /// Allocates memory with arbitrary contents, which the host may access too if `of_host` is set.
    pub(super) fn allocate(&self, bytes: u64, of_host: bool) -> Result<Arc<Allocation>> {
        let allocation = Allocation::new(bytes, of_host)
            .ok_or_else(|| DeviceError::new(Status::OutOfMemory, format!("the host has no {bytes} bytes")))?;
        let allocation = Arc::new(allocation);
        let (address, storage) = (allocation.address, allocation.storage.as_ptr());
        // SAFETY: the storage is valid while the allocation lives, which the registration keeps
        // alive. It is accessed by this memory's own methods and by launches, and as slices
        // (`bytes`) by operations that `Borrows` separates from every launch and from all other
        // accesses to the same bytes.
        unsafe { self.memory.register(address, storage, bytes, "device memory", allocation.clone()) }
            .map_err(|error| DeviceError::new(Status::Unknown, error.to_string()))?;
        self.table.write().insert(allocation.address, allocation.clone());
        Ok(allocation)
    }

    /// Removes an allocation. Its storage is freed when the last operation that may access it has
    /// finished.
    pub(super) fn free(&self, address: u64) -> Result<Arc<Allocation>> {
        let allocation = self.table.write().remove(&address).ok_or_else(|| {
            DeviceError::invalid_value(format!("{address:#x} is not the start of an allocation"))
        })?;
        self.memory.free(address).map_err(illegal)?;
        self.filters.forget(address..address + allocation.bytes);
        Ok(allocation)
    }

    /// Returns whether an allocation contains the whole range.
    pub(super) fn holds(&self, address: u64, bytes: u64) -> bool {
        let table = self.table.read();
        table.range(..=address).next_back().is_some_and(|(_, allocation)| allocation.holds(address, bytes))
    }

    /// Returns a number that differs if the bytes at an address may have been changed in between; see
    /// [`Held::changes`]. There is none if the host can change them unseen.
    pub(super) fn changes(&self, address: u64) -> Option<u64> {
        let of_host = {
            let table = self.table.read();
            let (_, allocation) = table.range(..=address).next_back()?;
            allocation.of_host
        };
        if of_host { None } else { self.memory.hold(address, 1).ok()?.changes() }
    }

    /// Returns the device address of a byte of the host's side of unified memory.
    pub(super) fn address_of(&self, pointer: *const u8) -> Option<u64> {
        let table = self.table.read();
        table.values().find_map(|allocation| {
            let offset = (pointer.addr() as u64).checked_sub(allocation.pointer().addr() as u64)?;
            (offset < allocation.bytes).then(|| allocation.address + offset)
        })
    }

    /// Returns a handle that keeps a range alive and gives access to it.
    pub(super) fn resolve(&self, address: u64, bytes: u64) -> Result<Held> {
        self.memory.hold(address, bytes).map_err(illegal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_resolve_within_one_allocation_only() {
        let space = AddressSpace::default();
        let a = space.allocate(100, false).unwrap();
        let b = space.allocate(100, false).unwrap();
        assert!(a.address.is_multiple_of(ALIGNMENT) && b.address >= a.address + 100 + GUARD_BYTES);
        for (address, bytes, is_there) in [
            (a.address, 100, true),
            (a.address + 99, 1, true),
            (a.address + 1, 100, false),
            (a.address - 1, 1, false),
            (b.address, u64::MAX, false),
        ] {
            assert_eq!(space.holds(address, bytes), is_there);
            assert_eq!(space.resolve(address, bytes).is_ok(), is_there);
        }
        assert!(space.free(a.address + 1).is_err());
        space.free(a.address).unwrap();
        assert!(!space.holds(a.address, 1) && space.resolve(a.address, 1).is_err());
        assert!(space.free(a.address).is_err());
    }

    #[test]
    fn impossible_sizes_are_out_of_memory() {
        let space = AddressSpace::default();
        for bytes in [0, u64::MAX, 1 << 62] {
            assert_eq!(space.allocate(bytes, false).err().unwrap().status, Status::OutOfMemory, "{bytes}");
        }
    }
}
