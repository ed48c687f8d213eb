//! Detects races between the blocks of a grid, in global memory. Blocks are ordered only by clocks,
//! see [`race`](super::race).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::class::Class;
use super::race::{Cell, GRANULE_BYTES, Mark, Rival, granules, is_strong};
use super::{Access, AccessKind};

/// The number of granules of a page. A page is watched from the first access to one of them.
const PAGE_GRANULES: u64 = 1024;

/// The number of parts of memory that have their own lock.
const SHARDS: usize = 64;

/// The greatest number of blocks. Larger grids are not watched.
const MAX_BLOCKS: u64 = u32::MAX as u64;

#[derive(Clone, Copy, Default)]
struct BlockMark {
    block: u32,
    /// The time of the block at the access.
    time: u32,
    pc: u32,
    thread: u16,
    mask: u8,
    strong: bool,
}

impl Mark for BlockMark {
    fn mask(&self) -> u8 {
        self.mask
    }

    fn is_strong(&self) -> bool {
        self.strong
    }

    fn same_party(&self, other: &BlockMark) -> bool {
        self.block == other.block
    }
}

/// Times of blocks. A missing one is 0, which is before everything.
type Times = HashMap<u32, u32>;

/// A block's knowledge of the times of others.
#[derive(Default)]
pub(super) struct Clock {
    known: Times,
    /// The known times at the last fence, including the block's own.
    published: Times,
    /// The number of fences so far.
    fences: u32,
}

impl Clock {
    pub(super) fn fence(&mut self, block: u64) {
        self.published.clone_from(&self.known);
        self.fences += 1;
        self.published.insert(block as u32, self.fences);
    }
}

fn join(to: &mut Times, from: &Times) {
    for (&block, &time) in from {
        let known = to.entry(block).or_default();
        *known = time.max(*known);
    }
}

type Page = Box<[Cell<BlockMark>]>;

/// Watches global memory during a launch.
pub(crate) struct GlobalRaces {
    pages: [Mutex<HashMap<u64, Page>>; SHARDS],
    /// The published times, by granule.
    published: Mutex<HashMap<u64, Times>>,
}

impl Default for GlobalRaces {
    fn default() -> GlobalRaces {
        GlobalRaces { pages: std::array::from_fn(|_| Mutex::default()), published: Mutex::default() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl GlobalRaces {
    pub(super) fn access(
        &self,
        access: &Access,
        class: Class,
        block: u64,
        clock: &mut Clock,
    ) -> Option<Rival> {
        if block >= MAX_BLOCKS {
            return None;
        }
        let strong = is_strong(access, class);
        if strong {
            self.synchronize(access.address / GRANULE_BYTES, clock);
        }
        for (granule, mask) in granules(access) {
            let mark = BlockMark {
                block: block as u32,
                time: clock.fences + 1,
                pc: access.pc,
                thread: access.thread as u16,
                mask,
                strong,
            };
            let ordered = |other: &BlockMark| {
                other.block == mark.block
                    || clock.known.get(&other.block).is_some_and(|&time| time >= other.time)
            };
            let page = granule / PAGE_GRANULES;
            let mut pages = lock(&self.pages[page as usize % SHARDS]);
            let cells = pages
                .entry(page)
                .or_insert_with(|| vec![Cell::default(); PAGE_GRANULES as usize].into_boxed_slice());
            let cell = &mut cells[(granule % PAGE_GRANULES) as usize];
            if let Some((rival, writes)) = cell.access(mark, access.kind != AccessKind::Read, ordered) {
                let (block, thread) = (Some(rival.block.into()), rival.thread.into());
                return Some(Rival { block, thread, pc: rival.pc, writes });
            }
        }
        None
    }

    /// Publishes what the block knew at its last fence, and learns what others published at this
    /// granule.
    fn synchronize(&self, granule: u64, clock: &mut Clock) {
        let mut published = lock(&self.published);
        if !clock.published.is_empty() {
            join(published.entry(granule).or_default(), &clock.published);
        }
        if let Some(here) = published.get(&granule) {
            join(&mut clock.known, here);
        }
    }
}
