//! Releases resources on a thread that may wait for the device.
//!
//! Freeing memory, unloading a module, and closing a library or a context may make a driver finish
//! queued work first. That work may need the very thread that drops the resource. So the thread
//! that drops the last handle hands the resource over and continues. Each backend has one thread,
//! which releases the resources in that order. It ends when nothing is left, and starts again when
//! needed.
//!
//! Jobs wait for nothing but the device. A job whose resource is still in use by work in flight is
//! retried instead of waited for, so it delays no other job. A driver's own calls may still block
//! the thread: calls that unpin memory, that end a device's last context, or that wait for the
//! remaining work of a failed context.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// A job that runs once.
type Once = Box<dyn FnOnce() + Send>;
/// A job that is retried until it returns true.
type Attempt = Box<dyn FnMut() -> bool + Send>;

/// A job for the thread.
enum Job {
    Once(Once),
    Until(Attempt),
}

/// How long the thread waits for another job before it ends.
const LINGER: Duration = Duration::from_millis(50);
/// The shortest and longest time before an unfinished job is retried.
const MIN_PAUSE: Duration = Duration::from_micros(50);
const MAX_PAUSE: Duration = Duration::from_millis(2);

thread_local! {
    /// Whether this thread runs jobs, or other threads wait for it to finish them.
    static SERVES: Cell<bool> = const { Cell::new(false) };
}

/// Releases a backend's resources, on a separate thread if that may block. Clones share it.
#[derive(Clone)]
pub struct Teardown {
    shared: Arc<Shared>,
    /// Whether dropping one of the backend's resources may block.
    drops_wait: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    has_thread: bool,
    /// The number of unfinished jobs and of promises.
    outstanding: usize,
    /// The number of finished jobs.
    ended: u64,
    /// The callbacks to run after the next release.
    watchers: Vec<Once>,
}

/// A promise to hand over a job later. [`Teardown::finish`] waits until it is dropped.
pub struct Promised(Teardown);

impl Teardown {
    /// Creates a teardown for a backend whose resources may wait for queued work when dropped.
    pub fn new_blocking() -> Self {
        Self { shared: Arc::default(), drops_wait: true }
    }

    /// Creates a teardown for a backend whose resources are released as soon as they are dropped.
    pub fn new_prompt() -> Self {
        Self { drops_wait: false, ..Self::new_blocking() }
    }

    /// Runs `job` on the thread, after all earlier jobs. If the system provides no thread, runs it
    /// here.
    pub fn hand_over(&self, job: impl FnOnce() + Send + 'static) {
        self.add(Job::Once(Box::new(job)));
    }

    /// Calls `attempt` on the thread until it returns true. Other jobs do not wait for it.
    pub fn hand_over_until(&self, attempt: impl FnMut() -> bool + Send + 'static) {
        self.add(Job::Until(Box::new(attempt)));
    }

    fn add(&self, job: Job) {
        let mut state = self.shared.state.lock();
        state.outstanding += 1;
        state.jobs.push_back(job);
        if state.has_thread {
            self.shared.changed.notify_all();
            return;
        }
        state.has_thread = true;
        drop(state);
        let shared = self.shared.clone();
        let spawned = std::thread::Builder::new().name("tfrt-teardown".to_owned()).spawn(move || {
            Self::serve_on_this_thread();
            shared.work(LINGER);
        });
        if spawned.is_err() {
            self.shared.work(Duration::ZERO);
        }
    }

    /// Drops a resource of the backend: here if that never blocks, else on the thread.
    pub fn release<T: Send + 'static>(&self, resource: T) {
        if self.drops_wait {
            self.hand_over(move || drop(resource));
        }
    }

    /// Promises that a job will be handed over later.
    pub fn promise(&self) -> Promised {
        self.shared.state.lock().outstanding += 1;
        Promised(self.clone())
    }

    /// Returns whether a release is still outstanding.
    pub fn is_busy(&self) -> bool {
        self.shared.state.lock().outstanding > 0
    }

    /// Returns the number of releases so far.
    pub fn times_progressed(&self) -> u64 {
        self.shared.state.lock().ended
    }

    /// Calls `then` when the number of releases exceeds [`times`](Teardown::times_progressed); at
    /// once if nothing is outstanding.
    pub fn when_progressed(&self, times: u64, then: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.state.lock();
        if state.outstanding > 0 && state.ended == times {
            state.watchers.push(Box::new(then));
            return;
        }
        drop(state);
        then();
    }

    /// Waits until all jobs, also promised ones, are done. Blocks the calling thread, so never call
    /// it on a compute thread. Does nothing on the teardown's own thread.
    pub fn finish(&self) {
        if SERVES.get() {
            return;
        }
        let mut state = self.shared.state.lock();
        while state.outstanding > 0 {
            self.shared.changed.wait(&mut state);
        }
    }

    /// Does the same as [`Teardown::finish`], but waits only for jobs that run once, and not for
    /// promised ones.
    pub(crate) fn finish_handed_over(&self) {
        if SERVES.get() || !self.is_busy() {
            return;
        }
        let (done, wait) = mpsc::channel::<()>();
        self.hand_over(move || drop(done));
        // Nothing is sent: the sender is dropped when its job runs.
        let _ = wait.recv();
    }

    /// Marks the calling thread as one that others wait for in [`Teardown::finish`]. Such a thread
    /// never waits there itself.
    pub(crate) fn serve_on_this_thread() {
        SERVES.set(true);
    }
}

impl Shared {
    /// Runs jobs until there are none for `linger`.
    fn work(&self, linger: Duration) {
        let mut unfinished = Unfinished::default();
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                match job {
                    Job::Once(job) => {
                        or_panicked(job);
                        self.end_one();
                    }
                    Job::Until(attempt) => unfinished.add(attempt),
                }
                unfinished.try_if_due(|| self.end_one());
                state = self.state.lock();
            } else if let Some(due) = unfinished.due() {
                if !self.changed.wait_until(&mut state, due).timed_out() {
                    continue;
                }
                drop(state);
                unfinished.try_if_due(|| self.end_one());
                state = self.state.lock();
            } else if (linger.is_zero() || self.changed.wait_for(&mut state, linger).timed_out())
                && state.jobs.is_empty()
            {
                state.has_thread = false;
                return;
            }
        }
    }

    /// Counts a finished job, and runs the callbacks that wait for a release.
    fn end_one(&self) {
        let watchers = {
            let mut state = self.state.lock();
            state.outstanding -= 1;
            state.ended += 1;
            std::mem::take(&mut state.watchers)
        };
        self.changed.notify_all();
        for watcher in watchers {
            watcher();
        }
    }
}

/// The jobs that are retried; only the thread uses them.
#[derive(Default)]
struct Unfinished {
    attempts: Vec<Attempt>,
    due: Option<Instant>,
    pause: Duration,
}

impl Unfinished {
    /// Adds a job, which is tried at once.
    fn add(&mut self, attempt: Attempt) {
        self.attempts.push(attempt);
        (self.due, self.pause) = (Some(Instant::now()), MIN_PAUSE);
    }

    /// Returns when the jobs are tried next, if there are any.
    fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Tries the jobs if it is time, and calls `end_one` for each finished one. While none
    /// finishes, the pauses grow.
    fn try_if_due(&mut self, mut end_one: impl FnMut()) {
        if self.due.is_none_or(|due| Instant::now() < due) {
            return;
        }
        let done: Vec<_> =
            self.attempts.extract_if(.., |attempt| or_panicked(attempt).unwrap_or(true)).collect();
        self.pause = if done.is_empty() { MAX_PAUSE.min(self.pause * 2) } else { MIN_PAUSE };
        for attempt in done {
            // Dropped first: a thread that waits for the end of the job also waits for the
            // resources it holds.
            or_panicked(|| drop(attempt));
            end_one();
        }
        self.due = (!self.attempts.is_empty()).then(|| Instant::now() + self.pause);
    }
}

/// Returns the result of a job. A job that panics counts as finished; nobody can receive its panic.
fn or_panicked<T>(job: impl FnOnce() -> T) -> Option<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)).ok()
}

impl Drop for Promised {
    fn drop(&mut self) {
        self.0.shared.end_one();
    }
}

impl fmt::Debug for Teardown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outstanding = self.shared.state.lock().outstanding;
        f.debug_struct("Teardown").field("outstanding", &outstanding).finish_non_exhaustive()
    }
}

/// A resource that [`Teardown::release`] releases when this is dropped.
pub(crate) struct ReleasedOnDrop<T: Send + 'static> {
    resource: Option<T>,
    teardown: Teardown,
}

impl<T: Send + 'static> ReleasedOnDrop<T> {
    pub(crate) fn new(resource: T, teardown: &Teardown) -> Self {
        Self { resource: Some(resource), teardown: teardown.clone() }
    }
}

impl<T: Send + 'static> Deref for ReleasedOnDrop<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match &self.resource {
            Some(resource) => resource,
            None => unreachable!("only `drop` takes the resource"),
        }
    }
}

impl<T: Send + 'static> Drop for ReleasedOnDrop<T> {
    fn drop(&mut self) {
        if let Some(resource) = self.resource.take() {
            self.teardown.release(resource);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn jobs_are_done_elsewhere_and_in_order() {
        let teardown = Teardown::new_blocking();
        let (open, closed) = channel::<()>();
        let (log, done) = channel();
        // The first job cannot end before this thread continues.
        teardown.hand_over(move || assert!(closed.recv().is_err()));
        for number in 0..10 {
            let log = log.clone();
            teardown.hand_over(move || log.send((number, std::thread::current().id())).unwrap());
        }
        assert!(teardown.is_busy());
        drop(open);
        teardown.finish();
        let done: Vec<_> = done.try_iter().collect();
        assert_eq!(done.iter().map(|(number, _)| *number).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
        assert!(done.iter().all(|(_, thread)| *thread != std::thread::current().id()));
    }

    #[test]
    fn waiting_for_the_device_delays_no_other_job() {
        let teardown = Teardown::new_blocking();
        let (open, closed) = channel::<()>();
        let (log, done) = channel();
        let late = log.clone();
        teardown.hand_over_until(move || {
            let is_open = closed.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected);
            if is_open {
                late.send("late").unwrap();
            }
            is_open
        });
        teardown.hand_over(move || log.send("soon").unwrap());
        assert_eq!(done.recv(), Ok("soon"));
        teardown.finish_handed_over();
        assert!(teardown.is_busy());
        drop(open);
        teardown.finish();
        // When `finish` returns, all jobs handed over are done.
        assert_eq!(done.try_iter().collect::<Vec<_>>(), ["late"]);
        assert_eq!(done.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected));
    }

    #[test]
    fn the_end_waits_for_promises_and_watchers_hear_of_progress() {
        let teardown = Teardown::new_blocking();
        let (told, heard) = channel();
        let at_once = told.clone();
        teardown.when_progressed(0, move || at_once.send("nothing to wait for").unwrap());
        assert_eq!(heard.try_recv(), Ok("nothing to wait for"));
        let promised = teardown.promise();
        teardown.when_progressed(0, move || told.send("given back").unwrap());
        assert!(heard.try_recv().is_err());
        let waiter = std::thread::spawn({
            let teardown = teardown.clone();
            move || teardown.finish()
        });
        teardown.clone().hand_over(move || drop(promised));
        waiter.join().unwrap();
        assert_eq!(heard.recv(), Ok("given back"));
        // `finish` also waits for jobs that a job hands over. A job may call `finish` without
        // waiting for itself.
        let inner = teardown.clone();
        teardown.hand_over(move || {
            inner.finish();
            inner.hand_over(|| ());
        });
        teardown.finish();
        assert!(!teardown.is_busy());
    }

    #[test]
    fn memory_released_before_the_wait_is_not_missed() {
        let teardown = Teardown::new_blocking();
        let (told, heard) = channel();
        let watch = |times| {
            let told = told.clone();
            teardown.when_progressed(times, move || told.send(times).unwrap());
        };
        let [first, second] = [teardown.promise(), teardown.promise()];
        let times = teardown.times_progressed();
        drop(first);
        watch(times);
        assert_eq!(heard.try_recv(), Ok(times));
        watch(times + 1);
        assert!(heard.try_recv().is_err());
        drop(second);
        assert_eq!(heard.try_recv(), Ok(times + 1));
    }

    #[test]
    fn resources_go_here_only_if_that_never_waits() {
        struct Tells(std::sync::mpsc::Sender<std::thread::ThreadId>);
        impl Drop for Tells {
            fn drop(&mut self) {
                self.0.send(std::thread::current().id()).unwrap();
            }
        }
        let here = std::thread::current().id();
        for (teardown, is_here) in [(Teardown::new_prompt(), true), (Teardown::new_blocking(), false)] {
            let (sender, receiver) = channel();
            drop(ReleasedOnDrop::new(Tells(sender), &teardown));
            teardown.finish();
            assert_eq!(receiver.recv().unwrap() == here, is_here);
        }
    }
}
