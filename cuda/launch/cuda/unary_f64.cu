// targets: 75
//
// The functions of unary.cu for f64: FUNCTION_f64(y, x, n), and leaky_relu_f64(y, x, n, alpha) with alpha in f64.
#include "unary.cuh"

FUNCTIONS(f64)

KERNEL leaky_relu_f64(f64 *y, const f64 *x, count_t n, f64 alpha) {
    map(y, n, [=](count_t, f64 x) { return x > 0.0 ? x : alpha * x; }, x);
}
