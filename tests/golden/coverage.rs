//! Which kernels and which ops no golden program uses.

use std::{collections::HashSet, path::PathBuf};

use tfrt::{
    eager::{Op, OpRegistry},
    host::{Kernel, KernelRegistry},
    register_kernels,
};

/// Looks for the name of each kernel, and of each op but those of tests, in these programs,
/// comments left out.
///
/// # Errors
/// The names that are in none of them, one a line; a program that cannot be read.
pub(crate) fn check(programs: &[PathBuf]) -> Result<(), String> {
    let mut used = HashSet::new();
    for file in programs {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        used.extend(names(&text).map(str::to_owned));
    }
    let mut kernels = KernelRegistry::new();
    register_kernels(&mut kernels);
    let mut ops = OpRegistry::new();
    tfrt::eager::ops::register(&mut ops);
    let ops = ops.ops().map(Op::name).filter(|name| !name.starts_with("tfrt_test."));
    let all: Vec<_> = kernels.kernels().map(Kernel::name).chain(ops).collect();
    let mut unused: Vec<_> = all.iter().copied().filter(|&name| !used.contains(name)).collect();
    unused.sort_unstable();
    if unused.is_empty() {
        return Ok(());
    }
    let (missing, count) = (unused.len(), all.len());
    Err(format!("{missing} of {count} kernels and ops are in no golden program:\n  {}", unused.join("\n  ")))
}

/// The words of a program that have a dot within, as the names of kernels and ops have. A word ends
/// where no name could go on, so that `a.b.i32` does not stand for `a.b`.
fn names(program: &str) -> impl Iterator<Item = &str> {
    let code = program.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    code.flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_')))
        .filter(|word| word.contains('.'))
}
