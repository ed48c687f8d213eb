//! Errors in the text of a module.

use std::fmt;

/// The number of errors that are kept for one module. [`Errors::is_truncated`] says whether there
/// were more.
pub const MAX_ERRORS: usize = 100;

/// A position in PTX text. Lines and columns count from 1, columns in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The line.
    pub line: u32,
    /// The byte within the line.
    pub column: u32,
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// An error in a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The position.
    pub span: Span,
    /// The message: lower case, without a period.
    pub message: String,
}

impl Error {
    /// Creates an error.
    pub fn new(span: Span, message: impl Into<String>) -> Error {
        Error { span, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.span, self.message)
    }
}

impl std::error::Error for Error {}

/// All errors of a module in the order of the text: at least one, at most [`MAX_ERRORS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors {
    errors: Vec<Error>,
    truncated: bool,
}

impl Errors {
    /// Iterates over the errors in the order of the text.
    pub fn iter(&self) -> std::slice::Iter<'_, Error> {
        self.errors.iter()
    }

    /// Returns the number of errors, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.errors.len()
    }

    /// Returns whether there were more errors than are kept.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }
}

impl<'e> IntoIterator for &'e Errors {
    type Item = &'e Error;
    type IntoIter = std::slice::Iter<'e, Error>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Error> for Errors {
    fn from(error: Error) -> Errors {
        Errors { errors: vec![error], truncated: false }
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        if self.truncated {
            write!(f, "\nand more: only the first {MAX_ERRORS} errors are shown")?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

/// Collects the errors of a module while it is read.
#[derive(Debug, Default)]
pub(crate) struct ErrorSink {
    errors: Vec<Error>,
    truncated: bool,
    stopped: bool,
}

impl ErrorSink {
    /// Adds an error. A second one at the same place is considered a consequence of the first and
    /// dropped.
    pub(crate) fn add(&mut self, span: Span, message: impl Into<String>) {
        if self.errors.last().is_some_and(|last| last.span == span) {
            return;
        }
        if !self.is_full() {
            self.errors.push(Error::new(span, message));
        } else if !self.stopped {
            self.truncated = true;
        }
    }

    /// Drops all further errors, which would be consequences of the last one.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Returns whether further errors would be dropped, so that the reader can stop.
    pub(crate) fn is_full(&self) -> bool {
        self.stopped || self.errors.len() >= MAX_ERRORS
    }

    /// Returns `value`, unless there were errors.
    pub(crate) fn finish<T>(mut self, value: T) -> Result<T, Errors> {
        if self.errors.is_empty() {
            return Ok(value);
        }
        self.errors.sort_by_key(|error| error.span);
        Err(Errors { errors: self.errors, truncated: self.truncated })
    }
}
