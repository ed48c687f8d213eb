// targets: 75
//
// Weighted sums of elements along one axis, by which tensors are interpolated.
//
//   weighted_{f32,f64}(y, x, index, weight, outer, extent, inner, count, taps, outside)
//       y[o, j, i] = sum over t of weight[j, t] * x[o, index[j, t], i], for o below `outer`, j below `count`, i below `inner`.
//       `index` (i64) and `weight` have `taps` numbers for each j. The first index that is not in 0..extent ends a sum; one
//       without any term is `outside`, which has the elements' type
//
// A sum has the order of its terms. Products are rounded before they are added, as on the host: integers are interpolated in
// floating-point numbers and truncated, so that the last bit counts.
#include "common.cuh"

__device__ __forceinline__ f32 plus_product(f32 sum, f32 a, f32 b) { return __fadd_rn(sum, __fmul_rn(a, b)); }
__device__ __forceinline__ f64 plus_product(f64 sum, f64 a, f64 b) { return __dadd_rn(sum, __dmul_rn(a, b)); }

template <class T>
__device__ __forceinline__ void weighted(
    T *y, const T *x, const i64 *index, const T *weight, count_t outer, count_t extent, count_t inner, count_t count,
    count_t taps, T outside
) {
    count_t n = outer * count * inner;
    for (count_t place = global_thread(); place < n; place += global_threads()) {
        count_t row = quotient(place, inner), i = place - row * inner;
        count_t o = quotient(row, count), j = row - o * count;
        T sum = T(0);
        count_t t = 0;
        for (; t < taps; ++t) {
            i64 at = index[j * taps + t];
            if (at < 0 || (count_t)at >= extent) break;
            sum = plus_product(sum, weight[j * taps + t], x[(o * extent + (count_t)at) * inner + i]);
        }
        y[place] = t == 0 ? outside : sum;
    }
}

#define WEIGHTED(T)                                                                                                \
    KERNEL weighted_##T(                                                                                           \
        T *y, const T *x, const i64 *index, const T *weight, count_t outer, count_t extent, count_t inner,         \
        count_t count, count_t taps, T outside                                                                     \
    ) {                                                                                                            \
        weighted(y, x, index, weight, outer, extent, inner, count, taps, outside);                                 \
    }

WEIGHTED(f32)
WEIGHTED(f64)
