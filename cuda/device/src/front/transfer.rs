//! Copies.
//!
//! A copy is queued and returns. The host memory that it uses is held until the copy is done,
//! pinned or pageable. Small pageable sources are the exception: as in CUDA, they are first copied
//! to a staging buffer. [`Transferred`] says when the program may use its buffer again.

#![expect(unsafe_code, reason = "host memory is handed to the device, held by guards until the copy is done")]

use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Diagnostic, ErrorCode};

use super::buffer::DeviceBuffer;
use super::context::Context;
use super::host_hold::Hold;
use super::managed::Queueing;
use super::pieces::MAX_WHOLE_BYTES;
use super::stream::{Stream, check_stream};
use crate::error::{DeviceError, Result, Status};
use crate::hal::{Copy2d, Endpoint};
use crate::trace::WorkSize;

/// The largest source, in bytes, that is copied to a staging buffer.
const MAX_STAGED_BYTES: usize = 64 << 10;

/// The names of copies in traces.
pub(super) const FROM_HOST: &str = "copy from host to device";
pub(super) const TO_HOST: &str = "copy from device to host";
const ON_DEVICE: &str = "copy from device to device";

/// When the host may use its buffer again after a copy.
pub enum Transferred {
    /// Now.
    Now,
    /// When the callback that is passed to this function is called. The copy uses pageable memory,
    /// for which CUDA would return only after the copy.
    Later(Box<dyn FnOnce(Then) -> Result<()> + Send>),
}

/// A callback for the end of a copy.
pub type Then = Box<dyn FnOnce(Result<()>) + Send>;

impl std::fmt::Debug for Transferred {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Now => "Now",
            Self::Later(_) => "Later",
        })
    }
}

impl Transferred {
    /// Calls `then` when the host may use its buffer again.
    ///
    /// # Errors
    /// Any error of the device.
    pub fn when_done(self, then: impl FnOnce(Result<()>) + Send + 'static) -> Result<()> {
        match self {
            Self::Now => {
                then(Ok(()));
                Ok(())
            }
            Self::Later(register) => register(Box::new(then)),
        }
    }
}

/// Pinned memory that a copy uses as a staging buffer.
pub(super) struct Staging {
    context: Context,
    memory: *mut u8,
}

// SAFETY: this is plain memory that this value owns.
unsafe impl Send for Staging {}
// SAFETY: this is plain memory that this value owns, and shared access only reads the pointer.
unsafe impl Sync for Staging {}

impl Staging {
    pub(super) fn new(context: &Context, bytes: usize) -> Result<Self> {
        Ok(Self { context: context.clone(), memory: context.hal().allocate_host(bytes.max(1))? })
    }

    pub(super) fn memory(&self) -> *mut u8 {
        self.memory
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // SAFETY: the memory came from this context's `allocate_host`, and a staging buffer is
        // dropped only after its copies are done.
        drop(unsafe { self.context.hal().free_host(self.memory) });
    }
}

fn host_part(buffer: &HostBuffer, offset: u64, bytes: u64, what: &str) -> Result<*mut u8> {
    match offset.checked_add(bytes) {
        // SAFETY: the offset is within the buffer, or one past its end.
        Some(end) if end <= buffer.len() as u64 => Ok(unsafe { buffer.as_ptr().add(offset as usize) }),
        _ => Err(DeviceError::invalid_value(format!(
            "{what} ({bytes} bytes from byte {offset}) exceeds a host buffer of {} bytes",
            buffer.len()
        ))),
    }
}

/// Checks that the memory may be an end of a captured copy, which cannot use a staging buffer.
fn refuse_pageable(context: &Context, buffer: &HostBuffer) -> Result<()> {
    if context.is_pinned(buffer) || context.device().properties().pageable_copies {
        return Ok(());
    }
    let why = "a copy of host memory that is not pinned cannot be captured";
    Err(DeviceError::new(Status::StreamCaptureUnsupported, why))
}

/// The shape of a copy: `height` rows of `width` bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) width: u64,
    pub(super) height: u64,
}

impl Extent {
    fn linear(bytes: u64) -> Self {
        Self { width: bytes, height: 1 }
    }

    fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// Returns the number of bytes from the beginning of the first row to the end of the last, with
    /// rows `pitch` bytes apart.
    fn span(self, pitch: u64, what: &str) -> Result<u64> {
        if pitch < self.width {
            let detail = format!("{what}: rows of {} bytes do not fit a pitch of {pitch}", self.width);
            return Err(DeviceError::invalid_value(detail));
        }
        let rows = self.height.saturating_sub(1).checked_mul(pitch);
        let span = rows.and_then(|rows| rows.checked_add(self.width));
        span.ok_or_else(|| DeviceError::invalid_value(format!("{what} is too large")))
    }

    /// Returns the copy of rows between two places. It is a single row if there are no gaps.
    pub(super) fn copy(self, (dst, dst_pitch): (Endpoint, u64), (src, src_pitch): (Endpoint, u64)) -> Copy2d {
        if dst_pitch == self.width && src_pitch == self.width && self.height > 1 {
            // The rows lie in memory, so this cannot overflow.
            let whole = Self::linear(self.width * self.height);
            return whole.copy((dst, whole.width), (src, whole.width));
        }
        let (dst_pitch, src_pitch) = (dst_pitch as usize, src_pitch as usize);
        let (width, height) = (self.width as usize, self.height as usize);
        Copy2d { dst, dst_pitch, src, src_pitch, width, height }
    }
}

/// Copies rows on the host.
///
/// # Safety
/// The rows of `src` are readable, those of `dst` are writable, and they do not overlap.
pub(super) unsafe fn copy_rows(dst: (*mut u8, u64), src: (*const u8, u64), extent: Extent) {
    for row in 0..extent.height {
        // SAFETY: the caller promises that every row is valid.
        unsafe {
            let (to, from) = (dst.0.add((row * dst.1) as usize), src.0.add((row * src.1) as usize));
            std::ptr::copy_nonoverlapping(from, to, extent.width as usize);
        }
    }
}

impl Stream {
    /// Copies `bytes` from a host buffer.
    ///
    /// # Errors
    /// `InvalidValue` if a range exceeds its buffer; [`ErrorCode::DataRace`] while a host kernel
    /// writes the source.
    pub fn copy_from_host(
        &self,
        dst: &DeviceBuffer,
        dst_offset: u64,
        src: &HostBuffer,
        src_offset: u64,
        bytes: u64,
    ) -> Result<Transferred, Diagnostic> {
        self.rows_from_host((dst, dst_offset, bytes), (src, src_offset, bytes), Extent::linear(bytes))
    }

    /// Copies `height` rows of `width` bytes from a host buffer. Each side is a buffer, the offset
    /// of its first row, and the distance between rows in bytes.
    ///
    /// # Errors
    /// The errors of [`Stream::copy_from_host`]; `InvalidValue` if rows overlap (a pitch below the
    /// width).
    pub fn copy_2d_from_host(
        &self,
        dst: (&DeviceBuffer, u64, u64),
        src: (&HostBuffer, u64, u64),
        width: u64,
        height: u64,
    ) -> Result<Transferred, Diagnostic> {
        self.rows_from_host(dst, src, Extent { width, height })
    }

    fn rows_from_host(
        &self,
        (dst, dst_offset, dst_pitch): (&DeviceBuffer, u64, u64),
        (src, src_offset, src_pitch): (&HostBuffer, u64, u64),
        extent: Extent,
    ) -> Result<Transferred, Diagnostic> {
        let mut queueing = Queueing::on(self);
        let span = extent.span(dst_pitch, "the destination")?;
        let address = dst.range(&mut queueing, dst_offset, span, "the destination")?;
        let source = host_part(src, src_offset, extent.span(src_pitch, "the source")?, "the source")?;
        if extent.is_empty() {
            return Ok(Transferred::Now);
        }
        let context = self.context();
        let to = (Endpoint::Device(address), dst_pitch);
        let direct = extent.copy(to, (Endpoint::Host(source), src_pitch));
        if self.is_capturing() {
            refuse_pageable(context, src)?;
            queueing.record(|recorded| recorded.host_reads.push(src.clone()));
            // SAFETY: the graph keeps the buffer alive and holds it for each launch.
            unsafe { self.queue_rows(&direct)? };
            return Ok(Transferred::Now);
        }
        // The rows fit into the source, so this cannot overflow.
        let bytes = (extent.width * extent.height) as usize;
        let pinned = context.is_pinned(src);
        if pinned || (context.device().properties().pageable_copies && bytes > MAX_STAGED_BYTES) {
            let hold = Hold::read(src, context)?;
            // SAFETY: until the stream has passed the copy, the hold keeps the buffer alive and
            // writers away.
            unsafe { self.queue_rows(&direct)? };
            drop(queueing);
            return self.finish(Box::new(move || drop(hold)), pinned);
        }
        if bytes as u64 > MAX_WHOLE_BYTES && !context.device().properties().pageable_copies {
            let (from, hold) = ((Endpoint::Host(source), src_pitch), Hold::read(src, context)?);
            // SAFETY: both ends were checked to lie in their buffers, and this one is held.
            return unsafe { self.copy_in_pieces(to, from, extent, hold, queueing) };
        }
        let staging = Staging::new(context, bytes)?;
        // Not shared with a copy that writes the buffer: this one reads now, and not when the
        // stream reaches it.
        let guard = Hold::read_now(src, context)?;
        // SAFETY: the guard keeps the source readable. The staging buffer has room for the rows
        // without gaps, and nobody else uses it.
        unsafe { copy_rows((staging.memory, extent.width), (source, src_pitch), extent) };
        drop(guard);
        let staged = extent.copy(to, (Endpoint::Host(staging.memory), extent.width));
        // SAFETY: the staging buffer lives until the stream has passed the copy.
        unsafe { self.queue_rows(&staged)? };
        drop(queueing);
        self.as_ref().release_with_next(Box::new(move || drop(staging)))?;
        Ok(Transferred::Now)
    }

    /// Copies `bytes` to a host buffer.
    ///
    /// # Errors
    /// `InvalidValue` if a range exceeds its buffer; [`ErrorCode::DataRace`] while a host kernel
    /// uses the destination.
    pub fn copy_to_host(
        &self,
        dst: &HostBuffer,
        dst_offset: u64,
        src: &DeviceBuffer,
        src_offset: u64,
        bytes: u64,
    ) -> Result<Transferred, Diagnostic> {
        self.rows_to_host((dst, dst_offset, bytes), (src, src_offset, bytes), Extent::linear(bytes))
    }

    /// Copies `height` rows of `width` bytes to a host buffer, with arguments as in
    /// [`Stream::copy_2d_from_host`]. Bytes of the destination between the rows are not changed.
    ///
    /// # Errors
    /// The errors of [`Stream::copy_to_host`]; `InvalidValue` if rows overlap (a pitch below the
    /// width).
    pub fn copy_2d_to_host(
        &self,
        dst: (&HostBuffer, u64, u64),
        src: (&DeviceBuffer, u64, u64),
        width: u64,
        height: u64,
    ) -> Result<Transferred, Diagnostic> {
        self.rows_to_host(dst, src, Extent { width, height })
    }

    fn rows_to_host(
        &self,
        (dst, dst_offset, dst_pitch): (&HostBuffer, u64, u64),
        (src, src_offset, src_pitch): (&DeviceBuffer, u64, u64),
        extent: Extent,
    ) -> Result<Transferred, Diagnostic> {
        let mut queueing = Queueing::on(self);
        let span = extent.span(src_pitch, "the source")?;
        let address = src.range(&mut queueing, src_offset, span, "the source")?;
        let destination =
            host_part(dst, dst_offset, extent.span(dst_pitch, "the destination")?, "the destination")?;
        if !dst.is_writable() {
            return Err(Diagnostic::new(
                ErrorCode::FailedPrecondition,
                "the destination's memory is read-only",
            ));
        }
        if extent.is_empty() {
            return Ok(Transferred::Now);
        }
        let context = self.context();
        let from = (Endpoint::Device(address), src_pitch);
        let direct = extent.copy((Endpoint::Host(destination), dst_pitch), from);
        if self.is_capturing() {
            refuse_pageable(context, dst)?;
            queueing.record(|recorded| recorded.host_writes.push(dst.clone()));
            // SAFETY: the graph keeps the buffer alive and holds it for each launch.
            unsafe { self.queue_rows(&direct)? };
            return Ok(Transferred::Now);
        }
        let hold = Hold::write(dst, context)?;
        let pinned = context.is_pinned(dst);
        if pinned || context.device().properties().pageable_copies {
            // SAFETY: until the stream has passed the copy, the hold keeps the buffer alive and all
            // others away.
            unsafe { self.queue_rows(&direct)? };
            drop(queueing);
            return self.finish(Box::new(move || drop(hold)), pinned);
        }
        // The rows fit into the destination, so this cannot overflow.
        let bytes = extent.width * extent.height;
        if bytes > MAX_WHOLE_BYTES {
            let to = (Endpoint::Host(destination), dst_pitch);
            // SAFETY: both ends were checked to lie in their buffers, and this one is held.
            return unsafe { self.copy_in_pieces(to, from, extent, hold, queueing) };
        }
        let staging = Staging::new(context, bytes as usize)?;
        let staged = extent.copy((Endpoint::Host(staging.memory), extent.width), from);
        // SAFETY: the staging buffer lives until the stream has passed the copy.
        unsafe { self.queue_rows(&staged)? };
        drop(queueing);
        let destination = destination.expose_provenance();
        let release = move || {
            let to = std::ptr::with_exposed_provenance_mut::<u8>(destination);
            // SAFETY: the stream has passed the copy. The destination has room for the rows and is
            // held.
            unsafe { copy_rows((to, dst_pitch), (staging.memory, extent.width), extent) };
            drop((hold, staging));
        };
        self.finish(Box::new(release), false)
    }

    /// Queues a copy of rows, or a plain copy if there is only one row.
    ///
    /// # Safety
    /// The ends on the host meet the requirements of the backend's copies.
    pub(super) unsafe fn queue_rows(&self, copy: &Copy2d) -> Result<()> {
        let (hal, stream, bytes) = (self.context().hal(), self.hal(), copy.width);
        let describe = || {
            let name = match (copy.dst, copy.src) {
                _ if copy.height > 1 => "two-dimensional copy",
                (Endpoint::Device(_), Endpoint::Host(_)) => FROM_HOST,
                (Endpoint::Host(_), Endpoint::Device(_)) => TO_HOST,
                _ => ON_DEVICE,
            };
            WorkSize::Bytes((bytes * copy.height) as u64).describe(name)
        };
        // SAFETY: the caller promises that the ends on the host are valid.
        let queue = || unsafe {
            match (copy.height, copy.dst, copy.src) {
                (1, Endpoint::Device(dst), Endpoint::Host(src)) => {
                    hal.copy_host_to_device(stream, dst, src, bytes)
                }
                (1, Endpoint::Host(dst), Endpoint::Device(src)) => {
                    hal.copy_device_to_host(stream, dst, src, bytes)
                }
                (1, Endpoint::Device(dst), Endpoint::Device(src)) => {
                    hal.copy_device_to_device(stream, dst, src, bytes as u64)
                }
                _ => hal.copy_2d(stream, copy),
            }
        };
        self.traced(describe, queue)
    }

    /// Calls `release` when the stream has passed. Returns whether the host may continue at once or
    /// must wait for that.
    pub(super) fn finish(
        &self,
        release: Box<dyn FnOnce() + Send>,
        at_once: bool,
    ) -> Result<Transferred, Diagnostic> {
        if at_once {
            self.as_ref().release_with_next(release)?;
            return Ok(Transferred::Now);
        }
        // Registered now, so that later work on the stream does not delay it. The outcome is told
        // when somebody asks.
        let meeting = Arc::new(Mutex::new(Meeting::default()));
        let done = meeting.clone();
        self.release_after(Some(release), Some(Box::new(move |outcome| Meeting::finished(&done, outcome))))?;
        Ok(Transferred::Later(Box::new(move |then| {
            Meeting::wanted(&meeting, then);
            Ok(())
        })))
    }

    /// Copies on the stream's device, or, with `peer`, between any two devices of the same backend.
    /// As in CUDA, a peer copy may be queued on a stream of any device. Ranges may overlap.
    ///
    /// # Errors
    /// `InvalidValue` if a range exceeds its buffer; `InvalidContext` for a buffer of another
    /// device, unless `peer`; `PeerAccessUnsupported` if the source's device cannot access the
    /// destination's memory, or if the stream's device is a third one and cannot access one of the
    /// two.
    pub fn copy(
        &self,
        (dst, dst_offset): (&DeviceBuffer, u64),
        (src, src_offset): (&DeviceBuffer, u64),
        bytes: u64,
        peer: bool,
    ) -> Result<()> {
        let mut queueing = Queueing::on(self);
        let (to, from) = if peer {
            dst.used_by_peer(&mut queueing)?;
            src.used_by_peer(&mut queueing)?;
            let [own, to, from] = [self.context(), dst.context(), src.context()].map(Context::device);
            let is_third = own.ordinal() != to.ordinal() && own.ordinal() != from.ordinal();
            let pairs = [(from, to), (own, to), (own, from)];
            for (one, other) in pairs.into_iter().take(if is_third { 3 } else { 1 }) {
                if one.ordinal() != other.ordinal() && !one.can_access_peer(other)? {
                    let detail = format!("devices {} and {}", one.ordinal(), other.ordinal());
                    return Err(DeviceError::new(Status::PeerAccessUnsupported, detail));
                }
            }
            (dst.part(dst_offset, bytes, "the destination")?, src.part(src_offset, bytes, "the source")?)
        } else {
            (
                dst.range(&mut queueing, dst_offset, bytes, "the destination")?,
                src.range(&mut queueing, src_offset, bytes, "the source")?,
            )
        };
        if bytes == 0 {
            return Ok(());
        }
        self.traced(
            || WorkSize::Bytes(bytes).describe(ON_DEVICE),
            || self.context().hal().copy_device_to_device(self.hal(), to, from, bytes),
        )
    }

    /// Copies `height` rows of `width` bytes. Each side is a buffer, the offset of its first row,
    /// and the distance between rows in bytes.
    ///
    /// # Errors
    /// `InvalidValue` if rows overlap (a pitch below the width) or exceed their buffer.
    pub fn copy_2d(
        &self,
        (dst, dst_offset, dst_pitch): (&DeviceBuffer, u64, u64),
        (src, src_offset, src_pitch): (&DeviceBuffer, u64, u64),
        width: u64,
        height: u64,
    ) -> Result<()> {
        let extent = Extent { width, height };
        let mut queueing = Queueing::on(self);
        let [dst_span, src_span] =
            [extent.span(dst_pitch, "the destination")?, extent.span(src_pitch, "the source")?];
        let to = dst.range(&mut queueing, dst_offset, dst_span, "the destination")?;
        let from = src.range(&mut queueing, src_offset, src_span, "the source")?;
        if extent.is_empty() {
            return Ok(());
        }
        let copy = extent.copy((Endpoint::Device(to), dst_pitch), (Endpoint::Device(from), src_pitch));
        // SAFETY: neither end is on the host.
        unsafe { self.queue_rows(&copy) }
    }
}

impl Context {
    /// Allocates a pinned host buffer, which copies use directly.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn allocate_pinned(&self, bytes: usize) -> Result<HostBuffer> {
        /// Frees the pinned memory when the buffer is dropped.
        struct Pinned(Staging, usize);
        impl Drop for Pinned {
            fn drop(&mut self) {
                self.0.context.remove_pinned(self.1);
            }
        }
        let staging = Staging::new(self, bytes)?;
        let memory = staging.memory;
        // SAFETY: the memory was just allocated with at least this size.
        unsafe { memory.write_bytes(0, bytes) };
        self.add_pinned(memory.addr()..memory.addr() + bytes)?;
        let owner = Box::new(Pinned(staging, memory.addr()));
        // SAFETY: the memory is initialized, lives as long as its owner, and nobody else knows it.
        Ok(unsafe { HostBuffer::from_raw(memory, bytes, true, owner) })
    }

    /// Pins the memory of a host buffer until [`Context::unregister_host`], and keeps it alive.
    /// Both calls may block, so never call them on a compute thread.
    ///
    /// # Errors
    /// `HostMemoryAlreadyRegistered`, or any error of the device.
    pub fn register_host(&self, buffer: &HostBuffer) -> Result<()> {
        let start = buffer.as_ptr();
        if buffer.is_empty() {
            return Err(DeviceError::invalid_value("an empty buffer cannot be registered"));
        }
        self.add_pinned(start.addr()..start.addr() + buffer.len())?;
        // SAFETY: `registered` keeps the buffer alive until it is unregistered.
        if let Err(error) = unsafe { self.hal().register_host(start, buffer.len()) } {
            self.remove_pinned(start.addr());
            return Err(error);
        }
        self.keep_registered(buffer.clone());
        Ok(())
    }

    /// Unpins memory that [`Context::register_host`] pinned.
    ///
    /// # Errors
    /// `HostMemoryNotRegistered`.
    pub fn unregister_host(&self, buffer: &HostBuffer) -> Result<()> {
        if !self.forget_registered(buffer) {
            return Err(Status::HostMemoryNotRegistered.into());
        }
        self.remove_pinned(buffer.as_ptr().addr());
        self.hal().unregister_host(buffer.as_ptr())
    }

    /// Checks that a stream belongs to this context. Kernels name both.
    ///
    /// # Errors
    /// `InvalidContext`.
    pub fn check_stream(&self, stream: &Stream) -> Result<()> {
        check_stream(stream, self)
    }
}

/// Connects the end of a copy with the callback that waits for it.
#[derive(Default)]
struct Meeting {
    outcome: Option<Result<()>>,
    then: Option<Then>,
}

impl Meeting {
    fn finished(meeting: &Mutex<Self>, outcome: Result<()>) {
        let mut state = meeting.lock();
        match state.then.take() {
            Some(then) => {
                drop(state);
                then(outcome);
            }
            None => state.outcome = Some(outcome),
        }
    }

    fn wanted(meeting: &Mutex<Self>, then: Then) {
        let mut state = meeting.lock();
        match state.outcome.take() {
            Some(outcome) => {
                drop(state);
                then(outcome);
            }
            None => state.then = Some(then),
        }
    }
}
