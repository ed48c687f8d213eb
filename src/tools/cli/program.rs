//! The parts that `run` and `bench` share: a program, one of its functions, its arguments and a request.

use std::{
    cell::{Cell, RefCell},
    fs::{self, File},
    io::BufWriter,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::Mutex;
use tfrt_bef::{MAGIC, VerifiedBef};
use tfrt_compiler::lower::SETUP;
use tfrt_device::{
    Devices,
    allocator::write_timeline,
    checker::{Checker, Report},
    front::MemoryTimeline,
};
use tfrt_host::{
    AsyncValue, Diagnostic, ErrorCode, FunctionRef, HostContext, MAX_PENDING_CALLS, RequestContext,
    ResourceContext, work_queue,
};
use tfrt_models::kernels::{DATA_DIR, LABELS, MODEL_WEIGHTS, ModelWeights, PROGRESS, Progress, WEIGHTS};
use tfrt_plugin::PluginRegistry;
use tfrt_tensor::files::safetensors::SafeTensorsFile;

use super::{
    Failure, file_error,
    model::{self, Model, ModelArgs},
    model_inputs::{self, ImageArgs},
    report::{MAX_KEPT_ERRORS, STDIN},
    values::{self, CHAIN},
};
use crate::{
    Choice, Console, DeviceOptions, Errors, Program, Runtime, SharedWriter,
    files::{check_output_path, replace_file},
    tools::args::device_count,
};

#[derive(clap::Args)]
pub(super) struct ProgramArgs {
    /// Program to run: a model (.onnx, .pb, .pbtxt or a SavedModel's folder), MLIR text or a BEF file; '-' reads standard
    /// input
    pub(super) program: PathBuf,
    /// Call the function NAME [default: main, or the only function]
    #[arg(short, long, value_name = "NAME")]
    pub(super) function: Option<String>,
    /// Pass VALUE as the next argument, or as argument N
    ///
    /// VALUE is a number, text, or a tensor: 2x2xf32=[1,2,3,4], f32=0, @FILE.npy, @FILE.btf#INDEX,
    /// @FILE.safetensors#NAME, or the pixels of an image, @FILE.jpg or @FILE.png. Chains are passed
    /// automatically.
    #[arg(short, long = "input", value_name = "[N=]VALUE", allow_hyphen_values = true)]
    pub(super) inputs: Vec<String>,
    /// Call the function NAME once before, and pass its results as the first arguments
    #[arg(long, value_name = "NAME")]
    pub(super) setup: Option<String>,
    /// Read the program's data files from DIR
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Read the network's weights from a safetensors FILE
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
    pub(super) devices: DeviceArgs,
}

/// The devices, and the optional checker and recorder of their memory.
type WatchedDevices = (DeviceOptions, Option<Arc<Checker>>, Option<Arc<MemoryTimeline>>);

/// The devices that a program sees.
#[derive(clap::Args)]
pub(super) struct DeviceArgs {
    /// Run on DEVICE: auto, cpu, cuda or gpu, cuda:N or gpu:N, noop, or a plug-in's TYPE or TYPE:N
    ///
    /// auto selects CUDA devices if there are any, else CPU devices. The default is the first plug-in if
    /// one is loaded, else auto.
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Load a device plug-in (StreamExecutor C API) from a shared LIBRARY, whose code runs in this process
    #[arg(long = "plugin", value_name = "LIBRARY")]
    plugins: Vec<PathBuf>,
    /// Create N CPU devices
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = device_count)]
    cpu_devices: u32,
    /// Report missing synchronization, reads of uninitialized memory and leaks on CPU devices
    #[arg(long)]
    check: bool,
    /// Write a timeline of device memory to FILE, as an HTML page
    #[arg(long, value_name = "FILE")]
    memory_timeline: Option<PathBuf>,
    /// Allocate memory of CUDA devices in contiguous segments instead of pages
    #[arg(long)]
    memory_in_segments: bool,
    /// Let CUDA devices round the operands of f32 products and convolutions to TF32, which is faster
    #[arg(long)]
    allow_tf32: bool,
}

impl DeviceArgs {
    /// Returns the devices that the arguments ask for.
    fn options(&self) -> Result<WatchedDevices, Failure> {
        let (mut options, checker) = self.checked()?;
        if self.memory_in_segments {
            options = options.with_memory_in_segments();
        }
        if self.allow_tf32 {
            options = options.with_tf32();
        }
        Ok(match self.memory_timeline.is_some().then(MemoryTimeline::new) {
            Some(timeline) => (options.recorded_by(timeline.clone()), checker, Some(timeline)),
            None => (options, checker, None),
        })
    }

    fn checked(&self) -> Result<(DeviceOptions, Option<Arc<Checker>>), Failure> {
        let mut options = self.chosen()?;
        if !self.check {
            return Ok((options, None));
        }
        // The checker observes memory on CPU devices alone.
        let refused = match &options.choice {
            Choice::Auto => {
                options.choice = Choice::Cpu;
                None
            }
            Choice::Cpu => None,
            Choice::Cuda(_) => Some("what a GPU does with its memory cannot be observed"),
            Choice::Noop => Some("noop devices do no work"),
            Choice::Backend(..) => Some("what a plug-in does with its memory cannot be observed"),
        };
        if let Some(why) = refused {
            return Err(Failure::Usage(format!("--check needs CPU devices: {why}")));
        }
        let checker = Checker::new();
        Ok((options.checked_by(checker.clone()), Some(checker)))
    }

    fn chosen(&self) -> Result<DeviceOptions, Failure> {
        let mut plugins = PluginRegistry::new();
        for library in &self.plugins {
            plugins.load(library)?;
        }
        match (self.device.as_deref(), plugins.plugins().next()) {
            (None, Some(first)) => Ok(DeviceOptions::new(Choice::Backend(first.backend(), None), 1)),
            (None, None) => Ok(DeviceOptions::new(Choice::Auto, self.cpu_devices)),
            (Some(name), first) => match name.parse() {
                Ok(choice) => Ok(DeviceOptions::new(choice, self.cpu_devices)),
                Err(why) if first.is_none() => Err(Failure::Usage(format!(
                    "invalid value for '--device <DEVICE>': {why}, and no plug-in is loaded"
                ))),
                Err(_) => {
                    let (backend, only) = plugins.find(name)?;
                    Ok(DeviceOptions::new(Choice::Backend(backend, only), 1))
                }
            },
        }
    }
}

/// The files that a program finds among its request's resources.
struct Files {
    model: Option<ModelWeights>,
    data: Option<PathBuf>,
    weights: Option<SafeTensorsFile>,
    labels: Option<Vec<String>>,
}

impl Files {
    /// Opens the files that the arguments name.
    fn open(args: &ProgramArgs, model: Option<&Model>) -> Result<Self, Failure> {
        let weights = args.weights.as_ref().map(SafeTensorsFile::open).transpose()?;
        let read = |file: &PathBuf| {
            let text = fs::read_to_string(file).map_err(|error| file_error("read", file, error))?;
            Ok::<_, Diagnostic>(text.lines().map(|line| line.trim().to_owned()).collect())
        };
        let labels = args.labels.as_ref().map(read).transpose()?;
        let model = model.and_then(|model| model.weights.clone());
        Ok(Self { model, data: args.data.clone(), weights, labels })
    }

    fn offer(&self, resources: &ResourceContext) {
        if let Some(weights) = &self.model {
            resources.insert(MODEL_WEIGHTS, weights.clone());
        }
        if let Some(data) = &self.data {
            resources.insert(DATA_DIR, data.clone());
        }
        if let Some(weights) = &self.weights {
            resources.insert(WEIGHTS, weights.clone());
        }
        if let Some(labels) = &self.labels {
            resources.insert(LABELS, labels.clone());
        }
    }
}

/// A program ready to be called.
pub(super) struct Session {
    pub(super) runtime: Runtime,
    pub(super) program: Program,
    pub(super) function: String,
    pub(super) arguments: Vec<AsyncValue>,
    /// Errors so far, whether they reach a result or not.
    errors: Arc<Mutex<Vec<Diagnostic>>>,
    /// Errors outside of the program, such as a file that cannot be written.
    noted: RefCell<Vec<Diagnostic>>,
    files: Files,
    /// The model that the program was compiled from.
    pub(super) model: Option<Model>,
    /// Whether work of a request was still running when the wait for it ended.
    is_abandoned: Cell<bool>,
    /// Whether to show the program's progress.
    pub(super) progress: bool,
    checker: Option<Arc<Checker>>,
    /// The recorder of the devices' memory, and the file for its timeline.
    timeline: Option<(Arc<MemoryTimeline>, PathBuf)>,
    /// The duration of the setup function, if there is one.
    pub(super) setup: Option<Duration>,
    /// The last field, so that it is dropped after everything that belongs to the program.
    ending: Ending,
}

/// Limits the time that a program takes, including its teardown.
struct Ending {
    deadline: Option<Duration>,
    /// Receives the text that kernels print. When its reader is gone, the program is not waited for.
    printed: Option<SharedWriter>,
    /// The start of the last request.
    started: Cell<Instant>,
    /// Dropping the runtime waits for the devices.
    runtime: Option<Runtime>,
}

impl Ending {
    /// Waits for work of the last request, at most until its deadline or until the output is closed.
    ///
    /// Work on devices does not observe deadlines. `stop` stops it where that is possible. Elsewhere it is
    /// abandoned: the resources that it uses stay until the process ends.
    fn in_time<T: Send + 'static>(
        &self,
        wait: impl FnOnce() -> T + Send + 'static,
        stop: impl FnOnce(),
    ) -> Result<T, Diagnostic> {
        /// The time in which the program itself observes its deadline.
        const GRACE: Duration = Duration::from_millis(100);
        /// The time in which work that can be stopped ends.
        const PATIENCE: Duration = Duration::from_secs(2);
        /// The time between two looks at the output.
        const INTERVAL: Duration = Duration::from_millis(50);
        if self.deadline.is_none() && self.printed.is_none() {
            return Ok(wait());
        }
        let is_closed = || self.printed.as_ref().is_some_and(SharedWriter::is_closed);
        let (done, waited) = mpsc::channel();
        let waiter = thread::Builder::new().spawn(move || drop(done.send(wait())));
        waiter.map_err(|error| Diagnostic::internal(format!("no thread to wait on: {error}")))?;
        let to_diagnostic = |error| match (error, self.deadline) {
            (RecvTimeoutError::Disconnected, _) => {
                Diagnostic::internal("waiting for the program's work panicked")
            }
            (RecvTimeoutError::Timeout, Some(deadline)) => {
                let time_ms = deadline.as_millis();
                let message = format!("the deadline of {time_ms} ms has passed, and work is still running");
                Diagnostic::new(ErrorCode::DeadlineExceeded, message)
            }
            (RecvTimeoutError::Timeout, None) => {
                Diagnostic::new(ErrorCode::Cancelled, "the output was closed, and work is still running")
            }
        };
        loop {
            let left = self.deadline.map_or(Duration::MAX, |deadline| {
                deadline.saturating_add(GRACE).saturating_sub(self.started.get().elapsed())
            });
            match waited.recv_timeout(left.min(INTERVAL)) {
                Err(RecvTimeoutError::Timeout) if left <= INTERVAL || is_closed() => break,
                Err(RecvTimeoutError::Timeout) => {}
                ended => return ended.map_err(to_diagnostic),
            }
        }
        stop();
        waited.recv_timeout(PATIENCE).map_err(to_diagnostic)
    }

    /// Drops the runtime, which waits for the devices if there is no other handle to it.
    fn end(&mut self) -> Result<(), Diagnostic> {
        let Some(runtime) = self.runtime.take() else { return Ok(()) };
        self.in_time(move || drop(runtime), || ())
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        // If a session ends early, the error that ended it is reported instead.
        drop(self.end());
    }
}

impl Session {
    /// Loads the program and calls its setup function if one is named. Text that kernels print goes to
    /// `printed`, or nowhere. `outputs` are the names of results on the command line.
    pub(super) fn new(
        args: &ProgramArgs,
        outputs: &[String],
        printed: Option<SharedWriter>,
        missing: MissingInputs,
        console: &mut Console,
    ) -> Result<Self, Failure> {
        let queue = work_queue::from_str(&args.work_queue)
            .map_err(|error| Failure::Usage(format!("invalid value for '--work-queue <TYPE>': {error}")))?;
        if let Some(file) = &args.devices.memory_timeline {
            check_output_path(file).map_err(|error| file_error("write", file, error))?;
        }
        let errors = Arc::new(Mutex::new(Vec::new()));
        let kept = errors.clone();
        let (devices, checker, timeline) = args.devices.options()?;
        let timeline = timeline.zip(args.devices.memory_timeline.clone());
        let mut builder = Runtime::builder()
            .work_queue(queue)
            .max_pending_calls(args.max_pending_calls)
            .devices(devices)
            .output(printed.clone().unwrap_or_else(|| SharedWriter::new(std::io::sink())))
            .diagnostics(move |error| {
                let mut kept = kept.lock();
                if kept.len() < MAX_KEPT_ERRORS {
                    kept.push(error.clone());
                }
            });
        for library in &args.shared_libraries {
            builder = builder.shared_library(library);
        }
        let runtime = builder.build()?;
        let (program, model) = open_program(args, outputs, &runtime, console)?;
        let function = choose(&program, args.function.as_deref())?.name().to_owned();
        let started = Cell::new(Instant::now());
        let ending = Ending { deadline: args.deadline, printed, started, runtime: Some(runtime.clone()) };
        let mut session = Self {
            runtime,
            program,
            function,
            arguments: Vec::new(),
            errors,
            noted: RefCell::default(),
            files: Files::open(args, model.as_ref())?,
            model,
            is_abandoned: Cell::new(false),
            progress: console.is_terminal,
            checker,
            timeline,
            setup: None,
            ending,
        };
        let start = Instant::now();
        let setup = args.setup.as_deref().or(session.model.is_some().then_some(SETUP));
        let prepared = setup.map_or(Ok(Vec::new()), |name| session.set_up(name))?;
        session.setup = setup.is_some().then(|| start.elapsed());
        let function = choose(&session.program, Some(&session.function))?;
        let inputs = session.model.as_ref().map(|model| ModelInputs {
            model,
            images: &args.model.images,
            missing,
            console,
        });
        session.arguments = arguments(&function, prepared, &args.inputs, inputs, &session.runtime)?;
        Ok(session)
    }

    /// Calls a function that takes only chains, and returns its results.
    fn set_up(&self, name: &str) -> Result<Vec<AsyncValue>, Failure> {
        let function = choose(&self.program, Some(name))?;
        let chains = arguments(&function, Vec::new(), &[], None, &self.runtime)?;
        let request = self.request()?;
        let results = self.program.call_in(&request, name, chains)?;
        self.settle();
        let errors = self.take_errors(&results);
        if errors.is_empty() { Ok(results) } else { Err(Failure::Errors(Errors(errors))) }
    }

    /// Creates a request with the resources and the deadline that the command line names. The request is
    /// cancelled when nobody reads what its kernels print.
    pub(super) fn request(&self) -> Result<Arc<RequestContext>, Diagnostic> {
        let resources = ResourceContext::new();
        self.files.offer(&resources);
        if self.progress {
            resources.insert(PROGRESS, progress());
        }
        let request = RequestContext::new(self.runtime.host().clone(), Arc::new(resources));
        self.ending.started.set(Instant::now());
        if let Some(printed) = &self.ending.printed {
            // The writer belongs to the host, and so must not keep the request, which keeps the host.
            let weak = Arc::downgrade(&request);
            printed.on_closure(move || {
                if let Some(request) = weak.upgrade() {
                    request.cancel();
                }
            });
        }
        if let Some(deadline) = self.ending.deadline {
            request.set_deadline(deadline)?;
        }
        Ok(request)
    }

    /// Returns what makes the same calls from any thread.
    pub(super) fn caller(&self) -> Caller<'_> {
        let Self { program, function, arguments, files, ending, .. } = self;
        Caller { program, function, arguments, files, deadline: ending.deadline }
    }

    /// The names of classes, if the command line gives them.
    pub(super) fn labels(&self) -> Option<&[String]> {
        self.files.labels.as_deref()
    }

    /// Calls the function and waits until all its work has ended. If the deadline passes first, that is an
    /// error beside the results.
    pub(super) fn call(&self) -> Result<Vec<AsyncValue>, Diagnostic> {
        let request = self.request()?;
        let results = self.program.call_in(&request, &self.function, self.arguments.iter().cloned())?;
        self.settle();
        Ok(results)
    }

    /// Waits for the work of the last request. If it does not end in time, that is one more error: results
    /// and earlier errors stay.
    fn settle(&self) {
        if let Err(late) = self.in_time(HostContext::quiesce).and_then(|quiesced| quiesced) {
            self.is_abandoned.set(true);
            self.note(late);
        }
    }

    /// Adds an error to those that [`Self::take_errors`] returns.
    pub(super) fn note(&self, error: Diagnostic) {
        self.noted.borrow_mut().push(error);
    }

    /// Waits for the runtime, see [`Ending::in_time`].
    fn in_time<T: Send + 'static>(
        &self,
        wait: impl FnOnce(&HostContext) -> T + Send + 'static,
    ) -> Result<T, Diagnostic> {
        // If the wait never ends, its thread keeps the runtime, whose drop would wait as well.
        let runtime = self.runtime.clone();
        let wait = move || {
            let value = wait(runtime.host());
            // The receiver may end the process, so the runtime goes first.
            drop(runtime);
            value
        };
        self.ending.in_time(wait, || Devices::of(self.runtime.host()).abandon())
    }

    /// Writes the timeline of the devices' memory, if the command line names a file for it.
    pub(super) fn write_timeline(&self) -> Result<(), Diagnostic> {
        let Some((timeline, file)) = &self.timeline else { return Ok(()) };
        let written = replace_file(file, |temporary| {
            let mut out = BufWriter::new(File::create(temporary)?);
            write_timeline(&self.function, &timeline.take(), &mut out)?;
            out.into_inner().map(drop).map_err(std::io::IntoInnerError::into_error)
        });
        written.map_err(|error| file_error("write", file, error))
    }

    /// Returns the errors since the last call, and the errors among the results.
    pub(super) fn take_errors(&self, results: &[AsyncValue]) -> Vec<Diagnostic> {
        let mut errors = self.noted.take();
        errors.append(&mut self.errors.lock());
        errors.extend(results.iter().filter_map(AsyncValue::error).map(|error| (*error).clone()));
        let panics = self.runtime.host().work_queue().take_panics();
        errors.extend(panics.iter().map(|panic| Diagnostic::internal(format!("a task panicked: {panic:?}"))));
        errors
    }

    /// Ends the session. Returns the errors as [`Self::take_errors`] does, failures of device work that the
    /// program did not wait for, and the checker's reports.
    ///
    /// Anything left on a checked device after the arguments and results are dropped has leaked. While
    /// abandoned work still runs, leaks cannot be told, and only the reports so far are returned.
    pub(super) fn finish(mut self, results: Vec<AsyncValue>) -> Vec<Diagnostic> {
        let mut errors = self.noted.take();
        let own = self.take_errors(&results);
        drop(results);
        self.arguments.clear();
        let failures = self.await_devices();
        // If the program failed, its own errors explain the failures of its device work.
        let unseen = if own.is_empty() || self.is_abandoned.get() { failures } else { Vec::new() };
        errors.extend(own.into_iter().chain(unseen));
        if let Some(checker) = &self.checker {
            let reports = if self.is_abandoned.get() { checker.reports() } else { checker.finish() };
            errors.extend(reports.iter().map(Report::to_diagnostic));
        }
        // Device work that never ends may show only now.
        let Self { runtime, program, mut ending, .. } = self;
        drop((runtime, program));
        errors.extend(ending.end().err());
        errors
    }

    /// Waits for the devices' work. Returns the failures that no kernel has reported, or that the work does
    /// not end.
    fn await_devices(&self) -> Vec<Diagnostic> {
        if self.is_abandoned.get() {
            return Vec::new();
        }
        let is_checked = self.checker.is_some();
        let failures = self.in_time(move |host| {
            let devices = Devices::of(host);
            let failures = devices.take_failures();
            // Memory on its way back has not leaked.
            if is_checked {
                devices.finish_teardown();
            }
            failures
        });
        failures.unwrap_or_else(|late| {
            self.is_abandoned.set(true);
            vec![late]
        })
    }

    /// Returns the MLIR spellings of the result types.
    pub(super) fn result_types(&self) -> Vec<String> {
        let function = self.program.file().function(&self.function);
        function.map(|f| f.result_types().map(str::to_owned).collect()).unwrap_or_default()
    }
}

/// Makes the calls of a session, on any number of threads. Each call is a request of its own.
pub(super) struct Caller<'s> {
    program: &'s Program,
    function: &'s str,
    arguments: &'s [AsyncValue],
    files: &'s Files,
    deadline: Option<Duration>,
}

impl Caller<'_> {
    /// Calls the function and waits for its results.
    ///
    /// # Errors
    /// The errors among the results.
    pub(super) fn call(&self) -> Result<(), Vec<Diagnostic>> {
        let resources = ResourceContext::new();
        self.files.offer(&resources);
        let request = RequestContext::new(self.program.runtime().host().clone(), Arc::new(resources));
        if let Some(deadline) = self.deadline {
            request.set_deadline(deadline).map_err(|error| vec![error])?;
        }
        let called = self.program.call_in(&request, self.function, self.arguments.iter().cloned());
        let results = called.map_err(|error| vec![error])?;
        let errors = results.iter().filter_map(AsyncValue::error).map(|error| (*error).clone());
        let errors: Vec<_> = errors.collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

/// Creates a progress bar on the error stream.
fn progress() -> Progress {
    let bar = ProgressBar::new(0);
    let bar = match ProgressStyle::with_template("{msg} {bar:40} {percent}%, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    };
    Progress::new(move |done, total, label| {
        if bar.length() != Some(total) {
            bar.set_length(total);
            bar.set_message(label.to_owned());
        }
        bar.set_position(done);
        if done >= total {
            bar.finish_and_clear();
        }
    })
}

/// Opens a program, or a model as one.
fn open_program(
    args: &ProgramArgs,
    outputs: &[String],
    runtime: &Runtime,
    console: &mut Console,
) -> Result<(Program, Option<Model>), Failure> {
    if model::is_model(&args.program) {
        let (program, model) = model::open(&args.program, &args.model, outputs, runtime, console)?;
        return Ok((program, Some(model)));
    }
    let bef = read_program(&args.program, runtime, console)?;
    let bytes = bef.bytes().to_vec();
    let program = runtime.link(bef)?;
    let model = model::of_program(&program, &bytes, &args.program)?;
    Ok((program, model))
}

/// Reads a program from a file, or from the input if the path is `-`. The console keeps text from the
/// input, so that errors can show its lines.
pub(super) fn read_program(
    path: &Path,
    runtime: &Runtime,
    console: &mut Console,
) -> Result<VerifiedBef, Failure> {
    if path != Path::new("-") {
        return Ok(runtime.read_file(path)?);
    }
    let bytes = console.read(path).map_err(|message| Diagnostic::new(ErrorCode::Io, message))?;
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

/// Puts the results of the setup function first, the values of the command line in their places, and chains
/// in the rest.
fn arguments(
    function: &FunctionRef<'_>,
    prepared: Vec<AsyncValue>,
    inputs: &[String],
    mut model: Option<ModelInputs<'_>>,
    runtime: &Runtime,
) -> Result<Vec<AsyncValue>, Failure> {
    let types: Vec<_> = function.argument_types().collect();
    if prepared.len() > types.len() {
        let (name, many, few) = (function.name(), prepared.len(), types.len());
        let message =
            format!("'{name}' takes {few} arguments, but the setup function returns {many} results");
        return Err(Failure::Usage(message));
    }
    let first = prepared.len();
    let mut places: Vec<Option<AsyncValue>> = prepared.into_iter().map(Some).collect();
    places.resize(types.len(), None);
    for input in inputs {
        let named = model.as_ref().and_then(|inputs| {
            let (name, text) = input.split_once('=')?;
            Some((first + inputs.model.input(name)?, text))
        });
        let (place, text) = named.map_or_else(|| place_of(input, &places, &types), Ok)?;
        if places[place].is_some() {
            return Err(Failure::Usage(format!(
                "argument {place} is given twice, the second time by '{input}'"
            )));
        }
        let value = match (&mut model, place.checked_sub(first)) {
            (Some(inputs), Some(number)) => inputs.parse(text, number, runtime),
            _ => values::parse(text, types[place], runtime.host().allocator()),
        };
        places[place] =
            Some(value.map_err(|failure| {
                failure.in_context(format_args!("argument {place} ({})", types[place]))
            })?);
    }
    let filled = places.into_iter().zip(&types).enumerate().map(|(place, (value, ty))| match value {
        Some(value) => Ok(value),
        None if *ty == CHAIN => Ok(AsyncValue::new(tfrt_host::Chain)),
        None if model.is_some() => {
            let inputs = model.as_ref().map(|inputs| inputs.missing(place - first, runtime));
            inputs.unwrap_or_else(|| Err(Failure::Usage("an input is missing".to_owned())))
        }
        None => Err(Failure::Usage(format!(
            "'{}' needs argument {place} ({ty}): pass it with --input",
            function.name()
        ))),
    });
    filled.collect()
}

/// What becomes of a model's inputs that the command line does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingInputs {
    /// They are an error.
    Refuse,
    /// They are random numbers.
    Random,
}

/// Reads what the command line gives a model.
struct ModelInputs<'a> {
    model: &'a Model,
    images: &'a ImageArgs,
    missing: MissingInputs,
    console: &'a mut Console,
}

impl ModelInputs<'_> {
    fn parse(&mut self, text: &str, number: usize, runtime: &Runtime) -> Result<AsyncValue, Failure> {
        let ty = self.model.input_type(number);
        model_inputs::parse(text, ty.as_ref(), self.images, runtime.host().allocator(), self.console)
    }

    /// An input that the command line does not give.
    fn missing(&self, number: usize, runtime: &Runtime) -> Result<AsyncValue, Failure> {
        let (name, ty) = &self.model.signature.inputs[number];
        match self.model.input_type(number) {
            Some(ty) if self.missing == MissingInputs::Random => {
                Ok(model_inputs::random(&ty, number as u64, runtime.host().allocator())?)
            }
            _ => Err(Failure::Usage(format!("the model needs input '{name}' ({ty}): pass it with --input"))),
        }
    }
}

/// Returns the place of an argument and its value: `3=VALUE` is argument 3, any other value is the first
/// argument that is still open and not a chain.
fn place_of<'i>(
    input: &'i str,
    places: &[Option<AsyncValue>],
    types: &[&str],
) -> Result<(usize, &'i str), Failure> {
    if let Some((number, value)) = input.split_once('=')
        && let Ok(place) = number.parse::<usize>()
    {
        return match types.get(place) {
            Some(_) => Ok((place, value)),
            None => {
                Err(Failure::Usage(format!("there is no argument {place}: the function has {}", types.len())))
            }
        };
    }
    let open = (0..types.len()).find(|&place| places[place].is_none() && types[place] != CHAIN);
    open.map(|place| (place, input))
        .ok_or_else(|| Failure::Usage(format!("there is no argument for --input {input}")))
}

/// Parses a time: `500ms`, `2s` or `1.5s`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').ok_or("a time ends in 's' or 'ms'")?, 1.0),
    };
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
        for wrong in ["", "5", "s", "-1s", "1e40s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
