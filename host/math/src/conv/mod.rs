//! Two-dimensional convolution of `NHWC` images with `HWIO` filters, and its gradients, as matrix
//! products without the matrix: a row of the left operand is the image patch under a window, and
//! the product reads it where it lies, through a pointer for each tap, or for each row of taps if
//! channels are few.

mod cut;
mod depthwise;
mod element;
mod filter_gradient;
mod forward;
mod input_gradient;
mod left;
mod minimal;
mod packed;
mod pixel;

use crate::ShapeError;
use crate::shape::element_count;
use crate::window::{Axis, Extent2, Padding, Window};

pub use element::ConvElement;
pub use filter_gradient::ConvBackwardFilter;
pub use forward::{Conv2d, Conv2dInput};
pub use input_gradient::{ConvBackwardInput, PackedGradientFilter};
pub use packed::PackedFilter;

/// The shapes of a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conv2dShape {
    /// Number of images.
    pub batch: usize,
    /// Extent of an image.
    pub input: Extent2,
    /// Channels of an image.
    pub in_channels: usize,
    /// Extent of the filter.
    pub filter: Extent2,
    /// Channels of the output.
    pub out_channels: usize,
    /// Into how many equal groups the channels are divided; an output channel sees the input
    /// channels of its group alone, so that the filter has `in_channels / groups` of them.
    pub groups: usize,
    /// Pixels from one window to the next.
    pub strides: Extent2,
    /// Pixels from one element of the filter to the next.
    pub dilations: Extent2,
    /// What lies beyond the border.
    pub padding: Padding,
}

impl Conv2dShape {
    /// Creates a convolution in one group with strides and dilations of 1.
    pub fn new(
        (batch, input, in_channels): (usize, Extent2, usize),
        (filter, out_channels): (Extent2, usize),
        padding: Padding,
    ) -> Self {
        let one = Extent2::new(1, 1);
        Self {
            batch,
            input,
            in_channels,
            filter,
            out_channels,
            groups: 1,
            strides: one,
            dilations: one,
            padding,
        }
    }

    /// Returns the extent of an output image.
    pub fn output(&self) -> Result<Extent2, ShapeError> {
        Ok(self.window()?.output())
    }

    fn window(&self) -> Result<Window, ShapeError> {
        Window::new(self.input, self.filter, self.strides, self.dilations, self.padding)
    }
}

/// The extents that all three convolutions share, known to be free of overflow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Geometry {
    batch: usize,
    pub(crate) window: Window,
    pub(crate) in_channels: usize,
    pub(crate) out_channels: usize,
    pub(crate) input_len: usize,
    pub(crate) filter_len: usize,
    pub(crate) output_len: usize,
    pub(crate) groups: usize,
    /// Elements of a patch that a group sees: rows of the filter as a matrix.
    pub(crate) depth: usize,
    /// Windows of the whole batch: rows of the output as a matrix.
    pub(crate) pixels: usize,
}

impl Geometry {
    pub(crate) fn new(shape: &Conv2dShape) -> Result<Self, ShapeError> {
        let window = shape.window()?;
        let (input, output, filter, groups) = (shape.input, window.output(), shape.filter, shape.groups);
        // Without channels there is nothing to divide.
        let groups =
            if groups > 0 && (shape.in_channels == 0 || shape.out_channels == 0) { 1 } else { groups };
        if groups == 0
            || !shape.in_channels.is_multiple_of(groups)
            || !shape.out_channels.is_multiple_of(groups)
        {
            return Err(ShapeError::Parameter("groups must divide the channels of images and output"));
        }
        let depth = element_count(&[filter.height, filter.width, shape.in_channels / groups])?;
        let pixels = element_count(&[shape.batch, output.height, output.width])?;
        Ok(Self {
            batch: shape.batch,
            window,
            in_channels: shape.in_channels,
            out_channels: shape.out_channels,
            input_len: element_count(&[shape.batch, input.height, input.width, shape.in_channels])?,
            filter_len: element_count(&[depth, shape.out_channels])?,
            output_len: element_count(&[pixels, shape.out_channels])?,
            groups,
            depth,
            pixels,
        })
    }

    /// Returns whether each output channel sees one channel of the images.
    pub(crate) fn is_depthwise(&self) -> bool {
        self.groups > 1 && self.in_channels == self.groups
    }

    /// Returns whether each pixel of the output depends on the same pixel of the images alone.
    pub(crate) fn is_pointwise(&self) -> bool {
        let covers_one = |axis: Axis| {
            axis.window == 1 && axis.stride == 1 && axis.before == 0 && axis.output == axis.input
        };
        covers_one(self.window.y) && covers_one(self.window.x)
    }
}
