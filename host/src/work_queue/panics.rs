//! The panics of a queue's tasks.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parking_lot::Mutex;

use super::Task;
use crate::panics::message;

/// Most panics kept between two calls of `take`. Further ones most likely say the same.
const MAX_KEPT: usize = 64;

/// A task's panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskPanic {
    /// Text of the panic.
    pub message: String,
    /// Name of the thread that ran the task.
    pub thread: String,
}

impl fmt::Display for TaskPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a task panicked on thread `{}`: {}", self.thread, self.message)
    }
}

impl TaskPanic {
    /// Describes what `catch_unwind` caught on this thread.
    pub(super) fn new(payload: &(dyn Any + Send)) -> Self {
        let message = message(payload).to_owned();
        let thread = std::thread::current().name().unwrap_or("(unnamed)").to_owned();
        Self { message, thread }
    }
}

/// The panics of a queue's tasks.
#[derive(Debug, Default)]
pub(super) struct Panics {
    kept: Mutex<Vec<TaskPanic>>,
}

impl Panics {
    /// Runs a task; a panic ends here.
    #[inline]
    pub(super) fn run(&self, task: Task) {
        self.guard(|| task.run());
    }

    /// Calls `run`, which runs tasks; a panic ends here, and `None` says that there was one.
    #[inline]
    pub(super) fn guard<R>(&self, run: impl FnOnce() -> R) -> Option<R> {
        // Unwind safety: a task shares state only through types that are `Sync`, and the one thing it may leave
        // half-done, its results, it drops.
        catch_unwind(AssertUnwindSafe(run)).map_err(|payload| self.keep(payload)).ok()
    }

    #[cold]
    fn keep(&self, payload: Box<dyn Any + Send>) {
        let panic = TaskPanic::new(&*payload);
        // A payload may panic when it is dropped; it is text in all but contrived cases.
        std::mem::forget(payload);
        let mut kept = self.kept.lock();
        if kept.len() < MAX_KEPT {
            kept.push(panic);
        }
    }

    pub(super) fn take(&self) -> Vec<TaskPanic> {
        std::mem::take(&mut self.kept.lock())
    }
}
