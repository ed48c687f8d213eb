//! Noticing that nothing is pending, without a counter that all threads fight for.
//!
//! Each participant counts, in a cache line of its own, the tasks it added and those it finished; only tasks from
//! outside and blocking tasks share a counter. All counts only grow. *Quiet* is decided by first reading every count
//! of finished tasks, then every count of added ones, and comparing the sums: between the two readings there was a
//! moment; what had finished before it is no more than had been added by then, which is no more than what the second
//! reading saw. If first and last are equal, all three are, and at that moment nothing was pending. The reading of a
//! finished count acquires what its writer released, so that the additions made by the tasks it counts are seen.
//!
//! Whoever waits for quiet is woken when it may have come: when a participant that finished tasks runs out of them, and
//! when a blocking task ends. The waiter announces itself, then reads the counts; the finisher counts, then looks for
//! waiters; a sequentially consistent fence between the two steps on both sides lets one of them see the other.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use std::task::Waker;

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

/// Written by one participant.
#[derive(Default)]
struct Counts {
    added: AtomicU64,
    finished: AtomicU64,
}

/// See the module.
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

    /// The participant, on whose thread this is called, adds a task.
    #[inline]
    pub(super) fn added_by(&self, participant: usize) {
        increment(&self.participants[participant].added);
    }

    /// The participant, on whose thread this is called, finished a task.
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

    /// Wakes those who wait, so that they look again.
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

    /// Has `waker` woken whenever it may have become quiet, until the result is dropped.
    pub(super) fn wait_with<'a>(&'a self, waker: &'a Waker) -> Waiting<'a> {
        self.wakers.lock().push(waker.clone());
        self.waiters.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        Waiting { quiet: self, waker }
    }
}

/// A waiter's entry.
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
