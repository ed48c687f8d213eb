//! Tracks which bytes of memory have been written.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The greatest number of separate ranges written by the host. Beyond it, the whole allocation
/// counts as written.
const MAX_RANGES: usize = 1024;

/// A bit for each byte.
#[derive(Default)]
pub(super) struct WrittenBytes {
    words: Vec<u64>,
}

impl WrittenBytes {
    /// Marks all bytes as not written.
    pub(super) fn reset(&mut self, bytes: u64) {
        self.words.clear();
        self.words.resize(bytes.div_ceil(64) as usize, 0);
    }

    /// Records a write. Always returns true.
    pub(super) fn set(&mut self, address: u64, bytes: u32) -> bool {
        for byte in address..address + u64::from(bytes) {
            if let Some(word) = self.words.get_mut((byte / 64) as usize) {
                *word |= 1 << (byte % 64);
            }
        }
        true
    }

    /// Returns whether all these bytes have been written.
    pub(super) fn all(&self, address: u64, bytes: u32) -> bool {
        (address..address + u64::from(bytes))
            .all(|byte| self.words.get((byte / 64) as usize).is_some_and(|word| word >> (byte % 64) & 1 == 1))
    }
}

/// The bytes of an allocation that have been written, as far as known.
///
/// Kernels report what they write only in watched launches. After a launch that is not watched,
/// every existing allocation counts as written. `born` is the number of such launches when the
/// allocation was made.
pub(crate) struct Written {
    bytes: u64,
    born: u64,
    state: Mutex<State>,
}

enum State {
    /// Ranges of bytes, sorted and disjoint.
    Ranges(Vec<(u64, u64)>),
    Bits(WrittenBytes),
    All,
}

/// The number of launches of a memory that were not watched.
#[derive(Debug, Default)]
pub(crate) struct Unwatched(AtomicU64);

impl Unwatched {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Written {
    /// Creates the record of a new allocation, of which nothing is written.
    pub(crate) fn nothing(bytes: u64, unwatched: &Unwatched) -> Written {
        Written { bytes, born: unwatched.count(), state: Mutex::new(State::Ranges(Vec::new())) }
    }

    /// Creates the record of an allocation that counts as written.
    pub(crate) fn everything() -> Written {
        Written { bytes: 0, born: 0, state: Mutex::new(State::All) }
    }

    /// Records a write by the host.
    pub(crate) fn host_wrote(&self, offset: u64, bytes: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *state {
            State::All => {}
            _ if bytes == self.bytes => *state = State::All,
            State::Bits(bits) => bits.set_range(offset, bytes),
            State::Ranges(ranges) => {
                insert(ranges, offset, offset + bytes);
                if ranges.len() > MAX_RANGES || ranges[..] == [(0, self.bytes)] {
                    *state = State::All;
                }
            }
        }
    }

    /// Records that a kernel reads or writes these bytes. Returns whether they have been written.
    pub(crate) fn kernel_accesses(
        &self,
        offset: u64,
        bytes: u32,
        reads: bool,
        unwatched: &Unwatched,
    ) -> bool {
        if self.born != unwatched.count() {
            return true;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Ranges(ranges) = &*state {
            let mut bits = WrittenBytes::default();
            bits.reset(self.bytes);
            ranges.iter().for_each(|&(start, end)| bits.set_range(start, end - start));
            *state = State::Bits(bits);
        }
        match &mut *state {
            State::Bits(bits) if reads => bits.all(offset, bytes),
            State::Bits(bits) => bits.set(offset, bytes),
            _ => true,
        }
    }
}

impl WrittenBytes {
    fn set_range(&mut self, start: u64, bytes: u64) {
        let end = start + bytes;
        let mut byte = start;
        while byte < end {
            if byte.is_multiple_of(64) && end - byte >= 64 {
                if let Some(word) = self.words.get_mut((byte / 64) as usize) {
                    *word = u64::MAX;
                }
                byte += 64;
            } else {
                self.set(byte, 1);
                byte += 1;
            }
        }
    }
}

/// Adds a range, merged with those that it touches.
fn insert(ranges: &mut Vec<(u64, u64)>, mut start: u64, mut end: u64) {
    let first = ranges.partition_point(|&(_, other)| other < start);
    let last = ranges.partition_point(|&(other, _)| other <= end);
    if first < last {
        start = start.min(ranges[first].0);
        end = end.max(ranges[last - 1].1);
    }
    ranges.splice(first..last, [(start, end)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_joined() {
        let mut ranges = Vec::new();
        for (start, end) in [(10, 20), (30, 40), (0, 5), (20, 25), (24, 31), (50, 60)] {
            insert(&mut ranges, start, end);
        }
        assert_eq!(ranges, [(0, 5), (10, 40), (50, 60)]);
    }

    #[test]
    fn writes_by_host_and_kernels_are_recorded() {
        let unwatched = Unwatched::default();
        let written = Written::nothing(256, &unwatched);
        written.host_wrote(3, 130);
        let reads = |offset, bytes| written.kernel_accesses(offset, bytes, true, &unwatched);
        assert!(reads(3, 130) && !reads(0, 4) && !reads(132, 2));
        written.kernel_accesses(0, 3, false, &unwatched);
        written.host_wrote(133, 1);
        assert!(reads(0, 4) && reads(132, 2) && !reads(134, 1));
        unwatched.add();
        assert!(reads(200, 16));
    }
}
