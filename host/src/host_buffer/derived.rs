//! Values derived from a buffer's bytes, such as a filter in a layout that suits the processor.
//! They are kept as long as the bytes stay the same.
//!
//! A buffer with such a value carries a number, its *stamp*. The stamp is cleared when a write
//! guard is taken and when the buffer is destroyed. So a read guard only finds values that belong
//! to the present bytes. The values are in a process-wide table, which kernel libraries share, and
//! are removed together with the stamp.
//!
//! A slice of writable memory keeps no values, because it cannot see writes through other slices.

use std::any::Any;
use std::borrow::Borrow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{HostBuffer, Memory, ReadGuard};
use crate::mapped_file::release_mapped_pages;
use crate::process::{Kept, process_tables};

/// The number of a buffer's value in the table, or zero if it has none.
#[derive(Debug, Default)]
pub(super) struct Stamp(AtomicU32);

impl Stamp {
    /// Removes the value. The caller must be the only one who can access the bytes.
    #[inline]
    pub(super) fn clear(&self) {
        if self.0.load(Ordering::Relaxed) != 0 {
            self.forget();
        }
    }

    #[cold]
    fn forget(&self) {
        let stamp = self.0.swap(0, Ordering::Relaxed);
        drop(process_tables().derived.remove(stamp));
    }
}

impl<B: Borrow<HostBuffer>> ReadGuard<B> {
    /// Returns the value that `make` computes from the bytes. The value is kept until the bytes are
    /// taken for writing or freed. The next call returns it if it has the same type and `fits`
    /// accepts it. A buffer keeps only its last value. It takes the place of the bytes: those of a
    /// mapped file are released, and are read from the file again if they are needed.
    ///
    /// # Errors
    /// The errors of `make`.
    pub fn derived<T: Any + Send + Sync, E>(
        &self,
        fits: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let buffer = self.buffer();
        if let Some(value) = buffer.kept::<T>().filter(|value| fits(value)) {
            return Ok(value);
        }
        let value = Arc::new(make()?);
        if buffer.keep(value.clone()) && matches!(buffer.root().header().memory, Memory::External { .. }) {
            release_mapped_pages(self);
        }
        Ok(value)
    }
}

impl HostBuffer {
    /// Makes the bytes read-only for good, as those of a constant are, if no other handle or guard
    /// can access them. Returns whether they are read-only.
    pub fn make_readonly(&mut self) -> bool {
        if self.is_writable() && self.is_exclusive() && self.access().is_free() {
            // SAFETY: the header is alive, and nobody else refers to it: the only handle is
            // borrowed mutably, and no guard is alive.
            unsafe { (*self.header.as_ptr()).writable = false };
        }
        !self.is_writable()
    }

    fn kept<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        // Relaxed: the caller's guard is ordered after the last writer, and the table is behind a
        // lock.
        let stamp = self.header().derived.0.load(Ordering::Relaxed);
        if stamp == 0 {
            return None;
        }
        process_tables().derived.get(stamp)?.downcast().ok()
    }

    /// Keeps a value that was computed under a read guard, which is still held. Returns whether it
    /// did.
    fn keep(&self, value: Kept) -> bool {
        if matches!(self.header().memory, Memory::Slice(_)) && self.is_writable() {
            return false;
        }
        let values = &process_tables().derived;
        let stamp = values.insert(value);
        // Another reader may have kept a value meanwhile. Each of them removes the stamp that it
        // replaces.
        let before = self.header().derived.0.swap(stamp, Ordering::Relaxed);
        drop(values.remove(before));
        true
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::super::AccessError;
    use super::*;

    /// Returns the sum of a buffer's bytes, and whether it was computed now.
    fn sum(buffer: &HostBuffer) -> (u32, bool) {
        let guard = buffer.read(0).unwrap();
        let mut is_new = false;
        let make = || {
            is_new = true;
            Ok::<_, Infallible>(guard.iter().map(|&byte| u32::from(byte)).sum::<u32>())
        };
        let Ok(sum) = guard.derived(|_| true, make);
        (*sum, is_new)
    }

    #[test]
    fn a_value_is_kept_until_the_bytes_change() {
        let mut buffer = HostBuffer::from_vec(vec![1u8, 2, 3]);
        assert_eq!([sum(&buffer), sum(&buffer.clone())], [(6, true), (6, false)]);
        buffer.write(0).unwrap()[0] = 11;
        assert_eq!([sum(&buffer), sum(&buffer)], [(16, true), (16, false)]);
        buffer.get_mut().unwrap()[1] = 12;
        assert_eq!(sum(&buffer), (26, true));
        // Writing through a slice removes the value, too.
        buffer.slice(1, 1).unwrap().write(0).unwrap()[0] = 2;
        assert_eq!(sum(&buffer), (16, true));
    }

    #[test]
    fn a_slice_sees_what_others_write() {
        let buffer = HostBuffer::from_vec(vec![1u8, 2, 3]);
        let slice = buffer.slice(0, 2).unwrap();
        assert_eq!([sum(&slice), sum(&slice)], [(3, true), (3, true)]);
        buffer.write(0).unwrap()[1] = 4;
        assert_eq!(sum(&slice), (5, true));
        // Read-only memory is never written.
        let slice = HostBuffer::from_readonly(vec![1u8, 2, 3]).slice(0, 2).unwrap();
        assert_eq!([sum(&slice), sum(&slice)], [(3, true), (3, false)]);
    }

    #[test]
    fn only_an_exclusive_buffer_becomes_readonly() {
        let mut buffer = HostBuffer::from_vec(vec![1u8, 2, 3]);
        let other = buffer.clone();
        assert!(!buffer.make_readonly(), "another handle could write");
        drop(other);
        let mut slice = buffer.slice(0, 2).unwrap();
        assert!(!slice.make_readonly(), "so could the handle of the whole");
        drop(slice);
        assert!(buffer.make_readonly() && buffer.make_readonly());
        assert_eq!(buffer.write(0).map(drop), Err(AccessError::ReadOnly));
        assert!(buffer.get_mut().is_none());
        assert_eq!(sum(&buffer.slice(0, 2).unwrap()), (3, true));
        let mut last = HostBuffer::from_vec(vec![1u8, 2, 3]).slice(0, 2).unwrap();
        assert!(last.make_readonly(), "only the slice refers to the memory");
    }

    #[test]
    fn values_go_with_their_buffers() {
        let value = Arc::new(());
        let buffer = HostBuffer::from_vec(vec![0u8; 8]);
        let inner = value.clone();
        let Ok(kept) = buffer.read(0).unwrap().derived(|_| true, || Ok::<Arc<()>, Infallible>(inner));
        drop(kept);
        assert_eq!(Arc::strong_count(&value), 2);
        drop(buffer);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn another_type_or_one_that_does_not_fit_takes_its_place() {
        let buffer = HostBuffer::from_vec(vec![0u8; 8]);
        let guard = buffer.read(0).unwrap();
        let derive = |fits, value: u64| *guard.derived(|_| fits, || Ok::<_, Infallible>(value)).unwrap();
        assert_eq!([derive(true, 1), derive(true, 2), derive(false, 3), derive(true, 4)], [1, 1, 3, 3]);
        let Ok(text) = guard.derived(|_| true, || Ok::<_, Infallible>("text".to_owned()));
        assert_eq!((text.as_str(), derive(true, 5)), ("text", 5));
        assert_eq!(guard.derived(|_: &f32| true, || Err(7)), Err(7));
    }
}
