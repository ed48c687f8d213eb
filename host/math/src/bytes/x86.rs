//! Tiles of products of bytes for AVX-512 with VNNI, AVX-VNNI, and AVX2.
#![expect(unsafe_code, reason = "intrinsics of processor features")]

use std::arch::x86_64::*;

use super::depthwise::{LANES, Zero};
use super::kernel::{Finish, GROUP, Kernel, MOST_COLS, Tile};

/// Returns the tiles that this processor can compute, the fastest first.
pub(super) fn kernels() -> impl Iterator<Item = &'static Kernel> {
    let has_512 = is_x86_feature_detected!("avx512vnni")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl");
    let kernels = [
        (has_512, &AVX512),
        (is_x86_feature_detected!("avxvnni"), &AVX_VNNI),
        (is_x86_feature_detected!("avx2"), &AVX2),
    ];
    kernels.into_iter().filter_map(|(has, kernel)| has.then_some(kernel))
}

static AVX512: Kernel = Kernel { cols: 64, lanes: 16, rows: 6, tile: tile_512, finishes: true };
static AVX_VNNI: Kernel = Kernel { cols: 16, lanes: 8, rows: 6, tile: tile_vnni, finishes: false };
static AVX2: Kernel = Kernel { cols: 16, lanes: 8, rows: 4, tile: tile_avx2, finishes: false };

/// Returns four bytes of a row, to be multiplied by four of each column.
///
/// # Safety
/// Four bytes can be read.
#[inline(always)]
unsafe fn group_at(left: *const u8) -> i32 {
    // SAFETY: the caller promises four readable bytes, wherever they begin.
    unsafe { left.cast::<i32>().read_unaligned() }
}

/// Defines a tile of instructions that multiply four unsigned by four signed bytes and add the
/// products to a sum, and the choice among its sizes.
macro_rules! vnni {
    (
        #[$feature:meta] $choose:ident, $by_rows:ident, $tile:ident,
        $kernel:ident, $vector:ty, $zero:ident, $load:ident, $splat:ident, $dot:ident, $store:ident, $finish:ident,
        $($vectors:literal)*
    ) => {
        /// # Safety
        /// As [`Kernel::tile`] requires.
        unsafe fn $choose(rows: usize, vectors: usize, tile: &Tile<'_>) {
            // SAFETY: the caller promises what the sizes require.
            unsafe {
                match vectors {
                    $($vectors => $by_rows::<$vectors>(rows, tile),)*
                    _ => unreachable!("a panel has no more vectors"),
                }
            }
        }

        /// # Safety
        /// As [`Kernel::tile`] requires.
        #[$feature]
        unsafe fn $by_rows<const V: usize>(rows: usize, tile: &Tile<'_>) {
            // SAFETY: the caller promises what the sizes require.
            unsafe {
                match rows {
                    1 => $tile::<1, V>(tile),
                    2 => $tile::<2, V>(tile),
                    3 => $tile::<3, V>(tile),
                    4 => $tile::<4, V>(tile),
                    5 => $tile::<5, V>(tile),
                    _ => $tile::<6, V>(tile),
                }
            }
        }

        /// # Safety
        /// As [`Kernel::tile`] requires, for `R` rows and `V` vectors.
        #[$feature]
        unsafe fn $tile<const R: usize, const V: usize>(tile: &Tile<'_>) {
            let (mut sums, mut panel) = ([[$zero(); V]; R], tile.panel);
            for &tap in tile.taps {
                let left: [*const u8; R] = std::array::from_fn(|row| tile.rows[row].wrapping_add(tap));
                for group in 0..tile.groups {
                    // SAFETY: the caller promises `groups` groups of each tap of the rows and of the
                    // panel, whose vectors are a part of. The pointer moves on by one group, at last to
                    // the end.
                    unsafe {
                        let mut right = [$zero(); V];
                        for (v, right) in right.iter_mut().enumerate() {
                            *right = $load(panel.add(v * size_of::<$vector>()).cast());
                        }
                        for (left, sums) in left.iter().zip(&mut sums) {
                            let group = $splat(group_at(left.wrapping_add(group * GROUP)));
                            for (sum, right) in sums.iter_mut().zip(right) {
                                *sum = $dot(*sum, group, right);
                            }
                        }
                        panel = panel.add($kernel.cols * GROUP);
                    }
                }
            }
            if let Some(finish) = tile.finish {
                for (sums, out) in sums.into_iter().zip(finish.out) {
                    // SAFETY: the caller promises numbers for all columns of the vectors, and room.
                    unsafe { $finish(sums, out, finish) };
                }
                return;
            }
            for (row, sums) in sums.iter().enumerate() {
                for (v, &sum) in sums.iter().enumerate() {
                    // SAFETY: the caller promises a row of `MOST_COLS` sums for each row.
                    unsafe { $store(tile.sums.add(row * MOST_COLS + v * $kernel.lanes).cast(), sum) };
                }
            }
        }
    };
}

/// Makes bytes of the sums of a row: adds offsets, scales, adds the bias, rounds, adds the zero, and
/// bounds by narrowing. What is too small for an `i32` number and NaN become the least one.
///
/// # Safety
/// There are numbers for all columns of the vectors, and `out` has room for `finish.cols` bytes, which
/// are no more.
#[target_feature(enable = "avx512bw,avx512vl")]
#[inline]
unsafe fn finish_512<const V: usize>(sums: [__m512i; V], out: *mut u8, finish: &Finish<'_>) {
    let mut rounded = [_mm512_setzero_si512(); 4];
    for (v, (rounded, sum)) in rounded.iter_mut().zip(sums).enumerate() {
        let first = v * AVX512.lanes;
        // SAFETY: the caller promises numbers for all columns of the vectors.
        let (offsets, scales, bias) = unsafe {
            (
                _mm512_loadu_si512(finish.offsets.as_ptr().add(first).cast()),
                _mm512_loadu_ps(finish.scales.as_ptr().add(first)),
                _mm512_loadu_ps(finish.bias.as_ptr().add(first)),
            )
        };
        let number = _mm512_cvtepi32_ps(_mm512_add_epi32(sum, offsets));
        *rounded = _mm512_cvtps_epi32(_mm512_add_ps(_mm512_mul_ps(number, scales), bias));
    }
    let zero = _mm512_set1_epi16(finish.zero as i16);
    let [a, b, c, d] = rounded;
    let [low, high] = [_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d)];
    let [low, high] = [_mm512_adds_epi16(low, zero), _mm512_adds_epi16(high, zero)];
    let bytes = if finish.is_signed { _mm512_packs_epi16(low, high) } else { _mm512_packus_epi16(low, high) };
    // Each quarter has four columns of each vector.
    let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    let bytes = _mm512_permutexvar_epi32(order, bytes);
    // SAFETY: the caller promises room for the columns, which the mask selects.
    unsafe {
        match finish.cols {
            64 => _mm512_storeu_si512(out.cast(), bytes),
            cols => _mm512_mask_storeu_epi8(out.cast(), (1 << cols) - 1, bytes),
        }
    }
}

/// For tiles that do not finish sums.
///
/// # Safety
/// Anything holds: it is never called.
unsafe fn never_finish<const V: usize>(_sums: [__m256i; V], _out: *mut u8, _finish: &Finish<'_>) {}

vnni!(
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    tile_512, rows_512, sized_512, AVX512, __m512i, _mm512_setzero_si512, _mm512_loadu_si512,
    _mm512_set1_epi32, _mm512_dpbusd_epi32, _mm512_storeu_si512, finish_512, 1 2 3 4
);
vnni!(
    #[target_feature(enable = "avx2,avxvnni")]
    tile_vnni, rows_vnni, sized_vnni, AVX_VNNI, __m256i, _mm256_setzero_si256, _mm256_loadu_si256,
    _mm256_set1_epi32, _mm256_dpbusd_avx_epi32, _mm256_storeu_si256, never_finish, 1 2
);

/// # Safety
/// As [`Kernel::tile`] requires.
unsafe fn tile_avx2(rows: usize, vectors: usize, tile: &Tile<'_>) {
    // SAFETY: the caller promises what the sizes require.
    unsafe {
        match (rows, vectors) {
            (1, 1) => sized_avx2::<1, 1>(tile),
            (2, 1) => sized_avx2::<2, 1>(tile),
            (3, 1) => sized_avx2::<3, 1>(tile),
            (4, 1) => sized_avx2::<4, 1>(tile),
            (1, _) => sized_avx2::<1, 2>(tile),
            (2, _) => sized_avx2::<2, 2>(tile),
            (3, _) => sized_avx2::<3, 2>(tile),
            _ => sized_avx2::<4, 2>(tile),
        }
    }
}

/// Even and odd bytes are multiplied as numbers of 16 bits, two at a time. (The instruction for
/// bytes saturates.)
///
/// # Safety
/// As [`Kernel::tile`] requires, for `R` rows and `V` vectors.
#[target_feature(enable = "avx2")]
unsafe fn sized_avx2<const R: usize, const V: usize>(tile: &Tile<'_>) {
    let (mut sums, mut panel) = ([[_mm256_setzero_si256(); V]; R], tile.panel);
    let low = _mm256_set1_epi16(0xff);
    for (&tap, group) in tile.taps.iter().flat_map(|tap| (0..tile.groups).map(move |group| (tap, group))) {
        // SAFETY: the caller promises `groups` groups of each tap of the rows and of the panel, whose
        // vectors are a part of. The pointer moves on by one group, at last to the end.
        unsafe {
            let mut right = [[_mm256_setzero_si256(); 2]; V];
            for (v, right) in right.iter_mut().enumerate() {
                let bytes = _mm256_loadu_si256(panel.add(v * 32).cast());
                let even = _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(bytes));
                *right = [even, _mm256_srai_epi16::<8>(bytes)];
            }
            for (left, sums) in tile.rows.iter().zip(&mut sums) {
                let bytes = _mm256_set1_epi32(group_at(left.wrapping_add(tap + group * GROUP)));
                let (even, odd) = (_mm256_and_si256(bytes, low), _mm256_srli_epi16::<8>(bytes));
                for (sum, [right_even, right_odd]) in sums.iter_mut().zip(right) {
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(even, right_even));
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(odd, right_odd));
                }
            }
            panel = panel.add(AVX2.cols * GROUP);
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        for (v, &sum) in sums.iter().enumerate() {
            // SAFETY: the caller promises a row of `MOST_COLS` sums for each row.
            unsafe { _mm256_storeu_si256(tile.sums.add(row * MOST_COLS + v * AVX2.lanes).cast(), sum) };
        }
    }
}

/// Adds the products of pixels and weights for channels from `first` on: the sums of two taps at a
/// time, as numbers of 16 bits.
///
/// # Safety
/// The processor has AVX2. There are as many channels from `first` on as sums, each tap has
/// `channels` of them, and each two taps have two weights for each channel.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn depthwise(
    sums: &mut [i32; LANES],
    taps: &[&[u8]],
    (pairs, channels): (&[i16], usize),
    first: usize,
    Zero { flip, zero }: Zero,
) {
    let (flip, zero) = (_mm_set1_epi8(flip as i8), _mm256_set1_epi16(zero));
    let (low, high) = sums.split_at_mut(LANES / 2);
    // SAFETY: each half has eight sums.
    let mut own =
        unsafe { [_mm256_loadu_si256(low.as_ptr().cast()), _mm256_loadu_si256(high.as_ptr().cast())] };
    for (pair, taps) in taps.chunks_exact(2).enumerate() {
        // SAFETY: the caller promises 16 channels of each tap from `first` on, and their weights.
        unsafe {
            let weights = pairs.as_ptr().add((pair * channels + first) * 2);
            let [a, b] =
                [0, 1].map(|tap| _mm_xor_si128(_mm_loadu_si128(taps[tap].as_ptr().add(first).cast()), flip));
            for (half, bytes) in [_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)].into_iter().enumerate() {
                let numbers = _mm256_sub_epi16(_mm256_cvtepu8_epi16(bytes), zero);
                let weights = _mm256_loadu_si256(weights.add(half * LANES).cast());
                own[half] = _mm256_add_epi32(own[half], _mm256_madd_epi16(numbers, weights));
            }
        }
    }
    // SAFETY: each half has room for eight sums.
    unsafe {
        _mm256_storeu_si256(low.as_mut_ptr().cast(), own[0]);
        _mm256_storeu_si256(high.as_mut_ptr().cast(), own[1]);
    }
}
