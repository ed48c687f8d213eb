// targets: 75
//
// Units of elements that go to segments, several perhaps to one.
//
//   scatter_{f32,f16,bf16,f64,i32,i64}(y, x, segments, ends, members, count, unit, function)
//       y[s, u] is combined with x[m, u] for each m that comes to segment s in turn, for the `count` segments s that `segments`
//       names, each once, and u below `unit`. Those that come to the i-th of them are members[ends[i - 1]] up to, and without,
//       members[ends[i]]; the first one's begin at 0. All three lists are u64. Other segments stay as they are
//
//   scatter_by_id_{f32,f16,bf16,f64,i32,i64}(y, x, ids, segments, count, unit, function)
//       the same where the i-th of `count` units of x comes to the segment ids[i] (i64), of `segments`; units of no segment are
//       dropped. The first unit of a segment looks for the others, so that the work grows with the square of `count`
//   nd_ids_{i32,i64}(ids, index, count, depth, e0..e7)
//       ids[i] = the place of the coordinates index[i, 0..depth] in a box of extents e0 to e[depth - 1], or -1 if one is outside.
//       Those below zero count from the end. depth (u32) is 8 at most
//   element_ids_{i32,i64}(ids, index, n, extent, stride, e0..e5, a0..a5)
//       ids[i] = a · position + index[i] * stride for each of the n positions of a box of extents e0..e5, or -1 if index[i],
//       which counts from the end if it is below zero, is not in 0..extent
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

template <class T>
__device__ __forceinline__ void scatter_by_id(
    T *y, const T *x, const i64 *ids, count_t segments, count_t count, count_t unit, u32 function
) {
    for (count_t place = global_thread(); place < count * unit; place += global_threads()) {
        count_t first = quotient(place, unit), u = place - first * unit;
        i64 id = ids[first];
        bool is_first = id >= 0 && (count_t)id < segments;
        for (count_t i = 0; is_first && i < first; ++i) is_first = ids[i] != id;
        if (!is_first) continue;
        T *at = y + (count_t)id * unit + u, value = *at;
#pragma unroll 1
        for (count_t i = first; i < count; ++i) {
            if (ids[i] == id) value = narrow<T>(combined(function, widen<T>(value), widen<T>(x[i * unit + u])));
        }
        *at = value;
    }
}

template <class Index>
__device__ __forceinline__ void nd_ids(
    i64 *ids, const Index *index, count_t count, u32 depth, const count_t *extents
) {
    for (count_t i = global_thread(); i < count; i += global_threads()) {
        i64 id = 0;
        for (u32 k = 0; k < depth; ++k) {
            i64 at = index[i * depth + k];
            if (at < 0) at += (i64)extents[k];
            bool is_outside = at < 0 || (count_t)at >= extents[k];
            id = id < 0 || is_outside ? -1 : id * (i64)extents[k] + at;
        }
        ids[i] = id;
    }
}

template <class Index>
__device__ __forceinline__ void element_ids(
    i64 *ids, const Index *index, count_t n, count_t extent, count_t stride, const Strided &shape
) {
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        i64 from, unused, at = index[i];
        locate(shape, i, from, unused);
        if (at < 0) at += (i64)extent;
        ids[i] = at >= 0 && (count_t)at < extent ? from + at * (i64)stride : -1;
    }
}

#define IDS(INDEX)                                                                                              \
    KERNEL nd_ids_##INDEX(                                                                                      \
        i64 *ids, const INDEX *index, count_t count, u32 depth, count_t e0, count_t e1, count_t e2, count_t e3, \
        count_t e4, count_t e5, count_t e6, count_t e7                                                          \
    ) {                                                                                                         \
        count_t extents[8] = {e0, e1, e2, e3, e4, e5, e6, e7};                                                  \
        nd_ids(ids, index, count, depth, extents);                                                              \
    }                                                                                                           \
    KERNEL element_ids_##INDEX(                                                                                 \
        i64 *ids, const INDEX *index, count_t n, count_t extent, count_t stride, count_t e0, count_t e1,        \
        count_t e2, count_t e3, count_t e4, count_t e5, i64 a0, i64 a1, i64 a2, i64 a3, i64 a4, i64 a5          \
    ) {                                                                                                         \
        Strided shape = {{e0, e1, e2, e3, e4, e5}, {a0, a1, a2, a3, a4, a5}, {}};                               \
        element_ids(ids, index, n, extent, stride, shape);                                                      \
    }

IDS(i32)
IDS(i64)

#define SCATTER(T)                                                                                              \
    KERNEL scatter_##T(                                                                                         \
        T *y, const T *x, const u64 *segments, const u64 *ends, const u64 *members, count_t count, count_t unit, \
        u32 function                                                                                            \
    ) {                                                                                                         \
        scatter(y, x, segments, ends, members, count, unit, function);                                          \
    }                                                                                                           \
    KERNEL scatter_by_id_##T(                                                                                   \
        T *y, const T *x, const i64 *ids, count_t segments, count_t count, count_t unit, u32 function           \
    ) {                                                                                                         \
        scatter_by_id(y, x, ids, segments, count, unit, function);                                              \
    }

SCATTER(f32)
SCATTER(f16)
SCATTER(bf16)
SCATTER(f64)
SCATTER(i32)
SCATTER(i64)
