// targets: 75
//
// Functions of one element.
//
//   FUNCTION_{f32,f16,bf16}(y, x, n)      y[i] = FUNCTION(x[i]); y may be x; for f64 see unary_f64.cu
//   neg, abs, sign, square, relu, relu6 also for i32 and i64 (wrapping)
//   integer_{i8,u8,i16,u16,u32,u64}(y, x, n, function)   the same by number (u32): neg 0, abs 1, sign 2, square 3, relu 4,
//                                                        relu6 5
//   leaky_relu_{f32,f16,bf16}(y, x, n, alpha)     x, or alpha (f32) times x where it is below zero
//   not_i1                           y[i] = x[i] == 0, for bytes that hold truth values
//
// neg, abs, sign (NaN stays), square, sqrt, rsqrt, reciprocal, exp, expm1, log, log1p, sin, cos, tan, asin, acos, atan,
// sinh, cosh, tanh, asinh, acosh, atanh, erf, erfc, lgamma, floor, ceil, round (to even), relu, relu6, sigmoid, silu,
// softplus, softsign, elu, selu, gelu (with erf), gelu_tanh (its approximation).
#include "unary.cuh"

FUNCTIONS(f32)
FUNCTIONS(f16)
FUNCTIONS(bf16)

#define LEAKY_RELU(T)                                                                                      \
    KERNEL leaky_relu_##T(T *y, const T *x, count_t n, f32 alpha) {                                        \
        map(y, n, [=](count_t, T x) {                                                                      \
            f32 wide = widen<T>(x);                                                                        \
            return narrow<T>(wide > 0.0f ? wide : alpha * wide);                                           \
        }, x);                                                                                             \
    }

LEAKY_RELU(f32)
LEAKY_RELU(f16)
LEAKY_RELU(bf16)

// Unsigned, so that they wrap.
#define INTEGERS(I, U)                                                                                     \
    KERNEL neg_##I(U *y, const U *x, count_t n) {                                                          \
        map(y, n, [](count_t, U x) { return 0 - x; }, x);                                                  \
    }                                                                                                      \
    KERNEL abs_##I(U *y, const U *x, count_t n) {                                                          \
        map(y, n, [](count_t, U x) { return (I)x < 0 ? 0 - x : x; }, x);                                   \
    }                                                                                                      \
    KERNEL sign_##I(I *y, const I *x, count_t n) {                                                         \
        map(y, n, [](count_t, I x) { return (I)((x > 0) - (x < 0)); }, x);                                 \
    }                                                                                                      \
    KERNEL square_##I(U *y, const U *x, count_t n) {                                                       \
        map(y, n, [](count_t, U x) { return x * x; }, x);                                                  \
    }                                                                                                      \
    KERNEL relu_##I(I *y, const I *x, count_t n) {                                                         \
        map(y, n, [](count_t, I x) { return x > 0 ? x : 0; }, x);                                          \
    }                                                                                                      \
    KERNEL relu6_##I(I *y, const I *x, count_t n) {                                                        \
        map(y, n, [](count_t, I x) { return x > 0 ? (x < 6 ? x : 6) : 0; }, x);                            \
    }

INTEGERS(i32, u32)
INTEGERS(i64, u64)

template <class A>
__device__ __forceinline__ A of_integer(u32 function, A x) {
    switch (function) {
        case 0: return 0 - x;
        case 1: return is_negative(x) ? 0 - x : x;
        case 2: return is_negative(x) ? A(-1) : A(x != 0);
        case 3: return (A)((u64)x * (u64)x);
        case 4: return maximum(x, A(0));
        default: return minimum(maximum(x, A(0)), A(6));
    }
}

#define INTEGERS_BY_NUMBER(T)                                                                              \
    KERNEL integer_##T(T *y, const T *x, count_t n, u32 function) {                                        \
        for (count_t i = global_thread(); i < n; i += global_threads())                                    \
            y[i] = narrow<T>(of_integer(function, widen<T>(x[i])));                                        \
    }
INTEGERS_BY_NUMBER(i8)
INTEGERS_BY_NUMBER(u8)
INTEGERS_BY_NUMBER(i16)
INTEGERS_BY_NUMBER(u16)
INTEGERS_BY_NUMBER(u32)
INTEGERS_BY_NUMBER(u64)

KERNEL not_i1(u8 *y, const u8 *x, count_t n) {
    map(y, n, [](count_t, u8 x) { return (u8)(x == 0); }, x);
}
