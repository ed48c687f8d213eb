//! Where an operation comes from.

use std::sync::Arc;

use crate::{Attribute, Name};

/// A source location as MLIR models it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Location {
    /// `loc(unknown)`.
    Unknown,
    /// `loc("file":line:column)`, both counted from 1.
    File {
        /// The file's name, as given to the parser or written in the text.
        file: Name,
        /// Line, from 1; 0 if unknown.
        line: u32,
        /// Column in bytes, from 1; 0 if unknown.
        column: u32,
    },
    /// `loc("name")` or `loc("name"(child))`.
    Named {
        /// The name.
        name: Name,
        /// The location named; `Unknown` when absent.
        child: Arc<Location>,
    },
    /// `loc(callsite(callee at caller))`.
    CallSite {
        /// Where the callee stands.
        callee: Arc<Location>,
        /// Where it is called.
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
    /// `file:line:column`.
    pub fn file(file: impl Into<Name>, line: u32, column: u32) -> Location {
        Location::File { file: file.into(), line, column }
    }

    /// The first file position inside this location, looked for depth first: the child of a name, the callee
    /// of a call site, the first of a fused list that has one.
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
