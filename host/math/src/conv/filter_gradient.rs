//! The gradient of a convolution with respect to its filter.
#![expect(unsafe_code, reason = "tiles are written through pointers")]

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;

use super::left::{Left, in_work};
use super::{Conv2dShape, ConvElement, Geometry};
use crate::error::check_len;
use crate::matmul::choose_tiles;
use crate::micro::{DepthTile, MicroElement, Packed, PackedSource, ROWS, Store, even_tiles};
use crate::tile::{Grid, TileBounds};
use crate::{BlockOp, ShapeError, TileMut};

/// Windows whose products are summed at a time. The sums' order depends on it, so that it is the
/// same for every cut.
const WINDOWS: usize = 192;

/// `dfilter = patchesᵀ · dy`: a block owns some rows and columns of the filter as a matrix and goes
/// through all windows.
#[derive(Debug, Clone)]
pub struct ConvBackwardFilter<T> {
    geometry: Geometry,
    grid: Grid,
    element: PhantomData<fn(T) -> T>,
}

impl<T: ConvElement> ConvBackwardFilter<T> {
    /// Plans the gradient of the convolution of this shape, to be run by about `workers` threads at
    /// a time.
    pub fn new(shape: &Conv2dShape, workers: usize) -> Result<Self, ShapeError> {
        let geometry = Geometry::new(shape)?;
        let (rows, cols) = (geometry.depth, geometry.out_channels);
        let (tile_rows, tile_cols) = choose_tiles(1, rows, geometry.pixels, cols, workers);
        // Blocks have whole groups.
        let tile_cols = if geometry.groups == 1 { tile_cols } else { cols.max(1) };
        let grid = Grid { tile_rows, tile_cols, ..Grid::whole(rows, cols) };
        Ok(Self { geometry, grid, element: PhantomData })
    }

    /// Adds the products of some windows, for the columns of one group.
    ///
    /// # Safety
    /// `out` may be written for these columns at each offset, one for each of the rows `at`.
    unsafe fn windows(
        &self,
        windows: Range<usize>,
        at: &Range<usize>,
        (x, dy): (&[T], &Packed<T::Work>),
        (group, out): (usize, *mut T::Work),
        offsets: &[usize],
        left: &mut Left<T>,
    ) {
        let g = &self.geometry;
        let (micro, channels) = (T::Work::micro(), g.in_channels / g.groups);
        let accumulate = windows.start > 0;
        left.find_taps(&g.window, g.in_channels, group * channels, windows.clone());
        left.point(x, channels);
        let points = left.pointers();
        for tap in at.start / channels..at.end.div_ceil(channels) {
            // The block's rows under this tap.
            let rows = at.start.max(tap * channels)..at.end.min((tap + 1) * channels);
            for panel in 0..dy.panels() {
                for tile in even_tiles(rows.len(), ROWS) {
                    let row = rows.start + tile.start;
                    let cols = dy.cols_of(panel).len();
                    let offsets = &offsets[row - at.start..][..tile.len()];
                    let mut first = 0;
                    for part in 0..dy.parts() {
                        let depth = dy.rows(part);
                        let store = Store {
                            // SAFETY: the panel's columns are inside the block's.
                            out: unsafe { out.add(panel * micro.cols) },
                            offsets: offsets.as_ptr(),
                            accumulate: accumulate || part > 0,
                            bias: ptr::null(),
                            residual: ptr::null(),
                            relu: false,
                            part: cols % micro.lanes,
                        };
                        let tile_of_part = DepthTile {
                            points: &points[tap * windows.len()..][depth.clone()],
                            first: row - tap * channels,
                            panel: dy.wide(part, panel..panel + 1, &mut Vec::new()).as_ptr(),
                            store,
                        };
                        // SAFETY: `micro` has kernels that this processor runs, for up to `ROWS` rows;
                        // each point reaches over all of its tap's channels, and the panel has a row
                        // for each point. The output has the panel's columns at each offset, and
                        // `part` excludes lanes beyond these.
                        unsafe { (micro.depth_tile)(tile.len(), cols.div_ceil(micro.lanes), &tile_of_part) };
                        first += depth.len();
                    }
                    debug_assert_eq!(first, windows.len());
                }
            }
        }
    }

    /// Returns all windows, for the columns of one group.
    ///
    /// # Safety
    /// As [`windows`](Self::windows).
    unsafe fn group(
        &self,
        group: usize,
        at: &TileBounds,
        (x, dy): (&[T], &[T]),
        out: *mut T::Work,
        offsets: &[usize],
    ) -> Result<(), ShapeError> {
        let g = &self.geometry;
        let cols = at.cols / if g.groups == 1 { 1 } else { g.groups };
        let mut left = Left::new();
        for first in (0..g.pixels).step_by(WINDOWS) {
            let windows = first..g.pixels.min(first + WINDOWS);
            let source = PackedSource {
                data: dy,
                runs: &[first * g.out_channels + at.col + group * cols],
                run_len: windows.len(),
                row_stride: g.out_channels,
                col_stride: 1,
            };
            let packed = Packed::pack_panels(&source, cols, T::widen)?;
            let rows = at.row..at.row + at.rows;
            // SAFETY: the caller promises valid offsets for all columns, which include those of the
            // group.
            unsafe {
                let out = out.add(group * cols);
                self.windows(windows, &rows, (x, &packed), (group, out), offsets, &mut left);
            }
        }
        Ok(())
    }
}

impl<T: ConvElement> BlockOp for ConvBackwardFilter<T> {
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
        if g.pixels == 0 {
            for row in 0..at.rows {
                piece.row_mut(row).fill(T::ZERO);
            }
            return Ok(());
        }
        let stride = piece.row_stride();
        let offsets: Vec<usize> = (0..at.rows).map(|row| row * stride).collect();
        let mut outcome = Ok(());
        // SAFETY: the piece is an exclusive window of these rows and columns, `stride` apart.
        unsafe {
            in_work(piece.as_mut_ptr(), None, &offsets, at.cols, |out, _, offsets| {
                outcome = (0..g.groups).try_for_each(|group| self.group(group, &at, (x, dy), out, offsets));
            });
        }
        outcome
    }
}
