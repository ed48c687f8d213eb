//! The gradient of a convolution with respect to its images.

use std::marker::PhantomData;
use std::ops::Range;

use super::patches::{Pixel, scatter_row};
use super::{Conv2dShape, Geometry};
use crate::error::check_len;
use crate::matmul::{Gemm, Matrix};
use crate::parallel::Chunks;
use crate::tile::Grid;
use crate::{BlockOp, MatMulElement, ShapeError, TileMut};

/// `dx` from the output's gradient `dy` and the filter: each row of `dy · filterᵀ` is the gradient of a patch, and
/// patches are added up where they overlap.
///
/// A block owns a band of image rows and computes the patches that touch it, so that bands overlap in work, not in output.
#[derive(Debug, Clone)]
pub struct ConvBackwardInput<T> {
    geometry: Geometry,
    chunks: Chunks,
    element: PhantomData<fn(T) -> T>,
}

impl<T: MatMulElement> ConvBackwardInput<T> {
    /// Plans the gradient of the convolution of this shape, to be run by about `workers` threads at a time.
    pub fn new(shape: &Conv2dShape, workers: usize) -> Result<Self, ShapeError> {
        let geometry = Geometry::new(shape)?;
        let rows = geometry.batch.checked_mul(shape.input.height).ok_or(ShapeError::TooLarge)?;
        let row_len = shape.input.width.checked_mul(shape.in_channels).ok_or(ShapeError::TooLarge)?;
        let each = rows.div_ceil(if workers > 1 { workers.saturating_mul(3) } else { 1 });
        // Lower bands than this would mostly compute patches of their neighbours.
        let least = (shape.filter.height - 1).saturating_mul(shape.dilations.height).saturating_mul(3).max(1);
        let height = shape.input.height.max(1);
        let band = if each >= height { each.next_multiple_of(height) } else { each.max(least).min(height) };
        Ok(Self {
            geometry,
            chunks: Chunks::with_units_per_block(rows, row_len, band)?,
            element: PhantomData,
        })
    }

    /// Computes the rows `band` of one image.
    fn band(
        &self,
        image: usize,
        band: &Range<usize>,
        operands: (&[T], &[T]),
        out: &mut [T],
    ) -> Result<(), ShapeError> {
        let (dy, filter) = operands;
        let (g, window) = (&self.geometry, &self.geometry.window);
        out.fill(T::ZERO);
        if g.out_channels == 0 {
            return Ok(());
        }
        let width = window.x.output;
        let touching = window.y.outputs_over(band);
        let pixels = (image * window.y.output + touching.start) * width
            ..(image * window.y.output + touching.end) * width;
        let at_a_time = g.patches_at_a_time().min(pixels.len().max(1));
        let mut scratch = vec![T::ZERO; at_a_time * g.patch];
        for first in pixels.clone().step_by(at_a_time) {
            let rows = at_a_time.min(pixels.end - first);
            self.patch_gradients(dy, filter, first..first + rows, &mut scratch[..rows * g.patch])?;
            let mut pixel = Pixel::new(window, first);
            for patch in scratch.chunks_exact(g.patch).take(rows) {
                scatter_row(window, g.in_channels, pixel, patch, band, out);
                pixel = pixel.next(window);
            }
        }
        Ok(())
    }

    /// `dy · filterᵀ` for some windows.
    fn patch_gradients(
        &self,
        dy: &[T],
        filter: &[T],
        pixels: Range<usize>,
        out: &mut [T],
    ) -> Result<(), ShapeError> {
        let (patch, channels) = (self.geometry.patch, self.geometry.out_channels);
        let gemm = Gemm {
            few_rows: false,
            k: channels,
            alpha: T::ONE,
            beta: T::ZERO,
            a: Matrix::new(dy, pixels.start * channels, channels, 1),
            b: Matrix::new(filter, 0, 1, channels),
        };
        let grid = Grid::whole(pixels.len(), patch);
        TileMut::grid(out, &grid)?.iter_mut().try_for_each(|tile| gemm.run(tile))
    }
}

impl<T: MatMulElement> BlockOp for ConvBackwardInput<T> {
    /// The output's gradient (`NHWC`), then the filter (`HWIO`).
    type Input<'a> = (&'a [T], &'a [T]);
    type Output<'a> = &'a mut [T];
    type Piece<'a> = &'a mut [T];

    fn block_count(&self) -> usize {
        self.chunks.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.chunks.split(output)
    }

    fn run_block(
        &self,
        block: usize,
        (dy, filter): (&[T], &[T]),
        mut piece: &mut [T],
    ) -> Result<(), ShapeError> {
        let mut rows = self.chunks.units_of(block, piece.len())?;
        let g = &self.geometry;
        check_len("output gradient", g.output_len, dy.len())?;
        check_len("filter", g.filter_len, filter.len())?;
        if g.is_pointwise() {
            let width = g.window.x.input;
            return self.patch_gradients(dy, filter, rows.start * width..rows.end * width, piece);
        }
        let (height, row_len) = (g.window.y.input, g.window.x.input * g.in_channels);
        while !rows.is_empty() {
            let (image, start) = (rows.start / height, rows.start % height);
            let band = start..height.min(start + rows.len());
            let (out, rest) = piece.split_at_mut(band.len() * row_len);
            self.band(image, &band, (dy, filter), out)?;
            rows.start += band.len();
            piece = rest;
        }
        Ok(())
    }
}
