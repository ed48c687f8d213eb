//! The right operand of a product, laid out in the order in which tiles read it.

use std::ops::Range;

use super::{HalfFormat, MOST_COLS, MicroElement, RowKernel};
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
    panels: Panels,
    elements: Elements<E>,
}

#[derive(Debug, Clone)]
enum Elements<E> {
    Wide(Aligned<E>),
    Halves(Aligned<u16>, HalfFormat<E>),
}

/// Elements from the first aligned one on.
#[derive(Debug, Clone)]
struct Aligned<T> {
    data: Vec<T>,
    start: usize,
}

/// How a matrix is cut into panels and parts.
#[derive(Debug, Clone, Copy)]
struct Panels {
    depth: usize,
    cols: usize,
    /// The number of rows of a part. The last part may have fewer.
    part: usize,
    panel_cols: usize,
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

impl<T: Copy + Default> Aligned<T> {
    fn zeros(len: usize) -> Result<Self, ShapeError> {
        let len = len.checked_add(ALIGNMENT / size_of::<T>()).ok_or(ShapeError::TooLarge)?;
        if len > isize::MAX as usize / size_of::<T>() {
            return Err(ShapeError::TooLarge);
        }
        let data = vec![T::default(); len];
        // Alignment only affects speed, so a failure to determine it is ignored.
        let start = Some(data.as_ptr().align_offset(ALIGNMENT)).filter(|&n| n < ALIGNMENT / size_of::<T>());
        Ok(Self { data, start: start.unwrap_or(0) })
    }

    fn range(&self, at: Range<usize>) -> &[T] {
        &self.data[self.start..][at]
    }

    /// Fills the panels with the elements of `source`, with `convert` applied to each.
    fn fill<S: Copy>(&mut self, panels: &Panels, source: &PackedSource<'_, S>, convert: impl Fn(S) -> T) {
        if panels.cols == 0 {
            // Without columns, the number of rows does not matter.
            return;
        }
        let (data, width) = (&mut self.data[self.start..], panels.panel_cols);
        for part in 0..panels.parts() {
            let rows = panels.rows(part);
            for panel in 0..panels.count() {
                let at = panels.cols_of(panel);
                let out = &mut data[panels.elements(part, panel..panel + 1)];
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
    }
}

impl Panels {
    /// Cuts a matrix into panels of this many columns, whose parts have at most `most_rows` rows.
    fn new((depth, cols): (usize, usize), panel_cols: usize, most_rows: usize) -> Self {
        // A column is used as a whole.
        let most = if panel_cols == 1 { depth.max(1) } else { most_rows };
        let part = depth.div_ceil(depth.div_ceil(most).max(1)).max(1);
        Self { depth, cols, part, panel_cols }
    }

    /// Returns the number of elements, those that fill up the last panel included.
    fn len(&self) -> Result<usize, ShapeError> {
        let padded = self.cols.checked_next_multiple_of(self.panel_cols).ok_or(ShapeError::TooLarge)?;
        element_count(&[self.depth, padded])
    }

    fn parts(&self) -> usize {
        self.depth.div_ceil(self.part)
    }

    fn rows(&self, part: usize) -> Range<usize> {
        part * self.part..self.depth.min((part + 1) * self.part)
    }

    fn count(&self) -> usize {
        self.cols.div_ceil(self.panel_cols)
    }

    fn cols_of(&self, panel: usize) -> Range<usize> {
        panel * self.panel_cols..self.cols.min((panel + 1) * self.panel_cols)
    }

    /// Returns the places of the elements of adjacent panels in one part.
    fn elements(&self, part: usize, panels: Range<usize>) -> Range<usize> {
        let rows = self.rows(part);
        let at = |panel| (rows.start * self.count() + rows.len() * panel) * self.panel_cols;
        at(panels.start)..at(panels.end)
    }
}

impl<E: MicroElement> Packed<E> {
    /// Creates a matrix of zeros with this extent, to be filled.
    pub(crate) fn zeros(depth: usize, cols: usize) -> Result<Self, ShapeError> {
        let panels = Panels::new((depth, cols), E::micro().cols, Self::most_rows());
        Ok(Self { panels, elements: Elements::Wide(Aligned::zeros(panels.len()?)?) })
    }

    /// Returns the greatest number of rows of a part.
    fn most_rows() -> usize {
        let micro = E::micro();
        let bytes = micro.cols * size_of::<E>();
        (PART_BYTES_PER_LANE * (micro.lanes * size_of::<E>() / 4).min(16) / bytes).max(1)
    }

    /// Returns the matrix that `source` describes, with `convert` applied to each element. The
    /// source must have `depth` rows.
    pub(crate) fn pack<T: Copy>(
        source: &PackedSource<'_, T>,
        cols: usize,
        convert: impl Fn(T) -> E,
    ) -> Result<Self, ShapeError> {
        Self::with_panels(source, cols, if cols == 1 { 1 } else { E::micro().cols }, convert)
    }

    /// Returns the matrix like [`pack`](Self::pack), in panels of vectors even if it is a single
    /// column.
    pub(crate) fn pack_panels<T: Copy>(
        source: &PackedSource<'_, T>,
        cols: usize,
        convert: impl Fn(T) -> E,
    ) -> Result<Self, ShapeError> {
        Self::with_panels(source, cols, E::micro().cols, convert)
    }

    fn with_panels<T: Copy>(
        source: &PackedSource<'_, T>,
        cols: usize,
        panel_cols: usize,
        convert: impl Fn(T) -> E,
    ) -> Result<Self, ShapeError> {
        let depth = element_count(&[source.runs.len(), source.run_len])?;
        let panels = Panels::new((depth, cols), panel_cols, Self::most_rows());
        let mut data = Aligned::zeros(panels.len()?)?;
        data.fill(&panels, source, convert);
        Ok(Self { panels, elements: Elements::Wide(data) })
    }

    /// Returns the matrix that `source` describes in numbers of 16 bits of some format. It is kept in
    /// 16 bits, in panels of vectors.
    pub(crate) fn pack_halves(
        source: &PackedSource<'_, u16>,
        cols: usize,
        format: HalfFormat<E>,
    ) -> Result<Self, ShapeError> {
        let depth = element_count(&[source.runs.len(), source.run_len])?;
        let panels = Panels::new((depth, cols), E::micro().cols, Self::most_rows());
        let mut data = Aligned::zeros(panels.len()?)?;
        data.fill(&panels, source, |bits| bits);
        Ok(Self { panels, elements: Elements::Halves(data, format) })
    }

    /// Returns the elements of a matrix that is stored as a single column.
    pub(crate) fn column(&self) -> Option<&[E]> {
        match &self.elements {
            Elements::Wide(data) if self.panels.panel_cols == 1 && self.cols() == 1 => {
                Some(data.range(self.panels.elements(0, 0..1)))
            }
            _ => None,
        }
    }

    /// Returns the number of columns of the matrix.
    pub(crate) fn cols(&self) -> usize {
        self.panels.cols
    }

    /// Returns the number of rows of the matrix.
    pub(crate) fn depth(&self) -> usize {
        self.panels.depth
    }

    /// Returns the number of parts along the depth.
    pub(crate) fn parts(&self) -> usize {
        self.panels.parts()
    }

    /// Returns the rows of a part.
    pub(crate) fn rows(&self, part: usize) -> Range<usize> {
        self.panels.rows(part)
    }

    /// Returns the number of panels.
    pub(crate) fn panels(&self) -> usize {
        self.panels.count()
    }

    /// Returns the number of panels of which the parts together are no larger than a part may be.
    pub(crate) fn panels_of_group(&self, part: usize) -> usize {
        (Self::most_rows() / self.rows(part).len().max(1)).max(1)
    }

    /// Returns the columns of the matrix in a panel.
    pub(crate) fn cols_of(&self, panel: usize) -> Range<usize> {
        self.panels.cols_of(panel)
    }

    /// Returns the panels with these columns.
    ///
    /// # Panics
    /// If these columns do not begin at a panel, or end neither at a panel nor at the end of the
    /// matrix.
    pub(crate) fn panels_over(&self, cols: Range<usize>) -> Range<usize> {
        let width = self.panels.panel_cols;
        let ends = cols.end == self.cols() || cols.end.is_multiple_of(width);
        assert!(cols.start.is_multiple_of(width) && ends, "blocks have whole panels");
        cols.start / width..cols.end.div_ceil(width)
    }

    /// Returns adjacent panels of one part: for each, a row of panel columns for each row of the part.
    /// Those in 16 bits are widened into `memory`.
    pub(crate) fn wide<'a>(&'a self, part: usize, panels: Range<usize>, memory: &'a mut Vec<E>) -> &'a [E] {
        let at = self.panels.elements(part, panels);
        match &self.elements {
            Elements::Wide(data) => data.range(at),
            Elements::Halves(data, format) => {
                let len = at.len();
                if memory.len() < len {
                    memory.resize(len, E::ZERO);
                }
                (format.widen)(data.range(at), &mut memory[..len]);
                &memory[..len]
            }
        }
    }

    /// Returns adjacent panels of one part in 16 bits, and the kernel of tiles that widen them as they
    /// read them, if the matrix is kept so, there is a kernel, and the panels have all their columns.
    pub(crate) fn halves(&self, part: usize, panels: Range<usize>) -> Option<(&[u16], RowKernel<E, u16>)> {
        match &self.elements {
            Elements::Halves(data, format) if panels.end * self.panels.panel_cols <= self.cols() => {
                Some((data.range(self.panels.elements(part, panels)), format.row_tile?))
            }
            _ => None,
        }
    }

    /// Returns whether the matrix is kept in 16 bits.
    pub(crate) fn has_halves(&self) -> bool {
        matches!(self.elements, Elements::Halves(..))
    }

    /// Returns where a panel of a part is in memory, to be fetched into a cache, and its size in bytes.
    pub(crate) fn place(&self, part: usize, panel: usize) -> (*const u8, usize) {
        let at = self.panels.elements(part, panel..panel + 1);
        match &self.elements {
            Elements::Wide(data) => (data.range(at.clone()).as_ptr().cast(), size_of::<E>() * at.len()),
            Elements::Halves(data, _) => {
                (data.range(at.clone()).as_ptr().cast(), size_of::<u16>() * at.len())
            }
        }
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
