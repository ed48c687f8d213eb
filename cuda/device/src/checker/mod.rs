//! Finds missing ordering in programs, on CPU devices.
//!
//! Each stream has a vector clock, which contains what is known to be done when its next operation
//! begins. Recording an event keeps the stream's clock. A stream that waits for the event learns
//! that clock, and so does the host when it sees the event or the end of a stream. Later work knows
//! what the host knows. Two operations that access the same bytes, one of them writing, must be
//! ordered by what they know. That does not depend on which ran first, so a missing event is found
//! in every run, not only in unlucky ones. Collectives order as they are defined: a receiver comes
//! after the earlier work of all senders, whichever rank is queued first.
//!
//! An operation accesses what it declares, and launches are observed while they run. Uses are
//! checked when the operation is done, when everything ordered before it was checked. Variables of
//! modules are bytes like others, except that they always have contents.
//!
//! The host counts as one thread: an operation queued by any of its threads comes after everything
//! that one of them has seen. That is right for kernels that chains order, on any threads. Kernels
//! that no chain orders have the order of this run. So a missing *chain* between two device calls
//! may look like an order, which hides a mistake but never invents one. With the single-threaded
//! queue that order is the program's, and every run finds the same.
//!
//! The checker does not check what the host does with its memory: a copy in flight holds its host
//! buffer, so a host kernel that does not wait receives an error that names both origins
//! (`front/host_hold.rs`). Copies of different streams share a hold, so copies from and to pinned
//! memory are checked against each other. Unified memory is checked like other memory, through
//! either address, except that it always has contents.
//!
//! Each branch of a captured graph has a clock, too. It begins with what the launch knows, and the
//! stream of the launch knows all branches when the graph ends.
//!
//! The checker never changes a program's behaviour; it collects reports. It is off unless a device
//! is created with one, and then costs nothing.
//!
//! | file | idea |
//! |---|---|
//! | `clock` | vector clocks |
//! | `memory` | the buffers that contain each byte |
//! | `shadow` | the last users of each byte |
//! | `report` | reports of mistakes |

mod clock;
mod memory;
mod report;
mod shadow;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::error::DeviceError;
use crate::observer::{Access, AccessKind, Exchange, Id, Observer, Queued, Toucher};
use crate::origin::Origin;

pub use report::{Mistake, Report};

use clock::{Clock, Lesson};
use memory::{Buffer, Memory};
use shadow::{Conflict, EarlyRead, Operation, Shadow};

/// The most different reports that are kept.
const MAX_REPORTS: usize = 100;

/// A checker. Pass it to the devices whose work it should check.
#[derive(Debug, Default)]
pub struct Checker {
    state: Mutex<State>,
}

#[derive(Debug)]
struct StreamState {
    clock: Clock,
    created: Origin,
    destroyed: bool,
}

#[derive(Debug)]
struct EventState {
    /// The origin of its creation, or `None` if the runtime created it for itself.
    created: Option<Origin>,
    /// What is done when it is reached, or `None` before it is recorded.
    clock: Option<Clock>,
}

/// An exchange that not all ranks have reached.
#[derive(Debug)]
struct Gathering {
    lesson: Arc<Lesson>,
    /// What was told so far.
    told: Clock,
    /// The numbers of ranks that have not told and not learned yet.
    tell: u32,
    learn: u32,
}

/// An operation that is queued and not done.
#[derive(Debug)]
struct InFlight {
    operation: Operation,
    accesses: Vec<Access>,
}

#[derive(Debug, Default)]
struct State {
    /// In the order of creation. A stream's index is its number in clocks.
    streams: Vec<StreamState>,
    stream_numbers: HashMap<Id, usize>,
    events: HashMap<Id, EventState>,
    in_flight: HashMap<Id, InFlight>,
    /// By line and number.
    gatherings: HashMap<(Id, u64), Gathering>,
    /// What the host knows.
    host: Clock,
    sequence: u64,
    memory: Memory,
    /// Pinned host memory: its size by its address.
    pinned: BTreeMap<u64, u64>,
    shadow: Shadow,
    reports: Vec<Report>,
}

impl Checker {
    /// Creates a checker.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Returns the reports so far, in the order in which they were found.
    pub fn reports(&self) -> Vec<Report> {
        let state = self.state.lock();
        let mut reports = state.reports.clone();
        // These may still turn out to be unordered instead of early, so they are not kept.
        for early in state.shadow.early_reads() {
            add(&mut reports, state.early_read(&early));
        }
        reports
    }

    /// Returns all reports at the end of the program. Streams, events and buffers that still exist
    /// are leaks.
    pub fn finish(&self) -> Vec<Report> {
        let mut reports = self.reports();
        let state = self.state.lock();
        let mut leak = |mistake, what: String, at: &Origin| {
            let message = format!("{what} still exists at the end of the program");
            add(
                &mut reports,
                Report { mistake, message, at: at.clone(), other: None, advice: None, times: 1 },
            );
        };
        for (number, stream) in state.streams.iter().enumerate().filter(|(_, stream)| !stream.destroyed) {
            leak(Mistake::LeakedStream, format!("stream {number}"), &stream.created);
        }
        let mut events: Vec<_> = state.events.iter().collect();
        events.sort_unstable_by_key(|(id, _)| **id);
        for (_, event) in events {
            if let Some(created) = &event.created {
                leak(Mistake::LeakedEvent, "an event".to_owned(), created);
            }
        }
        for buffer in state.memory.live() {
            leak(Mistake::LeakedBuffer, format!("a buffer of {} bytes", buffer.bytes), &buffer.granted);
        }
        for (bytes, origin) in state.memory.live_raw() {
            leak(Mistake::LeakedBuffer, format!("device memory of {bytes} bytes"), origin);
        }
        reports
    }
}

/// Adds a report, or counts it if it is a duplicate.
fn add(reports: &mut Vec<Report>, report: Report) {
    if let Some(known) = reports.iter_mut().find(|known| known.is_same(&report)) {
        known.times += 1;
    } else if reports.len() < MAX_REPORTS {
        reports.push(report);
    }
}

/// Adds a conflict of an operation, which writes or not. Two operations have one conflict that
/// covers all they did, because its parts depend on which ran first.
fn add_conflict(conflicts: &mut Vec<(Conflict, bool)>, conflict: Option<Conflict>, writes: bool) {
    let Some(conflict) = conflict else { return };
    let is_same = |known: &Conflict| known.earlier.sequence == conflict.earlier.sequence;
    match conflicts.iter_mut().find(|(known, _)| is_same(known)) {
        Some((known, wrote)) => {
            known.earlier_wrote |= conflict.earlier_wrote;
            known.address = known.address.min(conflict.address);
            *wrote |= writes;
        }
        None => conflicts.push((conflict, writes)),
    }
}

impl State {
    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Returns the number of a stream. A stream that was created before the checker is new to it.
    fn stream(&mut self, id: Id) -> usize {
        if let Some(&number) = self.stream_numbers.get(&id) {
            return number;
        }
        let number = self.streams.len();
        let created = Origin::default();
        self.streams.push(StreamState { clock: Clock::default(), created, destroyed: false });
        self.stream_numbers.insert(id, number);
        number
    }

    fn report(&mut self, report: Report) {
        add(&mut self.reports, report);
    }

    fn queue(&mut self, queued: &Queued<'_>) {
        let sequence = self.next_sequence();
        let number = self.stream(queued.stream);
        let stream = &mut self.streams[number];
        stream.clock.join(&self.host);
        stream.clock.settle();
        let on_stream = stream.clock.tick(number);
        let operation = Operation {
            sequence,
            stream: number,
            number: on_stream,
            clock: stream.clock.clone(),
            name: queued.name.to_owned(),
            origin: queued.origin.clone(),
            is_grant: false,
        };
        for access in queued.accesses {
            self.check_place(&operation, access, &|_, _| None);
        }
        self.in_flight.insert(queued.operation, InFlight { operation, accesses: queued.accesses.to_vec() });
    }

    fn check_place(&mut self, operation: &Operation, access: &Access, toucher: &Toucher<'_>) {
        if access.bytes == 0 {
            return;
        }
        let place = self.memory.place(access.address, access.bytes, operation.sequence);
        let Some((mistake, mut message, other)) = place.mistake(&operation.name, access) else { return };
        if let Some(toucher) = toucher(access.address, access.kind) {
            message += &format!(": {toucher}");
        }
        let at = operation.origin.clone();
        self.report(Report { mistake, message, at, other, advice: None, times: 1 });
    }

    fn finish_operation(&mut self, id: Id, observed: &[Access], toucher: &Toucher<'_>) {
        let Some(InFlight { mut operation, accesses }) = self.in_flight.remove(&id) else { return };
        // All lessons it waited for are settled by now.
        operation.clock.settle();
        let operation = Arc::new(operation);
        let given = accesses.iter().filter(|access| access.kind == AccessKind::Launch);
        // The observation of a launch does not distinguish adjacent buffers.
        let pieces = observed.iter().flat_map(|access| self.memory.pieces(access)).collect::<Vec<_>>();
        for access in &pieces {
            let was_given = given
                .clone()
                .any(|g| g.address <= access.address && access.address + access.bytes <= g.address + g.bytes);
            if !was_given {
                self.check_place(&operation, access, toucher);
            }
        }
        if observed.is_empty() {
            // This launch does not report its accesses.
            given.for_each(|access| self.shadow.assume_initialized(access.address, access.bytes, &operation));
        }
        let declared = accesses.iter().filter(|access| access.kind != AccessKind::Launch);
        let uses: Vec<Access> = declared.chain(observed).copied().collect();
        for access in uses.iter().filter(|access| !self.memory.knows(access.address)) {
            self.shadow.notice(access.address, access.bytes);
        }
        // An operation reads before it writes.
        let mut conflicts = Vec::new();
        for access in uses.iter().filter(|access| access.kind == AccessKind::Read) {
            let conflict = self.shadow.read(access.address, access.bytes, &operation, toucher);
            add_conflict(&mut conflicts, conflict, false);
        }
        for access in uses.iter().filter(|access| access.kind == AccessKind::Write) {
            let conflict = self.shadow.write(access.address, access.bytes, &operation);
            add_conflict(&mut conflicts, conflict, true);
        }
        for access in uses.iter().filter(|access| access.kind == AccessKind::Atomic) {
            let conflict = self.shadow.update(access.address, access.bytes, &operation, toucher);
            add_conflict(&mut conflicts, conflict, true);
        }
        for (conflict, writes) in conflicts {
            self.report_conflict(&conflict, &operation, writes);
        }
    }

    /// Returns the exchange, which begins with the first rank that tells.
    fn gathering(&mut self, exchange: Exchange) -> &mut Gathering {
        let Exchange { line, number, tell, learn } = exchange;
        let new = || Gathering { lesson: Arc::default(), told: Clock::default(), tell, learn };
        self.gatherings.entry((line, number)).or_insert_with(new)
    }

    /// Forgets an exchange that all ranks have reached.
    fn end_gathering(&mut self, exchange: Exchange) {
        let place = (exchange.line, exchange.number);
        if self.gatherings.get(&place).is_some_and(|gathering| gathering.tell == 0 && gathering.learn == 0) {
            self.gatherings.remove(&place);
        }
    }

    fn report_conflict(&mut self, conflict: &Conflict, operation: &Arc<Operation>, writes: bool) {
        let &Conflict { ref earlier, earlier_wrote, address } = conflict;
        if earlier.is_grant {
            return self.report_early_use(earlier, operation);
        }
        // Reported in the order of the program, whichever ran first.
        let (first, first_wrote, second, second_wrote) = if earlier.sequence < operation.sequence {
            (earlier, earlier_wrote, operation, writes)
        } else {
            (operation, writes, earlier, earlier_wrote)
        };
        let verb = |wrote| if wrote { "writes" } else { "reads" };
        let message = format!(
            "{} on stream {} {} bytes that {} on stream {} {}, and nothing orders the two{}",
            second.name,
            second.stream,
            verb(second_wrote),
            first.name,
            first.stream,
            verb(first_wrote),
            self.whose(address)
        );
        let advice = format!(
            "record an event on stream {} after {}, and let stream {} wait for it before {}",
            first.stream, first.origin, second.stream, second.origin
        );
        self.report(Report {
            mistake: Mistake::Race,
            message,
            at: second.origin.clone(),
            other: Some((if first_wrote { "written" } else { "read" }, first.origin.clone())),
            advice: Some(advice),
            times: 1,
        });
    }

    /// Describes the buffer that contains an address, or contained it last, for messages. It may
    /// have been dropped when the report is made.
    fn whose(&self, address: u64) -> String {
        let pinned = self.pinned.range(..=address).next_back();
        if pinned.is_some_and(|(start, bytes)| address < start + bytes) {
            return " (in pinned host memory)".to_owned();
        }
        if !self.memory.knows(address) {
            return " (in a variable of a module)".to_owned();
        }
        self.memory.holder(address).map_or_else(String::new, |buffer| {
            format!(" (a buffer of {} bytes allocated by {})", buffer.bytes, buffer.granted)
        })
    }

    fn report_early_use(&mut self, grant: &Operation, operation: &Operation) {
        let message = format!(
            "{} on stream {} uses a buffer that was allocated for stream {}, and is not ordered behind its allocation",
            operation.name, operation.stream, grant.stream
        );
        let advice = format!(
            "record an event on stream {} after {}, and let stream {} wait for it before {}",
            grant.stream, grant.origin, operation.stream, operation.origin
        );
        self.report(Report {
            mistake: Mistake::UseBeforeAllocation,
            message,
            at: operation.origin.clone(),
            other: Some(("allocated", grant.origin.clone())),
            advice: Some(advice),
            times: 1,
        });
    }

    fn early_read(&self, early: &EarlyRead) -> Report {
        let EarlyRead { read, granted, address, toucher } = early;
        let toucher = toucher.as_ref().map_or_else(String::new, |toucher| format!(": {toucher}"));
        Report {
            mistake: Mistake::Uninitialized,
            message: format!(
                "{} reads device memory that was never written{}{toucher}",
                read.name,
                self.offset(*address)
            ),
            at: read.origin.clone(),
            other: granted.as_ref().map(|grant| ("allocated", grant.origin.clone())),
            advice: None,
            times: 1,
        }
    }

    fn report_early_reads(&mut self, reads: &[EarlyRead]) {
        for early in reads {
            self.report(self.early_read(early));
        }
    }

    fn offset(&self, address: u64) -> String {
        self.memory.holder(address).map_or_else(String::new, |b| {
            format!(", from byte {} of a buffer of {} bytes", address - b.address, b.bytes)
        })
    }
}

impl Observer for Checker {
    fn stream_created(&self, stream: Id, _device: u32, origin: Origin) {
        let state = &mut *self.state.lock();
        let number = state.stream(stream);
        state.streams[number].created = origin;
    }

    fn stream_destroyed(&self, stream: Id) {
        let state = &mut *self.state.lock();
        let number = state.stream(stream);
        state.streams[number].destroyed = true;
    }

    fn capture_left_open(&self, stream: Id, began: Origin) {
        let state = &mut *self.state.lock();
        let number = state.stream(stream);
        state.report(Report {
            mistake: Mistake::OpenCapture,
            message: format!("a capture on stream {number} was never ended, so nothing of it ran"),
            at: began,
            other: None,
            advice: Some("end the capture and launch the graph".to_owned()),
            times: 1,
        });
    }

    fn event_created(&self, event: Id, origin: Origin) {
        self.state.lock().events.insert(event, EventState { created: Some(origin), clock: None });
    }

    fn event_destroyed(&self, event: Id) {
        self.state.lock().events.remove(&event);
    }

    fn allocated(&self, address: u64, bytes: u64, of_host: bool, origin: Origin) {
        let state = &mut *self.state.lock();
        state.memory.allocated(address, bytes, origin);
        let early = if of_host {
            let early = state.shadow.remove(address, bytes);
            state.shadow.notice(address, bytes);
            early
        } else {
            state.shadow.grant(address, bytes, 0, None)
        };
        state.report_early_reads(&early);
    }

    fn freed(&self, address: u64) {
        let state = &mut *self.state.lock();
        let bytes = state.memory.size_of_raw(address);
        let early = state.shadow.remove(address, bytes);
        // Now, while the buffers that were there are still known.
        state.report_early_reads(&early);
        state.memory.freed(address);
    }

    fn host_pinned(&self, address: u64, bytes: u64) {
        self.state.lock().pinned.insert(address, bytes);
    }

    fn host_unpinned(&self, address: u64, bytes: u64) {
        let state = &mut *self.state.lock();
        state.pinned.remove(&address);
        // It has contents, so nothing in it is read early.
        state.shadow.remove(address, bytes);
    }

    fn buffer_granted(&self, address: u64, bytes: u64, stream: Id, origin: Origin) {
        let state = &mut *self.state.lock();
        let sequence = state.next_sequence();
        let number = state.stream(stream);
        let mut clock = state.streams[number].clock.clone();
        clock.join(&state.host);
        let on_stream = clock.of(number);
        let name = "an allocation".to_owned();
        let grant = Operation {
            sequence,
            stream: number,
            number: on_stream,
            clock,
            name,
            origin: origin.clone(),
            is_grant: true,
        };
        let early = state.shadow.grant(address, bytes, sequence, Some(Arc::new(grant)));
        state.report_early_reads(&early);
        let buffer = Buffer { address, bytes, granted: origin, granted_at: sequence, released: None };
        state.memory.granted(buffer);
    }

    fn buffer_released(&self, address: u64, _bytes: u64, origin: Origin) {
        let state = &mut *self.state.lock();
        let sequence = state.next_sequence();
        state.memory.released(address, origin, sequence);
    }

    fn queued(&self, operation: &Queued<'_>) -> Result<(), DeviceError> {
        self.state.lock().queue(operation);
        Ok(())
    }

    fn started(&self, _operation: Id) -> Result<(), DeviceError> {
        Ok(())
    }

    fn finished(&self, operation: Id, observed: &[Access], toucher: &Toucher<'_>) -> Result<(), DeviceError> {
        self.state.lock().finish_operation(operation, observed, toucher);
        Ok(())
    }

    fn event_recorded(&self, event: Id, stream: Id, _origin: Origin) {
        let state = &mut *self.state.lock();
        let number = state.stream(stream);
        let stream = &mut state.streams[number];
        stream.clock.join(&state.host);
        stream.clock.settle();
        let known = state.events.entry(event).or_insert(EventState { created: None, clock: None });
        known.clock = Some(stream.clock.clone());
    }

    fn stream_waits(&self, stream: Id, event: Id, recorded: bool, origin: Origin) -> Result<(), DeviceError> {
        let state = &mut *self.state.lock();
        let number = state.stream(stream);
        let known = state.events.get(&event);
        if let Some(clock) = known.and_then(|event| event.clock.as_ref())
            && recorded
        {
            state.streams[number].clock.join(clock);
            return Ok(());
        }
        let created = known.and_then(|event| event.created.clone()).unwrap_or_default();
        state.report(Report {
            mistake: Mistake::NeverRecorded,
            message: format!(
                "stream {number} waits for an event that was never recorded, so it does not wait"
            ),
            at: origin,
            other: Some(("created", created)),
            advice: Some("record the event before a stream waits for it".to_owned()),
            times: 1,
        });
        Ok(())
    }

    fn exchange_told(&self, stream: Id, exchange: Exchange) {
        let state = &mut *self.state.lock();
        let number = state.stream(stream);
        let mut clock = state.streams[number].clock.clone();
        clock.join(&state.host);
        let gathering = state.gathering(exchange);
        gathering.told.join(&clock);
        gathering.tell = gathering.tell.saturating_sub(1);
        if gathering.tell == 0 {
            let mut told = std::mem::take(&mut gathering.told);
            told.settle();
            told.forget(&gathering.lesson);
            // Ranks that disagree on the call fail. What was told first stays.
            let _ = gathering.lesson.0.set(told);
        }
        state.end_gathering(exchange);
    }

    fn exchange_learned(&self, stream: Id, exchange: Exchange) {
        let state = &mut *self.state.lock();
        let number = state.stream(stream);
        let mut clock = std::mem::take(&mut state.streams[number].clock);
        let gathering = state.gathering(exchange);
        gathering.learn = gathering.learn.saturating_sub(1);
        clock.learn_with(&gathering.lesson, &gathering.told);
        clock.settle();
        state.streams[number].clock = clock;
        state.end_gathering(exchange);
    }

    fn host_waits_for_nothing(&self, origin: Origin) {
        self.state.lock().report(Report {
            mistake: Mistake::NeverRecorded,
            message: "the host waits for an event that was never recorded, so it does not wait".to_owned(),
            at: origin,
            other: None,
            advice: Some("record the event before the host waits for it".to_owned()),
            times: 1,
        });
    }

    fn host_saw_event(&self, event: Id) {
        let state = &mut *self.state.lock();
        if let Some(clock) = state.events.get(&event).and_then(|event| event.clock.as_ref()) {
            state.host.join(clock);
            state.host.settle();
        }
    }

    fn host_saw_stream(&self, stream: Id) {
        let state = &mut *self.state.lock();
        let number = state.stream(stream);
        state.host.join(&state.streams[number].clock);
        state.host.settle();
    }
}
