//! What `run` and `bench` have in common: a program, one of its functions, arguments and a request.

use std::{
    cell::{Cell, RefCell},
    fs::{self, File},
    io::{self, BufWriter},
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
use tfrt_bef::VerifiedBef;
use tfrt_cuda::{
    allocator::write_timeline,
    checker::{Checker, Report},
    front::{Choice, DeviceOptions, MemoryTimeline},
    kernels::Devices,
};
use tfrt_host::{
    AsyncValue, Diagnostic, ErrorCode, FunctionRef, HostContext, RequestContext, ResourceContext, work_queue,
};
use tfrt_models::kernels::{DATA_DIR, LABELS, PROGRESS, Progress, WEIGHTS};
use tfrt_plugin::PluginRegistry;
use tfrt_tensor::files::safetensors::SafeTensorsFile;

use super::{
    Failure, file_error,
    values::{self, CHAIN},
};
use crate::{Console, Errors, Program, Runtime, SharedWriter, tools::args::device_count};

#[derive(clap::Args)]
pub(super) struct ProgramArgs {
    /// The program: MLIR text or a BEF file, whichever its content is; '-' for standard input
    pub(super) program: PathBuf,
    /// The function; if not given, `main` or the only one
    #[arg(short, long, value_name = "NAME")]
    pub(super) function: Option<String>,
    /// An argument, in order or as N=VALUE: a number, text, 2x2xf32=[1,2,3,4], f32=0, @file.npy, @file.btf#INDEX,
    /// @file.safetensors#NAME, or an image's pixels, @file.jpg or @file.png. Chains are filled in
    #[arg(short, long = "input", value_name = "[N=]VALUE", allow_hyphen_values = true)]
    pub(super) inputs: Vec<String>,
    /// Call this function first, once: its results are the first arguments
    #[arg(long, value_name = "NAME")]
    pub(super) setup: Option<String>,
    /// Where the program's data files are
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// The safetensors file with the weights of the program's network
    #[arg(long, value_name = "FILE")]
    pub(super) weights: Option<PathBuf>,
    /// A text file with the name of a class in each line
    #[arg(long, value_name = "FILE")]
    pub(super) labels: Option<PathBuf>,
    /// Who runs the work: s (one thread), mstd (a thread per core), mstd:THREADS
    #[arg(long, value_name = "TYPE", default_value = "mstd")]
    pub(super) work_queue: String,
    /// Load kernels from a shared library; its code runs in this process
    #[arg(long = "kernels", value_name = "LIBRARY")]
    pub(super) shared_libraries: Vec<PathBuf>,
    /// Cancel what has not finished after this long: 500ms, 2s; that devices give everything back counts, too
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) deadline: Option<Duration>,
    #[command(flatten)]
    pub(super) devices: DeviceArgs,
}

/// The devices, who checks them, and who records their memory.
type WatchedDevices = (DeviceOptions, Option<Arc<Checker>>, Option<Arc<MemoryTimeline>>);

/// Which devices a program sees.
#[derive(clap::Args)]
pub(super) struct DeviceArgs {
    /// Devices the program runs on: auto (CUDA devices if there are any, else CPU devices), cpu, cuda, cuda:NUMBER, noop,
    /// or a plug-in's TYPE or TYPE:NUMBER. If not given, the first plug-in's, else auto
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Load a device plug-in (StreamExecutor C API) from a shared library; its code runs in this process
    #[arg(long = "plugin", value_name = "LIBRARY")]
    plugins: Vec<PathBuf>,
    /// How many CPU devices there are
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = device_count)]
    cpu_devices: u32,
    /// Find missing synchronization, reads of uninitialized memory and leaks on the CPU devices
    #[arg(long)]
    check: bool,
    /// Write a page of HTML that shows who held device memory when
    #[arg(long, value_name = "FILE")]
    memory_timeline: Option<PathBuf>,
    /// Take device memory in segments, and not by the page, by which free pages from anywhere make one buffer; for CUDA
    /// devices, as others have no pages
    #[arg(long)]
    memory_in_segments: bool,
}

impl DeviceArgs {
    /// What the arguments ask for.
    fn options(&self) -> Result<WatchedDevices, Failure> {
        let (mut options, checker) = self.checked()?;
        if self.memory_in_segments {
            options = options.with_memory_in_segments();
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
        let checker = Checker::new();
        // What runs on a GPU cannot be watched.
        if options.choice == Choice::Auto {
            options.choice = Choice::Cpu;
        }
        Ok((options.checked_by(checker.clone()), Some(checker)))
    }

    fn chosen(&self) -> Result<DeviceOptions, Failure> {
        let mut plugins = PluginRegistry::new();
        for library in &self.plugins {
            plugins.load(library)?;
        }
        match (self.device.as_deref(), plugins.plugins().next()) {
            (None, Some(first)) => Ok(DeviceOptions::of(first.backend(), None)),
            (None, None) => Ok(DeviceOptions::new(Choice::Auto, self.cpu_devices)),
            (Some(name), first) => match name.parse() {
                Ok(choice) => Ok(DeviceOptions::new(choice, self.cpu_devices)),
                Err(why) if first.is_none() => Err(Failure::Usage(format!(
                    "invalid value for '--device <DEVICE>': {why}, and no plug-in is loaded"
                ))),
                Err(_) => Ok(plugins.devices(name)?),
            },
        }
    }
}

/// What a program may find under the names of its request's resources.
struct Files {
    data: Option<PathBuf>,
    weights: Option<SafeTensorsFile>,
    labels: Option<Vec<String>>,
}

impl Files {
    /// Opens what the arguments name.
    fn open(args: &ProgramArgs) -> Result<Self, Failure> {
        let weights = args.weights.as_ref().map(SafeTensorsFile::open).transpose()?;
        let read = |file: &PathBuf| {
            let text = fs::read_to_string(file).map_err(|error| file_error("read", file, error))?;
            Ok::<_, Diagnostic>(text.lines().map(|line| line.trim().to_owned()).collect())
        };
        let labels = args.labels.as_ref().map(read).transpose()?;
        Ok(Self { data: args.data.clone(), weights, labels })
    }

    fn offer(&self, resources: &ResourceContext) {
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
    /// Errors that arose so far, whether they reach a result or not.
    errors: Arc<Mutex<Vec<Diagnostic>>>,
    /// What went wrong beside the program, as with a file that was to be written.
    noted: RefCell<Vec<Diagnostic>>,
    files: Files,
    /// Whether work of a request went on when its time was up, so that nobody waits for it any more.
    goes_on: Cell<bool>,
    /// Whether a person wants to see how far the program is.
    pub(super) progress: bool,
    checker: Option<Arc<Checker>>,
    /// Who records the devices' memory, and where that is to be written.
    timeline: Option<(Arc<MemoryTimeline>, PathBuf)>,
    /// How long the function that prepares took, if there is one.
    pub(super) setup: Option<Duration>,
    /// The last field, so that it goes when nothing of the program is left.
    ending: Ending,
}

/// How long a program may take, its end included.
struct Ending {
    deadline: Option<Duration>,
    /// When the last request began.
    started: Cell<Instant>,
    /// For the end: it waits for what devices were given.
    runtime: Option<Runtime>,
}

impl Ending {
    /// Waits for work of the last request. Kernels on devices know no deadline: where they can be stopped, which is what `stop` is
    /// for, they are. Where they cannot, nobody waits for them any more, and what they use stays as it is until the process ends.
    fn in_time<T: Send + 'static>(
        &self,
        wait: impl FnOnce() -> T + Send + 'static,
        stop: impl FnOnce(),
    ) -> Result<T, Diagnostic> {
        /// In this time the program learns of its deadline itself.
        const GRACE: Duration = Duration::from_millis(100);
        /// In this time kernels that can be stopped have ended.
        const PATIENCE: Duration = Duration::from_secs(2);
        let Some(deadline) = self.deadline else { return Ok(wait()) };
        let left = deadline.saturating_sub(self.started.get().elapsed()).saturating_add(GRACE);
        let (done, waited) = mpsc::channel();
        let waiter = thread::Builder::new().spawn(move || drop(done.send(wait())));
        waiter.map_err(|error| Diagnostic::internal(format!("no thread to wait on: {error}")))?;
        let told = |error| match error {
            RecvTimeoutError::Timeout => {
                let time = deadline.as_millis();
                let message = format!("the deadline of {time} ms has passed, and what was begun goes on");
                Diagnostic::new(ErrorCode::DeadlineExceeded, message)
            }
            RecvTimeoutError::Disconnected => Diagnostic::internal("waiting for the program's work panicked"),
        };
        match waited.recv_timeout(left) {
            Err(RecvTimeoutError::Timeout) => {}
            ended => return ended.map_err(told),
        }
        stop();
        waited.recv_timeout(PATIENCE).map_err(told)
    }

    /// Ends the runtime, if nobody else has it, which waits for what devices were given.
    fn end(&mut self) -> Result<(), Diagnostic> {
        let Some(runtime) = self.runtime.take() else { return Ok(()) };
        self.in_time(move || drop(runtime), || ())
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        // Where a session ends early, the error that ended it is told.
        drop(self.end());
    }
}

impl Session {
    /// Loads the program and calls its setup function if there is to be one; what its kernels print goes to `output`.
    pub(super) fn new(
        args: &ProgramArgs,
        output: SharedWriter,
        console: &mut Console,
    ) -> Result<Self, Failure> {
        let queue =
            work_queue::from_str(&args.work_queue).map_err(|error| Failure::Usage(error.to_string()))?;
        let errors = Arc::new(Mutex::new(Vec::new()));
        let told = errors.clone();
        let (devices, checker, timeline) = args.devices.options()?;
        let timeline = timeline.zip(args.devices.memory_timeline.clone());
        let mut builder = Runtime::builder()
            .work_queue(queue)
            .devices(devices)
            .output(output)
            .diagnostics(move |error| told.lock().push(error.clone()));
        for library in &args.shared_libraries {
            builder = builder.shared_library(library);
        }
        let runtime = builder.build()?;
        let program = runtime.link(read_program(&args.program, &runtime, console)?)?;
        let function = choose(&program, args.function.as_deref())?.name().to_owned();
        let started = Cell::new(Instant::now());
        let ending = Ending { deadline: args.deadline, started, runtime: Some(runtime.clone()) };
        let mut session = Self {
            runtime,
            program,
            function,
            arguments: Vec::new(),
            errors,
            noted: RefCell::default(),
            files: Files::open(args)?,
            goes_on: Cell::new(false),
            progress: console.terminal,
            checker,
            timeline,
            setup: None,
            ending,
        };
        let start = Instant::now();
        let prepared = args.setup.as_ref().map_or(Ok(Vec::new()), |name| session.set_up(name))?;
        session.setup = args.setup.is_some().then(|| start.elapsed());
        let function = choose(&session.program, Some(&session.function))?;
        session.arguments = arguments(&function, prepared, &args.inputs, &session.runtime)?;
        Ok(session)
    }

    /// The results of a function that takes nothing but chains.
    fn set_up(&self, name: &str) -> Result<Vec<AsyncValue>, Failure> {
        let function = choose(&self.program, Some(name))?;
        let chains = arguments(&function, Vec::new(), &[], &self.runtime)?;
        let request = self.request()?;
        let results = self.program.call_in(&request, name, chains)?;
        self.settle();
        let errors = self.take_errors(&results);
        if errors.is_empty() { Ok(results) } else { Err(Failure::Errors(Errors(errors))) }
    }

    /// A request with the resources and the deadline asked for.
    pub(super) fn request(&self) -> Result<Arc<RequestContext>, Diagnostic> {
        let resources = ResourceContext::new();
        self.files.offer(&resources);
        if self.progress {
            resources.insert(PROGRESS, progress());
        }
        let request = RequestContext::new(self.runtime.host().clone(), Arc::new(resources));
        self.ending.started.set(Instant::now());
        if let Some(deadline) = self.ending.deadline {
            request.set_deadline(deadline)?;
        }
        Ok(request)
    }

    /// Calls the function and waits until all its work has ended, or until its time is up, which is an error beside the
    /// results.
    pub(super) fn call(&self) -> Result<Vec<AsyncValue>, Diagnostic> {
        let request = self.request()?;
        let results = self.program.call_in(&request, &self.function, self.arguments.iter().cloned())?;
        self.settle();
        Ok(results)
    }

    /// Waits for the work of the last request. That it does not end in time is an error among others: results and what was
    /// told of until then stay.
    fn settle(&self) {
        if let Err(late) = self.in_time(HostContext::quiesce).and_then(|quiesced| quiesced) {
            self.goes_on.set(true);
            self.note(late);
        }
    }

    /// Adds an error to those that [`Self::take_errors`] gives.
    pub(super) fn note(&self, error: Diagnostic) {
        self.noted.borrow_mut().push(error);
    }

    /// Waits for something of the runtime's, as [`Ending::in_time`] says.
    fn in_time<T: Send + 'static>(
        &self,
        wait: impl FnOnce(&HostContext) -> T + Send + 'static,
    ) -> Result<T, Diagnostic> {
        // If it never ends, the thread has what the runtime would else wait for when it goes.
        let runtime = self.runtime.clone();
        let wait = move || {
            let value = wait(runtime.host());
            // Whoever hears of the end may be about to end the process.
            drop(runtime);
            value
        };
        self.ending.in_time(wait, || Devices::of(self.runtime.host()).abandon())
    }

    /// Writes the timeline of the devices' memory, if it was asked for.
    pub(super) fn write_timeline(&self) -> Result<(), Diagnostic> {
        let Some((timeline, file)) = &self.timeline else { return Ok(()) };
        let write = || -> io::Result<()> {
            let mut out = BufWriter::new(File::create(file)?);
            write_timeline(&self.function, &timeline.take(), &mut out)?;
            out.into_inner().map(drop).map_err(io::IntoInnerError::into_error)
        };
        write().map_err(|error| file_error("write", file, error))
    }

    /// The errors that arose since the last call, with those that the results are.
    pub(super) fn take_errors(&self, results: &[AsyncValue]) -> Vec<Diagnostic> {
        let mut errors = self.noted.take();
        errors.append(&mut self.errors.lock());
        errors.extend(results.iter().filter_map(AsyncValue::error).map(|error| (*error).clone()));
        let panics = self.runtime.host().work_queue().take_panics();
        errors.extend(panics.iter().map(|panic| Diagnostic::internal(format!("a task panicked: {panic:?}"))));
        errors
    }

    /// As [`Self::take_errors`], with what became of device work that nobody waited for, and with what was found where devices
    /// are checked: once the arguments and the last results are gone, what is still there has leaked. Of work that goes on
    /// nobody can tell what it leaves behind, so that only what was found so far is told.
    pub(super) fn finish(mut self, results: Vec<AsyncValue>) -> Vec<Diagnostic> {
        let mut errors = self.noted.take();
        let own = self.take_errors(&results);
        drop(results);
        self.arguments.clear();
        let failures = self.await_devices();
        // Else a failing kernel made the program fail, or the program knows.
        let unseen = if own.is_empty() || self.goes_on.get() { failures } else { Vec::new() };
        errors.extend(own.into_iter().chain(unseen));
        if let Some(checker) = &self.checker {
            let reports = if self.goes_on.get() { checker.reports() } else { checker.finish() };
            errors.extend(reports.iter().map(Report::to_diagnostic));
        }
        // What devices were given may also show only now that it does not end.
        let Self { runtime, program, mut ending, .. } = self;
        drop((runtime, program));
        errors.extend(ending.end().err());
        errors
    }

    /// Waits for the devices' work, and gives what failed unseen, or that it does not end. Nothing where that is known.
    fn await_devices(&self) -> Vec<Diagnostic> {
        if self.goes_on.get() {
            return Vec::new();
        }
        let is_checked = self.checker.is_some();
        let failures = self.in_time(move |host| {
            let devices = Devices::of(host);
            let failures = devices.take_failures();
            // What is still on its way back has not leaked.
            if is_checked {
                devices.finish_teardown();
            }
            failures
        });
        failures.unwrap_or_else(|late| {
            self.goes_on.set(true);
            vec![late]
        })
    }

    /// MLIR spellings of the result types.
    pub(super) fn result_types(&self) -> Vec<String> {
        let function = self.program.file().function(&self.function);
        function.map(|f| f.result_types().map(str::to_owned).collect()).unwrap_or_default()
    }
}

/// A bar on the error stream while there is something to do.
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

/// Reads a program from a file, or from the input if it is called `-`.
pub(super) fn read_program(
    path: &Path,
    runtime: &Runtime,
    console: &mut Console,
) -> Result<VerifiedBef, Failure> {
    if path != Path::new("-") {
        return Ok(runtime.read_file(path)?);
    }
    let bytes = console.read(path).map_err(|message| Diagnostic::new(ErrorCode::Io, message))?;
    Ok(runtime.read("<stdin>", bytes)?)
}

fn choose<'p>(program: &'p Program, name: Option<&str>) -> Result<FunctionRef<'p>, Failure> {
    let file = program.file();
    if let Some(name) = name {
        return file.function(name).ok_or_else(|| {
            Failure::Usage(format!("the program has no function '{name}'; it has {}", names(program)))
        });
    }
    if let Some(main) = file.function("main") {
        return Ok(main);
    }
    let mut named = file.functions().filter(|function| !function.name().is_empty());
    match (named.next(), named.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Failure::Usage("the program has no function".to_owned())),
        _ => Err(Failure::Usage(format!("which function? --function is one of {}", names(program)))),
    }
}

fn names(program: &Program) -> String {
    let functions = program.file().functions();
    let named: Vec<_> = functions.map(|function| function.name()).filter(|name| !name.is_empty()).collect();
    named.join(", ")
}

/// Puts the prepared values first, the given ones in their places, and chains in theirs.
fn arguments(
    function: &FunctionRef<'_>,
    prepared: Vec<AsyncValue>,
    inputs: &[String],
    runtime: &Runtime,
) -> Result<Vec<AsyncValue>, Failure> {
    let types: Vec<_> = function.argument_types().collect();
    if prepared.len() > types.len() {
        let (name, many, few) = (function.name(), prepared.len(), types.len());
        let message = format!("'{name}' takes {few} arguments, the setup function gives {many}");
        return Err(Failure::Usage(message));
    }
    let mut places: Vec<Option<AsyncValue>> = prepared.into_iter().map(Some).collect();
    places.resize(types.len(), None);
    for input in inputs {
        let (place, text) = place_of(input, &places, &types)?;
        let value = values::parse(text, types[place], runtime.host().allocator()).map_err(|mut error| {
            error.message = format!("argument {place} ({}): {}", types[place], error.message);
            error
        })?;
        places[place] = Some(value);
    }
    let filled = places.into_iter().zip(&types).enumerate().map(|(place, (value, ty))| match value {
        Some(value) => Ok(value),
        None if *ty == CHAIN => Ok(AsyncValue::new(tfrt_host::Chain)),
        None => Err(Failure::Usage(format!(
            "'{}' needs argument {place} ({ty}): give it with --input",
            function.name()
        ))),
    });
    filled.collect()
}

/// `3=VALUE` is for argument 3, other values for the first one that is still open and no chain.
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
            None => Err(Failure::Usage(format!("there is no argument {place}; there are {}", types.len()))),
        };
    }
    let open = (0..types.len()).find(|&place| places[place].is_none() && types[place] != CHAIN);
    open.map(|place| (place, input))
        .ok_or_else(|| Failure::Usage(format!("there is no argument for --input {input}")))
}

/// `500ms`, `2s`, `1.5s`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').ok_or("a time ends in 's' or 'ms'")?, 1.0),
    };
    let seconds: f64 = number.parse().map_err(|_| format!("'{number}' is no number"))?;
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
