//! Streams.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::buffer::GrantedFor;
use super::completion::{Release, Tell};
use super::context::{Context, Counted, next_id};
use super::event::Event;
use super::graph::Recorded;
use super::{Owned, check};
use crate::error::{DeviceError, Result, Status};
use crate::hal::{Erased, LetGo, Pattern, StreamOptions};

/// A stream. Cloning shares it; when the last handle goes, queued work goes on.
#[derive(Clone)]
pub struct Stream {
    handle: Arc<Handle>,
}

/// Tells the allocators when it goes.
struct Handle(StreamRef);

/// A stream as allocators remember it.
#[derive(Clone)]
pub(crate) struct StreamRef(Arc<Inner>);

struct Inner {
    id: u64,
    hal: LetGo<Erased>,
    counted: Counted,
    /// What is recorded in the capture that goes on, if one does.
    recording: Mutex<Option<Arc<Mutex<Recorded>>>>,
    is_capturing: AtomicBool,
}

impl Owned for Stream {
    const KIND: &'static str = "stream";

    fn context(&self) -> &Context {
        self.inner().counted.context()
    }
}

impl Context {
    /// A stream, which synchronizes with no other.
    ///
    /// # Errors
    /// The device's.
    pub fn create_stream(&self, options: StreamOptions) -> Result<Stream> {
        let inner = Inner {
            id: next_id(),
            hal: self.owned(self.hal().create_stream(options)?),
            counted: Counted::new(self, |live| &live.streams),
            recording: Mutex::default(),
            is_capturing: AtomicBool::new(false),
        };
        Ok(Stream { handle: Arc::new(Handle(StreamRef(Arc::new(inner)))) })
    }

    /// The least and the most urgent priority a stream may have; lower numbers are more urgent.
    ///
    /// # Errors
    /// The device's.
    pub fn priority_range(&self) -> Result<(i32, i32)> {
        self.hal().priority_range()
    }
}

impl Stream {
    fn inner(&self) -> &Inner {
        &self.handle.0.0
    }

    /// Its context.
    pub fn context(&self) -> &Context {
        Owned::context(self)
    }

    /// Tells streams apart.
    pub fn id(&self) -> u64 {
        self.inner().id
    }

    pub(super) fn hal(&self) -> &Erased {
        &self.inner().hal
    }

    /// The stream in what is granted for it.
    pub(super) fn granted_for(&self) -> GrantedFor {
        let context = self.context();
        let observed = if context.is_observed() { context.hal().stream_id(self.hal()) } else { 0 };
        GrantedFor { id: self.id(), observed }
    }

    pub(super) fn as_ref(&self) -> &StreamRef {
        &self.handle.0
    }

    /// Whether all queued work is done.
    ///
    /// # Errors
    /// That of the work, if it failed.
    pub fn query(&self) -> Result<bool> {
        self.context().hal().query_stream(self.hal())
    }

    /// Waits until all queued work is done. Blocks the calling thread, so never call it on one that computes.
    ///
    /// # Errors
    /// That of the work, if it failed; `StreamCaptureUnsupported` while the stream is captured.
    pub fn synchronize(&self) -> Result<()> {
        self.refuse_while_capturing("a stream that is captured cannot be waited for")?;
        let done = self.context().hal().synchronize_stream(self.hal());
        self.context().completed().settle();
        done
    }

    /// Calls `tell` when all work queued so far is done, without blocking anybody.
    ///
    /// # Errors
    /// The device's.
    pub fn when_done(&self, tell: impl FnOnce(Result<()>) + Send + 'static) -> Result<()> {
        self.refuse_while_capturing("a stream that is captured cannot be waited for")?;
        self.after(None, Some(Box::new(tell)))
    }

    pub(super) fn after(&self, release: Option<Release>, tell: Option<Tell>) -> Result<()> {
        self.as_ref().after(release, tell)
    }

    /// Lets work queued after this wait for the event's latest record. What was never recorded is not waited for.
    ///
    /// # Errors
    /// The device's; `InvalidContext` for an event of another backend's.
    pub fn wait(&self, event: &Event) -> Result<()> {
        event.check_alive()?;
        let kin = event.context().device().is_kin(self.context().device());
        if !kin {
            return Err(DeviceError::new(Status::InvalidContext, "the event belongs to another backend"));
        }
        self.context().hal().wait_event(self.hal(), event.hal())?;
        if let Some(recording) = event.recording() {
            self.set_recording(Some(recording));
        }
        Ok(())
    }

    /// Fills a part of a buffer with copies of a pattern.
    ///
    /// # Errors
    /// `InvalidValue` if it does not lie in the buffer, or not at a multiple of the pattern's size.
    pub fn set(&self, dst: &super::DeviceBuffer, offset: u64, pattern: Pattern, count: u64) -> Result<()> {
        let bytes =
            count.checked_mul(pattern.size()).ok_or_else(|| DeviceError::from(Status::InvalidValue))?;
        let address = dst.range(self, offset, bytes, "the memory to set")?;
        if !address.is_multiple_of(pattern.size()) {
            let detail = format!("{address:#x} is not a multiple of the pattern's {} bytes", pattern.size());
            return Err(DeviceError::invalid_value(detail));
        }
        if count == 0 {
            return Ok(());
        }
        self.context().hal().set(self.hal(), address, pattern, count)
    }

    /// Calls `callback` on a thread of the driver's when the stream gets there. It delays the stream by its own time and
    /// more (about 100 µs on a GPU), and must not call the device. To learn of completion, use [`Stream::when_done`].
    ///
    /// # Errors
    /// The device's; `StreamCaptureUnsupported` while the stream is captured.
    pub fn host_callback(&self, callback: impl FnOnce() + Send + 'static) -> Result<()> {
        self.refuse_while_capturing("callbacks cannot be captured")?;
        self.context().hal().host_callback(self.hal(), Box::new(callback))
    }

    /// Whether the stream takes part in a capture.
    pub fn is_capturing(&self) -> bool {
        self.as_ref().is_capturing()
    }

    pub(super) fn refuse_while_capturing(&self, why: &str) -> Result<()> {
        if self.is_capturing() {
            return Err(DeviceError::new(Status::StreamCaptureUnsupported, why));
        }
        Ok(())
    }

    pub(super) fn recording(&self) -> Option<Arc<Mutex<Recorded>>> {
        if !self.is_capturing() {
            return None;
        }
        self.inner().recording.lock().clone()
    }

    pub(super) fn set_recording(&self, recording: Option<Arc<Mutex<Recorded>>>) {
        if let Some(recording) = &recording {
            let mut recorded = recording.lock();
            if !recorded.streams.iter().any(|stream| stream.0.id == self.id()) {
                recorded.streams.push(self.as_ref().clone());
            }
        }
        self.inner().is_capturing.store(recording.is_some(), Ordering::Release);
        *self.inner().recording.lock() = recording;
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

    /// Calls `release`, then `tell`, when all work queued so far is done.
    pub(super) fn after(&self, release: Option<Release>, tell: Option<Tell>) -> Result<()> {
        self.0.counted.context().completed().after(self, release, tell)
    }

    /// Ends its part in a capture.
    pub(super) fn end_recording(&self) {
        self.0.is_capturing.store(false, Ordering::Release);
        *self.0.recording.lock() = None;
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
        if self.0.is_capturing() {
            // What is recorded keeps the streams that take part, and they keep it: a capture that nobody can end any more
            // is over here.
            drop(context.hal().end_capture(&self.0.0.hal));
            self.0.end_recording();
        }
        for allocator in context.allocators() {
            // A stream that the allocator cannot fence any more keeps its memory until the allocator goes.
            drop(allocator.forget_stream(&self.0));
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

/// That both are of the context.
pub(super) fn check_stream(stream: &Stream, context: &Context) -> Result<()> {
    check(stream, context)
}
