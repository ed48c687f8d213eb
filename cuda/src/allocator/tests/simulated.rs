//! A device whose streams run when told to, one piece of work at a time, and which notices when memory is used by two.

use std::collections::{BTreeMap, HashMap, VecDeque};

use parking_lot::Mutex;
use tfrt_host::{Diagnostic, ErrorCode};

use super::super::{Allocation, Backing};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Uses the memory of a grant.
    Use(u64),
    /// Reaches a fence.
    Reach(usize),
    /// Waits for a fence.
    Wait(usize),
}

struct Grant {
    address: u64,
    bytes: u64,
    used: bool,
}

type Callback = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    limit: u64,
    reserved: u64,
    reserved_max: u64,
    next_address: u64,
    segments: BTreeMap<u64, u64>,
    streams: HashMap<u32, VecDeque<Work>>,
    fences: Vec<bool>,
    callbacks: Vec<(usize, Callback)>,
    grants: BTreeMap<u64, Grant>,
    records: u64,
    waits: u64,
    calls: u64,
    fail_from: u64,
    fail_until: u64,
}

/// See the module.
pub(super) struct Simulated {
    state: Mutex<State>,
}

impl Simulated {
    /// A device with so many bytes.
    pub(super) fn new(limit: u64) -> Self {
        let state = State { limit, next_address: 1 << 32, ..State::default() };
        Self { state: Mutex::new(state) }
    }

    /// Makes the calls from the `from`-th up to, not including, the `until`-th fail.
    pub(super) fn fail(&self, from: u64, until: u64) {
        let state = &mut *self.state.lock();
        (state.fail_from, state.fail_until) = (from, until);
    }

    pub(super) fn calls(&self) -> u64 {
        self.state.lock().calls
    }

    pub(super) fn reserved(&self) -> u64 {
        self.state.lock().reserved
    }

    pub(super) fn reserved_max(&self) -> u64 {
        self.state.lock().reserved_max
    }

    pub(super) fn records(&self) -> u64 {
        self.state.lock().records
    }

    pub(super) fn waits(&self) -> u64 {
        self.state.lock().waits
    }

    /// Has to be called once for each grant before it is used.
    pub(super) fn granted(&self, allocation: &Allocation) {
        let grant = Grant { address: allocation.address(), bytes: allocation.bytes(), used: false };
        let state = &mut *self.state.lock();
        let (start, bytes) = state.segments.range(..=grant.address).next_back().expect("a segment");
        assert!(grant.address + grant.bytes <= start + bytes, "within its segment");
        assert!(state.grants.insert(allocation.serial(), grant).is_none(), "a grant of its own");
    }

    /// Queues work that uses the memory.
    pub(super) fn queue_use(&self, stream: u32, allocation: &Allocation) {
        self.state.lock().streams.entry(stream).or_default().push_back(Work::Use(allocation.serial()));
    }

    /// What a user does before using memory on a stream it was not granted for.
    pub(super) fn order(&self, first: u32, then: u32) {
        let state = &mut *self.state.lock();
        let fence = state.fences.len();
        state.fences.push(false);
        state.streams.entry(first).or_default().push_back(Work::Reach(fence));
        state.streams.entry(then).or_default().push_back(Work::Wait(fence));
    }

    /// Does the next piece of a stream's work. False if there is none or it has to wait.
    pub(super) fn step(&self, stream: u32) -> bool {
        let mut state = self.state.lock();
        let Some(&work) = state.streams.get(&stream).and_then(VecDeque::front) else { return false };
        match work {
            Work::Wait(fence) if !state.fences[fence] => return false,
            Work::Wait(_) => {}
            Work::Reach(fence) => state.fences[fence] = true,
            Work::Use(serial) => state.use_memory(serial),
        }
        state.streams.get_mut(&stream).expect("it has work").pop_front();
        let State { callbacks, fences, .. } = &mut *state;
        let due: Vec<_> = callbacks.extract_if(.., |(fence, _)| fences[*fence]).collect();
        drop(state);
        due.into_iter().for_each(|(_, callback)| callback());
        true
    }

    /// A piece of work of each stream. False if none could go on.
    fn step_all(&self) -> bool {
        let streams: Vec<u32> = self.state.lock().streams.keys().copied().collect();
        streams.into_iter().filter(|&stream| self.step(stream)).count() > 0
    }

    /// Runs until nothing is left to do.
    pub(super) fn run_all(&self) {
        loop {
            if !self.step_all() {
                break;
            }
        }
        let state = self.state.lock();
        assert!(state.streams.values().all(VecDeque::is_empty), "streams wait for each other");
    }

    fn call(&self) -> Result<parking_lot::MutexGuard<'_, State>, Diagnostic> {
        let mut state = self.state.lock();
        state.calls += 1;
        if (state.fail_from..state.fail_until).contains(&state.calls) {
            return Err(Diagnostic::new(ErrorCode::DeviceLost, "injected"));
        }
        Ok(state)
    }
}

impl State {
    fn use_memory(&mut self, serial: u64) {
        let Grant { address, bytes, .. } = self.grants[&serial];
        let overlaps =
            |other: &Grant| other.address < address + bytes && address < other.address + other.bytes;
        for (later, other) in self.grants.range(serial + 1..) {
            assert!(
                !(other.used && overlaps(other)),
                "grant {serial} is used after {later} took its memory over"
            );
        }
        assert!(self.segments.range(..=address).next_back().is_some_and(|(s, b)| address + bytes <= s + b));
        self.grants.get_mut(&serial).expect("known").used = true;
    }
}

impl Backing for Simulated {
    type Stream = u32;
    type Fence = usize;

    fn allocate(&self, bytes: u64) -> Result<u64, Diagnostic> {
        let state = &mut *self.call()?;
        if state.reserved.checked_add(bytes).is_none_or(|sum| sum > state.limit.min(1 << 46)) {
            return Err(Diagnostic::new(ErrorCode::OutOfMemory, "the simulation has no more"));
        }
        let address = state.next_address;
        state.next_address += bytes.next_multiple_of(4096) + 4096;
        state.segments.insert(address, bytes);
        state.reserved += bytes;
        state.reserved_max = state.reserved_max.max(state.reserved);
        Ok(address)
    }

    fn free(&self, address: u64, bytes: u64) -> Result<(), Diagnostic> {
        let state = &mut *self.call()?;
        assert_eq!(state.segments.remove(&address), Some(bytes), "a segment as it was given");
        state.reserved -= bytes;
        for work in state.streams.values().flatten() {
            if let Work::Use(serial) = work {
                let user = state.grants[serial].address;
                assert!(
                    !(address..address + bytes).contains(&user),
                    "memory is freed that {serial} will use"
                );
            }
        }
        Ok(())
    }

    fn record(&self, stream: &u32) -> Result<usize, Diagnostic> {
        let state = &mut *self.call()?;
        state.records += 1;
        let fence = state.fences.len();
        let queue = state.streams.entry(*stream).or_default();
        state.fences.push(queue.is_empty());
        if !queue.is_empty() {
            queue.push_back(Work::Reach(fence));
        }
        Ok(fence)
    }

    fn is_reached(&self, fence: &usize) -> Result<bool, Diagnostic> {
        Ok(self.call()?.fences[*fence])
    }

    fn wait(&self, stream: &u32, fence: &usize) -> Result<(), Diagnostic> {
        let state = &mut *self.call()?;
        state.waits += 1;
        state.streams.entry(*stream).or_default().push_back(Work::Wait(*fence));
        Ok(())
    }

    fn synchronize(&self, fence: &usize) -> Result<(), Diagnostic> {
        drop(self.call()?);
        while !self.state.lock().fences[*fence] {
            assert!(self.step_all() || self.state.lock().fences[*fence], "streams wait for each other");
        }
        Ok(())
    }

    fn when_reached(&self, fence: &usize, then: Callback) {
        let mut state = self.state.lock();
        if state.fences[*fence] {
            drop(state);
            then();
        } else {
            state.callbacks.push((*fence, then));
        }
    }
}
