//! The CUDA backend: NVIDIA GPUs through the driver, which is found at run time.
//!
//! [`find`] returns the devices, or why there are none. The libraries beyond the driver (cuBLAS,
//! cuDNN, NVRTC, NCCL) are loaded when they are first needed (`libraries.rs`). Without them
//! everything else works.
//!
//! Only the bindings of `cudarc` are used, because its safe layer synchronizes, allocates and
//! records events itself. Nothing here calls `cudarc` before the driver library is known to exist,
//! because `cudarc` panics without it. Each answer of the driver becomes a
//! [`DeviceError`](tfrt_device::error::DeviceError) at once (`driver.rs`).
//!
//! The backend never validates, which the front does. It keeps no current stream, and waits only
//! where the hal says so.

mod blas;
mod callback;
mod collectives;
mod context;
mod device;
mod dnn;
mod driver;
mod event;
mod graph;
mod launches;
mod libraries;
mod memory;
mod module;
mod nvrtc;
mod nvtx;
mod paging;
mod stream;
#[cfg(test)]
mod tests;
mod workspace;

use std::sync::Arc;

use tfrt_device::error::Result;
use tfrt_device::hal::{DynBackend, F32Math, erase};

use device::GpuBackend;

/// How the devices compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GpuOptions {
    /// Whether products and convolutions of f32 may round their operands to TF32, which has 10 bits
    /// of fraction. Tensor cores compute with it several times as fast.
    pub allows_tf32: bool,
    /// Whether the engine of a convolution follows from its shape alone, so that results have the
    /// same bits on every machine with this device and library. Otherwise engines are timed, and
    /// the fastest one is kept on disk.
    pub is_deterministic: bool,
}

impl GpuOptions {
    /// The options of a library's handle: TF32 is allowed if the caller allows it for all or for
    /// this one.
    fn with(self, math: F32Math) -> Self {
        Self { allows_tf32: self.allows_tf32 || math == F32Math::Tf32, ..self }
    }
}

/// Finds the CUDA devices of this machine.
///
/// # Errors
/// Why there are none.
pub fn find() -> Result<Arc<dyn DynBackend>> {
    find_with(GpuOptions::default())
}

/// Finds the CUDA devices of this machine, which compute as the options say.
///
/// # Errors
/// Why there are none.
pub fn find_with(options: GpuOptions) -> Result<Arc<dyn DynBackend>> {
    GpuBackend::discover(options).map(erase)
}

/// Checks that NVRTC is there, which [`compile_ptx`] needs.
///
/// # Errors
/// [`Status::NvrtcNotFound`](tfrt_device::error::Status::NvrtcNotFound) with what was looked for.
pub fn find_nvrtc() -> Result<()> {
    nvrtc::find()
}

/// Compiles CUDA C++ to PTX, for devices that run PTX themselves. This needs NVRTC, but no driver.
///
/// # Errors
/// [`Status::NvrtcNotFound`](tfrt_device::error::Status::NvrtcNotFound), or `NvrtcCompilation` with
/// the compiler's log.
pub fn compile_ptx(source: &str, options: &[String]) -> Result<Vec<u8>> {
    nvrtc::compile_ptx(source, options)
}

/// Makes the runtime's traced spans ranges in NVIDIA's profilers (NVTX), from now on and while
/// tracing is on.
///
/// # Errors
/// [`Status::NotFound`](tfrt_device::error::Status::NotFound) if no profiler asks for them, or the
/// error of loading its library.
pub fn mark_spans_for_profilers() -> Result<()> {
    nvtx::mark_spans()
}
