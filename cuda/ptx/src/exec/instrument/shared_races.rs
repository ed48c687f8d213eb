//! Detects races between the threads of a block, in shared memory.
//!
//! Threads are ordered by barriers of the block. Any barrier that completes counts for all threads,
//! so partial barriers never cause a false alarm. Within a warp, threads are also ordered by
//! instructions whose lanes wait for each other. Warps are ordered by clocks, see
//! [`race`](super::race). Lanes that write the same place in one instruction do not race: the value
//! of one of them remains.

use std::collections::HashMap;

use super::class::Class;
use super::race::{Cell, GRANULE_BYTES, Mark, Rival, granules, is_strong};
use super::{Access, AccessKind};
use crate::exec::lanes::LANES;

#[derive(Clone, Copy, Default)]
struct ThreadMark {
    thread: u16,
    mask: u8,
    strong: bool,
    pc: u32,
    /// The number of barriers of the block before the access.
    phase: u32,
    /// The number of barriers of the warp before the access.
    step: u32,
    /// The time of the warp at the access.
    time: u32,
    /// The number of instructions executed before the access.
    instance: u64,
}

impl Mark for ThreadMark {
    fn mask(&self) -> u8 {
        self.mask
    }

    fn is_strong(&self) -> bool {
        self.strong
    }

    fn same_party(&self, other: &ThreadMark) -> bool {
        self.thread == other.thread || self.phase != other.phase
    }
}

/// A warp's knowledge of the times of others.
#[derive(Clone)]
struct Clock {
    /// The known time of each warp.
    known: Vec<u32>,
    /// The known times at the last fence, if there was one.
    published: Option<Vec<u32>>,
    step: u32,
}

/// Watches a block's shared memory.
pub(super) struct SharedRaces {
    cells: Vec<Cell<ThreadMark>>,
    clocks: Vec<Clock>,
    /// The published times, by granule.
    published: HashMap<u64, Vec<u32>>,
    phase: u32,
    instance: u64,
}

impl SharedRaces {
    pub(super) fn new(bytes: u64, threads: u32) -> SharedRaces {
        let warps = threads as usize / LANES;
        // Clocks start at 0, which is before everything.
        let clocks = (0..warps).map(|_| Clock { known: vec![0; warps], published: None, step: 0 }).collect();
        let cells = vec![Cell::default(); bytes.div_ceil(GRANULE_BYTES) as usize];
        SharedRaces { cells, clocks, published: HashMap::new(), phase: 0, instance: 0 }
    }

    pub(super) fn block_started(&mut self) {
        // Accesses of earlier blocks count as before a barrier.
        self.phase += 1;
        self.published.clear();
        for (warp, clock) in self.clocks.iter_mut().enumerate() {
            clock.known.fill(0);
            clock.known[warp] = 1;
            clock.published = None;
        }
    }

    pub(super) fn barrier_completed(&mut self) {
        self.phase += 1;
    }

    pub(super) fn instruction(&mut self, class: Class, warp: usize) {
        self.instance += 1;
        let clock = &mut self.clocks[warp];
        if class.warp_barrier {
            clock.step += 1;
        }
        if class.fence {
            clock.published = Some(clock.known.clone());
            clock.known[warp] += 1;
        }
    }

    pub(super) fn access(&mut self, access: &Access, class: Class) -> Option<Rival> {
        let warp = access.thread as usize / LANES;
        let strong = is_strong(access, class);
        for (granule, mask) in granules(access) {
            if strong {
                self.synchronize(warp, granule);
            }
            let clock = &self.clocks[warp];
            let mark = ThreadMark {
                thread: access.thread as u16,
                mask,
                strong,
                pc: access.pc,
                phase: self.phase,
                step: clock.step,
                time: clock.known[warp],
                instance: self.instance,
            };
            let ordered = |other: &ThreadMark| {
                let from = usize::from(other.thread) / LANES;
                other.thread == mark.thread
                    || other.phase < mark.phase
                    || (from == warp
                        && (other.step < mark.step || other.instance == mark.instance || class.warp_barrier))
                    || (from != warp && clock.known[from] >= other.time)
            };
            let cell = self.cells.get_mut(granule as usize)?;
            if let Some((rival, writes)) = cell.access(mark, access.kind != AccessKind::Read, ordered) {
                return Some(Rival { block: None, thread: rival.thread.into(), pc: rival.pc, writes });
            }
        }
        None
    }

    /// Publishes what the warp knew at its last fence, and learns what others published at this
    /// granule.
    fn synchronize(&mut self, warp: usize, granule: u64) {
        let clock = &mut self.clocks[warp];
        if clock.published.is_none() && !self.published.contains_key(&granule) {
            return;
        }
        let here = self.published.entry(granule).or_insert_with(|| vec![0; clock.known.len()]);
        for (index, here) in here.iter_mut().enumerate() {
            let own = clock.published.as_ref().map_or(0, |published| published[index]);
            *here = own.max(*here);
            clock.known[index] = clock.known[index].max(*here);
        }
    }
}
