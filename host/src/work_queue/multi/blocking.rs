//! The threads for tasks that block: started when one is needed, ended after a while without work, never more than a
//! fixed number.
//!
//! A task that may not wait in line is accepted only if there is a thread for it alone. *Idle* counts the threads that
//! wait for a task, those just started among them. As long as no more tasks are in line than threads are idle, each of
//! them has one; so a new task may join the line without waiting if the line is shorter than that. Tasks are taken in
//! order.

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
    /// Which pool this thread belongs to. Only compared, never followed.
    static POOL: Cell<*const BlockingPool> = const { Cell::new(ptr::null()) };
}

/// See the module.
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

    /// True on a thread of this pool.
    pub(super) fn is_current(&self) -> bool {
        ptr::eq(POOL.get(), self)
    }

    /// Takes a task; gives it back if it may not wait but would have to, or if nobody would ever run it.
    pub(super) fn add(self: &Arc<Self>, task: Task, allow_queuing: bool) -> Result<(), Task> {
        self.core.quiet().added_blocking();
        let result = self.enqueue(task, allow_queuing);
        if result.is_err() {
            // Counts never fall: what is given back counts as finished.
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

    /// Starts one more thread, idle. False if the system gives none.
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

    /// A thread's life. It begins, and stands between two tasks, as idle.
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
                    // Nobody will join this thread; it touches nothing of the pool's but its handle to it any more.
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

    /// Drops the tasks in line and waits for those that run.
    pub(super) fn shut_down(&self) {
        let (line, threads) = {
            let mut state = self.state.lock();
            state.is_shut_down = true;
            (std::mem::take(&mut state.line), std::mem::take(&mut state.threads))
        };
        self.changed.notify_all();
        drop(line);
        for thread in threads.into_values() {
            // The last handle of the queue may be dropped by one of its own tasks.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}
