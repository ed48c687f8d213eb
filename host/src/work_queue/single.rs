//! The single-threaded queue, which has no threads.
//!
//! Tasks, including blocking ones, run in the order in which they were added, one at a time, on a
//! thread that waits for the queue ([`ConcurrentWorkQueue::await_latch`],
//! [`ConcurrentWorkQueue::quiesce`]). The waiting thread that runs tasks is the *runner*. Other
//! waiting threads sleep until their latch opens or there is no runner.
//!
//! # How it stays cheap and loses no wake-up
//! There are two lists. The *inbox* is behind the lock; all threads but the runner add there. The
//! *run list* belongs to the runner alone, so tasks that add tasks use no atomic operation. When
//! the run list is empty, or a hint says that the inbox is not, the runner appends the whole inbox
//! to its list under one lock. Tasks keep their order: a task in the inbox was added after those in
//! the list, or by a thread not ordered with the runner.
//!
//! A sleeping thread waits for a task in the inbox, the end of a runner, or its latch. It checks
//! all of them under the lock just before it sleeps. Each change is announced under the lock after
//! it happened: adders and a departing runner hold the lock anyway, and a latch wakes the queue
//! through [`Inner::wake`], which takes the lock.
#![expect(
    unsafe_code,
    reason = "the runner's list is reached without a lock, by ownership of the runner's role"
)]

use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::task::{Wake, Waker};

use super::panics::Panics;
use super::task_list::TaskList;
use super::{ConcurrentWorkQueue, Latch, Task, TaskPanic};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Condvar, Mutex, MutexGuard, UnsafeCell, thread_local_cell};

thread_local_cell! {
    /// The queue whose runner is this thread. If a task waits for another queue, it is the
    /// innermost one.
    static RUNNING: *const Inner = ptr::null();
}

/// A queue that runs tasks on the threads that wait for it; see the module documentation.
pub struct SingleThreadedWorkQueue {
    inner: Arc<Inner>,
    waker: Waker,
}

struct Inner {
    shared: Mutex<Shared>,
    changed: Condvar,
    /// A hint that the inbox is not empty. It is exact whenever the lock is held.
    has_inbox: AtomicBool,
    /// The tasks of the runner.
    run_list: UnsafeCell<TaskList>,
    panics: Panics,
}

struct Shared {
    inbox: TaskList,
    has_runner: bool,
    sleepers: usize,
}

// SAFETY: everything but the run list is `Sync`. Only the runner touches the run list. `has_runner`
// gives that role to one thread at a time, under the lock, which also orders the accesses of
// successive runners.
unsafe impl Sync for Inner {}
// SAFETY: tasks are `Send`.
unsafe impl Send for Inner {}

/// The condition that a thread waits for.
#[derive(Clone, Copy)]
enum Until<'a> {
    Open(&'a Latch),
    Empty,
}

impl Until<'_> {
    /// Returns whether the condition is met, cheaply enough to call after each task.
    fn is_met_early(self) -> bool {
        match self {
            Self::Open(latch) => latch.is_open(),
            Self::Empty => false,
        }
    }
}

impl SingleThreadedWorkQueue {
    /// Creates an empty queue.
    pub fn new() -> Self {
        let inner = Arc::new(Inner {
            shared: Mutex::new(Shared { inbox: TaskList::default(), has_runner: false, sleepers: 0 }),
            changed: Condvar::new(),
            has_inbox: AtomicBool::new(false),
            run_list: UnsafeCell::new(TaskList::default()),
            panics: Panics::default(),
        });
        let waker = Waker::from(inner.clone());
        Self { inner, waker }
    }
}

impl Default for SingleThreadedWorkQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl Wake for Inner {
    fn wake(self: Arc<Self>) {
        let shared = self.shared.lock();
        if shared.sleepers != 0 {
            self.changed.notify_all();
        }
    }
}

/// The role of the runner on this thread. Dropping it gives the role up.
struct Runner<'a> {
    inner: &'a Inner,
    outer: *const Inner,
}

impl<'a> Runner<'a> {
    /// Takes the role. The caller has set `has_runner` or is the runner already.
    fn enter(inner: &'a Inner) -> Self {
        Self { inner, outer: RUNNING.with(|running| running.replace(inner)) }
    }

    /// Appends the inbox to the run list. Returns true if there was anything.
    fn take_inbox(&self) -> bool {
        let mut shared = self.inner.shared.lock();
        self.inner.has_inbox.store(false, Ordering::Relaxed);
        let found = !shared.inbox.is_empty();
        // This thread is the runner, and no other reference to the list is alive: no reference is
        // kept while a task or other foreign code runs, and moving tasks runs no such code.
        self.inner.run_list.with_mut(|list| {
            // SAFETY: this thread is the runner and holds no other reference to the list, as
            // explained before the call of `with_mut`.
            unsafe { (*list).append(&mut shared.inbox) };
        });
        found
    }

    /// Runs the next task. Returns false if there is none.
    #[inline]
    fn run_one(&self) -> bool {
        if self.inner.has_inbox.load(Ordering::Relaxed) {
            self.take_inbox();
        }
        // SAFETY: this thread is the runner and holds no other reference to the list; see
        // `take_inbox`.
        let task = self.inner.run_list.with_mut(|list| unsafe { (*list).pop_in_place() });
        match task {
            // SAFETY: the task was just popped and runs at once. The list is not touched before the
            // closure is moved out.
            Some(task) => unsafe { Task::run_in_place(task) },
            None => return self.take_inbox(),
        }
        true
    }

    /// Runs tasks until the condition is met or none are left.
    fn run(&self, until: Until<'_>) {
        // A panic ends only the inner loop. One guard around many tasks costs less than one guard
        // per task.
        while self.inner.panics.guard(|| while !until.is_met_early() && self.run_one() {}).is_none() {}
    }
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        RUNNING.with(|running| running.set(self.outer));
    }
}

/// Gives up the role of the runner when dropped, also on unwinding.
struct Role<'a>(&'a Inner);

impl Drop for Role<'_> {
    fn drop(&mut self) {
        let mut shared = self.0.shared.lock();
        shared.has_runner = false;
        if shared.sleepers != 0 {
            self.0.changed.notify_all();
        }
    }
}

impl Inner {
    fn wait_until(&self, until: Until<'_>) {
        if self.is_running_here() {
            return self.wait_within_a_task(until);
        }
        let mut shared = self.shared.lock();
        while !until.is_met_early() {
            if shared.has_runner {
                shared = self.sleep(shared);
                continue;
            }
            shared.has_runner = true;
            drop(shared);
            let role = Role(self);
            Runner::enter(self).run(until);
            drop(role);
            shared = self.shared.lock();
            // The next round, or a sleeper that was just woken, finds tasks that arrived in
            // between.
            if shared.inbox.is_empty() && !until.is_met_early() {
                if matches!(until, Until::Empty) {
                    return;
                }
                shared = self.sleep(shared);
            }
        }
    }

    fn sleep<'a>(&'a self, mut shared: MutexGuard<'a, Shared>) -> MutexGuard<'a, Shared> {
        shared.sleepers += 1;
        shared = self.changed.wait(shared);
        shared.sleepers -= 1;
        shared
    }

    /// Calls `body` as the runner, once there is no other runner.
    fn run_here(&self, body: &mut dyn FnMut()) {
        if self.is_running_here() {
            return body();
        }
        let mut shared = self.shared.lock();
        while shared.has_runner {
            shared = self.sleep(shared);
        }
        shared.has_runner = true;
        drop(shared);
        let _role = Role(self);
        let _runner = Runner::enter(self);
        body();
    }

    /// Waits within a task: the queue's other tasks run inside it.
    fn wait_within_a_task(&self, until: Until<'_>) {
        let runner = Runner::enter(self);
        loop {
            runner.run(until);
            let shared = self.shared.lock();
            match until {
                Until::Empty => return,
                Until::Open(latch) if latch.is_open() => return,
                Until::Open(_) => {}
            }
            if shared.inbox.is_empty() {
                drop(self.sleep(shared));
            }
        }
    }

    fn is_running_here(&self) -> bool {
        ptr::eq(RUNNING.with(Cell::get), self)
    }

    #[inline]
    fn add(&self, task: Task) {
        if self.is_running_here() {
            // SAFETY: this thread is the runner and holds no other reference to the list.
            self.run_list.with_mut(|list| unsafe { (*list).push(task) });
            return;
        }
        let mut shared = self.shared.lock();
        shared.inbox.push(task);
        self.has_inbox.store(true, Ordering::Relaxed);
        if shared.sleepers != 0 {
            self.changed.notify_all();
        }
    }
}

impl ConcurrentWorkQueue for SingleThreadedWorkQueue {
    fn name(&self) -> String {
        "single-threaded".to_owned()
    }

    #[inline]
    fn add_task(&self, task: Task) {
        self.inner.add(task);
    }

    /// Blocking tasks queue with all others, so a task that needs its own thread is refused. A
    /// blocking task that waits for a later task never ends.
    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        if !allow_queuing {
            return Err(task);
        }
        self.inner.add(task);
        Ok(())
    }

    /// May be called within a task. The tasks behind it then run inside it.
    fn await_latch(&self, latch: &Latch) {
        if latch.wake_on_open(&self.waker) {
            self.inner.wait_until(Until::Open(latch));
        }
    }

    fn run_and_await(&self, body: &mut dyn FnMut(), latch: &Latch) {
        self.inner.run_here(body);
        self.await_latch(latch);
    }

    fn quiesce(&self) {
        self.inner.wait_until(Until::Empty);
    }

    fn parallelism(&self) -> usize {
        1
    }

    fn is_single_threaded(&self) -> bool {
        true
    }

    fn is_worker_thread(&self) -> bool {
        self.inner.is_running_here()
    }

    fn take_panics(&self) -> Vec<TaskPanic> {
        self.inner.panics.take()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    type Log = Arc<parking_lot::Mutex<Vec<u32>>>;

    fn queue() -> (Arc<SingleThreadedWorkQueue>, Log) {
        (Arc::new(SingleThreadedWorkQueue::new()), Log::default())
    }

    #[test]
    fn tasks_run_in_order_and_only_when_somebody_waits() {
        let (queue, log) = queue();
        for i in 0..3 {
            let (inner, log) = (queue.clone(), log.clone());
            queue.add_task(Task::new(move || {
                log.lock().push(i);
                assert!(inner.is_worker_thread());
                inner.add_task(Task::new(move || log.lock().push(10 + i)));
            }));
        }
        assert!(queue.add_blocking_task(Task::new(|| {}), false).is_err());
        let blocking = log.clone();
        queue.add_blocking_task(Task::new(move || blocking.lock().push(3)), true).unwrap();
        assert!(log.lock().is_empty() && !queue.is_worker_thread());
        queue.quiesce();
        assert_eq!(*log.lock(), [0, 1, 2, 3, 10, 11, 12]);
    }

    #[test]
    fn waiting_stops_at_the_latch_and_keeps_the_rest_in_order() {
        let (queue, log) = queue();
        let latch = Arc::new(Latch::new(1));
        for i in 0..4 {
            let (latch, log) = (latch.clone(), log.clone());
            queue.add_task(Task::new(move || {
                log.lock().push(i);
                if i == 1 {
                    latch.count_down();
                }
            }));
        }
        queue.await_latch(&latch);
        assert_eq!(*log.lock(), [0, 1]);
        let last = log.clone();
        queue.add_task(Task::new(move || last.lock().push(4)));
        queue.quiesce();
        assert_eq!(*log.lock(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_task_may_wait_for_the_tasks_behind_it() {
        let (queue, log) = queue();
        let latch = Arc::new(Latch::new(2));
        let (inner, inner_latch, inner_log) = (queue.clone(), latch.clone(), log.clone());
        queue.add_task(Task::new(move || {
            inner.await_latch(&inner_latch);
            inner_log.lock().push(1);
        }));
        let behind = latch.clone();
        queue.add_task(Task::new(move || behind.count_down()));
        let elsewhere = {
            let (queue, latch) = (queue.clone(), latch.clone());
            std::thread::spawn(move || queue.add_task(Task::new(move || latch.count_down())))
        };
        queue.await_latch(&latch);
        queue.quiesce();
        elsewhere.join().unwrap();
        assert_eq!(*log.lock(), [1]);
    }

    #[test]
    fn waiting_threads_take_turns() {
        /// Fewer under Miri, which is a thousand times slower.
        const TASKS: usize = if cfg!(miri) { 10 } else { 500 };
        let (queue, _) = queue();
        let (running, ran) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let latch = Arc::new(Latch::new(TASKS));
                    for _ in 0..TASKS {
                        let (running, ran, latch) = (running.clone(), ran.clone(), latch.clone());
                        queue.add_task(Task::new(move || {
                            assert_eq!(running.fetch_add(1, Ordering::Relaxed), 0, "two tasks at a time");
                            running.fetch_sub(1, Ordering::Relaxed);
                            ran.fetch_add(1, Ordering::Relaxed);
                            latch.count_down();
                        }));
                    }
                    queue.await_latch(&latch);
                });
            }
        });
        assert_eq!(ran.load(Ordering::Relaxed), 4 * TASKS);
        assert_eq!(queue.take_panics(), []);
    }

    #[test]
    fn a_body_runs_like_a_task_and_its_panic_is_the_callers() {
        let (queue, log) = queue();
        let latch = Arc::new(Latch::new(1));
        queue.run_and_await(
            &mut || {
                assert!(queue.is_worker_thread());
                let (latch, log) = (latch.clone(), log.clone());
                queue.add_task(Task::new(move || {
                    log.lock().push(1);
                    latch.count_down();
                }));
            },
            &latch,
        );
        assert_eq!(*log.lock(), [1]);
        let panicking =
            std::panic::AssertUnwindSafe(|| queue.run_and_await(&mut || panic!("mine"), &Latch::new(1)));
        assert!(std::panic::catch_unwind(panicking).is_err());
        assert!(queue.take_panics().is_empty() && !queue.is_worker_thread());
        let after = log.clone();
        queue.add_task(Task::new(move || after.lock().push(2)));
        queue.quiesce();
        assert_eq!(*log.lock(), [1, 2]);
    }

    #[test]
    fn a_panic_is_kept_and_the_rest_runs() {
        let (queue, log) = queue();
        queue.add_task(Task::new(|| panic!("number {}", 7)));
        let after = log.clone();
        queue.add_task(Task::new(move || after.lock().push(1)));
        queue.quiesce();
        assert_eq!(*log.lock(), [1]);
        let panics = queue.take_panics();
        assert_eq!(panics.len(), 1);
        assert_eq!(panics[0].message, "number 7");
        assert_eq!(queue.take_panics(), []);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::sync::thread;

    // One thread waits while another adds. The waiting thread is woken for the task and for the
    // latch.
    #[test]
    fn loom_single_wakes_the_waiting_thread() {
        loom::model(|| {
            let queue = Arc::new(SingleThreadedWorkQueue::new());
            let latch = Arc::new(Latch::new(2));
            let adder = {
                let (queue, latch) = (queue.clone(), latch.clone());
                thread::spawn(move || {
                    let inner = latch.clone();
                    queue.add_task(Task::new(move || inner.count_down()));
                    latch.count_down();
                })
            };
            queue.await_latch(&latch);
            adder.join().unwrap();
        });
    }
}
