//! [`Latch`]: what a thread waits for.

use std::sync::Arc;
use std::task::{Wake, Waker};

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Condvar, Mutex};

/// A count that falls to zero, once; then the latch is open for good. Whoever waits leaves a [`Waker`], which is woken
/// when the latch opens.
#[derive(Debug)]
pub struct Latch {
    /// Counts to go. Release on the way down, acquire on the way in: what was done before a count-down is seen by
    /// those who find the latch open.
    count: AtomicUsize,
    /// Those to wake. The count is checked under this lock before a waker is left, and the opener takes the wakers
    /// under it after the count fell to zero: so either the waiter sees the open latch or the opener sees the waker.
    wakers: Mutex<Vec<Waker>>,
}

impl Latch {
    /// A latch that opens at the `count`-th count-down; open already if `count` is zero.
    pub fn new(count: usize) -> Self {
        Self { count: AtomicUsize::new(count), wakers: Mutex::new(Vec::new()) }
    }

    /// Counts down by one. An open latch stays open.
    pub fn count_down(&self) {
        let mut count = self.count.load(Ordering::Relaxed);
        while count != 0 {
            match self.count.compare_exchange_weak(count, count - 1, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(1) => return self.wake_all(),
                Ok(_) => return,
                Err(now) => count = now,
            }
        }
    }

    fn wake_all(&self) {
        // Woken outside of the lock: a waker may run code of another queue.
        let wakers = std::mem::take(&mut *self.wakers.lock());
        for waker in wakers {
            waker.wake();
        }
    }

    /// True once the count is zero.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Has `waker` woken when the latch opens. False if it is open already: the waker is then not kept.
    pub fn wake_on_open(&self, waker: &Waker) -> bool {
        let mut wakers = self.wakers.lock();
        if self.is_open() {
            return false;
        }
        wakers.push(waker.clone());
        true
    }

    /// Sleeps until the latch is open, without running anything meanwhile. Never from within a compute task.
    pub fn wait(&self) {
        let signal = Arc::new(Signal::default());
        if self.wake_on_open(&Waker::from(signal.clone())) {
            signal.wait();
        }
    }
}

/// A flag to sleep on: set once by [`Wake::wake`].
#[derive(Debug, Default)]
struct Signal {
    set: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    fn wait(&self) {
        let mut set = self.set.lock();
        while !*set {
            set = self.changed.wait(set);
        }
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        *self.set.lock() = true;
        self.changed.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn opens_at_the_last_count_and_stays_open() {
        assert!(Latch::new(0).is_open());
        let latch = Latch::new(2);
        latch.count_down();
        assert!(!latch.is_open());
        latch.count_down();
        latch.count_down();
        assert!(latch.is_open());
        latch.wait();
    }

    #[test]
    fn wakes_all_waiting_threads() {
        let latch = Latch::new(3);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| latch.wait());
            }
            for _ in 0..3 {
                scope.spawn(|| latch.count_down());
            }
        });
        assert!(latch.is_open());
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use std::sync::Arc as StdArc;

    use super::*;
    use crate::sync::{UnsafeCell, thread};

    struct Shared {
        latch: Latch,
        written: [UnsafeCell<u32>; 2],
    }

    // Two threads write, count down and are gone; a third waits and reads what both wrote. No wake-up is lost (loom
    // reports a deadlock) and the reads are ordered after the writes (loom reports a race).
    #[test]
    #[expect(unsafe_code, reason = "cells that loom checks")]
    fn loom_latch_orders_and_wakes() {
        struct Assert<T>(T);
        // SAFETY: loom itself checks that the cells are accessed in order.
        unsafe impl<T> Send for Assert<T> {}
        // SAFETY: loom itself checks that the cells are accessed in order.
        unsafe impl<T> Sync for Assert<T> {}

        loom::model(|| {
            let shared = StdArc::new(Assert(Shared {
                latch: Latch::new(2),
                written: [UnsafeCell::new(0), UnsafeCell::new(0)],
            }));
            let writers = [0, 1].map(|i| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let shared = &shared.0;
                    // SAFETY: cell `i` is this thread's until it counts down.
                    shared.written[i].with_mut(|cell| unsafe { *cell = 1 });
                    shared.latch.count_down();
                })
            });
            shared.0.latch.wait();
            for cell in &shared.0.written {
                // SAFETY: the writers have counted down and write no more.
                assert_eq!(cell.with(|cell| unsafe { *cell }), 1);
            }
            for writer in writers {
                writer.join().unwrap();
            }
        });
    }
}
