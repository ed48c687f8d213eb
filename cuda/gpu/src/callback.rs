//! Host callbacks: functions that were passed to the driver and have not been called yet.
//!
//! The driver never calls them in a failed context. So the driver gets a number instead of a box,
//! and the remaining callbacks are dropped when the context fails. Threads that wait for such a
//! callback then learn that it will not be called.

#![expect(unsafe_code, reason = "the driver calls back")]

use std::collections::BTreeMap;
use std::ffi::c_void;

use parking_lot::Mutex;

/// A function that is called once.
pub(super) type Callback = Box<dyn FnOnce() + Send>;

struct Waiting {
    /// The identity of its context.
    context: usize,
    callback: Callback,
}

#[derive(Default)]
struct Table {
    next: usize,
    /// The pending callbacks, by the number that the driver has.
    waiting: BTreeMap<usize, Waiting>,
}

/// Shared by the process, because the driver passes only a pointer to the callback.
static TABLE: Mutex<Table> = Mutex::new(Table { next: 1, waiting: BTreeMap::new() });

/// Registers a function and returns the pointer to pass to the driver.
pub(super) fn add(context: usize, callback: Callback) -> *mut c_void {
    let mut table = TABLE.lock();
    let number = table.next;
    table.next += 1;
    table.waiting.insert(number, Waiting { context, callback });
    std::ptr::without_provenance_mut(number)
}

/// Removes and returns a function, unless it was called or its context failed.
pub(super) fn take(data: *mut c_void) -> Option<Callback> {
    TABLE.lock().waiting.remove(&data.addr()).map(|waiting| waiting.callback)
}

/// Removes and returns all functions of a context.
pub(super) fn take_all(context: usize) -> Vec<Callback> {
    let table = &mut *TABLE.lock();
    let gone = table.waiting.extract_if(.., |_, waiting| waiting.context == context);
    gone.map(|(_, waiting)| waiting.callback).collect()
}

/// Called by the driver when a stream reaches a host callback.
pub(super) unsafe extern "C" fn run(data: *mut c_void) {
    if let Some(callback) = take(data) {
        // A panic must not unwind into the driver, which could not handle it.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(callback));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_function_is_called_once_or_dropped() {
        let (tell, told) = mpsc::channel();
        let telling = |number: i32| -> Callback {
            let tell = tell.clone();
            Box::new(move || tell.send(number).unwrap())
        };
        // No context has these identities.
        let [first, second, other] = [(1, 10), (1, 20), (2, 30)].map(|(context, n)| add(context, telling(n)));
        drop(tell);
        for data in [first, first] {
            // SAFETY: `run` accepts any number.
            unsafe { run(data) };
        }
        assert_eq!(take_all(1).len(), 1);
        // SAFETY: `run` accepts any number.
        unsafe { run(second) };
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [10]);
        assert!(take(other).is_some() && take(other).is_none());
        assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Disconnected));
    }
}
