//! Atomics, locks, cells and threads, from `std` or from loom.
//!
//! Every protocol of this crate that loom models names its primitives through this module and never
//! through `std::sync`: the async value, the sleep protocol of the work queues, and the latch. With
//! `--cfg loom` the primitives are loom's and work only inside `loom::model`. Code that is never
//! modelled (counters, statics, tracing) uses `std`.
//!
//! This module hides two differences. A lock held by a panicking thread is not poisoned: its owner
//! keeps the protected data consistent, and the panic is reported where it happened. And an
//! [`UnsafeCell`] is accessed through closures, so that loom sees how long each access lasts.

/// Atomic integers, pointers and fences.
pub mod atomic {
    #[cfg(loom)]
    pub use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
    #[cfg(not(loom))]
    pub use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// Threads: spawning, yielding and parking.
pub mod thread {
    #[cfg(loom)]
    pub use loom::thread::{JoinHandle, current, park, spawn, yield_now};
    #[cfg(not(loom))]
    pub use std::thread::{JoinHandle, current, park, spawn, yield_now};
}

use std::time::Duration;

#[cfg(loom)]
pub use loom::hint::spin_loop;
#[cfg(loom)]
pub use loom::sync::{Arc, MutexGuard};
#[cfg(not(loom))]
pub use parking_lot::MutexGuard;
#[cfg(not(loom))]
pub use std::hint::spin_loop;
#[cfg(not(loom))]
pub use std::sync::Arc;

/// Mutual exclusion without poisoning.
#[derive(Debug, Default)]
pub struct Mutex<T> {
    #[cfg(not(loom))]
    inner: parking_lot::Mutex<T>,
    #[cfg(loom)]
    inner: loom::sync::Mutex<T>,
}

#[cfg(not(loom))]
impl<T> Mutex<T> {
    /// Creates an unlocked mutex.
    pub const fn new(value: T) -> Self {
        Self { inner: parking_lot::Mutex::new(value) }
    }

    /// Locks the mutex, waiting if another thread holds it.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.inner.lock()
    }
}

#[cfg(loom)]
impl<T> Mutex<T> {
    /// Creates an unlocked mutex.
    pub fn new(value: T) -> Self {
        Self { inner: loom::sync::Mutex::new(value) }
    }

    /// Locks the mutex, waiting if another thread holds it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A condition variable for [`Mutex`].
#[derive(Debug, Default)]
pub struct Condvar {
    #[cfg(not(loom))]
    inner: parking_lot::Condvar,
    #[cfg(loom)]
    inner: loom::sync::Condvar,
}

#[cfg(not(loom))]
impl Condvar {
    /// Creates a condition variable.
    pub const fn new() -> Self {
        Self { inner: parking_lot::Condvar::new() }
    }

    /// Releases the lock, waits for a notification, and takes the lock again. Wake-ups may be
    /// spurious.
    pub fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.inner.wait(&mut guard);
        guard
    }

    /// Does the same as [`Condvar::wait`], but waits for at most `timeout`. The flag is true if the
    /// time ran out.
    pub fn wait_timeout<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> (MutexGuard<'a, T>, bool) {
        let timed_out = self.inner.wait_for(&mut guard, timeout).timed_out();
        (guard, timed_out)
    }

    /// Wakes one waiting thread.
    #[inline]
    pub fn notify_one(&self) {
        self.inner.notify_one();
    }

    /// Wakes every waiting thread.
    #[inline]
    pub fn notify_all(&self) {
        self.inner.notify_all();
    }
}

#[cfg(loom)]
impl Condvar {
    /// Creates a condition variable.
    pub fn new() -> Self {
        Self { inner: loom::sync::Condvar::new() }
    }

    /// Releases the lock, waits for a notification, and takes the lock again. Wake-ups may be
    /// spurious.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.inner.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Does the same as [`Condvar::wait`]. loom has no clock, so the time never runs out.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _timeout: Duration,
    ) -> (MutexGuard<'a, T>, bool) {
        (self.wait(guard), false)
    }

    /// Wakes one waiting thread.
    pub fn notify_one(&self) {
        self.inner.notify_one();
    }

    /// Wakes every waiting thread.
    pub fn notify_all(&self) {
        self.inner.notify_all();
    }
}

/// A cell whose accesses loom can check. A pointer is valid until the closure returns. The caller
/// upholds Rust's aliasing rules.
#[derive(Debug, Default)]
pub struct UnsafeCell<T> {
    #[cfg(not(loom))]
    inner: std::cell::UnsafeCell<T>,
    #[cfg(loom)]
    inner: loom::cell::UnsafeCell<T>,
}

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    /// Creates a cell that holds `value`.
    pub const fn new(value: T) -> Self {
        Self { inner: std::cell::UnsafeCell::new(value) }
    }

    /// Calls `f` with a pointer to read the value through.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.inner.get())
    }

    /// Calls `f` with a pointer to write the value through.
    #[inline]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.inner.get())
    }
}

#[cfg(loom)]
impl<T> UnsafeCell<T> {
    /// Creates a cell that holds `value`.
    pub fn new(value: T) -> Self {
        Self { inner: loom::cell::UnsafeCell::new(value) }
    }

    /// Calls `f` with a pointer to read the value through.
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        self.inner.with(f)
    }

    /// Calls `f` with a pointer to write the value through.
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        self.inner.with_mut(f)
    }
}

/// Declares a thread-local `Cell`. It is accessed through `with`, the only method that `std` and
/// loom share.
macro_rules! thread_local_cell {
    ($(#[$attribute:meta])* static $NAME:ident: $Type:ty = $init:expr;) => {
        #[cfg(not(loom))]
        std::thread_local! {
            $(#[$attribute])*
            static $NAME: std::cell::Cell<$Type> = const { std::cell::Cell::new($init) };
        }
        #[cfg(loom)]
        loom::thread_local! {
            $(#[$attribute])*
            static $NAME: std::cell::Cell<$Type> = std::cell::Cell::new($init);
        }
    };
}
pub(crate) use thread_local_cell;

/// Puts its thread to sleep until its [`Unparker`] wakes it. An unpark that comes first makes the
/// next park return at once. Several unparks count as one.
#[derive(Debug)]
pub struct Parker {
    #[cfg(not(loom))]
    inner: crossbeam_utils::sync::Parker,
    #[cfg(loom)]
    token: std::sync::Arc<(Mutex<bool>, Condvar)>,
}

/// Wakes the thread that holds the [`Parker`].
#[derive(Debug, Clone)]
pub struct Unparker {
    #[cfg(not(loom))]
    inner: crossbeam_utils::sync::Unparker,
    #[cfg(loom)]
    token: std::sync::Arc<(Mutex<bool>, Condvar)>,
}

#[cfg(not(loom))]
impl Parker {
    /// Creates a parker without a token.
    pub fn new() -> Self {
        Self { inner: crossbeam_utils::sync::Parker::new() }
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        self.inner.park();
    }

    /// Returns a handle that wakes this parker.
    pub fn unparker(&self) -> Unparker {
        Unparker { inner: self.inner.unparker().clone() }
    }
}

#[cfg(not(loom))]
impl Unparker {
    /// Leaves a token and wakes the parked thread.
    pub fn unpark(&self) {
        self.inner.unpark();
    }
}

#[cfg(loom)]
impl Parker {
    /// Creates a parker without a token.
    pub fn new() -> Self {
        Self { token: std::sync::Arc::new((Mutex::new(false), Condvar::new())) }
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        let mut token = self.token.0.lock();
        while !*token {
            token = self.token.1.wait(token);
        }
        *token = false;
    }

    /// Returns a handle that wakes this parker.
    pub fn unparker(&self) -> Unparker {
        Unparker { token: self.token.clone() }
    }
}

#[cfg(loom)]
impl Unparker {
    /// Leaves a token and wakes the parked thread.
    pub fn unpark(&self) {
        *self.token.0.lock() = true;
        self.token.1.notify_one();
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}
