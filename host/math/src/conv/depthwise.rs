//! Depthwise convolution: every output channel depends on a single channel of the images.
//!
//! There is no matrix product, so each pixel of the output is summed channel by channel and tap by
//! tap. If there are as many output channels as input channels, several neighbouring pixels are
//! summed together in registers.
#![expect(unsafe_code, reason = "tiles take pointers")]

use std::{ops::Range, ptr};

use super::pixel::Pixel;
use super::{Conv2dInput, ConvElement, Geometry};
use crate::micro::{
    LineKernel, LineTile, MicroElement, ROWS, Store, TapTile, WINDOWS, even_tiles, has_kernel,
};
use crate::simd::vectorize;
use crate::tile::TileBounds;
use crate::{Activation, Number, TileMut, ops};

/// The number of channels whose sums are kept in registers.
const LANES: usize = 32;

/// The start of a tap's elements, among the images and in the filter.
type Tap = (usize, usize);

/// Computes the pixels `at`, with all their channels. The filter has a row for each tap and a
/// column for each output channel.
pub(super) fn pixels<T: ConvElement>(
    g: &Geometry,
    (input, filter): (&Conv2dInput<'_, T>, &[T::Work]),
    activation: Activation,
    at: &TileBounds,
    piece: &mut TileMut<'_, T>,
) {
    if g.out_channels == g.in_channels
        && let Some(images) = T::as_work(input.x)
        && let Some(out) = T::as_work_mut(piece.as_mut_ptr())
    {
        let bias = input.bias.and_then(T::as_work).map_or(ptr::null(), <[_]>::as_ptr);
        let residual = input.residual.and_then(T::as_work);
        let store = Store {
            out,
            offsets: ptr::null(),
            accumulate: false,
            bias,
            residual: residual.map_or(ptr::null(), |residual| residual[at.row * g.out_channels..].as_ptr()),
            relu: activation == Activation::Relu,
            part: 0,
        };
        let pixels = at.row..at.row + piece.rows();
        // SAFETY: the piece is an exclusive window of consecutive whole rows of the output. The
        // residual has the same layout, and the bias has an element for each channel.
        unsafe {
            match line_kernel(g) {
                Some(kernel) => lines(g, kernel, (images, filter), pixels, &store),
                None => tiles(g, (images, filter), pixels, &store),
            }
        }
        return;
    }
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

/// The kernel for windows of one line, if there is one for these windows and channels enough for a
/// vector.
fn line_kernel<E: MicroElement>(g: &Geometry) -> Option<LineKernel<E>> {
    let (micro, x) = (E::micro(), &g.window.x);
    let fits = x.dilation == 1 && has_kernel(x.window, x.stride) && g.out_channels >= micro.lanes;
    micro.line_tile.filter(|_| fits)
}

/// Computes pixels by tiles of neighbours in one line.
///
/// # Safety
/// As for [`tiles`]. The kernel is that of the windows' [`line_kernel`].
///
/// # Panics
/// If the images or the filter are smaller than the geometry says.
unsafe fn lines<E: MicroElement>(
    g: &Geometry,
    kernel: LineKernel<E>,
    (images, filter): (&[E], &[E]),
    pixels: Range<usize>,
    store: &Store<E>,
) {
    assert!(images.len() >= g.input_len && filter.len() >= g.filter_len);
    let channels = g.out_channels;
    let (y, x) = (&g.window.y, &g.window.x);
    let offsets: [usize; WINDOWS] = std::array::from_fn(|row| row * channels);
    let mut lines = Vec::with_capacity(y.window);
    let mut at = pixels.start;
    while at < pixels.end {
        let pixel = Pixel::new(&g.window, at);
        let end = at + (x.output - pixel.x).min(pixels.end - at);
        lines.clear();
        lines.extend(y.taps(pixel.y).filter_map(|tap| {
            let line = (pixel.image * y.input + y.position(pixel.y, tap)?) * x.input * channels;
            // The first window's first pixel may be before the line.
            let left = images[line..].as_ptr().wrapping_sub(x.before * channels);
            let left = left.wrapping_add(pixel.x * x.stride * channels);
            Some((left, filter[tap * x.window * channels..].as_ptr()))
        }));
        for windows in even_tiles(end - at, WINDOWS) {
            let start = (at + windows.start - pixels.start) * channels;
            let skip = windows.start * x.stride * channels;
            let left = (pixel.x + windows.start) * x.stride;
            let covered = (windows.len() - 1) * x.stride + x.window;
            let end = (x.input + x.before).saturating_sub(left).min(covered);
            let inside = (x.before.saturating_sub(left).min(end), end);
            // SAFETY: by the contract, `kernel` is what `line_kernel` gives: that of these taps and this
            // stride, for a processor that has it, and only where there are channels enough for a
            // vector. `inside` names only pixels of the line, each pixel and each tap has all
            // channels, and the lengths were checked above. The rows of the windows are among
            // `pixels`, whose output the caller promises.
            unsafe {
                let store = Store { offsets: offsets.as_ptr(), ..store.at(start, 0) };
                let tile = LineTile { lines: &lines, skip, step: channels, inside, store };
                kernel(windows.len(), x.window, x.stride, &tile);
            }
        }
        at = end;
    }
}

/// Computes pixels by tiles of neighbours that have the same taps.
///
/// # Safety
/// `store` has a row of all channels for each pixel, from the first pixel on. Nothing else accesses
/// these rows.
///
/// # Panics
/// If the images or the filter are smaller than the geometry says.
unsafe fn tiles<E: MicroElement>(
    g: &Geometry,
    (images, filter): (&[E], &[E]),
    pixels: Range<usize>,
    store: &Store<E>,
) {
    assert!(images.len() >= g.input_len && filter.len() >= g.filter_len);
    let (micro, channels) = (E::micro(), g.out_channels);
    let offsets: [usize; ROWS] = std::array::from_fn(|row| row * channels);
    let (mut taps, mut pointers) = (Vec::new(), Vec::new());
    let step = g.window.x.stride * channels;
    let mut at = pixels.start;
    while at < pixels.end {
        let pixel = Pixel::new(&g.window, at);
        find_taps(g, pixel, &mut taps);
        pointers.clear();
        pointers.extend(taps.iter().map(|&(image, tap)| (images[image..].as_ptr(), filter[tap..].as_ptr())));
        let end = at + neighbours(g, pixel).min(pixels.end - at);
        // The same taps serve all neighbours: those of the next pixel are `step` elements further
        // on.
        for rows in even_tiles(end - at, ROWS) {
            let start = (at + rows.start - pixels.start) * channels;
            for first in (0..channels).step_by(micro.cols) {
                let cols = micro.cols.min(channels - first);
                // SAFETY: `micro` has kernels that this processor supports. Each tap is inside the
                // image for all of these pixels, which are `stride` pixels apart there. Taps and
                // filter have all channels. The caller promises the rest.
                unsafe {
                    let (offsets, part) = (offsets.as_ptr(), cols % micro.lanes);
                    let store = Store { offsets, part, ..store.at(start, first) };
                    let skip = rows.start * step;
                    let tile = TapTile { taps: &pointers, skip, step, first, store };
                    (micro.tap_tile)(rows.len(), cols.div_ceil(micro.lanes), &tile);
                }
            }
        }
        at = end;
    }
}

/// Returns the number of pixels of one line, from this one on, for which all taps of their windows'
/// lines are inside the image.
fn neighbours(g: &Geometry, pixel: Pixel) -> usize {
    let x = &g.window.x;
    let is_inside = |at: usize| x.taps(at).len() == x.window;
    if !is_inside(pixel.x) {
        return 1;
    }
    // Windows move to the right, so that those inside are adjacent.
    let (mut inside, mut outside) = (pixel.x, x.output);
    while inside + 1 < outside {
        let middle = inside.midpoint(outside);
        if is_inside(middle) { inside = middle } else { outside = middle }
    }
    inside + 1 - pixel.x
}

/// Finds the taps of a window that are inside its image.
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

/// Computes one output channel for each channel of the images.
fn sum_channels<T: ConvElement>(images: &[T], filter: &[T::Work], taps: &[Tap], sums: &mut [T::Work]) {
    for (block, sums) in sums.chunks_mut(LANES).enumerate() {
        let first = block * LANES;
        vectorize(|| match <&mut [T::Work; LANES]>::try_from(&mut *sums) {
            Ok(sums) => {
                // In a local variable, which the compiler keeps in registers.
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

/// Computes several adjacent output channels for each channel of the images.
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
