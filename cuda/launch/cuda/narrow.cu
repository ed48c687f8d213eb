// targets: 75
//
// Products by matrices of integers of 2, 4 or 8 bits, where each block of a column has a scale and an integer that stands
// for zero. A column has `words` words of 32 bits, the first integer in the lowest bits; its last block is filled up. There
// are `cols` columns of `depth` integers, and `block` of them have a scale, so that a word belongs to one. `scales` has one
// for each block of each column. `zeros`, which may be null, has `stride` bytes for each column, packed in the same way;
// otherwise the number in the middle, 8 of 4 bits, stands for zero.
//
//   narrow_rows_{b2,b4,b8}(y, a, matrix, scales, zeros, rows, depth, cols, words, stride, block)
//       y[r, c] = sum over k of a[r, k] * (matrix[c, k] - zero) * scale, a warp for four rows of a column
//   narrow_values_{b2,b4,b8}(y, matrix, scales, zeros, depth, cols, words, stride, block)
//       y[c, k] = (matrix[c, k] - zero) * scale
#include "common.cuh"

// The rows of a warp.
constexpr u32 ROWS = 4;

// What the integers of a word stand for.
template <u32 BITS>
struct Word {
    static constexpr u32 LENGTH = 32 / BITS, MASK = (1u << BITS) - 1;
    u32 packed;
    f32 scale, zero;

    __device__ __forceinline__ Word(
        const u32 *matrix, const f32 *scales, const u8 *zeros, count_t col, count_t word, count_t words, count_t stride,
        count_t block
    ) {
        count_t blocks = quotient(words * LENGTH, block), own = quotient(word * LENGTH, block);
        packed = matrix[col * words + word];
        scale = scales[col * blocks + own];
        u32 integer = 1u << (BITS - 1);
        if (zeros != nullptr) integer = zeros[col * stride + own * BITS / 8] >> (own * BITS % 8) & MASK;
        zero = (f32)integer;
    }
    // How many integers of a word belong to the column. Others fill its last block up.
    static __device__ __forceinline__ u32 in_column(count_t word, count_t depth) {
        count_t first = word * LENGTH;
        if (first >= depth) return 0;
        return depth - first < LENGTH ? (u32)(depth - first) : LENGTH;
    }
    __device__ __forceinline__ f32 operator[](u32 place) const {
        return ((f32)(packed >> (place * BITS) & MASK) - zero) * scale;
    }
};

template <u32 BITS>
__device__ __forceinline__ void narrow_rows(
    f32 *y, const f32 *a, const u32 *matrix, const f32 *scales, const u8 *zeros, count_t rows, count_t depth, count_t cols,
    count_t words, count_t stride, count_t block
) {
    count_t tiles = (rows + ROWS - 1) / ROWS * cols;
    u32 warps = blockDim.x / WARP;
    for (count_t tile = (count_t)blockIdx.x * warps + warp_in_block(); tile < tiles; tile += (count_t)gridDim.x * warps) {
        count_t first = quotient(tile, cols), col = tile - first * cols;
        first *= ROWS;
        u32 count = rows - first < ROWS ? (u32)(rows - first) : ROWS;
        f32 sums[ROWS] = {};
        for (count_t at = lane(); at < words; at += WARP) {
            Word<BITS> word(matrix, scales, zeros, col, at, words, stride, block);
            const f32 *from = a + first * depth + at * word.LENGTH;
            u32 places = word.in_column(at, depth);
#pragma unroll 4
            for (u32 place = 0; place < places; ++place) {
                f32 weight = word[place];
#pragma unroll
                for (u32 row = 0; row < ROWS; ++row)
                    if (row < count) sums[row] += from[row * depth + place] * weight;
            }
        }
#pragma unroll
        for (u32 row = 0; row < ROWS; ++row) {
            f32 total = over_warp(sums[row], [](f32 x, f32 y) { return x + y; });
            if (lane() == 0 && row < count) y[(first + row) * cols + col] = total;
        }
    }
}

template <u32 BITS>
__device__ __forceinline__ void narrow_values(
    f32 *y, const u32 *matrix, const f32 *scales, const u8 *zeros, count_t depth, count_t cols, count_t words,
    count_t stride, count_t block
) {
    for (count_t i = global_thread(); i < words * cols; i += global_threads()) {
        count_t col = quotient(i, words), at = i - col * words;
        Word<BITS> word(matrix, scales, zeros, col, at, words, stride, block);
        f32 *to = y + col * depth + at * word.LENGTH;
        u32 places = word.in_column(at, depth);
#pragma unroll 4
        for (u32 place = 0; place < places; ++place) to[place] = word[place];
    }
}

#define NARROW(BITS)                                                                                                  \
    KERNEL narrow_rows_b##BITS(                                                                                       \
        f32 *y, const f32 *a, const u32 *matrix, const f32 *scales, const u8 *zeros, count_t rows, count_t depth,     \
        count_t cols, count_t words, count_t stride, count_t block                                                    \
    ) {                                                                                                               \
        narrow_rows<BITS>(y, a, matrix, scales, zeros, rows, depth, cols, words, stride, block);                      \
    }                                                                                                                 \
    KERNEL narrow_values_b##BITS(                                                                                     \
        f32 *y, const u32 *matrix, const f32 *scales, const u8 *zeros, count_t depth, count_t cols, count_t words,    \
        count_t stride, count_t block                                                                                 \
    ) {                                                                                                               \
        narrow_values<BITS>(y, matrix, scales, zeros, depth, cols, words, stride, block);                             \
    }

NARROW(2)
NARROW(4)
NARROW(8)
