//! The threads for blocking tasks.
//!
//! A thread starts when one is needed and ends after a while without work. There are never more
//! than a fixed number of them.
//!
//! A task added without `allow_queuing` is accepted only if a thread is free for it. *Idle* counts
//! the threads that wait for a task, including those that were just started. As long as at most
//! that many tasks are queued, each of them has a thread. So a new task starts without waiting if
//! fewer tasks are queued than threads are idle. Tasks are taken in order.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::ptr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::super::Task;
use super::core::Core;

thread_local! {
    /// The pool that this thread belongs to. It is only compared, never dereferenced.
    static POOL: Cell<*const BlockingPool> = const { Cell::new(ptr::null()) };
}

/// The pool of threads for blocking tasks; see the module documentation.
pub(super) struct BlockingPool {
    core: Arc<Core>,
    state: Mutex<State>,
    changed: Condvar,
    threads_max: usize,
    idle_time: Duration,
}

#[derive(Default)]
struct State {
    line: VecDeque<Task>,
    idle: usize,
    threads: HashMap<u64, JoinHandle<()>>,
    next_thread: u64,
    is_shut_down: bool,
}

impl BlockingPool {
    pub(super) fn new(core: Arc<Core>, threads_max: usize, idle_time: Duration) -> Self {
        Self { core, state: Mutex::default(), changed: Condvar::new(), threads_max, idle_time }
    }

    pub(super) fn threads_max(&self) -> usize {
        self.threads_max
    }

    /// Returns true on a thread of this pool.
    pub(super) fn is_current(&self) -> bool {
        ptr::eq(POOL.get(), self)
    }

    /// Adds a task. Returns it if it must not wait but would have to, or if no thread can ever run
    /// it.
    pub(super) fn add(self: &Arc<Self>, task: Task, allow_queuing: bool) -> Result<(), Task> {
        self.core.quiet().added_blocking();
        let result = self.enqueue(task, allow_queuing);
        if result.is_err() {
            // Counts only grow, so a refused task counts as finished.
            self.core.quiet().finished_blocking();
        }
        result
    }

    fn enqueue(self: &Arc<Self>, task: Task, allow_queuing: bool) -> Result<(), Task> {
        let mut state = self.state.lock();
        if state.is_shut_down {
            return Err(task);
        }
        let has_thread = state.line.len() < state.idle
            || (state.threads.len() < self.threads_max && self.start_thread(&mut state));
        if has_thread || (allow_queuing && !state.threads.is_empty()) {
            state.line.push_back(task);
            drop(state);
            self.changed.notify_one();
            return Ok(());
        }
        Err(task)
    }

    /// Starts one more thread, which is idle at first. Returns false if the system cannot start it.
    fn start_thread(self: &Arc<Self>, state: &mut State) -> bool {
        let id = state.next_thread;
        let pool = self.clone();
        let thread = thread::Builder::new().name(format!("tfrt-block-{id}")).spawn(move || pool.work(id));
        let Ok(thread) = thread else { return false };
        state.next_thread += 1;
        state.idle += 1;
        state.threads.insert(id, thread);
        true
    }

    /// Runs a thread of the pool. A thread is idle when it starts and between tasks.
    fn work(&self, id: u64) {
        POOL.set(self);
        while let Some(task) = self.next_or_retire(id) {
            self.core.panics().run(task);
            self.core.quiet().finished_blocking();
            self.state.lock().idle += 1;
        }
    }

    fn next_or_retire(&self, id: u64) -> Option<Task> {
        let deadline = Instant::now() + self.idle_time;
        let mut state = self.state.lock();
        loop {
            let task = if state.is_shut_down { None } else { state.line.pop_front() };
            let is_over = state.is_shut_down || Instant::now() >= deadline;
            if task.is_some() || is_over {
                state.idle -= 1;
                if task.is_none() && !state.is_shut_down {
                    // No thread joins this one. After this, it uses nothing of the pool except its
                    // handle.
                    drop(state.threads.remove(&id));
                }
                return task;
            }
            self.changed.wait_until(&mut state, deadline);
        }
    }

    #[cfg(test)]
    pub(super) fn idle_count(&self) -> usize {
        self.state.lock().idle
    }

    /// Drops the queued tasks and waits for the running ones.
    pub(super) fn shut_down(&self) {
        let (line, threads) = {
            let mut state = self.state.lock();
            state.is_shut_down = true;
            (std::mem::take(&mut state.line), std::mem::take(&mut state.threads))
        };
        self.changed.notify_all();
        drop(line);
        for thread in threads.into_values() {
            // One of the queue's own tasks may drop the last handle of the queue. A thread cannot
            // join itself.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}
