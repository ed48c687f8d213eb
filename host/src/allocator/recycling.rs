//! [`RecyclingAllocator`]: keeps large freed blocks and reuses them.
//!
//! Programs that repeat a computation free their tensors and allocate others of the same sizes. The
//! system would serve each of them with fresh pages, which it zeroes and maps one by one when they
//! are first touched.

use std::alloc::Layout;
use std::fmt;
use std::ptr::NonNull;

use parking_lot::Mutex;

use super::{AllocatorReport, HostAllocator};

/// The smallest block, in bytes, that is worth keeping.
const SMALLEST: usize = 32 * 1024;
/// Sizes are rounded up to one of this many steps between two powers of two, so that similar sizes
/// share blocks.
const STEPS: usize = 8;
/// The most blocks kept.
const MAX_KEPT: usize = 256;
/// The most bytes kept, as a multiple of the most bytes ever in use at once. A network whose layers
/// shrink uses blocks of every size in turn, and never all sizes at once.
const KEPT_SHARE: usize = 2;

/// Keeps freed blocks of 32 KiB and more, up to twice as many bytes as were ever in use at once. It
/// reuses the latest first, whose bytes are the most likely to be in a cache. Other blocks come
/// from another allocator.
///
/// Large blocks are up to an eighth larger than requested. If the other allocator runs out of
/// memory, the kept blocks are freed before it is asked again.
pub struct RecyclingAllocator<A: HostAllocator> {
    inner: A,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Ordered by the time they were freed, the latest last.
    kept: Vec<Block>,
    bytes_kept: usize,
    bytes_used: usize,
    bytes_used_max: usize,
}

/// A block that nobody uses, with all bytes initialized.
struct Block {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: only this value refers to the block.
unsafe impl Send for Block {}

/// Returns the layout of the block that serves a request, or `None` for small ones, which are not
/// kept.
fn rounded(layout: Layout) -> Option<Layout> {
    if layout.size() < SMALLEST {
        return None;
    }
    let step = (1 << layout.size().ilog2()) / STEPS;
    Layout::from_size_align(layout.size().checked_next_multiple_of(step)?, layout.align()).ok()
}

impl<A: HostAllocator> RecyclingAllocator<A> {
    /// Keeps blocks of `inner`.
    pub fn new(inner: A) -> Self {
        Self { inner, state: Mutex::default() }
    }

    /// Returns a kept block, or a new one whose bytes are zero. The flag says whether it was kept.
    fn take(&self, layout: Layout) -> Option<(NonNull<u8>, bool)> {
        let mut state = self.state.lock();
        let kept = state.kept.iter().rposition(|block| block.layout == layout);
        let block = match kept {
            Some(at) => {
                state.bytes_kept -= layout.size();
                state.kept.remove(at).start
            }
            None => {
                drop(state);
                // Zeroed, so that the bytes are initialized for any later user of the block.
                let block = self.inner.allocate_zeroed(layout).or_else(|| {
                    self.release();
                    self.inner.allocate_zeroed(layout)
                })?;
                state = self.state.lock();
                block
            }
        };
        state.bytes_used += layout.size();
        state.bytes_used_max = state.bytes_used_max.max(state.bytes_used);
        Some((block, kept.is_some()))
    }

    /// Frees all kept blocks.
    fn release(&self) {
        let blocks = {
            let mut state = self.state.lock();
            state.bytes_kept = 0;
            state.bytes_used_max = state.bytes_used;
            std::mem::take(&mut state.kept)
        };
        for block in blocks {
            // SAFETY: the block came from `inner` with this layout, and nobody uses it.
            unsafe { self.inner.deallocate(block.start, block.layout) };
        }
    }
}

impl<A: HostAllocator> Drop for RecyclingAllocator<A> {
    fn drop(&mut self) {
        self.release();
    }
}

impl<A: HostAllocator> fmt::Debug for RecyclingAllocator<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("RecyclingAllocator")
            .field("bytes_kept", &state.bytes_kept)
            .field("bytes_used", &state.bytes_used)
            .finish_non_exhaustive()
    }
}

// SAFETY: all blocks come from `inner`, and are at least as large and as aligned as requested. A
// block is kept only after it was freed, and is given to one user at a time. Its bytes are
// initialized: a new block is zeroed, and users cannot undo that.
unsafe impl<A: HostAllocator> HostAllocator for RecyclingAllocator<A> {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        match rounded(layout) {
            Some(large) => Some(self.take(large)?.0),
            None => self.inner.allocate(layout),
        }
    }

    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        let Some(large) = rounded(layout) else { return self.inner.allocate_zeroed(layout) };
        let (block, was_kept) = self.take(large)?;
        if was_kept {
            // SAFETY: the block has that many bytes, and nobody else knows it.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        Some(block)
    }

    fn allocate_unset(&self, layout: Layout) -> Option<NonNull<u8>> {
        match rounded(layout) {
            Some(large) => Some(self.take(large)?.0),
            None => self.inner.allocate_unset(layout),
        }
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        let Some(large) = rounded(layout) else {
            // SAFETY: the caller keeps the promises of `deallocate`, and small blocks come from
            // `inner`.
            return unsafe { self.inner.deallocate(block, layout) };
        };
        let mut state = self.state.lock();
        state.bytes_used -= large.size();
        state.bytes_kept += large.size();
        state.kept.push(Block { start: block, layout: large });
        let mut excess = Vec::new();
        while state.bytes_kept / KEPT_SHARE > state.bytes_used_max || state.kept.len() > MAX_KEPT {
            // A block that was not reused for the longest time is the least likely to be reused.
            let oldest = state.kept.remove(0);
            state.bytes_kept -= oldest.layout.size();
            excess.push(oldest);
        }
        drop(state);
        for block in excess {
            // SAFETY: the block came from `inner` with this layout, and nobody uses it.
            unsafe { self.inner.deallocate(block.start, block.layout) };
        }
    }

    fn trim(&self) {
        self.release();
        self.inner.trim();
    }

    fn report(&self) -> Option<AllocatorReport> {
        self.inner.report()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LeakCheckAllocator, SystemAllocator};
    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 16).unwrap()
    }

    fn live(allocator: &RecyclingAllocator<LeakCheckAllocator<SystemAllocator>>) -> u64 {
        allocator.report().unwrap().bytes_current
    }

    fn checked() -> RecyclingAllocator<LeakCheckAllocator<SystemAllocator>> {
        RecyclingAllocator::new(LeakCheckAllocator::new(SystemAllocator))
    }

    #[test]
    fn sizes_are_rounded_up_by_an_eighth_at_most() {
        assert_eq!(rounded(layout(SMALLEST - 1)), None);
        for size in (SMALLEST..SMALLEST * 9).step_by(997) {
            let large = rounded(layout(size)).unwrap();
            assert!(large.size() >= size && (large.size() - size) * 8 <= size, "{size}");
            assert_eq!(rounded(large), Some(large));
        }
        assert_eq!(rounded(Layout::from_size_align(isize::MAX as usize - 63, 64).unwrap()), None);
    }

    #[test]
    fn the_latest_block_of_a_size_comes_back_as_it_was() {
        let allocator = checked();
        let (size, other) = (layout(100_000), layout(300_000));
        let [a, b, c] = [size, size, other].map(|layout| allocator.allocate(layout).unwrap());
        // SAFETY: the blocks were allocated with these layouts and are not used after they are
        // freed.
        unsafe {
            b.write_bytes(7, size.size());
            allocator.deallocate(a, size);
            allocator.deallocate(b, size);
            allocator.deallocate(c, other);
        }
        let again = allocator.allocate_unset(layout(100_001)).unwrap();
        assert_eq!(again, b);
        // SAFETY: all bytes of the block were written above.
        let bytes = unsafe { std::slice::from_raw_parts(again.as_ptr(), 100_000) };
        assert!(bytes.iter().all(|&byte| byte == 7));
        let zeroed = allocator.allocate_zeroed(size).unwrap();
        assert_eq!(zeroed, a);
        // SAFETY: the block has that many bytes, which are zero.
        let bytes = unsafe { std::slice::from_raw_parts(zeroed.as_ptr(), 100_000) };
        assert!(bytes.iter().all(|&byte| byte == 0));
        // SAFETY: the blocks are freed once, with the layouts they were allocated with.
        unsafe {
            allocator.deallocate(again, layout(100_001));
            allocator.deallocate(zeroed, size);
        }
    }

    #[test]
    fn trimming_frees_what_is_kept() {
        let allocator = checked();
        let [used, freed] = [0, 0].map(|_| allocator.allocate(layout(100_000)).unwrap());
        // SAFETY: the block is freed once, with the layout it was allocated with.
        unsafe { allocator.deallocate(freed, layout(100_000)) };
        let both = live(&allocator);
        allocator.trim();
        assert_eq!(live(&allocator), both / 2);
        // SAFETY: as above.
        unsafe { allocator.deallocate(used, layout(100_000)) };
        assert_eq!(live(&allocator), both / 2, "one block is kept again");
    }

    #[test]
    fn no_more_is_kept_than_twice_what_was_in_use_and_all_goes_back_in_the_end() {
        let allocator = checked();
        let small = layout(100);
        // SAFETY: each block of this test is freed once, with the layout it was allocated with.
        unsafe { allocator.deallocate(allocator.allocate(small).unwrap(), small) };
        assert_eq!(live(&allocator), 0, "small blocks are not kept");
        for size in (1..40).map(|n| layout(n * 64 * 1024)) {
            let block = allocator.allocate_zeroed(size).unwrap();
            // SAFETY: the block is freed once, with the layout it was allocated with.
            unsafe { allocator.deallocate(block, size) };
            assert!(live(&allocator) as usize <= KEPT_SHARE * rounded(size).unwrap().size() + 1);
        }
        let many: Vec<_> =
            (0..MAX_KEPT + 10).map(|_| allocator.allocate(layout(SMALLEST)).unwrap()).collect();
        for block in many {
            // SAFETY: the block is freed once, with the layout it was allocated with.
            unsafe { allocator.deallocate(block, layout(SMALLEST)) };
        }
        assert_eq!(live(&allocator) as usize, MAX_KEPT * SMALLEST);
        allocator.release();
        assert_eq!(live(&allocator), 0);
    }

    #[test]
    fn what_is_kept_goes_back_before_memory_is_short() {
        /// An allocator with memory for one block.
        struct One(LeakCheckAllocator<SystemAllocator>);
        // SAFETY: all blocks come from the inner allocator.
        unsafe impl HostAllocator for One {
            fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
                (self.0.report()?.allocations_current == 0).then(|| self.0.allocate(layout))?
            }

            unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
                // SAFETY: the caller keeps the promises of `deallocate`.
                unsafe { self.0.deallocate(block, layout) };
            }
        }
        let allocator = RecyclingAllocator::new(One(LeakCheckAllocator::new(SystemAllocator)));
        let (first, second) = (layout(50_000), layout(500_000));
        let block = allocator.allocate(first).unwrap();
        assert!(allocator.allocate(second).is_none());
        // SAFETY: the blocks are freed once, with their layouts.
        unsafe { allocator.deallocate(block, first) };
        let block = allocator.allocate(second).unwrap();
        // SAFETY: the block is freed once, with its layout.
        unsafe { allocator.deallocate(block, second) };
    }
}
