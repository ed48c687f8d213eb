//! Depthwise convolutions of bytes with AVX-512 VNNI, four taps and 32 channels at a time.
#![expect(unsafe_code, reason = "intrinsics of processor features")]

use std::arch::x86_64::*;

use super::depthwise::{BLOCK, Run, in_order};
use super::result::Columns;

/// Returns whether the processor has the instructions.
pub(super) fn are_available() -> bool {
    is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni")
}

/// What makes bytes of the sums of a block of channels, in the order of the weights.
pub(super) struct Finish {
    offsets: [i32; BLOCK],
    scales: [f32; BLOCK],
    bias: [f32; BLOCK],
    zero: i16,
}

impl Finish {
    /// For channels from `first` on.
    pub(super) fn new(columns: &Columns, first: usize) -> Self {
        let (offsets, scales, bias, zero) = columns.parts();
        let mut own =
            Self { offsets: [0; BLOCK], scales: [0.0; BLOCK], bias: [0.0; BLOCK], zero: zero as i16 };
        for (at, channel) in in_order(first).enumerate() {
            own.offsets[at] = offsets[channel];
            (own.scales[at], own.bias[at]) = (scales[channel], bias[channel]);
        }
        own
    }
}

/// Returns the sums of the products of a pixel and weights: of four channels from 0 on and of four
/// from 16 on, then of those from 4 and 20 on, and so forth. Zeros are not subtracted.
///
/// # Safety
/// The instructions are available. Each tap can be read at `at`, at each byte that the mask selects,
/// and each four taps have four weights for each channel of the block.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
#[inline]
unsafe fn pixel(taps: &[&[u8]], weights: &[i8], at: usize, (mask, flip): (u32, __m256i)) -> [__m256i; 4] {
    let mut sums = [_mm256_setzero_si256(); 4];
    for (taps, weights) in taps.chunks_exact(4).zip(weights.chunks_exact(4 * BLOCK)) {
        let mut pixels = [_mm256_setzero_si256(); 4];
        for (pixels, tap) in pixels.iter_mut().zip(taps) {
            // SAFETY: the caller promises the bytes that the mask selects.
            let bytes = unsafe { _mm256_maskz_loadu_epi8(mask, tap.as_ptr().add(at).cast()) };
            *pixels = _mm256_xor_si256(bytes, flip);
        }
        let [a, b, c, d] = pixels;
        let low = [_mm256_unpacklo_epi8(a, b), _mm256_unpacklo_epi8(c, d)];
        let high = [_mm256_unpackhi_epi8(a, b), _mm256_unpackhi_epi8(c, d)];
        let quads = [
            _mm256_unpacklo_epi16(low[0], low[1]),
            _mm256_unpackhi_epi16(low[0], low[1]),
            _mm256_unpacklo_epi16(high[0], high[1]),
            _mm256_unpackhi_epi16(high[0], high[1]),
        ];
        for (part, (sum, quads)) in sums.iter_mut().zip(quads).enumerate() {
            // SAFETY: there are four weights for each of 32 channels, a quarter of them for each part.
            let weights = unsafe { _mm256_loadu_si256(weights.as_ptr().add(part * BLOCK).cast()) };
            *sum = _mm256_dpbusd_epi32(*sum, quads, weights);
        }
    }
    sums
}

/// The bits of this many channels.
fn mask_of(count: usize) -> u32 {
    if count < BLOCK { (1 << count) - 1 } else { u32::MAX }
}

/// Sets the results of `width` channels from `first` on of pixels whose results are `channels` bytes
/// apart.
///
/// # Safety
/// The instructions are available. Each tap and `out` have these channels of all pixels, and each
/// four taps have four weights for each channel of the block. Numbers are small, as
/// [`Columns::are_small`] says.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn bytes(
    run: &Run<'_>,
    (weights, flip): (&[i8], u8),
    (first, width): (usize, usize),
    (finish, is_signed): (&Finish, bool),
    (out, channels): (&mut [u8], usize),
) {
    let (mask, flip) = (mask_of(width), _mm256_set1_epi8(flip as i8));
    let zero = _mm256_set1_epi16(finish.zero);
    for at in 0..run.count {
        // SAFETY: the caller promises the channels of all pixels and their weights.
        let sums = unsafe { pixel(run.taps, weights, first + at * run.step, (mask, flip)) };
        let mut rounded = [_mm256_setzero_si256(); 4];
        for (part, (rounded, sum)) in rounded.iter_mut().zip(sums).enumerate() {
            let own = part * BLOCK / 4;
            // SAFETY: there are numbers for 32 channels, a quarter of them for each part.
            let (offsets, scales, bias) = unsafe {
                (
                    _mm256_loadu_si256(finish.offsets.as_ptr().add(own).cast()),
                    _mm256_loadu_ps(finish.scales.as_ptr().add(own)),
                    _mm256_loadu_ps(finish.bias.as_ptr().add(own)),
                )
            };
            let number = _mm256_cvtepi32_ps(_mm256_add_epi32(sum, offsets));
            *rounded = _mm256_cvtps_epi32(_mm256_add_ps(_mm256_mul_ps(number, scales), bias));
        }
        let [a, b, c, d] = rounded;
        let [low, high] = [_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d)];
        let [low, high] = [_mm256_adds_epi16(low, zero), _mm256_adds_epi16(high, zero)];
        let bytes = if is_signed { _mm256_packs_epi16(low, high) } else { _mm256_packus_epi16(low, high) };
        // SAFETY: the caller promises room for the channels of all pixels.
        unsafe {
            let out = out.as_mut_ptr().add(at * channels + first);
            match mask {
                u32::MAX => _mm256_storeu_si256(out.cast(), bytes),
                _ => _mm256_mask_storeu_epi8(out.cast(), mask, bytes),
            }
        }
    }
}

/// Sets the sums of a block of channels from `first` on, of which `width` belong to pixels; those of a
/// pixel are `padded` numbers apart.
///
/// # Safety
/// As for [`bytes`], with room for whole blocks of all pixels.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn sums(
    run: &Run<'_>,
    (weights, flip): (&[i8], u8),
    (first, width): (usize, usize),
    (out, padded): (&mut [i32], usize),
) {
    let (mask, flip) = (mask_of(width), _mm256_set1_epi8(flip as i8));
    for at in 0..run.count {
        // SAFETY: the caller promises the channels of all pixels and their weights.
        let sums = unsafe { pixel(run.taps, weights, first + at * run.step, (mask, flip)) };
        for (part, sum) in sums.into_iter().enumerate() {
            let (low, high) = (_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
            // SAFETY: the caller promises room for whole blocks, and each part has four channels of
            // either half.
            unsafe {
                let out = out.as_mut_ptr().add(at * padded + first + 4 * part);
                _mm_storeu_si128(out.cast(), low);
                _mm_storeu_si128(out.add(BLOCK / 2).cast(), high);
            }
        }
    }
}
