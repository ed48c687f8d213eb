//! The right operand: narrow integers, scales, and zeros, laid out by panels of columns.

use super::{CHUNK, COLS, QUAD};
use crate::ShapeError;
use crate::error::check_len;
use crate::shape::element_count;

/// The extents of a matrix of narrow integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NarrowShape {
    depth: usize,
    cols: usize,
    block: usize,
    bits: usize,
}

impl NarrowShape {
    /// Describes a matrix of `depth` rows and `cols` columns, where each `block` rows of a column
    /// have a scale, and integers have `bits` bits.
    ///
    /// # Errors
    /// Parameter unless there are 2, 4 or 8 bits and `block` is a multiple of 16; TooLarge.
    pub fn new([depth, cols]: [usize; 2], block: usize, bits: usize) -> Result<Self, ShapeError> {
        if !matches!(bits, 2 | 4 | 8) {
            return Err(ShapeError::Parameter("narrow integers must have 2, 4 or 8 bits"));
        }
        if block == 0 || !block.is_multiple_of(16) {
            return Err(ShapeError::Parameter("the length of a block must be a multiple of 16"));
        }
        let padded = depth.checked_next_multiple_of(block).ok_or(ShapeError::TooLarge)?;
        let panels = cols.checked_next_multiple_of(COLS).ok_or(ShapeError::TooLarge)?;
        element_count(&[padded, panels, size_of::<f32>()])?;
        Ok(Self { depth, cols, block, bits })
    }

    /// Returns the number of rows.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Returns the number of rows that share a scale.
    pub fn block(&self) -> usize {
        self.block
    }

    /// Returns the number of bits of an integer.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Returns the number of blocks of a column.
    pub fn blocks(&self) -> usize {
        self.depth.div_ceil(self.block)
    }

    /// Returns the number of bytes of a column, whose last block is filled up.
    pub fn column_bytes(&self) -> usize {
        self.blocks() * self.block * self.bits / 8
    }

    /// Returns the number of bytes of the packed zeros of a column.
    pub fn zero_bytes(&self) -> usize {
        (self.blocks() * self.bits).div_ceil(8)
    }

    /// Returns the integer that stands for zero if none is given.
    pub(super) fn middle(&self) -> u8 {
        1 << (self.bits - 1)
    }

    /// Returns the number of panels.
    pub(super) fn panels(&self) -> usize {
        self.cols.div_ceil(COLS)
    }

    /// Returns the number of rows in a chunk.
    pub(super) fn chunk_rows(&self) -> usize {
        QUAD * (8 / self.bits)
    }

    /// Returns the number of bytes of a panel.
    pub(super) fn panel_bytes(&self) -> usize {
        self.column_bytes() * COLS
    }

    /// Lays out a number for each block of each column, which are given column by column. What a
    /// panel lacks is `missing`.
    fn by_panels<T: Copy>(&self, missing: T, at: impl Fn(usize, usize) -> T) -> Vec<T> {
        let mut all = Vec::with_capacity(self.panels() * self.blocks() * COLS);
        for panel in 0..self.panels() {
            for block in 0..self.blocks() {
                let columns = panel * COLS..(panel + 1) * COLS;
                all.extend(columns.map(|col| if col < self.cols { at(col, block) } else { missing }));
            }
        }
        all
    }
}

/// Returns the integer of `bits` bits in place `at` of packed ones.
fn field(bytes: &[u8], at: usize, bits: usize) -> u8 {
    let each = 8 / bits;
    bytes[at / each] >> (at % each * bits) & (u8::MAX >> (8 - bits))
}

/// A matrix of narrow integers, laid out for products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NarrowMatrix {
    shape: NarrowShape,
    panels: Vec<[u8; CHUNK]>,
}

impl NarrowMatrix {
    /// Lays out packed integers: [`NarrowShape::column_bytes`] for each column.
    ///
    /// # Errors
    /// Length if there are fewer or more bytes.
    pub fn new(shape: NarrowShape, bytes: &[u8]) -> Result<Self, ShapeError> {
        let stride = shape.column_bytes();
        check_len("packed integers", shape.cols * stride, bytes.len())?;
        let chunks = shape.panel_bytes() / CHUNK;
        let mut panels = vec![[0; CHUNK]; shape.panels() * chunks];
        for (col, column) in bytes.chunks_exact(stride.max(1)).enumerate() {
            let (panel, place) = (col / COLS * chunks, col % COLS * QUAD);
            // As many bytes of a column as a chunk has of it.
            for (chunk, four) in panels[panel..][..chunks].iter_mut().zip(column.as_chunks::<QUAD>().0) {
                chunk[place..][..QUAD].copy_from_slice(&interleaved(*four, shape.bits));
            }
        }
        Ok(Self { shape, panels })
    }

    /// Returns the extents.
    pub fn shape(&self) -> &NarrowShape {
        &self.shape
    }

    /// Returns the chunks of a panel.
    pub(super) fn panel(&self, panel: usize) -> &[[u8; CHUNK]] {
        let chunks = self.shape.panel_bytes() / CHUNK;
        &self.panels[panel * chunks..][..chunks]
    }
}

/// Orders the integers of four bytes so that byte `b` has those in places `b`, `b + 4`, `b + 8`, and
/// so on.
fn interleaved(four: [u8; QUAD], bits: usize) -> [u8; QUAD] {
    if bits == 8 {
        return four;
    }
    let mut to = [0; QUAD];
    for place in 0..QUAD * 8 / bits {
        to[place % QUAD] |= field(&four, place, bits) << (place / QUAD * bits);
    }
    to
}

/// The scales of a matrix of narrow integers, laid out for products.
#[derive(Debug, Clone, PartialEq)]
pub struct NarrowScales {
    shape: NarrowShape,
    scales: Vec<f32>,
}

impl NarrowScales {
    /// Lays out scales, one for each block of each column, column by column.
    ///
    /// # Errors
    /// Length if there are fewer or more.
    pub fn new(shape: NarrowShape, scales: &[f32]) -> Result<Self, ShapeError> {
        let blocks = shape.blocks();
        check_len("scales of blocks", shape.cols * blocks, scales.len())?;
        Ok(Self { shape, scales: shape.by_panels(0.0, |col, block| scales[col * blocks + block]) })
    }

    /// Returns the extents of the matrix.
    pub fn shape(&self) -> &NarrowShape {
        &self.shape
    }

    /// Returns the scales of a panel, 16 for each block.
    pub(super) fn panel(&self, panel: usize) -> &[[f32; COLS]] {
        let blocks = self.shape.blocks();
        &self.scales.as_chunks().0[panel * blocks..][..blocks]
    }
}

/// The integers that stand for zero in a matrix of narrow integers, laid out for products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NarrowZeros {
    shape: NarrowShape,
    zeros: Vec<u8>,
}

impl NarrowZeros {
    /// Lays out packed integers: [`NarrowShape::zero_bytes`] for each column.
    ///
    /// # Errors
    /// Length if there are fewer or more bytes.
    pub fn new(shape: NarrowShape, bytes: &[u8]) -> Result<Self, ShapeError> {
        let stride = shape.zero_bytes();
        check_len("packed zeros", shape.cols * stride, bytes.len())?;
        let at = |col: usize, block| field(&bytes[col * stride..], block, shape.bits);
        Ok(Self { shape, zeros: shape.by_panels(0, at) })
    }

    /// Returns the extents of the matrix.
    pub fn shape(&self) -> &NarrowShape {
        &self.shape
    }

    /// Returns the zeros of a panel, 16 for each block.
    pub(super) fn panel(&self, panel: usize) -> &[[u8; COLS]] {
        let blocks = self.shape.blocks();
        &self.zeros.as_chunks().0[panel * blocks..][..blocks]
    }
}
