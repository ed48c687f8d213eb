//! Tiles of products of bytes for AVX-512 with VNNI, AVX-VNNI, and AVX2.
#![expect(unsafe_code, reason = "intrinsics of processor features")]

use std::arch::x86_64::*;

use super::depthwise::{BLOCK, LANES, Zero};
use super::kernel::{GROUP, Kernel, MOST_COLS, Tile};

/// Returns the tiles that this processor can compute, the fastest first.
pub(super) fn kernels() -> impl Iterator<Item = &'static Kernel> {
    let has_512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
    let kernels = [
        (has_512, &AVX512),
        (is_x86_feature_detected!("avxvnni"), &AVX_VNNI),
        (is_x86_feature_detected!("avx2"), &AVX2),
    ];
    kernels.into_iter().filter_map(|(has, kernel)| has.then_some(kernel))
}

static AVX512: Kernel = Kernel { cols: 64, lanes: 16, rows: 6, tile: tile_512 };
static AVX_VNNI: Kernel = Kernel { cols: 16, lanes: 8, rows: 6, tile: tile_vnni };
static AVX2: Kernel = Kernel { cols: 16, lanes: 8, rows: 4, tile: tile_avx2 };

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
        $kernel:ident, $vector:ty, $zero:ident, $load:ident, $splat:ident, $dot:ident, $store:ident,
        $($vectors:literal)*
    ) => {
        /// # Safety
        /// As [`Kernel::tile`] requires.
        unsafe fn $choose(rows: usize, vectors: usize, tile: &Tile) {
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
        unsafe fn $by_rows<const V: usize>(rows: usize, tile: &Tile) {
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
        unsafe fn $tile<const R: usize, const V: usize>(tile: &Tile) {
            let (mut sums, mut panel, mut left) = ([[$zero(); V]; R], tile.panel, tile.left);
            for _ in 0..tile.groups {
                // SAFETY: the caller promises `groups` groups of the rows and of the panel, whose
                // vectors are a part of. The pointers move on by one group, at last to the end.
                unsafe {
                    let mut right = [$zero(); V];
                    for (v, right) in right.iter_mut().enumerate() {
                        *right = $load(panel.add(v * size_of::<$vector>()).cast());
                    }
                    for (row, sums) in sums.iter_mut().enumerate() {
                        let group = $splat(group_at(left.wrapping_add(row * tile.stride)));
                        for (sum, right) in sums.iter_mut().zip(right) {
                            *sum = $dot(*sum, group, right);
                        }
                    }
                    panel = panel.add($kernel.cols * GROUP);
                    left = left.add(GROUP);
                }
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

vnni!(
    #[target_feature(enable = "avx512f,avx512vnni")]
    tile_512, rows_512, sized_512, AVX512, __m512i, _mm512_setzero_si512, _mm512_loadu_si512,
    _mm512_set1_epi32, _mm512_dpbusd_epi32, _mm512_storeu_si512, 1 2 3 4
);
vnni!(
    #[target_feature(enable = "avx2,avxvnni")]
    tile_vnni, rows_vnni, sized_vnni, AVX_VNNI, __m256i, _mm256_setzero_si256, _mm256_loadu_si256,
    _mm256_set1_epi32, _mm256_dpbusd_avx_epi32, _mm256_storeu_si256, 1 2
);

/// # Safety
/// As [`Kernel::tile`] requires.
unsafe fn tile_avx2(rows: usize, vectors: usize, tile: &Tile) {
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
unsafe fn sized_avx2<const R: usize, const V: usize>(tile: &Tile) {
    let (mut sums, mut panel, mut left) = ([[_mm256_setzero_si256(); V]; R], tile.panel, tile.left);
    let low = _mm256_set1_epi16(0xff);
    for _ in 0..tile.groups {
        // SAFETY: the caller promises `groups` groups of the rows and of the panel, whose vectors
        // are a part of. The pointers move on by one group, at last to the end.
        unsafe {
            let mut right = [[_mm256_setzero_si256(); 2]; V];
            for (v, right) in right.iter_mut().enumerate() {
                let bytes = _mm256_loadu_si256(panel.add(v * 32).cast());
                let even = _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(bytes));
                *right = [even, _mm256_srai_epi16::<8>(bytes)];
            }
            for (row, sums) in sums.iter_mut().enumerate() {
                let bytes = _mm256_set1_epi32(group_at(left.wrapping_add(row * tile.stride)));
                let (even, odd) = (_mm256_and_si256(bytes, low), _mm256_srli_epi16::<8>(bytes));
                for (sum, [right_even, right_odd]) in sums.iter_mut().zip(right) {
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(even, right_even));
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(odd, right_odd));
                }
            }
            panel = panel.add(AVX2.cols * GROUP);
            left = left.add(GROUP);
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

/// Returns whether the processor has what [`depthwise_quads`] needs.
pub(super) fn has_quads() -> bool {
    is_x86_feature_detected!("avx512vl") && is_x86_feature_detected!("avx512vnni")
}

/// Sets the sums of the products of pixels and weights for channels from `first` on, of four taps at
/// a time.
///
/// # Safety
/// [`has_quads`] is true. There are as many channels from `first` on as sums, each tap has these, and
/// each four taps have four weights for each of them, in the order of `Quads`.
#[target_feature(enable = "avx2,avx512vl,avx512vnni")]
pub(super) unsafe fn depthwise_quads(
    sums: &mut [i32; BLOCK],
    taps: &[&[u8]],
    weights: &[i8],
    first: usize,
    flip: u8,
) {
    let (flip, mut own) = (_mm256_set1_epi8(flip as i8), [_mm256_setzero_si256(); 4]);
    for (taps, weights) in taps.chunks_exact(4).zip(weights.chunks_exact(4 * BLOCK)) {
        // SAFETY: the caller promises 32 channels of each tap from `first` on.
        let [a, b, c, d] = [0, 1, 2, 3].map(|tap| unsafe {
            _mm256_xor_si256(_mm256_loadu_si256(taps[tap].as_ptr().add(first).cast()), flip)
        });
        let low = [_mm256_unpacklo_epi8(a, b), _mm256_unpacklo_epi8(c, d)];
        let high = [_mm256_unpackhi_epi8(a, b), _mm256_unpackhi_epi8(c, d)];
        let pixels = [
            _mm256_unpacklo_epi16(low[0], low[1]),
            _mm256_unpackhi_epi16(low[0], low[1]),
            _mm256_unpacklo_epi16(high[0], high[1]),
            _mm256_unpackhi_epi16(high[0], high[1]),
        ];
        for (part, (sum, pixels)) in own.iter_mut().zip(pixels).enumerate() {
            // SAFETY: there are four weights for each of 32 channels, a quarter of them for each part.
            let weights = unsafe { _mm256_loadu_si256(weights.as_ptr().add(part * BLOCK).cast()) };
            *sum = _mm256_dpbusd_epi32(*sum, pixels, weights);
        }
    }
    for (part, sum) in own.into_iter().enumerate() {
        let (low, high) = (_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
        // SAFETY: each part has four channels of either half of the block.
        unsafe {
            _mm_storeu_si128(sums.as_mut_ptr().add(4 * part).cast(), low);
            _mm_storeu_si128(sums.as_mut_ptr().add(BLOCK / 2 + 4 * part).cast(), high);
        }
    }
}
