//! `libtfrt_cpu_plugin.so`: the CPU device, served through the StreamExecutor C API to programs
//! that load plug-ins.
//!
//! Three layouts of the API are distinguished by the sizes in the core's structs: that of the RFC,
//! that of TensorFlow's releases, and that of TensorFlow's first releases, which mixes both. Each
//! struct is filled only as far as the core's version of it reaches. There is one device, or as
//! many as `TFRT_CPU_PLUGIN_DEVICES` says.
//!
//! The library does not define `TF_SetStatus`: it is the core's, and is looked up in the process
//! when it is needed. Arguments of the core are checked where the front would check them: the
//! memory that copies name must lie in live allocations.

#![expect(unsafe_code, reason = "a C API: pointers that a core gives are taken at its word")]

mod core_status;
mod device;
mod executor;
mod fill;
mod platform;

use tfrt_plugin::abi::SE_PlatformRegistrationParams;
use tfrt_plugin::status::TF_Status;

/// Registers the platform.
///
/// # Safety
/// The pointers are valid as the API requires of a core.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn SE_InitPlugin(params: *mut SE_PlatformRegistrationParams, status: *mut TF_Status) {
    if core_status::core_status().is_none() {
        // Without a status, a failure cannot be reported. The core rejects a struct that is not
        // filled in.
        return;
    }
    // SAFETY: the caller promises pointers as the API requires.
    let registered = unsafe { platform::register(params) };
    core_status::answer(status, registered);
}
