//! A profiler's library as NVTX loads it, which writes ranges as lines of a file.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
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

/// `NvtxExportTableCallbacks`.
#[repr(C)]
struct Callbacks {
    bytes: usize,
    module: unsafe extern "C" fn(c_int, *mut *mut *mut *const c_void, *mut c_uint) -> c_int,
}

/// The initializer of a tool's library: stores the tool's functions in the slots of NVTX.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn InitializeInjectionNvtx2(
    export_table: unsafe extern "C" fn(u32) -> *const c_void,
) -> c_int {
    // SAFETY: the caller's function accepts every number.
    let callbacks = unsafe { export_table(1) }.cast::<Callbacks>();
    // SAFETY: a table that exists begins with its size, and has that many bytes.
    let callbacks = unsafe {
        if callbacks.is_null() || (&raw const (*callbacks).bytes).read() < size_of::<Callbacks>() {
            return 0;
        }
        &*callbacks
    };
    let (mut table, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the pointers are valid for the call.
    if unsafe { (callbacks.module)(1, &raw mut table, &raw mut size) } == 0 || size <= 11 {
        return 0;
    }
    // SAFETY: the core's table has a slot for every function below its size, except for the first.
    unsafe {
        **table.add(9) = push as *const c_void;
        **table.add(11) = pop as *const c_void;
    }
    1
}

unsafe extern "C" fn push(message: *const c_char) -> c_int {
    // SAFETY: the caller's text is valid for the call.
    let name = unsafe { CStr::from_ptr(message) }.to_owned();
    tell("begins", &name);
    OPEN.with_borrow_mut(|open| {
        open.push(name);
        open.len() as c_int - 1
    })
}

unsafe extern "C" fn pop() -> c_int {
    OPEN.with_borrow_mut(|open| {
        let name = open.pop().unwrap_or_else(|| violation("a range ends that has not begun"));
        tell("ends", &name);
        open.len() as c_int
    })
}
