//! [`Scope`]: what the names of a graph stand for.

use std::collections::{HashMap, HashSet};

use tfrt_ir::ValueId;

/// Values by name, and the names that stand for none.
#[derive(Debug, Default)]
pub(super) struct Scope {
    values: HashMap<String, ValueId>,
    failed: HashSet<String>,
    /// Optional inputs of a function that its call leaves out.
    absent: HashSet<String>,
}

impl Scope {
    /// A scope for a subgraph, in which nothing is defined yet.
    pub(super) fn nested(&self) -> Self {
        Self { absent: self.absent.clone(), ..Self::default() }
    }

    /// Gives a value its name. The empty name stands for nothing.
    pub(super) fn define(&mut self, name: &str, value: ValueId) {
        if !name.is_empty() {
            self.absent.remove(name);
            self.values.insert(name.to_owned(), value);
        }
    }

    /// The value of this name.
    pub(super) fn find(&self, name: &str) -> Option<ValueId> {
        self.values.get(name).copied()
    }

    /// Says that an optional input of this name is not given.
    pub(super) fn leave_out(&mut self, name: &str) {
        self.absent.insert(name.to_owned());
    }

    /// Whether a name stands for an optional input that is not given.
    pub(super) fn is_absent(&self, name: &str) -> bool {
        name.is_empty() || self.absent.contains(name)
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
