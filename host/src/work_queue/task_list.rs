//! [`TaskList`]: a first-in-first-out list of tasks for one thread, optimized for small closures.
//!
//! A task is written once, word by word. A processor that loads several words at once has to wait
//! until all of them have reached the cache, if they were just stored one at a time. A task runs
//! where it lies, without being moved first.
#![expect(unsafe_code, reason = "a ring of slots, some of which hold tasks")]

use std::mem::{self, MaybeUninit};
use std::ptr;

use super::Task;

type Words = [MaybeUninit<usize>; size_of::<Task>() / size_of::<usize>()];
const _: () = assert!(size_of::<Words>() == size_of::<Task>() && align_of::<Words>() == align_of::<Task>());

/// A growing ring. The slots `head .. head + len`, modulo the capacity, hold tasks.
#[derive(Default)]
pub(super) struct TaskList {
    /// Their number is zero or a power of two.
    slots: Box<[MaybeUninit<Task>]>,
    head: usize,
    len: usize,
}

impl TaskList {
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn slot(&mut self, index: usize) -> *mut Task {
        let mask = self.slots.len() - 1;
        // In bounds because of the mask. The pointer is derived from the whole slice, so it stays
        // valid beyond this borrow.
        // SAFETY: the masked index is below the number of slots, which is not zero when this is
        // called.
        unsafe { self.slots.as_mut_ptr().add(index & mask).cast::<Task>() }
    }

    #[inline]
    pub(super) fn push(&mut self, task: Task) {
        if self.len == self.slots.len() {
            self.grow();
        }
        let from = (&raw const task).cast::<MaybeUninit<usize>>();
        let to = self.slot(self.head.wrapping_add(self.len)).cast::<MaybeUninit<usize>>();
        for word in 0..size_of::<Words>() / size_of::<usize>() {
            // Volatile only to keep the compiler from merging the loads (see the module
            // documentation).
            // SAFETY: a task consists of that many words, some of which may be uninitialized. The
            // slot is free. The task moves into it and is not dropped here.
            unsafe { to.add(word).write(from.add(word).read_volatile()) };
        }
        mem::forget(task);
        self.len += 1;
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = Box::new_uninit_slice((self.slots.len() * 2).max(32));
        for index in 0..self.len {
            let from = self.slot(self.head.wrapping_add(index));
            // SAFETY: the slot holds a task, which moves to a free slot.
            unsafe { ptr::copy_nonoverlapping(from, slots[index].as_mut_ptr(), 1) };
        }
        self.slots = slots;
        self.head = 0;
    }

    /// Takes the oldest task out of the list. The task still lies in its slot: the caller must move
    /// it out or run it, once, before anything is pushed. Otherwise it is never dropped.
    #[inline]
    pub(super) fn pop_in_place(&mut self) -> Option<ptr::NonNull<Task>> {
        if self.len == 0 {
            return None;
        }
        let task = self.slot(self.head);
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        ptr::NonNull::new(task)
    }

    /// Moves all tasks of `other` to the end of this list.
    pub(super) fn append(&mut self, other: &mut Self) {
        if self.is_empty() {
            return std::mem::swap(self, other);
        }
        while let Some(task) = other.pop_in_place() {
            // SAFETY: the task was just popped and is moved out once.
            self.push(unsafe { task.read() });
        }
    }
}

impl Drop for TaskList {
    fn drop(&mut self) {
        while let Some(task) = self.pop_in_place() {
            // SAFETY: the task was just popped and is moved out once.
            drop(unsafe { task.read() });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;

    #[test]
    fn keeps_order_through_growth_wrapping_and_appending() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let task = |i: u32| {
            let log = log.clone();
            Task::new(move || log.lock().push(i))
        };
        let run = |list: &mut TaskList, count: usize| {
            for _ in 0..count {
                // SAFETY: the task runs once, before anything is pushed.
                unsafe { Task::run_in_place(list.pop_in_place().unwrap()) };
            }
        };
        let (mut list, mut other) = (TaskList::default(), TaskList::default());
        (0..20).for_each(|i| list.push(task(i)));
        run(&mut list, 15);
        (20..100).for_each(|i| list.push(task(i)));
        (100..110).for_each(|i| other.push(task(i)));
        list.append(&mut other);
        assert!(other.is_empty() && other.pop_in_place().is_none());
        run(&mut list, 95);
        assert!(list.is_empty());
        list.append(&mut other);
        assert_eq!(*log.lock(), (0..110).collect::<Vec<_>>());
    }

    #[test]
    fn drops_what_was_not_run() {
        let alive = Arc::new(());
        let mut list = TaskList::default();
        for _ in 0..40 {
            let alive = alive.clone();
            list.push(Task::new(move || drop(alive)));
        }
        drop(list);
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
