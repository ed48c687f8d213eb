//! Inputs with several parts, and errors that the parts announce in comments.

use tfrt_ir::{Diagnostics, Source, findings, render, split_source, verify_expectations};

use super::Outcome;
use crate::Console;

/// Selects how the input is processed.
#[derive(Clone, Copy, Default)]
pub(super) struct PartOptions {
    /// Split the input at lines `// -----`.
    pub(super) split: bool,
    /// Check errors against the comments that announce them instead of printing them.
    pub(super) verify_diagnostics: bool,
}

/// The result of one part.
pub(super) struct Part {
    result: Option<Vec<u8>>,
    diagnostics: Diagnostics,
}

impl Part {
    pub(super) fn new(result: Result<Vec<u8>, Diagnostics>, warnings: Diagnostics) -> Self {
        let mut part = Self { result: None, diagnostics: warnings };
        match result {
            Ok(bytes) => part.result = Some(bytes),
            Err(errors) => part.diagnostics.extend(errors),
        }
        part
    }
}

/// Processes each part of the input. Returns the results of the parts without errors.
pub(super) fn over_parts(
    source: &Source,
    options: PartOptions,
    console: &mut Console,
    mut work: impl FnMut(&Source) -> Part,
) -> (Outcome, Vec<Vec<u8>>) {
    let split;
    let parts = if options.split {
        split = split_source(source);
        &split[..]
    } else {
        std::slice::from_ref(source)
    };
    let mut outcome = Outcome::Fine;
    let mut results = Vec::new();
    for part in parts {
        let Part { result, diagnostics } = work(part);
        if options.verify_diagnostics {
            if let Err(mismatches) = verify_expectations(part, &findings(&diagnostics)) {
                console.complain(render(&mismatches, &[part], console.use_color).trim_end());
                outcome = Outcome::Failed;
            }
        } else {
            if !diagnostics.is_empty() {
                console.complain(render(&diagnostics, &[part], console.use_color).trim_end());
            }
            if result.is_none() {
                outcome = Outcome::Failed;
            }
        }
        results.extend(result);
    }
    (outcome, results)
}
