//! Detects that no task is pending, without a counter that all threads contend for.
//!
//! Each participant counts the tasks it added and the tasks it finished, in its own cache line.
//! Only blocking tasks and tasks from other threads share a counter. All counts only grow.
//!
//! The queue is *quiet* if the sum of all counts of finished tasks equals the sum of all counts of
//! added tasks, where every finished count is read before any added count. Consider a moment
//! between the two readings. The first sum is at most the number of tasks finished by then. That is
//! at most the number of tasks added by then, which is at most the second sum. If the first and the
//! last are equal, all are, so nothing was pending at that moment. Reading a finished count
//! acquires what its writer released, so the additions by the finished tasks are seen.
//!
//! A thread that waits for quiet is woken when a participant that finished tasks runs out of them,
//! and when a blocking task ends. The waiter announces itself, then reads the counts. The finisher
//! updates its count, then looks for waiters. A sequentially consistent fence between the two steps
//! on each side ensures that at least one of them sees the other.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use std::task::Waker;

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

/// The counts that one participant writes.
#[derive(Default)]
struct Counts {
    added: AtomicU64,
    finished: AtomicU64,
}

/// The counts of a queue and the threads that wait for quiet; see the module documentation.
pub(super) struct Quiet {
    participants: Box<[CachePadded<Counts>]>,
    outside_added: CachePadded<AtomicU64>,
    blocking: CachePadded<Counts>,
    waiters: AtomicUsize,
    wakers: Mutex<Vec<Waker>>,
}

/// Adds one to a count that only this thread writes.
#[inline]
fn increment(count: &AtomicU64) {
    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Release);
}

impl Quiet {
    pub(super) fn new(participants: usize) -> Self {
        Self {
            participants: (0..participants).map(|_| CachePadded::default()).collect(),
            outside_added: CachePadded::default(),
            blocking: CachePadded::default(),
            waiters: AtomicUsize::new(0),
            wakers: Mutex::new(Vec::new()),
        }
    }

    /// Counts a task added by the participant that runs on the calling thread.
    #[inline]
    pub(super) fn added_by(&self, participant: usize) {
        increment(&self.participants[participant].added);
    }

    /// Counts a task finished by the participant that runs on the calling thread.
    #[inline]
    pub(super) fn finished_by(&self, participant: usize) {
        increment(&self.participants[participant].finished);
    }

    #[inline]
    pub(super) fn added_from_outside(&self) {
        self.outside_added.fetch_add(1, Ordering::Release);
    }

    pub(super) fn added_blocking(&self) {
        self.blocking.added.fetch_add(1, Ordering::Release);
    }

    pub(super) fn finished_blocking(&self) {
        self.blocking.finished.fetch_add(1, Ordering::Release);
        self.announce();
    }

    /// Wakes the waiting threads, which then check the counts again.
    pub(super) fn announce(&self) {
        fence(Ordering::SeqCst);
        if self.waiters.load(Ordering::Relaxed) != 0 {
            for waker in self.wakers.lock().iter() {
                waker.wake_by_ref();
            }
        }
    }

    pub(super) fn is_quiet(&self) -> bool {
        let participants = self.participants.iter().map(|counts| &**counts);
        let counts = || participants.clone().chain([&*self.blocking]);
        let finished: u64 = counts().map(|counts| counts.finished.load(Ordering::Acquire)).sum();
        let added: u64 = counts().map(|counts| counts.added.load(Ordering::Acquire)).sum();
        finished == added + self.outside_added.load(Ordering::Acquire)
    }

    /// Registers `waker` to be woken whenever the queue may have become quiet, until the result is
    /// dropped.
    pub(super) fn wait_with<'a>(&'a self, waker: &'a Waker) -> Waiting<'a> {
        self.wakers.lock().push(waker.clone());
        self.waiters.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        Waiting { quiet: self, waker }
    }
}

/// The registration of a waiter.
pub(super) struct Waiting<'a> {
    quiet: &'a Quiet,
    waker: &'a Waker,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.quiet.waiters.fetch_sub(1, Ordering::Relaxed);
        self.quiet.wakers.lock().retain(|waker| !waker.will_wake(self.waker));
    }
}
