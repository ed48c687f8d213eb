//! Limits the time that a program takes, including its teardown.

use std::{
    cell::Cell,
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use tfrt_host::{Diagnostic, ErrorCode};

use crate::{Runtime, SharedWriter, tools::interrupt::Watch};

/// Limits the time that a program takes, including its teardown.
pub(super) struct Ending {
    pub(super) deadline: Option<Duration>,
    /// Receives the text that kernels print. When its reader is gone, the program is not waited
    /// for.
    pub(super) printed: Option<SharedWriter>,
    /// Observes interruptions, which end the wait for the program too.
    pub(super) watch: Arc<Watch>,
    /// The start of the last request.
    pub(super) started: Cell<Instant>,
    /// Dropping the runtime waits for the devices.
    pub(super) runtime: Option<Runtime>,
}

impl Ending {
    /// Waits for work of the last request, at most until its deadline, an interruption or the
    /// output's closure.
    ///
    /// Work on devices does not observe deadlines. `stop` stops it where that is possible, and returns
    /// whether it may end now. Elsewhere it is abandoned: the resources that it uses stay until the
    /// process ends.
    pub(super) fn in_time<T: Send + 'static>(
        &self,
        wait: impl FnOnce() -> T + Send + 'static,
        stop: impl FnOnce() -> bool,
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
        let is_unwanted =
            || self.watch.is_interrupted() || self.printed.as_ref().is_some_and(SharedWriter::is_closed);
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
                let cause = if self.watch.is_interrupted() {
                    "the program was interrupted"
                } else {
                    "the output was closed"
                };
                Diagnostic::new(ErrorCode::Cancelled, format!("{cause}, and work is still running"))
            }
        };
        loop {
            let left = self.deadline.map_or(Duration::MAX, |deadline| {
                deadline.saturating_add(GRACE).saturating_sub(self.started.get().elapsed())
            });
            match waited.recv_timeout(left.min(INTERVAL)) {
                Err(RecvTimeoutError::Timeout) if left <= INTERVAL || is_unwanted() => break,
                Err(RecvTimeoutError::Timeout) => {}
                ended => return ended.map_err(to_diagnostic),
            }
        }
        let patience = if stop() { PATIENCE } else { Duration::ZERO };
        waited.recv_timeout(patience).map_err(to_diagnostic)
    }

    /// Leaves the job's other ranks and drops the runtime, which waits for the devices if there is no
    /// other handle to it.
    pub(super) fn end(&mut self) -> Result<(), Diagnostic> {
        let Some(runtime) = self.runtime.take() else { return Ok(()) };
        let end = move || {
            runtime.leave_world();
            drop(runtime);
        };
        // What runs on devices still may come to its end.
        self.in_time(end, || true)
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        // If a session ends early, the error that ended it is reported instead.
        drop(self.end());
    }
}
