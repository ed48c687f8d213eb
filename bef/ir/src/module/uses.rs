//! The uses of values. Each operand is a node of a doubly linked list that starts at its value. So
//! adding or removing a use takes constant time, and replacing a value takes time linear in its
//! uses.
//!
//! The nodes of one operation's operands are adjacent in one arena, in runs whose lengths are
//! powers of two. Freed runs are kept by length and reused.

use super::{Module, OpId, UseId, Value, ValueId};

/// An operand: the operation that uses a value, and the position among its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Use {
    /// The operation.
    pub op: OpId,
    /// Position among its operands.
    pub index: usize,
}

/// A node of a list of uses.
#[derive(Clone, Copy, Debug)]
struct Node {
    op: OpId,
    index: u32,
    prev: Option<UseId>,
    next: Option<UseId>,
}

/// The nodes of all operands.
#[derive(Clone, Debug, Default)]
pub(super) struct UseLists {
    nodes: Vec<Node>,
    /// The first nodes of unused runs. Those in `free[n]` have `1 << n` nodes.
    free: Vec<Vec<UseId>>,
}

/// Returns the exponent of the run length for this many operands.
fn size_class(operand_count: usize) -> usize {
    operand_count.next_power_of_two().trailing_zeros() as usize
}

impl UseLists {
    /// Returns the first node of a run for the operands of `op`, or `None` if there are no
    /// operands.
    fn allocate(&mut self, op: OpId, operand_count: usize) -> Option<UseId> {
        if operand_count == 0 {
            return None;
        }
        let class = size_class(operand_count);
        let node = |index| Node { op, index, prev: None, next: None };
        if let Some(first) = self.free.get_mut(class).and_then(Vec::pop) {
            for (old, index) in self.nodes[first.index()..][..operand_count].iter_mut().zip(0..) {
                *old = node(index);
            }
            return Some(first);
        }
        let first = UseId::at(self.nodes.len());
        self.nodes.extend((0..1 << class).map(node));
        Some(first)
    }

    /// Frees a run whose nodes are in no list.
    fn release(&mut self, first: UseId, operand_count: usize) {
        let class = size_class(operand_count);
        if self.free.len() <= class {
            self.free.resize_with(class + 1, Vec::new);
        }
        self.free[class].push(first);
    }

    /// Inserts a node at the front of a value's list.
    fn link(&mut self, value: &mut Value, id: UseId) {
        let head = value.first_use.replace(id);
        let node = &mut self.nodes[id.index()];
        (node.prev, node.next) = (None, head);
        if let Some(head) = head {
            self.nodes[head.index()].prev = Some(id);
        }
    }

    /// Removes a node from the list of its value.
    fn unlink(&mut self, value: &mut Value, id: UseId) {
        let Node { prev, next, .. } = self.nodes[id.index()];
        match prev {
            Some(prev) => self.nodes[prev.index()].next = next,
            None => value.first_use = next,
        }
        if let Some(next) = next {
            self.nodes[next.index()].prev = prev;
        }
    }
}

impl Module {
    /// Returns the uses of a value, in no particular order.
    pub fn uses_of(&self, value: ValueId) -> Uses<'_> {
        Uses { lists: &self.uses, next: self.value(value).first_use }
    }

    /// Returns whether an operation uses the value. Takes constant time.
    pub fn has_uses(&self, value: ValueId) -> bool {
        self.value(value).first_use.is_some()
    }

    /// Returns whether exactly one operand is this value. Takes constant time.
    pub fn has_one_use(&self, value: ValueId) -> bool {
        let mut uses = self.uses_of(value);
        uses.next().is_some() && uses.next().is_none()
    }

    /// Returns whether any result of the operation is used. Takes time linear in its results.
    pub fn has_used_results(&self, op: OpId) -> bool {
        self.op(op).results.iter().any(|&result| self.has_uses(result))
    }

    /// Changes one operand. Takes constant time.
    pub fn set_operand(&mut self, op: OpId, index: usize, value: ValueId) {
        let operation = &mut self.ops[op.index()];
        let old = std::mem::replace(&mut operation.operands[index], value);
        if let (true, Some(first)) = (old != value, operation.first_use) {
            let id = first.offset(index);
            self.uses.unlink(&mut self.values[old.index()], id);
            self.uses.link(&mut self.values[value.index()], id);
        }
    }

    /// Changes all operands. Takes time linear in the old and new operands.
    pub fn set_operands(&mut self, op: OpId, operands: impl Into<Vec<ValueId>>) {
        self.drop_operands(op);
        self.ops[op.index()].operands = operands.into();
        self.link_operands(op);
    }

    /// Adds an operand before position `index`. Takes time linear in the operands.
    pub fn insert_operand(&mut self, op: OpId, index: usize, value: ValueId) {
        let mut operands = self.op(op).operands.clone();
        operands.insert(index, value);
        self.set_operands(op, operands);
    }

    /// Removes an operand and returns its value. Takes time linear in the operands.
    pub fn remove_operand(&mut self, op: OpId, index: usize) -> ValueId {
        let mut operands = self.op(op).operands.clone();
        let removed = operands.remove(index);
        self.set_operands(op, operands);
        removed
    }

    /// Makes every operation that uses `from` use `to` instead. Takes time linear in the uses of
    /// `from`.
    pub fn replace_all_uses(&mut self, from: ValueId, to: ValueId) {
        if from == to {
            return;
        }
        let Some(first) = self.values[from.index()].first_use.take() else { return };
        let mut last = first;
        let mut next = Some(first);
        while let Some(id) = next {
            let node = self.uses.nodes[id.index()];
            self.ops[node.op.index()].operands[node.index as usize] = to;
            last = id;
            next = node.next;
        }
        let head = self.values[to.index()].first_use.replace(first);
        self.uses.nodes[last.index()].next = head;
        if let Some(head) = head {
            self.uses.nodes[head.index()].prev = Some(last);
        }
    }

    /// Replaces `from` by `to` in the uses for which `is_wanted` returns true. Takes time linear in
    /// the uses of `from`.
    pub fn replace_uses_if(
        &mut self,
        from: ValueId,
        to: ValueId,
        mut is_wanted: impl FnMut(&Module, Use) -> bool,
    ) {
        let uses: Vec<Use> = self.uses_of(from).collect();
        for found in uses {
            if is_wanted(self, found) {
                self.set_operand(found.op, found.index, to);
            }
        }
    }

    /// Adds the operands of an operation to the lists of their values.
    pub(super) fn link_operands(&mut self, op: OpId) {
        let operation = &mut self.ops[op.index()];
        operation.first_use = self.uses.allocate(op, operation.operands.len());
        let Some(first) = operation.first_use else { return };
        for (index, operand) in operation.operands.iter().enumerate() {
            self.uses.link(&mut self.values[operand.index()], first.offset(index));
        }
    }

    /// Removes all operands from an operation.
    pub(super) fn drop_operands(&mut self, op: OpId) {
        let operation = &mut self.ops[op.index()];
        let operands = std::mem::take(&mut operation.operands);
        let Some(first) = operation.first_use.take() else { return };
        for (index, operand) in operands.iter().enumerate() {
            self.uses.unlink(&mut self.values[operand.index()], first.offset(index));
        }
        self.uses.release(first, operands.len());
    }
}

/// An iterator over the uses of a value; see [`Module::uses_of`].
#[derive(Clone, Debug)]
pub struct Uses<'a> {
    lists: &'a UseLists,
    next: Option<UseId>,
}

impl Iterator for Uses<'_> {
    type Item = Use;

    fn next(&mut self) -> Option<Use> {
        let node = self.lists.nodes[self.next?.index()];
        self.next = node.next;
        Some(Use { op: node.op, index: node.index as usize })
    }
}
