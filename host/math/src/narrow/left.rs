//! The left operand: rows of numbers, filled up to whole blocks, or quantized block by block.

use super::{NarrowShape, QUAD};
use crate::ShapeError;
use crate::error::check_len;
use crate::simd::vectorize;

/// How the numbers of the left operand are multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NarrowPrecision {
    /// As they are.
    F32,
    /// Rounded to multiples of the greatest of their block, divided by 127. Sums of a block are exact
    /// integers.
    Bytes,
}

/// Rows of the left operand, filled up with zeros to whole blocks.
#[derive(Debug, Clone)]
pub struct NarrowRows {
    pub(super) rows: usize,
    /// The elements of a row.
    pub(super) stride: usize,
    pub(super) numbers: Numbers,
}

#[derive(Debug, Clone)]
pub(super) enum Numbers {
    Floats(Vec<f32>),
    Bytes {
        bytes: Vec<[i8; QUAD]>,
        /// Of each block of each row, the scale and the sum of the bytes.
        scales: Vec<f32>,
        sums: Vec<i32>,
    },
}

impl NarrowRows {
    /// Takes over a dense matrix of `rows` rows, to be multiplied by a matrix of this shape.
    ///
    /// # Errors
    /// Length if there are fewer or more numbers.
    pub fn new(
        shape: &NarrowShape,
        precision: NarrowPrecision,
        rows: usize,
        numbers: &[f32],
    ) -> Result<Self, ShapeError> {
        let (depth, stride) = (shape.depth(), shape.blocks() * shape.block());
        check_len("left operand", rows.checked_mul(depth).ok_or(ShapeError::TooLarge)?, numbers.len())?;
        let mut floats = Vec::with_capacity(rows.checked_mul(stride).ok_or(ShapeError::TooLarge)?);
        for row in numbers.chunks_exact(depth.max(1)) {
            floats.extend_from_slice(row);
            floats.resize(floats.len() + stride - depth, 0.0);
        }
        let numbers = match precision {
            NarrowPrecision::F32 => Numbers::Floats(floats),
            NarrowPrecision::Bytes => quantized(&floats, shape.block()),
        };
        Ok(Self { rows, stride, numbers })
    }
}

fn quantized(floats: &[f32], block: usize) -> Numbers {
    let mut bytes = vec![[0; QUAD]; floats.len() / QUAD];
    let (mut scales, mut sums) = (Vec::new(), Vec::new());
    for (floats, bytes) in floats.chunks_exact(block).zip(bytes.chunks_exact_mut(block / QUAD)) {
        let greatest = floats.iter().fold(0.0f32, |greatest, x| greatest.max(x.abs()));
        let is_finite = floats.iter().all(|x| x.is_finite());
        let scale = greatest / 127.0;
        // Numbers too small to be scaled are zero.
        let inverse = Some(1.0 / scale).filter(|inverse| inverse.is_finite() && is_finite).unwrap_or(0.0);
        let sum = vectorize(
            #[inline(always)]
            || round(floats, inverse, bytes.as_flattened_mut()),
        );
        scales.push(if is_finite { scale } else { f32::NAN });
        sums.push(sum);
    }
    Numbers::Bytes { bytes, scales, sums }
}

/// Rounds the products of numbers and a factor, which are at most 127, and returns their sum.
#[inline(always)]
fn round(floats: &[f32], factor: f32, bytes: &mut [i8]) -> i32 {
    // Added to this number, others round to integers, which are the low bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    let mut sum = 0;
    for (byte, x) in bytes.iter_mut().zip(floats) {
        let integer = (x * factor + ROUND).to_bits().wrapping_sub(ROUND.to_bits()) as i32;
        *byte = integer.clamp(-127, 127) as i8;
        sum += i32::from(*byte);
    }
    sum
}
