//! Runs waiters in bounded stack.
//!
//! A waiter may make further values available, whose waiters do the same: a chain as long as the
//! program. So only the outermost publication on a thread runs waiters; inner ones append theirs to
//! the thread's queue. Waiters of one value run in the order they were added.

use std::{
    any::Any,
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    ptr::{self, NonNull},
};

use super::state::{Waiter, WaiterList};

struct Queue {
    running: Cell<bool>,
    head: Cell<*mut Waiter>,
    tail: Cell<*mut Waiter>,
}

thread_local!(static QUEUE: Queue = const {
    Queue { running: Cell::new(false), head: Cell::new(ptr::null_mut()), tail: Cell::new(ptr::null_mut()) }
});

/// Whether more waiters are ready on this thread behind the one that runs.
#[inline]
pub(crate) fn more_ready() -> bool {
    QUEUE.with(|queue| !queue.head.get().is_null())
}

/// Runs every waiter of `list`, now or, inside another waiter, right after it.
#[inline]
pub(super) fn run(list: WaiterList) {
    if !list.is_empty() {
        QUEUE.with(|queue| queue.run(list));
    }
}

impl Queue {
    fn run(&self, list: WaiterList) {
        self.append(list);
        if !self.running.replace(true) {
            self.drain();
        }
    }

    fn drain(&self) {
        let mut first_panic: Option<Box<dyn Any + Send>> = None;
        loop {
            // A panic ends the inner loop only. Guarding all waiters at once costs less than
            // guarding each.
            let ran = panic::catch_unwind(AssertUnwindSafe(|| {
                while let Some(waiter) = self.pop() {
                    // SAFETY: the waiter came from a `WaiterList` and has left the queue, so that
                    // this is its one run.
                    unsafe { (waiter.as_ref().run)(waiter.as_ptr()) };
                }
            }));
            match ran {
                Ok(()) => break,
                Err(payload) => first_panic = first_panic.or(Some(payload)),
            }
        }
        self.running.set(false);
        // The others have run; whoever made the value available (a work queue) reports the panic.
        if let Some(payload) = first_panic {
            panic::resume_unwind(payload);
        }
    }

    /// Appends the waiters of a list, oldest first.
    fn append(&self, list: WaiterList) {
        let newest = list.into_newest();
        let (mut oldest, mut rest) = (ptr::null_mut::<Waiter>(), newest);
        while !rest.is_null() {
            // SAFETY: the list's waiters are valid, linked up to null, and now this queue's
            // (`WaiterList`).
            let next = unsafe { std::mem::replace(&mut (*rest).next, oldest) };
            oldest = rest;
            rest = next;
        }
        let tail = self.tail.replace(newest);
        if self.head.get().is_null() {
            self.head.set(oldest);
        } else {
            // SAFETY: the queue is not empty, so its tail is a waiter that `append` took and `pop`
            // has not returned.
            unsafe { (*tail).next = oldest };
        }
    }

    fn pop(&self) -> Option<NonNull<Waiter>> {
        let head = NonNull::new(self.head.get())?;
        // SAFETY: the head is a waiter that `append` took over and that has not been returned.
        self.head.set(unsafe { head.as_ref().next });
        Some(head)
    }
}
