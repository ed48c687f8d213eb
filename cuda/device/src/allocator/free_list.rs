//! The free blocks of one stream by size, for best fit in a few steps regardless of their number.
//!
//! Sizes fall into classes, 32 per octave, so a class is at most 3 % wide. Below 32 granules, each
//! size is its own class. Two levels of bitmaps find the next class that has a block. Within a
//! class the blocks are linked from small to large, the latest released first among equals. The
//! links are in the [`BlockTable`].

use super::GRANULE;
use super::blocks::{BlockTable, NONE};

/// The number of classes in an octave, as a power of two.
const CLASS_BITS: u32 = 5;
const CLASSES_PER_OCTAVE: usize = 1 << CLASS_BITS;
/// Enough for every number of granules in a 64-bit size.
const OCTAVES: usize = 64 - GRANULE.trailing_zeros() as usize - CLASS_BITS as usize + 1;

/// The free blocks of one stream; see the module documentation.
#[derive(Debug)]
pub(super) struct FreeList {
    /// The octaves that have a block.
    octaves: u64,
    /// For each octave, the classes that have a block.
    classes: [u32; OCTAVES],
    /// The smallest block of each class.
    heads: Box<[u32]>,
    bytes: u64,
}

/// Returns the octave and class of a size.
#[inline]
fn class_of(bytes: u64) -> (usize, usize) {
    let granules = bytes / GRANULE;
    if granules < CLASSES_PER_OCTAVE as u64 {
        return (0, granules as usize);
    }
    let log = 63 - granules.leading_zeros();
    let class = (granules >> (log - CLASS_BITS)) as usize & (CLASSES_PER_OCTAVE - 1);
    ((log - CLASS_BITS + 1) as usize, class)
}

impl FreeList {
    pub(super) fn new() -> Self {
        Self {
            octaves: 0,
            classes: [0; OCTAVES],
            heads: vec![NONE; OCTAVES * CLASSES_PER_OCTAVE].into_boxed_slice(),
            bytes: 0,
        }
    }

    /// Returns the total size of its blocks.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a block that is in no list.
    #[inline]
    pub(super) fn insert(&mut self, blocks: &mut BlockTable, id: u32) {
        let bytes = blocks.get(id).bytes;
        let (octave, class) = class_of(bytes);
        let head = &mut self.heads[octave * CLASSES_PER_OCTAVE + class];
        let (mut before, mut after) = (NONE, *head);
        while after != NONE && blocks.get(after).bytes < bytes {
            before = after;
            after = blocks.get(after).list_after;
        }
        if before == NONE {
            *head = id;
        } else {
            blocks.get_mut(before).list_after = id;
        }
        if after != NONE {
            blocks.get_mut(after).list_before = id;
        }
        let block = blocks.get_mut(id);
        (block.list_before, block.list_after) = (before, after);
        self.classes[octave] |= 1 << class;
        self.octaves |= 1 << octave;
        self.bytes += bytes;
    }

    /// Removes a block.
    #[inline]
    pub(super) fn remove(&mut self, blocks: &mut BlockTable, id: u32) {
        let block = blocks.get(id);
        let (bytes, before, after) = (block.bytes, block.list_before, block.list_after);
        if after != NONE {
            blocks.get_mut(after).list_before = before;
        }
        if before != NONE {
            blocks.get_mut(before).list_after = after;
        } else {
            let (octave, class) = class_of(bytes);
            self.heads[octave * CLASSES_PER_OCTAVE + class] = after;
            if after == NONE {
                self.classes[octave] &= !(1 << class);
                if self.classes[octave] == 0 {
                    self.octaves &= !(1 << octave);
                }
            }
        }
        self.bytes -= bytes;
    }

    /// Returns the smallest block of at least `bytes` bytes, which remains in the list.
    #[inline]
    pub(super) fn best_fit(&self, blocks: &BlockTable, bytes: u64) -> Option<u32> {
        self.best_fit_where(blocks, bytes, |_| true)
    }

    /// Returns the smallest block of at least `bytes` bytes for which `may` returns true.
    #[inline]
    pub(super) fn best_fit_where(
        &self,
        blocks: &BlockTable,
        bytes: u64,
        may: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let (mut octave, mut class) = class_of(bytes);
        loop {
            let mut at = self.heads[octave * CLASSES_PER_OCTAVE + class];
            while at != NONE {
                let block = blocks.get(at);
                if block.bytes >= bytes && may(at) {
                    return Some(at);
                }
                at = block.list_after;
            }
            (octave, class) = self.next_class(octave, class)?;
        }
    }

    /// Returns the next class after this one that has a block.
    #[inline]
    fn next_class(&self, octave: usize, class: usize) -> Option<(usize, usize)> {
        // Shifted twice, because shifting by all bits of a number is not defined.
        let classes = (self.classes[octave] >> class) >> 1;
        if classes != 0 {
            return Some((octave, class + 1 + classes.trailing_zeros() as usize));
        }
        let octaves = (self.octaves >> octave) >> 1;
        if octaves == 0 {
            return None;
        }
        let octave = octave + 1 + octaves.trailing_zeros() as usize;
        Some((octave, self.classes[octave].trailing_zeros() as usize))
    }

    /// Returns the size of its largest block.
    pub(super) fn largest(&self, blocks: &BlockTable) -> u64 {
        if self.octaves == 0 {
            return 0;
        }
        let octave = 63 - self.octaves.leading_zeros() as usize;
        let class = 31 - self.classes[octave].leading_zeros() as usize;
        let mut at = self.heads[octave * CLASSES_PER_OCTAVE + class];
        let mut largest = 0;
        while at != NONE {
            largest = blocks.get(at).bytes;
            at = blocks.get(at).list_after;
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::Kind;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn classes_grow_with_sizes_and_are_narrow() {
        let mut sizes: Vec<u64> =
            (1..200).chain((8..46).flat_map(|s| [(1 << s) - 1, 1 << s, (1 << s) + 1])).collect();
        sizes.sort_unstable();
        for pair in sizes.windows(2) {
            assert!(class_of(pair[0] * GRANULE) <= class_of(pair[1] * GRANULE));
        }
        for size in sizes {
            let (low, high) = (size * GRANULE, (size + size / 16 + 1) * GRANULE);
            assert!(class_of(low) < class_of(high), "{size}");
        }
        let (octave, class) = class_of(u64::MAX);
        assert!(octave < OCTAVES && class < CLASSES_PER_OCTAVE);
    }

    proptest! {
        /// Compares with a linear search over all blocks.
        #[test]
        fn finds_the_best_fit(sizes in prop::collection::vec(1u64..5000, 1..80), removed in any::<u128>(), want in 1u64..5000) {
            let mut blocks = BlockTable::default();
            let mut list = FreeList::new();
            let ids: Vec<u32> = sizes
                .iter()
                .map(|size| {
                    let id = blocks.insert_segment(0, Kind::Large, 0, size * GRANULE, 0);
                    list.insert(&mut blocks, id);
                    id
                })
                .collect();
            let mut left = vec![];
            for (i, (&id, &size)) in ids.iter().zip(&sizes).enumerate() {
                if removed >> i & 1 == 1 {
                    list.remove(&mut blocks, id);
                } else {
                    left.push(size * GRANULE);
                }
            }
            let found = list.best_fit(&blocks, want * GRANULE).map(|id| blocks.get(id).bytes);
            prop_assert_eq!(found, left.iter().copied().filter(|&size| size >= want * GRANULE).min());
            prop_assert_eq!(list.largest(&blocks), left.iter().copied().max().unwrap_or(0));
            prop_assert_eq!(list.bytes(), left.iter().sum::<u64>());
        }
    }
}
