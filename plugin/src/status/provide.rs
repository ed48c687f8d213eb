//! Provides the functions that plug-ins expect of a core.
//!
//! A plug-in leaves `TF_SetStatus` and similar functions undefined. They are in a library of a few
//! hundred bytes that this one contains. It is written to memory and loaded for the whole process
//! under the name of TensorFlow's library, which also satisfies plug-ins that were linked with that
//! library.

use std::ffi::{CString, c_char, c_void};
use std::fs::File;
use std::io::{Error, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::{PayloadVisitor, TF_Status};

static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/status.so"));

/// The functions, as declared in `shim.c`.
#[repr(C)]
struct Functions {
    create: extern "C" fn() -> *mut TF_Status,
    destroy: extern "C" fn(*mut TF_Status),
    set: extern "C" fn(*mut TF_Status, i32, *const c_char),
    set_payload: extern "C" fn(*mut TF_Status, *const c_char, *const c_char),
    for_each_payload: extern "C-unwind" fn(*const TF_Status, Option<PayloadVisitor>, *mut c_void),
    set_from_io_error: extern "C" fn(*mut TF_Status, i32, *const c_char),
    code: extern "C" fn(*const TF_Status) -> i32,
    message: extern "C" fn(*const TF_Status) -> *const c_char,
}

/// Makes the functions available to libraries loaded from now on. Only the first call has an
/// effect.
///
/// # Errors
/// If the library cannot be loaded, or the process already has such functions, which do not know
/// our statuses.
pub(crate) fn provide() -> Result<(), String> {
    static PROVIDED: OnceLock<Result<(), String>> = OnceLock::new();
    PROVIDED.get_or_init(|| load().map_err(|why| format!("cannot give plug-ins TF_SetStatus: {why}"))).clone()
}

fn load() -> Result<(), String> {
    let file = written().map_err(|error| error.to_string())?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let functions = Functions {
        create: super::create,
        destroy: super::destroy,
        set: super::set,
        set_payload: super::set_payload,
        for_each_payload: super::for_each_payload,
        set_from_io_error: super::set_from_io_error,
        code: super::code,
        message: super::message,
    };
    // SAFETY: this is our own library. It runs no code when loaded, its function has this type, and
    // it stays loaded as plug-ins do.
    unsafe {
        let library = Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL).map_err(|error| error.to_string())?;
        let provide: libloading::os::unix::Symbol<unsafe extern "C" fn(*const Functions)> =
            library.get(b"tfrt_provide_status\0").map_err(|error| error.to_string())?;
        provide(&raw const functions);
        let ours = library.get::<*const c_void>(b"TF_SetStatus\0").map_err(|error| error.to_string())?;
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"TF_SetStatus".as_ptr());
        let same = std::ptr::eq(found, ours.into_raw());
        std::mem::forget(library);
        if same { Ok(()) } else { Err("another library of this process has it already".to_owned()) }
    }
}

/// Writes the library to a file in memory.
fn written() -> Result<File, Error> {
    let name = CString::from(c"tfrt-status");
    // SAFETY: the name ends with a zero.
    let descriptor = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened, and nobody else owns it.
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    file.write_all(LIBRARY)?;
    Ok(file)
}
