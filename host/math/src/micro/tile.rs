//! The kernels of a tile for any kind of vector: the innermost loops.
#![expect(unsafe_code, reason = "operands are reached through pointers, in registers of a fixed number")]

/// A vector register of numbers.
pub(super) trait Vector: Copy {
    /// The element type.
    type Element: Copy;
    /// The number of elements.
    const LANES: usize;

    /// Returns a vector with `value` in each lane.
    ///
    /// # Safety
    /// The processor has the instruction set. This applies to all functions of this trait.
    unsafe fn splat(value: Self::Element) -> Self;
    /// Loads all lanes.
    ///
    /// # Safety
    /// `from` is valid for reads of `LANES` elements.
    unsafe fn load(from: *const Self::Element) -> Self;
    /// Stores all lanes.
    ///
    /// # Safety
    /// `to` is valid for writes of `LANES` elements.
    unsafe fn store(self, to: *mut Self::Element);
    /// Loads the first `count` lanes, fewer than all. The others become zero.
    ///
    /// # Safety
    /// `from` is valid for reads of `count` elements.
    unsafe fn load_part(from: *const Self::Element, count: usize) -> Self;
    /// Stores the first `count` lanes, fewer than all.
    ///
    /// # Safety
    /// `to` is valid for writes of `count` elements.
    unsafe fn store_part(self, to: *mut Self::Element, count: usize);
    /// Returns `self + other`.
    ///
    /// # Safety
    /// See [`splat`](Self::splat).
    unsafe fn plus(self, other: Self) -> Self;
    /// Returns `self + left · right`, rounded once if the processor supports it.
    ///
    /// # Safety
    /// See [`splat`](Self::splat).
    unsafe fn plus_product(self, left: Self, right: Self) -> Self;
    /// Returns the greater of each lane and zero. NaN stays NaN.
    ///
    /// # Safety
    /// See [`splat`](Self::splat).
    unsafe fn relu(self) -> Self;
    /// Returns a vector of zeros.
    ///
    /// # Safety
    /// See [`splat`](Self::splat).
    unsafe fn zero() -> Self;
    /// Fetches the cache line at `at` into the second-level cache. The address need not be valid.
    ///
    /// # Safety
    /// See [`splat`](Self::splat).
    unsafe fn prefetch(at: *const Self::Element);
}

/// A run of the depth over which each row of the left operand is contiguous.
#[derive(Clone, Copy)]
pub(crate) struct Segment<E> {
    /// The start of the run for each row of the whole product.
    pub(crate) rows: *const *const E,
    /// The number of elements to skip at the start of the run.
    pub(crate) offset: usize,
    /// The number of elements of the run.
    pub(crate) len: usize,
}

/// The destination of a tile's results, and the operations on them.
pub(crate) struct Store<E> {
    /// The output at the tile's first column.
    pub(crate) out: *mut E,
    /// The offset from `out` to each row of the tile, in elements.
    pub(crate) offsets: *const usize,
    /// Whether the results are added to the old contents.
    pub(crate) accumulate: bool,
    /// One element to add for each column; or null.
    pub(crate) bias: *const E,
    /// The values to add to each element, in the layout of the output; or null.
    pub(crate) residual: *const E,
    /// Whether negative results become zero.
    pub(crate) relu: bool,
    /// The number of columns of the last vector if it is not full, else zero.
    pub(crate) part: usize,
}

impl<E> Store<E> {
    /// Returns the part of this store from row offset `start` and column `first` on.
    ///
    /// # Safety
    /// The output has an element there, and so have the bias and the residual unless they are null.
    pub(crate) unsafe fn at(&self, start: usize, first: usize) -> Self {
        // SAFETY: the caller promises these elements.
        let (bias, residual) = unsafe {
            let moved = |from: *const E, by: usize| if from.is_null() { from } else { from.add(by) };
            (moved(self.bias, first), moved(self.residual, start + first))
        };
        // SAFETY: the caller promises an element of the output there.
        Self { out: unsafe { self.out.add(start + first) }, bias, residual, ..*self }
    }
}

/// How the elements of a panel become vectors.
pub(super) trait Load<V: Vector> {
    /// What the panel consists of.
    type Stored;

    /// Loads a vector.
    ///
    /// # Safety
    /// `from` is valid for reads of as many elements as a vector has lanes, and the processor has the
    /// instruction set of `V` and that of the conversion.
    unsafe fn load(from: *const Self::Stored) -> V;
}

/// Elements of the type that is computed in.
pub(super) struct Wide;

impl<V: Vector> Load<V> for Wide {
    type Stored = V::Element;

    #[inline(always)]
    unsafe fn load(from: *const V::Element) -> V {
        // SAFETY: the caller promises the same.
        unsafe { V::load(from) }
    }
}

/// Computes `out[r, :] = (sum of left[r, k] · panel[k, :] over k)` for the rows `first ..`. The
/// panel's elements have the type of the others, or are widened as they are read.
///
/// Its pointers must be valid for the rows and vectors that are passed to the kernel:
/// `segments[s].rows[first + r]` for reads of `offset + len` elements, `panel` for as many rows of
/// panel columns as the segments have elements, and `out + offsets[r]` (and `residual` likewise)
/// for the tile's columns, in memory that only this tile writes.
pub(crate) struct RowTile<'a, E, P = E> {
    pub(crate) segments: &'a [Segment<E>],
    pub(crate) first: usize,
    /// The start of runs of zeros, which need not be multiplied if all of the tile's rows have them;
    /// or null.
    pub(crate) nothing: *const E,
    pub(crate) panel: *const P,
    /// What is read soon after this tile. It is only fetched into the cache, and may be any
    /// address.
    pub(crate) ahead: *const u8,
    /// How many bytes of it each step along the depth fetches; zero to fetch nothing.
    pub(crate) ahead_step: usize,
    pub(crate) store: Store<E>,
}

/// Like [`RowTile`] for a transposed left operand: `points[k]` refers to `first + rows` adjacent
/// elements, one for each row.
pub(crate) struct DepthTile<'a, E> {
    pub(crate) points: &'a [*const E],
    /// The tile's first row, as an offset from the points.
    pub(crate) first: usize,
    pub(crate) panel: *const E,
    pub(crate) store: Store<E>,
}

/// Computes, for a few rows, the sums of the products of a row and a column, in as many parts as a
/// vector has lanes.
///
/// Its pointers must be valid for the rows that are passed to the kernel: `pointers[run * rows +
/// r]` for reads of `run_len` elements in each run, `column` for as many as all runs have, and
/// `sums` for writes of a vector for each row.
pub(crate) struct DotTile<E> {
    pub(crate) pointers: *const *const E,
    /// The number of pointers of a run.
    pub(crate) rows: usize,
    pub(crate) runs: usize,
    pub(crate) run_len: usize,
    /// The start of runs of zeros, as in [`RowTile`]; or null.
    pub(crate) nothing: *const E,
    pub(crate) column: *const E,
    pub(crate) sums: *mut E,
}

/// Computes `out[r, c] = sum of x_t[skip + r * step + c] · w_t[c] over the taps t`, for the columns
/// from `first` on. Each tap has the elements `x_t` of the first row and the weights `w_t`.
///
/// Its pointers must be valid for the rows and columns that are passed to the kernel, and `store`
/// as in [`RowTile`].
pub(crate) struct TapTile<'a, E> {
    pub(crate) taps: &'a [(*const E, *const E)],
    /// The number of elements from each tap's `x_t` to those of the first row.
    pub(crate) skip: usize,
    /// The number of elements from one row to the next.
    pub(crate) step: usize,
    /// The first column.
    pub(crate) first: usize,
    pub(crate) store: Store<E>,
}

/// Repeats a block for `$i` from 0 to below `$n`, which is at most 12. It is written out, so that
/// arrays indexed by `$i` become registers.
macro_rules! each {
    ($i:ident < $n:ident $body:block) => {
        each!(@ $i, $n, $body, 0 1 2 3 4 5 6 7 8 9 10 11)
    };
    (@ $i:ident, $n:ident, $body:block, $($at:literal)+) => {
        $(if $at < $n {
            const $i: usize = $at;
            $body
        })+
    };
}

pub(super) use each;

/// The kernel for [`RowTile`] with `M` rows and `N` vectors, of panels that are `PANEL` vectors
/// wide.
///
/// # Safety
/// The tile's pointers are valid as [`RowTile`] requires, and the processor has the instruction set
/// of `V`.
#[inline(always)]
pub(super) unsafe fn row_tile<V: Vector, P: Load<V>, const M: usize, const N: usize, const PANEL: usize>(
    tile: &RowTile<'_, V::Element, P::Stored>,
) {
    // SAFETY: the caller promises the same.
    unsafe {
        let sums = match tile.ahead_step {
            // Short products would be slowed down by instructions that fetch nothing.
            0 => row_sums::<V, P, M, N, PANEL, false>(tile),
            _ => row_sums::<V, P, M, N, PANEL, true>(tile),
        };
        store(sums, &tile.store);
    }
}

/// Returns a tile's sums. `AHEAD` says whether it fetches what is read soon after.
///
/// # Safety
/// As for [`row_tile`].
#[inline(always)]
unsafe fn row_sums<
    V: Vector,
    P: Load<V>,
    const M: usize,
    const N: usize,
    const PANEL: usize,
    const AHEAD: bool,
>(
    tile: &RowTile<'_, V::Element, P::Stored>,
) -> [[V; N]; M] {
    // SAFETY: all pointers are valid as `RowTile` requires. The loops below access `M` rows, `len`
    // elements of each in each segment, and one row of the panel for each of them.
    unsafe {
        let mut sums = [[V::zero(); N]; M];
        let (mut panel, mut ahead) = (tile.panel, tile.ahead);
        for segment in tile.segments {
            let rows = segment.rows.add(tile.first);
            if *rows == tile.nothing && (1..M).all(|row| *rows.add(row) == tile.nothing) {
                panel = panel.add(segment.len * PANEL * V::LANES);
                continue;
            }
            let mut left = [*rows; M];
            each!(R < M {
                left[R] = (*rows.add(R)).add(segment.offset);
            });
            for k in 0..segment.len {
                let mut right = [V::zero(); N];
                each!(C < N {
                    right[C] = P::load(panel.add(C * V::LANES));
                });
                each!(R < M {
                    let factor = V::splat(*left[R].add(k));
                    each!(C < N {
                        sums[R][C] = sums[R][C].plus_product(factor, right[C]);
                    });
                });
                if AHEAD {
                    V::prefetch(ahead.cast());
                    ahead = ahead.wrapping_add(tile.ahead_step);
                }
                panel = panel.add(PANEL * V::LANES);
            }
        }
        sums
    }
}

/// The kernel for [`DepthTile`].
///
/// # Safety
/// The tile's pointers are valid as [`DepthTile`] requires, and the processor has the instruction
/// set of `V`.
#[inline(always)]
pub(super) unsafe fn depth_tile<V: Vector, const M: usize, const N: usize, const PANEL: usize>(
    tile: &DepthTile<'_, V::Element>,
) {
    // SAFETY: every point is valid up to the last of the tile's rows, and the panel has a row for
    // each point.
    unsafe {
        let mut sums = [[V::zero(); N]; M];
        let mut panel = tile.panel;
        for point in tile.points {
            let left = point.add(tile.first);
            let mut right = [V::zero(); N];
            each!(C < N {
                right[C] = V::load(panel.add(C * V::LANES));
            });
            each!(R < M {
                let factor = V::splat(*left.add(R));
                each!(C < N {
                    sums[R][C] = sums[R][C].plus_product(factor, right[C]);
                });
            });
            panel = panel.add(PANEL * V::LANES);
        }
        store(sums, &tile.store);
    }
}

/// The kernel for [`TapTile`].
///
/// # Safety
/// The tile's pointers are valid as [`TapTile`] requires, and the processor has the instruction set
/// of `V`.
#[inline(always)]
pub(super) unsafe fn tap_tile<V: Vector, const M: usize, const N: usize>(tile: &TapTile<'_, V::Element>) {
    // SAFETY: every tap has the columns of `N` vectors from `first` on, at each of the `M` rows.
    // Lanes of the last vector beyond the last column are not read.
    unsafe {
        let mut sums = [[V::zero(); N]; M];
        let part = tile.store.part;
        for &(x, weights) in tile.taps {
            let (x, weights) = (x.add(tile.skip + tile.first), weights.add(tile.first));
            each!(C < N {
                let is_part = C + 1 == N && part != 0;
                let part = if is_part { part } else { 0 };
                let weight = load_columns::<V>(weights.add(C * V::LANES), part);
                each!(R < M {
                    let pixel = load_columns::<V>(x.add(R * tile.step + C * V::LANES), part);
                    sums[R][C] = sums[R][C].plus_product(pixel, weight);
                });
            });
        }
        store(sums, &tile.store);
    }
}

/// The kernel for [`DotTile`].
///
/// # Safety
/// The tile's pointers are valid as [`DotTile`] requires, and the processor has the instruction set
/// of `V`.
#[inline(always)]
pub(super) unsafe fn dot_tile<V: Vector, const M: usize>(tile: &DotTile<V::Element>) {
    // SAFETY: the loops access `run_len` elements of each of the `M` rows in each run, the column's
    // elements once each, and one vector of sums for each row.
    unsafe {
        let mut sums = [V::zero(); M];
        let mut column = tile.column;
        for run in 0..tile.runs {
            let rows = tile.pointers.add(run * tile.rows);
            if *rows == tile.nothing && (1..M).all(|row| *rows.add(row) == tile.nothing) {
                column = column.add(tile.run_len);
                continue;
            }
            let mut left = [column; M];
            each!(R < M {
                left[R] = *rows.add(R);
            });
            let mut at = 0;
            while at + V::LANES <= tile.run_len {
                let factors = V::load(column.add(at));
                each!(R < M {
                    sums[R] = sums[R].plus_product(V::load(left[R].add(at)), factors);
                });
                at += V::LANES;
            }
            let rest = tile.run_len - at;
            if rest > 0 {
                let factors = V::load_part(column.add(at), rest);
                each!(R < M {
                    sums[R] = sums[R].plus_product(V::load_part(left[R].add(at), rest), factors);
                });
            }
            column = column.add(tile.run_len);
        }
        each!(R < M {
            sums[R].store(tile.sums.add(R * V::LANES));
        });
    }
}

/// Loads the first `part` lanes of a vector, or all of them if `part` is zero.
///
/// # Safety
/// The pointer is valid for reads of that many elements, and the processor has the instruction set
/// of `V`.
// A function, because closures may not be compiled for the processor feature.
#[inline(always)]
unsafe fn load_columns<V: Vector>(from: *const V::Element, part: usize) -> V {
    // SAFETY: the caller promises that the elements are readable and that the processor has the
    // instruction set.
    unsafe { if part == 0 { V::load(from) } else { V::load_part(from, part) } }
}

/// Stores a tile's sums.
///
/// # Safety
/// `to` is valid as [`RowTile`] requires of its store.
#[inline(always)]
pub(super) unsafe fn store<V: Vector, const M: usize, const N: usize>(
    sums: [[V; N]; M],
    to: &Store<V::Element>,
) {
    // SAFETY: the output and the residual have the columns of `N` vectors at the offset of each of
    // the `M` rows, and the bias has them once. Lanes of the last vector beyond the last column are
    // neither read nor written.
    unsafe {
        let mut sums = sums;
        // Each choice is made once for the tile: a tile of short products has about as many vectors
        // to store as products of vectors.
        if to.accumulate {
            add_rows(&mut sums, to.out, to);
        }
        if !to.bias.is_null() {
            each!(C < N {
                let bias = load_columns::<V>(to.bias.add(C * V::LANES), part_of::<C, N>(to.part));
                each!(R < M {
                    sums[R][C] = sums[R][C].plus(bias);
                });
            });
        }
        if !to.residual.is_null() {
            add_rows(&mut sums, to.residual, to);
        }
        if to.relu {
            each!(R < M {
                each!(C < N {
                    sums[R][C] = sums[R][C].relu();
                });
            });
        }
        each!(R < M {
            let out = to.out.add(*to.offsets.add(R));
            each!(C < N {
                match part_of::<C, N>(to.part) {
                    0 => sums[R][C].store(out.add(C * V::LANES)),
                    part => sums[R][C].store_part(out.add(C * V::LANES), part),
                }
            });
        });
    }
}

/// Returns how many lanes vector `C` of `N` has if it is not full, else zero. Only the last one has
/// `part` of them.
#[inline(always)]
fn part_of<const C: usize, const N: usize>(part: usize) -> usize {
    if C + 1 == N { part } else { 0 }
}

/// Adds to a tile's sums what lies at `from` in the layout of the output.
///
/// # Safety
/// `from` is valid for reads of the columns of `N` vectors at the offset of each of the `M` rows,
/// and the processor has the instruction set of `V`.
#[inline(always)]
unsafe fn add_rows<V: Vector, const M: usize, const N: usize>(
    sums: &mut [[V; N]; M],
    from: *const V::Element,
    to: &Store<V::Element>,
) {
    // SAFETY: the caller promises these elements. Lanes beyond the last column are not read.
    unsafe {
        each!(R < M {
            let from = from.add(*to.offsets.add(R));
            each!(C < N {
                let more = load_columns(from.add(C * V::LANES), part_of::<C, N>(to.part));
                sums[R][C] = sums[R][C].plus(more);
            });
        });
    }
}

/// Defines the functions that pick a kernel by rows and vectors, compiled for a processor feature,
/// and the table of them.
macro_rules! micro {
    (
        $(#[$feature:meta])* $table:ident, $rows:ident, $depth:ident, $taps:ident, $dots:ident,
        $lines:expr, $vector:ty, $element:ty, $panel:literal: $($n:literal),+; narrow: $most_narrow:literal: $($narrow:literal),+
    ) => {
        $(#[$feature])*
        unsafe fn $rows(rows: usize, vectors: usize, tile: &$crate::micro::RowTile<'_, $element>) {
            use $crate::micro::tile::{Wide, row_tile};
            // SAFETY: the caller promises the instruction set and valid pointers, as the kernel
            // requires.
            unsafe {
                match (rows, vectors) {
                    $((1, $n) => row_tile::<$vector, Wide, 1, $n, $panel>(tile),
                    (2, $n) => row_tile::<$vector, Wide, 2, $n, $panel>(tile),
                    (3, $n) => row_tile::<$vector, Wide, 3, $n, $panel>(tile),
                    (4, $n) => row_tile::<$vector, Wide, 4, $n, $panel>(tile),
                    (5, $n) => row_tile::<$vector, Wide, 5, $n, $panel>(tile),
                    (6, $n) => row_tile::<$vector, Wide, 6, $n, $panel>(tile),)+
                    $((7, $narrow) => row_tile::<$vector, Wide, 7, $narrow, $panel>(tile),
                    (8, $narrow) => row_tile::<$vector, Wide, 8, $narrow, $panel>(tile),
                    (9, $narrow) => row_tile::<$vector, Wide, 9, $narrow, $panel>(tile),
                    (10, $narrow) => row_tile::<$vector, Wide, 10, $narrow, $panel>(tile),
                    (11, $narrow) => row_tile::<$vector, Wide, 11, $narrow, $panel>(tile),
                    (12, $narrow) => row_tile::<$vector, Wide, 12, $narrow, $panel>(tile),)+
                    _ => unreachable!("tiles have at most `most_rows` rows and vectors enough for a panel"),
                }
            }
        }

        $(#[$feature])*
        unsafe fn $depth(rows: usize, vectors: usize, tile: &$crate::micro::DepthTile<'_, $element>) {
            use $crate::micro::tile::depth_tile;
            // SAFETY: the caller promises the instruction set and valid pointers, as the kernel
            // requires.
            unsafe {
                match (rows, vectors) {
                    $((1, $n) => depth_tile::<$vector, 1, $n, $panel>(tile),
                    (2, $n) => depth_tile::<$vector, 2, $n, $panel>(tile),
                    (3, $n) => depth_tile::<$vector, 3, $n, $panel>(tile),
                    (4, $n) => depth_tile::<$vector, 4, $n, $panel>(tile),
                    (5, $n) => depth_tile::<$vector, 5, $n, $panel>(tile),
                    (6, $n) => depth_tile::<$vector, 6, $n, $panel>(tile),)+
                    _ => unreachable!("tiles have 1 to 6 rows and vectors enough for a panel"),
                }
            }
        }

        $(#[$feature])*
        unsafe fn $taps(rows: usize, vectors: usize, tile: &$crate::micro::TapTile<'_, $element>) {
            use $crate::micro::tile::tap_tile;
            // SAFETY: the caller promises the instruction set and valid pointers, as the kernel
            // requires.
            unsafe {
                match (rows, vectors) {
                    $((1, $n) => tap_tile::<$vector, 1, $n>(tile),
                    (2, $n) => tap_tile::<$vector, 2, $n>(tile),
                    (3, $n) => tap_tile::<$vector, 3, $n>(tile),
                    (4, $n) => tap_tile::<$vector, 4, $n>(tile),
                    (5, $n) => tap_tile::<$vector, 5, $n>(tile),
                    (6, $n) => tap_tile::<$vector, 6, $n>(tile),)+
                    _ => unreachable!("tiles have 1 to 6 rows and vectors enough for a panel"),
                }
            }
        }

        $(#[$feature])*
        unsafe fn $dots(rows: usize, tile: &$crate::micro::DotTile<$element>) {
            use $crate::micro::tile::dot_tile;
            // SAFETY: the caller promises the instruction set and valid pointers, as the kernel
            // requires.
            unsafe {
                match rows {
                    1 => dot_tile::<$vector, 1>(tile),
                    2 => dot_tile::<$vector, 2>(tile),
                    3 => dot_tile::<$vector, 3>(tile),
                    4 => dot_tile::<$vector, 4>(tile),
                    _ => unreachable!("tiles of a column have 1 to 4 rows"),
                }
            }
        }

        pub(super) static $table: $crate::micro::Micro<$element> = $crate::micro::Micro {
            lanes: <$vector as $crate::micro::tile::Vector>::LANES,
            cols: $panel * <$vector as $crate::micro::tile::Vector>::LANES,
            narrow: $most_narrow,
            row_tile: $rows,
            depth_tile: $depth,
            tap_tile: $taps,
            dot_tile: $dots,
            line_tile: $lines,
        };
    };
}
pub(super) use micro;
