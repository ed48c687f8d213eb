//! What the checker learns as streams, events and memory are used.

use std::sync::Arc;

use super::memory::Buffer;
use super::shadow::Operation;
use super::state::EventState;
use super::{Checker, Mistake, Report};
use crate::error::DeviceError;
use crate::observer::{Exchange, Id, Observed, Observer, Queued};
use crate::origin::Origin;

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
            handover: None,
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

    fn finished(&self, operation: Id, observed: &Observed<'_>) -> Result<(), DeviceError> {
        self.state.lock().finish_operation(operation, observed);
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
