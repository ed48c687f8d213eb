//! Convolutions of bytes whose groups have one channel.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "instructions that a processor may lack"))]

use std::ops::Range;

use super::result::Columns;
use super::{ByteInput, ByteResult};
use crate::TileMut;
use crate::conv::Geometry;
use crate::tile::TileBounds;
use crate::window::Axis;

/// The channels that are summed up at a time.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only special instructions use it"))]
pub(super) const LANES: usize = 16;

/// The weights of all channels, with their zeros subtracted.
#[derive(Debug, Clone)]
pub(super) struct Weights {
    pub(super) channels: usize,
    /// For each two taps, two weights of each channel.
    pairs: Vec<i16>,
    /// The same for instructions that multiply bytes, if the weights are bytes.
    quads: Option<Quads>,
}

/// The channels of a block of [`Quads`].
pub(super) const BLOCK: usize = 32;

/// Weights of four taps at a time, for blocks of channels, and behind the last channel zeros.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only special instructions use it"))]
#[derive(Debug, Clone)]
struct Quads {
    /// For each block and each four taps, the weights of four channels from 0 on and of four from
    /// 16 on, then those from 4 and 20 on, and so forth; for each channel those of the four taps.
    weights: Vec<i8>,
    /// The sum of the weights of each channel.
    sums: Vec<i32>,
}

impl Quads {
    /// Lays out the weights that `weight` returns for a tap and a channel, if they are bytes.
    fn new(taps: usize, channels: usize, weight: impl Fn(usize, usize) -> i16) -> Option<Self> {
        let all = || (0..taps).flat_map(|tap| (0..channels).map(move |channel| (tap, channel)));
        if !has_quads() || all().any(|(tap, channel)| i8::try_from(weight(tap, channel)).is_err()) {
            return None;
        }
        let mut weights = Vec::new();
        for first in (0..channels).step_by(BLOCK) {
            for tap in (0..taps).step_by(4) {
                for channel in in_order(first) {
                    let weight =
                        |tap| if tap < taps && channel < channels { weight(tap, channel) } else { 0 };
                    weights.extend((tap..tap + 4).map(|tap| weight(tap) as i8));
                }
            }
        }
        let mut sums = vec![0; channels];
        all().for_each(|(tap, channel)| sums[channel] += i32::from(weight(tap, channel)));
        Some(Self { weights, sums })
    }
}

/// The channels of a block from `first` on, in the order of [`Quads`].
pub(super) fn in_order(first: usize) -> impl Iterator<Item = usize> {
    (0..BLOCK).map(move |at| first + at / 8 * 4 + at % 4 + if at % 8 < 4 { 0 } else { BLOCK / 2 })
}

/// Whether the processor has instructions for [`Quads`].
fn has_quads() -> bool {
    #[cfg(target_arch = "x86_64")]
    return super::quads::are_available();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

impl Weights {
    /// Lays out a filter, of which `bits` returns the byte of a tap and a channel.
    pub(super) fn new(
        g: &Geometry,
        bits: impl Fn(usize, usize) -> u8,
        is_signed: bool,
        zeros: &[i32],
    ) -> Self {
        let channels = g.groups;
        let weight = |tap: usize, channel: usize| {
            let (bits, zero) = (bits(tap, channel), zeros[channel % zeros.len()]);
            let weight = if is_signed { i32::from(bits as i8) } else { i32::from(bits) };
            weight.wrapping_sub(zero) as i16
        };
        let in_pairs = |at: usize| {
            let (tap, channel) = (at / (2 * channels) * 2 + at % 2, at / 2 % channels);
            if tap == g.depth { 0 } else { weight(tap, channel) }
        };
        let pairs = (0..g.depth.next_multiple_of(2) * channels).map(in_pairs).collect();
        Self { channels, pairs, quads: Quads::new(g.depth, channels, weight) }
    }
}

/// What the bits of a pixel are flipped by, and what is subtracted from it then.
#[derive(Clone, Copy)]
pub(super) struct Zero {
    pub(super) flip: u8,
    pub(super) zero: i16,
}

/// Computes the pixels `at`, with all their channels.
pub(super) fn pixels<O: ByteResult>(
    g: &Geometry,
    (input, weights): (&ByteInput<'_>, &Weights),
    at: &TileBounds,
    piece: &mut TileMut<'_, O>,
) {
    let channels = weights.channels;
    let (flip, distance) = input.left.as_unsigned();
    let zero = Zero { flip, zero: input.left_zero.wrapping_add(distance) as i16 };
    let mut offsets = input.bias.map_or_else(|| vec![0; channels], <[i32]>::to_vec);
    if let Some(quads) = &weights.quads {
        let zeros = quads.sums.iter().map(|sum| sum.wrapping_mul(zero.zero.into()));
        offsets.iter_mut().zip(zeros).for_each(|(offset, zero)| *offset = offset.wrapping_sub(zero));
    }
    let mut sink = Sink::new(weights, zero, Columns::new(input.rescale, 0, offsets));
    // Beyond the border there is what stands for zero: lines of it, too.
    let beyond = vec![zero.zero as u8 ^ flip; g.window.x.input.max(1) * channels];
    let mut taps = Vec::with_capacity(g.depth.next_multiple_of(4));
    let (height, width) = (g.window.y.output, g.window.x.output);
    let inside = whole_windows(&g.window.x);
    let mut row = 0;
    while row < at.rows {
        let (line, x) = ((at.row + row) / width, (at.row + row) % width);
        // Windows at the border stand alone, those between are one run.
        let end = if inside.contains(&x) { inside.end } else { x + 1 };
        let count = (end - x).min(at.rows - row);
        let step = g.window.x.stride * channels;
        find_taps(g, (input.left.bits(), &beyond), [line / height, line % height, x], &mut taps);
        let len = (count - 1) * step + channels;
        taps.iter_mut().for_each(|tap| *tap = &tap[..len]);
        sink.run(&Run { taps: &taps, step, count }, row, piece);
        row += count;
    }
}

/// The windows that lie inside the image.
fn whole_windows(axis: &Axis) -> Range<usize> {
    let reach = (axis.window - 1) * axis.dilation;
    let first = axis.before.div_ceil(axis.stride);
    let end = (axis.input + axis.before).checked_sub(reach + 1).map_or(0, |last| last / axis.stride + 1);
    first..end.min(axis.output).max(first)
}

/// Finds what is under all taps of the window of a pixel, of an image, at a row and a column, and
/// behind it up to the end of the line. As many taps are added as make a multiple of four.
fn find_taps<'a>(
    g: &Geometry,
    (bits, beyond): (&'a [u8], &'a [u8]),
    [image, y, x]: [usize; 3],
    taps: &mut Vec<&'a [u8]>,
) {
    let (window, channels) = (&g.window, g.in_channels);
    let len = window.x.input * channels;
    taps.clear();
    for tap_y in 0..window.y.window {
        let line = window.y.position(y, tap_y).map(|y| (image * window.y.input + y) * len);
        let line = line.map_or(beyond, |line| &bits[line..][..len]);
        taps.extend((0..window.x.window).map(|tap_x| {
            let at = window.x.position(x, tap_x);
            at.map_or(beyond, |x| &line[x * channels..])
        }));
    }
    taps.resize(g.depth.next_multiple_of(4), taps.first().copied().unwrap_or(beyond));
}

/// Pixels next to each other.
pub(super) struct Run<'a> {
    /// A multiple of four taps, with the channels of all pixels.
    pub(super) taps: &'a [&'a [u8]],
    /// From one pixel to the next.
    pub(super) step: usize,
    pub(super) count: usize,
}

/// What makes results of the pixels under taps.
struct Sink<'a> {
    weights: &'a Weights,
    zero: Zero,
    columns: Columns,
    /// What is done to the sums of blocks of channels.
    #[cfg(target_arch = "x86_64")]
    blocks: Vec<super::quads::Finish>,
    sums: Vec<i32>,
}

impl<'a> Sink<'a> {
    fn new(weights: &'a Weights, zero: Zero, columns: Columns) -> Self {
        #[cfg(target_arch = "x86_64")]
        let blocks = (0..weights.channels).step_by(BLOCK);
        Self {
            weights,
            zero,
            #[cfg(target_arch = "x86_64")]
            blocks: blocks.map(|first| super::quads::Finish::new(&columns, first)).collect(),
            columns,
            sums: Vec::new(),
        }
    }

    /// Computes pixels, which are rows of the piece from `row` on.
    fn run<O: ByteResult>(&mut self, run: &Run<'_>, row: usize, piece: &mut TileMut<'_, O>) {
        #[cfg(target_arch = "x86_64")]
        if let Some(quads) = &self.weights.quads {
            return self.run_quads(&quads.weights, run, row, piece);
        }
        let channels = self.weights.channels;
        self.sums.resize(channels, 0);
        // Weights are in pairs of taps, and taps fill up fours.
        let pairs = self.weights.pairs.len() / channels.max(1);
        for pixel in 0..run.count {
            let at = pixel * run.step;
            let taps: Vec<_> = run.taps[..pairs].iter().map(|tap| &tap[at..at + channels]).collect();
            self.sums.fill(0);
            add_products(&mut self.sums, &taps, &self.weights.pairs, self.zero);
            O::store(piece.row_mut(row + pixel), &self.sums, 0, &self.columns);
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn run_quads<O: ByteResult>(
        &mut self,
        weights: &[i8],
        run: &Run<'_>,
        row: usize,
        piece: &mut TileMut<'_, O>,
    ) {
        let (channels, flip, each) = (self.weights.channels, self.zero.flip, run.taps.len() * BLOCK);
        let len = (run.count - 1) * run.step + channels;
        assert!(run.taps.iter().all(|tap| tap.len() >= len), "taps have the channels of all pixels");
        let blocks = || weights.chunks_exact(each.max(1)).zip(&self.blocks).enumerate();
        if self.columns.are_small()
            && let Some(out) = piece.rows_mut(row..row + run.count)
            && let Some((out, is_signed)) = O::as_bytes(out)
        {
            assert_eq!(out.len(), run.count * channels, "there is room for all pixels");
            for (block, (weights, finish)) in blocks() {
                let first = block * BLOCK;
                let own = (first, BLOCK.min(channels - first));
                // SAFETY: weights were laid out because the processor has the instructions. Taps and
                // results have all channels of all pixels, as was asserted; `own` is a part of these.
                // A block's weights are as many as taps times channels, and numbers are small, as was
                // found.
                unsafe {
                    super::quads::bytes(run, (weights, flip), own, (finish, is_signed), (out, channels));
                }
            }
            return;
        }
        let padded = channels.next_multiple_of(BLOCK);
        self.sums.resize(run.count * padded, 0);
        for (block, (weights, _)) in blocks() {
            let first = block * BLOCK;
            let own = (first, BLOCK.min(channels - first));
            // SAFETY: weights were laid out because the processor has the instructions. Taps have all
            // channels of all pixels, as was asserted, each four taps have weights for each channel of
            // the block, and there is room for the sums of whole blocks.
            unsafe { super::quads::sums(run, (weights, flip), own, (&mut self.sums, padded)) };
        }
        for (pixel, sums) in self.sums.chunks_exact(padded.max(1)).take(run.count).enumerate() {
            O::store(piece.row_mut(row + pixel), &sums[..channels], 0, &self.columns);
        }
    }
}

/// Adds the products of pixels and weights for each channel.
fn add_products(sums: &mut [i32], taps: &[&[u8]], pairs: &[i16], zero: Zero) {
    let channels = sums.len();
    assert_eq!(taps.len() * channels, pairs.len(), "each tap has a weight of each channel");
    assert!(taps.iter().all(|tap| tap.len() >= channels), "taps have all channels");
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "no instructions do more"))]
    let mut first = 0;
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        let (whole, _) = sums.as_chunks_mut::<LANES>();
        for (block, sums) in whole.iter_mut().enumerate() {
            // SAFETY: the processor was just found to have AVX2. Each tap has all channels, and each
            // two taps have two weights of each of them, as was asserted. Those of the block are
            // among them.
            unsafe { super::x86::depthwise(sums, taps, (pairs, channels), block * LANES, zero) };
        }
        first = whole.len() * LANES;
    }
    for (taps, weights) in taps.chunks_exact(2).zip(pairs.chunks_exact((2 * channels).max(1))) {
        for channel in first..channels {
            let number = |tap: usize| i32::from(i16::from(taps[tap][channel] ^ zero.flip) - zero.zero);
            let products = (0..2).map(|tap| number(tap) * i32::from(weights[2 * channel + tap]));
            sums[channel] = products.fold(sums[channel], i32::wrapping_add);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widest numbers, whose products are added in pairs.
    #[test]
    fn products_of_extremes_are_exact() {
        for channels in [3, 16, 37] {
            let taps = [vec![255; channels], vec![0; channels], vec![255; channels], vec![7; channels]];
            let taps: Vec<&[u8]> = taps.iter().map(Vec::as_slice).collect();
            let weight = |at: usize| if at.is_multiple_of(3) { -255 } else { 255 - at as i16 };
            let pairs: Vec<i16> = (0..4 * channels).map(weight).collect();
            for (flip, zero) in [(0, 0), (0, 255), (0x80, 128)] {
                let mut sums = vec![5; channels];
                add_products(&mut sums, &taps, &pairs, Zero { flip, zero });
                for (channel, &sum) in sums.iter().enumerate() {
                    let product = |tap: usize| {
                        let weight = pairs[tap / 2 * 2 * channels + 2 * channel + tap % 2];
                        (i32::from(taps[tap][channel] ^ flip) - i32::from(zero)) * i32::from(weight)
                    };
                    assert_eq!(sum, 5 + (0..4).map(product).sum::<i32>(), "{channels} {channel}");
                }
            }
        }
    }
}
