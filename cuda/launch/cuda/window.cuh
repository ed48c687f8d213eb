// The geometry of windows that slide over NHWC images, for pooling and im2col.
#pragma once

#include "common.cuh"

struct Window {
    u32 batch;
    u32 height, width, channels;    // of an input image
    u32 output_height, output_width;
    u32 window_height, window_width;
    u32 stride_height, stride_width;
    u32 dilation_height, dilation_width;
    i32 top, left;                  // padding before the first row and column
};

// As parameters of a kernel, which are scalars, in the order above.
#define WINDOW_PARAMETERS                                                                                      \
    u32 batch, u32 height, u32 width, u32 channels, u32 output_height, u32 output_width, u32 window_height,    \
        u32 window_width, u32 stride_height, u32 stride_width, u32 dilation_height, u32 dilation_width, i32 top, \
        i32 left
#define WINDOW                                                                                                 \
    (Window{batch, height, width, channels, output_height, output_width, window_height, window_width,          \
            stride_height, stride_width, dilation_height, dilation_width, top, left})

// The number of an output's or input's element, taken apart.
struct Pixel {
    count_t image;
    u32 y, x, channel;
};
__device__ __forceinline__ Pixel pixel_at(count_t i, u32 height, u32 width, u32 channels) {
    count_t pixel = quotient(i, channels), row = quotient(pixel, width), image = quotient(row, height);
    return {image, (u32)(row - image * height), (u32)(pixel - row * width), (u32)(i - pixel * channels)};
}
__device__ __forceinline__ Pixel output_pixel(const Window &w, count_t i) {
    return pixel_at(i, w.output_height, w.output_width, w.channels);
}
__device__ __forceinline__ Pixel input_pixel(const Window &w, count_t i) {
    return pixel_at(i, w.height, w.width, w.channels);
}

__device__ __forceinline__ count_t outputs(const Window &w) {
    return (count_t)w.batch * w.output_height * w.output_width * w.channels;
}
__device__ __forceinline__ count_t inputs(const Window &w) {
    return (count_t)w.batch * w.height * w.width * w.channels;
}

// Calls f(y, x, ky, kx) for the positions of the input image that the window of output (oy, ox) covers with its element
// (ky, kx), row by row.
template <class F>
__device__ __forceinline__ void for_covered(const Window &w, u32 oy, u32 ox, F f) {
    for (u32 ky = 0; ky < w.window_height; ++ky) {
        i64 y = (i64)oy * w.stride_height + (i64)ky * w.dilation_height - w.top;
        if (y < 0 || y >= w.height) continue;
        for (u32 kx = 0; kx < w.window_width; ++kx) {
            i64 x = (i64)ox * w.stride_width + (i64)kx * w.dilation_width - w.left;
            if (x >= 0 && x < w.width) f((u32)y, (u32)x, ky, kx);
        }
    }
}

// Calls f(oy, ox, ky, kx) for the outputs whose window covers (y, x) of the input image with its element (ky, kx), in
// the order of the window's elements.
template <class F>
__device__ __forceinline__ void for_covering(const Window &w, u32 y, u32 x, F f) {
    for (u32 ky = 0; ky < w.window_height; ++ky) {
        i64 down = (i64)y + w.top - (i64)ky * w.dilation_height;
        if (down < 0 || down % w.stride_height != 0 || down / w.stride_height >= w.output_height) continue;
        for (u32 kx = 0; kx < w.window_width; ++kx) {
            i64 right = (i64)x + w.left - (i64)kx * w.dilation_width;
            if (right < 0 || right % w.stride_width != 0 || right / w.stride_width >= w.output_width) continue;
            f((u32)(down / w.stride_height), (u32)(right / w.stride_width), ky, kx);
        }
    }
}
