//! The traits that a backend implements: small ones, one per concern, over the backend's resource
//! types.
//!
//! A backend checks only what the [front](crate::front) cannot know. All state comes through
//! arguments: there is no current stream and no current device. Only methods whose names say so
//! wait. Streams, events, modules and other resources are destroyed by dropping them. Dropping a
//! stream lets its queued work finish. If dropping another resource than an event may wait for the
//! device, the backend's [`Teardown`] says so, and the front drops the resource there.
//!
//! The same traits serve inside a backend, with its own types, and at the edge, where [`Erased`]
//! stands for all of them ([`erase`]). All backends have the same files: `context`, `memory`,
//! `stream`, `event`, `module`, `graph`, `blas`, `dnn` and `collectives`.
//!
//! Device addresses are plain numbers. They are never null, and are unique within a backend across
//! all its devices (unified addressing).

mod attention;
mod blas;
mod collectives;
mod contexts;
mod dnn;
mod erased;
mod event;
mod graph;
mod memory;
mod memory_only;
mod module;
mod stream;
mod teardown;

pub use attention::{Attends, Attention, AttentionExtents, AttentionMask, AttentionRows};
pub use blas::{Blas, F32Math, Gemm, GemmEpilogue, GemmOperand, Transpose};
pub use collectives::{Collective, CollectiveCall, Collectives, ReduceOp, UniqueId};
pub use contexts::Contexts;
pub use dnn::{
    Activation, ActivationMode, BatchNormMode, BatchNormOperands, Convolution, ConvolutionEpilogue,
    ConvolutionOperands, Dnn, DnnOperation, NanPropagation, Pooling, PoolingMode, Scaling, SoftmaxMode,
    Tensor, TensorLayout,
};
pub use erased::{DynBackend, DynContext, Erased, erase};
pub use event::{Bell, EventOptions, Events};
pub use graph::Graphs;
pub use memory::{Copy2d, Endpoint, ManagedMemory, Memory, MemoryInfo, Paging, Pattern, Transfers};
pub use memory_only::MemoryOnly;
pub use module::{
    BufferParameter, Dim3, FunctionAttributes, Intent, LaunchConfig, Modules, PackedParameters, ParameterInfo,
};
pub use stream::{StreamOptions, Streams};
pub(crate) use teardown::ReleasedOnDrop;
pub use teardown::{Promised, Teardown};

use crate::error::{DeviceError, Result};

/// A kind of device: a driver, or a substitute for one.
pub trait Backend: Send + Sync + 'static {
    /// The backend's contexts.
    type Context: Context;

    /// Returns the name of the backend: `cuda`, `cpu`, `noop`, or the device type of a plug-in.
    fn name(&self) -> &str;

    /// Returns the number of devices, which never changes.
    fn device_count(&self) -> u32;

    /// Returns the properties of device `ordinal`, which is below the count.
    fn properties(&self, ordinal: u32) -> Result<DeviceProperties>;

    /// Returns whether copies between two devices bypass the host.
    fn can_access_peer(&self, from: u32, to: u32) -> Result<bool>;

    /// Creates a context on device `ordinal`, which is below the count.
    fn create_context(&self, ordinal: u32) -> Result<Self::Context>;

    /// Returns the teardown that releases the backend's resources. It is always the same one.
    fn teardown(&self) -> &Teardown;

    /// Returns the failures of all contexts, including dropped ones, each of them once. Waits for
    /// queued work if failures are known only then.
    fn take_failures(&self) -> Vec<DeviceError> {
        Vec::new()
    }

    /// Fails all contexts with this error and stops running kernels, if the backend can.
    fn abandon(&self, _why: &DeviceError) {}
}

/// The types of a context's resources.
pub trait Resources: Send + Sync + 'static {
    /// An ordered queue of work.
    type Stream: Send + Sync + 'static;
    /// A mark in a stream.
    type Event: Send + Sync + 'static;
    /// A loaded module.
    type Module: Send + Sync + 'static;
    /// A function of a module, which the front keeps alive as long.
    type Function: Send + Sync + 'static;
    /// An instantiated graph.
    type Graph: Send + Sync + 'static;
    /// A BLAS library's state.
    type BlasHandle: Send + Sync + 'static;
    /// A DNN library's state.
    type DnnHandle: Send + Sync + 'static;
    /// A rank's part in a communicator.
    type Communicator: Send + Sync + 'static;
}

/// All operations of a device.
pub trait Context:
    Memory + Paging + Transfers + Streams + Events + Modules + Graphs + Blas + Dnn + Attends + Collectives
{
    /// Returns the failure that made the context unusable, if there was one. Every later call
    /// returns it.
    fn failure(&self) -> Option<DeviceError>;

    /// Returns whether queued work keeps its origin
    /// ([`Origin::here`](crate::origin::Origin::here)), so that a failure can name it.
    fn keeps_origins(&self) -> bool {
        false
    }

    /// Returns whether the backend records the work of its streams in the program's trace
    /// ([`StreamRow`](crate::trace::StreamRow)). If not, the front measures it with events.
    fn records_work(&self) -> bool {
        false
    }
}

/// The properties of a device, which never change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceProperties {
    /// The vendor's name of the device.
    pub name: String,
    /// The memory in bytes.
    pub memory_bytes: u64,
    /// The major and minor compute capability. PTX for a later one does not load, except on the CPU
    /// device.
    pub compute_capability: (u32, u32),
    /// The name and version of the driver.
    pub driver: String,
    /// The number of streaming multiprocessors; on the CPU device, of threads that compute.
    pub multiprocessors: u32,
    /// The number of lanes of a warp.
    pub warp_size: u32,
    /// The maximum number of threads in a block.
    pub threads_per_block_max: u32,
    /// The maximum number of threads resident on one multiprocessor.
    pub threads_per_multiprocessor_max: u32,
    /// The maximum extents of a block.
    pub block_max: Dim3,
    /// The maximum extents of a grid.
    pub grid_max: Dim3,
    /// The shared memory of a block in bytes, without opting in to more.
    pub shared_memory_per_block: u32,
    /// The shared memory of a block in bytes, if a function opts in.
    pub shared_memory_per_block_max: u32,
    /// The number of registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// The size of the last-level cache in bytes; zero if unknown.
    pub l2_cache_bytes: u64,
    /// The clock rate in kHz; zero if unknown.
    pub clock_khz: u32,
    /// The peak memory bandwidth in bytes per second; zero if unknown.
    pub memory_bandwidth: u64,
    /// Whether copies that are asynchronous to the host accept pageable host memory. If not, the
    /// front copies through pinned memory.
    pub pageable_copies: bool,
    /// The maximum number of blocks of a cooperative launch. Zero if there are no such launches;
    /// [`u64::MAX`] if only the driver knows.
    pub cooperative_blocks_max: u64,
    /// The bus id; empty if there is none.
    pub bus_id: String,
}

/// The most devices of a backend that emulates them.
pub const MAX_EMULATED_DEVICES: u32 = 1024;

/// Checks how many devices a backend is asked to emulate.
///
/// # Errors
/// [`Status::InvalidValue`](crate::error::Status::InvalidValue) for more than
/// [`MAX_EMULATED_DEVICES`].
pub fn check_emulated(count: u32) -> Result<()> {
    if count > MAX_EMULATED_DEVICES {
        let detail = format!("at most {MAX_EMULATED_DEVICES} devices can be emulated, not {count}");
        return Err(DeviceError::invalid_value(detail));
    }
    Ok(())
}

impl DeviceProperties {
    /// Returns the properties of an emulated device, with the limits of compute capability 9.0.
    pub fn emulated(name: String, memory_bytes: u64, driver: String, multiprocessors: u32) -> Self {
        Self {
            name,
            memory_bytes,
            compute_capability: (9, 0),
            driver,
            multiprocessors,
            warp_size: 32,
            threads_per_block_max: 1024,
            threads_per_multiprocessor_max: 2048,
            block_max: Dim3::new(1024, 1024, 64),
            grid_max: Dim3::new(i32::MAX.unsigned_abs(), 65535, 65535),
            shared_memory_per_block: 48 << 10,
            shared_memory_per_block_max: 227 << 10,
            registers_per_multiprocessor: 65536,
            l2_cache_bytes: 0,
            clock_khz: 0,
            memory_bandwidth: 0,
            pageable_copies: true,
            cooperative_blocks_max: u64::MAX,
            bus_id: String::new(),
        }
    }
}
