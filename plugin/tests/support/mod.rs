//! Builds C sources while the tests run.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of this crate.
pub(crate) fn crate_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The C sources of the tests.
pub(crate) fn sources() -> PathBuf {
    crate_dir().join("../tests/plugin")
}

/// A folder of the test's own for what it builds.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Compiles C, warnings being errors; the headers of the RFC's layout come last.
pub(crate) fn compile(source: &Path, output: &Path, arguments: &[&str]) {
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-g"]).args(arguments);
    compiler.arg(source).arg("-o").arg(output).arg("-I").arg(crate_dir().join("include"));
    let done = compiler.output().unwrap();
    assert!(done.status.success(), "{compiler:?}\n{}", String::from_utf8_lossy(&done.stderr));
}

/// Compiles a plug-in.
pub(crate) fn plugin(source: &Path, output: &Path, arguments: &[&str]) {
    compile(source, output, &[&["-shared", "-fPIC", "-pthread"], arguments].concat());
}
