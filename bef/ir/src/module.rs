//! A module: arenas that own every operation, block, region and value, and the edits that keep them consistent.
//!
//! Ids are plain indices into their module's arenas. Removed operations leave a hole that is never reused, so an id
//! never comes to mean something else. Using an id of one module in another is a programming error and panics at
//! worst by index.

use crate::{AttrDict, Attribute, Location, Name, Type};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Position in the arena: dense from 0, so usable as a key into a side table.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            fn next(len: usize) -> $name {
                // Sources are bounded well below 2^32 bytes and no parse makes more objects than bytes.
                $name(u32::try_from(len).unwrap_or(u32::MAX))
            }
        }
    };
}

id!(
    /// An operation of a [`Module`].
    OpId
);
id!(
    /// A value of a [`Module`]: a result of an operation or an argument of a block.
    ValueId
);
id!(
    /// A region of a [`Module`].
    RegionId
);
id!(
    /// A block of a [`Module`].
    BlockId
);

/// An operation: a name, what it uses and what it makes.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Full name with its dialect, `tfrt.add.i32`; of the built-in ops plain `module` and `func`.
    pub name: Name,
    /// Values used, in order.
    pub operands: Vec<ValueId>,
    /// Values made, in order.
    pub results: Vec<ValueId>,
    /// Attributes.
    pub attributes: AttrDict,
    /// Regions, in order.
    pub regions: Vec<RegionId>,
    /// Where it stands in the source.
    pub location: Location,
    /// The block that holds it; `None` for the module itself and for removed operations.
    pub parent: Option<BlockId>,
}

impl Operation {
    /// The attribute of this name.
    pub fn attr(&self, name: &str) -> Option<&Attribute> {
        self.attributes.get(name)
    }

    /// The name's dialect: the text before the first dot, or the empty string.
    pub fn dialect(&self) -> &str {
        self.name.split_once('.').map_or("", |(dialect, _)| dialect)
    }
}

/// What makes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// A result of an operation.
    Result {
        /// The operation.
        op: OpId,
        /// Which of its results.
        index: u32,
    },
    /// An argument of a block.
    Argument {
        /// The block.
        block: BlockId,
        /// Which of its arguments.
        index: u32,
    },
    /// Nothing: a name used but never defined, in text that did not parse.
    Undefined,
}

/// A value: its type and its one definition.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its type.
    pub ty: Type,
    /// What makes it.
    pub def: ValueDef,
}

/// A list of operations with arguments. TFRT programs have one block per region and no branches.
#[derive(Clone, Debug)]
pub struct Block {
    /// Arguments.
    pub arguments: Vec<ValueId>,
    /// Operations in program order.
    pub ops: Vec<OpId>,
    /// The region that holds it.
    pub parent: RegionId,
}

/// A list of blocks belonging to an operation.
#[derive(Clone, Debug)]
pub struct Region {
    /// The blocks; none for the body of an external function.
    pub blocks: Vec<BlockId>,
    /// The operation that holds it; `None` while it is being built.
    pub parent: Option<OpId>,
}

/// What to make an operation of; see [`Module::create_op`].
#[derive(Clone, Debug)]
pub struct OpState {
    /// Full name.
    pub name: Name,
    /// Values used.
    pub operands: Vec<ValueId>,
    /// Types of the results.
    pub result_types: Vec<Type>,
    /// Attributes.
    pub attributes: AttrDict,
    /// Regions made with [`Module::create_region`].
    pub regions: Vec<RegionId>,
    /// Where it stands.
    pub location: Location,
}

impl OpState {
    /// An operation of this name with nothing else, at an unknown location.
    pub fn new(name: impl Into<Name>) -> OpState {
        OpState {
            name: name.into(),
            operands: Vec::new(),
            result_types: Vec::new(),
            attributes: AttrDict::new(),
            regions: Vec::new(),
            location: Location::Unknown,
        }
    }

    /// With these operands.
    #[must_use]
    pub fn operands(mut self, operands: impl Into<Vec<ValueId>>) -> OpState {
        self.operands = operands.into();
        self
    }

    /// With results of these types.
    #[must_use]
    pub fn results(mut self, types: impl Into<Vec<Type>>) -> OpState {
        self.result_types = types.into();
        self
    }

    /// With one more attribute.
    #[must_use]
    pub fn attr(mut self, name: impl Into<Name>, value: Attribute) -> OpState {
        self.attributes.set(name, value);
        self
    }

    /// With one more region.
    #[must_use]
    pub fn region(mut self, region: RegionId) -> OpState {
        self.regions.push(region);
        self
    }

    /// At this location.
    #[must_use]
    pub fn at(mut self, location: Location) -> OpState {
        self.location = location;
        self
    }
}

/// A module and all it contains. The module itself is the operation [`Module::root`], named `module`.
#[derive(Clone, Debug)]
pub struct Module {
    ops: Vec<Operation>,
    values: Vec<Value>,
    blocks: Vec<Block>,
    regions: Vec<Region>,
}

impl Default for Module {
    fn default() -> Module {
        Module::new()
    }
}

impl Module {
    /// An empty module.
    pub fn new() -> Module {
        let mut module =
            Module { ops: Vec::new(), values: Vec::new(), blocks: Vec::new(), regions: Vec::new() };
        let region = module.create_region();
        module.create_block(region, &[]);
        module.create_op(OpState::new("module").region(region));
        module
    }

    /// The operation that is the module.
    pub fn root(&self) -> OpId {
        OpId(0)
    }

    /// The block of top-level operations.
    pub fn body(&self) -> BlockId {
        self.op(self.root())
            .regions
            .first()
            .and_then(|&region| self.entry_block(region))
            .unwrap_or(BlockId(0))
    }

    /// An operation.
    pub fn op(&self, id: OpId) -> &Operation {
        &self.ops[id.index()]
    }

    /// An operation, for changes of name, attributes, operands or location. Regions and results are changed through
    /// the module.
    pub fn op_mut(&mut self, id: OpId) -> &mut Operation {
        &mut self.ops[id.index()]
    }

    /// A value.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// The type of a value.
    pub fn value_type(&self, id: ValueId) -> &Type {
        &self.value(id).ty
    }

    /// Changes the type of a value.
    pub fn set_value_type(&mut self, id: ValueId, ty: Type) {
        self.values[id.index()].ty = ty;
    }

    /// A block.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// A region.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.index()]
    }

    /// How many operations were ever made: an upper bound of [`OpId::index`], for side tables.
    pub fn num_ops(&self) -> usize {
        self.ops.len()
    }

    /// How many values were ever made: an upper bound of [`ValueId::index`], for side tables.
    pub fn num_values(&self) -> usize {
        self.values.len()
    }

    /// How many blocks were ever made: an upper bound of [`BlockId::index`], for side tables.
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Types of the operands.
    pub fn operand_types(&self, op: OpId) -> Vec<Type> {
        self.types_of(&self.op(op).operands)
    }

    /// Types of the results.
    pub fn result_types(&self, op: OpId) -> Vec<Type> {
        self.types_of(&self.op(op).results)
    }

    /// Types of values.
    pub fn types_of(&self, values: &[ValueId]) -> Vec<Type> {
        values.iter().map(|&value| self.value_type(value).clone()).collect()
    }

    /// The operation whose region holds `op`.
    pub fn parent_op(&self, op: OpId) -> Option<OpId> {
        self.region(self.block(self.op(op).parent?).parent).parent
    }

    /// The operations of `block`, in order.
    pub fn ops_in(
        &self,
        block: BlockId,
    ) -> impl DoubleEndedIterator<Item = (OpId, &Operation)> + ExactSizeIterator {
        self.block(block).ops.iter().map(|&id| (id, self.op(id)))
    }

    /// The entry block of a region.
    pub fn entry_block(&self, region: RegionId) -> Option<BlockId> {
        self.region(region).blocks.first().copied()
    }

    /// All operations inside `op`, itself first, each before those in its regions, in program order.
    pub fn walk(&self, op: OpId) -> Walk<'_> {
        Walk { module: self, stack: vec![op] }
    }

    /// Makes a detached operation with fresh results; its regions become its own. Put it somewhere with
    /// [`Module::append_op`] or [`Module::insert_op`].
    pub fn create_op(&mut self, mut state: OpState) -> OpId {
        let types = std::mem::take(&mut state.result_types);
        let results = types.into_iter().map(|ty| self.undefined_value(ty)).collect();
        self.create_op_with_results(state, results)
    }

    /// Makes an operation whose results are values made before, as when a name was used before its definition.
    pub(crate) fn create_op_with_results(&mut self, op: OpState, results: Vec<ValueId>) -> OpId {
        let OpState { name, operands, result_types: _, attributes, regions, location } = op;
        let op = Operation { name, operands, results, attributes, regions, location, parent: None };
        let id = OpId::next(self.ops.len());
        for (index, &value) in (0..).zip(&op.results) {
            self.values[value.index()].def = ValueDef::Result { op: id, index };
        }
        for &region in &op.regions {
            self.regions[region.index()].parent = Some(id);
        }
        self.ops.push(op);
        id
    }

    /// A value that nothing defines yet.
    pub(crate) fn undefined_value(&mut self, ty: Type) -> ValueId {
        let id = ValueId::next(self.values.len());
        self.values.push(Value { ty, def: ValueDef::Undefined });
        id
    }

    /// Makes an empty region, to be given to an operation.
    pub fn create_region(&mut self) -> RegionId {
        let id = RegionId::next(self.regions.len());
        self.regions.push(Region { blocks: Vec::new(), parent: None });
        id
    }

    /// Appends a block with arguments of these types to a region.
    pub fn create_block(&mut self, region: RegionId, argument_types: &[Type]) -> BlockId {
        let id = BlockId::next(self.blocks.len());
        self.blocks.push(Block { arguments: Vec::new(), ops: Vec::new(), parent: region });
        self.regions[region.index()].blocks.push(id);
        for ty in argument_types {
            self.add_argument(id, ty.clone());
        }
        id
    }

    /// Appends an argument to a block.
    pub fn add_argument(&mut self, block: BlockId, ty: Type) -> ValueId {
        let value = self.undefined_value(ty);
        self.adopt_argument(block, value);
        value
    }

    /// Makes a value made before the next argument of a block.
    pub(crate) fn adopt_argument(&mut self, block: BlockId, value: ValueId) {
        let arguments = &mut self.blocks[block.index()].arguments;
        let index = u32::try_from(arguments.len()).unwrap_or(u32::MAX);
        arguments.push(value);
        self.values[value.index()].def = ValueDef::Argument { block, index };
    }

    /// Puts a detached operation at the end of a block.
    pub fn append_op(&mut self, block: BlockId, op: OpId) {
        self.ops[op.index()].parent = Some(block);
        self.blocks[block.index()].ops.push(op);
    }

    /// Puts a detached operation into a block before the operation at `position`. Linear in the block's length.
    pub fn insert_op(&mut self, block: BlockId, position: usize, op: OpId) {
        self.ops[op.index()].parent = Some(block);
        let ops = &mut self.blocks[block.index()].ops;
        ops.insert(position.min(ops.len()), op);
    }

    /// Takes an operation out of its block, keeping it and its regions. Uses of its results stay as they are: the
    /// caller replaces them first.
    pub fn detach_op(&mut self, op: OpId) {
        if let Some(block) = self.ops[op.index()].parent.take() {
            self.blocks[block.index()].ops.retain(|&other| other != op);
        }
    }

    /// Replaces the operations of a block by a permutation, subset or superset of detached and own operations.
    pub fn set_block_ops(&mut self, block: BlockId, ops: Vec<OpId>) {
        for &op in &self.blocks[block.index()].ops {
            self.ops[op.index()].parent = None;
        }
        for &op in &ops {
            self.ops[op.index()].parent = Some(block);
        }
        self.blocks[block.index()].ops = ops;
    }

    /// Makes the module what its only operation, itself a module, is.
    pub(crate) fn unwrap_inner_module(&mut self, inner: OpId) {
        let root = self.root();
        let Operation { attributes, regions, location, .. } = self.op(inner).clone();
        for &region in &regions {
            self.regions[region.index()].parent = Some(root);
        }
        self.detach_op(inner);
        let root = self.op_mut(root);
        (root.attributes, root.regions, root.location) = (attributes, regions, location);
    }

    /// Makes every operation that uses `from` use `to` instead. Linear in the module.
    pub fn replace_all_uses(&mut self, from: ValueId, to: ValueId) {
        for op in &mut self.ops {
            for operand in &mut op.operands {
                if *operand == from {
                    *operand = to;
                }
            }
        }
    }
}

/// Iterator of [`Module::walk`].
#[derive(Debug)]
pub struct Walk<'a> {
    module: &'a Module,
    stack: Vec<OpId>,
}

impl Iterator for Walk<'_> {
    type Item = OpId;

    fn next(&mut self) -> Option<OpId> {
        let op = self.stack.pop()?;
        for &region in self.module.op(op).regions.iter().rev() {
            for &block in self.module.region(region).blocks.iter().rev() {
                self.stack.extend(self.module.block(block).ops.iter().rev());
            }
        }
        Some(op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_keep_parents_and_definitions() {
        let mut module = Module::new();
        let a = module.create_op(OpState::new("a").results([Type::int(32)]));
        module.append_op(module.body(), a);
        let value = module.op(a).results[0];
        assert_eq!(module.value(value).def, ValueDef::Result { op: a, index: 0 });
        let user = module.create_op(OpState::new("user").operands([value]));
        module.insert_op(module.body(), 0, user);
        let other = module.create_op(OpState::new("b").results([Type::int(32)]));
        module.insert_op(module.body(), 0, other);
        module.replace_all_uses(value, module.op(other).results[0]);
        module.detach_op(a);
        let names: Vec<&str> = module.walk(module.root()).map(|op| module.op(op).name.as_str()).collect();
        assert_eq!(names, ["module", "b", "user"]);
        assert_eq!(module.op(user).operands, module.op(other).results);
        assert_eq!(module.parent_op(user), Some(module.root()));
        assert_eq!(module.op(a).parent, None);
    }
}
