// targets: 75
//
// Sums, means, maxima and minima over axes.
//
//   reduce_{sum,mean,maximum,minimum}_{f32,f16,bf16,i32}(y, x, outer, extent, inner)
//       x is outer * extent * inner elements; y[o, i] combines x[o, k, i] over all k below `extent`
//   reduce_{sum,maximum,minimum}_parts_{f32,f16,bf16,i32}(partial, x, outer, extent, inner, parts)
//       the same for each of `parts` equal parts of the extent (the last may be shorter or empty):
//       partial[p, o, i], f32 for floats; a mean finishes the parts of a sum
//   reduce_{sum,mean,maximum,minimum}_finish_{f32,f16,bf16,i32}(y, partial, outputs, parts, extent)
//       y[j] combines partial[p, j] over all parts; a mean divides by `extent`
//
// A large reduction to few outputs runs as parts and finish, so that it fills the device: the result does not depend on
// the grid, only on `parts`. Without elements, a sum is 0, a mean of floats NaN and of integers 0, a maximum the lowest
// and a minimum the greatest value. NaN wins maxima and minima. Integers wrap; their mean rounds toward zero.
//
// Gradients of a bias are reduce_sum with outer = 1, extent = rows, inner = channels; global average pooling of NHWC
// images is reduce_mean with outer = images, extent = pixels, inner = channels.
#include "reduce.cuh"

#define FAMILY(T) SUMS(T) EXTREMES(T)

FAMILY(f32)
FAMILY(f16)
FAMILY(bf16)
FAMILY(i32)
