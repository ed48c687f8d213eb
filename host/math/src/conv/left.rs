//! The left operand of a convolution's product: the elements of each row and each run of the depth,
//! and the conversion from the type of the computation to the type of the result.
#![expect(unsafe_code, reason = "rows of results are reached through pointers")]

use std::{ops::Range, ptr, slice};

use super::ConvElement;
use super::pixel::Pixel;
use crate::window::Window;

/// The number of rows that are computed at a time. Their image data and their sums fit into the
/// second-level cache.
pub(super) const CHUNK_ROWS: usize = 144;
/// Stands for a run outside the border.
pub(super) const BEYOND: usize = usize::MAX;

/// Buffers for the rows of a block, kept from chunk to chunk.
pub(super) struct Left<T: ConvElement> {
    /// For each run and each row in it, the index of the run's first element among the images, or
    /// [`BEYOND`].
    pub(super) starts: Vec<usize>,
    pointers: Vec<*const T::Work>,
    /// The runs that had to be copied.
    copies: Vec<T::Work>,
    /// The places of the runs that cross a side of their image.
    edges: Vec<usize>,
    /// A run outside the border.
    zeros: Vec<T::Work>,
}

impl<T: ConvElement> Left<T> {
    pub(super) fn new() -> Self {
        Self {
            starts: Vec::new(),
            pointers: Vec::new(),
            copies: Vec::new(),
            edges: Vec::new(),
            zeros: Vec::new(),
        }
    }

    /// Returns what pointers to runs of at most `len` elements outside the border are. It stays valid
    /// while only such runs are asked for.
    pub(super) fn nothing(&mut self, len: usize) -> *const T::Work {
        if self.zeros.len() < len {
            self.zeros.resize(len, T::ZERO.widen());
        }
        self.zeros.as_ptr()
    }

    /// Returns the pointers that were found last. They are valid as long as the images, and until
    /// others are found.
    pub(super) fn pointers(&self) -> &[*const T::Work] {
        &self.pointers
    }

    /// Moves all pointers on by `count` elements, from one group of channels to the next.
    pub(super) fn advance(&mut self, count: usize) {
        self.pointers.iter_mut().for_each(|pointer| *pointer = pointer.wrapping_add(count));
    }

    /// Finds pointers to the runs at `starts`, of `run_len` elements each, into `images` or into
    /// copies in the type of the computation. A run outside the border is [`nothing`](Self::nothing).
    ///
    /// # Panics
    /// If a run reaches beyond the images.
    pub(super) fn point(&mut self, images: &[T], run_len: usize) {
        self.pointers.clear();
        let zeros = self.nothing(run_len);
        if let Some(images) = T::as_work(images) {
            let end = |&start: &usize| if start == BEYOND { 0 } else { start + run_len };
            let end = self.starts.iter().map(end).max().unwrap_or(0);
            // Checked once for all, so that the loop below has no branches.
            assert!(end <= images.len(), "a run reaches beyond the images");
            let first = images.as_ptr();
            let pointer = |&start: &usize| if start == BEYOND { zeros } else { first.wrapping_add(start) };
            self.pointers.extend(self.starts.iter().map(pointer));
            return;
        }
        self.copies.resize(self.starts.len() * run_len, T::ZERO.widen());
        for (&start, copy) in self.starts.iter().zip(self.copies.chunks_exact_mut(run_len)) {
            if start == BEYOND {
                continue;
            }
            let run = &images[start..start + run_len];
            copy.iter_mut().zip(run).for_each(|(copy, &x)| *copy = x.widen());
        }
        let copies = self.starts.iter().zip(self.copies.chunks_exact(run_len));
        let pointers = copies.map(|(&start, copy)| if start == BEYOND { zeros } else { copy.as_ptr() });
        self.pointers.extend(pointers);
    }

    /// Finds pointers like [`point`](Self::point) to each of these pixels of images with `channels`
    /// channels. Only for types that are computed in themselves.
    ///
    /// # Panics
    /// If a pixel is beyond the images.
    pub(super) fn point_at_pixels(&mut self, images: &[T::Work], channels: usize, pixels: Range<usize>) {
        let pixels = images[pixels.start * channels..pixels.end * channels].chunks_exact(channels);
        self.pointers.clear();
        self.pointers.extend(pixels.map(<[_]>::as_ptr));
    }

    /// Finds pointers like [`point`](Self::point) if a run is a row of the filter, whose taps are
    /// adjacent. They point into the images, except for windows that cross a side, which are
    /// copied. Only for types that are computed in themselves.
    pub(super) fn point_at_lines(
        &mut self,
        images: &[T::Work],
        window: &Window,
        channels: usize,
        pixels: Range<usize>,
    ) {
        let Window { y, x } = *window;
        let (rows, line) = (pixels.len(), x.window * channels);
        let zeros = self.nothing(line);
        self.copies.resize(rows * y.window * line, T::ZERO.widen());
        self.pointers.clear();
        self.pointers.resize(rows * y.window, zeros);
        self.edges.clear();
        // Windows that cross no side are adjacent in each line.
        let first = x.before.div_ceil(x.stride);
        let last = (x.input + x.before).checked_sub(x.window).map_or(0, |room| room / x.stride + 1);
        let step = x.stride * channels;
        let mut at = Pixel::new(window, pixels.start);
        let mut row = 0;
        while row < rows {
            let in_line = at.x..x.output.min(at.x + rows - row);
            let whole = first.clamp(in_line.start, in_line.end);
            let whole = whole..last.clamp(whole, in_line.end);
            for tap_y in 0..y.window {
                let Some(image_y) = y.position(at.y, tap_y) else { continue };
                let start = (at.image * y.input + image_y) * x.input * channels;
                let image_line = &images[start..start + x.input * channels];
                let place = |out_x: usize| tap_y * rows + row + out_x - in_line.start;
                if !whole.is_empty() {
                    let skip = (whole.start * x.stride - x.before) * channels;
                    let windows = &image_line[skip..][..(whole.len() - 1) * step + line];
                    let windows = (0..whole.len()).map(|number| windows.as_ptr().wrapping_add(number * step));
                    let pointers = &mut self.pointers[place(whole.start)..];
                    pointers.iter_mut().zip(windows).for_each(|(to, window)| *to = window);
                }
                for out_x in (in_line.start..whole.start).chain(whole.end..in_line.end) {
                    let taps = x.taps(out_x);
                    let Some(image_x) = x.position(out_x, taps.start).filter(|_| !taps.is_empty()) else {
                        continue;
                    };
                    let place = place(out_x);
                    let copy = &mut self.copies[place * line..(place + 1) * line];
                    let run = &image_line[image_x * channels..][..taps.len() * channels];
                    copy.fill(T::ZERO.widen());
                    copy[taps.start * channels..][..run.len()].copy_from_slice(run);
                    self.edges.push(place);
                }
            }
            row += in_line.len();
            at = Pixel::new(window, pixels.start + row);
        }
        // All copies are finished: nothing is written to them while these pointers are in use.
        for &place in &self.edges {
            self.pointers[place] = self.copies[place * line..].as_ptr();
        }
    }

    /// Sets `starts` to the taps of the windows `pixels` of images with `channels` channels, at
    /// channel `first`.
    pub(super) fn find_taps(&mut self, window: &Window, channels: usize, first: usize, pixels: Range<usize>) {
        let Window { y, x } = *window;
        let rows = pixels.len();
        self.starts.clear();
        self.starts.resize(y.window * x.window * rows, BEYOND);
        let mut at = Pixel::new(window, pixels.start);
        let mut row = 0;
        while row < rows {
            let in_line = at.x..x.output.min(at.x + rows - row);
            for tap_y in 0..y.window {
                let Some(image_y) = y.position(at.y, tap_y) else { continue };
                let line = (at.image * y.input + image_y) * x.input;
                for tap_x in 0..x.window {
                    // The windows of which this tap is inside the image.
                    let skip = tap_x * x.dilation;
                    let from = x.before.saturating_sub(skip).div_ceil(x.stride);
                    let to = (x.input + x.before).saturating_sub(skip).div_ceil(x.stride);
                    let from = from.clamp(in_line.start, in_line.end);
                    let inside = from..to.clamp(from, in_line.end);
                    let place = (tap_y * x.window + tap_x) * rows + row + from - in_line.start;
                    let starts = &mut self.starts[place..][..inside.len()];
                    for (start, out_x) in starts.iter_mut().zip(inside) {
                        *start = (line + out_x * x.stride + skip - x.before) * channels + first;
                    }
                }
            }
            row += in_line.len();
            at = Pixel::new(window, pixels.start + row);
        }
    }
}

/// Calls `compute` with the place for `cols` sums at each offset, what to add to them (in the same
/// layout, or null), and the offsets there. Then rounds the sums to `out`, unless they are already
/// there.
///
/// # Safety
/// `out` is valid for writes of `cols` elements at each of the offsets, which nothing else accesses
/// during the call. The residual has as many at each of them.
pub(super) unsafe fn in_work<T: ConvElement>(
    out: *mut T,
    residual: Option<&[T]>,
    offsets: &[usize],
    cols: usize,
    compute: impl FnOnce(*mut T::Work, *const T::Work, &[usize]),
) {
    if let Some(out) = T::as_work_mut(out) {
        return compute(out, residual.and_then(T::as_work).map_or(ptr::null(), <[_]>::as_ptr), offsets);
    }
    let mut sums = vec![T::ZERO.widen(); offsets.len() * cols];
    let wide: Option<Vec<_>> = residual.map(|residual| {
        let rows = offsets.iter().flat_map(|&offset| &residual[offset..offset + cols]);
        rows.map(|&r| r.widen()).collect()
    });
    let local: Vec<usize> = (0..offsets.len()).map(|row| row * cols).collect();
    compute(sums.as_mut_ptr(), wide.as_ref().map_or(ptr::null(), Vec::as_ptr), &local);
    for (&offset, sums) in offsets.iter().zip(sums.chunks_exact(cols.max(1))) {
        // SAFETY: the caller promises that these elements are valid and that nothing else accesses
        // them.
        let out = unsafe { slice::from_raw_parts_mut(out.add(offset), cols) };
        out.iter_mut().zip(sums).for_each(|(out, &sum)| *out = T::narrow(sum));
    }
}
