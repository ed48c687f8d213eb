//! The left operand of a product of bytes: rows of a matrix, or the elements under the windows of
//! images.

use std::cell::Cell;
use std::ops::Range;

use super::Bytes;
use super::kernel::GROUP;
use crate::conv::Geometry;

/// The bytes of rows that are brought together at a time. They stay in the second-level cache while
/// they are multiplied by all columns.
const CHUNK_BYTES: usize = 128 * 1024;
/// The greatest number of bytes that a thread keeps.
const MAX_KEPT_BYTES: usize = 1 << 20;

thread_local! {
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Rows of unsigned bytes, filled up to whole groups.
pub(super) struct Rows {
    memory: Vec<u8>,
    /// From one row to the next.
    stride: usize,
    sums: Vec<i32>,
}

impl Rows {
    /// Returns room for rows of this depth.
    pub(super) fn new(depth: usize) -> Self {
        Self { memory: SCRATCH.take(), stride: depth.max(1).next_multiple_of(GROUP), sums: Vec::new() }
    }

    /// Returns how many rows are brought together at a time, a multiple of `unit`.
    pub(super) fn at_a_time(&self, unit: usize) -> usize {
        (CHUNK_BYTES / self.stride / unit).max(1) * unit
    }

    /// From one row to the next, in bytes.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Returns the bytes of the rows, and their sums if there are any.
    pub(super) fn get(&self) -> (&[u8], &[i32]) {
        (&self.memory, &self.sums)
    }

    fn make_room(&mut self, rows: usize) {
        let len = rows * self.stride;
        if self.memory.len() < len {
            self.memory.resize(len, 0);
        }
    }

    /// Brings rows of a matrix of this depth together.
    pub(super) fn take_rows(&mut self, bytes: Bytes<'_>, depth: usize, rows: Range<usize>) {
        self.make_room(rows.len());
        let ((flip, _), bits) = (bytes.as_unsigned(), bytes.bits());
        for (to, row) in self.memory.chunks_exact_mut(self.stride).zip(rows) {
            copy(&mut to[..depth], &bits[row * depth..][..depth], flip);
            to[depth..].fill(0);
        }
    }

    /// Brings the elements under the windows `pixels` together, of the channels of one group. What
    /// is outside the images is `zero`.
    pub(super) fn take_windows(
        &mut self,
        (bytes, zero): (Bytes<'_>, u8),
        g: &Geometry,
        group: usize,
        pixels: Range<usize>,
    ) {
        self.make_room(pixels.len());
        let ((flip, _), bits, window) = (bytes.as_unsigned(), bytes.bits(), &g.window);
        let each = g.in_channels / g.groups;
        // Taps next to each other are copied at once if all their channels are.
        let joins = g.groups == 1 && window.x.dilation == 1;
        for (to, pixel) in self.memory.chunks_exact_mut(self.stride).zip(pixels) {
            let (row, x) = (pixel / window.x.output, pixel % window.x.output);
            let (image, y) = (row / window.y.output, row % window.y.output);
            let taps = window.x.taps(x);
            for tap_y in 0..window.y.window {
                let line = &mut to[tap_y * window.x.window * each..][..window.x.window * each];
                let Some(y) = window.y.position(y, tap_y) else {
                    line.fill(zero);
                    continue;
                };
                let from = (image * window.y.input + y) * window.x.input;
                line[..taps.start * each].fill(zero);
                line[taps.end * each..].fill(zero);
                let runs = if joins { taps.start..taps.end.min(taps.start + 1) } else { taps.clone() };
                let run = if joins { taps.len() } else { 1 } * each;
                for tap in runs {
                    let to = &mut line[tap * each..][..run];
                    match window.x.position(x, tap) {
                        Some(x) => {
                            let first = (from + x) * g.in_channels + group * each;
                            copy(to, &bits[first..][..run], flip);
                        }
                        None => to.fill(zero),
                    }
                }
            }
            to[g.depth..].fill(0);
        }
    }

    /// Adds up each of the first rows.
    pub(super) fn add_up(&mut self, rows: usize) {
        let sum = |row: &[u8]| -> i32 { row.iter().map(|&byte| i32::from(byte)).sum() };
        self.sums.clear();
        self.sums.extend(self.memory.chunks_exact(self.stride).take(rows).map(sum));
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        if self.memory.capacity() <= MAX_KEPT_BYTES {
            SCRATCH.set(std::mem::take(&mut self.memory));
        }
    }
}

fn copy(to: &mut [u8], from: &[u8], flip: u8) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = from ^ flip);
}
