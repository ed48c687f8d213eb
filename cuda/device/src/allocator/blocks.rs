//! The blocks that segments are cut into. They are in one table, and a block is identified by its
//! number.
//!
//! The blocks of a segment are linked in the order of their addresses and cover it without gaps.
//! The table knows no policy, no fences and no meaning of streams. It cuts, joins and counts.

/// The number that stands for "no block".
pub(super) const NONE: u32 = u32::MAX;

/// The state of a block, which says who may access its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The number is not in use.
    Vacant,
    /// Handed out.
    Live,
    /// In a bin of its stream.
    Binned,
    /// In the free list of its stream.
    Free,
    /// Released, but several streams may still use it. It is in no free list.
    Pending,
    /// Addresses without memory, because its pages were taken.
    Hole,
}

/// The size of blocks that a segment serves. Otherwise, long-lived small blocks would keep large
/// segments from becoming whole again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Small,
    Large,
}

/// The largest small block, in bytes.
const MAX_SMALL_BYTES: u64 = 512 << 10;

impl Kind {
    /// Returns the kind of segment that serves blocks of this size.
    #[inline]
    pub(super) fn of(bytes: u64) -> Self {
        if bytes <= MAX_SMALL_BYTES { Self::Small } else { Self::Large }
    }

    pub(super) fn other(self) -> Self {
        match self {
            Self::Small => Self::Large,
            Self::Large => Self::Small,
        }
    }
}

/// A range of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// The requested size, if live.
    pub(super) requested: u64,
    /// The number of the grant, if live. It distinguishes stale handles from valid ones.
    pub(super) serial: u64,
    /// If binned or free: the point of its stream that must be reached before another stream may
    /// use it.
    pub(super) point: u64,
    /// The slot of the stream that owns it.
    pub(super) stream: u32,
    pub(super) segment: u32,
    /// The neighbours in the segment.
    pub(super) before: u32,
    pub(super) after: u32,
    /// The neighbours in the free list. In a bin there is only the next one.
    pub(super) list_before: u32,
    pub(super) list_after: u32,
    pub(super) state: State,
    /// The kind of its segment.
    pub(super) kind: Kind,
    /// Whether other streams were recorded as users, if live.
    pub(super) shared: bool,
}

impl Block {
    const VACANT: Self = Self {
        address: 0,
        bytes: 0,
        requested: 0,
        serial: 0,
        point: 0,
        stream: 0,
        segment: 0,
        before: NONE,
        after: NONE,
        list_before: NONE,
        list_after: NONE,
        state: State::Vacant,
        kind: Kind::Small,
        shared: false,
    };

    /// Returns true if the block covers its whole segment.
    pub(super) fn is_whole_segment(&self) -> bool {
        self.before == NONE && self.after == NONE
    }
}

/// All blocks of one allocator.
#[derive(Debug, Default)]
pub(super) struct BlockTable {
    blocks: Vec<Block>,
    vacant: Vec<u32>,
}

impl BlockTable {
    #[inline]
    pub(super) fn get(&self, id: u32) -> &Block {
        &self.blocks[id as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: u32) -> &mut Block {
        &mut self.blocks[id as usize]
    }

    /// Returns the block with this number, if the number is in use.
    pub(super) fn find(&self, id: u32) -> Option<&Block> {
        self.blocks.get(id as usize).filter(|block| block.state != State::Vacant)
    }

    /// Returns every block in use, with its number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Block)> {
        let all = self.blocks.iter().enumerate().map(|(id, block)| (id as u32, block));
        all.filter(|(_, block)| block.state != State::Vacant)
    }

    fn insert(&mut self, block: Block) -> u32 {
        if let Some(id) = self.vacant.pop() {
            self.blocks[id as usize] = block;
            return id;
        }
        let id = self.blocks.len() as u32;
        assert!(id != NONE, "2^32 blocks of at least 512 bytes exceed the address space");
        self.blocks.push(block);
        id
    }

    fn remove(&mut self, id: u32) {
        self.blocks[id as usize] = Block::VACANT;
        self.vacant.push(id);
    }

    /// Adds the only block of a new segment, in the pending state.
    pub(super) fn insert_segment(
        &mut self,
        segment: u32,
        kind: Kind,
        address: u64,
        bytes: u64,
        stream: u32,
    ) -> u32 {
        self.insert(Block { address, bytes, segment, stream, kind, state: State::Pending, ..Block::VACANT })
    }

    /// Removes the only block of a segment that is being released.
    pub(super) fn remove_segment(&mut self, id: u32) {
        debug_assert!(self.get(id).is_whole_segment());
        self.remove(id);
    }

    /// Cuts a block that is in no list after `bytes` bytes. Returns the new block after the cut. It
    /// has the same stream and point, and is in no list either.
    #[inline]
    pub(super) fn split(&mut self, id: u32, bytes: u64) -> u32 {
        let front = *self.get(id);
        debug_assert!(bytes > 0 && bytes < front.bytes);
        let back = self.insert(Block {
            address: front.address + bytes,
            bytes: front.bytes - bytes,
            before: id,
            ..front
        });
        if front.after != NONE {
            self.get_mut(front.after).before = back;
        }
        let front = self.get_mut(id);
        front.bytes = bytes;
        front.after = back;
        back
    }

    /// Joins a block with the one after it; neither may be in a list. The number of the front block
    /// remains. The caller sets the stream and the point of the joined block.
    #[inline]
    pub(super) fn join(&mut self, front: u32, back: u32) {
        let gone = *self.get(back);
        debug_assert!(self.get(front).after == back && self.get(front).segment == gone.segment);
        let kept = self.get_mut(front);
        kept.bytes += gone.bytes;
        kept.after = gone.after;
        if gone.after != NONE {
            self.get_mut(gone.after).before = front;
        }
        self.remove(back);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_their_segment_and_join_to_the_whole() {
        let mut table = BlockTable::default();
        let a = table.insert_segment(0, Kind::Large, 4096, 3072, 7);
        let c = table.split(a, 2048);
        let b = table.split(a, 512);
        let order = |table: &BlockTable| {
            let mut order = vec![];
            let mut at = a;
            while at != NONE {
                order.push((table.get(at).address, table.get(at).bytes));
                at = table.get(at).after;
            }
            order
        };
        assert_eq!(order(&table), [(4096, 512), (4608, 1536), (6144, 1024)]);
        assert_eq!((table.get(c).before, table.get(b).before, table.get(c).stream), (b, a, 7));
        table.join(b, c);
        assert_eq!(order(&table), [(4096, 512), (4608, 2560)]);
        table.join(a, b);
        assert_eq!(order(&table), [(4096, 3072)]);
        assert!(table.get(a).is_whole_segment() && table.find(b).is_none());
        table.remove_segment(a);
        assert_eq!(table.iter().count(), 0);
    }
}
