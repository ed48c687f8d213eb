//! The geometry of windows that slide over images: output extents, padding, which elements a window
//! covers.

use std::ops::Range;

use crate::ShapeError;

/// A height and a width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extent2 {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl Extent2 {
    /// Creates a height and a width.
    pub const fn new(height: usize, width: usize) -> Self {
        Self { height, width }
    }
}

/// The padding around an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Padding {
    /// No padding: windows lie inside the image.
    Valid,
    /// As much as makes the output `ceil(extent / stride)` long, half of it (rounded down) before.
    Same,
    /// Explicit numbers of rows and columns.
    Explicit {
        /// Rows above.
        top: usize,
        /// Rows below.
        bottom: usize,
        /// Columns to the left.
        left: usize,
        /// Columns to the right.
        right: usize,
    },
}

/// One axis of a sliding window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) input: usize,
    pub(crate) window: usize,
    pub(crate) stride: usize,
    pub(crate) dilation: usize,
    /// Padding before the first element.
    pub(crate) before: usize,
    pub(crate) output: usize,
}

impl Axis {
    fn new(
        input: usize,
        window: usize,
        stride: usize,
        dilation: usize,
        pad: Pad,
    ) -> Result<Self, ShapeError> {
        if window == 0 || stride == 0 || dilation == 0 {
            return Err(ShapeError::Parameter("windows, strides and dilations must be at least 1"));
        }
        let covered =
            (window - 1).checked_mul(dilation).and_then(|n| n.checked_add(1)).ok_or(ShapeError::TooLarge)?;
        let (before, output) = match pad {
            Pad::Same => {
                let output = input.div_ceil(stride);
                let reach = output.saturating_sub(1).checked_mul(stride).and_then(|n| n.checked_add(covered));
                (reach.ok_or(ShapeError::TooLarge)?.saturating_sub(input) / 2, output)
            }
            Pad::Explicit(before, after) => {
                let padded = input
                    .checked_add(before)
                    .and_then(|n| n.checked_add(after))
                    .ok_or(ShapeError::TooLarge)?;
                (before, padded.checked_sub(covered).map_or(0, |room| room / stride + 1))
            }
        };
        // Positions are computed in `isize`.
        let reach =
            output.checked_mul(stride).and_then(|n| n.checked_add(covered)).ok_or(ShapeError::TooLarge)?;
        if isize::try_from(reach).is_err() || isize::try_from(input.max(before)).is_err() {
            return Err(ShapeError::TooLarge);
        }
        Ok(Self { input, window, stride, dilation, before, output })
    }

    /// Returns the position that element `tap` of window `output` falls on, if it is inside the
    /// image.
    pub(crate) fn position(&self, output: usize, tap: usize) -> Option<usize> {
        (output * self.stride + tap * self.dilation).checked_sub(self.before).filter(|&p| p < self.input)
    }

    /// Returns the taps of window `output` that fall inside the image.
    pub(crate) fn taps(&self, output: usize) -> Range<usize> {
        let start = output * self.stride;
        let first = self.before.saturating_sub(start).div_ceil(self.dilation).min(self.window);
        let end = (self.input + self.before).saturating_sub(start).div_ceil(self.dilation).min(self.window);
        first..end.max(first)
    }
}

/// The padding of one axis.
#[derive(Debug, Clone, Copy)]
enum Pad {
    Same,
    Explicit(usize, usize),
}

/// Both axes of a sliding window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) y: Axis,
    pub(crate) x: Axis,
}

impl Window {
    pub(crate) fn new(
        input: Extent2,
        window: Extent2,
        strides: Extent2,
        dilations: Extent2,
        padding: Padding,
    ) -> Result<Self, ShapeError> {
        let (y, x) = match padding {
            Padding::Valid => (Pad::Explicit(0, 0), Pad::Explicit(0, 0)),
            Padding::Same => (Pad::Same, Pad::Same),
            Padding::Explicit { top, bottom, left, right } => {
                (Pad::Explicit(top, bottom), Pad::Explicit(left, right))
            }
        };
        Ok(Self {
            y: Axis::new(input.height, window.height, strides.height, dilations.height, y)?,
            x: Axis::new(input.width, window.width, strides.width, dilations.width, x)?,
        })
    }

    /// Returns the extent of the output.
    pub(crate) fn output(&self) -> Extent2 {
        Extent2::new(self.y.output, self.x.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_follow_tensorflow() {
        for (input, window, stride, dilation, pad, expected) in [
            (5, 3, 1, 1, Pad::Explicit(0, 0), (0, 3)),
            (5, 3, 2, 1, Pad::Same, (1, 3)),
            (6, 3, 2, 1, Pad::Same, (0, 3)),
            (224, 7, 2, 1, Pad::Explicit(3, 3), (3, 112)),
            (7, 3, 1, 2, Pad::Same, (2, 7)),
            (2, 3, 1, 1, Pad::Explicit(0, 0), (0, 0)),
            (0, 3, 1, 1, Pad::Same, (1, 0)),
        ] {
            let axis = Axis::new(input, window, stride, dilation, pad).unwrap();
            assert_eq!((axis.before, axis.output), expected, "{input} {window} {stride} {dilation} {pad:?}");
        }
    }

    #[test]
    fn taps_are_the_positions_inside() {
        for input in 0..7 {
            for (window, stride, dilation, before, after) in
                [(3, 1, 1, 1, 1), (2, 3, 2, 3, 0), (3, 2, 2, 5, 5)]
            {
                let axis = Axis::new(input, window, stride, dilation, Pad::Explicit(before, after)).unwrap();
                for output in 0..axis.output {
                    let inside: Vec<_> =
                        (0..window).filter(|&t| axis.position(output, t).is_some()).collect();
                    assert_eq!(axis.taps(output).collect::<Vec<_>>(), inside);
                }
            }
        }
    }
}
