//! Convolution with 3 × 3 filters and strides of 1 by minimal filtering, F(2 × 2, 3 × 3): 16
//! products for each channel and tile of 2 × 2 results, where the definition has 36.
//!
//! With the matrices of S. Winograd, *Arithmetic Complexity of Computations* (1980), as A. Lavin
//! and S. Gray use them for convolution in *Fast Algorithms for Convolutional Neural Networks*
//! (2015): `Y = Aᵀ [(G g Gᵀ) ⊙ (Bᵀ d B)] A` for a tile `Y`, the filter `g`, and the 4 × 4 elements
//! `d` under the tile's windows. Summed over channels, each of the 16 products is one of matrices:
//! tiles by channels, and channels by output channels.
//!
//! A result's error is that of the largest element under its tile, and not only under its own
//! window. What is not finite would reach its whole tile; tiles in which that happens are computed
//! by the definition.
#![expect(unsafe_code, reason = "products take pointers")]

use std::ops::Range;

use super::cut::{COLS, cut, cut_units};
use super::{Conv2dInput, ConvElement, Geometry};
use crate::micro::{Epilogue, MicroElement, Packed, PackedSource, RowProduct};
use crate::shape::element_count;
use crate::simd::vectorize;
use crate::tile::{Grid, TileBounds};
use crate::{Activation, Number, ShapeError, TileMut, ops::relu};

/// The number of elements of a transformed tile, and of matrix products.
const POINTS: usize = 16;
/// The number of channels that are transformed together.
const LANES: usize = 8;
/// The size of the transformed images and products that are kept at a time: a part of the
/// second-level cache.
const CHUNK_BYTES: usize = 384 * 1024;
/// Images with fewer tiles are computed by the definition, because fewer tiles do not justify
/// fetching the filter. Blocks have at least this many tiles, unless some workers would be idle
/// otherwise.
const LEAST_TILES: usize = 48;
/// The least number of channels for which the transformation pays off.
const LEAST_CHANNELS: usize = 32;
/// The greatest size of a transformed filter. Fetching a larger one takes longer than the saved
/// products.
const MOST_FILTER_BYTES: usize = 4 << 20;

/// A transformed filter: for each of the 16 points a matrix with a row for each input channel and a
/// column for each output channel.
#[derive(Debug, Clone)]
pub(super) struct MinimalFilter<E>(Vec<Packed<E>>);

/// Returns whether filters with these extents (rows, columns, input channels, output channels) can
/// be transformed and are worth it.
fn suits<T: ConvElement>([height, width, inputs, outputs]: [usize; 4]) -> bool {
    let bytes = inputs.saturating_mul(outputs).saturating_mul(POINTS * size_of::<T::Work>());
    let channels = [inputs, outputs];
    T::IS_REAL
        && [height, width] == [3, 3]
        && bytes <= MOST_FILTER_BYTES
        && channels.iter().all(|&n| n >= LEAST_CHANNELS && n.is_multiple_of(LANES))
}

impl<E: MicroElement> MinimalFilter<E> {
    /// Transforms a filter (`HWIO`) if that is worth it. It must have the number of elements that
    /// the extents imply.
    pub(super) fn new<T: ConvElement<Work = E>>(
        extents: [usize; 4],
        filter: &[T],
    ) -> Result<Option<Self>, ShapeError> {
        if !suits::<T>(extents) {
            return Ok(None);
        }
        let [_, _, inputs, outputs] = extents;
        let len = element_count(&[inputs, outputs])?;
        let mut points = vec![E::ZERO; POINTS * len];
        for at in 0..len {
            let taps: [_; 9] = std::array::from_fn(|tap| filter[tap * len + at].widen().to_acc());
            for (point, value) in filter_points(taps).into_iter().enumerate() {
                points[point * len + at] = E::from_acc(value);
            }
        }
        let pack = |data: &[E]| {
            let source =
                PackedSource { data, runs: &[0], run_len: inputs, row_stride: outputs, col_stride: 1 };
            Packed::pack(&source, outputs, |x| x)
        };
        Ok(Some(Self(points.chunks_exact(len).map(pack).collect::<Result<_, _>>()?)))
    }
}

/// `G g Gᵀ`, where the rows of `G` are `(1, 0, 0)`, `(½, ½, ½)`, `(½, -½, ½)`, `(0, 0, 1)`.
fn filter_points<A: Number>(taps: [A; 9]) -> [A; POINTS] {
    let two = A::ONE.plus(A::ONE);
    let line = |[a, b, c]: [A; 3]| {
        let outer = a.plus(c);
        [a, outer.plus(b).over(two), outer.minus(b).over(two), c]
    };
    let columns = [0, 1, 2].map(|x| line([taps[x], taps[3 + x], taps[6 + x]]));
    let mut points = [A::ZERO; POINTS];
    for (y, row) in points.chunks_exact_mut(4).enumerate() {
        row.copy_from_slice(&line([columns[0][y], columns[1][y], columns[2][y]]));
    }
    points
}

/// The tiles of a batch of images, and how they form blocks of pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tiles {
    /// The number of tiles in a row of an image, and in a column.
    across: usize,
    down: usize,
}

impl Tiles {
    /// Returns the tiles of a convolution that minimal filtering can compute, if an image has
    /// enough of them. The number of images does not matter, so that it never changes a result.
    pub(super) fn of<T: ConvElement>(g: &Geometry) -> Option<Self> {
        let (y, x) = (g.window.y, g.window.x);
        // Without images there are no units either.
        let is_plain =
            g.pixels > 0 && [y.stride, x.stride, y.dilation, x.dilation, g.groups].iter().all(|&n| n == 1);
        let tiles = Self { across: x.output.div_ceil(2), down: y.output.div_ceil(2) };
        let suits = suits::<T>([y.window, x.window, g.in_channels, g.out_channels]);
        (is_plain && suits && tiles.across.saturating_mul(tiles.down) >= LEAST_TILES).then_some(tiles)
    }

    /// Returns the blocks for `workers` threads. No block has a part of a tile: a block is some
    /// lines of tiles or, if each of several images has a last line of pixels left over, lines of
    /// one image or several whole images.
    pub(super) fn grid(&self, g: &Geometry, workers: usize) -> Grid {
        let (height, width) = (g.window.y.output, g.window.x.output);
        let all = g.batch * self.down;
        let (pixels, mut tile_cols) = cut(g.pixels, g.depth, g.out_channels, workers);
        let blocks = g.pixels.div_ceil(pixels);
        let mut lines = all.div_ceil(blocks);
        if blocks > 1 && lines * self.across < LEAST_TILES {
            // Cut by the cost of tiles. Blocks with this few tiles are worth it only if workers
            // would be idle otherwise.
            let tiles = (all * self.across, self.across);
            let (rows, cols) = cut_units(tiles, POINTS * g.in_channels, g.out_channels, workers);
            (lines, tile_cols) = (rows / self.across, cols);
        }
        let whole = Grid { tile_cols, ..Grid::whole(g.pixels, g.out_channels) };
        if height.is_multiple_of(2) || g.batch == 1 {
            return Grid { tile_rows: lines * 2 * width, ..whole };
        }
        let rows = height * width;
        if lines >= self.down {
            return Grid { tile_rows: lines / self.down * rows, ..whole };
        }
        let lines = self.down.div_ceil(self.down.div_ceil(lines));
        Grid {
            batch: g.batch,
            rows,
            batch_stride: rows * g.out_channels,
            tile_rows: lines * 2 * width,
            ..whole
        }
    }

    /// Returns the tiles of a block of whole units, in the order of lines of tiles.
    fn of_block(&self, g: &Geometry, at: &TileBounds) -> Range<usize> {
        let (height, width) = (g.window.y.output, g.window.x.output);
        // The next image begins after the last line of tiles, even if that has a single line of
        // pixels.
        let tile = |pixel: usize| {
            let line = pixel / width;
            (line / height * self.down + line % height / 2) * self.across
        };
        tile(at.row)..tile(at.row + at.rows)
    }

    /// Returns the image of a tile and the position of its first result there.
    fn place(&self, tile: usize) -> (usize, usize, usize) {
        let line = tile / self.across;
        (line / self.down, line % self.down * 2, tile % self.across * 2)
    }
}

/// The rows and columns of a piece.
type Part = (Range<usize>, Range<usize>);

/// Computes a block of whole units. Returns the parts of the piece that must be computed by the
/// definition because a sum of their tile is not finite. Channels are checked in groups of
/// [`COLS`], which no cut divides.
pub(super) fn block<T: ConvElement>(
    g: &Geometry,
    tiles: &Tiles,
    (input, filter): (&Conv2dInput<'_, T>, &MinimalFilter<T::Work>),
    activation: Activation,
    at: &TileBounds,
    piece: &mut TileMut<'_, T>,
) -> Vec<Part> {
    let bias = input.bias.map(|bias| bias[at.col..at.col + at.cols].iter().map(|&b| b.widen()).collect());
    let finish = Finish { bias, residual: input.residual, relu: activation == Activation::Relu };
    let all = tiles.of_block(g, at);
    let each = POINTS * size_of::<T::Work>() * (g.in_channels + at.cols);
    let chunks = all.len().div_ceil((CHUNK_BYTES / each).max(LEAST_TILES));
    let most = all.len().div_ceil(chunks.max(1));
    let (image_stride, sum_stride) = (spread::<T>(most * g.in_channels), spread::<T>(most * at.cols));
    // Reuses memory, because new memory would be zeroed or requested from the system for each
    // block.
    let mut memory = T::Work::scratch().take();
    let len = POINTS * (image_stride + sum_stride);
    if memory.len() < len {
        memory = vec![T::Work::ZERO; len];
    }
    let (images, sums) = memory[..len].split_at_mut(POINTS * image_stride);
    let mut chunk = Chunk {
        images,
        sums,
        image_stride,
        sum_stride,
        line: vec![T::Work::ZERO; 4 * at.cols],
        beyond: vec![T::ZERO; g.in_channels],
    };
    let mut left_over = Vec::new();
    for number in 0..chunks {
        let range = all.start + number * all.len() / chunks..all.start + (number + 1) * all.len() / chunks;
        chunk.transform_images(g, tiles, input.x, range.clone());
        chunk.multiply(g, filter, range.len(), at);
        chunk.transform_sums(g, tiles, &finish, range, (at, piece), &mut left_over);
    }
    T::Work::keep(memory);
    joined(left_over)
}

/// Merges adjacent parts.
fn joined(mut parts: Vec<Part>) -> Vec<Part> {
    parts.sort_unstable_by_key(|(rows, cols)| (cols.start, rows.start));
    parts.dedup_by(|(rows, cols), (last, last_cols)| {
        let adjoin = cols == last_cols && rows.start == last.end;
        if adjoin {
            last.end = rows.end;
        }
        adjoin
    });
    parts
}

/// The operations on a block's sums before they are written.
struct Finish<'a, T: ConvElement> {
    /// One element for each of the block's channels.
    bias: Option<Vec<T::Work>>,
    residual: Option<&'a [T]>,
    relu: bool,
}

impl<T: ConvElement> Finish<'_, T> {
    /// Computes a pixel's results, which begin at `start` in the whole output, from its sums.
    fn write(&self, sums: &mut [T::Work], start: usize, out: &mut [T]) {
        vectorize(|| {
            if let Some(bias) = &self.bias {
                sums.iter_mut().zip(bias).for_each(|(sum, &bias)| *sum = sum.plus(bias));
            }
            if let Some(residual) = self.residual {
                let residual = &residual[start..][..sums.len()];
                sums.iter_mut().zip(residual).for_each(|(sum, r)| *sum = sum.plus(r.widen()));
            }
            let results = out.iter_mut().zip(sums);
            if self.relu {
                results.for_each(|(out, sum)| *out = T::narrow(relu(*sum)));
            } else {
                results.for_each(|(out, sum)| *out = T::narrow(*sum));
            }
        });
    }
}

/// Returns the distance between matrices of `len` elements, each with one row for a tile: an odd
/// number of cache lines, so that these rows do not compete for the same few sets of the cache.
fn spread<T: ConvElement>(len: usize) -> usize {
    let line = 64 / size_of::<T::Work>();
    (len.div_ceil(line) | 1) * line
}

/// Buffers for several tiles. Every element is overwritten before it is read.
struct Chunk<'a, T: ConvElement> {
    /// For each point, a row of input channels for each tile.
    images: &'a mut [T::Work],
    /// For each point, a row of the block's output channels for each tile.
    sums: &'a mut [T::Work],
    /// The number of elements from one point to the next.
    image_stride: usize,
    sum_stride: usize,
    /// The four results of one tile.
    line: Vec<T::Work>,
    /// A pixel outside the border.
    beyond: Vec<T>,
}

impl<T: ConvElement> Chunk<'_, T> {
    /// Computes `Bᵀ d B` for each tile and channel.
    fn transform_images(&mut self, g: &Geometry, tiles: &Tiles, x: &[T], range: Range<usize>) {
        let channels = g.in_channels;
        for (row, tile) in range.enumerate() {
            let (image, y, column) = tiles.place(tile);
            let pixels: [&[[T; LANES]]; POINTS] = std::array::from_fn(|point| {
                let at = (y + point / 4).checked_sub(g.window.y.before).filter(|&y| y < g.window.y.input);
                let column = (column + point % 4).checked_sub(g.window.x.before);
                match at.zip(column.filter(|&x| x < g.window.x.input)) {
                    Some((y, column)) => {
                        let pixel = (image * g.window.y.input + y) * g.window.x.input + column;
                        x[pixel * channels..][..channels].as_chunks().0
                    }
                    None => self.beyond.as_chunks().0,
                }
            });
            let mut matrices = self.images.chunks_exact_mut(self.image_stride);
            let mut points: [&mut [[T::Work; LANES]]; POINTS] = std::array::from_fn(|_| {
                let matrix = matrices.next().unwrap_or_default();
                matrix[row * channels..][..channels].as_chunks_mut().0
            });
            vectorize(|| {
                for at in 0..channels / LANES {
                    transform_image(&pixels, &mut points, at);
                }
            });
        }
    }

    /// Computes the matrix product for each point.
    fn multiply(&mut self, g: &Geometry, filter: &MinimalFilter<T::Work>, tiles: usize, at: &TileBounds) {
        let offsets: Vec<usize> = (0..tiles).map(|tile| tile * at.cols).collect();
        let images = self.images.chunks_exact(self.image_stride);
        let sums = self.sums.chunks_exact_mut(self.sum_stride);
        let mut pointers = Vec::with_capacity(tiles);
        for (point, (images, sums)) in images.zip(sums).enumerate().take(filter.0.len()) {
            let packed = &filter.0[point];
            pointers.clear();
            pointers.extend(images.chunks_exact(g.in_channels).take(tiles).map(<[_]>::as_ptr));
            let product = RowProduct {
                pointers: &pointers,
                run_len: g.in_channels,
                nothing: std::ptr::null(),
                packed,
                panels: packed.panels_over(at.col..at.col + at.cols),
                out: sums.as_mut_ptr(),
                offsets: &offsets,
                residual: std::ptr::null(),
                next: filter.0.get(point + 1),
                epilogue: Epilogue { bias: None, relu: false },
            };
            // SAFETY: each pointer refers to a row of `in_channels` elements, the matrix's depth.
            // `sums` has a row of the block's columns, which are those of the panels, at each
            // offset, and is borrowed exclusively.
            unsafe { product.run() };
        }
    }

    /// Computes `Aᵀ s A` for each tile and output channel, and applies the final operations. Parts
    /// with results that are not finite are added to `left_over`.
    fn transform_sums(
        &mut self,
        g: &Geometry,
        tiles: &Tiles,
        finish: &Finish<'_, T>,
        range: Range<usize>,
        (at, piece): (&TileBounds, &mut TileMut<'_, T>),
        left_over: &mut Vec<Part>,
    ) {
        let (height, width) = (g.window.y.output, g.window.x.output);
        let (cols, matrix) = (at.cols, self.sum_stride);
        for (row, tile) in range.enumerate() {
            let (image, y, x) = tiles.place(tile);
            let lines = (y..height.min(y + 2)).map(|y| (image * height + y) * width + x);
            let pairs = lines.map(|first| first..first + 2.min(width - x));
            for first in (0..cols).step_by(COLS) {
                let channels = first..cols.min(first + COLS);
                let mut nothing = [T::Work::ZERO; LANES];
                vectorize(|| {
                    for first in channels.clone().step_by(LANES) {
                        let sums = &self.sums[row * cols + first..];
                        transform_sums(sums, matrix, &mut self.line[first..], cols, &mut nothing);
                    }
                });
                if nothing.iter().any(|x| x.is_nan()) {
                    let rows = pairs.clone().map(|pair| pair.start - at.row..pair.end - at.row);
                    left_over.extend(rows.map(|rows| (rows, channels.clone())));
                }
            }
            for (pair, lines) in pairs.zip(self.line.chunks_exact_mut(2 * cols)) {
                for (pixel, line) in pair.zip(lines.chunks_exact_mut(cols)) {
                    finish.write(line, pixel * g.out_channels + at.col, piece.row_mut(pixel - at.row));
                }
            }
        }
    }
}

/// Transforms `LANES` channels of one tile. The rows of `Bᵀ` are `(1, 0, -1, 0)`, `(0, 1, 1, 0)`,
/// `(0, -1, 1, 0)`, `(0, 1, 0, -1)`.
#[inline(always)]
fn transform_image<T: ConvElement>(
    pixels: &[&[[T; LANES]]; POINTS],
    points: &mut [&mut [[T::Work; LANES]]; POINTS],
    at: usize,
) {
    let load = |point: usize| -> [T::Work; LANES] {
        let from = &pixels[point][at];
        std::array::from_fn(|lane| from[lane].widen())
    };
    let mut columns = [[[T::Work::ZERO; LANES]; 4]; 4];
    for (x, column) in columns.iter_mut().enumerate() {
        *column = image_line([load(x), load(4 + x), load(8 + x), load(12 + x)]);
    }
    for y in 0..4 {
        let line = image_line([columns[0][y], columns[1][y], columns[2][y], columns[3][y]]);
        for (x, values) in line.iter().enumerate() {
            points[y * 4 + x][at] = *values;
        }
    }
}

#[inline(always)]
fn image_line<E: Number>([a, b, c, d]: [[E; LANES]; 4]) -> [[E; LANES]; 4] {
    let each = |f: fn(E, E) -> E, x: &[E; LANES], y: &[E; LANES]| std::array::from_fn(|i| f(x[i], y[i]));
    [each(E::minus, &a, &c), each(E::plus, &b, &c), each(E::minus, &c, &b), each(E::minus, &b, &d)]
}

/// Computes the four results of `LANES` output channels of one tile, `cols` elements apart. The
/// rows of `Aᵀ` are `(1, 1, 1, 0)` and `(0, 1, -1, -1)`. Adds a NaN to `nothing` if one of them is
/// not finite.
#[inline(always)]
fn transform_sums<E: Number>(
    sums: &[E],
    matrix: usize,
    results: &mut [E],
    cols: usize,
    nothing: &mut [E; LANES],
) {
    let load = |point: usize| -> [E; LANES] {
        let from = &sums[point * matrix..][..LANES];
        std::array::from_fn(|lane| from[lane])
    };
    let mut columns = [[[E::ZERO; LANES]; 2]; 4];
    for (x, column) in columns.iter_mut().enumerate() {
        *column = sums_line([load(x), load(4 + x), load(8 + x), load(12 + x)]);
    }
    for y in 0..2 {
        let line = sums_line([columns[0][y], columns[1][y], columns[2][y], columns[3][y]]);
        for (x, values) in line.iter().enumerate() {
            results[(y * 2 + x) * cols..][..LANES].copy_from_slice(values);
            for (nothing, value) in nothing.iter_mut().zip(values) {
                *nothing = nothing.plus(value.times(E::ZERO));
            }
        }
    }
}

#[inline(always)]
fn sums_line<E: Number>([a, b, c, d]: [[E; LANES]; 4]) -> [[E; LANES]; 2] {
    [
        std::array::from_fn(|i| a[i].plus(b[i]).plus(c[i])),
        std::array::from_fn(|i| b[i].minus(c[i]).minus(d[i])),
    ]
}
