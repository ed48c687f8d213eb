//! What is known of each byte of device memory: who wrote it last, who has read it since, and whether anybody wrote it.
//!
//! Bytes that are used alike share a cell; a use of a part of a cell cuts it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::clock::Clock;
use crate::observer::{AccessKind, Toucher};
use crate::origin::Origin;

/// An operation, once it is queued; or the grant of a buffer, which comes before all its uses.
#[derive(Debug)]
pub(super) struct Operation {
    /// In the order of queueing.
    pub(super) sequence: u64,
    pub(super) stream: usize,
    /// Its number on its stream.
    pub(super) number: u32,
    /// What is done when it begins.
    pub(super) clock: Clock,
    pub(super) name: String,
    pub(super) origin: Origin,
    pub(super) is_grant: bool,
}

impl Operation {
    /// True if this one is done before the other begins.
    pub(super) fn is_before(&self, other: &Self) -> bool {
        if self.is_grant {
            // Memory is granted to what follows all that its stream had to wait for.
            return other.clock.knows(&self.clock);
        }
        self.is_known_to(&other.clock)
    }

    /// True if whoever has this clock knows that the operation is done.
    pub(super) fn is_known_to(&self, clock: &Clock) -> bool {
        clock.of(self.stream) >= self.number
    }
}

/// Bytes that were used alike.
#[derive(Debug, Clone)]
struct Cell {
    end: u64,
    /// The last write, or the grant.
    written: Option<Arc<Operation>>,
    /// Reads since, the last one of each stream.
    reads: Vec<Arc<Operation>>,
    /// Operations since that accessed the bytes by atomic operations alone, the last one of each stream.
    updates: Vec<Arc<Operation>>,
    initialized: bool,
    /// When the bytes got their owner; what was queued before used them for another one.
    since: u64,
    /// The first read before anybody wrote, and the grant it came after.
    early_read: Option<EarlyRead>,
}

impl Cell {
    /// Takes note of a read of bytes that nobody wrote, unless there was one before.
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

/// Takes note of the last operation of a stream.
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

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    cells: BTreeMap<u64, Cell>,
}

impl Shadow {
    /// The bytes have a new owner and nothing in them. Gives reads of what nobody ever wrote.
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
                initialized: false,
                since,
                early_read: None,
            };
            self.cells.insert(address, cell);
        }
        early
    }

    /// The bytes are somebody's who is not told of, and have something in them: a module's variables, or the host's.
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
                initialized: true,
                since: 0,
                early_read: None,
            };
            self.cells.insert(start, cell);
        }
    }

    /// The bytes are gone. Gives reads of what nobody ever wrote.
    pub(super) fn remove(&mut self, address: u64, bytes: u64) -> Vec<EarlyRead> {
        let end = address + bytes;
        self.cut(address);
        self.cut(end);
        let starts: Vec<u64> = self.cells.range(address..end).map(|(&start, _)| start).collect();
        let removed = starts.into_iter().filter_map(|start| Some((start, self.cells.remove(&start)?)));
        removed.filter_map(|(start, cell)| EarlyRead::of(start, &cell)).collect()
    }

    /// All reads of what nobody wrote up to now.
    pub(super) fn early_reads(&self) -> Vec<EarlyRead> {
        self.cells.iter().filter_map(|(&start, cell)| EarlyRead::of(start, cell)).collect()
    }

    /// The bytes were perhaps written by somebody who does not say what it did.
    pub(super) fn assume_initialized(&mut self, address: u64, bytes: u64, by: &Operation) {
        self.for_each(address, bytes, by.sequence, |_, cell| cell.initialized = true);
    }

    /// The operation reads the bytes. The first conflict, if there is one.
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
                && let Some(written) = writes.into_iter().find(|written| !written.is_before(by))
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

    /// The operation accesses the bytes by atomic operations alone, which are in order with each other. The first conflict with
    /// another access, if there is one.
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
            let unordered = uses.into_iter().find(|(earlier, _)| !earlier.is_before(by));
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

    /// The operation writes the bytes. The first conflict, if there is one.
    pub(super) fn write(&mut self, address: u64, bytes: u64, by: &Arc<Operation>) -> Option<Conflict> {
        let mut conflict = None;
        self.for_each(address, bytes, by.sequence, |start, cell| {
            let reads = cell.reads.iter().map(|read| (read, false));
            let updates = cell.updates.iter().map(|update| (update, true));
            let uses = cell.written.iter().map(|write| (write, true)).chain(updates).chain(reads);
            let unordered = uses.into_iter().find(|(earlier, _)| {
                // What an operation itself read before it wrote is in order.
                earlier.sequence != by.sequence && !earlier.is_before(by)
            });
            if let Some((earlier, earlier_wrote)) = unordered {
                // A read that came first by chance was not too early: that it is not ordered is the mistake.
                if cell.early_read.as_ref().is_some_and(|early| !early.read.is_before(by)) {
                    cell.early_read = None;
                }
                let (earlier, address) = (earlier.clone(), start.max(address));
                conflict.get_or_insert(Conflict { earlier, earlier_wrote, address });
            }
            cell.written = Some(by.clone());
            cell.reads.clear();
            cell.updates.clear();
            cell.initialized = true;
        });
        conflict
    }

    /// Cuts the cell that holds the address, so that one begins there.
    fn cut(&mut self, address: u64) {
        let Some((_, cell)) = self.cells.range_mut(..address).next_back() else { return };
        if cell.end > address {
            let behind = cell.clone();
            cell.end = address;
            self.cells.insert(address, behind);
        }
    }

    /// Calls `f` for the cells of exactly these bytes, as far as there are any that have had their owner since `at`.
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

/// A read of bytes that nobody had written.
#[derive(Debug, Clone)]
pub(super) struct EarlyRead {
    pub(super) read: Arc<Operation>,
    pub(super) granted: Option<Arc<Operation>>,
    /// The first of the bytes.
    pub(super) address: u64,
    /// Who read it, if the operation can tell.
    pub(super) toucher: Option<String>,
}

impl EarlyRead {
    fn of(start: u64, cell: &Cell) -> Option<Self> {
        cell.early_read.clone().map(|early| Self { address: start, ..early })
    }
}
