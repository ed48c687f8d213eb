//! Counts live cells, for leak accounting.
//!
//! Each thread counts on its own, without read-modify-writes; a cell made on one thread and destroyed on
//! another leaves +1 here and −1 there. The sum is exact when the other threads are quiet.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicIsize, Ordering},
};

static RETIRED: AtomicIsize = AtomicIsize::new(0);
static THREADS: Mutex<Vec<Arc<AtomicIsize>>> = Mutex::new(Vec::new());

struct Local(Arc<AtomicIsize>);

impl Local {
    fn register() -> Self {
        let count = Arc::new(AtomicIsize::new(0));
        THREADS.lock().unwrap_or_else(PoisonError::into_inner).push(count.clone());
        Self(count)
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|count| !Arc::ptr_eq(count, &self.0));
        RETIRED.fetch_add(self.0.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

thread_local!(static LOCAL: Local = Local::register());

#[inline]
fn change(by: isize) {
    let counted =
        LOCAL.try_with(|local| local.0.store(local.0.load(Ordering::Relaxed) + by, Ordering::Relaxed));
    if counted.is_err() {
        // The thread is past destroying its locals.
        RETIRED.fetch_add(by, Ordering::Relaxed);
    }
}

#[inline]
pub(super) fn add() {
    change(1);
}

#[inline]
pub(super) fn remove() {
    change(-1);
}

/// The number of cells alive in this process.
pub(super) fn count() -> usize {
    let threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let sum: isize = threads.iter().map(|count| count.load(Ordering::Relaxed)).sum();
    usize::try_from(sum + RETIRED.load(Ordering::Relaxed)).unwrap_or(0)
}
