//! Events of the CPU devices.
//!
//! Each record of an event has a number. The event is reached when its latest record is. A stream
//! that waits remembers the number of its record, so that a later record neither delays nor
//! releases it: records on different streams are reached in any order.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use smallvec::SmallVec;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Bell, EventOptions, Events};
use tfrt_device::origin::Origin;

use super::access::Waiting;
use super::context::{CpuContext, Device};
use super::graph::Snapshot;
use super::operation::next_id;
use super::stream::{Command, StreamCore};

/// An event's handle.
pub(crate) struct Event {
    pub(super) core: Arc<EventCore>,
}

pub(super) struct EventCore {
    pub(super) id: u64,
    timing: bool,
    /// See [`EventOptions::internal`].
    internal: bool,
    device: Arc<Device>,
    state: Mutex<State>,
    reached: Condvar,
}

#[derive(Default)]
struct State {
    /// The number of the latest record; zero if there was none.
    recorded: u64,
    /// The number of the latest record that was reached.
    reached: u64,
    /// The records that were begun and are not reached, in order.
    ahead: SmallVec<[u64; 4]>,
    /// The time at which the latest record was reached, if it was.
    time: Option<Instant>,
    /// The waiting streams, with the number of their records.
    waiters: Vec<(u64, Arc<StreamCore>)>,
    /// The point in a capture that the event marks, if it was last recorded in one.
    captured: Option<Snapshot>,
    /// Whether somebody found that it is not reached, and may wait for the bell.
    is_watched: bool,
}

impl State {
    fn has_reached(&self, record: u64) -> bool {
        self.reached >= record && self.ahead.binary_search(&record).is_err()
    }

    fn is_reached(&self) -> bool {
        self.has_reached(self.recorded)
    }
}

impl EventCore {
    pub(super) fn new(options: EventOptions, device: Arc<Device>) -> Self {
        Self {
            id: next_id(),
            timing: options.timing,
            internal: options.internal,
            device,
            state: Mutex::default(),
            reached: Condvar::new(),
        }
    }

    /// Begins a record on a stream and returns its number.
    pub(super) fn begin_record(&self) -> u64 {
        let mut state = self.state.lock();
        state.captured = None;
        state.time = None;
        state.recorded += 1;
        let record = state.recorded;
        state.ahead.push(record);
        record
    }

    /// Notes a record in a capture.
    pub(super) fn record_captured(&self, snapshot: Snapshot) {
        self.state.lock().captured = Some(snapshot);
    }

    /// Returns the point in a capture that the event marks.
    pub(super) fn captured(&self) -> Option<Snapshot> {
        self.state.lock().captured.clone()
    }

    /// Returns the number of the latest record.
    pub(super) fn recorded(&self) -> u64 {
        self.state.lock().recorded
    }

    /// Notes that the stream has reached this record.
    pub(super) fn reach(&self, record: u64) {
        let (ready, is_watched): (Vec<_>, bool) = {
            let mut state = self.state.lock();
            if let Ok(place) = state.ahead.binary_search(&record) {
                state.ahead.remove(place);
            }
            state.reached = state.reached.max(record);
            if record == state.recorded {
                state.time = Some(Instant::now());
            }
            let mut waiters = std::mem::take(&mut state.waiters);
            let ready = waiters.extract_if(.., |(wanted, _)| state.has_reached(*wanted)).collect();
            state.waiters = waiters;
            let is_watched = state.is_watched && state.is_reached();
            state.is_watched &= !is_watched;
            (ready, is_watched)
        };
        self.reached.notify_all();
        if is_watched {
            self.device.ring();
        }
        for (_, stream) in ready {
            stream.resume();
        }
    }

    /// Registers `stream` to wait for a record, unless it was reached.
    pub(super) fn wait(&self, record: u64, stream: &Arc<StreamCore>) -> Waiting {
        let mut state = self.state.lock();
        if state.has_reached(record) {
            return Waiting::Over;
        }
        state.waiters.push((record, stream.clone()));
        Waiting::Registered
    }

    /// Returns whether this record was reached.
    pub(super) fn has_reached(&self, record: u64) -> bool {
        self.state.lock().has_reached(record)
    }

    /// Returns whether the latest record was reached. If not, the bell rings when it is.
    fn is_reached_or_watched(&self) -> bool {
        let mut state = self.state.lock();
        let is_reached = state.is_reached();
        state.is_watched |= !is_reached;
        is_reached
    }

    /// Returns the time at which the latest record was reached.
    fn time(&self) -> Result<Instant> {
        let state = self.state.lock();
        match state.time {
            Some(time) if self.timing => Ok(time),
            None if self.timing && !state.is_reached() => Err(Status::NotReady.into()),
            _ => Err(DeviceError::new(
                Status::InvalidHandle,
                "the event was not recorded, or was created without timing",
            )),
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Some(observer) = &self.core.device.shared.observer {
            observer.event_destroyed(self.core.id);
        }
    }
}

impl CpuContext {
    fn saw(&self, event: &EventCore) -> Result<()> {
        if let Some(observer) = &self.device.shared.observer {
            observer.host_saw_event(event.id);
        }
        self.device.check()
    }
}

impl Events for CpuContext {
    fn create_event(&self, options: EventOptions) -> Result<Event> {
        self.device.check()?;
        let core = EventCore::new(options, self.device.clone());
        if let Some(observer) = &self.device.shared.observer
            && !options.internal
        {
            observer.event_created(core.id, Origin::here());
        }
        Ok(Event { core: Arc::new(core) })
    }

    fn record_event(&self, event: &Event, stream: &super::stream::Stream) -> Result<()> {
        self.device.check()?;
        if let Some(snapshot) = stream.core.snapshot() {
            event.core.record_captured(snapshot);
            return Ok(());
        }
        if let Some(observer) = &self.device.shared.observer {
            observer.event_recorded(event.core.id, stream.core.id, Origin::here());
        }
        stream.core.record(&event.core);
        Ok(())
    }

    fn query_event(&self, event: &Event) -> Result<bool> {
        // Queried first: a failure before the event is known when the event is reached.
        match (event.core.is_reached_or_watched(), event.core.internal) {
            (true, false) => self.saw(&event.core).map(|()| true),
            // Waiters of an internal event are released when it is reached, even in a failed
            // context.
            (false, true) => Ok(false),
            (reached, _) => self.device.check().map(|()| reached),
        }
    }

    fn ring_for_events(&self, bell: Bell) -> bool {
        self.device.set_bell(bell)
    }

    fn synchronize_event(&self, event: &Event) -> Result<()> {
        let mut state = event.core.state.lock();
        let record = state.recorded;
        while !state.has_reached(record) {
            event.core.reached.wait(&mut state);
        }
        drop(state);
        self.saw(&event.core)
    }

    fn elapsed_ms(&self, start: &Event, end: &Event) -> Result<f32> {
        self.device.check()?;
        let (start, end) = (start.core.time()?, end.core.time()?);
        let seconds = match end.checked_duration_since(start) {
            Some(later) => later.as_secs_f32(),
            None => -start.duration_since(end).as_secs_f32(),
        };
        Ok(seconds * 1e3)
    }
}

impl StreamCore {
    /// Queues a record.
    fn record(self: &Arc<Self>, event: &Arc<EventCore>) {
        // Numbered under the queue's lock, so that records of one event on one stream are reached
        // in order.
        self.push_with(|| Command::Record(event.clone(), event.begin_record()));
    }
}
