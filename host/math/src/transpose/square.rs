//! Transposition of a square of elements, in vector registers where the processor has them.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "intrinsics of processor features"))]

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
        if size_of::<T>() == size_of::<f32>() && is_x86_feature_detected!("avx") {
            let len = |step: usize| (TILE - 1) * step + TILE;
            let (x, out) = (&x[..len(stride)], &mut out[..len(to)]);
            // SAFETY: the processor has AVX. All lines lie within the slices. Elements have the size
            // of `f32`, and are only copied, as bytes.
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
    /// As for [`exchange`].
    #[target_feature(enable = "avx")]
    #[inline]
    unsafe fn quarter(x: *const f32, stride: usize, out: *mut f32, to: usize) {
        for at in [0, 4] {
            // SAFETY: the caller promises the elements of eight lines.
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
                // SAFETY: the caller promises these elements.
                unsafe { _mm256_storeu_ps(out.add((at + i) * to), column) };
            }
        }
    }

    /// Loads four elements of a line, and as many of the fourth line after it.
    ///
    /// # Safety
    /// The processor has AVX, and the elements are valid for reads.
    #[target_feature(enable = "avx")]
    #[inline]
    unsafe fn pair(x: *const f32, stride: usize) -> __m256 {
        // SAFETY: the caller promises these elements.
        let (low, high) = unsafe { (_mm_loadu_ps(x), _mm_loadu_ps(x.add(4 * stride))) };
        _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high)
    }
}
