//! Prints locations.

use std::fmt;

use super::attrs::Quoted;
use crate::Location;

/// Prints the part inside `loc(…)`.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Unknown => f.write_str("unknown"),
            Location::File { file, line, column } => {
                write!(f, "{}:{line}:{column}", Quoted(file.as_bytes()))
            }
            Location::Named { name, child } => {
                write!(f, "{}", Quoted(name.as_bytes()))?;
                match &**child {
                    Location::Unknown => Ok(()),
                    child => write!(f, "({child})"),
                }
            }
            Location::CallSite { callee, caller } => write!(f, "callsite({callee} at {caller})"),
            Location::Fused { metadata, locations } => {
                f.write_str("fused")?;
                if let Some(metadata) = metadata {
                    write!(f, "<{metadata}>")?;
                }
                f.write_str("[")?;
                for (index, location) in locations.iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(f, "{separator}{location}")?;
                }
                f.write_str("]")
            }
        }
    }
}
