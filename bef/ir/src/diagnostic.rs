//! Diagnostics: what is wrong, and where. This module collects them; [`crate::render`] displays
//! them.

use std::fmt;

use crate::Location;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used but is doubtful.
    Warning,
    /// Information.
    Remark,
    /// Explains another diagnostic.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
            Severity::Note => "note",
        })
    }
}

/// A message about a place in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The place.
    pub location: Location,
    /// The number of bytes at the location that the diagnostic refers to. If it is 0, the renderer
    /// finds the token.
    pub length: u32,
    /// The message, without a final period.
    pub message: String,
    /// Explanations, each with its own place.
    pub notes: Vec<Diagnostic>,
}

impl Diagnostic {
    /// Creates a diagnostic.
    pub fn new(severity: Severity, location: Location, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity, location, length: 0, message: message.into(), notes: Vec::new() }
    }

    /// Creates an error.
    pub fn error(location: Location, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, location, message)
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, location: Location, message: impl Into<String>) -> Diagnostic {
        self.notes.push(Diagnostic::new(Severity::Note, location, message));
        self
    }
}

/// Displays one line, `file:line:column: error: message`, without the notes.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location.file_position() {
            Some((file, 0, _)) => write!(f, "{file}: ")?,
            Some((file, line, column)) => write!(f, "{file}:{line}:{column}: ")?,
            None => write!(f, "{}: ", self.location)?,
        }
        write!(f, "{}: {}", self.severity, self.message)
    }
}

/// The most diagnostics that are kept of one run. The rest are only counted.
pub const MAX_DIAGNOSTICS: usize = 100;

/// The diagnostics of a parse or a verification in the order they were found, at most
/// [`MAX_DIAGNOSTICS`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    dropped: usize,
}

impl Diagnostics {
    /// Creates an empty list.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a diagnostic, or only counts it if the list is full.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.is_full() {
            self.dropped += 1;
        } else {
            self.list.push(diagnostic);
        }
    }

    /// Adds the diagnostics of another run.
    pub fn extend(&mut self, other: Diagnostics) {
        self.dropped += other.dropped;
        for diagnostic in other.list {
            self.push(diagnostic);
        }
    }

    /// Returns whether the list is full.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MAX_DIAGNOSTICS
    }

    /// Returns the diagnostics.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Returns the number of diagnostics that are kept.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of diagnostics that were not kept.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Returns whether a diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Displays one line per diagnostic and note.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for diagnostic in self {
            writeln!(f, "{diagnostic}")?;
            for note in &diagnostic.notes {
                writeln!(f, "{note}")?;
            }
        }
        if self.dropped > 0 {
            writeln!(f, "{} more diagnostics not shown", self.dropped)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
