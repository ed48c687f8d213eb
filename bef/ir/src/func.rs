//! Functions: the `func` operation seen as a function. Holds no data of its own.

use crate::{
    Attribute, BlockId, FunctionType, Location, Module, Name, OpId, OpState, RegionId, Type, ValueId,
};

/// Name of the function operation, also for text that says `func.func`.
pub const FUNC: &str = "func";
/// Attribute that names a symbol.
pub const SYM_NAME: &str = "sym_name";
/// Attribute `"private"` of symbols hidden from other modules.
pub const SYM_VISIBILITY: &str = "sym_visibility";
/// Attribute with the type of a function.
pub const FUNC_TYPE: &str = "type";

/// A view of a `func` operation.
#[derive(Clone, Copy, Debug)]
pub struct Func<'a> {
    module: &'a Module,
    op: OpId,
}

impl<'a> Func<'a> {
    /// The operation.
    pub fn op(&self) -> OpId {
        self.op
    }

    /// Its name without `@`; empty if it has none.
    pub fn name(&self) -> &'a str {
        self.module.op(self.op).attr(SYM_NAME).and_then(Attribute::as_str).unwrap_or_default()
    }

    /// Its type; `None` if the operation carries no function type, which the verifier reports.
    pub fn ty(&self) -> Option<&'a FunctionType> {
        self.module.op(self.op).attr(FUNC_TYPE)?.as_type()?.as_function()
    }

    /// The attribute of this name.
    pub fn attr(&self, name: &str) -> Option<&'a Attribute> {
        self.module.op(self.op).attr(name)
    }

    /// Its region, empty for an external function.
    pub fn region(&self) -> Option<RegionId> {
        self.module.op(self.op).regions.first().copied()
    }

    /// Its entry block; `None` for an external function.
    pub fn body(&self) -> Option<BlockId> {
        self.module.entry_block(self.region()?)
    }

    /// Its arguments; none for an external function.
    pub fn arguments(&self) -> &'a [ValueId] {
        self.body().map_or(&[], |block| self.module.block(block).arguments.as_slice())
    }

    /// Where it stands.
    pub fn location(&self) -> &'a Location {
        &self.module.op(self.op).location
    }

    /// Whether it is declared without a body.
    pub fn is_external(&self) -> bool {
        self.body().is_none()
    }
}

impl Module {
    /// The functions at the top of this module, in order.
    pub fn functions(&self) -> impl DoubleEndedIterator<Item = Func<'_>> {
        self.ops_in(self.body()).filter(|(_, op)| op.name == FUNC).map(|(op, _)| Func { module: self, op })
    }

    /// The top-level function of this name. Linear in the number of functions.
    pub fn function(&self, name: &str) -> Option<Func<'_>> {
        self.functions().find(|func| func.name() == name)
    }

    /// The function that `op` is, if it is one.
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

    /// Appends a declaration of an external function, private as MLIR wants declarations to be.
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
