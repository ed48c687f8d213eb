//! Numbers in equal steps.

use tfrt_device::error::Result;
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, output, typed};

/// The numbers `start + i · step` for each `i` from zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sequence {
    /// Integers of 32 bits that wrap around.
    I32 {
        /// The first number.
        start: i32,
        /// The distance between numbers.
        step: i32,
    },
    /// Integers of 64 bits that wrap around.
    I64 {
        /// The first number.
        start: i64,
        /// The distance between numbers.
        step: i64,
    },
    /// Numbers of a floating-point type. `i`, product and sum are rounded to it.
    Float {
        /// The type.
        dtype: DType,
        /// The first number, which has that type.
        start: f64,
        /// The distance between numbers, which has that type.
        step: f64,
    },
}

impl Sequence {
    /// Returns the type of the numbers.
    pub fn dtype(self) -> DType {
        match self {
            Self::I32 { .. } => DType::I32,
            Self::I64 { .. } => DType::I64,
            Self::Float { dtype, .. } => dtype,
        }
    }
}

/// Numbers in equal steps from `start` to `stop`, including both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linspace {
    /// The first number.
    pub start: f64,
    /// The last number, if there is more than one.
    pub stop: f64,
    /// The distance between numbers.
    pub step: f64,
}

impl DeviceKernels {
    /// Writes the first `n` numbers of a sequence to `y`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn sequence(&self, stream: &Stream, sequence: Sequence, y: &DeviceBuffer, n: u64) -> Result<()> {
        const NUMBERS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::I64];
        let dtype = sequence.dtype();
        let [start, step] = match sequence {
            Sequence::I32 { start, step } => [start.into(), step.into()],
            Sequence::I64 { start, step } => [start.into(), step.into()],
            Sequence::Float { dtype: DType::F64, start, step } => [start.into(), step.into()],
            Sequence::Float { start, step, .. } => [(start as f32).into(), (step as f32).into()],
        };
        let arguments = [output(y, n, dtype, "the result")?, n.into(), start, step];
        self.launch(stream, typed("sequence", dtype, NUMBERS)?, n, &arguments)
    }

    /// Writes `n` floating-point numbers to `y`, each computed in `f64` and rounded once.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn linspace(
        &self,
        stream: &Stream,
        numbers: Linspace,
        dtype: DType,
        y: &DeviceBuffer,
        n: u64,
    ) -> Result<()> {
        const FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64];
        let Linspace { start, stop, step } = numbers;
        let y = output(y, n, dtype, "the result")?;
        let arguments = [y, n.into(), start.into(), stop.into(), step.into()];
        self.launch(stream, typed("linspace", dtype, FLOATS)?, n, &arguments)
    }
}
