//! Which kernels no golden program uses.

use std::{collections::HashSet, path::PathBuf};

use tfrt::{
    host::{Kernel, KernelRegistry},
    register_kernels,
};

/// Looks for the name of each kernel in these programs, comments left out.
///
/// # Errors
/// The names that are in none of them, one a line; a program that cannot be read.
pub(crate) fn check(programs: &[PathBuf]) -> Result<(), String> {
    let mut used = HashSet::new();
    for file in programs {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        used.extend(names(&text).map(str::to_owned));
    }
    let mut registry = KernelRegistry::new();
    register_kernels(&mut registry);
    let unused: Vec<_> = registry.kernels().map(Kernel::name).filter(|&name| !used.contains(name)).collect();
    if unused.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} of {} kernels are in no golden program:\n  {}",
        unused.len(),
        registry.kernels().len(),
        unused.join("\n  ")
    ))
}

/// The words of a program that have a dot within, as kernels' names have. A word ends where no name could go on, so
/// that `a.b.i32` does not stand for `a.b`.
fn names(program: &str) -> impl Iterator<Item = &str> {
    let code = program.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    code.flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_')))
        .filter(|word| word.contains('.'))
}
