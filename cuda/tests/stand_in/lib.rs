//! A CUDA driver without a GPU: the entry points that the `gpu` backend calls, of the driver, cuBLAS, cuBLASLt, cuDNN and
//! NCCL, over two devices whose kernels are run by `tfrt-ptx`. It is a shared object that is found under the names of those
//! libraries, so that what is executed is the backend's own sequence of calls.
//!
//! It is stricter than a driver: a call without a current context, with a handle that is gone or of another context, an
//! asynchronous copy of memory that is not pinned, or something left behind when a context is released, ends the process
//! and says so ([`state::violation`]). It knows nothing of speed.
//!
//! Streams are threads. What the driver leaves undefined is avoided, not imitated.

#![expect(unsafe_code, reason = "a C interface, made of raw pointers")]
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "pointers are those that the caller's contract is about"
)]

mod blas;
mod dnn;
mod driver;
mod graph;
mod nccl;
mod state;
mod stream;
