//! The participants of a multi-threaded queue: where they find tasks, and how they wait for them.
#![expect(unsafe_code, reason = "a thread reaches its own deque through a thread-local pointer")]

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use crossbeam_utils::CachePadded;

use super::super::panics::Panics;
use super::super::{Latch, Task};
use super::quiet::Quiet;
use super::sleep::Sleep;
use crate::sync::{Parker, Unparker, thread_local_cell};

/// How many waiting threads can help at once. Further ones only wait.
const GUESTS: usize = 8;

/// One in this many tasks is the oldest of the injector or of the participant. Otherwise a task
/// that always adds another one could delay all others forever, because participants take their
/// newest task first.
const FAIRNESS_INTERVAL: u32 = 61;

/// Rounds of searching before a participant sleeps. The first rounds pause between attempts, each
/// twice as long as the one before. Later rounds yield the core to other threads.
const SPIN_ROUNDS: u32 = 6;
const YIELD_ROUNDS: u32 = 2;

/// How often a worker repeats these rounds while a loop is in progress, about 200 µs in all. Waking
/// a sleeping worker would take a good part of the time of the next loop's first tasks.
const ROUNDS_IN_LOOPS: u32 = 64;

thread_local_cell! {
    /// The queue, and the participant in it, that this thread currently runs as.
    static CURRENT: Current = Current { core: ptr::null(), local: ptr::null() };
}

#[derive(Clone, Copy)]
struct Current {
    core: *const Core,
    local: *const Local,
}

/// The state that all participants share.
pub(super) struct Core {
    injector: Injector<Task>,
    /// Indexed by participant: first the workers, then the guests.
    stealers: Vec<Stealer<Task>>,
    workers: usize,
    sleep: Sleep,
    quiet: Quiet,
    panics: Panics,
    shutdown: std::sync::atomic::AtomicBool,
    /// The number of loops in progress.
    loops: CachePadded<AtomicUsize>,
    /// The free places for waiting threads. Their deques are empty.
    guests: parking_lot::Mutex<Vec<Local>>,
}

/// The private state of one participant.
pub(super) struct Local {
    number: usize,
    deque: Worker<Task>,
    parker: Parker,
    /// Unparks this participant.
    waker: Waker,
    /// The number of tasks taken so far.
    tick: Cell<u32>,
    /// The state of the generator that chooses the first victim to steal from.
    seed: Cell<u32>,
    /// Whether it finished tasks that threads waiting for quiet have not been notified of.
    has_unannounced: Cell<bool>,
}

struct UnparkWaker(Unparker);

impl Wake for UnparkWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// The condition that ends a participation.
#[derive(Clone, Copy)]
pub(super) enum Until<'a> {
    Shutdown,
    Open(&'a Latch),
    Quiet,
}

/// Marks this thread as a participant. Dropping it restores the previous mark.
struct Entered {
    before: Current,
}

impl Entered {
    fn new(core: &Core, local: &Local) -> Self {
        Self { before: CURRENT.with(|current| current.replace(Current { core, local })) }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(self.before));
    }
}

impl Core {
    /// Creates the core for `workers` threads, and the state that each of them passes to
    /// [`Core::participate`].
    pub(super) fn new(workers: usize) -> (Self, Vec<Local>) {
        let mut locals: Vec<_> = (0..workers + GUESTS).map(Local::new).collect();
        let stealers = locals.iter().map(|local| local.deque.stealer()).collect();
        let sleep = Sleep::new(locals.iter().map(|local| local.parker.unparker()).collect());
        let guests = locals.split_off(workers);
        let core = Self {
            injector: Injector::new(),
            stealers,
            workers,
            sleep,
            quiet: Quiet::new(workers + GUESTS),
            panics: Panics::default(),
            shutdown: std::sync::atomic::AtomicBool::new(false),
            loops: CachePadded::default(),
            guests: parking_lot::Mutex::new(guests),
        };
        (core, locals)
    }

    pub(super) fn workers(&self) -> usize {
        self.workers
    }

    pub(super) fn panics(&self) -> &Panics {
        &self.panics
    }

    pub(super) fn quiet(&self) -> &Quiet {
        &self.quiet
    }

    /// Returns this thread's participant state, if it is running tasks of this queue.
    #[inline]
    fn current(&self) -> Option<&Local> {
        let current = CURRENT.with(Cell::get);
        // SAFETY: `participate` set the pair, and borrows both for as long as they are set. `Local`
        // stays on this thread meanwhile, so only one thread accesses its cells and its deque.
        ptr::eq(current.core, self).then(|| unsafe { &*current.local })
    }

    pub(super) fn is_current(&self) -> bool {
        self.current().is_some()
    }

    #[inline]
    pub(super) fn add(&self, task: Task) {
        // Counted before any thread can see the task, run it and count it as finished.
        match self.current() {
            Some(local) => {
                self.quiet.added_by(local.number);
                local.deque.push(task);
            }
            None => {
                self.quiet.added_from_outside();
                self.injector.push(task);
            }
        }
        self.sleep.notify();
    }

    pub(super) fn begin_loop(&self) {
        self.loops.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn end_loop(&self) {
        self.loops.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns whether a loop is in progress. Only speed depends on when a change is seen.
    fn has_loops(&self) -> bool {
        self.loops.load(Ordering::Relaxed) != 0
    }

    /// Returns whether the participant is a waiting thread that should leave the cores to the
    /// workers.
    #[inline]
    fn leaves_work(&self, local: &Local) -> bool {
        local.number >= self.workers && self.has_loops()
    }

    pub(super) fn shut_down(&self) {
        self.shutdown.store(true, std::sync::atomic::Ordering::Release);
        self.sleep.unpark_all();
    }

    fn is_met(&self, until: Until<'_>) -> bool {
        match until {
            Until::Shutdown => self.shutdown.load(std::sync::atomic::Ordering::Acquire),
            Until::Open(latch) => latch.is_open(),
            Until::Quiet => self.quiet.is_quiet(),
        }
    }

    /// Returns true if the participant should stop although it may have work. Such a queue is not
    /// quiet.
    fn is_met_early(&self, until: Until<'_>) -> bool {
        !matches!(until, Until::Quiet) && self.is_met(until)
    }

    /// Runs tasks, and sleeps when there are none, until the condition is met. Whichever thread
    /// meets the condition unparks `local`.
    pub(super) fn participate(&self, local: &Local, until: Until<'_>) {
        let _entered = Entered::new(self, local);
        loop {
            loop {
                if self.leaves_work(local) {
                    return self.rest(local, until);
                }
                let Some(task) = self.next(local) else { break };
                self.run(local, task);
                if self.is_met_early(until) {
                    return self.announce(local);
                }
            }
            self.sleep.search();
            match self.search(local, until) {
                Some(task) => self.run(local, task),
                None => return,
            }
            if self.is_met_early(until) {
                return self.announce(local);
            }
        }
    }

    /// Looks for a task everywhere and sleeps while there is none. Returns `None` when the
    /// condition is met.
    fn search(&self, local: &Local, until: Until<'_>) -> Option<Task> {
        let mut rounds = 0;
        loop {
            for round in 0..SPIN_ROUNDS + YIELD_ROUNDS {
                if self.is_met(until) {
                    self.announce(local);
                    self.sleep.leave(|| self.is_work_visible());
                    return None;
                }
                if self.leaves_work(local) {
                    self.sleep.leave(|| self.is_work_visible());
                    self.rest(local, until);
                    return None;
                }
                if let Some(task) = self.steal(local) {
                    self.sleep.found(|| self.is_work_visible());
                    return Some(task);
                }
                if round < SPIN_ROUNDS {
                    (0..1 << round).for_each(|_| std::hint::spin_loop());
                } else {
                    std::thread::yield_now();
                }
            }
            self.announce(local);
            rounds += 1;
            if rounds < ROUNDS_IN_LOOPS && self.has_loops() {
                continue;
            }
            self.sleep.sleep(local.number, &local.parker, || self.is_work_visible(), || self.is_met(until));
        }
    }

    /// Waits until the condition is met and leaves the participant's tasks to the workers, even
    /// after the loop has ended, because other loops tend to follow. The participant does not count
    /// as searching, so a thread that adds tasks wakes a worker if none is awake.
    fn rest(&self, local: &Local, until: Until<'_>) {
        self.announce(local);
        while !self.is_met(until) {
            local.parker.park();
        }
    }

    #[inline]
    fn run(&self, local: &Local, task: Task) {
        self.panics.run(task);
        self.quiet.finished_by(local.number);
        local.has_unannounced.set(true);
    }

    /// Notifies threads that wait for quiet that this participant has run out of tasks.
    fn announce(&self, local: &Local) {
        if local.has_unannounced.replace(false) {
            self.quiet.announce();
        }
    }

    /// Returns the participant's own next task.
    #[inline]
    fn next(&self, local: &Local) -> Option<Task> {
        let tick = local.tick.get().wrapping_add(1);
        local.tick.set(tick);
        if tick.is_multiple_of(FAIRNESS_INTERVAL) {
            let oldest = || retry(|| self.stealers[local.number].steal());
            let injected = || retry(|| self.injector.steal());
            let is_even = (tick / FAIRNESS_INTERVAL).is_multiple_of(2);
            let task = if is_even { injected().or_else(oldest) } else { oldest().or_else(injected) };
            if task.is_some() {
                return task;
            }
        }
        local.deque.pop()
    }

    /// Takes tasks from the injector or another participant's deque: one to run, and some for the
    /// participant's own deque.
    fn steal(&self, local: &Local) -> Option<Task> {
        retry(|| self.injector.steal_batch_and_pop(&local.deque)).or_else(|| {
            let others = self.stealers.len();
            let first = local.random() as usize % others;
            (0..others).map(|i| (first + i) % others).filter(|&other| other != local.number).find_map(
                |other| {
                    let stealer = &self.stealers[other];
                    retry(|| stealer.steal_batch_and_pop(&local.deque))
                },
            )
        })
    }

    fn is_work_visible(&self) -> bool {
        !self.injector.is_empty() || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }

    /// Participates until the latch is open.
    pub(super) fn wait(&self, latch: &Latch) {
        if latch.is_open() {
            return;
        }
        if let Some(local) = self.current() {
            // A task is waiting. It keeps its thread useful, at the price of stack space.
            if latch.wake_on_open(&local.waker) {
                self.participate(local, Until::Open(latch));
            }
            return;
        }
        let Some(guest) = Guest::enter(self) else { return latch.wait() };
        if latch.wake_on_open(&guest.local.waker) {
            self.participate(&guest.local, Until::Open(latch));
        }
    }

    /// Calls `body` as a participant if there is a free place, then participates until the latch is
    /// open.
    pub(super) fn run_and_wait(&self, body: &mut dyn FnMut(), latch: &Latch) {
        let guest = if self.is_current() { None } else { Guest::enter(self) };
        let Some(guest) = guest else {
            body();
            return self.wait(latch);
        };
        {
            let _entered = Entered::new(self, &guest.local);
            body();
        }
        if latch.wake_on_open(&guest.local.waker) {
            self.participate(&guest.local, Until::Open(latch));
        }
    }

    /// Participates until nothing is pending. Within a task, which is pending itself, it returns at
    /// once.
    pub(super) fn quiesce(&self) {
        if self.is_current() || self.quiet.is_quiet() {
            return;
        }
        if let Some(guest) = Guest::enter(self) {
            let _waiting = self.quiet.wait_with(&guest.local.waker);
            self.participate(&guest.local, Until::Quiet);
            return;
        }
        let parker = Parker::new();
        let waker = Waker::from(Arc::new(UnparkWaker(parker.unparker())));
        let _waiting = self.quiet.wait_with(&waker);
        while !self.quiet.is_quiet() {
            parker.park();
        }
    }
}

/// A participant's place for a thread that waits and helps. Dropping it frees the place and moves
/// its remaining tasks to the injector.
struct Guest<'a> {
    core: &'a Core,
    local: ManuallyDrop<Local>,
}

impl<'a> Guest<'a> {
    /// Takes a place. Returns `None` if all are in use.
    fn enter(core: &'a Core) -> Option<Self> {
        let local = ManuallyDrop::new(core.guests.lock().pop()?);
        Some(Self { core, local })
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        // SAFETY: `drop` takes the place out once, here, and does not use it through `self`
        // afterwards.
        let local = unsafe { ManuallyDrop::take(&mut self.local) };
        if let Some(task) = local.deque.pop() {
            self.core.injector.push(task);
            while let Some(task) = local.deque.pop() {
                self.core.injector.push(task);
            }
            self.core.sleep.notify();
        }
        self.core.guests.lock().push(local);
    }
}

impl Local {
    fn new(number: usize) -> Self {
        let parker = Parker::new();
        Self {
            number,
            deque: Worker::new_lifo(),
            waker: Waker::from(Arc::new(UnparkWaker(parker.unparker()))),
            parker,
            tick: Cell::new(0),
            seed: Cell::new(0x9e37_79b9 ^ (number as u32 + 1)),
            has_unannounced: Cell::new(false),
        }
    }

    /// Returns a number from Marsaglia's xorshift: fast, and random enough to spread the thieves.
    fn random(&self) -> u32 {
        let mut x = self.seed.get();
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.seed.set(x);
        x
    }
}

fn retry(mut steal: impl FnMut() -> Steal<Task>) -> Option<Task> {
    loop {
        match steal() {
            Steal::Success(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}
