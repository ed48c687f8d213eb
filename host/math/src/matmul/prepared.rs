//! Products by a matrix that is laid out once.
#![expect(unsafe_code, reason = "tiles take pointers")]

use std::ops::Range;

use super::Layout;
use crate::error::check_len;
use crate::micro::{Epilogue, MOST_COLS, Packed, PackedSource, RowProduct};
use crate::tile::{Grid, TileBounds};
use crate::{ConvElement, Number, ParallelFor, Pieces, ShapeError, TileMut};

/// The number of rows that are computed at a time. They and their results fit into the second-level
/// cache.
const CHUNK_ROWS: usize = 144;
/// The number of products that justifies a second thread.
const LEAST_PRODUCTS: usize = 1 << 18;

/// A `depth` × `columns` matrix in the order in which products read it, for matrices that stay the
/// same while many others are multiplied by them. It is computed with in the type that convolutions
/// of `T` are computed in.
#[derive(Debug, Clone)]
pub struct PreparedMatrix<T: ConvElement> {
    packed: Packed<T::Work>,
}

impl<T: ConvElement> PreparedMatrix<T> {
    /// Lays out the matrix of this extent and layout.
    pub fn new(
        (depth, columns): (usize, usize),
        (matrix, layout): (&[T::Work], Layout),
    ) -> Result<Self, ShapeError> {
        let needed = layout.span(1, depth, columns)?;
        if matrix.len() < needed {
            return Err(ShapeError::Length { operand: "matrix", expected: needed, actual: matrix.len() });
        }
        if depth == 0 || columns == 0 {
            return Ok(Self { packed: Packed::zeros(depth, columns)? });
        }
        let source = PackedSource {
            data: matrix,
            runs: &[0],
            run_len: depth,
            row_stride: layout.row_stride,
            col_stride: layout.col_stride,
        };
        Ok(Self { packed: Packed::pack(&source, columns, |x| x)? })
    }

    /// Returns the number of rows of the matrix.
    pub fn depth(&self) -> usize {
        self.packed.depth()
    }

    /// Returns the number of columns of the matrix.
    pub fn columns(&self) -> usize {
        self.packed.cols()
    }

    /// Computes the product of `left`, whose rows have [`depth`](Self::depth) elements, and the
    /// matrix into `out`, whose rows have [`columns`](Self::columns) elements.
    pub fn multiply(
        &self,
        parallel: &dyn ParallelFor,
        left: &[T::Work],
        out: &mut [T::Work],
    ) -> Result<(), ShapeError> {
        let (depth, columns) = (self.depth(), self.columns());
        let Some(rows) = out.len().checked_div(columns) else {
            // Without columns, the product does not tell the number of rows.
            return check_len("product", 0, out.len());
        };
        check_len("product", rows * columns, out.len())?;
        check_len("left matrix", rows * depth, left.len())?;
        if depth == 0 {
            out.fill(T::Work::ZERO);
        }
        if depth == 0 || rows == 0 {
            return Ok(());
        }
        let products = rows.saturating_mul(columns).saturating_mul(depth);
        let parts = if products < LEAST_PRODUCTS { 1 } else { parallel.parallelism() };
        let tile_cols = columns.div_ceil(parts).next_multiple_of(MOST_COLS).min(columns);
        let grid = Grid { tile_rows: CHUNK_ROWS.min(rows), tile_cols, ..Grid::whole(rows, columns) };
        if parts == 1 {
            // Avoids a list of the tiles, because most such products have one tile.
            return TileMut::tiles(out, &grid)?.enumerate().try_for_each(|(block, tile)| {
                self.tile(left, &grid.tile(block)?, &mut tile?);
                Ok(())
            });
        }
        let pieces = Pieces::new(TileMut::grid(out, &grid)?);
        parallel.parallel_for(grid.tile_count(), 1, &|range: Range<usize>| {
            for block in range {
                if let (Ok(at), Some(mut piece)) = (grid.tile(block), pieces.take(block)) {
                    self.tile(left, &at, &mut piece);
                }
            }
        });
        Ok(())
    }

    /// Computes the part `at` of the product.
    fn tile(&self, left: &[T::Work], at: &TileBounds, piece: &mut TileMut<'_, T::Work>) {
        let (depth, stride) = (self.depth(), piece.row_stride());
        let left = &left[at.row * depth..][..at.rows * depth];
        let (one, lists);
        let (pointers, offsets): (&[*const T::Work], &[usize]) = if at.rows == 1 {
            // For a step of a recurrent layer, requesting lists would take as long as the product.
            one = [left.as_ptr()];
            (&one, &[0])
        } else {
            let pointers = left.chunks_exact(depth).map(<[_]>::as_ptr);
            lists = (pointers.collect::<Vec<_>>(), (0..at.rows).map(|row| row * stride).collect::<Vec<_>>());
            (&lists.0, &lists.1)
        };
        let product = RowProduct {
            pointers,
            run_len: depth,
            nothing: std::ptr::null(),
            packed: &self.packed,
            panels: self.packed.panels_over(at.col..at.col + at.cols),
            out: piece.as_mut_ptr(),
            offsets,
            residual: std::ptr::null(),
            next: None,
            epilogue: Epilogue { bias: None, relu: false },
        };
        // SAFETY: each pointer refers to a row of `depth` elements. The piece is an exclusive
        // window of these rows and of the columns of the panels, with rows `stride` apart.
        unsafe { product.run() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Serial;

    #[test]
    fn products_are_those_of_the_definition() {
        for (rows, depth, columns) in
            [(1, 7, 5), (3, 170, 130), (150, 5, 70), (0, 4, 4), (2, 0, 3), (2, 3, 0)]
        {
            let number = |i: usize| ((i * 37) % 11) as f64 - 5.0;
            let left: Vec<f64> = (0..rows * depth).map(number).collect();
            let right: Vec<f64> = (0..depth * columns).map(number).collect();
            let layout = Layout::transposed(depth, columns);
            let matrix = PreparedMatrix::<f64>::new((depth, columns), (&right, layout)).unwrap();
            let mut out = vec![1.0; rows * columns];
            matrix.multiply(&Serial, &left, &mut out).unwrap();
            for (i, &out) in out.iter().enumerate() {
                let (row, col) = (i / columns, i % columns);
                let sum: f64 = (0..depth).map(|k| left[row * depth + k] * right[col * depth + k]).sum();
                assert_eq!(out, sum, "{rows} {depth} {columns}: {i}");
            }
        }
    }

    #[test]
    fn wrong_lengths_are_errors() {
        assert!(PreparedMatrix::<f32>::new((2, 3), (&[0.0; 5], Layout::row_major(2, 3))).is_err());
        let matrix = PreparedMatrix::<f32>::new((2, 3), (&[0.0; 6], Layout::row_major(2, 3))).unwrap();
        assert!(matrix.multiply(&Serial, &[0.0; 3], &mut [0.0; 3]).is_err());
        assert!(matrix.multiply(&Serial, &[0.0; 2], &mut [0.0; 4]).is_err());
    }
}
