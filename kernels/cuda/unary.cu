// targets: 75
//
// Functions of one element.
//
//   FUNCTION_{f32,f16}(y, x, n)      y[i] = FUNCTION(x[i]); y may be x
//   neg, abs, square also for i32 (wrapping)
//   not_i1                           y[i] = x[i] == 0, for bytes that hold truth values
//
// neg, abs, sign (NaN stays), square, sqrt, rsqrt, reciprocal, exp, expm1, log, log1p, sin, cos, tanh, erf, floor, ceil,
// round (to even), relu, relu6, sigmoid, silu, softplus, gelu (with erf), gelu_tanh (its approximation).
#include "activation.cuh"

// Kernels unroll what they inline, so functions of more than a few instructions are called.
#define CALLED static __device__ __noinline__ f32
#define INLINED static __device__ __forceinline__ f32

namespace function {
INLINED neg(f32 x) { return -x; }
INLINED abs(f32 x) { return fabsf(x); }
INLINED sign(f32 x) { return x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x); }
INLINED square(f32 x) { return x * x; }
INLINED floor(f32 x) { return floorf(x); }
INLINED ceil(f32 x) { return ceilf(x); }
INLINED round(f32 x) { return rintf(x); }
INLINED relu(f32 x) { return ::relu(x); }
INLINED relu6(f32 x) { return ::relu6(x); }
INLINED sqrt(f32 x) { return sqrtf(x); }
INLINED rsqrt(f32 x) { return rsqrtf(x); }
INLINED reciprocal(f32 x) { return 1.0f / x; }
CALLED exp(f32 x) { return expf(x); }
CALLED expm1(f32 x) { return expm1f(x); }
CALLED log(f32 x) { return logf(x); }
CALLED log1p(f32 x) { return log1pf(x); }
CALLED sin(f32 x) { return sinf(x); }
CALLED cos(f32 x) { return cosf(x); }
CALLED tanh(f32 x) { return tanhf(x); }
CALLED erf(f32 x) { return erff(x); }
CALLED sigmoid(f32 x) { return ::sigmoid(x); }
CALLED silu(f32 x) { return ::silu(x); }
// Of the two forms of the same, the one that neither overflows nor loses the small term.
CALLED softplus(f32 x) { return maximum(x, 0.0f) + log1pf(expf(-fabsf(x))); }
CALLED gelu(f32 x) { return ::gelu(x); }
CALLED gelu_tanh(f32 x) { return ::gelu_tanh(x); }
}  // namespace function

#define UNARY(NAME, T)                                                                                     \
    KERNEL NAME##_##T(T *y, const T *x, count_t n) {                                                       \
        map(y, n, [](count_t, T x) { return narrow<T>(function::NAME(widen<T>(x))); }, x);                 \
    }
#define FLOATS(NAME) UNARY(NAME, f32) UNARY(NAME, f16)

FLOATS(neg)
FLOATS(abs)
FLOATS(sign)
FLOATS(square)
FLOATS(sqrt)
FLOATS(rsqrt)
FLOATS(reciprocal)
FLOATS(exp)
FLOATS(expm1)
FLOATS(log)
FLOATS(log1p)
FLOATS(sin)
FLOATS(cos)
FLOATS(tanh)
FLOATS(erf)
FLOATS(floor)
FLOATS(ceil)
FLOATS(round)
FLOATS(relu)
FLOATS(relu6)
FLOATS(sigmoid)
FLOATS(silu)
FLOATS(softplus)
FLOATS(gelu)
FLOATS(gelu_tanh)

// Unsigned, so that they wrap.
KERNEL neg_i32(u32 *y, const u32 *x, count_t n) {
    map(y, n, [](count_t, u32 x) { return 0 - x; }, x);
}
KERNEL abs_i32(u32 *y, const u32 *x, count_t n) {
    map(y, n, [](count_t, u32 x) { return (i32)x < 0 ? 0 - x : x; }, x);
}
KERNEL square_i32(u32 *y, const u32 *x, count_t n) {
    map(y, n, [](count_t, u32 x) { return x * x; }, x);
}
KERNEL not_i1(u8 *y, const u8 *x, count_t n) {
    map(y, n, [](count_t, u8 x) { return (u8)(x == 0); }, x);
}
