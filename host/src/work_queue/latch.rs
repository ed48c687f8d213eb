//! [`Latch`]: a countdown that threads wait for.

use std::sync::Arc;
use std::task::{Wake, Waker};

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Condvar, Mutex};

/// A count that falls to zero once. The latch then stays open. A waiting thread leaves a [`Waker`],
/// which is woken when the latch opens.
#[derive(Debug)]
pub struct Latch {
    /// Remaining count-downs. A count-down releases and [`Latch::is_open`] acquires, so a thread
    /// that finds the latch open sees everything that happened before the count-downs.
    count: AtomicUsize,
    /// The wakers of waiting threads. A waiter checks the count under this lock before it leaves a
    /// waker. The opener takes the wakers under this lock after the count has fallen to zero. So
    /// either the waiter sees the open latch, or the opener sees the waker.
    wakers: Mutex<Vec<Waker>>,
}

impl Latch {
    /// Creates a latch that opens at the `count`-th count-down. If `count` is zero, it is open from
    /// the start.
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
        // Woken after the lock is released: a waker may run code of another queue.
        let wakers = std::mem::take(&mut *self.wakers.lock());
        for waker in wakers {
            waker.wake();
        }
    }

    /// Returns true once the count is zero.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Registers `waker` to be woken when the latch opens. Returns false, and drops the waker, if
    /// the latch is open already.
    pub fn wake_on_open(&self, waker: &Waker) -> bool {
        let mut wakers = self.wakers.lock();
        if self.is_open() {
            return false;
        }
        wakers.push(waker.clone());
        true
    }

    /// Sleeps until the latch is open. Unlike [`super::ConcurrentWorkQueue::await_latch`], it runs
    /// no tasks meanwhile. Must not be called within a compute task.
    pub fn wait(&self) {
        let signal = Arc::new(Signal::default());
        if self.wake_on_open(&Waker::from(signal.clone())) {
            signal.wait();
        }
    }
}

/// A flag to sleep on. [`Wake::wake`] sets it once.
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

    // Two threads write, count down and exit. A third waits and reads what both wrote. loom reports
    // a lost wake-up as a deadlock, and a read that is not ordered after the writes as a race.
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
                // SAFETY: both writers have counted down, after which they do not write.
                assert_eq!(cell.with(|cell| unsafe { *cell }), 1);
            }
            for writer in writers {
                writer.join().unwrap();
            }
        });
    }
}
