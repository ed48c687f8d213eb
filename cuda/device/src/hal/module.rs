//! Modules, their functions, and launches.

#![expect(unsafe_code, reason = "what callers promise a backend is part of the contract")]

use super::{Resources, Result};

/// Extents in three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// The fastest dimension.
    pub x: u32,
    /// The middle dimension.
    pub y: u32,
    /// The slowest dimension.
    pub z: u32,
}

impl Dim3 {
    /// Makes extents.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// Returns the product of the extents.
    pub const fn count(self) -> u64 {
        // Each extent is below 2^32. A product that does not fit saturates, which exceeds every
        // limit.
        (self.x as u64 * self.y as u64).saturating_mul(self.z as u64)
    }

    /// Returns whether each extent is at most that of `most`.
    pub const fn fits(self, most: Self) -> bool {
        self.x <= most.x && self.y <= most.y && self.z <= most.z
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self::new(x, 1, 1)
    }
}

impl std::fmt::Display for Dim3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

/// The configuration of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// The extents of the grid, in blocks.
    pub grid: Dim3,
    /// The extents of a block, in threads.
    pub block: Dim3,
    /// The dynamic shared memory of a block, in bytes.
    pub shared_memory_bytes: u32,
    /// Whether all blocks run concurrently, so that the grid can synchronize.
    pub cooperative: bool,
}

/// One declared parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// The offset in the parameter space, in bytes.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
}

/// The parameters of a launch, laid out as the function declares them.
#[derive(Clone, Copy, Debug)]
pub struct PackedParameters<'a> {
    /// The bytes of all parameters, little-endian.
    pub bytes: &'a [u8],
    /// The offset of each parameter.
    pub offsets: &'a [u32],
    /// The parameters that are buffers.
    pub buffers: &'a [BufferParameter],
}

/// A buffer that is passed to a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferParameter {
    /// The address of the first byte.
    pub address: u64,
    /// The size in bytes.
    pub bytes: u64,
    /// How the function uses the buffer, if the program states it.
    pub intent: Option<Intent>,
}

/// How a function uses a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intent {
    /// Only reads.
    Read,
    /// Only writes.
    Write,
    /// Reads and writes.
    ReadWrite,
}

/// The attributes of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionAttributes {
    /// The declared parameters, if the driver reports them.
    pub parameters: Option<Vec<ParameterInfo>>,
    /// The maximum number of threads per block.
    pub threads_per_block_max: u32,
    /// The static shared memory of a block, in bytes.
    pub shared_memory_bytes: u32,
    /// The local memory of a thread, in bytes.
    pub local_memory_bytes: u32,
    /// The constant memory, in bytes.
    pub constant_memory_bytes: u32,
    /// The number of registers of a thread; zero if unknown.
    pub registers: u32,
}

/// Loads modules and launches their functions.
pub trait Modules: Resources {
    /// Loads a module from PTX (text, with or without a final zero) or from a binary for the
    /// device.
    ///
    /// # Errors
    /// [`Status::InvalidPtx`](crate::error::Status::InvalidPtx) with the compiler's log,
    /// `InvalidImage`, `NoBinaryForGpu`.
    fn load_module(&self, image: &[u8]) -> Result<Self::Module>;

    /// Compiles CUDA C++ to an image for this device.
    ///
    /// # Errors
    /// [`Status::NvrtcNotFound`](crate::error::Status::NvrtcNotFound) naming what was looked for,
    /// or `NvrtcCompilation` with the compiler's log.
    fn compile(&self, source: &str, options: &[String]) -> Result<Vec<u8>>;

    /// Returns the function of this name.
    fn function(&self, module: &Self::Module, name: &str) -> Result<Self::Function>;

    /// Returns the address and the size of a module's variable.
    fn global(&self, module: &Self::Module, name: &str) -> Result<(u64, u64)>;

    /// Returns the attributes of a function.
    fn function_attributes(&self, function: &Self::Function) -> Result<FunctionAttributes>;

    /// Returns how many blocks of `threads` threads and `shared` bytes of dynamic shared memory are
    /// resident on one multiprocessor.
    fn occupancy(&self, function: &Self::Function, threads: u32, shared: u32) -> Result<u32>;

    /// Queues a launch. The configuration fits the device and the function.
    ///
    /// # Safety
    /// The parameters have the declared number and sizes, and the function may use the addresses
    /// among them.
    unsafe fn launch(
        &self,
        stream: &Self::Stream,
        function: &Self::Function,
        config: &LaunchConfig,
        parameters: PackedParameters<'_>,
    ) -> Result<()>;
}
