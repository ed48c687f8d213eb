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
mod multi;
mod panics;
mod parallel_for;
mod single;
mod task;
mod task_list;

use std::fmt;
use std::sync::Arc;

pub use latch::Latch;
pub use multi::MultiThreadedWorkQueue;
pub use panics::TaskPanic;
pub use parallel_for::{parallel_for, parallel_for_scoped};
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

    /// Calls `body` on this thread as if it were a task of the queue, then [`ConcurrentWorkQueue::await_latch`]. Tasks
    /// that `body` adds are thereby added and run more cheaply: they need not be handed from one thread to another.
    ///
    /// # Panics
    /// If `body` does; the latch is then not waited for.
    fn run_and_await(&self, body: &mut dyn FnMut(), latch: &Latch) {
        body();
        self.await_latch(latch);
    }

    /// Returns at a moment when every task added so far, and all that those added, have finished. Not to be called
    /// from within a task.
    fn quiesce(&self);

    /// A loop over tasks begins that keeps the queue's threads busy. Queues with threads of their own let these look longer
    /// for more to do before they sleep while there is one, as loops tend to follow one another. A thread that waits and
    /// sees one helps no more until what it waits for is there, so that it does not compete with them for the cores,
    /// neither in this loop nor in those that follow.
    fn begin_loop(&self) {}

    /// A loop that [`ConcurrentWorkQueue::begin_loop`] announced has ended.
    fn end_loop(&self) {}

    /// How many compute tasks run at once: into how many pieces it pays to split work.
    fn parallelism(&self) -> usize;

    /// True if tasks never run at the same time as each other, all of them on threads that wait for the queue.
    fn is_single_threaded(&self) -> bool {
        false
    }

    /// True if the calling thread is running a compute task of this queue, and so may not block.
    fn is_worker_thread(&self) -> bool;

    /// True if the calling thread runs blocking tasks of this queue: it may wait for values, but not for the queue.
    fn is_blocking_thread(&self) -> bool {
        false
    }

    /// Hands out, and forgets, what tasks said that panicked since the last call.
    fn take_panics(&self) -> Vec<TaskPanic>;
}

/// Threads that a description may ask for: more is a typing error.
const MAX_THREADS: usize = 4096;

/// Makes a queue from its description:
///
/// - `s`: the single-threaded one,
/// - `mstd`: the multi-threaded one, with one worker per core,
/// - `mstd:N`: with `N` workers,
/// - `mstd:N,M`: and with up to `M` threads for blocking tasks (256 otherwise); `mstd:N:M` is the same.
///
/// # Errors
/// [`InvalidWorkQueue`] if the description is none, or the system gives no threads.
pub fn from_str(description: &str) -> Result<Arc<dyn ConcurrentWorkQueue>, InvalidWorkQueue> {
    let invalid = |reason: String| InvalidWorkQueue { description: description.to_owned(), reason };
    let (name, arguments) = description.split_once(':').unwrap_or((description, ""));
    match name {
        "s" if arguments.is_empty() => Ok(Arc::new(SingleThreadedWorkQueue::new())),
        "s" => Err(invalid("the single-threaded queue takes no argument".to_owned())),
        "mstd" => {
            let mut counts = [
                std::thread::available_parallelism().map_or(1, usize::from),
                multi::DEFAULT_BLOCKING_THREADS,
            ];
            let has_arguments = description.contains(':');
            let mut arguments = arguments.split([',', ':']).take_while(|_| has_arguments);
            for (count, argument) in counts.iter_mut().zip(arguments.by_ref()) {
                *count = match argument.parse() {
                    Ok(number @ 1..=MAX_THREADS) => number,
                    _ => return Err(invalid(format!("`{argument}` is no number from 1 to {MAX_THREADS}"))),
                };
            }
            if arguments.next().is_some() {
                return Err(invalid("it takes two numbers at most".to_owned()));
            }
            let queue = MultiThreadedWorkQueue::new(counts[0], counts[1])
                .map_err(|error| invalid(format!("no thread could be started: {error}")))?;
            Ok(Arc::new(queue))
        }
        _ => Err(invalid("there are `s` and `mstd[:threads[,blocking threads]]`".to_owned())),
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn descriptions_make_queues() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let cases = [
            ("s", "single-threaded".to_owned()),
            ("mstd", format!("multi-threaded ({cores} threads, up to 256 blocking threads)")),
            ("mstd:3", "multi-threaded (3 threads, up to 256 blocking threads)".to_owned()),
            ("mstd:1,2", "multi-threaded (1 thread, up to 2 blocking threads)".to_owned()),
            ("mstd:1:2", "multi-threaded (1 thread, up to 2 blocking threads)".to_owned()),
        ];
        for (description, name) in cases {
            let queue = from_str(description).unwrap();
            assert_eq!(queue.name(), name);
            assert_eq!(queue.is_single_threaded(), description == "s");
        }
    }

    #[test]
    fn other_descriptions_say_what_is_wrong() {
        let cases = [
            ("", "there are `s`"),
            ("eigen", "there are `s`"),
            ("s:1", "takes no argument"),
            ("mstd:", "`` is no number from 1 to 4096"),
            ("mstd:0", "`0` is no number"),
            ("mstd:-1", "`-1` is no number"),
            ("mstd:4x", "`4x` is no number"),
            ("mstd:1,", "`` is no number"),
            ("mstd:100000000000000000000", "is no number"),
            ("mstd:1,2,3", "two numbers at most"),
        ];
        for (description, expected) in cases {
            let error = from_str(description).err().unwrap().to_string();
            assert!(error.contains(expected), "{description}: {error}");
        }
    }
}
