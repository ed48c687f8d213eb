//! Errors as values: what went wrong, where in the user's program, and what led there.
//!
//! A [`Diagnostic`] is made once, shared by [`Arc`](std::sync::Arc), and handed from value to value; it is
//! never formatted on the way. It does not know how to print a source line: that is for the tools.

use std::{fmt, sync::Arc};

/// The kind of an error. Closed on purpose: callers match on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// An argument, shape or attribute has a value the operation does not accept.
    InvalidArgument,
    /// A named thing (kernel, function, file, resource) does not exist.
    NotFound,
    /// The operation is known but does not apply in the present state.
    FailedPrecondition,
    /// An index or count lies outside its range.
    OutOfRange,
    /// An allocator could not satisfy a request.
    OutOfMemory,
    /// A bound on depth, size or number was reached.
    ResourceExhausted,
    /// The request was cancelled.
    Cancelled,
    /// The request's deadline passed.
    DeadlineExceeded,
    /// The device stopped answering.
    DeviceLost,
    /// Two kernels accessed the same memory without an order between them.
    DataRace,
    /// Reading or writing a file failed.
    Io,
    /// A value's producer went away without producing it.
    Abandoned,
    /// A kernel failed in a way of its own.
    Unknown,
    /// The runtime or a kernel broke one of its own rules.
    Internal,
}

impl ErrorCode {
    /// Every code, for tests and documentation.
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

    /// The code's name as printed.
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

/// A position in the user's program; lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLocation {
    /// File name as given when the program was translated.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
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

/// One error with its place and history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of error.
    pub code: ErrorCode,
    /// What happened, without place or prefix.
    pub message: String,
    /// Where in the user's program, if known.
    pub location: Option<SourceLocation>,
    /// What led there: the kernel's name, the chain of calls.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// An error without a place; the executor adds the kernel's.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), location: None, notes: Vec::new() }
    }

    /// Shorthand for [`ErrorCode::InvalidArgument`].
    pub fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidArgument, message)
    }

    /// Shorthand for [`ErrorCode::Internal`].
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Internal, message)
    }

    /// Adds a place.
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

/// A message alone is a kernel's own failure.
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
