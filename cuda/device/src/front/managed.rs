//! Unified memory: a buffer of the device's that is a buffer of the host's as well.
//!
//! The two sides take turns. The host has the memory until work is queued that may use it, and again when the program has
//! waited for that work: a call which queues such work takes the guard of the host's side ([`Queueing`]) and leaves it with
//! the stream, where it stays until a point behind the work is marked that the program can wait for (an event, the end of the
//! stream, a copy to the host), and goes when that point is reached. A host kernel that does not wait gets an error, in every
//! run and not in the unlucky one.
//!
//! A launch may reach any memory of its platform, whatever it was given, so it takes all unified memory there is.
//!
//! The device's side ends when its last buffer is dropped and the streams have passed the last use, the host's when its last
//! buffer is dropped; the memory goes with the later of the two.

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
        // Nobody could be told of a failure.
        drop(self.context.hal().free(self.address));
    }
}

/// A platform's unified memory.
#[derive(Default)]
pub(super) struct AllManaged {
    sides: Mutex<Vec<Weak<DeviceSide>>>,
    /// How many are alive, so that launches where there is none need no lock.
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
    /// `InvalidValue` for no bytes, `OutOfMemory`, or `NotSupported`.
    pub fn allocate_managed(&self, bytes: u64) -> Result<(DeviceBuffer, HostBuffer)> {
        let size = usize::try_from(bytes).map_err(|_| Status::OutOfMemory)?;
        if size == 0 {
            return Err(DeviceError::invalid_value("unified memory has at least one byte"));
        }
        let ManagedMemory { address, host, host_owner } = self.hal().allocate_managed(bytes)?;
        // SAFETY: the owner keeps so many initialized bytes; and work on streams, which is the only way to them beside this
        // buffer, holds the buffer's guard (see the module).
        let host = unsafe { HostBuffer::from_raw(host, size, true, host_owner) };
        let side = Arc::new(DeviceSide { context: self.clone(), address, host: host.clone() });
        self.device().managed().add(&side);
        Ok((DeviceBuffer::of_unified(side, address, bytes), host))
    }
}

/// What one call queues on a stream: the unified memory which that may use stays with the stream when the call is done.
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

    /// Adds to what the stream records, if it does.
    #[inline]
    pub(super) fn record(&self, add: impl FnOnce(&mut Recorded)) {
        if let Some(recording) = &self.recording {
            add(&mut recording.lock());
        }
    }

    /// Takes unified memory from the host. What is captured does not use it yet.
    ///
    /// # Errors
    /// `Race` while somebody on the host uses it.
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
    /// As [`Queueing::take`].
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
