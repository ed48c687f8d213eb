//! Finds loads whose addresses come from a register that an earlier load of the same straight-line
//! code has analysed.
//!
//! Straight-line code ends where lanes may diverge, meet or wait, because other lanes or another
//! warp may run in between.

use crate::exec::access::LAYOUTS;
use crate::exec::address::AccessSpace;
use crate::exec::slots::RegisterSlot;

/// The properties that loads must have in common to share an analysis of their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The register that holds the addresses.
    pub(super) address: RegisterSlot,
    /// The size of an access, in bytes.
    pub(super) bytes: u32,
    pub(super) space: AccessSpace,
}

/// A load that later ones can follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct First {
    source: Source,
    /// Its index among the function's drafts.
    pub(super) draft: usize,
    /// The place where it records the layout, one of [`LAYOUTS`].
    pub(super) place: u32,
}

/// The loads of the straight-line code so far.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    known: Vec<First>,
    next: u32,
}

impl Repeats {
    /// Returns the load that has analysed these addresses, if there is one.
    pub(super) fn find(&self, source: Source) -> Option<First> {
        self.known.iter().copied().find(|first| first.source == source)
    }

    /// Adds a load that follows no other.
    pub(super) fn add(&mut self, source: Source, draft: usize) {
        let place = self.next % LAYOUTS as u32;
        self.next = self.next.wrapping_add(1);
        self.known.retain(|first| first.place != place);
        self.known.push(First { source, draft, place });
    }

    /// Forgets the loads from a register that is written.
    pub(super) fn forget(&mut self, register: RegisterSlot) {
        self.known.retain(|first| first.source.address != register);
    }

    /// Forgets all loads, where straight-line code ends.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }
}
