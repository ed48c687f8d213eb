//! Filters in the order in which convolutions read them.

use super::minimal::MinimalFilter;
use super::{ConvElement, Geometry};
use crate::error::check_len;
use crate::micro::{Packed, PackedSource};
use crate::shape::element_count;
use crate::{Number, ShapeError};

/// A filter laid out for [`Conv2d`](crate::Conv2d), in the type that is computed in. It is made for
/// one processor: its layout depends on the length of the vectors.
#[derive(Debug, Clone)]
pub struct PackedFilter<T: ConvElement> {
    pub(super) layout: Layout<T::Work>,
    /// For convolutions that can do with fewer products.
    pub(super) minimal: Option<MinimalFilter<T::Work>>,
    /// Whether products of zeros by all of its elements are zeros.
    pub(super) is_finite: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Layout<E> {
    /// For each group a matrix: a row for each tap and input channel, a column for each output
    /// channel.
    Groups(Vec<Packed<E>>),
    /// Where each group has one input channel: a row for each tap, a column for each output
    /// channel.
    Depthwise { groups: usize, taps: usize, weights: Vec<E> },
}

impl<T: ConvElement> PackedFilter<T> {
    /// Lays out a filter for convolutions in one group, whatever their images: rows, columns, input
    /// channels, output channels, and its elements (`HWIO`). For groups there is
    /// [`Conv2d::pack_filter`](crate::Conv2d::pack_filter).
    ///
    /// Such a filter is meant to be kept: of a 3 × 3 filter of some size there is a second layout,
    /// by which convolutions with strides of 1 take 16 products where they would take 36, and round
    /// otherwise (minimal filtering, F(2 × 2, 3 × 3)).
    pub fn new(extents: [usize; 4], filter: &[T]) -> Result<Self, ShapeError> {
        check_len("filter", element_count(&extents)?, filter.len())?;
        let packed = Self::in_groups(element_count(&extents[..3])?, (extents[2], extents[3]), 1, filter)?;
        Ok(Self { minimal: MinimalFilter::new(extents, filter)?, ..packed })
    }

    pub(super) fn forward(g: &Geometry, filter: &[T]) -> Result<Self, ShapeError> {
        check_len("filter", g.filter_len, filter.len())?;
        Self::in_groups(g.depth, (g.in_channels, g.out_channels), g.groups, filter)
    }

    fn in_groups(
        depth: usize,
        (in_channels, out_channels): (usize, usize),
        groups: usize,
        filter: &[T],
    ) -> Result<Self, ShapeError> {
        // Without groups a single channel is as well a matrix of taps.
        if groups > 1 && in_channels == groups {
            let weights = filter.iter().map(|&weight| weight.widen()).collect();
            let layout = Layout::Depthwise { groups, taps: depth, weights };
            return Ok(Self { layout, minimal: None, is_finite: false });
        }
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
        let layout = Layout::Groups((0..groups).map(pack).collect::<Result<_, _>>()?);
        let zero = T::Work::ZERO;
        let is_finite = filter.iter().all(|weight| weight.widen().times(zero) == zero);
        Ok(Self { layout, minimal: None, is_finite })
    }

    /// Returns whether this is a filter of the convolution's shape.
    pub(super) fn check(&self, g: &Geometry) -> Result<(), ShapeError> {
        const GROUPS: &str = "groups of the packed filter";
        match &self.layout {
            Layout::Groups(groups) => {
                check_len(GROUPS, g.groups, groups.len())?;
                for group in groups {
                    check_len("rows of the packed filter", g.depth, group.depth())?;
                    check_len("columns of the packed filter", g.out_channels / g.groups, group.cols())?;
                }
                Ok(())
            }
            Layout::Depthwise { groups, taps, weights } => {
                check_len(GROUPS, g.groups, *groups)?;
                check_len("input channels of the packed filter", g.in_channels, *groups)?;
                check_len("rows of the packed filter", g.depth, *taps)?;
                check_len("weights of the packed filter", g.filter_len, weights.len())
            }
        }
    }
}
