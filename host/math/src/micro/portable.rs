//! Vectors as arrays, for processors without a specific variant, and for integers.
#![expect(unsafe_code, reason = "the kernels reach memory through pointers")]

use super::tile::{Vector, micro};
use crate::Number;

/// Four numbers, which the compiler keeps in the registers of the baseline.
#[derive(Clone, Copy)]
struct Lanes<T>([T; 4]);

impl<T: Number> Lanes<T> {
    fn zip(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }
}

impl<T: Number> Vector for Lanes<T> {
    type Element = T;
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn splat(value: T) -> Self {
        Self([value; 4])
    }

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: the caller promises four readable elements.
        Self(unsafe { from.cast::<[T; 4]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller promises four writable elements.
        unsafe { to.cast::<[T; 4]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn load_part(from: *const T, count: usize) -> Self {
        let mut lanes = [T::ZERO; 4];
        // SAFETY: the caller promises `count` readable elements, fewer than four.
        unsafe { std::ptr::copy_nonoverlapping(from, lanes.as_mut_ptr(), count) };
        Self(lanes)
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut T, count: usize) {
        // SAFETY: the caller promises `count` writable elements, fewer than four.
        unsafe { std::ptr::copy_nonoverlapping(self.0.as_ptr(), to, count) };
    }

    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        self.zip(other, T::plus)
    }

    #[inline(always)]
    unsafe fn plus_product(self, left: Self, right: Self) -> Self {
        self.zip(left.zip(right, T::times), T::plus)
    }

    #[inline(always)]
    unsafe fn relu(self) -> Self {
        Self(self.0.map(crate::ops::relu))
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        Self([T::ZERO; 4])
    }

    #[inline(always)]
    unsafe fn prefetch(_: *const T) {}
}

#[cfg(not(target_arch = "aarch64"))]
micro!(F32, row_tile_f32, depth_tile_f32, tap_tile_f32, dot_tile_f32, None, Lanes<f32>, f32, 2: 1, 2; narrow: 1: 1);
#[cfg(not(target_arch = "aarch64"))]
micro!(F64, row_tile_f64, depth_tile_f64, tap_tile_f64, dot_tile_f64, None, Lanes<f64>, f64, 2: 1, 2; narrow: 1: 1);
micro!(I32, row_tile_i32, depth_tile_i32, tap_tile_i32, dot_tile_i32, None, Lanes<i32>, i32, 2: 1, 2; narrow: 1: 1);
