//! Counts live cells, for leak accounting.
//!
//! Each thread counts on its own, without read-modify-writes; a cell made on one thread and destroyed on
//! another leaves +1 here and −1 there. The sum is exact when the other threads are quiet.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicIsize, Ordering},
};

use crate::value::process_tables;

/// The counts of all threads, those that ended included.
#[derive(Debug)]
pub(crate) struct LiveCells {
    retired: AtomicIsize,
    threads: Mutex<Vec<Arc<AtomicIsize>>>,
}

impl LiveCells {
    pub(crate) const fn new() -> Self {
        Self { retired: AtomicIsize::new(0), threads: Mutex::new(Vec::new()) }
    }
}

struct Local(Arc<AtomicIsize>);

impl Local {
    fn register() -> Self {
        let count = Arc::new(AtomicIsize::new(0));
        let cells = &process_tables().live_cells;
        cells.threads.lock().unwrap_or_else(PoisonError::into_inner).push(count.clone());
        Self(count)
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let cells = &process_tables().live_cells;
        let mut threads = cells.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|count| !Arc::ptr_eq(count, &self.0));
        cells.retired.fetch_add(self.0.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

thread_local!(static LOCAL: Local = Local::register());

#[inline]
fn change(by: isize) {
    let counted =
        LOCAL.try_with(|local| local.0.store(local.0.load(Ordering::Relaxed) + by, Ordering::Relaxed));
    if counted.is_err() {
        // The thread is past destroying its locals.
        process_tables().live_cells.retired.fetch_add(by, Ordering::Relaxed);
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
    let cells = &process_tables().live_cells;
    let threads = cells.threads.lock().unwrap_or_else(PoisonError::into_inner);
    let sum: isize = threads.iter().map(|count| count.load(Ordering::Relaxed)).sum();
    usize::try_from(sum + cells.retired.load(Ordering::Relaxed)).unwrap_or(0)
}
