//! Finds what a program forgot to order, on the CPU devices.
//!
//! Each stream has a vector clock, which says what is known to be done when its next operation begins. Recording an event
//! keeps the stream's clock; a stream that waits for the event learns it, and so does the host when it sees the event or
//! the end of a stream; whatever is queued later knows what the host knows. Two operations that touch the same bytes, one
//! of them writing, must be ordered by what they know. Whether they are does not depend on which happened to run first,
//! so a forgotten event is found in every run, not in the unlucky one. Collectives order as their definitions say: whoever
//! receives comes behind what those did before who send, whichever rank is queued first.
//!
//! What an operation touches is what it declares; a launch is observed while it runs. Uses are looked at when the
//! operation is done, when all that is ordered before it has been looked at. Variables of modules are bytes like others,
//! which are never without contents.
//!
//! The host counts as one thread: what one of its threads has seen, operations queued by all of them come after. That is
//! right for kernels that chains order, whichever threads they run on. Kernels that no chain orders come in the order of
//! this run; so a missing *chain* between two device calls may be taken for an order, which hides a mistake and never makes
//! one up. With one thread (the single-threaded queue) that order is the program's, and every run finds the same.
//!
//! Host memory is not the checker's business: a copy in flight holds its host buffer, and a host kernel that does not wait
//! gets an error there and then, which names both places (`front/host_hold.rs`). So it is with the host's side of unified
//! memory; of its device's side the checker finds what it finds of any memory, which only always has contents.
//!
//! The checker never changes what a program does; it collects reports. It is off unless a device is made with one, and then
//! nothing of it is computed.
//!
//! | file | idea |
//! |---|---|
//! | `clock` | vector clocks |
//! | `memory` | which bytes are in a buffer |
//! | `shadow` | who used which bytes last |
//! | `report` | what was found |

mod clock;
mod memory;
mod report;
mod shadow;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::error::DeviceError;
use crate::observer::{Access, AccessKind, Exchange, Id, Observer, Queued, Toucher};
use crate::origin::Origin;

pub use report::{Mistake, Report};

use clock::{Clock, Lesson};
use memory::{Buffer, Memory};
use shadow::{Conflict, EarlyRead, Operation, Shadow};

/// Different reports that are kept.
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
    /// By whom; `None` if the runtime made it for itself.
    created: Option<Origin>,
    /// What is done when it is reached; `None` before it is recorded.
    clock: Option<Clock>,
}

/// An exchange that not all ranks have come to.
#[derive(Debug)]
struct Gathering {
    lesson: Arc<Lesson>,
    /// What was told so far.
    told: Clock,
    /// Ranks that have not told yet, and that have not learned.
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
    /// In the order they were made; a stream's index is its number in clocks.
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
        // These may yet turn out to be unordered rather than early, so they are not kept.
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
            let message = format!("{what} is still there at the end of the program");
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

/// Adds a report, or counts it if it is known.
fn add(reports: &mut Vec<Report>, report: Report) {
    if let Some(known) = reports.iter_mut().find(|known| known.is_same(&report)) {
        known.times += 1;
    } else if reports.len() < MAX_REPORTS {
        reports.push(report);
    }
}

/// Adds a conflict of an operation, which writes or not. Of each two operations there is one, which says all that either did:
/// the parts of it depend on which ran first.
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

    /// The number of a stream; one that was made before the checker looked is new.
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
        // Whatever it had to wait for is settled by now.
        operation.clock.settle();
        let operation = Arc::new(operation);
        let given = accesses.iter().filter(|access| access.kind == AccessKind::Launch);
        // A launch does not tell buffers apart that lie next to each other.
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
            // It does not tell what it did.
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

    /// The exchange, of which somebody may be the first to tell.
    fn gathering(&mut self, exchange: Exchange) -> &mut Gathering {
        let Exchange { line, number, tell, learn } = exchange;
        let new = || Gathering { lesson: Arc::default(), told: Clock::default(), tell, learn };
        self.gatherings.entry((line, number)).or_insert_with(new)
    }

    /// Forgets an exchange that all ranks have come to.
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
        // Told in the order of the program, whichever ran first.
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

    /// The buffer that holds an address or held it last, for messages: it may be gone when the report is made.
    fn whose(&self, address: u64) -> String {
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
                "{} reads device memory that nobody wrote{}{toucher}",
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
        // While the buffers that lay there are known.
        state.report_early_reads(&early);
        state.memory.freed(address);
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
            // Ranks that do not agree on what they call fail; what was told first stays.
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
            advice: Some("record the event before it is waited for".to_owned()),
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
