//! One computer's runtime: where work runs, where memory comes from, where text and errors go.

use std::{
    any::Any,
    fmt,
    io::{self, Write},
    sync::Arc,
    time::Instant,
};

use parking_lot::{Condvar, Mutex};

use super::{resource::SharedContexts, timer::Timer};
use crate::{
    allocator::HostAllocator,
    async_value::{AsyncValue, Status},
    diagnostic::{Diagnostic, ErrorCode},
    work_queue::{ConcurrentWorkQueue, Latch, Task},
};

/// Told of every error when it is made, before it becomes a value.
pub type DiagnosticHandler = dyn Fn(&Diagnostic) + Send + Sync;

/// What all requests of a process (or of a test) have in common.
pub struct HostContext {
    // Dropped first, so that no action runs into a half-gone host.
    timer: Timer,
    work_queue: Arc<dyn ConcurrentWorkQueue>,
    allocator: Arc<dyn HostAllocator>,
    handler: Box<DiagnosticHandler>,
    output: Mutex<Box<dyn Write + Send>>,
    shared: SharedContexts,
    external: Arc<External>,
}

/// Work of others that will produce values of this host's: counted, so that the end of all work can be told.
#[derive(Default)]
struct External {
    state: Mutex<ExternalState>,
    idle: Condvar,
}

#[derive(Default)]
struct ExternalState {
    outstanding: usize,
    /// Grows with each piece of work that began.
    begun: u64,
}

/// Work that goes on outside of the host's queue, on a device for example; it ends when this is dropped.
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
}

impl HostContextBuilder {
    /// Where the text that kernels print goes; by default nowhere.
    #[must_use]
    pub fn output(mut self, output: impl Write + Send + 'static) -> Self {
        self.output = Box::new(output);
        self
    }

    /// Who is told of errors when they are made; by default nobody.
    #[must_use]
    pub fn diagnostic_handler(mut self, handler: impl Fn(&Diagnostic) + Send + Sync + 'static) -> Self {
        self.handler = Box::new(handler);
        self
    }

    /// The host.
    pub fn build(self) -> Arc<HostContext> {
        Arc::new(HostContext {
            timer: Timer::default(),
            work_queue: self.work_queue,
            allocator: self.allocator,
            handler: self.handler,
            output: Mutex::new(self.output),
            shared: SharedContexts::default(),
            external: Arc::default(),
        })
    }
}

impl HostContext {
    /// A host that runs work on `work_queue` and takes memory from `allocator`.
    pub fn builder(
        work_queue: Arc<dyn ConcurrentWorkQueue>,
        allocator: Arc<dyn HostAllocator>,
    ) -> HostContextBuilder {
        HostContextBuilder { work_queue, allocator, handler: Box::new(|_| ()), output: Box::new(io::sink()) }
    }

    /// Where work runs.
    pub fn work_queue(&self) -> &Arc<dyn ConcurrentWorkQueue> {
        &self.work_queue
    }

    /// Where memory comes from.
    pub fn allocator(&self) -> &Arc<dyn HostAllocator> {
        &self.allocator
    }

    /// Runs a task on a compute thread; it must not wait for anything.
    pub fn add_task(&self, task: Task) {
        self.work_queue.add_task(task);
    }

    /// Calls `action` on the timer's thread at `at` or soon after; it must be short.
    ///
    /// # Errors
    /// [`ErrorCode::ResourceExhausted`] if the timer's thread cannot be started.
    pub fn run_at(&self, at: Instant, action: impl FnOnce() + Send + 'static) -> Result<(), Diagnostic> {
        self.timer.schedule(at, action)
    }

    /// Writes text that a kernel prints. Text of one call stays together; a failing output is ignored, as a
    /// closed pipe must not fail the program.
    pub fn print(&self, text: fmt::Arguments<'_>) {
        let mut output = self.output.lock();
        let _ = output.write_fmt(text);
    }

    /// Hands printed text on to where it goes.
    pub fn flush(&self) {
        let _ = self.output.lock().flush();
    }

    /// Tells the diagnostic handler of an error.
    pub(crate) fn report(&self, error: &Diagnostic) {
        (self.handler)(error);
    }

    /// Waits until all `values` are available, running tasks meanwhile if the queue has no threads.
    ///
    /// # Errors
    /// [`ErrorCode::FailedPrecondition`] on a compute thread of this host, which must never wait.
    pub fn await_values(&self, values: &[AsyncValue]) -> Result<(), Diagnostic> {
        if self.work_queue.is_worker_thread() {
            return Err(Diagnostic::new(
                ErrorCode::FailedPrecondition,
                "a compute thread must not wait for values",
            ));
        }
        if values.iter().any(|value| value.status() == Status::Pending) {
            let latch = Arc::new(Latch::new(1));
            open_when_available(values.to_vec(), latch.clone());
            self.work_queue.await_latch(&latch);
        }
        Ok(())
    }

    /// Calls `run`, which starts some work, and waits until the values it gives are available. Cheaper than the two
    /// apart: tasks that `run` adds need not be handed from one thread to another. `run` counts as a task, so what it
    /// calls must not wait for the queue.
    ///
    /// # Errors
    /// [`ErrorCode::FailedPrecondition`] on a compute thread of this host, which must never wait.
    pub fn run_and_await(
        &self,
        run: impl FnOnce() -> Vec<AsyncValue>,
    ) -> Result<Vec<AsyncValue>, Diagnostic> {
        if self.work_queue.is_worker_thread() {
            return Err(Diagnostic::new(
                ErrorCode::FailedPrecondition,
                "a compute thread must not wait for values",
            ));
        }
        let latch = Arc::new(Latch::new(1));
        let (mut run, mut values) = (Some(run), Vec::new());
        let mut body = || {
            values = run.take().map(|run| run()).unwrap_or_default();
            open_when_available(values.clone(), latch.clone());
        };
        self.work_queue.run_and_await(&mut body, &latch);
        Ok(values)
    }

    /// Waits until no task is running or waiting, and no work outside of the queue goes on.
    ///
    /// # Errors
    /// [`ErrorCode::FailedPrecondition`] within a task of this host's queue, which would wait for itself.
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
            // What ends it adds a task, or leaves nothing to do; then the queue has its turn again.
            while state.outstanding > 0 {
                self.external.idle.wait(&mut state);
            }
        }
    }

    /// Counts work that goes on outside of the queue and will produce values, so that [`HostContext::quiesce`] waits for
    /// it. Whoever ends it adds its task to the queue first, if it has one, and then drops the guard.
    pub fn external_work(&self) -> ExternalWork {
        let mut state = self.external.state.lock();
        state.outstanding += 1;
        state.begun += 1;
        drop(state);
        ExternalWork(self.external.clone())
    }

    /// The host's one `T`, made by `create` when first asked for. `create` must not ask for another.
    pub fn shared_context<T: Any + Send + Sync>(&self, create: impl FnOnce() -> T) -> Arc<T> {
        self.shared.get_or_create(create)
    }

    /// The host's one `T`, if anybody asked for it before.
    pub fn made_context<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.shared.get()
    }
}

/// Opens the latch when all values are available.
fn open_when_available(mut values: Vec<AsyncValue>, latch: Arc<Latch>) {
    while let Some(value) = values.pop() {
        if value.status() == Status::Pending {
            return value.and_then(move || open_when_available(values, latch));
        }
    }
    latch.count_down();
}

impl fmt::Debug for HostContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostContext").field("work_queue", &self.work_queue.name()).finish_non_exhaustive()
    }
}
