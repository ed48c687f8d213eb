//! Tiles of 8×8 16-bit elements: `ldmatrix`, `stmatrix`, `movmatrix`.

use super::Register;

/// Returns the register of each lane after `ldmatrix`: two neighbours of a row, or of a column if
/// `transposed`, with four lanes to a row.
#[inline]
pub(crate) fn load_tile(rows: &[[u16; 8]; 8], transposed: bool) -> Register {
    let element =
        |row: usize, column: usize| u32::from(if transposed { rows[column][row] } else { rows[row][column] });
    std::array::from_fn(|lane| {
        let (row, column) = (lane / 4, lane % 4 * 2);
        element(row, column) | element(row, column + 1) << 16
    })
}

/// Returns the rows that `stmatrix` writes: the inverse of [`load_tile`].
#[inline]
pub(crate) fn store_tile(register: &Register, transposed: bool) -> [[u16; 8]; 8] {
    let mut rows = [[0; 8]; 8];
    for (lane, &word) in register.iter().enumerate() {
        for half in 0..2 {
            let (row, column) = (lane / 4, lane % 4 * 2 + half);
            let element = (word >> (16 * half)) as u16;
            if transposed {
                rows[column][row] = element;
            } else {
                rows[row][column] = element;
            }
        }
    }
    rows
}

/// `movmatrix.trans`.
#[inline]
pub(crate) fn transpose_tile(register: &Register) -> Register {
    load_tile(&store_tile(register, false), true)
}
