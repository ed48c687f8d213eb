// targets: 75
//
// The patches of NHWC images as the rows of a matrix, so that a convolution is a matrix product, and the way back.
//
//   im2col_{f32,f16}(y, x, window)     y[(image, oy, ox), (ky, kx, channel)] = x at the place of element (ky, kx) of
//                                      output (oy, ox)'s window, zero beyond the border
//   col2im_{f32,f16}(x, y, window)     x[image, y, x, channel] = the sum of y's elements that im2col takes from there,
//                                      in the order of the window's elements
//
// `window` stands for the fourteen numbers of struct Window of window.cuh, one parameter each. With filters as a matrix of
// (ky, kx, channel) rows and one column for each output channel, the product of y and the filters is the convolution's
// output in NHWC.
#include "window.cuh"

// Where column 0 of the row that belongs to output (oy, ox) lies.
__device__ __forceinline__ count_t patch_row(const Window &w, count_t image, u32 oy, u32 ox) {
    return ((image * w.output_height + oy) * w.output_width + ox) * w.window_height * w.window_width * w.channels;
}

template <class T>
__device__ __forceinline__ void im2col(T *y, const T *x, const Window &w) {
    count_t columns = (count_t)w.window_height * w.window_width * w.channels;
    count_t n = (count_t)w.batch * w.output_height * w.output_width * columns;
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        count_t row = quotient(i, columns);
        Pixel out = pixel_at(row, w.output_height, w.output_width, 1);
        Pixel tap = pixel_at(i - row * columns, w.window_height, w.window_width, w.channels);
        i64 down = (i64)out.y * w.stride_height + (i64)tap.y * w.dilation_height - w.top;
        i64 right = (i64)out.x * w.stride_width + (i64)tap.x * w.dilation_width - w.left;
        T value = narrow<T>(0.0f);
        if (down >= 0 && down < w.height && right >= 0 && right < w.width)
            value = x[((out.image * w.height + down) * w.width + right) * w.channels + tap.channel];
        y[i] = value;
    }
}

template <class T>
__device__ __forceinline__ void col2im(T *x, const T *y, const Window &w) {
    for (count_t i = global_thread(); i < inputs(w); i += global_threads()) {
        Pixel in = input_pixel(w, i);
        f32 sum = 0;
        for_covering(w, in.y, in.x, [&](u32 oy, u32 ox, u32 ky, u32 kx) {
            count_t column = ((count_t)ky * w.window_width + kx) * w.channels + in.channel;
            sum += widen<T>(y[patch_row(w, in.image, oy, ox) + column]);
        });
        x[i] = narrow<T>(sum);
    }
}

#define FAMILY(T)                                                                                \
    KERNEL im2col_##T(T *y, const T *x, WINDOW_PARAMETERS) { im2col(y, x, WINDOW); }             \
    KERNEL col2im_##T(T *x, const T *y, WINDOW_PARAMETERS) { col2im(x, y, WINDOW); }

FAMILY(f32)
FAMILY(f16)
