//! The core's `TF_SetStatus` and its like, found in the process.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

use tfrt_device::error::{DeviceError, Result};
use tfrt_plugin::status::{Code, TF_Status};

/// The core's functions.
pub(crate) struct CoreStatus {
    set: unsafe extern "C" fn(*mut TF_Status, i32, *const c_char),
    pub(crate) create: unsafe extern "C" fn() -> *mut TF_Status,
    pub(crate) destroy: unsafe extern "C" fn(*mut TF_Status),
}

/// The core's functions, if the process has them.
pub(crate) fn core_status() -> Option<&'static CoreStatus> {
    static FOUND: OnceLock<Option<CoreStatus>> = OnceLock::new();
    FOUND.get_or_init(find).as_ref()
}

/// Looks where every library sees them, and then in each library: a core may be loaded without being seen by others.
fn find() -> Option<CoreStatus> {
    functions(libc::RTLD_DEFAULT).or_else(|| {
        let mut libraries: Vec<CString> = Vec::new();
        // SAFETY: the function below, with what it takes.
        unsafe { libc::dl_iterate_phdr(Some(remember), (&raw mut libraries).cast()) };
        libraries.iter().find_map(|name| {
            // SAFETY: a name that the loader gave; nothing is loaded that is not there.
            let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
            if library.is_null() {
                return None;
            }
            let found = functions(library);
            if found.is_none() {
                // SAFETY: opened above; a library that has the functions stays, as they are kept.
                unsafe { libc::dlclose(library) };
            }
            found
        })
    })
}

unsafe extern "C" fn remember(info: *mut libc::dl_phdr_info, _size: usize, libraries: *mut c_void) -> c_int {
    // SAFETY: the loader's description of a library, and the list given to `dl_iterate_phdr`.
    unsafe {
        let name = (*info).dlpi_name;
        if !name.is_null() && *name != 0 {
            (*libraries.cast::<Vec<CString>>()).push(CStr::from_ptr(name).to_owned());
        }
    }
    0
}

fn functions(library: *mut c_void) -> Option<CoreStatus> {
    // SAFETY: names that end with a zero.
    let [set, create, destroy] = [c"TF_SetStatus", c"TF_NewStatus", c"TF_DeleteStatus"]
        .map(|name| unsafe { libc::dlsym(library, name.as_ptr()) });
    if set.is_null() || create.is_null() || destroy.is_null() {
        return None;
    }
    // SAFETY: functions of these names have these types by the API.
    unsafe {
        Some(CoreStatus {
            set: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut TF_Status, i32, *const c_char)>(
                set,
            ),
            create: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *mut TF_Status>(create),
            destroy: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut TF_Status)>(destroy),
        })
    }
}

/// Tells the core how a call ended. Where there is no core, nobody learns of it.
pub(crate) fn answer(status: *mut TF_Status, result: Result<()>) {
    let Some(core) = core_status() else { return };
    let (code, message) = match result {
        Ok(()) => (Code::Ok, CString::default()),
        Err(error) => (Code::from(error.status), message(&error)),
    };
    // SAFETY: the core's function and its status.
    unsafe { (core.set)(status, code as i32, message.as_ptr()) };
}

fn message(error: &DeviceError) -> CString {
    CString::new(error.to_string().replace('\0', " ")).unwrap_or_default()
}
