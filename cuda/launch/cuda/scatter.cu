// targets: 75
//
// Units of elements that go to segments, several perhaps to one.
//
//   scatter_{f32,f16,bf16,f64,i32,i64}(y, x, segments, ends, members, count, unit, function)
//       y[s, u] is combined with x[m, u] for each m that comes to segment s in turn, for the `count` segments s that `segments`
//       names, each once, and u below `unit`. Those that come to the i-th of them are members[ends[i - 1]] up to, and without,
//       members[ends[i]]; the first one's begin at 0. All three lists are u64. Other segments stay as they are
//
//   number    0    1    2        3        4        5
//   function  add  sub  maximum  minimum  replace  multiply
//
// Each step is rounded to the type, integers wrap, and NaN wins maxima and minima.
#include "common.cuh"

template <class A>
__device__ __forceinline__ A combined(u32 function, A before, A x) {
    switch (function) {
        case 0: return Add()(before, x);
        case 1: return Subtract()(before, x);
        case 2: return maximum(before, x);
        case 3: return minimum(before, x);
        case 4: return x;
        default: return Multiply()(before, x);
    }
}

template <class T>
__device__ __forceinline__ void scatter(
    T *y, const T *x, const u64 *segments, const u64 *ends, const u64 *members, count_t count, count_t unit, u32 function
) {
    for (count_t place = global_thread(); place < count * unit; place += global_threads()) {
        count_t i = quotient(place, unit), u = place - i * unit;
        T *at = y + segments[i] * unit + u, value = *at;
#pragma unroll 1
        for (count_t m = i == 0 ? 0 : ends[i - 1]; m < ends[i]; ++m)
            value = narrow<T>(combined(function, widen<T>(value), widen<T>(x[members[m] * unit + u])));
        *at = value;
    }
}

#define SCATTER(T)                                                                                              \
    KERNEL scatter_##T(                                                                                         \
        T *y, const T *x, const u64 *segments, const u64 *ends, const u64 *members, count_t count, count_t unit, \
        u32 function                                                                                            \
    ) {                                                                                                         \
        scatter(y, x, segments, ends, members, count, unit, function);                                          \
    }

SCATTER(f32)
SCATTER(f16)
SCATTER(bf16)
SCATTER(f64)
SCATTER(i32)
SCATTER(i64)
