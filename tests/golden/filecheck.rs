//! Compares a tool's output with the `CHECK` comments of its input: LLVM's FileCheck, as far as our
//! tests use it.
//!
//! Known are `CHECK`, `-NEXT`, `-SAME`, `-EMPTY`, `-NOT`, `-DAG`, `-LABEL` and `-COUNT-<n>`; in
//! patterns `{{regex}}`, `[[NAME:regex]]`, `[[NAME]]` on later lines, and `[[@LINE+1]]`. Runs of
//! spaces and tabs count as one space.

use std::{collections::HashMap, ops::Range};

use regex::Regex;

/// What a directive demands of its pattern's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Next,
    Same,
    Empty,
    Not,
    Dag,
    Label,
    Count(usize),
}

#[derive(Debug)]
struct Directive {
    kind: Kind,
    pattern: String,
    line: usize,
}

/// Checks `output` against the directives in `checks`.
///
/// # Errors
/// The first directive that does not hold, and where the search for it began.
pub(crate) fn check(checks: &str, prefix: &str, output: &str) -> Result<(), String> {
    let directives = parse(checks, prefix)?;
    if directives.is_empty() {
        return Err(format!("no {prefix} lines"));
    }
    let text: Vec<_> = output.lines().map(squeeze).collect();
    let mut matcher = Matcher { text: text.join("\n") + "\n", variables: HashMap::new() };
    matcher.run(&directives)
}

/// Runs of spaces and tabs as one space.
fn squeeze(line: &str) -> String {
    let mut squeezed = String::with_capacity(line.len());
    for letter in line.chars() {
        let blank = letter == ' ' || letter == '\t';
        if !(blank && squeezed.ends_with(' ')) {
            squeezed.push(if blank { ' ' } else { letter });
        }
    }
    squeezed
}

fn parse(checks: &str, prefix: &str) -> Result<Vec<Directive>, String> {
    let mut directives = Vec::new();
    for (number, line) in checks.lines().enumerate() {
        let Some((kind, pattern)) = directive(line, prefix) else { continue };
        let pattern = squeeze(pattern.trim());
        if pattern.is_empty() != (kind == Kind::Empty) {
            return Err(format!("line {}: a directive and its pattern do not fit", number + 1));
        }
        directives.push(Directive { kind, pattern, line: number + 1 });
    }
    Ok(directives)
}

fn directive<'l>(line: &'l str, prefix: &str) -> Option<(Kind, &'l str)> {
    let mut starts = line.match_indices(prefix).map(|(at, _)| at);
    starts.find_map(|at| {
        let before = line[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_') {
            return None;
        }
        let (suffix, pattern) = line[at + prefix.len()..].split_once(':')?;
        let kind = match suffix {
            "" => Kind::Plain,
            "-NEXT" => Kind::Next,
            "-SAME" => Kind::Same,
            "-EMPTY" => Kind::Empty,
            "-NOT" => Kind::Not,
            "-DAG" => Kind::Dag,
            "-LABEL" => Kind::Label,
            _ => Kind::Count(suffix.strip_prefix("-COUNT-")?.parse().ok()?),
        };
        Some((kind, pattern))
    })
}

struct Matcher {
    text: String,
    variables: HashMap<String, String>,
}

impl Matcher {
    /// Labels first: they cut the text into parts that the directives between them must keep to.
    fn run(&mut self, directives: &[Directive]) -> Result<(), String> {
        let mut labels = Vec::new();
        let mut from = 0;
        for (index, directive) in directives.iter().enumerate().filter(|(_, d)| d.kind == Kind::Label) {
            let found = self.find(directive, from..self.text.len())?;
            let found = found.ok_or_else(|| self.missing(directive, from))?;
            from = found.end;
            labels.push((index, found));
        }
        let mut start = 0;
        let mut first = 0;
        for (index, found) in labels {
            self.block(&directives[first..index], start..found.start)?;
            (first, start) = (index + 1, found.end);
        }
        self.block(&directives[first..], start..self.text.len())
    }

    fn block(&mut self, directives: &[Directive], part: Range<usize>) -> Result<(), String> {
        let mut at = part.start;
        let mut nots: Vec<&Directive> = Vec::new();
        let mut rest = directives;
        while let Some((directive, others)) = rest.split_first() {
            rest = others;
            let found = match directive.kind {
                Kind::Not => {
                    nots.push(directive);
                    continue;
                }
                Kind::Dag => {
                    let more = others.iter().take_while(|d| d.kind == Kind::Dag).count();
                    rest = &others[more..];
                    let group = &directives[directives.len() - others.len() - 1..][..=more];
                    self.group(group, at..part.end)?
                }
                Kind::Count(times) => self.repeated(directive, times, at..part.end)?,
                Kind::Empty => self.empty_line(directive, at)?,
                _ => self.required(directive, at..part.end)?,
            };
            self.check_lines_between(directive, at, &found)?;
            self.refuse(&nots, at..found.start)?;
            nots.clear();
            at = found.end;
        }
        self.refuse(&nots, at..part.end)
    }

    fn required(&mut self, directive: &Directive, part: Range<usize>) -> Result<Range<usize>, String> {
        let from = part.start;
        self.find(directive, part)?.ok_or_else(|| self.missing(directive, from))
    }

    fn repeated(
        &mut self,
        directive: &Directive,
        times: usize,
        part: Range<usize>,
    ) -> Result<Range<usize>, String> {
        let mut at = part.start;
        let mut first = None;
        for _ in 0..times {
            let found = self.required(directive, at..part.end)?;
            first.get_or_insert(found.start);
            at = found.end;
        }
        Ok(first.unwrap_or(at)..at)
    }

    /// Directives in any order, without overlap.
    fn group(&mut self, group: &[Directive], part: Range<usize>) -> Result<Range<usize>, String> {
        let mut taken: Vec<Range<usize>> = Vec::new();
        for directive in group {
            let mut from = part.start;
            let found = loop {
                let found = self.required(directive, from..part.end)?;
                match taken.iter().find(|other| other.start < found.end && found.start < other.end) {
                    Some(other) => from = other.end,
                    None => break found,
                }
            };
            taken.push(found);
        }
        let start = taken.iter().map(|range| range.start).min().unwrap_or(part.start);
        let end = taken.iter().map(|range| range.end).max().unwrap_or(part.start);
        Ok(start..end)
    }

    /// Returns the end of this line and of the next one, if that is empty.
    fn empty_line(&self, directive: &Directive, at: usize) -> Result<Range<usize>, String> {
        let end = self.text[at..].find('\n').map_or(self.text.len(), |offset| at + offset);
        if self.text[end..].starts_with("\n\n") {
            Ok(end + 1..end + 1)
        } else {
            Err(format!("line {}: the next line is not empty{}", directive.line, self.context(at)))
        }
    }

    fn check_lines_between(
        &self,
        directive: &Directive,
        at: usize,
        found: &Range<usize>,
    ) -> Result<(), String> {
        let lines = self.text[at..found.start].matches('\n').count();
        let held = match directive.kind {
            Kind::Next => lines == 1,
            Kind::Same => lines == 0,
            _ => true,
        };
        if held {
            return Ok(());
        }
        let what = if directive.kind == Kind::Next { "next" } else { "same" };
        Err(format!(
            "line {}: '{}' is found, but not on the {what} line{}",
            directive.line,
            directive.pattern,
            self.context(at)
        ))
    }

    fn refuse(&mut self, nots: &[&Directive], part: Range<usize>) -> Result<(), String> {
        for directive in nots {
            if let Some(found) = self.find(directive, part.clone())? {
                return Err(format!(
                    "line {}: '{}' must not be there{}",
                    directive.line,
                    directive.pattern,
                    self.context(found.start)
                ));
            }
        }
        Ok(())
    }

    fn find(&mut self, directive: &Directive, part: Range<usize>) -> Result<Option<Range<usize>>, String> {
        let (source, names) = self.compile(directive)?;
        let regex = Regex::new(&source)
            .map_err(|error| format!("line {}: '{}': {error}", directive.line, directive.pattern))?;
        let Some(captures) = regex.captures_at(&self.text[..part.end], part.start) else { return Ok(None) };
        for name in names {
            if let Some(value) = captures.name(&name) {
                self.variables.insert(name, value.as_str().to_owned());
            }
        }
        Ok(captures.get(0).map(|whole| whole.range()))
    }

    /// A pattern as a regular expression, and the variables it defines.
    fn compile(&self, directive: &Directive) -> Result<(String, Vec<String>), String> {
        let fail = |why: String| format!("line {}: '{}': {why}", directive.line, directive.pattern);
        let mut source = String::from("(?m)");
        let mut names = Vec::new();
        let mut rest = directive.pattern.as_str();
        while let Some(at) = [rest.find("{{"), rest.find("[[")].into_iter().flatten().min() {
            source += &regex::escape(&rest[..at]);
            let close = if rest[at..].starts_with("{{") { "}}" } else { "]]" };
            let inner = &rest[at + 2..];
            let mut end = inner.find(close).ok_or_else(|| fail(format!("'{close}' is missing")))?;
            // The last of several closing marks closes: `{{a{2}}}`, `[[V:[a-z]]]`.
            while inner[end + 1..].starts_with(close) {
                end += 1;
            }
            let piece = &inner[..end];
            rest = &inner[end + 2..];
            if close == "}}" {
                source += &format!("(?:{piece})");
            } else if let Some(number) = line_number(piece, directive.line) {
                source += &number.to_string();
            } else if let Some((name, regex)) = piece.split_once(':') {
                source += &format!("(?P<{name}>{regex})");
                names.push(name.to_owned());
            } else if names.iter().any(|name| name == piece) {
                return Err(fail(format!("{piece} is used on the line that defines it")));
            } else {
                let value =
                    self.variables.get(piece).ok_or_else(|| fail(format!("{piece} is not defined")))?;
                source += &regex::escape(value);
            }
        }
        Ok((source + &regex::escape(rest), names))
    }

    fn missing(&self, directive: &Directive, from: usize) -> String {
        format!("line {}: '{}' is not found{}", directive.line, directive.pattern, self.context(from))
    }

    /// A few lines of the text for a message.
    fn context(&self, at: usize) -> String {
        let lines: Vec<_> = self.text[at..].lines().take(8).map(|line| format!("    | {line}")).collect();
        format!("; the text goes on\n{}", lines.join("\n"))
    }
}

/// `@LINE`, `@LINE+2`, `#@LINE-1`.
fn line_number(piece: &str, line: usize) -> Option<usize> {
    let offset = piece.trim_start_matches('#').strip_prefix("@LINE")?;
    let offset: isize = if offset.is_empty() { 0 } else { offset.parse().ok()? };
    line.checked_add_signed(offset)
}

/// What holds and what does not, as a test of this very checker.
pub(crate) fn self_test() -> Result<(), String> {
    let cases: &[(&str, &str, bool)] = &[
        ("// CHECK: a\n// CHECK: c", "a\nb\nc", true),
        ("// CHECK: c\n// CHECK: a", "a\nb\nc", false),
        ("// CHECK: a\n// CHECK-NEXT: b", "a\nb", true),
        ("// CHECK: a\n// CHECK-NEXT: c", "a\nb\nc", false),
        ("// CHECK: a\n// CHECK-SAME: b", "a  b", true),
        ("// CHECK: a\n// CHECK-SAME: b", "a\nb", false),
        ("// CHECK: a\n// CHECK-EMPTY:\n// CHECK-NEXT: b", "a\n\nb", true),
        ("// CHECK: a\n// CHECK-EMPTY:", "a\nb", false),
        ("// CHECK: a\n// CHECK-NOT: b\n// CHECK: c", "a\nc\nb", true),
        ("// CHECK: a\n// CHECK-NOT: b\n// CHECK: c", "a\nb\nc", false),
        ("// CHECK-NOT: b", "a", true),
        ("// CHECK-NOT: b", "b", false),
        ("// CHECK-DAG: b\n// CHECK-DAG: a", "a\nb", true),
        ("// CHECK-DAG: a\n// CHECK-DAG: a", "a\nb", false),
        ("// CHECK-LABEL: f\n// CHECK: 1\n// CHECK-LABEL: g\n// CHECK: 2", "f\n1\ng\n2", true),
        ("// CHECK-LABEL: f\n// CHECK: 2\n// CHECK-LABEL: g", "f\n1\ng\n2", false),
        ("// CHECK: [[V:%[a-z]+]] = {{[0-9]{2}}}\n// CHECK: use [[V]]", "%x = 42\nuse %x", true),
        ("// CHECK: [[V:%[a-z]+]] =\n// CHECK: use [[V]]", "%x = 42\nuse %y", false),
        ("// CHECK: [[W:[a-z]]]=", "b=", true),
        ("\n// CHECK: f:[[@LINE-1]]:", "f:1:", true),
        ("// CHECK-COUNT-2: a", "a a", true),
        ("// CHECK-COUNT-3: a", "a a", false),
        ("// CHECK: a   b", "a b", true),
        ("// CHECK: ^b", "a b", false),
        ("// CHECK: {{^}}b", "a b", false),
        ("// CHECK: {{^b$}}", "a\nb", true),
    ];
    let failed =
        |(checks, output, holds): &&(&str, &str, bool)| check(checks, "CHECK", output).is_ok() != *holds;
    match cases.iter().find(failed) {
        Some((checks, output, holds)) => Err(format!("{checks:?} on {output:?} is not {holds}")),
        None => Ok(()),
    }
}
