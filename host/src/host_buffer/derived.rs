//! Values computed from a buffer's bytes, such as a filter laid out for the processor, kept as long as the bytes stay the
//! same.
//!
//! A buffer with such a value carries its number, its *stamp*. The stamp is cleared when the bytes are taken for writing
//! and when the buffer is destroyed. Under a read guard one therefore finds only values that belong to the present bytes.
//! The values lie in a table of the process, which kernel libraries share, and leave it together with the stamp.
//!
//! A slice of writable memory keeps nothing, because it cannot see what is written through other slices.

use std::any::Any;
use std::borrow::Borrow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{HostBuffer, Memory, ReadGuard};
use crate::process::{Kept, process_tables};

/// The number of a buffer's value in the table; zero if it has none.
#[derive(Debug, Default)]
pub(super) struct Stamp(AtomicU32);

impl Stamp {
    /// Forgets the value. To be called by whoever alone can reach the bytes.
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
    /// What `make` computes from the bytes. The value is kept until the bytes are taken for writing or go, so that the next
    /// call finds it, if it is of the same type and `fits`. Of several values the last one is kept.
    ///
    /// # Errors
    /// Those of `make`.
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
        buffer.keep(value.clone());
        Ok(value)
    }
}

impl HostBuffer {
    fn kept<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        // Relaxed: the guard of whoever asks comes after the last writer, and the table is behind a lock.
        let stamp = self.header().derived.0.load(Ordering::Relaxed);
        if stamp == 0 {
            return None;
        }
        process_tables().derived.get(stamp)?.downcast().ok()
    }

    /// Keeps a value that was computed under a guard for reading, which is still held.
    fn keep(&self, value: Kept) {
        if matches!(self.header().memory, Memory::Slice(_)) && self.is_writable() {
            return;
        }
        let values = &process_tables().derived;
        let stamp = values.insert(value);
        // Another reader may have kept one meanwhile. Each of them removes the stamp that it replaces.
        let before = self.header().derived.0.swap(stamp, Ordering::Relaxed);
        drop(values.remove(before));
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// The sum of a buffer's bytes, and whether it was computed now.
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
        // Through a slice, too.
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
        // Nobody writes what is read-only.
        let slice = HostBuffer::from_readonly(vec![1u8, 2, 3]).slice(0, 2).unwrap();
        assert_eq!([sum(&slice), sum(&slice)], [(3, true), (3, false)]);
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
