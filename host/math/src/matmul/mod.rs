//! Matrix products: `C = activation(alpha · A · B + beta · C + bias + residual)`, also strided and
//! batched.

mod element;
mod few_rows;
mod kernel;
mod prepared;
mod small;
mod tiling;

use crate::error::check_len;
use crate::tile::Grid;
use crate::{BlockOp, Number, ShapeError, TileMut};

pub use element::MatMulElement;
pub(crate) use kernel::{FEW_ROWS, Gemm, Matrix};
pub use prepared::PreparedMatrix;
pub use small::small_matmul;
use tiling::choose_long_tiles;
pub(crate) use tiling::choose_tiles;

/// What is applied to each element of a result before it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activation {
    /// Nothing.
    #[default]
    None,
    /// [`relu`](crate::ops::relu).
    Relu,
}

/// The layout of a batch of matrices in a slice, in elements. To transpose a matrix, exchange its
/// two strides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// From one row to the next.
    pub row_stride: usize,
    /// From one column to the next.
    pub col_stride: usize,
    /// From one matrix of the batch to the next; zero uses the same matrix throughout.
    pub batch_stride: usize,
}

impl Layout {
    /// Dense row-major `rows` × `cols` matrices one after the other.
    pub fn row_major(rows: usize, cols: usize) -> Self {
        Self { row_stride: cols, col_stride: 1, batch_stride: rows.saturating_mul(cols) }
    }

    /// `rows` × `cols` matrices that are stored as dense row-major `cols` × `rows` ones.
    pub fn transposed(rows: usize, cols: usize) -> Self {
        Self { row_stride: 1, col_stride: rows, batch_stride: rows.saturating_mul(cols) }
    }

    /// Returns the number of elements from the first to the last that `batch` matrices of this
    /// extent use.
    pub(crate) fn span(&self, batch: usize, rows: usize, cols: usize) -> Result<usize, ShapeError> {
        if batch == 0 || rows == 0 || cols == 0 {
            return Ok(0);
        }
        let last = [(batch, self.batch_stride), (rows, self.row_stride), (cols, self.col_stride)]
            .iter()
            .try_fold(0usize, |sum, &(extent, stride)| sum.checked_add((extent - 1).checked_mul(stride)?));
        last.and_then(|last| last.checked_add(1)).ok_or(ShapeError::TooLarge)
    }

    /// Returns whether one matrix of this extent fits into `len` elements.
    fn fits(&self, rows: usize, cols: usize, len: usize) -> bool {
        self.span(1, rows, cols).is_ok_and(|span| span <= len)
    }
}

/// A product of an `m` × `k` by a `k` × `n` matrix, for each of a batch.
///
/// Products of `f16` and `bf16` are accumulated in `f32` and rounded once; integer products wrap.
#[derive(Debug, Clone)]
pub struct MatMul<T> {
    k: usize,
    alpha: T,
    beta: T,
    a: Layout,
    b: Layout,
    spans: [usize; 2],
    grid: Grid,
    activation: Activation,
    workers: usize,
}

/// The operands of [`MatMul`]. Their slices may be longer than the layouts need.
#[derive(Debug, Clone, Copy)]
pub struct MatMulInput<'a, T> {
    /// The left matrices.
    pub a: &'a [T],
    /// The right matrices.
    pub b: &'a [T],
    /// `n` elements added to each row, if any.
    pub bias: Option<&'a [T]>,
    /// Added to the result element by element, if present. It has the layout of the output.
    pub residual: Option<&'a [T]>,
}

impl<'a, T> MatMulInput<'a, T> {
    /// Creates the operands without bias and residual.
    pub fn new(a: &'a [T], b: &'a [T]) -> Self {
        Self { a, b, bias: None, residual: None }
    }
}

impl<T: MatMulElement> MatMul<T> {
    /// Plans `C = A · B` for dense row-major matrices and about `workers` threads at a time.
    pub fn new(m: usize, k: usize, n: usize, workers: usize) -> Result<Self, ShapeError> {
        let batch_stride = m.checked_mul(n).ok_or(ShapeError::TooLarge)?;
        let grid = Grid { batch_stride, ..Grid::whole(m, n) };
        let plan = Self {
            k,
            alpha: T::ONE,
            beta: T::ZERO,
            a: Layout::row_major(m, k),
            b: Layout::row_major(k, n),
            spans: [0; 2],
            grid,
            activation: Activation::None,
            workers,
        };
        plan.replan()
    }

    /// Sets the factors of the product and of the previous contents of C, which are not read if
    /// `beta` is zero.
    #[must_use]
    pub fn scaled(mut self, alpha: T, beta: T) -> Self {
        (self.alpha, self.beta) = (alpha, beta);
        self
    }

    /// Applies an activation last.
    #[must_use]
    pub fn activated(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// Multiplies `batch` pairs of matrices. Call it before or after the layouts are set.
    pub fn batched(mut self, batch: usize) -> Result<Self, ShapeError> {
        self.grid.batch = batch;
        self.replan()
    }

    /// Sets the layouts of the operands.
    pub fn operands(mut self, a: Layout, b: Layout) -> Result<Self, ShapeError> {
        (self.a, self.b) = (a, b);
        self.replan()
    }

    /// Sets the distance, in elements, between rows and between matrices of C, whose columns are
    /// adjacent.
    pub fn output(mut self, row_stride: usize, batch_stride: usize) -> Result<Self, ShapeError> {
        (self.grid.row_stride, self.grid.batch_stride) = (row_stride, batch_stride);
        self.replan()
    }

    fn replan(mut self) -> Result<Self, ShapeError> {
        let Grid { batch, rows, cols, .. } = self.grid;
        self.spans = [self.a.span(batch, rows, self.k)?, self.b.span(batch, self.k, cols)?];
        (self.grid.tile_rows, self.grid.tile_cols) = if rows <= FEW_ROWS && self.b.col_stride == 1 {
            choose_long_tiles(batch, [rows, self.k, cols], self.workers)
        } else {
            choose_tiles(batch, rows, self.k, cols, self.workers)
        };
        self.grid.len()?;
        Ok(self)
    }

    fn check_operands(&self, input: &MatMulInput<'_, T>) -> Result<(), ShapeError> {
        let spans =
            [("left matrix", self.spans[0], input.a.len()), ("right matrix", self.spans[1], input.b.len())];
        for (operand, expected, actual) in spans {
            if actual < expected {
                return Err(ShapeError::Length { operand, expected, actual });
            }
        }
        if let Some(bias) = input.bias {
            check_len("bias", self.grid.cols, bias.len())?;
        }
        if let Some(residual) = input.residual
            && residual.len() < self.grid.len()?
        {
            return Err(ShapeError::Length {
                operand: "residual",
                expected: self.grid.len()?,
                actual: residual.len(),
            });
        }
        Ok(())
    }
}

impl<T: MatMulElement> BlockOp for MatMul<T> {
    type Input<'a> = MatMulInput<'a, T>;
    type Output<'a> = &'a mut [T];
    type Piece<'a> = TileMut<'a, T>;

    fn block_count(&self) -> usize {
        self.grid.tile_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        TileMut::grid(output, &self.grid)
    }

    fn run_in_turn(&self, input: Self::Input<'_>, output: Self::Output<'_>) -> Result<(), ShapeError> {
        // Avoids a list of the tiles, because most products have one tile.
        TileMut::tiles(output, &self.grid)?
            .enumerate()
            .try_for_each(|(block, tile)| self.run_block(block, input, tile?))
    }

    fn run_block(
        &self,
        block: usize,
        input: MatMulInput<'_, T>,
        mut piece: TileMut<'_, T>,
    ) -> Result<(), ShapeError> {
        let at = self.grid.tile(block)?;
        piece.check(&at)?;
        self.check_operands(&input)?;
        // Operands without elements may have any strides. Those with elements have been checked.
        let start = |batch: usize, stride: usize, at: usize| batch.saturating_add(stride.saturating_mul(at));
        let a_start = start(at.batch.saturating_mul(self.a.batch_stride), self.a.row_stride, at.row);
        let b_start = start(at.batch.saturating_mul(self.b.batch_stride), self.b.col_stride, at.col);
        let gemm = Gemm {
            // The algorithm depends on the whole matrix, so that the result does not depend on the
            // cut.
            few_rows: self.grid.rows <= FEW_ROWS,
            k: self.k,
            alpha: self.alpha,
            beta: self.beta,
            a: Matrix::new(input.a, a_start, self.a.row_stride, self.a.col_stride),
            b: Matrix::new(input.b, b_start, self.b.row_stride, self.b.col_stride),
        };
        gemm.run(&mut piece)?;
        let epilogue = Epilogue {
            bias: input.bias.map(|bias| &bias[at.col..at.col + at.cols]),
            residual: input.residual.map(|r| {
                (
                    &r[at.batch * self.grid.batch_stride + at.row * self.grid.row_stride + at.col..],
                    self.grid.row_stride,
                )
            }),
            activation: self.activation,
        };
        epilogue.apply(&mut piece);
        Ok(())
    }
}

/// The operations on a tile of a product while it is still in the cache.
pub(crate) struct Epilogue<'a, T> {
    /// One element for each column of the tile.
    pub(crate) bias: Option<&'a [T]>,
    /// The residual from the tile's first element on, and the distance between its rows.
    pub(crate) residual: Option<(&'a [T], usize)>,
    pub(crate) activation: Activation,
}

impl<T: Number> Epilogue<'_, T> {
    pub(crate) fn apply(&self, tile: &mut TileMut<'_, T>) {
        if self.bias.is_none() && self.residual.is_none() && self.activation == Activation::None {
            return;
        }
        for row in 0..tile.rows() {
            let out = tile.row_mut(row);
            crate::simd::vectorize(|| {
                if let Some(bias) = self.bias {
                    out.iter_mut().zip(bias).for_each(|(o, &b)| *o = o.plus(b));
                }
                if let Some((residual, stride)) = self.residual {
                    out.iter_mut().zip(&residual[row * stride..]).for_each(|(o, &r)| *o = o.plus(r));
                }
                if self.activation == Activation::Relu {
                    out.iter_mut().for_each(|o| *o = crate::ops::relu(*o));
                }
            });
        }
    }
}
