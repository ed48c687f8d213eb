//! Errors for people: the message, the line of the source with a caret, and what led there.

use std::collections::BTreeMap;

use tfrt_host::Diagnostic;
use tfrt_ir::{Location, Severity, Source, render_one};

use crate::Console;

/// Prints errors, each once, with the lines of the sources they point into. Sources are read from where the locations
/// say; of one that is not there only the place is shown.
pub(super) fn report(errors: &[Diagnostic], console: &mut Console) {
    let mut sources: BTreeMap<&str, Source> = BTreeMap::new();
    for error in distinct(errors) {
        let Some(place) = &error.location else {
            console.complain(format_args!("error: {}{}", error.message, notes(error)));
            continue;
        };
        let read = || Source::new(&*place.file, std::fs::read(&*place.file).unwrap_or_default());
        let source = sources.entry(&place.file).or_insert_with(read);
        let location = Location::file(&*place.file, place.line, place.column);
        let finding = tfrt_ir::Diagnostic::new(Severity::Error, location, &*error.message);
        let shown = render_one(&finding, &[source], console.terminal);
        console.complain(format_args!("{}{}\n", shown.trim_end(), notes(error)));
    }
}

/// Each error once: one that several results hand on was told of several times.
pub(super) fn distinct(errors: &[Diagnostic]) -> Vec<&Diagnostic> {
    let mut told: Vec<&Diagnostic> = Vec::new();
    for error in errors {
        let same = |other: &&Diagnostic| other.location == error.location && other.message == error.message;
        if !told.iter().any(same) {
            told.push(error);
        }
    }
    told
}

fn notes(error: &Diagnostic) -> String {
    error.notes.iter().map(|note| format!("\n  = {note}")).collect()
}
