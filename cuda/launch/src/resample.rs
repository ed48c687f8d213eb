//! Weighted sums along one axis, by which tensors are interpolated.

use tfrt_device::error::Result;
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, bits, input, output, product, typed};

/// The shape of weighted sums along one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// The product of the extents before the axis.
    pub outer: u64,
    /// The extent of the axis in the operand.
    pub extent: u64,
    /// The product of the extents after the axis.
    pub inner: u64,
    /// The extent of the axis in the result.
    pub count: u64,
    /// The most terms of a sum.
    pub taps: u64,
    /// The value of a sum without terms.
    pub outside: f64,
}

impl DeviceKernels {
    /// Sums elements of `x` (outer × extent × inner, f32 or f64) along the axis, multiplied by
    /// weights, to `y` (outer × count × inner). `index` (i64) and `weight`, which has the type of
    /// the elements, are count × taps; the first index that is not in the axis ends a sum.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn weighted(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        [index, weight]: [&DeviceBuffer; 2],
        shape: Weighted,
    ) -> Result<()> {
        let Weighted { outer, extent, inner, count, taps, outside } = shape;
        let (n, terms) = (product(&[outer, count, inner])?, product(&[count, taps])?);
        let arguments = [
            output(y, n, dtype, "the result")?,
            input(x, product(&[outer, extent, inner])?, dtype, "the operand")?,
            input(index, terms, DType::I64, "the indices")?,
            input(weight, terms, dtype, "the weights")?,
            outer.into(),
            extent.into(),
            inner.into(),
            count.into(),
            taps.into(),
            bits(outside, dtype)?,
        ];
        self.launch(stream, typed("weighted", dtype, &[DType::F32, DType::F64])?, n, &arguments)
    }
}
