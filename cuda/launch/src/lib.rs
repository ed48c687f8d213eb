//! The CUDA kernels of this project and their launches: the operations of networks that BLAS and
//! DNN libraries lack.
//!
//! The kernels are written in CUDA C++ (`cuda/launch/cuda/*.cu`) and compiled to PTX ahead of time.
//! The PTX is part of the program; a GPU's driver loads it, and so does the CPU device. [`SOURCES`]
//! contains it for programs that launch the kernels themselves; each `.cu` file documents its
//! parameters. [`DeviceKernels`] launches them from Rust: it selects the function for a type,
//! chooses the grid, and checks that every buffer is large enough.
//!
//! Nothing here allocates, waits, or chooses a stream. Callers own all memory, including scratch
//! memory.

mod affine;
mod attend;
mod attention;
mod broadcast;
mod cubins;
mod diagonals;
mod elementwise;
mod functions;
mod generated;
mod layout;
mod local_response;
mod moves;
mod narrow;
mod normalize;
mod optimizer;
mod products;
mod quantize;
mod random;
mod recurrent;
mod reduce;
mod resample;
mod rows;
mod sampling;
mod scan;
mod scatter;
mod sequences;
mod sources;
mod steps;
mod training;
mod volume;
mod window;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::{fmt, ptr};

use parking_lot::RwLock;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::front::{Argument, Context, DeviceBuffer, Function, Module, Stream};
use tfrt_device::hal::{DeviceProperties, Dim3, Intent, LaunchConfig};
use tfrt_host::DType;
use tfrt_math::Float;

pub use affine::{Activation, Affine};
pub use attend::attention_scratch_bytes;
pub use attention::{Rotation, ScoreMask, Scores};
pub use broadcast::Broadcast;
pub use diagonals::Diagonals;
pub use functions::{Binary, Bitwise, Class, Comparison, Unary};
pub use generated::{Generated, GeneratedLaunch};
pub use layout::{Padded, Permutation};
pub use local_response::LocalResponse;
pub use moves::{Band, Gather, GatherElements, GatherNd, Move, OneHot};
pub use narrow::Narrow;
pub use normalize::{Normalization, NormalizationBuffers};
pub use optimizer::{AdamBuffers, AdamNumbers};
pub use products::Products;
pub use quantize::{ScaleBlocks, Scales};
pub use recurrent::{CellBuffers, CellKind, CellShape};
pub use reduce::{Reduction, ReductionShape};
pub use resample::Weighted;
pub use rows::{CrossEntropyBuffers, LabelType, Rows, loss_type};
pub use sampling::{GridSampling, Regions, SampledPadding, SampledPlanes};
pub use scan::{Line, LineOrder, Scan};
pub use scatter::{Combination, SegmentIds, Segments};
pub use sequences::{Linspace, Sequence};
pub use sources::{SOURCES, Source, source_of};
use sources::{kernel_count, kernel_of, parts};
pub use steps::Steps;
pub use training::{Adam, Gradient, Momentum};
pub use volume::{VolumeAxis, VolumeWindow};
pub use window::{FilterChannels, PoolingWindow, WindowPosition};

/// The number of threads of a block: a multiple of 32, as all kernels require.
const THREADS: u32 = 256;

/// The kernels on one device. Modules are loaded on first use.
pub struct DeviceKernels {
    context: Context,
    modules: RwLock<HashMap<&'static str, Module>>,
    /// By the kernels' numbers.
    functions: Box<[OnceLock<Function>]>,
    /// Recently used names, by the address of their constant parts: the first kernel of each place,
    /// with its number.
    known: Box<[OnceLock<(ConstantName, usize)>; KNOWN]>,
}

/// The parts of a kernel's name, if they are constants.
type ConstantName = (&'static str, &'static str);

/// The most names that are remembered; a power of two.
const KNOWN: usize = 256;

/// Returns whether two names are the same constants.
fn is_same((function, of): ConstantName, (other, of_other): ConstantName) -> bool {
    ptr::eq(function, other) && ptr::eq(of, of_other)
}

/// Returns the place where a name is remembered.
fn place_of((function, of): ConstantName) -> usize {
    let address = function.as_ptr().addr() ^ of.as_ptr().addr().rotate_left(32);
    ((address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - KNOWN.ilog2())) as usize
}

/// The name of a kernel: the function and, after `_`, the type it computes in if there are several.
///
/// Kernels are looked up by both parts, so that a launch need not build a text.
#[derive(Clone, Debug)]
struct KernelName {
    function: Cow<'static, str>,
    of: &'static str,
}

impl From<&'static str> for KernelName {
    fn from(function: &'static str) -> Self {
        Self { function: function.into(), of: "" }
    }
}

impl From<String> for KernelName {
    fn from(function: String) -> Self {
        Self { function: function.into(), of: "" }
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joint = if self.of.is_empty() { "" } else { "_" };
        write!(f, "{}{joint}{}", self.function, self.of)
    }
}

impl KernelName {
    /// Returns the name if its parts are constants, which have one address.
    fn constant(&self) -> Option<ConstantName> {
        match self.function {
            Cow::Borrowed(function) => Some((function, self.of)),
            Cow::Owned(_) => None,
        }
    }

    fn parts(&self) -> (&str, &str) {
        match self.of {
            "" => parts(&self.function),
            of => (&self.function, of),
        }
    }
}

impl DeviceKernels {
    /// Creates the kernels for a context's device. Nothing is loaded yet.
    pub fn new(context: &Context) -> Self {
        let functions = (0..kernel_count()).map(|_| OnceLock::new()).collect();
        let known = Box::new([const { OnceLock::new() }; KNOWN]);
        Self { context: context.clone(), modules: RwLock::default(), functions, known }
    }

    /// Returns the kernel with this name, for a direct launch.
    ///
    /// # Errors
    /// `NotFound`, and the errors of loading its module.
    pub fn function(&self, name: &str) -> Result<Function> {
        self.look_up(&name.to_owned().into()).map(|(_, function)| function.clone())
    }

    fn find(&self, name: &KernelName) -> Result<&Function> {
        let Some(constant) = name.constant() else { return Ok(self.look_up(name)?.1) };
        let known = &self.known[place_of(constant)];
        if let Some((same, number)) = known.get()
            && is_same(*same, constant)
            && let Some(function) = self.functions[*number].get()
        {
            return Ok(function);
        }
        let (number, function) = self.look_up(name)?;
        known.get_or_init(|| (constant, number));
        Ok(function)
    }

    /// Returns a kernel's number and function. Loads its module if necessary.
    fn look_up(&self, name: &KernelName) -> Result<(usize, &Function)> {
        let unknown = || DeviceError::new(Status::NotFound, format!("there is no CUDA kernel '{name}'"));
        let kernel = kernel_of(name.parts()).ok_or_else(unknown)?;
        let place = &self.functions[kernel.number];
        if let Some(function) = place.get() {
            return Ok((kernel.number, function));
        }
        let function = self.module(kernel.source)?.function(kernel.name)?;
        Ok((kernel.number, place.get_or_init(|| function)))
    }

    fn module(&self, source: &Source) -> Result<Module> {
        if let Some(module) = self.modules.read().get(source.name) {
            return Ok(module.clone());
        }
        // Loaded under the lock because it takes long: other threads wait instead of loading it
        // too.
        let mut modules = self.modules.write();
        if let Some(module) = modules.get(source.name) {
            return Ok(module.clone());
        }
        let module = self.load(source, self.cubin(source))?;
        modules.insert(source.name, module.clone());
        Ok(module)
    }

    /// The device's compute capability.
    fn capability(&self) -> (u32, u32) {
        self.context.device().properties().compute_capability
    }

    /// The module as it was assembled for a GPU of this kind, if somebody did.
    fn cubin(&self, source: &Source) -> Option<Vec<u8>> {
        let device = self.context.device();
        if device.backend() != "cuda" {
            return None;
        }
        cubins::cubin(source, self.capability())
    }

    /// Loads the cubin, or the PTX if there is none that the device takes.
    fn load(&self, source: &Source, cubin: Option<Vec<u8>>) -> Result<Module> {
        match cubin.map(|cubin| self.context.load_module(&cubin)) {
            Some(Ok(module)) => Ok(module),
            // Nothing else can be loaded any more.
            Some(Err(error)) if error.is_sticky() => Err(error),
            _ => self.context.load_module(source.ptx.as_bytes()),
        }
    }

    /// Launches a kernel whose loop strides over `threads` threads.
    #[inline]
    fn launch(
        &self,
        stream: &Stream,
        name: impl Into<KernelName>,
        threads: u64,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        self.launch_named(stream, &name.into(), (threads.div_ceil(THREADS.into()), 1), arguments)
    }

    /// Launches a kernel whose loop strides over `blocks` blocks, and over `rows` in the second
    /// direction.
    fn launch_blocks(
        &self,
        stream: &Stream,
        name: impl Into<KernelName>,
        blocks: u64,
        rows: u32,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        self.launch_named(stream, &name.into(), (blocks, rows), arguments)
    }

    fn launch_named(
        &self,
        stream: &Stream,
        name: &KernelName,
        blocks: (u64, u32),
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        self.launch_sized(stream, name, blocks, THREADS, arguments)
    }

    /// Launches a kernel with this number of threads in a block, a multiple of 32.
    fn launch_sized(
        &self,
        stream: &Stream,
        name: &KernelName,
        (blocks, rows): (u64, u32),
        threads: u32,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        if blocks == 0 || rows == 0 {
            return Ok(());
        }
        let function = self.find(name)?;
        let config = strided(self.context.device().properties(), (blocks, rows), threads);
        stream.launch(function, &config, arguments)
    }
}

/// Returns the launch of a function that strides over the grid, for `threads` threads that have
/// something to do: as many blocks as they fill, and no more than the device keeps busy.
pub fn strided_launch(properties: &DeviceProperties, threads: u64) -> LaunchConfig {
    strided(properties, (threads.div_ceil(THREADS.into()).max(1), 1), THREADS)
}

/// Returns the launch of a function that strides over blocks of this number of threads, and over
/// rows of them.
fn strided(properties: &DeviceProperties, (blocks, rows): (u64, u32), threads: u32) -> LaunchConfig {
    // Twice the number of blocks that run at once, so that no multiprocessor waits for a slow block.
    let resident = (properties.threads_per_multiprocessor_max / threads).max(1);
    let most = (properties.multiprocessors.max(1) * resident * 2).min(properties.grid_max.x);
    let x = blocks.min(most.into()) as u32;
    LaunchConfig {
        grid: Dim3::new(x, rows.min(properties.grid_max.y), 1),
        block: Dim3::from(threads),
        shared_memory_bytes: 0,
        cooperative: false,
    }
}

/// Passes a buffer of at least this many elements that is read.
fn input<'a>(buffer: &'a DeviceBuffer, elements: u64, dtype: DType, what: &str) -> Result<Argument<'a>> {
    operand(buffer, elements, dtype, what, Intent::Read)
}

/// Passes a buffer of at least this many elements that is written.
fn output<'a>(buffer: &'a DeviceBuffer, elements: u64, dtype: DType, what: &str) -> Result<Argument<'a>> {
    operand(buffer, elements, dtype, what, Intent::Write)
}

/// Passes a buffer of at least this many elements that is read and written.
fn in_out<'a>(buffer: &'a DeviceBuffer, elements: u64, dtype: DType, what: &str) -> Result<Argument<'a>> {
    operand(buffer, elements, dtype, what, Intent::ReadWrite)
}

fn operand<'a>(
    buffer: &'a DeviceBuffer,
    elements: u64,
    dtype: DType,
    what: &str,
    intent: Intent,
) -> Result<Argument<'a>> {
    let size = dtype.size().unwrap_or(0) as u64;
    let needed = elements.checked_mul(size);
    if needed.is_none_or(|needed| needed > buffer.len()) {
        let detail = format!("{what} has {} bytes, too few for {elements} elements of {dtype}", buffer.len());
        return Err(DeviceError::invalid_value(detail));
    }
    Ok(Argument::Buffer(buffer, Some(intent)))
}

/// Passes an optional buffer.
fn optional(argument: Option<Result<Argument<'_>>>) -> Result<Argument<'_>> {
    argument.unwrap_or(Ok(Argument::from(0u64)))
}

/// Returns a product of extents, or an error if it overflows.
fn product(extents: &[u64]) -> Result<u64> {
    extents
        .iter()
        .try_fold(1u64, |product, &extent| product.checked_mul(extent))
        .filter(|&product| product <= i64::MAX as u64)
        .ok_or_else(|| DeviceError::invalid_value("the number of elements of a tensor overflows"))
}

/// Returns the name of the kernel for a type.
#[inline]
fn typed(function: impl Into<Cow<'static, str>>, dtype: DType, types: &[DType]) -> Result<KernelName> {
    let function = function.into();
    if types.contains(&dtype) {
        Ok(KernelName { function, of: name_of(dtype) })
    } else {
        Err(no_kernel(&function, dtype))
    }
}

/// Creates the error for a type without a kernel.
#[cold]
pub fn no_kernel(function: &str, dtype: DType) -> DeviceError {
    DeviceError::new(Status::NotSupported, format!("'{function}' has no kernel for {dtype}"))
}

/// Returns the name of a type in kernel names.
fn name_of(dtype: DType) -> &'static str {
    match dtype {
        DType::I1 => "i1",
        DType::I8 => "i8",
        DType::UI8 => "u8",
        DType::I16 => "i16",
        DType::UI16 => "u16",
        DType::I32 => "i32",
        DType::UI32 => "u32",
        DType::I64 => "i64",
        DType::UI64 => "u64",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "f32",
        DType::F64 => "f64",
        DType::Complex128 => "c128",
        _ => "unknown",
    }
}

/// Returns the name of the kernel for a type of which only the width matters.
fn by_width(function: impl Into<Cow<'static, str>>, dtype: DType) -> Result<KernelName> {
    by_width_up_to(16, function, dtype)
}

/// Does the same as [`by_width`] for a kernel with elements of at most `widest` bytes.
fn by_width_up_to(widest: usize, function: impl Into<Cow<'static, str>>, dtype: DType) -> Result<KernelName> {
    let function = function.into();
    let of = match dtype.size().filter(|&size| size <= widest) {
        Some(1) => "b8",
        Some(2) => "b16",
        Some(4) => "b32",
        Some(8) => "b64",
        Some(16) => "b128",
        _ => return Err(no_kernel(&function, dtype)),
    };
    Ok(KernelName { function, of })
}

/// Returns a value as an argument with the bits of the type.
fn bits(value: f64, dtype: DType) -> Result<Argument<'static>> {
    Ok(match dtype {
        DType::I1 => Argument::from(u8::from(value != 0.0)),
        DType::I8 => Argument::from(value as i8),
        DType::UI8 => Argument::from(value as u8),
        DType::I16 => Argument::from(value as i16),
        DType::UI16 => Argument::from(value as u16),
        DType::I32 => Argument::from(value as i32),
        DType::UI32 => Argument::from(value as u32),
        DType::I64 => Argument::from(value as i64),
        DType::UI64 => Argument::from(value as u64),
        DType::F16 => Argument::from(<half::f16 as Float>::from_f64(value)),
        DType::BF16 => Argument::from(<half::bf16 as Float>::from_f64(value)),
        DType::F32 => Argument::from(value as f32),
        DType::F64 => Argument::from(value),
        other => return Err(DeviceError::new(Status::NotSupported, format!("no constants of {other}"))),
    })
}

#[cfg(test)]
mod tests {
    use tfrt_device::front::Platform;
    use tfrt_device::noop::{self, NoopFault};

    use super::*;

    /// There are more kernels than remembered places, so some share one.
    #[test]
    fn names_that_are_remembered_are_told_apart() {
        let platform = Platform::new(noop::open(1, 0, NoopFault::None).unwrap());
        let kernels = DeviceKernels::new(&platform.device(0).unwrap().primary_context().unwrap());
        let names: Vec<_> = SOURCES.iter().flat_map(Source::kernels).collect();
        assert!(names.len() > KNOWN);
        for _ in 0..2 {
            for &name in &names {
                assert_eq!(kernels.find(&name.into()).unwrap().name(), name);
                let (function, of) = parts(name);
                let in_parts = KernelName { function: function.into(), of };
                assert_eq!(kernels.find(&in_parts).unwrap().name(), name);
                assert_eq!(kernels.function(name).unwrap().name(), name);
            }
        }
        assert!(kernels.find(&"add".into()).is_err());
    }
}
