//! Counts of the calls of each entry point, for tests of what the backend calls in a steady state.
//! With `TFRT_STAND_IN_CALLS` they are written to the file of that name when the process ends: a
//! line for each entry point that was called, with its name and the number of calls.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::fmt::Write as _;
use std::sync::Once;

use parking_lot::Mutex;

static CALLS: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());
static AT_EXIT: Once = Once::new();

const FILE_VARIABLE: &str = "TFRT_STAND_IN_CALLS";

/// Counts a call of an entry point.
pub(crate) fn count(name: &'static str) {
    *CALLS.lock().entry(name).or_default() += 1;
    AT_EXIT.call_once(|| {
        if std::env::var_os(FILE_VARIABLE).is_some() {
            // SAFETY: the function may be called when the process ends: this library is never
            // unloaded. A failure leaves no file, which the test reports.
            let _ = unsafe { libc::atexit(write) };
        }
    });
}

extern "C" fn write() {
    let Some(file) = std::env::var_os(FILE_VARIABLE) else { return };
    let mut text = String::new();
    for (name, count) in &*CALLS.lock() {
        let _ = writeln!(text, "{name} {count}");
    }
    // A test that finds no file fails.
    let _ = std::fs::write(file, text);
}

/// Returns how often an entry point was called; for a null pointer, how often any was.
///
/// # Safety
/// The name ends with a zero, or is null.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn stand_in_calls(name: *const c_char) -> u64 {
    let calls = CALLS.lock();
    if name.is_null() {
        return calls.values().sum();
    }
    // SAFETY: the caller promises the final zero.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_str().ok().and_then(|name| calls.get(name)).copied().unwrap_or(0)
}
