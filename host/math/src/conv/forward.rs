//! The convolution itself.

use std::marker::PhantomData;

use super::{Conv2dShape, Geometry};
use crate::error::check_len;
use crate::matmul::{Epilogue, FEW_ROWS, Gemm, Matrix, choose_tiles};
use crate::tile::Grid;
use crate::{Activation, BlockOp, MatMulElement, ShapeError, TileMut};

/// `y = activation(conv(x, filter) + bias + residual)`.
#[derive(Debug, Clone)]
pub struct Conv2d<T> {
    geometry: Geometry,
    grid: Grid,
    activation: Activation,
    element: PhantomData<fn(T) -> T>,
}

/// The operands of [`Conv2d`].
#[derive(Debug, Clone, Copy)]
pub struct Conv2dInput<'a, T> {
    /// Images, `NHWC`.
    pub x: &'a [T],
    /// The filter, `HWIO`.
    pub filter: &'a [T],
    /// One element for each output channel, if any.
    pub bias: Option<&'a [T]>,
    /// Added to the result element by element, if any; of the output's shape.
    pub residual: Option<&'a [T]>,
}

impl<'a, T> Conv2dInput<'a, T> {
    /// Images and filter alone.
    pub fn new(x: &'a [T], filter: &'a [T]) -> Self {
        Self { x, filter, bias: None, residual: None }
    }
}

impl<T: MatMulElement> Conv2d<T> {
    /// Plans a convolution, to be run by about `workers` threads at a time.
    pub fn new(shape: &Conv2dShape, activation: Activation, workers: usize) -> Result<Self, ShapeError> {
        let geometry = Geometry::new(shape)?;
        let (rows, cols) = (geometry.pixels, geometry.out_channels);
        let (tile_rows, tile_cols) = choose_tiles(1, rows, geometry.patch, cols, workers);
        let grid = Grid { tile_rows, tile_cols, ..Grid::whole(rows, cols) };
        Ok(Self { geometry, grid, activation, element: PhantomData })
    }

    fn check(&self, input: &Conv2dInput<'_, T>) -> Result<(), ShapeError> {
        check_len("images", self.geometry.input_len, input.x.len())?;
        check_len("filter", self.geometry.filter_len, input.filter.len())?;
        if let Some(bias) = input.bias {
            check_len("bias", self.geometry.out_channels, bias.len())?;
        }
        if let Some(residual) = input.residual {
            check_len("residual", self.geometry.output_len, residual.len())?;
        }
        Ok(())
    }
}

impl<T: MatMulElement> BlockOp for Conv2d<T> {
    type Input<'a> = Conv2dInput<'a, T>;
    type Output<'a> = &'a mut [T];
    type Piece<'a> = TileMut<'a, T>;

    fn block_count(&self) -> usize {
        self.grid.tile_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        check_len("output", self.geometry.output_len, output.len())?;
        TileMut::grid(output, &self.grid)
    }

    fn run_block(
        &self,
        block: usize,
        input: Conv2dInput<'_, T>,
        mut piece: TileMut<'_, T>,
    ) -> Result<(), ShapeError> {
        let at = self.grid.tile(block)?;
        piece.check(&at)?;
        self.check(&input)?;
        let (g, cols) = (&self.geometry, self.geometry.out_channels);
        let patches = g.patches(input.x);
        let at_a_time = if g.is_pointwise() { at.rows } else { g.patches_at_a_time().min(at.rows) };
        let mut scratch = vec![T::ZERO; if g.is_pointwise() { 0 } else { at_a_time * g.patch }];
        for first in (0..at.rows).step_by(at_a_time) {
            let rows = at_a_time.min(at.rows - first);
            let pixels = at.row + first..at.row + first + rows;
            let a = if g.is_pointwise() {
                Matrix::new(input.x, pixels.start * g.patch, g.patch, 1)
            } else {
                if g.patch > 0 {
                    patches.gather(pixels.clone(), &(0..g.patch), &mut scratch);
                }
                Matrix::new(&scratch, 0, g.patch, 1)
            };
            let gemm = Gemm {
                few_rows: g.pixels <= FEW_ROWS,
                k: g.patch,
                alpha: T::ONE,
                beta: T::ZERO,
                a,
                b: Matrix::new(input.filter, at.col, cols, 1),
            };
            let mut tile = piece.rows_mut(first, rows)?;
            gemm.run(&mut tile)?;
            let epilogue = Epilogue {
                bias: input.bias.map(|bias| &bias[at.col..at.col + at.cols]),
                residual: input.residual.map(|r| (&r[pixels.start * cols + at.col..], cols)),
                activation: self.activation,
            };
            epilogue.apply(&mut tile);
        }
        Ok(())
    }
}
