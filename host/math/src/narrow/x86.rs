//! Tiles of bytes for AVX-512 with VNNI, AVX-VNNI, and AVX2.
#![expect(unsafe_code, reason = "intrinsics of processor features")]

use std::arch::x86_64::*;

use super::kernel::{ByteKernel, ByteTile, Sums, sized};
use super::{CHUNK, COLS, QUAD};

/// Returns the tiles that this processor can compute, the fastest first.
pub(super) fn kernels() -> impl Iterator<Item = ByteKernel> {
    let has_512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
    let has_fma = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let kernels: [(bool, ByteKernel); 3] = [
        (has_512, |fields, rows, tile, out| {
            // SAFETY: this is only given where the processor has the features.
            unsafe { sized!(fields, rows, tile_512(tile, out)) }
        }),
        (has_fma && is_x86_feature_detected!("avxvnni"), |fields, rows, tile, out| {
            // SAFETY: this is only given where the processor has the features.
            unsafe { sized!(fields, rows, tile_vnni(tile, out)) }
        }),
        (has_fma, |fields, rows, tile, out| {
            // SAFETY: this is only given where the processor has the features.
            unsafe { sized!(fields, rows, tile_avx2(tile, out)) }
        }),
    ];
    kernels.into_iter().filter_map(|(has, kernel)| has.then_some(kernel))
}

/// Four bytes of a row, to be multiplied by four of each column.
#[inline(always)]
fn quad(bytes: [i8; QUAD]) -> i32 {
    i32::from_le_bytes(bytes.map(|byte| byte as u8))
}

#[target_feature(enable = "avx512f,avx512vnni")]
fn tile_512<const F: usize, const R: usize>(tile: &ByteTile<'_>, out: &mut Sums) {
    let mask = _mm512_set1_epi8((u8::MAX >> (8 - 8 / F)) as i8);
    let mut totals = [_mm512_setzero_ps(); R];
    for (block, chunks, scales) in tile.tile.blocks() {
        let left = tile.tile.rows::<F, R>(block);
        let mut sums = [_mm512_setzero_si512(); R];
        for (at, chunk) in chunks.iter().enumerate() {
            // SAFETY: a chunk has 64 bytes.
            let packed = unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) };
            for field in 0..F {
                let shift = _mm_cvtsi32_si128((field * (8 / F)) as i32);
                let right = _mm512_and_si512(_mm512_srl_epi32(packed, shift), mask);
                for (sum, left) in sums.iter_mut().zip(left) {
                    *sum = _mm512_dpbusd_epi32(*sum, right, _mm512_set1_epi32(quad(left[at][field])));
                }
            }
        }
        let zeros = tile.tile.zeros(block);
        // SAFETY: both have 16 elements.
        let (scales, zeros) =
            unsafe { (_mm512_loadu_ps(scales.as_ptr()), _mm_loadu_si128(zeros.as_ptr().cast())) };
        let zeros = _mm512_cvtepu8_epi32(zeros);
        for (row, (total, sum)) in totals.iter_mut().zip(sums).enumerate() {
            let (scale, left_sum) = tile.of_block(row, block);
            let sum = _mm512_sub_epi32(sum, _mm512_mullo_epi32(zeros, _mm512_set1_epi32(left_sum)));
            let scale = _mm512_mul_ps(scales, _mm512_set1_ps(scale));
            *total = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), scale, *total);
        }
    }
    for (out, total) in out.iter_mut().zip(totals) {
        // SAFETY: a row has 16 numbers.
        unsafe { _mm512_storeu_ps(out.as_mut_ptr(), total) };
    }
}

/// Defines a tile that is computed in two halves of eight columns.
macro_rules! halves {
    (#[$feature:meta] $tile:ident, $dot:ident) => {
        #[$feature]
        fn $tile<const F: usize, const R: usize>(tile: &ByteTile<'_>, out: &mut Sums) {
            let mask = _mm256_set1_epi8((u8::MAX >> (8 - 8 / F)) as i8);
            for first in [0, COLS / 2] {
                let mut totals = [_mm256_setzero_ps(); R];
                for (block, chunks, scales) in tile.tile.blocks() {
                    let left = tile.tile.rows::<F, R>(block);
                    let mut sums = [_mm256_setzero_si256(); R];
                    for (at, chunk) in chunks.iter().enumerate() {
                        const { assert!(CHUNK == 64) };
                        // SAFETY: a chunk has 64 bytes, and `first` is 0 or 8.
                        let packed = unsafe { _mm256_loadu_si256(chunk.as_ptr().add(first * QUAD).cast()) };
                        for field in 0..F {
                            let shift = _mm_cvtsi32_si128((field * (8 / F)) as i32);
                            let right = _mm256_and_si256(_mm256_srl_epi32(packed, shift), mask);
                            for (sum, left) in sums.iter_mut().zip(left) {
                                let left = _mm256_set1_epi32(quad(left[at][field]));
                                *sum = $dot::<F>(*sum, right, left);
                            }
                        }
                    }
                    let zeros = tile.tile.zeros(block);
                    // SAFETY: both have 16 elements, and `first` is 0 or 8.
                    let (scales, zeros) = unsafe {
                        let zeros = _mm_loadl_epi64(zeros.as_ptr().add(first).cast());
                        (_mm256_loadu_ps(scales.as_ptr().add(first)), zeros)
                    };
                    let zeros = _mm256_cvtepu8_epi32(zeros);
                    for (row, (total, sum)) in totals.iter_mut().zip(sums).enumerate() {
                        let (scale, left_sum) = tile.of_block(row, block);
                        let left_sum = _mm256_set1_epi32(left_sum);
                        let sum = _mm256_sub_epi32(sum, _mm256_mullo_epi32(zeros, left_sum));
                        let scale = _mm256_mul_ps(scales, _mm256_set1_ps(scale));
                        *total = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), scale, *total);
                    }
                }
                for (out, total) in out.iter_mut().zip(totals) {
                    // SAFETY: a row has 16 numbers, and `first` is 0 or 8.
                    unsafe { _mm256_storeu_ps(out.as_mut_ptr().add(first), total) };
                }
            }
        }
    };
}

halves!(
    #[target_feature(enable = "avx2,fma,avxvnni")]
    tile_vnni,
    dot_vnni
);
halves!(
    #[target_feature(enable = "avx2,fma")]
    tile_avx2,
    dot_avx2
);

/// Adds the products of four unsigned by four signed bytes to each sum.
#[inline]
#[target_feature(enable = "avx2,avxvnni")]
fn dot_vnni<const F: usize>(sum: __m256i, right: __m256i, left: __m256i) -> __m256i {
    _mm256_dpbusd_avx_epi32(sum, right, left)
}

/// As [`dot_vnni`]. The instruction adds pairs of products as numbers of 16 bits, which have room for
/// integers of four bits, so that larger ones are multiplied in halves.
#[inline]
#[target_feature(enable = "avx2")]
fn dot_avx2<const F: usize>(sum: __m256i, right: __m256i, left: __m256i) -> __m256i {
    let ones = _mm256_set1_epi16(1);
    if F > 1 {
        return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(right, left), ones));
    }
    let mask = _mm256_set1_epi8(0xf);
    let low = _mm256_maddubs_epi16(_mm256_and_si256(right, mask), left);
    let high = _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16::<4>(right), mask), left);
    let high = _mm256_slli_epi32::<4>(_mm256_madd_epi16(high, ones));
    _mm256_add_epi32(sum, _mm256_add_epi32(high, _mm256_madd_epi16(low, ones)))
}
