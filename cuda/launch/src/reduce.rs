//! Sums, products, means, maxima and minima over axes.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::elementwise::named;
use crate::{DeviceKernels, THREADS, input, output, product, typed};

named! {
    /// How elements are combined.
    Reduction {
        /// Their sum.
        Sum = "reduce_sum",
        /// Their product; of nothing, 1.
        Product = "reduce_product",
        /// Their mean.
        Mean = "reduce_mean",
        /// The greatest; NaN if there is one.
        Maximum = "reduce_maximum",
        /// The least; NaN if there is one.
        Minimum = "reduce_minimum",
    }
}

/// What is reduced: neighbouring axes as one, those before and after them as one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReductionShape {
    /// Product of the extents before.
    pub outer: u64,
    /// Product of the extents that are reduced.
    pub extent: u64,
    /// Product of the extents after.
    pub inner: u64,
}

/// Elements of an output that one warp or block still reduces alone.
const MAX_EXTENT_ALONE: u64 = 8192;
const TYPES: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::I64];

/// What parts of a reduction are kept in.
fn accumulator(dtype: DType) -> DType {
    match dtype {
        DType::F64 | DType::I32 | DType::I64 => dtype,
        DType::UI8 => DType::I32,
        _ => DType::F32,
    }
}

impl ReductionShape {
    /// The shape for reducing these axes, which must be neighbours.
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

    /// Elements of the result.
    pub fn outputs(&self) -> Result<u64> {
        product(&[self.outer, self.inner])
    }

    /// Blocks that reduce different outputs.
    fn blocks(&self) -> Result<u64> {
        if self.inner != 1 {
            return product(&[self.outer, self.inner.div_ceil(32)]);
        }
        let alone = self.extent <= 1024;
        Ok(if alone { self.outer.div_ceil(u64::from(THREADS) / 32) } else { self.outer })
    }
}

impl DeviceKernels {
    /// In how many parts [`DeviceKernels::reduce`] takes the extent, so that few outputs still keep the device busy. It
    /// depends on the shape and on the kind of device alone.
    ///
    /// # Errors
    /// `InvalidValue` for a shape with too many elements.
    pub fn reduction_parts(&self, shape: &ReductionShape) -> Result<u64> {
        let blocks = shape.blocks()?.max(1);
        let wanted = u64::from(self.context.device().properties().multiprocessors) * 4;
        if shape.extent <= MAX_EXTENT_ALONE || blocks >= wanted {
            return Ok(1);
        }
        Ok((wanted / blocks).min(shape.extent / (MAX_EXTENT_ALONE / 4)).max(1))
    }

    /// Bytes of scratch memory that [`DeviceKernels::reduce`] needs.
    ///
    /// # Errors
    /// `InvalidValue` for a shape with too many elements.
    pub fn reduction_scratch(&self, shape: &ReductionShape) -> Result<u64> {
        match self.reduction_parts(shape)? {
            1 => Ok(0),
            // As many bytes as the widest type takes.
            parts => product(&[parts, shape.outputs()?, 8]),
        }
    }

    /// `y` (outer × inner) combines the elements of `x` (outer × extent × inner). Sums of halves are f32 inside. Truth values
    /// have extremes alone: the greatest says whether any is true, the least whether all are.
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
        let parts = self.reduction_parts(&shape)?;
        if parts == 1 {
            let arguments = [y, x, outer.into(), extent.into(), inner.into()];
            return self.launch_blocks(stream, whole, shape.blocks()?, 1, &arguments);
        }
        let scratch =
            scratch.ok_or_else(|| DeviceError::invalid_value("this reduction needs scratch memory"))?;
        let accumulator = accumulator(dtype);
        let partials = product(&[parts, outputs])?;
        // A mean finishes the parts of a sum.
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

    /// How many elements (i32 or i64) are equal, as one u64.
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
