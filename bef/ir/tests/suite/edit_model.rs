//! A naive model of a module: lists, in which everything is found by search.

use tfrt_ir::{BlockId, InsertionPoint, Module, OpId, RegionId, Use, ValueDef, ValueId};

/// An operation as the model sees it.
#[derive(Clone, Debug)]
pub(crate) struct ModelOp {
    pub(crate) id: OpId,
    pub(crate) operands: Vec<ValueId>,
    pub(crate) results: Vec<ValueId>,
    pub(crate) regions: Vec<RegionId>,
}

#[derive(Clone, Debug)]
pub(crate) struct ModelBlock {
    pub(crate) id: BlockId,
    pub(crate) arguments: Vec<ValueId>,
    pub(crate) ops: Vec<OpId>,
}

#[derive(Clone, Debug)]
pub(crate) struct ModelRegion {
    pub(crate) id: RegionId,
    pub(crate) blocks: Vec<BlockId>,
}

/// What a module should hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) ops: Vec<ModelOp>,
    pub(crate) blocks: Vec<ModelBlock>,
    pub(crate) regions: Vec<ModelRegion>,
}

impl Model {
    /// Reads operation `id` and all in it from a module, where it has just been created.
    pub(crate) fn learn(&mut self, module: &Module, id: OpId) {
        for id in module.walk(id) {
            let op = module.op(id);
            for &region in &op.regions {
                self.learn_region(module, region);
            }
            self.ops.push(ModelOp {
                id,
                operands: op.operands.clone(),
                results: op.results.clone(),
                regions: op.regions.clone(),
            });
        }
    }

    pub(crate) fn learn_region(&mut self, module: &Module, region: RegionId) {
        let blocks = module.region(region).blocks.clone();
        for &id in &blocks {
            let ops = module.ops_in(id).map(|(op, _)| op).collect();
            self.blocks.push(ModelBlock { id, arguments: module.block(id).arguments.clone(), ops });
        }
        self.regions.push(ModelRegion { id: region, blocks });
    }

    pub(crate) fn op(&mut self, id: OpId) -> &mut ModelOp {
        self.ops.iter_mut().find(|op| op.id == id).expect("a known operation")
    }

    pub(crate) fn block(&mut self, id: BlockId) -> &mut ModelBlock {
        self.blocks.iter_mut().find(|block| block.id == id).expect("a known block")
    }

    pub(crate) fn parent(&self, op: OpId) -> Option<BlockId> {
        self.blocks.iter().find(|block| block.ops.contains(&op)).map(|block| block.id)
    }

    pub(crate) fn region_of(&self, block: BlockId) -> Option<RegionId> {
        self.regions.iter().find(|region| region.blocks.contains(&block)).map(|region| region.id)
    }

    pub(crate) fn owner(&self, region: RegionId) -> Option<OpId> {
        self.ops.iter().find(|op| op.regions.contains(&region)).map(|op| op.id)
    }

    /// Whether `block` is inside `op`.
    pub(crate) fn holds(&self, op: OpId, block: BlockId) -> bool {
        match self.region_of(block).and_then(|region| self.owner(region)) {
            Some(owner) if owner == op => true,
            Some(owner) => self.parent(owner).is_some_and(|block| self.holds(op, block)),
            None => false,
        }
    }

    pub(crate) fn uses(&self, value: ValueId) -> Vec<Use> {
        let mut uses = Vec::new();
        for op in &self.ops {
            for (index, &operand) in op.operands.iter().enumerate() {
                if operand == value {
                    uses.push(Use { op: op.id, index });
                }
            }
        }
        uses.sort();
        uses
    }

    pub(crate) fn replace(&mut self, from: ValueId, to: ValueId, is_wanted: impl Fn(Use) -> bool) {
        for found in self.uses(from).into_iter().filter(|&found| is_wanted(found)) {
            self.op(found.op).operands[found.index] = to;
        }
    }

    pub(crate) fn detach(&mut self, op: OpId) {
        for block in &mut self.blocks {
            block.ops.retain(|&other| other != op);
        }
    }

    pub(crate) fn insert(&mut self, at: InsertionPoint, op: OpId) {
        let block = match at {
            InsertionPoint::Before(target) | InsertionPoint::After(target) if target == op => return,
            InsertionPoint::Before(target) | InsertionPoint::After(target) => self.parent(target),
            InsertionPoint::Start(block) | InsertionPoint::End(block) => Some(block),
        };
        let Some(block) = block else { return };
        self.detach(op);
        let ops = &mut self.block(block).ops;
        let find = |target| ops.iter().position(|&other| other == target).expect("it is in this block");
        let index = match at {
            InsertionPoint::Before(target) => find(target),
            InsertionPoint::After(target) => find(target) + 1,
            InsertionPoint::Start(_) => 0,
            InsertionPoint::End(_) => ops.len(),
        };
        ops.insert(index, op);
    }

    pub(crate) fn erase(&mut self, op: OpId) {
        self.detach(op);
        for region in self.op(op).regions.clone() {
            self.erase_region(region);
        }
        self.ops.retain(|other| other.id != op);
    }

    pub(crate) fn erase_region(&mut self, region: RegionId) {
        let found = self.regions.iter().position(|other| other.id == region).expect("a known region");
        for block in self.regions[found].blocks.clone() {
            self.erase_block(block);
        }
        self.regions.retain(|other| other.id != region);
        for op in &mut self.ops {
            op.regions.retain(|&other| other != region);
        }
    }

    pub(crate) fn erase_block(&mut self, block: BlockId) {
        for op in self.block(block).ops.clone() {
            self.erase(op);
        }
        self.blocks.retain(|other| other.id != block);
        for region in &mut self.regions {
            region.blocks.retain(|&other| other != block);
        }
    }

    /// The nested operations of `op` in the order of [`Module::walk`].
    pub(crate) fn walk(&self, op: OpId, order: &mut Vec<OpId>) {
        order.push(op);
        let Some(found) = self.ops.iter().find(|other| other.id == op) else { return };
        for region in &found.regions {
            let region = self.regions.iter().find(|other| other.id == *region).expect("a known region");
            for block in &region.blocks {
                let block = self.blocks.iter().find(|other| other.id == *block).expect("a known block");
                for &op in &block.ops {
                    self.walk(op, order);
                }
            }
        }
    }

    /// Compares everything with the module; `values` are those to compare the uses of.
    pub(crate) fn check(&self, module: &Module, values: &[ValueId]) {
        for op in &self.ops {
            let found = module.op(op.id);
            assert_eq!((&found.operands, &found.results), (&op.operands, &op.results));
            assert_eq!(found.regions, op.regions);
            assert_eq!(found.parent, self.parent(op.id));
            assert!(!module.is_erased(op.id));
            for (index, &result) in (0..).zip(&op.results) {
                assert_eq!(module.value(result).def, ValueDef::Result { op: op.id, index });
            }
        }
        for region in &self.regions {
            assert_eq!(module.region(region.id).blocks, region.blocks);
            assert_eq!(module.region(region.id).parent, self.owner(region.id));
        }
        for block in &self.blocks {
            assert_eq!(module.block(block.id).arguments, block.arguments);
            assert_eq!(module.block(block.id).parent, self.region_of(block.id));
            for (index, &argument) in (0..).zip(&block.arguments) {
                assert_eq!(module.value(argument).def, ValueDef::Argument { block: block.id, index });
            }
            self.check_order(module, block);
        }
        for &value in values {
            let mut uses: Vec<Use> = module.uses_of(value).collect();
            uses.sort();
            assert_eq!(uses, self.uses(value), "uses of {value:?}");
            assert_eq!(module.has_uses(value), !uses.is_empty());
            assert_eq!(module.has_one_use(value), uses.len() == 1);
        }
        let mut order = Vec::new();
        self.walk(module.root(), &mut order);
        assert_eq!(module.walk(module.root()).collect::<Vec<_>>(), order);
    }

    fn check_order(&self, module: &Module, block: &ModelBlock) {
        let ids = |(op, _)| op;
        assert_eq!(module.ops_in(block.id).map(ids).collect::<Vec<_>>(), block.ops);
        assert_eq!(
            module.ops_in(block.id).rev().map(ids).collect::<Vec<_>>(),
            block.ops.iter().rev().copied().collect::<Vec<_>>()
        );
        assert_eq!(module.op_count(block.id), block.ops.len());
        assert_eq!(module.first_op(block.id), block.ops.first().copied());
        assert_eq!(module.last_op(block.id), block.ops.last().copied());
        for (i, &a) in block.ops.iter().enumerate() {
            assert_eq!(module.next_op(a), block.ops.get(i + 1).copied());
            assert_eq!(module.prev_op(a), i.checked_sub(1).map(|i| block.ops[i]));
            for (j, &b) in block.ops.iter().enumerate() {
                assert_eq!(module.is_before(a, b), i < j, "{a:?} before {b:?}");
            }
        }
    }
}
