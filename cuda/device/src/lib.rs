//! The device layer: one safe front over every kind of device.
//!
//! - [`front`] is what kernels and other crates use: devices, contexts, streams, events, buffers,
//!   modules, graphs, and the BLAS and DNN libraries. It checks that arguments are alive, belong
//!   together and are within bounds, so that the same misuse gives the same error on every device.
//! - [`hal`] is what a backend implements. A backend checks only what the front cannot know.
//! - [`allocator`] hands out device memory on any backend.
//! - [`checker`] finds missing synchronization, through the hooks of [`observer`].
//! - [`trace`] shows the work of streams in the program's trace.
//! - [`noop`] is a backend that does nothing and injects faults.
//!
//! This crate knows no real backend. The facade chooses one and passes it to [`front::Platform`];
//! programs find the platform of their host through [`Devices`]. Nothing here chooses a stream,
//! waits on a compute thread, or knows an operation of TensorFlow.

pub mod allocator;
pub mod checker;
mod devices;
pub mod error;
pub mod front;
pub mod hal;
pub mod noop;
pub mod observer;
pub mod origin;
mod tensor;
pub mod trace;
mod types;

pub use devices::Devices;
pub use tensor::DenseGpuTensor;
