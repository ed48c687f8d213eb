// targets: 75
//
// Filling memory with one value, or with numbers in steps.
//
//   fill_b{8,16,32,64}(y, n, value)     y[i] = value, given as an unsigned integer with the element's bits
//   sequence_{f32,f16,bf16,f64,i32,i64}(y, n, start, step)
//       y[i] = start + i * step; of floating-point numbers i, product and sum are each rounded, and halves take f32 for both
//   linspace_{f32,f16,bf16,f64}(y, n, start, stop, step)
//       the same in f64, rounded once, but the last of more than one is stop; all three are f64
#include "common.cuh"

template <class T>
__device__ __forceinline__ void fill(T *y, count_t n, T value) {
    map(y, n, [=](count_t) { return value; });
}

KERNEL fill_b8(u8 *y, count_t n, u8 value) { fill(y, n, value); }
KERNEL fill_b16(u16 *y, count_t n, u16 value) { fill(y, n, value); }
KERNEL fill_b32(u32 *y, count_t n, u32 value) { fill(y, n, value); }
KERNEL fill_b64(u64 *y, count_t n, u64 value) { fill(y, n, value); }

// An f64 as the f32 beside it whose last digit is odd, unless it is one exactly: rounded from there to a half it is what it is
// rounded to at once.
__device__ __forceinline__ f32 rounded_to_odd(f64 x) {
    f32 near = __double2float_rz(x);
    return (f64)near == x || x != x ? near : __uint_as_float(__float_as_uint(near) | 1);
}

template <class T>
__device__ __forceinline__ T rounded(f64 x) { return narrow<T>(rounded_to_odd(x)); }
template <>
__device__ __forceinline__ f32 rounded<f32>(f64 x) { return __double2float_rn(x); }
template <>
__device__ __forceinline__ f64 rounded<f64>(f64 x) { return x; }

// Products and sums that are not made one operation.
__device__ __forceinline__ f32 product(f32 a, f32 b) { return __fmul_rn(a, b); }
__device__ __forceinline__ f64 product(f64 a, f64 b) { return __dmul_rn(a, b); }
__device__ __forceinline__ f32 sum(f32 a, f32 b) { return __fadd_rn(a, b); }
__device__ __forceinline__ f64 sum(f64 a, f64 b) { return __dadd_rn(a, b); }

#define SEQUENCES(T)                                                                                       \
    KERNEL sequence_##T(T *y, count_t n, accumulator<T> start, accumulator<T> step) {                      \
        for (count_t i = global_thread(); i < n; i += global_threads()) {                                  \
            T times = narrow<T>(product(widen<T>(rounded<T>((f64)i)), step));                              \
            y[i] = narrow<T>(sum(start, widen<T>(times)));                                                 \
        }                                                                                                  \
    }                                                                                                      \
    KERNEL linspace_##T(T *y, count_t n, f64 start, f64 stop, f64 step) {                                  \
        for (count_t i = global_thread(); i < n; i += global_threads()) {                                  \
            f64 between = i == 0 ? start : sum(start, product(step, (f64)i));                              \
            y[i] = rounded<T>(i != 0 && i + 1 == n ? stop : between);                                      \
        }                                                                                                  \
    }

SEQUENCES(f32)
SEQUENCES(f16)
SEQUENCES(bf16)
SEQUENCES(f64)

KERNEL sequence_i32(i32 *y, count_t n, i32 start, i32 step) {
    // Unsigned, so that it wraps.
    map(y, n, [=](count_t i) { return (i32)((u32)start + (u32)i * (u32)step); });
}
KERNEL sequence_i64(i64 *y, count_t n, i64 start, i64 step) {
    map(y, n, [=](count_t i) { return (i64)((u64)start + (u64)i * (u64)step); });
}
