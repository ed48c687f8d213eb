// targets: 75
//
// Products of matrices of integers, which libraries have none for.
//
//   product_{i8,u8,i16,i32,i64}(y, a, b, batch, rows, inner, columns, a_batch, a_row, a_step, b_batch, b_step, b_column)
//       y[n, r, c] is the sum over all k below `inner` of a[n, r, k] * b[n, k, c], for n below `batch`, r below `rows` and c
//       below `columns`. The elements of a and b lie as many elements apart, from one n, r, k or c to the next, as the last six
//       say; with 0 one matrix serves for the whole batch
//
// Sums wrap. A thread computes an element.
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
        accumulator<T> sum = 0;
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

PRODUCT(i8)
PRODUCT(u8)
PRODUCT(i16)
PRODUCT(i32)
PRODUCT(i64)
