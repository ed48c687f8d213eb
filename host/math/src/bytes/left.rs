//! The left operand of a product of bytes: rows of a matrix, or the elements under the windows of
//! images.
//!
//! Rows are read where they are if they have whole groups of unsigned bytes. Of images, the lines
//! under windows are copied with what lies beyond the border, and windows that overlap share them.
//! Only if the sum of each row matters, or channels are in groups, each window is copied.

use std::cell::Cell;
use std::ops::Range;

use super::filter::line_of;
use super::kernel::GROUP;
use super::{ByteMatrix, Bytes};
use crate::conv::Geometry;

/// The bytes of rows that are brought together at a time. They stay in the second-level cache while
/// they are multiplied by all columns.
const CHUNK_BYTES: usize = 128 * 1024;
/// The greatest number of bytes of lines that are copied for one line of windows.
const MAX_LINE_BYTES: usize = 1 << 20;
/// The greatest number of bytes that a thread keeps.
const MAX_KEPT_BYTES: usize = 1 << 20;

thread_local! {
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Where rows of the left operand come from.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// Adjacent rows of this depth, read in place if they have whole groups.
    Matrix { depth: usize },
    /// The windows of images, of the channels of one group.
    Windows { g: &'a Geometry, group: usize },
}

/// How rows are brought together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    InPlace,
    Lines,
    Each,
}

/// Rows of unsigned bytes in taps of whole groups.
pub(super) struct Rows<'a> {
    source: Source<'a>,
    bytes: Bytes<'a>,
    /// What lies beyond the border of images.
    zero: u8,
    way: Way,
    /// The bytes from one row to the next where each is brought together, and the least depth.
    stride: usize,
    adds_up: bool,
    memory: Vec<u8>,
    starts: Vec<usize>,
    taps: Vec<usize>,
    groups: usize,
    sums: Vec<i32>,
}

/// Some rows as tiles read them.
pub(super) struct Chunk<'a> {
    pub(super) bytes: &'a [u8],
    /// Where each row begins.
    pub(super) starts: &'a [usize],
    /// Where the taps of each row are, behind its beginning.
    pub(super) taps: &'a [usize],
    /// The groups of a tap.
    pub(super) groups: usize,
    /// The sum of each row, if a zero of the right operand is not zero.
    pub(super) sums: &'a [i32],
}

impl<'a> Rows<'a> {
    /// Returns room for rows that are multiplied by a matrix.
    pub(super) fn new(source: Source<'a>, (bytes, zero): (Bytes<'a>, u8), right: &ByteMatrix) -> Self {
        let adds_up = right.needs_row_sums();
        let is_unsigned = matches!(bytes, Bytes::Unsigned(_));
        let way = match source {
            _ if adds_up => Way::Each,
            Source::Matrix { depth } if is_unsigned && depth.is_multiple_of(GROUP) => Way::InPlace,
            Source::Matrix { .. } => Way::Each,
            Source::Windows { g, .. } => way_of_windows(g, is_unsigned),
        };
        let stride = right.depth().max(1).next_multiple_of(GROUP);
        let mut rows = Self {
            source,
            bytes,
            zero,
            way,
            stride,
            adds_up,
            memory: SCRATCH.take(),
            starts: Vec::new(),
            taps: vec![0],
            groups: right.depth().div_ceil(GROUP),
            sums: Vec::new(),
        };
        if let Source::Windows { g, .. } = source
            && way != Way::Each
        {
            rows.find_taps(g);
        }
        rows
    }

    /// Finds the taps of lines, which are one behind the other.
    fn find_taps(&mut self, g: &Geometry) {
        let window = &g.window;
        let line = match self.way {
            Way::InPlace => window.x.input * g.in_channels,
            _ => line_columns(g) * g.in_channels,
        };
        self.taps.clear();
        for tap_y in 0..window.y.window {
            let start = tap_y * window.y.dilation * line;
            if window.x.dilation == 1 {
                self.taps.push(start);
            } else {
                let columns = (0..window.x.window).map(|tap| tap * window.x.dilation * g.in_channels);
                self.taps.extend(columns.map(|column| start + column));
            }
        }
        self.groups = self.stride / self.taps.len().max(1) / GROUP;
    }

    /// Brings the first of some rows together, and returns them.
    pub(super) fn take(&mut self, rows: Range<usize>, unit: usize) -> Chunk<'_> {
        let most = (CHUNK_BYTES / self.stride / unit).max(1) * unit;
        let some = rows.start..rows.end.min(rows.start + most);
        self.starts.clear();
        match (self.way, self.source) {
            (Way::InPlace, Source::Matrix { depth }) => self.starts.extend(some.map(|row| row * depth)),
            (Way::InPlace, Source::Windows { g, .. }) => {
                let (input, line) = (g.window.y.input, g.window.x.input * g.in_channels);
                self.find_starts(g, some, |image, y| (image * input + y * g.window.y.stride) * line);
            }
            (Way::Lines, Source::Windows { g, .. }) => self.take_lines(g, rows),
            (_, Source::Matrix { depth }) => self.take_rows(depth, some),
            (_, Source::Windows { g, group }) => self.take_windows(g, group, some),
        }
        let bytes = if self.way == Way::InPlace { self.bytes.bits() } else { &self.memory };
        let Self { starts, taps, groups, sums, .. } = self;
        Chunk { bytes, starts, taps, groups: *groups, sums }
    }

    fn make_room(&mut self, len: usize) {
        if self.memory.len() < len {
            self.memory.resize(len, 0);
        }
    }

    /// Brings rows of a matrix of this depth together.
    fn take_rows(&mut self, depth: usize, rows: Range<usize>) {
        self.make_room(rows.len() * self.stride);
        let ((flip, _), bits) = (self.bytes.as_unsigned(), self.bytes.bits());
        for (to, row) in self.memory.chunks_exact_mut(self.stride).zip(rows.clone()) {
            copy(&mut to[..depth], &bits[row * depth..][..depth], flip);
            to[depth..].fill(0);
        }
        self.finish_rows(rows.len());
    }

    /// Notes where rows begin that were brought together, and adds them up if that is needed.
    fn finish_rows(&mut self, count: usize) {
        self.starts.extend((0..count).map(|row| row * self.stride));
        self.sums.clear();
        if self.adds_up {
            let sum = |row: &[u8]| -> i32 { row.iter().map(|&byte| i32::from(byte)).sum() };
            self.sums.extend(self.memory.chunks_exact(self.stride).take(count).map(sum));
        }
    }

    /// Copies the lines under the first of some windows, with what lies beyond the border.
    fn take_lines(&mut self, g: &Geometry, pixels: Range<usize>) {
        let (window, (flip, _)) = (&g.window, self.bytes.as_unsigned());
        let [image, first, _] = place_of(g, pixels.start);
        let line = line_columns(g) * g.in_channels;
        // As many lines of windows as fit, of one image.
        let reach = (window.y.window - 1) * window.y.dilation + 1;
        let fitting = (CHUNK_BYTES / line.max(1)).saturating_sub(reach) / window.y.stride + 1;
        let end = window.y.output.min(first + fitting);
        let pixels = pixels.start..pixels.end.min((image * window.y.output + end) * window.x.output);
        let end = place_of(g, pixels.end - 1)[1] + 1;
        let lines = (end - 1 - first) * window.y.stride + reach;
        // The last tap may be filled up to a whole group.
        self.make_room(lines * line + GROUP);
        let left = (window.x.before * g.in_channels).min(line);
        let inside = (window.x.input * g.in_channels).min(line - left);
        let bits = self.bytes.bits();
        for (at, to) in self.memory.chunks_exact_mut(line.max(1)).take(lines).enumerate() {
            let y = (first * window.y.stride + at).checked_sub(window.y.before);
            let Some(y) = y.filter(|&y| y < window.y.input) else {
                to.fill(self.zero);
                continue;
            };
            to[..left].fill(self.zero);
            let from = (image * window.y.input + y) * window.x.input * g.in_channels;
            copy(&mut to[left..left + inside], &bits[from..from + inside], flip);
            to[left + inside..].fill(self.zero);
        }
        self.find_starts(g, pixels, |_, y| (y - first) * window.y.stride * line);
    }

    /// Notes where windows begin in lines, whose beginnings `line` returns for an image and a row.
    fn find_starts(&mut self, g: &Geometry, pixels: Range<usize>, line: impl Fn(usize, usize) -> usize) {
        let (width, step) = (g.window.x.output, g.window.x.stride * g.in_channels);
        let mut next = pixels.start;
        while next < pixels.end {
            let [image, y, x] = place_of(g, next);
            let (start, count) = (line(image, y), (width - x).min(pixels.end - next));
            self.starts.extend((x..x + count).map(|x| start + x * step));
            next += count;
        }
    }

    /// Brings the elements under windows together, of the channels of one group.
    fn take_windows(&mut self, g: &Geometry, group: usize, pixels: Range<usize>) {
        self.make_room(pixels.len() * self.stride);
        let ((flip, _), bits, window) = (self.bytes.as_unsigned(), self.bytes.bits(), &g.window);
        let (each, zero, count) = (g.in_channels / g.groups, self.zero, pixels.len());
        let run = window.x.window * each;
        // Taps next to each other are copied at once if all their channels are.
        let joins = g.groups == 1 && window.x.dilation == 1;
        for (to, pixel) in self.memory.chunks_exact_mut(self.stride).zip(pixels) {
            let [image, y, x] = place_of(g, pixel);
            let taps = window.x.taps(x);
            for (tap_y, line) in to.chunks_exact_mut(line_of(g).max(1)).enumerate() {
                line[run..].fill(0);
                let line = &mut line[..run];
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
        }
        self.finish_rows(count);
    }
}

impl Drop for Rows<'_> {
    fn drop(&mut self) {
        if self.memory.capacity() <= MAX_KEPT_BYTES {
            SCRATCH.set(std::mem::take(&mut self.memory));
        }
    }
}

/// Returns the image, the row and the column of an output pixel.
fn place_of(g: &Geometry, pixel: usize) -> [usize; 3] {
    let (row, x) = (pixel / g.window.x.output, pixel % g.window.x.output);
    [row / g.window.y.output, row % g.window.y.output, x]
}

/// Returns the columns that the windows of a line cover, from the first one beyond the border on.
fn line_columns(g: &Geometry) -> usize {
    let axis = &g.window.x;
    axis.output.saturating_sub(1) * axis.stride + (axis.window - 1) * axis.dilation + 1
}

/// Returns how windows are read, if their sums do not matter.
fn way_of_windows(g: &Geometry, is_unsigned: bool) -> Way {
    let (x, y, channels) = (&g.window.x, &g.window.y, g.in_channels);
    // Taps have whole groups if they are next to each other, where zeros may follow them, or alone.
    if g.groups != 1 || x.dilation != 1 && !channels.is_multiple_of(GROUP) {
        return Way::Each;
    }
    let is_inside = [x, y].iter().all(|axis| {
        let reach = axis.output.saturating_sub(1) * axis.stride + (axis.window - 1) * axis.dilation + 1;
        axis.before == 0 && reach <= axis.input
    });
    if is_unsigned && is_inside && (x.window * channels).is_multiple_of(GROUP) {
        return Way::InPlace;
    }
    let lines = ((y.window - 1) * y.dilation + 1).max(y.stride);
    match lines.saturating_mul(line_columns(g)).saturating_mul(channels) {
        0..=MAX_LINE_BYTES => Way::Lines,
        _ => Way::Each,
    }
}

fn copy(to: &mut [u8], from: &[u8], flip: u8) {
    match flip {
        0 => to.copy_from_slice(from),
        _ => to.iter_mut().zip(from).for_each(|(to, &from)| *to = from ^ flip),
    }
}
