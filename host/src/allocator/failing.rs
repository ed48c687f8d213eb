//! Fault injection: an allocator that fails its n-th allocation.

use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{AllocatorReport, HostAllocator};

/// Forwards to another allocator, but refuses one allocation. A test runs its program once to count
/// the allocations, then once for each of them.
#[derive(Debug)]
pub struct FailingAllocator<A> {
    inner: A,
    fail_at: u64,
    asked: AtomicU64,
}

impl<A: HostAllocator> FailingAllocator<A> {
    /// Refuses the `n`-th allocation, counted from one. If `n` is zero, it only counts.
    pub fn new(n: u64, inner: A) -> Self {
        Self { inner, fail_at: n, asked: AtomicU64::new(0) }
    }

    /// Returns the number of allocations requested so far, including the refused one.
    pub fn allocations(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    fn refuses(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) + 1 == self.fail_at
    }
}

// SAFETY: all blocks come from `inner` unchanged, and `inner` keeps the promises of the trait.
unsafe impl<A: HostAllocator> HostAllocator for FailingAllocator<A> {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        if self.refuses() { None } else { self.inner.allocate(layout) }
    }

    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        if self.refuses() { None } else { self.inner.allocate_zeroed(layout) }
    }

    fn allocate_unset(&self, layout: Layout) -> Option<NonNull<u8>> {
        if self.refuses() { None } else { self.inner.allocate_unset(layout) }
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller keeps the promises of `deallocate`, and the block came from `inner`.
        unsafe { self.inner.deallocate(block, layout) };
    }

    fn trim(&self) {
        self.inner.trim();
    }

    fn report(&self) -> Option<AllocatorReport> {
        self.inner.report()
    }
}

#[cfg(test)]
mod tests {
    use super::super::SystemAllocator;
    use super::*;

    #[test]
    fn exactly_the_nth_fails() {
        let layout = Layout::from_size_align(16, 8).unwrap();
        for n in 0..5 {
            let allocator = FailingAllocator::new(n, SystemAllocator);
            for i in 1..=4 {
                let block =
                    if i % 2 == 0 { allocator.allocate(layout) } else { allocator.allocate_zeroed(layout) };
                assert_eq!(block.is_none(), i == n);
                if let Some(block) = block {
                    // SAFETY: the block was allocated above with this layout.
                    unsafe { allocator.deallocate(block, layout) };
                }
            }
            assert_eq!(allocator.allocations(), 4);
        }
    }
}
