//! Tiles of products of bytes for one processor.
#![expect(unsafe_code, reason = "tiles take pointers")]

/// The products along the depth that an instruction sums up.
pub(super) const GROUP: usize = 4;
/// The greatest number of rows of a tile, over all processors.
pub(super) const MOST_ROWS: usize = 6;
/// The greatest number of columns of a panel, over all processors.
pub(super) const MOST_COLS: usize = 64;

/// A few rows by a panel of columns.
pub(super) struct Tile {
    /// The first row: `groups` times four unsigned bytes.
    pub(super) left: *const u8,
    /// From one row to the next, in bytes.
    pub(super) stride: usize,
    pub(super) groups: usize,
    /// For each group, four signed bytes of each column of the panel.
    pub(super) panel: *const i8,
    /// Receives the sums, a row of [`MOST_COLS`] for each row of the tile.
    pub(super) sums: *mut i32,
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
    /// The processor has the instructions, and the tile's pointers are valid: `left` for reads of
    /// all rows, `panel` of `groups` times [`GROUP`] times `cols` bytes, and `sums` for writes of
    /// `rows` times [`MOST_COLS`] numbers.
    pub(super) tile: unsafe fn(usize, usize, &Tile),
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
pub(super) static PORTABLE: Kernel = Kernel { cols: 16, lanes: 16, rows: 1, tile: portable };

/// # Safety
/// As [`Kernel::tile`] requires.
unsafe fn portable(rows: usize, _vectors: usize, tile: &Tile) {
    let cols = PORTABLE.cols;
    for row in 0..rows {
        // SAFETY: the caller promises a row of `groups` times four bytes, a panel of as many for
        // each column, and room for the sums.
        let (left, panel, sums) = unsafe {
            (
                std::slice::from_raw_parts(tile.left.add(row * tile.stride), tile.groups * GROUP),
                std::slice::from_raw_parts(tile.panel, tile.groups * GROUP * cols),
                std::slice::from_raw_parts_mut(tile.sums.add(row * MOST_COLS), cols),
            )
        };
        sums.fill(0);
        for (left, panel) in left.chunks_exact(GROUP).zip(panel.chunks_exact(GROUP * cols)) {
            for (sum, right) in sums.iter_mut().zip(panel.chunks_exact(GROUP)) {
                let products = left.iter().zip(right).map(|(&a, &b)| i32::from(a) * i32::from(b));
                *sum = sum.wrapping_add(products.sum());
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
            for groups in [0, 1, 3, 40] {
                let depth = groups * GROUP;
                let left: Vec<u8> = (0..MOST_ROWS * depth)
                    .map(|i| if i % 3 == 0 { 255 } else { (i * 29 % 256) as u8 })
                    .collect();
                let panel: Vec<i8> = (0..depth * kernel.cols)
                    .map(|i| if i % 5 < 3 { -128 } else { (i * 31 % 256) as u8 as i8 })
                    .collect();
                for (rows, vectors) in [(1, 1), (kernel.rows, kernel.cols / kernel.lanes), (kernel.rows, 1)] {
                    let mut sums = vec![7; MOST_ROWS * MOST_COLS];
                    let tile = Tile {
                        left: left.as_ptr(),
                        stride: depth,
                        groups,
                        panel: panel.as_ptr(),
                        sums: sums.as_mut_ptr(),
                    };
                    // SAFETY: the operands have these extents, and the kernels are this processor's.
                    unsafe { (kernel.tile)(rows, vectors, &tile) };
                    for row in 0..rows {
                        for col in 0..vectors * kernel.lanes {
                            let expected: i32 = (0..depth)
                                .map(|k| {
                                    let at = k / GROUP * GROUP * kernel.cols + col * GROUP + k % GROUP;
                                    i32::from(left[row * depth + k]) * i32::from(panel[at])
                                })
                                .sum();
                            assert_eq!(sums[row * MOST_COLS + col], expected, "{rows} {vectors} {groups}");
                        }
                    }
                }
            }
        }
    }
}
