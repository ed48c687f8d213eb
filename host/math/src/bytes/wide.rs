//! Tables, sums and products of bytes with AVX-512, a vector of 64 bytes at a time.
#![expect(unsafe_code, reason = "intrinsics of processor features")]

use std::arch::x86_64::*;

use super::elements::{ByteElements, ByteOperation};

/// The bytes of a vector.
const LANES: usize = 64;

/// Looks up whole vectors of bytes and returns how many bytes these are: none if the processor lacks
/// the instructions.
pub(super) fn look_up(table: &[u8; 256], x: &[u8], out: &mut [u8]) -> usize {
    if !(is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vbmi")) {
        return 0;
    }
    let (x, _) = x.as_chunks::<LANES>();
    let (out, _) = out.as_chunks_mut::<LANES>();
    // SAFETY: the processor was just found to have the instructions.
    unsafe { look_up_vectors(table, x, out) };
    x.len().min(out.len()) * LANES
}

/// # Safety
/// The processor has the instructions.
#[target_feature(enable = "avx512bw,avx512vbmi")]
unsafe fn look_up_vectors(table: &[u8; 256], x: &[[u8; LANES]], out: &mut [[u8; LANES]]) {
    // SAFETY: the table has four vectors.
    let [a, b, c, d] =
        [0, 1, 2, 3].map(|part| unsafe { _mm512_loadu_si512(table.as_ptr().add(part * LANES).cast()) });
    for (out, x) in out.iter_mut().zip(x) {
        // SAFETY: both are vectors.
        unsafe {
            let places = _mm512_loadu_si512(x.as_ptr().cast());
            // The low seven bits are the places in two vectors.
            let low = _mm512_permutex2var_epi8(a, places, b);
            let high = _mm512_permutex2var_epi8(c, places, d);
            let found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(places), low, high);
            _mm512_storeu_si512(out.as_mut_ptr().cast(), found);
        }
    }
}

/// Computes whole vectors of sums or products, and returns how many elements these are: none if the
/// processor lacks the instructions or numbers may be too large for them.
pub(super) fn combine(elements: &ByteElements, a: &[u8], b: &[u8], out: &mut [u8]) -> usize {
    if !is_x86_feature_detected!("avx512bw") || !elements.are_small() {
        return 0;
    }
    let ((a, _), (b, _), (out, _)) =
        (a.as_chunks::<LANES>(), b.as_chunks::<LANES>(), out.as_chunks_mut::<LANES>());
    // SAFETY: the processor was just found to have the instructions.
    unsafe {
        match elements.operation {
            ByteOperation::Add => combine_vectors::<true>(elements, a, b, out),
            ByteOperation::Multiply => combine_vectors::<false>(elements, a, b, out),
        }
    }
    a.len().min(b.len()).min(out.len()) * LANES
}

/// # Safety
/// The processor has the instructions.
#[target_feature(enable = "avx512bw")]
unsafe fn combine_vectors<const ADDS: bool>(
    elements: &ByteElements,
    a: &[[u8; LANES]],
    b: &[[u8; LANES]],
    out: &mut [[u8; LANES]],
) {
    let ByteElements { flips, zeros, factors, zero, .. } = *elements;
    let [a_flip, b_flip] = [flips[0], flips[1]].map(|flip| _mm_set1_epi8(flip as i8));
    let flip = _mm512_set1_epi8(flips[2] as i8);
    let [a_zero, b_zero] = zeros.map(|zero| _mm512_set1_epi32(zero));
    let [a_factor, b_factor] = factors.map(|factor| _mm512_set1_ps(factor));
    let zero = _mm512_set1_epi16(zero as i16);
    // Each quarter has four bytes of each part.
    let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        let mut rounded = [_mm512_setzero_si512(); 4];
        for (part, rounded) in rounded.iter_mut().enumerate() {
            // SAFETY: a vector has four parts.
            let [a, b] = [a, b].map(|bytes| unsafe { _mm_loadu_si128(bytes.as_ptr().add(16 * part).cast()) });
            let a = _mm512_sub_epi32(_mm512_cvtepu8_epi32(_mm_xor_si128(a, a_flip)), a_zero);
            let b = _mm512_sub_epi32(_mm512_cvtepu8_epi32(_mm_xor_si128(b, b_flip)), b_zero);
            let number = if ADDS {
                let a = _mm512_mul_ps(_mm512_cvtepi32_ps(a), a_factor);
                _mm512_add_ps(a, _mm512_mul_ps(_mm512_cvtepi32_ps(b), b_factor))
            } else {
                _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_mullo_epi32(a, b)), a_factor)
            };
            *rounded = _mm512_cvtps_epi32(number);
        }
        let [a, b, c, d] = rounded;
        let low = _mm512_adds_epi16(_mm512_packs_epi32(a, b), zero);
        let high = _mm512_adds_epi16(_mm512_packs_epi32(c, d), zero);
        let bytes = _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high));
        // SAFETY: the result is a vector.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_xor_si512(bytes, flip)) };
    }
}
