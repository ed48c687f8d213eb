//! NVTX: shows the runtime's traced spans in NVIDIA's profilers, as ranges of the threads that they
//! run on.
//!
//! Since version 3, NVTX has no library. A profiler names its own library in an environment
//! variable. The program loads it and passes it a table of slots, and the tool fills in the
//! functions that it implements.

#![expect(unsafe_code, reason = "a tool's library, called through NVTX's C interface")]

use std::ffi::{CString, OsStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_host::tracing::{self, Listener};

use super::libraries::cause;

/// The environment variable with the tool's library.
const LIBRARY_VARIABLE: &str = "NVTX_INJECTION64_PATH";
const VERSION: u32 = 3;
/// The number of functions of each module, by module number. The first module is the core. Slots
/// that are never called exist because a tool that does not find them may reject this
/// implementation.
const FUNCTIONS: [usize; 7] = [0, 16, 9, 15, 7, 16, 7];
const CORE: usize = 1;
const RANGE_PUSH: usize = 9;
const RANGE_POP: usize = 11;

/// A slot that a tool stores a function in.
type Place = AtomicPtr<c_void>;
/// The slots of a module by function number. The first and the last are unused.
type Module = Vec<Option<&'static Place>>;

/// `NvtxExportTableCallbacks`.
#[repr(C)]
struct Callbacks {
    bytes: usize,
    module: unsafe extern "C" fn(c_int, *mut *const Option<&'static Place>, *mut c_uint) -> c_int,
}

/// `NvtxExportTableVersionInfo`.
#[repr(C)]
struct VersionInfo {
    bytes: usize,
    version: u32,
    reserved: u32,
    set_version_of_tool: extern "C" fn(u32),
}

static CALLBACKS: Callbacks = Callbacks { bytes: size_of::<Callbacks>(), module };
static VERSION_INFO: VersionInfo =
    VersionInfo { bytes: size_of::<VersionInfo>(), version: VERSION, reserved: 0, set_version_of_tool };

/// `InitializeInjectionNvtx2`, which returns zero if the tool does not attach.
type Initialize = unsafe extern "C" fn(extern "C" fn(u32) -> *const c_void) -> c_int;

fn modules() -> &'static [Module; FUNCTIONS.len()] {
    static MODULES: OnceLock<[Module; FUNCTIONS.len()]> = OnceLock::new();
    MODULES.get_or_init(|| {
        FUNCTIONS.map(|count| {
            let place = |id| (1..count).contains(&id).then(|| &*Box::leak(Box::new(Place::default())));
            (0..=count).map(place).collect()
        })
    })
}

/// `nvtxGetExportTable`.
extern "C" fn export_table(id: u32) -> *const c_void {
    match id {
        1 => (&raw const CALLBACKS).cast(),
        3 => (&raw const VERSION_INFO).cast(),
        _ => std::ptr::null(),
    }
}

/// Stores a module's table of slots and their number. Returns zero if there is no such module.
///
/// # Safety
/// `table` and `size` are each null or valid for writes.
unsafe extern "C" fn module(
    id: c_int,
    table: *mut *const Option<&'static Place>,
    size: *mut c_uint,
) -> c_int {
    let known = usize::try_from(id).ok().filter(|&id| id > 0 && id < FUNCTIONS.len());
    let Some(id) = known else { return 0 };
    // SAFETY: the caller promises that the pointers are null or valid for writes. They may be
    // uninitialized, so no reference is made to them.
    unsafe {
        if !table.is_null() {
            table.write(modules()[id].as_ptr());
        }
        if !size.is_null() {
            size.write(FUNCTIONS[id] as c_uint);
        }
    }
    1
}

extern "C" fn set_version_of_tool(_version: u32) {}

/// `nvtxRangePushA`, which returns the depth of the range.
type Push = unsafe extern "C" fn(*const c_char) -> c_int;
/// `nvtxRangePop`.
type Pop = unsafe extern "C" fn() -> c_int;

/// The tool's functions for ranges.
struct Ranges {
    push: Push,
    pop: Pop,
}

/// Returns the tool's functions. The first call loads the tool.
fn ranges() -> Result<&'static Ranges> {
    static RANGES: OnceLock<Result<Ranges>> = OnceLock::new();
    let attached = RANGES.get_or_init(|| match std::env::var_os(LIBRARY_VARIABLE) {
        Some(path) => attach(&path),
        None => Err(missing(format!("no profiler asks for ranges: {LIBRARY_VARIABLE} names no library"))),
    });
    attached.as_ref().map_err(Clone::clone)
}

fn missing(detail: String) -> DeviceError {
    DeviceError::new(Status::NotFound, detail)
}

/// Loads the tool's library and lets it fill in its functions.
fn attach(path: &OsStr) -> Result<Ranges> {
    let shown = path.display();
    let failed =
        |error: libloading::Error| missing(format!("the profiler's library {shown}: {}", cause(&error)));
    // Binds lazily, as NVTX itself does: a tool may refer to missing functions that it does not
    // call here. SAFETY: the user who set the variable asks for this library, and vouches for its
    // initializers.
    let library = unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_LOCAL) }.map_err(failed)?;
    // SAFETY: the signature is that of NVTX's interface for tools.
    let initialize = *unsafe { library.get::<Initialize>(b"InitializeInjectionNvtx2") }.map_err(failed)?;
    // The library stays loaded: its functions are called until the process ends.
    std::mem::forget(library);
    // SAFETY: the function is the tool's initializer, and the tables that it receives live forever.
    if unsafe { initialize(export_table) } == 0 {
        return Err(missing(format!("the profiler's library {shown} does not attach")));
    }
    let function = |id: usize| {
        let place = modules()[CORE][id].map(|place| place.load(Ordering::Acquire));
        place.filter(|function| !function.is_null())
    };
    let (Some(push), Some(pop)) = (function(RANGE_PUSH), function(RANGE_POP)) else {
        return Err(missing(format!("the profiler's library {shown} takes no ranges")));
    };
    // SAFETY: according to NVTX's interface, the tool stored functions of these signatures.
    let push = unsafe { std::mem::transmute::<*mut c_void, Push>(push) };
    // SAFETY: according to NVTX's interface, the tool stored functions of these signatures.
    let pop = unsafe { std::mem::transmute::<*mut c_void, Pop>(pop) };
    Ok(Ranges { push, pop })
}

/// Turns all spans that begin from now on, while tracing is on, into ranges.
///
/// # Errors
/// `NotFound` if no profiler asks for ranges, or the error of loading its library.
pub(crate) fn mark_spans() -> Result<()> {
    ranges()?;
    tracing::listen(Listener { begins, ends });
    Ok(())
}

fn begins(name: &str) {
    // Names come from programs. A C string ends at the first zero.
    let text = CString::new(name.split('\0').next().unwrap_or_default());
    if let (Ok(ranges), Ok(text)) = (ranges(), text) {
        // SAFETY: `text` is a C string, which the call copies. The returned depth is not needed.
        let _ = unsafe { (ranges.push)(text.as_ptr()) };
    }
}

fn ends() {
    if let Ok(ranges) = ranges() {
        // SAFETY: `begins` was called on this thread for this range.
        let _ = unsafe { (ranges.pop)() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the tables in the same way as a tool.
    #[test]
    fn a_tool_finds_the_places_of_its_functions() {
        assert!(export_table(0).is_null() && !export_table(3).is_null());
        let told = |id: c_int| {
            let (mut table, mut size) = (std::ptr::null(), 0);
            // SAFETY: both pointers are valid for the call.
            let is_installed = unsafe { module(id, &raw mut table, &raw mut size) };
            (is_installed, table, size as usize)
        };
        for (id, count) in FUNCTIONS.iter().enumerate().skip(1) {
            let (is_installed, table, size) = told(id as c_int);
            assert_eq!((is_installed, size), (1, *count));
            // SAFETY: the table has one more slot than its size says, as in NVTX itself.
            let places = unsafe { std::slice::from_raw_parts(table, count + 1) };
            assert!(places[0].is_none() && places[*count].is_none());
            assert!(places[1..*count].iter().all(Option::is_some));
        }
        for id in [0, 7] {
            assert_eq!(told(id), (0, std::ptr::null(), 0));
        }
    }

    /// A tool may refer to missing functions, if it does not call them here.
    #[test]
    fn a_library_is_bound_as_its_functions_are_called() {
        let folder = tempfile::tempdir().unwrap();
        let [source, library] = ["tool.c", "libtool.so"].map(|name| folder.path().join(name));
        let code = "void nowhere(void);
            int InitializeInjectionNvtx2(const void* table) { if (!table) nowhere(); return 0; }";
        std::fs::write(&source, code).unwrap();
        let mut compiler = std::process::Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-Wl,-z,lazy", "-o"]).arg(&library).arg(&source);
        assert!(compiler.status().unwrap().success());
        let error = attach(library.as_os_str()).err().unwrap();
        assert!(error.detail.ends_with("does not attach"), "{error}");
    }

    #[test]
    fn a_library_that_is_none_is_told_of() {
        let error = attach(OsStr::new("/nowhere/libprofiler.so")).err().unwrap();
        assert!(error.detail.contains("/nowhere/libprofiler.so"), "{error}");
        // The C library is not a tool.
        let error = attach(OsStr::new("libc.so.6")).err().unwrap();
        assert!(error.detail.contains("InitializeInjectionNvtx2"), "{error}");
    }
}
