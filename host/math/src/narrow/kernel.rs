//! Tiles of a few rows by a panel of columns.

use super::{CHUNK, COLS, QUAD};
use crate::simd::{Body, Products, vectorize_products};

/// The greatest number of rows of a tile.
pub(super) const ROWS: usize = 6;

/// What a tile gives: a row of sums for each row.
pub(super) type Sums = [[f32; COLS]; ROWS];

/// Some rows of numbers or bytes, and a panel.
pub(super) struct Tile<'a, L> {
    /// The rows, from the first one of the tile on.
    pub(super) left: &'a [[L; QUAD]],
    /// From one row to the next.
    pub(super) stride: usize,
    pub(super) chunks: &'a [[u8; CHUNK]],
    /// The chunks of a block.
    pub(super) each: usize,
    /// Of each block.
    pub(super) scales: &'a [[f32; COLS]],
    pub(super) zeros: Option<&'a [[u8; COLS]]>,
    /// What stands for zero if there are no zeros.
    pub(super) middle: u8,
}

impl<'a, L> Tile<'a, L> {
    /// Returns the blocks of the panel: the number of each, its chunks and its scales.
    #[inline(always)]
    pub(super) fn blocks(&self) -> impl Iterator<Item = (usize, &'a [[u8; CHUNK]], &'a [f32; COLS])> {
        let blocks = self.chunks.chunks_exact(self.each.max(1)).zip(self.scales);
        blocks.enumerate().map(|(block, (chunks, scales))| (block, chunks, scales))
    }

    /// Returns what each row has for the chunks of a block, where bytes have `F` integers.
    #[inline(always)]
    pub(super) fn rows<const F: usize, const R: usize>(&self, block: usize) -> [&'a [[[L; QUAD]; F]]; R] {
        std::array::from_fn(|row| self.row(row, block))
    }

    /// Returns what one row has for the chunks of a block.
    #[inline(always)]
    fn row<const F: usize>(&self, row: usize, block: usize) -> &'a [[[L; QUAD]; F]] {
        let quads = self.each * F;
        let own = &self.left[row * self.stride + block * quads..][..quads];
        &own.as_chunks::<F>().0[..self.each]
    }

    /// Returns the zeros of a block.
    #[inline(always)]
    pub(super) fn zeros(&self, block: usize) -> [u8; COLS] {
        self.zeros.map_or([self.middle; COLS], |zeros| zeros[block])
    }
}

/// A tile of bytes, with the scales and sums of the blocks of each row.
pub(super) struct ByteTile<'a> {
    pub(super) tile: Tile<'a, i8>,
    pub(super) scales: &'a [f32],
    pub(super) sums: &'a [i32],
}

impl ByteTile<'_> {
    /// Returns the scale and the sum of a block of a row.
    #[inline(always)]
    pub(super) fn of_block(&self, row: usize, block: usize) -> (f32, i32) {
        let at = row * self.tile.scales.len() + block;
        (self.scales[at], self.sums[at])
    }
}

/// Computes tiles of bytes, of some number of rows and of integers in a byte.
pub(super) type ByteKernel = fn(usize, usize, &ByteTile<'_>, &mut Sums);

/// Returns the best tiles of bytes for this processor.
pub(super) fn byte_kernel() -> ByteKernel {
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = super::x86::kernels().next() {
        return kernel;
    }
    portable
}

/// Calls a function with the number of integers in a byte and of rows as constants.
macro_rules! sized {
    ($fields:expr, $rows:expr, $function:ident($($argument:expr),*)) => {
        match $fields {
            1 => sized!(1, $rows => $function($($argument),*)),
            2 => sized!(2, $rows => $function($($argument),*)),
            _ => sized!(4, $rows => $function($($argument),*)),
        }
    };
    ($fields:literal, $rows:expr => $function:ident($($argument:expr),*)) => {
        match $rows {
            1 => $function::<$fields, 1>($($argument),*),
            2 => $function::<$fields, 2>($($argument),*),
            3 => $function::<$fields, 3>($($argument),*),
            4 => $function::<$fields, 4>($($argument),*),
            5 => $function::<$fields, 5>($($argument),*),
            _ => $function::<$fields, 6>($($argument),*),
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use sized;

/// Tiles of bytes without special instructions.
pub(super) fn portable(fields: usize, rows: usize, tile: &ByteTile<'_>, out: &mut Sums) {
    match fields {
        1 => portable_of::<1>(rows, tile, out),
        2 => portable_of::<2>(rows, tile, out),
        _ => portable_of::<4>(rows, tile, out),
    }
}

fn portable_of<const F: usize>(rows: usize, tile: &ByteTile<'_>, out: &mut Sums) {
    let (bits, mask) = (8 / F, u8::MAX >> (8 - 8 / F));
    for (row, out) in out.iter_mut().enumerate().take(rows) {
        *out = [0.0; COLS];
        for (block, chunks, scales) in tile.tile.blocks() {
            let left = tile.tile.row::<F>(row, block);
            let mut sums = [0i32; COLS];
            for (chunk, left) in chunks.iter().zip(left) {
                for (sum, column) in sums.iter_mut().zip(chunk.as_chunks::<QUAD>().0) {
                    for (field, left) in left.iter().enumerate() {
                        let products = column.iter().zip(left);
                        *sum += products
                            .map(|(&b, &a)| i32::from(b >> (field * bits) & mask) * i32::from(a))
                            .sum::<i32>();
                    }
                }
            }
            let ((scale, left_sum), zeros) = (tile.of_block(row, block), tile.tile.zeros(block));
            for col in 0..COLS {
                out[col] += (sums[col] - i32::from(zeros[col]) * left_sum) as f32 * (scales[col] * scale);
            }
        }
    }
}

/// Computes a tile of numbers.
pub(super) fn floats(fields: usize, rows: usize, tile: &Tile<'_, f32>, out: &mut Sums) {
    sized!(fields, rows, floats_of(tile, out));
}

fn floats_of<const F: usize, const R: usize>(tile: &Tile<'_, f32>, out: &mut Sums) {
    vectorize_products(Floats::<F, R> { tile, out });
}

struct Floats<'a, const F: usize, const R: usize> {
    tile: &'a Tile<'a, f32>,
    out: &'a mut Sums,
}

impl<const F: usize, const R: usize> Body for Floats<'_, F, R> {
    #[inline(always)]
    fn run<P: Products>(self) {
        let (bits, mask) = (8 / F, u32::from(u8::MAX >> (8 - 8 / F)));
        let mut totals = [[0.0f32; COLS]; R];
        for (block, chunks, scales) in self.tile.blocks() {
            let (left, zeros) = (self.tile.rows::<F, R>(block), self.tile.zeros(block));
            let mut offsets = [0.0f32; COLS];
            for ((offset, zero), scale) in offsets.iter_mut().zip(zeros).zip(scales) {
                *offset = -f32::from(zero) * scale;
            }
            for (at, chunk) in chunks.iter().enumerate() {
                let columns = chunk.as_chunks::<QUAD>().0;
                for place in 0..F * QUAD {
                    let (field, byte) = (place / QUAD, place % QUAD);
                    let shift = (8 * byte + bits * field) as u32;
                    let mut right = [0.0f32; COLS];
                    for (col, right) in right.iter_mut().enumerate() {
                        let integer = (u32::from_le_bytes(columns[col]) >> shift) & mask;
                        *right = P::product_plus(integer as i32 as f32, scales[col], offsets[col]);
                    }
                    for (total, left) in totals.iter_mut().zip(left) {
                        let left = left[at][field][byte];
                        for (total, right) in total.iter_mut().zip(right) {
                            *total = P::product_plus(right, left, *total);
                        }
                    }
                }
            }
        }
        self.out[..R].copy_from_slice(&totals);
    }
}
