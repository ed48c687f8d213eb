//! The dialects of op graphs: their operations, types and texts.

pub mod tf;
pub mod tf_executor;

use tfrt_ir::{OpDefinition, OpRegistry, TypeConstraint};

/// The names under which texts end a function, beside `tfrt.return`.
pub(crate) const RETURNS: [&str; 3] = ["return", "func.return", "std.return"];

/// Adds the operations and types of the dialects.
///
/// # Errors
/// The operation whose format cannot be read, and what is wrong with it.
pub fn register(registry: &mut OpRegistry) -> Result<(), String> {
    for name in RETURNS {
        let definition = OpDefinition::new(name)
            .variadic_operands("operands", TypeConstraint::Any)
            .terminator()
            .format("attr-dict ($operands^ `:` type($operands))?")?;
        registry.add(definition);
    }
    tf::register(registry);
    tf_executor::register(registry);
    Ok(())
}
