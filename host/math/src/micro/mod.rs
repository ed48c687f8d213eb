//! Register-tiled matrix products: up to [`ROWS`] rows (of narrow panels more) by one panel of
//! packed columns. A tile stays in registers from the first product to the last, and the epilogue
//! (bias, residual, activation) is applied when it is stored.
//!
//! A [`TapTile`] sums each column with separate weights, as a depthwise convolution does.
//!
//! The left operand need not be copied. A [`RowTile`] has a pointer for each of its rows, and a
//! [`DepthTile`] has one for each of its products, so that the pixels under a convolution's window
//! are read in place. The right operand is [`Packed`] once.
//!
//! Every element is a sum of fused products (if the processor supports them) in the order of the
//! depth, regardless of the cut into rows and columns. If the right operand is a single column, its
//! elements are multiplied a vector at a time, and a sum has a part for each lane. The instruction
//! set is chosen at run time: AVX-512, AVX2 with FMA, NEON, or arrays that the compiler vectorizes
//! for the baseline.
//!
//! This module checks no shapes: its callers ensure that pointers are valid.

mod halves;
mod line;
#[cfg(target_arch = "aarch64")]
mod neon;
mod packed;
mod portable;
mod product;
mod rows;
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::cell::Cell;
use std::thread::LocalKey;

pub(crate) use halves::{HalfFormat, Halves};
pub(crate) use line::{LineKernel, LineTile, WINDOWS, has_kernel};
pub(crate) use packed::{Packed, PackedSource};
pub(crate) use product::{Epilogue, RowProduct, total};
pub(crate) use rows::even_tiles;
pub(crate) use tile::{DepthTile, DotTile, RowTile, Segment, Store, TapTile};

/// The greatest number of rows of a tile, unless its panel is narrow.
pub(crate) const ROWS: usize = 6;
/// The greatest number of rows of a tile of a narrow panel, of which [`ROWS`] rows would leave most
/// registers without sums.
const NARROW_ROWS: usize = 12;
/// The greatest number of rows that are multiplied by one column at a time.
pub(crate) const DOT_ROWS: usize = 4;
/// The greatest number of elements of a vector, over all instruction sets.
pub(crate) const MOST_LANES: usize = 16;
/// The greatest number of columns of a panel, over all instruction sets.
pub(crate) const MOST_COLS: usize = 64;

/// Computes a tile with this many rows and this many vectors of columns.
///
/// # Safety
/// The processor has the instruction set, and the tile's pointers are valid as [`RowTile`] requires.
pub(crate) type RowKernel<E, P = E> = unsafe fn(usize, usize, &RowTile<'_, E, P>);

/// The tile kernels of one instruction set for one element type.
pub(crate) struct Micro<E: 'static> {
    /// The number of elements of a vector.
    pub(crate) lanes: usize,
    /// The number of columns of a panel, which is a few vectors.
    pub(crate) cols: usize,
    /// The greatest number of vectors of which a row tile may have [`NARROW_ROWS`] rows.
    pub(crate) narrow: usize,
    /// Computes a tile with this many rows (1 to [`most_rows`](Self::most_rows)) and this many
    /// vectors of columns (1 to `cols / lanes`).
    ///
    /// # Safety
    /// The processor has the instruction set, and the tile's pointers are valid as [`RowTile`]
    /// requires.
    pub(crate) row_tile: RowKernel<E>,
    /// Computes a tile whose rows are adjacent in memory.
    ///
    /// # Safety
    /// The processor has the instruction set, and the tile's pointers are valid as [`DepthTile`]
    /// requires.
    pub(crate) depth_tile: unsafe fn(usize, usize, &DepthTile<'_, E>),
    /// Sums taps column by column, for this many rows and vectors.
    ///
    /// # Safety
    /// The processor has the instruction set, and the tile's pointers are valid as [`TapTile`]
    /// requires.
    pub(crate) tap_tile: unsafe fn(usize, usize, &TapTile<'_, E>),
    /// Multiplies this many rows (1 to [`DOT_ROWS`]) by one column.
    ///
    /// # Safety
    /// The processor has the instruction set, and the tile's pointers are valid as [`DotTile`]
    /// requires.
    pub(crate) dot_tile: unsafe fn(usize, &DotTile<E>),
    /// Sums the windows of a line column by column, if the instruction set has registers enough.
    pub(crate) line_tile: Option<LineKernel<E>>,
}

impl<E> Micro<E> {
    /// Returns the greatest number of rows of a row tile with this many columns.
    pub(crate) fn most_rows(&self, cols: usize) -> usize {
        if cols.div_ceil(self.lanes) <= self.narrow { NARROW_ROWS } else { ROWS }
    }
}

/// An element type that tiles are computed in.
pub(crate) trait MicroElement: crate::Number {
    /// Returns the kernels of the best instruction set that this processor has.
    fn micro() -> &'static Micro<Self>;

    /// Returns this thread's scratch memory, with unspecified contents. The caller takes it and
    /// returns it with [`keep`](Self::keep).
    fn scratch() -> &'static LocalKey<Cell<Vec<Self>>>;

    /// Keeps memory for the next use of [`scratch`](Self::scratch), or frees it if it is too large.
    fn keep(memory: Vec<Self>) {
        if memory.capacity() * size_of::<Self>() <= MAX_KEPT_BYTES {
            Self::scratch().set(memory);
        }
    }
}

/// The greatest number of bytes that a thread keeps.
const MAX_KEPT_BYTES: usize = 2 << 20;

/// Implements [`MicroElement::scratch`] for a type.
macro_rules! scratch {
    ($t:ty) => {
        fn scratch() -> &'static LocalKey<Cell<Vec<Self>>> {
            thread_local! {
                static SCRATCH: Cell<Vec<$t>> = const { Cell::new(Vec::new()) };
            }
            &SCRATCH
        }
    };
}

impl MicroElement for f32 {
    #[inline]
    fn micro() -> &'static Micro<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return &x86::AVX512_F32;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return &x86::AVX2_F32;
            }
        }
        #[cfg(target_arch = "aarch64")]
        return &neon::NEON_F32;
        #[cfg(not(target_arch = "aarch64"))]
        &portable::F32
    }

    scratch!(f32);
}

impl MicroElement for f64 {
    #[inline]
    fn micro() -> &'static Micro<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return &x86::AVX512_F64;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return &x86::AVX2_F64;
            }
        }
        #[cfg(target_arch = "aarch64")]
        return &neon::NEON_F64;
        #[cfg(not(target_arch = "aarch64"))]
        &portable::F64
    }

    scratch!(f64);
}

impl MicroElement for i32 {
    fn micro() -> &'static Micro<Self> {
        &portable::I32
    }

    scratch!(i32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_little_memory() {
        f32::keep(vec![0.0; 1000]);
        assert_eq!(f32::scratch().take().len(), 1000);
        f32::keep(vec![0.0; MAX_KEPT_BYTES / size_of::<f32>() + 1]);
        assert_eq!(f32::scratch().take().capacity(), 0);
    }
}
