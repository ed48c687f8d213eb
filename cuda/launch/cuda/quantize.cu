// targets: 75
//
// Numbers as multiples of scales, counted from zero points.
//
//   quantize_{f32,f16,bf16}_{i8,u8,i16,u16}(y, x, scale, zero, n, BLOCKS)
//       y[i] = x[i] / scale, rounded to the type of x and then to the nearest integer, ties to even, plus zero, and cut to the
//       range of the type. NaN gives zero. scale has the type of x, zero that of y
//   dequantize_{i8,u8,i16,u16,i32}_{f32,f16,bf16}(y, x, scale, zero, n, BLOCKS)
//       y[i] = (x[i] - zero) * scale. scale is f32, zero has the type of x
//
// BLOCKS is inner, extent, block, count, blocked. Element i has position p = i / inner % extent along a dimension, and the
// scale and the zero point number p / block; with `blocked` (u32) there are `count` of these for each place before and after
// the dimension. `zero` may be null, which is zero.
#include "common.cuh"

struct Blocks {
    count_t inner, extent, block, count;
    bool blocked;

    __device__ __forceinline__ count_t of(count_t i) const {
        count_t row = quotient(i, inner), outer = quotient(row, extent);
        count_t place = quotient(row - outer * extent, block);
        return blocked ? (outer * count + place) * inner + (i - row * inner) : place;
    }
};
#define BLOCKS_PARAMETERS count_t inner, count_t extent, count_t block, count_t count, u32 blocked
#define BLOCKS (Blocks{inner, extent, block, count, blocked != 0})

template <class Q>
struct Range;
template <>
struct Range<i8> { static constexpr f32 LEAST = -128, GREATEST = 127; };
template <>
struct Range<u8> { static constexpr f32 LEAST = 0, GREATEST = 255; };
template <>
struct Range<i16> { static constexpr f32 LEAST = -32768, GREATEST = 32767; };
template <>
struct Range<u16> { static constexpr f32 LEAST = 0, GREATEST = 65535; };

template <class T, class Q>
__device__ __forceinline__ void quantize(Q *y, const T *x, const T *scale, const Q *zero, count_t n, const Blocks &blocks) {
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        count_t place = blocks.of(i);
        f32 quotient = ::rintf(widen<T>(narrow<T>(widen<T>(x[i]) / widen<T>(scale[place]))));
        f32 number = quotient + (zero == nullptr ? 0.0f : (f32)zero[place]);
        if (number != number) number = 0;
        number = ::minimum(::maximum(number, Range<Q>::LEAST), Range<Q>::GREATEST);
        y[i] = (Q)(i32)number;
    }
}

// Of 32 bits, the difference does not fit f32.
__device__ __forceinline__ f32 difference(i32 x, i32 zero, f32 scale, bool is_wide) {
    return is_wide ? (f32)(((f64)x - (f64)zero) * (f64)scale) : (f32)(x - zero) * scale;
}

template <class Q, class T>
__device__ __forceinline__ void dequantize(
    T *y, const Q *x, const f32 *scale, const Q *zero, count_t n, const Blocks &blocks
) {
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        count_t place = blocks.of(i);
        i32 from = zero == nullptr ? 0 : (i32)zero[place];
        y[i] = narrow<T>(difference((i32)x[i], from, scale[place], sizeof(Q) == 4));
    }
}

#define QUANTIZE(T, Q)                                                                                             \
    KERNEL quantize_##T##_##Q(Q *y, const T *x, const T *scale, const Q *zero, count_t n, BLOCKS_PARAMETERS) {     \
        quantize(y, x, scale, zero, n, BLOCKS);                                                                    \
    }
#define DEQUANTIZE(Q, T)                                                                                           \
    KERNEL dequantize_##Q##_##T(T *y, const Q *x, const f32 *scale, const Q *zero, count_t n, BLOCKS_PARAMETERS) { \
        dequantize(y, x, scale, zero, n, BLOCKS);                                                                  \
    }
#define QUANTIZED(T) QUANTIZE(T, i8) QUANTIZE(T, u8) QUANTIZE(T, i16) QUANTIZE(T, u16)
#define DEQUANTIZED(Q) DEQUANTIZE(Q, f32) DEQUANTIZE(Q, f16) DEQUANTIZE(Q, bf16)

QUANTIZED(f32)
QUANTIZED(f16)
QUANTIZED(bf16)
DEQUANTIZED(i8)
DEQUANTIZED(u8)
DEQUANTIZED(i16)
DEQUANTIZED(u16)
DEQUANTIZED(i32)
