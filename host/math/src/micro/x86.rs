//! Vectors of AVX2 with FMA (panels of two) and of AVX-512 (panels of four).
#![expect(unsafe_code, reason = "intrinsics of processor features")]

use std::arch::x86_64::*;

use super::RowTile;
use super::line::line_tiles;
use super::tile::{Load, Vector, micro, row_tile};

/// Returns a mask of the first `count` of 8 lanes.
///
/// # Safety
/// The processor has AVX2, and `count` is at most 8.
#[inline(always)]
unsafe fn mask_8(count: usize) -> __m256i {
    const MASKS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
    // SAFETY: the array has eight elements from `8 - count` on. The caller promises AVX2.
    unsafe { _mm256_loadu_si256(MASKS.as_ptr().add(8 - count).cast()) }
}

/// Returns a mask of the first `count` of 4 lanes.
///
/// # Safety
/// The processor has AVX2, and `count` is at most 4.
#[inline(always)]
unsafe fn mask_4(count: usize) -> __m256i {
    const MASKS: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];
    // SAFETY: the array has four elements from `4 - count` on. The caller promises AVX2.
    unsafe { _mm256_loadu_si256(MASKS.as_ptr().add(4 - count).cast()) }
}

/// Returns a mask of the first `count` of 16 lanes. `count` must be below 16.
#[inline(always)]
fn mask_16(count: usize) -> __mmask16 {
    (1 << count) - 1
}

/// Returns a mask of the first `count` of 8 lanes. `count` must be below 8.
#[inline(always)]
fn bits_8(count: usize) -> __mmask8 {
    (1 << count) - 1
}

/// # Safety
/// The processor has AVX-512, and `from` is valid for reads of the lanes in the mask.
#[inline(always)]
unsafe fn load_part_16(from: *const f32, mask: __mmask16) -> __m512 {
    // SAFETY: the caller promises AVX-512 and readable elements for the lanes in the mask.
    unsafe { _mm512_maskz_loadu_ps(mask, from) }
}

/// # Safety
/// The processor has AVX-512, and `from` is valid for reads of the lanes in the mask.
#[inline(always)]
unsafe fn load_part_8(from: *const f64, mask: __mmask8) -> __m512d {
    // SAFETY: the caller promises AVX-512 and readable elements for the lanes in the mask.
    unsafe { _mm512_maskz_loadu_pd(mask, from) }
}

macro_rules! vector {
    (
        $vector:ty, $element:ty, $lanes:literal,
        $splat:ident, $load:ident, $store:ident, $add:ident, $fma:ident, $max:ident, $zero:ident,
        $mask:ident, $load_part:ident, $store_part:ident
    ) => {
        impl Vector for $vector {
            type Element = $element;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn splat(value: $element) -> Self {
                // SAFETY: the caller promises that the processor has the feature.
                unsafe { $splat(value) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $element) -> Self {
                // SAFETY: the caller promises the feature and `LANES` readable elements. The load
                // needs no alignment.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: the caller promises the feature and `LANES` writable elements. The store
                // needs no alignment.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn load_part(from: *const $element, count: usize) -> Self {
                // SAFETY: the caller promises the feature and `count` readable elements. The mask
                // excludes other lanes.
                unsafe { $load_part(from, $mask(count)) }
            }

            #[inline(always)]
            unsafe fn store_part(self, to: *mut $element, count: usize) {
                // SAFETY: the caller promises the feature and `count` writable elements. The mask
                // excludes other lanes.
                unsafe { $store_part(to, $mask(count), self) }
            }

            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                // SAFETY: the caller promises that the processor has the feature.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn plus_product(self, left: Self, right: Self) -> Self {
                // SAFETY: the caller promises that the processor has the feature.
                unsafe { $fma(left, right, self) }
            }

            #[inline(always)]
            unsafe fn relu(self) -> Self {
                // If either operand is NaN, the instruction returns the second one. SAFETY: the
                // caller promises that the processor has the feature.
                unsafe { $max($zero(), self) }
            }

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: the caller promises that the processor has the feature.
                unsafe { $zero() }
            }

            #[inline(always)]
            unsafe fn prefetch(at: *const $element) {
                // SAFETY: a prefetch ignores addresses that cannot be read.
                unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
            }
        }
    };
}

vector!(
    __m256,
    f32,
    8,
    _mm256_set1_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_add_ps,
    _mm256_fmadd_ps,
    _mm256_max_ps,
    _mm256_setzero_ps,
    mask_8,
    _mm256_maskload_ps,
    _mm256_maskstore_ps
);
vector!(
    __m256d,
    f64,
    4,
    _mm256_set1_pd,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_add_pd,
    _mm256_fmadd_pd,
    _mm256_max_pd,
    _mm256_setzero_pd,
    mask_4,
    _mm256_maskload_pd,
    _mm256_maskstore_pd
);
vector!(
    __m512,
    f32,
    16,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_add_ps,
    _mm512_fmadd_ps,
    _mm512_max_ps,
    _mm512_setzero_ps,
    mask_16,
    load_part_16,
    _mm512_mask_storeu_ps
);
vector!(
    __m512d,
    f64,
    8,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_add_pd,
    _mm512_fmadd_pd,
    _mm512_max_pd,
    _mm512_setzero_pd,
    bits_8,
    load_part_8,
    _mm512_mask_storeu_pd
);

line_tiles!(
    #[target_feature(enable = "avx2,fma")]
    line_tile_avx2_f32,
    __m256,
    f32
);
line_tiles!(
    #[target_feature(enable = "avx512f")]
    line_tile_avx512_f32,
    __m512,
    f32
);

micro!(
    #[target_feature(enable = "avx2,fma")]
    AVX2_F32, row_tile_avx2_f32, depth_tile_avx2_f32, tap_tile_avx2_f32, dot_tile_avx2_f32, Some(line_tile_avx2_f32), __m256, f32, 2: 1, 2; narrow: 1: 1
);
micro!(
    #[target_feature(enable = "avx2,fma")]
    AVX2_F64, row_tile_avx2_f64, depth_tile_avx2_f64, tap_tile_avx2_f64, dot_tile_avx2_f64, None, __m256d, f64, 2: 1, 2; narrow: 1: 1
);
micro!(
    #[target_feature(enable = "avx512f")]
    AVX512_F32, row_tile_avx512_f32, depth_tile_avx512_f32, tap_tile_avx512_f32, dot_tile_avx512_f32, Some(line_tile_avx512_f32), __m512, f32, 4: 1, 2, 3, 4; narrow: 2: 1, 2
);
micro!(
    #[target_feature(enable = "avx512f")]
    AVX512_F64, row_tile_avx512_f64, depth_tile_avx512_f64, tap_tile_avx512_f64, dot_tile_avx512_f64, None, __m512d, f64, 4: 1, 2, 3, 4; narrow: 2: 1, 2
);

/// Numbers of 16 bits, which are widened as they are read.
struct F16;
struct Bf16;

/// Defines how a panel of such numbers is read, and tiles of whole panels of them.
macro_rules! half_tiles {
    ($(#[$feature:meta] $name:ident, $vector:ty, $panel:literal, $half:ident: |$from:ident| $load:expr;)+) => {$(
        impl Load<$vector> for $half {
            type Stored = u16;

            #[inline(always)]
            unsafe fn load($from: *const u16) -> $vector {
                // SAFETY: the caller promises the features and the elements of a vector. The load
                // needs no alignment.
                unsafe { $load }
            }
        }

        /// Computes a tile whose panel has all its columns.
        ///
        /// # Safety
        /// The processor has the features, and the tile's pointers are valid as [`RowTile`] requires.
        #[$feature]
        pub(super) unsafe fn $name(rows: usize, _vectors: usize, tile: &RowTile<'_, f32, u16>) {
            // SAFETY: the caller promises the features and valid pointers.
            unsafe {
                match rows {
                    1 => row_tile::<$vector, $half, 1, $panel, $panel>(tile),
                    2 => row_tile::<$vector, $half, 2, $panel, $panel>(tile),
                    3 => row_tile::<$vector, $half, 3, $panel, $panel>(tile),
                    4 => row_tile::<$vector, $half, 4, $panel, $panel>(tile),
                    5 => row_tile::<$vector, $half, 5, $panel, $panel>(tile),
                    6 => row_tile::<$vector, $half, 6, $panel, $panel>(tile),
                    _ => unreachable!("tiles of halves have 1 to 6 rows"),
                }
            }
        }
    )+};
}

half_tiles!(
    #[target_feature(enable = "avx512f")]
    f16_tile_512, __m512, 4, F16: |from| _mm512_cvtph_ps(_mm256_loadu_si256(from.cast()));
    #[target_feature(enable = "avx512f")]
    bf16_tile_512, __m512, 4, Bf16: |from| _mm512_castsi512_ps(_mm512_slli_epi32::<16>(
        _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast()))
    ));
    #[target_feature(enable = "avx2,fma,f16c")]
    f16_tile_256, __m256, 2, F16: |from| _mm256_cvtph_ps(_mm_loadu_si128(from.cast()));
    #[target_feature(enable = "avx2,fma")]
    bf16_tile_256, __m256, 2, Bf16: |from| _mm256_castsi256_ps(_mm256_slli_epi32::<16>(
        _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast()))
    ));
);
