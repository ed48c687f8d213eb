//! Register-tiled matrix products: up to [`ROWS`] rows by one panel of packed columns, in registers from the first product to
//! the last, with what follows (bias, residual, activation) applied on the way to memory.
//!
//! A [`TapTile`] sums each column by weights of its own, which is what a depthwise convolution does.
//!
//! The left operand is never copied for its own sake. A [`RowTile`] has a pointer for each of its rows, and a
//! [`DepthTile`] one for each of its products, so that the pixels under a convolution's window are read where they are.
//! The right operand is [`Packed`] once.
//!
//! Every element is a sum of fused products (where the processor has them) in the order of the depth, however rows and
//! columns were cut into tiles. Which vectors are used is found out at run time: AVX-512, AVX2 with FMA, NEON, or
//! arrays that the compiler vectorizes for the baseline.
//!
//! This module knows no shapes: its callers see to it that pointers reach far enough.

#[cfg(target_arch = "aarch64")]
mod neon;
mod packed;
mod portable;
mod product;
mod target;
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::cell::Cell;
use std::thread::LocalKey;

pub(crate) use packed::{Packed, PackedSource};
pub(crate) use product::{Epilogue, RowProduct};
pub(crate) use target::{Target, even_tiles};
pub(crate) use tile::{DepthTile, RowTile, Segment, Store, TapTile};

/// The most rows of a tile.
pub(crate) const ROWS: usize = 6;
/// The most columns of a panel, over all instruction sets.
pub(crate) const MOST_COLS: usize = 64;

/// The tile kernels of one instruction set for one element type.
pub(crate) struct Micro<E: 'static> {
    /// Elements in a vector.
    pub(crate) lanes: usize,
    /// Columns of a panel: a few vectors.
    pub(crate) cols: usize,
    /// Computes a tile of so many rows (1 to [`ROWS`]) and so many vectors of columns (1 to `cols / lanes`).
    ///
    /// # Safety
    /// The processor has the instruction set, and the tile's pointers are as [`RowTile`] says.
    pub(crate) row_tile: unsafe fn(usize, usize, &RowTile<'_, E>),
    /// The same for tiles whose rows are adjacent in memory.
    ///
    /// # Safety
    /// The processor has the instruction set, and the tile's pointers are as [`DepthTile`] says.
    pub(crate) depth_tile: unsafe fn(usize, usize, &DepthTile<'_, E>),
    /// Sums taps column by column, for so many rows and vectors.
    ///
    /// # Safety
    /// The processor has the instruction set, and the tile's pointers are as [`TapTile`] says.
    pub(crate) tap_tile: unsafe fn(usize, usize, &TapTile<'_, E>),
}

/// An element type that tiles are computed in.
pub(crate) trait MicroElement: crate::Number {
    /// The kernels of the best instruction set this processor has.
    fn micro() -> &'static Micro<Self>;

    /// Memory of this thread for what is computed in passing, whatever is in it. Who takes it [keeps](Self::keep) it again.
    fn scratch() -> &'static LocalKey<Cell<Vec<Self>>>;

    /// Keeps memory for who asks for [`scratch`](Self::scratch) next, or gives it back if it is much.
    fn keep(memory: Vec<Self>) {
        if memory.capacity() * size_of::<Self>() <= MAX_KEPT_BYTES {
            Self::scratch().set(memory);
        }
    }
}

/// Bytes that a thread keeps at most.
const MAX_KEPT_BYTES: usize = 2 << 20;

/// What [`MicroElement::scratch`] is for a type.
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
