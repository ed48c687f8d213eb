//! Units of elements that go to segments, several perhaps to one.

use tfrt_device::error::Result;
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, in_out, input, product, typed};

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
    /// The numbers of those to which something goes (u64), each once and less than `segments`, which nobody checks.
    pub touched: &'a DeviceBuffer,
    /// How many of these there are.
    pub touched_count: u64,
    /// The numbers of the units (u64), those of the first of these segments first. Each is less than `units`, which nobody
    /// checks.
    pub members: &'a DeviceBuffer,
    /// How many of these there are.
    pub member_count: u64,
    /// Where each one's members end (u64): as many as are touched, in ascending order, and none beyond `member_count`.
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
    /// `y`, segments of a unit each, with the units of `x` combined into it in the order of `members`, so that the result is the
    /// same each time.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn scatter(
        &self,
        stream: &Stream,
        combination: Combination,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        to: Segments<'_>,
    ) -> Result<()> {
        let n = product(&[to.touched_count, to.unit])?;
        let arguments = [
            in_out(y, product(&[to.segments, to.unit])?, dtype, "the result")?,
            input(x, product(&[to.units, to.unit])?, dtype, "the operand")?,
            input(to.touched, to.touched_count, DType::UI64, "the segments")?,
            input(to.ends, to.touched_count, DType::UI64, "the segments' ends")?,
            input(to.members, to.member_count, DType::UI64, "the segments' members")?,
            to.touched_count.into(),
            to.unit.into(),
            (combination as u32).into(),
        ];
        self.launch(stream, typed("scatter", dtype, NUMBERS)?, n, &arguments)
    }
}
