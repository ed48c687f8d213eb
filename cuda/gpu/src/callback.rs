//! Host callbacks: the functions that the driver was asked to call and has not called yet.
//!
//! The driver never calls them in a context that has failed. So it is given a number instead of a box, and what it will not
//! call is dropped when the context fails: whoever waits for the function hears that it is gone.

#![expect(unsafe_code, reason = "the driver calls back")]

use std::collections::BTreeMap;
use std::ffi::c_void;

use parking_lot::Mutex;

/// A function that is called once.
pub(super) type Callback = Box<dyn FnOnce() + Send>;

struct Waiting {
    /// Of which context it is.
    context: usize,
    callback: Callback,
}

#[derive(Default)]
struct Table {
    next: usize,
    /// By what the driver was given.
    waiting: BTreeMap<usize, Waiting>,
}

/// Of the process, because all that the driver hands back is a pointer.
static TABLE: Mutex<Table> = Mutex::new(Table { next: 1, waiting: BTreeMap::new() });

/// Takes note of a function; what the driver is given for it.
pub(super) fn add(context: usize, callback: Callback) -> *mut c_void {
    let mut table = TABLE.lock();
    let number = table.next;
    table.next += 1;
    table.waiting.insert(number, Waiting { context, callback });
    std::ptr::without_provenance_mut(number)
}

/// Takes a function back, unless it was called or its context failed.
pub(super) fn take(data: *mut c_void) -> Option<Callback> {
    TABLE.lock().waiting.remove(&data.addr()).map(|waiting| waiting.callback)
}

/// Takes back all functions of a context.
pub(super) fn take_all(context: usize) -> Vec<Callback> {
    let table = &mut *TABLE.lock();
    let gone = table.waiting.extract_if(.., |_, waiting| waiting.context == context);
    gone.map(|(_, waiting)| waiting.callback).collect()
}

/// What the driver calls when a stream gets to a host callback.
pub(super) unsafe extern "C" fn run(data: *mut c_void) {
    if let Some(callback) = take(data) {
        // A panic must not unwind into the driver, which has nobody to hand it to.
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
        // No context has these addresses.
        let [first, second, other] = [(1, 10), (1, 20), (2, 30)].map(|(context, n)| add(context, telling(n)));
        drop(tell);
        for data in [first, first] {
            // SAFETY: it takes any number.
            unsafe { run(data) };
        }
        assert_eq!(take_all(1).len(), 1);
        // SAFETY: as above.
        unsafe { run(second) };
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [10]);
        assert!(take(other).is_some() && take(other).is_none());
        assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Disconnected));
    }
}
