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

/// The least size, in the type that is computed in, from which on a filter is kept in 16 bits if its
/// elements are exact there. Smaller ones stay in the second-level cache.
const LEAST_HALVED_BYTES: usize = 256 * 1024;

impl<T: ConvElement> PackedFilter<T> {
    /// Lays out a filter for convolutions in one group, whatever their images: rows, columns, input
    /// channels, output channels, and its elements (`HWIO`). For groups there is
    /// [`Conv2d::pack_filter`](crate::Conv2d::pack_filter).
    ///
    /// Such a filter is meant to be kept: of a 3 × 3 filter of some size there is a second layout,
    /// by which convolutions with strides of 1 take 16 products where they would take 36, and round
    /// otherwise (minimal filtering, F(2 × 2, 3 × 3)). A large filter whose elements are numbers of 16
    /// bits, though their type may have more, is kept in 16 bits. Its convolutions have the same
    /// results, and read half as much.
    pub fn new(extents: [usize; 4], filter: &[T]) -> Result<Self, ShapeError> {
        check_len("filter", element_count(&extents)?, filter.len())?;
        let depth = element_count(&extents[..3])?;
        let packed = match Self::in_halves([depth, extents[3]], filter, false)? {
            Some(packed) => packed,
            None => Self::in_groups(depth, (extents[2], extents[3]), 1, filter)?,
        };
        Ok(Self { minimal: MinimalFilter::new(extents, filter)?, ..packed })
    }

    /// Lays out a filter of one pixel in 16 bits. Returns `None` if [`new`](Self::new) would not keep the
    /// filter in 16 bits.
    ///
    /// `depth` is the number of input channels and `cols` the number of output channels. The filter is
    /// `depth` × `cols`, or `cols` × `depth` if it is transposed.
    ///
    /// # Errors
    /// Length if the filter does not have `depth` · `cols` elements; TooLarge.
    pub fn in_halves(
        [depth, cols]: [usize; 2],
        filter: &[T],
        is_transposed: bool,
    ) -> Result<Option<Self>, ShapeError> {
        check_len("filter", element_count(&[depth, cols])?, filter.len())?;
        if cols <= 1 || filter.len().saturating_mul(size_of::<T::Work>()) < LEAST_HALVED_BYTES {
            return Ok(None);
        }
        let Some(halves) = T::halves(filter) else { return Ok(None) };
        let (row_stride, col_stride) = if is_transposed { (1, depth) } else { (cols, 1) };
        let source = PackedSource { data: &halves.bits, runs: &[0], run_len: depth, row_stride, col_stride };
        let layout = Layout::Groups(vec![Packed::pack_halves(&source, cols, halves.format)?]);
        Ok(Some(Self { layout, minimal: None, is_finite: Self::is_finite(filter) }))
    }

    /// Returns whether the products of zeros by all elements are zeros.
    fn is_finite(filter: &[T]) -> bool {
        let zero = T::Work::ZERO;
        filter.iter().all(|weight| weight.widen().times(zero) == zero)
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
        Ok(Self { layout, minimal: None, is_finite: Self::is_finite(filter) })
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

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;
    use crate::{Activation, BlockOp, Conv2d, Conv2dInput, Conv2dShape, Extent2, Padding, Serial};

    /// Returns the product of some rows by a matrix, by way of a layout.
    fn product(rows: usize, [depth, cols]: [usize; 2], filter: &PackedFilter<f32>) -> Vec<f32> {
        let one = Extent2::new(1, 1);
        let shape = Conv2dShape::new((1, Extent2::new(rows, 1), depth), (one, cols), Padding::Valid);
        let plan = Conv2d::<f32>::for_kept_filters(&shape, Activation::Relu, 1).unwrap();
        let left: Vec<f32> = (0..rows * depth).map(|i| ((i * 7) % 23) as f32 * 0.3 - 3.0).collect();
        let bias: Vec<f32> = (0..cols).map(|i| i as f32 * 0.1).collect();
        let mut out = vec![f32::NAN; rows * cols];
        let input = Conv2dInput { bias: Some(&bias), ..Conv2dInput::new(&left, filter) };
        plan.run(&Serial, input, &mut out).unwrap();
        out
    }

    #[test]
    fn matrices_in_16_bits_have_the_same_products() {
        for [depth, cols] in [[600, 128], [300, 250], [37, 3000], [40_000, 2]] {
            let weight = |i: usize| ((i * 37) % 101) as f32 / 32.0 - 1.5;
            let to_f16 = |i| f16::from_f32(weight(i) / 100.0).to_f32();
            let to_bf16 = |i| bf16::from_f32(weight(i) * 1e9).to_f32();
            for weights in
                [(0..depth * cols).map(to_f16).collect::<Vec<_>>(), (0..depth * cols).map(to_bf16).collect()]
            {
                let halved = PackedFilter::in_halves([depth, cols], &weights, false).unwrap().unwrap();
                let turned: Vec<f32> =
                    (0..depth * cols).map(|i| weights[i % depth * cols + i / depth]).collect();
                let transposed = PackedFilter::in_halves([depth, cols], &turned, true).unwrap().unwrap();
                let wide = PackedFilter::in_groups(depth, (depth, cols), 1, &weights).unwrap();
                for rows in [1, 2, 5, 6, 7, 13, 150] {
                    let expected = product(rows, [depth, cols], &wide);
                    for filter in [&halved, &transposed] {
                        let found = product(rows, [depth, cols], filter);
                        assert!(found == expected, "{rows} × {depth} × {cols}");
                    }
                }
            }
        }
    }

    #[test]
    fn other_matrices_stay_wide() {
        let in_halves = |extents: [usize; 2], weights: &[f32]| {
            PackedFilter::in_halves(extents, weights, false).map(|filter| filter.is_some())
        };
        let mut weights = vec![0.5; 512 * 512];
        assert_eq!(in_halves([512, 512], &weights), Ok(true));
        assert_eq!(in_halves([512 * 512, 1], &weights), Ok(false));
        assert_eq!(in_halves([16, 16], &weights[..256]), Ok(false));
        assert!(in_halves([512, 511], &weights).is_err());
        weights[200_000] = 0.1;
        assert_eq!(in_halves([512, 512], &weights), Ok(false));
    }
}
