//! Kernels from shared libraries.
//!
//! A kernel library is a `cdylib` that depends on this crate and contains
//! `tfrt_host::kernel_library!(register);`, where `register` adds its kernels. Host and library
//! exchange Rust types, so both must be built by the same compiler from the same version of this
//! crate. The library says what built it, and the host compares that before it calls anything. A
//! library is never unloaded.
//!
//! A panic in a library's kernel is an error at the kernel's place, as for the host's own kernels.
//! The same holds for its native functions and for the tasks that it adds. A panic in a closure
//! that waits for a value drops what the closure would have produced. One case ends the process: a
//! kernel of a library calls a function in which a kernel panics.

#![expect(
    unsafe_code,
    reason = "a foreign library's symbol is taken on trust, after its version was checked"
)]

use std::{
    panic::{self, AssertUnwindSafe},
    path::Path,
};

use crate::{
    diagnostic::{Diagnostic, ErrorCode},
    kernel::KernelRegistry,
    panics,
    process::{ProcessTables, process_tables},
};

/// The version of this crate and the compiler, which host and library must share.
pub const ABI: &str = concat!("tfrt-host ", env!("CARGO_PKG_VERSION"), ", ", env!("TFRT_COMPILER"));

/// The symbol a kernel library exports.
pub const SYMBOL: &[u8] = b"tfrt_kernel_library";

/// The description of a kernel library, to which [`SYMBOL`] leads.
#[derive(Debug)]
#[repr(C)]
pub struct KernelLibrary {
    /// Length of `abi`. It comes first and in C layout, so that it can be read whichever compiler
    /// built the library.
    pub abi_len: usize,
    /// The library's [`ABI`], UTF-8.
    pub abi: *const u8,
    /// Makes the library use the host's tables.
    pub adopt: fn(&'static ProcessTables),
    /// Adds the library's kernels.
    pub register: fn(&mut KernelRegistry),
}

// SAFETY: the pointer is to a constant string.
unsafe impl Sync for KernelLibrary {}

/// Makes this `cdylib` a kernel library, whose kernels the given function `fn(&mut KernelRegistry)`
/// adds.
#[macro_export]
macro_rules! kernel_library {
    ($register:path) => {
        #[expect(unsafe_code, reason = "the symbol's name is the one the host looks for")]
        #[unsafe(no_mangle)]
        static tfrt_kernel_library: $crate::library::KernelLibrary = $crate::library::KernelLibrary {
            abi_len: $crate::library::ABI.len(),
            abi: $crate::library::ABI.as_ptr(),
            adopt: $crate::adopt_process_tables,
            register: |registry| $crate::library::register_shielded($register, registry),
        };
    };
}

/// Calls a library's `register` in such a way that the host can catch its panics.
#[doc(hidden)]
pub fn register_shielded(register: fn(&mut KernelRegistry), registry: &mut KernelRegistry) {
    panics::shield(|| register(registry));
}

/// Loads the kernel library at `path` and adds its kernels to `registry`.
///
/// This runs the library's code, so load only libraries that you trust.
///
/// # Errors
/// [`ErrorCode::NotFound`] if it cannot be loaded or is no kernel library,
/// [`ErrorCode::FailedPrecondition`] if it was built for another version,
/// [`ErrorCode::InvalidArgument`] if its kernels' names are taken, and [`ErrorCode::Internal`] if
/// it panics.
pub fn load_kernel_library(registry: &mut KernelRegistry, path: &Path) -> Result<(), Diagnostic> {
    let failed = |what: &str, error: &libloading::Error| {
        // The loader's own message, which names the missing file or symbol, is the error's source.
        let reason = std::error::Error::source(error).map_or(error.to_string(), ToString::to_string);
        Diagnostic::new(ErrorCode::NotFound, format!("{what} '{}': {reason}", path.display()))
    };
    // The loader searches the system's folders for a name without a folder, and not the current
    // one.
    let is_bare = path.components().count() == 1 && path.is_file();
    let file = if is_bare { Path::new(".").join(path) } else { path.to_owned() };
    // SAFETY: running the library's initializers is what the caller asked for.
    let library =
        unsafe { libloading::Library::new(file) }.map_err(|error| failed("couldn't load library", &error))?;
    let library = Box::leak(Box::new(library));
    // SAFETY: a symbol of this name is a `KernelLibrary`, as documented.
    let symbol = unsafe { library.get::<*const KernelLibrary>(SYMBOL) }
        .map_err(|error| failed("not a kernel library", &error))?;
    // SAFETY: a symbol of this name is a `KernelLibrary`, and every version agrees on its first two
    // fields, which describe a constant string. The library is leaked above, so that both live as
    // long as the process.
    let (exported, abi) = unsafe {
        let exported: *const KernelLibrary = *symbol;
        (exported, std::slice::from_raw_parts((*exported).abi, (*exported).abi_len))
    };
    if abi != ABI.as_bytes() {
        let message = format!(
            "kernel library '{}' was built for {}, this is {ABI}",
            path.display(),
            String::from_utf8_lossy(abi)
        );
        return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
    }
    // SAFETY: same compiler and crate version, so the rest of the struct is as declared.
    let exported = unsafe { &*exported };
    (exported.adopt)(process_tables());
    let registered = panic::catch_unwind(AssertUnwindSafe(|| (exported.register)(registry)));
    registered.map_err(|payload| {
        let (path, text) = (path.display(), panics::message(&*payload));
        Diagnostic::internal(format!("kernel library '{path}' panicked while it was loaded: {text}"))
    })?;
    registry.check()
}
