//! The count of live cells, for leak accounting.
//!
//! Each thread counts on its own, without read-modify-write operations. A cell made on one thread
//! and destroyed on another adds one here and subtracts one there. The sum is exact while the other
//! threads are quiet.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicIsize, Ordering},
};

use super::process_tables;

/// The counts of all threads, including threads that have ended.
#[derive(Debug)]
pub(crate) struct LiveCells {
    retired: AtomicIsize,
    threads: Mutex<Vec<Arc<AtomicIsize>>>,
}

impl LiveCells {
    pub(super) const fn new() -> Self {
        Self { retired: AtomicIsize::new(0), threads: Mutex::new(Vec::new()) }
    }

    /// Counts a new cell.
    #[inline]
    pub(crate) fn add() {
        change(1);
    }

    /// Counts a destroyed cell.
    #[inline]
    pub(crate) fn remove() {
        change(-1);
    }

    /// Returns the number of cells that are alive in this process.
    pub(crate) fn count(&self) -> usize {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let sum: isize = threads.iter().map(|count| count.load(Ordering::Relaxed)).sum();
        usize::try_from(sum + self.retired.load(Ordering::Relaxed)).unwrap_or(0)
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
