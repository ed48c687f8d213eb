//! Golden programs with chains of the compiler's own: all chains are taken out and inserted again.
//!
//! The program then prints what its file says, and has no more chains than before. `chains.txt`
//! lists the exceptions, with reasons; a listed program that passes is an error.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use tfrt::host::KernelRegistry;
use tfrt_compiler::chains;
use tfrt_convert::{ConvertOptions, mlir_to_bef};
use tfrt_ir::{Diagnostics, Module, OpRegistry, ParseOptions, Source, parse_module, verify};

use crate::case;

const EXCEPTIONS: &str = "tests/golden/chains.txt";

/// The operations of the runtime's kernels.
pub(crate) fn operations() -> OpRegistry {
    let mut kernels = KernelRegistry::new();
    tfrt::register_kernels(&mut kernels);
    tfrt::operations(&kernels).expect("all kernels' signatures can be read")
}

/// Whether this test is about a file: its commands run it from its binary form.
pub(crate) fn applies(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.contains(case::BINARY))
}

/// The exceptions by file, with their reasons.
///
/// # Errors
/// A line that is no exception.
fn exceptions() -> Result<BTreeMap<PathBuf, String>, String> {
    let text = std::fs::read_to_string(EXCEPTIONS).map_err(|error| format!("{EXCEPTIONS}: {error}"))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (file, reason) = line.split_once(": ").ok_or_else(|| format!("{EXCEPTIONS}: {line}"))?;
            Ok((PathBuf::from(file), reason.to_owned()))
        })
        .collect()
}

/// Runs a file with new chains.
///
/// # Errors
/// What does not hold, or that an exception does.
pub(crate) fn run(file: &Path, ops: &OpRegistry) -> Result<(), String> {
    let exception = exceptions()?.remove(file);
    match (rechain(file, ops), exception) {
        (Ok(()), Some(reason)) => Err(format!("passes, but {EXCEPTIONS} lists it: {reason}")),
        (Err(error), None) => Err(error),
        (Ok(()), None) | (Err(_), Some(_)) => Ok(()),
    }
}

fn rechain(file: &Path, ops: &OpRegistry) -> Result<(), String> {
    let mut module = parse(file, ops)?;
    let before = chains::count(&module);
    chains::strip(&mut module, ops);
    check(&verify(&module, ops))?;
    chains::insert(&mut module, ops).map_err(|errors| messages(&errors))?;
    check(&verify(&module, ops))?;
    let after = chains::count(&module);
    if after > before {
        return Err(format!("{after} chains instead of {before}"));
    }
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let bef = mlir_to_bef(&module, ops, ConvertOptions::default()).map_err(|errors| messages(&errors))?;
    let path = scratch.path().join("rechained.bef");
    std::fs::write(&path, bef).map_err(|error| error.to_string())?;
    case::run_binary(file, &path, scratch.path())
}

/// The module in a file.
pub(crate) fn parse(file: &Path, ops: &OpRegistry) -> Result<Module, String> {
    let text = std::fs::read(file).map_err(|error| error.to_string())?;
    let source = Source::new(file.to_string_lossy().as_ref(), text);
    parse_module(&source, ops, &ParseOptions::default()).map_err(|errors| messages(&errors))
}

fn check(errors: &Diagnostics) -> Result<(), String> {
    if errors.is_empty() { Ok(()) } else { Err(messages(errors)) }
}

fn messages(errors: &Diagnostics) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Checks that no chain of the program is missing, but for kernels whose error the program expects.
///
/// # Errors
/// The missing chains.
pub(crate) fn check_chains(file: &Path, ops: &OpRegistry) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let lines: Vec<&str> = text.lines().collect();
    let fails = |location: &tfrt_ir::Location| {
        let line = location.file_position().map_or(0, |(_, line, _)| line as usize);
        let before = line.checked_sub(2).and_then(|before| lines.get(before));
        before.is_some_and(|before| before.contains("expected-error") || before.contains("CHECK: error:"))
    };
    let missing = chains::check(&parse(file, ops)?, ops);
    let found: Vec<String> = missing
        .into_iter()
        .filter(|missing| !missing.kernels.iter().any(fails))
        .map(|missing| missing.message)
        .collect();
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}
