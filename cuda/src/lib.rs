//! The device layer: one safe front over CUDA, over a CPU device that stands in for it, and over nothing at all; and
//! the `tfrt_cuda.*` kernels that programs reach it with.
//!
//! [`front`] is what others use: devices, contexts, streams, events, buffers, modules, graphs, and the BLAS and DNN
//! libraries. It checks that arguments live, belong together and are within bounds, so that the same misuse gives the same
//! error on every device. [`hal`] is what a backend implements, which checks nothing but what it alone lacks. [`allocator`]
//! hands out device memory on any backend.
//!
//! It never chooses a stream, never waits on a compute thread, and knows no operation of TensorFlow.

pub mod allocator;
pub mod checker;
pub(crate) mod cpu;
pub mod error;
pub mod front;
pub(crate) mod gpu;
pub mod hal;
pub mod kernels;
pub(crate) mod noop;
pub(crate) mod observer;
pub mod origin;

/// Makes the runtime's traced spans ranges in NVIDIA's profilers (NVTX), from now on and while tracing is on.
///
/// # Errors
/// [`Status::NotFound`](error::Status::NotFound) where no profiler asks for them, or with what is wrong with its
/// library.
pub fn mark_spans_for_profilers() -> error::Result<()> {
    gpu::nvtx::mark_spans()
}
