//! Host callbacks on a plug-in's streams.
//!
//! A plug-in receives a number as its callback argument, not a pointer. It may call back twice, on
//! any thread, or after the device is gone. Only the first call in time has an effect.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use parking_lot::Mutex;

use crate::status::{Code, TF_Status, fail};

type Callback = Box<dyn FnOnce() + Send>;

/// The callbacks that were not called yet.
struct Waiting {
    next: usize,
    /// With the device that each belongs to.
    entries: Option<HashMap<usize, (u64, Callback)>>,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { next: 1, entries: None });

/// A callback that was passed to a plug-in.
pub(super) struct Entry(usize);

impl Entry {
    /// Returns the argument that the plug-in passes back.
    pub(super) fn pointer(&self) -> *mut c_void {
        std::ptr::without_provenance_mut(self.0)
    }

    /// Removes the callback, so that it is never called.
    pub(super) fn withdraw(self) {
        // Dropped after the lock is released.
        let _callback = WAITING.lock().entries.as_mut().and_then(|entries| entries.remove(&self.0));
    }
}

/// Keeps a callback until it is called.
pub(super) fn register(device: u64, callback: Callback) -> Entry {
    let mut waiting = WAITING.lock();
    let number = waiting.next;
    waiting.next += 1;
    waiting.entries.get_or_insert_default().insert(number, (device, callback));
    Entry(number)
}

/// Drops the callbacks that a device has not called.
pub(super) fn forget(device: u64) {
    let _callbacks: Vec<_> = WAITING
        .lock()
        .entries
        .as_mut()
        .map(|entries| entries.extract_if(|_, (of, _)| *of == device).collect())
        .unwrap_or_default();
}

/// The function that plug-ins call.
pub(super) unsafe extern "C-unwind" fn run(argument: *mut c_void, status: *mut TF_Status) {
    let found = WAITING.lock().entries.as_mut().and_then(|entries| entries.remove(&argument.addr()));
    let Some((_, callback)) = found else { return };
    if catch_unwind(AssertUnwindSafe(callback)).is_err() {
        fail(status, Code::Internal, &CString::from(c"a host callback panicked"));
    }
}
