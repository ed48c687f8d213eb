//! Finds the storage of an address: the slow path of every access outside the memory that its
//! instruction accessed last, and the report of a faulty access.

use std::sync::Arc;

use super::address::{AccessSpace, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, space_of};
use super::fault::{FaultKind, Trap};
use super::instrument::{Access, AccessKind};
use super::lanes::LANES;
use super::machine::{Machine, Site};
use super::memory::Allocation;

/// An access of one lane.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// The space that the instruction names.
    pub(crate) space: AccessSpace,
    pub(crate) kind: AccessKind,
    pub(crate) lane: usize,
    /// The instruction's [`Site`].
    pub(crate) site: u32,
}

impl Machine<'_> {
    /// Checks an access of one lane and returns the pointer to its bytes. The pointer is valid
    /// until the next access is looked up.
    #[cold]
    #[inline(never)]
    pub(crate) fn locate(&mut self, request: &Request) -> Result<*mut u8, Trap> {
        let Request { address, bytes, space, kind, lane, site } = *request;
        if address % bytes.next_power_of_two() != 0 {
            let detail = format!("{} of {bytes} bytes", words(kind, space));
            let near = self.nearest(address);
            return Err(Trap::new(FaultKind::Misaligned, lane, detail).at(address).near(near));
        }
        let found = if space == AccessSpace::Generic { space_of(address) } else { space };
        let offset =
            if space == AccessSpace::Generic { address.wrapping_sub(found.window()) } else { address };
        let pointer = match found {
            AccessSpace::Shared => {
                let view = Site { base: if space == found { 0 } else { SHARED_WINDOW }, ..self.shared };
                if space == AccessSpace::Generic {
                    self.sites[site as usize] = view;
                }
                self.window(request, view, found)?
            }
            AccessSpace::Param => {
                if kind != AccessKind::Read {
                    let detail = "a kernel's parameters cannot be written";
                    return Err(Trap::new(FaultKind::WrongSpace, lane, detail).at(address));
                }
                let view = Site { base: if space == found { 0 } else { PARAM_WINDOW }, ..self.params };
                self.window(request, view, found)?
            }
            AccessSpace::Local => {
                let pointer = self.local.wrapping_add(lane * self.local_stride as usize);
                let base = if space == found { 0 } else { LOCAL_WINDOW };
                self.window(request, Site { base, bytes: self.local_stride, pointer }, found)?
            }
            _ => self.global(request)?,
        };
        if let Some(instruments) = &mut self.instruments {
            let thread = (self.warp * LANES + lane) as u32;
            let pc = self.pc - 1;
            let space = if found == AccessSpace::Const { AccessSpace::Global } else { found };
            let access = Access { kind, space, address: offset, bytes: bytes as u32, thread, lane, pc };
            instruments.access(&access, &self.table, pointer)?;
        }
        Ok(pointer)
    }

    /// Checks an access to a window of fixed size.
    fn window(&self, request: &Request, view: Site, space: AccessSpace) -> Result<*mut u8, Trap> {
        let offset = request.address.wrapping_sub(view.base);
        if offset < view.limit(request.bytes) {
            return Ok(view.pointer.wrapping_add(offset as usize));
        }
        let (kind, detail) =
            if request.space == AccessSpace::Generic || space_of(request.address) == AccessSpace::Global {
                let size = view.bytes;
                let detail =
                    format!("{} of {} bytes; there are {size}", words(request.kind, space), request.bytes);
                (FaultKind::OutOfBounds, detail)
            } else {
                let other = space_of(request.address).word();
                (FaultKind::WrongSpace, format!("{} with a {other} address", words(request.kind, space)))
            };
        let near =
            if self.table.find(request.address).is_some() { self.nearest(request.address) } else { None };
        Err(Trap::new(kind, request.lane, detail).at(request.address).near(near))
    }

    /// Checks an access to global or constant memory.
    fn global(&mut self, request: &Request) -> Result<*mut u8, Trap> {
        let Request { address, bytes, lane, kind, site, .. } = *request;
        let mut allocation = self.find(address);
        if allocation.is_none() {
            // The program may have allocated memory since the last look-up.
            self.refresh_table();
            allocation = self.find(address);
        }
        let pointer = allocation.as_ref().and_then(|allocation| allocation.pointer_to(address, bytes));
        let (Some(allocation), Some(pointer)) = (allocation, pointer) else {
            return Err(self.outside(request));
        };
        if kind == AccessKind::Read || !allocation.read_only {
            let Allocation { base, bytes, pointer, .. } = *allocation;
            // An instruction is here before its first access of a launch to each allocation.
            if kind != AccessKind::Read {
                allocation.note_change();
            }
            self.sites[site as usize] = Site { base, bytes, pointer };
            return Ok(pointer_in(pointer, address - base));
        }
        let _ = pointer;
        let detail = format!("{} is constant", allocation.label);
        Err(Trap::new(FaultKind::WrongSpace, lane, detail)
            .at(address)
            .near(Some(allocation.describe(address))))
    }

    /// Replaces the table of allocations by the current one. All sites are cleared, because
    /// dropping the old table may free storage that they refer to.
    pub(crate) fn refresh_table(&mut self) {
        let now = self.launch.memory.snapshot();
        if !Arc::ptr_eq(&now, &self.table) {
            self.sites.fill(Site::EMPTY);
            self.table = now;
        }
    }

    fn find(&self, address: u64) -> Option<Arc<Allocation>> {
        self.table.find(address).cloned()
    }

    fn outside(&self, request: &Request) -> Trap {
        let Request { address, bytes, lane, kind, space, .. } = *request;
        let detail = format!("{} of {bytes} bytes", words(kind, space));
        let other = space_of(address);
        if other != AccessSpace::Global {
            let detail = match other {
                AccessSpace::Generic => format!("{detail}: no memory has such an address"),
                other => format!("{detail} with a {} address", other.word()),
            };
            return Trap::new(FaultKind::WrongSpace, lane, detail).at(address);
        }
        if let Some(freed) = self.table.find_freed(address) {
            return Trap::new(FaultKind::UseAfterFree, lane, detail).at(address).near(Some(freed));
        }
        let trap = Trap::new(FaultKind::OutOfBounds, lane, detail).at(address);
        trap.near(self.nearest(address))
    }

    fn nearest(&self, address: u64) -> Option<String> {
        const NEAR_BYTES: u64 = 1 << 20;
        let (distance, allocation) = self.table.nearest(address)?;
        (distance < NEAR_BYTES).then(|| allocation.describe(address))
    }
}

fn pointer_in(base: *mut u8, offset: u64) -> *mut u8 {
    base.wrapping_add(offset as usize)
}

fn words(kind: AccessKind, space: AccessSpace) -> String {
    let verb = match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic operation",
    };
    match space {
        AccessSpace::Generic => verb.into(),
        space => format!("{} {verb}", space.word()),
    }
}
