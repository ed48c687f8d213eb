//! One tile of a product, on one thread: the call into the GEMM library, and loops of our own where
//! it does badly.
#![expect(unsafe_code, reason = "the GEMM library takes pointers and strides")]

use super::few_rows::few_rows;
use crate::simd::vectorize;
use crate::tile::Grid;
use crate::{MatMulElement, Number, ShapeError, TileMut};

/// Up to this many rows of A, reading B once is what counts; the library would copy it first.
pub(crate) const FEW_ROWS: usize = 4;

/// A strided matrix that begins at the first element of `data`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrix<'a, T> {
    pub(crate) data: &'a [T],
    pub(crate) row_stride: usize,
    pub(crate) col_stride: usize,
}

impl<'a, T> Matrix<'a, T> {
    /// Returns the matrix that begins at `start`; empty if that lies outside.
    pub(crate) fn new(data: &'a [T], start: usize, row_stride: usize, col_stride: usize) -> Self {
        Self { data: data.get(start..).unwrap_or_default(), row_stride, col_stride }
    }

    fn covers(&self, operand: &'static str, rows: usize, cols: usize) -> Result<(), ShapeError> {
        if rows == 0 || cols == 0 {
            return Ok(());
        }
        let last = (rows - 1)
            .checked_mul(self.row_stride)
            .and_then(|r| (cols - 1).checked_mul(self.col_stride).and_then(|c| r.checked_add(c)))
            .ok_or(ShapeError::TooLarge)?;
        match self.data.len() {
            len if last < len => Ok(()),
            len => Err(ShapeError::Length { operand, expected: last.saturating_add(1), actual: len }),
        }
    }
}

/// `tile = alpha · A · B + beta · tile`, where A has the tile's rows and B its columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gemm<'a, T> {
    /// Use the loops for few rows of A.
    pub(crate) few_rows: bool,
    pub(crate) k: usize,
    pub(crate) alpha: T,
    pub(crate) beta: T,
    pub(crate) a: Matrix<'a, T>,
    pub(crate) b: Matrix<'a, T>,
}

impl<T: MatMulElement> Gemm<'_, T> {
    /// Computes the tile, after checking that the matrices reach far enough.
    pub(crate) fn run(&self, tile: &mut TileMut<'_, T>) -> Result<(), ShapeError> {
        self.a.covers("left matrix", tile.rows(), self.k)?;
        self.b.covers("right matrix", self.k, tile.cols())?;
        if self.k == 0 || self.alpha == T::ZERO {
            scale(self.beta, tile);
            return Ok(());
        }
        T::gemm(self, tile)
    }
}

/// `tile *= beta`, where zero overwrites even NaN.
pub(super) fn scale<T: Number>(beta: T, tile: &mut TileMut<'_, T>) {
    for row in 0..tile.rows() {
        let out = tile.row_mut(row);
        if beta == T::ZERO {
            out.fill(T::ZERO);
        } else if beta != T::ONE {
            out.iter_mut().for_each(|o| *o = o.times(beta));
        }
    }
}

/// The product for any element type and any strides, in its own arithmetic.
pub(crate) fn portable<T: Number>(g: &Gemm<'_, T>, tile: &mut TileMut<'_, T>) {
    scale(g.beta, tile);
    if g.b.col_stride == 1 {
        rows_of_b(g, tile);
    } else {
        dot_products(g, tile);
    }
}

/// Adds multiples of the rows of B, four at a time, to the rows of the tile.
fn rows_of_b<T: Number>(g: &Gemm<'_, T>, tile: &mut TileMut<'_, T>) {
    const STEP: usize = 4;
    let cols = tile.cols();
    let b_row = |p: usize| &g.b.data[p * g.b.row_stride..][..cols];
    for first in (0..g.k).step_by(STEP) {
        let steps = STEP.min(g.k - first);
        for row in 0..tile.rows() {
            let factor = |p: usize| g.alpha.times(g.a.data[row * g.a.row_stride + p * g.a.col_stride]);
            let out = tile.row_mut(row);
            if steps == STEP {
                let f = [0, 1, 2, 3].map(|i| factor(first + i));
                let [b0, b1, b2, b3] = [0, 1, 2, 3].map(|i| b_row(first + i));
                vectorize(|| {
                    for ((((o, &x0), &x1), &x2), &x3) in out.iter_mut().zip(b0).zip(b1).zip(b2).zip(b3) {
                        let sum = o.plus(f[0].times(x0)).plus(f[1].times(x1));
                        *o = sum.plus(f[2].times(x2)).plus(f[3].times(x3));
                    }
                });
            } else {
                for p in first..first + steps {
                    let f = factor(p);
                    out.iter_mut().zip(b_row(p)).for_each(|(o, &x)| *o = o.plus(f.times(x)));
                }
            }
        }
    }
}

/// Each element as the dot product of a row of A and a column of B.
fn dot_products<T: Number>(g: &Gemm<'_, T>, tile: &mut TileMut<'_, T>) {
    for row in 0..tile.rows() {
        let a = &g.a.data[row * g.a.row_stride..];
        for (col, o) in tile.row_mut(row).iter_mut().enumerate() {
            let b = &g.b.data[col * g.b.col_stride..];
            let sum = if g.a.col_stride == 1 && g.b.row_stride == 1 {
                dot(&a[..g.k], &b[..g.k])
            } else {
                let products = (0..g.k).map(|p| a[p * g.a.col_stride].times(b[p * g.b.row_stride]));
                products.fold(T::ZERO, T::plus)
            };
            *o = o.plus(g.alpha.times(sum));
        }
    }
}

/// Returns the dot product of two slices of one length, in sixteen partial sums.
fn dot<T: Number>(a: &[T], b: &[T]) -> T {
    const LANES: usize = 16;
    vectorize(|| {
        let mut sums = [T::ZERO; LANES];
        let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
        let rest = a_chunks.remainder().iter().zip(b_chunks.remainder());
        for (a, b) in a_chunks.zip(b_chunks) {
            for (sum, (&a, &b)) in sums.iter_mut().zip(a.iter().zip(b)) {
                *sum = sum.plus(a.times(b));
            }
        }
        let rest = rest.fold(T::ZERO, |sum, (&a, &b)| sum.plus(a.times(b)));
        sums.into_iter().fold(rest, T::plus)
    })
}

macro_rules! library_gemm {
    ($name:ident, $t:ty, $f:path, $few_rows:expr) => {
        /// The product by the GEMM library.
        pub(crate) fn $name(g: &Gemm<'_, $t>, tile: &mut TileMut<'_, $t>) -> Result<(), ShapeError> {
            let (m, n) = (tile.rows(), tile.cols());
            g.a.covers("left matrix", m, g.k)?;
            g.b.covers("right matrix", g.k, n)?;
            if g.few_rows {
                if !$few_rows(g, tile) {
                    portable(g, tile);
                }
                return Ok(());
            }
            let signed = |stride: usize| isize::try_from(stride).map_err(|_| ShapeError::TooLarge);
            let [rsa, csa] = [signed(g.a.row_stride)?, signed(g.a.col_stride)?];
            let [rsb, csb] = [signed(g.b.row_stride)?, signed(g.b.col_stride)?];
            let rsc = signed(tile.row_stride())?;
            let (a, b, c) = (g.a.data.as_ptr(), g.b.data.as_ptr(), tile.as_mut_ptr());
            // SAFETY: `covers` has just checked that A (m × k) and B (k × n) lie inside their
            // slices under these strides; `c` is an exclusive window of m × n elements with rows
            // `rsc` apart and adjacent columns.
            unsafe { $f(m, g.k, n, g.alpha, a, rsa, csa, b, rsb, csb, g.beta, c, rsc, 1) };
            Ok(())
        }
    };
}

library_gemm!(gemm_f32, f32, matrixmultiply::sgemm, few_rows);
library_gemm!(gemm_f64, f64, matrixmultiply::dgemm, |_: &_, _: &mut TileMut<'_, f64>| false);

/// Returns the product in `f32` of matrices of another type, rounded once at the end.
pub(crate) fn through_f32<T: Number<Acc = f32>>(
    g: &Gemm<'_, T>,
    tile: &mut TileMut<'_, T>,
) -> Result<(), ShapeError> {
    let (m, n) = (tile.rows(), tile.cols());
    let a = widened(&g.a, m, g.k)?;
    let b = widened(&g.b, g.k, n)?;
    let grid = Grid::whole(m, n);
    let mut product = vec![0.0f32; grid.len()?];
    let wide = Gemm {
        few_rows: g.few_rows,
        k: g.k,
        alpha: g.alpha.to_acc(),
        beta: 0.0,
        a: Matrix::new(&a, 0, g.k, 1),
        b: Matrix::new(&b, 0, n, 1),
    };
    for mut whole in TileMut::grid(&mut product, &grid)? {
        gemm_f32(&wide, &mut whole)?;
    }
    let beta = g.beta.to_acc();
    for (row, product) in product.chunks_exact(n.max(1)).enumerate() {
        for (o, &p) in tile.row_mut(row).iter_mut().zip(product) {
            *o = T::from_acc(if beta == 0.0 { p } else { p + beta * o.to_acc() });
        }
    }
    Ok(())
}

/// Returns a dense row-major copy in the accumulator's type.
fn widened<T: Number<Acc = f32>>(
    x: &Matrix<'_, T>,
    rows: usize,
    cols: usize,
) -> Result<Vec<f32>, ShapeError> {
    x.covers("matrix", rows, cols)?;
    let mut wide = Vec::with_capacity(rows.checked_mul(cols).ok_or(ShapeError::TooLarge)?);
    for row in 0..rows {
        wide.extend((0..cols).map(|col| x.data[row * x.row_stride + col * x.col_stride].to_acc()));
    }
    Ok(wide)
}
