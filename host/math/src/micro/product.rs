//! A product of some rows by panels of a packed matrix, which defines the order of tiles.
//!
//! A part of a panel stays in the first-level cache while all rows are multiplied with it, and so
//! does a group of panels if their parts are short. A tile's rows are multiplied with all panels of
//! the group in turn, because results that are written one after the other reach memory in half the
//! time. The rows of one part of the depth stay in the second-level cache while all panels are
//! processed.
#![expect(unsafe_code, reason = "tiles take pointers")]

use std::{ops::Range, ptr};

use super::{
    DOT_ROWS, DotTile, MOST_LANES, MicroElement, Packed, ROWS, RowKernel, RowTile, Segment, Store, even_tiles,
};

/// The size of a cache line, of which each step of a tile fetches at most one.
const LINE_BYTES: usize = 64;

/// Panels of smaller matrices are not fetched ahead, unless another matrix follows: they soon are
/// in the second-level cache, and the instructions would cost more than they save.
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
    /// What the pointers to runs of zeros are that need not be multiplied, if the matrix has no
    /// infinities and no NaN; or null.
    pub(crate) nothing: *const E,
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
        if let Some(column) = packed.column() {
            // SAFETY: the caller promises valid pointers.
            return unsafe { self.multiply_column(column) };
        }
        let mut segments = Vec::new();
        let mut memory = if packed.has_halves() { E::scratch().take() } else { Vec::new() };
        for part in 0..packed.parts() {
            self.segments(packed.rows(part), &mut segments);
            let mut first = self.panels.start;
            while first < self.panels.end {
                let group = self.group(part, first);
                first = group.end;
                // A single tile reads each panel once, so it widens the panels in registers. Several
                // tiles share panels that are widened in memory.
                if let Some((elements, kernel)) = packed.halves(part, group.clone()).filter(|_| rows <= ROWS)
                {
                    // SAFETY: the caller promises valid pointers, and `segments` are the part's rows.
                    // `halves` returns the group's elements and the kernel that was chosen for this
                    // processor when the matrix was packed, and only if all panels have all columns.
                    // There are at most `ROWS` rows. The kernel computes such tiles.
                    unsafe { self.multiply_group((part, group), elements, &segments, kernel) };
                } else {
                    let elements = packed.wide(part, group.clone(), &mut memory);
                    // SAFETY: the caller promises valid pointers, and `segments` are the part's rows.
                    // `wide` returns the group's elements. `E::micro` returns the kernels of this
                    // processor, whose row tile computes up to `most_rows` rows of any panel.
                    unsafe { self.multiply_group((part, group), elements, &segments, E::micro().row_tile) };
                }
            }
        }
        if packed.has_halves() {
            E::keep(memory);
        }
    }

    /// Computes the product by a single column.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn multiply_column(&self, column: &[E]) {
        let (micro, rows) = (E::micro(), self.offsets.len());
        let bias = self.epilogue.bias.map(|bias| bias[0]);
        let mut sums = [E::ZERO; DOT_ROWS * MOST_LANES];
        for first in (0..rows).step_by(DOT_ROWS) {
            let offsets = &self.offsets[first..rows.min(first + DOT_ROWS)];
            let tile = DotTile {
                pointers: self.pointers[first..].as_ptr(),
                rows,
                runs: column.len() / self.run_len,
                run_len: self.run_len,
                nothing: self.nothing,
                column: column.as_ptr(),
                sums: sums.as_mut_ptr(),
            };
            // SAFETY: `micro` has kernels that this processor supports. Each run has a pointer for
            // each row, and the column an element for each of the run's. The sums have room for the
            // vectors.
            unsafe { (micro.dot_tile)(offsets.len(), &tile) };
            for (&offset, lanes) in offsets.iter().zip(sums.chunks_exact(micro.lanes)) {
                let mut sum = total(lanes);
                if let Some(bias) = bias {
                    sum = sum.plus(bias);
                }
                // SAFETY: the caller promises that the output, and the residual if there is one,
                // have an element at each offset.
                unsafe {
                    if !self.residual.is_null() {
                        sum = sum.plus(*self.residual.add(offset));
                    }
                    let sum = if self.epilogue.relu { crate::ops::relu(sum) } else { sum };
                    *self.out.add(offset) = sum;
                }
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

    /// Returns the panel that is read after those before `end`, and how many of its bytes each step
    /// of each of `tiles` tiles fetches, so that all of it is in the cache when it is needed.
    fn ahead(&self, part: usize, end: usize, tiles: usize) -> (*const u8, usize) {
        let (next, next_bytes) = if end < self.panels.end {
            self.packed.place(part, end)
        } else if part + 1 < self.packed.parts() {
            self.packed.place(part + 1, self.panels.start)
        } else {
            match self.next {
                Some(next) if self.panels.start < next.panels() => next.place(0, self.panels.start),
                _ => (ptr::null(), 0),
            }
        };
        let bytes = size_of::<E>() * self.packed.depth() * self.packed.cols();
        if next_bytes == 0 || bytes < LEAST_AHEAD_BYTES && self.next.is_none() {
            return (next, 0);
        }
        let steps = tiles * self.packed.rows(part).len();
        (next, next_bytes.div_ceil(steps.max(1)).min(LINE_BYTES))
    }

    /// Returns the group of panels from `first` on. Their tiles have the same number of rows.
    fn group(&self, part: usize, first: usize) -> Range<usize> {
        let most_rows = |panel| E::micro().most_rows(self.packed.cols_of(panel).len());
        let candidates = (first..self.panels.end).take(self.packed.panels_of_group(part));
        first..first + candidates.take_while(|&panel| most_rows(panel) == most_rows(first)).count()
    }

    /// Computes a group of panels of one part, whose elements are given, for all rows.
    ///
    /// # Safety
    /// As for [`run`](Self::run). `segments` are the part's rows. `elements` are those of the panels, one
    /// panel after the other, in the form that the kernel reads. This processor supports the kernel. The
    /// kernel computes tiles of the panels' numbers of vectors, and of up to `most_rows` rows or as many
    /// as the product has, whichever is less.
    unsafe fn multiply_group<P>(
        &self,
        (part, panels): (usize, Range<usize>),
        elements: &[P],
        segments: &[Segment<E>],
        kernel: RowKernel<E, P>,
    ) {
        let each = elements.len() / panels.len();
        let (micro, is_last) = (E::micro(), part + 1 == self.packed.parts());
        let most_rows = micro.most_rows(self.packed.cols_of(panels.start).len());
        let tiles = even_tiles(self.offsets.len(), most_rows);
        let steps = tiles.len() * panels.len();
        let (ahead, ahead_step) = self.ahead(part, panels.end, steps);
        let bias = self.epilogue.bias.filter(|_| is_last);
        let whole = Store {
            out: self.out,
            offsets: ptr::null(),
            accumulate: part > 0,
            bias: bias
                .map_or(ptr::null(), |bias| bias[self.packed.cols_of(self.panels.start).start..].as_ptr()),
            residual: if is_last { self.residual } else { ptr::null() },
            relu: is_last && self.epilogue.relu,
            part: 0,
        };
        let mut step = 0;
        for rows in tiles {
            let offsets = self.offsets[rows.clone()].as_ptr();
            for (panel, elements) in panels.clone().zip(elements.chunks_exact(each)) {
                let cols = self.packed.cols_of(panel).len();
                // SAFETY: the caller promises that output and residual have the columns of all panels
                // of `self.panels`, which begin at the first of them. `run` has checked that the bias
                // has an element for each column of the matrix, and `whole.bias` begins at the same.
                let store = unsafe { whole.at(0, (panel - self.panels.start) * micro.cols) };
                let tile = RowTile {
                    segments,
                    first: rows.start,
                    nothing: self.nothing,
                    panel: elements.as_ptr(),
                    ahead: ahead.wrapping_add(step * ahead_step * self.packed.rows(part).len()),
                    ahead_step,
                    store: Store { offsets, part: cols % micro.lanes, ..store },
                };
                // SAFETY: the caller promises a kernel that this processor supports for tiles of this
                // size: `even_tiles` gives at most `most_rows` of the product's rows. The caller also
                // promises that the segments have a pointer for each row, and that this panel, one of the equal parts of
                // `elements`, has a row for each element of the segments. Output and residual have the
                // panel's columns at each offset, as the caller promises, and `part` excludes the lanes
                // of the last vector beyond these.
                unsafe { kernel(rows.len(), cols.div_ceil(micro.lanes), &tile) };
                step += 1;
            }
        }
    }
}

/// Returns the sum of the lanes of a vector, whose number is a power of two.
pub(crate) fn total<E: MicroElement>(lanes: &[E]) -> E {
    let mut sums = [E::ZERO; MOST_LANES];
    sums[..lanes.len()].copy_from_slice(lanes);
    let mut half = MOST_LANES / 2;
    while half > 0 {
        for lane in 0..half {
            sums[lane] = sums[lane].plus(sums[lane + half]);
        }
        half /= 2;
    }
    sums[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::micro::PackedSource;

    #[test]
    fn a_single_column_is_multiplied_as_by_the_definition() {
        for (rows, runs, run_len) in [(1, 1, 1), (3, 2, 5), (4, 3, 16), (9, 5, 40), (6, 1, 33)] {
            let number = |i: usize| ((i * 37) % 11) as f32 - 5.0;
            let (depth, stride) = (runs * run_len, 3);
            let left: Vec<f32> = (0..rows * depth).map(number).collect();
            let column: Vec<f32> = (0..depth).map(|i| number(i + 3)).collect();
            let source =
                PackedSource { data: &column, runs: &[0], run_len: depth, row_stride: 1, col_stride: 1 };
            let residual: Vec<f32> = (0..rows * stride).map(number).collect();
            let pointers: Vec<_> =
                (0..runs * rows).map(|at| left[at % rows * depth + at / rows * run_len..].as_ptr()).collect();
            let offsets: Vec<_> = (0..rows).map(|row| row * stride).collect();
            let packed = Packed::pack(&source, 1, |x| x).unwrap();
            for relu in [false, true] {
                let mut out = vec![f32::NAN; rows * stride];
                let product = RowProduct {
                    pointers: &pointers,
                    run_len,
                    nothing: std::ptr::null(),
                    packed: &packed,
                    panels: 0..1,
                    out: out.as_mut_ptr(),
                    offsets: &offsets,
                    residual: residual.as_ptr(),
                    next: None,
                    epilogue: Epilogue { bias: Some(&[0.5]), relu },
                };
                // SAFETY: the pointers refer to runs of the left operand, and output and residual
                // have an element at each offset.
                unsafe { product.run() };
                for row in 0..rows {
                    let products = (0..depth).map(|k| left[row * depth + k] * column[k]);
                    let sum = products.sum::<f32>() + 0.5 + residual[row * stride];
                    let expected = if relu { sum.max(0.0) } else { sum };
                    assert_eq!(out[row * stride], expected, "{rows} {runs} {run_len}: {row}");
                }
                assert!(out.iter().skip(1).step_by(stride).all(|x| x.is_nan()));
            }
        }
    }
}
