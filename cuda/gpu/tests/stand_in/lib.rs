//! A CUDA driver without a GPU: the entry points that the `gpu` backend calls, of the driver,
//! cuBLAS, cuBLASLt, cuDNN and NCCL, for two devices whose kernels `tfrt-ptx` runs. It is a shared
//! object that is found under the names of those libraries, so that tests execute the backend's
//! actual sequence of calls.
//!
//! It is stricter than the driver. These errors end the process with a message
//! ([`state::violation`]): a call without a current context, a handle that is gone or belongs to
//! another context, an asynchronous copy of memory that is not pinned, and resources left when a
//! context is released. Its speed says nothing about that of a GPU.
//!
//! Streams are threads. Behaviour that the driver leaves undefined is avoided, not imitated.
//!
//! The caller of an entry point promises what the library's header requires of its pointers: that
//! they are valid for reads or writes during the call or, for queued work, until the stream has
//! passed it. Functions here take a raw pointer only from the entry point that received it, and
//! only within that call. Device addresses and handles are numbers that are looked up.

#![expect(unsafe_code, reason = "a C interface, made of raw pointers")]

mod blas;
mod calls;
mod dnn;
mod driver;
mod graph;
mod nccl;
mod nvtx;
mod paging;
mod state;
mod stream;
