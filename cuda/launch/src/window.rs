//! Pooling, im2col, and convolution of integers, over NHWC images.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, KernelName, input, optional, output, product, typed};

/// A position or extent in both directions of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowPosition {
    /// Along the rows.
    pub y: u32,
    /// Along the columns.
    pub x: u32,
}

/// Windows that slide over NHWC images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolingWindow {
    /// The number of images.
    pub batch: u32,
    /// The extent of an image.
    pub input: WindowPosition,
    /// The number of its channels.
    pub channels: u32,
    /// The extent of an output image.
    pub output: WindowPosition,
    /// The extent of the window.
    pub window: WindowPosition,
    /// The distance between windows.
    pub strides: WindowPosition,
    /// The distance between elements of the window.
    pub dilations: WindowPosition,
    /// The padding above and to the left of the image.
    pub padding: WindowPosition,
}

const FLOATS: &[DType] = &[DType::F32, DType::F16];
const POOLED: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64];
/// Types whose maxima kernels can find.
const MAXIMA: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::I64];

impl PoolingWindow {
    fn check(&self) -> Result<()> {
        let positive = [self.window, self.strides, self.dilations];
        if positive.iter().any(|extent| extent.y == 0 || extent.x == 0) {
            return Err(DeviceError::invalid_value("windows, strides and dilations must be at least 1"));
        }
        // Positions within an image have 32 bits, and one value means "nowhere".
        let image = product(&[self.input.y.into(), self.input.x.into(), self.channels.into()])?;
        if image >= u32::MAX.into() || self.padding.y > i32::MAX as u32 || self.padding.x > i32::MAX as u32 {
            return Err(DeviceError::invalid_value("an image has too many elements for 32-bit positions"));
        }
        Ok(())
    }

    fn inputs(&self) -> Result<u64> {
        product(&[self.batch, self.input.y, self.input.x, self.channels].map(u64::from))
    }

    fn outputs(&self) -> Result<u64> {
        self.outputs_of(self.channels.into())
    }

    /// Returns the number of elements under the windows of images with this many channels.
    fn outputs_of(&self, channels: u64) -> Result<u64> {
        product(&[self.batch.into(), self.output.y.into(), self.output.x.into(), channels])
    }

    fn patches(&self) -> Result<u64> {
        product(&[self.outputs()?, self.window.y.into(), self.window.x.into()])
    }

    /// Returns the parameters in the order of the kernels.
    fn numbers(&self) -> [u32; 14] {
        let pairs = [self.output, self.window, self.strides, self.dilations, self.padding];
        let mut numbers = [0; 14];
        numbers[..4].copy_from_slice(&[self.batch, self.input.y, self.input.x, self.channels]);
        for (place, pair) in numbers[4..].chunks_exact_mut(2).zip(pairs) {
            place.copy_from_slice(&[pair.y, pair.x]);
        }
        numbers
    }
}

/// The channels of a filter. In memory its axes are rows, columns, channels of a group, outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterChannels {
    /// The number of channels of the result.
    pub outputs: u32,
    /// The number of groups. Each group of channels contributes only to its own group of outputs.
    pub groups: u32,
}

impl FilterChannels {
    /// Returns the number of elements of the filter.
    fn filter(&self, window: &PoolingWindow) -> Result<u64> {
        let Self { outputs, groups } = *self;
        let goes = |channels: u32| channels.checked_rem(groups) == Some(0);
        if !goes(window.channels) || !goes(outputs) {
            let detail =
                format!("{groups} groups cannot share {} channels and {outputs} outputs", window.channels);
            return Err(DeviceError::invalid_value(detail));
        }
        product(&[window.window.y, window.window.x, window.channels / groups, outputs].map(u64::from))
    }
}

impl DeviceKernels {
    /// Launches a kernel with its own arguments, followed by those of the window.
    fn launch_window(
        &self,
        stream: &Stream,
        name: KernelName,
        n: u64,
        own: &[Argument<'_>],
        window: &PoolingWindow,
    ) -> Result<()> {
        self.launch(stream, name, n, &[own, &window.numbers().map(Argument::from)].concat())
    }

    /// Finds the greatest element under each window, and its position in the image (u32) if wanted.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn max_pool(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        positions: Option<&DeviceBuffer>,
        x: &DeviceBuffer,
        window: &PoolingWindow,
    ) -> Result<()> {
        window.check()?;
        let n = window.outputs()?;
        let positions = positions.map(|positions| output(positions, n, DType::UI32, "the positions"));
        let own = [
            output(y, n, dtype, "the result")?,
            optional(positions)?,
            input(x, window.inputs()?, dtype, "the images")?,
        ];
        self.launch_window(stream, typed("max_pool", dtype, MAXIMA)?, n, &own, window)
    }

    /// Finds the greatest number under each window. NaN is ignored, and without any number the
    /// result is the least finite number.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn max_pool_of_numbers(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        window: &PoolingWindow,
    ) -> Result<()> {
        window.check()?;
        let n = window.outputs()?;
        let own = [output(y, n, dtype, "the result")?, input(x, window.inputs()?, dtype, "the images")?];
        self.launch_window(stream, typed("max_pool_of_numbers", dtype, MAXIMA)?, n, &own, window)
    }

    /// Computes the gradient of [`DeviceKernels::max_pool`]: each element of `dy` is added at the
    /// position of its maximum.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn max_pool_gradient(
        &self,
        stream: &Stream,
        dtype: DType,
        dx: &DeviceBuffer,
        dy: &DeviceBuffer,
        positions: &DeviceBuffer,
        window: &PoolingWindow,
    ) -> Result<()> {
        window.check()?;
        let n = window.inputs()?;
        let own = [
            output(dx, n, dtype, "the gradient")?,
            input(dy, window.outputs()?, dtype, "the result's gradient")?,
            input(positions, window.outputs()?, DType::UI32, "the positions")?,
        ];
        self.launch_window(stream, typed("max_pool_gradient", dtype, MAXIMA)?, n, &own, window)
    }

    /// Computes the mean of the elements under each window. With `count_padding`, elements beyond
    /// the border count as zeros.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn average_pool(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        count_padding: bool,
        window: &PoolingWindow,
    ) -> Result<()> {
        window.check()?;
        let n = window.outputs()?;
        let own = [
            output(y, n, dtype, "the result")?,
            input(x, window.inputs()?, dtype, "the images")?,
            u32::from(count_padding).into(),
        ];
        self.launch_window(stream, typed("average_pool", dtype, POOLED)?, n, &own, window)
    }

    /// Computes the gradient of [`DeviceKernels::average_pool`].
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn average_pool_gradient(
        &self,
        stream: &Stream,
        dtype: DType,
        dx: &DeviceBuffer,
        dy: &DeviceBuffer,
        count_padding: bool,
        window: &PoolingWindow,
    ) -> Result<()> {
        window.check()?;
        let n = window.inputs()?;
        let own = [
            output(dx, n, dtype, "the gradient")?,
            input(dy, window.outputs()?, dtype, "the result's gradient")?,
            u32::from(count_padding).into(),
        ];
        self.launch_window(stream, typed("average_pool_gradient", dtype, POOLED)?, n, &own, window)
    }

    /// Computes the gradient of the mean over all pixels of an image.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn global_average_pool_gradient(
        &self,
        stream: &Stream,
        dtype: DType,
        dx: &DeviceBuffer,
        dy: &DeviceBuffer,
        [batch, pixels, channels]: [u64; 3],
    ) -> Result<()> {
        let n = product(&[batch, pixels, channels])?;
        let arguments = [
            output(dx, n, dtype, "the gradient")?,
            input(dy, product(&[batch, channels])?, dtype, "the result's gradient")?,
            batch.into(),
            pixels.into(),
            channels.into(),
        ];
        self.launch(stream, typed("global_average_pool_gradient", dtype, POOLED)?, n, &arguments)
    }

    /// Writes the patch under each window as a row of `y`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn im2col(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        window: &PoolingWindow,
    ) -> Result<()> {
        window.check()?;
        let n = window.patches()?;
        let own = [output(y, n, dtype, "the patches")?, input(x, window.inputs()?, dtype, "the images")?];
        self.launch_window(stream, typed("im2col", dtype, FLOATS)?, n, &own, window)
    }

    /// Adds the elements of the patches at their places in the image.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn col2im(
        &self,
        stream: &Stream,
        dtype: DType,
        x: &DeviceBuffer,
        y: &DeviceBuffer,
        window: &PoolingWindow,
    ) -> Result<()> {
        window.check()?;
        let n = window.inputs()?;
        let own = [output(x, n, dtype, "the images")?, input(y, window.patches()?, dtype, "the patches")?];
        self.launch_window(stream, typed("col2im", dtype, FLOATS)?, n, &own, window)
    }

    /// Computes the convolution of images `x` with `filter`, both i32, with sums that wrap.
    /// `window` gives the places of the filter's elements.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn convolution(
        &self,
        stream: &Stream,
        y: &DeviceBuffer,
        [x, filter]: [&DeviceBuffer; 2],
        channels: FilterChannels,
        window: &PoolingWindow,
    ) -> Result<()> {
        window.check()?;
        let n = window.outputs_of(channels.outputs.into())?;
        let own = [
            output(y, n, DType::I32, "the result")?,
            input(x, window.inputs()?, DType::I32, "the images")?,
            input(filter, channels.filter(window)?, DType::I32, "the filter")?,
            channels.outputs.into(),
            channels.groups.into(),
        ];
        self.launch_window(stream, "convolution_i32".into(), n, &own, window)
    }

    /// Computes the gradient of [`DeviceKernels::convolution`] with respect to the images.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn convolution_gradient(
        &self,
        stream: &Stream,
        dx: &DeviceBuffer,
        [dy, filter]: [&DeviceBuffer; 2],
        channels: FilterChannels,
        window: &PoolingWindow,
    ) -> Result<()> {
        window.check()?;
        let n = window.inputs()?;
        let outputs = window.outputs_of(channels.outputs.into())?;
        let own = [
            output(dx, n, DType::I32, "the gradient")?,
            input(dy, outputs, DType::I32, "the result's gradient")?,
            input(filter, channels.filter(window)?, DType::I32, "the filter")?,
            channels.outputs.into(),
            channels.groups.into(),
        ];
        self.launch_window(stream, "convolution_gradient_i32".into(), n, &own, window)
    }
}
