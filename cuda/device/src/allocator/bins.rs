//! The blocks that a stream released last, stacked by exact size. Requests that repeat in a loop
//! are served from here in a few steps.
//!
//! A binned block is joined with no neighbour and is in no free list. Bins are emptied before any
//! other search, so they never hide a block from a request that could use it. Each block passes
//! through a bin once per release, so emptying bins costs a constant per release. The links are in
//! the [`BlockTable`].

use super::GRANULE;
use super::blocks::{Block, BlockTable, NONE};

/// The number of bins of a stream, as a power of two. A word says which of them may have blocks.
const BIN_BITS: u32 = 6;
const BINS: usize = 1 << BIN_BITS;

/// Blocks of one size, the one released last first.
#[derive(Debug, Clone, Copy)]
struct Bin {
    bytes: u64,
    head: u32,
}

/// The bins of one stream; see the module documentation.
#[derive(Debug)]
pub(super) struct Bins {
    bins: [Bin; BINS],
    /// The bins that received a block since [`Bins::take_any`] last found them empty.
    touched: u64,
}

/// Returns the bin of a size. Slightly different sizes have different bins.
#[inline]
fn bin_of(bytes: u64) -> usize {
    ((bytes / GRANULE).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BIN_BITS)) as usize
}

impl Bins {
    pub(super) fn new() -> Self {
        Self { bins: [Bin { bytes: 0, head: NONE }; BINS], touched: 0 }
    }

    /// Adds a block if its bin is empty or holds blocks of its size. Otherwise returns false: the
    /// caller must empty the bin first.
    #[inline]
    pub(super) fn put(&mut self, block: &mut Block, id: u32) -> bool {
        let index = bin_of(block.bytes);
        let bin = &mut self.bins[index];
        if bin.head != NONE && bin.bytes != block.bytes {
            return false;
        }
        block.list_after = bin.head;
        *bin = Bin { bytes: block.bytes, head: id };
        self.touched |= 1 << index;
        true
    }

    /// Removes a block of exactly this size.
    #[inline]
    pub(super) fn take(&mut self, blocks: &BlockTable, bytes: u64) -> Option<u32> {
        let index = bin_of(bytes);
        let bin = &mut self.bins[index];
        if bin.head == NONE || bin.bytes != bytes {
            return None;
        }
        let id = bin.head;
        bin.head = blocks.get(id).list_after;
        Some(id)
    }

    /// Removes any block from the bin of `bytes`.
    pub(super) fn take_rival(&mut self, blocks: &BlockTable, bytes: u64) -> Option<u32> {
        self.take(blocks, self.bins[bin_of(bytes)].bytes)
    }

    /// Removes any block.
    pub(super) fn take_any(&mut self, blocks: &BlockTable) -> Option<u32> {
        while self.touched != 0 {
            let bytes = self.bins[self.touched.trailing_zeros() as usize].bytes;
            if let Some(id) = self.take(blocks, bytes) {
                return Some(id);
            }
            self.touched &= self.touched - 1;
        }
        None
    }

    /// Returns all blocks.
    #[cfg(test)]
    pub(super) fn iter(&self, blocks: &BlockTable) -> impl Iterator<Item = u32> {
        let next = |id: u32| Some(id).filter(|&id| id != NONE);
        self.bins.iter().flat_map(move |bin| {
            std::iter::successors(next(bin.head), move |&id| next(blocks.get(id).list_after))
        })
    }

    /// Returns the size of its largest block.
    pub(super) fn largest(&self) -> u64 {
        self.bins.iter().filter(|bin| bin.head != NONE).map(|bin| bin.bytes).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::Kind;
    use super::*;

    #[test]
    fn blocks_come_back_last_in_first_out_by_exact_size() {
        let mut blocks = BlockTable::default();
        let mut bins = Bins::new();
        let sizes = [512, 1024, 512, 4096];
        let ids = sizes.map(|bytes| blocks.insert_segment(0, Kind::Large, 0, bytes, 0));
        assert!(bins.largest() == 0 && bins.take_any(&blocks).is_none());
        assert!(ids.iter().all(|&id| bins.put(blocks.get_mut(id), id)));
        assert_eq!(bins.largest(), 4096);
        assert_eq!(bins.take(&blocks, 2048), None);
        assert_eq!(bins.take(&blocks, 512), Some(ids[2]));
        assert_eq!(bins.take(&blocks, 512), Some(ids[0]));
        assert_eq!(bins.take(&blocks, 512), None);
        let mut rest = [bins.take_any(&blocks), bins.take_any(&blocks)];
        rest.sort_unstable();
        assert_eq!(rest, [Some(ids[1]), Some(ids[3])]);
        assert!(bins.take_any(&blocks).is_none());
    }

    #[test]
    fn a_bin_holds_one_size() {
        let rival = (2..).map(|n| n * GRANULE).find(|&bytes| bin_of(bytes) == bin_of(GRANULE)).unwrap();
        let mut blocks = BlockTable::default();
        let mut bins = Bins::new();
        let small = blocks.insert_segment(0, Kind::Large, 0, GRANULE, 0);
        let large = blocks.insert_segment(0, Kind::Large, 0, rival, 0);
        assert!(bins.put(blocks.get_mut(small), small) && !bins.put(blocks.get_mut(large), large));
        assert_eq!(bins.take_rival(&blocks, rival), Some(small));
        assert!(bins.take_rival(&blocks, rival).is_none() && bins.put(blocks.get_mut(large), large));
        assert_eq!(bins.take(&blocks, rival), Some(large));
    }
}
