//! Shows errors: the message, the line of the source with a caret, and the notes.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Write as _,
};

use serde_json::json;
use tfrt_host::Diagnostic;
use tfrt_ir::{Location, Severity, Source, render_one};

use crate::Console;

/// Stands for the input in source locations.
pub(super) const STDIN: &str = "<stdin>";

/// The most errors that a tool keeps while a program runs.
pub(super) const MAX_KEPT_ERRORS: usize = 10_000;

/// The most errors that are shown.
const MAX_SHOWN_ERRORS: usize = tfrt_ir::MAX_DIAGNOSTICS;

/// The most places at which the same message is shown.
const MAX_PLACES: usize = 3;

/// The most characters of a message that are shown.
const MAX_MESSAGE_CHARACTERS: usize = 2_000;

/// The most notes of an error that are shown, such as the calls that led to it.
const MAX_NOTES: usize = 20;

/// Prints errors, each once, with the lines of the sources that they point into. Sources are read
/// from the files that the locations name. If a file is missing, only the location is shown. An
/// error that occurs at many places, as one of a file that every kernel reads, is shown at the
/// first ones and counted at the rest.
pub(super) fn report(errors: &[Diagnostic], console: &mut Console) {
    let mut sources: BTreeMap<&str, Source> = BTreeMap::new();
    let distinct = distinct(errors);
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut shown = 0;
    for error in distinct.iter().copied() {
        let count = places.entry(&error.message).or_default();
        *count += 1;
        if *count > MAX_PLACES || shown == MAX_SHOWN_ERRORS {
            continue;
        }
        shown += 1;
        let message = visible(&error.message);
        let Some(place) = &error.location else {
            console.complain(format_args!("error: {message}{}", notes(error)));
            continue;
        };
        let read = || match &*place.file {
            STDIN => Source::new(STDIN, console.input_text.clone()),
            file => Source::new(file, std::fs::read(file).unwrap_or_default()),
        };
        let source = sources.entry(&place.file).or_insert_with(read);
        let location = Location::file(&*place.file, place.line, place.column);
        let finding = tfrt_ir::Diagnostic::new(Severity::Error, location, message);
        let shown = render_one(&finding, &[source], console.use_color);
        console.complain(format_args!("{}{}\n", shown.trim_end(), notes(error)));
    }
    match distinct.len() - shown {
        0 => {}
        1 => console.complain("1 more error not shown"),
        more => console.complain(format_args!("{more} more errors not shown")),
    }
}

/// Returns each error once: an error that several results carry was reported several times.
fn distinct(errors: &[Diagnostic]) -> Vec<&Diagnostic> {
    let mut seen = HashSet::new();
    errors.iter().filter(|error| seen.insert((&error.location, &error.message))).collect()
}

/// Returns errors for `--json`, each once.
pub(super) fn to_json(errors: &[Diagnostic]) -> Vec<serde_json::Value> {
    distinct(errors).into_iter().map(error_to_json).collect()
}

/// Returns an error for `--json`.
pub(super) fn error_to_json(error: &Diagnostic) -> serde_json::Value {
    let place = error.location.as_ref().map(ToString::to_string);
    json!({ "code": error.code.name(), "message": error.message, "location": place, "notes": error.notes })
}

/// Makes text from a program safe to print: shortens it, and escapes control characters, which a
/// terminal would obey.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    let is_safe = |c: char| c == '\n' || !c.is_control();
    let end = text.char_indices().nth(MAX_MESSAGE_CHARACTERS).map(|(end, _)| end);
    if end.is_none() && text.chars().all(is_safe) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for c in text[..end.unwrap_or(text.len())].chars() {
        if is_safe(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_default());
        }
    }
    if end.is_some() {
        shown.push('…');
    }
    Cow::Owned(shown)
}

fn notes(error: &Diagnostic) -> String {
    let mut text = String::new();
    for note in error.notes.iter().take(MAX_NOTES) {
        // Writing to a string does not fail.
        let _ = write!(text, "\n  = {}", visible(note));
    }
    if error.notes.len() > MAX_NOTES {
        let _ = write!(text, "\n  = {} more notes not shown", error.notes.len() - MAX_NOTES);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::SharedWriter;

    fn shown(errors: &[Diagnostic]) -> String {
        let (error, complaints) = SharedWriter::buffer();
        let (output, _) = SharedWriter::buffer();
        report(errors, &mut Console::new(io::empty(), output, error));
        String::from_utf8(complaints.lock().clone()).unwrap()
    }

    #[test]
    fn errors_are_shown_once_and_at_most_a_hundred() {
        let error = |number: usize| Diagnostic::invalid_argument(format!("error {number}"));
        let same = shown(&[error(1), error(1), error(2)]);
        assert_eq!(same, "error: error 1\nerror: error 2\n");
        let many = shown(&(0..150).map(error).collect::<Vec<_>>());
        assert_eq!(many.lines().count(), 101);
        assert!(many.ends_with("50 more errors not shown\n"), "{many}");
    }

    #[test]
    fn a_message_is_shown_at_few_places() {
        let at = |line: u32| {
            let mut error = Diagnostic::invalid_argument("no weights");
            error.location = Some(tfrt_host::SourceLocation { file: "f".into(), line, column: 1 });
            error
        };
        let text = shown(&(1..=54).map(at).collect::<Vec<_>>());
        assert_eq!(text.matches("error: no weights").count(), 3);
        assert!(text.contains("f:3:1") && text.ends_with("51 more errors not shown\n"), "{text}");
    }

    #[test]
    fn text_of_programs_cannot_control_the_terminal() {
        let mut error = Diagnostic::invalid_argument("bad \u{1b}[2J name");
        error.notes.push("in \u{7}".to_owned());
        assert_eq!(shown(&[error]), "error: bad \\u{1b}[2J name\n  = in \\u{7}\n");
        let long = Diagnostic::invalid_argument("x".repeat(10_000_000));
        assert!(shown(&[long]).len() < 3_000);
    }
}
