//! One piece of work on a stream.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::observer::{Access, AccessKind, Handover, Observed};
use tfrt_device::origin::{Caller, Origin};
use tfrt_device::trace::WorkSize;
use tfrt_ptx::Report;

use super::Shared;
use super::access::{Manner, Waiting};
use super::stream::StreamCore;

/// The context of a running operation.
pub(super) struct Run<'a> {
    /// The devices' threads and memory.
    pub(super) shared: &'a Shared,
    /// The memory that it observed itself accessing, if it can: launches do.
    pub(super) observed: Vec<Access>,
    /// What it handed over while it ran.
    pub(super) handover: Option<Handover>,
    /// The report of a launch, which names the threads that accessed memory.
    pub(super) report: Option<Report>,
}

/// The function of an operation. Graphs replay it, so it may be called any number of times.
pub(super) type Body = Box<dyn Fn(&mut Run<'_>) -> Result<()> + Send + Sync>;

/// A piece of work, with the memory that it declares to access.
pub(super) struct Operation {
    /// The name, for reports.
    pub(super) name: String,
    size: WorkSize,
    /// The declared accesses.
    pub(super) accesses: Vec<Access>,
    /// The accesses of pinned host memory, for the checker.
    pub(super) of_host: Vec<Access>,
    /// The origin.
    caller: Caller,
    manner: Manner,
    body: Body,
}

/// The outcome of running an operation.
#[must_use]
pub(super) enum Outcome {
    /// It has finished or failed.
    Done(Result<()>),
    /// Another operation excludes it ([`Operation::wait`]).
    Busy,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Returns a unique number.
pub(super) fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

impl Operation {
    /// Creates an operation that may access what it declares as slices.
    pub(super) fn new(
        name: impl Into<String>,
        accesses: Vec<Access>,
        body: impl Fn(&mut Run<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::of_manner(Manner::Slices, name, WorkSize::Unknown, accesses, body)
    }

    /// Creates an operation that accesses memory in another manner.
    pub(super) fn of_manner(
        manner: Manner,
        name: impl Into<String>,
        size: WorkSize,
        accesses: Vec<Access>,
        body: impl Fn(&mut Run<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::with_host(manner, name, size, [accesses, Vec::new()], body)
    }

    /// Creates an operation that uses memory of the device and of the host.
    pub(super) fn with_host(
        manner: Manner,
        name: impl Into<String>,
        size: WorkSize,
        [accesses, of_host]: [Vec<Access>; 2],
        body: impl Fn(&mut Run<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let (name, caller) = (name.into(), Caller::here());
        Arc::new(Self { name, size, accesses, of_host, caller, manner, body: Box::new(body) })
    }

    /// Returns the text that a trace shows.
    pub(super) fn describe(&self) -> String {
        self.size.describe(&self.name)
    }

    /// Returns its origin.
    pub(super) fn origin(&self) -> Origin {
        self.caller.origin()
    }

    /// Runs the operation, unless its memory is in use. `id` is its number in the checker.
    pub(super) fn run(&self, shared: &Shared, id: u64) -> Outcome {
        let Some(_held) = shared.space.borrows.try_take(self.manner, &self.accesses) else {
            return Outcome::Busy;
        };
        Outcome::Done(self.run_observed(shared, id).map_err(|error| error.of_work(|| self.origin())))
    }

    /// Registers `stream` to be resumed when the operation may be tried again.
    pub(super) fn wait(&self, shared: &Shared, stream: &Arc<StreamCore>) -> Waiting {
        shared.space.borrows.wait(self.manner, &self.accesses, stream)
    }

    fn run_observed(&self, shared: &Shared, id: u64) -> Result<()> {
        if let Some(observer) = &shared.observer {
            observer.started(id)?;
        }
        let mut run = Run { shared, observed: Vec::new(), handover: None, report: None };
        let done = catch_unwind(AssertUnwindSafe(|| (self.body)(&mut run))).unwrap_or_else(|_| {
            Err(DeviceError::new(Status::LaunchFailed, format!("{} panicked", self.name)))
        });
        if let Some(observer) = &shared.observer {
            let toucher = |address, kind| {
                let toucher = run
                    .report
                    .as_ref()?
                    .toucher(address, !matches!(kind, AccessKind::Read | AccessKind::Poll))?;
                Some(toucher.to_string())
            };
            let handover = run.handover.as_ref();
            observer.finished(id, &Observed { accesses: &run.observed, toucher: &toucher, handover })?;
        }
        done
    }
}
