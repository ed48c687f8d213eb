//! Transposition of a square of elements, in vector registers where the processor has them.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "intrinsics of processor features"))]

#[cfg(target_arch = "x86_64")]
use std::any::TypeId;

use crate::Element;

/// The side of a square.
pub(super) const TILE: usize = 16;

/// Transposes a square whose lines are `stride` elements apart, to lines that are `to` elements
/// apart.
///
/// # Panics
/// If `x` or `out` is too short for the lines.
#[inline]
pub(super) fn exchange_square<T: Element>(x: &[T], stride: usize, out: &mut [T], to: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_number_of_four_bytes::<T>() && is_x86_feature_detected!("avx") {
            let len = |step: usize| (TILE - 1) * step + TILE;
            let (x, out) = (&x[..len(stride)], &mut out[..len(to)]);
            // SAFETY: the processor has AVX. All lines lie within the slices. Elements are numbers of
            // the size of `f32` and without padding, and are only moved, bit by bit.
            return unsafe { x86::exchange(x.as_ptr().cast(), stride, out.as_mut_ptr().cast(), to) };
        }
    }
    // Goes through a local square, so that cache lines of both sides are touched once each. If their
    // addresses differ by a power of two, they would otherwise evict each other.
    let mut square = [[T::default(); TILE]; TILE];
    for (i, line) in square.iter_mut().enumerate() {
        if let Some(x) = x[i * stride..].first_chunk() {
            *line = *x;
        }
    }
    for row in 0..TILE {
        if let Some(out) = out[row * to..].first_chunk_mut::<TILE>() {
            *out = std::array::from_fn(|i| square[i][row]);
        }
    }
}

/// Whether elements are moved as `f32`: not any type of four bytes, because some have bytes that
/// are not set.
#[cfg(target_arch = "x86_64")]
fn is_number_of_four_bytes<T: 'static>() -> bool {
    [TypeId::of::<f32>(), TypeId::of::<i32>(), TypeId::of::<u32>()].contains(&TypeId::of::<T>())
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::TILE;

    /// The number of elements of a vector.
    const LANES: usize = 8;

    /// Transposes a square of elements of four bytes, in quarters.
    ///
    /// # Safety
    /// `x` is valid for reads of [`TILE`] lines of as many elements, which are `stride` apart, and
    /// `out` for writes of lines that are `to` apart.
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn exchange(x: *const f32, stride: usize, out: *mut f32, to: usize) {
        for line in (0..TILE).step_by(LANES) {
            for column in (0..TILE).step_by(LANES) {
                // SAFETY: the quarter lies within the square on both sides.
                unsafe { quarter(x.add(line * stride + column), stride, out.add(column * to + line), to) };
            }
        }
    }

    /// Transposes a square of [`LANES`] lines.
    ///
    /// # Safety
    /// `x` is valid for reads of [`LANES`] lines of as many elements, which are `stride` apart, and
    /// `out` for writes of lines that are `to` apart.
    #[target_feature(enable = "avx")]
    #[inline]
    unsafe fn quarter(x: *const f32, stride: usize, out: *mut f32, to: usize) {
        for at in [0, 4] {
            // SAFETY: the pairs start at lines 0 to 3 and reach to lines 4 to 7. The caller promises
            // eight elements of each, and `at` is 0 or 4.
            let (a, b, c, d) = unsafe {
                let x = x.add(at);
                (
                    pair(x, stride),
                    pair(x.add(stride), stride),
                    pair(x.add(2 * stride), stride),
                    pair(x.add(3 * stride), stride),
                )
            };
            let (low, high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
            let (next_low, next_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
            let columns = [
                _mm256_shuffle_ps::<0x44>(low, next_low),
                _mm256_shuffle_ps::<0xEE>(low, next_low),
                _mm256_shuffle_ps::<0x44>(high, next_high),
                _mm256_shuffle_ps::<0xEE>(high, next_high),
            ];
            for (i, column) in columns.into_iter().enumerate() {
                // SAFETY: `at + i` is below eight, and the caller promises eight elements of each line.
                unsafe { _mm256_storeu_ps(out.add((at + i) * to), column) };
            }
        }
    }

    /// Loads four elements of a line, and as many of the line four lines later.
    ///
    /// # Safety
    /// `x` is valid for reads of four elements, and of four more `4 * stride` elements later.
    #[target_feature(enable = "avx")]
    #[inline]
    unsafe fn pair(x: *const f32, stride: usize) -> __m256 {
        // SAFETY: the caller promises these elements.
        let (low, high) = unsafe { (_mm_loadu_ps(x), _mm_loadu_ps(x.add(4 * stride))) };
        _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high)
    }
}
