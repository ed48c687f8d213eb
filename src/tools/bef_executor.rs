//! `bef_executor`: runs the functions of a BEF file one after the other and prints what they
//! return.
//!
//! Each function without arguments runs in its own request, to its end, before the next begins. A
//! comment `// expected-error {{…}}` in the program's source, found through the file's locations,
//! must announce each run-time error. An error that is not announced, or announced and does not
//! occur, is a failure, and so are values or memory that a function leaves behind. The tool never
//! translates text.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tfrt_bef::{FunctionKind, VerifiedBef};
use tfrt_host::text::format_exponent;
use tfrt_host::{
    AsyncValue, BefFile, Diagnostic, ErrorCode, ExecutionContext, FunctionRef, RequestContext,
    ResourceContext,
    allocator::{HostAllocator, HostAllocatorKind},
    tracing, work_queue,
};

use super::{Outcome, args, expected};
use crate::{Console, Errors, Runtime, files::read_program};

const USAGE: &str = "\
Run the functions of a BEF file that take no arguments.

Usage: bef_executor [OPTIONS] [FILE]

FILE is the BEF file; '-', or no FILE, reads standard input.

  --functions=NAME,...          run only these functions, in this order
  --test_init_function=NAME     run this function first, if the file has it
  --work_queue_type=TYPE        s (default), mstd, mstd:THREADS
  --host_allocator_type=TYPE    leak_check_allocator (default), malloc, profiled_allocator, recycling_allocator,
                                test_fixed_size_1k
  --device=DEVICE               auto (default), cpu, cuda or gpu, cuda:N or gpu:N, noop
  --cpu_devices=N               create N CPU devices (default 1)
  --shared_libs=PATH,...        load kernels from shared libraries
  --print_error_code            print the code beside each returned error
  --enable_tracing              print how often each function and kernel ran, and for how long
  --tracing_level=LEVEL         default, verbose or debug, which all have the same effect
  --help                        print this help
";

struct Options {
    file: Option<PathBuf>,
    functions: Vec<String>,
    init_function: String,
    work_queue: String,
    allocator: HostAllocatorKind,
    shared_libraries: Vec<PathBuf>,
    #[cfg(feature = "full")]
    devices: crate::DeviceOptions,
    print_error_code: bool,
    trace: bool,
    help: bool,
}

impl Options {
    fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, lexopt::Error> {
        use lexopt::prelude::*;
        let mut options = Self {
            file: None,
            functions: Vec::new(),
            init_function: String::new(),
            work_queue: "s".to_owned(),
            allocator: HostAllocatorKind::LeakCheck,
            shared_libraries: Vec::new(),
            #[cfg(feature = "full")]
            devices: crate::DeviceOptions::default(),
            print_error_code: false,
            trace: false,
            help: false,
        };
        let mut parser = lexopt::Parser::from_iter(args::normalize(args));
        while let Some(arg) = parser.next()? {
            match arg {
                Value(value) => args::only_file(&mut options.file, value)?,
                Long("functions") => {
                    options.functions.extend(args::text(&mut parser)?.split(',').map(str::to_owned));
                }
                Long("test_init_function") => options.init_function = args::text(&mut parser)?,
                Long("work_queue_type") => options.work_queue = args::text(&mut parser)?,
                Long("host_allocator_type") => options.allocator = parser.value()?.parse()?,
                #[cfg(feature = "full")]
                Long("device") => options.devices.choice = parser.value()?.parse()?,
                #[cfg(feature = "full")]
                Long("cpu_devices") => {
                    options.devices.devices = parser.value()?.parse_with(args::device_count)?
                }
                Long("shared_libs") => {
                    options.shared_libraries.extend(args::text(&mut parser)?.split(',').map(PathBuf::from));
                }
                Long("print_error_code") => options.print_error_code = args::switch(&mut parser)?,
                Long("enable_tracing") => options.trace = args::switch(&mut parser)?,
                Long("tracing_level") => match &*args::text(&mut parser)? {
                    "default" | "verbose" | "debug" => {}
                    other => return Err(format!("'{other}' is not a tracing level").into()),
                },
                Long("help") | Short('h') => options.help = true,
                other => return Err(other.unexpected()),
            }
        }
        Ok(options)
    }
}

/// Runs the tool; `args` begins with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, mut console: Console) -> Outcome {
    let options = match Options::parse(args) {
        Ok(options) => options,
        Err(error) => {
            console.complain(format_args!("bef_executor: {error}\nTry 'bef_executor --help'."));
            return Outcome::Usage;
        }
    };
    if options.help {
        console.print(USAGE);
        return console.end(Outcome::Fine);
    }
    let outcome = execute(&options, &mut console).unwrap_or_else(|message| {
        console.complain(format_args!("bef_executor: {message}"));
        Outcome::Failed
    });
    console.end(outcome)
}

/// Runs the file.
fn execute(options: &Options, console: &mut Console) -> Result<Outcome, String> {
    let name = options.file.as_deref().unwrap_or(Path::new("-"));
    let file = read(name, console)?;
    console.print(format_args!("Choosing {}.\n", allocator_title(options.allocator)));
    let work_queue = match work_queue::from_str(&options.work_queue) {
        Ok(work_queue) => work_queue,
        Err(error) => {
            console.complain(format_args!("bef_executor: {error}\nTry 'bef_executor --help'."));
            return Ok(Outcome::Usage);
        }
    };
    console.print(format_args!("Choosing {} work queue.\n", work_queue.name()));

    let allocator = {
        let output = Mutex::new(console.output.clone());
        options.allocator.create(Arc::new(move |message: &str| {
            // As with all printed text, a reader that went away is no error of the program.
            let _ = writeln!(output.lock(), "{message}");
        }))
    };
    let errors = Arc::new(Mutex::new(Vec::new()));
    let told = errors.clone();
    let mut builder = Runtime::builder()
        .work_queue(work_queue)
        .allocator(allocator.clone())
        .output(console.output.clone())
        .diagnostics(move |error| told.lock().push(error.clone()));
    for library in &options.shared_libraries {
        builder = builder.shared_library(library);
    }
    #[cfg(feature = "full")]
    {
        builder = builder.devices(options.devices.clone());
    }
    let runtime = builder.build().map_err(|error| error.to_string())?;

    if options.trace {
        tracing::enable();
    }
    let bef = VerifiedBef::new(file).map_err(|errors| Errors::of_bef(name.display(), errors).messages())?;
    let mut fine = match BefFile::load(bef.clone(), runtime.registry()) {
        Ok(file) => {
            let fine = run_functions(options, console, &runtime, &file, &errors)?;
            if console.output.is_closed() {
                // The reader has read enough.
                return Ok(Outcome::Fine);
            }
            fine
        }
        Err(found) => {
            errors.lock().extend(found);
            true
        }
    };
    #[cfg(feature = "full")]
    runtime.leave_world();
    drop(runtime);
    if options.trace {
        tracing::disable();
        tell_times(&tracing::take(), console);
    }
    fine &= report(console, &*allocator);
    let errors = std::mem::take(&mut *errors.lock());
    let all_ran = options.functions.is_empty();
    fine &= expected::check(&bef, &errors, all_ran, console);
    Ok(if fine { Outcome::Fine } else { Outcome::Failed })
}

/// Reads a file, or the input if it is called `-`.
fn read(file: &Path, console: &mut Console) -> Result<Vec<u8>, String> {
    if file == Path::new("-") {
        return console.read(file);
    }
    read_program(file).map_err(|error| error.message)
}

fn allocator_title(kind: HostAllocatorKind) -> &'static str {
    match kind {
        HostAllocatorKind::Malloc => "malloc",
        HostAllocatorKind::Recycling => "recycling allocator based on malloc",
        HostAllocatorKind::TestFixedSize1k => "fixed size malloc",
        HostAllocatorKind::Profiled => "profiled allocator based on malloc",
        HostAllocatorKind::LeakCheck => "memory leak check allocator",
    }
}

fn run_functions(
    options: &Options,
    console: &mut Console,
    runtime: &Runtime,
    file: &Arc<BefFile>,
    errors: &Mutex<Vec<Diagnostic>>,
) -> Result<bool, String> {
    let mut functions = Vec::new();
    functions.extend(file.function(&options.init_function));
    if options.functions.is_empty() {
        functions.extend(file.functions().filter(|f| f.name() != options.init_function));
    }
    for name in &options.functions {
        let function = file.function(name).ok_or_else(|| format!("couldn't find function {name}"))?;
        if *name != options.init_function {
            functions.push(function);
        }
    }
    let mut fine = true;
    for function in functions.into_iter().filter(|f| !f.name().is_empty()) {
        if console.output.is_closed() {
            break;
        }
        let told = errors.lock().len();
        fine &= run_function(options, console, runtime, function)?;
        let nobody_was_told = errors.lock().len() == told;
        fine &= check_devices(runtime, nobody_was_told, console);
    }
    Ok(fine)
}

/// Tells of device work of the last function that failed, if the function did not. Whether there is
/// nothing to tell.
#[cfg(feature = "full")]
fn check_devices(runtime: &Runtime, nobody_was_told: bool, console: &mut Console) -> bool {
    let failures = tfrt_device::Devices::of(runtime.host()).take_failures();
    let mut fine = true;
    for failure in failures.iter().filter(|_| nobody_was_told) {
        console.complain(format_args!("{failure}"));
        fine = false;
    }
    fine
}

#[cfg(not(feature = "full"))]
fn check_devices(_runtime: &Runtime, _nobody_was_told: bool, _console: &mut Console) -> bool {
    true
}

fn run_function(
    options: &Options,
    console: &mut Console,
    runtime: &Runtime,
    function: FunctionRef<'_>,
) -> Result<bool, String> {
    let host = runtime.host();
    let name = function.name();
    if function.argument_types().len() > 0 {
        host.print(format_args!("--- Not running '{name}' because it has arguments.\n"));
        return Ok(true);
    }
    let before = AsyncValue::live_count();
    host.print(format_args!("--- Running '{name}':\n"));
    {
        let request = RequestContext::new(host.clone(), Arc::new(ResourceContext::new()));
        // The writer belongs to the host, and so must not keep the request, which keeps the host.
        let weak = Arc::downgrade(&request);
        console.output.on_closure(move || {
            if let Some(request) = weak.upgrade() {
                request.cancel();
            }
        });
        let weak = Arc::downgrade(&request);
        host.on_output_failure(move |error| {
            if let Some(request) = weak.upgrade() {
                request
                    .cancel_with(Diagnostic::new(ErrorCode::Io, format!("cannot write the output: {error}")));
            }
        });
        let context = ExecutionContext::new(request, function.program().clone());
        let results = function.execute(&context, []);
        host.await_values(&results).map_err(|error| error.to_string())?;
        if let Some(line) = returned(function, &results, options.print_error_code) {
            host.print(format_args!("{line}\n"));
        }
        // Each function ends before the next begins, so that one that orders its effects badly
        // disturbs no other.
        host.quiesce().map_err(|error| error.to_string())?;
    }
    // What the function let go of with work in flight belongs to it, too.
    #[cfg(feature = "full")]
    tfrt_device::Devices::of(host).finish_teardown();
    host.flush();
    let mut fine = true;
    for panic in host.work_queue().take_panics() {
        console.complain(format_args!("Evaluation of function '{name}' panicked: {panic:?}"));
        fine = false;
    }
    let after = count_at_rest(before);
    if after != before {
        console.complain(format_args!(
            "Evaluation of function '{name}' leaked {} async values (before: {before}, after: {after})!",
            after.wrapping_sub(before).cast_signed()
        ));
        fine = false;
    }
    Ok(fine)
}

/// How long values may stay after the work that held them has ended. The thread of a device that tells
/// of the end drops what it held only then.
const REST: Duration = Duration::from_millis(500);

/// The number of values that live once it is `before`, or after [`REST`].
fn count_at_rest(before: usize) -> usize {
    let end = Instant::now() + REST;
    loop {
        let count = AsyncValue::live_count();
        if count == before || Instant::now() >= end {
            return count;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// The line that tells the results; none if there are none.
fn returned(function: FunctionRef<'_>, results: &[AsyncValue], with_code: bool) -> Option<String> {
    if results.is_empty() {
        return None;
    }
    let name = function.name();
    if function.kind() == FunctionKind::Sync
        && let Some(error) = results.iter().find_map(AsyncValue::error)
    {
        return Some(format!("'{name}' returned <<error: {}>>", error.message));
    }
    let shown: Vec<_> = function
        .result_types()
        .zip(results)
        .map(|(type_name, value)| match value.error() {
            Some(error) => show_error(&error, with_code),
            None => show(type_name, value),
        })
        .collect();
    Some(format!("'{name}' returned {}", shown.join(",")))
}

fn show_error(error: &Diagnostic, with_code: bool) -> String {
    if with_code {
        format!("<<error: {}, code: {}>>", error.message, error.code)
    } else {
        format!("<<error: {}>>", error.message)
    }
}

/// Numbers as themselves, all else by its type.
fn show(type_name: &str, value: &AsyncValue) -> String {
    let number = match type_name {
        "i1" => value.get::<bool>().map(|&v| u8::from(v).to_string()),
        "i32" => value.get::<i32>().map(ToString::to_string),
        "i64" => value.get::<i64>().map(ToString::to_string),
        "f32" => value.get::<f32>().map(|&v| format_exponent(v.into())),
        "f64" => value.get::<f64>().map(|&v| format_exponent(v)),
        _ => None,
    };
    number.unwrap_or_else(|| format!("{type_name} value"))
}

/// How often each function and kernel ran and how long in all, the longest first.
fn tell_times(trace: &tracing::Trace, console: &mut Console) {
    let mut times: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for event in trace.tracks.iter().flat_map(|track| &track.events) {
        let (count, ns) = times.entry((event.category, &event.name)).or_default();
        *count += 1;
        *ns += event.duration_ns.unwrap_or(0);
    }
    let mut times: Vec<_> = times.into_iter().collect();
    times.sort_by_key(|(_, (_, ns))| std::cmp::Reverse(*ns));
    for ((category, name), (count, ns)) in times {
        console.complain(format_args!("{category} {name}: {count} times, {ns} ns"));
    }
    if trace.dropped() > 0 {
        console.complain(format_args!("{} events were lost for lack of space", trace.dropped()));
    }
}

/// Prints what a counting allocator has to say at the end; whether all memory was given back.
fn report(console: &mut Console, allocator: &dyn HostAllocator) -> bool {
    let Some(report) = allocator.report() else { return true };
    let leak = report.has_leak();
    if leak || report.live.is_none() {
        console.print(format_args!("{report}\n"));
    }
    // What is still buffered is lost to a reader that went away.
    let _: io::Result<()> = console.output.flush();
    !leak
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SharedWriter;

    fn run_on(bytes: Vec<u8>, arguments: &[&str]) -> (Outcome, String, String) {
        let (output, written) = SharedWriter::buffer();
        let (error, complaints) = SharedWriter::buffer();
        let console = Console::new(io::Cursor::new(bytes), output, error);
        let args = std::iter::once(&"bef_executor").chain(arguments).map(OsString::from);
        let outcome = run(args, console);
        let text = |bytes: &Mutex<Vec<u8>>| String::from_utf8(bytes.lock().clone()).unwrap();
        (outcome, text(&written), text(&complaints))
    }

    #[test]
    fn a_file_that_is_no_bef_fails_without_a_word_on_the_output_but_the_choices() {
        let (outcome, output, error) = run_on(b"no bef".to_vec(), &[]);
        assert_eq!(outcome, Outcome::Failed);
        assert_eq!(output, "Choosing memory leak check allocator.\nChoosing single-threaded work queue.\n");
        assert!(error.starts_with("bef_executor: -: "), "{error}");
    }

    #[test]
    fn wrong_options_are_usage_errors() {
        for arguments in [&["--no_such"][..], &["--host_allocator_type=x"], &["--tracing_level=x"]] {
            assert_eq!(run_on(Vec::new(), arguments).0, Outcome::Usage, "{arguments:?}");
        }
        assert_eq!(run_on(Vec::new(), &["-help"]).0, Outcome::Fine);
    }
}
