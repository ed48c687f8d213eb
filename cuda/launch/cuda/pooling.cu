// targets: 75
//
// Maximum and average pooling of NHWC images, and their gradients. `window` stands for the fourteen numbers of struct
// Window of window.cuh, one parameter each; its dilations are honoured.
//
//   max_pool_{f32,f16,bf16,f64,i32,i64}(y, positions, x, window)
//       the greatest under each window, NaN if there is one; `positions` (u32, or null) says where it stands within its
//       image, as (y * width + x) * channels + channel: the first of equals, the first NaN. A window wholly beyond the border
//       has the lowest value of the type and the position 2^32 - 1
//   max_pool_of_numbers_{f32,f16,bf16,f64,i32,i64}(y, x, window)
//       the greatest number under each window; where nothing is greater, the least finite one of the type
//   max_pool_gradient_{f32,f16,bf16,f64,i32,i64}(dx, dy, positions, window)   each dy goes to where its maximum stood
//   average_pool_{f32,f16,bf16,f64}(y, x, count_padding, window)
//       the mean; elements beyond the border count as zeros if count_padding is not 0, else not at all
//   average_pool_gradient_{f32,f16,bf16,f64}(dx, dy, count_padding, window)
//   global_average_pool_gradient_{f32,f16,bf16,f64}(dx, dy, batch, pixels, channels)   dx = dy / pixels, for each pixel
//
// The gradients gather: each element of dx is the sum over the windows that cover it, in one order; of integers it wraps. Global
// average pooling itself is a mean of reduce.cu.
#include "window.cuh"

template <class T>
__device__ __forceinline__ accumulator<T> lowest();
template <>
__device__ __forceinline__ f32 lowest<f32>() { return -3.402823466e38f; }
template <>
__device__ __forceinline__ f32 lowest<f16>() { return -65504.0f; }
template <>
__device__ __forceinline__ f32 lowest<bf16>() { return -3.38953139e38f; }
template <>
__device__ __forceinline__ f64 lowest<f64>() { return -1.7976931348623157e308; }
template <>
__device__ __forceinline__ i32 lowest<i32>() { return (i32)0x80000000u; }
template <>
__device__ __forceinline__ i64 lowest<i64>() { return (i64)0x8000000000000000ull; }

constexpr u32 NOWHERE = 0xffffffffu;

template <class T>
__device__ __forceinline__ void max_pool(T *y, u32 *positions, const T *x, const Window &w) {
    for (count_t i = global_thread(); i < outputs(w); i += global_threads()) {
        Pixel out = output_pixel(w, i);
        const T *image = x + out.image * w.height * w.width * w.channels;
        accumulator<T> best = lowest<T>();
        u32 winner = NOWHERE;
        for_covered(w, out.y, out.x, [&](u32 row, u32 column, u32, u32) {
            u32 position = (row * w.width + column) * w.channels + out.channel;
            accumulator<T> value = widen<T>(image[position]);
            if (winner == NOWHERE || value > best || (value != value && best == best)) {
                best = value;
                winner = position;
            }
        });
        y[i] = narrow<T>(best);
        if (positions != nullptr) positions[i] = winner;
    }
}

template <class T>
__device__ __forceinline__ void max_pool_of_numbers(T *y, const T *x, const Window &w) {
    for (count_t i = global_thread(); i < outputs(w); i += global_threads()) {
        Pixel out = output_pixel(w, i);
        const T *image = x + out.image * w.height * w.width * w.channels;
        accumulator<T> best = lowest<T>();
        for_covered(w, out.y, out.x, [&](u32 row, u32 column, u32, u32) {
            accumulator<T> value = widen<T>(image[(row * w.width + column) * w.channels + out.channel]);
            if (value > best) best = value;
        });
        y[i] = narrow<T>(best);
    }
}

template <class T>
__device__ __forceinline__ void max_pool_gradient(T *dx, const T *dy, const u32 *positions, const Window &w) {
    for (count_t i = global_thread(); i < inputs(w); i += global_threads()) {
        Pixel in = input_pixel(w, i);
        u32 position = (in.y * w.width + in.x) * w.channels + in.channel;
        accumulator<T> sum = 0;
        for_covering(w, in.y, in.x, [&](u32 oy, u32 ox, u32, u32) {
            count_t o = ((in.image * w.output_height + oy) * w.output_width + ox) * w.channels + in.channel;
            if (positions[o] == position) sum = Add()(sum, widen<T>(dy[o]));
        });
        dx[i] = narrow<T>(sum);
    }
}

// How many elements the mean of output (oy, ox) divides by.
__device__ __forceinline__ u32 divisor(const Window &w, u32 oy, u32 ox, u32 count_padding) {
    if (count_padding) return w.window_height * w.window_width;
    u32 covered = 0;
    for_covered(w, oy, ox, [&](u32, u32, u32, u32) { ++covered; });
    return covered;
}

template <class T>
__device__ __forceinline__ void average_pool(T *y, const T *x, const Window &w, u32 count_padding) {
    for (count_t i = global_thread(); i < outputs(w); i += global_threads()) {
        Pixel out = output_pixel(w, i);
        const T *image = x + out.image * w.height * w.width * w.channels;
        accumulator<T> sum = 0;
        for_covered(w, out.y, out.x, [&](u32 row, u32 column, u32, u32) {
            sum += widen<T>(image[(row * w.width + column) * w.channels + out.channel]);
        });
        u32 count = divisor(w, out.y, out.x, count_padding);
        y[i] = narrow<T>(count == 0 ? accumulator<T>(0) : sum / (accumulator<T>)count);
    }
}

template <class T>
__device__ __forceinline__ void average_pool_gradient(T *dx, const T *dy, const Window &w, u32 count_padding) {
    for (count_t i = global_thread(); i < inputs(w); i += global_threads()) {
        Pixel in = input_pixel(w, i);
        accumulator<T> sum = 0;
        for_covering(w, in.y, in.x, [&](u32 oy, u32 ox, u32, u32) {
            count_t o = ((in.image * w.output_height + oy) * w.output_width + ox) * w.channels + in.channel;
            sum += widen<T>(dy[o]) / (accumulator<T>)divisor(w, oy, ox, count_padding);
        });
        dx[i] = narrow<T>(sum);
    }
}

template <class T>
__device__ __forceinline__ void global_average_pool_gradient(
    T *dx, const T *dy, count_t batch, count_t pixels, count_t channels
) {
    for (count_t i = global_thread(); i < batch * pixels * channels; i += global_threads()) {
        count_t pixel = quotient(i, channels), image = quotient(pixel, pixels);
        dx[i] = narrow<T>(widen<T>(dy[image * channels + (i - pixel * channels)]) / (accumulator<T>)pixels);
    }
}

#define MAXIMA(T)                                                                                              \
    KERNEL max_pool_##T(T *y, u32 *positions, const T *x, WINDOW_PARAMETERS) {                                 \
        max_pool(y, positions, x, WINDOW);                                                                     \
    }                                                                                                          \
    KERNEL max_pool_of_numbers_##T(T *y, const T *x, WINDOW_PARAMETERS) { max_pool_of_numbers(y, x, WINDOW); } \
    KERNEL max_pool_gradient_##T(T *dx, const T *dy, const u32 *positions, WINDOW_PARAMETERS) {                \
        max_pool_gradient(dx, dy, positions, WINDOW);                                                          \
    }
#define MEANS(T)                                                                                               \
    KERNEL average_pool_##T(T *y, const T *x, u32 count_padding, WINDOW_PARAMETERS) {                          \
        average_pool(y, x, WINDOW, count_padding);                                                             \
    }                                                                                                          \
    KERNEL average_pool_gradient_##T(T *dx, const T *dy, u32 count_padding, WINDOW_PARAMETERS) {               \
        average_pool_gradient(dx, dy, WINDOW, count_padding);                                                  \
    }                                                                                                          \
    KERNEL global_average_pool_gradient_##T(                                                                   \
        T *dx, const T *dy, count_t batch, count_t pixels, count_t channels                                    \
    ) {                                                                                                        \
        global_average_pool_gradient(dx, dy, batch, pixels, channels);                                         \
    }

MAXIMA(f32)
MAXIMA(f16)
MAXIMA(bf16)
MAXIMA(f64)
MAXIMA(i32)
MAXIMA(i64)
MEANS(f32)
MEANS(f16)
MEANS(bf16)
MEANS(f64)
