//! The blocks a stream gave back last, stacked by exact size: what a loop asks for again and again is found here in a few
//! steps.
//!
//! A block in a bin is joined with no neighbour and is in no free list. Bins are emptied before anything else is searched,
//! so they never hide a block from a request that could use it. Each block goes through a bin once for each time it is
//! given back, so emptying them costs a constant for each free. The links lie in the [`BlockTable`].

use super::GRANULE;
use super::blocks::{Block, BlockTable, NONE};

/// Bins of a stream, as a power of two. A word says which of them may have blocks.
const BIN_BITS: u32 = 6;
const BINS: usize = 1 << BIN_BITS;

/// Blocks of one size, the one given back last first.
#[derive(Debug, Clone, Copy)]
struct Bin {
    bytes: u64,
    head: u32,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Bins {
    bins: [Bin; BINS],
    /// Where a block was put since the bin was last found empty by [`Bins::take_any`].
    touched: u64,
}

/// The bin of a size: sizes that differ by a little lie in different ones.
#[inline]
fn bin_of(bytes: u64) -> usize {
    ((bytes / GRANULE).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BIN_BITS)) as usize
}

impl Bins {
    pub(super) fn new() -> Self {
        Self { bins: [Bin { bytes: 0, head: NONE }; BINS], touched: 0 }
    }

    /// Puts a block in if its bin is empty or holds blocks of its size. False if not: empty the bin first.
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

    /// Takes out a block of exactly this size.
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

    /// Takes out any block of the bin that `bytes` belong to.
    pub(super) fn take_rival(&mut self, blocks: &BlockTable, bytes: u64) -> Option<u32> {
        self.take(blocks, self.bins[bin_of(bytes)].bytes)
    }

    /// Takes out any block.
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

    /// All blocks.
    #[cfg(test)]
    pub(super) fn iter(&self, blocks: &BlockTable) -> impl Iterator<Item = u32> {
        let next = |id: u32| Some(id).filter(|&id| id != NONE);
        self.bins.iter().flat_map(move |bin| {
            std::iter::successors(next(bin.head), move |&id| next(blocks.get(id).list_after))
        })
    }

    /// Size of its largest block.
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
