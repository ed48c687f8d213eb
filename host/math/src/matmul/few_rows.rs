//! Products of a few rows by a matrix in single precision whose columns are contiguous. They take as
//! long as reading the matrix takes, which is read once and as it is.
#![expect(unsafe_code, reason = "tiles take pointers")]

use super::kernel::{Gemm, scale};
use crate::TileMut;
use crate::micro::{DOT_ROWS, DotTile, MOST_LANES, MicroElement, total};

/// Shorter sums are computed in order, as [`small_matmul`](super::small_matmul) computes them.
const MIN_LENGTH: usize = 32;
/// Matrices with more elements hardly stay in the second-level cache.
const MAX_CACHED: usize = 1 << 19;

/// Computes the tile, whose matrices reach far enough, and returns true. Returns false if the sums
/// are short, or if rows of A or columns of B are not contiguous.
pub(super) fn few_rows(g: &Gemm<'_, f32>, tile: &mut TileMut<'_, f32>) -> bool {
    if g.k < MIN_LENGTH || g.b.row_stride != 1 || g.a.col_stride != 1 {
        return false;
    }
    scale(g.beta, tile);
    let (micro, cols) = (f32::micro(), tile.cols());
    let mut sums = [0.0; DOT_ROWS * MOST_LANES];
    // From memory, one column after the other is read faster than several at a time.
    let is_cached = g.k.saturating_mul(cols) <= MAX_CACHED;
    let step = if is_cached { DOT_ROWS } else { 1 };
    for first in (0..cols).step_by(step) {
        let count = step.min(cols - first);
        let mut pointers = [std::ptr::null(); DOT_ROWS];
        for (pointer, col) in pointers.iter_mut().zip(first..first + count) {
            *pointer = g.b.data[col * g.b.col_stride..][..g.k].as_ptr();
        }
        for row in 0..tile.rows() {
            let dots = DotTile {
                pointers: pointers.as_ptr(),
                rows: count,
                runs: 1,
                run_len: g.k,
                nothing: std::ptr::null(),
                column: g.a.data[row * g.a.row_stride..][..g.k].as_ptr(),
                sums: sums.as_mut_ptr(),
            };
            // SAFETY: `micro` has kernels that this processor supports. The first `count` pointers
            // and the row of A refer to `k` elements each. The sums have room for the vectors.
            unsafe { (micro.dot_tile)(count, &dots) };
            let out = &mut tile.row_mut(row)[first..first + count];
            for (out, lanes) in out.iter_mut().zip(sums.chunks_exact(micro.lanes)) {
                *out += g.alpha * total(lanes);
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::{BlockOp, Layout, MatMul, MatMulInput, Serial};

    #[test]
    fn products_of_few_rows_agree_with_double_precision() {
        // Sums of every number of lanes, tiles of every number of columns, and a matrix that is not
        // in the cache.
        for (m, k, n) in [(1, 32, 1), (2, 47, 3), (3, 100, 9), (4, 64, 5), (1, 1500, 400), (2, 31, 6)] {
            let number = |i: usize| ((i * 37) % 101) as f32 * 0.02 - 1.0;
            let (a, b): (Vec<_>, Vec<_>) =
                ((0..m * k).map(number).collect(), (0..n * k).map(|i| number(i + 7)).collect());
            let layouts = (Layout::row_major(m, k), Layout::transposed(k, n));
            let plan = MatMul::<f32>::new(m, k, n, 1).and_then(|plan| plan.operands(layouts.0, layouts.1));
            let plan = plan.unwrap().scaled(0.5, 2.0);
            let mut out: Vec<f32> = (0..m * n).map(|i| i as f32).collect();
            plan.run(&Serial, MatMulInput::new(&a, &b), &mut out).unwrap();
            for (i, &found) in out.iter().enumerate() {
                let (row, col) = (i / n, i % n);
                let products = (0..k).map(|p| f64::from(a[row * k + p]) * f64::from(b[col * k + p]));
                let exact = 0.5 * products.sum::<f64>() + 2.0 * i as f64;
                assert!((f64::from(found) - exact).abs() < 1e-4 * (1.0 + exact.abs()), "{m} {k} {n}: {i}");
            }
        }
    }

    #[test]
    fn the_cut_does_not_change_a_bit() {
        let (m, k, n) = (2, 1500, 700);
        let number = |i: usize| ((i * 37) % 101) as f32 * 0.02 - 1.0;
        let (a, b): (Vec<_>, Vec<_>) = ((0..m * k).map(number).collect(), (0..n * k).map(number).collect());
        let all = [1, 8].map(|workers| {
            let plan = MatMul::<f32>::new(m, k, n, workers).unwrap();
            let plan = plan.operands(Layout::row_major(m, k), Layout::transposed(k, n)).unwrap();
            let mut out = vec![0.0; m * n];
            plan.run(&Serial, MatMulInput::new(&a, &b), &mut out).unwrap();
            (plan.block_count(), out)
        });
        assert!(all[0].0 < all[1].0 && all[0].1 == all[1].1);
    }
}
