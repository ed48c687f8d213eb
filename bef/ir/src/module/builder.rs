//! Creates operations at a point of a block.

use super::{BlockId, Module, OpId, OpState, ValueId};
use crate::{Location, Type};

/// A place in a block between two operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertionPoint {
    /// Directly before this operation.
    Before(OpId),
    /// Directly after this operation.
    After(OpId),
    /// Before the first operation of this block.
    Start(BlockId),
    /// After the last operation of this block.
    End(BlockId),
}

/// Creates operations one after another, starting at a point, with one location.
///
/// ```
/// use tfrt_ir::{Builder, InsertionPoint, Module, OpState, Type};
///
/// let mut module = Module::new();
/// let body = module.body();
/// let mut builder = Builder::new(&mut module, InsertionPoint::Start(body));
/// let one = builder.create_value(OpState::new("my.one"), Type::int(32));
/// builder.create(OpState::new("my.print").operands([one]));
/// let names: Vec<&str> = module.ops_in(body).map(|(_, op)| op.name.as_str()).collect();
/// assert_eq!(names, ["my.one", "my.print"]);
/// ```
#[derive(Debug)]
pub struct Builder<'m> {
    module: &'m mut Module,
    point: InsertionPoint,
    location: Location,
}

impl<'m> Builder<'m> {
    /// Creates a builder for operations at a point, with an unknown location.
    pub fn new(module: &'m mut Module, point: InsertionPoint) -> Builder<'m> {
        Builder { module, point, location: Location::Unknown }
    }

    /// Creates a builder for operations before `op`, with its location.
    pub fn before(module: &'m mut Module, op: OpId) -> Builder<'m> {
        let location = module.op(op).location.clone();
        Builder { module, point: InsertionPoint::Before(op), location }
    }

    /// Creates a builder for operations after `op`, with its location.
    pub fn after(module: &'m mut Module, op: OpId) -> Builder<'m> {
        let location = module.op(op).location.clone();
        Builder { module, point: InsertionPoint::After(op), location }
    }

    /// Returns the module.
    pub fn module(&mut self) -> &mut Module {
        self.module
    }

    /// Returns the point at which the next operation is inserted.
    pub fn point(&self) -> InsertionPoint {
        self.point
    }

    /// Changes the point.
    pub fn set_point(&mut self, point: InsertionPoint) {
        self.point = point;
    }

    /// Changes the location of later operations.
    pub fn set_location(&mut self, location: Location) {
        self.location = location;
    }

    /// Creates an operation. It receives the builder's location unless `state` has one.
    pub fn create(&mut self, mut state: OpState) -> OpId {
        if state.location == Location::Unknown {
            state.location = self.location.clone();
        }
        let op = self.module.create_op(state);
        self.module.insert_op(self.point, op);
        match self.point {
            InsertionPoint::Start(_) | InsertionPoint::After(_) => self.point = InsertionPoint::After(op),
            InsertionPoint::Before(_) | InsertionPoint::End(_) => {}
        }
        op
    }

    /// Creates an operation with exactly one result, of type `ty`, and returns the result.
    pub fn create_value(&mut self, mut state: OpState, ty: Type) -> ValueId {
        state.result_types = vec![ty];
        let op = self.create(state);
        self.module.op(op).results[0]
    }
}
