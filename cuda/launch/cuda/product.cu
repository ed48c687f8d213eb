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
#include "product.cuh"

PRODUCT(i8)
PRODUCT(u8)
PRODUCT(i16)
PRODUCT(i32)
PRODUCT(i64)
