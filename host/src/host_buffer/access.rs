//! The access state of a buffer, and the guards that hold it.

use std::borrow::Borrow;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};

use super::HostBuffer;

/// One word. The upper half is the holder's id; the lower half is `WRITER` or the number of
/// readers.
#[derive(Debug, Default)]
pub(super) struct AccessState(AtomicU64);

const WRITER: u64 = 1 << 31;
const READERS: u64 = WRITER - 1;
const HOLDER_SHIFT: u32 = 32;

impl AccessState {
    /// Returns true if no guard is alive. Acquires, so that the accesses under the last guard are
    /// seen.
    pub(super) fn is_free(&self) -> bool {
        self.0.load(Ordering::Acquire) & (WRITER | READERS) == 0
    }

    #[inline]
    fn begin_read(&self, accessor: u32) -> Result<(), AccessError> {
        let mut state = self.0.load(Ordering::Relaxed);
        loop {
            // The reader count cannot overflow in practice: that would take 2^31 live guards, which
            // only a leak could produce.
            if state & WRITER != 0 || state & READERS == READERS {
                return Err(AccessError::Conflict {
                    holder: (state >> HOLDER_SHIFT) as u32,
                    held: Access::Write,
                });
            }
            let next = (u64::from(accessor) << HOLDER_SHIFT) | ((state & READERS) + 1);
            // Acquire: makes the writes of the last writer visible.
            match self.0.compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => state = now,
            }
        }
    }

    #[inline]
    fn begin_write(&self, accessor: u32) -> Result<(), AccessError> {
        let mut state = self.0.load(Ordering::Relaxed);
        loop {
            let holder = (state >> HOLDER_SHIFT) as u32;
            match state & (WRITER | READERS) {
                0 => {}
                WRITER => return Err(AccessError::Conflict { holder, held: Access::Write }),
                _ => return Err(AccessError::Conflict { holder, held: Access::Read }),
            }
            let next = (u64::from(accessor) << HOLDER_SHIFT) | WRITER;
            // Acquire: earlier readers and writers happened before.
            match self.0.compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => state = now,
            }
        }
    }

    /// Turns a reader into a writer if nobody else reads. No other access can get in between.
    fn upgrade(&self, accessor: u32) -> Result<(), AccessError> {
        let mut state = self.0.load(Ordering::Relaxed);
        loop {
            if state & READERS != 1 {
                let holder = (state >> HOLDER_SHIFT) as u32;
                return Err(AccessError::Conflict { holder, held: Access::Read });
            }
            let next = (u64::from(accessor) << HOLDER_SHIFT) | WRITER;
            // Acquire: earlier readers happened before.
            match self.0.compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => state = now,
            }
        }
    }

    /// Ends one access. `taken` is the amount that it added to the state.
    #[inline]
    fn end(&self, taken: u64) {
        // Release: makes this access visible to the next one.
        self.0.fetch_sub(taken, Ordering::Release);
    }
}

/// The kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads only.
    Read,
    /// Reads and writes.
    Write,
}

/// Why a guard was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessError {
    /// Another access, not ordered with this one, is in progress.
    Conflict {
        /// The accessor that took the guard; with several readers, the last one.
        holder: u32,
        /// The kind of that access.
        held: Access,
    },
    /// The memory must not be written.
    ReadOnly,
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Conflict { held: Access::Read, .. } => {
                "the buffer is being read by an access not ordered with this one"
            }
            Self::Conflict { held: Access::Write, .. } => {
                "the buffer is being written by an access not ordered with this one"
            }
            Self::ReadOnly => "the buffer's memory is read-only",
        })
    }
}

impl std::error::Error for AccessError {}

/// Returns a slice of these bytes.
///
/// # Safety
/// `data` points to `size` initialized bytes that nobody writes during `'a`. If `size` is zero,
/// `data` may be any pointer.
#[inline]
pub(super) unsafe fn bytes<'a>(data: *const u8, size: usize) -> &'a [u8] {
    if size == 0 {
        return &[];
    }
    // SAFETY: the caller promises valid bytes, and with a size above zero the pointer is not null.
    unsafe { std::slice::from_raw_parts(data, size) }
}

/// Returns a mutable slice of these bytes.
///
/// # Safety
/// As for [`bytes`]; in addition, nobody else reads the bytes.
#[inline]
pub(super) unsafe fn bytes_mut<'a>(data: *mut u8, size: usize) -> &'a mut [u8] {
    if size == 0 {
        return &mut [];
    }
    // SAFETY: the caller promises exclusive valid bytes, and with a size above zero the pointer is
    // not null.
    unsafe { std::slice::from_raw_parts_mut(data, size) }
}

/// Read access to the bytes of a buffer, until dropped.
#[derive(Debug)]
pub struct ReadGuard<B: Borrow<HostBuffer>> {
    buffer: B,
}

impl<B: Borrow<HostBuffer>> ReadGuard<B> {
    #[inline]
    pub(super) fn new(buffer: B, accessor: u32) -> Result<Self, AccessError> {
        buffer.borrow().access().begin_read(accessor)?;
        Ok(Self { buffer })
    }

    pub(super) fn buffer(&self) -> &HostBuffer {
        self.buffer.borrow()
    }
}

impl ReadGuard<HostBuffer> {
    /// Turns this guard into a write guard. No other access can get in between.
    ///
    /// # Errors
    /// This guard and an [`AccessError`] if others read, or if the memory must not be written.
    pub fn into_write(self, accessor: u32) -> Result<WriteGuard<HostBuffer>, (Self, AccessError)> {
        if !self.buffer.is_writable() {
            return Err((self, AccessError::ReadOnly));
        }
        if let Err(error) = self.buffer.access().upgrade(accessor) {
            return Err((self, error));
        }
        // The new guard takes over the access, so this one must not end it.
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, so the handle is moved out of it once.
        let buffer = unsafe { std::ptr::read(&raw const this.buffer) };
        buffer.root().header().derived.clear();
        Ok(WriteGuard { buffer })
    }
}

impl<B: Borrow<HostBuffer>> Deref for ReadGuard<B> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        let buffer = self.buffer.borrow();
        // SAFETY: while this guard lives, the access state refuses writers.
        unsafe { bytes(buffer.as_ptr(), buffer.len()) }
    }
}

impl<B: Borrow<HostBuffer>> Drop for ReadGuard<B> {
    #[inline]
    fn drop(&mut self) {
        self.buffer.borrow().access().end(1);
    }
}

/// Write access to the bytes of a buffer, until dropped.
#[derive(Debug)]
pub struct WriteGuard<B: Borrow<HostBuffer>> {
    buffer: B,
}

impl<B: Borrow<HostBuffer>> WriteGuard<B> {
    #[inline]
    pub(super) fn new(buffer: B, accessor: u32) -> Result<Self, AccessError> {
        if !buffer.borrow().is_writable() {
            return Err(AccessError::ReadOnly);
        }
        buffer.borrow().access().begin_write(accessor)?;
        buffer.borrow().root().header().derived.clear();
        Ok(Self { buffer })
    }
}

impl<B: Borrow<HostBuffer>> Deref for WriteGuard<B> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        let buffer = self.buffer.borrow();
        // SAFETY: while this guard lives, the access state refuses all other guards.
        unsafe { bytes(buffer.as_ptr(), buffer.len()) }
    }
}

impl<B: Borrow<HostBuffer>> DerefMut for WriteGuard<B> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        let buffer = self.buffer.borrow();
        // SAFETY: while this guard lives, the access state refuses all other guards, and this guard
        // is borrowed mutably.
        unsafe { bytes_mut(buffer.as_ptr(), buffer.len()) }
    }
}

impl<B: Borrow<HostBuffer>> Drop for WriteGuard<B> {
    #[inline]
    fn drop(&mut self) {
        self.buffer.borrow().access().end(WRITER);
    }
}
