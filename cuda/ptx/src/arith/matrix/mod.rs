//! Matrix instructions of a warp: the layout of fragments in registers, and the results of `mma`,
//! `wmma.mma`, `ldmatrix`, `stmatrix` and `movmatrix`.
//!
//! The manual leaves the order, the rounding and the subnormals of a floating-point accumulation
//! open. Here every product is exact, the products of a row and a column are summed in `f64` from
//! first to last, the accumulator is added at the end, and the sum is rounded once. So a result is
//! within one rounding of the exact one, and the same on every host.
//!
//! The sparse forms, block scaling, and the formats of fewer than 8 bits with an exponent are not
//! supported.

mod fragment;
mod multiply;
mod tile;

pub(crate) use fragment::{Fragment, Operand};
pub(crate) use multiply::{BitOperation, Multiply};
pub(crate) use tile::{load_tile, store_tile, transpose_tile};

/// One 32-bit register of all lanes.
pub(crate) type Register = [u32; LANES];

/// Lanes of a warp.
const LANES: usize = 32;

/// The instruction that a fragment belongs to. It determines which lane holds which element.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Family {
    /// `mma`, whose fragments the manual lays out.
    Mma,
    /// `mma.m8n8k4` on `f16`: four products of eight lanes each. Their matrices are treated as one:
    /// those of A and C are stacked vertically, those of B side by side.
    Quads {
        /// Whether A is `.row`.
        a_rows: bool,
        /// Whether B is `.row`.
        b_rows: bool,
    },
    /// `wmma`, whose fragments are opaque to programs.
    Wmma,
}

/// `.mMnNkK`: A is M×K, B is K×N, C and D are M×N.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct Shape {
    /// The number of rows of A and of the result.
    pub(crate) m: usize,
    /// The number of columns of B and of the result.
    pub(crate) n: usize,
    /// The number of columns of A and of rows of B.
    pub(crate) k: usize,
}

impl Shape {
    /// Returns the shape of all products that a warp computes at once, taken together.
    fn of_warp(self, family: Family) -> Shape {
        match family {
            Family::Quads { .. } => Shape { m: 4 * self.m, n: 4 * self.n, k: self.k },
            Family::Mma | Family::Wmma => self,
        }
    }
}

/// The type of the elements of A and B.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Element {
    /// `.f16`.
    F16,
    /// `.bf16`.
    Bf16,
    /// `.tf32`: the low 13 bits of a register are ignored.
    Tf32,
    /// `.e4m3`.
    E4m3,
    /// `.e5m2`.
    E5m2,
    /// `.f64`.
    F64,
    /// `.u8`.
    U8,
    /// `.s8`.
    S8,
    /// `.u4`.
    U4,
    /// `.s4`.
    S4,
    /// `.b1`.
    B1,
}

impl Element {
    /// Returns the width of one element.
    pub(crate) const fn bits(self) -> usize {
        match self {
            Self::F64 => 64,
            Self::Tf32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::E4m3 | Self::E5m2 | Self::U8 | Self::S8 => 8,
            Self::U4 | Self::S4 => 4,
            Self::B1 => 1,
        }
    }
}

/// The type of the elements of C or D.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Accumulator {
    /// `.f16`.
    F16,
    /// `.f32`.
    F32,
    /// `.f64`.
    F64,
    /// `.s32`.
    S32,
}

impl Accumulator {
    /// Returns the width of one element.
    pub(crate) const fn bits(self) -> usize {
        match self {
            Self::F16 => 16,
            Self::F32 | Self::S32 => 32,
            Self::F64 => 64,
        }
    }
}
