//! Two-dimensional convolution of `NHWC` images with `HWIO` filters, and its gradients, through matrix products.
//!
//! An image patch under a filter is a row of `height · width · channels` elements; the patches of a block are gathered
//! into a matrix (im2col), a bounded number of rows at a time. Convolutions by one pixel with stride 1 need no gathering.

mod filter_gradient;
mod forward;
mod input_gradient;
mod patches;

use crate::ShapeError;
use crate::shape::element_count;
use crate::window::{Extent2, Padding, Window};

pub use filter_gradient::ConvBackwardFilter;
pub use forward::{Conv2d, Conv2dInput};
pub use input_gradient::ConvBackwardInput;
use patches::Patches;

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
    /// Pixels from one window to the next.
    pub strides: Extent2,
    /// Pixels from one element of the filter to the next.
    pub dilations: Extent2,
    /// What lies beyond the border.
    pub padding: Padding,
}

impl Conv2dShape {
    /// A convolution with strides and dilations of 1.
    pub fn new(
        (batch, input, in_channels): (usize, Extent2, usize),
        (filter, out_channels): (Extent2, usize),
        padding: Padding,
    ) -> Self {
        let one = Extent2::new(1, 1);
        Self { batch, input, in_channels, filter, out_channels, strides: one, dilations: one, padding }
    }

    /// The extent of an output image.
    pub fn output(&self) -> Result<Extent2, ShapeError> {
        Ok(self.window()?.output())
    }

    fn window(&self) -> Result<Window, ShapeError> {
        Window::new(self.input, self.filter, self.strides, self.dilations, self.padding)
    }
}

/// The extents that all three convolutions share, known to be free of overflow.
#[derive(Debug, Clone, Copy)]
struct Geometry {
    batch: usize,
    window: Window,
    in_channels: usize,
    out_channels: usize,
    input_len: usize,
    filter_len: usize,
    output_len: usize,
    /// Elements of a patch: rows of the filter as a matrix.
    patch: usize,
    /// Windows of the whole batch: rows of the output as a matrix.
    pixels: usize,
}

impl Geometry {
    fn new(shape: &Conv2dShape) -> Result<Self, ShapeError> {
        let window = shape.window()?;
        let (input, output, filter) = (shape.input, window.output(), shape.filter);
        let patch = element_count(&[filter.height, filter.width, shape.in_channels])?;
        let pixels = element_count(&[shape.batch, output.height, output.width])?;
        Ok(Self {
            batch: shape.batch,
            window,
            in_channels: shape.in_channels,
            out_channels: shape.out_channels,
            input_len: element_count(&[shape.batch, input.height, input.width, shape.in_channels])?,
            filter_len: element_count(&[patch, shape.out_channels])?,
            output_len: element_count(&[pixels, shape.out_channels])?,
            patch,
            pixels,
        })
    }

    /// Patches gathered at a time: few enough for the cache, enough to make up for packing the filter again.
    fn patches_at_a_time(&self) -> usize {
        const ELEMENTS: usize = 256 * 1024;
        const LEAST: usize = 192;
        // However long a patch, the scratch has a bound (or holds one patch).
        const MOST_ELEMENTS: usize = 16 * 1024 * 1024;
        let most = (MOST_ELEMENTS / self.patch.max(1)).max(1);
        (ELEMENTS / self.patch.max(1)).max(LEAST).min(most).min(self.pixels.max(1))
    }

    /// Whether the patches are the pixels of the image, in order.
    fn is_pointwise(&self) -> bool {
        self.window.is_pointwise()
    }

    fn patches<'a, T>(&self, images: &'a [T]) -> Patches<'a, T> {
        Patches { images, window: self.window, channels: self.in_channels }
    }
}
