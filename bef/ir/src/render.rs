//! Displays diagnostics: the message, the source line, and a caret under the place. It knows no
//! terminal; the caller decides about colour.

use std::fmt::Write as _;
use std::ops::Range;

use codespan_reporting::diagnostic::{Diagnostic as Report, Label, LabelStyle, Severity as ReportSeverity};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::termcolor::{Ansi, NoColor};
use codespan_reporting::term::{Config, emit_to_write_style};

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::lexer::Lexer;
use crate::{Location, Source};

/// The most bytes that are shown of a source line.
const MAX_LINE_BYTES: usize = 160;

/// Renders diagnostics one after the other, with the source lines that they refer to. If no source
/// has the place, only the message is shown.
pub fn render(diagnostics: &Diagnostics, sources: &[&Source], color: bool) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        text.push_str(&render_one(diagnostic, sources, color));
    }
    if diagnostics.dropped() > 0 {
        let _ = writeln!(text, "{} more diagnostics not shown", diagnostics.dropped());
    }
    text
}

/// Renders one diagnostic with its notes.
pub fn render_one(diagnostic: &Diagnostic, sources: &[&Source], color: bool) -> String {
    let mut excerpts = Excerpts(Vec::new());
    let severity = match diagnostic.severity {
        Severity::Error => ReportSeverity::Error,
        Severity::Warning => ReportSeverity::Warning,
        Severity::Remark | Severity::Note => ReportSeverity::Note,
    };
    let mut report = Report::new(severity).with_message(escape_controls(&diagnostic.message));
    match excerpts.label(LabelStyle::Primary, diagnostic, sources, "") {
        Some(label) => report.labels.push(label),
        None => report.notes.push(format!("at {}", place(&diagnostic.location))),
    }
    for note in &diagnostic.notes {
        match excerpts.label(LabelStyle::Secondary, note, sources, &note.message) {
            Some(label) => report.labels.push(label),
            None => {
                let note = format!("{}: {}", place(&note.location), escape_controls(&note.message));
                report.notes.push(note);
            }
        }
    }
    let mut bytes = Vec::new();
    let config = Config::default();
    let emitted = if color {
        emit_to_write_style(&mut Ansi::new(&mut bytes), &config, &excerpts, &report)
    } else {
        emit_to_write_style(&mut NoColor::new(&mut bytes), &config, &excerpts, &report)
    };
    match emitted {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => format!("{diagnostic}\n"),
    }
}

fn place(location: &Location) -> String {
    match location.file_position() {
        Some((file, 0, _)) => escape_controls(file.as_str()),
        Some((file, line, column)) => format!("{}:{line}:{column}", escape_controls(file.as_str())),
        None => format!("location {}", escape_controls(&location.to_string())),
    }
}

/// Escapes control characters, which a terminal would obey, except line ends and tabs.
fn escape_controls(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' && c != '\t' {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// One source line, or the part of it around the place, as a separate file. Other lines are not
/// shown, and a source need not be UTF-8.
struct Excerpt {
    name: String,
    text: String,
    line: u32,
    /// The number of bytes of the line that precede the text.
    skipped: usize,
}

struct Excerpts(Vec<Excerpt>);

impl Excerpts {
    /// Creates a label at a diagnostic's place, if one of the sources has it.
    fn label(
        &mut self,
        style: LabelStyle,
        diagnostic: &Diagnostic,
        sources: &[&Source],
        message: &str,
    ) -> Option<Label<usize>> {
        let (file, line, column) = diagnostic.location.file_position()?;
        let (bytes, offset, source) = sources
            .iter()
            .filter(|source| source.name() == file)
            .find_map(|source| Some((source.line(line)?, source.offset(line, column)?, source)))?;
        let at = (column as usize).saturating_sub(1).min(bytes.len());
        let length =
            if diagnostic.length > 0 { diagnostic.length as usize } else { token_length(source, offset) };
        let skipped = if bytes.len() > MAX_LINE_BYTES { at.saturating_sub(MAX_LINE_BYTES / 2) } else { 0 };
        let end = (skipped + MAX_LINE_BYTES).min(bytes.len());
        let shown = |range: Range<usize>| {
            escape_controls(&String::from_utf8_lossy(bytes.get(range).unwrap_or_default()))
        };
        let start = shown(skipped..at).len();
        let stop = start + shown(at..(at + length).min(end)).len();
        let excerpt =
            Excerpt { name: escape_controls(file.as_str()), text: shown(skipped..end), line, skipped };
        self.0.push(excerpt);
        let label = Label::new(style, self.0.len() - 1, start..stop.max(start));
        Some(label.with_message(escape_controls(message)))
    }

    fn excerpt(&self, id: usize) -> Result<&Excerpt, Error> {
        self.0.get(id).ok_or(Error::FileMissing)
    }
}

/// Returns the length of the token at `offset`.
fn token_length(source: &Source, offset: u32) -> usize {
    let mut lexer = Lexer::new(source.text());
    lexer.seek(offset);
    let span = lexer.next().span;
    if span.start == offset { (span.end - span.start) as usize } else { 1 }
}

impl<'a> Files<'a> for Excerpts {
    type FileId = usize;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: usize) -> Result<&'a str, Error> {
        Ok(&self.excerpt(id)?.name)
    }

    fn source(&'a self, id: usize) -> Result<&'a str, Error> {
        Ok(&self.excerpt(id)?.text)
    }

    fn line_index(&'a self, _: usize, _: usize) -> Result<usize, Error> {
        Ok(0)
    }

    fn line_number(&'a self, id: usize, _: usize) -> Result<usize, Error> {
        Ok(self.excerpt(id)?.line as usize)
    }

    fn column_number(&'a self, id: usize, _: usize, byte: usize) -> Result<usize, Error> {
        Ok(self.excerpt(id)?.skipped + byte + 1)
    }

    fn line_range(&'a self, id: usize, index: usize) -> Result<Range<usize>, Error> {
        if index > 0 {
            return Err(Error::LineTooLarge { given: index, max: 0 });
        }
        Ok(0..self.excerpt(id)?.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caret_points_at_the_place() {
        let source = Source::new("f.mlir", "one\n  tfrt.foo %x\n");
        let mut diagnostics = Diagnostics::new();
        let error = Diagnostic::error(Location::file("f.mlir", 2, 3), "bad op");
        diagnostics.push(error.note(Location::file("f.mlir", 1, 1), "because of this"));
        let text = render(&diagnostics, &[&source], false);
        assert!(text.contains("error: bad op"), "{text}");
        assert!(text.contains("f.mlir:2:3"), "{text}");
        assert!(text.contains("^^^^^^^^\n"), "{text}");
        assert!(text.contains("because of this"), "{text}");
        assert!(render(&diagnostics, &[&source], true).contains('\u{1b}'));
    }

    #[test]
    fn places_no_source_has_are_named() {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(Diagnostic::error(Location::file("g", 7, 1), "bad"));
        diagnostics.push(Diagnostic::error(Location::Unknown, "worse"));
        let text = render(&diagnostics, &[], false);
        assert!(text.contains("g:7:1") && text.contains("location unknown"), "{text}");
    }

    #[test]
    fn control_characters_are_escaped() {
        let source = Source::new("f\u{7}", "a \u{1b}[2J b\n");
        let mut diagnostic = Diagnostic::error(Location::file("f\u{7}", 1, 8), "bad \u{1b}[2J");
        diagnostic = diagnostic.note(Location::file("g\u{7}", 1, 1), "seen \u{1b}");
        let text = render_one(&diagnostic, &[&source], false);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        // The caret is below the token although the line has grown.
        let column = |marked: &str, needle: &str| {
            let line = text.lines().find(|line| line.contains(marked)).expect("a line");
            line.chars().count() - line.split_once(needle).expect("a needle").1.chars().count()
        };
        assert_eq!(column("[2J b", "J b"), column("^", "^"), "{text}");
    }

    #[test]
    fn long_and_odd_lines_are_cut() {
        let mut line = vec![0xFFu8; 10_000];
        line.extend(b"token");
        let source = Source::new("f", line);
        let diagnostic = Diagnostic::error(Location::file("f", 1, 10_001), "here");
        let text = render_one(&diagnostic, &[&source], false);
        assert!(text.len() < 2000 && text.contains("^^^^^") && text.contains("f:1:"), "{text}");
    }
}
