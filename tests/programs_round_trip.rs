//! Programs of other people go to BEF and come back as they were.
//!
//! The directories to search are named, separated by colons, by the environment variable
//! `TFRT_MLIR_PROGRAMS`; without it there is nothing to test. Files that do not parse are passed
//! over: some are wrong on purpose, and some use ops of other systems.
#![cfg(feature = "full")]

use std::path::{Path, PathBuf};

use tfrt_convert::{ConvertOptions, bef_to_mlir, mlir_to_bef, operations};
use tfrt_host::KernelRegistry;
use tfrt_ir::{Location, OpRegistry, ParseOptions, PrintOptions, Source, parse_module, print_module};

fn registry() -> OpRegistry {
    let mut kernels = KernelRegistry::new();
    tfrt::register_kernels(&mut kernels);
    operations(&kernels).expect("all kernels' signatures can be read")
}

fn find_programs(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("the directory can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            find_programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "mlir") {
            found.push(path);
        }
    }
}

/// The text of a program and of what comes back; `None` if it cannot be parsed or the format has no
/// place for it.
fn round_trip(ops: &OpRegistry, name: &str, text: &str) -> Option<(String, String)> {
    let module = parse_module(&Source::new(name, text), ops, &ParseOptions::default()).ok()?;
    let bytes = mlir_to_bef(&module, ops, ConvertOptions::default()).ok()?;
    let back = bef_to_mlir(bytes, ops, &Location::Unknown).expect("what was encoded can be read").module;
    let print = |module| print_module(module, ops, PrintOptions::default());
    Some((print(&module), print(&back)))
}

#[test]
fn programs_come_back_as_they_were() {
    let Some(directories) = std::env::var_os("TFRT_MLIR_PROGRAMS") else { return };
    let ops = registry();
    let mut programs = Vec::new();
    std::env::split_paths(&directories).for_each(|directory| find_programs(&directory, &mut programs));
    let mut converted = 0;
    for path in &programs {
        let text = String::from_utf8_lossy(&std::fs::read(path).expect("the file can be read")).into_owned();
        for part in text.split("// -----") {
            if let Some((before, after)) = round_trip(&ops, &path.to_string_lossy(), part) {
                assert_eq!(after, before, "{}", path.display());
                converted += 1;
            }
        }
    }
    println!("{converted} parts of {} files converted", programs.len());
    assert!(converted > 0, "no program could be parsed");
}
