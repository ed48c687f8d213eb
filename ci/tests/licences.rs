//! Every package that is linked on Linux has a licence that `deny.toml` allows.

use std::collections::BTreeSet;

#[test]
fn licences_are_allowed() {
    let text = std::fs::read_to_string(ci::root().join("deny.toml")).unwrap();
    let allowed = allowed(&text);
    assert!(allowed.contains("Apache-2.0"), "deny.toml has no list of allowed licences");
    let metadata = ci::metadata(&["--filter-platform", "x86_64-unknown-linux-gnu"]).unwrap();
    let mut errors = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        match package["license"].as_str() {
            Some(licence) if satisfied(licence, &allowed) => {}
            Some(licence) => errors.push(format!("{name}: {licence}")),
            None => errors.push(format!("{name}: no licence")),
        }
    }
    assert!(errors.is_empty(), "\n{}\n", errors.join("\n"));
}

/// The quoted entries of `allow = […]`.
fn allowed(deny: &str) -> BTreeSet<String> {
    let list = deny.split_once("allow = [").and_then(|(_, rest)| rest.split_once(']')).map_or("", |l| l.0);
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether an SPDX expression can be met: `OR` (or `/`, as older packages write) needs one side,
/// `AND` both.
fn satisfied(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<_> = expression.split_whitespace().collect();
    let mut at = 0;
    alternatives(&words, &mut at, allowed) && at == words.len()
}

fn alternatives(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = all(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all(words, at, allowed);
    }
    met
}

fn all(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let Some(&word) = words.get(*at) else { return false };
    *at += 1;
    if word == "(" {
        let met = alternatives(words, at, allowed);
        *at += 1;
        return met;
    }
    let mut name = word.to_owned();
    if words.get(*at) == Some(&"WITH") {
        name = format!("{word} WITH {}", words.get(*at + 1).unwrap_or(&""));
        *at += 2;
    }
    allowed.contains(&name)
}

#[test]
fn expressions_are_read() {
    let allowed: BTreeSet<_> = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into();
    let cases = [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("Unlicense/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("(GPL-3.0 OR MIT) AND Zlib", true),
        ("Zlib AND (GPL-3.0 OR BSD-2-Clause)", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
        ("", false),
    ];
    for (expression, expected) in cases {
        assert_eq!(satisfied(expression, &allowed), expected, "{expression}");
    }
}
