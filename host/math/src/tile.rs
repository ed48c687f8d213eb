//! A rectangular, exclusive window into a row-major matrix, so that blocks of columns can be
//! written in parallel.
//!
//! Tiles are only created by [`TileMut::grid`], which cuts a slice into disjoint ones. Nothing else
//! here hands out memory.
#![expect(unsafe_code, reason = "disjoint rectangles of one slice interleave, which slices cannot express")]

use std::marker::PhantomData;
use std::ops::Range;

use crate::ShapeError;
use crate::error::check_len;
use crate::shape::{StridedWalk, element_count, row_major_strides};

/// A window of `rows` × `cols` elements, with rows `row_stride` elements apart.
#[derive(Debug)]
pub struct TileMut<'a, T> {
    start: *mut T,
    rows: usize,
    cols: usize,
    row_stride: usize,
    owner: PhantomData<&'a mut [T]>,
}

// SAFETY: a tile is an exclusive borrow of the elements in its window, so it moves between threads
// as `&mut [T]` does.
unsafe impl<T: Send> Send for TileMut<'_, T> {}

/// The layout of a batch of matrices in a slice, and its cut into tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) batch: usize,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// The distance between rows, in elements; at least `cols`.
    pub(crate) row_stride: usize,
    /// The distance between matrices, in elements. One matrix may lie in the gaps of another, see
    /// [`matrices_overlap`].
    pub(crate) batch_stride: usize,
    pub(crate) tile_rows: usize,
    pub(crate) tile_cols: usize,
}

/// Returns whether any two of a batch of matrices have an element in common. Rows are `row_stride`
/// elements apart, which is at least `cols`, and matrices `batch_stride`. A matrix may lie in the
/// gaps between another's rows, as the heads of attention do.
pub fn matrices_overlap(
    batch: usize,
    batch_stride: usize,
    (rows, cols, row_stride): (usize, usize, usize),
) -> bool {
    if rows == 0 || cols == 0 || batch < 2 {
        return false;
    }
    if row_stride < cols {
        return true;
    }
    // Row `r` of one matrix overlaps row `s` of another that begins `distance` later if `(r - s) *
    // row_stride` is less than `cols` away from `distance`. The two multiples of `row_stride`
    // around `distance` are the nearest.
    let meet = |distance: usize| {
        let (between, rest) = (distance / row_stride, distance % row_stride);
        between < rows && rest < cols || between + 1 < rows && row_stride - rest < cols
    };
    let Some(last) = (rows - 1).checked_mul(row_stride).and_then(|start| start.checked_add(cols - 1)) else {
        return true;
    };
    // Matrices further apart than the length of one do not overlap.
    let near = last.checked_div(batch_stride).map_or(1, |near| near.min(batch - 1));
    (1..=near).any(|apart| meet(apart * batch_stride))
}

impl Grid {
    /// Creates a grid of one dense matrix in one tile.
    pub(crate) fn whole(rows: usize, cols: usize) -> Self {
        let (tile_rows, tile_cols) = (rows.max(1), cols.max(1));
        Self { batch: 1, rows, cols, row_stride: cols, batch_stride: 0, tile_rows, tile_cols }
    }

    /// Returns the number of elements from the first to the last of one matrix.
    pub(crate) fn matrix_len(&self) -> Result<usize, ShapeError> {
        if self.rows == 0 || self.cols == 0 {
            return Ok(0);
        }
        let len = (self.rows - 1).checked_mul(self.row_stride).and_then(|n| n.checked_add(self.cols));
        len.ok_or(ShapeError::TooLarge)
    }

    /// Returns the number of elements from the first to the last of the whole batch.
    pub(crate) fn len(&self) -> Result<usize, ShapeError> {
        let matrix = self.matrix_len()?;
        if matrix == 0 || self.batch == 0 {
            return Ok(0);
        }
        let len = (self.batch - 1).checked_mul(self.batch_stride).and_then(|n| n.checked_add(matrix));
        len.ok_or(ShapeError::TooLarge)
    }

    /// Returns the number of tiles.
    pub(crate) fn tile_count(&self) -> usize {
        if self.batch == 0 || self.rows == 0 || self.cols == 0 {
            return 0;
        }
        let [down, across] = self.cuts();
        self.batch.saturating_mul(down.saturating_mul(across))
    }

    /// Returns the number of tiles of one matrix, vertically and horizontally. (A division takes
    /// longer than many small products.)
    fn cuts(&self) -> [usize; 2] {
        let cut = |extent: usize, tile: usize| if extent <= tile { 1 } else { extent.div_ceil(tile) };
        [cut(self.rows, self.tile_rows), cut(self.cols, self.tile_cols)]
    }

    /// Returns the position of tile `block` (matrix, row, column) and its extent (rows, columns).
    pub(crate) fn tile(&self, block: usize) -> Result<TileBounds, ShapeError> {
        let count = self.tile_count();
        if block >= count {
            return Err(ShapeError::Block { block, count });
        }
        let [down, across] = self.cuts();
        let (batch, row, col) = match down * across {
            1 => (block, 0, 0),
            each => (block / each, block / across % down * self.tile_rows, block % across * self.tile_cols),
        };
        Ok(TileBounds {
            batch,
            row,
            col,
            rows: self.tile_rows.min(self.rows - row),
            cols: self.tile_cols.min(self.cols - col),
        })
    }
}

/// The position of one tile in its grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TileBounds {
    pub(crate) batch: usize,
    pub(crate) row: usize,
    pub(crate) col: usize,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
}

impl<'a, T> TileMut<'a, T> {
    /// Cuts `slice` into the tiles of `grid`, in row-major order of tiles within each matrix.
    pub(crate) fn grid(slice: &'a mut [T], grid: &Grid) -> Result<Vec<Self>, ShapeError> {
        Self::tiles(slice, grid)?.collect()
    }

    /// Cuts `slice` like [`TileMut::grid`], as an iterator.
    pub(crate) fn tiles<'g>(
        slice: &'a mut [T],
        grid: &'g Grid,
    ) -> Result<impl Iterator<Item = Result<Self, ShapeError>> + use<'a, 'g, T>, ShapeError> {
        if grid.tile_rows == 0 || grid.tile_cols == 0 || grid.row_stride < grid.cols {
            return Err(ShapeError::Parameter(
                "the row stride of an output matrix must be at least its column count",
            ));
        }
        let needed = grid.len()?;
        if slice.len() < needed {
            return Err(ShapeError::Length { operand: "output", expected: needed, actual: slice.len() });
        }
        if matrices_overlap(grid.batch, grid.batch_stride, (grid.rows, grid.cols, grid.row_stride)) {
            return Err(ShapeError::Parameter("the output matrices of a batch must not overlap"));
        }
        let start = slice.as_mut_ptr();
        Ok((0..grid.tile_count()).map(move |block| {
            let TileBounds { batch, row, col, rows, cols } = grid.tile(block)?;
            let offset = batch * grid.batch_stride + row * grid.row_stride + col;
            // SAFETY: the tile's last element is at `grid.len() - 1` or before, which is inside
            // `slice`, and so is its first. Tiles are disjoint: within a row by column, within a
            // matrix by row (rows do not overlap because `row_stride >= cols`), and across matrices
            // because `matrices_overlap` returned false.
            let start = unsafe { start.add(offset) };
            Ok(Self { start, rows, cols, row_stride: grid.row_stride, owner: PhantomData })
        }))
    }

    /// Cuts a dense tensor of this shape into windows of at most `tile_rows` rows. The tensor is
    /// seen with its axes in another order, in which axis `i` of the tensor is axis `order[i]`: a
    /// batch of matrices, whose last axis is also the tensor's. Windows come in the order of the
    /// batch, and then of the rows.
    pub(crate) fn views(
        slice: &'a mut [T],
        shape: &[usize],
        order: &[usize],
        tile_rows: usize,
    ) -> Result<Vec<Self>, ShapeError> {
        check_len("output", element_count(shape)?, slice.len())?;
        let (strides, rank) = (row_major_strides(shape), shape.len());
        let mut axes: Vec<Option<(usize, usize)>> = vec![None; rank];
        for ((&place, &extent), &stride) in order.iter().zip(shape).zip(&strides) {
            match axes.get_mut(place) {
                Some(axis) if axis.is_none() => *axis = Some((extent, stride)),
                _ => return Err(ShapeError::Axis { axis: place, rank }),
            }
        }
        let axes: Vec<_> = axes.into_iter().flatten().collect();
        let ([batch @ .., (rows, row_stride), (cols, 1)], true) = (&axes[..], tile_rows > 0) else {
            return Err(ShapeError::Parameter("the columns of an output matrix must be adjacent"));
        };
        if slice.is_empty() {
            return Ok(Vec::new());
        }
        let batch: Vec<_> = batch.iter().map(|&(extent, stride)| (extent, [stride])).collect();
        let matrices = batch.iter().map(|(extent, _)| extent).product();
        let start = slice.as_mut_ptr();
        let mut walk = StridedWalk::new(&batch, 0);
        let mut windows = Vec::with_capacity(rows.div_ceil(tile_rows).saturating_mul(matrices));
        for _ in 0..matrices {
            let [matrix] = walk.offsets();
            for first in (0..*rows).step_by(tile_rows) {
                // SAFETY: no axis has an extent of zero, so this element of the tensor exists.
                // `order` is a permutation of the axes, so windows, which differ in the batch or in
                // their rows, have no element in common.
                let start = unsafe { start.add(matrix + first * row_stride) };
                let rows = tile_rows.min(rows - first);
                windows.push(Self { start, rows, cols: *cols, row_stride: *row_stride, owner: PhantomData });
            }
            walk.advance();
        }
        Ok(windows)
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Returns the distance between rows in memory, in elements.
    pub(crate) fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// Returns the pointer to the first element. The window extends over `(rows - 1) * row_stride +
    /// cols` elements from it, of which only those inside the window may be accessed.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut T {
        self.start
    }

    /// Returns one row of the window, or an empty slice if there is no such row.
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        if row >= self.rows {
            return &mut [];
        }
        // SAFETY: `row < rows`, so these `cols` elements are in the window that this tile borrows
        // exclusively, and the result borrows the tile.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(row * self.row_stride), self.cols) }
    }

    /// Returns some rows of the window if they are contiguous and exist.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only special instructions use it"))]
    pub(crate) fn rows_mut(&mut self, rows: Range<usize>) -> Option<&mut [T]> {
        if self.cols != self.row_stride || rows.start > rows.end || rows.end > self.rows {
            return None;
        }
        // SAFETY: rows without gaps are contiguous, these rows are in the window that this tile
        // borrows exclusively, and the result borrows the tile.
        Some(unsafe {
            let first = self.start.add(rows.start * self.row_stride);
            std::slice::from_raw_parts_mut(first, rows.len() * self.cols)
        })
    }

    /// Calls `f` with the elements of the window: all at once if they are contiguous, else row by
    /// row.
    pub(crate) fn each_run(&mut self, mut f: impl FnMut(&mut [T])) {
        if self.cols == self.row_stride {
            // SAFETY: rows without gaps are contiguous elements, which this tile borrows
            // exclusively.
            return f(unsafe { std::slice::from_raw_parts_mut(self.start, self.rows * self.cols) });
        }
        (0..self.rows).for_each(|row| f(self.row_mut(row)));
    }

    /// Returns a window of some rows and columns of this one.
    pub(crate) fn window_mut(
        &mut self,
        rows: Range<usize>,
        cols: Range<usize>,
    ) -> Result<TileMut<'_, T>, ShapeError> {
        for (range, extent) in [(&rows, self.rows), (&cols, self.cols)] {
            if range.start > range.end || range.end > extent {
                return Err(ShapeError::Length { operand: "tile", expected: range.end, actual: extent });
            }
        }
        // The pointer is inside this tile. If the window is empty, it may be past the end, and is
        // never read.
        let start = self.start.wrapping_add(rows.start * self.row_stride + cols.start);
        let (rows, cols) = (rows.len(), cols.len());
        Ok(TileMut { start, rows, cols, row_stride: self.row_stride, owner: PhantomData })
    }

    /// Checks that this piece has the given extent.
    pub(crate) fn check(&self, bounds: &TileBounds) -> Result<(), ShapeError> {
        check_len("rows of the output block", bounds.rows, self.rows)?;
        check_len("columns of the output block", bounds.cols, self.cols)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_every_element_once() {
        let grid =
            Grid { batch: 2, rows: 5, cols: 7, row_stride: 9, batch_stride: 50, tile_rows: 2, tile_cols: 3 };
        let mut data = vec![0u32; grid.len().unwrap()];
        for mut tile in TileMut::grid(&mut data, &grid).unwrap() {
            for row in 0..tile.rows() {
                tile.row_mut(row).iter_mut().for_each(|x| *x += 1);
            }
            assert!(tile.row_mut(tile.rows()).is_empty());
        }
        for (position, &value) in data.iter().enumerate() {
            let inside = position % 50 < 4 * 9 + 7 && position % 50 % 9 < 7;
            assert_eq!(value, u32::from(inside), "position {position}");
        }
    }

    #[test]
    fn matrices_lie_in_the_gaps_of_others() {
        let apart = |batch, stride, matrix| !matrices_overlap(batch, stride, matrix);
        // Four heads of 2 columns in rows of 8. A fifth would begin in the second row of the first.
        assert!(apart(4, 2, (3, 2, 8)) && !apart(5, 2, (3, 2, 8)) && apart(5, 2, (1, 2, 8)));
        assert!(!apart(2, 0, (1, 1, 1)) && apart(1, 0, (9, 9, 9)) && apart(9, 0, (0, 1, 1)));
        assert!(!apart(2, 1, (2, 2, 4)) && !apart(2, 3, (2, 2, 4)) && apart(2, 3, (1, 2, 4)));
        assert!(!apart(2, 1, (usize::MAX, 2, usize::MAX)));
        // Compares with the definition.
        for case in 0usize..4096 {
            let [batch, stride, rows, cols] =
                [1 + case % 4, case / 4 % 16, 1 + case / 64 % 4, 1 + case / 256 % 4];
            let row_stride = cols + case / 1024;
            let mut places: Vec<usize> = (0..batch * rows * cols)
                .map(|i| i / (rows * cols) * stride + i / cols % rows * row_stride + i % cols)
                .collect();
            places.sort_unstable();
            let shared = places.windows(2).any(|pair| pair[0] == pair[1]);
            assert_eq!(matrices_overlap(batch, stride, (rows, cols, row_stride)), shared, "{case}");
        }
    }

    #[test]
    fn tiles_of_interleaved_matrices_are_disjoint() {
        let grid =
            Grid { batch: 3, rows: 4, cols: 2, row_stride: 6, batch_stride: 2, tile_rows: 3, tile_cols: 1 };
        let mut data = vec![0u32; grid.len().unwrap()];
        for mut tile in TileMut::grid(&mut data, &grid).unwrap() {
            for row in 0..tile.rows() {
                tile.row_mut(row).iter_mut().for_each(|x| *x += 1);
            }
        }
        assert_eq!(data, [1; 24]);
    }

    #[test]
    fn views_cover_a_reordered_tensor_once() {
        // Rows, heads, columns: seen as heads of rows.
        let (shape, order) = ([5, 3, 2], [1, 0, 2]);
        let mut data = vec![0; 30];
        for (number, mut tile) in
            TileMut::views(&mut data, &shape, &order, 2).unwrap().into_iter().enumerate()
        {
            assert_eq!((tile.rows(), tile.cols()), ([2, 2, 1][number % 3], 2));
            for row in 0..tile.rows() {
                tile.row_mut(row).iter_mut().for_each(|x| *x += 1 + 10 * (number / 3) + number % 3 * 2 + row);
            }
        }
        let expected = (0..30).map(|place| 1 + place / 2 % 3 * 10 + place / 6);
        assert_eq!(data, expected.collect::<Vec<_>>());
        assert!(TileMut::views(&mut data, &[0, 3], &[0, 1], 2).is_err());
        assert!(TileMut::views(&mut data[..0], &[0, 3], &[0, 1], 2).unwrap().is_empty());
        for (order, tile_rows) in [([1, 2, 0], 2), ([1, 1, 2], 2), ([1, 0, 3], 2), ([1, 0, 2], 0)] {
            assert!(TileMut::views(&mut data, &shape, &order, tile_rows).is_err(), "{order:?}");
        }
    }

    #[test]
    fn overlapping_or_short_grids_are_errors() {
        let good =
            Grid { batch: 2, rows: 2, cols: 3, row_stride: 3, batch_stride: 6, tile_rows: 1, tile_cols: 1 };
        let mut data = [0u8; 12];
        assert!(TileMut::grid(&mut data, &good).is_ok());
        for bad in [
            Grid { row_stride: 2, ..good },
            Grid { batch_stride: 5, ..good },
            Grid { batch: 3, ..good },
            Grid { tile_cols: 0, ..good },
            Grid { rows: usize::MAX, ..good },
        ] {
            assert!(TileMut::grid(&mut data, &bad).is_err(), "{bad:?}");
        }
    }
}
