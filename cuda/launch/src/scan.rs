//! Running sums and products along an axis, and its greatest and least elements.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, ReductionShape, input, optional, output, product, typed};

/// The kind of a scan along a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan {
    /// Whether to multiply instead of adding.
    pub multiplies: bool,
    /// Whether a result excludes its own element.
    pub exclusive: bool,
    /// Whether to run from the end to the front.
    pub reverse: bool,
}

/// The elements of each line to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of elements.
    pub count: u64,
    /// The order in which to find them.
    pub order: LineOrder,
}

/// An order of elements. The numbers are those of `scan.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOrder {
    /// The greatest first, NaN last.
    Greatest = 0,
    /// The least first, NaN last.
    Least = 1,
    /// NaN first, then the greatest.
    GreatestNanFirst = 2,
}

/// Types with an order.
const ORDERED: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::I64];
/// Types with sums and products.
const NUMBERS: &[DType] =
    &[DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::I64, DType::Complex128];

impl DeviceKernels {
    /// Writes running sums or products along the extent of `x` to `y`, which has as many elements.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn scan(
        &self,
        stream: &Stream,
        scan: Scan,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        shape: ReductionShape,
    ) -> Result<()> {
        let ReductionShape { outer, extent, inner } = shape;
        let n = product(&[outer, extent, inner])?;
        let arguments = [
            output(y, n, dtype, "the result")?,
            input(x, n, dtype, "the operand")?,
            outer.into(),
            extent.into(),
            inner.into(),
            u32::from(scan.exclusive).into(),
            u32::from(scan.reverse).into(),
        ];
        let function = if scan.multiplies { "scan_product" } else { "scan_sum" };
        // There may be any number of lines without elements.
        self.launch(stream, typed(function, dtype, NUMBERS)?, shape.outputs()?.min(n), &arguments)
    }

    /// Finds the first elements in some order along the extent of `x`, sorted, and their positions
    /// (i32). Among equal elements the first comes first.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `InvalidValue` if more are wanted than there are, or i32 does
    /// not count them.
    #[expect(clippy::too_many_arguments, reason = "three buffers with their shape and type")]
    pub fn top(
        &self,
        stream: &Stream,
        line: Line,
        dtype: DType,
        values: Option<&DeviceBuffer>,
        positions: &DeviceBuffer,
        x: &DeviceBuffer,
        shape: ReductionShape,
    ) -> Result<()> {
        let ReductionShape { outer, extent, inner } = shape;
        if line.count > extent || extent > i32::MAX as u64 {
            let detail = format!("cannot find {} of {extent} elements", line.count);
            return Err(DeviceError::invalid_value(detail));
        }
        let n = product(&[outer, line.count, inner])?;
        let arguments = [
            optional(values.map(|values| output(values, n, dtype, "the result")))?,
            output(positions, n, DType::I32, "the positions")?,
            input(x, product(&[outer, extent, inner])?, dtype, "the operand")?,
            outer.into(),
            extent.into(),
            inner.into(),
            line.count.into(),
            (line.order as u32).into(),
        ];
        let name = typed("top", dtype, ORDERED)?;
        self.launch(stream, name, shape.outputs()?.min(n).saturating_mul(32), &arguments)
    }
}
