//! Scatters units of elements to segments. A segment may receive several units.

use tfrt_device::error::Result;
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, GatherElements, GatherNd, in_out, input, output, product, typed};

/// How an element is combined with one that is added to it. The numbers are those of `scatter.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// Their sum.
    Add = 0,
    /// Their difference.
    Sub = 1,
    /// The greater one; NaN if either is.
    Maximum = 2,
    /// The lesser one; NaN if either is.
    Minimum = 3,
    /// The new element.
    Replace = 4,
    /// Their product.
    Multiply = 5,
}

/// The assignment of units to segments.
#[derive(Clone, Copy)]
pub struct Segments<'a> {
    /// The numbers (u64) of the segments that receive units. They must be distinct and below
    /// `segments`, which is not checked.
    pub touched: &'a DeviceBuffer,
    /// The number of these segments.
    pub touched_count: u64,
    /// The numbers (u64) of the units, grouped by segment in the order of `touched`. They must be
    /// below `units`, which is not checked.
    pub members: &'a DeviceBuffer,
    /// The number of these units.
    pub member_count: u64,
    /// The end (u64) of each segment's part of `members`: as many as are touched, ascending, and at
    /// most `member_count`.
    pub ends: &'a DeviceBuffer,
    /// The number of segments.
    pub segments: u64,
    /// The number of units.
    pub units: u64,
    /// The number of elements of a unit.
    pub unit: u64,
}

/// The assignment of units to segments by a number for each unit.
#[derive(Clone, Copy)]
pub struct SegmentIds<'a> {
    /// The number (i64) of each unit's segment. Units of no segment are dropped.
    pub ids: &'a DeviceBuffer,
    /// The number of segments.
    pub segments: u64,
    /// The number of units.
    pub units: u64,
    /// The number of elements of a unit.
    pub unit: u64,
}

const NUMBERS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::I64];

impl DeviceKernels {
    /// Combines the units of `x` into the segments `y`, in the order of `members`, so that the
    /// result is deterministic.
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

    /// Combines the units of `x` into the segments `y` as [`DeviceKernels::scatter`] does, by numbers
    /// that only the device knows. The work grows with the square of the number of units.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn scatter_by_id(
        &self,
        stream: &Stream,
        combination: Combination,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        to: SegmentIds<'_>,
    ) -> Result<()> {
        let n = product(&[to.units, to.unit])?;
        let arguments = [
            in_out(y, product(&[to.segments, to.unit])?, dtype, "the result")?,
            input(x, n, dtype, "the operand")?,
            input(to.ids, to.units, DType::I64, "the segments")?,
            to.segments.into(),
            to.units.into(),
            to.unit.into(),
            (combination as u32).into(),
        ];
        self.launch(stream, typed("scatter_by_id", dtype, NUMBERS)?, n, &arguments)
    }

    /// Writes the places (i64) of rows of coordinates (i32 or i64) in a box of these extents, and -1
    /// for those outside. Coordinates below zero count from the end.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `NotSupported` for more coordinates than
    /// [`GatherNd::MAX_DEPTH`].
    pub fn nd_ids(
        &self,
        stream: &Stream,
        ids: &DeviceBuffer,
        (index, dtype): (&DeviceBuffer, DType),
        rows: u64,
        extents: &[u64],
    ) -> Result<()> {
        let name = typed("nd_ids", dtype, &[DType::I32, DType::I64])?;
        let padded = GatherNd::padded(extents)?;
        let mut arguments = vec![
            output(ids, rows, DType::I64, "the places")?,
            input(index, product(&[rows, extents.len() as u64])?, dtype, "the coordinates")?,
            rows.into(),
            (extents.len() as u32).into(),
        ];
        arguments.extend(padded.map(Argument::from));
        self.launch(stream, name, rows, &arguments)
    }

    /// Writes the places (i64) of the elements that indices (i32 or i64) choose along an axis, and -1
    /// for those that do not exist. Indices below zero count from the end.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn element_ids(
        &self,
        stream: &Stream,
        ids: &DeviceBuffer,
        (index, dtype): (&DeviceBuffer, DType),
        gather: &GatherElements,
    ) -> Result<()> {
        let (n, numbers) = (gather.elements(), gather.numbers());
        let mut arguments =
            vec![output(ids, n, DType::I64, "the places")?, input(index, n, dtype, "the indices")?];
        arguments.extend(numbers);
        self.launch(stream, typed("element_ids", dtype, &[DType::I32, DType::I64])?, n, &arguments)
    }
}
