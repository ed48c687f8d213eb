//! Convolutions of bytes whose groups have one channel.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "instructions that a processor may lack"))]

use super::result::Columns;
use super::{ByteInput, ByteResult};
use crate::TileMut;
use crate::conv::Geometry;
use crate::tile::TileBounds;

/// The channels that are summed up at a time.
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

/// Weights of four taps at a time, for blocks of channels. The last block ends with the last
/// channel, so that it may overlap with the one before.
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
        if channels < BLOCK
            || !has_quads()
            || all().any(|(tap, channel)| i8::try_from(weight(tap, channel)).is_err())
        {
            return None;
        }
        let mut weights = Vec::new();
        for first in blocks(channels) {
            for tap in (0..taps).step_by(4) {
                for at in 0..BLOCK {
                    let channel = first + at / 8 * 4 + at % 4 + if at % 8 < 4 { 0 } else { BLOCK / 2 };
                    let taps =
                        (tap..tap + 4).map(|tap| if tap < taps { weight(tap, channel) as i8 } else { 0 });
                    weights.extend(taps);
                }
            }
        }
        let mut sums = vec![0; channels];
        all().for_each(|(tap, channel)| sums[channel] += i32::from(weight(tap, channel)));
        Some(Self { weights, sums })
    }
}

/// The first channels of the blocks.
fn blocks(channels: usize) -> impl Iterator<Item = usize> {
    (0..channels.div_ceil(BLOCK)).map(move |block| (block * BLOCK).min(channels - BLOCK))
}

/// Whether the processor has instructions for [`Quads`].
fn has_quads() -> bool {
    #[cfg(target_arch = "x86_64")]
    return super::x86::has_quads();
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
    let bias = input.bias.map_or_else(|| vec![0; channels], <[i32]>::to_vec);
    let (flip, distance) = input.left.as_unsigned();
    let zero = Zero { flip, zero: input.left_zero.wrapping_add(distance) as i16 };
    let mut offsets = bias;
    if let Some(quads) = &weights.quads {
        let zeros = quads.sums.iter().map(|sum| sum.wrapping_mul(zero.zero.into()));
        offsets.iter_mut().zip(zeros).for_each(|(offset, zero)| *offset = offset.wrapping_sub(zero));
    }
    let (columns, mut sums) = (Columns::new(input.rescale, 0, offsets), vec![0i32; channels]);
    // Beyond the border there is what stands for zero.
    let nothing = vec![zero.zero as u8 ^ flip; channels];
    let mut taps = Vec::with_capacity(g.depth.next_multiple_of(4));
    let (height, width) = (g.window.y.output, g.window.x.output);
    let (mut line, mut x) = (at.row / width, at.row % width);
    for row in 0..at.rows {
        find_taps(g, (input.left.bits(), &nothing), [line / height, line % height, x], &mut taps);
        (line, x) = if x + 1 == width { (line + 1, 0) } else { (line, x + 1) };
        match &weights.quads {
            Some(quads) => sum_up(&mut sums, &taps, &quads.weights, flip),
            None => {
                sums.fill(0);
                add_products(&mut sums, &taps, &weights.pairs, zero);
            }
        }
        O::store(piece.row_mut(row), &sums, 0, &columns);
    }
}

/// Finds the channels under all taps of the window of a pixel: of an image, at a row and a column.
/// As many are added as make a multiple of four.
fn find_taps<'a>(
    g: &Geometry,
    (bits, nothing): (&'a [u8], &'a [u8]),
    [image, y, x]: [usize; 3],
    taps: &mut Vec<&'a [u8]>,
) {
    let window = &g.window;
    taps.clear();
    for tap_y in 0..window.y.window {
        let line = window.y.position(y, tap_y).map(|y| (image * window.y.input + y) * window.x.input);
        taps.extend((0..window.x.window).map(|tap_x| {
            let pixel = line.zip(window.x.position(x, tap_x)).map(|(line, x)| line + x);
            pixel.map_or(nothing, |pixel| &bits[pixel * nothing.len()..][..nothing.len()])
        }));
    }
    taps.resize(g.depth.next_multiple_of(4), nothing);
}

/// Sets the sums of the products of pixels and weights, laid out as [`Quads`], for each channel.
/// Zeros are not subtracted.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "no instructions do this"))]
fn sum_up(sums: &mut [i32], taps: &[&[u8]], weights: &[i8], flip: u8) {
    #[cfg(target_arch = "x86_64")]
    for (first, weights) in blocks(sums.len()).zip(weights.chunks_exact(taps.len() * BLOCK)) {
        let Some(sums) = sums[first..].first_chunk_mut::<BLOCK>() else { return };
        // SAFETY: weights were laid out because the processor has the instructions. Each tap has all
        // channels, and each four taps have weights for each channel of the block.
        unsafe { super::x86::depthwise_quads(sums, taps, weights, first, flip) };
    }
}

/// Adds the products of pixels and weights for each channel.
fn add_products(sums: &mut [i32], taps: &[&[u8]], pairs: &[i16], zero: Zero) {
    let channels = sums.len();
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "no instructions do more"))]
    let mut first = 0;
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        let (whole, _) = sums.as_chunks_mut::<LANES>();
        for (block, sums) in whole.iter_mut().enumerate() {
            // SAFETY: the processor was just found to have AVX2. Each tap has all channels, each two
            // taps have two weights of each of them, and those of the block are among them.
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
