//! The requester of a block, as errors and timelines name it.

use std::fmt;

use tfrt_host::SourceLocation;

/// The requester of memory: a name and a location in the program, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The name of a kernel, or the purpose of the memory; empty if unknown.
    pub label: &'static str,
    /// The location in the program.
    pub location: Option<SourceLocation>,
}

impl Origin {
    /// Makes an origin without a location.
    pub const fn label(label: &'static str) -> Self {
        Self { label, location: None }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.location, self.label) {
            (None, "") => f.write_str("(unknown)"),
            (None, label) => f.write_str(label),
            (Some(location), "") => location.fmt(f),
            (Some(location), label) => write!(f, "{label} at {location}"),
        }
    }
}
