//! Gathering image patches into the rows of a matrix.

use std::ops::Range;

use crate::Element;
use crate::window::Window;

/// The patches of `NHWC` images under a sliding window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patches<'a, T> {
    pub(super) images: &'a [T],
    pub(super) window: Window,
    pub(super) channels: usize,
}

/// One window: the image and the position among its windows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pixel {
    pub(super) image: usize,
    pub(super) y: usize,
    pub(super) x: usize,
}

impl Pixel {
    /// The `number`-th window of a batch of images.
    pub(super) fn new(window: &Window, number: usize) -> Self {
        let (height, width) = (window.y.output.max(1), window.x.output.max(1));
        Self { image: number / width / height, y: number / width % height, x: number % width }
    }

    /// The window after this one.
    pub(super) fn next(self, window: &Window) -> Self {
        if self.x + 1 < window.x.output {
            Self { x: self.x + 1, ..self }
        } else if self.y + 1 < window.y.output {
            Self { x: 0, y: self.y + 1, ..self }
        } else {
            Self { x: 0, y: 0, image: self.image + 1 }
        }
    }
}

impl<T: Element> Patches<'_, T> {
    /// Gathers the columns `cols` of the patches `pixels` into the rows of `out`, zero beyond the border.
    pub(super) fn gather(&self, pixels: Range<usize>, cols: &Range<usize>, out: &mut [T]) {
        let mut pixel = Pixel::new(&self.window, pixels.start);
        for row in out.chunks_exact_mut(cols.len()).take(pixels.len()) {
            self.gather_row(pixel, cols, row);
            pixel = pixel.next(&self.window);
        }
    }

    fn gather_row(&self, at: Pixel, cols: &Range<usize>, out: &mut [T]) {
        let Window { y, x } = self.window;
        let taps = x.taps(at.x);
        let line = x.window * self.channels;
        for tap_y in cols.start / line..cols.end.div_ceil(line) {
            let whole = tap_y * line..(tap_y + 1) * line;
            let wanted = whole.start.max(cols.start)..whole.end.min(cols.end);
            let out = &mut out[wanted.start - cols.start..wanted.end - cols.start];
            let Some(image_y) = y.position(at.y, tap_y) else {
                out.fill(T::default());
                continue;
            };
            let image_row = (at.image * y.input + image_y) * x.input;
            // Taps side by side in the image are one copy.
            let step = if x.dilation == 1 { taps.len() } else { 1 };
            let mut done = wanted.start;
            for tap in taps.clone().step_by(step.max(1)) {
                let Some(image_x) = x.position(at.x, tap) else { continue };
                let start = whole.start + tap * self.channels;
                let (from, to) = (start.max(done), (start + step * self.channels).min(wanted.end));
                if from >= to {
                    continue;
                }
                out[done - wanted.start..from - wanted.start].fill(T::default());
                let source = (image_row + image_x) * self.channels + (from - start);
                out[from - wanted.start..to - wanted.start]
                    .copy_from_slice(&self.images[source..source + (to - from)]);
                done = to;
            }
            out[done - wanted.start..].fill(T::default());
        }
    }
}
