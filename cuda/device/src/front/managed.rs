//! Unified memory: a device buffer that is a host buffer as well.
//!
//! The two sides take turns. The host owns the memory until work is queued that may use it. It owns
//! it again when the program has waited for that work. A call that queues such work takes the guard
//! of the host's side ([`Queueing`]) and leaves it with the stream. It stays there until a point
//! after the work is recorded that the program can wait for: an event, the end of the stream, or a
//! copy to the host. It is released when that point is reached. So a host kernel that does not wait
//! receives an error in every run, not only in unlucky ones.
//!
//! A launch may access any memory of its platform, regardless of its arguments, so it takes all
//! unified memory.
//!
//! The device's side ends when its last buffer is dropped and the streams have passed the last use;
//! the host's side ends when its last buffer is dropped. The memory is freed with the later of the
//! two.

#![expect(unsafe_code, reason = "the host's side is a buffer of the host's")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use smallvec::SmallVec;
use tfrt_host::host_buffer::HostBuffer;

use super::buffer::DeviceBuffer;
use super::context::Context;
use super::graph::Recorded;
use super::host_hold::Hold;
use super::stream::Stream;
use crate::error::{DeviceError, Result, Status};
use crate::hal::ManagedMemory;

/// The device's side of unified memory.
pub(super) struct DeviceSide {
    context: Context,
    address: u64,
    host: HostBuffer,
}

impl DeviceSide {
    pub(super) fn context(&self) -> &Context {
        &self.context
    }
}

impl Drop for DeviceSide {
    fn drop(&mut self) {
        self.context.device().managed().count.fetch_sub(1, Ordering::AcqRel);
        // A failure could not be reported to anybody.
        drop(self.context.hal().free(self.address));
    }
}

/// A platform's unified memory.
#[derive(Default)]
pub(super) struct AllManaged {
    sides: Mutex<Vec<Weak<DeviceSide>>>,
    /// The number that are alive. If it is zero, launches need no lock.
    count: AtomicUsize,
}

impl AllManaged {
    fn add(&self, side: &Arc<DeviceSide>) {
        let mut sides = self.sides.lock();
        sides.retain(|known| known.strong_count() > 0);
        sides.push(Arc::downgrade(side));
        self.count.fetch_add(1, Ordering::AcqRel);
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    fn live(&self) -> Vec<Arc<DeviceSide>> {
        self.sides.lock().iter().filter_map(Weak::upgrade).collect()
    }
}

impl Context {
    /// Allocates `bytes` of unified memory, filled with zeros. Returns a buffer for work on streams
    /// and one for the host, over the same memory. May block, so never call it on a compute thread.
    ///
    /// # Errors
    /// `InvalidValue` for zero bytes, `OutOfMemory`, or `NotSupported`.
    pub fn allocate_managed(&self, bytes: u64) -> Result<(DeviceBuffer, HostBuffer)> {
        let size = usize::try_from(bytes).map_err(|_| Status::OutOfMemory)?;
        if size == 0 {
            return Err(DeviceError::invalid_value("unified memory has at least one byte"));
        }
        let ManagedMemory { address, host, host_owner } = self.hal().allocate_managed(bytes)?;
        // SAFETY: the owner keeps this many initialized bytes alive. Work on streams is the only
        // other way to access them, and it holds the buffer's guard (see the module documentation).
        let host = unsafe { HostBuffer::from_raw(host, size, true, host_owner) };
        let side = Arc::new(DeviceSide { context: self.clone(), address, host: host.clone() });
        self.device().managed().add(&side);
        Ok((DeviceBuffer::of_unified(side, address, bytes), host))
    }
}

/// Collects what one call queues on a stream. When the call is done, the unified memory it may use
/// stays with the stream.
#[must_use]
pub(super) struct Queueing<'a> {
    stream: &'a Stream,
    /// The capture that the stream takes part in.
    recording: Option<Arc<Mutex<Recorded>>>,
    holds: SmallVec<[Arc<Hold>; 2]>,
}

impl<'a> Queueing<'a> {
    #[inline]
    pub(super) fn on(stream: &'a Stream) -> Self {
        Self { stream, recording: stream.recording(), holds: SmallVec::new() }
    }

    #[inline]
    pub(super) fn stream(&self) -> &'a Stream {
        self.stream
    }

    /// Adds to the stream's record if the stream is captured.
    #[inline]
    pub(super) fn record(&self, add: impl FnOnce(&mut Recorded)) {
        if let Some(recording) = &self.recording {
            add(&mut recording.lock());
        }
    }

    /// Takes unified memory from the host. Captured work does not use it yet.
    ///
    /// # Errors
    /// `Race` while the host uses it.
    pub(super) fn take(&mut self, side: &DeviceSide) -> Result<()> {
        if self.recording.is_some() {
            return Ok(());
        }
        let hold = Hold::work(&side.host, self.stream.context());
        self.holds.push(hold.map_err(|error| DeviceError::new(Status::Race, error.message))?);
        Ok(())
    }

    /// Takes all unified memory of the platform.
    ///
    /// # Errors
    /// The errors of [`Queueing::take`].
    #[inline]
    pub(super) fn take_all(&mut self) -> Result<()> {
        let managed = self.stream.context().device().managed();
        if managed.is_empty() { Ok(()) } else { self.take_each(managed) }
    }

    #[cold]
    fn take_each(&mut self, managed: &AllManaged) -> Result<()> {
        managed.live().iter().try_for_each(|side| self.take(side))
    }
}

impl Drop for Queueing<'_> {
    fn drop(&mut self) {
        if !self.holds.is_empty() {
            self.stream.as_ref().leave(self.holds.drain(..));
        }
    }
}
