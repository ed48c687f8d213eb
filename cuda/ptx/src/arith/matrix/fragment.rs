//! The assignment of matrix elements to lanes and registers.

use super::{Accumulator, Element, Family, LANES, Shape};

/// The matrix that a fragment is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Operand {
    /// The first factor.
    A,
    /// The second factor.
    B,
    /// The accumulator, or the result.
    C,
}

/// A fragment: the elements of a matrix that each lane holds, packed into registers from the low
/// bits up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fragment {
    family: Family,
    operand: Operand,
    rows: usize,
    columns: usize,
    bits: usize,
    /// The number of elements in a lane's registers. Where `wmma` repeats elements, this exceeds
    /// the lane's share.
    elements: usize,
}

impl Fragment {
    /// Creates a fragment of A or B.
    pub(crate) fn factor(family: Family, operand: Operand, shape: Shape, element: Element) -> Self {
        let Shape { m, n, k } = shape.of_warp(family);
        let (rows, columns) = if operand == Operand::A { (m, k) } else { (k, n) };
        let share = rows * columns / LANES;
        // A `wmma` fragment of f16 has eight registers for every shape.
        let elements = if family == Family::Wmma && element == Element::F16 { 16 } else { share };
        Self { family, operand, rows, columns, bits: element.bits(), elements }
    }

    /// Creates a fragment of C or D.
    pub(crate) fn accumulator(family: Family, shape: Shape, element: Accumulator) -> Self {
        let rows = shape.of_warp(family).m;
        let elements = rows * shape.n / LANES;
        Self { family, operand: Operand::C, rows, columns: shape.n, bits: element.bits(), elements }
    }

    /// Returns the number of elements that each lane holds.
    pub(crate) fn elements(&self) -> usize {
        self.elements
    }

    /// Returns the width of an element.
    pub(crate) fn bits(&self) -> usize {
        self.bits
    }

    /// Returns the number of registers of a lane's elements. They have 64 bits for `f64` and 32
    /// otherwise.
    pub(crate) fn registers(&self) -> usize {
        (self.elements * self.bits).div_ceil(self.bits.max(32))
    }

    /// Returns the rows and columns of the whole matrix.
    #[cfg(test)]
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Returns the distance between two rows or columns, in elements, that `wmma` uses if the
    /// instruction names none.
    pub(crate) fn default_stride(&self, row_major: bool) -> usize {
        if row_major { self.columns } else { self.rows }
    }

    /// Returns the row and column of a lane's element in the matrix.
    #[inline]
    pub(crate) fn position(&self, lane: usize, element: usize) -> (usize, usize) {
        match self.family {
            Family::Mma => self.position_mma(lane, element),
            Family::Quads { a_rows, b_rows } => self.position_quads(lane, element, (a_rows, b_rows)),
            Family::Wmma => self.position_wmma(lane, element),
        }
    }

    /// Returns the position in the layout of the manual: a group of four lanes holds a row of A or
    /// of the accumulator, or a column of B. In A and B each lane of a group holds one register of
    /// neighbours along K.
    #[inline]
    fn position_mma(&self, lane: usize, element: usize) -> (usize, usize) {
        let (group, thread) = (lane / 4, lane % 4);
        // All sizes are powers of two, so this shifts: a division would take longer than everything
        // else here.
        let shift = (32 / self.bits).max(1).trailing_zeros();
        let per_register = 1 << shift;
        let (register, place) = (element >> shift, element & (per_register - 1));
        let along = thread * per_register + place;
        match self.operand {
            Operand::A if self.rows == 16 => {
                (group + 8 * (register % 2), along + 4 * per_register * (register / 2))
            }
            Operand::A => (group, along + 4 * per_register * register),
            Operand::B => (along + 4 * per_register * register, group),
            Operand::C => (group + 8 * (element / 2), 2 * thread + element % 2),
        }
    }

    /// Returns the position in the layout of the manual: product `q` belongs to the lanes from `4q`
    /// and from `16 + 4q`.
    #[inline]
    fn position_quads(&self, lane: usize, element: usize, (a_rows, b_rows): (bool, bool)) -> (usize, usize) {
        let (start, upper, place) = (lane % 16 / 4 * 8, lane / 16 * 4, lane % 4);
        let across = start + upper + place;
        match self.operand {
            Operand::A if a_rows => (across, element),
            Operand::A => (start + upper + element, place),
            Operand::B if b_rows => (place, start + upper + element),
            Operand::B => (element, across),
            Operand::C if self.bits == 16 => (across, element),
            Operand::C => {
                (start + upper + (lane & 1) + (element & 2), (element & 4) + (lane & 2) + (element & 1))
            }
        }
    }

    /// Returns the position in a layout chosen here: each lane holds its share of neighbours along
    /// K, or of a row of the accumulator.
    #[inline]
    fn position_wmma(&self, lane: usize, element: usize) -> (usize, usize) {
        let share = self.rows * self.columns / LANES;
        let index = lane * share + (element & (share - 1));
        // Rows and columns are powers of two.
        let split = |size: usize| (index >> size.trailing_zeros(), index & (size - 1));
        match self.operand {
            Operand::A | Operand::C => split(self.columns),
            Operand::B => {
                let (column, row) = split(self.rows);
                (row, column)
            }
        }
    }
}
