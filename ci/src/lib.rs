//! What the checks of the house share: the files of the repository, and what cargo says of its
//! packages.

use std::{path::PathBuf, process::Command};

use serde_json::Value;

/// The repository's root.
pub fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}

/// What `cargo metadata` prints, without looking at the network.
///
/// # Errors
/// If cargo cannot be run or prints something else.
pub fn metadata(arguments: &[&str]) -> Result<Value, String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--offline"])
        .args(arguments)
        .current_dir(root())
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// The files git knows or would add, as paths from the root.
///
/// # Errors
/// If git cannot be run.
pub fn files() -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .map_err(|error| format!("git ls-files: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let present = |path: &&str| root().join(path).is_file();
    Ok(text.lines().filter(present).map(str::to_owned).collect())
}
