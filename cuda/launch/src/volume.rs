//! Windows that slide over up to three dimensions of planes, in channels-first tensors.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, KernelName, by_width_up_to, input, optional, output, product, typed};

/// One dimension of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeAxis {
    /// The extent of a plane.
    pub input: u64,
    /// The number of positions of the window.
    pub output: u64,
    /// The number of elements of the window.
    pub kernel: u64,
    /// The distance between positions.
    pub stride: u64,
    /// The distance between elements of the window.
    pub dilation: u64,
    /// The padding before and after; negative padding crops.
    pub padding: [i64; 2],
}

/// A window of three dimensions, the outermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeWindow {
    /// The dimensions. Those that planes lack have extents of 1.
    pub axes: [VolumeAxis; 3],
}

const FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64];
const MAXIMA: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32];
/// The bytes of the widest elements of patches.
const MAX_PATCH_BYTES: usize = 8;

/// Passes a number in the type of sums of a type.
fn accumulated(value: f64, dtype: DType) -> Argument<'static> {
    match dtype {
        DType::F64 => value.into(),
        DType::I32 => (value as i32).into(),
        _ => (value as f32).into(),
    }
}

impl VolumeWindow {
    /// Checks that all positions of the window fit 63 bits.
    fn check(&self) -> Result<()> {
        for axis in &self.axes {
            let last = |count: u64, step: u64| i128::from(count.saturating_sub(1)) * i128::from(step);
            let reach = last(axis.output, axis.stride) + last(axis.kernel, axis.dilation);
            let [before, after] = axis.padding.map(|pad| i128::from(pad.unsigned_abs()));
            let fits = reach + before + after + i128::from(axis.input) <= i128::from(i64::MAX);
            if !fits || axis.stride == 0 || axis.dilation == 0 {
                return Err(DeviceError::invalid_value("a window has positions that cannot be computed"));
            }
        }
        Ok(())
    }

    fn of(&self, extent: fn(&VolumeAxis) -> u64) -> Result<u64> {
        product(&self.axes.map(|axis| extent(&axis)))
    }

    fn inputs(&self, planes: u64) -> Result<u64> {
        product(&[planes, self.of(|axis| axis.input)?])
    }

    fn outputs(&self, planes: u64) -> Result<u64> {
        product(&[planes, self.of(|axis| axis.output)?])
    }

    fn patches(&self, planes: u64) -> Result<u64> {
        product(&[self.outputs(planes)?, self.of(|axis| axis.kernel)?])
    }

    /// Returns the parameters in the order of the kernels.
    fn numbers(&self) -> Vec<Argument<'static>> {
        let numbers = self.axes.iter().flat_map(|axis| {
            let VolumeAxis { input, output, kernel, stride, dilation, padding: [before, after] } = *axis;
            let counts = [input, output, kernel, stride, dilation].map(Argument::from);
            counts.into_iter().chain([before.into(), after.into()])
        });
        numbers.collect()
    }
}

impl DeviceKernels {
    /// Launches a kernel with its operands, the window, and further numbers.
    fn launch_volume(
        &self,
        stream: &Stream,
        (name, n): (KernelName, u64),
        operands: &[Argument<'_>],
        (planes, window): (u64, &VolumeWindow),
        rest: &[Argument<'_>],
    ) -> Result<()> {
        let mut arguments = operands.to_vec();
        arguments.push(planes.into());
        arguments.extend(window.numbers());
        arguments.extend_from_slice(rest);
        self.launch(stream, name, n, &arguments)
    }

    /// Finds the greatest element under each window, NaN if there is one, and `least` if there are
    /// none. `places` (i64), if wanted, are the places of these elements in all of `x`; with
    /// `column_major`, the first dimension of a plane counts as the innermost one.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `InvalidValue` for positions that do not fit 63 bits. The same
    /// holds for all launches of volumes.
    #[expect(clippy::too_many_arguments, reason = "three buffers with their shape and type")]
    pub fn volume_max(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        places: Option<&DeviceBuffer>,
        x: &DeviceBuffer,
        (planes, window): (u64, &VolumeWindow),
        (least, column_major): (f64, bool),
    ) -> Result<()> {
        window.check()?;
        let n = window.outputs(planes)?;
        let operands = [
            output(y, n, dtype, "the result")?,
            optional(places.map(|places| output(places, n, DType::I64, "the places")))?,
            input(x, window.inputs(planes)?, dtype, "the planes")?,
        ];
        let rest = [accumulated(least, dtype), u32::from(column_major).into()];
        let name = typed("plane_max", dtype, MAXIMA)?;
        self.launch_volume(stream, (name, n), &operands, (planes, window), &rest)
    }

    /// Computes the mean of the elements under each window. With `counts_padding`, places in the
    /// padding count as zeros.
    ///
    /// # Errors
    /// See [`DeviceKernels::volume_max`].
    pub fn volume_average(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        (planes, window): (u64, &VolumeWindow),
        counts_padding: bool,
    ) -> Result<()> {
        window.check()?;
        let n = window.outputs(planes)?;
        let operands =
            [output(y, n, dtype, "the result")?, input(x, window.inputs(planes)?, dtype, "the planes")?];
        let rest = [u32::from(counts_padding).into()];
        let name = typed("plane_average", dtype, FLOATS)?;
        self.launch_volume(stream, (name, n), &operands, (planes, window), &rest)
    }

    /// Computes the root of the sum of powers of the absolute elements under each window.
    ///
    /// # Errors
    /// See [`DeviceKernels::volume_max`].
    pub fn volume_norm(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        (planes, window): (u64, &VolumeWindow),
        power: f64,
    ) -> Result<()> {
        window.check()?;
        let n = window.outputs(planes)?;
        let operands =
            [output(y, n, dtype, "the result")?, input(x, window.inputs(planes)?, dtype, "the planes")?];
        let name = typed("plane_norm", dtype, FLOATS)?;
        self.launch_volume(stream, (name, n), &operands, (planes, window), &[accumulated(power, dtype)])
    }

    /// Writes the elements that each window sees: planes × kernel × output, with zeros for what is
    /// outside of a plane.
    ///
    /// # Errors
    /// See [`DeviceKernels::volume_max`].
    pub fn volume_patches(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        (planes, window): (u64, &VolumeWindow),
    ) -> Result<()> {
        window.check()?;
        let n = window.patches(planes)?;
        let operands =
            [output(y, n, dtype, "the patches")?, input(x, window.inputs(planes)?, dtype, "the planes")?];
        let name = by_width_up_to(MAX_PATCH_BYTES, "patches", dtype)?;
        self.launch_volume(stream, (name, n), &operands, (planes, window), &[])
    }

    /// Adds the elements of patches, as [`DeviceKernels::volume_patches`] writes them, at their
    /// places in the planes `x`.
    ///
    /// # Errors
    /// See [`DeviceKernels::volume_max`].
    pub fn sum_of_patches(
        &self,
        stream: &Stream,
        dtype: DType,
        x: &DeviceBuffer,
        y: &DeviceBuffer,
        (planes, window): (u64, &VolumeWindow),
    ) -> Result<()> {
        window.check()?;
        let n = window.inputs(planes)?;
        let operands =
            [output(x, n, dtype, "the planes")?, input(y, window.patches(planes)?, dtype, "the patches")?];
        let name = typed("unpatch", dtype, FLOATS)?;
        self.launch_volume(stream, (name, n), &operands, (planes, window), &[])
    }
}
