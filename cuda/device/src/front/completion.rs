//! Tells the host that a stream has reached a point, without blocking a thread and without a
//! callback of the driver. One thread per context looks at the oldest outstanding event of each
//! stream.
//!
//! A completion has two parts. First the resources of the completed work are *released* on all
//! streams, above all the host memory of finished copies. Only then are listeners *told*: a
//! listener may look at everything that happened before its event, on any stream. A host that waits
//! for a stream releases what is due before it continues ([`Completions::settle`]).
//!
//! A release that nobody waits for needs no event of its own. It comes with the next event that is
//! recorded on its stream, for whatever reason, or after [`MAX_UNMARKED`] with one for itself.
//!
//! Between two looks the thread spins or sleeps, at a pace that follows the duration of its latest
//! waits ([`Pace`]). Where the backend rings a bell for its events
//! ([`Events::ring_for_events`](crate::hal::Events::ring_for_events)), it waits for that in the place
//! of sleeping. It is parked while nothing is outstanding.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::backing::Fence;
use super::context::next_id;
use super::event::Event;
use super::pace::{Pace, Step, sleep_exactly};
use super::stream::StreamRef;
use crate::error::{DeviceError, Result, Status};
use crate::hal::{DynContext, Erased, EventOptions, Promised, ReleasedOnDrop, Teardown};

/// Called when the point is reached, to release what the work used.
pub(super) type Release = Box<dyn FnOnce() + Send>;
/// Called with the outcome, after all releases.
pub(super) type Tell = Box<dyn FnOnce(Result<()>) + Send>;

/// The event that marks a point.
enum Mark {
    /// An event that was created here.
    Own(Erased),
    /// An event of the program.
    Shared(Event),
    /// A fence of an allocator.
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

    /// Returns whether the event belongs to this context.
    fn is_of(&self, hal: &SharedContext) -> bool {
        match self {
            Self::Own(_) | Self::Shared(_) => true,
            Self::Fence(fence) => fence.is_of(hal),
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

/// How long a release waits for an event that is recorded for another reason.
const MAX_UNMARKED: Duration = Duration::from_micros(100);

/// The releases of a stream that no event marks yet.
struct Unmarked {
    stream: StreamRef,
    releases: Vec<Release>,
    since: Instant,
}

impl Unmarked {
    /// Calls all releases, then another one.
    fn and(self, last: Option<Release>) -> Release {
        Box::new(move || self.releases.into_iter().chain(last).for_each(|release| release()))
    }
}

/// Wakes the thread. What is locked here is never held while anything is called.
#[derive(Default)]
struct Alarm {
    is_rung: Mutex<bool>,
    rung: Condvar,
}

impl Alarm {
    fn ring(&self) {
        *self.is_rung.lock() = true;
        self.rung.notify_one();
    }

    /// Waits until it has been rung since the last time, or until `end`.
    fn wait(&self, end: Option<Instant>) {
        let mut is_rung = self.is_rung.lock();
        while !*is_rung {
            match end {
                None => self.rung.wait(&mut is_rung),
                Some(end) if self.rung.wait_until(&mut is_rung, end).timed_out() => break,
                Some(_) => {}
            }
        }
        *is_rung = false;
    }
}

#[derive(Default)]
struct State {
    /// By stream, in the order of its work.
    streams: HashMap<u64, VecDeque<Pending>>,
    /// By stream, the releases that the next event on it marks.
    unmarked: HashMap<u64, Unmarked>,
    /// Events that can be reused.
    spare: Vec<Erased>,
    has_thread: bool,
    /// Set when the context's last handle is gone: the thread ends when nothing is outstanding, and
    /// then runs this.
    end: Option<(Promised, Option<Release>)>,
}

/// A context of a backend. It is released when its last user is gone.
pub(super) type SharedContext = Arc<ReleasedOnDrop<Box<DynContext>>>;

/// The outstanding completions of one context.
pub(super) struct Completions {
    hal: SharedContext,
    teardown: Teardown,
    state: Mutex<State>,
    alarm: Arc<Alarm>,
    /// Whether the backend rings the alarm when an event is reached.
    is_rung: bool,
    /// Held while due resources are released.
    releasing: Mutex<()>,
    kin: Arc<Mutex<Vec<Weak<Completions>>>>,
    me: Weak<Completions>,
}

/// Releases resources of work that no event marks. They are released at the next point of the
/// stream that can be recorded, or earlier if the stream is found idle.
pub(super) fn release_later(hal: &SharedContext, teardown: &Teardown, stream: &StreamRef, release: Release) {
    let (hal, stream) = (hal.clone(), stream.clone());
    let (mut release, mut mark) = (Some(release), None);
    teardown.hand_over_until(move || {
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

/// The most events that are kept for reuse.
const MAX_SPARE: usize = 64;

impl Completions {
    pub(super) fn new(hal: SharedContext, teardown: Teardown, kin: Arc<Mutex<Vec<Weak<Self>>>>) -> Arc<Self> {
        let alarm = Arc::<Alarm>::default();
        let bell = alarm.clone();
        let is_rung = hal.ring_for_events(Box::new(move || bell.ring()));
        Arc::new_cyclic(|me| Self {
            hal,
            teardown,
            state: Mutex::default(),
            alarm,
            is_rung,
            releasing: Mutex::default(),
            kin,
            me: me.clone(),
        })
    }

    /// Returns the teardown that releases resources.
    pub(super) fn teardown(&self) -> &Teardown {
        &self.teardown
    }

    /// Calls `release` and then `tell` when the stream has done all work queued so far.
    pub(super) fn release_after(
        &self,
        stream: &StreamRef,
        release: Option<Release>,
        tell: Option<Tell>,
    ) -> Result<()> {
        let queued = self.queue(stream, release, tell);
        queued.map_err(|(error, release)| {
            if let Some(release) = release {
                release_later(&self.hal, &self.teardown, stream, release);
            }
            error
        })
    }

    /// Calls `release` some time after the stream has done all work queued so far: with the next
    /// event that is recorded on it.
    pub(super) fn release_with_next(&self, stream: &StreamRef, release: Release) -> Result<()> {
        let capture = stream.capture();
        if capture.is_some() {
            drop(capture);
            return self.release_after(stream, Some(release), None);
        }
        let mut state = self.state.lock();
        let started = self.start(&mut state);
        let unmarked = state.unmarked.entry(stream.id()).or_insert_with(|| {
            stream.note_unmarked(true);
            Unmarked { stream: stream.clone(), releases: Vec::new(), since: Instant::now() }
        });
        unmarked.releases.push(release);
        let is_first = unmarked.releases.len() == 1;
        drop((state, capture));
        if started.is_err() {
            // No thread looks for it.
            return self.release_after(stream, None, None);
        }
        if is_first {
            self.alarm.ring();
        }
        Ok(())
    }

    /// Adds a stream's releases without an event to one that an event is about to mark.
    fn with_unmarked(&self, stream: &StreamRef, release: Option<Release>) -> Option<Release> {
        if !stream.has_unmarked() {
            return release;
        }
        let unmarked = {
            let mut state = self.state.lock();
            stream.note_unmarked(false);
            state.unmarked.remove(&stream.id())
        };
        match unmarked {
            Some(unmarked) => Some(unmarked.and(release)),
            None => release,
        }
    }

    /// Records events for releases that have waited for one for too long. Returns when the next one
    /// will have.
    fn mark_overdue(&self) -> Option<Instant> {
        let state = self.state.lock();
        if state.unmarked.is_empty() {
            return None;
        }
        let now = Instant::now();
        let ends = |unmarked: &Unmarked| unmarked.since + MAX_UNMARKED;
        let next = state.unmarked.values().map(ends).filter(|&end| end > now).min();
        let mut overdue = state.unmarked.values().filter(|unmarked| ends(unmarked) <= now).peekable();
        if overdue.peek().is_none() {
            return next;
        }
        // A stream that the program drops meanwhile is released only here.
        let _promised = self.teardown.promise();
        let overdue: Vec<StreamRef> = overdue.map(|unmarked| unmarked.stream.clone()).collect();
        drop(state);
        for stream in overdue {
            // If no event can be recorded, they are released when the stream is found idle.
            drop(self.release_after(&stream, None, None));
        }
        next
    }

    fn queue(
        &self,
        stream: &StreamRef,
        release: Option<Release>,
        tell: Option<Tell>,
    ) -> Result<(), (DeviceError, Option<Release>)> {
        let capture = stream.capture();
        let release = self.with_unmarked(stream, release);
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
        self.alarm.ring();
        Ok(())
    }

    /// Calls `tell` when an event of the program is reached.
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
        self.alarm.ring();
        Ok(())
    }

    fn start(&self, state: &mut State) -> Result<()> {
        if !state.has_thread {
            let me = self.me.upgrade().ok_or(Status::NotInitialized)?;
            std::thread::Builder::new()
                .name("tfrt-completion".to_owned())
                .spawn(move || {
                    sleep_exactly();
                    Teardown::serve_on_this_thread();
                    let (promised, last) = me.watch();
                    if let Some(last) = last {
                        last();
                    }
                    // Dropped first: a thread that waits for the end also waits until the context
                    // is released.
                    drop(me);
                    drop(promised);
                })
                .map_err(|error| {
                    DeviceError::new(
                        Status::OutOfMemory,
                        format!("cannot start the thread for completions: {error}"),
                    )
                })?;
            state.has_thread = true;
        }
        Ok(())
    }

    /// Ends the completions after the context's last handle is gone. Outstanding points are
    /// released and told when they are reached. Then `last` runs on a thread that may wait.
    pub(super) fn end(&self, last: Option<Release>) {
        let mut state = self.state.lock();
        if state.has_thread {
            state.end = Some((self.teardown.promise(), last));
            self.alarm.ring();
        } else if let Some(last) = last {
            drop(state);
            self.teardown.hand_over(last);
        }
    }

    /// Releases what is due, and adds the listeners to tell with their outcomes. Returns whether
    /// anything was due.
    fn collect(&self, told: &mut Vec<(Tell, Result<()>)>) -> bool {
        // One thread at a time: when a second one gets here, everything that was due is released.
        // The list's own lock is not held, because releasing a resource may wait.
        let _alone = self.releasing.lock();
        let due = self.take_due();
        let any = !due.is_empty();
        for (done, mut outcome) in due {
            // A failed device may still be busy. But its events are reached in the end, and
            // releases wait for that. Events of the program hold no resources, so their failure is
            // told at once. A program that is told of completed work knows as much as if it had
            // waited.
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

    /// Removes the reached points from the list, in the order of each stream, and those that a
    /// failed device will not report.
    fn take_due(&self) -> Vec<(Pending, Result<()>)> {
        let mut due = Vec::new();
        let mut state = self.state.lock();
        state.streams.retain(|_, pending| {
            while let Some(oldest) = pending.front() {
                let outcome = match oldest.event.query(&***self.hal) {
                    Ok(false) => break,
                    outcome => outcome.map(drop),
                };
                due.extend(pending.pop_front().map(|done| (done, outcome)));
            }
            !pending.is_empty()
        });
        if state.streams.is_empty() && state.end.is_some() {
            // The thread may wait for an event that another thread has found here.
            self.alarm.ring();
        }
        due
    }

    /// Returns whether the alarm is rung when something becomes due.
    fn rings(&self) -> bool {
        // An allocator's fence may stand on a stream of another context.
        let is_own =
            |pending: &VecDeque<Pending>| pending.front().is_none_or(|oldest| oldest.event.is_of(&self.hal));
        self.is_rung && self.state.lock().streams.values().all(is_own)
    }

    /// Releases what is due on all devices, then tells the listeners. Returns whether anything was
    /// due here.
    fn round(&self) -> bool {
        let mut told = Vec::new();
        let any = self.collect(&mut told);
        if told.is_empty() {
            return any;
        }
        // Work of other streams that precedes the events just found is done, so its points are due.
        self.settle_all(&mut told);
        for (tell, outcome) in told {
            tell(outcome);
        }
        true
    }

    fn settle_all(&self, told: &mut Vec<(Tell, Result<()>)>) {
        // Another context may end meanwhile while its resources are only released here. A thread
        // that waits for that must wait for this.
        let _promised = self.teardown.promise();
        let all: Vec<_> = self.kin.lock().iter().filter_map(Weak::upgrade).collect();
        for completions in all {
            completions.collect(told);
        }
    }

    /// Releases everything due on all devices. A host that has waited for a stream or an event
    /// calls it.
    pub(super) fn settle(&self) {
        let mut told = Vec::new();
        self.settle_all(&mut told);
        for (tell, outcome) in told {
            tell(outcome);
        }
    }

    /// Runs the thread until the context has ended. Returns the work for its end.
    fn watch(&self) -> (Promised, Option<Release>) {
        let mut pace = Pace::new();
        loop {
            let overdue = self.mark_overdue();
            let is_idle = {
                let mut state = self.state.lock();
                if state.streams.is_empty()
                    && state.unmarked.is_empty()
                    && let Some(end) = state.end.take()
                {
                    return end;
                }
                state.streams.is_empty()
            };
            if is_idle {
                pace.stop();
                self.alarm.wait(overdue);
            } else if self.round() {
                pace.found();
            } else {
                match pace.next() {
                    Step::Spin => std::thread::yield_now(),
                    Step::Sleep(_) if self.rings() => self.alarm.wait(overdue),
                    Step::Sleep(time) => std::thread::sleep(time),
                }
            }
        }
    }
}
