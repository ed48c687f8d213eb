//! Filters in the order in which convolutions read them.

use super::{ConvElement, Geometry};
use crate::ShapeError;
use crate::error::check_len;
use crate::micro::{Packed, PackedSource};

/// A filter laid out for [`Conv2d`](crate::Conv2d), in the type that is computed in. It is made for one processor: its
/// layout depends on the length of the vectors.
#[derive(Debug, Clone)]
pub struct PackedFilter<T: ConvElement> {
    /// For each group a matrix: a row for each tap and input channel, a column for each output channel.
    pub(super) groups: Vec<Packed<T::Work>>,
}

impl<T: ConvElement> PackedFilter<T> {
    pub(super) fn forward(g: &Geometry, filter: &[T]) -> Result<Self, ShapeError> {
        check_len("filter", g.filter_len, filter.len())?;
        let cols = g.out_channels / g.groups;
        let pack = |group: usize| {
            if g.depth == 0 {
                return Packed::zeros(0, cols);
            }
            let source = PackedSource {
                data: filter,
                runs: &[group * cols],
                run_len: g.depth,
                row_stride: g.out_channels,
                col_stride: 1,
            };
            Packed::pack(&source, cols, T::widen)
        };
        Ok(Self { groups: (0..g.groups).map(pack).collect::<Result<_, _>>()? })
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
