//! Tables of which there must be one per process: the types of values, the count of live cells, and
//! what was derived from buffers.
//!
//! A shared object that is loaded as a kernel library has a copy of this crate, and with it a copy
//! of the tables. It is made to use those of the process instead, see [`adopt_process_tables`].
//! This module knows neither values nor buffers.

#![expect(unsafe_code, reason = "the table of types is read without a lock")]

mod derived;
mod live;
mod types;

use std::{
    panic, ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

use derived::DerivedValues;
pub(crate) use derived::Kept;
pub(crate) use live::LiveCells;
use types::TypeTable;
pub use types::{MAX_TYPES, TypeIndex, TypeInfo};

/// The tables of a process.
#[derive(Debug)]
pub struct ProcessTables {
    pub(crate) types: TypeTable,
    pub(crate) live_cells: LiveCells,
    pub(crate) derived: DerivedValues,
    /// Raises a panic with this text, by the standard library of the process.
    raise: fn(String) -> !,
}

impl ProcessTables {
    /// Raises a panic with this text, which code of the process can catch. Panic hooks are not
    /// called.
    pub(crate) fn raise(&self, message: String) -> ! {
        (self.raise)(message)
    }
}

fn raise(message: String) -> ! {
    panic::resume_unwind(Box::new(message))
}

static TABLES: ProcessTables = ProcessTables {
    types: TypeTable::new(),
    live_cells: LiveCells::new(),
    derived: DerivedValues::new(),
    raise,
};

/// The tables of the process that loaded this copy of the crate; null if they are [`TABLES`].
static ADOPTED: AtomicPtr<ProcessTables> = AtomicPtr::new(ptr::null_mut());

/// Returns the tables in force.
#[inline]
pub fn process_tables() -> &'static ProcessTables {
    let adopted = ADOPTED.load(Ordering::Acquire);
    if adopted.is_null() {
        &TABLES
    } else {
        // SAFETY: only `adopt_process_tables` stores a pointer here, and it takes a `'static`
        // reference.
        unsafe { &*adopted }
    }
}

/// Returns whether this copy of the crate belongs to a kernel library.
#[inline]
pub(crate) fn is_library() -> bool {
    !ADOPTED.load(Ordering::Relaxed).is_null()
}

/// Makes this copy of the crate use `tables`. A kernel library calls this before it names any type.
pub fn adopt_process_tables(tables: &'static ProcessTables) {
    ADOPTED.store(ptr::from_ref(tables).cast_mut(), Ordering::Release);
}
