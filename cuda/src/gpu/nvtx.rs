//! NVTX: what the runtime's traced spans are called in NVIDIA's profilers, as ranges of the threads they run on.

#![expect(unsafe_code, reason = "calls of NVTX's C interface")]

use std::ffi::{CString, c_char, c_int};

use tfrt_host::tracing::{self, Listener};

use super::libraries::{LibrarySpec, library};
use crate::error::{Result, Status};

const SPEC: LibrarySpec = LibrarySpec {
    name: "NVTX",
    files: &["libnvToolsExt.so.1", "libnvToolsExt.so"],
    companions: &[],
    missing: Status::NotFound,
};

library! {
    /// NVTX.
    Nvtx, SPEC;
    fn nvtxRangePushA(message: *const c_char) -> c_int;
    fn nvtxRangePop() -> c_int;
}

/// Makes ranges of all spans that begin from now on, while tracing is on.
///
/// # Errors
/// `NotFound` with what was looked for.
pub(crate) fn mark_spans() -> Result<()> {
    Nvtx::get()?;
    tracing::listen(Listener { begins, ends });
    Ok(())
}

fn begins(name: &str) {
    // Names come from programs; a text of C's ends at the first zero.
    let text = CString::new(name.split('\0').next().unwrap_or_default());
    if let (Ok(nvtx), Ok(text)) = (Nvtx::get(), text) {
        // SAFETY: a text that ends in a zero, which the call copies. How deep the range lies is of no use here.
        let _ = unsafe { (nvtx.nvtxRangePushA)(text.as_ptr()) };
    }
}

fn ends() {
    if let Ok(nvtx) = Nvtx::get() {
        // SAFETY: `begins` was called on this thread for this range.
        let _ = unsafe { (nvtx.nvtxRangePop)() };
    }
}
