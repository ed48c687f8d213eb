//! Moves, replaces, erases and inlines operations, blocks and regions.

use super::{BlockId, InsertionPoint, Module, OpId, Operation, RegionId, ValueDef, ValueId};

impl Module {
    /// Moves an operation to directly before another. Takes constant time.
    pub fn move_before(&mut self, op: OpId, target: OpId) {
        self.insert_op(InsertionPoint::Before(target), op);
    }

    /// Moves an operation to directly after another. Takes constant time.
    pub fn move_after(&mut self, op: OpId, target: OpId) {
        self.insert_op(InsertionPoint::After(target), op);
    }

    /// Erases an operation with everything in its regions. Results that are still used become
    /// undefined values, which [`verify`](crate::verify) reports. The module itself cannot be
    /// erased.
    pub fn erase_op(&mut self, op: OpId) {
        if op == self.root() {
            return;
        }
        self.detach_op(op);
        self.erase_all(vec![op]);
    }

    /// Replaces the results of an operation by `values` in all uses, and erases it.
    pub fn replace_op(&mut self, op: OpId, values: &[ValueId]) {
        for (index, &value) in values.iter().enumerate() {
            if let Some(&result) = self.op(op).results.get(index) {
                self.replace_all_uses(result, value);
            }
        }
        self.erase_op(op);
    }

    /// Removes a block from its region and erases it with its operations.
    pub fn erase_block(&mut self, block: BlockId) {
        self.detach_block(block);
        let ops = self.clear_block(block);
        self.erase_all(ops);
    }

    /// Removes a region from its operation and erases it with everything in it.
    pub fn erase_region(&mut self, region: RegionId) {
        self.detach_region(region);
        let ops = self.clear_region(region);
        self.erase_all(ops);
    }

    /// Removes a block from its region, but keeps it with its operations. Takes time linear in the
    /// region's blocks.
    pub fn detach_block(&mut self, block: BlockId) {
        if let Some(region) = self.blocks[block.index()].parent.take() {
            self.regions[region.index()].blocks.retain(|&other| other != block);
        }
    }

    /// Moves a block to the end of a region.
    pub fn append_block(&mut self, region: RegionId, block: BlockId) {
        self.detach_block(block);
        self.blocks[block.index()].parent = Some(region);
        self.regions[region.index()].blocks.push(block);
    }

    /// Removes a region from its operation, but keeps it with its blocks. Takes time linear in the
    /// operation's regions.
    pub fn detach_region(&mut self, region: RegionId) {
        if let Some(op) = self.regions[region.index()].parent.take() {
            self.ops[op.index()].regions.retain(|&other| other != region);
        }
    }

    /// Makes a region the last one of an operation. It may belong to another operation before.
    pub fn append_region(&mut self, op: OpId, region: RegionId) {
        self.detach_region(region);
        self.regions[region.index()].parent = Some(op);
        self.ops[op.index()].regions.push(region);
    }

    /// Removes an argument from a block. If it is still used it becomes an undefined value, which
    /// [`verify`](crate::verify) reports.
    pub fn remove_argument(&mut self, block: BlockId, index: usize) {
        let removed = self.blocks[block.index()].arguments.remove(index);
        self.values[removed.index()].def = ValueDef::Undefined;
        for (index, value) in (0..).zip(&self.blocks[block.index()].arguments) {
            self.values[value.index()].def = ValueDef::Argument { block, index };
        }
    }

    /// Moves the operations of `block` to a point in another block, with `values` instead of its
    /// arguments, and erases the block. Takes time linear in its operations and the uses of its
    /// arguments.
    ///
    /// The terminator moves too. Most callers erase it, or replace the uses of the outer
    /// operation's results by its operands. Arguments without a value become undefined values if
    /// they are used.
    pub fn inline_block(&mut self, at: InsertionPoint, block: BlockId, values: &[ValueId]) {
        for (index, &value) in values.iter().enumerate() {
            if let Some(&argument) = self.block(block).arguments.get(index) {
                self.replace_all_uses(argument, value);
            }
        }
        let mut at = at;
        while let Some(op) = self.first_op(block) {
            self.insert_op(at, op);
            if self.op(op).parent == Some(block) {
                // The point is in no block, or in this block.
                return;
            }
            at = InsertionPoint::After(op);
        }
        self.erase_block(block);
    }

    /// Inlines a block directly before an operation; see [`Module::inline_block`].
    pub fn inline_block_before(&mut self, op: OpId, block: BlockId, values: &[ValueId]) {
        self.inline_block(InsertionPoint::Before(op), block, values);
    }

    /// Moves all blocks of one region to the end of another, with their operations and arguments.
    pub fn move_blocks(&mut self, from: RegionId, to: RegionId) {
        if from == to {
            return;
        }
        let blocks = std::mem::take(&mut self.regions[from.index()].blocks);
        for &block in &blocks {
            self.blocks[block.index()].parent = Some(to);
        }
        self.regions[to.index()].blocks.extend(blocks);
    }

    /// Erases detached operations and everything in them, without recursion.
    fn erase_all(&mut self, mut stack: Vec<OpId>) {
        while let Some(op) = stack.pop() {
            self.drop_operands(op);
            let operation = &mut self.ops[op.index()];
            operation.is_erased = true;
            operation.attributes = crate::AttrDict::new();
            let results = std::mem::take(&mut operation.results);
            let regions = std::mem::take(&mut operation.regions);
            for result in results {
                self.values[result.index()].def = ValueDef::Undefined;
            }
            for region in regions {
                stack.extend(self.clear_region(region));
            }
        }
    }

    /// Erases the blocks of a detached region and returns its operations.
    fn clear_region(&mut self, region: RegionId) -> Vec<OpId> {
        let region = &mut self.regions[region.index()];
        (region.parent, region.is_erased) = (None, true);
        let blocks = std::mem::take(&mut region.blocks);
        blocks.into_iter().flat_map(|block| self.clear_block(block)).collect()
    }

    /// Erases a detached block and returns its operations, which are detached.
    fn clear_block(&mut self, block: BlockId) -> Vec<OpId> {
        let ops: Vec<OpId> = self.ops_in(block).map(|(op, _)| op).collect();
        for &op in &ops {
            let operation = &mut self.ops[op.index()];
            operation.parent = None;
            operation.links = super::Links::default();
        }
        let block = &mut self.blocks[block.index()];
        (block.parent, block.first, block.last, block.op_count) = (None, None, None, 0);
        block.is_erased = true;
        for argument in std::mem::take(&mut block.arguments) {
            self.values[argument.index()].def = ValueDef::Undefined;
        }
        ops
    }

    /// Replaces the module by its only operation, which is a module itself.
    pub(crate) fn unwrap_inner_module(&mut self, inner: OpId) {
        let root = self.root();
        self.detach_op(inner);
        let Operation { attributes, regions, location, .. } = &mut self.ops[inner.index()];
        let (attributes, regions, location) =
            (std::mem::take(attributes), std::mem::take(regions), location.clone());
        for &region in &regions {
            self.regions[region.index()].parent = Some(root);
        }
        let old = std::mem::replace(&mut self.ops[root.index()].regions, regions);
        for region in old {
            self.clear_region(region);
        }
        self.erase_op(inner);
        let root = self.op_mut(root);
        (*root.attributes, *root.location) = (attributes, location);
    }
}
