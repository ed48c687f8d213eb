//! What the addresses of a warp have in common: whether all are in bounds and aligned, and how they lie to each other.
//!
//! On x86-64 this is written with SSE2, which every such processor has: as loops, the compiler pairs lanes of the two
//! halves, and takes ten times as many instructions.

use super::lanes::{LANES, Line, Slot};

/// Half of a warp: blocks are often 16 threads wide, so that halves are looked at on their own.
pub(crate) const HALF: usize = LANES / 2;

/// Bits that are set in some lane.
pub(crate) struct Survey<S> {
    /// In an offset.
    pub(crate) low: S,
    /// In an offset, or in `last` minus an offset.
    pub(crate) high: S,
    /// In the difference to a row, and to one value, for each half.
    pub(crate) differ: [(S, S); 2],
}

/// A slot whose lines can be surveyed.
pub(crate) trait Surveyed: Slot {
    /// Surveys the offsets of accesses of `bytes` bytes, of which `last` is the highest that is in bounds.
    fn survey(of: &Line<Self>, last: Self, bytes: u64) -> Survey<Self>;
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    #![expect(unsafe_code, reason = "loads vectors from arrays of the right size")]

    use std::arch::x86_64::*;

    use super::{HALF, Line, Survey, Surveyed};

    /// All bits that are set in one of the two halves.
    #[inline(always)]
    fn folded(vector: __m128i) -> u64 {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_cvtsi128_si64(_mm_or_si128(vector, _mm_unpackhi_epi64(vector, vector))) as u64 }
    }

    macro_rules! surveyed {
        ($slot:ty, $lanes:literal, $add:ident, $sub:ident, $splat:expr, $steps:expr, $fold:expr) => {
            impl Surveyed for $slot {
                #[inline(always)]
                fn survey(of: &Line<$slot>, last: $slot, bytes: u64) -> Survey<$slot> {
                    let (splat, fold): (fn($slot) -> __m128i, fn(u64) -> $slot) = ($splat, $fold);
                    let steps: fn($slot) -> __m128i = $steps;
                    // SAFETY: SSE2 is part of x86-64; each load is of `$lanes` slots inside the line.
                    unsafe {
                        let zero = _mm_setzero_si128();
                        let (mut low, mut high, mut differ) = (zero, zero, [(0, 0); 2]);
                        let (last, step) = (splat(last), splat($lanes * bytes as $slot));
                        for (half, differ) in differ.iter_mut().enumerate() {
                            let start = half * HALF;
                            let first = splat(of.0[start]);
                            let mut row = $add(first, steps(bytes as $slot));
                            let (mut from_row, mut from_one) = (zero, zero);
                            for lane in (start..start + HALF).step_by($lanes) {
                                let offset = _mm_loadu_si128(of.0.as_ptr().add(lane).cast());
                                low = _mm_or_si128(low, offset);
                                high = _mm_or_si128(high, $sub(last, offset));
                                from_row = _mm_or_si128(from_row, _mm_xor_si128(offset, row));
                                from_one = _mm_or_si128(from_one, _mm_xor_si128(offset, first));
                                row = $add(row, step);
                            }
                            *differ = (fold(folded(from_row)), fold(folded(from_one)));
                        }
                        let high = fold(folded(_mm_or_si128(low, high)));
                        Survey { low: fold(folded(low)), high, differ }
                    }
                }
            }
        };
    }
    surveyed!(
        u32,
        4,
        _mm_add_epi32,
        _mm_sub_epi32,
        // SAFETY: SSE2 is part of x86-64.
        |value| unsafe { _mm_set1_epi32(value as i32) },
        |bytes| {
            let bytes = bytes as i32;
            // SAFETY: as above.
            unsafe { _mm_set_epi32(bytes.wrapping_mul(3), bytes.wrapping_mul(2), bytes, 0) }
        },
        |bits| (bits | bits >> 32) as u32
    );
    surveyed!(
        u64,
        2,
        _mm_add_epi64,
        _mm_sub_epi64,
        // SAFETY: SSE2 is part of x86-64.
        |value| unsafe { _mm_set1_epi64x(value as i64) },
        // SAFETY: as above.
        |bytes| unsafe { _mm_set_epi64x(bytes as i64, 0) },
        |bits| bits
    );
}

#[cfg(not(target_arch = "x86_64"))]
impl<S: Slot> Surveyed for S {
    #[inline(always)]
    fn survey(of: &Line<S>, last: S, bytes: u64) -> Survey<S> {
        let zero = S::default();
        let mut survey = Survey { low: zero, high: zero, differ: [(zero, zero); 2] };
        for (lane, &offset) in of.0.iter().enumerate() {
            let (first, differ) = (of.0[lane / HALF * HALF], &mut survey.differ[lane / HALF]);
            let expected = first.plus(S::truncate((lane % HALF) as u64 * bytes));
            survey.low = survey.low | offset;
            survey.high = survey.high | offset | last.minus(offset);
            *differ = (differ.0 | (offset ^ expected), differ.1 | (offset ^ first));
        }
        survey
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<S: Surveyed + std::fmt::Debug>() {
        let line = |f: &dyn Fn(usize) -> u64| Line::<S>::from_fn(|lane| S::truncate(f(lane)));
        let zero = S::default();
        let last = S::truncate(1000);
        let row = S::survey(&line(&|lane| 100 + 4 * lane as u64), last, 4);
        assert!(row.differ.iter().all(|(row, one)| *row == zero && *one != zero) && !row.high.is_negative());
        let halves =
            S::survey(&line(&|lane| if lane < 16 { 8 } else { 40 + 4 * (lane as u64 - 16) }), last, 4);
        assert!(
            halves.differ[0].1 == zero && halves.differ[1].0 == zero && halves.low & S::truncate(3) == zero
        );
        for lane in 0..LANES {
            let outside = S::survey(&line(&|l| if l == lane { 1001 } else { 1000 }), last, 1);
            assert!(outside.high.is_negative(), "lane {lane}");
            assert!(outside.differ[lane / HALF].1 != zero && outside.differ[1 - lane / HALF].1 == zero);
            let below = S::survey(&line(&|l| if l == lane { u64::MAX } else { 0 }), last, 1);
            assert!(below.high.is_negative(), "lane {lane}");
        }
    }

    #[test]
    fn lines_of_both_slots() {
        check::<u32>();
        check::<u64>();
    }
}
