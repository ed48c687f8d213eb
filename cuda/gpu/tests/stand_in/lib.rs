//! A CUDA driver without a GPU: the entry points that the `gpu` backend calls, of the driver, cuBLAS, cuBLASLt, cuDNN and
//! NCCL, over two devices whose kernels are run by `tfrt-ptx`. It is a shared object that is found under the names of those
//! libraries, so that what is executed is the backend's own sequence of calls.
//!
//! It is stricter than a driver: a call without a current context, with a handle that is gone or of another context, an
//! asynchronous copy of memory that is not pinned, or something left behind when a context is released, ends the process
//! and says so ([`state::violation`]). It knows nothing of speed.
//!
//! Streams are threads. What the driver leaves undefined is avoided, not imitated.
//!
//! Whoever calls an entry point promises what the library's header says of its pointers: that they may be read or written for
//! the call, or, for what a stream does later, until the stream has passed it. Functions in here take a raw pointer only from
//! the entry point that got it and within that call. Device addresses and handles are numbers that are looked up.

#![expect(unsafe_code, reason = "a C interface, made of raw pointers")]

mod blas;
mod dnn;
mod driver;
mod graph;
mod nccl;
mod nvtx;
mod paging;
mod state;
mod stream;
