//! MLIR to BEF, in two passes: [`collect`](collect::collect) checks the module and lists its
//! functions, the second encodes them.

mod collect;
mod emit;

use tfrt_bef::{BefBuilder, OptionalSections};
use tfrt_ir::{Attribute, Diagnostic, Diagnostics, Location, Module, OpId, OpRegistry};

/// Options for encoding a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConvertOptions {
    /// Omit what only conversion back to MLIR needs: names and types of attributes, types of
    /// registers.
    pub disable_optional_sections: bool,
}

/// Encodes a module as a BEF file. `ops` says which ops have their attributes written with their
/// kinds, and what they call the attributes that name functions.
///
/// # Errors
/// Everything that the format cannot store, with its location.
pub fn mlir_to_bef(
    module: &Module,
    ops: &OpRegistry,
    options: ConvertOptions,
) -> Result<Vec<u8>, Diagnostics> {
    let optional =
        if options.disable_optional_sections { OptionalSections::Drop } else { OptionalSections::Keep };
    let mut errors = Diagnostics::new();
    let functions = collect::collect(module, &mut errors);
    if errors.has_errors() {
        return Err(errors);
    }
    let mut builder = BefBuilder::new(optional);
    emit::emit(module, ops, &functions, optional, &mut builder, &mut errors);
    if errors.has_errors() {
        return Err(errors);
    }
    builder.finish().map_err(|error| {
        let mut errors = Diagnostics::new();
        errors.push(Diagnostic::error(Location::Unknown, error.to_string()));
        errors
    })
}

/// The references to functions an attribute is: one, or a list of nothing else.
fn references(attribute: &Attribute) -> Option<&[Attribute]> {
    let is_reference = |attribute: &Attribute| matches!(attribute, Attribute::SymbolRef(_));
    match attribute.as_array() {
        Some(list) => (!list.is_empty() && list.iter().all(is_reference)).then_some(list),
        None => is_reference(attribute).then(|| std::slice::from_ref(attribute)),
    }
}

/// Reports an error at an op.
fn error_at(module: &Module, op: OpId, errors: &mut Diagnostics, message: impl Into<String>) {
    errors.push(Diagnostic::error(module.op(op).location.clone(), message));
}
