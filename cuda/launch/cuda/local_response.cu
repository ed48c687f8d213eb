// targets: 75
//
// Local response normalization (Krizhevsky, Sutskever, Hinton 2012): each element by those of neighbouring channels.
//
//   lrn_{f32,f16,bf16}(y, x, n, depth, radius, bias, alpha, beta)
//       y[k] = x[k] * norm(k)^-beta, where norm(k) = bias + alpha * (sum of x[j]^2 over the channels j near k)
//   lrn_shares_{f32,f16,bf16}(shares, dy, x, y, n, depth, radius, bias, alpha)
//       shares[k] = y[k] * dy[k] / norm(k), which are f32
//   lrn_gradient_{f32,f16,bf16}(dx, dy, x, shares, n, depth, radius, bias, alpha, beta)
//       dx[k] = dy[k] * norm(k)^-beta - 2 * alpha * beta * x[k] * (sum of shares[j] over the channels j near k)
//
// n elements are pixels of `depth` channels; near is what is `radius` channels away at most, which is less than 2^63. bias,
// alpha and beta are f32. Sums go from the first channel to the last.
#include "common.cuh"

// Channels near one, as places among all elements.
struct Near {
    count_t begin, end;
};

__device__ __forceinline__ Near near(count_t at, count_t depth, count_t radius) {
    count_t channel = remainder(at, depth), rest = depth - 1 - channel;
    return {at - (channel < radius ? channel : radius), at + (rest < radius ? rest : radius) + 1};
}

template <class T>
__device__ __forceinline__ f32 norm(const T *x, const Near &near, f32 bias, f32 alpha) {
    f32 sum = 0;
    for (count_t j = near.begin; j < near.end; ++j) {
        f32 value = widen<T>(x[j]);
        sum += value * value;
    }
    return bias + alpha * sum;
}

static __device__ __noinline__ f32 power(f32 base, f32 exponent) { return ::powf(base, exponent); }

#define LOCAL_RESPONSE(T)                                                                                    \
    KERNEL lrn_##T(                                                                                          \
        T *y, const T *x, count_t n, count_t depth, count_t radius, f32 bias, f32 alpha, f32 beta            \
    ) {                                                                                                      \
        for (count_t k = global_thread(); k < n; k += global_threads()) {                                    \
            f32 scale = power(norm(x, near(k, depth, radius), bias, alpha), -beta);                          \
            y[k] = narrow<T>(widen<T>(x[k]) * scale);                                                        \
        }                                                                                                    \
    }                                                                                                        \
    KERNEL lrn_shares_##T(                                                                                   \
        f32 *shares, const T *dy, const T *x, const T *y, count_t n, count_t depth, count_t radius, f32 bias, \
        f32 alpha                                                                                            \
    ) {                                                                                                      \
        for (count_t k = global_thread(); k < n; k += global_threads())                                      \
            shares[k] = widen<T>(y[k]) * (widen<T>(dy[k]) / norm(x, near(k, depth, radius), bias, alpha));   \
    }                                                                                                        \
    KERNEL lrn_gradient_##T(                                                                                 \
        T *dx, const T *dy, const T *x, const f32 *shares, count_t n, count_t depth, count_t radius, f32 bias, \
        f32 alpha, f32 beta                                                                                  \
    ) {                                                                                                      \
        for (count_t k = global_thread(); k < n; k += global_threads()) {                                    \
            Near channels = near(k, depth, radius);                                                          \
            f32 sum = 0, scale = power(norm(x, channels, bias, alpha), -beta);                               \
            for (count_t j = channels.begin; j < channels.end; ++j) sum += shares[j];                        \
            dx[k] = narrow<T>(widen<T>(dy[k]) * scale - 2.0f * alpha * beta * widen<T>(x[k]) * sum);         \
        }                                                                                                    \
    }

LOCAL_RESPONSE(f32)
LOCAL_RESPONSE(f16)
LOCAL_RESPONSE(bf16)
