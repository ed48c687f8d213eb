//! An allocator with a bound, for one of several users of a process.

use std::{
    alloc::Layout,
    fmt,
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::HostAllocator;

/// Takes blocks from another allocator, up to a number of bytes at a time.
pub struct LimitedAllocator {
    inner: Arc<dyn HostAllocator>,
    max_bytes: usize,
    used_bytes: AtomicUsize,
}

impl LimitedAllocator {
    /// Hands out at most `max_bytes` of `inner` at a time.
    pub fn new(inner: Arc<dyn HostAllocator>, max_bytes: usize) -> Self {
        Self { inner, max_bytes, used_bytes: AtomicUsize::new(0) }
    }

    /// Returns the bytes of all blocks that were not freed.
    pub fn used_bytes(&self) -> usize {
        self.used_bytes.load(Ordering::Relaxed)
    }

    /// Counts a block, and takes it if that does not exceed the bound.
    fn take(&self, size: usize, take: impl FnOnce() -> Option<NonNull<u8>>) -> Option<NonNull<u8>> {
        let add = |used: usize| used.checked_add(size).filter(|&used| used <= self.max_bytes);
        self.used_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok()?;
        let block = take();
        if block.is_none() {
            self.used_bytes.fetch_sub(size, Ordering::Relaxed);
        }
        block
    }
}

// SAFETY: all blocks are the inner allocator's, for the same layouts, and go back to it.
unsafe impl HostAllocator for LimitedAllocator {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.take(layout.size(), || self.inner.allocate(layout))
    }

    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.take(layout.size(), || self.inner.allocate_zeroed(layout))
    }

    fn allocate_unset(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.take(layout.size(), || self.inner.allocate_unset(layout))
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: the block is the inner allocator's, for this layout; the caller promises the
        // rest.
        unsafe { self.inner.deallocate(block, layout) };
        self.used_bytes.fetch_sub(layout.size(), Ordering::Relaxed);
    }

    fn trim(&self) {
        self.inner.trim();
    }
}

impl fmt::Debug for LimitedAllocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitedAllocator")
            .field("max_bytes", &self.max_bytes)
            .field("used_bytes", &self.used_bytes())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{allocator::SystemAllocator, host_buffer::HostBuffer};

    #[test]
    fn memory_is_bounded_and_comes_back() {
        let limited = Arc::new(LimitedAllocator::new(Arc::new(SystemAllocator), 100));
        let allocator: Arc<dyn HostAllocator> = limited.clone();
        let first = HostBuffer::allocate(1, 1, &allocator);
        let used = limited.used_bytes();
        assert!(first.is_some() && used >= 1);
        assert!(HostBuffer::allocate(101, 1, &allocator).is_none());
        assert!(HostBuffer::allocate(usize::MAX / 2, 1, &allocator).is_none());
        assert_eq!(limited.used_bytes(), used);
        drop(first);
        assert_eq!(limited.used_bytes(), 0);
    }
}
