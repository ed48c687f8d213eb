//! The `tf` dialect: TensorFlow's ops and types. It is open: ops without a definition here are
//! accepted in generic form.

mod control_flow;
mod types;

pub use types::{is_castable, referenced};

use tfrt_ir::OpRegistry;

/// The dialect.
pub const DIALECT: &str = "tf";
/// What newer TensorFlow calls the dialect of its types.
pub const NEW_TYPES: &str = "tf_type";
/// Runs one of two functions.
pub const IF: &str = "tf.If";
/// Runs a function as long as another one says so.
pub const WHILE: &str = "tf.While";
/// Runs one of several functions.
pub const CASE: &str = "tf.Case";
/// Calls a function.
pub const PARTITIONED_CALL: &str = "tf.PartitionedCall";
/// Calls a function that has side effects.
pub const STATEFUL_PARTITIONED_CALL: &str = "tf.StatefulPartitionedCall";
/// Runs one of two regions.
pub const IF_REGION: &str = "tf.IfRegion";
/// Runs a region as long as another one says so.
pub const WHILE_REGION: &str = "tf.WhileRegion";
/// Runs one of several regions.
pub const CASE_REGION: &str = "tf.CaseRegion";
/// Ends a region with what it gives.
pub const YIELD: &str = "tf.Yield";

/// Adds the operations with regions.
pub(crate) fn register_regions(registry: &mut OpRegistry) {
    control_flow::register_regions(registry);
}

/// Adds the operations with regions or functions, and the types.
pub fn register(registry: &mut OpRegistry) {
    control_flow::register(registry);
    for dialect in [DIALECT, NEW_TYPES] {
        registry.check_types(dialect, types::check);
    }
}
