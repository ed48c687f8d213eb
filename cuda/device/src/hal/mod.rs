//! What a backend implements: small traits, one for each concern, over its own resource types.
//!
//! A backend checks nothing but what it alone lacks: the [front](crate::front) did the rest. It is told everything by
//! arguments, keeps no current stream and no current device, and never waits except where a method's name says so. Streams,
//! events, modules and the like are destroyed by dropping them; dropping a stream lets the work queued on it finish. Where
//! dropping something but an event may wait for the device, the backend's [`Teardown`] says so, and the front drops it
//! there.
//!
//! The same traits serve inside, with each backend's own types, and at the edge, where [`Erased`] stands for all of them
//! ([`erase`]). Backends that do something have the same files: `context`, `memory`, `stream`, `event`, `module`, `graph`,
//! `blas`, `dnn`, `collectives`.
//!
//! Device addresses are plain numbers, unique within a backend over all its devices (unified addressing), and never null.

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

pub use blas::{Blas, Gemm, GemmOperand, Transpose};
pub use collectives::{Collective, CollectiveCall, Collectives, ReduceOp, UniqueId};
pub use contexts::Contexts;
pub use dnn::{
    Activation, ActivationMode, BatchNormMode, BatchNormOperands, Convolution, ConvolutionEpilogue,
    ConvolutionOperands, Dnn, DnnOperation, NanPropagation, Pooling, PoolingMode, Scaling, SoftmaxMode,
    Tensor, TensorLayout,
};
pub use erased::{DynBackend, DynContext, Erased, erase};
pub use event::{EventOptions, Events};
pub use graph::Graphs;
pub use memory::{Copy2d, Endpoint, ManagedMemory, Memory, MemoryInfo, Paging, Pattern, Transfers};
pub use memory_only::MemoryOnly;
pub use module::{
    BufferParameter, Dim3, FunctionAttributes, Intent, LaunchConfig, Modules, PackedParameters, ParameterInfo,
};
pub use stream::{StreamOptions, Streams};
pub(crate) use teardown::LetGo;
pub use teardown::{Promised, Teardown};

use crate::error::{DeviceError, Result};

/// A way to devices: a driver, or what stands in for one.
pub trait Backend: Send + Sync + 'static {
    /// The backend's contexts.
    type Context: Context;

    /// `cuda`, `cpu` or `noop`, or what a backend from elsewhere calls its kind of device.
    fn name(&self) -> &str;

    /// How many devices there are; the answer does not change.
    fn device_count(&self) -> u32;

    /// What device `ordinal` (below the count) is.
    fn properties(&self, ordinal: u32) -> Result<DeviceProperties>;

    /// Whether copies between two devices go without the host.
    fn can_access_peer(&self, from: u32, to: u32) -> Result<bool>;

    /// A context on device `ordinal` (below the count).
    fn create_context(&self, ordinal: u32) -> Result<Self::Context>;

    /// Who gives the backend's resources back, always the same one.
    fn teardown(&self) -> &Teardown;

    /// What contexts failed with, gone or not, each told once. Waits for queued work first, if failures are known only then.
    fn take_failures(&self) -> Vec<DeviceError> {
        Vec::new()
    }

    /// Fails all contexts for this reason, so that kernels which run end, where the backend can do that.
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

/// All that can be done on a device.
pub trait Context:
    Memory + Paging + Transfers + Streams + Events + Modules + Graphs + Blas + Dnn + Collectives
{
    /// The failure that ended the context's life, if one did: every later call gives it.
    fn failure(&self) -> Option<DeviceError>;

    /// Whether queued work remembers where it comes from ([`Origin::here`](crate::origin::Origin::here)), so that a failure
    /// can say it.
    fn keeps_origins(&self) -> bool {
        false
    }
}

/// What a device is. Fixed for its life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceProperties {
    /// As the vendor names it.
    pub name: String,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Major and minor compute capability; PTX for a later one does not load, but on the CPU.
    pub compute_capability: (u32, u32),
    /// The driver and its version.
    pub driver: String,
    /// Streaming multiprocessors; on the CPU, the threads that compute.
    pub multiprocessors: u32,
    /// Lanes of a warp.
    pub warp_size: u32,
    /// Most threads of a block.
    pub threads_per_block_max: u32,
    /// Most threads resident on one multiprocessor.
    pub threads_per_multiprocessor_max: u32,
    /// Most threads of a block in each direction.
    pub block_max: Dim3,
    /// Most blocks of a grid in each direction.
    pub grid_max: Dim3,
    /// Shared memory of a block, without asking for more.
    pub shared_memory_per_block: u32,
    /// Shared memory of a block, when asked for.
    pub shared_memory_per_block_max: u32,
    /// Registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Bytes of the last cache.
    pub l2_cache_bytes: u64,
    /// Clock in kHz; zero if not known.
    pub clock_khz: u32,
    /// Peak memory bandwidth in bytes a second; zero if not known.
    pub memory_bandwidth: u64,
    /// Whether pageable host memory can be the end of a copy that is asynchronous to the host. Where it cannot, the front
    /// copies through pinned memory.
    pub pageable_copies: bool,
    /// Most blocks of a cooperative launch, which are all under way at once: none where there are no such launches,
    /// [`u64::MAX`] where the driver knows.
    pub cooperative_blocks_max: u64,
    /// Where it sits on the bus; empty if nowhere.
    pub bus_id: String,
}

/// The most devices of a backend that emulates them.
pub const MAX_EMULATED_DEVICES: u32 = 1024;

/// Checks how many devices a backend is asked to emulate.
///
/// # Errors
/// [`Status::InvalidValue`](crate::error::Status::InvalidValue) for more than [`MAX_EMULATED_DEVICES`].
pub fn check_emulated(count: u32) -> Result<()> {
    if count > MAX_EMULATED_DEVICES {
        let detail = format!("at most {MAX_EMULATED_DEVICES} devices can be emulated, not {count}");
        return Err(DeviceError::invalid_value(detail));
    }
    Ok(())
}

impl DeviceProperties {
    /// Those of a device that has no limits of its own: what compute capability 9.0 promises programs.
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
