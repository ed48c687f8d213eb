//! TensorFlow's own texts of the `tf_executor` dialect, from a checkout that
//! `TFRT_TENSORFLOW_SOURCE` names. The counts are those of commits from December 2020 on.

use std::{env, fs, path::Path};

use tfrt_ir::{Source, split_source};

const TESTS: &str = "tensorflow/compiler/mlir/tensorflow/tests";

/// The text of a file, if there is a checkout.
#[expect(clippy::print_stderr, reason = "says why a test is skipped")]
fn read(name: &str) -> Option<String> {
    let Ok(root) = env::var("TFRT_TENSORFLOW_SOURCE") else {
        eprintln!("skipped: TFRT_TENSORFLOW_SOURCE names no checkout of TensorFlow");
        return None;
    };
    let path = Path::new(&root).join(TESTS).join(name);
    Some(fs::read_to_string(path).expect("the checkout has this file"))
}

#[test]
fn its_graphs_come_back_as_they_were() {
    let Some(text) = read("tf_executor_ops.mlir") else { return };
    let printed = super::assert_round_trip(&text);
    assert_eq!(printed.matches("\n  func ").count() + printed.matches("\nfunc ").count(), 49);
    // Versions differ in blanks.
    let printed = printed.replace(' ', "");
    let checks = text.lines().filter_map(|line| line.trim().strip_prefix("// CHECK: tf_executor."));
    for check in checks {
        // What stands in the pattern before the first expression.
        let start = check.split("%{{").next().and_then(|start| start.split("{{").next()).unwrap_or(check);
        assert!(printed.contains(&format!("tf_executor.{start}").replace(' ', "")), "no '{start}'");
    }
}

/// The lines on which a text expects errors.
fn expected_lines(part: &Source) -> Vec<u32> {
    let text = String::from_utf8_lossy(part.text());
    let mut lines = Vec::new();
    for (number, line) in (part.first_line()..).zip(text.lines()) {
        let Some((_, rest)) = line.split_once("expected-error@") else { continue };
        let offset: i64 =
            rest.split_whitespace().next().and_then(|text| text.parse().ok()).expect("an offset");
        lines.push(u32::try_from(i64::from(number) + offset).expect("a line"));
    }
    lines
}

#[test]
fn its_broken_graphs_are_refused_where_they_are_broken() {
    let Some(text) = read("tf_executor_ops_invalid.mlir") else { return };
    let parts = split_source(&Source::new("invalid", text));
    assert_eq!(parts.len(), 66);
    let mut failures = Vec::new();
    for part in &parts {
        let text = String::from_utf8_lossy(part.text()).into_owned();
        let expected = expected_lines(part);
        let first = part.first_line();
        let found: Vec<_> =
            super::errors(&text).into_iter().map(|(line, text)| (line + first - 1, text)).collect();
        if !expected.iter().all(|line| found.iter().any(|(found, _)| found == line)) {
            failures.push(format!("expected errors on {expected:?}, found {found:?}"));
        }
    }
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), parts.len(), failures.join("\n"));
}
