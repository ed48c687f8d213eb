//! [`Scope`]: what the names of a graph stand for.

use std::collections::{HashMap, HashSet};

use tfrt_ir::ValueId;

/// Values by name, and the names of values that could not be imported.
#[derive(Debug, Default)]
pub(super) struct Scope {
    values: HashMap<String, ValueId>,
    failed: HashSet<String>,
}

impl Scope {
    /// Gives a value its name. The empty name stands for nothing.
    pub(super) fn define(&mut self, name: &str, value: ValueId) {
        if !name.is_empty() {
            self.values.insert(name.to_owned(), value);
        }
    }

    /// The value of this name.
    pub(super) fn find(&self, name: &str) -> Option<ValueId> {
        self.values.get(name).copied()
    }

    /// Says that these values could not be imported.
    pub(super) fn fail(&mut self, names: &[String]) {
        self.failed.extend(names.iter().filter(|name| !name.is_empty()).cloned());
    }

    /// Whether a value of this name could not be imported.
    pub(super) fn has_failed(&self, name: &str) -> bool {
        self.failed.contains(name)
    }
}
