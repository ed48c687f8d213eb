//! Which loads take their addresses from a register that an earlier load of the same straight code
//! has looked at.
//!
//! Straight code ends where lanes may part, meet or wait: there, other lanes or another warp may
//! run in between.

use crate::exec::access::LAYOUTS;
use crate::exec::address::AccessSpace;
use crate::exec::slots::RegisterSlot;

/// What loads have in common that can share a look at their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The register of addresses.
    pub(super) address: RegisterSlot,
    /// Bytes of an access.
    pub(super) bytes: u32,
    pub(super) space: AccessSpace,
}

/// A load that others can follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct First {
    source: Source,
    /// Its position among the function's instructions.
    pub(super) draft: usize,
    /// Where it keeps what it finds, one of [`LAYOUTS`] places.
    pub(super) place: u32,
}

/// The loads of the straight code so far.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    known: Vec<First>,
    next: u32,
}

impl Repeats {
    /// Returns the load that has looked at these addresses.
    pub(super) fn find(&self, source: Source) -> Option<First> {
        self.known.iter().copied().find(|first| first.source == source)
    }

    /// A load that none has gone before.
    pub(super) fn add(&mut self, source: Source, draft: usize) {
        let place = self.next % LAYOUTS as u32;
        self.next = self.next.wrapping_add(1);
        self.known.retain(|first| first.place != place);
        self.known.push(First { source, draft, place });
    }

    /// A register is written.
    pub(super) fn forget(&mut self, register: RegisterSlot) {
        self.known.retain(|first| first.source.address != register);
    }

    /// The straight code ends.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }
}
