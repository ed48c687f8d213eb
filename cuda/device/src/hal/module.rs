//! Modules, their functions, and launches.

#![expect(unsafe_code, reason = "what callers promise a backend is part of the contract")]

use super::{Resources, Result};

/// Extents in three directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// Fastest.
    pub x: u32,
    /// Middle.
    pub y: u32,
    /// Slowest.
    pub z: u32,
}

impl Dim3 {
    /// Extents.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// How many there are in all.
    pub const fn count(self) -> u64 {
        // Each is below 2^32; a product that does not fit is as good as the largest.
        (self.x as u64 * self.y as u64).saturating_mul(self.z as u64)
    }

    /// Whether each extent is at most the other's.
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

/// How a function is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks of the grid.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// Dynamic shared memory of a block.
    pub shared_memory_bytes: u32,
    /// Whether all blocks run at once, so that the grid can synchronize.
    pub cooperative: bool,
}

/// One declared parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// Where it begins in the parameter space.
    pub offset: u32,
    /// Its bytes.
    pub size: u32,
}

/// The parameters of a launch, laid out as the function declares them.
#[derive(Clone, Copy, Debug)]
pub struct PackedParameters<'a> {
    /// All parameters' bytes, little end first.
    pub bytes: &'a [u8],
    /// Where each begins.
    pub offsets: &'a [u32],
    /// The buffers among them.
    pub buffers: &'a [BufferParameter],
}

/// A buffer that a launch is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferParameter {
    /// Its first byte.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
    /// What the function does with it, if the program says.
    pub intent: Option<Intent>,
}

/// What a function does with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intent {
    /// Reads alone.
    Read,
    /// Writes alone.
    Write,
    /// Both.
    ReadWrite,
}

/// What is known of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionAttributes {
    /// Its declared parameters, where the driver tells.
    pub parameters: Option<Vec<ParameterInfo>>,
    /// Most threads of a block it can be launched with.
    pub threads_per_block_max: u32,
    /// Static shared memory of a block.
    pub shared_memory_bytes: u32,
    /// Local memory of a thread.
    pub local_memory_bytes: u32,
    /// Constant memory.
    pub constant_memory_bytes: u32,
    /// Registers of a thread; zero if not known.
    pub registers: u32,
}

/// Modules.
pub trait Modules: Resources {
    /// Loads PTX (text, perhaps with a final zero) or a binary of the device's.
    ///
    /// # Errors
    /// [`Status::InvalidPtx`](crate::error::Status::InvalidPtx) with the compiler's log, `InvalidImage`, `NoBinaryForGpu`.
    fn load_module(&self, image: &[u8]) -> Result<Self::Module>;

    /// Compiles CUDA C++ to an image for this device.
    ///
    /// # Errors
    /// [`Status::NvrtcNotFound`](crate::error::Status::NvrtcNotFound) naming what was looked for, or `NvrtcCompilation`
    /// with the compiler's log.
    fn compile(&self, source: &str, options: &[String]) -> Result<Vec<u8>>;

    /// The function of this name.
    fn function(&self, module: &Self::Module, name: &str) -> Result<Self::Function>;

    /// Address and bytes of a module's variable.
    fn global(&self, module: &Self::Module, name: &str) -> Result<(u64, u64)>;

    /// What is known of a function.
    fn function_attributes(&self, function: &Self::Function) -> Result<FunctionAttributes>;

    /// Blocks of `threads` threads and `shared` bytes of dynamic shared memory that one multiprocessor holds at a time.
    fn occupancy(&self, function: &Self::Function, threads: u32, shared: u32) -> Result<u32>;

    /// Queues a launch and returns. The configuration fits the device and the function.
    ///
    /// # Safety
    /// The parameters have the declared number and sizes, and the addresses among them are ones the function may use.
    unsafe fn launch(
        &self,
        stream: &Self::Stream,
        function: &Self::Function,
        config: &LaunchConfig,
        parameters: PackedParameters<'_>,
    ) -> Result<()>;
}
