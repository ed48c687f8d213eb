//! The gradient of a convolution with respect to its filter.

use std::marker::PhantomData;

use super::{Conv2dShape, Geometry};
use crate::error::check_len;
use crate::matmul::{Gemm, Matrix, choose_tiles};
use crate::tile::Grid;
use crate::{BlockOp, MatMulElement, ShapeError, TileMut};

/// `dfilter = patchesᵀ · dy`: a block owns some rows and columns of the filter as a matrix and goes through all windows.
#[derive(Debug, Clone)]
pub struct ConvBackwardFilter<T> {
    geometry: Geometry,
    grid: Grid,
    element: PhantomData<fn(T) -> T>,
}

impl<T: MatMulElement> ConvBackwardFilter<T> {
    /// Plans the gradient of the convolution of this shape, to be run by about `workers` threads at a time.
    pub fn new(shape: &Conv2dShape, workers: usize) -> Result<Self, ShapeError> {
        let geometry = Geometry::new(shape)?;
        let (rows, cols) = (geometry.patch, geometry.out_channels);
        let (tile_rows, tile_cols) = choose_tiles(1, rows, geometry.pixels, cols, workers);
        let grid = Grid { tile_rows, tile_cols, ..Grid::whole(rows, cols) };
        Ok(Self { geometry, grid, element: PhantomData })
    }
}

impl<T: MatMulElement> BlockOp for ConvBackwardFilter<T> {
    /// The images (`NHWC`), then the output's gradient (`NHWC`).
    type Input<'a> = (&'a [T], &'a [T]);
    type Output<'a> = &'a mut [T];
    type Piece<'a> = TileMut<'a, T>;

    fn block_count(&self) -> usize {
        self.grid.tile_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        check_len("output", self.geometry.filter_len, output.len())?;
        TileMut::grid(output, &self.grid)
    }

    fn run_block(
        &self,
        block: usize,
        (x, dy): (&[T], &[T]),
        mut piece: TileMut<'_, T>,
    ) -> Result<(), ShapeError> {
        let at = self.grid.tile(block)?;
        piece.check(&at)?;
        let g = &self.geometry;
        check_len("images", g.input_len, x.len())?;
        check_len("output gradient", g.output_len, dy.len())?;
        let patches = g.patches(x);
        let cols = at.row..at.row + at.rows;
        // How many is a matter of the whole convolution, so that sums do not depend on how the filter was cut.
        let at_a_time = g.patches_at_a_time();
        let mut scratch = vec![T::ZERO; if g.is_pointwise() { 0 } else { at_a_time * at.rows }];
        for row in 0..at.rows {
            piece.row_mut(row).fill(T::ZERO);
        }
        for first in (0..g.pixels).step_by(at_a_time) {
            let pixels = first..g.pixels.min(first + at_a_time);
            let count = pixels.len();
            // The transposed patches: a row for each element of the filter.
            let a = if g.is_pointwise() {
                Matrix::new(x, first * g.patch + at.row, 1, g.patch)
            } else {
                patches.gather(pixels, &cols, &mut scratch);
                Matrix::new(&scratch, 0, 1, at.rows)
            };
            let b = Matrix::new(dy, first * g.out_channels + at.col, g.out_channels, 1);
            Gemm { few_rows: false, k: count, alpha: T::ONE, beta: T::ONE, a, b }.run(&mut piece)?;
        }
        Ok(())
    }
}
