//! Products by a matrix of narrow integers, of 2, 4 or 8 bits, as language models have them: each
//! block of a column has a scale and an integer that stands for zero,
//! `y = Σ a · (b − zero) · scale`.
//!
//! The integers are unsigned and packed into bytes, column by column, the first one in the lowest
//! bits, as `MatMulNBits` of ONNX Runtime has them. [`NarrowMatrix`] lays them out once: a panel for
//! each 16 columns, which has a chunk of 64 bytes for each 16, 8 or 4 rows. Four bytes of a chunk
//! belong to a column. Their lowest bits are the first four rows, the next ones the four rows after
//! these, and so on, so that a shift and a mask give what is multiplied by four adjacent numbers.
//!
//! Sums are computed in `f32`, or by blocks in integers, for which the rows of the left operand are
//! [quantized to bytes](NarrowPrecision::Bytes).

mod kernel;
mod left;
mod matrix;
mod product;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use left::{NarrowPrecision, NarrowRows};
pub use matrix::{NarrowMatrix, NarrowScales, NarrowShape, NarrowZeros};
pub use product::{NarrowInput, NarrowProduct};

/// The columns of a panel.
const COLS: usize = 16;
/// The bytes of a chunk, four for each column of a panel.
const CHUNK: usize = 4 * COLS;
/// The bytes of a column in a chunk. Each stands for one row, or for several that are four apart.
const QUAD: usize = 4;
