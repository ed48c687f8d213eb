//! The producing side of a value: each value has exactly one producer, which is used once.
//!
//! Making the value available consumes the promise. Dropping a promise, because its task panicked
//! or never ran, makes the value an [`ErrorCode::Abandoned`] error, so that no consumer waits
//! forever.

use std::{
    marker::PhantomData,
    mem, ops,
    ptr::{self, NonNull},
    sync::Arc,
    thread,
};

use super::{
    AsyncValue, AsyncValueRef, Status,
    cell::CellPtr,
    state::{Enqueue, State, Waiter},
    waiters,
};
use crate::{
    diagnostic::{Diagnostic, ErrorCode},
    pool::PoolBox,
    value::Value,
};

fn abandoned() -> Arc<Diagnostic> {
    let what = if thread::panicking() { "panicked" } else { "went away" };
    let message = format!("the value was never produced: its producer {what}");
    Arc::new(Diagnostic::new(ErrorCode::Abandoned, message))
}

/// Makes a value available.
///
/// # Safety
/// The caller is its producer, has written the payload for this state, and does not use the pointer
/// again.
#[inline]
unsafe fn publish(cell: CellPtr, state: State) {
    // SAFETY: the caller is the producer, has written the payload and gives the pointer up, as this
    // function demands.
    let waiters = unsafe { cell.publish(state) };
    waiters::run(waiters);
}

/// The producer of a value of known type.
#[derive(Debug)]
pub struct Promise<T: Value> {
    cell: CellPtr,
    marker: PhantomData<fn(T)>,
}

// SAFETY: the promise gives access to the payload only by value, and `T` may be sent; the cell's
// state is atomic.
unsafe impl<T: Value> Send for Promise<T> {}
// SAFETY: a shared promise offers nothing.
unsafe impl<T: Value> Sync for Promise<T> {}

impl<T: Value> Promise<T> {
    /// Makes a pending value and its producer.
    pub fn new() -> (Self, AsyncValueRef<T>) {
        let cell = CellPtr::pending::<T>();
        // SAFETY: the cell was made with one handle, this one.
        let value = unsafe { AsyncValue::from_cell(cell) };
        (Self { cell, marker: PhantomData }, AsyncValueRef::from_untyped_unchecked(value))
    }

    /// Makes the value available.
    pub fn emplace(self, value: T) {
        self.construct(value).set_available();
    }

    /// Stores the payload without making the value available, so that the payload can still be
    /// changed.
    pub fn construct(self, value: T) -> Constructed<T> {
        let cell = mem::ManuallyDrop::new(self).cell;
        // SAFETY: the cell was made for a `T`, is pending, and this is its one producer.
        unsafe { cell.write(value) };
        Constructed { cell, marker: PhantomData }
    }

    /// Makes the value an error.
    pub fn set_error(self, error: impl Into<Arc<Diagnostic>>) {
        let cell = mem::ManuallyDrop::new(self).cell;
        // SAFETY: pending, without payload, and this is its one producer, which is used up.
        unsafe {
            cell.write_error(error.into());
            publish(cell, State::Error);
        }
    }

    /// Makes the value available or an error.
    pub fn resolve(self, result: Result<T, Diagnostic>) {
        match result {
            Ok(value) => self.emplace(value),
            Err(error) => self.set_error(error),
        }
    }
}

impl<T: Value> Drop for Promise<T> {
    fn drop(&mut self) {
        // SAFETY: pending, without payload, and this is its one producer, which is used up.
        unsafe {
            self.cell.write_error(abandoned());
            publish(self.cell, State::Error);
        }
    }
}

/// The producer of a value that has a payload and is still pending.
#[derive(Debug)]
pub struct Constructed<T: Value> {
    cell: CellPtr,
    marker: PhantomData<T>,
}

// SAFETY: it owns a `T`, which is `Send`.
unsafe impl<T: Value> Send for Constructed<T> {}
// SAFETY: it shares a `T`, which is `Sync`.
unsafe impl<T: Value> Sync for Constructed<T> {}

impl<T: Value> Constructed<T> {
    /// Makes the value available with the payload as it is now.
    pub fn set_available(self) {
        let cell = mem::ManuallyDrop::new(self).cell;
        // SAFETY: the payload is constructed, and this is its one producer, which is used up.
        unsafe { publish(cell, State::Concrete) };
    }

    /// Destroys the payload and makes the value an error.
    pub fn set_error(self, error: impl Into<Arc<Diagnostic>>) {
        mem::ManuallyDrop::new(self).fail(error.into());
    }

    fn fail(&mut self, error: Arc<Diagnostic>) {
        // SAFETY: the payload is constructed and only this producer can reach it; then its place is
        // free.
        unsafe {
            self.cell.payload::<T>().drop_in_place();
            self.cell.write_error(error);
            publish(self.cell, State::Error);
        }
    }
}

impl<T: Value> Drop for Constructed<T> {
    fn drop(&mut self) {
        self.fail(abandoned());
    }
}

impl<T: Value> ops::Deref for Constructed<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: constructed, and only this producer can reach it until it is published.
        unsafe { &*self.cell.payload::<T>() }
    }
}

impl<T: Value> ops::DerefMut for Constructed<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: constructed, and only this producer, which is borrowed exclusively, can reach it
        // until it is published.
        unsafe { &mut *self.cell.payload::<T>() }
    }
}

/// The producer of a value that forwards to another value, of any type.
#[derive(Debug)]
pub struct IndirectPromise {
    cell: CellPtr,
}

// SAFETY: the payload is an `AsyncValue`, which is `Send` and `Sync`.
unsafe impl Send for IndirectPromise {}
// SAFETY: a shared promise offers nothing.
unsafe impl Sync for IndirectPromise {}

impl IndirectPromise {
    /// Makes a pending value and its producer.
    #[inline]
    pub fn new() -> (Self, AsyncValue) {
        let cell = CellPtr::indirect();
        // SAFETY: the cell was made with one handle, this one.
        (Self { cell }, unsafe { AsyncValue::from_cell(cell) })
    }

    /// Forwards the value to `target`, now or as soon as `target` is available.
    #[inline]
    pub fn forward_to(self, target: AsyncValue) {
        if target.is_inline() {
            self.settle(target, State::Concrete);
        } else if target.status() == Status::Pending {
            self.forward_later(target);
        } else {
            self.forward_now(target);
        }
    }

    /// To an available value that is not indirect, in this state.
    #[inline]
    fn settle(self, target: AsyncValue, state: State) {
        let cell = mem::ManuallyDrop::new(self).cell;
        // SAFETY: an indirect cell holds an `AsyncValue`; it is pending and this is its one
        // producer, which is used up.
        unsafe {
            cell.payload::<AsyncValue>().write(target);
            publish(cell, state);
        }
    }

    /// To an available value.
    fn forward_now(self, target: AsyncValue) {
        let target = target.collapse();
        let state = if target.status() == Status::Failed { State::Error } else { State::Concrete };
        self.settle(target, state);
    }

    #[inline(never)]
    fn forward_later(self, target: AsyncValue) {
        if target.is_cell(self.cell) {
            let message = "a value was forwarded to itself";
            return self.set_error(Diagnostic::new(ErrorCode::Internal, message));
        }
        let Some(list) = target.wait_list() else { return self.forward_now(target) };
        let link = Waiter { next: ptr::null_mut(), run: Forward::run };
        let forward = PoolBox::new(|| Forward { link, promise: self, target }).into_raw();
        // SAFETY: the box is given up; once pushed, the list owns it and `run` takes it back. It
        // holds a handle of the value until then.
        if unsafe { list.push(forward.cast()) } == Enqueue::Available {
            // SAFETY: the list did not take it, so this is its one run.
            unsafe { Forward::run(forward.as_ptr().cast()) };
        }
    }

    /// Makes the value available.
    pub fn emplace<T: Value>(self, value: T) {
        self.forward_to(AsyncValue::new(value));
    }

    /// Makes the value an error.
    pub fn set_error(self, error: impl Into<Arc<Diagnostic>>) {
        self.forward_to(AsyncValue::from_error(error));
    }
}

impl Drop for IndirectPromise {
    fn drop(&mut self) {
        // SAFETY: an indirect cell holds an `AsyncValue`; it is pending and this is its one
        // producer, which is used up.
        unsafe {
            self.cell.payload::<AsyncValue>().write(AsyncValue::from_error(abandoned()));
            publish(self.cell, State::Error);
        }
    }
}

/// Waits for `target` to make the promised value the same.
#[repr(C)]
struct Forward {
    link: Waiter,
    promise: IndirectPromise,
    target: AsyncValue,
}

impl Forward {
    /// # Safety
    /// `link` is the first field of a `PoolBox<Forward>` that is owned by nobody else.
    unsafe fn run(link: *mut Waiter) {
        // SAFETY: `link` leads to a `PoolBox<Forward>` that nobody else owns, as this function
        // demands, because it is the first field of a `repr(C)` struct.
        let forward = unsafe { PoolBox::from_raw(NonNull::new_unchecked(link).cast::<Self>()) };
        let Self { promise, target, .. } = forward.into_inner();
        promise.forward_now(target);
    }
}
