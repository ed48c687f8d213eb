//! Tiles of products of bytes for one processor.
#![expect(unsafe_code, reason = "tiles take pointers")]

/// The products along the depth that an instruction sums up.
pub(super) const GROUP: usize = 4;
/// The greatest number of rows of a tile, over all processors.
pub(super) const MOST_ROWS: usize = 6;
/// The greatest number of columns of a panel, over all processors.
pub(super) const MOST_COLS: usize = 64;

/// A few rows by a panel of columns.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only special instructions use it"))]
pub(super) struct Tile<'a> {
    /// Where the rows begin.
    pub(super) rows: [*const u8; MOST_ROWS],
    /// Where the taps of each row are, in bytes behind its beginning. A tap has `groups` times four
    /// unsigned bytes.
    pub(super) taps: &'a [usize],
    pub(super) groups: usize,
    /// For each group of each tap, four signed bytes of each column of the panel.
    pub(super) panel: *const i8,
    /// Receives the sums, a row of [`MOST_COLS`] for each row of the tile, unless they are finished.
    pub(super) sums: *mut i32,
    /// What makes bytes of the sums, for tiles that can.
    pub(super) finish: Option<&'a Finish<'a>>,
}

/// What makes bytes of a tile's sums, and where they belong. No number but NaN is greater than the
/// greatest `i32`.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only special instructions use it"))]
pub(super) struct Finish<'a> {
    /// For each column, with as many more as fill the last vector.
    pub(super) offsets: &'a [i32],
    pub(super) scales: &'a [f32],
    pub(super) bias: &'a [f32],
    /// A byte that stands for zero.
    pub(super) zero: i32,
    pub(super) is_signed: bool,
    /// The columns that belong to the result.
    pub(super) cols: usize,
    /// The first column of each row.
    pub(super) out: [*mut u8; MOST_ROWS],
}

/// The tiles of one processor.
pub(super) struct Kernel {
    /// The columns of a panel.
    pub(super) cols: usize,
    /// The columns of a vector. A tile has as many vectors as its columns need.
    pub(super) lanes: usize,
    /// The greatest number of rows of a tile.
    pub(super) rows: usize,
    /// Computes a tile of this many rows and vectors, both at least 1.
    ///
    /// # Safety
    /// The processor has the instructions, and the tile's pointers are valid: `rows` for reads of all
    /// taps, `panel` of `groups` times [`GROUP`] times `cols` bytes for each tap, and `sums` for
    /// writes of `rows` times [`MOST_COLS`] numbers. If sums are finished, `finishes` is true, there
    /// are numbers for all columns of the vectors, `cols` is at least one and fits into the vectors
    /// but not into one less, and each row has room for that many bytes.
    pub(super) tile: unsafe fn(usize, usize, &Tile<'_>),
    /// Whether tiles can finish sums.
    pub(super) finishes: bool,
}

/// Returns the best tiles for this processor.
pub(super) fn kernel() -> &'static Kernel {
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = super::x86::kernels().next() {
        return kernel;
    }
    &PORTABLE
}

/// Tiles without special instructions.
pub(super) static PORTABLE: Kernel = Kernel { cols: 16, lanes: 16, rows: 1, tile: portable, finishes: false };

/// # Safety
/// As [`Kernel::tile`] requires.
unsafe fn portable(rows: usize, _vectors: usize, tile: &Tile<'_>) {
    let (cols, depth) = (PORTABLE.cols, tile.groups * GROUP);
    for row in 0..rows {
        // SAFETY: the caller promises room for a row of sums.
        let sums = unsafe { std::slice::from_raw_parts_mut(tile.sums.add(row * MOST_COLS), cols) };
        sums.fill(0);
        for (at, &tap) in tile.taps.iter().enumerate() {
            // SAFETY: the caller promises `groups` times four bytes of each tap, and as many for each
            // column of the panel.
            let (left, panel) = unsafe {
                (
                    std::slice::from_raw_parts(tile.rows[row].add(tap), depth),
                    std::slice::from_raw_parts(tile.panel.add(at * depth * cols), depth * cols),
                )
            };
            for (left, panel) in left.chunks_exact(GROUP).zip(panel.chunks_exact(GROUP * cols)) {
                for (sum, right) in sums.iter_mut().zip(panel.chunks_exact(GROUP)) {
                    let products = left.iter().zip(right).map(|(&a, &b)| i32::from(a) * i32::from(b));
                    *sum = sum.wrapping_add(products.sum());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernels() -> Vec<&'static Kernel> {
        #[cfg(target_arch = "x86_64")]
        return super::super::x86::kernels().chain([&PORTABLE]).collect();
        #[cfg(not(target_arch = "x86_64"))]
        vec![&PORTABLE]
    }

    /// The extremes, whose products do not fit into 16 bits when two are added.
    #[test]
    fn tiles_are_exact_on_every_processor() {
        for kernel in kernels() {
            for (taps, groups) in [(1, 0), (0, 1), (1, 1), (3, 1), (1, 40), (5, 7)] {
                let (depth, stride) = (taps * groups * GROUP, taps * groups * GROUP + 8);
                let left: Vec<u8> = (0..MOST_ROWS * stride)
                    .map(|i| if i % 3 == 0 { 255 } else { (i * 29 % 256) as u8 })
                    .collect();
                let panel: Vec<i8> = (0..depth * kernel.cols)
                    .map(|i| if i % 5 < 3 { -128 } else { (i * 31 % 256) as u8 as i8 })
                    .collect();
                // The taps are in another order than in the rows.
                let offsets: Vec<usize> = (0..taps).map(|tap| (tap + 1) % taps * groups * GROUP).collect();
                for (rows, vectors) in [(1, 1), (kernel.rows, kernel.cols / kernel.lanes), (kernel.rows, 1)] {
                    let mut sums = vec![7; MOST_ROWS * MOST_COLS];
                    let mut tile = Tile {
                        rows: std::array::from_fn(|row| left[row * stride..].as_ptr()),
                        taps: &offsets,
                        groups,
                        panel: panel.as_ptr(),
                        sums: sums.as_mut_ptr(),
                        finish: None,
                    };
                    // SAFETY: the operands have these extents, and the kernels are this processor's.
                    unsafe { (kernel.tile)(rows, vectors, &tile) };
                    for row in 0..rows {
                        for col in 0..vectors * kernel.lanes {
                            let expected: i32 = (0..depth)
                                .map(|k| {
                                    let at = k / GROUP * GROUP * kernel.cols + col * GROUP + k % GROUP;
                                    let tap = groups * GROUP;
                                    let own = row * stride + offsets[k / tap] + k % tap;
                                    i32::from(left[own]) * i32::from(panel[at])
                                })
                                .sum();
                            assert_eq!(sums[row * MOST_COLS + col], expected, "{rows} {vectors} {groups}");
                        }
                    }
                    if kernel.finishes {
                        finished_sums_are_bytes(kernel, (rows, vectors), &mut tile, &sums);
                    }
                }
            }
        }
    }

    /// Compares what a tile makes of sums with what the portable code does.
    fn finished_sums_are_bytes(
        kernel: &Kernel,
        (rows, vectors): (usize, usize),
        tile: &mut Tile<'_>,
        sums: &[i32],
    ) {
        let most = vectors * kernel.lanes;
        let scale = |col: usize| if col == 5 { f32::NAN } else { 0.001 * (1.0 + col as f32) };
        let (scales, bias): (Vec<f32>, Vec<f32>) =
            (0..most).map(|col| (scale(col), col as f32 - 9.5)).unzip();
        let offsets: Vec<i32> = (0..most as i32).map(|col| col * 100 - 700).collect();
        for (least, greatest, zero) in [(-128, 127, -3), (0, 255, 0), (0, 255, 131)] {
            for cols in [most, most - 1, most - kernel.lanes + 1] {
                let mut out = vec![77u8; MOST_ROWS * MOST_COLS];
                let first = out.as_mut_ptr();
                let finish = Finish {
                    offsets: &offsets,
                    scales: &scales,
                    bias: &bias,
                    zero,
                    is_signed: least < 0,
                    cols,
                    out: std::array::from_fn(|row| first.wrapping_add(row * MOST_COLS)),
                };
                let tile = Tile { finish: Some(&finish), ..*tile };
                // SAFETY: the operands have the extents of the tile, the kernel is this processor's, and there
                // are numbers for all columns and room for all rows.
                unsafe { (kernel.tile)(rows, vectors, &tile) };
                for (at, &byte) in out.iter().enumerate() {
                    let (row, col) = (at / MOST_COLS, at % MOST_COLS);
                    let expected = if row < rows && col < cols {
                        let number = (sums[at] + offsets[col]) as f32 * scales[col] + bias[col];
                        let bounded = if number.is_nan() {
                            least as f32
                        } else {
                            number.round_ties_even() + zero as f32
                        };
                        bounded.clamp(least as f32, greatest as f32) as i32 as u8
                    } else {
                        77
                    };
                    assert_eq!(byte, expected, "{rows} {cols} {at}");
                }
            }
        }
    }
}
