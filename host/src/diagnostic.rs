//! Errors as values: what went wrong, where in the user's program, and what led to it.
//!
//! A [`Diagnostic`] is created once, shared by [`Arc`], and passed from value to
//! value. It is not formatted on the way, and it cannot print a source line; the tools do that.

use std::{fmt, sync::Arc};

/// The kind of an error. The set is closed on purpose: callers match on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// An argument, shape or attribute has a value that the operation does not accept.
    InvalidArgument,
    /// A named thing (kernel, function, file, resource) does not exist.
    NotFound,
    /// The operation is known but not possible in the present state.
    FailedPrecondition,
    /// An index or count lies outside its range.
    OutOfRange,
    /// An allocator could not satisfy a request.
    OutOfMemory,
    /// A limit on depth, size or number was reached.
    ResourceExhausted,
    /// The request was cancelled.
    Cancelled,
    /// The request's deadline passed.
    DeadlineExceeded,
    /// The device stopped answering.
    DeviceLost,
    /// Two kernels accessed the same memory, and nothing ordered the accesses.
    DataRace,
    /// Reading or writing a file failed.
    Io,
    /// The producer of a value was dropped before it set the value.
    Abandoned,
    /// A kernel failed for a reason that no other code describes.
    Unknown,
    /// The runtime or a kernel broke one of its own rules.
    Internal,
}

impl ErrorCode {
    /// All codes, for tests and documentation.
    pub const ALL: [Self; 14] = [
        Self::InvalidArgument,
        Self::NotFound,
        Self::FailedPrecondition,
        Self::OutOfRange,
        Self::OutOfMemory,
        Self::ResourceExhausted,
        Self::Cancelled,
        Self::DeadlineExceeded,
        Self::DeviceLost,
        Self::DataRace,
        Self::Io,
        Self::Abandoned,
        Self::Unknown,
        Self::Internal,
    ];

    /// Returns the printed name of the code.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "InvalidArgument",
            Self::NotFound => "NotFound",
            Self::FailedPrecondition => "FailedPrecondition",
            Self::OutOfRange => "OutOfRange",
            Self::OutOfMemory => "OutOfMemory",
            Self::ResourceExhausted => "ResourceExhausted",
            Self::Cancelled => "Cancelled",
            Self::DeadlineExceeded => "DeadlineExceeded",
            Self::DeviceLost => "DeviceLost",
            Self::DataRace => "DataRace",
            Self::Io => "Io",
            Self::Abandoned => "Abandoned",
            Self::Unknown => "Unknown",
            Self::Internal => "Internal",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A position in the user's program. Lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLocation {
    /// The file name that was given when the program was translated.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}

/// One error with its location and history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of error.
    pub code: ErrorCode,
    /// What happened, without location or prefix.
    pub message: String,
    /// Where in the user's program it happened, if known.
    pub location: Option<SourceLocation>,
    /// What led to it: the kernel's name, the chain of calls.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// Creates an error without a location. The executor adds the kernel's.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), location: None, notes: Vec::new() }
    }

    /// Creates an error with [`ErrorCode::InvalidArgument`].
    pub fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidArgument, message)
    }

    /// Creates an error with [`ErrorCode::Internal`].
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Internal, message)
    }

    /// Sets the location.
    #[must_use]
    pub fn at(mut self, location: SourceLocation) -> Self {
        self.location = Some(location);
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        write!(f, "{}: {}", self.code, self.message)?;
        for note in &self.notes {
            write!(f, "\n  note: {note}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// Turns a message without a code into an error with [`ErrorCode::Unknown`].
impl From<String> for Diagnostic {
    fn from(message: String) -> Self {
        Self::new(ErrorCode::Unknown, message)
    }
}

impl From<&str> for Diagnostic {
    fn from(message: &str) -> Self {
        Self::new(ErrorCode::Unknown, message)
    }
}

impl From<Arc<Diagnostic>> for Diagnostic {
    fn from(shared: Arc<Diagnostic>) -> Self {
        Arc::unwrap_or_clone(shared)
    }
}

impl From<std::io::Error> for Diagnostic {
    fn from(error: std::io::Error) -> Self {
        Self::new(ErrorCode::Io, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_has_place_code_message_and_notes() {
        let at = SourceLocation { file: "a.mlir".into(), line: 3, column: 7 };
        let d = Diagnostic::invalid_argument("bad shape").at(at).note("in kernel 'x'");
        assert_eq!(d.to_string(), "a.mlir:3:7: InvalidArgument: bad shape\n  note: in kernel 'x'");
    }

    #[test]
    fn code_names_are_distinct() {
        let names: std::collections::HashSet<_> = ErrorCode::ALL.iter().map(|c| c.name()).collect();
        assert_eq!(names.len(), ErrorCode::ALL.len());
    }
}
