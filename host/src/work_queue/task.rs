//! [`Task`]: a closure that runs once and is stored inline if it is small.
#![expect(unsafe_code, reason = "closures of any type in one inline store")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;

use crate::panics;
use crate::process::is_library;

/// The size of the inline store in words: enough for a few pointers and indices.
const INLINE_WORDS: usize = 6;

type Store = [MaybeUninit<usize>; INLINE_WORDS];

/// The operations on the closure in a store.
struct Operations {
    /// Moves the closure out and calls it.
    call: unsafe fn(*mut Store),
    /// Drops the closure in place.
    drop: unsafe fn(*mut Store),
}

/// A closure that runs at most once, on any thread. Closures of up to 48 bytes are stored inline;
/// larger ones are boxed. Dropping a task that has not run drops its closure.
///
/// The store comes first. A move then copies the closure in the same pieces in which it is read
/// later. Otherwise the processor would have to wait until one piece is assembled from two.
#[repr(C)]
pub struct Task {
    store: Store,
    operations: &'static Operations,
    /// Makes the task `Send` like the closure, but not `Sync`.
    _closure: PhantomData<Box<dyn FnOnce() + Send>>,
}

/// Provides the operations of a closure that lies in the store itself.
struct Inline<F>(F);

impl<F: FnOnce() + Send + 'static> Inline<F> {
    const OPERATIONS: Operations = Operations {
        // SAFETY: the store holds an `F`, which `Task::in_place` wrote and nobody uses afterwards.
        call: |store| unsafe { store.cast::<F>().read() }(),
        // SAFETY: the store holds an `F`, which `Task::in_place` wrote and nobody uses afterwards.
        drop: |store| unsafe { store.cast::<F>().drop_in_place() },
    };

    const FITS: bool = size_of::<F>() <= size_of::<Store>() && align_of::<F>() <= align_of::<Store>();
}

impl Task {
    /// Creates a task from a closure.
    #[inline]
    pub fn new<F: FnOnce() + Send + 'static>(closure: F) -> Self {
        if is_library() {
            return Self::in_library(Box::new(closure));
        }
        if Inline::<F>::FITS { Self::in_place(closure) } else { Self::in_place(Box::new(closure)) }
    }

    /// Creates a task whose panics the host can catch.
    #[cold]
    #[inline(never)]
    fn in_library(closure: Box<dyn FnOnce() + Send>) -> Self {
        Self::in_place(panics::shielded(closure))
    }

    #[inline]
    fn in_place<F: FnOnce() + Send + 'static>(closure: F) -> Self {
        const { assert!(size_of::<Box<u8>>() <= size_of::<Store>()) };
        let mut store: Store = [MaybeUninit::uninit(); INLINE_WORDS];
        // SAFETY: `new` passes only closures that fit the store's size and alignment, or a box,
        // which fits as the constant assertion shows.
        unsafe { store.as_mut_ptr().cast::<F>().write(closure) };
        Self { operations: &Inline::<F>::OPERATIONS, store, _closure: PhantomData }
    }

    /// Runs the task.
    #[inline]
    pub fn run(self) {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the task is not used again, and `ManuallyDrop` keeps it from being dropped.
        unsafe { Self::run_in_place(NonNull::from(&mut *this)) };
    }

    /// Calls the closure of a task in place. The closure is moved out before its code starts, so
    /// the task's slot may then be reused.
    ///
    /// # Safety
    /// The pointer is to a task that nobody else uses, and that is neither used nor dropped
    /// afterwards.
    #[inline]
    pub(super) unsafe fn run_in_place(task: NonNull<Self>) {
        let task = task.as_ptr();
        // SAFETY: the operations are those of the closure in the store. The caller promises that
        // the task is alive and not used again, so the closure is moved out once.
        unsafe { ((*task).operations.call)(&raw mut (*task).store) };
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        // SAFETY: the operations are those of the closure in the store, which `run` has not moved
        // out.
        unsafe { (self.operations.drop)(&raw mut self.store) };
    }
}

impl<F: FnOnce() + Send + 'static> From<F> for Task {
    fn from(closure: F) -> Self {
        Self::new(closure)
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Task")
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Creates a task with `N` bytes of payload. It adds to the counter when run, and shares it
    /// while alive.
    fn task<const N: usize>(counter: &Arc<AtomicUsize>) -> Task {
        let (counter, payload) = (counter.clone(), [1u8; N]);
        Task::new(move || {
            counter.fetch_add(payload.iter().map(|&b| b as usize).sum(), Ordering::Relaxed);
        })
    }

    #[test]
    fn runs_and_drops_closures_of_all_sizes_once() {
        let counter = Arc::new(AtomicUsize::new(0));
        for make in [task::<1>, task::<40>, task::<41>, task::<1000>] {
            drop(make(&counter));
        }
        assert_eq!((Arc::strong_count(&counter), counter.load(Ordering::Relaxed)), (1, 0));
        for make in [task::<1>, task::<40>, task::<41>, task::<1000>] {
            make(&counter).run();
        }
        assert_eq!((Arc::strong_count(&counter), counter.load(Ordering::Relaxed)), (1, 1082));
    }

    #[test]
    fn overaligned_closures_are_boxed() {
        #[repr(align(128))]
        struct Aligned(u8);
        let value = Aligned(1);
        Task::new(move || {
            let value = value;
            assert_eq!(&raw const value as usize % 128, 0);
            assert_eq!(value.0, 1);
        })
        .run();
    }

    #[test]
    fn a_panicking_closure_drops_its_captures_once() {
        let counter = Arc::new(AtomicUsize::new(0));
        let captured = counter.clone();
        let task = Task::new(move || {
            let _captured = captured;
            panic!("expected");
        });
        assert!(catch_unwind(AssertUnwindSafe(|| task.run())).is_err());
        assert_eq!(Arc::strong_count(&counter), 1);
    }
}
