//! The participants of a multi-threaded queue: where they find tasks and how they spend their time.
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

/// Threads that can help at once while they wait; more of them just wait.
const GUESTS: usize = 8;

/// One task in so many is taken from where the newest-first order would look last, so that a task that keeps adding
/// another one cannot hold up all others forever.
const FAIRNESS_INTERVAL: u32 = 61;

/// Rounds of looking for work before a participant sleeps: first with short pauses between them, twice as long each
/// time, then giving the core to whoever else wants it.
const SPIN_ROUNDS: u32 = 6;
const YIELD_ROUNDS: u32 = 2;

/// How often a worker goes through these rounds while a loop is under way: in all some 200 µs. Waking it would take a good
/// part of what the next loop's first tasks do.
const ROUNDS_IN_LOOPS: u32 = 64;

thread_local_cell! {
    /// As which participant of which queue this thread runs right now.
    static CURRENT: Current = Current { core: ptr::null(), local: ptr::null() };
}

#[derive(Clone, Copy)]
struct Current {
    core: *const Core,
    local: *const Local,
}

/// What all participants share.
pub(super) struct Core {
    injector: Injector<Task>,
    /// By participant: first the workers, then the guests.
    stealers: Vec<Stealer<Task>>,
    workers: usize,
    sleep: Sleep,
    quiet: Quiet,
    panics: Panics,
    shutdown: std::sync::atomic::AtomicBool,
    /// Loops under way.
    loops: CachePadded<AtomicUsize>,
    /// The places for waiting threads that nobody takes at the moment. Their deques are empty.
    guests: parking_lot::Mutex<Vec<Local>>,
}

/// What one participant has for itself.
pub(super) struct Local {
    number: usize,
    deque: Worker<Task>,
    parker: Parker,
    /// Unparks it.
    waker: Waker,
    /// Tasks taken so far.
    tick: Cell<u32>,
    /// State of the generator that says whom to steal from first.
    seed: Cell<u32>,
    /// It finished tasks that it has not yet told those about who wait for quiet.
    has_news: Cell<bool>,
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

/// Until when a participant participates.
#[derive(Clone, Copy)]
pub(super) enum Until<'a> {
    Shutdown,
    Open(&'a Latch),
    Quiet,
}

/// Marks this thread as a participant; dropping restores what it was.
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
    /// A queue for `workers` threads, and what each of them passes to [`Core::participate`].
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

    /// What this thread has as a participant, if it is running tasks of this queue.
    #[inline]
    fn current(&self) -> Option<&Local> {
        let current = CURRENT.with(Cell::get);
        // SAFETY: the pair was set by `participate`, which borrows both for as long as they are set; `Local` stays on
        // this thread meanwhile, so its cells and its deque are reached by one thread.
        ptr::eq(current.core, self).then(|| unsafe { &*current.local })
    }

    pub(super) fn is_current(&self) -> bool {
        self.current().is_some()
    }

    #[inline]
    pub(super) fn add(&self, task: Task) {
        // Counted before anybody can see, run and count it as finished.
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

    /// Whether a loop is under way. Nothing but speed depends on when it is seen.
    fn has_loops(&self) -> bool {
        self.loops.load(Ordering::Relaxed) != 0
    }

    /// Whether the participant is a waiting thread that should leave the cores to the workers.
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

    /// True if the participant should stop although it may have work. It cannot be quiet then.
    fn is_met_early(&self, until: Until<'_>) -> bool {
        !matches!(until, Until::Quiet) && self.is_met(until)
    }

    /// Runs tasks, and sleeps when there are none, until the condition is met. Whoever meets it unparks `local`.
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

    /// Looks for a task everywhere and sleeps while there is none. `None` when the condition is met.
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

    /// Waits until the condition is met, and leaves to the workers what tasks the participant has, also when the loop has
    /// ended: where there was one there will be others. It is not counted as searching, so that whoever adds tasks wakes a
    /// worker if none is awake.
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
        local.has_news.set(true);
    }

    /// Tells those who wait for quiet that this participant has no more to do.
    fn announce(&self, local: &Local) {
        if local.has_news.replace(false) {
            self.quiet.announce();
        }
    }

    /// The participant's own next task.
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

    /// Takes tasks from the injector or from somebody's deque: one to run, some for the participant's own deque.
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

    /// Takes part until the latch is open.
    pub(super) fn wait(&self, latch: &Latch) {
        if latch.is_open() {
            return;
        }
        if let Some(local) = self.current() {
            // A task that waits. It keeps its thread useful, at the price of the stack.
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

    /// Calls `body` as a participant if possible, then takes part until the latch is open.
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

    /// Takes part until nothing is pending. A task that calls this returns at once: it is pending itself.
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

/// A place for a thread that waits and helps; given back when dropped, and the tasks left in it to the others.
struct Guest<'a> {
    core: &'a Core,
    local: ManuallyDrop<Local>,
}

impl<'a> Guest<'a> {
    /// `None` if all places are taken.
    fn enter(core: &'a Core) -> Option<Self> {
        let local = ManuallyDrop::new(core.guests.lock().pop()?);
        Some(Self { core, local })
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        // SAFETY: the place is taken out once, here, and not used through `self` any more.
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
            has_news: Cell::new(false),
        }
    }

    /// Marsaglia's xorshift: quick, and good enough to keep thieves apart.
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
