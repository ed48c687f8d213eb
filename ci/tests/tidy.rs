//! What every file keeps to, and what stands at the top of the repository.

use std::collections::BTreeSet;

const MAX_LINES: usize = 900;
const MAX_BYTES: u64 = 4_000_000;

/// Entries of the root; a new one is a decision.
const TOP_LEVEL: &[&str] = &[
    ".ci",
    ".gitattributes",
    ".gitignore",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "bef",
    "benches",
    "ci",
    "clippy.toml",
    "compiler",
    "cuda",
    "deny.toml",
    "distributed",
    "docs",
    "eager",
    "examples",
    "fuzz",
    "host",
    "kernels",
    "models",
    "plugin",
    "rustfmt.toml",
    "src",
    "tests",
];

/// Words that say that something is not done, or for whom it was done. Written in two parts, as
/// this file is checked too.
const FORBIDDEN: &[(&str, &str)] = &[
    ("TO", "DO"),
    ("FIX", "ME"),
    ("XX", "X"),
    ("todo", "!("),
    ("unimple", "mented!("),
    ("dbg", "!("),
    ("#[ign", "ore"),
    ("coding a", "gent"),
    ("/ho", "me/"),
    ("/ro", "ot/"),
    ("/wo", "rk/"),
];

/// Crates, benches and tests that may contain unsafe code, where a file says so by name.
const UNSAFE_IN: &[&str] = &[
    "host/",
    "cuda/",
    "plugin/",
    "distributed/collectives/",
    "src/tools/cli/tie.rs",
    "examples/",
    "benches/math.rs",
    "benches/plugin.rs",
    "eager/tests/calls.rs",
];

#[test]
fn files_are_tidy() {
    let mut errors = Vec::new();
    for path in ci::files().unwrap() {
        let file = ci::root().join(&path);
        if std::fs::metadata(&file).unwrap().len() > MAX_BYTES {
            errors.push(format!("{path}: larger than {MAX_BYTES} bytes"));
        }
        // Binary files have neither lines nor words, and a small model can be valid text.
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        if path.ends_with(".onnx") {
            continue;
        }
        check_text(&path, &text, &mut errors);
        if path.ends_with(".rs") {
            check_rust(&path, &text, &mut errors);
        }
    }
    assert!(errors.is_empty(), "\n{}\n", errors.join("\n"));
}

fn check_text(path: &str, text: &str, errors: &mut Vec<String>) {
    if !text.is_empty() && !text.ends_with('\n') {
        errors.push(format!("{path}: the last line has no end"));
    }
    if path == "LICENSE" || path == "Cargo.lock" {
        return;
    }
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        // PTX is what the compiler wrote: `ci/ptx` compares its bytes.
        if line.ends_with([' ', '\t']) && !path.ends_with(".ptx") {
            errors.push(format!("{path}:{number}: blanks at the end"));
        }
        for (first, second) in FORBIDDEN {
            if line.contains(&format!("{first}{second}")) {
                errors.push(format!("{path}:{number}: '{first}{second}'"));
            }
        }
    }
}

fn check_rust(path: &str, text: &str, errors: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > MAX_LINES {
        errors.push(format!("{path}: {lines} lines; a file holds one idea, in at most {MAX_LINES}"));
    }
    // Tests beside the code may do without: their module's document is the module they test.
    let is_tests = path.ends_with("tests.rs");
    if !is_tests && !text.starts_with("//!") && !text.starts_with("#!") {
        errors.push(format!("{path}: begins without a word about what it is ('//!')"));
    }
    if text.contains("expect(unsafe_code") && !UNSAFE_IN.iter().any(|crate_path| path.starts_with(crate_path))
    {
        let tells_of_it = path.starts_with("ci/");
        if !tells_of_it {
            errors.push(format!("{path}: unsafe code has no place in this crate"));
        }
    }
    if text.contains("feature = \"cuda\"") && !path.starts_with("cuda/") && !path.starts_with("ci/") {
        errors.push(format!("{path}: CUDA is found at run time, not chosen by a feature"));
    }
}

#[test]
fn the_top_level_is_known() {
    let files = ci::files().unwrap();
    let found: BTreeSet<_> = files.iter().map(|path| path.split('/').next().unwrap_or(path)).collect();
    let known = TOP_LEVEL.iter().copied().collect();
    let strangers: Vec<_> = found.difference(&known).collect();
    assert!(strangers.is_empty(), "not known at the top of the repository: {strangers:?}");
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(gone.is_empty(), "known, but not at the top of the repository: {gone:?}");
    let architecture = std::fs::read_to_string(ci::root().join("ARCHITECTURE.md")).unwrap();
    let unsaid =
        |name: &&&str| ci::root().join(name).is_dir() && !architecture.contains(&format!("`{name}/`"));
    let unsaid: Vec<_> = found.iter().filter(unsaid).collect();
    assert!(unsaid.is_empty(), "ARCHITECTURE.md does not say what these folders are: {unsaid:?}");
}
