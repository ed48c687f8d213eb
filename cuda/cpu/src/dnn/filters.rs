//! A cache of filters that are laid out for convolution, and of matrices for products.
//!
//! A launch may write any byte of device memory without declaring it, and memory counts its changes
//! for each allocation as a whole. So each entry has a copy of the bytes that it was made from. It is
//! used as it is while nothing has changed the allocation, and while its own bytes have not changed.
//! Comparing them takes a fraction of the time of laying out the filter.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use tfrt_device::error::Result;
use tfrt_device::hal::TensorLayout;

use crate::pool::Pool;

/// The greatest size of the copies. The filters themselves take the same amount again.
const MAX_KEPT_BYTES: usize = 512 << 20;
/// The greatest number of filters.
const MAX_KEPT: usize = 512;
/// No number of changes.
const UNKNOWN: u64 = u64::MAX;
/// The number of bytes that a thread compares at a time.
const BLOCK_BYTES: usize = 256 << 10;

/// The location of a filter, and how it is read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) address: u64,
    pub(crate) layout: TensorLayout,
    /// Whether the filter is flipped.
    pub(crate) flipped: bool,
    pub(crate) groups: u64,
}

struct Kept {
    key: Key,
    /// The bytes that it was made from, unless only the number of changes counts.
    source: Vec<u8>,
    /// The size of the source.
    bytes: usize,
    /// The number of the allocation's changes when the bytes were last known to be `source`, or
    /// [`UNKNOWN`].
    changes: AtomicU64,
    filter: Arc<dyn Any + Send + Sync>,
}

impl Kept {
    /// Returns whether the bytes are those that the filter was made from.
    fn is_valid(&self, source: &[u8], changes: Option<u64>, pool: &Pool) -> bool {
        let changes = changes.unwrap_or(UNKNOWN);
        // Relaxed: the number belongs to `source`, which never changes.
        if changes != UNKNOWN && self.changes.load(Ordering::Relaxed) == changes {
            return true;
        }
        let is_equal = are_equal(&self.source, source, pool);
        if is_equal {
            self.changes.store(changes, Ordering::Relaxed);
        }
        is_equal
    }
}

/// The filters and matrices of one address space.
#[derive(Default)]
pub(crate) struct Filters {
    /// The most recently used one is at the end.
    kept: Mutex<Vec<Arc<Kept>>>,
    /// Matrices that are not kept yet, and how often their allocations had changed.
    seen: Mutex<Vec<(Key, u64)>>,
}

impl Filters {
    /// Returns the filter that `make` makes from the bytes `source` at `key`, or a cached one made
    /// from the same bytes. `changes` is the number of changes of their allocation, if it is known.
    /// Nothing writes the bytes meanwhile.
    pub(super) fn get<F: Any + Send + Sync>(
        &self,
        key: Key,
        (source, changes): (&[u8], Option<u64>),
        pool: &Pool,
        make: impl FnOnce() -> Result<F>,
    ) -> Result<Arc<F>> {
        if let Some(kept) = self.find(&key)
            && kept.is_valid(source, changes, pool)
            && let Ok(filter) = kept.filter.clone().downcast()
        {
            return Ok(filter);
        }
        let filter = Arc::new(make()?);
        if source.len() <= MAX_KEPT_BYTES {
            let changes = AtomicU64::new(changes.unwrap_or(UNKNOWN));
            let bytes = source.len();
            self.keep(Kept { key, source: source.to_vec(), bytes, changes, filter: filter.clone() });
        }
        Ok(filter)
    }

    /// Returns the matrix that `make` makes from the `bytes` bytes at `key`, or a cached one. Tensors
    /// that change are multiplied, too, so a matrix is kept only if two calls in a row find that its
    /// allocation has changed equally often.
    pub(crate) fn get_unchanged<F: Any + Send + Sync>(
        &self,
        key: Key,
        (bytes, changes): (usize, Option<u64>),
        make: impl FnOnce() -> Result<F>,
    ) -> Result<Arc<F>> {
        let Some(changes) = changes else { return Ok(Arc::new(make()?)) };
        if let Some(kept) = self.find(&key)
            && kept.changes.load(Ordering::Relaxed) == changes
            && let Ok(matrix) = kept.filter.clone().downcast()
        {
            return Ok(matrix);
        }
        let matrix = Arc::new(make()?);
        if bytes <= MAX_KEPT_BYTES && self.was_seen(&key, changes) {
            let (source, changes) = (Vec::new(), AtomicU64::new(changes));
            self.keep(Kept { key, source, bytes, changes, filter: matrix.clone() });
        }
        Ok(matrix)
    }

    /// Returns whether the last call for a matrix found the same number of changes.
    fn was_seen(&self, key: &Key, changes: u64) -> bool {
        let mut seen = self.seen.lock();
        if let Some(known) = seen.iter_mut().find(|(known, _)| known == key) {
            return std::mem::replace(&mut known.1, changes) == changes;
        }
        if seen.len() >= MAX_KEPT {
            seen.remove(0);
        }
        seen.push((key.clone(), changes));
        false
    }

    fn find(&self, key: &Key) -> Option<Arc<Kept>> {
        let mut all = self.kept.lock();
        let at = all.iter().rposition(|kept| kept.key == *key)?;
        let kept = all.remove(at);
        all.push(kept.clone());
        Some(kept)
    }

    fn keep(&self, new: Kept) {
        let new = Arc::new(new);
        let mut all = self.kept.lock();
        let bytes = |all: &[Arc<Kept>]| all.iter().map(|kept| kept.bytes).sum::<usize>();
        let mut gone: Vec<_> = all.extract_if(.., |kept| kept.key == new.key).collect();
        all.push(new);
        while bytes(&all) > MAX_KEPT_BYTES || all.len() > MAX_KEPT {
            gone.push(all.remove(0));
        }
        drop(all);
        // Dropped without the lock, because they may be large.
        drop(gone);
    }

    /// Drops the filters at addresses that have been freed.
    pub(crate) fn forget(&self, addresses: Range<u64>) {
        self.seen.lock().retain(|(key, _)| !addresses.contains(&key.address));
        let gone: Vec<_> =
            self.kept.lock().extract_if(.., |kept| addresses.contains(&kept.key.address)).collect();
        drop(gone);
    }
}

fn are_equal(a: &[u8], b: &[u8], pool: &Pool) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let differ = AtomicBool::new(false);
    let blocks = a.len().div_ceil(BLOCK_BYTES);
    pool.parallel_for(blocks, 1, &|range| {
        for block in range {
            let bytes = block * BLOCK_BYTES..a.len().min((block + 1) * BLOCK_BYTES);
            if differ.load(Ordering::Relaxed) {
                return;
            }
            if a[bytes.clone()] != b[bytes] {
                differ.store(true, Ordering::Relaxed);
            }
        }
    });
    !differ.into_inner()
}

#[cfg(test)]
mod tests {
    use tfrt_host::DType;

    use super::*;

    fn key(address: u64) -> Key {
        let layout = TensorLayout { dtype: DType::UI8, dims: vec![4], strides: vec![1] };
        Key { address, layout, flipped: false, groups: 1 }
    }

    #[test]
    fn filters_serve_as_long_as_their_bytes_are_the_same() {
        let (filters, pool) = (Filters::default(), Pool::new(2).unwrap());
        let sum_at = |address: u64, source: &[u8], changes| {
            let mut is_new = false;
            let make = || {
                is_new = true;
                Ok(source.iter().map(|&byte| u64::from(byte)).sum::<u64>())
            };
            let sum = *filters.get(key(address), (source, changes), &pool, make).unwrap();
            (sum, is_new)
        };
        let sum = |address, source: &[u8]| sum_at(address, source, None);
        let mut bytes = vec![1; 3 * BLOCK_BYTES + 5];
        let count = bytes.len() as u64;
        assert_eq!([sum(256, &bytes), sum(256, &bytes)], [(count, true), (count, false)]);
        *bytes.last_mut().unwrap() = 3;
        assert_eq!([sum(256, &bytes), sum(256, &bytes)], [(count + 2, true), (count + 2, false)]);
        assert_eq!(sum(256, &bytes[1..]), (count + 1, true));
        assert_eq!([sum(512, &[7]), sum(256, &[7]), sum(512, &[7])], [(7, true), (7, true), (7, false)]);
        filters.forget(500..600);
        assert_eq!([sum(512, &[7]), sum(256, &[7])], [(7, true), (7, false)]);
        // Without a change of the allocation, the bytes are not looked at.
        let steps = [(8, 0), (9, 0), (8, 1), (9, 1), (9, 2)];
        let sums = steps.map(|(byte, changes)| sum_at(768, &[byte], Some(changes)));
        assert_eq!(sums, [(8, true), (8, false), (8, false), (8, false), (9, true)]);
        filters.forget(768..769);
        // The least recently used filter is evicted.
        (0..MAX_KEPT as u64 - 1).for_each(|at| assert!(sum(1024 + at, &[7]).1));
        assert_eq!([sum(256, &[7]), sum(512, &[7])], [(7, false), (7, true)]);
    }

    #[test]
    fn matrices_are_kept_once_they_stay_the_same() {
        let filters = Filters::default();
        let is_made = |changes| {
            let mut is_made = false;
            let make = || {
                is_made = true;
                Ok(7u8)
            };
            assert_eq!(*filters.get_unchanged(key(256), (4, changes), make).unwrap(), 7);
            is_made
        };
        let steps = [None, Some(0), Some(1), Some(1), Some(1), Some(2), Some(2), Some(2)];
        assert_eq!(steps.map(is_made), [true, true, true, true, false, true, true, false]);
        filters.forget(256..257);
        assert_eq!([Some(2); 3].map(is_made), [true, true, false]);
    }
}
