//! Maximum and average pooling of `NHWC` images, and their gradients.
//!
//! Elements beyond the border never win a maximum; whether an average counts them is a choice. A
//! window that lies wholly beyond the border has the maximum [`Number::LOWEST`] and the average
//! zero.

mod average;
mod max;

use std::ops::Range;

use crate::parallel::Chunks;
use crate::shape::element_count;
use crate::window::{Extent2, Padding, Window};
use crate::{Mean, Number, Reduce, ShapeError};

pub use average::{AvgPool, AvgPoolBackward};
pub use max::{MaxPool, MaxPoolBackward, MaxPoolWithArgmax};

/// The shapes of a pooling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolShape {
    /// Number of images.
    pub batch: usize,
    /// Extent of an image.
    pub input: Extent2,
    /// Channels.
    pub channels: usize,
    /// Extent of the window.
    pub window: Extent2,
    /// Pixels from one window to the next.
    pub strides: Extent2,
    /// What lies beyond the border.
    pub padding: Padding,
}

impl PoolShape {
    /// Returns the extent of an output image.
    pub fn output(&self) -> Result<Extent2, ShapeError> {
        Ok(self.plan()?.output())
    }

    fn plan(&self) -> Result<Window, ShapeError> {
        Window::new(self.input, self.window, self.strides, Extent2::new(1, 1), self.padding)
    }
}

/// Returns the mean of each channel of each image of `pixels` pixels: global average pooling,
/// `NHWC` to `NC`.
pub fn global_avg_pool<T: Number>(
    batch: usize,
    pixels: usize,
    channels: usize,
) -> Result<Reduce<T, Mean>, ShapeError> {
    Reduce::new(&[batch, pixels, channels], &[1])
}

/// What all poolings share.
#[derive(Debug, Clone)]
struct Frame {
    window: Window,
    channels: usize,
    input_len: usize,
    output_len: usize,
    /// Elements of one input image.
    image_len: usize,
    /// Elements of one output image.
    pooled_len: usize,
    /// The outputs, in rows of an output image.
    output_rows: Chunks,
    /// The inputs, image by image.
    images: Chunks,
}

impl Frame {
    fn new(shape: &PoolShape) -> Result<Self, ShapeError> {
        let window = shape.plan()?;
        let (input, output) = (shape.input, window.output());
        let rows = element_count(&[shape.batch, output.height])?;
        let row_len = element_count(&[output.width, shape.channels])?;
        let image_len = element_count(&[input.height, input.width, shape.channels])?;
        let taps = element_count(&[shape.window.height, shape.window.width])?;
        Ok(Self {
            window,
            channels: shape.channels,
            input_len: element_count(&[shape.batch, image_len])?,
            output_len: element_count(&[rows, row_len])?,
            image_len,
            pooled_len: element_count(&[output.height, row_len])?,
            output_rows: Chunks::new(rows, row_len, row_len.saturating_mul(taps))?,
            images: Chunks::new(shape.batch, image_len, image_len)?,
        })
    }

    /// Elements of a line of the images.
    fn line_len(&self) -> usize {
        self.window.x.input * self.channels
    }

    /// For each pixel of a row of the output, the columns of the images under its window.
    fn pixels(&self) -> Vec<Range<usize>> {
        let x = self.window.x;
        let columns = |out_x| {
            let taps = x.taps(out_x);
            let first = x.position(out_x, taps.start).unwrap_or(0);
            first..first + taps.len()
        };
        (0..x.output).map(columns).collect()
    }

    /// The first elements of the images' lines under the windows of a row of the output.
    fn lines(&self, row: usize) -> impl ExactSizeIterator<Item = usize> {
        let (y, len) = (self.window.y, self.line_len());
        let (image, out_y) = (row / y.output, row % y.output);
        let taps = y.taps(out_y);
        let first = y.position(out_y, taps.start).unwrap_or(0);
        let start = image * self.image_len + first * len;
        (0..taps.len()).map(move |line| start + line * len)
    }

    /// Calls `f` for each output pixel of the rows `rows`, with where it begins among those rows,
    /// the first element of its image, and its window's corner and extent inside the image.
    fn each_window(&self, rows: Range<usize>, mut f: impl FnMut(usize, Taps)) {
        let Window { y, x } = self.window;
        for (number, row) in rows.enumerate() {
            let (image, out_y) = (row / y.output, row % y.output);
            for out_x in 0..x.output {
                f((number * x.output + out_x) * self.channels, self.taps(image, out_y, out_x));
            }
        }
    }

    fn taps(&self, image: usize, out_y: usize, out_x: usize) -> Taps {
        let Window { y, x } = self.window;
        let (rows, cols) = (y.taps(out_y), x.taps(out_x));
        let corner = |axis: crate::window::Axis, out: usize, tap: usize| axis.position(out, tap).unwrap_or(0);
        Taps {
            image: image * self.image_len,
            corner: (corner(y, out_y, rows.start) * x.input + corner(x, out_x, cols.start)) * self.channels,
            rows: rows.len(),
            cols: cols.len(),
            row_len: x.input * self.channels,
        }
    }
}

/// The part of one window that lies inside its image.
#[derive(Debug, Clone, Copy)]
struct Taps {
    /// The image's first element.
    image: usize,
    /// The window's first element, counted from the image's.
    corner: usize,
    rows: usize,
    cols: usize,
    /// Elements of a row of the image.
    row_len: usize,
}

impl Taps {
    /// Positions of the window's pixels within the image, in order.
    fn positions(self, channels: usize) -> impl Iterator<Item = usize> {
        (0..self.rows).flat_map(move |row| {
            (0..self.cols).map(move |col| self.corner + row * self.row_len + col * channels)
        })
    }

    fn count(self) -> usize {
        self.rows * self.cols
    }
}
