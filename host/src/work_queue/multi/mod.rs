//! The multi-threaded queue: a fixed set of worker threads that steal tasks from each other, and a
//! separate pool for blocking tasks.
//!
//! Each participant is a worker or a waiting thread that helps, and has a deque. It adds its tasks
//! there and takes the newest first, whose data is still in its caches. Other participants steal
//! the oldest. Threads that are not participants add to a shared injector. There is deliberately no
//! private slot for the newest task, because nobody could steal it while its owner computes.
//!
//! `sleep.rs` describes how participants sleep and wake, `quiet.rs` how the end of all work is
//! noticed.

mod blocking;
mod core;
mod quiet;
mod sleep;

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use self::blocking::BlockingPool;
use self::core::{Core, Until};
use super::{ConcurrentWorkQueue, Latch, Task, TaskPanic};

/// The number of threads for blocking tasks if the description does not say.
pub(super) const DEFAULT_BLOCKING_THREADS: usize = 256;

/// How long an idle thread for blocking tasks waits for a task before it ends.
const IDLE_TIME: Duration = Duration::from_secs(2);

/// The multi-threaded work queue. Dropping it waits for the tasks that have started and drops the
/// others.
pub struct MultiThreadedWorkQueue {
    core: Arc<Core>,
    blocking: Arc<BlockingPool>,
    workers: Vec<JoinHandle<()>>,
}

impl MultiThreadedWorkQueue {
    /// Creates a queue with `threads` workers and up to `blocking_threads` threads for blocking
    /// tasks. The latter start when they are needed. Zero counts as one.
    ///
    /// # Errors
    /// The system's error if it cannot start a thread.
    pub fn new(threads: usize, blocking_threads: usize) -> io::Result<Self> {
        Self::with_idle_time(threads, blocking_threads, IDLE_TIME)
    }

    fn with_idle_time(threads: usize, blocking_threads: usize, idle_time: Duration) -> io::Result<Self> {
        let (core, locals) = Core::new(threads.max(1));
        let core = Arc::new(core);
        let blocking = Arc::new(BlockingPool::new(core.clone(), blocking_threads.max(1), idle_time));
        // Created first, so that an error below drops the queue, which ends the workers started so
        // far.
        let mut queue = Self { core, blocking, workers: Vec::with_capacity(locals.len()) };
        for (number, local) in locals.into_iter().enumerate() {
            let core = queue.core.clone();
            let worker = thread::Builder::new()
                .name(format!("tfrt-worker-{number}"))
                .spawn(move || core.participate(&local, Until::Shutdown))?;
            queue.workers.push(worker);
        }
        Ok(queue)
    }
}

impl Drop for MultiThreadedWorkQueue {
    fn drop(&mut self) {
        self.core.shut_down();
        self.blocking.shut_down();
        for worker in self.workers.drain(..) {
            // One of the queue's own tasks may drop the last handle of the queue. Its worker cannot
            // join itself, and ends after the task.
            if worker.thread().id() != thread::current().id() {
                // The queue catches the panics of tasks, so the result of a worker's thread adds
                // nothing.
                let _ = worker.join();
            }
        }
    }
}

impl ConcurrentWorkQueue for MultiThreadedWorkQueue {
    fn name(&self) -> String {
        let count = |count: usize, unit: &str| match count {
            1 => format!("1 {unit}"),
            count => format!("{count} {unit}s"),
        };
        let threads = count(self.parallelism(), "thread");
        let blocking = count(self.blocking.threads_max(), "blocking thread");
        format!("multi-threaded ({threads}, up to {blocking})")
    }

    #[inline]
    fn add_task(&self, task: Task) {
        self.core.add(task);
    }

    /// With `allow_queuing == false` the task is refused only if the maximum number of blocking
    /// tasks is running, or if the system cannot start another thread.
    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        self.blocking.add(task, allow_queuing)
    }

    fn await_latch(&self, latch: &Latch) {
        debug_assert!(!self.is_worker_thread(), "a compute task waits: it blocks a compute thread");
        self.core.wait(latch);
    }

    fn run_and_await(&self, body: &mut dyn FnMut(), latch: &Latch) {
        self.core.run_and_wait(body, latch);
    }

    fn quiesce(&self) {
        debug_assert!(!self.is_worker_thread(), "a compute task waits for itself to finish");
        self.core.quiesce();
    }

    fn begin_loop(&self) {
        self.core.begin_loop();
    }

    fn end_loop(&self) {
        self.core.end_loop();
    }

    fn parallelism(&self) -> usize {
        self.core.workers()
    }

    fn is_worker_thread(&self) -> bool {
        self.core.is_current()
    }

    fn is_blocking_thread(&self) -> bool {
        self.blocking.is_current()
    }

    fn take_panics(&self) -> Vec<TaskPanic> {
        self.core.panics().take()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
