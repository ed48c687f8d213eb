//! Convolution.
#![expect(unsafe_code, reason = "tiles are written through pointers")]

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use super::cut::{cut, cut_rows};
use super::left::{CHUNK_ROWS, Left, in_work};
use super::minimal::{self, Tiles};
use super::packed::Layout;
use super::{Conv2dShape, ConvElement, Geometry, PackedFilter, depthwise};
use crate::error::check_len;
use crate::micro::{Epilogue, Packed, RowProduct};
use crate::tile::{Grid, TileBounds};
use crate::{Activation, BlockOp, ShapeError, TileMut};

/// The number of channels from which on each tap is a separate run. With fewer, a row of the filter
/// is a run.
const DIRECT_CHANNELS: usize = 16;

/// How much longer a product of a depthwise convolution takes than one of matrices.
const DEPTHWISE_COST: usize = 6;

/// `y = activation(conv(x, filter) + bias + residual)`.
///
/// A block owns some pixels and some channels of the output.
#[derive(Debug, Clone)]
pub struct Conv2d<T> {
    geometry: Geometry,
    grid: Grid,
    activation: Activation,
    /// The tiles of minimal filtering, if the plan uses it.
    minimal: Option<Tiles>,
    finish: Option<Finish<T>>,
    element: PhantomData<fn(T) -> T>,
}

/// A function that is applied to several results.
type Function<T> = dyn Fn(&mut [T]) + Send + Sync;

/// The function that is applied last.
#[derive(Clone)]
struct Finish<T>(Arc<Function<T>>);

impl<T> fmt::Debug for Finish<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Finish")
    }
}

/// The operands of [`Conv2d`].
#[derive(Debug)]
pub struct Conv2dInput<'a, T: ConvElement> {
    /// Images, `NHWC`.
    pub x: &'a [T],
    /// The filter, which [`Conv2d::pack_filter`] made from an `HWIO` one.
    pub filter: &'a PackedFilter<T>,
    /// One element for each output channel, if any.
    pub bias: Option<&'a [T]>,
    /// Added to the result element by element, if any; of the output's shape.
    pub residual: Option<&'a [T]>,
}

impl<T: ConvElement> Clone for Conv2dInput<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ConvElement> Copy for Conv2dInput<'_, T> {}

impl<'a, T: ConvElement> Conv2dInput<'a, T> {
    /// Creates the operands without bias and residual.
    pub fn new(x: &'a [T], filter: &'a PackedFilter<T>) -> Self {
        Self { x, filter, bias: None, residual: None }
    }
}

/// The values that all chunks of a block share.
struct Block<'a, T: ConvElement> {
    input: Conv2dInput<'a, T>,
    filters: &'a [Packed<T::Work>],
    at: TileBounds,
    bias: Option<Vec<T::Work>>,
}

impl<T: ConvElement> Conv2d<T> {
    /// Plans a convolution for about `workers` threads at a time.
    pub fn new(shape: &Conv2dShape, activation: Activation, workers: usize) -> Result<Self, ShapeError> {
        let geometry = Geometry::new(shape)?;
        let (rows, cols) = (geometry.pixels, geometry.out_channels);
        // Without a matrix product, a product takes longer.
        let cost = if geometry.is_depthwise() { DEPTHWISE_COST } else { 1 };
        let depth = geometry.depth.saturating_mul(cost);
        let (tile_rows, tile_cols) = match geometry.groups {
            1 => cut(rows, depth, cols, workers),
            // Blocks have whole groups.
            _ => (cut_rows(rows, depth, cols, workers), cols.max(1)),
        };
        let grid = Grid { tile_rows, tile_cols, ..Grid::whole(rows, cols) };
        Ok(Self { geometry, grid, activation, minimal: None, finish: None, element: PhantomData })
    }

    /// Plans a convolution for filters that [`PackedFilter::new`] laid out to be reused. It uses
    /// fewer products where possible.
    pub fn for_kept_filters(
        shape: &Conv2dShape,
        activation: Activation,
        workers: usize,
    ) -> Result<Self, ShapeError> {
        let mut plan = Self::new(shape, activation, workers)?;
        plan.minimal = Tiles::of::<T>(&plan.geometry);
        if let Some(tiles) = &plan.minimal {
            plan.grid = tiles.grid(&plan.geometry, workers);
        }
        Ok(plan)
    }

    /// Applies a function of single elements last. It is called with several elements at a time,
    /// while they are in the cache.
    #[must_use]
    pub fn finished_by(self, finish: impl Fn(&mut [T]) + Send + Sync + 'static) -> Self {
        Self { finish: Some(Finish(Arc::new(finish))), ..self }
    }

    /// Lays a filter (`HWIO`) out for this plan, and for any other with the same filter shape and
    /// groups. Keep the result if the filter does not change.
    pub fn pack_filter(&self, filter: &[T]) -> Result<PackedFilter<T>, ShapeError> {
        PackedFilter::forward(&self.geometry, filter)
    }

    /// Returns whether a filter was laid out for convolutions with this filter shape and groups.
    pub fn takes(&self, filter: &PackedFilter<T>) -> bool {
        filter.check(&self.geometry).is_ok()
    }

    fn check(&self, input: &Conv2dInput<'_, T>) -> Result<(), ShapeError> {
        check_len("images", self.geometry.input_len, input.x.len())?;
        input.filter.check(&self.geometry)?;
        if let Some(bias) = input.bias {
            check_len("bias", self.geometry.out_channels, bias.len())?;
        }
        if let Some(residual) = input.residual {
            check_len("residual", self.geometry.output_len, residual.len())?;
        }
        Ok(())
    }

    /// Computes rows of a tile, from row `first` of the tile on, with a filter laid out in groups.
    fn chunk(&self, block: &Block<'_, T>, first: usize, tile: &mut TileMut<'_, T>, left: &mut Left<T>) {
        let stride = tile.row_stride();
        let start = (block.at.row + first) * self.geometry.out_channels + block.at.col;
        let residual = block.input.residual.map(|residual| &residual[start..]);
        let offsets: Vec<usize> = (0..tile.rows()).map(|row| row * stride).collect();
        // SAFETY: the tile is an exclusive window of these rows and the block's columns, with rows
        // `stride` apart. The residual has the length of the output, so it reaches as far from the
        // same element.
        unsafe {
            in_work(tile.as_mut_ptr(), residual, &offsets, block.at.cols, |out, residual, offsets| {
                self.groups(block, first, (out, residual), offsets, left);
            });
        }
    }

    /// Computes all groups of channels of a block, for the rows from `first` on.
    ///
    /// # Safety
    /// At each offset, `out` is valid for writes, and `residual` for reads unless it is null, of
    /// the block's columns. Nothing else accesses those of `out`.
    unsafe fn groups(
        &self,
        block: &Block<'_, T>,
        first: usize,
        (out, residual): (*mut T::Work, *const T::Work),
        offsets: &[usize],
        left: &mut Left<T>,
    ) {
        let g = &self.geometry;
        let pixels = block.at.row + first..block.at.row + first + offsets.len();
        // Windows may be outside the border by whole taps, above all those with large dilations.
        let nothing = left.nothing(g.window.x.window * g.in_channels);
        self.find_windows(&block.input, pixels, left);
        let taps = if self.reads_lines(&block.input) { g.window.x.window } else { 1 };
        let run_len = taps * g.in_channels / g.groups;
        for (group, packed) in block.filters.iter().enumerate() {
            let next = block.filters.get(group + 1);
            if group > 0 {
                left.advance(run_len);
            }
            let (pointers, nothing) = (left.pointers(), nothing.wrapping_add(group * run_len));
            let skip = group * packed.cols();
            let (panels, bias) = if g.groups == 1 {
                (packed.panels_over(block.at.col..block.at.col + block.at.cols), block.bias.as_deref())
            } else {
                let bias = block.bias.as_deref().map(|bias| &bias[skip..skip + packed.cols()]);
                (0..packed.panels(), bias)
            };
            let epilogue = Epilogue { bias, relu: self.activation == Activation::Relu };
            // SAFETY: the block's columns are those of the panels, or else of all groups, so each
            // group's columns begin after `skip` elements.
            unsafe {
                let residual = if residual.is_null() { residual } else { residual.add(skip) };
                let out = out.add(skip);
                let product = RowProduct {
                    pointers,
                    run_len,
                    nothing,
                    packed,
                    panels,
                    out,
                    offsets,
                    residual,
                    next,
                    epilogue,
                };
                product.run();
            }
        }
    }

    /// Returns whether a run of the windows' elements is a row of the filter instead of a tap. Where
    /// the row crosses a side of the image, zeros are multiplied, too.
    fn reads_lines(&self, input: &Conv2dInput<'_, T>) -> bool {
        let g = &self.geometry;
        let is_narrow = g.groups == 1 && g.in_channels < DIRECT_CHANNELS && g.window.x.dilation == 1;
        is_narrow && input.filter.is_finite && T::as_work(input.x).is_some()
    }

    /// Finds the pointers to the elements of the windows `pixels`, with the channels of all groups.
    fn find_windows(&self, input: &Conv2dInput<'_, T>, pixels: Range<usize>, left: &mut Left<T>) {
        let g = &self.geometry;
        match T::as_work(input.x) {
            Some(images) if self.reads_lines(input) => {
                left.point_at_lines(images, &g.window, g.in_channels, pixels);
            }
            Some(images) if g.is_pointwise() => left.point_at_pixels(images, g.in_channels, pixels),
            _ => {
                left.find_taps(&g.window, g.in_channels, 0, pixels);
                left.point(input.x, g.in_channels);
            }
        }
    }

    /// Computes the pixels and channels `at` by the definition, with a filter laid out in groups, and
    /// finishes them.
    fn by_definition(
        &self,
        input: &Conv2dInput<'_, T>,
        filters: &[Packed<T::Work>],
        at: &TileBounds,
        piece: &mut TileMut<'_, T>,
    ) -> Result<(), ShapeError> {
        let bias = input.bias.map(|bias| bias.iter().map(|&b| b.widen()).collect());
        let block = Block { input: *input, filters, at: *at, bias };
        let mut left = Left::new();
        // A product skips taps that none of its rows has inside the image. If zeros times the filter
        // are not zeros, each row must skip its own.
        let most = if input.filter.is_finite { CHUNK_ROWS } else { 1 };
        // Chunks of nearly the same number of rows: the panels are read for each of them.
        let chunks = at.rows.div_ceil(most);
        for chunk in 0..chunks {
            let (first, end) = (chunk * at.rows / chunks, (chunk + 1) * at.rows / chunks);
            let rows = first..end;
            let mut tile = piece.window_mut(rows, 0..at.cols)?;
            self.chunk(&block, first, &mut tile, &mut left);
            // Now, while the chunk is in the cache.
            self.finish(&mut tile);
        }
        Ok(())
    }

    /// Applies the function that is applied last.
    fn finish(&self, piece: &mut TileMut<'_, T>) {
        if let Some(Finish(finish)) = &self.finish {
            piece.each_run(|elements| finish(elements));
        }
    }

    /// Computes the pixels and channels `at`, and finishes them.
    fn compute(
        &self,
        input: &Conv2dInput<'_, T>,
        at: &TileBounds,
        piece: &mut TileMut<'_, T>,
    ) -> Result<(), ShapeError> {
        if self.geometry.depth == 0 {
            self.without_products(input, at, piece);
            self.finish(piece);
            return Ok(());
        }
        let filters = match &input.filter.layout {
            Layout::Groups(filters) => filters,
            Layout::Depthwise { weights, .. } => {
                depthwise::pixels(&self.geometry, (input, weights), self.activation, at, piece);
                self.finish(piece);
                return Ok(());
            }
        };
        let (Some(tiles), Some(filter)) = (&self.minimal, &input.filter.minimal) else {
            return self.by_definition(input, filters, at, piece);
        };
        let rest = minimal::block(&self.geometry, tiles, (input, filter), self.activation, at, piece);
        self.finish(piece);
        for (rows, cols) in rest {
            let at = TileBounds {
                row: at.row + rows.start,
                col: at.col + cols.start,
                rows: rows.len(),
                cols: cols.len(),
                ..*at
            };
            self.by_definition(input, filters, &at, &mut piece.window_mut(rows, cols)?)?;
        }
        Ok(())
    }

    /// Computes the output of a filter without elements: the epilogue applied to zero.
    fn without_products(&self, input: &Conv2dInput<'_, T>, at: &TileBounds, tile: &mut TileMut<'_, T>) {
        for row in 0..at.rows {
            let start = (at.row + row) * self.geometry.out_channels + at.col;
            for (col, out) in tile.row_mut(row).iter_mut().enumerate() {
                let bias = input.bias.map_or(T::ZERO, |bias| bias[at.col + col]);
                let sum = bias.plus(input.residual.map_or(T::ZERO, |residual| residual[start + col]));
                *out = if self.activation == Activation::Relu { crate::ops::relu(sum) } else { sum };
            }
        }
    }
}

impl<T: ConvElement> BlockOp for Conv2d<T> {
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
        // A matrix of the grid is an image, or all of the images.
        let at = TileBounds { batch: 0, row: at.batch * self.grid.rows + at.row, ..at };
        self.check(&input)?;
        self.compute(&input, &at, &mut piece)
    }
}
