//! Vectors of AVX2 with FMA (panels of two) and of AVX-512 (panels of four).
#![expect(unsafe_code, reason = "intrinsics of processor features")]

use std::arch::x86_64::*;

use super::tile::{Vector, micro};

macro_rules! vector {
    (
        $vector:ty, $element:ty, $lanes:literal,
        $splat:ident, $load:ident, $store:ident, $add:ident, $fma:ident, $max:ident, $zero:ident
    ) => {
        // SAFETY (of every block): the caller promises that the processor has the feature, and that memory reaches as
        // far as the trait says; unaligned forms are used throughout.
        impl Vector for $vector {
            type Element = $element;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn splat(value: $element) -> Self {
                // SAFETY: see above.
                unsafe { $splat(value) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $element) -> Self {
                // SAFETY: see above.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: see above.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                // SAFETY: see above.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn plus_product(self, left: Self, right: Self) -> Self {
                // SAFETY: see above.
                unsafe { $fma(left, right, self) }
            }

            #[inline(always)]
            unsafe fn relu(self) -> Self {
                // Where one is NaN, the instruction gives the second.
                // SAFETY: see above.
                unsafe { $max($zero(), self) }
            }

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: see above.
                unsafe { $zero() }
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
    _mm256_setzero_ps
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
    _mm256_setzero_pd
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
    _mm512_setzero_ps
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
    _mm512_setzero_pd
);

micro!(
    #[target_feature(enable = "avx2,fma")]
    AVX2_F32, row_tile_avx2_f32, depth_tile_avx2_f32, __m256, f32, 2: 1, 2
);
micro!(
    #[target_feature(enable = "avx2,fma")]
    AVX2_F64, row_tile_avx2_f64, depth_tile_avx2_f64, __m256d, f64, 2: 1, 2
);
micro!(
    #[target_feature(enable = "avx512f")]
    AVX512_F32, row_tile_avx512_f32, depth_tile_avx512_f32, __m512, f32, 4: 1, 2, 3, 4
);
micro!(
    #[target_feature(enable = "avx512f")]
    AVX512_F64, row_tile_avx512_f64, depth_tile_avx512_f64, __m512d, f64, 4: 1, 2, 3, 4
);
