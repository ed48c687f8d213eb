// Functions of one element, computed in f32 or f64. Needs no headers of CUDA's.
#pragma once

#include "scalars.cuh"

namespace function {
INLINED neg(A x) { return -x; }
INLINED abs(A x) { return ::fabs(x); }
INLINED sign(A x) { return x > A(0) ? A(1) : (x < A(0) ? A(-1) : x); }
INLINED square(A x) { return x * x; }
INLINED floor(A x) { return ::floor(x); }
INLINED ceil(A x) { return ::ceil(x); }
INLINED round(A x) { return ::rint(x); }
INLINED relu(A x) { return ::maximum(x, A(0)); }
INLINED relu6(A x) { return ::minimum(::maximum(x, A(0)), A(6)); }
INLINED sqrt(A x) { return ::sqrt(x); }
INLINED rsqrt(A x) { return ::rsqrt(x); }
INLINED reciprocal(A x) { return A(1) / x; }
CALLED exp(A x) { return ::exp(x); }
CALLED expm1(A x) { return ::expm1(x); }
CALLED log(A x) { return ::log(x); }
CALLED log1p(A x) { return ::log1p(x); }
CALLED sin(A x) { return ::sin(x); }
CALLED cos(A x) { return ::cos(x); }
CALLED tan(A x) { return ::tan(x); }
CALLED asin(A x) { return ::asin(x); }
CALLED acos(A x) { return ::acos(x); }
CALLED atan(A x) { return ::atan(x); }
CALLED sinh(A x) { return ::sinh(x); }
CALLED cosh(A x) { return ::cosh(x); }
CALLED tanh(A x) { return ::tanh(x); }
CALLED asinh(A x) { return ::asinh(x); }
CALLED acosh(A x) { return ::acosh(x); }
CALLED atanh(A x) { return ::atanh(x); }
CALLED erf(A x) { return ::erf(x); }
CALLED erfc(A x) { return ::erfc(x); }
CALLED lgamma(A x) { return ::lgamma(x); }
// The denominator of the logistic function. In f32 the exponential function has few instructions.
static __device__ __forceinline__ f32 logistic(f32 x) { return 1 + ::exp(-x); }
[[maybe_unused]] static __device__ __noinline__ f64 logistic(f64 x) { return 1 + ::exp(-x); }
INLINED sigmoid(A x) { return A(1) / logistic(x); }
INLINED silu(A x) { return x / logistic(x); }
// Of the two forms of the same, the one that neither overflows nor loses the small term.
CALLED softplus(A x) { return ::maximum(x, A(0)) + ::log1p(::exp(-::fabs(x))); }
INLINED softsign(A x) { return x / (A(1) + ::fabs(x)); }
CALLED elu(A x) { return x < A(0) ? ::expm1(x) : x; }
CALLED selu(A x) {
    return x < A(0) ? A(1.7580993408473768599402175208123) * ::expm1(x) : A(1.0507009873554804934193349852946) * x;
}
CALLED gelu(A x) { return A(0.5) * x * (A(1) + ::erf(x * A(0.70710678118654752440))); }
CALLED gelu_tanh(A x) {
    return A(0.5) * x * (A(1) + ::tanh(A(0.79788456080286535588) * (x + A(0.044715) * x * x * x)));
}
}  // namespace function
