//! The access state of a buffer, and the guards that hold it.

use std::borrow::Borrow;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};

use super::HostBuffer;

/// One word: the holder's id fills the upper half, `WRITER` or the number of readers the lower.
#[derive(Debug, Default)]
pub(super) struct AccessState(AtomicU64);

const WRITER: u64 = 1 << 31;
const READERS: u64 = WRITER - 1;
const HOLDER_SHIFT: u32 = 32;

impl AccessState {
    /// True if no guard is alive. Acquire: what was done under the last one is seen.
    pub(super) fn is_free(&self) -> bool {
        self.0.load(Ordering::Acquire) & (WRITER | READERS) == 0
    }

    #[inline]
    fn begin_read(&self, accessor: u32) -> Result<(), AccessError> {
        let mut state = self.0.load(Ordering::Relaxed);
        loop {
            // So many readers that one more would look like a writer cannot be; leaked guards are all there is to it.
            if state & WRITER != 0 || state & READERS == READERS {
                return Err(AccessError::Conflict {
                    holder: (state >> HOLDER_SHIFT) as u32,
                    held: Access::Write,
                });
            }
            let next = (u64::from(accessor) << HOLDER_SHIFT) | ((state & READERS) + 1);
            // Acquire: what the last writer wrote is seen.
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
            // Acquire: what earlier readers and writers did happened before.
            match self.0.compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => state = now,
            }
        }
    }

    /// From reading to writing, if nobody else reads; no third gets in between.
    fn upgrade(&self, accessor: u32) -> Result<(), AccessError> {
        let mut state = self.0.load(Ordering::Relaxed);
        loop {
            if state & READERS != 1 {
                let holder = (state >> HOLDER_SHIFT) as u32;
                return Err(AccessError::Conflict { holder, held: Access::Read });
            }
            let next = (u64::from(accessor) << HOLDER_SHIFT) | WRITER;
            // Acquire: what earlier readers did happened before.
            match self.0.compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => state = now,
            }
        }
    }

    /// Ends one access; `taken` is what it added to the state.
    #[inline]
    fn end(&self, taken: u64) {
        // Release: what this access did is seen by the next.
        self.0.fetch_sub(taken, Ordering::Release);
    }
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads only.
    Read,
    /// Reads and writes.
    Write,
}

/// Why a guard was not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessError {
    /// Somebody else's access, unordered with this one, is going on.
    Conflict {
        /// The accessor that took the guard (of several readers, the last).
        holder: u32,
        /// What it does.
        held: Access,
    },
    /// The memory may not be written.
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

/// # Safety
/// `data` points to `size` initialized bytes that nobody writes for `'a`; it may be anything if `size` is zero.
#[inline]
pub(super) unsafe fn bytes<'a>(data: *const u8, size: usize) -> &'a [u8] {
    if size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise; with bytes the pointer is not null.
    unsafe { std::slice::from_raw_parts(data, size) }
}

/// # Safety
/// As for [`bytes`], and nobody else reads them either.
#[inline]
pub(super) unsafe fn bytes_mut<'a>(data: *mut u8, size: usize) -> &'a mut [u8] {
    if size == 0 {
        return &mut [];
    }
    // SAFETY: the caller's promise; with bytes the pointer is not null.
    unsafe { std::slice::from_raw_parts_mut(data, size) }
}

/// Bytes taken for reading; given back when dropped.
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
    /// A guard for writing in place of this one, without anybody else's getting in between.
    ///
    /// # Errors
    /// This guard, and [`AccessError`] while others read, or if the memory may not be written.
    pub fn into_write(self, accessor: u32) -> Result<WriteGuard<HostBuffer>, (Self, AccessError)> {
        if !self.buffer.is_writable() {
            return Err((self, AccessError::ReadOnly));
        }
        if let Err(error) = self.buffer.access().upgrade(accessor) {
            return Err((self, error));
        }
        // The access is the new guard's, so that this one must not end it.
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, so that the handle is moved out of it once.
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
        // SAFETY: while this guard lives the access state keeps every writer away.
        unsafe { bytes(buffer.as_ptr(), buffer.len()) }
    }
}

impl<B: Borrow<HostBuffer>> Drop for ReadGuard<B> {
    #[inline]
    fn drop(&mut self) {
        self.buffer.borrow().access().end(1);
    }
}

/// Bytes taken for writing; given back when dropped.
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
        // SAFETY: while this guard lives the access state keeps everybody else away.
        unsafe { bytes(buffer.as_ptr(), buffer.len()) }
    }
}

impl<B: Borrow<HostBuffer>> DerefMut for WriteGuard<B> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        let buffer = self.buffer.borrow();
        // SAFETY: as in `deref`, and the guard is borrowed mutably.
        unsafe { bytes_mut(buffer.as_ptr(), buffer.len()) }
    }
}

impl<B: Borrow<HostBuffer>> Drop for WriteGuard<B> {
    #[inline]
    fn drop(&mut self) {
        self.buffer.borrow().access().end(WRITER);
    }
}
