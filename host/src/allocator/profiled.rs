//! Allocators that count: [`ProfiledAllocator`] keeps totals, [`LeakCheckAllocator`] also tracks
//! each live block.

use std::alloc::Layout;
use std::collections::{BTreeMap, HashMap};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::{AllocatorReport, HostAllocator, SizeClass};

/// The number of classes in the histogram. Class `i > 0` holds the sizes from `2^(i-1)` to `2^i -
/// 1`, class 0 the size zero.
const CLASSES: usize = usize::BITS as usize + 1;

/// Counts the blocks and bytes of another allocator (current, maximum and total) and keeps a
/// histogram.
#[derive(Debug)]
pub struct ProfiledAllocator<A> {
    inner: A,
    allocations_current: AtomicU64,
    allocations_max: AtomicU64,
    allocations_total: AtomicU64,
    bytes_current: AtomicU64,
    bytes_max: AtomicU64,
    histogram: [AtomicU64; CLASSES],
}

impl<A: HostAllocator> ProfiledAllocator<A> {
    /// Counts the allocations of `inner`.
    pub fn new(inner: A) -> Self {
        Self {
            inner,
            allocations_current: AtomicU64::new(0),
            allocations_max: AtomicU64::new(0),
            allocations_total: AtomicU64::new(0),
            bytes_current: AtomicU64::new(0),
            bytes_max: AtomicU64::new(0),
            histogram: [const { AtomicU64::new(0) }; CLASSES],
        }
    }

    /// Counts an allocation if it succeeded, so that the current counts return to zero.
    fn count(&self, layout: Layout, block: Option<NonNull<u8>>) -> Option<NonNull<u8>> {
        let block = block?;
        let size = layout.size() as u64;
        let allocations = self.allocations_current.fetch_add(1, Ordering::Relaxed) + 1;
        self.allocations_max.fetch_max(allocations, Ordering::Relaxed);
        self.allocations_total.fetch_add(1, Ordering::Relaxed);
        let bytes = self.bytes_current.fetch_add(size, Ordering::Relaxed) + size;
        self.bytes_max.fetch_max(bytes, Ordering::Relaxed);
        let class = (usize::BITS - layout.size().leading_zeros()) as usize;
        self.histogram[class].fetch_add(1, Ordering::Relaxed);
        Some(block)
    }

    fn counts(&self) -> AllocatorReport {
        let histogram = self.histogram.iter().enumerate().filter_map(|(class, count)| {
            let count = count.load(Ordering::Relaxed);
            let size_bytes = 1usize.checked_shl(class as u32).map_or(usize::MAX, |bound| bound - 1);
            (count != 0).then_some(SizeClass { size_bytes, count })
        });
        AllocatorReport {
            allocations_current: self.allocations_current.load(Ordering::Relaxed),
            allocations_max: self.allocations_max.load(Ordering::Relaxed),
            allocations_total: self.allocations_total.load(Ordering::Relaxed),
            bytes_current: self.bytes_current.load(Ordering::Relaxed),
            bytes_max: self.bytes_max.load(Ordering::Relaxed),
            histogram: histogram.collect(),
            live: None,
        }
    }
}

// SAFETY: all blocks come from `inner` unchanged, and `inner` keeps the promises of the trait.
unsafe impl<A: HostAllocator> HostAllocator for ProfiledAllocator<A> {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.count(layout, self.inner.allocate(layout))
    }

    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.count(layout, self.inner.allocate_zeroed(layout))
    }

    fn allocate_unset(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.count(layout, self.inner.allocate_unset(layout))
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        self.allocations_current.fetch_sub(1, Ordering::Relaxed);
        self.bytes_current.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller keeps the promises of `deallocate`, and every block comes from
        // `inner`.
        unsafe { self.inner.deallocate(block, layout) };
    }

    fn trim(&self) {
        self.inner.trim();
    }

    fn report(&self) -> Option<AllocatorReport> {
        Some(self.counts())
    }
}

/// The number of shards of the table of live blocks. With several, threads that allocate at once
/// rarely contend for a lock.
const SHARDS: usize = 16;

/// Counts as [`ProfiledAllocator`] does and tracks every live block, so that its report lists
/// leaked blocks.
#[derive(Debug)]
pub struct LeakCheckAllocator<A> {
    counted: ProfiledAllocator<A>,
    /// The size of every live block, by address.
    live: [Mutex<HashMap<usize, usize>>; SHARDS],
}

impl<A: HostAllocator> LeakCheckAllocator<A> {
    /// Tracks the allocations of `inner`.
    pub fn new(inner: A) -> Self {
        Self { counted: ProfiledAllocator::new(inner), live: std::array::from_fn(|_| Mutex::default()) }
    }

    /// Returns the shard of a block. Blocks without bytes have no unique address and are not
    /// tracked.
    fn shard(&self, block: NonNull<u8>) -> &Mutex<HashMap<usize, usize>> {
        // Alignment makes the low bits equal in most blocks.
        &self.live[(block.as_ptr() as usize >> 6) % SHARDS]
    }

    fn follow(&self, layout: Layout, block: Option<NonNull<u8>>) -> Option<NonNull<u8>> {
        let block = block?;
        if layout.size() != 0 {
            self.shard(block).lock().insert(block.as_ptr() as usize, layout.size());
        }
        Some(block)
    }
}

// SAFETY: all blocks come from `counted` unchanged, and `counted` keeps the promises of the trait.
unsafe impl<A: HostAllocator> HostAllocator for LeakCheckAllocator<A> {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.follow(layout, self.counted.allocate(layout))
    }

    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.follow(layout, self.counted.allocate_zeroed(layout))
    }

    fn allocate_unset(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.follow(layout, self.counted.allocate_unset(layout))
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        // Removed before it is freed, because another thread may receive the same address right
        // after.
        self.shard(block).lock().remove(&(block.as_ptr() as usize));
        // SAFETY: the caller keeps the promises of `deallocate`, and the block came from `counted`.
        unsafe { self.counted.deallocate(block, layout) };
    }

    fn trim(&self) {
        self.counted.trim();
    }

    fn report(&self) -> Option<AllocatorReport> {
        let mut by_size = BTreeMap::new();
        for shard in &self.live {
            for &size in shard.lock().values() {
                *by_size.entry(size).or_insert(0u64) += 1;
            }
        }
        let live = by_size.into_iter().map(|(size_bytes, count)| SizeClass { size_bytes, count }).collect();
        Some(AllocatorReport { live: Some(live), ..self.counted.counts() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::SystemAllocator;
    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    #[test]
    fn counts_current_peak_total_and_histogram() {
        let allocator = ProfiledAllocator::new(SystemAllocator);
        let a = allocator.allocate(layout(100)).unwrap();
        let b = allocator.allocate(layout(28)).unwrap();
        // SAFETY: the block was allocated above with this layout.
        unsafe { allocator.deallocate(a, layout(100)) };
        let c = allocator.allocate_zeroed(layout(64)).unwrap();
        let report = allocator.report().unwrap();
        assert_eq!(
            report,
            AllocatorReport {
                allocations_current: 2,
                allocations_max: 2,
                allocations_total: 3,
                bytes_current: 92,
                bytes_max: 128,
                histogram: vec![
                    SizeClass { size_bytes: 31, count: 1 },
                    SizeClass { size_bytes: 127, count: 2 },
                ],
                live: None,
            }
        );
        assert!(!report.has_leak());
        assert_eq!(
            report.to_string(),
            "HostAllocator profile:\nCurrent number of allocations = 2\nMax number of allocations = 2\nTotal number \
             of allocations = 3\nCurrent number of bytes allocated = 92\nMax number of bytes allocated = 128"
        );
        // SAFETY: the blocks were allocated above with these layouts.
        unsafe {
            allocator.deallocate(b, layout(28));
            allocator.deallocate(c, layout(64));
        }
        assert_eq!(allocator.report().unwrap().bytes_current, 0);
    }

    #[test]
    fn leaks_are_listed_by_size() {
        let allocator = LeakCheckAllocator::new(SystemAllocator);
        let blocks = [48, 16, 48].map(|size| (allocator.allocate(layout(size)).unwrap(), layout(size)));
        let report = allocator.report().unwrap();
        assert!(report.has_leak());
        let text = report.to_string();
        assert!(
            text.ends_with(
                "Memory leak detected: 3 alive allocations, 112 alive bytes\n  1 x 16 bytes\n  2 x 48 bytes"
            ),
            "{text}"
        );
        for (block, layout) in blocks {
            // SAFETY: the block was allocated above with this layout.
            unsafe { allocator.deallocate(block, layout) };
        }
        let report = allocator.report().unwrap();
        assert!(!report.has_leak());
        assert_eq!(report.live, Some(vec![]));
    }

    #[test]
    fn threads_share_it() {
        /// Fewer under Miri, which is a thousand times slower.
        const SIZES: usize = if cfg!(miri) { 10 } else { 500 };
        let allocator = LeakCheckAllocator::new(SystemAllocator);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for size in 1..=SIZES {
                        let block = allocator.allocate(layout(size)).unwrap();
                        // SAFETY: the block was allocated above with this layout.
                        unsafe { allocator.deallocate(block, layout(size)) };
                    }
                });
            }
        });
        let report = allocator.report().unwrap();
        assert_eq!((report.allocations_total, report.allocations_current), (4 * SIZES as u64, 0));
    }
}
