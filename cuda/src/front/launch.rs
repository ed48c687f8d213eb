//! Launches: the checks, and the packing of parameters.

#![expect(unsafe_code, reason = "a launch's parameters are checked here, as far as anybody can")]

use smallvec::SmallVec;

use super::buffer::DeviceBuffer;
use super::check;
use super::graph::record;
use super::managed::Queueing;
use super::module::Function;
use super::stream::Stream;
use crate::error::{DeviceError, Result, Status};
use crate::hal::{BufferParameter, Dim3, Intent, LaunchConfig, PackedParameters, ParameterInfo};

/// An argument of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// A buffer's address, and what the function does with the buffer, if that is known.
    Buffer(&'a DeviceBuffer, Option<Intent>),
    /// A number: its bytes, little end first, how many they are, and the type's name for messages.
    Scalar([u8; 8], u8, &'static str),
}

macro_rules! scalars {
    ($($type:ty => $name:literal),*) => {$(
        impl From<$type> for Argument<'_> {
            fn from(value: $type) -> Self {
                let source = value.to_le_bytes();
                let mut bytes = [0; 8];
                bytes[..source.len()].copy_from_slice(&source);
                Self::Scalar(bytes, source.len() as u8, $name)
            }
        }
    )*};
}
scalars!(i8 => "i8", i16 => "i16", i32 => "i32", i64 => "i64", u8 => "ui8", u16 => "ui16", u32 => "ui32", u64 => "ui64",
         half::f16 => "f16", half::bf16 => "bf16", f32 => "f32", f64 => "f64");

impl From<bool> for Argument<'_> {
    fn from(value: bool) -> Self {
        Self::Scalar([u8::from(value), 0, 0, 0, 0, 0, 0, 0], 1, "i1")
    }
}

impl<'a> From<&'a DeviceBuffer> for Argument<'a> {
    fn from(buffer: &'a DeviceBuffer) -> Self {
        Self::Buffer(buffer, None)
    }
}

impl Argument<'_> {
    /// How many bytes it has.
    fn size(&self) -> u32 {
        match self {
            Self::Buffer(..) => 8,
            Self::Scalar(_, size, _) => u32::from(*size),
        }
    }

    /// Its bytes, and zeros behind them if they are fewer.
    fn bytes(&self) -> [u8; 8] {
        match self {
            Self::Buffer(buffer, _) => buffer.address().to_le_bytes(),
            Self::Scalar(bytes, ..) => *bytes,
        }
    }

    fn describe(&self) -> &'static str {
        match self {
            Self::Buffer(..) => "buffer",
            Self::Scalar(_, _, name) => name,
        }
    }
}

/// Parameters of a launch, laid out. Launches of usual size need no allocation.
struct Packed {
    inline: [u8; INLINE_BYTES],
    /// In place of that, if it is too short.
    spilled: Vec<u8>,
    /// Bytes up to the end of the last parameter.
    size: usize,
    offsets: SmallVec<[u32; 32]>,
    buffers: SmallVec<[BufferParameter; 32]>,
}

/// Bytes of parameters that need no allocation.
const INLINE_BYTES: usize = 256;

impl Packed {
    /// With room for parameters that end at `end` or before.
    fn new(end: usize) -> Self {
        let spilled = if end > INLINE_BYTES { vec![0; end] } else { Vec::new() };
        let (offsets, buffers) = (SmallVec::new(), SmallVec::new());
        Self { inline: [0; INLINE_BYTES], spilled, size: 0, offsets, buffers }
    }

    #[inline]
    fn add(&mut self, offset: u32, argument: &Argument<'_>) {
        let bytes = if self.spilled.is_empty() { &mut self.inline[..] } else { &mut self.spilled };
        let (start, size, value) = (offset as usize, argument.size() as usize, argument.bytes());
        let place = &mut bytes[start..start + size];
        // Of a known size, so that it is one instruction for most of them.
        match size {
            8 => place.copy_from_slice(&value),
            4 => place.copy_from_slice(&value[..4]),
            _ => place.copy_from_slice(&value[..size]),
        }
        self.size = self.size.max(start + size);
        self.offsets.push(offset);
        if let Argument::Buffer(buffer, intent) = argument {
            let (address, bytes, intent) = (buffer.address(), buffer.len(), *intent);
            self.buffers.push(BufferParameter { address, bytes, intent });
        }
    }

    /// Where a parameter goes whose function does not tell: aligned to its size.
    fn next_offset(&self, argument: &Argument<'_>) -> u32 {
        let mask = argument.size().next_power_of_two() - 1;
        (self.size as u32 + mask) & !mask
    }

    fn parameters(&self) -> PackedParameters<'_> {
        let bytes = if self.spilled.is_empty() { &self.inline[..] } else { &self.spilled };
        PackedParameters { bytes: &bytes[..self.size], offsets: &self.offsets, buffers: &self.buffers }
    }
}

fn invalid(detail: String) -> DeviceError {
    DeviceError::invalid_value(detail)
}

/// That the extents are not zero and fit.
#[inline]
fn check_extent(what: &str, extent: Dim3, most: Dim3) -> Result<()> {
    if extent.x == 0 || extent.y == 0 || extent.z == 0 {
        return Err(invalid(format!("the {what} {extent} is empty")));
    }
    if !extent.fits(most) {
        return Err(invalid(format!("the {what} {extent} exceeds the device's {most}")));
    }
    Ok(())
}

fn check_config(stream: &Stream, function: &Function, config: &LaunchConfig) -> Result<()> {
    let properties = stream.context().device().properties();
    check_extent("grid", config.grid, properties.grid_max)?;
    check_extent("block", config.block, properties.block_max)?;
    let threads = config.block.count();
    if threads > u64::from(properties.threads_per_block_max) {
        return Err(invalid(format!(
            "a block of {threads} threads exceeds the device's {}",
            properties.threads_per_block_max
        )));
    }
    let attributes = function.attributes();
    if attributes.threads_per_block_max > 0 && threads > u64::from(attributes.threads_per_block_max) {
        let detail = format!(
            "a block of {threads} threads exceeds the {} that '{}' can be launched with",
            attributes.threads_per_block_max,
            function.name()
        );
        return Err(DeviceError::new(Status::LaunchOutOfResources, detail));
    }
    let shared = u64::from(config.shared_memory_bytes) + u64::from(attributes.shared_memory_bytes);
    if shared > u64::from(properties.shared_memory_per_block_max) {
        return Err(invalid(format!(
            "{shared} bytes of shared memory exceed the device's {} for a block",
            properties.shared_memory_per_block_max
        )));
    }
    if !config.cooperative {
        return Ok(());
    }
    match (config.grid.count(), properties.cooperative_blocks_max) {
        (_, 0) => Err(DeviceError::new(Status::NotSupported, "the device has no cooperative launch")),
        (blocks, most) if blocks > most => {
            let detail = format!("{blocks} blocks, and {most} at most run at once");
            Err(DeviceError::new(Status::CooperativeLaunchTooLarge, detail))
        }
        _ => Ok(()),
    }
}

fn check_arguments(
    function: &Function,
    declared: &[ParameterInfo],
    arguments: &[Argument<'_>],
) -> Result<()> {
    if declared.len() != arguments.len() {
        return Err(invalid(format!(
            "'{}' takes {} parameters, and is launched with {}",
            function.name(),
            declared.len(),
            arguments.len()
        )));
    }
    for (index, (parameter, argument)) in declared.iter().zip(arguments).enumerate() {
        let size = argument.size();
        if parameter.size != size {
            return Err(invalid(format!(
                "parameter {index} of '{}' has {} bytes, and is launched with a {} of {size}",
                function.name(),
                parameter.size,
                argument.describe()
            )));
        }
    }
    Ok(())
}

impl Stream {
    /// Queues a launch and returns.
    ///
    /// # Errors
    /// `InvalidValue` for extents, shared memory or arguments that do not fit the device and the function;
    /// `LaunchOutOfResources`; `CooperativeLaunchTooLarge`; `InvalidContext` for what belongs to another device.
    pub fn launch(
        &self,
        function: &Function,
        config: &LaunchConfig,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        check(function, self.context())?;
        check_config(self, function, config)?;
        let declared = function.attributes().parameters.as_deref();
        if let Some(declared) = declared {
            check_arguments(function, declared, arguments)?;
        }
        let mut queueing = Queueing::on(self);
        queueing.take_all()?;
        let end = declared.map_or(arguments.len() * 8, |list| {
            list.iter().map(|parameter| (parameter.offset + parameter.size) as usize).max().unwrap_or(0)
        });
        let mut packed = Packed::new(end);
        for (index, argument) in arguments.iter().enumerate() {
            if let Argument::Buffer(buffer, _) = argument {
                buffer.used_by(&mut queueing)?;
            }
            let offset = declared.map_or_else(|| packed.next_offset(argument), |list| list[index].offset);
            packed.add(offset, argument);
        }
        record(self, |recorded| recorded.modules.push(function.module().clone()));
        // SAFETY: number and sizes are those declared, where the driver tells; buffers are alive and of this context.
        // What a function does with an address is its own affair: on a GPU it may fault, which fails the context.
        unsafe { self.context().hal().launch(self.hal(), function.hal(), config, packed.parameters()) }
    }
}
