//! The parts that `run` and `bench` share: a program, one of its functions, its arguments and a
//! request.

mod arguments;
mod cluster;
mod devices;
mod distributed;
mod ending;
mod session;

use std::{
    fs, mem,
    path::{Path, PathBuf},
    time::Duration,
};

use tfrt_bef::{MAGIC, VerifiedBef};
use tfrt_compiler::TensorType;
use tfrt_host::{Diagnostic, ErrorCode, FunctionRef, MAX_PENDING_CALLS};

use self::{devices::DeviceArgs, distributed::DistributedArgs, ending::Ending};
use super::{
    Failure, host_ops,
    model::{self, Model, ModelArgs},
    report::STDIN,
};
use crate::{Console, Program, Runtime};

pub(super) use self::{
    arguments::MissingInputs,
    cluster::{ClusterArgs, RemoteTrace},
    session::Session,
};

/// The most bytes of an input file, unless the user says otherwise.
pub(super) const MAX_INPUT_BYTES: u64 = 4 << 30;

#[derive(clap::Args)]
pub(super) struct ProgramArgs {
    /// Program to run: a model (.onnx, .pb, .pbtxt or a SavedModel's folder), MLIR text or a BEF
    /// file; '-' reads standard input
    pub(super) program: PathBuf,
    /// Call the function NAME [default: main, or the only function]
    #[arg(short, long, value_name = "NAME")]
    pub(super) function: Option<String>,
    /// Pass VALUE as the next argument, or as argument N
    ///
    /// VALUE is a number, text, or a tensor: 2x2xf32=[1,2,3,4], f32=0, 2x3xf32=random(SEED),
    /// @FILE.npy, @FILE.btf#INDEX, @FILE.safetensors#NAME, or the pixels of an image, @FILE.jpg or
    /// @FILE.png. Chains are passed automatically.
    #[arg(short, long = "input", value_name = "[N=]VALUE", allow_hyphen_values = true)]
    pub(super) inputs: Vec<String>,
    /// Refuse input files of more than BYTES bytes
    #[arg(long, value_name = "BYTES", default_value_t = MAX_INPUT_BYTES)]
    pub(super) max_input_bytes: u64,
    /// Call the function NAME once before, and pass its results as the first arguments
    #[arg(long, value_name = "NAME")]
    pub(super) setup: Option<String>,
    /// Read the program's data files from DIR
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Read the network's or the compiled model's weights from a safetensors FILE
    #[arg(long, value_name = "FILE")]
    pub(super) weights: Option<PathBuf>,
    /// Read the names of the classes from FILE, one per line
    #[arg(long, value_name = "FILE")]
    pub(super) labels: Option<PathBuf>,
    /// Run kernels on one thread (s), on one thread per core (mstd) or on N threads (mstd:N)
    #[arg(long, value_name = "TYPE", default_value = "mstd")]
    pub(super) work_queue: String,
    /// Load kernels from a shared LIBRARY, whose code runs in this process
    #[arg(long = "kernels", value_name = "LIBRARY")]
    pub(super) shared_libraries: Vec<PathBuf>,
    /// Cancel the run if more than N calls of functions are pending
    #[arg(long, value_name = "N", default_value_t = MAX_PENDING_CALLS)]
    pub(super) max_pending_calls: usize,
    /// Cancel the run if it has not finished after TIME (500ms, 2s), including device teardown
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) deadline: Option<Duration>,
    #[command(flatten)]
    pub(super) model: ModelArgs,
    #[command(flatten)]
    devices: DeviceArgs,
    #[command(flatten)]
    distributed: DistributedArgs,
    #[command(flatten)]
    cluster: ClusterArgs,
}

/// The name of the input or of the result that a text is for: what is before an equals sign, unless
/// that is a number, the type of a value or a part of a file's name.
pub(super) fn named(text: &str) -> Option<&str> {
    let (name, _) = text.split_once('=')?;
    let is_other =
        name.parse::<usize>().is_ok() || name.starts_with('@') || TensorType::parse(name).is_some();
    (!is_other).then_some(name)
}

/// Opens a program, or a model as one.
fn open_program(
    args: &ProgramArgs,
    outputs: &[String],
    runtime: &Runtime,
    ending: &Ending,
    console: &mut Console,
) -> Result<(Program, Option<Model>), Failure> {
    if model::is_model(&args.program) {
        refuse_stream(&args.program)?;
        let (program, model) =
            model::open(&args.program, &args.model, &args.inputs, outputs, runtime, console)?;
        return Ok((program, Some(model)));
    }
    args.model.check_program(&args.program)?;
    let bef = if is_stream(&args.program) {
        let bytes = read_stream(&args.program, ending, console)?;
        verify_stream(&args.program, bytes, runtime, console)?
    } else {
        runtime.read_file(&args.program)?
    };
    let bytes = args.model.verbose.then(|| bef.bytes().to_vec());
    let program = runtime.link(bef)?;
    let weights = args.weights.as_deref();
    let model = model::of_program(&program, &args.program, weights, args.model.verify_weights, runtime)?;
    if let Some(bytes) = bytes.filter(|_| model.is_some()) {
        host_ops::report(&bytes, runtime, console)?;
    }
    Ok((program, model))
}

/// Reads a program from a file, or from the input if the path is `-`. The console keeps text from
/// the input, so that errors can show its lines.
pub(super) fn read_program(
    path: &Path,
    runtime: &Runtime,
    console: &mut Console,
) -> Result<VerifiedBef, Failure> {
    if path != Path::new("-") {
        return Ok(runtime.read_file(path)?);
    }
    let bytes = console.read(path).map_err(|message| Diagnostic::new(ErrorCode::Io, message))?;
    verify_stream(path, bytes, runtime, console)
}

/// Returns whether a program comes from the input or from a pipe, which may never come to its end.
fn is_stream(path: &Path) -> bool {
    let is_pipe = |metadata: fs::Metadata| !metadata.is_file() && !metadata.is_dir();
    path == Path::new("-") || fs::metadata(path).is_ok_and(is_pipe)
}

/// Checks that a model is a file or a folder. A model is read in place, and a pipe may never come to
/// its end.
fn refuse_stream(model: &Path) -> Result<(), Diagnostic> {
    if !is_stream(model) {
        return Ok(());
    }
    let message = format!("'{}' is a model, which must be a file or a folder, not a stream", model.display());
    Err(Diagnostic::invalid_argument(message))
}

/// Reads a stream, at most until the run ends.
fn read_stream(path: &Path, ending: &Ending, console: &mut Console) -> Result<Vec<u8>, Failure> {
    let path = path.to_owned();
    let mut source = Console::new(std::io::empty(), console.output.clone(), console.error.clone());
    mem::swap(&mut source.input, &mut console.input);
    let bytes = ending.in_time(move || source.read(path), || false);
    Ok(bytes?.map_err(|message| Diagnostic::new(ErrorCode::Io, message))?)
}

/// Verifies a program that was read from a stream.
fn verify_stream(
    path: &Path,
    bytes: Vec<u8>,
    runtime: &Runtime,
    console: &mut Console,
) -> Result<VerifiedBef, Failure> {
    if path != Path::new("-") {
        return Ok(runtime.read(&path.to_string_lossy(), bytes)?);
    }
    if !bytes.starts_with(&MAGIC) {
        console.input_text.clone_from(&bytes);
    }
    Ok(runtime.read(STDIN, bytes)?)
}

fn choose<'p>(program: &'p Program, name: Option<&str>) -> Result<FunctionRef<'p>, Failure> {
    let file = program.file();
    if let Some(name) = name {
        return file.function(name).ok_or_else(|| {
            Failure::Usage(format!("the program has no function '{name}', but {}", names(program)))
        });
    }
    if let Some(main) = file.function("main") {
        return Ok(main);
    }
    let mut named = file.functions().filter(|function| !function.name().is_empty());
    match (named.next(), named.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Failure::Usage("the program has no function".to_owned())),
        _ => Err(Failure::Usage(format!("choose one with --function: the program has {}", names(program)))),
    }
}

fn names(program: &Program) -> String {
    let functions = program.file().functions();
    enumerate_names(functions.map(|function| function.name()).filter(|name| !name.is_empty()))
}

/// Joins names for a message, of many only the first ones.
pub(super) fn enumerate_names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    const MAX_NAMES: usize = 20;
    let names: Vec<_> = names.collect();
    let shown = names[..names.len().min(MAX_NAMES)].join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Parses a time: `500ms`, `1.5s` or `2m`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 3] = [("ms", 1e-3), ("s", 1.0), ("m", 60.0)];
    let found = UNITS.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, unit) = found.ok_or("a time ends in 'ms', 's' or 'm'")?;
    let seconds: f64 = number.parse().map_err(|_| format!("'{number}' is not a number"))?;
    Duration::try_from_secs_f64(seconds * unit).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        for wrong in ["", "5", "s", "-1s", "1e40s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
