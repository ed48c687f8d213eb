//! How the host learns that a stream has come to a point, without a thread of the host's waiting and without a callback of
//! the driver's: one thread for each context looks at the oldest outstanding event of each stream.
//!
//! What follows a completion has two parts. *Releasing* (host memory of a finished copy, above all) happens for all streams
//! before anybody is *told*: who is told that an event was reached may look at everything that was done before it, on any
//! stream. A host that waits on a stream itself releases what is due before it goes on ([`settle_all`]).
//!
//! The thread spins for a moment, then sleeps in growing steps; with nothing outstanding it is parked.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::buffer::Fence;
use super::context::next_id;
use super::event::Event;
use crate::error::{DeviceError, Result, Status};
use crate::hal::{DynContext, Erased, EventOptions};

/// Called when the point is reached, to let go of what the work used.
pub(super) type Release = Box<dyn FnOnce() + Send>;
/// Called after all releases, with how it ended.
pub(super) type Tell = Box<dyn FnOnce(Result<()>) + Send>;

/// The event that marks a point.
enum Mark {
    /// Made here.
    Own(Erased),
    /// The program's.
    Shared(Event),
    /// An allocator's.
    Fence(Arc<Fence>),
}

impl Mark {
    fn hal(&self) -> &Erased {
        match self {
            Self::Own(event) => event,
            Self::Shared(event) => event.hal(),
            Self::Fence(fence) => fence.hal(),
        }
    }
}

struct Pending {
    event: Mark,
    release: Option<Release>,
    tell: Option<Tell>,
}

#[derive(Default)]
struct State {
    /// Of each stream, in the order of its work.
    streams: HashMap<u64, VecDeque<Pending>>,
    /// Events to be used again.
    spare: Vec<Erased>,
    thread: Option<JoinHandle<()>>,
    stop: bool,
}

/// The outstanding completions of one context.
pub(super) struct Completions {
    hal: Arc<Box<DynContext>>,
    state: Arc<Mutex<State>>,
    work: Arc<Condvar>,
    kin: Arc<Mutex<Vec<Weak<Completions>>>>,
    me: Weak<Completions>,
}

/// Rounds of looking before the thread sleeps, and the longest sleep.
const SPINS: u32 = 200;
const SLEEP_MAX: Duration = Duration::from_micros(100);
const SPARE_MAX: usize = 64;

impl Completions {
    pub(super) fn new(hal: Arc<Box<DynContext>>, kin: Arc<Mutex<Vec<Weak<Self>>>>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self { hal, state: Arc::default(), work: Arc::default(), kin, me: me.clone() })
    }

    /// Calls `release` and then `tell` when the stream has come to where it ends now.
    pub(super) fn after(
        &self,
        stream: u64,
        hal_stream: &Erased,
        release: Option<Release>,
        tell: Option<Tell>,
    ) -> Result<()> {
        let queued = self.queue(stream, hal_stream, release, tell);
        if let Err((error, release)) = queued {
            // The work may go on; what it uses is let go of when it is done.
            drop(self.hal.synchronize_stream(hal_stream));
            drop(release);
            return Err(error);
        }
        Ok(())
    }

    fn queue(
        &self,
        stream: u64,
        hal_stream: &Erased,
        release: Option<Release>,
        tell: Option<Tell>,
    ) -> Result<(), (DeviceError, Option<Release>)> {
        let spare = self.state.lock().spare.pop();
        let options = EventOptions { internal: true, ..EventOptions::default() };
        let event = match spare.map_or_else(|| self.hal.create_event(options), Ok) {
            Ok(event) => event,
            Err(error) => return Err((error, release)),
        };
        // Under the lock, so that a stream's list is in the order of its work.
        let mut state = self.state.lock();
        if let Err(error) = self.hal.record_event(&event, hal_stream).and_then(|()| self.start(&mut state)) {
            return Err((error, release));
        }
        let pending = Pending { event: Mark::Own(event), release, tell };
        state.streams.entry(stream).or_default().push_back(pending);
        self.work.notify_one();
        Ok(())
    }

    /// Calls `tell` when the program's event is reached.
    pub(super) fn when_event(&self, event: Event, tell: Tell) -> Result<()> {
        self.when_mark(event.id(), Mark::Shared(event), tell)
    }

    /// Calls `tell` when an allocator's fence is reached.
    pub(super) fn when_fence(&self, fence: Arc<Fence>, tell: Tell) -> Result<()> {
        self.when_mark(next_id(), Mark::Fence(fence), tell)
    }

    fn when_mark(&self, key: u64, event: Mark, tell: Tell) -> Result<()> {
        let mut state = self.state.lock();
        self.start(&mut state)?;
        let pending = Pending { event, release: None, tell: Some(tell) };
        state.streams.entry(key).or_default().push_back(pending);
        self.work.notify_one();
        Ok(())
    }

    fn start(&self, state: &mut State) -> Result<()> {
        if state.thread.is_none() {
            let me = self.me.clone();
            let (shared, work) = (self.state.clone(), self.work.clone());
            let thread = std::thread::Builder::new()
                .name("tfrt-completion".to_owned())
                .spawn(move || watch(&me, &shared, &work))
                .map_err(|error| {
                    DeviceError::new(Status::OutOfMemory, format!("no thread for completions: {error}"))
                })?;
            state.thread = Some(thread);
        }
        Ok(())
    }

    /// Releases what is due; what is to be told, with how it ended.
    fn collect(&self, told: &mut Vec<(Tell, Result<()>)>) {
        let mut state = self.state.lock();
        let State { streams, spare, .. } = &mut *state;
        streams.retain(|_, pending| {
            while let Some(oldest) = pending.front() {
                let mut outcome = match self.hal.query_event(oldest.event.hal()) {
                    Ok(false) => break,
                    Ok(true) => Ok(()),
                    Err(error) => Err(error),
                };
                // A failed device may still be busy with what it was given; but its events are reached in the end, and
                // releasing waits for that.
                // And a program that is told that its work is done knows as much as if it had waited.
                let tells = oldest.tell.is_some() && matches!(oldest.event, Mark::Own(_));
                if outcome.is_err() || tells {
                    outcome = outcome.and(self.hal.synchronize_event(oldest.event.hal()));
                }
                let Some(done) = pending.pop_front() else { break };
                if let Some(release) = done.release {
                    release();
                }
                if let Some(tell) = done.tell {
                    told.push((tell, outcome));
                }
                match done.event {
                    Mark::Own(event) if spare.len() < SPARE_MAX => spare.push(event),
                    _ => {}
                }
            }
            !pending.is_empty()
        });
    }

    /// Releases what is due on all devices, then tells. Whether anything was due here.
    fn round(&self) -> bool {
        let mut told = Vec::new();
        self.collect(&mut told);
        if told.is_empty() {
            return false;
        }
        // What another stream did before the events just found was done before them: it is due by now.
        self.settle_all(&mut told);
        for (tell, outcome) in told {
            tell(outcome);
        }
        true
    }

    fn settle_all(&self, told: &mut Vec<(Tell, Result<()>)>) {
        let all: Vec<_> = self.kin.lock().iter().filter_map(Weak::upgrade).collect();
        for completions in all {
            completions.collect(told);
        }
    }

    /// Releases all that is due, on all devices: called by a host that has waited on a stream or an event itself.
    pub(super) fn settle(&self) {
        let mut told = Vec::new();
        self.settle_all(&mut told);
        for (tell, outcome) in told {
            tell(outcome);
        }
    }
}

impl Drop for Completions {
    fn drop(&mut self) {
        let thread = {
            let mut state = self.state.lock();
            state.stop = true;
            state.thread.take()
        };
        self.work.notify_all();
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id()) {
            // It catches nothing and has nothing to say.
            drop(thread.join());
        }
        // Nobody is left to look: wait here, so that nothing is released too early, and everybody is told.
        let streams = std::mem::take(&mut self.state.lock().streams);
        for pending in streams.into_values().flatten() {
            let outcome = self.hal.synchronize_event(pending.event.hal());
            if let Some(release) = pending.release {
                release();
            }
            if let Some(tell) = pending.tell {
                tell(outcome);
            }
        }
    }
}

/// The thread.
fn watch(completions: &Weak<Completions>, state: &Mutex<State>, work: &Condvar) {
    let mut idle = 0u32;
    loop {
        {
            let mut state = state.lock();
            while state.streams.is_empty() && !state.stop {
                work.wait(&mut state);
            }
            if state.stop {
                return;
            }
        }
        let Some(completions) = completions.upgrade() else { return };
        idle = if completions.round() { 0 } else { idle.saturating_add(1) };
        drop(completions);
        if idle > SPINS {
            std::thread::sleep(SLEEP_MAX.min(Duration::from_micros(u64::from(idle - SPINS))));
        } else if idle > 0 {
            std::thread::yield_now();
        }
    }
}
