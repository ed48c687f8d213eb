//! Work queues: they decide on which thread each task of the runtime runs.
//!
//! A [`ConcurrentWorkQueue`] takes two kinds of tasks. *Compute* tasks keep a core busy and wait
//! for nothing but short locks. They run on a fixed set of threads. *Blocking* tasks mostly wait
//! for files, sockets or other threads, and run on separate threads. A queue runs closures and
//! knows neither kernels nor values.
//!
//! Code outside of tasks waits on a [`Latch`]: [`ConcurrentWorkQueue::await_latch`] lends the
//! waiting thread to the queue until the latch opens.
//!
//! A panic in a task ends only that task, which counts as finished, so waiting threads do not hang.
//! The queue keeps the message as a [`TaskPanic`] until [`ConcurrentWorkQueue::take_panics`] is
//! called. Unwinding drops the promises that the task held, and their consumers see an error.

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

/// Runs tasks. All threads share it; the module documentation has the rules for tasks.
pub trait ConcurrentWorkQueue: Send + Sync {
    /// Returns a description for people.
    fn name(&self) -> String;

    /// Adds a compute task. It runs later, on any thread of the queue, in no guaranteed order.
    fn add_task(&self, task: Task);

    /// Adds a blocking task. If `allow_queuing` is true, the task may have to wait for a thread. If
    /// it is false, the task starts regardless of other blocking tasks, even if those wait for it.
    ///
    /// # Errors
    /// Returns the task if `allow_queuing` is false and no thread is available for it.
    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task>;

    /// Returns when `latch` is open. Until then the calling thread runs tasks or sleeps. Must not
    /// be called within a compute task; queues with their own threads assert that in debug builds.
    fn await_latch(&self, latch: &Latch);

    /// Calls `body` on this thread as if it were a task of the queue, then
    /// [`ConcurrentWorkQueue::await_latch`]. Adding tasks from `body` is cheaper, because they need
    /// not move from one thread to another.
    ///
    /// # Panics
    /// If `body` panics. The latch is not awaited in this case.
    fn run_and_await(&self, body: &mut dyn FnMut(), latch: &Latch) {
        body();
        self.await_latch(latch);
    }

    /// Waits until all tasks added so far, and all tasks that those added, have finished. Must not
    /// be called within a task.
    fn quiesce(&self);

    /// Announces a loop that keeps the queue's threads busy. Loops tend to follow one another. So,
    /// while a loop runs, the worker threads of a queue search longer for tasks before they sleep.
    /// A waiting thread that sees a loop stops helping until its latch opens, so that it does not
    /// compete with the workers for cores in this loop or the next ones.
    fn begin_loop(&self) {}

    /// Ends a loop that [`ConcurrentWorkQueue::begin_loop`] announced.
    fn end_loop(&self) {}

    /// Returns how many compute tasks can run at once. Splitting work into more pieces does not
    /// pay.
    fn parallelism(&self) -> usize;

    /// Returns true if tasks never run concurrently and all run on threads that wait for the queue.
    fn is_single_threaded(&self) -> bool {
        false
    }

    /// Returns true if the calling thread is running a compute task of this queue and so must not
    /// block.
    fn is_worker_thread(&self) -> bool;

    /// Returns true if the calling thread runs blocking tasks of this queue. Such a thread may wait
    /// for values, but not for the queue.
    fn is_blocking_thread(&self) -> bool {
        false
    }

    /// Takes the panics of tasks since the last call.
    fn take_panics(&self) -> Vec<TaskPanic>;
}

/// The most threads that a description may ask for. A larger number is probably a typing error.
const MAX_THREADS: usize = 4096;

/// Creates a queue from its description:
///
/// - `s`: single-threaded
/// - `mstd`: multi-threaded, with one worker per core
/// - `mstd:N`: multi-threaded, with `N` workers
/// - `mstd:N,M` or `mstd:N:M`: also with up to `M` threads for blocking tasks (default 256)
///
/// # Errors
/// [`InvalidWorkQueue`] if the description is malformed or the system cannot start the threads.
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
                    _ => {
                        return Err(invalid(format!("`{argument}` is not a number from 1 to {MAX_THREADS}")));
                    }
                };
            }
            if arguments.next().is_some() {
                return Err(invalid("expected at most two numbers".to_owned()));
            }
            let queue = MultiThreadedWorkQueue::new(counts[0], counts[1])
                .map_err(|error| invalid(format!("cannot start a thread: {error}")))?;
            Ok(Arc::new(queue))
        }
        _ => Err(invalid("expected `s` or `mstd[:threads[,blocking threads]]`".to_owned())),
    }
}

/// The error of [`from_str`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidWorkQueue {
    description: String,
    reason: String,
}

impl fmt::Display for InvalidWorkQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid work queue `{}`: {}", self.description, self.reason)
    }
}

impl std::error::Error for InvalidWorkQueue {}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn descriptions_make_queues() {
        let threads = match std::thread::available_parallelism().map_or(1, usize::from) {
            1 => "1 thread".to_owned(),
            cores => format!("{cores} threads"),
        };
        let cases = [
            ("s", "single-threaded".to_owned()),
            ("mstd", format!("multi-threaded ({threads}, up to 256 blocking threads)")),
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
            ("", "expected `s`"),
            ("eigen", "expected `s`"),
            ("s:1", "takes no argument"),
            ("mstd:", "`` is not a number from 1 to 4096"),
            ("mstd:0", "`0` is not a number"),
            ("mstd:-1", "`-1` is not a number"),
            ("mstd:4x", "`4x` is not a number"),
            ("mstd:1,", "`` is not a number"),
            ("mstd:100000000000000000000", "is not a number"),
            ("mstd:1,2,3", "at most two numbers"),
        ];
        for (description, expected) in cases {
            let error = from_str(description).err().unwrap().to_string();
            assert!(error.contains(expected), "{description}: {error}");
        }
    }
}
