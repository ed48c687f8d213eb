//! Vectors of NEON (panels of four).
#![expect(unsafe_code, reason = "intrinsics of processor features")]

use std::arch::aarch64::*;

use super::line::line_tiles;
use super::tile::{Vector, micro};

macro_rules! vector {
    (
        $vector:ty, $element:ty, $lanes:literal,
        $splat:ident, $load:ident, $store:ident, $add:ident, $fma:ident, $max:ident
    ) => {
        impl Vector for $vector {
            type Element = $element;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn splat(value: $element) -> Self {
                // SAFETY: NEON is part of the target.
                unsafe { $splat(value) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $element) -> Self {
                // SAFETY: NEON is part of the target, and the caller promises `LANES` readable
                // elements.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: NEON is part of the target, and the caller promises `LANES` writable
                // elements.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn load_part(from: *const $element, count: usize) -> Self {
                let mut lanes = [0.0; $lanes];
                // SAFETY: NEON is part of the target, and the caller promises `count` readable
                // elements, of which the copy reads no more.
                unsafe {
                    std::ptr::copy_nonoverlapping(from, lanes.as_mut_ptr(), count);
                    $load(lanes.as_ptr())
                }
            }

            #[inline(always)]
            unsafe fn store_part(self, to: *mut $element, count: usize) {
                let mut lanes = [0.0; $lanes];
                // SAFETY: NEON is part of the target, and the caller promises `count` writable
                // elements, of which the copy writes no more.
                unsafe {
                    $store(lanes.as_mut_ptr(), self);
                    std::ptr::copy_nonoverlapping(lanes.as_ptr(), to, count);
                }
            }

            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                // SAFETY: NEON is part of the target.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn plus_product(self, left: Self, right: Self) -> Self {
                // SAFETY: NEON is part of the target.
                unsafe { $fma(self, left, right) }
            }

            #[inline(always)]
            unsafe fn relu(self) -> Self {
                // The instruction returns NaN if either operand is NaN. SAFETY: NEON is part of the
                // target.
                unsafe { $max(self, $splat(0.0)) }
            }

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: NEON is part of the target.
                unsafe { $splat(0.0) }
            }

            #[inline(always)]
            unsafe fn prefetch(_: *const $element) {}
        }
    };
}

vector!(float32x4_t, f32, 4, vdupq_n_f32, vld1q_f32, vst1q_f32, vaddq_f32, vfmaq_f32, vmaxq_f32);
vector!(float64x2_t, f64, 2, vdupq_n_f64, vld1q_f64, vst1q_f64, vaddq_f64, vfmaq_f64, vmaxq_f64);

line_tiles!(line_tile_neon_f32, float32x4_t, f32);

micro!(NEON_F32, row_tile_neon_f32, depth_tile_neon_f32, tap_tile_neon_f32, dot_tile_neon_f32, Some(line_tile_neon_f32), float32x4_t, f32, 4: 1, 2, 3, 4; narrow: 2: 1, 2);
micro!(NEON_F64, row_tile_neon_f64, depth_tile_neon_f64, tap_tile_neon_f64, dot_tile_neon_f64, None, float64x2_t, f64, 4: 1, 2, 3, 4; narrow: 2: 1, 2);
