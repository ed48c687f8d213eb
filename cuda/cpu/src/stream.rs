//! Streams of the CPU devices: queues of commands that a pool of threads executes in order.
//!
//! A stream is *idle*, *scheduled* (a task of the pool will advance it, or is doing so), or
//! *blocked* (the event or operation that it waits for will schedule it). One thread at a time
//! advances a stream, and yields to other streams after some commands.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{StreamOptions, Streams};
use tfrt_device::observer::Queued;
use tfrt_device::origin::Origin;
use tfrt_device::trace::StreamRow;
use tfrt_host::tracing;

use super::access::Waiting;
use super::context::{CpuContext, Device};
use super::event::EventCore;
use super::graph::{Capture, GraphCore, Snapshot};
use super::operation::{Operation, Outcome, next_id};

/// The number of commands that a thread executes before it yields to other streams.
const COMMANDS_AT_A_TIME: usize = 64;

/// The next step of a stream.
pub(super) enum Command {
    /// Runs the operation with this number in the checker.
    Run(Arc<Operation>, u64),
    /// Marks the event as reached.
    Record(Arc<EventCore>, u64),
    /// Waits for this record of the event.
    Wait(Arc<EventCore>, u64),
    /// Calls the host.
    Callback(Box<dyn FnOnce() + Send>),
    /// Runs the operations of a graph from this index on.
    Graph(Arc<GraphCore>, usize),
}

/// A stream's handle. Queued work continues when it is dropped.
pub(crate) struct Stream {
    pub(super) core: Arc<StreamCore>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(observer) = &self.core.device.shared.observer {
            observer.stream_destroyed(self.core.id);
        }
    }
}

pub(super) struct StreamCore {
    pub(super) id: u64,
    priority: i32,
    pub(super) device: Arc<Device>,
    /// Its row in the trace.
    row: StreamRow,
    state: Mutex<State>,
    /// Notified when commands have finished.
    progress: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Command>,
    activity: Activity,
    /// The number of commands queued so far.
    queued: u64,
    /// The number of commands finished so far.
    done: u64,
    capture: Option<Arc<Capture>>,
}

#[derive(Default, PartialEq, Eq, Clone, Copy)]
enum Activity {
    #[default]
    Idle,
    Scheduled,
    Blocked,
}

/// The outcome of a command.
enum Step {
    Done,
    /// The command must wait for an event, or for an operation of another stream.
    Blocked(Command),
    /// The stream continues with this command.
    Next(Command),
}

impl StreamCore {
    pub(super) fn priority(&self) -> i32 {
        self.priority
    }

    /// Queues a command.
    pub(super) fn push(self: &Arc<Self>, command: Command) {
        self.push_with(|| command);
    }

    /// Queues a command that is made under the queue's lock.
    pub(super) fn push_with(self: &Arc<Self>, command: impl FnOnce() -> Command) {
        let mut state = self.state.lock();
        state.queue.push_back(command());
        state.queued += 1;
        if state.activity == Activity::Idle {
            state.activity = Activity::Scheduled;
            drop(state);
            self.device.shared.pool.schedule(self.clone());
        }
    }

    /// Queues an operation, or adds it to the capture.
    pub(super) fn submit(self: &Arc<Self>, operation: Arc<Operation>) -> Result<()> {
        self.device.check()?;
        if let Some(capture) = self.capture() {
            capture.add(self.id, operation);
            return Ok(());
        }
        let id = self.announce(&operation, || operation.origin())?;
        self.push(Command::Run(operation, id));
        Ok(())
    }

    /// Registers an operation and its origin with the checker, and returns its number.
    pub(super) fn announce(&self, operation: &Operation, origin: impl FnOnce() -> Origin) -> Result<u64> {
        self.announce_on(self.id, operation, origin)
    }

    /// Tells the checker of an operation on a stream, which may be a branch of a graph.
    pub(super) fn announce_on(
        &self,
        stream: u64,
        operation: &Operation,
        origin: impl FnOnce() -> Origin,
    ) -> Result<u64> {
        let Some(observer) = &self.device.shared.observer else { return Ok(0) };
        let id = next_id();
        let name = operation.name.as_str();
        let accesses: Vec<_> = operation.accesses.iter().chain(&operation.of_host).copied().collect();
        observer.queued(&Queued { operation: id, stream, name, accesses: &accesses, origin: origin() })?;
        Ok(id)
    }

    /// Returns the capture that the stream takes part in.
    pub(super) fn capture(&self) -> Option<Arc<Capture>> {
        self.state.lock().capture.clone()
    }

    pub(super) fn set_capture(&self, capture: Option<Arc<Capture>>) -> Option<Arc<Capture>> {
        std::mem::replace(&mut self.state.lock().capture, capture)
    }

    /// Returns the point that an event recorded now would mark in the stream's capture.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        self.capture().map(|capture| capture.snapshot(self.id))
    }

    /// Called by an event or an operation that the stream waited for.
    pub(super) fn resume(self: &Arc<Self>) {
        let mut state = self.state.lock();
        match state.activity {
            Activity::Blocked => {
                state.activity = Activity::Scheduled;
                drop(state);
                self.device.shared.pool.schedule(self.clone());
            }
            // Another thread resumed the stream, or it continued on its own.
            Activity::Scheduled | Activity::Idle => {}
        }
    }

    /// Executes commands. The pool calls this on one thread at a time.
    pub(super) fn advance(self: Arc<Self>) {
        // Between two operations that threads share, they would fall asleep and have to be woken.
        let _expected = self.device.shared.pool.expect_work();
        for _ in 0..COMMANDS_AT_A_TIME {
            let command = {
                let mut state = self.state.lock();
                let Some(command) = state.queue.pop_front() else {
                    state.activity = Activity::Idle;
                    return;
                };
                command
            };
            match self.execute(command) {
                Step::Done => {
                    self.state.lock().done += 1;
                    self.progress.notify_all();
                }
                Step::Next(command) => self.state.lock().queue.push_front(command),
                Step::Blocked(command) => {
                    if self.block(command) {
                        return;
                    }
                }
            }
        }
        self.device.shared.pool.schedule(self.clone());
    }

    /// Blocks the stream until what the command waits for resumes it. Returns false if there is
    /// nothing to wait for any more.
    fn block(self: &Arc<Self>, command: Command) -> bool {
        let wait: Box<dyn FnOnce() -> Waiting + '_> = match &command {
            Command::Wait(event, record) => {
                let (event, record) = (event.clone(), *record);
                Box::new(move || event.wait(record, self))
            }
            Command::Run(operation, _) => {
                let operation = operation.clone();
                Box::new(move || operation.wait(&self.device.shared, self))
            }
            Command::Graph(graph, next) => {
                let operation = graph.operations[*next].clone();
                Box::new(move || operation.wait(&self.device.shared, self))
            }
            Command::Record(..) | Command::Callback(_) => unreachable!("neither waits"),
        };
        let mut state = self.state.lock();
        state.queue.push_front(command);
        state.activity = Activity::Blocked;
        drop(state);
        // From here on the stream may be resumed. If there is nothing to wait for, this thread
        // takes it back.
        if wait() == Waiting::Registered {
            return true;
        }
        let mut state = self.state.lock();
        let ours = state.activity == Activity::Blocked;
        if ours {
            state.activity = Activity::Scheduled;
        }
        !ours
    }

    /// Runs an operation, and records it in the trace if tracing is on.
    fn run(&self, operation: &Operation, id: u64) -> Outcome {
        let start_ns = tracing::is_enabled().then(tracing::now_ns);
        let outcome = operation.run(&self.device.shared, id);
        if let (Some(start_ns), Outcome::Done(_)) = (start_ns, &outcome) {
            self.row.record(operation.describe(), start_ns, tracing::now_ns());
        }
        outcome
    }

    fn execute(self: &Arc<Self>, command: Command) -> Step {
        // Commands after a failure are skipped, but events are reached and callbacks are called, so
        // that nothing waits for them forever.
        let failed = self.device.has_failed();
        match command {
            Command::Run(operation, id) if !failed => match self.run(&operation, id) {
                Outcome::Busy => return Step::Blocked(Command::Run(operation, id)),
                Outcome::Done(result) => self.device.note(result),
            },
            Command::Graph(graph, next) if !failed && next < graph.operations.len() => {
                let id = graph.announced.get(next).copied().unwrap_or(0);
                match self.run(&graph.operations[next], id) {
                    Outcome::Busy => return Step::Blocked(Command::Graph(graph, next)),
                    Outcome::Done(result) => {
                        self.device.note(result);
                        return Step::Next(Command::Graph(graph, next + 1));
                    }
                }
            }
            Command::Run(..) | Command::Graph(..) => {}
            Command::Record(event, record) => event.reach(record),
            Command::Wait(event, record) => {
                if !event.has_reached(record) {
                    return Step::Blocked(Command::Wait(event, record));
                }
            }
            Command::Callback(callback) => {
                let called = std::panic::catch_unwind(std::panic::AssertUnwindSafe(callback));
                self.device.note(
                    called.map_err(|_| DeviceError::new(Status::LaunchFailed, "a host callback panicked")),
                );
            }
        }
        Step::Done
    }
}

impl Streams for CpuContext {
    fn create_stream(&self, options: StreamOptions) -> Result<Stream> {
        self.device.check()?;
        let (least, most) = PRIORITIES;
        let core = StreamCore {
            id: next_id(),
            priority: options.priority.clamp(most, least),
            device: self.device.clone(),
            row: StreamRow::new(self.device.ordinal),
            state: Mutex::default(),
            progress: Condvar::new(),
        };
        if let Some(observer) = &self.device.shared.observer {
            observer.stream_created(core.id, self.device.ordinal, Origin::here());
        }
        Ok(Stream { core: Arc::new(core) })
    }

    fn stream_id(&self, stream: &Stream) -> u64 {
        stream.core.id
    }

    fn priority_range(&self) -> Result<(i32, i32)> {
        Ok(PRIORITIES)
    }

    fn query_stream(&self, stream: &Stream) -> Result<bool> {
        let state = stream.core.state.lock();
        let idle = state.done == state.queued;
        drop(state);
        self.device.check()?;
        Ok(idle)
    }

    fn synchronize_stream(&self, stream: &Stream) -> Result<()> {
        let mut state = stream.core.state.lock();
        let queued = state.queued;
        while state.done < queued {
            stream.core.progress.wait(&mut state);
        }
        drop(state);
        if let Some(observer) = &self.device.shared.observer {
            observer.host_saw_stream(stream.core.id);
        }
        self.device.check()
    }

    fn wait_event(&self, stream: &Stream, event: &super::event::Event) -> Result<()> {
        self.device.check()?;
        if let Some(snapshot) = event.core.captured() {
            return snapshot.capture.join(&stream.core, &snapshot);
        }
        let record = event.core.recorded();
        if let Some(observer) = &self.device.shared.observer {
            observer.stream_waits(stream.core.id, event.core.id, record > 0, Origin::here())?;
        }
        if record > 0 {
            stream.core.push(Command::Wait(event.core.clone(), record));
        }
        Ok(())
    }

    fn host_callback(&self, stream: &Stream, callback: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.device.check()?;
        if stream.core.capture().is_some() {
            return Err(Status::StreamCaptureUnsupported.into());
        }
        stream.core.push(Command::Callback(callback));
        Ok(())
    }
}

/// The lowest and the highest priority.
const PRIORITIES: (i32, i32) = (0, -5);
