//! Who may depend on whom: the table of crates in ARCHITECTURE.md, line for line what the manifests
//! say. A new edge is a change of the architecture: it is made there, where a reviewer sees it, or
//! this test fails.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde_json::Value;

/// Where a package is, and the packages of this workspace that it depends on.
#[derive(Debug, PartialEq, Eq)]
struct Package {
    folder: String,
    edges: BTreeSet<String>,
}

/// External packages that only these may depend on.
const FENCED: &[(&str, &[&str])] = &[
    ("cudarc", &["tfrt-gpu"]),
    ("clap", &["tfrt", "tfrt_worker"]),
    ("tonic", &["tfrt-distributed"]),
    ("clap_complete", &["tfrt"]),
    ("indicatif", &["tfrt"]),
    ("lexopt", &["tfrt"]),
    ("codespan-reporting", &["tfrt", "tfrt-ir"]),
    ("crossbeam-deque", &["tfrt-host"]),
    ("libloading", &["tfrt-host", "tfrt-gpu", "tfrt-plugin", "tfrt-collectives"]),
];

/// Packages nobody may depend on: registration is by call, never by being linked.
const FORBIDDEN: &[&str] = &["ctor", "inventory", "linkme"];

/// The rows of the table in ARCHITECTURE.md, by the package's name: name, folder, what it is, and
/// the packages that it depends on, without the `tfrt-` that all of them begin with.
fn table(text: &str) -> BTreeMap<String, Package> {
    let row = |line: &str| {
        let cells: Vec<_> =
            line.strip_prefix("| `")?.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let &[name, folder, _, edges, ""] = &*cells else { return None };
        let named = |edge: &str| if edge == "tfrt" { edge.to_owned() } else { format!("tfrt-{edge}") };
        let edges = edges.split_whitespace().filter(|edge| *edge != "none").map(named);
        let folder = folder.trim_end_matches('/').to_owned();
        Some((name.to_owned(), Package { folder, edges: edges.collect() }))
    };
    let rows = text.lines().skip_while(|line| !line.starts_with("| crate |"));
    rows.take_while(|line| line.starts_with('|')).filter_map(row).collect()
}

impl Package {
    /// Its row of the table.
    fn row(&self, name: &str) -> String {
        let edges: Vec<_> = self.edges.iter().map(|edge| edge.trim_start_matches("tfrt-")).collect();
        let edges = if edges.is_empty() { "none".to_owned() } else { format!("`{}`", edges.join(" ")) };
        format!("| `{name}` | `{}/` | … | {edges} |", self.folder)
    }
}

/// What the manifests say.
fn manifests(packages: &[Value]) -> BTreeMap<String, Package> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let names: BTreeSet<_> = packages.iter().map(|package| text(&package["name"])).collect();
    let package = |package: &Value| {
        let dependencies = package["dependencies"].as_array().unwrap();
        let edges = dependencies.iter().filter(|dependency| dependency["kind"] != "dev");
        let edges = edges.map(|edge| text(&edge["name"])).filter(|name| names.contains(name)).collect();
        let manifest = text(&package["manifest_path"]);
        let folder = Path::new(&manifest).parent().unwrap().strip_prefix(ci::root()).unwrap();
        let folder = if folder == Path::new("") { Path::new(".") } else { folder };
        (text(&package["name"]), Package { folder: folder.display().to_string(), edges })
    };
    packages.iter().map(package).collect()
}

#[test]
fn the_table_in_architecture_is_what_the_manifests_say() {
    let metadata = ci::metadata(&["--no-deps"]).unwrap();
    let found = manifests(metadata["packages"].as_array().unwrap());
    let told = table(&std::fs::read_to_string(ci::root().join("ARCHITECTURE.md")).unwrap());
    let mut errors = Vec::new();
    for name in found.keys().chain(told.keys().filter(|name| !found.contains_key(*name))) {
        match (found.get(name), told.get(name)) {
            (Some(found), Some(told)) if found == told => {}
            (Some(found), _) => errors.push(format!("there should be {}", found.row(name))),
            (None, _) => errors.push(format!("there is no {name}")),
        }
    }
    assert!(errors.is_empty(), "the table of crates in ARCHITECTURE.md:\n{}\n", errors.join("\n"));
}

#[test]
fn fenced_and_forbidden_packages_stay_out() {
    let metadata = ci::metadata(&["--no-deps"]).unwrap();
    let mut errors = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        for dependency in package["dependencies"].as_array().unwrap() {
            let target = dependency["name"].as_str().unwrap();
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
