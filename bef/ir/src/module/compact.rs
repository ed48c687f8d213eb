//! Closes the holes that erased operations leave.

use super::uses::UseLists;
use super::{Block, BlockId, Module, OpId, Operation, Region, RegionId, Value, ValueDef, ValueId};

/// The new ids after a compaction.
#[derive(Clone, Debug)]
pub struct IdMaps {
    ops: Vec<Option<OpId>>,
    values: Vec<Option<ValueId>>,
    blocks: Vec<Option<BlockId>>,
    regions: Vec<Option<RegionId>>,
}

impl IdMaps {
    /// Returns the new id of an operation, or `None` if it was erased.
    pub fn op(&self, old: OpId) -> Option<OpId> {
        self.ops.get(old.index()).copied().flatten()
    }

    /// Returns the new id of a value, or `None` if nothing defined or used it.
    pub fn value(&self, old: ValueId) -> Option<ValueId> {
        self.values.get(old.index()).copied().flatten()
    }

    /// Returns the new id of a block, or `None` if it was erased.
    pub fn block(&self, old: BlockId) -> Option<BlockId> {
        self.blocks.get(old.index()).copied().flatten()
    }

    /// Returns the new id of a region, or `None` if it was erased.
    pub fn region(&self, old: RegionId) -> Option<RegionId> {
        self.regions.get(old.index()).copied().flatten()
    }

    fn value_list(&self, list: &mut [ValueId]) {
        for value in list {
            // Used values are never dropped.
            *value = self.value(*value).unwrap_or(*value);
        }
    }
}

/// Numbers the elements that are kept.
fn renumber<T, Id>(arena: &[T], is_kept: impl Fn(&T) -> bool, id: impl Fn(usize) -> Id) -> Vec<Option<Id>> {
    let mut count = 0;
    let mut next = |element: &T| {
        let new = is_kept(element).then(|| id(count));
        count += usize::from(new.is_some());
        new
    };
    arena.iter().map(&mut next).collect()
}

fn retain<T, Id>(arena: &mut Vec<T>, ids: &[Option<Id>]) {
    let mut ids = ids.iter();
    arena.retain(|_| ids.next().is_some_and(Option::is_some));
    arena.shrink_to_fit();
}

impl Module {
    /// Renumbers operations, values, blocks and regions so that erased ones occupy no ids or
    /// memory, and returns the new ids. Ids keep their order, and detached operations are kept.
    /// Takes time linear in the module.
    pub fn compact(&mut self) -> IdMaps {
        let maps = IdMaps {
            ops: renumber(&self.ops, |op| !op.is_erased, OpId::at),
            values: renumber(
                &self.values,
                |value| value.def != ValueDef::Undefined || value.first_use.is_some(),
                ValueId::at,
            ),
            blocks: renumber(&self.blocks, |block| !block.is_erased, BlockId::at),
            regions: renumber(&self.regions, |region| !region.is_erased, RegionId::at),
        };
        retain(&mut self.ops, &maps.ops);
        retain(&mut self.values, &maps.values);
        retain(&mut self.blocks, &maps.blocks);
        retain(&mut self.regions, &maps.regions);
        for value in &mut self.values {
            let Value { ty: _, def, first_use } = value;
            *first_use = None;
            *def = match *def {
                ValueDef::Result { op, index } => {
                    maps.op(op).map_or(ValueDef::Undefined, |op| ValueDef::Result { op, index })
                }
                ValueDef::Argument { block, index } => {
                    maps.block(block).map_or(ValueDef::Undefined, |block| ValueDef::Argument { block, index })
                }
                ValueDef::Undefined => ValueDef::Undefined,
            };
        }
        for block in &mut self.blocks {
            let Block { arguments, parent, first, last, op_count: _, is_erased: _ } = block;
            maps.value_list(arguments);
            *parent = parent.and_then(|region| maps.region(region));
            *first = first.and_then(|op| maps.op(op));
            *last = last.and_then(|op| maps.op(op));
        }
        for region in &mut self.regions {
            let Region { blocks, parent, is_erased: _ } = region;
            *blocks = blocks.iter().filter_map(|&block| maps.block(block)).collect();
            *parent = parent.and_then(|op| maps.op(op));
        }
        self.uses = UseLists::default();
        for index in 0..self.ops.len() {
            let Operation { operands, results, regions, parent, links, .. } = &mut self.ops[index];
            maps.value_list(operands);
            maps.value_list(results);
            *regions = regions.iter().filter_map(|&region| maps.region(region)).collect();
            *parent = parent.and_then(|block| maps.block(block));
            links.prev = links.prev.and_then(|op| maps.op(op));
            links.next = links.next.and_then(|op| maps.op(op));
            self.link_operands(OpId::at(index));
        }
        maps
    }
}
