//! NVTX: ranges are lines of a file.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::io::Write;

use super::state::violation;

/// The variable with the file's name.
const VARIABLE: &str = "TFRT_STAND_IN_NVTX";

thread_local! {
    static OPEN: RefCell<Vec<CString>> = const { RefCell::new(Vec::new()) };
}

fn tell(what: &str, name: &CStr) {
    let Some(file) = std::env::var_os(VARIABLE) else { return };
    let line = format!("{:?} {what} {}\n", std::thread::current().id(), name.to_string_lossy());
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(file);
    if opened.and_then(|mut file| file.write_all(line.as_bytes())).is_err() {
        violation("the ranges' file cannot be written");
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvtxRangePushA(message: *const c_char) -> c_int {
    // SAFETY: the caller's text, for the call.
    let name = unsafe { CStr::from_ptr(message) }.to_owned();
    tell("begins", &name);
    OPEN.with_borrow_mut(|open| {
        open.push(name);
        open.len() as c_int - 1
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvtxRangePop() -> c_int {
    OPEN.with_borrow_mut(|open| {
        let name = open.pop().unwrap_or_else(|| violation("a range ends that has not begun"));
        tell("ends", &name);
        open.len() as c_int
    })
}
