//! `tfrt run`: calls a function once and prints, writes or checks its results.

use std::{
    fmt,
    fs::File,
    io::{self, BufWriter},
    iter,
    path::{Path, PathBuf},
};

use serde::Serialize;
use serde_json::json;
use tfrt_compiler::lower::SETUP;
use tfrt_host::{AsyncValue, Diagnostic, Value, tracing};
use tfrt_tensor::HostTensor;

use super::{
    Failure, classes, file_error,
    merge_traces::merge,
    model::Model,
    print_json,
    program::{MissingInputs, ProgramArgs, RemoteTrace, Session, named},
    report::{error_to_json, report, to_json, visible},
    values::{self, CHAIN, Difference, JsonValue},
};
use crate::{
    Console, Errors,
    files::{check_output_path, replace_file},
};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// Write the next result, or result N, to a .npy, .btf or .safetensors FILE
    #[arg(short, long = "output", value_name = "[N=]FILE")]
    outputs: Vec<String>,
    /// Compare the next result, or result N, with VALUE, which is written as for --input
    #[arg(long = "expected-output", value_name = "[N=]VALUE", allow_hyphen_values = true)]
    expected: Vec<String>,
    /// Accept floating-point differences up to NUMBER, absolute or relative to the greater value
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-5)]
    tolerance: f64,
    /// Write a Chrome trace to FILE if it ends in .json, else a Perfetto trace
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Mark kernels as NVTX ranges for NVIDIA's profilers
    #[arg(long)]
    nvtx: bool,
    /// Print the results as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs the command.
pub(super) fn run(args: &Args, console: &mut Console) -> Result<(), Failure> {
    if let Some(file) = &args.trace {
        check_output_path(file).map_err(|error| file_error("write", file, error))?;
    }
    // With --json the output is one JSON value, so text that kernels print goes to the error
    // stream.
    let printed = if args.json { console.error.clone() } else { console.output.clone() };
    let mut session = Session::new(
        &args.program,
        &result_names(args),
        Some(printed),
        MissingInputs::Refuse,
        args.trace.is_some(),
        console,
    )?;
    let types = session.result_types();
    let wanted = Wanted::new(args, &session, &types)?;
    let has_profiler = args.nvtx && tfrt_gpu::mark_spans_for_profilers().is_ok();
    if args.trace.is_some() || has_profiler {
        tracing::enable();
    }
    let called = session.call();
    if args.trace.is_some() {
        // Work on devices belongs to the trace, also if nothing waits for it.
        session.await_devices();
    }
    tracing::disable();
    if console.output.is_closed() {
        // The reader has read enough.
        return Ok(());
    }
    // If a file cannot be written, the results and the program's own errors are shown all the same.
    let remote = session.close_cluster();
    let traced = args.trace.as_deref().map_or(Ok(()), |file| write_trace(file, &remote, console));
    for error in [traced, session.write_timeline()].into_iter().filter_map(Result::err) {
        session.note(error);
    }
    let results = match called {
        Ok(results) => results,
        Err(error) => {
            session.note(error);
            return Err(Errors(session.take_errors(&[])).into());
        }
    };
    session.runtime.host().flush();
    let shown = if args.json {
        Some(results_json(&session, &results, &types))
    } else {
        print_results(&session, &results, &types, console);
        None
    };
    wanted.write_outputs(&session, &results);
    let mismatches = wanted.check_expected(args.tolerance, (&session, &types), &results);
    let (function, is_interrupted) = (session.function.clone(), session.is_interrupted());
    let errors = session.finish(results);
    if let Some(results) = shown {
        let mismatches = mismatches.iter().map(Mismatch::to_json).collect();
        print_json(console, &Shown { errors: to_json(&errors), function: &function, mismatches, results });
    }
    for mismatch in &mismatches {
        console.complain(format_args!("error: {}", visible(&mismatch.to_string())));
    }
    report(&errors, console);
    match () {
        () if is_interrupted => Err(Failure::Interrupted),
        () if mismatches.is_empty() && errors.is_empty() => Ok(()),
        () => Err(Failure::Reported),
    }
}

/// A result that differs from its expected value.
struct Mismatch {
    result: usize,
    difference: Difference,
}

impl Mismatch {
    fn to_json(&self) -> serde_json::Value {
        let Difference { index, actual, expected, count } = &self.difference;
        json!({
            "result": self.result, "index": index, "actual": actual, "expected": expected, "count": count,
        })
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "result {} is not as expected: {}", self.result, self.difference)
    }
}

fn write_trace(file: &Path, remote: &[RemoteTrace], console: &mut Console) -> Result<(), Diagnostic> {
    let trace = tracing::take();
    if trace.dropped() > 0 {
        console.complain(format_args!(
            "warning: {} events of the trace were lost for lack of space",
            trace.dropped()
        ));
    }
    if remote.iter().any(|trace| !trace.json.is_empty()) {
        let mut own = Vec::new();
        // Writing to memory does not fail.
        drop(trace.write_chrome_json(&mut own));
        let merged = merge(&own, remote)?;
        return replace_file(file, |temporary| std::fs::write(temporary, &merged))
            .map_err(|error| file_error("write", file, error));
    }
    let write = |temporary: &Path| -> io::Result<()> {
        let mut out = BufWriter::new(File::create(temporary)?);
        if file.extension().is_some_and(|extension| extension == "json") {
            trace.write_chrome_json(&mut out)?;
        } else {
            trace.write_perfetto(&mut out)?;
        }
        out.into_inner().map(drop).map_err(io::IntoInnerError::into_error)
    };
    replace_file(file, write).map_err(|error| file_error("write", file, error))
}

/// The name of each result, if the results are a model's outputs.
fn output_names<'s>(session: &'s Session, results: &[AsyncValue]) -> impl Iterator<Item = Option<&'s str>> {
    let outputs = match &session.model {
        Some(model) if model.signature.outputs.len() == results.len() && session.function != SETUP => {
            model.signature.outputs.as_slice()
        }
        _ => &[],
    };
    outputs.iter().map(|(name, _)| Some(name.as_str())).chain(iter::repeat(None))
}

fn print_results(session: &Session, results: &[AsyncValue], types: &[String], console: &mut Console) {
    let names = output_names(session, results);
    for (number, ((value, ty), name)) in results.iter().zip(types).zip(names).enumerate() {
        if value.error().is_none() && ty != CHAIN {
            if let Some(labels) = session.labels()
                && let Some(table) = classes::table(value, labels)
            {
                console.print(table);
                continue;
            }
            match show_result(session, number, (value, ty), name) {
                Ok(text) => console.print(text),
                Err(error) => session.note(error),
            }
        }
    }
}

/// Formats a result as a line: with its name and as inputs are written if it is a tensor and has a
/// name.
fn show_result(
    session: &Session,
    number: usize,
    (value, ty): (&AsyncValue, &str),
    name: Option<&str>,
) -> Result<String, Diagnostic> {
    let allocator = session.runtime.host().allocator();
    if let Some(name) = name
        && let Some(text) = values::show_output(value, allocator)?
    {
        return Ok(format!("{}: {text}\n", visible(name)));
    }
    Ok(format!("result {number}: {ty} = {}\n", values::show(value, ty)?))
}

/// What `--json` prints.
#[derive(Serialize)]
struct Shown<'s> {
    errors: Vec<serde_json::Value>,
    function: &'s str,
    mismatches: Vec<serde_json::Value>,
    results: Vec<ShownResult<'s>>,
}

#[derive(Serialize)]
struct ShownResult<'s> {
    /// The name of a model's output.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(flatten)]
    value: JsonValue<'s>,
}

fn results_json<'t>(session: &Session, results: &[AsyncValue], types: &'t [String]) -> Vec<ShownResult<'t>> {
    let allocator = session.runtime.host().allocator();
    let show = |(value, ty): (&AsyncValue, &'t String)| {
        let failed =
            |error: &Diagnostic| JsonValue::Whole(json!({ "type": ty, "error": error_to_json(error) }));
        match value.error() {
            Some(error) => failed(&error),
            None => JsonValue::new(value, ty, allocator).unwrap_or_else(|error| {
                let shown = failed(&error);
                session.note(error);
                shown
            }),
        }
    };
    let shown = results.iter().zip(types).map(show).zip(output_names(session, results));
    shown.map(|(value, name)| ShownResult { name: name.map(str::to_owned), value }).collect()
}

/// The names of results on the command line, each once.
fn result_names(args: &Args) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in args.outputs.iter().chain(&args.expected).filter_map(|text| named(text)) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Checks that a model has outputs of these names.
fn check_names(names: &[String], model: &Model) -> Result<(), Failure> {
    let Some(unknown) = names.iter().find(|name| model.output(name).is_none()) else { return Ok(()) };
    let outputs = model.signature.outputs.iter().map(|(name, ty)| format!("'{name}' ({ty})"));
    let outputs = outputs.collect::<Vec<_>>().join(", ");
    Err(Failure::Usage(format!("the model has no output '{unknown}', its outputs are {outputs}")))
}

/// Assigns texts to results: `3=TEXT` to result 3, `NAME=TEXT` to a model's output of this name,
/// any other text to the first result that is still free and whose type is `eligible`.
fn assign<'t>(
    texts: &'t [String],
    types: &[String],
    named: impl Fn(&str) -> Option<usize>,
    eligible: impl Fn(&str) -> bool,
) -> Result<Vec<(usize, &'t str)>, Failure> {
    let mut assigned: Vec<(usize, &str)> = Vec::new();
    for text in texts {
        let numbered = text.split_once('=').and_then(|(result, rest)| {
            let place = named(result).or_else(|| result.parse().ok())?;
            Some((place, rest))
        });
        let free =
            |place: &usize| eligible(&types[*place]) && assigned.iter().all(|(taken, _)| taken != place);
        let next = || (0..types.len()).find(free).map(|place| (place, text.as_str()));
        match numbered.or_else(next) {
            Some((place, _)) if assigned.iter().any(|(taken, _)| *taken == place) => {
                return Err(Failure::Usage(format!(
                    "result {place} is given twice, the second time by '{text}'"
                )));
            }
            Some((place, rest)) if place < types.len() => assigned.push((place, rest)),
            _ => return Err(Failure::Usage(format!("there is no result for '{text}'"))),
        }
    }
    Ok(assigned)
}

/// The outputs and expected values that the command line names, checked before the function is
/// called.
struct Wanted<'a> {
    outputs: Vec<(usize, &'a str)>,
    expected: Vec<(usize, AsyncValue)>,
}

impl<'a> Wanted<'a> {
    fn new(args: &'a Args, session: &Session, types: &[String]) -> Result<Self, Failure> {
        let named = |name: &str| session.model.as_ref()?.output(name);
        if let Some(model) = &session.model
            && session.function != SETUP
        {
            check_names(&result_names(args), model)?;
        }
        let outputs = assign(&args.outputs, types, named, |ty| ty == HostTensor::TYPE_NAME)?;
        for &(place, file) in &outputs {
            values::check_output(file, &types[place])?;
        }
        let allocator = session.runtime.host().allocator();
        let expected = assign(&args.expected, types, named, |ty| ty != CHAIN)?;
        let parsed = |(place, text): (usize, &str)| {
            let value =
                values::parse(text, &types[place], session.max_input_bytes, allocator).map_err(|failure| {
                    failure.in_context(format_args!("expected output {place} ({})", types[place]))
                });
            Ok((place, value?))
        };
        let expected = expected.into_iter().map(parsed).collect::<Result<_, Failure>>()?;
        Ok(Self { outputs, expected })
    }

    /// Writes results to files. Errors become errors of the session.
    fn write_outputs(&self, session: &Session, results: &[AsyncValue]) {
        for &(place, file) in &self.outputs {
            if results[place].error().is_none()
                && let Err(error) = values::write(&results[place], file, session.runtime.host().allocator())
            {
                session.note(error);
            }
        }
    }

    /// Returns the results that differ from their expected values. Values that cannot be compared
    /// are errors of the session.
    fn check_expected(
        &self,
        tolerance: f64,
        (session, types): (&Session, &[String]),
        results: &[AsyncValue],
    ) -> Vec<Mismatch> {
        let allocator = session.runtime.host().allocator();
        let mut mismatches = Vec::new();
        for (place, expected) in &self.expected {
            let (result, ty) = (&results[*place], &types[*place]);
            if result.error().is_some() {
                continue;
            }
            match values::difference(result, expected, ty, tolerance, allocator) {
                Ok(None) => {}
                Ok(Some(difference)) => mismatches.push(Mismatch { result: *place, difference }),
                Err(error) => session.note(error),
            }
        }
        mismatches
    }
}
