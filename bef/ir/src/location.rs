//! Source locations of operations.

use std::sync::Arc;

use crate::{Attribute, Name};

/// A source location in MLIR's model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Location {
    /// `loc(unknown)`.
    Unknown,
    /// `loc("file":line:column)`, both counted from 1.
    File {
        /// The file name as given to the parser or written in the text.
        file: Name,
        /// The line, from 1, or 0 if unknown.
        line: u32,
        /// The column in bytes, from 1, or 0 if unknown.
        column: u32,
    },
    /// `loc("name")` or `loc("name"(child))`.
    Named {
        /// The name.
        name: Name,
        /// The location with this name; `Unknown` if absent.
        child: Arc<Location>,
    },
    /// `loc(callsite(callee at caller))`.
    CallSite {
        /// The location of the callee.
        callee: Arc<Location>,
        /// The location of the call.
        caller: Arc<Location>,
    },
    /// `loc(fused<metadata>[a, b])`.
    Fused {
        /// Optional metadata.
        metadata: Option<Arc<Attribute>>,
        /// The fused locations.
        locations: Arc<[Location]>,
    },
}

impl Location {
    /// Creates `file:line:column`.
    pub fn file(file: impl Into<Name>, line: u32, column: u32) -> Location {
        Location::File { file: file.into(), line, column }
    }

    /// Returns the first file position inside this location, depth first: in the child of a name,
    /// the callee of a call site, or the first element of a fused list that has one.
    pub fn file_position(&self) -> Option<(&Name, u32, u32)> {
        match self {
            Location::Unknown => None,
            Location::File { file, line, column } => Some((file, *line, *column)),
            Location::Named { child, .. } => child.file_position(),
            Location::CallSite { callee, caller } => {
                callee.file_position().or_else(|| caller.file_position())
            }
            Location::Fused { locations, .. } => locations.iter().find_map(Location::file_position),
        }
    }
}
