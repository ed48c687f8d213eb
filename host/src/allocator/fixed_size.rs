//! An allocator with little memory, for tests of programs that run out of it.

use std::alloc::Layout;
use std::ptr::NonNull;

use parking_lot::Mutex;

use super::{HostAllocator, MessageSink};

/// The largest size in bytes of blocks that are not counted. They are the runtime's own small
/// objects, and a test of tensors does not mean to run out of them.
const MAX_UNCOUNTED_SIZE: usize = 32;

/// Serves at most `capacity` bytes at a time and reports each block larger than 32 bytes. The
/// messages are `Allocating N bytes. M remaining.`, `Freeing N bytes. M available.`, and for a
/// refusal `Attempted to allocate N bytes. However current capacity is only M.`
pub struct FixedSizeAllocator<A> {
    inner: A,
    sink: MessageSink,
    capacity: usize,
    used: Mutex<usize>,
}

impl<A: HostAllocator> FixedSizeAllocator<A> {
    /// Serves up to `capacity` bytes from `inner` and sends messages to `sink`.
    pub fn new(capacity: usize, sink: MessageSink, inner: A) -> Self {
        Self { inner, sink, capacity, used: Mutex::new(0) }
    }

    fn reserve(&self, size: usize) -> bool {
        if size <= MAX_UNCOUNTED_SIZE {
            return true;
        }
        let mut used = self.used.lock();
        let available = self.capacity - *used;
        if size > available {
            (self.sink)(&format!(
                "Attempted to allocate {size} bytes. However current capacity is only {available}."
            ));
            return false;
        }
        *used += size;
        (self.sink)(&format!("Allocating {size} bytes. {} remaining.", available - size));
        true
    }

    fn release(&self, size: usize) {
        if size > MAX_UNCOUNTED_SIZE {
            let mut used = self.used.lock();
            *used -= size;
            (self.sink)(&format!("Freeing {size} bytes. {} available.", self.capacity - *used));
        }
    }
}

// SAFETY: all blocks come from `inner` unchanged, and `inner` keeps the promises of the trait.
unsafe impl<A: HostAllocator> HostAllocator for FixedSizeAllocator<A> {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        if !self.reserve(layout.size()) {
            return None;
        }
        let block = self.inner.allocate(layout);
        if block.is_none() {
            self.release(layout.size());
        }
        block
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        let size = layout.size();
        // SAFETY: the caller keeps the promises of `deallocate`, and the block came from `inner`.
        unsafe { self.inner.deallocate(block, layout) };
        self.release(size);
    }

    fn trim(&self) {
        self.inner.trim();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::SystemAllocator;
    use super::*;

    #[test]
    fn tells_and_refuses() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let sink = {
            let log = log.clone();
            Arc::new(move |line: &str| log.lock().push(line.to_owned()))
        };
        let allocator = FixedSizeAllocator::new(1024, sink, SystemAllocator);
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        let small = allocator.allocate(layout(32)).unwrap();
        let block = allocator.allocate(layout(192)).unwrap();
        assert!(allocator.allocate(layout(4160)).is_none());
        assert!(allocator.allocate(layout(833)).is_none());
        // SAFETY: the blocks were allocated above with these layouts.
        unsafe {
            allocator.deallocate(small, layout(32));
            allocator.deallocate(block, layout(192));
        }
        assert_eq!(
            *log.lock(),
            [
                "Allocating 192 bytes. 832 remaining.",
                "Attempted to allocate 4160 bytes. However current capacity is only 832.",
                "Attempted to allocate 833 bytes. However current capacity is only 832.",
                "Freeing 192 bytes. 1024 available.",
            ]
        );
    }
}
