//! The suite over a CUDA driver that stands in for a GPU's: this program again, in a process that finds the libraries of
//! `tests/stand_in`.

#[path = "../stand_in/build.rs"]
mod build;

use std::process::Command;

/// Tells the process that it is the second.
const VARIABLE: &str = "TFRT_CONFORMANCE_STAND_IN";
/// Whether this process runs over the stand-in.
pub(crate) fn is_here() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Runs the suite over the stand-in: how many cases passed, failed, were skipped. A process that dies has failed once.
pub(crate) fn run(filter: Option<&str>) -> Result<[usize; 3], String> {
    let folder = build::libraries()?;
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = build::found_in(&mut Command::new(exe), folder.path())
        .args(filter)
        .env(VARIABLE, "1")
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
