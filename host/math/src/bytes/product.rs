//! Products of bytes and convolutions of bytes.
#![expect(unsafe_code, reason = "tiles take pointers")]

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use super::filter::Groups;
use super::kernel::{Finish, GROUP, MOST_COLS, MOST_ROWS, Tile, kernel};
use super::left::{Chunk, Rows, Source};
use super::result::{Columns, subtract_zeros};
use super::{ByteFilter, ByteMatrix, ByteResult, Bytes, Rescale, depthwise};
use crate::conv::Geometry;
use crate::error::check_len;
use crate::matmul::choose_tiles;
use crate::shape::element_count;
use crate::tile::{Grid, TileBounds};
use crate::{BlockOp, Conv2dShape, ShapeError, TileMut};

/// How many times as many products of bytes as of floating-point numbers take the same time.
const FASTER: usize = 3;

/// The rows of a product's left operand.
#[derive(Debug, Clone)]
enum Left {
    Matrix { rows: usize, depth: usize },
    Windows(Box<Geometry>),
}

/// `y = finish(Σ (a − a₀) · (b − b₀) + bias)`, where the right operand is a [`ByteMatrix`] or a
/// [`ByteFilter`].
///
/// A block owns some rows (or pixels) and some columns (or channels) of the output.
#[derive(Clone)]
pub struct ByteProduct<O> {
    left: Left,
    grid: Grid,
    result: PhantomData<fn() -> O>,
}

impl<O> fmt::Debug for ByteProduct<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteProduct").field("left", &self.left).finish_non_exhaustive()
    }
}

/// The right operand of a product.
#[derive(Debug, Clone, Copy)]
enum Right<'a> {
    Matrix(&'a ByteMatrix),
    Filter(&'a ByteFilter),
}

/// The operands of [`ByteProduct`].
#[derive(Debug, Clone, Copy)]
pub struct ByteInput<'a> {
    /// The rows of a dense matrix, or images, `NHWC`.
    pub(super) left: Bytes<'a>,
    /// What stands for zero in it.
    pub(super) left_zero: i32,
    right: Right<'a>,
    /// Added to the sums of each column, if any.
    pub(super) bias: Option<&'a [i32]>,
    pub(super) rescale: Rescale<'a>,
}

impl<'a> ByteInput<'a> {
    /// Creates the operands of a matrix product: the rows and the integer that stands for zero in
    /// them, the matrix, and what makes results of the sums.
    pub fn matrix((left, left_zero): (Bytes<'a>, i32), right: &'a ByteMatrix, rescale: Rescale<'a>) -> Self {
        Self { left, left_zero, right: Right::Matrix(right), bias: None, rescale }
    }

    /// Creates the operands of a convolution: the images and the integer that stands for zero in
    /// them, the filter, and what makes results of the sums.
    pub fn convolution(
        (images, zero): (Bytes<'a>, i32),
        filter: &'a ByteFilter,
        rescale: Rescale<'a>,
    ) -> Self {
        Self { left: images, left_zero: zero, right: Right::Filter(filter), bias: None, rescale }
    }

    /// Adds integers to the sums, one for each column.
    #[must_use]
    pub fn plus(self, bias: Option<&'a [i32]>) -> Self {
        Self { bias, ..self }
    }
}

impl<O: ByteResult> ByteProduct<O> {
    /// Plans the product of a dense `rows` × `depth` matrix by one of `cols` columns for about
    /// `workers` threads at a time.
    ///
    /// # Errors
    /// TooLarge if an operand is.
    pub fn matrix(rows: usize, depth: usize, cols: usize, workers: usize) -> Result<Self, ShapeError> {
        for extents in [[rows, depth], [rows, cols]] {
            element_count(&extents)?;
        }
        let (tile_rows, tile_cols) = choose_tiles(1, rows, depth.div_ceil(FASTER), cols, workers);
        let grid = Grid { tile_rows, tile_cols, ..Grid::whole(rows, cols) };
        Ok(Self { left: Left::Matrix { rows, depth }, grid, result: PhantomData })
    }

    /// Plans a convolution for about `workers` threads at a time.
    ///
    /// # Errors
    /// What is wrong with the shape.
    pub fn convolution(shape: &Conv2dShape, workers: usize) -> Result<Self, ShapeError> {
        let g = Geometry::new(shape)?;
        let depth = if g.groups == 1 { g.depth.div_ceil(FASTER) } else { g.depth };
        let (tile_rows, tile_cols) = match choose_tiles(1, g.pixels, depth, g.out_channels, workers) {
            cut if g.groups == 1 => cut,
            // Blocks have whole groups.
            (rows, _) => (rows, g.out_channels.max(1)),
        };
        let grid = Grid { tile_rows, tile_cols, ..Grid::whole(g.pixels, g.out_channels) };
        Ok(Self { left: Left::Windows(Box::new(g)), grid, result: PhantomData })
    }

    /// Returns the number of elements of the left operand.
    fn left_len(&self) -> usize {
        match &self.left {
            Left::Matrix { rows, depth } => rows * depth,
            Left::Windows(g) => g.input_len,
        }
    }

    fn check(&self, input: &ByteInput<'_>) -> Result<(), ShapeError> {
        check_len("left operand", self.left_len(), input.left.len())?;
        match (&self.left, input.right) {
            (Left::Matrix { depth, .. }, Right::Matrix(right)) => {
                check_len("rows of the right matrix", *depth, right.depth())?;
                check_len("columns of the right matrix", self.grid.cols, right.cols())?;
            }
            (Left::Windows(g), Right::Filter(filter)) => filter.check(g)?,
            _ => return Err(ShapeError::Parameter("a matrix has no filter, and images have no matrix")),
        }
        if let Some(bias) = input.bias {
            check_len("bias", self.grid.cols, bias.len())?;
        }
        input.rescale.check(self.grid.cols)
    }

    /// Computes rows and columns `at` of one group, whose columns begin at `first`.
    fn group(
        &self,
        input: &ByteInput<'_>,
        (right, group, first): (&ByteMatrix, usize, usize),
        at: &TileBounds,
        piece: &mut TileMut<'_, O>,
    ) {
        let (_, distance) = input.left.as_unsigned();
        let zero = input.left_zero.wrapping_add(distance);
        let bias = input.bias.map(|bias| &bias[first..][..right.cols()]);
        let columns = Columns::new(input.rescale, first, right.offsets(zero, bias));
        // Within the group.
        let cols = at.col.max(first) - first..(at.col + at.cols).min(first + right.cols()) - first;
        let source = match &self.left {
            Left::Matrix { depth, .. } => Source::Matrix { depth: *depth },
            Left::Windows(g) => Source::Windows { g, group },
        };
        let mut rows = Rows::new(source, (input.left, zero as u8), right);
        let mut start = 0;
        while start < at.rows {
            let chunk = rows.take(at.row + start..at.row + at.rows, kernel().rows);
            let place = Place { first, skipped: at.col, start };
            multiply(&chunk, right, (&columns, cols.clone()), &place, piece);
            start += chunk.starts.len().max(1);
        }
    }
}

/// Where results belong: the first column of the group, the first one of the piece, and the first row
/// of the piece.
struct Place {
    first: usize,
    skipped: usize,
    start: usize,
}

/// Multiplies rows by columns of a matrix.
fn multiply<O: ByteResult>(
    chunk: &Chunk<'_>,
    right: &ByteMatrix,
    (columns, cols): (&Columns, Range<usize>),
    place: &Place,
    piece: &mut TileMut<'_, O>,
) {
    let kernel = kernel();
    let mut sums = [0; MOST_ROWS * MOST_COLS];
    assert_eq!(chunk.taps.len() * chunk.groups, right.depth().div_ceil(GROUP), "the panel has all taps");
    let reach = chunk.taps.iter().max().map_or(0, |tap| tap + chunk.groups * GROUP);
    assert!(chunk.starts.iter().all(|start| start + reach <= chunk.bytes.len()), "rows have whole taps");
    for panel in cols.start / kernel.cols..cols.end.div_ceil(kernel.cols) {
        let own = panel * kernel.cols..cols.end.min((panel + 1) * kernel.cols);
        let (elements, col) = (right.panel(panel), place.first + own.start - place.skipped);
        for first in (0..chunk.starts.len()).step_by(kernel.rows) {
            let starts = &chunk.starts[first..chunk.starts.len().min(first + kernel.rows)];
            let mut rows = [chunk.bytes.as_ptr(); MOST_ROWS];
            for (row, start) in rows.iter_mut().zip(starts) {
                *row = chunk.bytes[*start..].as_ptr();
            }
            let row = place.start + first;
            let finish = if kernel.finishes && chunk.sums.is_empty() && columns.are_small() {
                finish(piece, row..row + starts.len(), (columns, col, own.clone()))
            } else {
                None
            };
            let tile = Tile {
                rows,
                taps: chunk.taps,
                groups: chunk.groups,
                panel: elements.as_ptr(),
                sums: sums.as_mut_ptr(),
                finish: finish.as_ref(),
            };
            // SAFETY: `kernel` returns tiles of this processor, and they have no more rows than
            // `sums` has room for. All taps of the rows are among the chunk's bytes, as was asserted,
            // and the panel has as many groups for each of the kernel's columns, of which `own` has at
            // least one and no more than all. `finish` returns numbers for whole panels and rows with
            // room for these columns.
            unsafe { (kernel.tile)(starts.len(), own.len().div_ceil(kernel.lanes), &tile) };
            if finish.is_some() {
                continue;
            }
            let sums = &mut sums[..starts.len() * MOST_COLS];
            if let Some(row_sums) = chunk.sums.get(first..first + starts.len()) {
                subtract_zeros(sums, &right.zeros()[own.clone()], row_sums);
            }
            for (at, sums) in sums.chunks_exact(MOST_COLS).enumerate() {
                let out = &mut piece.row_mut(row + at)[col..];
                O::store(&mut out[..own.len()], &sums[..own.len()], own.start, columns);
            }
        }
    }
}

/// Returns what makes results of the sums of some rows of a piece, if they are bytes: of its columns
/// from `col` on, which are `own` among the group's.
fn finish<'a, O: ByteResult>(
    piece: &mut TileMut<'_, O>,
    rows: Range<usize>,
    (columns, col, own): (&'a Columns, usize, Range<usize>),
) -> Option<Finish<'a>> {
    let (mut out, mut is_signed) = ([std::ptr::null_mut(); MOST_ROWS], false);
    for (out, row) in out.iter_mut().zip(rows) {
        let (bytes, are_signed) = O::as_bytes(&mut piece.row_mut(row)[col..col + own.len()])?;
        (*out, is_signed) = (bytes.as_mut_ptr(), are_signed);
    }
    Some(columns.finish(own, is_signed, out))
}

impl<O: ByteResult> BlockOp for ByteProduct<O> {
    type Input<'a> = ByteInput<'a>;
    type Output<'a> = &'a mut [O];
    type Piece<'a> = TileMut<'a, O>;

    fn block_count(&self) -> usize {
        self.grid.tile_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        check_len("output", self.grid.len()?, output.len())?;
        TileMut::grid(output, &self.grid)
    }

    fn run_block(
        &self,
        block: usize,
        input: ByteInput<'_>,
        mut piece: TileMut<'_, O>,
    ) -> Result<(), ShapeError> {
        let at = self.grid.tile(block)?;
        piece.check(&at)?;
        self.check(&input)?;
        match (&self.left, input.right) {
            (_, Right::Matrix(right)) => self.group(&input, (right, 0, 0), &at, &mut piece),
            (Left::Windows(g), Right::Filter(filter)) => match &filter.groups {
                Groups::Depthwise(weights) => depthwise::pixels(g, (&input, weights), &at, &mut piece),
                Groups::Matrices(groups) => {
                    let each = g.out_channels / g.groups;
                    for (group, right) in groups.iter().enumerate() {
                        self.group(&input, (right, group, group * each), &at, &mut piece);
                    }
                }
            },
            (Left::Matrix { .. }, Right::Filter(_)) => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::FilterOrder;
    use crate::quantize::{Quantized, nearest};
    use crate::{Extent2, Layout, Padding, Serial};

    /// Numbers without a pattern, with both extremes among them.
    fn numbers(count: usize, seed: u32) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..count).map(|_| next()).collect()
    }

    fn value(bytes: Bytes<'_>, at: usize) -> i32 {
        match bytes {
            Bytes::Signed(bytes) => bytes[at].into(),
            Bytes::Unsigned(bytes) => bytes[at].into(),
        }
    }

    /// Both kinds of these bytes.
    fn kinds(bytes: &[u8]) -> [Bytes<'_>; 2] {
        [Bytes::Unsigned(bytes), Bytes::Signed(bytemuck::cast_slice(bytes))]
    }

    #[test]
    fn matrix_products_are_those_of_the_definition() {
        for (rows, depth, cols) in
            [(1, 5, 3), (7, 64, 70), (13, 130, 17), (200, 900, 130), (3, 0, 4), (0, 4, 4), (2, 3, 0)]
        {
            let (a, b) = (numbers(rows * depth, 1), numbers(depth * cols, 2));
            let each: Vec<i32> = (0..cols as i32).map(|col| col % 7 - 3).collect();
            let bias: Vec<i32> = (0..cols as i32).map(|col| 1000 - col).collect();
            for (left, right) in kinds(&a).into_iter().flat_map(|a| kinds(&b).map(|b| (a, b))) {
                for zeros in [&[0][..], &[-128], &[200], &each] {
                    if zeros.is_empty() {
                        continue;
                    }
                    let layout = Layout::row_major(depth, cols);
                    let matrix = ByteMatrix::new((depth, cols), (right, layout), zeros).unwrap();
                    assert!(matrix.fits((depth, cols), right, zeros));
                    let plan = ByteProduct::<i32>::matrix(rows, depth, cols, 2).unwrap();
                    let input = ByteInput::matrix((left, 3), &matrix, Rescale::NONE).plus(Some(&bias));
                    let mut out = vec![1; rows * cols];
                    plan.run(&Serial, input, &mut out).unwrap();
                    for (at, &sum) in out.iter().enumerate() {
                        let (row, col) = (at / cols, at % cols);
                        let product = |k: usize| {
                            (value(left, row * depth + k) - 3)
                                * (value(right, k * cols + col) - zeros[col % zeros.len()])
                        };
                        assert_eq!(sum, (0..depth).map(product).sum::<i32>() + bias[col], "{rows} {depth}");
                    }
                }
            }
        }
    }

    #[test]
    fn results_are_scaled_and_rounded() {
        let (a, b) = (numbers(3 * 40, 5), numbers(40 * 21, 6));
        let (left, right) = (Bytes::Unsigned(&a), Bytes::Signed(bytemuck::cast_slice(&b)));
        let matrix = ByteMatrix::new((40, 21), (right, Layout::row_major(40, 21)), &[1]).unwrap();
        let mut sums = vec![0; 3 * 21];
        let plan = ByteProduct::<i32>::matrix(3, 40, 21, 1).unwrap();
        plan.run(&Serial, ByteInput::matrix((left, 128), &matrix, Rescale::NONE), &mut sums).unwrap();
        let scales: Vec<f32> = (0..21).map(|col| 1.0 / (700.0 + col as f32)).collect();
        let bias: Vec<f32> = (0..21).map(|col| col as f32 / 4.0).collect();
        let mut floats = vec![0.0; 3 * 21];
        let rescale = Rescale { scales: &scales, bias: Some(&bias), zero: 0 };
        let plan = ByteProduct::<f32>::matrix(3, 40, 21, 1).unwrap();
        plan.run(&Serial, ByteInput::matrix((left, 128), &matrix, rescale), &mut floats).unwrap();
        let mut bytes = vec![0i8; 3 * 21];
        let rescale = Rescale { scales: &scales, bias: None, zero: -100 };
        let plan = ByteProduct::<i8>::matrix(3, 40, 21, 1).unwrap();
        plan.run(&Serial, ByteInput::matrix((left, 128), &matrix, rescale), &mut bytes).unwrap();
        assert!(bytes.contains(&-128) && bytes.iter().any(|&byte| byte > -100));
        for (at, &sum) in sums.iter().enumerate() {
            let col = at % 21;
            assert_eq!(floats[at], sum as f32 * scales[col] + bias[col]);
            let expected = (sum as f32 * scales[col]).round_ties_even() as i32 - 100;
            assert_eq!(i32::from(bytes[at]), expected.clamp(-128, 127));
        }
    }

    #[test]
    fn convolutions_are_those_of_the_definition() {
        let [one, two, three] = [1, 2, 3].map(|extent| Extent2::new(extent, extent));
        let uneven = Padding::Explicit { top: 1, bottom: 2, left: 2, right: 0 };
        let wide = Padding::Explicit { top: 9, bottom: 8, left: 8, right: 9 };
        for (channels, outputs, groups, filter, strides, dilations, padding) in [
            (3, 5, 1, three, one, one, uneven),
            (3, 5, 1, Extent2::new(7, 5), two, one, uneven),
            (16, 70, 1, one, one, one, uneven),
            // These are read where they are, or where lines are copied.
            (16, 70, 1, one, one, one, Padding::Valid),
            (4, 17, 1, one, two, one, Padding::Valid),
            (6, 64, 1, one, one, one, Padding::Valid),
            (8, 65, 1, Extent2::new(3, 2), one, two, Padding::Valid),
            (4, 3, 1, three, one, Extent2::new(1, 2), uneven),
            (6, 3, 1, three, two, two, uneven),
            (4, 20, 1, three, Extent2::new(3, 2), Extent2::new(2, 1), wide),
            (8, 12, 4, Extent2::new(3, 2), Extent2::new(2, 1), one, uneven),
            (70, 70, 70, three, Extent2::new(1, 2), Extent2::new(2, 1), uneven),
            (32, 32, 32, Extent2::new(5, 5), one, one, uneven),
            (17, 17, 17, three, two, one, wide),
            (6, 6, 6, Extent2::new(2, 3), one, one, Padding::Valid),
            (6, 12, 6, Extent2::new(2, 3), one, Extent2::new(1, 2), uneven),
        ] {
            let images = (2, Extent2::new(7, 6), channels);
            let shape = Conv2dShape {
                groups,
                strides,
                dilations,
                ..Conv2dShape::new(images, (filter, outputs), padding)
            };
            let g = Geometry::new(&shape).unwrap();
            let (x, w) = (numbers(g.input_len, 3), numbers(g.filter_len, 4));
            let zeros: Vec<i32> = (0..outputs as i32).collect();
            let bias: Vec<i32> = (0..outputs as i32).map(|o| o * 10).collect();
            for (x, w) in kinds(&x).into_iter().flat_map(|x| kinds(&w).map(|w| (x, w))) {
                for zeros in [&[0][..], &zeros] {
                    let filter = ByteFilter::new(&shape, (w, FilterOrder::Oihw), zeros).unwrap();
                    assert!(filter.fits(&shape, (w, FilterOrder::Oihw), zeros));
                    let plan = ByteProduct::<i32>::convolution(&shape, 2).unwrap();
                    let mut out = vec![0; g.output_len];
                    let input = ByteInput::convolution((x, 9), &filter, Rescale::NONE).plus(Some(&bias));
                    plan.run(&Serial, input, &mut out).unwrap();
                    assert!(out == by_definition(&g, (x, 9), (w, zeros), &bias), "{shape:?} {zeros:?}");
                    bytes_are_scaled_sums::<u8>((&plan.left, input), &out);
                    bytes_are_scaled_sums::<i8>((&plan.left, input), &out);
                }
            }
        }
    }

    /// Checks results of bytes, whatever the scales: of these some are too small or too large and one
    /// is no number.
    fn bytes_are_scaled_sums<O>((left, input): (&Left, ByteInput<'_>), sums: &[i32])
    where
        O: ByteResult + Quantized + PartialEq,
    {
        let Left::Windows(g) = left else { return };
        let outputs = g.out_channels;
        for (step, odd) in [(1e-5, 1e-5), (1e-7, f32::NAN), (0.4, 3.0), (1e-4, f32::INFINITY)] {
            let scale = |col: usize| if col == 1 { odd } else { step * (1.0 + col as f32) };
            let scales: Vec<f32> = (0..outputs).map(scale).collect();
            let bias: Vec<f32> = (0..outputs).map(|col| 2.5 - col as f32).collect();
            let rescale = Rescale { scales: &scales, bias: Some(&bias), zero: O::GREATEST - 100 };
            let plan = ByteProduct::<O> {
                left: Left::Windows(g.clone()),
                grid: Grid { tile_rows: 5, ..Grid::whole(g.pixels, outputs) },
                result: PhantomData,
            };
            let mut out = vec![O::from_integer(1); sums.len()];
            plan.run(&Serial, ByteInput { rescale, ..input }, &mut out).unwrap();
            for (at, &sum) in sums.iter().enumerate() {
                let number = sum as f32 * scales[at % outputs] + bias[at % outputs];
                let expected: O = nearest(number, rescale.zero);
                assert!(out[at] == expected, "{number} in {at} of {g:?}");
            }
        }
    }

    /// Lines of an image that is too wide to be copied at once.
    #[test]
    fn windows_of_wide_images_are_brought_together() {
        let (width, channels) = (3000, 160);
        let images = (1, Extent2::new(3, width), channels);
        let padding = Padding::Explicit { top: 1, bottom: 1, left: 1, right: 1 };
        let shape = Conv2dShape::new(images, (Extent2::new(3, 3), 2), padding);
        let g = Geometry::new(&shape).unwrap();
        let (x, w) = (numbers(g.input_len, 3), numbers(g.filter_len, 4));
        let (x, w) = (Bytes::Unsigned(&x), Bytes::Signed(bytemuck::cast_slice(&w)));
        let filter = ByteFilter::new(&shape, (w, FilterOrder::Oihw), &[0]).unwrap();
        let plan = ByteProduct::<i32>::convolution(&shape, 1).unwrap();
        let mut out = vec![0; g.output_len];
        plan.run(&Serial, ByteInput::convolution((x, 9), &filter, Rescale::NONE), &mut out).unwrap();
        assert!(out == by_definition(&g, (x, 9), (w, &[0]), &[0; 2]));
    }

    fn by_definition(g: &Geometry, x: (Bytes<'_>, i32), w: (Bytes<'_>, &[i32]), bias: &[i32]) -> Vec<i32> {
        let (window, each) = (&g.window, g.in_channels / g.groups);
        let sum = |at: usize| {
            let (pixel, output) = (at / g.out_channels, at % g.out_channels);
            let (row, column) = (pixel / window.x.output, pixel % window.x.output);
            let (image, row) = (row / window.y.output, row % window.y.output);
            let mut sum = bias[output];
            for tap in 0..window.y.window * window.x.window {
                let (y, x_at) = (
                    window.y.position(row, tap / window.x.window),
                    window.x.position(column, tap % window.x.window),
                );
                let (Some(y), Some(x_at)) = (y, x_at) else { continue };
                let pixel = (image * window.y.input + y) * window.x.input + x_at;
                for channel in 0..each {
                    let own = output / (g.out_channels / g.groups) * each + channel;
                    let weight = value(w.0, (output * each + channel) * (g.depth / each) + tap);
                    sum +=
                        (value(x.0, pixel * g.in_channels + own) - x.1) * (weight - w.1[output % w.1.len()]);
                }
            }
            sum
        };
        (0..g.output_len).map(sum).collect()
    }

    #[test]
    fn operands_that_do_not_fit_are_errors() {
        let bytes = numbers(12, 1);
        let right = (Bytes::Unsigned(&bytes), Layout::row_major(4, 3));
        assert!(ByteMatrix::new((4, 4), (right.0, Layout::row_major(4, 4)), &[0]).is_err());
        assert!(ByteMatrix::new((4, 3), right, &[0, 1]).is_err());
        let matrix = ByteMatrix::new((4, 3), right, &[0]).unwrap();
        let plan = ByteProduct::<i32>::matrix(3, 4, 3, 1).unwrap();
        let mut out = vec![0; 9];
        let short = ByteInput::matrix((Bytes::Unsigned(&bytes[1..]), 0), &matrix, Rescale::NONE);
        assert!(plan.run(&Serial, short, &mut out).is_err());
        let input = ByteInput::matrix((Bytes::Unsigned(&bytes), 0), &matrix, Rescale::NONE);
        assert!(plan.run(&Serial, input.plus(Some(&[1, 2])), &mut out).is_err());
        assert!(plan.run(&Serial, input, &mut out[1..]).is_err());
        let shape = Conv2dShape::new((1, Extent2::new(2, 2), 1), (Extent2::new(1, 1), 3), Padding::Valid);
        let images = ByteProduct::<i32>::convolution(&shape, 1).unwrap();
        let input = ByteInput::matrix((Bytes::Unsigned(&bytes[..4]), 0), &matrix, Rescale::NONE);
        assert!(images.run(&Serial, input, &mut [0; 12]).is_err());
        assert!(ByteFilter::new(&shape, (Bytes::Unsigned(&bytes), FilterOrder::Hwio), &[0]).is_err());
    }
}
