//! The registry of known operations.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::assembly::{Assembly, Format};
use crate::definition::has_several_variadic;
use crate::name_hash::BuildNameHasher;
use crate::{Name, OpDefinition, Type};

/// The known operations, by name.
#[derive(Clone, Debug, Default)]
pub struct OpRegistry {
    ops: HashMap<Name, OpDefinition, BuildNameHasher>,
    /// The dialects with known operations, and whether each is closed.
    dialects: HashMap<Name, bool, BuildNameHasher>,
    /// The checks of dialect types.
    types: HashMap<Name, TypeCheck, BuildNameHasher>,
    mutable_types: HashSet<Type>,
}

/// Says what is wrong with the body of a dialect type, if anything is.
pub type TypeCheck = fn(body: &str) -> Result<(), String>;

impl OpRegistry {
    /// Returns a registry that knows only `func` and `module`.
    pub fn new() -> OpRegistry {
        OpRegistry::default()
    }

    /// Adds a definition, or replaces the one with its name.
    pub fn add(&mut self, mut definition: OpDefinition) {
        if matches!(definition.assembly, Assembly::Default) {
            let needs_sizes =
                has_several_variadic(&definition.operands) || has_several_variadic(&definition.results);
            definition.assembly = if needs_sizes {
                Assembly::Generic
            } else {
                Assembly::Format(Arc::new(Format::default_of(&definition)))
            };
        }
        self.dialects.entry(dialect_of(&definition.name).into()).or_insert(false);
        self.ops.insert(definition.name.clone(), definition);
    }

    /// Closes a dialect, which then has only the operations added here. Other dialects may have
    /// more, because kernels need no definition.
    pub fn close_dialect(&mut self, dialect: impl Into<Name>) {
        self.dialects.insert(dialect.into(), true);
    }

    /// Checks each type of a dialect that a text writes. Types of other dialects may be anything.
    pub fn check_types(&mut self, dialect: impl Into<Name>, check: TypeCheck) {
        self.types.insert(dialect.into(), check);
    }

    /// The check of a dialect's types, if it has one.
    pub fn type_check(&self, dialect: &str) -> Option<TypeCheck> {
        self.types.get(dialect).copied()
    }

    /// Declares that values of this type have contents that operations may change after the value
    /// is made.
    pub fn add_mutable_type(&mut self, ty: Type) {
        self.mutable_types.insert(ty);
    }

    /// Whether values of this type have contents that operations may change.
    pub fn is_mutable_type(&self, ty: &Type) -> bool {
        self.mutable_types.contains(ty)
    }

    /// Returns whether a text may use this operation in generic form. It may if the operation is
    /// known, or if its dialect is known and not closed, or if its dialect is unknown and
    /// `allow_unregistered`.
    pub fn accepts(&self, name: &str, allow_unregistered: bool) -> bool {
        self.ops.contains_key(name)
            || match self.dialects.get(dialect_of(name)) {
                Some(closed) => !closed,
                None => allow_unregistered,
            }
    }

    /// Returns the definition of an operation, if it has one.
    pub fn get(&self, name: &str) -> Option<&OpDefinition> {
        self.ops.get(name)
    }

    /// Returns the definition of an operation, to complete it. The assembly stays as
    /// [`OpRegistry::add`] made it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut OpDefinition> {
        self.ops.get_mut(name)
    }

    /// Returns the names of the operations, in no particular order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.ops.keys().map(Name::as_str)
    }

    /// Returns the number of operations.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Returns whether there are no operations.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }
}

/// Returns the text before the first dot, or an empty text if there is none.
fn dialect_of(name: &str) -> &str {
    name.split_once('.').map_or("", |(dialect, _)| dialect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_are_open_until_closed() {
        let mut registry = OpRegistry::new();
        registry.add(OpDefinition::new("a.known"));
        assert!(registry.accepts("a.other", false));
        assert!(!registry.accepts("b.other", false) && registry.accepts("b.other", true));
        registry.close_dialect("a");
        assert!(registry.accepts("a.known", false) && !registry.accepts("a.other", true));
    }
}
