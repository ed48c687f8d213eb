// targets: 75
//
// Units of elements that go to segments, several perhaps to one.
//
//   scatter_{f32,f16,bf16,f64,i32,i64}(y, start, x, ends, members, segments, unit, function)
//       y[s, u] is start[s, u], or zero if `start` is null, combined with x[m, u] for each m of segment s in turn, for s below
//       `segments` and u below `unit`. Those m are members[ends[s - 1]] up to, and without, members[ends[s]]; the first
//       segment's begin at 0. ends and members are u64
//
//   number    0    1    2        3        4
//   function  add  sub  maximum  minimum  replace
//
// Each step is rounded to the type, integers wrap, and NaN wins maxima and minima. y may be `start`.
#include "common.cuh"

template <class A>
__device__ __forceinline__ A combined(u32 function, A before, A x) {
    switch (function) {
        case 0: return Add()(before, x);
        case 1: return Subtract()(before, x);
        case 2: return maximum(before, x);
        case 3: return minimum(before, x);
        default: return x;
    }
}

template <class T>
__device__ __forceinline__ void scatter(
    T *y, const T *start, const T *x, const u64 *ends, const u64 *members, count_t segments, count_t unit, u32 function
) {
    for (count_t place = global_thread(); place < segments * unit; place += global_threads()) {
        count_t s = quotient(place, unit), u = place - s * unit;
        T value = start != nullptr ? start[place] : narrow<T>(accumulator<T>(0));
#pragma unroll 1
        for (count_t m = s == 0 ? 0 : ends[s - 1]; m < ends[s]; ++m)
            value = narrow<T>(combined(function, widen<T>(value), widen<T>(x[members[m] * unit + u])));
        y[place] = value;
    }
}

#define SCATTER(T)                                                                                              \
    KERNEL scatter_##T(                                                                                         \
        T *y, const T *start, const T *x, const u64 *ends, const u64 *members, count_t segments, count_t unit,  \
        u32 function                                                                                            \
    ) {                                                                                                         \
        scatter(y, start, x, ends, members, segments, unit, function);                                          \
    }

SCATTER(f32)
SCATTER(f16)
SCATTER(bf16)
SCATTER(f64)
SCATTER(i32)
SCATTER(i64)
