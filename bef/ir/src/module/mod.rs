//! A module: arenas that own every operation, block, region and value, and the edits that keep them
//! consistent.
//!
//! Every edit goes through [`Module`], which maintains three invariants. An operation is in the
//! list of uses of each of its operands and of no other value. The operations of a block form one
//! list that ends at the block's last operation. Parents and children refer to each other.
//! [`verify`](crate::verify) checks that edits give a *valid* program, for example that each value
//! is defined before its uses.
//!
//! Ids are plain indices into their module's arenas. An erased element leaves a hole that is never
//! reused, so the meaning of an id never changes. [`Module::compact`] closes the holes and returns
//! the new ids. Using an id of one module in another is a programming error; at worst it panics
//! when indexing.

mod builder;
mod compact;
mod copy;
mod edit;
mod id;
mod op_state;
mod order;
mod uses;

pub use builder::{Builder, InsertionPoint};
pub use compact::IdMaps;
pub use copy::ValueMap;
pub use id::{BlockId, OpId, RegionId, ValueId};
pub use op_state::OpState;
pub use order::BlockOps;
pub use uses::{Use, Uses};

use id::UseId;
use order::Links;
use uses::UseLists;

use crate::{AttrDict, Attribute, Location, Name, Type};

/// An operation: its name, operands, results and attributes. [`Module::op`] returns it for reading;
/// the module changes it.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The full name with its dialect, such as `tfrt.add.i32`; the built-in operations are plain
    /// `module` and `func`.
    pub name: Name,
    /// The values that it uses, in order.
    pub operands: Vec<ValueId>,
    /// The values that it defines, in order.
    pub results: Vec<ValueId>,
    /// The attributes.
    pub attributes: AttrDict,
    /// The regions, in order.
    pub regions: Vec<RegionId>,
    /// The location in the source.
    pub location: Location,
    /// The block that holds the operation. `None` for the module itself, and for detached and
    /// erased operations.
    pub parent: Option<BlockId>,
    links: Links,
    /// The first of its operands' nodes in the lists of uses.
    first_use: Option<UseId>,
    is_erased: bool,
}

impl Operation {
    /// Returns the attribute of this name.
    pub fn attr(&self, name: &str) -> Option<&Attribute> {
        self.attributes.get(name)
    }

    /// Returns the name's dialect: the text before the first dot, or an empty text.
    pub fn dialect(&self) -> &str {
        self.name.split_once('.').map_or("", |(dialect, _)| dialect)
    }
}

/// The parts of an operation that callers may change directly; see [`Module::op_mut`].
#[derive(Debug)]
pub struct OpMut<'a> {
    /// Full name with its dialect.
    pub name: &'a mut Name,
    /// Attributes.
    pub attributes: &'a mut AttrDict,
    /// The location in the source.
    pub location: &'a mut Location,
}

/// The definition of a value.
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
    /// Undefined: the definition was erased, or a name was used but never defined in text that did
    /// not parse.
    Undefined,
}

/// A value with its type and its single definition.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its type.
    pub ty: Type,
    /// The definition.
    pub def: ValueDef,
    first_use: Option<UseId>,
}

/// A list of operations with arguments. TFRT programs have one block per region and no branches.
#[derive(Clone, Debug)]
pub struct Block {
    /// Arguments.
    pub arguments: Vec<ValueId>,
    /// The region that holds the block; `None` for a detached or erased block.
    pub parent: Option<RegionId>,
    first: Option<OpId>,
    last: Option<OpId>,
    op_count: usize,
    is_erased: bool,
}

/// A list of blocks that belongs to an operation.
#[derive(Clone, Debug)]
pub struct Region {
    /// The blocks. The body of an external function has none.
    pub blocks: Vec<BlockId>,
    /// The operation that holds the region; `None` for a detached or erased region.
    pub parent: Option<OpId>,
    is_erased: bool,
}

/// A module and its contents. The module itself is the operation [`Module::root`], named `module`.
#[derive(Clone, Debug)]
pub struct Module {
    ops: Vec<Operation>,
    values: Vec<Value>,
    blocks: Vec<Block>,
    regions: Vec<Region>,
    uses: UseLists,
}

impl Default for Module {
    fn default() -> Module {
        Module::new()
    }
}

impl Module {
    /// Creates an empty module.
    pub fn new() -> Module {
        let mut module = Module {
            ops: Vec::new(),
            values: Vec::new(),
            blocks: Vec::new(),
            regions: Vec::new(),
            uses: UseLists::default(),
        };
        let region = module.create_region();
        module.create_block(region, &[]);
        module.create_op(OpState::new("module").region(region));
        module
    }

    /// Returns the operation that is the module.
    pub fn root(&self) -> OpId {
        OpId::at(0)
    }

    /// Returns the block of top-level operations.
    pub fn body(&self) -> BlockId {
        let region = self.op(self.root()).regions.first();
        region.and_then(|&region| self.entry_block(region)).unwrap_or(BlockId::at(0))
    }

    /// Returns an operation.
    pub fn op(&self, id: OpId) -> &Operation {
        &self.ops[id.index()]
    }

    /// Returns the parts of an operation that callers may change directly. Operands, results,
    /// regions and position change through methods of the module.
    pub fn op_mut(&mut self, id: OpId) -> OpMut<'_> {
        let Operation { name, attributes, location, .. } = &mut self.ops[id.index()];
        OpMut { name, attributes, location }
    }

    /// Returns a value.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// Returns the type of a value.
    pub fn value_type(&self, id: ValueId) -> &Type {
        &self.value(id).ty
    }

    /// Changes the type of a value.
    pub fn set_value_type(&mut self, id: ValueId, ty: Type) {
        self.values[id.index()].ty = ty;
    }

    /// Returns the operation that defines a value, if it is a result.
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        match self.value(value).def {
            ValueDef::Result { op, .. } => Some(op),
            ValueDef::Argument { .. } | ValueDef::Undefined => None,
        }
    }

    /// Returns a block.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// Returns a region.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.index()]
    }

    /// Returns the number of operations ever created. Each [`OpId::index`] is below it, so side
    /// tables can have this size.
    pub fn op_id_count(&self) -> usize {
        self.ops.len()
    }

    /// Returns the number of values ever created. Each [`ValueId::index`] is below it, so side
    /// tables can have this size.
    pub fn value_id_count(&self) -> usize {
        self.values.len()
    }

    /// Returns the number of blocks ever created. Each [`BlockId::index`] is below it, so side
    /// tables can have this size.
    pub fn block_id_count(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the number of regions ever created. Each [`RegionId::index`] is below it, so side
    /// tables can have this size.
    pub fn region_id_count(&self) -> usize {
        self.regions.len()
    }

    /// Returns whether the operation was erased. Its id stays valid and refers to an operation
    /// without operands, results, regions and attributes.
    pub fn is_erased(&self, op: OpId) -> bool {
        self.op(op).is_erased
    }

    /// Returns the types of the operands.
    pub fn operand_types(&self, op: OpId) -> Vec<Type> {
        self.types_of(&self.op(op).operands)
    }

    /// Returns the types of the results.
    pub fn result_types(&self, op: OpId) -> Vec<Type> {
        self.types_of(&self.op(op).results)
    }

    /// Returns the types of values.
    pub fn types_of(&self, values: &[ValueId]) -> Vec<Type> {
        values.iter().map(|&value| self.value_type(value).clone()).collect()
    }

    /// Returns the operation that holds the block of `op`.
    pub fn parent_op(&self, op: OpId) -> Option<OpId> {
        self.block_owner(self.op(op).parent?)
    }

    /// Returns the operation that holds the region of a block.
    pub fn block_owner(&self, block: BlockId) -> Option<OpId> {
        self.region(self.block(block).parent?).parent
    }

    /// Returns whether `inner` is `outer` or is inside one of its regions. Takes time linear in the
    /// nesting.
    pub fn is_inside(&self, inner: OpId, outer: OpId) -> bool {
        std::iter::successors(Some(inner), |&op| self.parent_op(op)).any(|op| op == outer)
    }

    /// Returns the entry block of a region.
    pub fn entry_block(&self, region: RegionId) -> Option<BlockId> {
        self.region(region).blocks.first().copied()
    }

    /// Iterates over all operations inside `op`, including `op`, in program order. Each operation
    /// precedes those in its regions.
    pub fn walk(&self, op: OpId) -> Walk<'_> {
        Walk { module: self, root: op, stack: vec![op] }
    }

    /// Creates a detached operation with new results. It takes over the regions in `state`.
    /// [`Module::append_op`] and [`Module::insert_op`] put it into a block; a [`Builder`] does
    /// both.
    pub fn create_op(&mut self, mut state: OpState) -> OpId {
        let types = std::mem::take(&mut state.result_types);
        let results = types.into_iter().map(|ty| self.undefined_value(ty)).collect();
        self.create_op_with_results(state, results)
    }

    /// Creates an operation whose results exist already, because names were used before their
    /// definition.
    pub(crate) fn create_op_with_results(&mut self, state: OpState, results: Vec<ValueId>) -> OpId {
        let OpState { name, operands, result_types: _, attributes, regions, location } = state;
        let id = OpId::at(self.ops.len());
        for (index, &value) in (0..).zip(&results) {
            self.values[value.index()].def = ValueDef::Result { op: id, index };
        }
        for &region in &regions {
            self.regions[region.index()].parent = Some(id);
        }
        self.ops.push(Operation {
            name,
            operands,
            results,
            attributes,
            regions,
            location,
            parent: None,
            links: Links::default(),
            first_use: None,
            is_erased: false,
        });
        self.link_operands(id);
        id
    }

    /// Creates a value that nothing defines yet.
    pub(crate) fn undefined_value(&mut self, ty: Type) -> ValueId {
        let id = ValueId::at(self.values.len());
        self.values.push(Value { ty, def: ValueDef::Undefined, first_use: None });
        id
    }

    /// Creates an empty region for a later operation.
    pub fn create_region(&mut self) -> RegionId {
        let id = RegionId::at(self.regions.len());
        self.regions.push(Region { blocks: Vec::new(), parent: None, is_erased: false });
        id
    }

    /// Appends a block with arguments of these types to a region.
    pub fn create_block(&mut self, region: RegionId, argument_types: &[Type]) -> BlockId {
        let id = BlockId::at(self.blocks.len());
        self.blocks.push(Block {
            arguments: Vec::new(),
            parent: Some(region),
            first: None,
            last: None,
            op_count: 0,
            is_erased: false,
        });
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

    /// Makes an existing value the next argument of a block.
    pub(crate) fn adopt_argument(&mut self, block: BlockId, value: ValueId) {
        let arguments = &mut self.blocks[block.index()].arguments;
        let index = u32::try_from(arguments.len()).unwrap_or(u32::MAX);
        arguments.push(value);
        self.values[value.index()].def = ValueDef::Argument { block, index };
    }
}

/// An iterator over nested operations; see [`Module::walk`].
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    module: &'a Module,
    root: OpId,
    /// The next operations, the nearest last: at most one per block that is being walked.
    stack: Vec<OpId>,
}

impl Iterator for Walk<'_> {
    type Item = OpId;

    fn next(&mut self) -> Option<OpId> {
        let op = self.stack.pop()?;
        if op != self.root {
            self.stack.extend(self.module.next_op(op));
        }
        for &region in self.module.op(op).regions.iter().rev() {
            for &block in self.module.region(region).blocks.iter().rev() {
                self.stack.extend(self.module.first_op(block));
            }
        }
        Some(op)
    }
}
