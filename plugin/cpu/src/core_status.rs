//! The core's `TF_SetStatus` and related functions, found in the process.

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

/// Returns the core's functions, if the process has them.
pub(crate) fn core_status() -> Option<&'static CoreStatus> {
    static FOUND: OnceLock<Option<CoreStatus>> = OnceLock::new();
    FOUND.get_or_init(find).as_ref()
}

/// Searches the symbols that every library sees, and then each library, because a core may be
/// loaded without exporting its symbols globally.
fn find() -> Option<CoreStatus> {
    functions(libc::RTLD_DEFAULT).or_else(|| {
        let mut libraries: Vec<CString> = Vec::new();
        // SAFETY: `remember` has the type of the callback, and the pointer is the list that it
        // expects.
        unsafe { libc::dl_iterate_phdr(Some(remember), (&raw mut libraries).cast()) };
        libraries.iter().find_map(|name| {
            // SAFETY: the name comes from the loader. `RTLD_NOLOAD` loads nothing.
            let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
            if library.is_null() {
                return None;
            }
            let found = functions(library);
            if found.is_none() {
                // SAFETY: `dlopen` returned this handle above. A library with the functions stays
                // loaded, because the core that called us needs it.
                unsafe { libc::dlclose(library) };
            }
            found
        })
    })
}

unsafe extern "C" fn remember(info: *mut libc::dl_phdr_info, _size: usize, libraries: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description of a library, and the list given to
    // `dl_iterate_phdr`.
    unsafe {
        let name = (*info).dlpi_name;
        if !name.is_null() && *name != 0 {
            (*libraries.cast::<Vec<CString>>()).push(CStr::from_ptr(name).to_owned());
        }
    }
    0
}

fn functions(library: *mut c_void) -> Option<CoreStatus> {
    // SAFETY: the names are C strings.
    let [set, create, destroy] = [c"TF_SetStatus", c"TF_NewStatus", c"TF_DeleteStatus"]
        .map(|name| unsafe { libc::dlsym(library, name.as_ptr()) });
    if set.is_null() || create.is_null() || destroy.is_null() {
        return None;
    }
    // SAFETY: functions with these names have these types according to the API.
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

/// Reports the result of a call to the core, if there is one.
pub(crate) fn answer(status: *mut TF_Status, result: Result<()>) {
    let Some(core) = core_status() else { return };
    let (code, message) = match result {
        Ok(()) => (Code::Ok, CString::default()),
        Err(error) => (Code::from(error.status), message(&error)),
    };
    // SAFETY: this is the core's function and its status.
    unsafe { (core.set)(status, code as i32, message.as_ptr()) };
}

fn message(error: &DeviceError) -> CString {
    CString::new(error.to_string().replace('\0', " ")).unwrap_or_default()
}
