//! The gradient of a convolution with respect to its images.
#![expect(unsafe_code, reason = "rows of results are reached through pointers")]

use std::marker::PhantomData;
use std::ops::Range;

use super::left::{BEYOND, CHUNK_ROWS, Left, in_work};
use super::{Conv2dShape, ConvElement, Geometry};
use crate::error::check_len;
use crate::micro::{Epilogue, Packed, PackedSource, RowProduct};
use crate::parallel::Chunks;
use crate::window::{Axis, Window};
use crate::{BlockOp, ShapeError};

/// Computes `dx` from the output's gradient `dy` and the filter.
///
/// With a stride of `s`, all taps over a pixel have the same residue modulo `s`. So the pixels of
/// each pair of residues (a *phase*) are a separate product: of the windows over them by the
/// transposed filter of those taps.
///
/// A block owns a band of image rows.
#[derive(Debug, Clone)]
pub struct ConvBackwardInput<T> {
    geometry: Geometry,
    chunks: Chunks,
    element: PhantomData<fn(T) -> T>,
}

/// A filter laid out for [`ConvBackwardInput`].
#[derive(Debug, Clone)]
pub struct PackedGradientFilter<T: ConvElement> {
    /// The shape that it was made for: windows, channels of images and output, groups.
    key: (Window, usize, usize, usize),
    phases: Vec<Phase<T>>,
}

/// The pixels under the same taps along both axes, and the matrix that they are multiplied by.
#[derive(Debug, Clone)]
struct Phase<T: ConvElement> {
    y: AxisPhase,
    x: AxisPhase,
    /// For each group: a row for each tap and output channel, a column for each input channel.
    groups: Vec<Packed<T::Work>>,
}

/// The positions along an axis that are under the same taps.
#[derive(Debug, Clone)]
struct AxisPhase {
    /// The first such position. The others follow at distances of the stride.
    first: usize,
    taps: Vec<usize>,
}

impl AxisPhase {
    /// Returns the phases that are under any tap.
    fn all(axis: &Axis) -> Vec<Self> {
        let mut phases: Vec<Self> = Vec::new();
        for tap in 0..axis.window {
            // The least position that differs from the tap's by a multiple of the stride.
            let (tap_at, before) = (tap * axis.dilation % axis.stride, axis.before % axis.stride);
            let first = (tap_at + (axis.stride - before)) % axis.stride;
            match phases.iter_mut().find(|phase| phase.first == first) {
                Some(phase) => phase.taps.push(tap),
                None if first < axis.input => phases.push(Self { first, taps: vec![tap] }),
                None => {}
            }
        }
        phases
    }

    /// Returns the positions of this phase in a range.
    fn positions(&self, axis: &Axis, among: &Range<usize>) -> impl Iterator<Item = usize> + Clone + use<> {
        let skipped = among.start.saturating_sub(self.first).div_ceil(axis.stride);
        (self.first + skipped * axis.stride..among.end).step_by(axis.stride)
    }

    /// Returns the window whose tap `tap` is over `position`, if there is one.
    fn window(axis: &Axis, position: usize, tap: usize) -> Option<usize> {
        let start = (position + axis.before).checked_sub(tap * axis.dilation)?;
        Some(start / axis.stride).filter(|&window| window < axis.output)
    }
}

impl<T: ConvElement> ConvBackwardInput<T> {
    /// Plans the gradient of the convolution with this shape, for about `workers` threads at a
    /// time.
    pub fn new(shape: &Conv2dShape, workers: usize) -> Result<Self, ShapeError> {
        let geometry = Geometry::new(shape)?;
        let Window { y, x } = geometry.window;
        let rows = geometry.batch.checked_mul(y.input).ok_or(ShapeError::TooLarge)?;
        let row_len = x.input.checked_mul(geometry.in_channels).ok_or(ShapeError::TooLarge)?;
        let band = rows.div_ceil(if workers > 1 { workers.saturating_mul(4) } else { 1 });
        // Bands have the same number of positions of each phase.
        let band = band.checked_next_multiple_of(y.stride.min(y.input.max(1))).unwrap_or(band).max(1);
        let chunks = Chunks::with_units_per_block(rows, row_len, band)?;
        Ok(Self { geometry, chunks, element: PhantomData })
    }

    /// Lays a filter (`HWIO`) out for this plan.
    pub fn pack_filter(&self, filter: &[T]) -> Result<PackedGradientFilter<T>, ShapeError> {
        let g = &self.geometry;
        check_len("filter", g.filter_len, filter.len())?;
        let Window { y, x } = g.window;
        let (cols, run_len) = (g.in_channels / g.groups, g.out_channels / g.groups);
        let mut phases = Vec::new();
        if filter.is_empty() {
            return Ok(PackedGradientFilter { key: self.key(), phases });
        }
        for (y, x) in
            AxisPhase::all(&y).iter().flat_map(|y| AxisPhase::all(&x).into_iter().map(move |x| (y, x)))
        {
            let pack = |group: usize| {
                let tap = |y: usize, x: usize| (y * g.window.x.window + x) * cols * g.out_channels;
                let taps =
                    y.taps.iter().flat_map(|&y| x.taps.iter().map(move |&x| tap(y, x) + group * run_len));
                let runs: Vec<usize> = taps.collect();
                let (row_stride, col_stride) = (1, g.out_channels);
                let source = PackedSource { data: filter, runs: &runs, run_len, row_stride, col_stride };
                Packed::pack(&source, cols, T::widen)
            };
            let groups = (0..g.groups).map(pack).collect::<Result<_, _>>()?;
            phases.push(Phase { y: y.clone(), x: x.clone(), groups });
        }
        Ok(PackedGradientFilter { key: self.key(), phases })
    }

    fn key(&self) -> (Window, usize, usize, usize) {
        let g = &self.geometry;
        (g.window, g.in_channels, g.out_channels, g.groups)
    }

    /// Computes the rows `band` of one image, whose elements are `out`.
    fn band(
        &self,
        image: usize,
        band: &Range<usize>,
        (dy, filter): (&[T], &PackedGradientFilter<T>),
        out: &mut [T],
    ) {
        let g = &self.geometry;
        let Window { y, x } = g.window;
        // Pixels under no tap have no product.
        out.fill(T::ZERO);
        let (out_len, out) = (out.len(), out.as_mut_ptr());
        let mut left = Left::new();
        let (mut pixels, mut offsets) = (Vec::new(), Vec::new());
        for phase in &filter.phases {
            pixels.clear();
            let columns = phase.x.positions(&x, &(0..x.input));
            for row in phase.y.positions(&y, band) {
                pixels.extend(columns.clone().map(|column| (row, column)));
            }
            for chunk in pixels.chunks(CHUNK_ROWS) {
                offsets.clear();
                offsets.extend(
                    chunk
                        .iter()
                        .map(|&(row, column)| ((row - band.start) * x.input + column) * g.in_channels),
                );
                assert!(offsets.iter().all(|offset| offset + g.in_channels <= out_len));
                // SAFETY: `out` is borrowed exclusively and has all channels at each offset, as
                // checked before.
                unsafe {
                    in_work(out, None, &offsets, g.in_channels, |out, residual, offsets| {
                        for (group, packed) in phase.groups.iter().enumerate() {
                            self.find_windows(phase, image, group, chunk, &mut left.starts);
                            let run_len = g.out_channels / g.groups;
                            left.point(dy, run_len);
                            let pointers = left.pointers();
                            // The offset of a group's channels within every pixel.
                            let out = out.add(group * packed.cols());
                            let epilogue = Epilogue { bias: None, relu: false };
                            let panels = 0..packed.panels();
                            RowProduct {
                                pointers,
                                run_len,
                                nothing: std::ptr::null(),
                                packed,
                                panels,
                                out,
                                offsets,
                                residual,
                                next: None,
                                epilogue,
                            }
                            .run();
                        }
                    });
                }
            }
        }
    }

    /// For each tap of a phase and each pixel, finds the start of the gradient of the window over
    /// it.
    fn find_windows(
        &self,
        phase: &Phase<T>,
        image: usize,
        group: usize,
        pixels: &[(usize, usize)],
        starts: &mut Vec<usize>,
    ) {
        let g = &self.geometry;
        let Window { y, x } = g.window;
        let channel = group * (g.out_channels / g.groups);
        starts.clear();
        for &tap_y in &phase.y.taps {
            for &tap_x in &phase.x.taps {
                starts.extend(pixels.iter().map(|&(row, column)| {
                    let at = (AxisPhase::window(&y, row, tap_y), AxisPhase::window(&x, column, tap_x));
                    let (Some(window_y), Some(window_x)) = at else { return BEYOND };
                    ((image * y.output + window_y) * x.output + window_x) * g.out_channels + channel
                }));
            }
        }
    }
}

impl<T: ConvElement> BlockOp for ConvBackwardInput<T> {
    /// The output's gradient (`NHWC`), then the filter.
    type Input<'a> = (&'a [T], &'a PackedGradientFilter<T>);
    type Output<'a> = &'a mut [T];
    type Piece<'a> = &'a mut [T];

    fn block_count(&self) -> usize {
        self.chunks.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.chunks.split(output)
    }

    fn run_block(
        &self,
        block: usize,
        (dy, filter): Self::Input<'_>,
        mut piece: &mut [T],
    ) -> Result<(), ShapeError> {
        let mut rows = self.chunks.units_of(block, piece.len())?;
        let g = &self.geometry;
        check_len("output gradient", g.output_len, dy.len())?;
        if filter.key != self.key() {
            return Err(ShapeError::Parameter(
                "the packed filter must be one of the same convolution's gradient",
            ));
        }
        let (height, row_len) = (g.window.y.input, g.window.x.input * g.in_channels);
        while !rows.is_empty() {
            let (image, start) = (rows.start / height, rows.start % height);
            let band = start..height.min(start + rows.len());
            let (out, rest) = piece.split_at_mut(band.len() * row_len);
            self.band(image, &band, (dy, filter), out);
            rows.start += band.len();
            piece = rest;
        }
        Ok(())
    }
}
