//! Diagnostics: what is wrong, and where. Collects; see [`crate::render`] for showing them.

use std::fmt;

use crate::Location;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used, but is doubtful.
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

/// A finding at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub location: Location,
    /// How many bytes from the location on are meant; 0 leaves it to the renderer to find a token.
    pub length: u32,
    /// What, without a full stop.
    pub message: String,
    /// Explanations, each at its own place.
    pub notes: Vec<Diagnostic>,
}

impl Diagnostic {
    /// A finding.
    pub fn new(severity: Severity, location: Location, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity, location, length: 0, message: message.into(), notes: Vec::new() }
    }

    /// An error.
    pub fn error(location: Location, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, location, message)
    }

    /// With a note.
    #[must_use]
    pub fn note(mut self, location: Location, message: impl Into<String>) -> Diagnostic {
        self.notes.push(Diagnostic::new(Severity::Note, location, message));
        self
    }
}

/// One line: `file:line:column: error: message`; notes are left out.
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

/// The most diagnostics kept of one run; the rest are only counted.
pub const MAX_DIAGNOSTICS: usize = 100;

/// What a parse or a verification found, in the order it was found, at most [`MAX_DIAGNOSTICS`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    dropped: usize,
}

impl Diagnostics {
    /// None yet.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one, or counts it if there are too many already.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.is_full() {
            self.dropped += 1;
        } else {
            self.list.push(diagnostic);
        }
    }

    /// Adds all of another run.
    pub fn extend(&mut self, other: Diagnostics) {
        self.dropped += other.dropped;
        for diagnostic in other.list {
            self.push(diagnostic);
        }
    }

    /// Whether no more are kept.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MAX_DIAGNOSTICS
    }

    /// The diagnostics.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many more there were than are kept.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Whether one of them is an error.
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

/// One line per diagnostic and note.
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
