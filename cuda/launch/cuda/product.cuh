// Products of matrices, see product.cu. A thread computes an element.
#pragma once

#include "common.cuh"

template <class T>
__device__ __forceinline__ void product(
    T *y, const T *a, const T *b, count_t batch, count_t rows, count_t inner, count_t columns, count_t a_batch,
    count_t a_row, count_t a_step, count_t b_batch, count_t b_step, count_t b_column
) {
    for (count_t place = global_thread(); place < batch * rows * columns; place += global_threads()) {
        count_t row = quotient(place, columns), c = place - row * columns;
        count_t n = quotient(row, rows), r = row - n * rows;
        const T *left = a + n * a_batch + r * a_row, *right = b + n * b_batch + c * b_column;
        accumulator<T> sum{};
#pragma unroll 1
        for (count_t k = 0; k < inner; ++k)
            sum = Add()(sum, Multiply()(widen<T>(left[k * a_step]), widen<T>(right[k * b_step])));
        y[place] = narrow<T>(sum);
    }
}

#define PRODUCT(T)                                                                                             \
    KERNEL product_##T(                                                                                        \
        T *y, const T *a, const T *b, count_t batch, count_t rows, count_t inner, count_t columns,             \
        count_t a_batch, count_t a_row, count_t a_step, count_t b_batch, count_t b_step, count_t b_column      \
    ) {                                                                                                        \
        product(y, a, b, batch, rows, inner, columns, a_batch, a_row, a_step, b_batch, b_step, b_column);      \
    }
