//! Streams.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};

use super::backing::Fence;
use super::buffer::GrantedFor;
use super::completion::{Release, Tell};
use super::context::{Context, Counted, next_id};
use super::event::Event;
use super::graph::Recorded;
use super::host_hold::Hold;
use super::managed::Queueing;
use super::pieces::Side;
use super::{Owned, check};
use crate::error::{DeviceError, Result, Status};
use crate::hal::{Erased, Pattern, ReleasedOnDrop, StreamOptions};
use crate::origin::Origin;
use crate::trace::{StreamRow, WorkSize};

/// A stream. Clones share it. Dropping the last handle does not stop queued work.
#[derive(Clone)]
pub struct Stream {
    handle: Arc<Handle>,
}

/// Notifies the allocators when the stream is dropped.
struct Handle(StreamRef);

/// A stream in the form that allocators keep.
#[derive(Clone)]
pub(crate) struct StreamRef(Arc<Inner>);

struct Inner {
    id: u64,
    hal: ReleasedOnDrop<Erased>,
    counted: Counted,
    /// Its row in the trace, unless the backend has one.
    row: Option<Arc<StreamRow>>,
    /// The capture that it takes part in. Locked while the runtime records or queries an event of
    /// the stream, so that no capture begins meanwhile.
    capture: Mutex<Option<Capture>>,
    is_capturing: AtomicBool,
    /// Unified memory that work after the last recorded point may use.
    held: Mutex<Vec<Arc<Hold>>>,
    is_holding: AtomicBool,
    /// Whether releases wait for the next event on the stream.
    has_unmarked: AtomicBool,
    /// The stream for pieces of large copies, created at the first of them.
    side: Mutex<Option<Side>>,
}

/// A capture, from the view of a participating stream.
pub(super) struct Capture {
    recorded: Arc<Mutex<Recorded>>,
    /// A fence after all work queued before. While the stream takes part, no other work is queued
    /// on it and it must not be queried. This fence is queried instead.
    pub(super) before: Arc<Fence>,
}

impl Owned for Stream {
    const KIND: &'static str = "stream";

    fn context(&self) -> &Context {
        self.inner().counted.context()
    }
}

impl Context {
    /// Creates a stream that synchronizes with no other.
    ///
    /// # Errors
    /// Any error of the device.
    pub fn create_stream(&self, options: StreamOptions) -> Result<Stream> {
        let is_measured = !self.hal().records_work();
        let inner = Inner {
            id: next_id(),
            hal: self.owned(self.hal().create_stream(options)?),
            counted: Counted::new(self, |live| &live.streams),
            row: is_measured.then(|| Arc::new(StreamRow::new(self.device().ordinal()))),
            capture: Mutex::default(),
            is_capturing: AtomicBool::new(false),
            held: Mutex::default(),
            is_holding: AtomicBool::new(false),
            has_unmarked: AtomicBool::new(false),
            side: Mutex::default(),
        };
        Ok(Stream { handle: Arc::new(Handle(StreamRef(Arc::new(inner)))) })
    }

    /// Returns the least and the most urgent priority of streams. Lower numbers are more urgent.
    ///
    /// # Errors
    /// Any error of the device.
    pub fn priority_range(&self) -> Result<(i32, i32)> {
        self.hal().priority_range()
    }
}

impl Stream {
    fn inner(&self) -> &Inner {
        &self.handle.0.0
    }

    /// Returns its context.
    pub fn context(&self) -> &Context {
        Owned::context(self)
    }

    /// Returns a number that is unique among streams.
    pub fn id(&self) -> u64 {
        self.inner().id
    }

    pub(super) fn hal(&self) -> &Erased {
        &self.inner().hal
    }

    /// Returns the stream's row in the trace, unless the backend records its work itself.
    pub(super) fn row(&self) -> Option<&Arc<StreamRow>> {
        self.inner().row.as_ref()
    }

    /// Returns the stream in the form that grants record.
    pub(super) fn granted_for(&self) -> GrantedFor {
        let context = self.context();
        let observed = if context.is_observed() { context.hal().stream_id(self.hal()) } else { 0 };
        GrantedFor { id: self.id(), observed }
    }

    /// Returns the stream for pieces of large copies. While the guard lives, no other copy begins.
    pub(super) fn side(&self) -> MutexGuard<'_, Option<Side>> {
        self.inner().side.lock()
    }

    pub(super) fn as_ref(&self) -> &StreamRef {
        &self.handle.0
    }

    /// Returns whether all queued work is done.
    ///
    /// # Errors
    /// The failure of the work; `StreamCaptureUnsupported` while the stream is captured.
    pub fn query(&self) -> Result<bool> {
        self.refuse_while_capturing("a stream cannot be queried while it is captured")?;
        self.as_ref().mark_held()?;
        let done = self.context().hal().query_stream(self.hal());
        if matches!(done, Ok(true)) {
            self.context().completed().settle();
        }
        done
    }

    /// Waits until all queued work is done. Blocks the calling thread, so never call it on a
    /// compute thread.
    ///
    /// # Errors
    /// The failure of the work; `StreamCaptureUnsupported` while the stream is captured.
    pub fn synchronize(&self) -> Result<()> {
        self.refuse_while_capturing("a stream cannot be waited for while it is captured")?;
        let marked = self.as_ref().mark_held();
        let done = self.context().hal().synchronize_stream(self.hal());
        self.context().completed().settle();
        done.and(marked)
    }

    /// Calls `tell` when all work queued so far is done, without blocking.
    ///
    /// # Errors
    /// Any error of the device.
    pub fn when_done(&self, tell: impl FnOnce(Result<()>) + Send + 'static) -> Result<()> {
        self.refuse_while_capturing("a stream cannot be waited for while it is captured")?;
        self.release_after(None, Some(Box::new(tell)))
    }

    pub(super) fn release_after(&self, release: Option<Release>, tell: Option<Tell>) -> Result<()> {
        self.as_ref().release_after(release, tell)
    }

    /// Makes work queued from now on wait for the event's latest record. Has no effect if the event
    /// was never recorded.
    ///
    /// # Errors
    /// Any error of the device; `InvalidContext` for an event of another backend;
    /// `StreamCaptureUnsupported` if the event was recorded in a capture that is over or is not the
    /// stream's, or outside of the capture that the stream takes part in.
    pub fn wait(&self, event: &Event) -> Result<()> {
        event.check_alive()?;
        let kin = event.context().device().is_kin(self.context().device());
        if !kin {
            return Err(DeviceError::new(Status::InvalidContext, "the event belongs to another backend"));
        }
        match event.recording() {
            Some(recorded) => self.join_capture(event, recorded),
            None if self.is_capturing() && event.is_recorded() => Err(DeviceError::new(
                Status::StreamCaptureUnsupported,
                "captured work cannot wait for an event that was recorded outside of the capture",
            )),
            None => self.context().hal().wait_event(self.hal(), event.hal()),
        }
    }

    /// Waits for an event that was recorded in a capture, and joins that capture.
    fn join_capture(&self, event: &Event, recorded: Arc<Mutex<Recorded>>) -> Result<()> {
        let refused = |why: &str| Err(DeviceError::new(Status::StreamCaptureUnsupported, why));
        let mut capture = self.inner().capture.lock();
        if capture.as_ref().is_some_and(|capture| !Arc::ptr_eq(&capture.recorded, &recorded)) {
            return refused("the event belongs to another capture");
        }
        if recorded.lock().is_over {
            return refused("the event was recorded in a capture that is over");
        }
        let wait = || self.context().hal().wait_event(self.hal(), event.hal());
        if capture.is_some() {
            return wait();
        }
        self.take_part(&mut capture, recorded, wait)
    }

    /// Makes the stream take part in a capture; `begin` queues the call to the device.
    fn take_part(
        &self,
        capture: &mut Option<Capture>,
        recorded: Arc<Mutex<Recorded>>,
        begin: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let before = Fence::record(self.context().hal_shared(), self.hal())?;
        begin()?;
        recorded.lock().streams.push(self.as_ref().clone());
        *capture = Some(Capture { recorded, before });
        self.inner().is_capturing.store(true, Ordering::Release);
        Ok(())
    }

    /// Begins a capture. Work queued from now on is recorded instead of executed.
    ///
    /// # Errors
    /// `IllegalState` if the stream is captured already.
    pub fn begin_capture(&self) -> Result<()> {
        let mut capture = self.inner().capture.lock();
        if capture.is_some() {
            return Err(DeviceError::new(Status::IllegalState, "the stream is being captured already"));
        }
        let began = self.context().observer().map(|_| Origin::here());
        let recorded = Recorded { began, ..Recorded::default() };
        let begin = || self.context().hal().begin_capture(self.hal());
        self.take_part(&mut capture, Arc::new(Mutex::new(recorded)), begin)
    }

    /// Fills a part of a buffer with `count` copies of a pattern.
    ///
    /// # Errors
    /// `InvalidValue` if the range exceeds the buffer or does not start at a multiple of the
    /// pattern's size.
    pub fn set(&self, dst: &super::DeviceBuffer, offset: u64, pattern: Pattern, count: u64) -> Result<()> {
        let bytes =
            count.checked_mul(pattern.size()).ok_or_else(|| DeviceError::from(Status::InvalidValue))?;
        let mut queueing = Queueing::on(self);
        let address = dst.range(&mut queueing, offset, bytes, "the memory to set")?;
        if !address.is_multiple_of(pattern.size()) {
            let detail = format!("{address:#x} is not a multiple of the pattern's {} bytes", pattern.size());
            return Err(DeviceError::invalid_value(detail));
        }
        if count == 0 {
            return Ok(());
        }
        self.traced(
            || WorkSize::Bytes(bytes).describe("memory set"),
            || self.context().hal().set(self.hal(), address, pattern, count),
        )
    }

    /// Calls `callback` on a thread of the driver when the stream reaches this point. The callback
    /// delays the stream by its own duration and about 100 µs on a GPU, and must not call the
    /// device. If the context fails first, the callback is called or dropped. To learn of
    /// completion, use [`Stream::when_done`] instead.
    ///
    /// # Errors
    /// Any error of the device; `StreamCaptureUnsupported` while the stream is captured.
    pub fn host_callback(&self, callback: impl FnOnce() + Send + 'static) -> Result<()> {
        self.refuse_while_capturing("callbacks cannot be captured")?;
        self.context().hal().host_callback(self.hal(), Box::new(callback))?;
        // This makes the completion thread poll the stream, so that it notices a failure of the
        // context.
        self.as_ref().mark(None)
    }

    /// Returns whether the stream takes part in a capture.
    pub fn is_capturing(&self) -> bool {
        self.as_ref().is_capturing()
    }

    pub(super) fn refuse_while_capturing(&self, why: &str) -> Result<()> {
        if self.is_capturing() {
            return Err(DeviceError::new(Status::StreamCaptureUnsupported, why));
        }
        Ok(())
    }

    #[inline]
    pub(super) fn recording(&self) -> Option<Arc<Mutex<Recorded>>> {
        self.as_ref().recording()
    }
}

impl StreamRef {
    pub(super) fn id(&self) -> u64 {
        self.0.id
    }

    pub(super) fn is_capturing(&self) -> bool {
        self.0.is_capturing.load(Ordering::Acquire)
    }

    pub(super) fn hal(&self) -> &Erased {
        &self.0.hal
    }

    /// Returns the stream's capture. While the guard lives, no capture begins or ends.
    pub(super) fn capture(&self) -> MutexGuard<'_, Option<Capture>> {
        self.0.capture.lock()
    }

    #[inline]
    fn recording(&self) -> Option<Arc<Mutex<Recorded>>> {
        if self.is_capturing() { self.recorded() } else { None }
    }

    #[cold]
    fn recorded(&self) -> Option<Arc<Mutex<Recorded>>> {
        self.capture().as_ref().map(|capture| capture.recorded.clone())
    }

    /// Returns a fence after all work queued on the stream, which excludes captured work.
    pub(super) fn fence(&self) -> Result<Arc<Fence>> {
        match &*self.capture() {
            Some(capture) => Ok(capture.before.clone()),
            None => Fence::record(self.0.counted.context().hal_shared(), self.hal()),
        }
    }

    /// Returns whether all work queued on the stream is done, which excludes captured work.
    pub(super) fn query(&self) -> Result<bool> {
        match &*self.capture() {
            Some(capture) => capture.before.query(),
            None => self.0.counted.context().hal().query_stream(self.hal()),
        }
    }

    /// Returns whether all its work is known to be done.
    pub(super) fn is_idle(&self) -> bool {
        self.capture().is_none() && self.0.counted.context().hal().query_stream(self.hal()).unwrap_or(false)
    }

    /// Makes later work wait for a fence.
    ///
    /// # Errors
    /// Any error of the device; `StreamCaptureUnsupported` while the stream is captured.
    pub(super) fn wait(&self, fence: &Fence) -> Result<()> {
        let capture = self.capture();
        if capture.is_some() {
            let why = "captured work cannot wait for memory";
            return Err(DeviceError::new(Status::StreamCaptureUnsupported, why));
        }
        self.0.counted.context().hal().wait_event(self.hal(), fence.hal())
    }

    /// Keeps unified memory that queued work may use, until that work is known to be done.
    pub(super) fn leave(&self, holds: impl IntoIterator<Item = Arc<Hold>>) {
        let mut held = self.0.held.lock();
        for hold in holds {
            if !held.iter().any(|known| Arc::ptr_eq(known, &hold)) {
                held.push(hold);
            }
        }
        self.0.is_holding.store(!held.is_empty(), Ordering::Release);
    }

    /// Whether releases wait for the next event on the stream.
    pub(super) fn has_unmarked(&self) -> bool {
        self.0.has_unmarked.load(Ordering::Acquire)
    }

    pub(super) fn note_unmarked(&self, has_some: bool) {
        self.0.has_unmarked.store(has_some, Ordering::Release);
    }

    /// Marks the end of all work queued so far, if something is released then: unified memory that
    /// the stream keeps, or what waits for the next event.
    pub(super) fn mark_held(&self) -> Result<()> {
        let is_marked = !self.0.is_holding.load(Ordering::Acquire) && !self.has_unmarked();
        if is_marked { Ok(()) } else { self.release_after(None, None) }
    }

    /// Calls `release` some time after all work queued so far is done, with the next event that is
    /// recorded. A host that waits for the stream finds it released.
    pub(super) fn release_with_next(&self, release: Release) -> Result<()> {
        self.0.counted.context().completed().release_with_next(self, release)
    }

    /// Calls `release`, then `tell`, when all work queued so far is done.
    pub(super) fn release_after(&self, release: Option<Release>, tell: Option<Tell>) -> Result<()> {
        let completed = self.0.counted.context().completed();
        if !self.0.is_holding.load(Ordering::Acquire) {
            return completed.release_after(self, release, tell);
        }
        // Locked until the point is recorded, so that a later point releases nothing that belongs
        // to this one.
        let mut held = self.0.held.lock();
        let gone = std::mem::take(&mut *held);
        let all: Release = Box::new(move || {
            drop(gone);
            if let Some(release) = release {
                release();
            }
        });
        let marked = completed.release_after(self, Some(all), tell);
        self.0.is_holding.store(false, Ordering::Release);
        drop(held);
        marked
    }

    /// Calls `release` when all work queued so far is done. The program does not see this point, so
    /// the unified memory of the stream stays held.
    pub(super) fn mark(&self, release: Option<Release>) -> Result<()> {
        self.0.counted.context().completed().release_after(self, release, None)
    }

    /// Returns whether the stream's capture began on it.
    pub(super) fn began_capture(&self) -> bool {
        self.recording().is_some_and(|recording| recording.lock().streams.first() == Some(self))
    }

    /// Ends the capture for all streams that take part in it, and returns its record.
    pub(super) fn end_capture(&self) -> Option<Recorded> {
        let recording = self.recording()?;
        let over = Recorded { is_over: true, ..Recorded::default() };
        let recorded = std::mem::replace(&mut *recording.lock(), over);
        for stream in &recorded.streams {
            stream.0.is_capturing.store(false, Ordering::Release);
            *stream.capture() = None;
        }
        Some(recorded)
    }
}

impl PartialEq for StreamRef {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for StreamRef {}

impl Hash for StreamRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

impl fmt::Debug for StreamRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {}", self.0.id)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let context = self.0.0.counted.context();
        if self.0.began_capture() {
            // The record keeps the participating streams alive, and they keep the record. A capture
            // that nobody can end any more is over here.
            drop(context.hal().end_capture(&self.0.0.hal));
            let recorded = self.0.end_capture();
            if let Some(began) = recorded.and_then(|recorded| recorded.began)
                && let Some(observer) = context.observer()
            {
                observer.capture_left_open(context.hal().stream_id(&self.0.0.hal), began);
            }
        }
        // If no event can be recorded here, the release moves to a later point.
        drop(self.0.mark_held());
        for allocator in context.allocators() {
            // If the allocator cannot record a fence any more, it keeps the stream's memory until
            // it is dropped.
            drop(allocator.forget_stream(&self.0));
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

/// Checks that both belong to the context.
pub(super) fn check_stream(stream: &Stream, context: &Context) -> Result<()> {
    check(stream, context)
}
