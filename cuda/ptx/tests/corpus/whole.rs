//! The corpus as a whole: every file loads, and every kernel of it has a test.

use std::{collections::BTreeSet, fs, path::Path};

use tfrt_ptx::Module;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus"))
}

#[test]
fn every_kernel_is_launched() {
    let mut missing = BTreeSet::new();
    let mut kernels = BTreeSet::new();
    for entry in fs::read_dir(folder().join("ptx")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let (source, target) = name.strip_suffix(".ptx").unwrap().split_once('.').unwrap();
        let tests = fs::read_to_string(folder().join(source).with_extension("rs")).unwrap();
        let module = Module::parse(&fs::read_to_string(&path).unwrap());
        assert!(module.is_ok(), "{name}: {}", module.err().map(|e| e.to_string()).unwrap_or_default());
        for kernel in module.unwrap().functions() {
            kernels.insert(format!("{source}::{kernel}"));
            // Its name stands in a list of `kernels!` for this target.
            let listed = tests.split("kernels! {").skip(1).any(|list| {
                let list = list.split('}').next().unwrap_or_default();
                let (targets, names) = list.split_once("=>").unwrap_or_default();
                targets.contains(target) && names.split([' ', '\n', '[', ']']).any(|word| word == kernel)
            });
            if !listed {
                missing.insert(format!("{source}::{target}::{kernel}"));
            }
        }
    }
    assert!(missing.is_empty(), "without a test: {missing:?}");
    assert!(kernels.len() >= 60, "{} kernels", kernels.len());
}
