//! Detects pairs of unordered accesses.
//!
//! Two accesses to overlapping bytes race if at least one of them is a write, they are not both
//! strong (atomic, volatile, relaxed, acquire or release), and neither happens before the other.
//! *Clocks* define what happened before. Parties that run in no fixed order (the warps of a block,
//! or the blocks of a grid) each have a time that advances at every fence. A strong access
//! publishes at its address what its party knew at the last fence before it, and learns what others
//! published there. So a flag or a counter orders what it is meant to order, as in "the last block
//! sums up what all have written". An atomic operation without a fence orders nothing.
//!
//! Two writes of the same value do not race, because the result does not depend on their order.
//!
//! Memory is watched in granules of four bytes. Each remembers the last write and two reads by
//! different parties, so a race may be missed if several parties write different bytes of a
//! granule. Every reported race is a real one.

use super::{Access, AccessKind, class::Class};

/// The size of a granule, in bytes.
pub(super) const GRANULE_BYTES: u64 = 4;

/// The other access of a race.
pub(super) struct Rival {
    /// Its block, if that is a different one.
    pub(super) block: Option<u64>,
    pub(super) thread: u32,
    pub(super) pc: u32,
    pub(super) writes: bool,
}

/// A granule's record of an access.
pub(super) trait Mark: Copy + Default {
    /// Returns the accessed bytes of the granule, as bits; 0 if there was no access.
    fn mask(&self) -> u8;
    fn is_strong(&self) -> bool;
    /// Returns whether both accesses are by one party, so that one record suffices.
    fn same_party(&self, other: &Self) -> bool;
}

/// The records of a granule.
#[derive(Clone, Copy, Default)]
pub(super) struct Cell<M> {
    write: M,
    reads: [M; 2],
}

impl<M: Mark> Cell<M> {
    /// Records an access. If an earlier access races with it, returns that access and whether it is
    /// a write. `ordered` tells whether an earlier access happened before this one.
    pub(super) fn access(
        &mut self,
        mark: M,
        writes: bool,
        ordered: impl Fn(&M) -> bool,
    ) -> Option<(M, bool)> {
        let races = |other: &M| {
            other.mask() & mark.mask() != 0 && !(other.is_strong() && mark.is_strong()) && !ordered(other)
        };
        if races(&self.write) {
            let rival = self.write;
            if writes {
                self.write = mark;
            }
            return Some((rival, true));
        }
        if !writes {
            let slot = usize::from(self.reads[0].mask() != 0 && !self.reads[0].same_party(&mark));
            self.reads[slot] = mark;
            return None;
        }
        if let Some(read) = self.reads.iter().find(|read| races(read)) {
            return Some((*read, false));
        }
        // This write is ordered after all earlier accesses, so it stands for them.
        self.write = mark;
        self.reads = [M::default(); 2];
        None
    }
}

/// Returns the granules that an access touches, each with a mask of the touched bytes.
pub(super) fn granules(access: &Access) -> impl Iterator<Item = (u64, u8)> {
    let (start, end) = (access.address, access.address + u64::from(access.bytes));
    (start / GRANULE_BYTES..end.div_ceil(GRANULE_BYTES)).map(move |granule| {
        let base = granule * GRANULE_BYTES;
        let from = start.saturating_sub(base).min(GRANULE_BYTES);
        let to = (end - base).min(GRANULE_BYTES);
        (granule, ((1_u16 << to) - (1 << from)) as u8)
    })
}

/// Returns whether an access does not race with other strong ones.
pub(super) fn is_strong(access: &Access, class: Class) -> bool {
    access.kind == AccessKind::Atomic || class.strong
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::address::AccessSpace;

    fn access(address: u64, bytes: u32) -> Access {
        let (kind, space) = (AccessKind::Read, AccessSpace::Shared);
        Access { kind, space, address, bytes, thread: 0, lane: 0, pc: 0 }
    }

    #[test]
    fn accesses_touch_granules() {
        let all = |address, bytes| granules(&access(address, bytes)).collect::<Vec<_>>();
        assert_eq!(all(8, 4), [(2, 0b1111)]);
        assert_eq!(all(9, 1), [(2, 0b0010)]);
        assert_eq!(all(10, 2), [(2, 0b1100)]);
        assert_eq!(all(16, 16), [(4, 15), (5, 15), (6, 15), (7, 15)]);
    }
}
