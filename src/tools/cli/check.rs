//! `tfrt check`: proves from a program's text that it orders what its devices do.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tfrt_compiler::{
    MAIN,
    lower::SETUP,
    proof::{self, Doubt, Entry, Finding, Proof},
};
use tfrt_convert::bef_to_mlir;
use tfrt_host::{Diagnostic, ErrorCode, SourceLocation};
use tfrt_ir::{Attribute, Location, Module};

use super::{
    Failure, print_json,
    program::{enumerate_names, read_program},
    report,
};
use crate::{Console, Errors, Runtime};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Program to check: MLIR text or a BEF file; '-' reads standard input
    program: PathBuf,
    /// Check the function NAME, which may be given several times [default: all that no other
    /// function calls]
    #[arg(short, long = "function", value_name = "NAME")]
    functions: Vec<String>,
    /// Call the function NAME once before, pass its results as the first arguments, and check two
    /// calls in a row [default: setup, if the function takes what it returns]
    #[arg(long, value_name = "NAME")]
    setup: Option<String>,
    /// Load kernels from a shared LIBRARY, whose code runs in this process
    #[arg(long = "kernels", value_name = "LIBRARY")]
    shared_libraries: Vec<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs the command.
pub(super) fn run(args: &Args, console: &mut Console) -> Result<(), Failure> {
    let mut builder = Runtime::builder();
    for library in &args.shared_libraries {
        builder = builder.shared_library(library);
    }
    let runtime = builder.build()?;
    let module = read(&args.program, &runtime, console)?;
    let ops = crate::operations(runtime.registry())?;
    let mut checked = Vec::new();
    for (setup, function) in entries(args, &module)? {
        let entry = Entry { setup: setup.as_deref(), function: &function };
        let proof = proof::check(&module, &ops, entry).ok_or_else(|| missing(&module, entry))?;
        // Functions that have nothing to do with devices are of no interest, unless somebody asks.
        if proof.operations > 0 || !proof.holds() || !args.functions.is_empty() {
            checked.push((function, proof));
        }
    }
    match args.json {
        true => print_json(console, &to_json(&checked)),
        false => show(&checked, console),
    }
    if checked.iter().all(|(_, proof)| proof.holds()) { Ok(()) } else { Err(Failure::Reported) }
}

fn read(path: &Path, runtime: &Runtime, console: &mut Console) -> Result<Module, Failure> {
    let program = read_program(path, runtime, console)?;
    let ops = crate::operations(runtime.registry())?;
    let converted = bef_to_mlir(program.bytes().to_vec(), &ops, &Location::Unknown).map_err(Errors::from)?;
    Ok(converted.module)
}

/// The functions to check, each with the one that prepares.
fn entries(args: &Args, module: &Module) -> Result<Vec<(Option<String>, String)>, Failure> {
    let setup = args.setup.clone();
    if !args.functions.is_empty() {
        return Ok(args
            .functions
            .iter()
            .map(|name| (setup.clone().or_else(|| prepares(module, name)), name.clone()))
            .collect());
    }
    if setup.is_some() {
        return Ok(vec![(setup, MAIN.to_owned())]);
    }
    let called = called(module);
    let functions = module.functions().filter(|function| function.body().is_some());
    let names = functions.map(|function| function.name().to_owned());
    let mut entries: Vec<(Option<String>, String)> =
        names.filter(|name| !called.contains(name)).map(|name| (prepares(module, &name), name)).collect();
    // A function that prepares is checked with those that take what it gives.
    if entries.iter().any(|(setup, _)| setup.is_some()) {
        entries.retain(|(_, name)| name != SETUP);
    }
    Ok(entries)
}

/// The function `setup`, if this one takes what it returns.
fn prepares(module: &Module, name: &str) -> Option<String> {
    let (setup, function) = (module.function(SETUP)?, module.function(name)?);
    let (prepared, taken) = (&setup.ty()?.results, &function.ty()?.inputs);
    (setup.ty()?.inputs.is_empty() && !prepared.is_empty() && taken.starts_with(prepared))
        .then(|| SETUP.to_owned())
}

/// The functions that operations name.
fn called(module: &Module) -> Vec<String> {
    let mut names = Vec::new();
    for op in module.walk(module.root()) {
        if module.as_function(op).is_some() {
            continue;
        }
        let mut stack: Vec<&Attribute> = module.op(op).attributes.iter().map(|(_, value)| value).collect();
        while let Some(value) = stack.pop() {
            stack.extend(value.as_array().unwrap_or_default());
            names.extend(value.as_flat_symbol().map(ToString::to_string));
        }
    }
    names
}

fn missing(module: &Module, entry: Entry<'_>) -> Failure {
    let has = |name: &&str| module.function(name).is_none();
    let name = entry.setup.into_iter().chain([entry.function]).find(has).unwrap_or(entry.function);
    let names = enumerate_names(module.functions().map(|function| function.name()));
    Failure::Usage(format!("the program has no function '{name}', but {names}"))
}

fn place_of(location: &Location) -> Option<SourceLocation> {
    let (file, line, column) = location.file_position()?;
    Some(SourceLocation { file: file.as_str().into(), line, column })
}

fn of_finding(finding: &Finding) -> Diagnostic {
    let mut error = Diagnostic::new(ErrorCode::DataRace, finding.message.clone());
    error.location = place_of(&finding.location);
    error.notes = finding.notes.iter().map(|(_, note)| note.clone()).collect();
    error
}

fn of_doubt(doubt: &Doubt) -> Diagnostic {
    let mut error =
        Diagnostic::new(ErrorCode::FailedPrecondition, format!("cannot decide: {}", doubt.message));
    error.location = place_of(&doubt.location);
    error
}

fn show(checked: &[(String, Proof)], console: &mut Console) {
    let errors = checked.iter().flat_map(|(_, proof)| {
        proof.findings.iter().map(of_finding).chain(proof.doubts.iter().map(of_doubt))
    });
    report::report(&errors.collect::<Vec<_>>(), console);
    for (function, proof) in checked {
        let Proof { operations, streams, .. } = proof;
        let certain = proof.findings.iter().filter(|finding| finding.is_certain).count();
        let possible = proof.findings.len() - certain;
        let verdict = match (certain, possible, proof.doubts.len()) {
            (0, 0, 0) => "all in order".to_owned(),
            (0, 0, _) => "not decided".to_owned(),
            (0, possible, _) => format!("{possible} possibly out of order"),
            (certain, 0, _) => format!("{certain} out of order"),
            (certain, possible, _) => format!("{certain} out of order, {possible} more possibly"),
        };
        console.print(format_args!("{function}: {operations} operations on {streams} streams, {verdict}\n"));
    }
    if checked.is_empty() {
        console.print("no function uses devices\n");
    }
}

fn to_json(checked: &[(String, Proof)]) -> Value {
    let of = |(function, proof): &(String, Proof)| {
        let findings: Vec<Value> = proof
            .findings
            .iter()
            .map(|finding| {
                let mut value = report::error_to_json(&of_finding(finding));
                let kernels =
                    finding.kernels.iter().map(|kernel| place_of(kernel).map(|place| place.to_string()));
                value["kernels"] = json!(kernels.collect::<Vec<_>>());
                value["certain"] = json!(finding.is_certain);
                value
            })
            .collect();
        let doubts: Vec<Value> =
            proof.doubts.iter().map(|doubt| report::error_to_json(&of_doubt(doubt))).collect();
        json!({
            "function": function, "operations": proof.operations, "streams": proof.streams,
            "in_order": proof.holds(), "findings": findings, "undecided": doubts,
        })
    };
    json!({ "functions": checked.iter().map(of).collect::<Vec<_>>() })
}
