//! NVIDIA GPUs through the CUDA driver, which is looked for at run time.
//!
//! [`find`] says whether there is one, and if not why. The libraries beyond the driver (cuBLAS, cuDNN,
//! NVRTC, NCCL) are looked for when something first needs them ([`libraries`]); without them everything else works.
//!
//! Of `cudarc` it uses the bindings alone: its safe layer synchronizes, allocates and records events of its own. Nothing
//! here is called before the driver library is known to be there, because `cudarc` panics without it. Every answer of the
//! driver becomes a [`DeviceError`](crate::error::DeviceError) at once ([`driver`]).
//!
//! It never validates (the front does), never keeps a current stream, and never waits except where the hal says so.

mod blas;
mod callback;
mod collectives;
mod context;
mod device;
mod dnn;
mod driver;
mod event;
mod graph;
mod libraries;
mod memory;
mod module;
mod nvrtc;
pub(crate) mod nvtx;
mod paging;
mod stream;
#[cfg(test)]
mod tests;
mod workspace;

use self::device::GpuBackend;
use crate::error::Result;
use crate::hal::{DynBackend, erase};

/// The CUDA devices, or why there are none.
pub(crate) fn find() -> Result<std::sync::Arc<dyn DynBackend>> {
    GpuBackend::discover().map(erase)
}

/// Compiles CUDA C++ to PTX, for devices that run PTX themselves. Needs NVRTC and no driver.
pub(crate) fn compile_ptx(source: &str, options: &[String]) -> Result<Vec<u8>> {
    nvrtc::compile_ptx(source, options)
}
