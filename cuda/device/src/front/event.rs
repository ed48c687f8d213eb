//! Events.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use parking_lot::Mutex;

use super::context::{Context, Counted, next_id};
use super::graph::Recorded;
use super::stream::Stream;
use super::{Owned, check};
use crate::error::{DeviceError, Result, Status};
use crate::hal::{Erased, EventOptions};
use crate::origin::Origin;

/// An event, which marks a point on a stream. Clones share it.
#[derive(Clone)]
pub struct Event(Arc<Inner>);

struct Inner {
    id: u64,
    hal: Erased,
    timing: bool,
    /// The place of its latest record: [`NOWHERE`], [`ON_STREAM`] or [`IN_CAPTURE`].
    mark: AtomicU8,
    destroyed: AtomicBool,
    counted: Counted,
    /// The capture of its latest record, if that is in one. Locked while that changes.
    recording: Mutex<Option<Arc<Mutex<Recorded>>>>,
}

/// It was never recorded.
const NOWHERE: u8 = 0;
/// Recorded on a stream.
const ON_STREAM: u8 = 1;
/// Recorded in a capture.
const IN_CAPTURE: u8 = 2;

impl Owned for Event {
    const KIND: &'static str = "event";

    fn context(&self) -> &Context {
        self.0.counted.context()
    }

    fn is_destroyed(&self) -> bool {
        self.0.destroyed.load(Ordering::Acquire)
    }
}

impl Context {
    /// Creates an event that is not recorded yet.
    ///
    /// # Errors
    /// Any error of the device.
    pub fn create_event(&self, options: EventOptions) -> Result<Event> {
        Ok(Event(Arc::new(Inner {
            id: next_id(),
            hal: self.hal().create_event(options)?,
            timing: options.timing,
            mark: AtomicU8::new(NOWHERE),
            destroyed: AtomicBool::new(false),
            counted: Counted::new(self, |live| &live.events),
            recording: Mutex::default(),
        })))
    }
}

impl Event {
    /// Returns its context.
    pub fn context(&self) -> &Context {
        Owned::context(self)
    }

    /// Returns a number that is unique among events.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    pub(super) fn hal(&self) -> &Erased {
        &self.0.hal
    }

    pub(super) fn check_alive(&self) -> Result<()> {
        check(self, self.context())
    }

    /// Returns the capture of its latest record, if that is in one.
    pub(super) fn recording(&self) -> Option<Arc<Mutex<Recorded>>> {
        // Few events are ever captured. For the others, no lock is taken.
        if self.0.mark.load(Ordering::Acquire) == IN_CAPTURE { self.0.recording.lock().clone() } else { None }
    }

    pub(super) fn is_recorded(&self) -> bool {
        self.0.mark.load(Ordering::Acquire) != NOWHERE
    }

    /// Records the event behind all work queued on the stream so far. This replaces an earlier
    /// record.
    ///
    /// # Errors
    /// Any error of the device; `InvalidContext` for a stream of another context.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        check(self, stream.context())?;
        // First, so that a thread that sees the event finds the memory released.
        stream.as_ref().mark_held()?;
        self.context().hal().record_event(&self.0.hal, stream.hal())?;
        self.note_mark(stream.recording());
        Ok(())
    }

    /// Records the place of the latest record.
    fn note_mark(&self, recording: Option<Arc<Mutex<Recorded>>>) {
        // Most events are recorded on streams again and again; nothing changes then.
        if recording.is_none() && self.0.mark.load(Ordering::Acquire) == ON_STREAM {
            return;
        }
        let mut known = self.0.recording.lock();
        self.0.mark.store(if recording.is_some() { IN_CAPTURE } else { ON_STREAM }, Ordering::Release);
        // It may be the last handle of what was recorded, which is dropped after the lock is
        // released.
        let _before = std::mem::replace(&mut *known, recording);
        drop(known);
    }

    /// Returns whether the latest record is complete. An event that was never recorded is complete.
    ///
    /// # Errors
    /// The failure of the work before the event; `StreamCaptureUnsupported` if it was recorded in a
    /// capture.
    pub fn query(&self) -> Result<bool> {
        self.check_waitable()?;
        let reached = self.context().hal().query_event(&self.0.hal)?;
        if reached {
            self.context().completed().settle();
        }
        Ok(reached)
    }

    /// Waits until the latest record is complete. Blocks the calling thread, so never call it on a
    /// compute thread.
    ///
    /// # Errors
    /// The failure of the work before the event.
    pub fn synchronize(&self) -> Result<()> {
        self.check_waitable()?;
        self.observe_wait();
        let done = self.context().hal().synchronize_event(&self.0.hal);
        self.context().completed().settle();
        done
    }

    /// Calls `tell` when the latest record is complete, without blocking; at once if there is none.
    ///
    /// # Errors
    /// Any error of the device.
    pub fn when_reached(&self, tell: impl FnOnce(Result<()>) + Send + 'static) -> Result<()> {
        self.check_waitable()?;
        self.observe_wait();
        // The context polls it together with its own events, and must stay alive meanwhile.
        self.context().completed().when_event(self.clone(), Box::new(tell))
    }

    fn observe_wait(&self) {
        if let Some(observer) = self.context().observer()
            && !self.is_recorded()
        {
            observer.host_waits_for_nothing(Origin::here());
        }
    }

    fn check_waitable(&self) -> Result<()> {
        self.check_alive()?;
        if self.recording().is_some() {
            return Err(DeviceError::new(
                Status::StreamCaptureUnsupported,
                "the host can neither query nor wait for an event that was recorded in a capture",
            ));
        }
        Ok(())
    }

    /// Returns the milliseconds from this event's record to that of `end`.
    ///
    /// # Errors
    /// `InvalidHandle` if one was not recorded or created without timing, `NotReady` if one was not
    /// reached, `StreamCaptureUnsupported` if one was recorded in a capture.
    pub fn elapsed_ms(&self, end: &Self) -> Result<f32> {
        self.check_alive()?;
        check(end, self.context())?;
        for event in [self, end] {
            if !event.0.timing {
                return Err(DeviceError::new(Status::InvalidHandle, "the event was created without timing"));
            }
            if !event.is_recorded() {
                return Err(DeviceError::new(Status::InvalidHandle, "the event was never recorded"));
            }
        }
        if !(self.query()? && end.query()?) {
            return Err(DeviceError::new(Status::NotReady, "the events are not complete yet"));
        }
        self.context().hal().elapsed_ms(&self.0.hal, &end.0.hal)
    }

    /// Destroys the event. Work that waits for it still waits, but further uses of the event are
    /// errors.
    ///
    /// # Errors
    /// `InvalidHandle` if it was destroyed before.
    pub fn destroy(&self) -> Result<()> {
        if self.0.destroyed.swap(true, Ordering::AcqRel) {
            return Err(DeviceError::new(Status::InvalidHandle, "the event was destroyed already"));
        }
        Ok(())
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}", self.0.id)
    }
}
