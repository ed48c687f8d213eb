//! Sums, products, means, maxima and minima over axes.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::functions::named;
use crate::{DeviceKernels, THREADS, input, output, product, typed};

named! {
    /// How elements are combined.
    Reduction {
        /// Their sum.
        Sum = "reduce_sum",
        /// Their product, which is 1 if there are none.
        Product = "reduce_product",
        /// Their mean.
        Mean = "reduce_mean",
        /// The greatest element; NaN if there is one.
        Maximum = "reduce_maximum",
        /// The least element; NaN if there is one.
        Minimum = "reduce_minimum",
    }
}

/// The shape of a reduction: the reduced axes, which are neighbours, and the axes before and after
/// them, each merged into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReductionShape {
    /// The product of the extents before.
    pub outer: u64,
    /// The product of the reduced extents.
    pub extent: u64,
    /// The product of the extents after.
    pub inner: u64,
}

/// The most elements of an output that one warp or block reduces alone.
const MAX_EXTENT_ALONE: u64 = 8192;
/// The number of blocks that keeps a large GPU busy: four for each of 128 multiprocessors.
const WANTED_BLOCKS: u64 = 512;
const TYPES: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::I64];

/// Returns the type of partial results.
fn accumulator(dtype: DType) -> DType {
    match dtype {
        DType::F64 | DType::I32 | DType::I64 => dtype,
        DType::UI8 => DType::I32,
        _ => DType::F32,
    }
}

impl ReductionShape {
    /// Returns the shape for reducing these axes, which must be neighbours.
    ///
    /// # Errors
    /// `InvalidValue` if they are not, or do not exist.
    pub fn new(extents: &[u64], axes: std::ops::Range<usize>) -> Result<Self> {
        if axes.start > axes.end || axes.end > extents.len() {
            let detail = format!("a tensor of {} axes has no axes {axes:?}", extents.len());
            return Err(DeviceError::invalid_value(detail));
        }
        Ok(Self {
            outer: product(&extents[..axes.start])?,
            extent: product(&extents[axes.clone()])?,
            inner: product(&extents[axes.end..])?,
        })
    }

    /// Returns the number of elements of the result.
    pub fn outputs(&self) -> Result<u64> {
        product(&[self.outer, self.inner])
    }

    /// Returns the number of blocks that reduce different outputs.
    fn blocks(&self) -> Result<u64> {
        if self.inner != 1 {
            return product(&[self.outer, self.inner.div_ceil(32)]);
        }
        let alone = self.extent <= 1024;
        Ok(if alone { self.outer.div_ceil(u64::from(THREADS) / 32) } else { self.outer })
    }

    /// Returns the number of parts in which the extent is reduced, so that few outputs still keep
    /// a device busy. It is the same on all devices, because programs plan the scratch memory.
    fn parts(&self) -> Result<u64> {
        let blocks = self.blocks()?.max(1);
        if self.extent <= MAX_EXTENT_ALONE || blocks >= WANTED_BLOCKS {
            return Ok(1);
        }
        Ok((WANTED_BLOCKS / blocks).min(self.extent / (MAX_EXTENT_ALONE / 4)).max(1))
    }

    /// Returns the size in bytes of the scratch memory for [`DeviceKernels::reduce`].
    ///
    /// # Errors
    /// `InvalidValue` for a shape with too many elements.
    pub fn scratch_bytes(&self) -> Result<u64> {
        match self.parts()? {
            1 => Ok(0),
            // Enough for the widest type.
            parts => product(&[parts, self.outputs()?, 8]),
        }
    }
}

impl DeviceKernels {
    /// Reduces the elements of `x` (outer × extent × inner) to `y` (outer × inner). Sums of halves
    /// are computed in f32. Truth values only have extremes: the greatest says whether any is true,
    /// the least whether all are.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    #[expect(clippy::too_many_arguments, reason = "three buffers with their shape and type")]
    pub fn reduce(
        &self,
        stream: &Stream,
        reduction: Reduction,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        scratch: Option<&DeviceBuffer>,
        shape: ReductionShape,
    ) -> Result<()> {
        let ReductionShape { outer, extent, inner } = shape;
        let outputs = shape.outputs()?;
        let is_extreme = matches!(reduction, Reduction::Maximum | Reduction::Minimum);
        let (dtype, types) = match dtype {
            DType::I1 if is_extreme => (DType::UI8, &[DType::UI8][..]),
            other => (other, TYPES),
        };
        let whole = typed(reduction.name(), dtype, types)?;
        let y = output(y, outputs, dtype, "the result")?;
        let x = input(x, product(&[outer, extent, inner])?, dtype, "the operand")?;
        let parts = shape.parts()?;
        if parts == 1 {
            let arguments = [y, x, outer.into(), extent.into(), inner.into()];
            return self.launch_blocks(stream, whole, shape.blocks()?, 1, &arguments);
        }
        let scratch =
            scratch.ok_or_else(|| DeviceError::invalid_value("this reduction needs scratch memory"))?;
        let accumulator = accumulator(dtype);
        let partials = product(&[parts, outputs])?;
        // A mean first needs the partial sums.
        let first = if reduction == Reduction::Mean { Reduction::Sum } else { reduction };
        let partial = output(scratch, partials, accumulator, "the scratch memory")?;
        let arguments = [partial, x, outer.into(), extent.into(), inner.into(), parts.into()];
        let name = typed(format!("{}_parts", first.name()), dtype, types)?;
        let rows = u32::try_from(parts).unwrap_or(u32::MAX);
        self.launch_blocks(stream, name, shape.blocks()?, rows, &arguments)?;
        let partial = input(scratch, partials, accumulator, "the scratch memory")?;
        let arguments = [y, partial, outputs.into(), parts.into(), extent.into()];
        let name = typed(format!("{}_finish", reduction.name()), dtype, types)?;
        self.launch(stream, name, outputs, &arguments)
    }

    /// Writes the number of equal elements (i32 or i64) as one u64.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn count_equal(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        [a, b]: [&DeviceBuffer; 2],
        n: u64,
    ) -> Result<()> {
        let arguments = [
            output(y, 1, DType::UI64, "the count")?,
            input(a, n, dtype, "the first operand")?,
            input(b, n, dtype, "the second operand")?,
            n.into(),
        ];
        let name = typed("count_equal", dtype, &[DType::I32, DType::I64])?;
        self.launch_blocks(stream, name, 1, 1, &arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_axes_become_one() {
        let shape = ReductionShape::new(&[2, 3, 4, 5], 1..3).unwrap();
        assert_eq!(shape, ReductionShape { outer: 2, extent: 12, inner: 5 });
        assert_eq!(shape.outputs(), Ok(10));
        assert_eq!(ReductionShape::new(&[2, 3], 2..2).unwrap().extent, 1);
        assert!(ReductionShape::new(&[2, 3], 1..3).is_err());
    }
}
