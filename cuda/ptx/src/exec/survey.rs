//! Analyses the addresses of a warp: their layout, and whether all are in bounds and aligned.
//!
//! On x86-64 this uses SSE2, which every such processor supports. From plain loops the compiler
//! would generate about ten times as many instructions, because it pairs lanes of the two halves.

use super::lanes::{LANES, Line, Slot};

/// The number of lanes in half a warp. Blocks are often 16 threads wide, so each half is analysed
/// separately.
pub(crate) const HALF: usize = LANES / 2;

/// The pattern of the addresses of half a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// Consecutive addresses.
    Row,
    /// The same address in all lanes.
    Uniform,
    /// Any other pattern.
    Scattered,
}

/// The layout of the addresses in a register, for accesses of one size: of the lower and of the
/// upper half of the lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The address in the first lane of each half.
    pub(crate) first: [u64; 2],
    pub(crate) patterns: [Pattern; 2],
}

impl Layout {
    /// The layout of addresses of which nothing is known.
    pub(crate) const UNKNOWN: Layout = Layout { first: [0; 2], patterns: [Pattern::Scattered; 2] };

    /// Returns the layout of a register of addresses for accesses of `bytes` bytes.
    #[inline(always)]
    pub(crate) fn of<S: Surveyed>(addresses: &Line<S>, bytes: u64) -> Layout {
        let patterns = [pattern(addresses, 0, bytes), pattern(addresses, HALF, bytes)];
        Layout { first: [addresses.0[0].extend(), addresses.0[HALF].extend()], patterns }
    }
}

/// Returns the pattern of the half that begins at lane `start`.
#[inline(always)]
fn pattern<S: Surveyed>(addresses: &Line<S>, start: usize, bytes: u64) -> Pattern {
    let (from_row, from_one) = S::differences(addresses, start, bytes);
    if from_row == S::default() {
        Pattern::Row
    } else if from_one == S::default() {
        Pattern::Uniform
    } else {
        Pattern::Scattered
    }
}

/// A slot type whose lines can be analysed.
pub(crate) trait Surveyed: Slot {
    /// Compares the half that begins at lane `start` with a row of accesses of `bytes` bytes and
    /// with a single value. Returns, for each, the bits in which any lane differs.
    fn differences(addresses: &Line<Self>, start: usize, bytes: u64) -> (Self, Self);

    /// Returns the bits set in the offset of any lane; and the bits set in any offset or in `last`
    /// minus any offset.
    fn extremes(of: &Line<Self>, last: Self) -> (Self, Self);
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    #![expect(unsafe_code, reason = "loads vectors from arrays of the right size")]

    use std::arch::x86_64::*;

    use super::{HALF, LANES, Line, Surveyed};

    /// Returns the bits set in any of the slots, in the low bits.
    #[inline(always)]
    fn folded64(vector: __m128i) -> u64 {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_cvtsi128_si64(_mm_or_si128(vector, _mm_unpackhi_epi64(vector, vector))) as u64 }
    }

    #[inline(always)]
    fn folded32(vector: __m128i) -> u64 {
        let both = folded64(vector);
        both | both >> 32
    }

    #[inline(always)]
    fn splat64(value: u64) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_set1_epi64x(value as i64) }
    }

    #[inline(always)]
    fn splat32(value: u32) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_set1_epi32(value as i32) }
    }

    /// Returns the multiples of a step from 0 on, one in each slot.
    #[inline(always)]
    fn steps64(step: u64) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_set_epi64x(step as i64, 0) }
    }

    #[inline(always)]
    fn steps32(step: u32) -> __m128i {
        let step = step as i32;
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_set_epi32(step.wrapping_mul(3), step.wrapping_mul(2), step, 0) }
    }

    macro_rules! surveyed {
        ($slot:ty, $lanes:literal, $add:ident, $sub:ident, $splat:ident, $steps:ident, $folded:ident) => {
            impl Surveyed for $slot {
                #[inline(always)]
                fn differences(addresses: &Line<$slot>, start: usize, bytes: u64) -> ($slot, $slot) {
                    let addresses = &addresses.0[start..start + HALF];
                    // SAFETY: SSE2 is part of x86-64. Each load reads `$lanes` slots inside the
                    // half.
                    unsafe {
                        let (mut from_row, mut from_one) = (_mm_setzero_si128(), _mm_setzero_si128());
                        let first = $splat(addresses[0]);
                        let mut row = $add(first, $steps(bytes as $slot));
                        let step = $splat($lanes * bytes as $slot);
                        let mut lane = 0;
                        while lane < HALF {
                            let address = _mm_loadu_si128(addresses.as_ptr().add(lane).cast());
                            from_row = _mm_or_si128(from_row, _mm_xor_si128(address, row));
                            from_one = _mm_or_si128(from_one, _mm_xor_si128(address, first));
                            row = $add(row, step);
                            lane += $lanes;
                        }
                        ($folded(from_row) as $slot, $folded(from_one) as $slot)
                    }
                }

                #[inline(always)]
                fn extremes(of: &Line<$slot>, last: $slot) -> ($slot, $slot) {
                    // SAFETY: SSE2 is part of x86-64. Each load reads `$lanes` slots inside the
                    // line.
                    unsafe {
                        let (mut low, mut high) = (_mm_setzero_si128(), _mm_setzero_si128());
                        let last = $splat(last);
                        let mut lane = 0;
                        while lane < LANES {
                            let offset = _mm_loadu_si128(of.0.as_ptr().add(lane).cast());
                            low = _mm_or_si128(low, offset);
                            high = _mm_or_si128(high, $sub(last, offset));
                            lane += $lanes;
                        }
                        ($folded(low) as $slot, $folded(_mm_or_si128(low, high)) as $slot)
                    }
                }
            }
        };
    }
    surveyed!(u32, 4, _mm_add_epi32, _mm_sub_epi32, splat32, steps32, folded32);
    surveyed!(u64, 2, _mm_add_epi64, _mm_sub_epi64, splat64, steps64, folded64);
}

#[cfg(not(target_arch = "x86_64"))]
impl<S: Slot> Surveyed for S {
    #[inline(always)]
    fn differences(addresses: &Line<S>, start: usize, bytes: u64) -> (S, S) {
        let first = addresses.0[start];
        let (mut from_row, mut from_one) = (S::default(), S::default());
        for (lane, &address) in addresses.0[start..start + HALF].iter().enumerate() {
            from_row = from_row | (address ^ first.plus(S::truncate(lane as u64 * bytes)));
            from_one = from_one | (address ^ first);
        }
        (from_row, from_one)
    }

    #[inline(always)]
    fn extremes(of: &Line<S>, last: S) -> (S, S) {
        let (mut low, mut high) = (S::default(), S::default());
        for &offset in &of.0 {
            low = low | offset;
            high = high | offset | last.minus(offset);
        }
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<S: Slot>(f: &dyn Fn(usize) -> u64) -> Line<S> {
        Line::from_fn(|lane| S::truncate(f(lane)))
    }

    fn check_layouts<S: Surveyed>() {
        let of = |f: &dyn Fn(usize) -> u64| Layout::of(&line::<S>(f), 4).patterns;
        assert_eq!(of(&|lane| 100 + 4 * lane as u64), [Pattern::Row; 2]);
        assert_eq!(of(&|_| 7), [Pattern::Uniform; 2]);
        let halves = |lane: usize| if lane < HALF { 8 } else { 40 + 4 * (lane - HALF) as u64 };
        assert_eq!(of(&halves), [Pattern::Uniform, Pattern::Row]);
        assert_eq!(Layout::of(&line::<S>(&halves), 4).first, [8, 40]);
        for odd in 0..LANES {
            let patterns = of(&|lane| 4 * lane as u64 + u64::from(lane == odd));
            assert_eq!(patterns[odd / HALF], Pattern::Scattered, "lane {odd}");
            assert_eq!(patterns[1 - odd / HALF], Pattern::Row, "lane {odd}");
        }
    }

    fn check_extremes<S: Surveyed + std::fmt::Debug>() {
        let last = S::truncate(1000);
        let (low, high) = S::extremes(&line(&|lane| 100 + 4 * lane as u64), last);
        assert!(low & S::truncate(3) == S::default() && !high.is_negative());
        for odd in 0..LANES {
            let outside = S::extremes(&line(&|lane| if lane == odd { 1001 } else { 1000 }), last);
            assert!(outside.1.is_negative() && outside.0 & S::truncate(1) != S::default(), "lane {odd}");
            let below = S::extremes(&line(&|lane| if lane == odd { u64::MAX } else { 0 }), last);
            assert!(below.1.is_negative(), "lane {odd}");
        }
    }

    #[test]
    fn lines_of_both_slots() {
        check_layouts::<u32>();
        check_layouts::<u64>();
        check_extremes::<u32>();
        check_extremes::<u64>();
    }
}
