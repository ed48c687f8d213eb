// targets: 75
//
// Bias, residual and activation over rows of channels (NHWC images have N*H*W rows), and batch normalization with known
// statistics. The mean is taken away first: of images that vary little around a large one, folding it into the offset would
// lose digits.
//
//   bias_activation_{f32,f16,bf16}(y, x, bias, residual, rows, channels, activation)
//       y[r, c] = activation(x[r, c] + bias[c] + residual[r, c])
//   normalize_activation_{f32,f16,bf16}(y, x, mean, factor, offset, residual, rows, channels, activation)
//       y[r, c] = activation((x[r, c] - mean[c]) * factor[c] + offset[c] + residual[r, c])
//   normalization_factor_f32(factor, variance, scale, channels, epsilon)
//       factor[c] = scale[c] / sqrt(variance[c] + epsilon)
//
// `residual` may be null. What a channel has one of is f32 whatever the elements are. `activation` is a number of
// activation.cuh. y may be x or residual.
#include "activation.cuh"

// y[r, c] = activation(affine(x[r, c], c) + residual[r, c]).
template <class T, class Affine>
__device__ __forceinline__ void affine_activation(
    T *y, const T *x, const T *residual, count_t rows, count_t channels, u32 activation, Affine affine
) {
    constexpr u32 LENGTH = Pack<T>::LENGTH;
    count_t n = rows * channels, done = 0;
    if (aligned_to_16(y, x, residual)) {
        done = n / LENGTH * LENGTH;
        for (count_t i = global_thread() * LENGTH; i < done; i += global_threads() * LENGTH) {
            Pack<T> pack = load_pack(x + i), add = {};
            if (residual != nullptr) add = load_pack(residual + i);
            count_t c = remainder(i, channels);
#pragma unroll
            for (u32 k = 0; k < LENGTH; ++k) {
                f32 sum = affine(widen<T>(pack[k]), c);
                if (residual != nullptr) sum += widen<T>(add[k]);
                pack[k] = narrow<T>(activate(sum, activation));
                if (++c == channels) c = 0;
            }
            store_pack(y + i, pack);
        }
    }
    for (count_t i = done + global_thread(); i < n; i += global_threads()) {
        f32 sum = affine(widen<T>(x[i]), remainder(i, channels));
        if (residual != nullptr) sum += widen<T>(residual[i]);
        y[i] = narrow<T>(activate(sum, activation));
    }
}

#define AFFINE_KERNELS(T)                                                                                         \
    KERNEL bias_activation_##T(                                                                                   \
        T *y, const T *x, const f32 *bias, const T *residual, count_t rows, count_t channels, u32 activation      \
    ) {                                                                                                           \
        affine_activation(y, x, residual, rows, channels, activation,                                             \
                          [=](f32 x, count_t c) { return x + bias[c]; });                                         \
    }                                                                                                             \
    KERNEL normalize_activation_##T(                                                                              \
        T *y, const T *x, const f32 *mean, const f32 *factor, const f32 *offset, const T *residual, count_t rows, \
        count_t channels, u32 activation                                                                          \
    ) {                                                                                                           \
        affine_activation(y, x, residual, rows, channels, activation,                                             \
                          [=](f32 x, count_t c) { return __fmaf_rn(x - mean[c], factor[c], offset[c]); });        \
    }

AFFINE_KERNELS(f32)
AFFINE_KERNELS(f16)
AFFINE_KERNELS(bf16)

KERNEL normalization_factor_f32(f32 *factor, const f32 *variance, const f32 *scale, count_t channels, f32 epsilon) {
    for (count_t c = global_thread(); c < channels; c += global_threads()) {
        factor[c] = scale[c] / sqrtf(variance[c] + epsilon);
    }
}
