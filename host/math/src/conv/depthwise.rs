//! Depthwise convolution: every output channel sees one channel of the images.
//!
//! There is no matrix in it to speak of, so that each pixel of the output is summed channel by channel, tap after tap, over
//! slices that the compiler makes vectors of.

use super::pixel::Pixel;
use super::{Conv2dInput, ConvElement, Geometry};
use crate::simd::vectorize;
use crate::tile::TileBounds;
use crate::{Activation, Number, TileMut, ops};

/// Channels whose sums are kept in registers.
const LANES: usize = 32;

/// Where a tap's elements begin: among the images, and in the filter.
type Tap = (usize, usize);

/// Computes the pixels `at`, with all their channels, by a filter of a row for each tap and a column for each output channel.
pub(super) fn pixels<T: ConvElement>(
    g: &Geometry,
    (input, filter): (&Conv2dInput<'_, T>, &[T::Work]),
    activation: Activation,
    at: &TileBounds,
    piece: &mut TileMut<'_, T>,
) {
    let mut pixel = Pixel::new(&g.window, at.row);
    let (mut taps, mut sums) = (Vec::new(), vec![T::Work::ZERO; g.out_channels]);
    for row in 0..at.rows {
        find_taps(g, pixel, &mut taps);
        if g.out_channels == g.in_channels {
            sum_channels(input.x, filter, &taps, &mut sums);
        } else {
            sum_spread(input.x, filter, &taps, (g.in_channels, &mut sums));
        }
        let start = (at.row + row) * g.out_channels;
        for (channel, (out, &sum)) in piece.row_mut(row).iter_mut().zip(&sums).enumerate() {
            let mut sum = input.bias.map_or(sum, |bias| sum.plus(bias[channel].widen()));
            if let Some(residual) = input.residual {
                sum = sum.plus(residual[start + channel].widen());
            }
            *out = T::narrow(if activation == Activation::Relu { ops::relu(sum) } else { sum });
        }
        pixel = pixel.next(&g.window);
    }
}

/// The taps of a window that fall inside its image.
fn find_taps(g: &Geometry, pixel: Pixel, taps: &mut Vec<Tap>) {
    let (y, x) = (g.window.y, g.window.x);
    taps.clear();
    for tap_y in y.taps(pixel.y) {
        let Some(image_y) = y.position(pixel.y, tap_y) else { continue };
        for tap_x in x.taps(pixel.x) {
            let Some(image_x) = x.position(pixel.x, tap_x) else { continue };
            let image = ((pixel.image * y.input + image_y) * x.input + image_x) * g.in_channels;
            taps.push((image, (tap_y * x.window + tap_x) * g.out_channels));
        }
    }
}

/// One output channel for each of the images'.
fn sum_channels<T: ConvElement>(images: &[T], filter: &[T::Work], taps: &[Tap], sums: &mut [T::Work]) {
    for (block, sums) in sums.chunks_mut(LANES).enumerate() {
        let first = block * LANES;
        vectorize(|| match <&mut [T::Work; LANES]>::try_from(&mut *sums) {
            Ok(sums) => {
                // In a variable of its own, which the compiler keeps in registers.
                let mut whole = [T::Work::ZERO; LANES];
                for &(image, tap) in taps {
                    let (x, w) = (&images[image + first..][..LANES], &filter[tap + first..][..LANES]);
                    for ((sum, x), &w) in whole.iter_mut().zip(x).zip(w) {
                        *sum = sum.plus(x.widen().times(w));
                    }
                }
                *sums = whole;
            }
            Err(_) => {
                sums.fill(T::Work::ZERO);
                for &(image, tap) in taps {
                    let products = images[image + first..].iter().zip(&filter[tap + first..]);
                    for (sum, (x, &w)) in sums.iter_mut().zip(products) {
                        *sum = sum.plus(x.widen().times(w));
                    }
                }
            }
        });
    }
}

/// Several output channels, side by side, for each of the images'.
fn sum_spread<T: ConvElement>(
    images: &[T],
    filter: &[T::Work],
    taps: &[Tap],
    (channels, sums): (usize, &mut [T::Work]),
) {
    let multiplier = sums.len() / channels;
    sums.fill(T::Work::ZERO);
    for &(image, tap) in taps {
        let weights = filter[tap..][..sums.len()].chunks_exact(multiplier);
        let groups = sums.chunks_exact_mut(multiplier).zip(weights);
        for (x, (sums, weights)) in images[image..][..channels].iter().zip(groups) {
            let x = x.widen();
            sums.iter_mut().zip(weights).for_each(|(sum, &w)| *sum = sum.plus(x.times(w)));
        }
    }
}
