// targets: 75
//
// The position of the greatest or least element of each row.
//
//   {argmax,argmin}_{f32,f16,i32}(y, x, rows, columns)    y[r] (i32) is the position within row r of `columns` elements,
//                                                         fewer than 2^31 and at least one
//
// Ties go to the first position, and the first NaN wins. A warp works on a row; warps stride over the rows.
#include "common.cuh"

template <class A>
struct Candidate {
    A value;
    i32 position;
};

// Whether `a` wins over `b` by value; `least` looks for the least.
template <class A>
__device__ __forceinline__ bool beats(A a, A b, bool least) {
    if (a != a) return b == b;
    return least ? a < b : a > b;
}

template <class A>
__device__ __forceinline__ Candidate<A> better(Candidate<A> a, Candidate<A> b, bool least) {
    // A position of -1 is no candidate.
    if (b.position < 0) return a;
    if (a.position < 0 || beats(b.value, a.value, least)) return b;
    return !beats(a.value, b.value, least) && b.position < a.position ? b : a;
}

template <class T>
__device__ __forceinline__ void arg_extreme(i32 *y, const T *x, count_t rows, count_t columns, bool least) {
    using A = accumulator<T>;
    u32 warps = blockDim.x / WARP;
    for (count_t row = (count_t)blockIdx.x * warps + warp_in_block(); row < rows; row += (count_t)gridDim.x * warps) {
        Candidate<A> best = {A(0), -1};
        for (count_t c = lane(); c < columns; c += WARP) {
            Candidate<A> next = {widen<T>(x[row * columns + c]), (i32)c};
            best = better(best, next, least);
        }
#pragma unroll
        for (u32 step = WARP / 2; step > 0; step /= 2) {
            Candidate<A> other = {
                __shfl_xor_sync(FULL_WARP, best.value, step),
                __shfl_xor_sync(FULL_WARP, best.position, step),
            };
            best = better(best, other, least);
        }
        if (lane() == 0) y[row] = best.position;
    }
}

#define FAMILY(T)                                                                                           \
    KERNEL argmax_##T(i32 *y, const T *x, count_t rows, count_t columns) {                                  \
        arg_extreme(y, x, rows, columns, false);                                                            \
    }                                                                                                       \
    KERNEL argmin_##T(i32 *y, const T *x, count_t rows, count_t columns) {                                  \
        arg_extreme(y, x, rows, columns, true);                                                             \
    }

FAMILY(f32)
FAMILY(f16)
FAMILY(i32)
