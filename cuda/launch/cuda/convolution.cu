// targets: 75
//
// Convolution of NHWC images of integers, which libraries have none for, and its gradient.
//
//   convolution_i32(y, x, filter, outputs, groups, window)
//       y[image, oy, ox, o] is the sum of x[image, y, x, c] * filter[ky, kx, c', o] over the elements (ky, kx) of the output's
//       window that lie within the image, and the channels c of the group of o: each of the `groups` has as many of the
//       channels and of the `outputs` as the others, and c' counts from its first channel
//   convolution_gradient_i32(dx, dy, filter, outputs, groups, window)
//       what each element of x gave: the sum of dy[image, oy, ox, o] * filter[ky, kx, c', o]
//
// `window` stands for the fourteen numbers of struct Window of window.cuh, one parameter each; outputs and groups are u32. Sums
// wrap. A thread computes an element.
#include "window.cuh"

// What groups of channels have, and where filters lie.
struct Groups {
    u32 outputs, group_outputs, group_channels;
    __device__ __forceinline__ Groups(const Window &w, u32 outputs, u32 groups)
        : outputs(outputs), group_outputs(outputs / groups), group_channels(w.channels / groups) {}
    // Where the filter's element (ky, kx) begins for a channel of a group.
    __device__ __forceinline__ count_t tap(const Window &w, u32 ky, u32 kx, u32 channel) const {
        return (((count_t)ky * w.window_width + kx) * group_channels + channel) * outputs;
    }
};

KERNEL convolution_i32(i32 *y, const i32 *x, const i32 *filter, u32 outputs, u32 groups, WINDOW_PARAMETERS) {
    Window w = WINDOW;
    Groups g(w, outputs, groups);
    count_t n = (count_t)w.batch * w.output_height * w.output_width * outputs;
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        Pixel out = pixel_at(i, w.output_height, w.output_width, outputs);
        u32 first = out.channel / g.group_outputs * g.group_channels;
        i32 sum = 0;
        for_covered(w, out.y, out.x, [&](u32 row, u32 column, u32 ky, u32 kx) {
            const i32 *pixel = x + ((out.image * w.height + row) * w.width + column) * w.channels + first;
#pragma unroll 1
            for (u32 c = 0; c < g.group_channels; ++c)
                sum = Add()(sum, Multiply()(pixel[c], filter[g.tap(w, ky, kx, c) + out.channel]));
        });
        y[i] = sum;
    }
}

KERNEL convolution_gradient_i32(
    i32 *dx, const i32 *dy, const i32 *filter, u32 outputs, u32 groups, WINDOW_PARAMETERS
) {
    Window w = WINDOW;
    Groups g(w, outputs, groups);
    for (count_t i = global_thread(); i < inputs(w); i += global_threads()) {
        Pixel in = input_pixel(w, i);
        u32 group = in.channel / g.group_channels, channel = in.channel - group * g.group_channels;
        u32 first = group * g.group_outputs;
        i32 sum = 0;
        for_covering(w, in.y, in.x, [&](u32 oy, u32 ox, u32 ky, u32 kx) {
            const i32 *pixel = dy + ((in.image * w.output_height + oy) * w.output_width + ox) * outputs + first;
            const i32 *tap = filter + g.tap(w, ky, kx, channel) + first;
#pragma unroll 1
            for (u32 o = 0; o < g.group_outputs; ++o) sum = Add()(sum, Multiply()(pixel[o], tap[o]));
        });
        dx[i] = sum;
    }
}
