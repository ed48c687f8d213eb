//! [`Session`]: a program ready to be called, with its devices, its files and its errors.

use std::{
    cell::{Cell, RefCell},
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tfrt_compiler::lower::SETUP;
use tfrt_device::{
    Devices,
    allocator::write_timeline,
    checker::{Checker, Report},
    front::MemoryTimeline,
};
use tfrt_host::{
    AsyncValue, Diagnostic, ErrorCode, HostContext, RequestContext, ResourceContext, SourceLocation,
    work_queue,
};
use tfrt_models::kernels::{DATA_DIR, LABELS, MODEL_WEIGHTS, ModelWeights, PROGRESS, WEIGHTS};
use tfrt_tensor::files::safetensors::SafeTensorsFile;

use super::{
    ProgramArgs, RemoteTrace,
    arguments::{MissingInputs, ModelInputs, Reader, arguments},
    choose,
    cluster::Cluster,
    distributed::DistributedArgs,
    ending::Ending,
    open_program,
};
use crate::{
    Call, Console, Errors, MissingChain, Program, Runtime, SharedWriter,
    files::{check_output_path, replace_file},
    tools::{
        cli::{Failure, file_error, model::Model, progress, report::MAX_KEPT_ERRORS},
        interrupt::Watch,
    },
};

/// The files that a program finds among its request's resources.
struct Files {
    model: Option<ModelWeights>,
    data: Option<PathBuf>,
    weights: Option<SafeTensorsFile>,
    labels: Option<Vec<String>>,
    checkpoint: Option<PathBuf>,
    cluster: Option<Cluster>,
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
        let (data, checkpoint) = (args.data.clone(), args.distributed.checkpoint.clone());
        Ok(Self { model, data, weights, labels, checkpoint, cluster: None })
    }

    fn offer(&self, resources: &ResourceContext) {
        DistributedArgs::offer(self.checkpoint.as_ref(), resources);
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
        if let Some(cluster) = &self.cluster {
            cluster.offer(resources);
        }
    }
}

/// A program ready to be called.
pub(in crate::tools::cli) struct Session {
    pub(in crate::tools::cli) runtime: Runtime,
    pub(in crate::tools::cli) program: Program,
    pub(in crate::tools::cli) function: String,
    pub(in crate::tools::cli) arguments: Vec<AsyncValue>,
    /// The most bytes of a file with an input.
    pub(in crate::tools::cli) max_input_bytes: u64,
    /// Errors so far, whether they reach a result or not.
    errors: Arc<Mutex<Vec<Diagnostic>>>,
    /// Errors outside of the program, such as a file that cannot be written.
    noted: RefCell<Vec<Diagnostic>>,
    /// Failures of the devices' work that no kernel has reported.
    unseen: RefCell<Vec<Diagnostic>>,
    files: Files,
    /// The model that the program was compiled from.
    pub(in crate::tools::cli) model: Option<Model>,
    /// Whether the devices' work was stopped because the program ran out of time.
    are_devices_stopped: Cell<bool>,
    /// Whether work of a request was still running when the wait for it ended.
    is_abandoned: Cell<bool>,
    /// Whether to show the program's progress.
    pub(in crate::tools::cli) progress: bool,
    checker: Option<Arc<Checker>>,
    /// The chains that the program lacks, if it is checked.
    missing_chains: RefCell<Vec<MissingChain>>,
    /// The recorder of the devices' memory, and the file for its timeline.
    timeline: Option<(Arc<MemoryTimeline>, PathBuf)>,
    /// The duration of the setup function, if there is one.
    pub(in crate::tools::cli) setup: Option<Duration>,
    /// The last field, so that it is dropped after everything that belongs to the program.
    ending: Ending,
}

impl Session {
    /// Loads the program and calls its setup function if one is named. Text that kernels print goes
    /// to `printed`, or nowhere. `outputs` are the names of results on the command line. Other
    /// tasks record traces if `is_traced` is set.
    pub(in crate::tools::cli) fn new(
        args: &ProgramArgs,
        outputs: &[String],
        printed: Option<SharedWriter>,
        missing: MissingInputs,
        is_traced: bool,
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
        let error = console.error.clone();
        // Before the program's own messages, and not at all if it uses no device.
        let devices = devices.announcing(move |text| drop(writeln!(error.clone(), "{text}")));
        let mut builder = Runtime::builder()
            .work_queue(queue)
            .max_pending_calls(args.max_pending_calls)
            .devices(devices)
            .world(args.distributed.options(args.model.verbose, console)?)
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
        let runtime = args.cluster.add_kernels(builder)?.build()?;
        let mut ending = Ending {
            deadline: args.deadline,
            printed,
            // Until the program is there, an interruption ends the process.
            watch: Arc::default(),
            started: Cell::new(Instant::now()),
            runtime: Some(runtime.clone()),
        };
        let (program, model) = open_program(args, outputs, &runtime, &ending, console)?;
        let function = choose(&program, args.function.as_deref())?.name().to_owned();
        let cluster = args.cluster.connect(&runtime, is_traced)?;
        let files = Files { cluster, ..Files::open(args, model.as_ref())? };
        let no_watch = |error| Diagnostic::internal(format!("cannot observe interruptions: {error}"));
        ending.watch = Watch::start().map_err(no_watch)?;
        ending.started.set(Instant::now());
        let mut session = Self {
            runtime,
            program,
            function,
            arguments: Vec::new(),
            max_input_bytes: args.max_input_bytes,
            errors,
            noted: RefCell::default(),
            unseen: RefCell::default(),
            files,
            model,
            are_devices_stopped: Cell::new(false),
            is_abandoned: Cell::new(false),
            progress: console.is_terminal,
            checker,
            missing_chains: RefCell::default(),
            timeline,
            setup: None,
            ending,
        };
        let start = Instant::now();
        let setup = args.setup.as_deref().or(session.model.is_some().then_some(SETUP));
        if session.checker.is_some() {
            session.check_chains(setup)?;
        }
        let prepared = setup.map_or(Ok(Vec::new()), |name| session.set_up(name))?;
        session.setup = setup.is_some().then(|| start.elapsed());
        let function = choose(&session.program, Some(&session.function))?;
        let inputs = session.model.as_ref().map(|model| ModelInputs {
            model,
            images: &args.model.images,
            missing,
            console,
        });
        session.arguments = arguments(&function, prepared, &args.inputs, inputs, &session.reader())?;
        Ok(session)
    }

    fn reader(&self) -> Reader<'_> {
        Reader { runtime: &self.runtime, ending: &self.ending, max_bytes: self.max_input_bytes }
    }

    /// Looks for missing chains of the function and of the setup function.
    fn check_chains(&self, setup: Option<&str>) -> Result<(), Failure> {
        for function in setup.into_iter().chain([self.function.as_str()]) {
            let missing = self.runtime.missing_chains(self.program.file().bef(), function)?;
            self.missing_chains.borrow_mut().extend(missing);
        }
        Ok(())
    }

    /// Calls a function that takes only chains, and returns its results.
    fn set_up(&self, name: &str) -> Result<Vec<AsyncValue>, Failure> {
        let function = choose(&self.program, Some(name))?;
        let chains = arguments(&function, Vec::new(), &[], None, &self.reader())?;
        let request = self.request()?;
        let results = self.call_in_time(&request, name, chains)?;
        self.settle();
        let mut errors = self.take_errors(&results);
        if self.is_interrupted() {
            return Err(Failure::Interrupted);
        }
        if let Some(checker) = self.checker.as_ref().filter(|_| !errors.is_empty()) {
            // The session ends here, and what is left then has not leaked.
            errors.extend(checker.reports().iter().map(Report::to_diagnostic));
        }
        if errors.is_empty() { Ok(results) } else { Err(Failure::Errors(Errors(errors))) }
    }

    /// Returns whether the user has interrupted the program.
    pub(in crate::tools::cli) fn is_interrupted(&self) -> bool {
        self.ending.watch.is_interrupted()
    }

    /// Creates a request with the resources and the deadline that the command line names. The
    /// request is cancelled by an interruption, and when nobody reads what its kernels print.
    pub(in crate::tools::cli) fn request(&self) -> Result<Arc<RequestContext>, Diagnostic> {
        let resources = ResourceContext::new();
        self.files.offer(&resources);
        if self.progress {
            resources.insert(PROGRESS, progress::bar());
        }
        let request = RequestContext::new(self.runtime.host().clone(), Arc::new(resources));
        self.ending.started.set(Instant::now());
        let weak = Arc::downgrade(&request);
        self.ending.watch.on_interrupt(move || {
            if let Some(request) = weak.upgrade() {
                request.cancel_with(Diagnostic::new(ErrorCode::Cancelled, "the program was interrupted"));
            }
        });
        if let Some(printed) = &self.ending.printed {
            // The writer belongs to the host, and so must not keep the request, which keeps the
            // host.
            let weak = Arc::downgrade(&request);
            printed.on_closure(move || {
                if let Some(request) = weak.upgrade() {
                    request.cancel();
                }
            });
        }
        let weak = Arc::downgrade(&request);
        self.runtime.host().on_output_failure(move |error| {
            if let Some(request) = weak.upgrade() {
                let message = format!("cannot write what the program prints: {error}");
                request.cancel_with(Diagnostic::new(ErrorCode::Io, message));
            }
        });
        set_deadline(&request, self.ending.deadline)?;
        Ok(request)
    }

    /// Returns what makes the same calls from any thread.
    pub(in crate::tools::cli) fn caller(&self) -> Caller<'_> {
        let Self { program, function, arguments, files, ending, .. } = self;
        Caller { program, function, arguments, files, watch: &ending.watch, deadline: ending.deadline }
    }

    /// The names of classes, if the command line gives them.
    pub(in crate::tools::cli) fn labels(&self) -> Option<&[String]> {
        self.files.labels.as_deref()
    }

    /// Calls the function and waits until all its work has ended. If the deadline passes first,
    /// that is an error beside the results.
    pub(in crate::tools::cli) fn call(&self) -> Result<Vec<AsyncValue>, Diagnostic> {
        let request = self.request()?;
        let results = self.call_in_time(&request, &self.function, self.arguments.clone())?;
        self.settle();
        Ok(results)
    }

    /// Calls a function and waits for its results. If the queue has no threads, the wait runs blocking
    /// kernels, which do not observe the deadline, so it has a thread.
    fn call_in_time(
        &self,
        request: &Arc<RequestContext>,
        function: &str,
        arguments: Vec<AsyncValue>,
    ) -> Result<Vec<AsyncValue>, Diagnostic> {
        if self.ending.deadline.is_none() || !self.runtime.host().work_queue().is_single_threaded() {
            return self.program.call_in(request, function, arguments);
        }
        let (program, function, request) = (self.program.clone(), function.to_owned(), request.clone());
        let call = move || {
            let results = program.call_in(&request, &function, arguments);
            // The receiver may end the process, so the runtime goes first.
            drop((program, request));
            results
        };
        let called = self.ending.in_time(call, || self.stop_devices());
        self.is_abandoned.set(called.is_err());
        called?
    }

    /// Waits for the work of the last request. If it does not end in time, that is one more error:
    /// results and earlier errors stay.
    fn settle(&self) {
        if let Err(late) = self.in_time(HostContext::quiesce).and_then(|quiesced| quiesced) {
            self.is_abandoned.set(true);
            self.note(late);
        }
    }

    /// Adds an error to those that [`Self::take_errors`] returns.
    pub(in crate::tools::cli) fn note(&self, error: Diagnostic) {
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
        self.ending.in_time(wait, || self.stop_devices())
    }

    /// Stops the work of devices where that is possible. Returns whether the program may have any.
    fn stop_devices(&self) -> bool {
        Devices::of(self.runtime.host()).abandon();
        self.are_devices_stopped.set(true);
        let bef = self.program.file().bef();
        let is_device = |kernel: usize| {
            ["tfrt_cuda", "corert."].iter().any(|start| bef.kernel_name(kernel).starts_with(start))
        };
        (0..bef.kernel_count()).any(is_device)
    }

    /// Writes the timeline of the devices' memory, if the command line names a file for it.
    pub(in crate::tools::cli) fn write_timeline(&self) -> Result<(), Diagnostic> {
        let Some((timeline, file)) = &self.timeline else { return Ok(()) };
        let written = replace_file(file, |temporary| {
            let mut out = BufWriter::new(File::create(temporary)?);
            write_timeline(&self.function, &timeline.take(), &mut out)?;
            out.into_inner().map(drop).map_err(std::io::IntoInnerError::into_error)
        });
        written.map_err(|error| file_error("write", file, error))
    }

    /// Returns the errors since the last call, and the errors among the results.
    pub(in crate::tools::cli) fn take_errors(&self, results: &[AsyncValue]) -> Vec<Diagnostic> {
        let mut errors = self.noted.take();
        errors.append(&mut self.errors.lock());
        errors.extend(results.iter().filter_map(AsyncValue::error).map(|error| (*error).clone()));
        let panics = self.runtime.host().work_queue().take_panics();
        errors.extend(panics.iter().map(|panic| Diagnostic::internal(format!("a task panicked: {panic:?}"))));
        errors
    }

    /// Ends the session. Returns the errors as [`Self::take_errors`] does, failures of device work
    /// that the program did not wait for, and the checker's reports.
    ///
    /// Anything left on a checked device after the arguments and results are dropped has leaked.
    /// While abandoned work still runs, leaks cannot be told, and only the reports so far are
    /// returned.
    pub(in crate::tools::cli) fn finish(mut self, results: Vec<AsyncValue>) -> Vec<Diagnostic> {
        let mut errors = self.noted.take();
        let mut own = self.take_errors(&results);
        drop(results);
        self.arguments.clear();
        drop(self.close_cluster());
        errors.append(&mut self.noted.borrow_mut());
        self.await_devices();
        let failures = self.unseen.take();
        let unseen = self.unexplained(&mut own, failures);
        errors.extend(own.into_iter().chain(unseen));
        // A kernel that failed has touched nothing, so that it needs no order.
        let has_failed =
            |kernel: &SourceLocation| errors.iter().any(|error| error.location.as_ref() == Some(kernel));
        let mut missing = self.missing_chains.take();
        missing.retain(|missing| !missing.kernels.iter().any(has_failed));
        errors.extend(missing.into_iter().map(|missing| missing.error));
        // The streams that ops run on belong to the runtime, so leaks show when it is gone. Device
        // work that never ends may show only now, too.
        let Self { runtime, program, mut ending, checker, is_abandoned, .. } = self;
        drop((runtime, program));
        let late = ending.end().err();
        if let Some(checker) = checker {
            let is_over = !is_abandoned.get() && late.is_none();
            let reports = if is_over { checker.finish() } else { checker.reports() };
            errors.extend(reports.iter().map(Report::to_diagnostic));
        }
        errors.extend(late);
        errors
    }

    /// Returns the failures of device work that the program's own errors do not explain. Work that the
    /// deadline has stopped explains the first error.
    fn unexplained(&self, own: &mut [Diagnostic], failures: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let Some(first) = own.first_mut().filter(|_| !self.is_abandoned.get()) else { return failures };
        if self.are_devices_stopped.get() {
            for stopped in failures {
                first.notes.push(stopped.message);
                first.notes.extend(stopped.notes.into_iter().next());
            }
        }
        Vec::new()
    }

    /// Ends the connections to other tasks. Returns the traces of the tasks; errors become errors
    /// of the session.
    pub(in crate::tools::cli) fn close_cluster(&mut self) -> Vec<RemoteTrace> {
        let Some(cluster) = self.files.cluster.take() else { return Vec::new() };
        let (traces, errors) = cluster.close();
        self.noted.borrow_mut().extend(errors);
        traces
    }

    /// Waits for the devices' work, and keeps the failures that no kernel has reported, or the
    /// error that the work does not end.
    pub(in crate::tools::cli) fn await_devices(&self) {
        if self.is_abandoned.get() {
            return;
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
        let failures = failures.unwrap_or_else(|late| {
            self.is_abandoned.set(true);
            vec![late]
        });
        self.unseen.borrow_mut().extend(failures);
    }

    /// Returns the MLIR spellings of the result types.
    pub(in crate::tools::cli) fn result_types(&self) -> Vec<String> {
        let function = self.program.file().function(&self.function);
        function.map(|f| f.result_types().map(str::to_owned).collect()).unwrap_or_default()
    }
}

/// Limits the time of a request. A limit of zero has passed already; a timer would say so too late.
fn set_deadline(request: &Arc<RequestContext>, limit: Option<Duration>) -> Result<(), Diagnostic> {
    match limit {
        None => Ok(()),
        Some(Duration::ZERO) => {
            let message = "the deadline of 0 ms has passed";
            request.cancel_with(Diagnostic::new(ErrorCode::DeadlineExceeded, message));
            Ok(())
        }
        Some(limit) => request.set_deadline(limit),
    }
}

/// Makes the calls of a session, on any number of threads. Each call is a request of its own.
pub(in crate::tools::cli) struct Caller<'s> {
    program: &'s Program,
    function: &'s str,
    arguments: &'s [AsyncValue],
    files: &'s Files,
    watch: &'s Watch,
    deadline: Option<Duration>,
}

impl Caller<'_> {
    /// Returns whether the user has interrupted the program.
    pub(in crate::tools::cli) fn is_interrupted(&self) -> bool {
        self.watch.is_interrupted()
    }

    /// Calls the function and waits for its results.
    ///
    /// # Errors
    /// The errors among the results.
    pub(in crate::tools::cli) fn call(&self) -> Result<(), Vec<Diagnostic>> {
        self.start()?.wait()
    }

    /// Begins a call.
    pub(in crate::tools::cli) fn start(&self) -> Result<Started, Vec<Diagnostic>> {
        let resources = ResourceContext::new();
        self.files.offer(&resources);
        let request = RequestContext::new(self.program.runtime().host().clone(), Arc::new(resources));
        set_deadline(&request, self.deadline).map_err(|error| vec![error])?;
        let started = self.program.start_in(&request, self.function, self.arguments.iter().cloned());
        started.map(Started).map_err(|error| vec![error])
    }
}

/// A call that has begun.
pub(in crate::tools::cli) struct Started(Call);

impl Started {
    /// Waits for the results.
    ///
    /// # Errors
    /// The errors among the results.
    pub(in crate::tools::cli) fn wait(self) -> Result<(), Vec<Diagnostic>> {
        let results = self.0.wait().map_err(|error| vec![error])?;
        let errors = results.iter().filter_map(AsyncValue::error).map(|error| (*error).clone());
        let errors: Vec<_> = errors.collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}
