// targets: 75
//
// What training needs beyond the gradients of softmax.cu, pooling.cu and reduce.cu: gradients of functions
// of one element, and steps of optimizers.
//
//   {relu,relu6,sigmoid,tanh,sqrt,rsqrt,reciprocal,elu,selu}_gradient_{f32,f16,bf16,f64}(dx, dy, y, n)
//                                                   from the function's result y
//   {softplus,softsign,silu,gelu,gelu_tanh}_gradient_{f32,f16,bf16,f64}(dx, dy, x, n)   from its argument x
//   sgd_{f32,f16}(w, g, n, rate, decay)             w -= rate * (g + decay * w)
//   momentum_{f32,f16}(w, v, g, n, rate, momentum, decay, nesterov)
//       v = momentum * v + g + decay * w;  w -= rate * (nesterov ? g + decay * w + momentum * v : v)
//   adam_{f32,f16}(w, m, v, g, n, rate, beta1, beta2, epsilon, decay, correction1, correction2)
//       m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g²;
//       w -= rate * ((m / correction1) / (sqrt(v / correction2) + epsilon) + decay * w); correction is 1 - beta^step
//
// Weights w and states v and m are f32, gradients g of the named type, scalars f32, nesterov u32. dx may be dy.
#include "common.cuh"

namespace gradient {
// Zero where the function does not rise; of what is not finite NaN, so that it stays visible.
INLINED relu(A dy, A y) { return y > A(0) ? dy : dy - dy; }
INLINED relu6(A dy, A y) { return y > A(0) && y < A(6) ? dy : dy - dy; }
INLINED sigmoid(A dy, A y) { return dy * y * (A(1) - y); }
INLINED tanh(A dy, A y) { return dy * (A(1) - y * y); }
INLINED sqrt(A dy, A y) { return A(0.5) * dy / y; }
INLINED rsqrt(A dy, A y) { return A(-0.5) * dy * y * y * y; }
INLINED reciprocal(A dy, A y) { return -dy * y * y; }
INLINED elu(A dy, A y) { return y < A(0) ? dy * (y + A(1)) : dy; }
INLINED selu(A dy, A y) {
    return y < A(0) ? dy * (y + A(1.7580993408473768599402175208123)) : dy * A(1.0507009873554804934193349852946);
}
CALLED softplus(A dy, A x) { return dy / (exp(-x) + A(1)); }
INLINED softsign(A dy, A x) { return dy / ((A(1) + fabs(x)) * (A(1) + fabs(x))); }
CALLED silu(A dy, A x) {
    A s = A(1) / (A(1) + exp(-x));
    return dy * s * (A(1) + x * (A(1) - s));
}
CALLED gelu(A dy, A x) {
    A cumulative = A(0.5) * (A(1) + erf(x * A(0.70710678118654752440)));
    return dy * (cumulative + x * A(0.39894228040143267794) * exp(A(-0.5) * x * x));
}
CALLED gelu_tanh(A dy, A x) {
    A t = ::tanh(A(0.79788456080286535588) * (x + A(0.044715) * x * x * x));
    A inner = A(0.79788456080286535588) * (A(1) + A(3.0 * 0.044715) * x * x);
    return dy * (A(0.5) * (A(1) + t) + A(0.5) * x * (A(1) - t * t) * inner);
}
}  // namespace gradient

#define GRADIENT(NAME, T)                                                                                      \
    KERNEL NAME##_gradient_##T(T *dx, const T *dy, const T *y, count_t n) {                                    \
        map(dx, n, [](count_t, T dy, T y) { return narrow<T>(gradient::NAME(widen<T>(dy), widen<T>(y))); }, dy, y); \
    }
#define GRADIENTS(T)                                                                                           \
    GRADIENT(relu, T) GRADIENT(relu6, T) GRADIENT(sigmoid, T) GRADIENT(tanh, T) GRADIENT(sqrt, T)              \
    GRADIENT(rsqrt, T) GRADIENT(reciprocal, T) GRADIENT(elu, T) GRADIENT(selu, T) GRADIENT(softplus, T)        \
    GRADIENT(softsign, T) GRADIENT(silu, T) GRADIENT(gelu, T) GRADIENT(gelu_tanh, T)

GRADIENTS(f32)
GRADIENTS(f16)
GRADIENTS(bf16)
GRADIENTS(f64)

// step(i) for each element: states are updated in place, one element a thread.
template <class F>
__device__ __forceinline__ void for_each(count_t n, F step) {
    for (count_t i = global_thread(); i < n; i += global_threads()) step(i);
}

template <class T>
__device__ __forceinline__ void momentum(
    f32 *w, f32 *v, const T *g, count_t n, f32 rate, f32 momentum, f32 decay, u32 nesterov
) {
    for_each(n, [=](count_t i) {
        f32 weight = w[i], gradient = widen<T>(g[i]) + decay * weight, velocity = momentum * v[i] + gradient;
        v[i] = velocity;
        w[i] = weight - rate * (nesterov ? gradient + momentum * velocity : velocity);
    });
}

template <class T>
__device__ __forceinline__ void adam(
    f32 *w, f32 *m, f32 *v, const T *g, count_t n, f32 rate, f32 beta1, f32 beta2, f32 epsilon, f32 decay,
    f32 correction1, f32 correction2
) {
    for_each(n, [=](count_t i) {
        f32 weight = w[i], gradient = widen<T>(g[i]);
        f32 mean = beta1 * m[i] + (1.0f - beta1) * gradient;
        f32 square = beta2 * v[i] + (1.0f - beta2) * gradient * gradient;
        m[i] = mean;
        v[i] = square;
        w[i] = weight - rate * (mean / correction1 / (sqrtf(square / correction2) + epsilon) + decay * weight);
    });
}

#define OPTIMIZERS(T)                                                                                          \
    KERNEL sgd_##T(f32 *w, const T *g, count_t n, f32 rate, f32 decay) {                                       \
        for_each(n, [=](count_t i) { w[i] -= rate * (widen<T>(g[i]) + decay * w[i]); });                       \
    }                                                                                                          \
    KERNEL momentum_##T(                                                                                       \
        f32 *w, f32 *v, const T *g, count_t n, f32 rate, f32 momentum, f32 decay, u32 nesterov                 \
    ) {                                                                                                        \
        ::momentum(w, v, g, n, rate, momentum, decay, nesterov);                                               \
    }                                                                                                          \
    KERNEL adam_##T(                                                                                           \
        f32 *w, f32 *m, f32 *v, const T *g, count_t n, f32 rate, f32 beta1, f32 beta2, f32 epsilon, f32 decay, \
        f32 correction1, f32 correction2                                                                       \
    ) {                                                                                                        \
        adam(w, m, v, g, n, rate, beta1, beta2, epsilon, decay, correction1, correction2);                     \
    }

OPTIMIZERS(f32)
OPTIMIZERS(f16)
