//! The order of a block's operations: a doubly linked list, so that insertion and removal take
//! constant time.
//!
//! Each operation has a key that grows along the list, so that comparing two positions takes
//! constant time. If an insertion finds no free key between its neighbours, it spreads the keys of
//! some followers to make room: the smallest run of `n` operations whose keys leave more than `n *
//! n` between them (Dietz and Sleator). That costs logarithmic time per insertion, amortized over
//! any sequence.

use super::{BlockId, InsertionPoint, Module, OpId, Operation};

/// The distance between the keys of operations that are appended one after another.
const STRIDE: u64 = 1 << 20;

/// An operation's place in its block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Links {
    pub(super) prev: Option<OpId>,
    pub(super) next: Option<OpId>,
    /// Greater than the keys of all operations before it in the block.
    key: u64,
}

impl Module {
    /// Returns the first operation of a block.
    pub fn first_op(&self, block: BlockId) -> Option<OpId> {
        self.block(block).first
    }

    /// Returns the last operation of a block.
    pub fn last_op(&self, block: BlockId) -> Option<OpId> {
        self.block(block).last
    }

    /// Returns the number of operations directly in a block, without those in their regions.
    pub fn op_count(&self, block: BlockId) -> usize {
        self.block(block).op_count
    }

    /// Returns the operation after `op` in its block.
    pub fn next_op(&self, op: OpId) -> Option<OpId> {
        self.op(op).links.next
    }

    /// Returns the operation before `op` in its block.
    pub fn prev_op(&self, op: OpId) -> Option<OpId> {
        self.op(op).links.prev
    }

    /// Returns whether `a` stands before `b` in the same block. Takes constant time.
    pub fn is_before(&self, a: OpId, b: OpId) -> bool {
        let (a, b) = (self.op(a), self.op(b));
        a.parent.is_some() && a.parent == b.parent && a.links.key < b.links.key
    }

    /// Returns the operations of a block, in order.
    pub fn ops_in(&self, block: BlockId) -> BlockOps<'_> {
        let data = self.block(block);
        BlockOps { module: self, front: data.first, back: data.last, remaining: data.op_count }
    }

    /// Appends a detached operation to a block. An operation that is in a block moves.
    pub fn append_op(&mut self, block: BlockId, op: OpId) {
        self.detach_op(op);
        self.link_op(block, self.last_op(block), op);
    }

    /// Inserts a detached operation at a point. An operation that is in a block moves. Takes
    /// constant time.
    ///
    /// An operation stays in place if it is itself the point, or if the point's operation is in no
    /// block.
    pub fn insert_op(&mut self, at: InsertionPoint, op: OpId) {
        let block = match at {
            InsertionPoint::Before(target) | InsertionPoint::After(target) if target == op => return,
            InsertionPoint::Before(target) | InsertionPoint::After(target) => self.op(target).parent,
            InsertionPoint::Start(block) | InsertionPoint::End(block) => Some(block),
        };
        let Some(block) = block else { return };
        self.detach_op(op);
        let prev = match at {
            InsertionPoint::Before(target) => self.prev_op(target),
            InsertionPoint::After(target) => Some(target),
            InsertionPoint::Start(_) => None,
            InsertionPoint::End(block) => self.last_op(block),
        };
        self.link_op(block, prev, op);
    }

    /// Removes an operation from its block, but keeps it with its operands, results and regions.
    /// Takes constant time.
    pub fn detach_op(&mut self, op: OpId) {
        let operation = &mut self.ops[op.index()];
        let Some(block) = operation.parent.take() else { return };
        let Links { prev, next, .. } = std::mem::take(&mut operation.links);
        match prev {
            Some(prev) => self.ops[prev.index()].links.next = next,
            None => self.blocks[block.index()].first = next,
        }
        match next {
            Some(next) => self.ops[next.index()].links.prev = prev,
            None => self.blocks[block.index()].last = prev,
        }
        self.blocks[block.index()].op_count -= 1;
    }

    /// Inserts a detached operation after `prev`, or at the start.
    fn link_op(&mut self, block: BlockId, prev: Option<OpId>, op: OpId) {
        let next = prev.map_or(self.first_op(block), |prev| self.next_op(prev));
        let key = self.new_key(block, prev, next);
        match prev {
            Some(prev) => self.ops[prev.index()].links.next = Some(op),
            None => self.blocks[block.index()].first = Some(op),
        }
        match next {
            Some(next) => self.ops[next.index()].links.prev = Some(op),
            None => self.blocks[block.index()].last = Some(op),
        }
        let operation = &mut self.ops[op.index()];
        operation.parent = Some(block);
        operation.links = Links { prev, next, key };
        self.blocks[block.index()].op_count += 1;
    }

    fn key(&self, op: OpId) -> u64 {
        self.op(op).links.key
    }

    /// Returns a key between those of two neighbours.
    fn new_key(&mut self, block: BlockId, prev: Option<OpId>, next: Option<OpId>) -> u64 {
        let low = prev.map_or(0, |prev| self.key(prev));
        match next {
            None => match low.checked_add(STRIDE) {
                Some(key) => key,
                None => {
                    self.spread(0, self.first_op(block), STRIDE, self.op_count(block));
                    prev.map_or(0, |prev| self.key(prev)) + STRIDE
                }
            },
            Some(next) => {
                if self.key(next) - low < 2 {
                    self.make_room(block, low, next);
                }
                // Keys below `low` have not changed, unless all have.
                let low = prev.map_or(0, |prev| self.key(prev));
                low + (self.key(next) - low) / 2
            }
        }
    }

    /// Changes the keys from `first` on to make room between `low` and `first`.
    fn make_room(&mut self, block: BlockId, low: u64, first: OpId) {
        let mut count = 1;
        let mut end = self.next_op(first);
        while let Some(op) = end {
            let room = self.key(op) - low;
            let parts = count as u64 + 1;
            if room > parts.saturating_mul(parts) {
                self.spread(low, Some(first), room / parts, count);
                return;
            }
            count += 1;
            end = self.next_op(op);
        }
        let room = STRIDE.checked_mul(count as u64 + 1);
        if room.and_then(|room| low.checked_add(room)).is_some() {
            self.spread(low, Some(first), STRIDE, count);
        } else {
            self.spread(0, self.first_op(block), STRIDE, self.op_count(block));
        }
    }

    /// Gives `count` operations from `first` the keys `low + step`, `low + 2 * step`, ….
    fn spread(&mut self, low: u64, first: Option<OpId>, step: u64, count: usize) {
        let mut key = low;
        let mut next = first;
        for _ in 0..count {
            let Some(op) = next else { break };
            key += step;
            let links = &mut self.ops[op.index()].links;
            links.key = key;
            next = links.next;
        }
    }
}

/// An iterator over the operations of a block; see [`Module::ops_in`].
#[derive(Clone, Debug)]
pub struct BlockOps<'a> {
    module: &'a Module,
    front: Option<OpId>,
    back: Option<OpId>,
    remaining: usize,
}

impl<'a> Iterator for BlockOps<'a> {
    type Item = (OpId, &'a Operation);

    fn next(&mut self) -> Option<Self::Item> {
        self.remaining = self.remaining.checked_sub(1)?;
        let id = self.front?;
        let op = self.module.op(id);
        self.front = op.links.next;
        Some((id, op))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl DoubleEndedIterator for BlockOps<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.remaining = self.remaining.checked_sub(1)?;
        let id = self.back?;
        let op = self.module.op(id);
        self.back = op.links.prev;
        Some((id, op))
    }
}

impl ExactSizeIterator for BlockOps<'_> {}
