//! Events of the CPU devices.
//!
//! Each record of an event has a number. The event is reached when the number reached is that of the latest record; a
//! stream that waits remembers the number it waits for, so that a later record does not hold it up.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

use super::access::Waiting;
use super::context::{CpuContext, Device};
use super::graph::Snapshot;
use super::operation::next_id;
use super::stream::{Command, StreamCore};
use crate::error::{DeviceError, Result, Status};
use crate::hal::{EventOptions, Events};
use crate::origin::Origin;

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
    /// Number of the latest record; zero if there was none.
    recorded: u64,
    /// Number of the latest record reached.
    reached: u64,
    /// When that was.
    time: Option<Instant>,
    /// Streams, and the record each waits for.
    waiters: Vec<(u64, Arc<StreamCore>)>,
    /// What the event marks in a capture, if it was last recorded in one.
    captured: Option<Snapshot>,
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

    /// Begins a record on a stream; its number.
    pub(super) fn begin_record(&self) -> u64 {
        let mut state = self.state.lock();
        state.captured = None;
        state.recorded += 1;
        state.recorded
    }

    /// Takes note of a record in a capture.
    pub(super) fn record_captured(&self, snapshot: Snapshot) {
        self.state.lock().captured = Some(snapshot);
    }

    /// What it marks in a capture.
    pub(super) fn captured(&self) -> Option<Snapshot> {
        self.state.lock().captured.clone()
    }

    /// The latest record's number.
    pub(super) fn recorded(&self) -> u64 {
        self.state.lock().recorded
    }

    /// The stream has come to this record.
    pub(super) fn reach(&self, record: u64) {
        let ready: Vec<_> = {
            let mut state = self.state.lock();
            if record <= state.reached {
                return;
            }
            state.reached = record;
            state.time = Some(Instant::now());
            state.waiters.extract_if(.., |(wanted, _)| *wanted <= record).collect()
        };
        self.reached.notify_all();
        for (_, stream) in ready {
            stream.resume();
        }
    }

    /// Lets `stream` wait for a record, unless it was reached.
    pub(super) fn wait(&self, record: u64, stream: &Arc<StreamCore>) -> Waiting {
        let mut state = self.state.lock();
        if state.reached >= record {
            return Waiting::Over;
        }
        state.waiters.push((record, stream.clone()));
        Waiting::Registered
    }

    /// Whether the stream of this record has come to it.
    pub(super) fn has_reached(&self, record: u64) -> bool {
        self.state.lock().reached >= record
    }

    fn is_reached(&self) -> bool {
        let state = self.state.lock();
        state.reached >= state.recorded
    }

    /// When the latest record was reached.
    fn time(&self) -> Result<Instant> {
        let state = self.state.lock();
        match state.time {
            Some(time) if self.timing && state.reached >= state.recorded => Ok(time),
            Some(_) if self.timing => Err(Status::NotReady.into()),
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
        let reached = event.core.is_reached();
        if reached && !event.core.internal {
            self.saw(&event.core)?;
        } else if reached {
            self.device.check()?;
        }
        Ok(reached)
    }

    fn synchronize_event(&self, event: &Event) -> Result<()> {
        let mut state = event.core.state.lock();
        let record = state.recorded;
        while state.reached < record {
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
        // Numbered under the queue's lock, so that records of one event on one stream are reached in their order.
        self.push_with(|| Command::Record(event.clone(), event.begin_record()));
    }
}
