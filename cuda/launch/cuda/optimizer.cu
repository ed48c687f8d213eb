// targets: 75
//
// Steps of optimizers whose weights, states, gradients and numbers all have one type, the numbers being in device memory:
// none has to come to the host between two steps. training.cu has those with f32 weights and numbers as parameters.
//
//   apply_gradient_descent_{f32,f16,bf16,f64}(w, g, n, rate)             w -= rate · g
//   apply_momentum_{f32,f16,bf16,f64}(w, v, g, n, rate, momentum, nesterov)
//       v = momentum · v + g;  w -= rate · (nesterov ? g + momentum · v : v)
//   apply_adam_{f32,f16,bf16,f64}(w, m, v, g, n, power1, power2, rate, beta1, beta2, epsilon, nesterov)
//       m += (g - m) · (1 - beta1);  v += (g² - v) · (1 - beta2);
//       w -= rate · √(1 - power2) / (1 - power1) · (nesterov ? beta1 · m + (1 - beta1) · g : m) / (√v + epsilon),
//       powers being those of the betas, to the number of the step
//
// rate to epsilon are pointers to one element each, nesterov is u32.
#include "common.cuh"

// step(i) for each element: states are updated in place, one element a thread.
template <class F>
__device__ __forceinline__ void for_each(count_t n, F step) {
    for (count_t i = global_thread(); i < n; i += global_threads()) step(i);
}

template <class T>
__device__ __forceinline__ void gradient_descent(T *w, const T *g, count_t n, const T *rate) {
    accumulator<T> r = widen<T>(*rate);
    for_each(n, [=](count_t i) { w[i] = narrow<T>(widen<T>(w[i]) - r * widen<T>(g[i])); });
}

template <class T>
__device__ __forceinline__ void momentum(
    T *w, T *v, const T *g, count_t n, const T *rate, const T *momentum, u32 nesterov
) {
    using A = accumulator<T>;
    A r = widen<T>(*rate), m = widen<T>(*momentum);
    for_each(n, [=](count_t i) {
        A gradient = widen<T>(g[i]), velocity = m * widen<T>(v[i]) + gradient;
        v[i] = narrow<T>(velocity);
        w[i] = narrow<T>(widen<T>(w[i]) - r * (nesterov ? gradient + m * velocity : velocity));
    });
}

template <class T>
__device__ __forceinline__ void adam(
    T *w, T *m, T *v, const T *g, count_t n, const T *power1, const T *power2, const T *rate, const T *beta1,
    const T *beta2, const T *epsilon, u32 nesterov
) {
    using A = accumulator<T>;
    A b1 = widen<T>(*beta1), b2 = widen<T>(*beta2), e = widen<T>(*epsilon);
    A alpha = widen<T>(*rate) * sqrt(A(1) - widen<T>(*power2)) / (A(1) - widen<T>(*power1));
    for_each(n, [=](count_t i) {
        A gradient = widen<T>(g[i]), mean = widen<T>(m[i]), square = widen<T>(v[i]);
        mean += (gradient - mean) * (A(1) - b1);
        square += (gradient * gradient - square) * (A(1) - b2);
        A step = nesterov ? b1 * mean + (A(1) - b1) * gradient : mean;
        m[i] = narrow<T>(mean);
        v[i] = narrow<T>(square);
        w[i] = narrow<T>(widen<T>(w[i]) - alpha * step / (sqrt(square) + e));
    });
}

#define FAMILY(T)                                                                                                 \
    KERNEL apply_gradient_descent_##T(T *w, const T *g, count_t n, const T *rate) {                               \
        gradient_descent(w, g, n, rate);                                                                          \
    }                                                                                                             \
    KERNEL apply_momentum_##T(                                                                                    \
        T *w, T *v, const T *g, count_t n, const T *rate, const T *momentum, u32 nesterov                         \
    ) {                                                                                                           \
        ::momentum(w, v, g, n, rate, momentum, nesterov);                                                         \
    }                                                                                                             \
    KERNEL apply_adam_##T(                                                                                        \
        T *w, T *m, T *v, const T *g, count_t n, const T *power1, const T *power2, const T *rate, const T *beta1, \
        const T *beta2, const T *epsilon, u32 nesterov                                                            \
    ) {                                                                                                           \
        adam(w, m, v, g, n, power1, power2, rate, beta1, beta2, epsilon, nesterov);                               \
    }

FAMILY(f32)
FAMILY(f16)
FAMILY(bf16)
FAMILY(f64)
