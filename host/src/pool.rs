//! Small blocks, recycled per thread: the cells of values and the kernels that wait for them.
//!
//! Values come and go by the hundred within microseconds, more than a general allocator's per-thread caches
//! hold. Blocks of a few sizes are kept on per-thread lists of bounded length; a block may be given back on
//! another thread than it was taken on. Everything else goes to the global allocator.

#![expect(unsafe_code, reason = "an allocator")]

use std::{
    alloc::{self, Layout},
    cell::Cell,
    mem,
    ops::{Deref, DerefMut},
    ptr::{self, NonNull},
};

/// Sizes are multiples of this; so is every block's alignment.
const STEP: usize = 32;
/// Sizes kept: 32, 64, … 256 bytes.
const CLASSES: usize = 8;
/// Blocks kept per size and thread.
const KEPT_MAX: u32 = 2048;

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
            let mut block = list.head.replace(ptr::null_mut());
            while !block.is_null() {
                // SAFETY: blocks on the list are owned by it and were allocated with their class's layout.
                unsafe {
                    let next = (*block).next;
                    alloc::dealloc(block.cast(), layout_of(class));
                    block = next;
                }
            }
        }
    }
}

fn layout_of(class: usize) -> Layout {
    const { assert!(STEP.is_power_of_two() && STEP >= size_of::<Block>()) };
    // SAFETY: a power of two, and far below the limit of sizes.
    unsafe { Layout::from_size_align_unchecked((class + 1) * STEP, STEP) }
}

#[inline]
fn class_of(layout: Layout) -> Option<usize> {
    let class = layout.size().wrapping_sub(1) / STEP;
    (class < CLASSES && layout.align() <= STEP).then_some(class)
}

/// A block of at least this layout. Ends the process when memory is exhausted, as `Box` does.
#[inline]
pub(crate) fn allocate(layout: Layout) -> NonNull<u8> {
    let Some(class) = class_of(layout) else { return allocate_globally(layout) };
    let recycled = LISTS.try_with(|lists| {
        let list = &lists.0[class];
        let block = NonNull::new(list.head.get())?;
        // SAFETY: blocks on the list are owned by it.
        list.head.set(unsafe { block.as_ref() }.next);
        list.length.set(list.length.get() - 1);
        Some(block.cast())
    });
    recycled.ok().flatten().unwrap_or_else(|| allocate_globally(layout_of(class)))
}

#[cold]
fn allocate_globally(layout: Layout) -> NonNull<u8> {
    // SAFETY: no caller asks for nothing: every block begins with a header.
    NonNull::new(unsafe { alloc::alloc(layout) }).unwrap_or_else(|| alloc::handle_alloc_error(layout))
}

/// Gives a block back.
///
/// # Safety
/// It came from [`allocate`] with this layout and is not used again.
#[inline]
pub(crate) unsafe fn deallocate(block: NonNull<u8>, layout: Layout) {
    let Some(class) = class_of(layout) else {
        // SAFETY: by contract, and `allocate` took it from there.
        return unsafe { alloc::dealloc(block.as_ptr(), layout) };
    };
    let kept = LISTS.try_with(|lists| {
        let list = &lists.0[class];
        if list.length.get() == KEPT_MAX {
            return false;
        }
        // SAFETY: the block is the caller's to give, and large and aligned enough for a link.
        unsafe { block.cast::<Block>().write(Block { next: list.head.get() }) };
        list.head.set(block.as_ptr().cast());
        list.length.set(list.length.get() + 1);
        true
    });
    if kept != Ok(true) {
        // SAFETY: `allocate` took blocks of this class from the global allocator with this layout.
        unsafe { alloc::dealloc(block.as_ptr(), layout_of(class)) };
    }
}

/// A box in such a block.
pub(crate) struct PoolBox<T>(NonNull<T>);

// SAFETY: it owns its value.
unsafe impl<T: Send> Send for PoolBox<T> {}

impl<T> PoolBox<T> {
    /// A box of what `make` makes.
    // Made after the block was taken, so that it is made there: moving what was just written, in larger pieces than it
    // was written in, stalls the processor.
    #[inline]
    pub(crate) fn new(make: impl FnOnce() -> T) -> Self {
        const { assert!(size_of::<T>() > 0) };
        let place = allocate(Layout::new::<T>()).cast::<T>();
        // SAFETY: a block of this layout, ours.
        unsafe { place.write(make()) };
        Self(place)
    }

    /// The value.
    #[inline]
    pub(crate) fn into_inner(self) -> T {
        let place = self.into_raw();
        // SAFETY: initialized, and moved out once; the block is from `allocate` with this layout.
        unsafe {
            let value = place.read();
            deallocate(place.cast(), Layout::new::<T>());
            value
        }
    }

    /// The value's place, which the caller owns now.
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
        // SAFETY: owned and initialized.
        unsafe { self.0.as_ref() }
    }
}

impl<T> DerefMut for PoolBox<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: owned and initialized, and the borrow is exclusive.
        unsafe { self.0.as_mut() }
    }
}

impl<T> Drop for PoolBox<T> {
    fn drop(&mut self) {
        // SAFETY: owned, initialized, not used again; the block is from `allocate` with this layout.
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
            // SAFETY: 48 bytes, ours.
            unsafe { block.as_ptr().write_bytes(number as u8, 48) };
        }
        for (number, block) in blocks.iter().enumerate() {
            // SAFETY: written above.
            assert_eq!(unsafe { block.as_ptr().add(47).read() }, number as u8);
        }
        let last = blocks[99];
        for block in blocks {
            // SAFETY: from `allocate` with this layout.
            unsafe { deallocate(block, layout) };
        }
        let again = allocate(layout);
        assert_eq!(again, last);
        // SAFETY: from `allocate` with this layout.
        unsafe { deallocate(again, layout) };
    }

    #[test]
    fn large_and_overaligned_blocks_are_served() {
        for (size, align) in [(4096, 8), (64, 128), (257, 32)] {
            let layout = Layout::from_size_align(size, align).unwrap();
            let block = allocate(layout);
            assert!(block.as_ptr().addr().is_multiple_of(align));
            // SAFETY: from `allocate` with this layout.
            unsafe { deallocate(block, layout) };
        }
    }

    #[test]
    fn blocks_may_be_given_back_elsewhere() {
        let layout = Layout::from_size_align(32, 8).unwrap();
        let block = allocate(layout).as_ptr().expose_provenance();
        std::thread::spawn(move || {
            let block = NonNull::new(ptr::with_exposed_provenance_mut(block)).unwrap();
            // SAFETY: from `allocate` with this layout.
            unsafe { deallocate(block, layout) };
        })
        .join()
        .unwrap();
    }
}
