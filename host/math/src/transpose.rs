//! Permutation of axes.

mod square;

use std::marker::PhantomData;

use crate::error::check_len;
use crate::parallel::Chunks;
use crate::shape::{StridedWalk, element_count, row_major_strides};
use crate::{BlockOp, Element, ShapeError};
use square::{TILE, exchange_square};

/// The number of rows that are written at a time if they are shorter than a square. They stay in
/// the first-level cache while each of their columns is read in turn.
const FEW_COLUMNS_ROWS: usize = 256;
/// The number of rows of squares that are written at a time, so that the operand is read in runs of
/// several cache lines.
const SQUARES: usize = 4;

/// A permutation of axes: axis `i` of the output is axis `permutation[i]` of the operand.
#[derive(Debug, Clone)]
pub struct Transpose<T> {
    /// Axes of the output without the innermost, with their strides in the operand.
    outer: Vec<(usize, [usize; 1])>,
    /// Extent and stride in the operand of the output's innermost axis.
    inner: (usize, usize),
    shape: Vec<usize>,
    input_len: usize,
    /// Units are rows of the innermost axis.
    chunks: Chunks,
    element: PhantomData<fn(T) -> T>,
}

impl<T: Element> Transpose<T> {
    /// Plans the permutation of a dense tensor.
    pub fn new(shape: &[usize], permutation: &[usize]) -> Result<Self, ShapeError> {
        let rank = shape.len();
        if permutation.len() != rank {
            return Err(ShapeError::Rank {
                operand: "permutation",
                expected: rank,
                actual: permutation.len(),
            });
        }
        let mut seen = vec![false; rank];
        for &axis in permutation {
            match seen.get_mut(axis) {
                Some(flag) if !*flag => *flag = true,
                _ => return Err(ShapeError::Axis { axis, rank }),
            }
        }
        let input_len = element_count(shape)?;
        let strides = row_major_strides(shape);
        let mut merged: Vec<(usize, [usize; 1])> = Vec::new();
        for &axis in permutation {
            let (extent, stride) = (shape[axis], strides[axis]);
            match merged.last_mut() {
                _ if extent == 1 => {}
                Some((size, [before])) if input_len > 0 && *before == stride * extent => {
                    (*size, *before) = (*size * extent, stride);
                }
                _ => merged.push((extent, [stride])),
            }
        }
        let inner = merged.pop().map_or((1, 1), |(extent, [stride])| (extent, stride));
        let rows = if input_len == 0 { 0 } else { input_len / inner.0 };
        let chunks = Chunks::new(rows, inner.0, inner.0)?;
        // A block that exchanges axes has whole squares: of a part of one, the operand would be read
        // as often as it has parts.
        let chunks = match merged.last() {
            Some(&(adjacent, [1])) if inner.0 >= TILE => chunks.in_multiples_of(adjacent.clamp(1, TILE)),
            _ => chunks,
        };
        let shape = permutation.iter().map(|&axis| shape[axis]).collect();
        Ok(Self { outer: merged, inner, shape, input_len, chunks, element: PhantomData })
    }

    /// Returns the shape of the output.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Copies `rows` short rows of the output that are adjacent in the operand, from `x[0]` on.
    fn interleave(&self, x: &[T], rows: usize, out: &mut [T]) {
        let (extent, stride) = self.inner;
        match extent {
            2 => interleave_columns::<T, 2>(x, stride, rows, out),
            3 => interleave_columns::<T, 3>(x, stride, rows, out),
            4 => interleave_columns::<T, 4>(x, stride, rows, out),
            8 => interleave_columns::<T, 8>(x, stride, rows, out),
            _ => {
                for col in 0..extent {
                    let column = &x[col * stride..][..rows];
                    let places = out[col..].iter_mut().step_by(extent);
                    places.zip(column).for_each(|(out, &x)| *out = x);
                }
            }
        }
    }

    /// Copies `rows` of the output that are adjacent in the operand, from `x[0]` on: a matrix
    /// transposition.
    fn exchange(&self, x: &[T], rows: usize, out: &mut [T]) {
        let (extent, stride) = self.inner;
        for col in (0..extent).step_by(TILE) {
            let cols = TILE.min(extent - col);
            for row in (0..rows).step_by(TILE) {
                let (x, out) = (&x[col * stride + row..], &mut out[row * extent + col..]);
                let rows = TILE.min(rows - row);
                if rows == TILE && cols == TILE {
                    exchange_square(x, stride, out, extent);
                    continue;
                }
                for (row, out) in out.chunks_mut(extent).enumerate().take(rows) {
                    let column = x[row..].iter().step_by(stride);
                    out[..cols].iter_mut().zip(column).for_each(|(out, &x)| *out = x);
                }
            }
        }
    }
}

/// Writes rows of `N` elements, each from one of `N` columns that are `stride` elements apart.
fn interleave_columns<T: Element, const N: usize>(x: &[T], stride: usize, rows: usize, out: &mut [T]) {
    let columns: [&[T]; N] = std::array::from_fn(|col| &x[col * stride..][..rows]);
    let (out, _) = out.as_chunks_mut::<N>();
    for (row, out) in out.iter_mut().enumerate().take(rows) {
        *out = std::array::from_fn(|col| columns[col][row]);
    }
}

impl<T: Element> BlockOp for Transpose<T> {
    type Input<'a> = &'a [T];
    type Output<'a> = &'a mut [T];
    type Piece<'a> = &'a mut [T];

    fn block_count(&self) -> usize {
        self.chunks.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.chunks.split(output)
    }

    fn run_block(&self, block: usize, x: &[T], mut piece: &mut [T]) -> Result<(), ShapeError> {
        let mut rows = self.chunks.units_of(block, piece.len())?;
        check_len("operand", self.input_len, x.len())?;
        let (extent, stride) = self.inner;
        // Rows that are adjacent in the operand can be exchanged with columns tile by tile.
        let adjacent = match self.outer.last() {
            Some(&(run, [1])) => run,
            _ => 1,
        };
        if stride == 1 {
            let mut walk = StridedWalk::new(&self.outer, rows.start);
            for out in piece.chunks_exact_mut(extent) {
                let [start] = walk.offsets();
                out.copy_from_slice(&x[start..start + extent]);
                walk.advance();
            }
            return Ok(());
        }
        let most = if extent < TILE { FEW_COLUMNS_ROWS } else { SQUARES * TILE };
        while !rows.is_empty() {
            let now = most.min(rows.len()).min(adjacent - rows.start % adjacent);
            let [start] = StridedWalk::new(&self.outer, rows.start).offsets();
            let (out, rest) = piece.split_at_mut(now * extent);
            if extent < TILE {
                self.interleave(&x[start..], now, out);
            } else {
                self.exchange(&x[start..], now, out);
            }
            rows.start += now;
            piece = rest;
        }
        Ok(())
    }
}
