//! Launches: the checks, and the packing of parameters.

#![expect(unsafe_code, reason = "a launch's parameters are checked here, as far as possible")]

use smallvec::SmallVec;

use super::buffer::DeviceBuffer;
use super::check;
use super::managed::Queueing;
use super::module::Function;
use super::stream::Stream;
use crate::error::{DeviceError, Result, Status};
use crate::hal::{BufferParameter, Dim3, Intent, LaunchConfig, PackedParameters, ParameterInfo};
use crate::trace::WorkSize;

/// An argument of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// The address of a buffer, and how the function uses the buffer, if that is known.
    Buffer(&'a DeviceBuffer, Option<Intent>),
    /// A number: its little-endian bytes, their count, and the name of its type for messages.
    Scalar([u8; 8], u8, &'static str),
    /// A struct by value: its bytes in memory, including padding. The driver must know the
    /// function's layout, because the alignment of a struct is not known here.
    Struct(&'a [u8]),
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
    /// Returns the size in bytes.
    fn size(&self) -> u32 {
        match self {
            Self::Buffer(..) => 8,
            Self::Scalar(_, size, _) => u32::from(*size),
            Self::Struct(bytes) => u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        }
    }

    fn describe(&self) -> &'static str {
        match self {
            Self::Buffer(..) => "buffer",
            Self::Scalar(_, _, name) => name,
            Self::Struct(_) => "struct",
        }
    }
}

/// The size of parameters that need no allocation, in bytes.
const INLINE_BYTES: usize = 256;

/// Computes the offsets of parameters for a function that does not report them. Each is aligned to
/// its size, which is a power of two. Returns the end of the last one.
///
/// # Errors
/// `NotSupported` for a struct, whose alignment is unknown.
fn lay_out(arguments: &[Argument<'_>], offsets: &mut SmallVec<[u32; 32]>) -> Result<usize> {
    let mut end = 0;
    for (index, argument) in arguments.iter().enumerate() {
        if let Argument::Struct(bytes) = argument {
            let detail = format!(
                "argument {index} is a struct of {} bytes, and the driver does not report the function's layout",
                bytes.len()
            );
            return Err(DeviceError::new(Status::NotSupported, detail));
        }
        let (size, mask) = (argument.size(), argument.size() - 1);
        let offset = (end + mask) & !mask;
        end = offset + size;
        offsets.push(offset);
    }
    Ok(end as usize)
}

/// Writes a parameter at its offset.
#[inline]
fn place(bytes: &mut [u8], offset: u32, argument: &Argument<'_>) {
    let (start, size) = (offset as usize, argument.size() as usize);
    let place = &mut bytes[start..start + size];
    let value = match argument {
        Argument::Buffer(buffer, _) => buffer.address().to_le_bytes(),
        Argument::Scalar(bytes, ..) => *bytes,
        Argument::Struct(bytes) => return place.copy_from_slice(bytes),
    };
    // A constant size makes it one instruction in most cases.
    match size {
        8 => place.copy_from_slice(&value),
        4 => place.copy_from_slice(&value[..4]),
        _ => place.copy_from_slice(&value[..size]),
    }
}

fn invalid(detail: String) -> DeviceError {
    DeviceError::invalid_value(detail)
}

/// Checks that the extents are not zero and fit.
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
            "'{}' takes {} parameters, but is launched with {}",
            function.name(),
            declared.len(),
            arguments.len()
        )));
    }
    for (index, (parameter, argument)) in declared.iter().zip(arguments).enumerate() {
        let size = argument.size();
        if parameter.size != size {
            return Err(invalid(format!(
                "parameter {index} of '{}' is {} bytes, but the argument is a {} of {size}",
                function.name(),
                parameter.size,
                argument.describe()
            )));
        }
    }
    Ok(())
}

impl Stream {
    /// Queues a launch of a function.
    ///
    /// # Errors
    /// `InvalidValue` for extents, shared memory or arguments that do not fit the device and the
    /// function; `LaunchOutOfResources`; `CooperativeLaunchTooLarge`; `InvalidContext` for
    /// resources of another device.
    pub fn launch(
        &self,
        function: &Function,
        config: &LaunchConfig,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        check(function, self.context())?;
        check_config(self, function, config)?;
        let mut laid_out = SmallVec::new();
        let (offsets, size) = match function.declared() {
            Some((declared, layout)) => {
                check_arguments(function, declared, arguments)?;
                (&*layout.offsets, layout.bytes)
            }
            None => {
                let size = lay_out(arguments, &mut laid_out)?;
                (&*laid_out, size)
            }
        };
        let mut queueing = Queueing::on(self);
        queueing.take_all()?;
        let (mut inline, mut spilled) = ([0; INLINE_BYTES], Vec::new());
        let bytes = match inline.get_mut(..size) {
            Some(bytes) => bytes,
            None => {
                spilled.resize(size, 0);
                &mut *spilled
            }
        };
        let mut buffers = SmallVec::<[BufferParameter; 32]>::new();
        for (argument, &offset) in arguments.iter().zip(offsets) {
            if let Argument::Buffer(buffer, intent) = *argument {
                buffer.used_by(&mut queueing)?;
                buffers.push(BufferParameter { address: buffer.address(), bytes: buffer.len(), intent });
            }
            place(bytes, offset, argument);
        }
        queueing.record(|recorded| recorded.modules.push(function.module().clone()));
        let parameters = PackedParameters { bytes, offsets, buffers: &buffers };
        // SAFETY: if the driver reports the declared parameters, `check_arguments` found as many
        // arguments of these sizes, and each was placed at its parameter's offset. Otherwise they
        // cannot be checked. `used_by` found that every buffer belongs to this context and its
        // handle is valid. `arguments` keeps them alive until the call returns, and the allocator
        // reuses their memory only for later work. The function itself decides how it uses an
        // address: on a GPU it may fault, which fails the context.
        let launch =
            || unsafe { self.context().hal().launch(self.hal(), function.hal(), config, parameters) };
        self.traced(|| WorkSize::from(config).describe(&format!("launch of {}", function.name())), launch)
    }
}
