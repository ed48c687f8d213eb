//! Panics as errors, and panics that come from kernel libraries.
//!
//! A kernel library has a copy of the standard library, and a panic can only be caught by the copy
//! that raised it. Code of a library that the host calls is therefore *shielded*: the library
//! catches its panic and has the host raise it again ([`ProcessTables`](crate::ProcessTables)),
//! where it is caught like any other.

use std::{
    any::Any,
    mem,
    panic::{self, AssertUnwindSafe},
};

use crate::{diagnostic::Diagnostic, process::process_tables};

/// Returns the text of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Returns the error of a kernel that panicked.
pub(crate) fn kernel_panic(payload: &(dyn Any + Send)) -> Diagnostic {
    Diagnostic::internal(format!("the kernel panicked: {}", message(payload)))
}

/// Calls `run`. A panic becomes one of the process whose tables are in force.
pub(crate) fn shield<R>(run: impl FnOnce() -> R) -> R {
    match panic::catch_unwind(AssertUnwindSafe(run)) {
        Ok(value) => value,
        Err(payload) => process_tables().raise(message(&*payload).to_owned()),
    }
}

/// Returns a closure that calls `closure` shielded.
#[cold]
pub(crate) fn shielded(closure: Box<dyn FnOnce() + Send>) -> impl FnOnce() + Send + 'static {
    move || shield(closure)
}

/// Returns a closure that calls `closure` and ends its panic. The panic hook has reported it, and
/// what the closure would have produced is dropped.
#[cold]
pub(crate) fn contained(closure: Box<dyn FnOnce() + Send>) -> impl FnOnce() + Send + 'static {
    move || {
        let ran = panic::catch_unwind(AssertUnwindSafe(closure));
        // A payload may panic when it is dropped.
        ran.unwrap_or_else(mem::forget);
    }
}
