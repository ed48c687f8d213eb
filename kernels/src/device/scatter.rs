//! Units of elements that go to segments, several perhaps to one.

use tfrt_cuda::error::Result;
use tfrt_cuda::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use super::{DeviceKernels, input, optional, output, product, typed};

/// What becomes of an element that another one comes to. The numbers are those of `scatter.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// Their sum.
    Add = 0,
    /// What is left of it.
    Sub = 1,
    /// The greater; NaN if either is.
    Maximum = 2,
    /// The lesser; NaN if either is.
    Minimum = 3,
    /// The other one.
    Replace = 4,
}

/// Which units go to which segments.
#[derive(Clone, Copy)]
pub struct Segments<'a> {
    /// The numbers of the units (u64), those of the first segment first. Each is less than `units`, which nobody checks.
    pub members: &'a DeviceBuffer,
    /// How many of these there are.
    pub member_count: u64,
    /// Where each segment's members end (u64): as many as segments, in ascending order, and none beyond `member_count`.
    pub ends: &'a DeviceBuffer,
    /// How many segments there are.
    pub segments: u64,
    /// How many units there are.
    pub units: u64,
    /// Elements of a unit.
    pub unit: u64,
}

const NUMBERS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::I64];

impl DeviceKernels {
    /// `y`, segments of a unit each, is `start`, or zeros, with the units of `x` combined into it in the order of `members`, so
    /// that the result is the same each time. `y` may be `start`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    #[expect(clippy::too_many_arguments, reason = "three buffers with their type")]
    pub fn scatter(
        &self,
        stream: &Stream,
        combination: Combination,
        dtype: DType,
        y: &DeviceBuffer,
        start: Option<&DeviceBuffer>,
        x: &DeviceBuffer,
        to: Segments<'_>,
    ) -> Result<()> {
        let n = product(&[to.segments, to.unit])?;
        let arguments = [
            output(y, n, dtype, "the result")?,
            optional(start.map(|start| input(start, n, dtype, "what it starts with")))?,
            input(x, product(&[to.units, to.unit])?, dtype, "the operand")?,
            input(to.ends, to.segments, DType::UI64, "the segments' ends")?,
            input(to.members, to.member_count, DType::UI64, "the segments' members")?,
            to.segments.into(),
            to.unit.into(),
            (combination as u32).into(),
        ];
        self.launch(stream, typed("scatter", dtype, NUMBERS)?, n, &arguments)
    }
}
