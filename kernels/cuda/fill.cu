// targets: 75
//
// Filling memory with one value, or with a sequence.
//
//   fill_b{8,16,32,64}(y, n, value)     y[i] = value, given as an unsigned integer with the element's bits
//   sequence_{f32,i32,i64}(y, n, start, step)   y[i] = start + i * step, rounded once (f32: a fused multiply-add)
#include "common.cuh"

template <class T>
__device__ __forceinline__ void fill(T *y, count_t n, T value) {
    map(y, n, [=](count_t) { return value; });
}

KERNEL fill_b8(u8 *y, count_t n, u8 value) { fill(y, n, value); }
KERNEL fill_b16(u16 *y, count_t n, u16 value) { fill(y, n, value); }
KERNEL fill_b32(u32 *y, count_t n, u32 value) { fill(y, n, value); }
KERNEL fill_b64(u64 *y, count_t n, u64 value) { fill(y, n, value); }

KERNEL sequence_f32(f32 *y, count_t n, f32 start, f32 step) {
    map(y, n, [=](count_t i) { return __fmaf_rn((f32)i, step, start); });
}
KERNEL sequence_i32(i32 *y, count_t n, i32 start, i32 step) {
    // Unsigned, so that it wraps.
    map(y, n, [=](count_t i) { return (i32)((u32)start + (u32)i * (u32)step); });
}
KERNEL sequence_i64(i64 *y, count_t n, i64 start, i64 step) {
    map(y, n, [=](count_t i) { return (i64)((u64)start + (u64)i * (u64)step); });
}
