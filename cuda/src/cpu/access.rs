//! Who uses which bytes right now.
//!
//! Operations of different streams run at the same time, and it is the program that orders those that touch the same
//! bytes. If it does not, an operation here still never runs beside another that writes what it reads or writes: it is put
//! off until the other one is done. So a forgotten event gives a wrong order, as on a GPU, and never a torn read in our own
//! code. (The checker is what finds the forgotten event.) Launches may run beside each other on the same bytes, because PTX
//! is executed with atomic accesses.

use parking_lot::Mutex;

/// What an operation does with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AccessKind {
    /// Reads them.
    Read,
    /// Writes them, and perhaps reads them.
    Write,
    /// A launch was given them; what it does it does with atomic accesses.
    Launch,
}

/// Bytes of device memory that an operation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// The first.
    pub(crate) address: u64,
    /// How many.
    pub(crate) bytes: u64,
    /// What for.
    pub(crate) kind: AccessKind,
}

impl Access {
    pub(crate) fn read(address: u64, bytes: u64) -> Self {
        Self { address, bytes, kind: AccessKind::Read }
    }

    pub(crate) fn write(address: u64, bytes: u64) -> Self {
        Self { address, bytes, kind: AccessKind::Write }
    }

    /// Whether they have a byte in common.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.address < other.address.saturating_add(other.bytes)
            && other.address < self.address.saturating_add(self.bytes)
    }

    fn excludes(&self, other: &Self) -> bool {
        use AccessKind::{Launch, Read};
        !matches!((self.kind, other.kind), (Read, Read) | (Launch, Launch)) && self.overlaps(other)
    }
}

/// The accesses of the operations that run now.
#[derive(Default)]
pub(crate) struct Borrows {
    active: Mutex<Vec<(u64, Access)>>,
    next: std::sync::atomic::AtomicU64,
}

/// An operation's accesses, until dropped.
pub(crate) struct Borrowed<'a> {
    borrows: &'a Borrows,
    id: u64,
}

impl Borrows {
    /// Takes all accesses, or none if one of them must wait.
    pub(crate) fn try_take(&self, accesses: &[Access]) -> Option<Borrowed<'_>> {
        let id = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if !accesses.is_empty() {
            let mut active = self.active.lock();
            if active.iter().any(|(_, held)| accesses.iter().any(|wanted| wanted.excludes(held))) {
                return None;
            }
            active.extend(accesses.iter().map(|&access| (id, access)));
        }
        Some(Borrowed { borrows: self, id })
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        self.borrows.active.lock().retain(|(id, _)| *id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_exclude_and_readers_share() {
        let borrows = Borrows::default();
        let first = borrows.try_take(&[Access::read(256, 64), Access::write(512, 16)]).unwrap();
        assert!(borrows.try_take(&[Access::read(256, 64)]).is_some());
        assert!(borrows.try_take(&[Access::write(319, 1)]).is_none());
        assert!(borrows.try_take(&[Access::write(320, 1)]).is_some());
        assert!(borrows.try_take(&[Access::read(0, 8), Access::read(520, 1)]).is_none());
        drop(first);
        assert!(borrows.try_take(&[Access::write(256, 300)]).is_some());
    }

    #[test]
    fn launches_share_with_launches_alone() {
        let borrows = Borrows::default();
        let launch = Access { address: 256, bytes: 64, kind: AccessKind::Launch };
        let _held = borrows.try_take(&[launch]).unwrap();
        assert!(borrows.try_take(&[launch]).is_some());
        assert!(borrows.try_take(&[Access::read(256, 1)]).is_none());
    }
}
