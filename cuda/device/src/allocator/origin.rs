//! Whom a block is for, as errors and timelines tell it.

use std::fmt;

use tfrt_host::SourceLocation;

/// Who asked for memory: a name and a place in the program, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Origin {
    /// What asked: a kernel's name, or what the memory is for. Empty if nobody said.
    pub label: &'static str,
    /// Where in the program.
    pub location: Option<SourceLocation>,
}

impl Origin {
    /// A name without a place.
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
