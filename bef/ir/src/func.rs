//! Functions: a view of `func` operations. It holds no data.

use crate::{
    Attribute, BlockId, FunctionType, Location, Module, Name, OpId, OpState, RegionId, Type, ValueId,
};

/// The name of the function operation, also for text with `func.func`.
pub const FUNC: &str = "func";
/// The attribute that names a symbol.
pub const SYM_NAME: &str = "sym_name";
/// The attribute that is `"private"` for symbols hidden from other modules.
pub const SYM_VISIBILITY: &str = "sym_visibility";
/// The attribute with the type of a function.
pub const FUNC_TYPE: &str = "type";

/// A view of a `func` operation.
#[derive(Clone, Copy, Debug)]
pub struct Func<'a> {
    module: &'a Module,
    op: OpId,
}

impl<'a> Func<'a> {
    /// Returns the operation.
    pub fn op(&self) -> OpId {
        self.op
    }

    /// Returns the name without `@`, or an empty text if there is none.
    pub fn name(&self) -> &'a str {
        self.module.op(self.op).attr(SYM_NAME).and_then(Attribute::as_str).unwrap_or_default()
    }

    /// Returns the type, or `None` if the operation has no function type, which the verifier
    /// reports.
    pub fn ty(&self) -> Option<&'a FunctionType> {
        self.module.op(self.op).attr(FUNC_TYPE)?.as_type()?.as_function()
    }

    /// Returns the attribute with this name.
    pub fn attr(&self, name: &str) -> Option<&'a Attribute> {
        self.module.op(self.op).attr(name)
    }

    /// Returns the region, which is empty for an external function.
    pub fn region(&self) -> Option<RegionId> {
        self.module.op(self.op).regions.first().copied()
    }

    /// Returns the entry block, or `None` for an external function.
    pub fn body(&self) -> Option<BlockId> {
        self.module.entry_block(self.region()?)
    }

    /// Returns the arguments; an external function has none.
    pub fn arguments(&self) -> &'a [ValueId] {
        self.body().map_or(&[], |block| self.module.block(block).arguments.as_slice())
    }

    /// Returns the location in the source.
    pub fn location(&self) -> &'a Location {
        &self.module.op(self.op).location
    }

    /// Returns whether the function is declared without a body.
    pub fn is_external(&self) -> bool {
        self.body().is_none()
    }
}

impl Module {
    /// Returns the functions at the top of this module, in order.
    pub fn functions(&self) -> impl DoubleEndedIterator<Item = Func<'_>> {
        self.ops_in(self.body()).filter(|(_, op)| op.name == FUNC).map(|(op, _)| Func { module: self, op })
    }

    /// Returns the top-level function with this name. Takes time linear in the number of functions.
    pub fn function(&self, name: &str) -> Option<Func<'_>> {
        self.functions().find(|func| func.name() == name)
    }

    /// Returns a view of `op` if it is a function.
    pub fn as_function(&self, op: OpId) -> Option<Func<'_>> {
        (self.op(op).name == FUNC).then_some(Func { module: self, op })
    }

    /// Appends a function with an entry block to the top of the module, and returns both.
    pub fn add_function(
        &mut self,
        name: impl Into<Name>,
        ty: FunctionType,
        location: Location,
    ) -> (OpId, BlockId) {
        let region = self.create_region();
        let block = self.create_block(region, &ty.inputs);
        let state = func_state(&name.into(), ty, location).region(region);
        let op = self.create_op(state);
        self.append_op(self.body(), op);
        (op, block)
    }

    /// Appends a declaration of an external function, which is private as MLIR requires.
    pub fn add_external_function(
        &mut self,
        name: impl Into<Name>,
        ty: FunctionType,
        location: Location,
    ) -> OpId {
        let region = self.create_region();
        let state = func_state(&name.into(), ty, location)
            .attr(SYM_VISIBILITY, Attribute::string("private"))
            .region(region);
        let op = self.create_op(state);
        self.append_op(self.body(), op);
        op
    }
}

fn func_state(name: &Name, ty: FunctionType, location: Location) -> OpState {
    OpState::new(FUNC)
        .attr(SYM_NAME, Attribute::string(name.as_bytes()))
        .attr(FUNC_TYPE, Attribute::Type(Type::function(ty.inputs, ty.results)))
        .at(location)
}
