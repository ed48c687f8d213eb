//! Work of the host's on a plug-in's streams.
//!
//! What a plug-in is given to call back with is a number, not a pointer: it may call back twice, on any thread, or when
//! the device is long gone, and only the first call in time finds something to do.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use parking_lot::Mutex;

use crate::status::{Code, TF_Status, fail};

type Callback = Box<dyn FnOnce() + Send>;

/// What is waiting to be called.
struct Waiting {
    next: usize,
    /// With the device it is for.
    entries: Option<HashMap<usize, (u64, Callback)>>,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { next: 1, entries: None });

/// A callback that a plug-in is told of.
pub(super) struct Entry(usize);

impl Entry {
    /// What the plug-in is to call back with.
    pub(super) fn pointer(&self) -> *mut c_void {
        std::ptr::without_provenance_mut(self.0)
    }

    /// Never calls it any more.
    pub(super) fn withdraw(self) {
        // Dropped when the lock is free again.
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

/// Drops what a device did not call.
pub(super) fn forget(device: u64) {
    let _callbacks: Vec<_> = WAITING
        .lock()
        .entries
        .as_mut()
        .map(|entries| entries.extract_if(|_, (of, _)| *of == device).collect())
        .unwrap_or_default();
}

/// What plug-ins call.
pub(super) unsafe extern "C-unwind" fn run(argument: *mut c_void, status: *mut TF_Status) {
    let found = WAITING.lock().entries.as_mut().and_then(|entries| entries.remove(&argument.addr()));
    let Some((_, callback)) = found else { return };
    if catch_unwind(AssertUnwindSafe(callback)).is_err() {
        fail(status, Code::Internal, &CString::from(c"a host callback panicked"));
    }
}
