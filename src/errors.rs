//! The errors of loading a program: one or more diagnostics.

use std::fmt;

use tfrt_bef::BefError;
use tfrt_host::Diagnostic;

/// All errors of an operation, in the order in which they were found. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors(pub Vec<Diagnostic>);

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

impl From<Diagnostic> for Errors {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl From<Vec<Diagnostic>> for Errors {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self(diagnostics)
    }
}

impl Errors {
    /// Collects the errors of a BEF file. It has no lines to point at, so each message begins with
    /// its name.
    pub(crate) fn of_bef(file: impl fmt::Display, errors: Vec<BefError>) -> Self {
        let diagnostic = |error| Diagnostic::invalid_argument(format!("{file}: {error}"));
        Self(errors.into_iter().map(diagnostic).collect())
    }

    /// Returns the messages alone, one per line.
    pub(crate) fn messages(&self) -> String {
        let messages: Vec<_> = self.0.iter().map(|error| &*error.message).collect();
        messages.join("\n")
    }
}
