//! Products that take less time than planning and cutting them.

use super::{FEW_ROWS, Layout, MatMulElement};

/// The greatest number of elements that [`MatMul`](super::MatMul) sums in order, for every layout.
const MAX_LENGTH: usize = 15;
const MAX_COLUMNS: usize = 8;

/// Computes the product of an `m` × `k` by a `k` × `n` matrix into a dense row-major `output`, if
/// the product is small and its type is not widened for sums. Returns whether it did; otherwise
/// nothing is written. The result equals that of [`MatMul`](super::MatMul), bit for bit.
///
/// Returns false for slices that are too short for their layouts, for which `MatMul` reports the
/// error.
pub fn small_matmul<T: MatMulElement>(
    [m, k, n]: [usize; 3],
    (a, a_layout): (&[T], Layout),
    (b, b_layout): (&[T], Layout),
    output: &mut [T],
) -> bool {
    let is_small = T::SUMS_AS_ITSELF && m <= FEW_ROWS && k <= MAX_LENGTH && n <= MAX_COLUMNS;
    if !is_small || output.len() != m * n || m * n == 0 {
        return false;
    }
    if !a_layout.fits(m, k, a.len()) || !b_layout.fits(k, n, b.len()) {
        return false;
    }
    for (row, out) in output.chunks_exact_mut(n).enumerate() {
        for (col, out) in out.iter_mut().enumerate() {
            let mut sum = T::ZERO;
            for p in 0..k {
                let factor = a[row * a_layout.row_stride + p * a_layout.col_stride];
                sum = sum.plus(factor.times(b[p * b_layout.row_stride + col * b_layout.col_stride]));
            }
            *out = sum;
        }
    }
    true
}
