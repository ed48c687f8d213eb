//! What keeps a program from being loaded: one or more diagnostics.

use std::fmt;

use tfrt_bef::BefError;
use tfrt_host::Diagnostic;

/// Everything found wrong, in the order it was found; never empty.
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

impl From<Vec<BefError>> for Errors {
    fn from(errors: Vec<BefError>) -> Self {
        let diagnostic = |error: BefError| Diagnostic::invalid_argument(error.to_string());
        Self(errors.into_iter().map(diagnostic).collect())
    }
}
