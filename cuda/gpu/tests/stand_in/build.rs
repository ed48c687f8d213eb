//! Builds the stand-in driver, for tests in other processes, and makes them find it.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The names that the gpu backend looks for.
const NAMES: [&str; 5] =
    ["libcuda.so", "libcublas.so.13", "libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2"];

/// Returns a folder with the stand-in under the names of the libraries that it replaces, built in
/// the profile of this program.
///
/// # Errors
/// If Cargo is missing, or this program is not where Cargo built it.
pub(crate) fn libraries() -> Result<TempDir, String> {
    let library = build()?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    for name in NAMES {
        std::os::unix::fs::symlink(&library, folder.path().join(name)).map_err(|error| error.to_string())?;
    }
    Ok(folder)
}

/// Makes a program find the libraries in a folder. It keeps no plans for them.
pub(crate) fn found_in<'c>(command: &'c mut Command, folder: &Path) -> &'c mut Command {
    let places = [("LD_LIBRARY_PATH", folder), ("TFRT_CUDA_LIBRARY_PATH", folder)];
    command.envs(places).env("TFRT_CACHE_DIR", "")
}

fn build() -> Result<PathBuf, String> {
    let cargo = Path::new(env!("CARGO"));
    if !cargo.exists() {
        return Err("there is no Cargo here to build it".to_owned());
    }
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = exe.parent().filter(|folder| folder.ends_with("deps"));
    let target = folder.and_then(Path::parent).ok_or("this program is not where Cargo made it")?;
    let profile = match target.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    // For the whole workspace, as tests are built: other features would compile its dependencies
    // again.
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--locked", "--workspace", "--example", "stand_in_cuda"])
        .args(["--profile", profile])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .map_err(|error| error.to_string())?;
    assert!(built.success(), "the stand-in builds");
    Ok(target.join("examples/libstand_in_cuda.so"))
}
