//! Checks texts that announce their diagnostics, as MLIR's tools do:
//!
//! ```text
//! // expected-error @+1 {{part of the message}}
//! ```
//!
//! A comment may announce an `error`, `warning`, `remark` or `note`, then a place (`@+1`, `@-2`,
//! `@above`, `@below`; default: its own line) and a count (such as `2`; default: once). Several
//! texts may share a file, with lines `// -----` between them.

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::{Location, Source};

/// The line between two texts of one file.
const SPLIT_MARKER: &[u8] = b"// -----";

/// Splits a file at its `// -----` lines. Each part keeps the file's name and line numbers.
pub fn split_source(source: &Source) -> Vec<Source> {
    let mut parts = Vec::new();
    let mut part = Vec::new();
    let mut first_line = source.first_line();
    for (number, line) in (source.first_line()..).zip(source.text().split_inclusive(|&byte| byte == b'\n')) {
        if line.trim_ascii_start().starts_with(SPLIT_MARKER) {
            parts.push(Source::with_first_line(source.name(), std::mem::take(&mut part), first_line));
            first_line = number + 1;
        } else {
            part.extend_from_slice(line);
        }
    }
    parts.push(Source::with_first_line(source.name(), part, first_line));
    parts
}

/// A diagnostic in the form that expectations are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The line, if known.
    pub line: Option<u32>,
    /// The message.
    pub message: String,
}

/// Returns the findings for diagnostics. Each note is a separate finding.
pub fn findings(diagnostics: &Diagnostics) -> Vec<Finding> {
    let all = diagnostics.iter().flat_map(|diagnostic| std::iter::once(diagnostic).chain(&diagnostic.notes));
    all.map(|diagnostic| Finding {
        severity: diagnostic.severity,
        line: diagnostic.location.file_position().map(|(_, line, _)| line),
        message: diagnostic.message.clone(),
    })
    .collect()
}

/// A diagnostic that a text announces.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Expectation {
    severity: Severity,
    line: u32,
    text: String,
    /// How many more of them are expected.
    count: u32,
    /// The line of the comment.
    comment_line: u32,
}

/// Checks findings against the expectations in the text of `source`.
///
/// # Errors
/// One error for each unexpected finding and each expectation that was not met.
pub fn verify_expectations(source: &Source, findings: &[Finding]) -> Result<(), Diagnostics> {
    let mut expectations = parse_expectations(source);
    let mut diagnostics = Diagnostics::new();
    for finding in findings {
        let met = expectations.iter_mut().find(|expectation| {
            expectation.count > 0
                && expectation.severity == finding.severity
                && Some(expectation.line) == finding.line
                && finding.message.contains(&expectation.text)
        });
        match met {
            Some(expectation) => expectation.count -= 1,
            None => {
                let location = match finding.line {
                    Some(line) => line_location(source, line),
                    None => Location::Unknown,
                };
                let message = format!("unexpected {}: {}", finding.severity, finding.message);
                diagnostics.push(Diagnostic::error(location, message));
            }
        }
    }
    for expectation in expectations.iter().filter(|expectation| expectation.count > 0) {
        let Expectation { severity, line, text, comment_line, .. } = expectation;
        let place = if line == comment_line { String::new() } else { format!(" on line {line}") };
        let message = format!("expected {severity} \"{text}\"{place} was not produced");
        diagnostics.push(Diagnostic::error(line_location(source, *comment_line), message));
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics) }
}

/// Returns the location of the first non-blank byte of a line.
fn line_location(source: &Source, line: u32) -> Location {
    let bytes = source.line(line).unwrap_or_default();
    let column = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0) as u32 + 1;
    Location::file(source.name(), line, column)
}

/// The line that an expectation refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Offset(i64),
    /// The nearest line above without expectations.
    Above,
    /// The nearest line below without expectations.
    Below,
}

fn parse_expectations(source: &Source) -> Vec<Expectation> {
    let mut expectations = Vec::new();
    // The expectations, by index, that refer to the next line without expectations.
    let mut waiting: Vec<usize> = Vec::new();
    let mut last_plain = source.first_line();
    for (number, line) in (source.first_line()..).zip(source.text().split(|&byte| byte == b'\n')) {
        let found = parse_line(&String::from_utf8_lossy(line));
        if found.is_empty() {
            for index in waiting.drain(..) {
                let expectation: &mut Expectation = &mut expectations[index];
                expectation.line = number;
            }
            last_plain = number;
        }
        for (severity, place, count, text) in found {
            let line = match place {
                Place::Offset(offset) => u32::try_from(i64::from(number).saturating_add(offset)).unwrap_or(0),
                Place::Above => last_plain,
                Place::Below => {
                    waiting.push(expectations.len());
                    number
                }
            };
            expectations.push(Expectation { severity, line, text, count, comment_line: number });
        }
    }
    expectations
}

/// Returns the expectations on one line.
fn parse_line(line: &str) -> Vec<(Severity, Place, u32, String)> {
    line.split("expected-").skip(1).filter_map(parse_one).collect()
}

/// Parses `error @+1 2 {{text}}`, the part after `expected-`.
fn parse_one(text: &str) -> Option<(Severity, Place, u32, String)> {
    let words = [
        ("error", Severity::Error),
        ("warning", Severity::Warning),
        ("remark", Severity::Remark),
        ("note", Severity::Note),
    ];
    let (mut rest, severity) =
        words.into_iter().find_map(|(word, severity)| Some((text.strip_prefix(word)?, severity)))?;
    let (mut place, mut count) = (Place::Offset(0), 1);
    loop {
        rest = rest.trim_start();
        if let Some(body) = rest.strip_prefix("{{") {
            let end = body.rfind("}}")?;
            return Some((severity, place, count, body[..end].to_owned()));
        }
        let (word, after) = split_word(rest)?;
        rest = after;
        place = match word.strip_prefix('@') {
            None => {
                count = word.parse().ok()?;
                continue;
            }
            Some("above") => Place::Above,
            Some("below") => Place::Below,
            Some(offset) if offset.starts_with(['+', '-']) => {
                Place::Offset(offset.parse::<i32>().ok()?.into())
            }
            Some(_) => return None,
        };
    }
}

/// Splits off the text up to a blank or brace. Returns `None` if it is empty.
fn split_word(text: &str) -> Option<(&str, &str)> {
    let length = text.find([' ', '\t', '{']).unwrap_or(text.len());
    (length > 0).then(|| text.split_at(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(line: u32, message: &str) -> Finding {
        Finding { severity: Severity::Error, line: Some(line), message: message.to_owned() }
    }

    #[test]
    fn expectations_are_read() {
        use Place::*;
        let table = [
            ("// expected-error {{a}}", Some((Severity::Error, Offset(0), 1, "a"))),
            ("x // expected-note @+2 {{a {{b}} c}}", Some((Severity::Note, Offset(2), 1, "a {{b}} c"))),
            ("// expected-warning@-1 3{{a}}", Some((Severity::Warning, Offset(-1), 3, "a"))),
            ("// expected-remark @below {{}}", Some((Severity::Remark, Below, 1, ""))),
            ("// expected-error @above {{a}}", Some((Severity::Error, Above, 1, "a"))),
            ("// expected-error @+x {{a}}", None),
            ("// expected-error", None),
            ("// expected output {{a}}", None),
        ];
        for (line, expected) in table {
            let expected: Vec<_> = expected.into_iter().map(|(s, p, c, t)| (s, p, c, t.to_owned())).collect();
            assert_eq!(parse_line(line), expected, "{line}");
        }
        assert_eq!(parse_line("// expected-error {{a}} expected-note {{b}}").len(), 2);
    }

    #[test]
    fn findings_must_match_expectations_one_to_one() {
        let text = "// expected-error @+1 {{one}}\nop // expected-error 2 {{two}}\n// expected-error @below {{three}}\n\
                    // expected-error @above {{four}}\nlast\n";
        let source = Source::with_first_line("f", text, 10);
        let mut all = vec![
            finding(11, "has one"),
            finding(11, "two"),
            finding(11, "two"),
            finding(14, "three"),
            finding(10, "four"),
        ];
        // Every line before the comments has an expectation itself, so "above" falls back to the
        // first line.
        assert_eq!(verify_expectations(&source, &all), Ok(()));
        all.pop();
        all.push(finding(14, "five"));
        all.push(Finding { severity: Severity::Error, line: None, message: "six".to_owned() });
        let errors = verify_expectations(&source, &all).unwrap_err();
        let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "unexpected error: five",
                "unexpected error: six",
                "expected error \"four\" on line 10 was not produced"
            ]
        );
    }

    #[test]
    fn files_split_and_keep_their_lines() {
        let source = Source::new("f", "a\n// -----\nb\nc\n  // -----\n");
        let parts = split_source(&source);
        let texts: Vec<(u32, &[u8])> = parts.iter().map(|part| (part.first_line(), part.text())).collect();
        assert_eq!(texts, [(1, &b"a\n"[..]), (3, b"b\nc\n"), (6, b"")]);
    }
}
