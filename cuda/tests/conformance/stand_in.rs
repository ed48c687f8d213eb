//! The suite over a CUDA driver that stands in for a GPU's: this program again, in a process that finds the libraries of
//! `tests/stand_in`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Tells the process that it is the second.
const VARIABLE: &str = "TFRT_CONFORMANCE_STAND_IN";
/// The names that the backend looks for.
const NAMES: [&str; 5] =
    ["libcuda.so", "libcublas.so.13", "libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2"];

/// Whether this process runs over the stand-in.
pub(crate) fn is_here() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Builds the stand-in with what this program was built with.
fn build() -> Result<PathBuf, String> {
    let cargo = Path::new(env!("CARGO"));
    if !cargo.exists() {
        return Err("there is no Cargo here to build it".to_owned());
    }
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = exe.parent().and_then(Path::parent).ok_or("this program lies nowhere")?;
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let built = Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "--locked",
            "-p",
            "tfrt-cuda",
            "--example",
            "stand_in_cuda",
            "--profile",
            profile,
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .map_err(|error| error.to_string())?;
    assert!(built.success(), "the stand-in builds");
    Ok(folder.join("examples/libstand_in_cuda.so"))
}

/// Runs the suite over the stand-in: how many cases passed, failed, were skipped. A process that dies has failed once.
pub(crate) fn run(filter: Option<&str>) -> Result<[usize; 3], String> {
    let library = build()?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    for name in NAMES {
        std::os::unix::fs::symlink(&library, folder.path().join(name)).map_err(|error| error.to_string())?;
    }
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(exe)
        .args(filter)
        .env(VARIABLE, "1")
        .env("LD_LIBRARY_PATH", folder.path())
        .env("TFRT_CUDA_LIBRARY_PATH", folder.path())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (lines, result) = match text.trim_end().rsplit_once('\n') {
        Some((lines, last)) if last.starts_with("test result:") => (lines, Some(last)),
        _ => (&*text, None),
    };
    println!("{}", lines.replace("\ncuda ", "\nstand-in driver: "));
    if !output.status.success() {
        println!("stand-in driver: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    // "test result: ok. 4 passed; 0 failed; 2 ignored; 6 cases"
    let counts =
        result.map(|line| line.split(' ').filter_map(|word| word.parse().ok()).collect::<Vec<usize>>());
    Ok(match counts.as_deref() {
        Some([passed, failed, skipped, _]) => [*passed, *failed, *skipped],
        _ => [0, 1, 0],
    })
}
