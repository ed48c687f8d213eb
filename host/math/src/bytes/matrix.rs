//! The right operand of a product of bytes.

use super::kernel::{GROUP, kernel};
use super::{Bytes, FLIP};
use crate::error::check_len;
use crate::shape::element_count;
use crate::{Layout, ShapeError};

/// A `depth` × `columns` matrix of bytes with the integers that stand for zero, in the order in
/// which products read it. It is made for one processor.
#[derive(Debug, Clone)]
pub struct ByteMatrix {
    depth: usize,
    /// The rows that hold elements.
    terms: usize,
    cols: usize,
    /// Panels of columns; for each group of the depth four bytes of each column.
    panels: Vec<i8>,
    /// The sum of each column.
    sums: Vec<i32>,
    /// The zero of each column, as that of signed bytes.
    zeros: Vec<i32>,
    /// The zeros as they were given, and the distance of signed bytes from the ones given.
    given: Vec<i32>,
    distance: i32,
}

impl ByteMatrix {
    /// Lays out the matrix of this extent and layout. `zeros` has one integer for all columns or
    /// one for each.
    ///
    /// # Errors
    /// Length if there are too few bytes or zeros for the extent.
    pub fn new(
        (depth, cols): (usize, usize),
        (bytes, layout): (Bytes<'_>, Layout),
        zeros: &[i32],
    ) -> Result<Self, ShapeError> {
        let needed = layout.span(1, depth, cols)?;
        if bytes.len() < needed {
            return Err(ShapeError::Length { operand: "matrix", expected: needed, actual: bytes.len() });
        }
        let bits = bytes.bits();
        let at = |row, col| Some(bits[row * layout.row_stride + col * layout.col_stride]);
        Self::from_bits((depth, depth, cols), at, bytes.as_signed(), zeros)
    }

    /// Lays out a matrix whose element in a row and a column has the bits that `at` returns; see
    /// [`Bytes::as_signed`]. `terms` rows have elements, and the others are the number zero.
    pub(super) fn from_bits(
        (depth, terms, cols): (usize, usize, usize),
        at: impl Fn(usize, usize) -> Option<u8>,
        (flip, distance): (u8, i32),
        zeros: &[i32],
    ) -> Result<Self, ShapeError> {
        if zeros.len() != 1 {
            check_len("zeros of the columns", cols, zeros.len())?;
        }
        let width = kernel().cols;
        let padded = cols.checked_next_multiple_of(width).ok_or(ShapeError::TooLarge)?;
        let groups = depth.div_ceil(GROUP);
        let mut panels = vec![0; element_count(&[groups, GROUP, padded])?];
        let mut sums = vec![0i32; cols];
        for (panel, bytes) in panels.chunks_exact_mut((groups * GROUP * width).max(1)).enumerate() {
            for (group, bytes) in bytes.chunks_exact_mut(GROUP * width).enumerate() {
                let (rows, first) = (group * GROUP..depth.min((group + 1) * GROUP), panel * width);
                for col in first..cols.min(first + width) {
                    for (row, byte) in rows.clone().zip(&mut bytes[(col - first) * GROUP..]) {
                        *byte = at(row, col).map_or(0, |bits| (bits ^ flip) as i8);
                        sums[col] = sums[col].wrapping_add(i32::from(*byte));
                    }
                }
            }
        }
        let given = zeros.to_vec();
        let zeros = (0..cols).map(|col| zeros[col % zeros.len()].wrapping_add(distance)).collect();
        Ok(Self { depth, terms, cols, panels, sums, zeros, given, distance })
    }

    /// Returns the number of rows.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Returns whether this was laid out from a matrix of this extent, this kind of bytes and these
    /// zeros.
    pub fn fits(&self, (depth, cols): (usize, usize), bytes: Bytes<'_>, zeros: &[i32]) -> bool {
        self.depth == depth
            && self.cols == cols
            && self.distance == bytes.as_signed().1
            && self.given == zeros
    }

    /// Returns whether a zero is not the number zero, so that the sums of rows matter.
    pub(super) fn needs_row_sums(&self) -> bool {
        self.zeros.iter().any(|&zero| zero != 0)
    }

    /// Returns the zeros of the columns.
    pub(super) fn zeros(&self) -> &[i32] {
        &self.zeros
    }

    /// Returns the panel of these columns.
    pub(super) fn panel(&self, panel: usize) -> &[i8] {
        let len = self.depth.div_ceil(GROUP) * GROUP * kernel().cols;
        &self.panels[panel * len..][..len]
    }

    /// Returns what is added to the sum of each column, where rows have this zero.
    pub(super) fn offsets(&self, zero: i32, bias: Option<&[i32]>) -> Vec<i32> {
        let depth = self.terms as i32;
        let offset = |col: usize| {
            let own = zero.wrapping_mul(depth.wrapping_mul(self.zeros[col]).wrapping_sub(self.sums[col]));
            own.wrapping_add(bias.map_or(0, |bias| bias[col]))
        };
        (0..self.cols).map(offset).collect()
    }
}

const _: () = assert!(FLIP as i8 == i8::MIN, "an unsigned byte minus 128 has its highest bit flipped");
