//! `libtfrt_cpu_plugin.so`: our CPU device, served through the StreamExecutor C API to whoever loads plug-ins.
//!
//! A core of the RFC's layout and one of the layout that TensorFlow released are told apart by the sizes they give, as is one of
//! TensorFlow's first releases, which has a part of either; each struct is filled as far as the core's reaches. There is one device, or as many as `TFRT_CPU_PLUGIN_DEVICES` says.
//!
//! It brings no `TF_SetStatus` of its own: that is the core's, and is looked for in the process when it is needed. What a
//! core asks for is checked where the front would check it: memory that copies name lies in live allocations.

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
/// The pointers are what the API has a core give.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn SE_InitPlugin(params: *mut SE_PlatformRegistrationParams, status: *mut TF_Status) {
    if core_status::core_status().is_none() {
        // Nobody could be told of a failure. What is not filled in is not taken for a platform.
        return;
    }
    // SAFETY: as this function's.
    let registered = unsafe { platform::register(params) };
    core_status::answer(status, registered);
}
