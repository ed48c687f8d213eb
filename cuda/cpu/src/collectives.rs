//! Collectives of the CPU devices.
//!
//! The ranks of a communicator exchange data in host memory. A call is two operations on its
//! stream. The first takes what the rank sends. The second runs once all ranks have reached the
//! call, and writes what the rank receives. In between, the stream waits for an event of each other
//! rank, as it does for events of the program, so no thread is blocked. If a rank never calls, the
//! others wait until the communicator is aborted, and the second operation reports which rank was
//! missing. The collectives of a rank begin in the order in which they were queued, on any streams,
//! and so do the messages from one rank to another.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Collective, CollectiveCall, Collectives, EventOptions, UniqueId};
use tfrt_device::observer::{Access, Exchange, Id};
use tfrt_device::origin::Caller;
use tfrt_device::trace::WorkSize;
use tfrt_host::DType;

use super::access::Manner;
use super::context::{CpuContext, Device};
use super::event::EventCore;
use super::memory::illegal;
use super::operation::{Operation, Run, next_id};
use super::reduction::reduce;
use super::stream::{Command, Stream};

/// The existing communicators, by id.
#[derive(Default)]
pub(super) struct Communicators(Mutex<HashMap<UniqueId, Weak<Meeting>>>);

/// A rank's part in a communicator.
pub(crate) struct Communicator {
    meeting: Arc<Meeting>,
    rank: u32,
}

impl Drop for Communicator {
    fn drop(&mut self) {
        let mut state = self.meeting.state.lock();
        if let Some(taken) = state.taken.get_mut(self.rank as usize) {
            *taken = false;
        }
    }
}

/// The state that the ranks of a communicator share.
struct Meeting {
    /// The id for the checker.
    id: Id,
    ranks: u32,
    /// For each rank, an event that counts the collectives it has reached.
    arrived: Vec<Arc<EventCore>>,
    /// For each rank, a lock that is held while a call of the rank begins.
    turns: Vec<Mutex<()>>,
    /// The device, for creating events.
    device: Arc<Device>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether each rank's communicator has been created.
    taken: Vec<bool>,
    /// The number of collectives that each rank has called.
    called: Vec<u64>,
    /// The contributions of the ranks to each unfinished collective.
    rounds: HashMap<u64, Round>,
    /// Messages between two ranks.
    lines: HashMap<(u32, u32), Line>,
    /// The reason why the communicator was aborted, if it was.
    aborted: Option<DeviceError>,
}

/// An unfinished collective.
struct Round {
    parts: Vec<Option<Part>>,
    /// The number of ranks that have not received yet.
    left: u32,
}

/// The contribution of a rank.
#[derive(Clone)]
struct Part {
    what: What,
    bytes: Arc<Vec<u8>>,
}

/// The properties of a call that all ranks must agree on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct What {
    operation: Collective,
    dtype: DType,
    count: u64,
}

impl std::fmt::Display for What {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {} {}", self.operation, self.count, self.dtype)
    }
}

/// Messages from one rank to another.
struct Line {
    /// The id for the checker.
    id: Id,
    sent: u64,
    received: u64,
    arrived: Arc<EventCore>,
    messages: HashMap<u64, Part>,
}

fn failed(detail: String) -> DeviceError {
    DeviceError::new(Status::NcclFailed, detail)
}

fn event(device: &Arc<Device>) -> Arc<EventCore> {
    Arc::new(EventCore::new(EventOptions { internal: true, ..EventOptions::default() }, device.clone()))
}

impl Meeting {
    fn new(ranks: u32, device: &Arc<Device>) -> Self {
        let state =
            State { taken: vec![false; ranks as usize], called: vec![0; ranks as usize], ..State::default() };
        Self {
            id: next_id(),
            ranks,
            arrived: (0..ranks).map(|_| event(device)).collect(),
            turns: (0..ranks).map(|_| Mutex::default()).collect(),
            device: device.clone(),
            state: Mutex::new(state),
        }
    }

    /// Starts the next collective of a rank and returns its number.
    fn next_round(&self, rank: u32) -> Result<u64> {
        let mut state = self.state.lock();
        state.check()?;
        let called = &mut state.called[rank as usize];
        *called += 1;
        Ok(*called)
    }

    /// Starts the next message on a line. Returns its exchange for the checker, and the event that
    /// counts the messages that have arrived.
    fn next_message(&self, from: u32, to: u32, sends: bool) -> Result<(Exchange, Arc<EventCore>)> {
        let mut state = self.state.lock();
        state.check()?;
        let line = state.lines.entry((from, to)).or_insert_with(|| Line {
            id: next_id(),
            sent: 0,
            received: 0,
            arrived: event(&self.device),
            messages: HashMap::new(),
        });
        let number = if sends { &mut line.sent } else { &mut line.received };
        *number += 1;
        let exchange = Exchange { line: line.id, number: *number, tell: 1, learn: 1 };
        Ok((exchange, line.arrived.clone()))
    }

    /// Returns the exchange of a round for the checker: receivers come after all senders.
    fn exchange(&self, round: u64, operation: Collective) -> Exchange {
        let parts = || (0..self.ranks).map(|rank| operation.parts(self.ranks, rank));
        let tell = parts().filter(|&[sent, _]| sent > 0).count() as u32;
        let learn = parts().filter(|&[_, received]| received > 0).count() as u32;
        Exchange { line: self.id, number: round, tell, learn }
    }

    fn bring(&self, round: u64, rank: u32, part: Part) {
        let mut state = self.state.lock();
        if state.aborted.is_some() {
            return;
        }
        let ranks = self.ranks;
        let round = state
            .rounds
            .entry(round)
            .or_insert_with(|| Round { parts: vec![None; ranks as usize], left: ranks });
        round.parts[rank as usize] = Some(part);
    }

    /// Returns the contributions of all ranks, after checking that their calls agree.
    fn take(&self, round: u64, rank: u32, what: What) -> Result<Vec<Part>> {
        let mut state = self.state.lock();
        let parts = match state.rounds.get_mut(&round) {
            Some(known) => {
                known.left -= 1;
                let parts = known.parts.clone();
                if known.left == 0 {
                    state.rounds.remove(&round);
                }
                parts
            }
            None => vec![None; self.ranks as usize],
        };
        let missing: Vec<_> = (0..self.ranks)
            .filter(|&rank| parts[rank as usize].is_none())
            .map(|rank| rank.to_string())
            .collect();
        if !missing.is_empty() {
            let why = match &state.aborted {
                Some(why) => why.detail.clone(),
                None => "their device failed".to_owned(),
            };
            return Err(failed(format!(
                "{} (call {round}) of rank {rank} of {} misses rank {}: {why}",
                what.operation.name(),
                self.ranks,
                missing.join(", ")
            )));
        }
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        if let Some(other) = parts.iter().position(|part| part.what != what) {
            return Err(failed(format!(
                "call {round} of rank {rank} is {what}, and that of rank {other} is {}",
                parts[other].what
            )));
        }
        Ok(parts)
    }

    /// Returns message `number`.
    fn receive(&self, from: u32, to: u32, number: u64, what: What) -> Result<Part> {
        let mut state = self.state.lock();
        let message = state.lines.get_mut(&(from, to)).and_then(|line| line.messages.remove(&number));
        let Some(message) = message else {
            let why = match &state.aborted {
                Some(why) => why.detail.clone(),
                None => "its device failed".to_owned(),
            };
            return Err(failed(format!("recv (message {number}) of rank {to} misses rank {from}: {why}")));
        };
        if (message.what.dtype, message.what.count) != (what.dtype, what.count) {
            return Err(failed(format!(
                "rank {to} receives {} {}, and rank {from} sends {} {}",
                what.count, what.dtype, message.what.count, message.what.dtype
            )));
        }
        Ok(message)
    }

    fn abort(&self, why: &DeviceError) {
        let mut events: Vec<_> = self.arrived.clone();
        {
            let mut state = self.state.lock();
            state.aborted.get_or_insert_with(|| why.clone());
            events.extend(state.lines.values().map(|line| line.arrived.clone()));
        }
        // Streams that wait continue, and find the error.
        events.iter().for_each(|event| event.reach(u64::MAX));
    }
}

impl State {
    fn check(&self) -> Result<()> {
        match &self.aborted {
            Some(why) => Err(failed(format!("the communicator was aborted: {}", why.detail))),
            None => Ok(()),
        }
    }
}

/// Copies bytes of device memory.
fn read(run: &Run<'_>, address: u64, bytes: u64) -> Result<Vec<u8>> {
    let mut copy = vec![0; bytes as usize];
    run.shared.space.memory.read(address, &mut copy).map_err(illegal)?;
    Ok(copy)
}

/// Writes bytes to device memory that `fill` computes in a zeroed buffer.
fn write(run: &Run<'_>, address: u64, bytes: u64, fill: impl FnOnce(&mut [u8])) -> Result<()> {
    let mut made = vec![0; bytes as usize];
    fill(&mut made);
    run.shared.space.memory.write(address, &made).map_err(illegal)
}

/// Creates an operation that copies data, and computes on memory of its own.
fn operation(
    name: impl Into<String>,
    accesses: Vec<Access>,
    body: impl Fn(&mut Run<'_>) -> Result<()> + Send + Sync + 'static,
) -> Arc<Operation> {
    let bytes = accesses.iter().map(|access| access.bytes).sum();
    Operation::of_manner(Manner::Raw, name, WorkSize::Bytes(bytes), accesses, body)
}

/// Computes what a rank receives from the contributions of all ranks.
fn fill(target: &mut [u8], what: What, rank: u32, parts: &[Part]) {
    match what.operation {
        Collective::AllReduce(op) | Collective::Reduce(op, _) => {
            let parts: Vec<_> = parts.iter().map(|part| part.bytes.as_slice()).collect();
            reduce(op, what.dtype, &parts, target);
        }
        Collective::ReduceScatter(op) => {
            let start = rank as usize * target.len();
            let parts: Vec<_> = parts.iter().map(|part| &part.bytes[start..start + target.len()]).collect();
            reduce(op, what.dtype, &parts, target);
        }
        Collective::AllGather => {
            let size = target.len() / parts.len().max(1);
            for (target, part) in target.chunks_exact_mut(size.max(1)).zip(parts) {
                target.copy_from_slice(&part.bytes);
            }
        }
        Collective::Broadcast(root) => target.copy_from_slice(&parts[root as usize].bytes),
        // `receive` passes messages on.
        Collective::Send(_) | Collective::Receive(_) => {}
    }
}

/// A call that has begun: its second half is queued once all calls of its group have begun.
struct Begun<'a> {
    stream: &'a Stream,
    caller: &'a Caller,
    waits: Vec<Command>,
    end: Option<Arc<Operation>>,
    /// The exchange for the checker that precedes the second half.
    learns: Option<Exchange>,
}

type Call<'a> = CollectiveCall<'a, Communicator, Stream>;

/// Makes a call wait for the previous call of its rank. Calls may be on several streams, but must
/// arrive in the order of their numbers, because the other ranks rely on it.
fn after_the_one_before(stream: &Stream, arrived: &Arc<EventCore>, number: u64) {
    if number > 1 {
        stream.core.push(Command::Wait(arrived.clone(), number - 1));
    }
}

/// Queues the first half of a call.
fn begin<'a>(call: &Call<'a>) -> Result<Begun<'a>> {
    let _entered = call.caller.enter();
    let Communicator { meeting, rank } = call.communicator;
    let (rank, stream, caller) = (*rank, call.stream, call.caller);
    let what = What { operation: call.operation, dtype: call.dtype, count: call.count };
    let size = call.dtype.size().unwrap_or(0) as u64;
    let [sent, received] = call.operation.parts(meeting.ranks, rank).map(|parts| parts * call.count * size);
    let name = call.operation.name();
    let reads = if sent > 0 { vec![Access::read(call.send, sent)] } else { Vec::new() };
    let writes = if received > 0 { vec![Access::write(call.receive, received)] } else { Vec::new() };
    let (send, receive) = (call.send, call.receive);
    let here = meeting.clone();
    // Ranks that exchange no data are not ordered either.
    let exchanges = call.count > 0;
    // Held from the choice of the number until the event is recorded: the call with the next number
    // waits for this one, perhaps on the same stream.
    let _turn = meeting.turns[rank as usize].lock();
    let observer = stream.core.device.shared.observer.as_ref().filter(|_| exchanges);
    let tell = |exchange: Exchange| {
        if let Some(observer) = observer {
            observer.exchange_told(stream.core.id, exchange);
        }
    };
    match call.operation {
        Collective::Send(peer) => {
            let (exchange, arrived) = meeting.next_message(rank, peer, true)?;
            let number = exchange.number;
            after_the_one_before(stream, &arrived, number);
            stream.core.submit(operation(name, reads, move |run: &mut Run<'_>| {
                let bytes = Arc::new(read(run, send, sent)?);
                if let Some(line) = here.state.lock().lines.get_mut(&(rank, peer)) {
                    line.messages.insert(number, Part { what, bytes });
                }
                Ok(())
            }))?;
            tell(exchange);
            stream.core.push(Command::Record(arrived, number));
            Ok(Begun { stream, caller, waits: Vec::new(), end: None, learns: None })
        }
        Collective::Receive(peer) => {
            let (exchange, arrived) = meeting.next_message(peer, rank, false)?;
            let number = exchange.number;
            let end = operation(name, writes, move |run: &mut Run<'_>| {
                let message = here.receive(peer, rank, number, what)?;
                write(run, receive, received, |target| target.copy_from_slice(&message.bytes))
            });
            let waits = vec![Command::Wait(arrived, number)];
            Ok(Begun { stream, caller, waits, end: Some(end), learns: exchanges.then_some(exchange) })
        }
        _ => {
            let round = meeting.next_round(rank)?;
            let (brings, takes) = (here.clone(), here);
            after_the_one_before(stream, &meeting.arrived[rank as usize], round);
            stream.core.submit(operation(format!("{name} (sending)"), reads, move |run: &mut Run<'_>| {
                let bytes = Arc::new(read(run, send, sent)?);
                brings.bring(round, rank, Part { what, bytes });
                Ok(())
            }))?;
            let exchange = observer.map(|_| meeting.exchange(round, call.operation));
            exchange.filter(|_| sent > 0).into_iter().for_each(tell);
            stream.core.push(Command::Record(meeting.arrived[rank as usize].clone(), round));
            let end = operation(name, writes, move |run: &mut Run<'_>| {
                let parts = takes.take(round, rank, what)?;
                write(run, receive, received, |target| fill(target, what, rank, &parts))
            });
            let others = meeting.arrived.iter().map(|arrived| Command::Wait(arrived.clone(), round));
            let learns = exchange.filter(|_| received > 0);
            Ok(Begun { stream, caller, waits: others.collect(), end: Some(end), learns })
        }
    }
}

impl Begun<'_> {
    fn finish(self) -> Result<()> {
        let _entered = self.caller.enter();
        let core = &self.stream.core;
        self.waits.into_iter().for_each(|wait| core.push(wait));
        if let Some((exchange, observer)) = self.learns.zip(core.device.shared.observer.as_ref()) {
            observer.exchange_learned(core.id, exchange);
        }
        self.end.map_or(Ok(()), |end| core.submit(end))
    }
}

impl Collectives for CpuContext {
    fn collectives_id(&self) -> Result<UniqueId> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.device.check()?;
        let mut id = [0; UniqueId::BYTES];
        id[..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        Ok(UniqueId(id))
    }

    /// Creates a rank without waiting for the others. The first collective waits for them.
    fn create_communicator(
        &self,
        id: &UniqueId,
        ranks: u32,
        rank: u32,
        _timeout: Duration,
    ) -> Result<Communicator> {
        self.device.check()?;
        let mut communicators = self.device.shared.communicators.0.lock();
        communicators.retain(|_, meeting| meeting.strong_count() > 0);
        let meeting = match communicators.get(id).and_then(Weak::upgrade) {
            Some(meeting) => meeting,
            None => {
                let meeting = Arc::new(Meeting::new(ranks, &self.device));
                communicators.insert(*id, Arc::downgrade(&meeting));
                meeting
            }
        };
        drop(communicators);
        if meeting.ranks != ranks {
            let detail =
                format!("the communicator has {} ranks, and rank {rank} asks for {ranks}", meeting.ranks);
            return Err(DeviceError::invalid_value(detail));
        }
        {
            let mut state = meeting.state.lock();
            state.check()?;
            if std::mem::replace(&mut state.taken[rank as usize], true) {
                let detail = format!("rank {rank} of the communicator is there already");
                return Err(DeviceError::invalid_value(detail));
            }
        }
        Ok(Communicator { meeting, rank })
    }

    fn run_collectives(&self, calls: &[Call<'_>]) -> Result<()> {
        let begun: Vec<_> = calls.iter().map(begin).collect::<Result<_>>()?;
        begun.into_iter().try_for_each(Begun::finish)
    }

    fn abort_communicator(&self, communicator: &Communicator, why: &DeviceError) {
        communicator.meeting.abort(why);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use tfrt_device::allocator::Options;
    use tfrt_device::front::{Platform, PlatformOptions};
    use tfrt_device::hal::StreamOptions;
    use tfrt_device::observer::{Observed, Observer, Queued};
    use tfrt_device::origin::Origin;

    use super::*;
    use crate::CpuOptions;

    /// Blocks the first call while it begins, and signals that it has begun.
    struct HoldsUpTheFirst(Mutex<Option<Sender<()>>>);

    impl Observer for HoldsUpTheFirst {
        fn stream_created(&self, _: Id, _: u32, _: Origin) {}
        fn stream_destroyed(&self, _: Id) {}
        fn capture_left_open(&self, _: Id, _: Origin) {}
        fn event_created(&self, _: Id, _: Origin) {}
        fn event_destroyed(&self, _: Id) {}
        fn allocated(&self, _: u64, _: u64, _: bool, _: Origin) {}
        fn freed(&self, _: u64) {}
        fn buffer_granted(&self, _: u64, _: u64, _: Id, _: Origin) {}
        fn buffer_released(&self, _: u64, _: u64, _: Origin) {}
        fn queued(&self, _: &Queued<'_>) -> Result<()> {
            Ok(())
        }
        fn started(&self, _: Id) -> Result<()> {
            Ok(())
        }
        fn finished(&self, _: Id, _: &Observed<'_>) -> Result<()> {
            Ok(())
        }
        fn event_recorded(&self, _: Id, _: Id, _: Origin) {}
        fn stream_waits(&self, _: Id, _: Id, _: bool, _: Origin) -> Result<()> {
            Ok(())
        }
        fn exchange_told(&self, _: Id, _: Exchange) {
            let is_first = self.0.lock().take();
            if let Some(tell) = is_first {
                tell.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(200));
            }
        }
        fn exchange_learned(&self, _: Id, _: Exchange) {}
        fn host_waits_for_nothing(&self, _: Origin) {}
        fn host_saw_event(&self, _: Id) {}
        fn host_saw_stream(&self, _: Id) {}
    }

    /// If nothing orders two calls of a rank on one stream, the one that begins later does not wait
    /// for the other before the other is queued.
    #[test]
    fn calls_that_nothing_orders_do_not_wait_for_themselves() {
        let (tell, told) = channel();
        let observer: Option<Arc<dyn Observer>> = Some(Arc::new(HoldsUpTheFirst(Mutex::new(Some(tell)))));
        let options = CpuOptions { devices: 2, observer: observer.clone(), ..CpuOptions::default() };
        let backend = crate::open(&options).unwrap();
        let options = PlatformOptions { observer, ..PlatformOptions::default() };
        let platform = Platform::with_options(backend, &options).unwrap();
        let contexts = [0, 1].map(|ordinal| platform.device(ordinal).unwrap().create_context().unwrap());
        let id = contexts[0].communicator_id().unwrap();
        let [sender, receiver] = [0, 1].map(|rank| {
            let context = &contexts[rank as usize];
            let communicator = context.create_communicator(&id, 2, rank, Duration::from_secs(60)).unwrap();
            let stream = context.create_stream(StreamOptions::default()).unwrap();
            let allocator = context.create_allocator(Options::default());
            let buffer = allocator.allocate(&stream, 4, "message").unwrap();
            (communicator, stream, buffer)
        });
        let send = || {
            let (communicator, stream, buffer) = &sender;
            communicator.run(stream, Collective::Send(1), DType::UI32, 1, Some(buffer), None).unwrap();
        };
        std::thread::scope(|scope| {
            scope.spawn(send);
            told.recv().unwrap();
            send();
        });
        let (communicator, stream, buffer) = &receiver;
        let receive = || {
            communicator.run(stream, Collective::Receive(0), DType::UI32, 1, None, Some(buffer)).unwrap();
        };
        receive();
        receive();
        stream.synchronize().unwrap();
        // No call timed out, because that would have ended the communicator.
        send();
        receive();
        stream.synchronize().unwrap();
        sender.1.synchronize().unwrap();
    }
}
