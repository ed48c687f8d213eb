//! Filters of convolutions of bytes.

use super::depthwise::Weights;
use super::kernel::GROUP;
use super::{ByteMatrix, Bytes};
use crate::conv::Geometry;
use crate::error::check_len;
use crate::{Conv2dShape, ShapeError};

/// The order of a filter's dimensions: outputs, input channels of a group, rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterOrder {
    /// As ONNX has them.
    Oihw,
    /// As TensorFlow has them.
    Hwio,
}

impl FilterOrder {
    /// Returns the position of an element: its tap, its channel and its output, of as many taps,
    /// channels and outputs.
    fn position(self, [tap, channel, output]: [usize; 3], [taps, channels, outputs]: [usize; 3]) -> usize {
        match self {
            Self::Oihw => (output * channels + channel) * taps + tap,
            Self::Hwio => (tap * channels + channel) * outputs + output,
        }
    }
}

/// Returns the length of a row of taps with all channels of a group, filled up to whole groups.
pub(super) fn line_of(g: &Geometry) -> usize {
    (g.window.x.window * (g.in_channels / g.groups)).next_multiple_of(GROUP)
}

/// A filter in the order in which convolutions of bytes read it.
#[derive(Debug, Clone)]
pub struct ByteFilter {
    pub(super) groups: Groups,
    /// The rows and columns of a window, and the channels of a group.
    extents: [usize; 3],
    /// The zeros as they were given.
    given: Vec<i32>,
    /// The distance of signed bytes from the ones given, and their order.
    source: (i32, FilterOrder),
}

#[derive(Debug, Clone)]
pub(super) enum Groups {
    /// For each group a matrix: a row for each tap and input channel, a column for each output
    /// channel. Behind each row of taps, rows of zeros fill up a multiple of [`GROUP`].
    Matrices(Vec<ByteMatrix>),
    /// Where each group has one channel.
    Depthwise(Weights),
}

impl ByteFilter {
    /// Lays out a filter of a convolution's shape. `zeros` has one integer for all output channels or
    /// one for each.
    ///
    /// # Errors
    /// Length if the filter or its zeros do not have the convolution's extents.
    pub fn new(
        shape: &Conv2dShape,
        (filter, order): (Bytes<'_>, FilterOrder),
        zeros: &[i32],
    ) -> Result<Self, ShapeError> {
        let g = Geometry::new(shape)?;
        check_len("filter", g.filter_len, filter.len())?;
        if zeros.len() != 1 {
            check_len("zeros of the filter", g.out_channels, zeros.len())?;
        }
        let channels = g.in_channels / g.groups;
        let extents = [g.depth.checked_div(channels).unwrap_or(0), channels, g.out_channels];
        let bits = filter.bits();
        let bits = |tap, channel, output| bits[order.position([tap, channel, output], extents)];
        let own = [g.window.y.window, g.window.x.window, channels];
        let groups = if g.is_depthwise() && g.out_channels == g.groups {
            let is_signed = matches!(filter, Bytes::Signed(_));
            Groups::Depthwise(Weights::new(&g, |tap, output| bits(tap, 0, output), is_signed, zeros))
        } else {
            let cols = g.out_channels / g.groups;
            let (run, line) = (own[1] * channels, line_of(&g));
            let pack = |group: usize| {
                let at = |row: usize, col: usize| {
                    let (tap_y, at) = (row / line, row % line);
                    let tap = || tap_y * own[1] + at / channels;
                    (at < run).then(|| bits(tap(), at % channels, group * cols + col))
                };
                let zeros = if zeros.len() == 1 { zeros } else { &zeros[group * cols..][..cols] };
                ByteMatrix::from_bits((own[0] * line, g.depth, cols), at, filter.as_signed(), zeros)
            };
            Groups::Matrices((0..g.groups).map(pack).collect::<Result<_, _>>()?)
        };
        let source = (filter.as_signed().1, order);
        Ok(Self { groups, extents: own, given: zeros.to_vec(), source })
    }

    /// Returns whether this is a filter of a convolution's shape.
    pub(super) fn check(&self, g: &Geometry) -> Result<(), ShapeError> {
        let own = [g.window.y.window, g.window.x.window, g.in_channels / g.groups];
        for (own, given) in own.into_iter().zip(self.extents) {
            check_len("extent of the filter", own, given)?;
        }
        let (groups, cols) = match &self.groups {
            Groups::Matrices(groups) => (groups.len(), groups.first().map_or(0, ByteMatrix::cols)),
            Groups::Depthwise(weights) => (weights.channels, 1),
        };
        check_len("groups of the filter", g.groups, groups)?;
        check_len("columns of the filter", g.out_channels / g.groups, cols)
    }

    /// Returns whether this was laid out for a convolution of this shape, from this kind of bytes in
    /// this order with these zeros.
    pub fn fits(&self, shape: &Conv2dShape, (bytes, order): (Bytes<'_>, FilterOrder), zeros: &[i32]) -> bool {
        let source = (bytes.as_signed().1, order);
        self.source == source
            && self.given == zeros
            && Geometry::new(shape).is_ok_and(|g| self.check(&g).is_ok())
    }
}
