//! How the threads of a queue fall asleep and are woken, without losing work and without waking more than there is
//! work for.
//!
//! # The participants
//! Every thread that runs the queue's compute tasks is a *participant* with a number: the workers, and threads that
//! wait for something and help meanwhile. A participant is in one of three states:
//!
//! - **busy**: it has work of its own;
//! - **searching**: it has none and looks through the injector and everybody's deque;
//! - **asleep**: it found none, stands in the list of sleepers, and is parked.
//!
//! [`Sleep::state`] counts the searching and the sleeping ones in one word.
//!
//! # The promise
//! *While there is work that nobody has taken, somebody is searching, or nobody is asleep.* So work never lies about
//! while the one who could do it sleeps. It is upheld at three places:
//!
//! 1. **Adding** ([`Sleep::notify`]): after the work is visible, if nobody searches and somebody sleeps, one sleeper
//!    is taken off the list, *counted as searching by the one who wakes it*, and unparked. A burst of adds therefore
//!    wakes one thread, not one each: the later adds see that somebody searches.
//! 2. **Finding** ([`Sleep::found`]): the last searcher that finds work may have taken one piece of several, whose
//!    adders woke nobody because it searched. It looks again, and wakes the next one if it sees more. So threads wake
//!    one by one as long as there is work for them, each woken by the one before it.
//! 3. **Giving up** ([`Sleep::sleep`], [`Sleep::leave`]): the searcher first stops counting as one, then, if it was the
//!    last, looks once more.
//!
//! The danger is an adder that sees a searcher who is just giving up. Adder: *make the work visible*, then *read the
//! state*. Searcher: *lower the state*, then *look for work*. Both sides have a sequentially consistent fence between
//! the two steps, so at least one sees the other's first step: either the adder sees no searcher and wakes somebody, or
//! the searcher sees the work. A searcher that is not the last to give up leaves that duty to those who still search.
//!
//! # Parking
//! A parked thread holds a token-passing parker: an unpark before the park makes the park return at once, so nothing
//! is lost between standing in the list and parking. Besides the adder's unpark there are unparks for other reasons (a
//! latch opened, the queue ends, all is quiet): whoever wakes looks whether it still stands in the list and, if so,
//! takes itself off. The reason it was woken for is checked after it stood in the list and before it parks.

use crate::sync::atomic::{AtomicUsize, Ordering, fence};
use crate::sync::{Mutex, Parker, Unparker};

/// One participant that searches, in the lower half of the state.
const SEARCHING: usize = 1;
/// One participant that sleeps, in the upper half.
const SLEEPING: usize = 1 << 16;

fn searching(state: usize) -> usize {
    state % SLEEPING
}

/// See the module.
#[derive(Debug)]
pub(super) struct Sleep {
    state: AtomicUsize,
    /// Numbers of the participants asleep, the latest last: it is woken first, its caches being warmest. Its length is
    /// the sleeping count of `state` whenever the lock is held.
    sleepers: Mutex<Vec<usize>>,
    unparkers: Vec<Unparker>,
}

impl Sleep {
    /// Nobody searches or sleeps. The unparkers are those of the participants, by number.
    pub(super) fn new(unparkers: Vec<Unparker>) -> Self {
        Self {
            state: AtomicUsize::new(0),
            sleepers: Mutex::new(Vec::with_capacity(unparkers.len())),
            unparkers,
        }
    }

    /// To be called after work was made visible to all: wakes a sleeper unless somebody searches anyway.
    #[inline]
    pub(super) fn notify(&self) {
        // Orders the work's becoming visible before the look at the state (see the module).
        fence(Ordering::SeqCst);
        let state = self.state.load(Ordering::Relaxed);
        if searching(state) == 0 && state >= SLEEPING {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        let mut sleepers = self.sleepers.lock();
        // Another adder may have woken somebody since.
        if searching(self.state.load(Ordering::Relaxed)) != 0 {
            return;
        }
        let Some(woken) = sleepers.pop() else { return };
        self.state.fetch_sub(SLEEPING - SEARCHING, Ordering::Relaxed);
        drop(sleepers);
        self.unparkers[woken].unpark();
    }

    /// A busy participant has run out of work of its own and begins to search.
    pub(super) fn search(&self) {
        self.state.fetch_add(SEARCHING, Ordering::SeqCst);
    }

    /// A searching participant found work and is busy. `work_visible` looks for more.
    pub(super) fn found(&self, work_visible: impl FnOnce() -> bool) {
        if self.stop_searching(SEARCHING) && work_visible() {
            self.notify();
        }
    }

    /// A searching participant goes away, having found none.
    pub(super) fn leave(&self, work_visible: impl FnOnce() -> bool) {
        self.found(work_visible);
    }

    /// A searching participant found none and sleeps until it is woken; then it searches again. It does not sleep if
    /// `is_done` (asked once it stands in the list of sleepers).
    pub(super) fn sleep(
        &self,
        participant: usize,
        parker: &Parker,
        work_visible: impl FnOnce() -> bool,
        is_done: impl FnOnce() -> bool,
    ) {
        let was_last = {
            let mut sleepers = self.sleepers.lock();
            sleepers.push(participant);
            self.stop_searching(SEARCHING.wrapping_sub(SLEEPING))
        };
        if !is_done() {
            if was_last && work_visible() {
                // It may well be this participant that is woken: the park then returns at once.
                self.notify();
            }
            parker.park();
        }
        let mut sleepers = self.sleepers.lock();
        if let Some(place) = sleepers.iter().rposition(|&sleeper| sleeper == participant) {
            // Woken by somebody who did not count this participant as searching.
            sleepers.remove(place);
            self.state.fetch_sub(SLEEPING - SEARCHING, Ordering::Relaxed);
        }
    }

    /// Lowers the state by `change`, which counts one searcher less. True if it was the last.
    fn stop_searching(&self, change: usize) -> bool {
        let before = self.state.fetch_sub(change, Ordering::SeqCst);
        // Orders the lowering before the look for work (see the module).
        fence(Ordering::SeqCst);
        searching(before) == 1
    }

    /// Unparks every participant.
    pub(super) fn unpark_all(&self) {
        for unparker in &self.unparkers {
            unparker.unpark();
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use std::sync::Arc;

    use super::*;
    use crate::sync::thread;

    /// A queue of nothing but a number of pieces of work.
    struct Model {
        sleep: Sleep,
        work: AtomicUsize,
        done: AtomicUsize,
        expected: usize,
    }

    impl Model {
        fn take(&self) -> bool {
            let mut work = self.work.load(Ordering::Acquire);
            while work != 0 {
                match self.work.compare_exchange(work, work - 1, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => return true,
                    Err(now) => work = now,
                }
            }
            false
        }

        fn is_visible(&self) -> bool {
            self.work.load(Ordering::Acquire) != 0
        }

        fn is_done(&self) -> bool {
            self.done.load(Ordering::Acquire) == self.expected
        }

        /// A worker's life: search, sleep, work, until all is done; the one who does the last piece wakes the others.
        fn participate(&self, number: usize, parker: &Parker) {
            self.sleep.search();
            loop {
                if self.is_done() {
                    return self.sleep.leave(|| self.is_visible());
                }
                if self.take() {
                    self.sleep.found(|| self.is_visible());
                    if self.done.fetch_add(1, Ordering::AcqRel) + 1 == self.expected {
                        self.sleep.unpark_all();
                    }
                    self.sleep.search();
                } else {
                    self.sleep.sleep(number, parker, || self.is_visible(), || self.is_done());
                }
            }
        }

        fn add(&self) {
            self.work.fetch_add(1, Ordering::Release);
            self.sleep.notify();
        }
    }

    fn model(workers: usize, pieces: usize, preemptions: usize) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(preemptions);
        builder.check(move || {
            let parkers: Vec<_> = (0..workers).map(|_| Parker::new()).collect();
            let model = Arc::new(Model {
                sleep: Sleep::new(parkers.iter().map(Parker::unparker).collect()),
                work: AtomicUsize::new(0),
                done: AtomicUsize::new(0),
                expected: pieces,
            });
            let threads: Vec<_> = parkers
                .into_iter()
                .enumerate()
                .map(|(number, parker)| {
                    let model = model.clone();
                    thread::spawn(move || model.participate(number, &parker))
                })
                .collect();
            for _ in 0..pieces {
                model.add();
            }
            for thread in threads {
                thread.join().unwrap();
            }
            assert!(model.is_done() && !model.is_visible());
            assert_eq!(model.sleep.state.load(Ordering::Relaxed), 0, "everybody has left");
        });
    }

    #[test]
    fn loom_sleep_one_worker_gets_all_work() {
        model(1, 2, 3);
    }

    #[test]
    fn loom_sleep_two_workers_share_and_end() {
        model(2, 2, 2);
    }
}
