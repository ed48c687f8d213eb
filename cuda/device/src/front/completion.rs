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
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::buffer::Fence;
use super::context::next_id;
use super::event::Event;
use super::stream::StreamRef;
use crate::error::{DeviceError, Result, Status};
use crate::hal::{DynContext, Erased, EventOptions, LetGo, Promised, Teardown};

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
    fn query(&self, hal: &DynContext) -> Result<bool> {
        match self {
            Self::Own(event) => hal.query_event(event),
            Self::Shared(event) => hal.query_event(event.hal()),
            Self::Fence(fence) => fence.query(),
        }
    }

    fn synchronize(&self, hal: &DynContext) -> Result<()> {
        match self {
            Self::Own(event) => hal.synchronize_event(event),
            Self::Shared(event) => hal.synchronize_event(event.hal()),
            Self::Fence(fence) => fence.synchronize(),
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
    has_thread: bool,
    /// The context's last handle is gone: the thread ends when nothing is outstanding, as was promised, and then does this.
    end: Option<(Promised, Option<Release>)>,
}

/// A context of the hal, let go of when the last of those who need it is gone.
pub(super) type SharedContext = Arc<LetGo<Box<DynContext>>>;

/// The outstanding completions of one context.
pub(super) struct Completions {
    hal: SharedContext,
    teardown: Teardown,
    state: Mutex<State>,
    work: Condvar,
    /// Held by who releases what is due.
    releasing: Mutex<()>,
    kin: Arc<Mutex<Vec<Weak<Completions>>>>,
    me: Weak<Completions>,
}

/// Rounds of looking before the thread sleeps, and the longest sleep.
const SPINS: u32 = 200;
const MAX_SLEEP: Duration = Duration::from_micros(100);
const MAX_SPARE: usize = 64;

impl Completions {
    pub(super) fn new(hal: SharedContext, teardown: Teardown, kin: Arc<Mutex<Vec<Weak<Self>>>>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            hal,
            teardown,
            state: Mutex::default(),
            work: Condvar::new(),
            releasing: Mutex::default(),
            kin,
            me: me.clone(),
        })
    }

    /// Who gives back what may have to wait for the device.
    pub(super) fn teardown(&self) -> &Teardown {
        &self.teardown
    }

    /// Calls `release` and then `tell` when the stream has come to where it ends now.
    pub(super) fn after(
        &self,
        stream: &StreamRef,
        release: Option<Release>,
        tell: Option<Tell>,
    ) -> Result<()> {
        let queued = self.queue(stream, release, tell);
        queued.map_err(|(error, release)| {
            if let Some(release) = release {
                self.release_later(stream, release);
            }
            error
        })
    }

    /// Where nothing marks the point: the work may go on, and what it uses is let go of behind the first later point that can be
    /// marked, or before, if the stream is found with nothing to do.
    fn release_later(&self, stream: &StreamRef, release: Release) {
        let (hal, stream) = (self.hal.clone(), stream.clone());
        let (mut release, mut mark) = (Some(release), None);
        self.teardown.hand_over_until(move || {
            if mark.is_none() {
                mark = stream.fence().ok();
            }
            let is_done = match &mark {
                Some(fence) => fence.query(),
                None => stream.query(),
            };
            if let Err(_failed) = &is_done {
                // The device may still be busy.
                drop(match &mark {
                    Some(fence) => fence.synchronize(),
                    None => hal.synchronize_stream(stream.hal()),
                });
            }
            let is_done = is_done.unwrap_or(true);
            if is_done && let Some(release) = release.take() {
                release();
            }
            is_done
        });
    }

    fn queue(
        &self,
        stream: &StreamRef,
        release: Option<Release>,
        tell: Option<Tell>,
    ) -> Result<(), (DeviceError, Option<Release>)> {
        let capture = stream.capture();
        if let Some(capture) = &*capture {
            return self.when_mark(next_id(), Mark::Fence(capture.before.clone()), release, tell);
        }
        let spare = self.state.lock().spare.pop();
        let options = EventOptions { internal: true, ..EventOptions::default() };
        let event = match spare.map_or_else(|| self.hal.create_event(options), Ok) {
            Ok(event) => event,
            Err(error) => return Err((error, release)),
        };
        // Under the lock, so that a stream's list is in the order of its work.
        let mut state = self.state.lock();
        if let Err(error) = self.hal.record_event(&event, stream.hal()).and_then(|()| self.start(&mut state))
        {
            return Err((error, release));
        }
        let pending = Pending { event: Mark::Own(event), release, tell };
        state.streams.entry(stream.id()).or_default().push_back(pending);
        self.work.notify_one();
        Ok(())
    }

    /// Calls `tell` when the program's event is reached.
    pub(super) fn when_event(&self, event: Event, tell: Tell) -> Result<()> {
        self.when_mark(event.id(), Mark::Shared(event), None, Some(tell)).map_err(|(error, _)| error)
    }

    /// Calls `tell` when an allocator's fence is reached.
    pub(super) fn when_fence(&self, fence: Arc<Fence>, tell: Tell) -> Result<()> {
        self.when_mark(next_id(), Mark::Fence(fence), None, Some(tell)).map_err(|(error, _)| error)
    }

    fn when_mark(
        &self,
        key: u64,
        event: Mark,
        release: Option<Release>,
        tell: Option<Tell>,
    ) -> Result<(), (DeviceError, Option<Release>)> {
        let mut state = self.state.lock();
        if let Err(error) = self.start(&mut state) {
            return Err((error, release));
        }
        let pending = Pending { event, release, tell };
        state.streams.entry(key).or_default().push_back(pending);
        self.work.notify_one();
        Ok(())
    }

    fn start(&self, state: &mut State) -> Result<()> {
        if !state.has_thread {
            let me = self.me.upgrade().ok_or(Status::NotInitialized)?;
            std::thread::Builder::new()
                .name("tfrt-completion".to_owned())
                .spawn(move || {
                    Teardown::serve_on_this_thread();
                    let (promised, last) = me.watch();
                    if let Some(last) = last {
                        last();
                    }
                    // First this: who waits for the end waits for the context to be let go of, too.
                    drop(me);
                    drop(promised);
                })
                .map_err(|error| {
                    DeviceError::new(Status::OutOfMemory, format!("no thread for completions: {error}"))
                })?;
            state.has_thread = true;
        }
        Ok(())
    }

    /// The context's last handle is gone. What is outstanding is released and told when it is reached; then comes `last`,
    /// on a thread that may wait.
    pub(super) fn end(&self, last: Option<Release>) {
        let mut state = self.state.lock();
        if state.has_thread {
            state.end = Some((self.teardown.promise(), last));
            self.work.notify_all();
        } else if let Some(last) = last {
            drop(state);
            self.teardown.hand_over(last);
        }
    }

    /// Releases what is due; what is to be told, with how it ended. Whether anything was due.
    fn collect(&self, told: &mut Vec<(Tell, Result<()>)>) -> bool {
        // One thread at a time: whoever comes here finds released what was due. The list's own lock is not held meanwhile,
        // as what is let go of may have to be waited for itself.
        let _alone = self.releasing.lock();
        let due = self.take_due();
        let any = !due.is_empty();
        for (done, mut outcome) in due {
            // A failed device may still be busy with what it was given; but its events are reached in the end, and
            // releasing waits for that. With the program's own events nothing goes: their failure is told at once.
            // And a program that is told that its work is done knows as much as if it had waited.
            let is_programs = matches!(done.event, Mark::Shared(_));
            let tells = done.tell.is_some() && matches!(done.event, Mark::Own(_));
            if (outcome.is_err() && !is_programs) || tells {
                outcome = outcome.and(done.event.synchronize(&***self.hal));
            }
            if let Some(release) = done.release {
                release();
            }
            if let Some(tell) = done.tell {
                told.push((tell, outcome));
            }
            if let Mark::Own(event) = done.event {
                let mut state = self.state.lock();
                if state.spare.len() < MAX_SPARE {
                    state.spare.push(event);
                }
            }
        }
        any
    }

    /// Takes off the list what was reached, in the order of each stream, and what a failed device does not tell of.
    fn take_due(&self) -> Vec<(Pending, Result<()>)> {
        let mut due = Vec::new();
        self.state.lock().streams.retain(|_, pending| {
            while let Some(oldest) = pending.front() {
                let outcome = match oldest.event.query(&***self.hal) {
                    Ok(false) => break,
                    outcome => outcome.map(drop),
                };
                due.extend(pending.pop_front().map(|done| (done, outcome)));
            }
            !pending.is_empty()
        });
        due
    }

    /// Releases what is due on all devices, then tells. Whether anything was due here.
    fn round(&self) -> bool {
        let mut told = Vec::new();
        let any = self.collect(&mut told);
        if told.is_empty() {
            return any;
        }
        // What another stream did before the events just found was done before them: it is due by now.
        self.settle_all(&mut told);
        for (tell, outcome) in told {
            tell(outcome);
        }
        true
    }

    fn settle_all(&self, told: &mut Vec<(Tell, Result<()>)>) {
        // Another context may end meanwhile, but what it held is only let go of here: whoever waits for that waits for this.
        let _promised = self.teardown.promise();
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

    /// What the thread does until the context has ended. Gives what ends with the thread.
    fn watch(&self) -> (Promised, Option<Release>) {
        let mut idle = 0u32;
        loop {
            {
                let mut state = self.state.lock();
                while state.streams.is_empty() {
                    if let Some(end) = state.end.take() {
                        return end;
                    }
                    self.work.wait(&mut state);
                    idle = 0;
                }
            }
            idle = if self.round() { 0 } else { idle.saturating_add(1) };
            if idle > SPINS {
                std::thread::sleep(MAX_SLEEP.min(Duration::from_micros(u64::from(idle - SPINS))));
            } else if idle > 0 {
                std::thread::yield_now();
            }
        }
    }
}
