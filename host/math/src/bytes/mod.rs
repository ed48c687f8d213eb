//! Products of 8-bit integers, as quantized networks have them: `Σ (a − a₀) · (b − b₀)`, where `a₀`
//! and `b₀` are the integers that stand for zero. Sums are `i32` and wrap.
//!
//! The right operand is laid out once, as a [`ByteMatrix`] or a [`ByteFilter`]. Processors multiply
//! unsigned by signed bytes four at a time, so the left operand is read as unsigned and the right
//! one as signed numbers; a number of the other kind has its highest bit flipped, and its zero
//! moved by 128. Zeros are subtracted from the sums at the end:
//! `Σ (a − a₀)(b − b₀) = Σ ab − a₀ Σ b − b₀ Σ a + depth · a₀ b₀`.

mod depthwise;
mod elements;
mod filter;
mod kernel;
mod left;
mod matrix;
mod product;
#[cfg(target_arch = "x86_64")]
mod quads;
mod result;
#[cfg(target_arch = "x86_64")]
mod wide;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use elements::{ByteElements, ByteOperation, ByteScale, look_up, mean_of_bytes};
pub use filter::{ByteFilter, FilterOrder};
pub use matrix::ByteMatrix;
pub use product::{ByteInput, ByteProduct};
pub use result::{ByteResult, Rescale};

/// What turns a signed byte into an unsigned one that is larger by 128, and back.
const FLIP: u8 = 0x80;

/// Bytes that are signed numbers or unsigned ones.
#[derive(Debug, Clone, Copy)]
pub enum Bytes<'a> {
    /// From −128 to 127.
    Signed(&'a [i8]),
    /// From 0 to 255.
    Unsigned(&'a [u8]),
}

impl<'a> Bytes<'a> {
    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Signed(bytes) => bytes.len(),
            Self::Unsigned(bytes) => bytes.len(),
        }
    }

    /// Returns whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes in a range.
    ///
    /// # Errors
    /// Length if there are fewer.
    pub fn part(self, range: std::ops::Range<usize>) -> Result<Self, crate::ShapeError> {
        let short = crate::ShapeError::Length { operand: "bytes", expected: range.end, actual: self.len() };
        match self {
            Self::Signed(bytes) => bytes.get(range).map(Self::Signed).ok_or(short),
            Self::Unsigned(bytes) => bytes.get(range).map(Self::Unsigned).ok_or(short),
        }
    }

    /// Returns the bits of the bytes.
    fn bits(self) -> &'a [u8] {
        match self {
            Self::Signed(bytes) => bytemuck::cast_slice(bytes),
            Self::Unsigned(bytes) => bytes,
        }
    }

    /// Returns what flips the bits of the unsigned number that stands for a byte, and the distance
    /// of that number from the byte.
    fn as_unsigned(&self) -> (u8, i32) {
        match self {
            Self::Signed(_) => (FLIP, 128),
            Self::Unsigned(_) => (0, 0),
        }
    }

    /// Returns what flips the bits of the signed number that stands for a byte, and the distance of
    /// that number from the byte.
    fn as_signed(&self) -> (u8, i32) {
        match self {
            Self::Signed(_) => (0, 0),
            Self::Unsigned(_) => (FLIP, -128),
        }
    }
}
