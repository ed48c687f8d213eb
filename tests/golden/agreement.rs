//! The proof of `tfrt check` agrees with checked runs, for each function of the golden programs
//! that uses devices.
//!
//! A run that finds a missing order has no proof. What the proof is certain of, the run finds too,
//! except for what only some runs show: `ONLY_PROVED` lists these, with reasons.

use std::path::Path;

use serde_json::Value;
use tfrt_ir::{Module, OpRegistry};

use crate::{command::tool, rechained};

/// What a run says of a missing order.
const MISSING: &[&str] = &[
    "nothing orders the two",
    "no chain orders the two",
    "is not ordered behind its allocation",
    "was never recorded, so it does not wait",
    "was never ended, so nothing of it ran",
];

/// Functions whose proof says more than a run, and why.
const ONLY_PROVED: &[(&str, &str)] = &[
    ("order:loose", "a run queues the record first"),
    ("order:early_host", "the copy may be over before the host reads"),
];

/// Whether there is something to compare.
pub(crate) fn applies(file: &Path) -> bool {
    let is_of_devices = |text: String| text.contains("tfrt_cuda.stream.create") && text.contains("func @");
    // Ranks of several processes.
    !file.starts_with("tests/mlir/distributed") && std::fs::read_to_string(file).is_ok_and(is_of_devices)
}

/// Compares all functions of a file that nobody calls and that take nothing.
///
/// # Errors
/// The functions of which the two say different things.
pub(crate) fn check(file: &Path, ops: &OpRegistry) -> Result<(), String> {
    let module = rechained::parse(file, ops)?;
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let mut differences = String::new();
    for function in entries(&module) {
        let name = format!("{stem}:{function}");
        let is_listed = ONLY_PROVED.iter().any(|(known, _)| *known == name);
        let run = run(file, &function)?;
        let proved = prove(file, &function, &run.failed)?;
        let agrees = if run.found { proved.found } else { !proved.is_certain || is_listed };
        if !agrees {
            differences += &format!("{name}: {run:?}, {proved:?}\n");
        }
    }
    if differences.is_empty() { Ok(()) } else { Err(differences) }
}

/// The functions without arguments that nobody calls.
fn entries(module: &Module) -> Vec<String> {
    let calls = module.walk(module.root()).filter(|&op| module.as_function(op).is_none());
    let names = calls.flat_map(|op| module.op(op).attributes.iter().map(|(_, value)| value));
    let called: Vec<String> =
        names.filter_map(|value| value.as_flat_symbol().map(ToString::to_string)).collect();
    let functions =
        module.functions().filter(|function| function.arguments().is_empty() && !function.is_external());
    functions.map(|function| function.name().to_owned()).filter(|name| !called.contains(name)).collect()
}

/// What the proof says.
#[derive(Debug)]
struct Proved {
    /// Whether something is out of order, or is not decided.
    found: bool,
    /// Whether that is so in every run.
    is_certain: bool,
}

/// Proves a function. What is found of kernels that fail does not count: they do nothing, which the
/// text does not say.
fn prove(file: &Path, function: &str, failed: &[String]) -> Result<Proved, String> {
    let file = file.to_string_lossy().into_owned();
    let arguments = ["check", &file, "--function", function, "--json"].map(str::to_owned);
    let output = tool("tfrt", arguments.into(), Vec::new())?.output;
    let json: Value = serde_json::from_slice(&output).map_err(|error| format!("{function}: {error}"))?;
    let of = &json["functions"][0];
    let all = of["findings"].as_array().ok_or_else(|| format!("{function}: no findings in {json}"))?;
    let has_failed =
        |kernel: &Value| kernel.as_str().is_some_and(|kernel| failed.iter().any(|place| place == kernel));
    let counts =
        |finding: &&Value| !finding["kernels"].as_array().is_some_and(|all| all.iter().any(has_failed));
    let findings: Vec<&Value> = all.iter().filter(counts).collect();
    let is_decided = of["undecided"].as_array().is_some_and(Vec::is_empty);
    let is_certain = findings.iter().any(|finding| finding["certain"] == true);
    Ok(Proved { found: !findings.is_empty() || !is_decided, is_certain })
}

/// What a checked run says.
#[derive(Debug)]
struct Run {
    /// Whether an order is missing.
    found: bool,
    /// The places of the kernels that failed otherwise.
    failed: Vec<String>,
}

fn run(file: &Path, function: &str) -> Result<Run, String> {
    let file = file.to_string_lossy().into_owned();
    let devices = ["--device", "cpu", "--cpu-devices", "3", "--check", "--deadline", "20s"];
    let arguments = ["run", &file, "--function", function];
    let arguments = arguments.iter().chain(&devices).map(|word| (*word).to_owned());
    let finished = tool("tfrt", arguments.collect(), Vec::new())?;
    let said = String::from_utf8_lossy(&finished.error).into_owned();
    let mut run = Run { found: false, failed: Vec::new() };
    let mut is_missing = false;
    for line in said.lines() {
        if line.starts_with("error: ") {
            is_missing = MISSING.iter().any(|missing| line.contains(missing));
            run.found |= is_missing;
        }
        if let Some((_, place)) = line.split_once("┌─ ")
            && !is_missing
        {
            run.failed.push(place.trim().to_owned());
        }
    }
    Ok(run)
}
