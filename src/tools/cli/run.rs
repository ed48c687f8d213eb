//! `tfrt run`: calls a function once and prints, writes or checks its results.

use std::{
    fs::File,
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use serde_json::json;
use tfrt_host::{AsyncValue, Diagnostic, Value, tracing};
use tfrt_tensor::HostTensor;

use super::{
    Failure, file_error, print_json,
    program::{ProgramArgs, Session},
    report::{distinct, report},
    values::{self, CHAIN},
};
use crate::{Console, Errors};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// Write a result, in order or as N=FILE, to a .npy, .btf or .safetensors file
    #[arg(short, long = "output", value_name = "[N=]FILE")]
    outputs: Vec<String>,
    /// Compare a result, in order or as N=VALUE, with a value as --input takes it
    #[arg(long = "expected-output", value_name = "[N=]VALUE", allow_hyphen_values = true)]
    expected: Vec<String>,
    /// How far floating-point numbers may be from those expected, absolutely or relative to the greater
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-5)]
    tolerance: f64,
    /// Record what ran when and where: a .pftrace file for Perfetto, a .json file for Chrome's viewer
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Show kernels as ranges in the profiler of NVIDIA's that runs this (NVTX)
    #[arg(long)]
    nvtx: bool,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(args: &Args, console: &mut Console) -> Result<(), Failure> {
    // With --json the output is one JSON value, so that what kernels print goes elsewhere.
    let printed = if args.json { console.error.clone() } else { console.output.clone() };
    let session = Session::new(&args.program, printed, console)?;
    let types = session.result_types();
    let wanted = Wanted::new(args, &session, &types)?;
    // Without one nobody looks.
    let has_profiler = args.nvtx && tfrt_cuda::mark_spans_for_profilers().is_ok();
    if args.trace.is_some() || has_profiler {
        tracing::enable();
    }
    let called = session.call();
    tracing::disable();
    // Whatever else fails, the results and the program's own errors are told.
    let traced = args.trace.as_deref().map_or(Ok(()), write_trace);
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
    let written = wanted.write_outputs(&session, &results);
    let expected = wanted.check_expected(args.tolerance, (&session, &types), &results, console);
    let function = session.function.clone();
    let errors = session.finish(results);
    if let Some(shown) = shown {
        let errors: Vec<_> = distinct(&errors).into_iter().map(error_json).collect();
        print_json(console, &json!({ "function": function, "results": shown, "errors": errors }));
    }
    report(&errors, console);
    written?;
    if expected? && errors.is_empty() { Ok(()) } else { Err(Failure::Told) }
}

fn write_trace(file: &Path) -> Result<(), Diagnostic> {
    let trace = tracing::take();
    let write = || -> io::Result<()> {
        let mut out = BufWriter::new(File::create(file)?);
        if file.extension().is_some_and(|extension| extension == "json") {
            trace.write_chrome_json(&mut out)?;
        } else {
            trace.write_perfetto(&mut out)?;
        }
        out.into_inner().map(drop).map_err(io::IntoInnerError::into_error)
    };
    write().map_err(|error| file_error("write", file, error))
}

fn print_results(session: &Session, results: &[AsyncValue], types: &[String], console: &mut Console) {
    for (number, (value, ty)) in results.iter().zip(types).enumerate() {
        if value.error().is_none() && ty != CHAIN {
            match values::show(value, ty) {
                Ok(text) => console.print(format_args!("result {number}: {ty} = {text}\n")),
                Err(error) => session.note(error),
            }
        }
    }
}

fn results_json(session: &Session, results: &[AsyncValue], types: &[String]) -> Vec<serde_json::Value> {
    let allocator = session.runtime.host().allocator();
    let show = |(value, ty): (&AsyncValue, &String)| {
        let failed = |error: &Diagnostic| json!({ "type": ty, "error": error_json(error) });
        match value.error() {
            Some(error) => failed(&error),
            None => values::to_json(value, ty, allocator).unwrap_or_else(|error| {
                let shown = failed(&error);
                session.note(error);
                shown
            }),
        }
    };
    results.iter().zip(types).map(show).collect()
}

fn error_json(error: &Diagnostic) -> serde_json::Value {
    let place = error.location.as_ref().map(ToString::to_string);
    json!({ "code": error.code.name(), "message": error.message, "location": place })
}

/// `3=TEXT` is for result 3, other texts for the first one that is still free and whose type is `eligible`.
fn assign<'t>(
    texts: &'t [String],
    types: &[String],
    eligible: impl Fn(&str) -> bool,
) -> Result<Vec<(usize, &'t str)>, Failure> {
    let mut assigned: Vec<(usize, &str)> = Vec::new();
    for text in texts {
        let numbered = text.split_once('=').and_then(|(number, rest)| Some((number.parse().ok()?, rest)));
        let free =
            |place: &usize| eligible(&types[*place]) && assigned.iter().all(|(taken, _)| taken != place);
        let next = || (0..types.len()).find(free).map(|place| (place, text.as_str()));
        match numbered.or_else(next) {
            Some((place, rest)) if place < types.len() => assigned.push((place, rest)),
            _ => return Err(Failure::Usage(format!("there is no result for '{text}'"))),
        }
    }
    Ok(assigned)
}

/// What the command line wants of results, known to be possible before the function is called.
struct Wanted<'a> {
    outputs: Vec<(usize, &'a str)>,
    expected: Vec<(usize, AsyncValue)>,
}

impl<'a> Wanted<'a> {
    fn new(args: &'a Args, session: &Session, types: &[String]) -> Result<Self, Failure> {
        let outputs = assign(&args.outputs, types, |ty| ty == HostTensor::TYPE_NAME)?;
        for &(place, file) in &outputs {
            values::check_output(file, &types[place])?;
        }
        let allocator = session.runtime.host().allocator();
        let expected = assign(&args.expected, types, |ty| ty != CHAIN)?;
        let parsed =
            |(place, text): (usize, &str)| Ok((place, values::parse(text, &types[place], allocator)?));
        let expected = expected.into_iter().map(parsed).collect::<Result<_, Diagnostic>>()?;
        Ok(Self { outputs, expected })
    }

    fn write_outputs(&self, session: &Session, results: &[AsyncValue]) -> Result<(), Diagnostic> {
        for &(place, file) in &self.outputs {
            if results[place].error().is_none() {
                values::write(&results[place], file, session.runtime.host().allocator())?;
            }
        }
        Ok(())
    }

    /// Tells of each result that is not as expected; whether there was none.
    fn check_expected(
        &self,
        tolerance: f64,
        (session, types): (&Session, &[String]),
        results: &[AsyncValue],
        console: &mut Console,
    ) -> Result<bool, Diagnostic> {
        let allocator = session.runtime.host().allocator();
        let mut fine = true;
        for (place, expected) in &self.expected {
            let (result, ty) = (&results[*place], &types[*place]);
            if result.error().is_some() {
                continue;
            }
            if let Some(why) = values::difference(result, expected, ty, tolerance, allocator)? {
                console.complain(format_args!("error: result {place} is not as expected: {why}"));
                fine = false;
            }
        }
        Ok(fine)
    }
}
