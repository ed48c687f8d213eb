// Running results along one axis of x, which is outer * extent * inner elements. A thread computes those of a line.
#pragma once

#include "common.cuh"

template <class T, class Op>
__device__ __forceinline__ void scan(
    T *y, const T *x, count_t outer, count_t extent, count_t inner, u32 exclusive, u32 reverse, accumulator<T> first, Op op
) {
    for (count_t line = global_thread(); line < outer * inner; line += global_threads()) {
        count_t o = quotient(line, inner), start = o * extent * inner + (line - o * inner);
        accumulator<T> running = first;
        for (count_t k = 0; k < extent; ++k) {
            count_t at = start + (reverse ? extent - 1 - k : k) * inner;
            accumulator<T> before = running;
            running = op(before, widen<T>(x[at]));
            y[at] = narrow<T>(exclusive ? before : running);
        }
    }
}
