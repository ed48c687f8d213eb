//! Who may depend on whom, as a table. A new edge is a change of the architecture: it is made here, where a reviewer
//! sees it, or this test fails.

use std::collections::BTreeMap;

/// Each package and the packages of this workspace it may depend on. `tfrt` links every layer and may depend on all.
const ALLOWED: &[(&str, &[&str])] = &[
    ("tfrt-bef", &[]),
    ("tfrt-ir", &[]),
    ("tfrt-math", &[]),
    ("tfrt-ptx", &[]),
    ("tfrt-host", &["tfrt-bef"]),
    ("tfrt-tensor", &["tfrt-host"]),
    ("tfrt-convert", &["tfrt-ir", "tfrt-bef", "tfrt-host"]),
    ("tfrt-cuda", &["tfrt-host", "tfrt-tensor", "tfrt-math", "tfrt-ptx"]),
    ("tfrt-plugin", &["tfrt-host", "tfrt-cuda"]),
    ("tfrt-cpu-plugin", &["tfrt-cuda", "tfrt-plugin"]),
    ("tfrt-kernels", &["tfrt-host", "tfrt-tensor", "tfrt-math", "tfrt-cuda"]),
    ("tfrt-models", &["tfrt-host", "tfrt-tensor"]),
    ("tfrt-eager", &["tfrt-host", "tfrt-tensor", "tfrt-math", "tfrt-cuda", "tfrt-kernels"]),
    ("ci", &[]),
];

/// External packages that only these may depend on.
const FENCED: &[(&str, &[&str])] = &[
    ("cudarc", &["tfrt-cuda"]),
    ("clap", &["tfrt"]),
    ("clap_complete", &["tfrt"]),
    ("indicatif", &["tfrt"]),
    ("lexopt", &["tfrt"]),
    ("codespan-reporting", &["tfrt", "tfrt-ir"]),
    ("crossbeam-deque", &["tfrt-host"]),
    ("libloading", &["tfrt-host", "tfrt-cuda", "tfrt-plugin"]),
];

/// Packages nobody may depend on: registration is by call, never by being linked.
const FORBIDDEN: &[&str] = &["ctor", "inventory", "linkme"];

#[test]
fn dependencies_point_down() {
    let metadata = ci::metadata(&["--no-deps"]).unwrap();
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    let packages = metadata["packages"].as_array().unwrap();
    let is_there = |name: &str| packages.iter().any(|package| package["name"] == name);
    let mut errors: Vec<_> =
        allowed.keys().filter(|name| !is_there(name)).map(|name| format!("there is no {name}")).collect();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        if name != "tfrt" && !allowed.contains_key(name) {
            errors.push(format!("{name} is not in the table"));
        }
        for dependency in package["dependencies"].as_array().unwrap() {
            let target = dependency["name"].as_str().unwrap();
            let for_tests = dependency["kind"] == "dev";
            let edges = allowed.get(name).copied().unwrap_or_default();
            if name != "tfrt" && !for_tests && allowed.contains_key(target) && !edges.contains(&target) {
                errors.push(format!("{name} must not depend on {target}"));
            }
            let fence = FENCED.iter().find(|(fenced, _)| *fenced == target);
            if fence.is_some_and(|(_, owners)| !owners.contains(&name)) {
                errors.push(format!("{name} must not depend on {target}, which is fenced"));
            }
            if FORBIDDEN.contains(&target) {
                errors.push(format!("{name} must not depend on {target}: nobody may"));
            }
        }
    }
    assert!(errors.is_empty(), "\n{}\n", errors.join("\n"));
}

#[test]
fn the_table_has_no_cycle() {
    let mut settled: Vec<&str> = Vec::new();
    let mut open: Vec<_> = ALLOWED.to_vec();
    while !open.is_empty() {
        let before = open.len();
        open.retain(|(name, edges)| {
            let ready = edges.iter().all(|edge| settled.contains(edge));
            if ready {
                settled.push(name);
            }
            !ready
        });
        assert!(open.len() < before, "a cycle among {open:?}");
    }
}
