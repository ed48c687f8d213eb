//! Chains of kernel graphs: which are missing, and insertion of the fewest that suffice.
//!
//! What kernels read and change comes from their registrations, by way of
//! [`tfrt_ir::OpDefinition`].

mod analysis;
mod bodies;
mod body;
mod check;
mod effects;
mod forms;
mod insert;
mod parts;
mod strip;
mod text;
mod write;

pub(crate) use analysis::Analysis;
pub(crate) use bodies::{Bodies, Control};
pub use check::{MissingChain, Note, check, check_function};
pub use insert::insert;
pub use strip::strip;
pub use text::without_chains;

use std::collections::HashSet;

use tfrt_ir::{Module, Type, ValueId};

/// The operation that makes a chain from nothing.
const NEW_CHAIN: &str = "tfrt.new.chain";
/// The operation that makes one chain of several.
const MERGE_CHAINS: &str = "tfrt.merge.chains";

/// Returns the number of chains: values that operations take as chains. Those from
/// `tfrt.new.chain`, which order nothing, and those from `tfrt.merge.chains`, which stand for
/// others, are not counted.
pub fn count(module: &Module) -> usize {
    let chain = Type::chain();
    let is_counted = |&value: &ValueId| {
        let of = module.defining_op(value).map(|op| module.op(op).name.as_str());
        *module.value_type(value) == chain && !matches!(of, Some(NEW_CHAIN | MERGE_CHAINS))
    };
    let taken = module.walk(module.root()).flat_map(|op| module.op(op).operands.iter().copied());
    taken.filter(is_counted).collect::<HashSet<_>>().len()
}
