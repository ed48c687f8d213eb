//! Numbers of 16 bits that stand for numbers of `f32` exactly. A matrix of them takes half as long to
//! read, and its products are the same.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "intrinsics of processor features"))]

use std::borrow::Cow;

use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};
use half::{bf16, f16};

use super::RowKernel;
#[cfg(target_arch = "x86_64")]
use super::x86;
use crate::simd::vectorize;

/// The number of elements that are examined at a time.
const CHUNK: usize = 1024;

/// Numbers of 16 bits, and their format.
pub(crate) struct Halves<'a, E> {
    pub(crate) bits: Cow<'a, [u16]>,
    pub(crate) format: HalfFormat<E>,
}

/// How numbers of 16 bits are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HalfFormat<E> {
    /// Widens as many elements as both slices have.
    pub(crate) widen: fn(&[u16], &mut [E]),
    /// Computes a tile of at most [`ROWS`](super::ROWS) rows by a panel that has all its columns, and
    /// is widened as it is read.
    pub(crate) row_tile: Option<RowKernel<E, u16>>,
}

impl HalfFormat<f32> {
    fn f16() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return Self { widen: widen_f16, row_tile: Some(x86::f16_tile_512) };
            }
            if has_avx2() && is_x86_feature_detected!("f16c") {
                return Self { widen: widen_f16, row_tile: Some(x86::f16_tile_256) };
            }
        }
        Self { widen: widen_f16, row_tile: None }
    }

    fn bf16() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return Self { widen: widen_bf16, row_tile: Some(x86::bf16_tile_512) };
            }
            if has_avx2() {
                return Self { widen: widen_bf16, row_tile: Some(x86::bf16_tile_256) };
            }
        }
        Self { widen: widen_bf16, row_tile: None }
    }
}

/// Returns whether panels are those of AVX2, unless the processor has AVX-512.
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

impl<'a> Halves<'a, f32> {
    pub(crate) fn of_f16(elements: &'a [f16]) -> Self {
        Self { bits: Cow::Borrowed(elements.reinterpret_cast()), format: HalfFormat::f16() }
    }

    pub(crate) fn of_bf16(elements: &'a [bf16]) -> Self {
        Self { bits: Cow::Borrowed(elements.reinterpret_cast()), format: HalfFormat::bf16() }
    }

    /// Returns the elements as numbers of `bf16` or `f16` if all of them are. Looks no further than to
    /// the first ones that are not.
    pub(crate) fn of_exact(elements: &[f32]) -> Option<Self> {
        let (to_bf16, to_f16): (Narrow, Narrow) = (
            |from, to| to.iter_mut().zip(from).for_each(|(to, x)| *to = (x.to_bits() >> 16) as u16),
            |from, to| to.reinterpret_cast_mut::<f16>().convert_from_f32_slice(from),
        );
        let formats = [(to_bf16, HalfFormat::bf16()), (to_f16, HalfFormat::f16())];
        formats.into_iter().find_map(|(narrow, format)| {
            let bits = narrowed(elements, narrow, format.widen)?;
            Some(Self { bits: bits.into(), format })
        })
    }
}

/// Returns the elements in 16 bits if widening them gives the same bits.
fn narrowed(elements: &[f32], narrow: Narrow, widen: fn(&[u16], &mut [f32])) -> Option<Vec<u16>> {
    let mut bits = Vec::new();
    let mut back = [0.0; CHUNK];
    for chunk in elements.chunks(CHUNK) {
        let first = bits.len();
        bits.resize(first + chunk.len(), 0);
        narrow(chunk, &mut bits[first..]);
        let back = &mut back[..chunk.len()];
        widen(&bits[first..], back);
        if chunk.iter().zip(back).any(|(x, back)| x.to_bits() != back.to_bits()) {
            return None;
        }
        if first == 0 {
            // Most others are refused by now.
            bits.reserve_exact(elements.len() - bits.len());
        }
    }
    Some(bits)
}

type Narrow = fn(&[f32], &mut [u16]);

fn widen_bf16(from: &[u16], to: &mut [f32]) {
    vectorize(|| {
        to.iter_mut().zip(from).for_each(|(to, &bits)| *to = f32::from_bits(u32::from(bits) << 16));
    });
}

fn widen_f16(from: &[u16], to: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor was just found to have the feature.
            return unsafe { widen_f16_512(from, to) };
        }
        if is_x86_feature_detected!("avx") && is_x86_feature_detected!("f16c") {
            // SAFETY: the processor was just found to have both features.
            return unsafe { widen_f16_256(from, to) };
        }
    }
    widen_rest(from, to);
}

/// Widens a few elements, or all of them where the processor has no instructions for it.
fn widen_rest(from: &[u16], to: &mut [f32]) {
    to.iter_mut().zip(from).for_each(|(to, &bits)| *to = f16::from_bits(bits).to_f32());
}

/// Defines a function that widens a vector at a time.
#[cfg(target_arch = "x86_64")]
macro_rules! widen_f16 {
    ($name:ident, $feature:literal, $lanes:literal, $load:ident as $bits:ty, $convert:ident, $store:ident) => {
        #[target_feature(enable = $feature)]
        fn $name(from: &[u16], to: &mut [f32]) {
            use std::arch::x86_64::*;
            let (from, from_rest) = from.as_chunks::<$lanes>();
            let (to, to_rest) = to.as_chunks_mut::<$lanes>();
            for (from, to) in from.iter().zip(to) {
                // SAFETY: both arrays have as many elements as the vectors. Neither access needs
                // alignment.
                unsafe { $store(to.as_mut_ptr(), $convert($load(from.as_ptr().cast::<$bits>()))) };
            }
            widen_rest(from_rest, to_rest);
        }
    };
}

#[cfg(target_arch = "x86_64")]
widen_f16!(widen_f16_512, "avx512f", 16, _mm256_loadu_si256 as __m256i, _mm512_cvtph_ps, _mm512_storeu_ps);
#[cfg(target_arch = "x86_64")]
widen_f16!(widen_f16_256, "avx,f16c", 8, _mm_loadu_si128 as __m128i, _mm256_cvtph_ps, _mm256_storeu_ps);

#[cfg(test)]
mod tests {
    use super::*;

    /// All numbers of 16 bits but NaN, whose bits need not stay.
    fn all(to_f32: fn(u16) -> f32) -> Vec<f32> {
        (0..=u16::MAX).map(to_f32).filter(|x| !x.is_nan()).collect()
    }

    #[test]
    fn exact_numbers_keep_their_bits() {
        let all_f16 = all(|bits| f16::from_bits(bits).to_f32());
        let all_bf16 = all(|bits| bf16::from_bits(bits).to_f32());
        for elements in [&all_f16, &all_bf16, &all_f16[..7].to_vec(), &Vec::new()] {
            let halves = Halves::of_exact(elements).unwrap();
            let mut back = vec![1.0; elements.len()];
            (halves.format.widen)(&halves.bits, &mut back);
            assert!(elements.iter().zip(&back).all(|(x, back)| x.to_bits() == back.to_bits()));
        }
    }

    #[test]
    fn other_numbers_are_refused_wherever_they_are() {
        for other in [1.0 + f32::EPSILON, 1e-9, 70_000.0, f32::from_bits(1)] {
            for at in [0, 5, 3000] {
                let mut elements = vec![0.5; 3001];
                elements[at] = other;
                assert!(Halves::of_exact(&elements).is_none(), "{other} at {at}");
            }
        }
    }

    #[test]
    fn every_way_to_widen_is_the_same() {
        let bits: Vec<u16> = (0..=u16::MAX).filter(|&bits| !f16::from_bits(bits).is_nan()).collect();
        let bits = &bits[..bits.len() - 3];
        let (mut best, mut plain) = (vec![0.0; bits.len()], vec![1.0; bits.len()]);
        widen_f16(bits, &mut best);
        widen_rest(bits, &mut plain);
        assert_eq!(best, plain);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx") && is_x86_feature_detected!("f16c") {
            // SAFETY: the processor was just found to have both features.
            unsafe { widen_f16_256(bits, &mut plain) };
            assert_eq!(best, plain);
        }
    }
}
