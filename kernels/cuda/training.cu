// targets: 75
//
// What training needs beyond the gradients of softmax.cu, pooling.cu and reduce.cu: gradients of activations, and steps
// of optimizers.
//
//   {relu,relu6,sigmoid,tanh}_gradient_{f32,f16}(dx, dy, y, n)   from the activation's result y
//   {silu,gelu,gelu_tanh}_gradient_{f32,f16}(dx, dy, x, n)       from its argument x
//   sgd_{f32,f16}(w, g, n, rate, decay)             w -= rate * (g + decay * w)
//   momentum_{f32,f16}(w, v, g, n, rate, momentum, decay, nesterov)
//       v = momentum * v + g + decay * w;  w -= rate * (nesterov ? g + decay * w + momentum * v : v)
//   adam_{f32,f16}(w, m, v, g, n, rate, beta1, beta2, epsilon, decay, correction1, correction2)
//       m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g²;
//       w -= rate * ((m / correction1) / (sqrt(v / correction2) + epsilon) + decay * w); correction is 1 - beta^step
//
// Weights w and states v and m are f32, gradients g of the named type, scalars f32, nesterov u32. dx may be dy.
#include "activation.cuh"

namespace gradient {
__device__ __forceinline__ f32 relu(f32 dy, f32 y) { return y > 0.0f ? dy : 0.0f; }
__device__ __forceinline__ f32 relu6(f32 dy, f32 y) { return y > 0.0f && y < 6.0f ? dy : 0.0f; }
__device__ __forceinline__ f32 sigmoid(f32 dy, f32 y) { return dy * y * (1.0f - y); }
__device__ __forceinline__ f32 tanh(f32 dy, f32 y) { return dy * (1.0f - y * y); }
static __device__ __noinline__ f32 silu(f32 dy, f32 x) {
    f32 s = ::sigmoid(x);
    return dy * s * (1.0f + x * (1.0f - s));
}
static __device__ __noinline__ f32 gelu(f32 dy, f32 x) {
    f32 cumulative = 0.5f * (1.0f + erff(x * 0.70710678118654752f));
    return dy * (cumulative + x * 0.39894228040143268f * expf(-0.5f * x * x));
}
static __device__ __noinline__ f32 gelu_tanh(f32 dy, f32 x) {
    f32 t = tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x));
    f32 inner = 0.79788456080286536f * (1.0f + 3.0f * 0.044715f * x * x);
    return dy * (0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * inner);
}
}  // namespace gradient

#define GRADIENT(NAME, T)                                                                                      \
    KERNEL NAME##_gradient_##T(T *dx, const T *dy, const T *y, count_t n) {                                    \
        map(dx, n, [](count_t, T dy, T y) { return narrow<T>(gradient::NAME(widen<T>(dy), widen<T>(y))); }, dy, y); \
    }
#define GRADIENTS(NAME) GRADIENT(NAME, f32) GRADIENT(NAME, f16)

GRADIENTS(relu)
GRADIENTS(relu6)
GRADIENTS(sigmoid)
GRADIENTS(tanh)
GRADIENTS(silu)
GRADIENTS(gelu)
GRADIENTS(gelu_tanh)

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
