//! Random numbers, equal to those of the host's generator.

use tfrt_device::error::Result;
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;
use tfrt_math::{Distribution, Philox, RandomIntegers};

use crate::{DeviceKernels, KernelName, output, typed};

/// Returns how many numbers a thread computes from the words at one position of the generator.
fn per_block(dtype: DType) -> u64 {
    if dtype.size() == Some(8) { 2 } else { Philox::BLOCK as u64 }
}

impl DeviceKernels {
    /// Writes `n` random numbers to `y`. Uniform numbers, and the words that other numbers are
    /// computed from, equal the host's.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn random(
        &self,
        stream: &Stream,
        distribution: Distribution,
        dtype: DType,
        y: &DeviceBuffer,
        n: u64,
        generator: &Philox,
    ) -> Result<()> {
        const FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64];
        let function = match distribution {
            Distribution::Uniform => "random_uniform",
            Distribution::Normal => "random_normal",
            Distribution::Truncated => "random_truncated",
        };
        self.draw(stream, typed(function, dtype, FLOATS)?, dtype, (y, n), generator, &[])
    }

    /// Writes `n` random integers to `y`, which equal the host's. Their range must not be empty
    /// unless `n` is zero.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn random_integers(
        &self,
        stream: &Stream,
        integers: RandomIntegers,
        y: &DeviceBuffer,
        n: u64,
        generator: &Philox,
    ) -> Result<()> {
        let (dtype, bounds) = match integers {
            RandomIntegers::I32 { low, range } => (DType::I32, [low.into(), range.into()]),
            RandomIntegers::I64 { low, range } => (DType::I64, [low.into(), range.into()]),
        };
        let name = typed("random_integer", dtype, &[DType::I32, DType::I64])?;
        self.draw(stream, name, dtype, (y, n), generator, &bounds)
    }

    fn draw(
        &self,
        stream: &Stream,
        name: KernelName,
        dtype: DType,
        (y, n): (&DeviceBuffer, u64),
        generator: &Philox,
        more: &[Argument<'_>],
    ) -> Result<()> {
        let counter = generator.counter();
        let mut arguments = vec![output(y, n, dtype, "the result")?, n.into(), generator.key().into()];
        arguments.extend([counter as u64, (counter >> 64) as u64].map(Argument::from));
        arguments.extend_from_slice(more);
        self.launch(stream, name, n.div_ceil(per_block(dtype)), &arguments)
    }
}
