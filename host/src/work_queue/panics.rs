//! The panics of a queue's tasks.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parking_lot::Mutex;

use super::Task;
use crate::panics::message;

/// The most panics kept between two calls of `take`. Further ones usually repeat the same message.
const MAX_KEPT: usize = 64;

/// A task's panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskPanic {
    /// The text of the panic.
    pub message: String,
    /// The name of the thread that ran the task.
    pub thread: String,
}

impl fmt::Display for TaskPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a task panicked on thread `{}`: {}", self.thread, self.message)
    }
}

impl TaskPanic {
    /// Describes a panic that `catch_unwind` caught on this thread.
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
    /// Runs a task and catches its panic.
    #[inline]
    pub(super) fn run(&self, task: Task) {
        self.guard(|| task.run());
    }

    /// Calls `run`, which runs tasks. Catches and keeps a panic, and then returns `None`.
    #[inline]
    pub(super) fn guard<R>(&self, run: impl FnOnce() -> R) -> Option<R> {
        // Unwind safety: tasks share state only through types that are `Sync`. The only thing a
        // task may leave half-done is its results, which unwinding drops.
        catch_unwind(AssertUnwindSafe(run)).map_err(|payload| self.keep(payload)).ok()
    }

    #[cold]
    fn keep(&self, payload: Box<dyn Any + Send>) {
        let panic = TaskPanic::new(&*payload);
        // Dropping a payload may panic. It is text except in contrived cases, so little leaks.
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
