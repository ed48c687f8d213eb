// targets: 75
//
// Windows that slide over up to three dimensions of planes: poolings with any padding and dilation, and the elements that
// each window sees.
//
//   plane_max_{f32,f16,bf16,f64,i32}(y, places, x, planes, WINDOW, least, column_major)
//       the greatest element under each window, NaN if there is one, `least` if the window sees none. `places` (i64), which
//       may be null, says which of all elements of x it is, the first of equals. With `column_major`, the first dimension of
//       a plane is the one whose neighbours are adjacent to that count
//   plane_average_{f32,f16,bf16,f64}(y, x, planes, WINDOW, counts_padding)
//       the mean of the elements under each window. With `counts_padding`, the places in the padding count as zeros
//   plane_norm_{f32,f16,bf16,f64}(y, x, planes, WINDOW, power)
//       (sum of |x|^power)^(1 / power) over the elements under each window
//   patches_b{8,16,32,64}(y, x, planes, WINDOW)
//       y[p, t, o] = the element of plane p under tap t of window o, zero outside of the plane
//   unpatch_{f32,f16,bf16,f64}(x, y, planes, WINDOW)
//       each element of x becomes the sum of those elements of y that `patches` would make of it
//
// WINDOW is, for each of three dimensions, the outermost first: input, output, kernel, stride, dilation, before, after. The
// input and the output are extents of a plane, before and after are padding (i64), which crops if it is negative. `least` and
// `power` have the type of sums; column_major and counts_padding are u32.
#include "common.cuh"

constexpr u32 AXES = 3;

struct Axis {
    count_t input, output, kernel, stride, dilation;
    i64 before, after;

    // The position in the input of a tap at an output. It may be outside.
    __device__ __forceinline__ i64 position(count_t at, count_t tap) const {
        return (i64)(at * stride + tap * dilation) - before;
    }
    __device__ __forceinline__ bool has(i64 place) const { return place >= 0 && place < (i64)input; }
    // How many taps at an output lie before a position.
    __device__ __forceinline__ count_t taps_before(count_t at, i64 end) const {
        i64 distance = end - position(at, 0);
        if (distance <= 0) return 0;
        count_t taps = quotient((count_t)distance - 1, dilation) + 1;
        return taps < kernel ? taps : kernel;
    }
    // How many taps at an output lie in the input and its padding.
    __device__ __forceinline__ count_t taps_with_padding(count_t at) const {
        count_t begin = taps_before(at, -before), end = taps_before(at, (i64)input + after);
        return end > begin ? end - begin : 0;
    }
};

struct Window {
    Axis axis[AXES];

    __device__ __forceinline__ count_t inputs() const { return axis[0].input * axis[1].input * axis[2].input; }
    __device__ __forceinline__ count_t outputs() const { return axis[0].output * axis[1].output * axis[2].output; }
    __device__ __forceinline__ count_t taps() const { return axis[0].kernel * axis[1].kernel * axis[2].kernel; }
};

#define AXIS_PARAMETERS(A)                                                                                           \
    count_t A##_input, count_t A##_output, count_t A##_kernel, count_t A##_stride, count_t A##_dilation, i64 A##_before, \
        i64 A##_after
#define AXIS(A) {A##_input, A##_output, A##_kernel, A##_stride, A##_dilation, A##_before, A##_after}
#define WINDOW_PARAMETERS AXIS_PARAMETERS(z), AXIS_PARAMETERS(y), AXIS_PARAMETERS(x)
#define WINDOW (Window{{AXIS(z), AXIS(y), AXIS(x)}})

// A place in three dimensions, of which each has an extent.
struct Place {
    count_t at[AXES];
};

__device__ __forceinline__ Place place_of(count_t index, count_t height, count_t width) {
    count_t row = quotient(index, width), plane = quotient(row, height);
    return {{plane, row - plane * height, index - row * width}};
}

// Calls f with the place of each element under the window `at`, in the order of the taps.
template <class F>
__device__ __forceinline__ void each_seen(const Window &window, const Place &at, F f) {
    const Axis &z = window.axis[0], &y = window.axis[1], &x = window.axis[2];
    count_t z_end = z.taps_before(at.at[0], (i64)z.input), y_begin = y.taps_before(at.at[1], 0);
    count_t y_end = y.taps_before(at.at[1], (i64)y.input), x_begin = x.taps_before(at.at[2], 0);
    count_t x_end = x.taps_before(at.at[2], (i64)x.input);
    for (count_t tz = z.taps_before(at.at[0], 0); tz < z_end; ++tz) {
        count_t plane = (count_t)z.position(at.at[0], tz) * y.input;
        for (count_t ty = y_begin; ty < y_end; ++ty) {
            count_t row = (plane + (count_t)y.position(at.at[1], ty)) * x.input;
            for (count_t tx = x_begin; tx < x_end; ++tx) f(row + (count_t)x.position(at.at[2], tx));
        }
    }
}

// Calls f with the number of each output, its plane and its window's place.
template <class F>
__device__ __forceinline__ void each_output(count_t planes, const Window &window, F f) {
    count_t outputs = window.outputs(), n = planes * outputs;
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        count_t plane = quotient(i, outputs);
        f(i, plane, place_of(i - plane * outputs, window.axis[1].output, window.axis[2].output));
    }
}

template <class T>
__device__ __forceinline__ void plane_max(
    T *y, i64 *places, const T *x, count_t planes, const Window &window, accumulator<T> least, bool column_major
) {
    using A = accumulator<T>;
    each_output(planes, window, [&](count_t i, count_t plane, const Place &at) {
        const T *own = x + plane * window.inputs();
        A best = least;
        i64 found = -1;
        each_seen(window, at, [&](count_t place) {
            A value = widen<T>(own[place]);
            if (found < 0 || value > best || (value != value && best == best)) {
                best = value;
                found = (i64)place;
            }
        });
        y[i] = narrow<T>(best);
        if (places == nullptr) return;
        if (found < 0) found = 0;
        if (column_major) {
            count_t depth = window.axis[0].input, height = window.axis[1].input;
            Place of = place_of((count_t)found, height, window.axis[2].input);
            found = (i64)(of.at[0] + depth * (of.at[1] + height * of.at[2]));
        }
        places[i] = (i64)(plane * window.inputs()) + found;
    });
}

template <class T>
__device__ __forceinline__ void plane_average(
    T *y, const T *x, count_t planes, const Window &window, bool counts_padding
) {
    using A = accumulator<T>;
    each_output(planes, window, [&](count_t i, count_t plane, const Place &at) {
        const T *own = x + plane * window.inputs();
        A sum = A(0);
        count_t count = 0;
        each_seen(window, at, [&](count_t place) {
            sum += widen<T>(own[place]);
            ++count;
        });
        if (counts_padding) {
            count = 1;
            for (u32 k = 0; k < AXES; ++k) count *= window.axis[k].taps_with_padding(at.at[k]);
        }
        y[i] = narrow<T>(sum / (A)count);
    });
}

static __device__ __noinline__ f32 power_of(f32 base, f32 exponent) { return ::powf(base, exponent); }
static __device__ __noinline__ f64 power_of(f64 base, f64 exponent) { return ::pow(base, exponent); }
__device__ __forceinline__ f32 root_of(f32 x) { return ::sqrtf(x); }
__device__ __forceinline__ f64 root_of(f64 x) { return ::sqrt(x); }

template <class T>
__device__ __forceinline__ void plane_norm(
    T *y, const T *x, count_t planes, const Window &window, accumulator<T> power
) {
    using A = accumulator<T>;
    bool is_square = power == A(2);
    each_output(planes, window, [&](count_t i, count_t plane, const Place &at) {
        const T *own = x + plane * window.inputs();
        A sum = A(0);
        each_seen(window, at, [&](count_t place) {
            A value = widen<T>(own[place]);
            sum += is_square ? value * value : power_of(value < A(0) ? -value : value, power);
        });
        y[i] = narrow<T>(is_square ? root_of(sum) : power_of(sum, A(1) / power));
    });
}

template <class T>
__device__ __forceinline__ void patches(T *y, const T *x, count_t planes, const Window &window) {
    const Axis &az = window.axis[0], &ay = window.axis[1], &ax = window.axis[2];
    count_t outputs = window.outputs(), taps = window.taps(), n = planes * taps * outputs;
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        count_t row = quotient(i, outputs), plane = quotient(row, taps);
        Place at = place_of(i - row * outputs, ay.output, ax.output);
        Place tap = place_of(row - plane * taps, ay.kernel, ax.kernel);
        i64 z = az.position(at.at[0], tap.at[0]), v = ay.position(at.at[1], tap.at[1]), u = ax.position(at.at[2], tap.at[2]);
        T value = T(0);
        if (az.has(z) && ay.has(v) && ax.has(u))
            value = x[((plane * az.input + (count_t)z) * ay.input + (count_t)v) * ax.input + (count_t)u];
        y[i] = value;
    }
}

// The output at which a tap reads a place of the input; none if it never does.
__device__ __forceinline__ bool output_of(const Axis &axis, count_t place, count_t tap, count_t &at) {
    i64 shifted = (i64)place + axis.before - (i64)(tap * axis.dilation);
    if (shifted < 0) return false;
    at = quotient((count_t)shifted, axis.stride);
    return at * axis.stride == (count_t)shifted && at < axis.output;
}

template <class T>
__device__ __forceinline__ void unpatch(T *x, const T *y, count_t planes, const Window &window) {
    const Axis &az = window.axis[0], &ay = window.axis[1], &ax = window.axis[2];
    count_t inputs = window.inputs(), outputs = window.outputs(), taps = window.taps(), n = planes * inputs;
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        count_t plane = quotient(i, inputs);
        Place place = place_of(i - plane * inputs, ay.input, ax.input);
        const T *own = y + plane * taps * outputs;
        accumulator<T> sum = 0;
        for (count_t tz = 0; tz < az.kernel; ++tz) {
            count_t z, v, u;
            if (!output_of(az, place.at[0], tz, z)) continue;
            for (count_t ty = 0; ty < ay.kernel; ++ty) {
                if (!output_of(ay, place.at[1], ty, v)) continue;
                for (count_t tx = 0; tx < ax.kernel; ++tx) {
                    if (!output_of(ax, place.at[2], tx, u)) continue;
                    count_t tap = (tz * ay.kernel + ty) * ax.kernel + tx;
                    sum += widen<T>(own[tap * outputs + (z * ay.output + v) * ax.output + u]);
                }
            }
        }
        x[i] = narrow<T>(sum);
    }
}

#define MAXIMA(T)                                                                                                   \
    KERNEL plane_max_##T(                                                                                           \
        T *out, i64 *places, const T *in, count_t planes, WINDOW_PARAMETERS, accumulator<T> least, u32 column_major \
    ) {                                                                                                             \
        plane_max(out, places, in, planes, WINDOW, least, column_major != 0);                                       \
    }
#define SUMS(T)                                                                                                     \
    KERNEL plane_average_##T(T *out, const T *in, count_t planes, WINDOW_PARAMETERS, u32 counts_padding) {          \
        plane_average(out, in, planes, WINDOW, counts_padding != 0);                                                \
    }                                                                                                               \
    KERNEL plane_norm_##T(T *out, const T *in, count_t planes, WINDOW_PARAMETERS, accumulator<T> power) {           \
        plane_norm(out, in, planes, WINDOW, power);                                                                 \
    }                                                                                                               \
    KERNEL unpatch_##T(T *out, const T *in, count_t planes, WINDOW_PARAMETERS) { unpatch(out, in, planes, WINDOW); }
#define PATCHES(BITS, T)                                                                                            \
    KERNEL patches_b##BITS(T *out, const T *in, count_t planes, WINDOW_PARAMETERS) { patches(out, in, planes, WINDOW); }

MAXIMA(f32)
MAXIMA(f16)
MAXIMA(bf16)
MAXIMA(f64)
MAXIMA(i32)
SUMS(f32)
SUMS(f16)
SUMS(bf16)
SUMS(f64)
PATCHES(8, u8)
PATCHES(16, u16)
PATCHES(32, u32)
PATCHES(64, u64)
