//! The suite over a CUDA driver that stands in for a GPU's: this program again, in a process that
//! finds the libraries of `tests/stand_in`.

#[path = "../../gpu/tests/stand_in/build.rs"]
mod build;

use std::path::Path;
use std::process::Command;

/// Tells the process that it is the second.
const VARIABLE: &str = "TFRT_CONFORMANCE_STAND_IN";
/// The variable's value for one case alone, which leaves a device that nobody else can use.
const ONE_CASE: &str = "one case";
/// Such cases.
const ALONE: [&str; 2] =
    ["faults/work_behind_a_fault_is_not_done", "faults/callbacks_behind_a_fault_are_let_go"];

/// Whether this process runs over the stand-in.
pub(crate) fn is_here() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Whether it runs one case there.
pub(crate) fn is_for_one_case() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == ONE_CASE)
}

/// Runs the suite over the stand-in: how many cases passed, failed, were skipped. A process that
/// dies has failed once.
pub(crate) fn run(filter: Option<&str>) -> Result<[usize; 3], String> {
    let folder = build::libraries()?;
    let mut counts = run_process(folder.path(), filter, "1")?;
    for case in ALONE.into_iter().filter(|case| filter.is_none_or(|filter| case.contains(filter))) {
        let [passed, failed, _] = run_process(folder.path(), Some(case), ONE_CASE)?;
        // There it was skipped.
        counts = [counts[0] + passed, counts[1] + failed, counts[2].saturating_sub(1)];
    }
    Ok(counts)
}

fn run_process(folder: &Path, filter: Option<&str>, what: &str) -> Result<[usize; 3], String> {
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = build::found_in(&mut Command::new(exe), folder)
        .args(filter)
        .env(VARIABLE, what)
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
