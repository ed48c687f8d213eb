//! The thread that makes all calls of MPI.
//!
//! Before a collective starts, the members of its group agree on it: each sends an arrival to the
//! group's first rank, which answers when all have come. So collectives are matched by key and may
//! be started in any order, a mismatch is an error on all ranks, and a rank that does not come can
//! be named.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use tfrt_host::{Diagnostic, ErrorCode};

use super::deadlines::{Stuck, margin};
use super::library::{Comm, InFlight, Library, MpiError, World};
use super::message::{Kind, Message, SIZE, fingerprint};
use super::watch::Watch;
use crate::engine::Call;

/// How long the thread only yields before it sleeps, when it waits for other ranks to come.
const SPIN: Duration = Duration::from_millis(2);
const SLEEP: Duration = Duration::from_micros(100);
/// How long the thread waits for a collective before it looks for messages.
const IDLE: Duration = Duration::from_millis(50);
/// How long a rank waits to learn who has died, after another rank has given up their group.
const NEWS: Duration = Duration::from_secs(1);
/// How long a failed rank tries to tell the others.
const FAREWELL: Duration = Duration::from_millis(100);

/// What the thread is asked to do.
pub(super) enum Command {
    /// Runs a collective, which [`Watch`] knows by this number.
    Start(u64, Call),
}

/// A collective of this rank that not all ranks have agreed on yet.
pub(super) struct Waiting {
    number: u64,
    key: u64,
    pub(super) call: Call,
}

/// A collective that has started on all ranks.
pub(super) struct Running {
    number: u64,
    pub(super) deadline: Instant,
    /// See [`margin`].
    pub(super) margin: Duration,
    pub(super) place: String,
    operation: InFlight,
}

/// A member that has come to a collective.
pub(super) struct Arrival {
    pub(super) message: Message,
    pub(super) deadline: Instant,
}

/// What one group waits for.
pub(super) struct GroupState {
    pub(super) members: Arc<[usize]>,
    /// This rank's place among the members.
    pub(super) place: usize,
    pub(super) tag: i32,
    comm: Comm,
    /// Receives, with the place of the member that sends.
    listens: Vec<(usize, InFlight)>,
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) running: Vec<Running>,
    /// On the first rank: the members that have come, by key and place.
    pub(super) arrivals: HashMap<u64, Vec<VecDeque<Arrival>>>,
    pub(super) stuck: Stuck,
}

/// See the module.
pub(super) struct Progress {
    pub(super) library: Library,
    pub(super) world: World,
    pub(super) hosts: Vec<String>,
    commands: Receiver<Command>,
    watch: Arc<Watch>,
    pub(super) groups: Vec<GroupState>,
    pub(super) sends: Vec<InFlight>,
    failed: Option<Diagnostic>,
}

impl Progress {
    /// Opens the communicators of the groups, in the same order on all ranks so that none waits for
    /// another.
    pub(super) fn new(
        (library, world, hosts): (Library, World, Vec<String>),
        groups: &[Arc<[usize]>],
        (commands, watch): (Receiver<Command>, Arc<Watch>),
    ) -> Result<Self, Diagnostic> {
        let mut progress = Self {
            library,
            world,
            hosts,
            commands,
            watch,
            groups: Vec::new(),
            sends: Vec::new(),
            failed: None,
        };
        for (tag, members) in (1..).zip(groups) {
            if let Some(place) = members.iter().position(|member| *member == progress.world.rank) {
                let group = progress.open_group(members.clone(), place, tag)?;
                progress.groups.push(group);
            }
        }
        Ok(progress)
    }

    fn open_group(&self, members: Arc<[usize]>, place: usize, tag: i32) -> Result<GroupState, MpiError> {
        let comm = self.library.open_group(&members, tag)?;
        let peers = if place == 0 { 1..members.len() } else { 0..1 };
        let listens = peers.map(|peer| Ok((peer, self.library.receive(SIZE, members[peer], tag)?)));
        let listens = listens.collect::<Result<_, MpiError>>()?;
        Ok(GroupState {
            members,
            place,
            tag,
            comm,
            listens,
            waiting: VecDeque::new(),
            running: Vec::new(),
            arrivals: HashMap::new(),
            stuck: Stuck::default(),
        })
    }

    /// Serves until the engine is dropped. Returns whether all went well, so that MPI can be ended.
    pub(super) fn run(&mut self) -> bool {
        let mut active = Instant::now();
        loop {
            match self.take_commands() {
                None => return self.failed.is_none(),
                Some(true) => active = Instant::now(),
                Some(false) => {}
            }
            match self.advance() {
                Ok(true) => active = Instant::now(),
                Ok(false) => {}
                Err(error) => self.fail(error),
            }
            if active.elapsed() < SPIN || self.groups.iter().any(|group| !group.running.is_empty()) {
                std::thread::yield_now();
            } else {
                std::thread::sleep(SLEEP);
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.sends.is_empty()
            && self.groups.iter().all(|group| group.waiting.is_empty() && group.running.is_empty())
    }

    /// Takes new collectives, and waits a while for one if there is nothing else to do. Returns
    /// whether there were any, or nothing if the engine is gone.
    fn take_commands(&mut self) -> Option<bool> {
        let mut is_new = false;
        loop {
            let command = if self.is_idle() {
                match self.commands.recv_timeout(IDLE) {
                    Ok(command) => command,
                    Err(RecvTimeoutError::Timeout) => return Some(is_new),
                    Err(RecvTimeoutError::Disconnected) => return None,
                }
            } else {
                match self.commands.try_recv() {
                    Ok(command) => command,
                    Err(TryRecvError::Empty) => return Some(is_new),
                    Err(TryRecvError::Disconnected) => return None,
                }
            };
            is_new = true;
            let Command::Start(number, call) = command;
            match self.failed.clone() {
                Some(error) => self.watch.finish(number, Err(error)),
                None => {
                    if let Err(error) = self.announce(number, call) {
                        self.fail(error);
                    }
                }
            }
        }
    }

    /// Tells the group's first rank that this rank has come to a collective.
    fn announce(&mut self, number: u64, call: Call) -> Result<(), Diagnostic> {
        let Some(group) = self.groups.iter_mut().find(|group| group.members == call.members) else {
            let message = format!("group '{}' did not exist when MPI was started", call.group);
            self.watch.finish(number, Err(Diagnostic::new(ErrorCode::FailedPrecondition, message)));
            return Ok(());
        };
        let description = call.description();
        let message = Message {
            kind: Kind::Arrival,
            key: fingerprint(&call.key),
            agreement: fingerprint(&description),
            remaining: call.deadline.saturating_duration_since(Instant::now()),
            text: description,
        };
        let key = message.key;
        if group.place == 0 {
            group.arrive(0, message);
        } else {
            self.sends.push(self.library.send(message.encode(), group.members[0], group.tag)?);
        }
        group.waiting.push_back(Waiting { number, key, call });
        Ok(())
    }

    /// Tests everything once. Returns whether anything happened.
    fn advance(&mut self) -> Result<bool, Diagnostic> {
        let mut happened = false;
        for place in 0..self.sends.len() {
            self.library.test(&mut self.sends[place]).map_err(|error| self.explain(error))?;
        }
        self.sends.retain(InFlight::is_pending);
        for index in 0..self.groups.len() {
            happened |= self.listen(index)?;
            if self.groups[index].place == 0 {
                happened |= self.agree(index)?;
            }
            happened |= self.test_running(index)?;
            self.check_deadlines(index)?;
        }
        Ok(happened)
    }

    /// Takes the messages of a group.
    fn listen(&mut self, index: usize) -> Result<bool, Diagnostic> {
        let mut happened = false;
        for slot in 0..self.groups[index].listens.len() {
            let group = &mut self.groups[index];
            let (peer, operation) = &mut group.listens[slot];
            let peer = *peer;
            let bytes = match self.library.test(operation) {
                Ok(None) => continue,
                Ok(Some(bytes)) => bytes,
                Err(error) => return Err(self.explain(error)),
            };
            happened = true;
            group.listens[slot].1 = self.library.receive(SIZE, group.members[peer], group.tag)?;
            let message = Message::decode(&bytes)
                .ok_or_else(|| Diagnostic::internal(format!("rank {peer} has sent an unknown message")))?;
            match message.kind {
                Kind::Arrival => group.arrive(peer, message),
                Kind::Stuck => group.stuck.hear(peer, message, Instant::now()),
                Kind::Fatal => return Err(Diagnostic::new(ErrorCode::DeadlineExceeded, message.text)),
                Kind::Go | Kind::Mismatch => self.decide(index, &message)?,
            }
        }
        Ok(happened)
    }

    /// On the first rank: answers collectives that all members have come to.
    fn agree(&mut self, index: usize) -> Result<bool, Diagnostic> {
        let group = &mut self.groups[index];
        let is_ready = |(_, queues): &(&u64, &Vec<VecDeque<Arrival>>)| queues.iter().all(|q| !q.is_empty());
        let ready: Vec<u64> = group.arrivals.iter().filter(is_ready).map(|(key, _)| *key).collect();
        for key in &ready {
            let group = &mut self.groups[index];
            let Some(queues) = group.arrivals.get_mut(key) else { continue };
            let arrivals: Vec<_> = queues.iter_mut().filter_map(VecDeque::pop_front).collect();
            if queues.iter().all(VecDeque::is_empty) {
                group.arrivals.remove(key);
            }
            let message = verdict(*key, &arrivals, &group.members);
            self.tell(index, &message)?;
            self.decide(index, &message)?;
        }
        Ok(!ready.is_empty())
    }

    pub(super) fn tell(&mut self, index: usize, message: &Message) -> Result<(), MpiError> {
        let group = &self.groups[index];
        for &member in &group.members[1..] {
            self.sends.push(self.library.send(message.encode(), member, group.tag)?);
        }
        Ok(())
    }

    /// Starts the collective that the members have agreed on, or reports that they have not.
    fn decide(&mut self, index: usize, message: &Message) -> Result<(), Diagnostic> {
        let group = &mut self.groups[index];
        let Some(place) = group.waiting.iter().position(|waiting| waiting.key == message.key) else {
            return Err(Diagnostic::internal(
                "the ranks have agreed on a collective that this rank has not started",
            ));
        };
        let Some(Waiting { number, call, .. }) = group.waiting.remove(place) else { return Ok(()) };
        if message.kind == Kind::Mismatch {
            let error = Diagnostic::invalid_argument(format!("{}: {}", call.place(), message.text));
            self.watch.finish(number, Err(error));
            return Ok(());
        }
        if !call.has_elements() {
            // All ranks have come, which is all there is to it.
            drop(call);
            self.watch.finish(number, Ok(()));
            return Ok(());
        }
        let (deadline, place) = (call.deadline, call.place());
        let margin = margin(deadline.saturating_duration_since(Instant::now()));
        match self.library.start(&group.comm, call, group.place) {
            Ok(operation) => group.running.push(Running { number, deadline, margin, place, operation }),
            Err(error) if error.is_peer_failure => return Err(self.explain(error)),
            Err(error) => self.watch.finish(number, Err(error.into())),
        }
        Ok(())
    }

    fn test_running(&mut self, index: usize) -> Result<bool, Diagnostic> {
        let mut happened = false;
        let mut place = 0;
        while place < self.groups[index].running.len() {
            let running = &mut self.groups[index].running[place];
            match self.library.test(&mut running.operation) {
                Ok(None) => place += 1,
                Ok(Some(_)) => {
                    happened = true;
                    let done = self.groups[index].running.swap_remove(place);
                    self.watch.finish(done.number, Ok(()));
                }
                Err(error) => return Err(self.explain(error)),
            }
        }
        Ok(happened)
    }

    /// Returns a rank with its host, for messages.
    pub(super) fn named(&self, rank: usize) -> String {
        format!("rank {rank} on host '{}'", self.hosts.get(rank).map_or("unknown", String::as_str))
    }

    /// Adds the ranks that have died to an error of MPI.
    fn explain(&self, error: MpiError) -> Diagnostic {
        if !error.is_peer_failure {
            return error.into();
        }
        let end = Instant::now() + NEWS;
        let mut dead = self.library.failed_ranks();
        while dead.is_empty() && Instant::now() < end {
            std::thread::sleep(SLEEP);
            dead = self.library.failed_ranks();
        }
        let dead: Vec<_> = dead.into_iter().map(|rank| self.named(rank)).collect();
        let who = if dead.is_empty() { "another rank".to_owned() } else { dead.join(", ") };
        Diagnostic::new(ErrorCode::Unknown, format!("{who} has died"))
    }

    /// Fails everything in flight and all later collectives: after a rank is lost, the job cannot
    /// continue.
    fn fail(&mut self, error: Diagnostic) {
        if self.failed.is_none() {
            for group in &self.groups {
                self.library.revoke(&group.comm);
            }
            let end = Instant::now() + FAREWELL;
            while self.sends.iter().any(InFlight::is_pending) && Instant::now() < end {
                for place in 0..self.sends.len() {
                    // The job has failed already; a message that cannot be sent changes nothing.
                    let _ = self.library.test(&mut self.sends[place]);
                }
                std::thread::yield_now();
            }
        }
        let own = self.world.to_string();
        for group in &mut self.groups {
            let waiting = group.waiting.drain(..).map(|waiting| (waiting.number, waiting.call.place()));
            let running = group.running.drain(..).map(|running| (running.number, running.place));
            for (number, what) in waiting.chain(running) {
                let mut error = error.clone();
                error.message = format!("{own}: {what}: {}", error.message);
                self.watch.finish(number, Err(error));
            }
        }
        self.sends.clear();
        let mut error = error;
        error.message = format!("{own}: the job has failed: {}", error.message);
        self.failed.get_or_insert(error);
        // Nothing is tested any more, so that nothing fails again.
        self.groups.iter_mut().for_each(|group| group.listens.clear());
    }

    /// Ends MPI, which waits for the other ranks.
    pub(super) fn finalize(mut self) -> Result<(), MpiError> {
        for group in std::mem::take(&mut self.groups) {
            for (_, listen) in group.listens {
                self.library.cancel(listen);
            }
            self.library.close_group(group.comm);
        }
        self.library.finalize()
    }
}

impl GroupState {
    fn arrive(&mut self, place: usize, message: Message) {
        let count = self.members.len();
        let queues = self.arrivals.entry(message.key);
        let queues = queues.or_insert_with(|| (0..count).map(|_| VecDeque::new()).collect());
        let deadline = Instant::now() + message.remaining;
        queues[place].push_back(Arrival { message, deadline });
    }
}

/// Compares what the members have started.
fn verdict(key: u64, arrivals: &[Arrival], members: &[usize]) -> Message {
    let first = &arrivals[0].message;
    let other = arrivals.iter().position(|arrival| arrival.message.agreement != first.agreement);
    let (kind, text) = match other {
        None => (Kind::Go, String::new()),
        Some(place) => {
            let text = format!(
                "the ranks disagree: rank {} has started {}, but rank {} has started {}",
                members[0], first.text, members[place], arrivals[place].message.text
            );
            (Kind::Mismatch, text)
        }
    };
    Message { kind, key, agreement: first.agreement, remaining: Duration::ZERO, text }
}
