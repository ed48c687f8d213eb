//! Small blocks, recycled per thread: the cells of values and the kernels that wait for them.
//!
//! Hundreds of values come and go within microseconds, more than the per-thread caches of a general
//! allocator hold. So each thread keeps lists of blocks of a few sizes. The lists are bounded.
//!
//! A block may be freed on another thread than it was allocated on. A thread that only runs what
//! others prepare would collect blocks while the others run out. So a full list moves a batch of
//! blocks to a depot that all threads take from. The rest goes to the global allocator.

#![expect(unsafe_code, reason = "an allocator")]

use std::{
    alloc::{self, Layout},
    cell::Cell,
    mem,
    ops::{Deref, DerefMut},
    ptr::{self, NonNull},
};

use parking_lot::Mutex;

/// Block sizes are multiples of this, which is also the alignment of every block.
const STEP: usize = 32;
/// The number of block sizes: 32, 64, … 256 bytes.
const CLASSES: usize = 8;
/// The most blocks kept per size and thread.
const MAX_KEPT: u32 = 1024;
/// The number of blocks that move to or from a depot at once.
const BATCH: u32 = 256;
/// The most batches kept per size.
const MAX_BATCHES: usize = 64;

#[repr(C)]
struct Block {
    next: *mut Block,
}

struct List {
    head: Cell<*mut Block>,
    length: Cell<u32>,
}

struct Lists([List; CLASSES]);

thread_local!(static LISTS: Lists = const {
    Lists([const { List { head: Cell::new(ptr::null_mut()), length: Cell::new(0) } }; CLASSES])
});

impl Drop for Lists {
    fn drop(&mut self) {
        for (class, list) in self.0.iter().enumerate() {
            free_all(list.head.replace(ptr::null_mut()), class);
        }
    }
}

/// A list of [`BATCH`] blocks.
struct Batch(NonNull<Block>);

// SAFETY: the batch owns its blocks, which are plain memory.
unsafe impl Send for Batch {}

static DEPOTS: [Mutex<Vec<Batch>>; CLASSES] = [const { Mutex::new(Vec::new()) }; CLASSES];

impl List {
    /// Takes a block, from the depot if the list is empty.
    #[inline]
    fn pop(&self, class: usize) -> Option<NonNull<Block>> {
        let block = NonNull::new(self.head.get()).or_else(|| self.refill(class))?;
        // SAFETY: the list owns its blocks, so they are valid.
        self.head.set(unsafe { block.as_ref() }.next);
        self.length.set(self.length.get() - 1);
        Some(block)
    }

    #[cold]
    fn refill(&self, class: usize) -> Option<NonNull<Block>> {
        // If the depot is locked, the global allocator is faster than waiting.
        let batch = DEPOTS[class].try_lock()?.pop()?;
        self.head.set(batch.0.as_ptr());
        self.length.set(BATCH);
        Some(batch.0)
    }

    /// Adds a block.
    ///
    /// # Safety
    /// The caller owns the block, which came from `allocate` for this class.
    #[inline]
    unsafe fn push(&self, block: NonNull<Block>, class: usize) {
        if self.length.get() == MAX_KEPT {
            self.spill(class);
        }
        // SAFETY: the caller owns the block, which is large and aligned enough for a link.
        unsafe { block.write(Block { next: self.head.get() }) };
        self.head.set(block.as_ptr());
        self.length.set(self.length.get() + 1);
    }

    /// Moves a batch to the depot, or to the global allocator if the depot is full.
    #[cold]
    fn spill(&self, class: usize) {
        let Some(first) = NonNull::new(self.head.get()) else { return };
        let mut last = first;
        // SAFETY: the list owns its blocks and is longer than a batch. The part cut off ends in
        // null as the list does.
        unsafe {
            for _ in 1..BATCH {
                last = NonNull::new_unchecked(last.as_ref().next);
            }
            self.head.set(mem::replace(&mut last.as_mut().next, ptr::null_mut()));
        }
        self.length.set(self.length.get() - BATCH);
        if let Some(mut depot) = DEPOTS[class].try_lock()
            && depot.len() < MAX_BATCHES
        {
            return depot.push(Batch(first));
        }
        free_all(first.as_ptr(), class);
    }
}

/// Returns a list of blocks to the global allocator.
fn free_all(mut block: *mut Block, class: usize) {
    while !block.is_null() {
        // SAFETY: the list owns its blocks, which were allocated with the layout of their class.
        unsafe {
            let next = (*block).next;
            alloc::dealloc(block.cast(), layout_of(class));
            block = next;
        }
    }
}

fn layout_of(class: usize) -> Layout {
    const { assert!(STEP.is_power_of_two() && STEP >= size_of::<Block>()) };
    // SAFETY: the alignment is a power of two, and the size is far below the maximum.
    unsafe { Layout::from_size_align_unchecked((class + 1) * STEP, STEP) }
}

#[inline]
fn class_of(layout: Layout) -> Option<usize> {
    let class = layout.size().wrapping_sub(1) / STEP;
    (class < CLASSES && layout.align() <= STEP).then_some(class)
}

/// Allocates a block that fits this layout. Ends the process when memory is exhausted, as `Box`
/// does.
#[inline]
pub(crate) fn allocate(layout: Layout) -> NonNull<u8> {
    let Some(class) = class_of(layout) else { return allocate_globally(layout) };
    let recycled = LISTS.try_with(|lists| lists.0[class].pop(class));
    recycled.ok().flatten().map_or_else(|| allocate_globally(layout_of(class)), NonNull::cast)
}

#[cold]
fn allocate_globally(layout: Layout) -> NonNull<u8> {
    // SAFETY: the size is not zero, because every block begins with a header.
    NonNull::new(unsafe { alloc::alloc(layout) }).unwrap_or_else(|| alloc::handle_alloc_error(layout))
}

/// Frees a block.
///
/// # Safety
/// The block came from [`allocate`] with this layout and is not used again.
#[inline]
pub(crate) unsafe fn deallocate(block: NonNull<u8>, layout: Layout) {
    let Some(class) = class_of(layout) else {
        // SAFETY: the block came from `allocate` with this layout, as this function requires.
        // `allocate` takes blocks without a class from the global allocator.
        return unsafe { alloc::dealloc(block.as_ptr(), layout) };
    };
    // SAFETY: the caller gives up the block, which came from `allocate` for this class.
    let kept = LISTS.try_with(|lists| unsafe { lists.0[class].push(block.cast(), class) });
    if kept.is_err() {
        // The thread is past destroying its locals.
        // SAFETY: `allocate` took blocks of this class from the global allocator with this layout.
        unsafe { alloc::dealloc(block.as_ptr(), layout_of(class)) };
    }
}

/// A box in a pooled block.
pub(crate) struct PoolBox<T>(NonNull<T>);

// SAFETY: the box owns its value.
unsafe impl<T: Send> Send for PoolBox<T> {}

impl<T> PoolBox<T> {
    /// Creates a box with the value that `make` returns.
    // The closure runs after the block was allocated, so the value is built in place. Moving a
    // value right after it was written, in larger pieces than it was written in, stalls the
    // processor.
    #[inline]
    pub(crate) fn new(make: impl FnOnce() -> T) -> Self {
        const { assert!(size_of::<T>() > 0) };
        let place = allocate(Layout::new::<T>()).cast::<T>();
        // SAFETY: the block has this layout, and nobody else uses it.
        unsafe { place.write(make()) };
        Self(place)
    }

    /// Moves the value out and frees the block.
    #[inline]
    pub(crate) fn into_inner(self) -> T {
        let place = self.into_raw();
        // SAFETY: the value is initialized and moved out once. The block is from `allocate` with
        // this layout.
        unsafe {
            let value = place.read();
            deallocate(place.cast(), Layout::new::<T>());
            value
        }
    }

    /// Frees the block without dropping the value.
    #[inline]
    pub(crate) fn forget(self) {
        // SAFETY: the block is from `allocate` with this layout and is not used again.
        unsafe { deallocate(self.into_raw().cast(), Layout::new::<T>()) };
    }

    /// Returns a pointer to the value, which the caller now owns.
    #[inline]
    pub(crate) fn into_raw(self) -> NonNull<T> {
        mem::ManuallyDrop::new(self).0
    }

    /// # Safety
    /// `raw` came from [`PoolBox::into_raw`] and is not used again.
    #[inline]
    pub(crate) unsafe fn from_raw(raw: NonNull<T>) -> Self {
        Self(raw)
    }
}

impl<T> Deref for PoolBox<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the box owns the value, which is initialized.
        unsafe { self.0.as_ref() }
    }
}

impl<T> DerefMut for PoolBox<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the box owns the value, which is initialized, and is borrowed exclusively.
        unsafe { self.0.as_mut() }
    }
}

impl<T> Drop for PoolBox<T> {
    fn drop(&mut self) {
        // SAFETY: the box owns the value, which is initialized and not used again. The block is
        // from `allocate` with this layout.
        unsafe {
            self.0.drop_in_place();
            deallocate(self.0.cast(), Layout::new::<T>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_recycled_and_do_not_overlap() {
        let layout = Layout::from_size_align(48, 16).unwrap();
        let blocks: Vec<_> = (0..100).map(|_| allocate(layout)).collect();
        for (number, block) in blocks.iter().enumerate() {
            // SAFETY: the block has 48 bytes and belongs to this test.
            unsafe { block.as_ptr().write_bytes(number as u8, 48) };
        }
        for (number, block) in blocks.iter().enumerate() {
            // SAFETY: the byte was written above.
            assert_eq!(unsafe { block.as_ptr().add(47).read() }, number as u8);
        }
        let last = blocks[99];
        for block in blocks {
            // SAFETY: the block is from `allocate` with this layout.
            unsafe { deallocate(block, layout) };
        }
        let again = allocate(layout);
        assert_eq!(again, last);
        // SAFETY: the block is from `allocate` with this layout.
        unsafe { deallocate(again, layout) };
    }

    #[test]
    fn what_one_thread_has_too_much_of_serves_another() {
        // No other test in this binary uses this size.
        let layout = Layout::from_size_align(7 * STEP, 8).unwrap();
        let class = class_of(layout).unwrap();
        let count = (MAX_KEPT + BATCH) as usize;
        let blocks: Vec<_> = (0..count).map(|_| allocate(layout)).collect();
        for &block in &blocks {
            // SAFETY: the block is from `allocate` with this layout.
            unsafe { deallocate(block, layout) };
        }
        assert_eq!(DEPOTS[class].lock().len(), 1);
        let spilled = blocks.iter().map(|block| block.addr()).collect::<std::collections::HashSet<_>>();
        std::thread::spawn(move || {
            let block = allocate(layout);
            assert!(spilled.contains(&block.addr()));
            // SAFETY: the block is from `allocate` with this layout.
            unsafe { deallocate(block, layout) };
        })
        .join()
        .unwrap();
        assert_eq!(DEPOTS[class].lock().len(), 0);
    }

    #[test]
    fn large_and_overaligned_blocks_are_served() {
        for (size, align) in [(4096, 8), (64, 128), (257, 32)] {
            let layout = Layout::from_size_align(size, align).unwrap();
            let block = allocate(layout);
            assert!(block.as_ptr().addr().is_multiple_of(align));
            // SAFETY: the block is from `allocate` with this layout.
            unsafe { deallocate(block, layout) };
        }
    }

    #[test]
    fn blocks_may_be_given_back_elsewhere() {
        let layout = Layout::from_size_align(32, 8).unwrap();
        let block = allocate(layout).as_ptr().expose_provenance();
        std::thread::spawn(move || {
            let block = NonNull::new(ptr::with_exposed_provenance_mut(block)).unwrap();
            // SAFETY: the block is from `allocate` with this layout.
            unsafe { deallocate(block, layout) };
        })
        .join()
        .unwrap();
    }
}
