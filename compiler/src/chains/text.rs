//! Text without chains.

use tfrt_ir::{Assembly, OpDefinition, OpRegistry};

use super::forms::is_chain;

/// Returns operations that take and give no chains where these do, for text that leaves all chains
/// out. [`insert`] makes such a module whole.
///
/// Operations whose text has a grammar of its own keep their chains.
///
/// [`insert`]: super::insert
pub fn without_chains(ops: &OpRegistry) -> OpRegistry {
    let mut bare = ops.clone();
    for definition in ops.names().filter_map(|name| ops.get(name)) {
        if definition.operands.iter().any(is_chain) && is_plain(definition) {
            bare.add(OpDefinition {
                operands: definition.operands.iter().filter(|spec| !is_chain(spec)).cloned().collect(),
                results: definition.results.iter().filter(|spec| !is_chain(spec)).cloned().collect(),
                // Positions in it would be wrong.
                effects: None,
                assembly: Assembly::Default,
                ..definition.clone()
            });
        }
    }
    bare
}

/// Whether an operation is written as its definition alone says.
fn is_plain(definition: &OpDefinition) -> bool {
    let Assembly::Format(format) = &definition.assembly else { return false };
    let mut registry = OpRegistry::new();
    registry.add(OpDefinition { assembly: Assembly::Default, ..definition.clone() });
    let default = registry.get(&definition.name).map(|definition| &definition.assembly);
    matches!(default, Some(Assembly::Format(default)) if default == format)
}
