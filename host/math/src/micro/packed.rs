//! The right operand of a product, laid out in the order in which tiles read it.

use std::ops::Range;

use super::{MOST_COLS, MicroElement};
use crate::ShapeError;
use crate::shape::element_count;

/// The size of the part of a panel that is used at a time. It stays in the first-level cache while
/// all rows are processed. Processors with longer vectors have larger caches.
const PART_BYTES_PER_LANE: usize = 20 * 1024 / 8;
/// The alignment of panels in bytes: a cache line.
const ALIGNMENT: usize = 64;

/// A `depth` × `cols` matrix as panels of adjacent columns, cut along the depth into parts of
/// nearly equal length. The last panel is filled up with zeros. First come all panels of the first
/// part.
#[derive(Debug, Clone)]
pub(crate) struct Packed<E> {
    depth: usize,
    cols: usize,
    /// The number of rows of a part. The last part may have fewer.
    part: usize,
    panel_cols: usize,
    data: Vec<E>,
    /// The start of the first panel: the first aligned element.
    start: usize,
}

/// The layout of a matrix: the depth consists of runs of the same length, one for each element of
/// `runs`.
pub(crate) struct PackedSource<'a, T> {
    pub(crate) data: &'a [T],
    /// The first element of each run.
    pub(crate) runs: &'a [usize],
    pub(crate) run_len: usize,
    /// The distance between rows of a run, in elements.
    pub(crate) row_stride: usize,
    /// The distance between columns, in elements.
    pub(crate) col_stride: usize,
}

impl<E: MicroElement> Packed<E> {
    /// Creates a matrix of zeros with this extent, to be filled.
    pub(crate) fn zeros(depth: usize, cols: usize) -> Result<Self, ShapeError> {
        Self::with_panels(depth, cols, E::micro().cols)
    }

    /// Returns the greatest number of rows of a part.
    fn most_rows() -> usize {
        let micro = E::micro();
        let bytes = micro.cols * size_of::<E>();
        (PART_BYTES_PER_LANE * (micro.lanes * size_of::<E>() / 4).min(16) / bytes).max(1)
    }

    fn with_panels(depth: usize, cols: usize, panel_cols: usize) -> Result<Self, ShapeError> {
        let most = Self::most_rows();
        // A column is used as a whole.
        let most = if panel_cols == 1 { depth.max(1) } else { most };
        let part = depth.div_ceil(depth.div_ceil(most).max(1)).max(1);
        let padded = cols.checked_next_multiple_of(panel_cols).ok_or(ShapeError::TooLarge)?;
        let len = element_count(&[depth, padded])?;
        let len = len.checked_add(ALIGNMENT / size_of::<E>()).ok_or(ShapeError::TooLarge)?;
        if len > isize::MAX as usize / size_of::<E>() {
            return Err(ShapeError::TooLarge);
        }
        let data = vec![E::ZERO; len];
        // Alignment only affects speed, so a failure to determine it is ignored.
        let start = Some(data.as_ptr().align_offset(ALIGNMENT)).filter(|&n| n < ALIGNMENT / size_of::<E>());
        Ok(Self { depth, cols, part, panel_cols, data, start: start.unwrap_or(0) })
    }

    /// Returns the matrix that `source` describes, with `convert` applied to each element. The
    /// source must have `depth` rows.
    pub(crate) fn pack<T: Copy>(
        source: &PackedSource<'_, T>,
        cols: usize,
        convert: impl Fn(T) -> E,
    ) -> Result<Self, ShapeError> {
        let depth = element_count(&[source.runs.len(), source.run_len])?;
        let packed = Self::with_panels(depth, cols, if cols == 1 { 1 } else { E::micro().cols })?;
        packed.filled(source, cols, convert)
    }

    /// Returns the matrix like [`pack`](Self::pack), in panels of vectors even if it is a single
    /// column.
    pub(crate) fn pack_panels<T: Copy>(
        source: &PackedSource<'_, T>,
        cols: usize,
        convert: impl Fn(T) -> E,
    ) -> Result<Self, ShapeError> {
        let depth = element_count(&[source.runs.len(), source.run_len])?;
        Self::zeros(depth, cols)?.filled(source, cols, convert)
    }

    fn filled<T: Copy>(
        self,
        source: &PackedSource<'_, T>,
        cols: usize,
        convert: impl Fn(T) -> E,
    ) -> Result<Self, ShapeError> {
        let mut packed = self;
        if cols == 0 {
            // Without columns, the number of rows does not matter.
            return Ok(packed);
        }
        for part in 0..packed.parts() {
            let rows = packed.rows(part);
            for panel in 0..packed.panels() {
                let at = packed.cols_of(panel);
                let width = packed.panel_cols;
                let out = packed.panel_mut(part, panel);
                if source.row_stride == 1 && source.runs.len() == 1 {
                    let first = source.runs[0] + at.start * source.col_stride + rows.start;
                    turn(&source.data[first..], source.col_stride, at.len(), out, width, &convert);
                    continue;
                }
                for (row, out) in rows.clone().zip(out.chunks_exact_mut(width)) {
                    let first = source.runs[row / source.run_len]
                        + row % source.run_len * source.row_stride
                        + at.start * source.col_stride;
                    if source.col_stride == 1 {
                        let from = &source.data[first..first + at.len()];
                        out.iter_mut().zip(from).for_each(|(out, &x)| *out = convert(x));
                    } else {
                        for (col, out) in out[..at.len()].iter_mut().enumerate() {
                            *out = convert(source.data[first + col * source.col_stride]);
                        }
                    }
                }
            }
        }
        Ok(packed)
    }

    /// Returns the elements of a matrix that is stored as a single column.
    pub(crate) fn column(&self) -> Option<&[E]> {
        (self.panel_cols == 1 && self.cols == 1).then(|| self.panel(0, 0))
    }

    /// Returns the number of columns of the matrix.
    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    /// Returns the number of rows of the matrix.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the number of parts along the depth.
    pub(crate) fn parts(&self) -> usize {
        self.depth.div_ceil(self.part)
    }

    /// Returns the rows of a part.
    pub(crate) fn rows(&self, part: usize) -> Range<usize> {
        part * self.part..self.depth.min((part + 1) * self.part)
    }

    /// Returns the number of panels.
    pub(crate) fn panels(&self) -> usize {
        self.cols.div_ceil(self.panel_cols)
    }

    /// Returns the number of panels of which the parts together are no larger than a part may be.
    pub(crate) fn panels_of_group(&self, part: usize) -> usize {
        (Self::most_rows() / self.rows(part).len().max(1)).max(1)
    }

    /// Returns the columns of the matrix in a panel.
    pub(crate) fn cols_of(&self, panel: usize) -> Range<usize> {
        panel * self.panel_cols..self.cols.min((panel + 1) * self.panel_cols)
    }

    /// Returns the panels with these columns.
    ///
    /// # Panics
    /// If these columns do not begin at a panel, or end neither at a panel nor at the end of the
    /// matrix.
    pub(crate) fn panels_over(&self, cols: Range<usize>) -> Range<usize> {
        let width = self.panel_cols;
        let ends = cols.end == self.cols || cols.end.is_multiple_of(width);
        assert!(cols.start.is_multiple_of(width) && ends, "blocks have whole panels");
        cols.start / width..cols.end.div_ceil(width)
    }

    fn elements(&self, part: usize, panel: usize) -> Range<usize> {
        let rows = self.rows(part);
        let start = self.start + (rows.start * self.panels() + rows.len() * panel) * self.panel_cols;
        start..start + rows.len() * self.panel_cols
    }

    /// Returns one panel of one part: a row of panel columns for each row of the part.
    pub(crate) fn panel(&self, part: usize, panel: usize) -> &[E] {
        &self.data[self.elements(part, panel)]
    }

    /// Returns one panel of one part for writing.
    pub(crate) fn panel_mut(&mut self, part: usize, panel: usize) -> &mut [E] {
        let elements = self.elements(part, panel);
        &mut self.data[elements]
    }
}

/// Copies columns whose elements are adjacent, and which begin `stride` elements apart, into the
/// rows of a panel.
fn turn<T: Copy, E>(
    from: &[T],
    stride: usize,
    cols: usize,
    out: &mut [E],
    width: usize,
    convert: &impl Fn(T) -> E,
) {
    // So many rows stay in the first-level cache until all their columns are written.
    const ROWS: usize = 16;
    for (block, out) in out.chunks_mut(ROWS * width).enumerate() {
        let rows = out.len() / width;
        for col in 0..cols {
            let column = &from[col * stride + block * ROWS..][..rows];
            out[col..].iter_mut().step_by(width).zip(column).for_each(|(out, &x)| *out = convert(x));
        }
    }
}

const _: () =
    assert!(MOST_COLS * size_of::<f32>() <= 4 * ALIGNMENT, "a panel's row is at most four cache lines");
