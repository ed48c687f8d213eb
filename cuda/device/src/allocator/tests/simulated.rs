//! A simulated device. Its streams run on command, one piece of work at a time, and it detects
//! memory that is used by two.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use parking_lot::Mutex;
use tfrt_host::{Diagnostic, ErrorCode};

use super::super::{Allocation, Backing, End, Pages};

/// The size of a page in bytes.
const PAGE: u64 = 2 << 20;

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
    /// The location of the bytes: ranges of the memory itself, to which several addresses may map.
    memory: Vec<(u64, u64)>,
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
    /// The pages by number, and the addresses they are mapped at.
    pages: BTreeSet<u64>,
    next_page: u64,
    mapped: BTreeMap<u64, u64>,
    maps: u64,
    streams: HashMap<u32, VecDeque<Work>>,
    fences: Vec<bool>,
    callbacks: Vec<(usize, Callback)>,
    grants: BTreeMap<u64, Grant>,
    records: u64,
    waits: u64,
    calls: u64,
    fail_from: u64,
    fail_until: u64,
    libraries: Libraries,
}

/// Libraries that release memory whenever they are asked, of which nothing reaches the device.
#[derive(Default)]
struct Libraries {
    are_there: bool,
    trims: u64,
    is_giving_back: bool,
    /// How much of it arrives before the requester can wait.
    prompt_bytes: u64,
    times_given_back: u64,
    callbacks: Vec<Callback>,
}

/// A simulated device; see the module documentation.
pub(super) struct Simulated {
    state: Mutex<State>,
    has_pages: bool,
}

impl Simulated {
    /// Creates a device with this much memory.
    pub(super) fn new(limit: u64) -> Self {
        let state = State { limit, next_address: 1 << 32, ..State::default() };
        Self { state: Mutex::new(state), has_pages: false }
    }

    /// Creates a device with this much memory in pages.
    pub(super) fn with_pages(limit: u64) -> Self {
        Self { has_pages: true, ..Self::new(limit) }
    }

    /// Adds libraries to the device.
    pub(super) fn with_libraries(self) -> Self {
        self.state.lock().libraries.are_there = true;
        self
    }

    /// Adds libraries that release this much memory at once. The rest is on its way and keeps
    /// requests waiting.
    pub(super) fn with_prompt_libraries(self, bytes: u64) -> Self {
        self.state.lock().libraries.prompt_bytes = bytes;
        self.with_libraries()
    }

    /// Returns how often the libraries were asked to release memory.
    pub(super) fn trims(&self) -> u64 {
        self.state.lock().libraries.trims
    }

    /// Makes the memory that the libraries released arrive.
    pub(super) fn give_back(&self) {
        let due = {
            let libraries = &mut self.state.lock().libraries;
            libraries.is_giving_back = false;
            libraries.times_given_back += 1;
            std::mem::take(&mut libraries.callbacks)
        };
        due.into_iter().for_each(|callback| callback());
    }

    /// Returns the number of pages mapped so far.
    pub(super) fn maps(&self) -> u64 {
        self.state.lock().maps
    }

    /// Returns whether nothing is reserved, mapped or kept.
    pub(super) fn is_clean(&self) -> bool {
        let state = self.state.lock();
        state.reserved == 0 && state.segments.is_empty() && state.mapped.is_empty() && state.pages.is_empty()
    }

    /// Makes the calls from `from` up to, but not including, `until` fail.
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

    /// Must be called once for each grant before it is used.
    pub(super) fn granted(&self, allocation: &Allocation) {
        let state = &mut *self.state.lock();
        let (address, bytes) = (allocation.address(), allocation.bytes());
        let grant = Grant { address, bytes, memory: state.memory(address, bytes), used: false };
        assert!(state.grants.insert(allocation.serial(), grant).is_none(), "a grant of its own");
    }

    /// Queues work that uses the memory.
    pub(super) fn queue_use(&self, stream: u32, allocation: &Allocation) {
        self.state.lock().streams.entry(stream).or_default().push_back(Work::Use(allocation.serial()));
    }

    /// Orders `then` after `first`, as users do before they use memory on another stream.
    pub(super) fn order(&self, first: u32, then: u32) {
        let state = &mut *self.state.lock();
        let fence = state.fences.len();
        state.fences.push(false);
        state.streams.entry(first).or_default().push_back(Work::Reach(fence));
        state.streams.entry(then).or_default().push_back(Work::Wait(fence));
    }

    /// Does the next piece of a stream's work. Returns false if there is none or it has to wait.
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

    /// Does a piece of work of each stream. Returns false if no stream could continue.
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
        let Grant { address, bytes, ref memory, .. } = self.grants[&serial];
        assert_eq!(&self.memory(address, bytes), memory, "its memory is where it was");
        let overlaps = |other: &Grant| {
            let mut pairs = memory.iter().flat_map(|a| other.memory.iter().map(move |b| (a, b)));
            pairs.any(|(a, b)| a.0 < b.0 + b.1 && b.0 < a.0 + a.1)
        };
        for (later, other) in self.grants.range(serial + 1..) {
            assert!(
                !(other.used && overlaps(other)),
                "grant {serial} is used after {later} took its memory over"
            );
        }
        self.grants.get_mut(&serial).expect("known").used = true;
    }

    /// Returns the ranges of memory that the addresses map to.
    fn memory(&self, address: u64, bytes: u64) -> Vec<(u64, u64)> {
        let (start, length) = self.segments.range(..=address).next_back().expect("a segment");
        assert!(address + bytes <= start + length, "within its segment");
        if self.pages.is_empty() {
            return vec![(address, bytes)];
        }
        let (mut at, end) = (address, address + bytes);
        let mut memory = vec![];
        while at < end {
            let page = self.mapped.get(&(at / PAGE * PAGE)).expect("a page is mapped");
            let next = (at / PAGE + 1) * PAGE;
            memory.push((page * PAGE + at % PAGE, next.min(end) - at));
            at = next;
        }
        memory
    }

    fn check_unused(&self, address: u64, bytes: u64) {
        for work in self.streams.values().flatten() {
            if let Work::Use(serial) = work {
                let user = &self.grants[serial];
                assert!(
                    user.bytes == 0
                        || user.address >= address + bytes
                        || user.address + user.bytes <= address,
                    "memory goes that {serial} will use"
                );
            }
        }
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
        state.check_unused(address, bytes);
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

    fn run_after(&self, ends: Vec<End<Self>>, job: Callback) {
        for end in ends {
            match end {
                End::Fence(fence) => drop(self.synchronize(&fence)),
                End::Unmarked(stream) => while !self.is_idle(&stream) && self.step_all() {},
            }
        }
        job();
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

    fn trim_libraries(&self, bytes: u64) -> bool {
        let state = &mut *self.state.lock();
        let prompt_bytes = std::mem::take(&mut state.libraries.prompt_bytes);
        state.limit += prompt_bytes;
        state.libraries.times_given_back += u64::from(prompt_bytes > 0);
        let gives = state.libraries.are_there && bytes <= state.limit;
        state.libraries.trims += u64::from(gives);
        state.libraries.is_giving_back |= gives;
        gives
    }

    fn is_giving_back(&self) -> bool {
        self.state.lock().libraries.is_giving_back
    }

    fn times_given_back(&self) -> u64 {
        self.state.lock().libraries.times_given_back
    }

    fn when_given_back(&self, times: u64, then: Callback) {
        let mut state = self.state.lock();
        if state.libraries.is_giving_back && state.libraries.times_given_back == times {
            state.libraries.callbacks.push(then);
        } else {
            drop(state);
            then();
        }
    }

    fn pages(&self) -> Option<&dyn Pages> {
        self.has_pages.then_some(self)
    }
}

impl Pages for Simulated {
    fn page_bytes(&self) -> u64 {
        PAGE
    }

    fn reserve_range(&self, bytes: u64) -> Result<u64, Diagnostic> {
        let state = &mut *self.call()?;
        if bytes > 1 << 46 {
            return Err(Diagnostic::new(ErrorCode::OutOfMemory, "the simulation has no more addresses"));
        }
        assert!(bytes > 0 && bytes.is_multiple_of(PAGE));
        let address = state.next_address.next_multiple_of(PAGE);
        state.next_address = address + bytes + PAGE;
        state.segments.insert(address, bytes);
        Ok(address)
    }

    fn release_range(&self, address: u64, bytes: u64) -> Result<(), Diagnostic> {
        let state = &mut *self.call()?;
        assert_eq!(state.segments.remove(&address), Some(bytes), "a range as it was given");
        assert!(state.mapped.range(address..address + bytes).next().is_none(), "nothing is mapped there");
        Ok(())
    }

    fn create_pages(&self, count: u64) -> Result<Vec<u64>, Diagnostic> {
        let state = &mut *self.call()?;
        let bytes = count * PAGE;
        if state.reserved.checked_add(bytes).is_none_or(|sum| sum > state.limit.min(1 << 46)) {
            return Err(Diagnostic::new(ErrorCode::OutOfMemory, "the simulation has no more"));
        }
        state.reserved += bytes;
        state.reserved_max = state.reserved_max.max(state.reserved);
        let first = state.next_page;
        state.next_page += count;
        state.pages.extend(first..first + count);
        Ok((first..first + count).collect())
    }

    fn destroy_page(&self, page: u64) -> Result<(), Diagnostic> {
        let state = &mut *self.call()?;
        assert!(state.pages.remove(&page), "a page that is there");
        state.reserved -= PAGE;
        Ok(())
    }

    fn map(&self, address: u64, pages: &[u64]) -> Result<(), Diagnostic> {
        let state = &mut *self.call()?;
        for (place, page) in (0..).zip(pages) {
            assert!(state.pages.contains(page), "a page that is there");
            let old = state.mapped.insert(address + place * PAGE, *page);
            assert!(old.is_none(), "nothing is mapped there");
        }
        state.maps += pages.len() as u64;
        Ok(())
    }

    fn unmap(&self, address: u64, bytes: u64) -> Result<(), Diagnostic> {
        let state = &mut *self.call()?;
        state.check_unused(address, bytes);
        for at in (address..address + bytes).step_by(PAGE as usize) {
            assert!(state.mapped.remove(&at).is_some(), "a page is mapped there");
        }
        Ok(())
    }
}
