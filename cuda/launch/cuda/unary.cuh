// Kernels of one function of one element.
#pragma once

#include "common.cuh"
#include "functions.cuh"

#define UNARY(NAME, T)                                                                                     \
    KERNEL NAME##_##T(T *y, const T *x, count_t n) {                                                       \
        map(y, n, [](count_t, T x) { return narrow<T>(function::NAME(widen<T>(x))); }, x);                 \
    }
// All of them for one type.
#define FUNCTIONS(T)                                                                                       \
    UNARY(neg, T) UNARY(abs, T) UNARY(sign, T) UNARY(square, T) UNARY(sqrt, T) UNARY(rsqrt, T)             \
    UNARY(reciprocal, T) UNARY(exp, T) UNARY(expm1, T) UNARY(log, T) UNARY(log1p, T) UNARY(sin, T)         \
    UNARY(cos, T) UNARY(tan, T) UNARY(asin, T) UNARY(acos, T) UNARY(atan, T) UNARY(sinh, T) UNARY(cosh, T) \
    UNARY(tanh, T) UNARY(asinh, T) UNARY(acosh, T) UNARY(atanh, T) UNARY(erf, T) UNARY(erfc, T)            \
    UNARY(lgamma, T) UNARY(floor, T) UNARY(ceil, T) UNARY(round, T) UNARY(relu, T) UNARY(relu6, T)         \
    UNARY(sigmoid, T) UNARY(silu, T) UNARY(softplus, T) UNARY(softsign, T) UNARY(elu, T) UNARY(selu, T)    \
    UNARY(gelu, T) UNARY(gelu_tanh, T)
