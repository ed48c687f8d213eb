//! A product of some rows by panels of a packed matrix, which defines the order of tiles.
//!
//! A part of a panel stays in the first-level cache while all rows are multiplied with it. The rows
//! of one part of the depth stay in the second-level cache while all panels are processed.
#![expect(unsafe_code, reason = "tiles take pointers")]

use std::{ops::Range, ptr};

use super::{MicroElement, Packed, RowTile, Segment, Target, even_tiles};

/// The size of a cache line, of which each step of a tile fetches at most one.
const LINE_BYTES: usize = 64;

/// Panels of smaller matrices are not fetched ahead, unless another matrix follows: they soon are in
/// the second-level cache, and the instructions would cost more than they save.
const LEAST_AHEAD_BYTES: usize = 256 * 1024;

/// The operations on each element before it is stored.
#[derive(Clone, Copy)]
pub(crate) struct Epilogue<'a, E> {
    /// One element for each column of the packed matrix.
    pub(crate) bias: Option<&'a [E]>,
    /// Whether negative results become zero.
    pub(crate) relu: bool,
}

/// Computes `out = epilogue(left · packed)` for some rows of the left operand, and some panels.
pub(crate) struct RowProduct<'a, E> {
    /// For each run of the depth, a pointer for each row: `runs × rows` pointers to `run_len`
    /// elements each.
    pub(crate) pointers: &'a [*const E],
    pub(crate) run_len: usize,
    pub(crate) packed: &'a Packed<E>,
    pub(crate) panels: Range<usize>,
    /// The output at the first column of the first panel.
    pub(crate) out: *mut E,
    /// The offset from `out` to each row, in elements.
    pub(crate) offsets: &'a [usize],
    /// The values to add, in the layout of the output; or null.
    pub(crate) residual: *const E,
    /// The matrix of the next product, whose first panel is fetched into the cache meanwhile.
    pub(crate) next: Option<&'a Packed<E>>,
    pub(crate) epilogue: Epilogue<'a, E>,
}

impl<E: MicroElement> RowProduct<'_, E> {
    /// Computes the product. The depth must not be zero.
    ///
    /// # Safety
    /// The pointers are valid for as many elements as the fields say. `out` and `residual` have the
    /// columns of the panels (as many as the matrix has) at each offset. Nothing else accesses
    /// those of `out` during the call.
    ///
    /// # Panics
    /// If the numbers of pointers, offsets, panels and elements of the bias do not fit the matrix.
    pub(crate) unsafe fn run(&self) {
        let (rows, packed) = (self.offsets.len(), self.packed);
        assert!(
            self.pointers.len() * self.run_len == rows * packed.depth(),
            "a pointer for each row and run"
        );
        assert!(self.epilogue.bias.is_none_or(|bias| bias.len() == packed.cols()));
        assert!(self.panels.end <= packed.panels() && packed.depth() > 0);
        let mut segments = Vec::new();
        for part in 0..packed.parts() {
            self.segments(packed.rows(part), &mut segments);
            for panel in self.panels.clone() {
                // SAFETY: the caller promises valid pointers, and the segments are the part's rows.
                unsafe { self.panel(part, panel, &segments) };
            }
        }
    }

    /// Collects the runs, and pieces of runs, that a range of the depth consists of.
    fn segments(&self, depth: Range<usize>, segments: &mut Vec<Segment<E>>) {
        segments.clear();
        let (mut at, rows) = (depth.start, self.offsets.len());
        while at < depth.end {
            let (run, offset) = (at / self.run_len, at % self.run_len);
            let len = (self.run_len - offset).min(depth.end - at);
            segments.push(Segment { rows: self.pointers[run * rows..][..rows].as_ptr(), offset, len });
            at += len;
        }
    }

    /// Returns the panel that is read after this one, and how many of its elements each step of each
    /// of `tiles` tiles fetches, so that all of it is in the cache when it is needed.
    fn ahead(&self, part: usize, panel: usize, tiles: usize) -> (*const E, usize) {
        let next = if panel + 1 < self.panels.end {
            self.packed.panel(part, panel + 1)
        } else if part + 1 < self.packed.parts() {
            self.packed.panel(part + 1, self.panels.start)
        } else {
            match self.next {
                Some(next) if self.panels.start < next.panels() => next.panel(0, self.panels.start),
                _ => &[],
            }
        };
        let bytes = size_of::<E>() * self.packed.depth() * self.packed.cols();
        if next.is_empty() || bytes < LEAST_AHEAD_BYTES && self.next.is_none() {
            return (next.as_ptr(), 0);
        }
        let steps = tiles * self.packed.rows(part).len();
        (next.as_ptr(), next.len().div_ceil(steps.max(1)).min(LINE_BYTES / size_of::<E>()))
    }

    /// Computes one panel of one part, for all rows.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn panel(&self, part: usize, panel: usize, segments: &[Segment<E>]) {
        let micro = E::micro();
        let (cols, is_last) = (self.packed.cols_of(panel), part + 1 == self.packed.parts());
        let right = self.packed.panel(part, panel).as_ptr();
        let column = (panel - self.panels.start) * micro.cols;
        let has_residual = is_last && !self.residual.is_null();
        // SAFETY: the output has this panel's columns at each offset, and so has the residual.
        let (out, residual) = unsafe {
            (self.out.add(column), if has_residual { self.residual.add(column) } else { ptr::null() })
        };
        let tiles = even_tiles(self.offsets.len(), micro.most_rows(cols.len()));
        let (ahead, ahead_step) = self.ahead(part, panel, tiles.len());
        for (number, rows) in tiles.enumerate() {
            let target = Target {
                out,
                offsets: &self.offsets[rows.clone()],
                cols: cols.len(),
                accumulate: part > 0,
                bias: self.epilogue.bias.filter(|_| is_last).map(|bias| &bias[cols.clone()]),
                residual,
                relu: is_last && self.epilogue.relu,
            };
            // SAFETY: `micro` has kernels that this processor supports. The segments' tables have a
            // pointer for each row, and the panel has a row for each of their elements. `target`
            // requests whole vectors of columns.
            unsafe {
                target.store(|vectors, store| {
                    let ahead = ahead.wrapping_add(number * ahead_step * self.packed.rows(part).len());
                    let tile =
                        RowTile { segments, first: rows.start, panel: right, ahead, ahead_step, store };
                    (micro.row_tile)(rows.len(), vectors, &tile);
                });
            }
        }
    }
}
