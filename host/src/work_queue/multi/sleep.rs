//! How the threads of a queue fall asleep and are woken, without losing work and without waking
//! more threads than there is work for.
//!
//! # The participants
//! Every thread that runs the queue's compute tasks is a *participant* with a number. Participants
//! are the workers, and threads that wait for something and help meanwhile. A participant is in one
//! of three states:
//!
//! - **busy**: it has tasks in its own deque;
//! - **searching**: it has none and looks through the injector and the other deques;
//! - **asleep**: it found none, is in the list of sleepers, and is parked.
//!
//! [`Sleep::state`] counts the searching and the sleeping participants in one word.
//!
//! # The invariant
//! *While there is work that nobody has taken, somebody is searching or nobody is asleep.* So no
//! thread sleeps while there is work for it. Three places uphold the invariant:
//!
//! 1. **Adding** ([`Sleep::notify`]): after the work is visible, if nobody searches and somebody
//!    sleeps, the adder removes one sleeper from the list, *counts it as searching*, and unparks
//!    it. A burst of additions therefore wakes one thread instead of one each: the later adders see
//!    that somebody searches.
//! 2. **Finding** ([`Sleep::found`]): the last searcher to find work may have taken one of several
//!    pieces, whose adders woke nobody because it was searching. So it looks again, and wakes the
//!    next participant if it sees more. Threads wake one by one as long as there is work, each
//!    woken by the one before.
//! 3. **Giving up** ([`Sleep::sleep`], [`Sleep::leave`]): the searcher first stops counting as one.
//!    If it was the last, it then looks once more.
//!
//! The risk is that an adder sees a searcher that is just giving up. The adder *makes the work
//! visible*, then *reads the state*. The searcher *lowers the state*, then *looks for work*. Both
//! sides have a sequentially consistent fence between the two steps, so at least one sees the
//! other's first step. Either the adder sees no searcher and wakes somebody, or the searcher sees
//! the work. A searcher that is not the last to give up leaves the second look to those that still
//! search.
//!
//! # Parking
//! A parked thread holds a parker with a token: an unpark before the park makes the park return at
//! once. So no wake-up is lost between entering the list and parking. A thread is also unparked for
//! other reasons: its latch opened, the queue ends, or the queue is quiet. A woken thread checks
//! whether it is still in the list and, if so, removes itself. It checks the reason for which it
//! may be woken after it has entered the list and before it parks.

use crate::sync::atomic::{AtomicUsize, Ordering, fence};
use crate::sync::{Mutex, Parker, Unparker};

/// One searching participant, in the lower half of the state.
const SEARCHING: usize = 1;
/// One sleeping participant, in the upper half of the state.
const SLEEPING: usize = 1 << 16;

fn searching(state: usize) -> usize {
    state % SLEEPING
}

/// The sleeping and searching participants of a queue; see the module documentation.
#[derive(Debug)]
pub(super) struct Sleep {
    state: AtomicUsize,
    /// The numbers of the sleeping participants, the latest last. The latest is woken first,
    /// because its caches are warmest. The length equals the sleeping count of `state` whenever the
    /// lock is held.
    sleepers: Mutex<Vec<usize>>,
    unparkers: Vec<Unparker>,
}

impl Sleep {
    /// Creates the state in which nobody searches or sleeps. `unparkers` are indexed by
    /// participant.
    pub(super) fn new(unparkers: Vec<Unparker>) -> Self {
        Self {
            state: AtomicUsize::new(0),
            sleepers: Mutex::new(Vec::with_capacity(unparkers.len())),
            unparkers,
        }
    }

    /// Wakes a sleeper unless somebody is searching. To be called after work was made visible to
    /// all.
    #[inline]
    pub(super) fn notify(&self) {
        // Orders making the work visible before reading the state (see the module documentation).
        fence(Ordering::SeqCst);
        let state = self.state.load(Ordering::Relaxed);
        if searching(state) == 0 && state >= SLEEPING {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        let mut sleepers = self.sleepers.lock();
        // Another adder may have woken a sleeper since.
        if searching(self.state.load(Ordering::Relaxed)) != 0 {
            return;
        }
        let Some(woken) = sleepers.pop() else { return };
        self.state.fetch_sub(SLEEPING - SEARCHING, Ordering::Relaxed);
        drop(sleepers);
        self.unparkers[woken].unpark();
    }

    /// Marks a busy participant that has run out of tasks as searching.
    pub(super) fn search(&self) {
        self.state.fetch_add(SEARCHING, Ordering::SeqCst);
    }

    /// Marks a searching participant that found work as busy. `work_visible` looks for more work.
    pub(super) fn found(&self, work_visible: impl FnOnce() -> bool) {
        if self.stop_searching(SEARCHING) && work_visible() {
            self.notify();
        }
    }

    /// Removes a searching participant that found no work. `work_visible` looks for work once more.
    pub(super) fn leave(&self, work_visible: impl FnOnce() -> bool) {
        self.found(work_visible);
    }

    /// Puts a searching participant that found no work to sleep until it is woken; then it searches
    /// again. It does not sleep if `is_done` returns true, which is called once the participant is
    /// in the list of sleepers.
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
                // This may unpark this very participant; the park below then returns at once.
                self.notify();
            }
            parker.park();
        }
        let mut sleepers = self.sleepers.lock();
        if let Some(place) = sleepers.iter().rposition(|&sleeper| sleeper == participant) {
            // The participant was woken by a thread that did not count it as searching.
            sleepers.remove(place);
            self.state.fetch_sub(SLEEPING - SEARCHING, Ordering::Relaxed);
        }
    }

    /// Changes the state by `change`, which removes one searcher. Returns true if it was the last.
    fn stop_searching(&self, change: usize) -> bool {
        let before = self.state.fetch_sub(change, Ordering::SeqCst);
        // Orders lowering the state before looking for work (see the module documentation).
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

    /// A queue that holds only a number of pieces of work.
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

        /// Runs a worker: it searches, sleeps and works until all is done. The worker that does the
        /// last piece wakes the others.
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
