//! The kernel of a depthwise convolution along a line of pixels.
//!
//! Windows that lie beside each other share most of their pixels. So a pixel is loaded once, and
//! multiplied by a weight for each window that it is in.
#![expect(unsafe_code, reason = "operands are reached through pointers, in registers of a fixed number")]

use super::Store;
use super::tile::{Vector, each, store};

/// The greatest number of windows of a tile: the lines of usual networks are multiples of it.
pub(crate) const WINDOWS: usize = 7;

/// Computes `out[w, c] = sum of x_l[skip + (w * stride + t) * step + c] · w_l[t * step + c]` over the
/// lines `l` and the taps `t` of a window's line, for all channels `c`, of which there are `step`:
/// at least a vector. Pixels that are not inside the image are skipped.
///
/// Its pointers must be valid for the windows and taps that are passed to the kernel: `x_l` for
/// reads of the pixels from `inside.0` to before `inside.1`, with all channels each, `w_l` of as
/// many for each tap, and `store`, which does not accumulate, as in [`RowTile`](super::RowTile).
pub(crate) struct LineTile<'a, E> {
    /// Of each line of the windows that is inside the image: a pixel, which may be before the line,
    /// and the weights of the windows' first tap.
    pub(crate) lines: &'a [(*const E, *const E)],
    /// The number of elements from each line's pixel to the one under the first window's first tap.
    pub(crate) skip: usize,
    /// The number of channels: of elements from one pixel to the next, and from one tap's weights to
    /// the next.
    pub(crate) step: usize,
    /// The pixels that are inside the image, counted from the one under the first window's first
    /// tap.
    pub(crate) inside: (usize, usize),
    pub(crate) store: Store<E>,
}

/// The kernel of tiles with this many windows, window lines of this many taps, and this stride.
/// Returns whether there is one.
///
/// # Safety
/// The processor has the instruction set, and the tile's pointers are valid as [`LineTile`]
/// requires.
pub(crate) type LineKernel<E> = unsafe fn(usize, usize, usize, &LineTile<'_, E>);

/// Returns whether there are kernels for window lines of this many taps and this stride.
pub(crate) fn has_kernel(taps: usize, stride: usize) -> bool {
    matches!((taps, stride), (3 | 5, 1 | 2) | (7, 1))
}

/// Repeats a block for `$i` from 0 to below `$n`, which is at most 17.
macro_rules! each_pixel {
    ($i:ident < $n:expr; $body:block) => {
        each_pixel!(@ $i, $n, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    };
    (@ $i:ident, $n:expr, $body:block, $($at:literal)+) => {
        $(if $at < $n {
            const $i: usize = $at;
            $body
        })+
    };
}

/// The kernel for [`LineTile`] with `M` windows, `K` taps and a stride of `S`.
///
/// # Safety
/// The tile's pointers are valid as [`LineTile`] requires, and the processor has the instruction
/// set of `V`.
#[inline(always)]
pub(super) unsafe fn line_tile<V: Vector, const M: usize, const K: usize, const S: usize>(
    tile: &LineTile<'_, V::Element>,
) {
    let covered = (M - 1) * S + K;
    let is_inside = tile.inside.0 == 0 && tile.inside.1 >= covered;
    let last = tile.step - V::LANES;
    let mut first = 0;
    loop {
        // SAFETY: there is a vector of channels from `first` on, for pixels, weights and results.
        unsafe {
            // Most windows cross no side of the image, and need not compare each pixel's place.
            let sums = match is_inside {
                true => line_sums::<V, M, K, S, true>(tile, first),
                false => line_sums::<V, M, K, S, false>(tile, first),
            };
            store(sums, &tile.store.at(0, first));
        }
        if first == last {
            break;
        }
        // The last vector has channels of the one before too, which are computed twice.
        first = last.min(first + V::LANES);
    }
}

/// Returns the sums of a vector of channels, from channel `first` on. `INSIDE` says that all pixels
/// are inside the image.
///
/// # Safety
/// As for [`line_tile`], and there is a vector of channels there.
#[inline(always)]
unsafe fn line_sums<V: Vector, const M: usize, const K: usize, const S: usize, const INSIDE: bool>(
    tile: &LineTile<'_, V::Element>,
    first: usize,
) -> [[V; 1]; M] {
    // SAFETY: every line has a vector at each pixel inside the image, and at each tap.
    unsafe {
        let mut sums = [[V::zero(); 1]; M];
        let (first_inside, count) = (tile.inside.0, tile.inside.1 - tile.inside.0);
        for &(x, weights) in tile.lines {
            let (x, weights) = (x.wrapping_add(tile.skip + first), weights.add(first));
            let mut factors = [V::zero(); K];
            each!(T < K {
                factors[T] = V::load(weights.add(T * tile.step));
            });
            each_pixel!(J < (M - 1) * S + K; {
                if INSIDE || J.wrapping_sub(first_inside) < count {
                    let pixel = V::load(x.wrapping_add(J * tile.step));
                    each!(R < M {
                        let tap = J.wrapping_sub(R * S);
                        if tap < K {
                            sums[R][0] = sums[R][0].plus_product(pixel, factors[tap]);
                        }
                    });
                }
            });
        }
        sums
    }
}

/// Defines the function that picks a kernel, compiled for a processor feature.
macro_rules! line_tiles {
    ($(#[$feature:meta])* $name:ident, $vector:ty, $element:ty) => {
        line_tiles!(@ $(#[$feature])* $name, $vector, $element; [1 2 3 4 5 6 7];
            (3, 1) (3, 2) (5, 1) (5, 2) (7, 1));
    };
    (@ $(#[$feature:meta])* $name:ident, $vector:ty, $element:ty; $windows:tt; $(($taps:literal, $stride:literal))+) => {
        $(#[$feature])*
        unsafe fn $name(
            windows: usize,
            taps: usize,
            stride: usize,
            tile: &$crate::micro::LineTile<'_, $element>,
        ) {
            // SAFETY: the caller promises the instruction set and valid pointers, as the kernel
            // requires.
            unsafe {
                match (taps, stride) {
                    $(($taps, $stride) => {
                        line_tiles!(@ $windows, windows, tile, $vector, $taps, $stride)
                    })+
                    _ => unreachable!("`has_kernel` tells which there are"),
                }
            }
        }
    };
    (@ [$($count:literal)+], $windows:ident, $tile:ident, $vector:ty, $taps:literal, $stride:literal) => {
        match $windows {
            $($count => $crate::micro::line::line_tile::<$vector, $count, $taps, $stride>($tile),)+
            _ => unreachable!("tiles have 1 to 7 windows"),
        }
    };
}
pub(super) use line_tiles;
