//! Copies operations and regions within a module.

use std::collections::HashMap;

use super::{BlockId, Module, OpId, OpState, RegionId, ValueId};

/// Replacements for the operands of a copy. A value without an entry stands for itself.
#[derive(Clone, Debug, Default)]
pub struct ValueMap {
    replacements: HashMap<ValueId, ValueId>,
}

impl ValueMap {
    /// Creates a map in which every value stands for itself.
    pub fn new() -> ValueMap {
        ValueMap::default()
    }

    /// Makes `to` the replacement of `from`.
    pub fn insert(&mut self, from: ValueId, to: ValueId) {
        self.replacements.insert(from, to);
    }

    /// Returns the replacement of a value, or the value itself if it has none.
    pub fn get(&self, value: ValueId) -> ValueId {
        self.replacements.get(&value).copied().unwrap_or(value)
    }
}

impl Module {
    /// Copies an operation with everything in its regions, and returns the detached copy.
    ///
    /// `map` replaces operands, even values defined later in the text. For each result and block
    /// argument of the original, the copy becomes the entry in `map`.
    pub fn clone_op(&mut self, op: OpId, map: &mut ValueMap) -> OpId {
        let copy = self.clone_alone(op, map);
        self.clone_regions(vec![(op, copy)], map);
        copy
    }

    /// Copies a region with everything in it, and returns the detached copy; see
    /// [`Module::clone_op`].
    pub fn clone_region(&mut self, region: RegionId, map: &mut ValueMap) -> RegionId {
        let copy = self.create_region();
        let mut ops = Vec::new();
        self.clone_blocks(region, copy, map, &mut ops);
        self.clone_regions(ops, map);
        copy
    }

    /// Copies the operations of a block to the end of another one; see [`Module::clone_op`]. `map`
    /// gives the replacements of the block's arguments.
    pub fn clone_ops_of(&mut self, from: BlockId, to: BlockId, map: &mut ValueMap) {
        let originals: Vec<OpId> = self.ops_in(from).map(|(op, _)| op).collect();
        let copies: Vec<(OpId, OpId)> =
            originals.into_iter().map(|op| (op, self.clone_alone(op, map))).collect();
        self.clone_regions(copies.clone(), map);
        // Appended after everything is copied, because `to` may be inside one of the originals.
        for (_, copy) in copies {
            self.append_op(to, copy);
        }
    }

    /// Copies regions and operands to copied operations that lack both. An operand may be a later
    /// result, so operands are set when everything is copied.
    fn clone_regions(&mut self, mut copies: Vec<(OpId, OpId)>, map: &mut ValueMap) {
        let mut done = 0;
        while let Some(&(op, copy)) = copies.get(done) {
            for region in self.op(op).regions.clone() {
                let region_copy = self.create_region();
                self.append_region(copy, region_copy);
                self.clone_blocks(region, region_copy, map, &mut copies);
            }
            done += 1;
        }
        for (op, copy) in copies {
            let operands: Vec<ValueId> = self.op(op).operands.iter().map(|&value| map.get(value)).collect();
            self.set_operands(copy, operands);
        }
    }

    /// Copies the blocks of a region, and their operations without operands and regions, which it
    /// adds to `copies`.
    fn clone_blocks(
        &mut self,
        from: RegionId,
        to: RegionId,
        map: &mut ValueMap,
        copies: &mut Vec<(OpId, OpId)>,
    ) {
        for block in self.region(from).blocks.clone() {
            let arguments = self.block(block).arguments.clone();
            let block_copy = self.create_block(to, &self.types_of(&arguments));
            for (argument, &argument_copy) in arguments.into_iter().zip(&self.block(block_copy).arguments) {
                map.insert(argument, argument_copy);
            }
            let ops: Vec<OpId> = self.ops_in(block).map(|(op, _)| op).collect();
            for op in ops {
                let copy = self.clone_alone(op, map);
                self.append_op(block_copy, copy);
                copies.push((op, copy));
            }
        }
    }

    /// Copies an operation without its operands and regions.
    fn clone_alone(&mut self, op: OpId, map: &mut ValueMap) -> OpId {
        let original = self.op(op);
        let state = OpState {
            name: original.name.clone(),
            operands: Vec::new(),
            result_types: self.result_types(op),
            attributes: original.attributes.clone(),
            regions: Vec::new(),
            location: original.location.clone(),
        };
        let copy = self.create_op(state);
        for (&result, &result_copy) in self.op(op).results.iter().zip(&self.op(copy).results) {
            map.insert(result, result_copy);
        }
        copy
    }
}
