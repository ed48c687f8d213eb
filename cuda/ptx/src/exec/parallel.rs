//! Threads that run blocks in parallel: the caller's, or a small pool of this crate.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;

/// The caller's threads, for running blocks.
pub trait ParallelFor: Sync {
    /// Returns the number of bodies that can run at the same time, including one on the calling
    /// thread.
    fn parallelism(&self) -> usize;

    /// Calls `body` with each number below `tasks`, in any order and on any threads, and waits for
    /// all calls.
    fn run(&self, tasks: usize, body: &(dyn Fn(usize) + Sync));
}

/// Runs blocks on the calling thread alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl ParallelFor for Sequential {
    fn parallelism(&self) -> usize {
        1
    }

    fn run(&self, tasks: usize, body: &(dyn Fn(usize) + Sync)) {
        (0..tasks).for_each(body);
    }
}

/// Runs blocks on this crate's pool: one thread for each core, started at the first use and kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnThreads;

impl ParallelFor for OwnThreads {
    fn parallelism(&self) -> usize {
        static COUNT: OnceLock<usize> = OnceLock::new();
        *COUNT.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
    }

    fn run(&self, tasks: usize, body: &(dyn Fn(usize) + Sync)) {
        if tasks <= 1 {
            return (0..tasks).for_each(body);
        }
        static POOL: OnceLock<Pool> = OnceLock::new();
        POOL.get_or_init(|| Pool::start(self.parallelism() - 1)).run(tasks, body);
    }
}

/// A call of [`ParallelFor::run`] that helper threads may join.
struct Job {
    /// The body, whose lifetime has been erased, see [`Pool::run`].
    body: BodyPointer,
    tasks: usize,
    next: AtomicUsize,
    /// The number of helpers inside the job, and whether more may join.
    state: Mutex<JobState>,
    left: Condvar,
}

struct JobState {
    helpers: usize,
    open: bool,
}

/// A pointer to a body that outlives every use, see [`Pool::run`].
struct BodyPointer(*const (dyn Fn(usize) + Sync));

#[expect(unsafe_code, reason = "a borrowed closure is lent to threads that are waited for")]
// SAFETY: the closure behind the pointer is `Sync`, so any thread may call it.
unsafe impl Send for BodyPointer {}
#[expect(unsafe_code, reason = "a borrowed closure is lent to threads that are waited for")]
// SAFETY: the closure behind the pointer is `Sync`, so threads may share it.
unsafe impl Sync for BodyPointer {}

struct Pool {
    jobs: Arc<(Mutex<Vec<Arc<Job>>>, Condvar)>,
    threads: usize,
}

impl Pool {
    fn start(threads: usize) -> Pool {
        let jobs = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let spawn = |index: usize| {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new().name(format!("ptx-{index}")).spawn(move || help(&jobs)).is_ok()
        };
        let threads = (0..threads).filter(|&index| spawn(index)).count();
        Pool { jobs, threads }
    }

    fn run(&self, tasks: usize, body: &(dyn Fn(usize) + Sync)) {
        // `body` is only called between `Job::enter` and `Job::leave`. This function returns only
        // when the job is closed and no helper is inside, so the erased lifetime is never exceeded.
        let pointer = std::ptr::from_ref(body);
        #[expect(unsafe_code, reason = "erases a lifetime")]
        // SAFETY: the two types differ only in the lifetime of the closure. Only threads inside the
        // job use the pointer, and `Closing` keeps this function, which borrows the closure, from
        // returning while one is inside.
        let pointer: *const (dyn Fn(usize) + Sync + 'static) = unsafe { std::mem::transmute(pointer) };
        let job = Arc::new(Job {
            body: BodyPointer(pointer),
            tasks,
            next: AtomicUsize::new(0),
            state: Mutex::new(JobState { helpers: 0, open: true }),
            left: Condvar::new(),
        });
        let (list, wake) = &*self.jobs;
        list.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&job));
        for _ in 0..self.threads.min(tasks - 1) {
            wake.notify_one();
        }
        // Waits for the helpers even if a task panics here.
        let _closing = Closing { pool: self, job: &job };
        job.work();
    }
}

struct Closing<'a> {
    pool: &'a Pool,
    job: &'a Arc<Job>,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let mut list = self.pool.jobs.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|job| !Arc::ptr_eq(job, self.job));
        drop(list);
        let mut state = self.job.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.open = false;
        while state.helpers > 0 {
            state = self.job.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Job {
    fn work(&self) {
        loop {
            let task = self.next.fetch_add(1, Ordering::Relaxed);
            if task >= self.tasks {
                return;
            }
            #[expect(unsafe_code, reason = "calls a body whose lifetime was erased")]
            // SAFETY: the job is open or this thread is inside it, so `Pool::run`, which borrows
            // the body, has not returned.
            let body = unsafe { &*self.body.0 };
            body(task);
        }
    }

    fn enter(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let useful = state.open && self.next.load(Ordering::Relaxed) < self.tasks;
        state.helpers += usize::from(useful);
        useful
    }

    fn leave(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.helpers -= 1;
        if state.helpers == 0 {
            self.left.notify_all();
        }
    }
}

/// Runs a helper thread, which joins jobs forever.
fn help(jobs: &(Mutex<Vec<Arc<Job>>>, Condvar)) {
    struct Inside<'a>(&'a Job);
    impl Drop for Inside<'_> {
        fn drop(&mut self) {
            self.0.leave();
        }
    }
    loop {
        let job = {
            let mut list = jobs.0.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                match list.iter().find(|job| job.next.load(Ordering::Relaxed) < job.tasks) {
                    Some(job) => break Arc::clone(job),
                    None => list = jobs.1.wait(list).unwrap_or_else(PoisonError::into_inner),
                }
            }
        };
        if job.enter() {
            let inside = Inside(&job);
            job.work();
            drop(inside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn every_task_runs_once() {
        for tasks in [0, 1, 2, 50] {
            let sum = AtomicU64::new(0);
            OwnThreads.run(tasks, &|task| {
                sum.fetch_add(1 << task, Ordering::Relaxed);
            });
            assert_eq!(sum.into_inner(), (1 << tasks) - 1);
        }
    }
}
