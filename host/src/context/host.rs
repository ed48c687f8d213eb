//! One computer's runtime: where work runs, where memory comes from, and where text and errors go.

use std::{
    any::Any,
    fmt,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use parking_lot::{Condvar, Mutex};

use super::{folders::ReadableFolders, resource::SharedContexts, timer::Timer};
use crate::{
    allocator::HostAllocator,
    async_value::{AsyncValue, Status},
    diagnostic::{Diagnostic, ErrorCode},
    work_queue::{ConcurrentWorkQueue, Latch, Task},
};

/// Receives every error when it is made, before it becomes a value.
pub type DiagnosticHandler = dyn Fn(&Diagnostic) + Send + Sync;

/// The state that all requests of a process, or of a test, share.
pub struct HostContext {
    // Dropped first, so that no action runs into a half-gone host.
    timer: Timer,
    work_queue: Arc<dyn ConcurrentWorkQueue>,
    allocator: Arc<dyn HostAllocator>,
    handler: Box<DiagnosticHandler>,
    output: Mutex<Output>,
    shared: SharedContexts,
    external: Arc<External>,
    max_pending_calls: usize,
    folders: ReadableFolders,
}

/// Where text goes that kernels print.
struct Output {
    writer: Box<dyn Write + Send>,
    /// Called once if the text cannot be written.
    on_failure: Option<Box<dyn FnOnce(io::Error) + Send>>,
}

/// The default of [`HostContextBuilder::max_pending_calls`].
pub const MAX_PENDING_CALLS: usize = 1_000_000;

/// The count of work outside of the queue that will produce values of this host.
#[derive(Default)]
struct External {
    state: Mutex<ExternalState>,
    idle: Condvar,
}

#[derive(Default)]
struct ExternalState {
    outstanding: usize,
    /// Pieces of work that have begun so far.
    begun: u64,
}

/// Work in flight outside of the host's queue, for example on a device. Dropping this ends it.
pub struct ExternalWork(Arc<External>);

impl Drop for ExternalWork {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.outstanding -= 1;
        if state.outstanding == 0 {
            self.0.idle.notify_all();
        }
    }
}

impl fmt::Debug for ExternalWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExternalWork")
    }
}

/// Assembles a [`HostContext`].
pub struct HostContextBuilder {
    work_queue: Arc<dyn ConcurrentWorkQueue>,
    allocator: Arc<dyn HostAllocator>,
    handler: Box<DiagnosticHandler>,
    output: Box<dyn Write + Send>,
    max_pending_calls: usize,
    folders: ReadableFolders,
}

impl HostContextBuilder {
    /// Sets where the text that kernels print goes. By default it is dropped.
    #[must_use]
    pub fn output(mut self, output: impl Write + Send + 'static) -> Self {
        self.output = Box::new(output);
        self
    }

    /// Sets a handler that receives errors when they are made.
    #[must_use]
    pub fn diagnostic_handler(mut self, handler: impl Fn(&Diagnostic) + Send + Sync + 'static) -> Self {
        self.handler = Box::new(handler);
        self
    }

    /// Sets how many calls of functions a request may have pending at a time, [`MAX_PENDING_CALLS`]
    /// by default.
    ///
    /// A call is pending while kernels of it wait for their arguments, and while it waits for its
    /// turn on the work queue. A request that exceeds the bound is cancelled with
    /// [`ErrorCode::ResourceExhausted`].
    #[must_use]
    pub fn max_pending_calls(mut self, count: usize) -> Self {
        self.max_pending_calls = count;
        self
    }

    /// Lets programs read the files of these folders alone, of those that they name themselves. By
    /// default they may read all files.
    #[must_use]
    pub fn readable_folders(mut self, folders: Vec<PathBuf>) -> Self {
        self.folders = ReadableFolders::only(folders);
        self
    }

    /// Makes the host.
    pub fn build(self) -> Arc<HostContext> {
        Arc::new(HostContext {
            timer: Timer::default(),
            work_queue: self.work_queue,
            allocator: self.allocator,
            handler: self.handler,
            output: Mutex::new(Output { writer: self.output, on_failure: None }),
            shared: SharedContexts::default(),
            external: Arc::default(),
            max_pending_calls: self.max_pending_calls,
            folders: self.folders,
        })
    }
}

impl HostContext {
    /// Returns a builder for a host that runs work on `work_queue` and takes memory from
    /// `allocator`.
    pub fn builder(
        work_queue: Arc<dyn ConcurrentWorkQueue>,
        allocator: Arc<dyn HostAllocator>,
    ) -> HostContextBuilder {
        HostContextBuilder {
            work_queue,
            allocator,
            handler: Box::new(|_| ()),
            output: Box::new(io::sink()),
            max_pending_calls: MAX_PENDING_CALLS,
            folders: ReadableFolders::default(),
        }
    }

    /// Returns how many calls a request may have pending at a time.
    #[inline]
    pub fn max_pending_calls(&self) -> usize {
        self.max_pending_calls
    }

    /// Checks that programs may read a file that they name themselves.
    ///
    /// # Errors
    /// [`ErrorCode::FailedPrecondition`] if the file is outside of the folders that the host lets
    /// programs read, or does not exist there.
    pub fn check_readable(&self, path: &Path) -> Result<(), Diagnostic> {
        self.folders.check(path)
    }

    /// Returns where work runs.
    pub fn work_queue(&self) -> &Arc<dyn ConcurrentWorkQueue> {
        &self.work_queue
    }

    /// Returns where memory comes from.
    pub fn allocator(&self) -> &Arc<dyn HostAllocator> {
        &self.allocator
    }

    /// Runs a task on a compute thread. The task must not wait for anything.
    pub fn add_task(&self, task: Task) {
        self.work_queue.add_task(task);
    }

    /// Calls `action` on the timer's thread, at `at` or soon after. It must be short. Until it has
    /// run, [`HostContext::quiesce`] waits for it.
    ///
    /// # Errors
    /// [`ErrorCode::ResourceExhausted`] if the timer's thread cannot be started.
    pub fn run_at(&self, at: Instant, action: impl FnOnce() + Send + 'static) -> Result<(), Diagnostic> {
        let work = self.external_work();
        self.timer.schedule(at, move || {
            action();
            drop(work);
        })
    }

    /// As [`HostContext::run_at`], for an action that nothing waits for, such as a deadline.
    pub(super) fn run_unawaited_at(
        &self,
        at: Instant,
        action: impl FnOnce() + Send + 'static,
    ) -> Result<(), Diagnostic> {
        self.timer.schedule(at, action)
    }

    /// Writes text that a kernel prints. The text of one call stays together. Errors go to the
    /// handler of [`HostContext::on_output_failure`].
    pub fn print(&self, text: fmt::Arguments<'_>) {
        let mut output = self.output.lock();
        if let Err(error) = output.writer.write_fmt(text)
            // A closed pipe must not fail the program.
            && error.kind() != io::ErrorKind::BrokenPipe
            && let Some(handler) = output.on_failure.take()
        {
            // The handler may print.
            drop(output);
            handler(error);
        }
    }

    /// Calls `handler` once if text that a kernel prints cannot be written, unless the reason is a
    /// closed pipe. A later handler replaces an earlier one.
    pub fn on_output_failure(&self, handler: impl FnOnce(io::Error) + Send + 'static) {
        self.output.lock().on_failure = Some(Box::new(handler));
    }

    /// Flushes the output.
    pub fn flush(&self) {
        let _ = self.output.lock().writer.flush();
    }

    /// Passes an error to the diagnostic handler.
    pub(crate) fn report(&self, error: &Diagnostic) {
        (self.handler)(error);
    }

    /// Waits until all `values` are available, running tasks meanwhile if the queue has no threads.
    ///
    /// # Errors
    /// [`ErrorCode::FailedPrecondition`] on a compute thread of this host, which must never wait.
    pub fn await_values(&self, values: &[AsyncValue]) -> Result<(), Diagnostic> {
        if let Some(latch) = self.open_when_available(values)? {
            self.work_queue.await_latch(latch.latch());
        }
        Ok(())
    }

    /// Returns a latch that opens when all values are available, unless they are.
    ///
    /// # Errors
    /// [`ErrorCode::FailedPrecondition`] on a compute thread of this host, which must never wait.
    pub(super) fn open_when_available(
        &self,
        values: &[AsyncValue],
    ) -> Result<Option<Arc<OnceLatch>>, Diagnostic> {
        self.check_may_wait()?;
        if values.iter().all(AsyncValue::is_available) {
            return Ok(None);
        }
        let latch = Arc::new(OnceLatch::new());
        open_when_available(values.to_vec(), latch.clone());
        Ok(Some(latch))
    }

    fn check_may_wait(&self) -> Result<(), Diagnostic> {
        if self.work_queue.is_worker_thread() {
            let message = "a compute thread must not wait for values";
            return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
        }
        Ok(())
    }

    /// Calls `run`, which starts some work, and waits until the values it returns are available.
    ///
    /// This is cheaper than calling `run` and [`HostContext::await_values`], because tasks that
    /// `run` adds need not be handed from one thread to another. `run` counts as a task, so it must
    /// not wait for the queue.
    ///
    /// # Errors
    /// [`ErrorCode::FailedPrecondition`] on a compute thread of this host, which must never wait.
    pub fn run_and_await(
        &self,
        run: impl FnOnce() -> Vec<AsyncValue>,
    ) -> Result<Vec<AsyncValue>, Diagnostic> {
        self.check_may_wait()?;
        let latch = Arc::new(OnceLatch::new());
        let (mut run, mut values) = (Some(run), Vec::new());
        let mut body = || {
            values = run.take().map(|run| run()).unwrap_or_default();
            open_when_available(values.clone(), latch.clone());
        };
        self.work_queue.run_and_await(&mut body, latch.latch());
        Ok(values)
    }

    /// Waits until no task is running or queued, and no work outside of the queue is in flight.
    ///
    /// # Errors
    /// [`ErrorCode::FailedPrecondition`] within a task of this host's queue, which would wait for
    /// itself.
    pub fn quiesce(&self) -> Result<(), Diagnostic> {
        if self.work_queue.is_worker_thread() || self.work_queue.is_blocking_thread() {
            return Err(Diagnostic::new(
                ErrorCode::FailedPrecondition,
                "a task must not wait for the queue to be empty",
            ));
        }
        loop {
            let begun = self.external.state.lock().begun;
            self.work_queue.quiesce();
            let mut state = self.external.state.lock();
            if state.outstanding == 0 && state.begun == begun {
                return Ok(());
            }
            // The end of such work may add a task, so the queue is looked at again afterwards.
            while state.outstanding > 0 {
                self.external.idle.wait(&mut state);
            }
        }
    }

    /// Counts work outside of the queue that will produce values, so that [`HostContext::quiesce`]
    /// waits for it.
    ///
    /// The work ends when the guard is dropped. If its end adds a task to the queue, add that
    /// first.
    pub fn external_work(&self) -> ExternalWork {
        let mut state = self.external.state.lock();
        state.outstanding += 1;
        state.begun += 1;
        drop(state);
        ExternalWork(self.external.clone())
    }

    /// Returns the host's one `T`, which the first call makes with `create`. `create` must not ask
    /// for another.
    pub fn shared_context<T: Any + Send + Sync>(&self, create: impl FnOnce() -> T) -> Arc<T> {
        self.shared.get_or_create(create)
    }

    /// Returns the host's one `T`, if [`HostContext::shared_context`] has made it.
    pub fn made_context<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.shared.get()
    }
}

/// A latch that several may open.
pub(super) struct OnceLatch {
    latch: Latch,
    is_open: AtomicBool,
}

impl OnceLatch {
    fn new() -> Self {
        Self { latch: Latch::new(1), is_open: AtomicBool::new(false) }
    }

    pub(super) fn latch(&self) -> &Latch {
        &self.latch
    }

    pub(super) fn open(&self) {
        if !self.is_open.swap(true, Ordering::AcqRel) {
            self.latch.count_down();
        }
    }
}

/// Opens the latch when all values are available.
fn open_when_available(mut values: Vec<AsyncValue>, latch: Arc<OnceLatch>) {
    while let Some(value) = values.pop() {
        if value.status() == Status::Pending {
            return value.and_then(move || open_when_available(values, latch));
        }
    }
    latch.open();
}

impl fmt::Debug for HostContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostContext").field("work_queue", &self.work_queue.name()).finish_non_exhaustive()
    }
}
