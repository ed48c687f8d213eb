//! The history of each byte of device memory: who wrote it last, who has read it since, and whether
//! it was ever written.
//!
//! Bytes with the same history share a cell. Using a part of a cell splits it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::clock::Clock;
use crate::observer::{AccessKind, Handover, Toucher};
use crate::origin::Origin;

/// A queued operation, or the grant of a buffer, which precedes all its uses.
#[derive(Debug)]
pub(super) struct Operation {
    /// Its position in the order of queueing.
    pub(super) sequence: u64,
    pub(super) stream: usize,
    /// Its number on its stream.
    pub(super) number: u32,
    /// What is done when it begins.
    pub(super) clock: Clock,
    pub(super) name: String,
    pub(super) origin: Origin,
    pub(super) is_grant: bool,
    /// What it handed over to operations that ran at the same time.
    pub(super) handover: Option<Handover>,
}

impl Operation {
    /// Returns true if this one is done before the other begins.
    pub(super) fn is_before(&self, other: &Self) -> bool {
        if self.is_grant {
            // Memory is granted to work that follows everything its stream had to wait for.
            return other.clock.knows(&self.clock);
        }
        self.is_known_to(&other.clock)
    }

    /// Returns true if its accesses to a byte are in order with those of an operation that finished
    /// later.
    fn is_ordered_with(&self, later: &Self, address: u64) -> bool {
        if self.is_before(later) {
            return true;
        }
        let (Some(mine), Some(theirs)) = (&self.handover, &later.handover) else { return false };
        mine.precedes(theirs, address) || theirs.precedes(mine, address)
    }

    /// Returns true if this clock knows that the operation is done.
    pub(super) fn is_known_to(&self, clock: &Clock) -> bool {
        clock.of(self.stream) >= self.number
    }
}

/// Bytes with the same history.
#[derive(Debug, Clone)]
struct Cell {
    end: u64,
    /// The last write, or the grant.
    written: Option<Arc<Operation>>,
    /// The reads since then, the last one of each stream.
    reads: Vec<Arc<Operation>>,
    /// The operations since then that accessed the bytes only by atomic operations, the last one of
    /// each stream.
    updates: Vec<Arc<Operation>>,
    /// The operations since then that read the bytes only by loads that threads synchronize by, the
    /// last one of each stream.
    polls: Vec<Arc<Operation>>,
    initialized: bool,
    /// The time at which the bytes got their owner. Operations queued before used them for another
    /// one.
    since: u64,
    /// The first read before any write, and the grant before it.
    early_read: Option<EarlyRead>,
}

impl Cell {
    /// Records a read of bytes that were never written, unless there was one before.
    fn note_early_read(&mut self, start: u64, by: &Arc<Operation>, toucher: &Toucher<'_>) {
        if !self.initialized && self.early_read.is_none() {
            self.early_read = Some(EarlyRead {
                read: by.clone(),
                granted: self.written.clone(),
                address: start,
                toucher: toucher(start, AccessKind::Read),
            });
        }
    }
}

/// Records the last operation of a stream.
fn note(operations: &mut Vec<Arc<Operation>>, by: &Arc<Operation>) {
    match operations.iter_mut().find(|known| known.stream == by.stream) {
        Some(known) => *known = by.clone(),
        None => operations.push(by.clone()),
    }
}

/// Two uses of the same bytes without an order.
#[derive(Debug)]
pub(super) struct Conflict {
    pub(super) earlier: Arc<Operation>,
    pub(super) earlier_wrote: bool,
    /// The first byte.
    pub(super) address: u64,
}

/// The history of all bytes; see the module documentation.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    cells: BTreeMap<u64, Cell>,
}

impl Shadow {
    /// Gives the bytes a new owner and no contents. Returns reads of bytes that were never written.
    pub(super) fn grant(
        &mut self,
        address: u64,
        bytes: u64,
        since: u64,
        grant: Option<Arc<Operation>>,
    ) -> Vec<EarlyRead> {
        let early = self.remove(address, bytes);
        if bytes > 0 {
            let end = address + bytes;
            let cell = Cell {
                end,
                written: grant,
                reads: vec![],
                updates: vec![],
                polls: vec![],
                initialized: false,
                since,
                early_read: None,
            };
            self.cells.insert(address, cell);
        }
        early
    }

    /// Records bytes of an owner that is not observed, which have contents: a module's variables,
    /// or the host's.
    pub(super) fn notice(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes);
        self.cut(address);
        self.cut(end);
        let mut gaps = Vec::new();
        let mut at = address;
        for (&start, cell) in self.cells.range(address..end) {
            gaps.push((at, start));
            at = cell.end;
        }
        gaps.push((at, end));
        for (start, end) in gaps.into_iter().filter(|(start, end)| start < end) {
            let cell = Cell {
                end,
                written: None,
                reads: vec![],
                updates: vec![],
                polls: vec![],
                initialized: true,
                since: 0,
                early_read: None,
            };
            self.cells.insert(start, cell);
        }
    }

    /// Removes the bytes. Returns reads of bytes that were never written.
    pub(super) fn remove(&mut self, address: u64, bytes: u64) -> Vec<EarlyRead> {
        let end = address + bytes;
        self.cut(address);
        self.cut(end);
        let starts: Vec<u64> = self.cells.range(address..end).map(|(&start, _)| start).collect();
        let removed = starts.into_iter().filter_map(|start| Some((start, self.cells.remove(&start)?)));
        removed.filter_map(|(start, cell)| EarlyRead::of(start, &cell)).collect()
    }

    /// Returns all reads so far of bytes that were never written.
    pub(super) fn early_reads(&self) -> Vec<EarlyRead> {
        self.cells.iter().filter_map(|(&start, cell)| EarlyRead::of(start, cell)).collect()
    }

    /// Records that an operation which does not report its accesses may have written the bytes.
    pub(super) fn assume_initialized(&mut self, address: u64, bytes: u64, by: &Operation) {
        self.for_each(address, bytes, by.sequence, |_, cell| cell.initialized = true);
    }

    /// Records a read. Returns the first conflict, if there is one.
    pub(super) fn read(
        &mut self,
        address: u64,
        bytes: u64,
        by: &Arc<Operation>,
        toucher: &Toucher<'_>,
    ) -> Option<Conflict> {
        let mut conflict = None;
        self.for_each(address, bytes, by.sequence, |start, cell| {
            let writes = cell.written.iter().chain(&cell.updates);
            if conflict.is_none()
                && let Some(written) =
                    writes.into_iter().find(|written| !written.is_ordered_with(by, start.max(address)))
            {
                conflict = Some(Conflict {
                    earlier: written.clone(),
                    earlier_wrote: true,
                    address: start.max(address),
                });
            }
            cell.note_early_read(start, by, toucher);
            note(&mut cell.reads, by);
        });
        conflict
    }

    /// Records an access only by atomic operations, which are ordered among each other. Returns the
    /// first conflict with another access, if there is one.
    pub(super) fn update(
        &mut self,
        address: u64,
        bytes: u64,
        by: &Arc<Operation>,
        toucher: &Toucher<'_>,
    ) -> Option<Conflict> {
        let mut conflict = None;
        self.for_each(address, bytes, by.sequence, |start, cell| {
            let reads = cell.reads.iter().map(|read| (read, false));
            let uses = cell.written.iter().map(|write| (write, true)).chain(reads);
            let unordered =
                uses.into_iter().find(|(earlier, _)| !earlier.is_ordered_with(by, start.max(address)));
            if let Some((earlier, earlier_wrote)) = unordered {
                let (earlier, address) = (earlier.clone(), start.max(address));
                conflict.get_or_insert(Conflict { earlier, earlier_wrote, address });
            }
            cell.note_early_read(start, by, toucher);
            cell.initialized = true;
            note(&mut cell.updates, by);
        });
        conflict
    }

    /// Records a read only by loads that threads synchronize by, which are ordered with atomic
    /// operations. Returns the first conflict, if there is one.
    pub(super) fn poll(
        &mut self,
        address: u64,
        bytes: u64,
        by: &Arc<Operation>,
        toucher: &Toucher<'_>,
    ) -> Option<Conflict> {
        let mut conflict = None;
        self.for_each(address, bytes, by.sequence, |start, cell| {
            let address = start.max(address);
            if let Some(written) =
                cell.written.as_ref().filter(|written| !written.is_ordered_with(by, address))
            {
                conflict.get_or_insert(Conflict { earlier: written.clone(), earlier_wrote: true, address });
            }
            cell.note_early_read(start, by, toucher);
            note(&mut cell.polls, by);
        });
        conflict
    }

    /// Records a write. Returns the first conflict, if there is one.
    pub(super) fn write(&mut self, address: u64, bytes: u64, by: &Arc<Operation>) -> Option<Conflict> {
        let mut conflict = None;
        self.for_each(address, bytes, by.sequence, |start, cell| {
            let reads = cell.reads.iter().map(|read| (read, false));
            let updates = cell.updates.iter().map(|update| (update, true));
            let polls = cell.polls.iter().map(|poll| (poll, false));
            let uses =
                cell.written.iter().map(|write| (write, true)).chain(updates).chain(reads).chain(polls);
            let unordered = uses.into_iter().find(|(earlier, _)| {
                // The reads of an operation precede its own writes.
                earlier.sequence != by.sequence && !earlier.is_ordered_with(by, start.max(address))
            });
            if let Some((earlier, earlier_wrote)) = unordered {
                // A read that came first by chance was not too early: the mistake is that it is not
                // ordered.
                if cell.early_read.as_ref().is_some_and(|early| !early.read.is_before(by)) {
                    cell.early_read = None;
                }
                let (earlier, address) = (earlier.clone(), start.max(address));
                conflict.get_or_insert(Conflict { earlier, earlier_wrote, address });
            }
            cell.written = Some(by.clone());
            cell.reads.clear();
            cell.updates.clear();
            cell.polls.clear();
            cell.initialized = true;
        });
        conflict
    }

    /// Splits the cell that contains the address, so that one begins there.
    fn cut(&mut self, address: u64) {
        let Some((_, cell)) = self.cells.range_mut(..address).next_back() else { return };
        if cell.end > address {
            let behind = cell.clone();
            cell.end = address;
            self.cells.insert(address, behind);
        }
    }

    /// Calls `f` for the cells of exactly these bytes whose owner has not changed since `at`.
    fn for_each(&mut self, address: u64, bytes: u64, at: u64, mut f: impl FnMut(u64, &mut Cell)) {
        if bytes == 0 {
            return;
        }
        let end = address.saturating_add(bytes);
        self.cut(address);
        self.cut(end);
        for (&start, cell) in self.cells.range_mut(address..end) {
            if cell.since <= at {
                f(start, cell);
            }
        }
    }
}

/// A read of bytes that were never written.
#[derive(Debug, Clone)]
pub(super) struct EarlyRead {
    pub(super) read: Arc<Operation>,
    pub(super) granted: Option<Arc<Operation>>,
    /// The first of the bytes.
    pub(super) address: u64,
    /// Names the access, if the operation can tell.
    pub(super) toucher: Option<String>,
}

impl EarlyRead {
    fn of(start: u64, cell: &Cell) -> Option<Self> {
        cell.early_read.clone().map(|early| Self { address: start, ..early })
    }
}
