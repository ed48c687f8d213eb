//! Filters in the order in which convolutions read them.

use super::{ConvElement, Geometry};
use crate::ShapeError;
use crate::error::check_len;
use crate::micro::{Packed, PackedSource};
use crate::shape::element_count;

/// A filter laid out for [`Conv2d`](crate::Conv2d), in the type that is computed in. It is made for one processor: its
/// layout depends on the length of the vectors.
#[derive(Debug, Clone)]
pub struct PackedFilter<T: ConvElement> {
    /// For each group a matrix: a row for each tap and input channel, a column for each output channel.
    pub(super) groups: Vec<Packed<T::Work>>,
}

impl<T: ConvElement> PackedFilter<T> {
    /// Lays out a filter for convolutions in one group, whatever their images: rows, columns, input channels, output
    /// channels, and its elements (`HWIO`). For groups there is [`Conv2d::pack_filter`](crate::Conv2d::pack_filter).
    pub fn new(extents: [usize; 4], filter: &[T]) -> Result<Self, ShapeError> {
        check_len("filter", element_count(&extents)?, filter.len())?;
        Self::in_groups(element_count(&extents[..3])?, extents[3], 1, filter)
    }

    pub(super) fn forward(g: &Geometry, filter: &[T]) -> Result<Self, ShapeError> {
        check_len("filter", g.filter_len, filter.len())?;
        Self::in_groups(g.depth, g.out_channels, g.groups, filter)
    }

    fn in_groups(depth: usize, out_channels: usize, groups: usize, filter: &[T]) -> Result<Self, ShapeError> {
        let cols = out_channels / groups;
        let pack = |group: usize| {
            if depth == 0 {
                return Packed::zeros(0, cols);
            }
            let runs = &[group * cols];
            let source =
                PackedSource { data: filter, runs, run_len: depth, row_stride: out_channels, col_stride: 1 };
            Packed::pack(&source, cols, T::widen)
        };
        Ok(Self { groups: (0..groups).map(pack).collect::<Result<_, _>>()? })
    }

    /// Whether this is a filter of the convolution's shape.
    pub(super) fn check(&self, g: &Geometry) -> Result<(), ShapeError> {
        check_len("groups of the packed filter", g.groups, self.groups.len())?;
        for group in &self.groups {
            check_len("rows of the packed filter", g.depth, group.depth())?;
            check_len("columns of the packed filter", g.out_channels / g.groups, group.cols())?;
        }
        Ok(())
    }
}
