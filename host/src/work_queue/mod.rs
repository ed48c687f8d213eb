//! Work queues: who runs the runtime's tasks, and on which thread.
//!
//! A [`ConcurrentWorkQueue`] takes two kinds of tasks. *Compute* tasks keep a core busy and never wait for anything
//! but a short lock; they run on a fixed set of threads. *Blocking* tasks mostly wait (files, sockets, other threads)
//! and run on threads of their own. A queue knows no kernel and no value: it runs closures.
//!
//! Waiting is done outside of tasks, on a [`Latch`]: [`ConcurrentWorkQueue::await_latch`] lends the waiting thread to
//! the queue until the latch opens.
//!
//! A panic in a task ends that task only. The queue keeps what it said ([`TaskPanic`]) until
//! [`ConcurrentWorkQueue::take_panics`] asks for it; the task counts as finished, so that nobody waits for it forever.
//! What the task would have produced is dropped by the unwinding, which its consumers see as an error.

mod latch;
mod panics;
mod single;
mod task;

use std::fmt;
use std::sync::Arc;

pub use latch::Latch;
pub use panics::TaskPanic;
pub use single::SingleThreadedWorkQueue;
pub use task::Task;

/// Runs tasks. Shared by all threads; see the module for the rules tasks live by.
pub trait ConcurrentWorkQueue: Send + Sync {
    /// A description for people.
    fn name(&self) -> String;

    /// Takes a compute task. It runs later, on any thread of the queue, in no promised order.
    fn add_task(&self, task: Task);

    /// Takes a blocking task. With `allow_queuing == false` it begins whatever other blocking tasks do, even if they
    /// wait for it; with `true` it may have to wait for a thread.
    ///
    /// # Errors
    /// Gives the task back if the promise cannot be kept.
    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task>;

    /// Returns when `latch` is open. Until then the calling thread runs tasks or sleeps. Not to be called from within
    /// a compute task: debug builds of queues with threads of their own assert that.
    fn await_latch(&self, latch: &Latch);

    /// Returns at a moment when every task added so far, and all that those added, have finished. Not to be called
    /// from within a task.
    fn quiesce(&self);

    /// How many compute tasks run at once: into how many pieces it pays to split work.
    fn parallelism(&self) -> usize;

    /// True if tasks never run at the same time as each other, all of them on threads that wait for the queue.
    fn is_single_threaded(&self) -> bool {
        false
    }

    /// True if the calling thread is running a compute task of this queue, and so may not block.
    fn is_worker_thread(&self) -> bool;

    /// Hands out, and forgets, what tasks said that panicked since the last call.
    fn take_panics(&self) -> Vec<TaskPanic>;
}

/// Makes a queue from its description: `s` is the single-threaded one.
///
/// # Errors
/// [`InvalidWorkQueue`] if the description is none.
pub fn from_str(description: &str) -> Result<Arc<dyn ConcurrentWorkQueue>, InvalidWorkQueue> {
    let invalid = |reason: String| InvalidWorkQueue { description: description.to_owned(), reason };
    match description.split_once(':').unwrap_or((description, "")) {
        ("s", "") => Ok(Arc::new(SingleThreadedWorkQueue::new())),
        ("s", _) => Err(invalid("the single-threaded queue takes no argument".to_owned())),
        _ => Err(invalid("there is `s`".to_owned())),
    }
}

/// Why [`from_str`] made no queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidWorkQueue {
    description: String,
    reason: String,
}

impl fmt::Display for InvalidWorkQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no work queue `{}`: {}", self.description, self.reason)
    }
}

impl std::error::Error for InvalidWorkQueue {}
