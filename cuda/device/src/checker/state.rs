//! The operations of a program: their accesses, and the order that they have.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::clock::{Clock, Lesson};
use super::memory::Memory;
use super::report::Report;
use super::shadow::{Conflict, Operation, Shadow};
use crate::observer::{Access, AccessKind, Exchange, Id, Observed, Queued, Toucher};
use crate::origin::Origin;

#[derive(Debug)]
pub(super) struct StreamState {
    pub(super) clock: Clock,
    pub(super) created: Origin,
    pub(super) destroyed: bool,
}

#[derive(Debug)]
pub(super) struct EventState {
    /// The origin of its creation, or `None` if the runtime created it for itself.
    pub(super) created: Option<Origin>,
    /// What is done when it is reached, or `None` before it is recorded.
    pub(super) clock: Option<Clock>,
}

/// An exchange that not all ranks have reached.
#[derive(Debug)]
pub(super) struct Gathering {
    pub(super) lesson: Arc<Lesson>,
    /// What was told so far.
    pub(super) told: Clock,
    /// The numbers of ranks that have not told and not learned yet.
    pub(super) tell: u32,
    pub(super) learn: u32,
}

/// An operation that is queued and not done.
#[derive(Debug)]
pub(super) struct InFlight {
    pub(super) operation: Operation,
    pub(super) accesses: Vec<Access>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// In the order of creation. A stream's index is its number in clocks.
    pub(super) streams: Vec<StreamState>,
    pub(super) stream_numbers: HashMap<Id, usize>,
    pub(super) events: HashMap<Id, EventState>,
    pub(super) in_flight: HashMap<Id, InFlight>,
    /// By line and number.
    pub(super) gatherings: HashMap<(Id, u64), Gathering>,
    /// What the host knows.
    pub(super) host: Clock,
    pub(super) sequence: u64,
    pub(super) memory: Memory,
    /// Pinned host memory: its size by its address.
    pub(super) pinned: BTreeMap<u64, u64>,
    pub(super) shadow: Shadow,
    pub(super) reports: Vec<Report>,
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
    pub(super) fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Returns the number of a stream. A stream that was created before the checker is new to it.
    pub(super) fn stream(&mut self, id: Id) -> usize {
        if let Some(&number) = self.stream_numbers.get(&id) {
            return number;
        }
        let number = self.streams.len();
        let created = Origin::default();
        self.streams.push(StreamState { clock: Clock::default(), created, destroyed: false });
        self.stream_numbers.insert(id, number);
        number
    }

    pub(super) fn report(&mut self, report: Report) {
        super::add(&mut self.reports, report);
    }

    pub(super) fn queue(&mut self, queued: &Queued<'_>) {
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
            handover: None,
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

    pub(super) fn finish_operation(&mut self, id: Id, observation: &Observed<'_>) {
        let &Observed { accesses: observed, toucher, handover } = observation;
        let Some(InFlight { mut operation, accesses }) = self.in_flight.remove(&id) else { return };
        // All lessons it waited for are settled by now.
        operation.clock.settle();
        operation.handover = handover.cloned();
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
        for access in uses.iter().filter(|access| access.kind == AccessKind::Poll) {
            let conflict = self.shadow.poll(access.address, access.bytes, &operation, toucher);
            add_conflict(&mut conflicts, conflict, false);
        }
        for (conflict, writes) in conflicts {
            self.report_conflict(&conflict, &operation, writes);
        }
    }

    /// Returns the exchange, which begins with the first rank that tells.
    pub(super) fn gathering(&mut self, exchange: Exchange) -> &mut Gathering {
        let Exchange { line, number, tell, learn } = exchange;
        let new = || Gathering { lesson: Arc::default(), told: Clock::default(), tell, learn };
        self.gatherings.entry((line, number)).or_insert_with(new)
    }

    /// Forgets an exchange that all ranks have reached.
    pub(super) fn end_gathering(&mut self, exchange: Exchange) {
        let place = (exchange.line, exchange.number);
        if self.gatherings.get(&place).is_some_and(|gathering| gathering.tell == 0 && gathering.learn == 0) {
            self.gatherings.remove(&place);
        }
    }
}
