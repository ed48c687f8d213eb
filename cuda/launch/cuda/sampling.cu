// targets: 75
//
// Images at places that are computed: grids of coordinates, and regions. Images are [batch, channels, spatial dimensions].
//
//   grid_sample_{f32,f16,bf16,f64}(y, x, grid, batch, channels, z, v, u, oz, ov, ou, rank, mode, padding, aligned)
//       y[b, c, point] = plane c of image b at the coordinates grid[b, point] (f64), `rank` numbers from -1 to 1, those of
//       the last dimension first. Planes have extents z, v, u, which are not zero, and grids oz, ov, ou. mode is 0 for the
//       nearest element, 1 for linear and 2 for cubic interpolation. padding is 0 for zeros outside of the image, 1 for its
//       border and 2 for reflections. With `aligned`, -1 and 1 are centres of elements and not the image's edges
//   roi_align_{f32,f16,bf16,f64}(y, x, regions, images, count, batch, channels, height, width, rows, columns, scale, ratio,
//                                half, maxima)
//       y[r, c] = the region r of channel c of image images[r] (i64), resized to `rows` and `columns`. A region is two
//       corners (x, y, x, y), which are multiplied by `scale` (f64). Each result is the mean of `ratio` (i64) samples along
//       each dimension, of as many as it has elements if that is zero, and of 4096 at most; with `maxima` it is the greatest
//       part of a sample. With `half`, coordinates are moved by half an element. A region of no image is zeros
//
// rank, mode, padding, aligned, half and maxima are u32. Coordinates and sums are f64.
#include "common.cuh"

constexpr u32 AXES = 3, TAPS = 4;
constexpr f64 SAMPLES_MAX = 4096;

enum Mode : u32 { NEAREST, LINEAR, CUBIC };
enum Padding : u32 { ZEROS, BORDER, REFLECTION };

// Reflects a coordinate at two borders until it lies between them.
static __device__ __noinline__ f64 reflected(f64 x, f64 low, f64 high) {
    f64 range = high - low, distance = x < low ? low - x : x - high;
    if (!(x < low) && !(x > high)) return x;
    if (range <= 0 || !(distance <= 1e300)) return low;
    f64 turns = ::floor(distance / range), rest = distance - turns * range;
    bool is_even = ::floor(turns / 2) * 2 == turns;
    return (x < low) == is_even ? low + rest : high - rest;
}

// The elements along a dimension that a sample is made of. Those that do not exist have a place below zero.
struct Taps {
    i64 place[TAPS];
    f64 weight[TAPS];
    u32 count;
};

struct Sampling {
    u32 mode, padding;
    bool aligned;

    // The element at an integral coordinate, below zero if there is none.
    __device__ __forceinline__ i64 place(f64 x, f64 low, f64 high, f64 last) const {
        if (padding == REFLECTION) x = reflected(x, low, high);
        if (padding != ZEROS) x = x < 0 ? 0 : (x > last ? last : x);
        return x >= 0 && x <= last ? (i64)x : -1;
    }

    __device__ __forceinline__ void find(Taps &taps, f64 number, count_t extent) const {
        f64 length = (f64)extent, last = length - 1;
        f64 low = aligned ? 0 : -0.5, high = aligned ? last : length - 0.5;
        f64 x = aligned ? (number + 1) / 2 * last : ((number + 1) * length - 1) / 2;
        if (mode == NEAREST) x = ::rint(x);
        // Cubic interpolation continues outside of the image; its elements are mapped one by one.
        if (mode != CUBIC && !(x >= low && x <= high)) {
            if (padding == BORDER) x = x < 0 ? 0 : (x > last ? last : x);
            if (padding == REFLECTION) x = reflected(x, low, high);
        }
        f64 base = ::floor(x), t = x - base;
        taps.count = mode == NEAREST ? 1 : (mode == LINEAR ? 2 : 4);
        if (mode == NEAREST) {
            taps.place[0] = place(x, low, high, last);
            taps.weight[0] = 1;
            return;
        }
        f64 first = mode == LINEAR ? base : base - 1;
        for (u32 k = 0; k < taps.count; ++k) {
            taps.place[k] = place(first + k, low, high, last);
            taps.weight[k] = mode == LINEAR ? (k == 0 ? 1 - t : t) : cubic(::fabs(k - 1.0 - t));
        }
    }

    static __device__ __forceinline__ f64 cubic(f64 x) {
        constexpr f64 A = -0.75;
        return x <= 1 ? ((A + 2) * x - (A + 3)) * x * x + 1 : ((A * x - 5 * A) * x + 8 * A) * x - 4 * A;
    }
};

template <class T>
__device__ __forceinline__ f64 number(T x) { return (f64)widen<T>(x); }
__device__ __forceinline__ void store(f64 &y, f64 x) { y = x; }
template <class T>
__device__ __forceinline__ void store(T &y, f64 x) { y = narrow<T>((f32)x); }

template <class T>
__device__ __forceinline__ void grid_sample(
    T *y, const T *x, const f64 *grid, count_t batch, count_t channels, const count_t *extents, count_t points, u32 rank,
    const Sampling &sampling
) {
    count_t n = batch * channels * points, plane = extents[0] * extents[1] * extents[2];
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        count_t image = quotient(i, points), point = i - image * points;
        const f64 *numbers = grid + (quotient(image, channels) * points + point) * rank;
        Taps taps[AXES];
#pragma unroll
        for (u32 axis = 0; axis < AXES; ++axis) {
            taps[axis] = Taps{{0}, {1}, 1};
            if (axis + rank >= AXES) sampling.find(taps[axis], numbers[AXES - 1 - axis], extents[axis]);
        }
        const T *own = x + image * plane;
        f64 sum = 0;
        for (u32 a = 0; a < taps[0].count; ++a) {
            for (u32 b = 0; b < taps[1].count; ++b) {
                for (u32 c = 0; c < taps[2].count; ++c) {
                    i64 z = taps[0].place[a], v = taps[1].place[b], u = taps[2].place[c];
                    if (z < 0 || v < 0 || u < 0) continue;
                    count_t place = ((count_t)z * extents[1] + (count_t)v) * extents[2] + (count_t)u;
                    sum += taps[0].weight[a] * taps[1].weight[b] * taps[2].weight[c] * number<T>(own[place]);
                }
            }
        }
        store(y[i], sum);
    }
}

// A place between two neighbours, and the weight of each; none outside of the image.
struct Between {
    count_t place[2];
    f64 weight[2];
};

__device__ __forceinline__ Between between(f64 place, count_t extent) {
    if (!(place >= -1 && place <= (f64)extent)) return {{0, 0}, {0, 0}};
    if (place < 0) place = 0;
    count_t low = (count_t)place, last = extent - 1;
    if (low >= last) return {{last, last}, {1, 0}};
    return {{low, low + 1}, {1 - (place - (f64)low), place - (f64)low}};
}

// The samples of one dimension of a region.
struct Samples {
    f64 start, bin, count;

    __device__ __forceinline__ Samples(f64 from, f64 to, count_t results, i64 ratio, bool half) {
        f64 length = to - from;
        if (!half && !(length >= 1)) length = 1;
        start = from;
        bin = length / (f64)results;
        count = ratio > 0 ? (f64)ratio : ::ceil(bin);
        if (!(count > 0)) count = 0;
        if (count > SAMPLES_MAX) count = SAMPLES_MAX;
    }
    __device__ __forceinline__ f64 place(count_t result, u32 sample) const {
        return start + (f64)result * bin + (sample + 0.5) * bin / count;
    }
};

template <class T>
__device__ __forceinline__ void roi_align(
    T *y, const T *x, const T *regions, const i64 *images, count_t count, count_t batch, count_t channels, count_t height,
    count_t width, count_t rows, count_t columns, f64 scale, i64 ratio, bool half, bool maxima
) {
    count_t n = count * channels * rows * columns;
    f64 offset = half ? 0.5 : 0;
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        count_t line = quotient(i, columns), column = i - line * columns;
        count_t plane = quotient(line, rows), row = line - plane * rows;
        count_t region = quotient(plane, channels), channel = plane - region * channels;
        i64 image = images[region];
        bool is_there = image >= 0 && (count_t)image < batch;
        const T *own = x + ((is_there ? (count_t)image : 0) * channels + channel) * height * width;
        auto corner = [&](u32 k) { return number<T>(regions[region * 4 + k]) * scale - offset; };
        Samples down(corner(1), corner(3), rows, ratio, half), across(corner(0), corner(2), columns, ratio, half);
        f64 sum = 0;
        bool is_first = true;
        for (u32 a = 0; a < (u32)down.count; ++a) {
            Between v = between(down.place(row, a), height);
            // A row outside of the image has no parts but zeros.
            if (v.weight[0] + v.weight[1] == 0) {
                if (is_first || (maxima && sum < 0)) sum = 0;
                is_first = false;
                continue;
            }
            for (u32 b = 0; b < (u32)across.count; ++b) {
                Between u = between(across.place(column, b), width);
#pragma unroll
                for (u32 k = 0; k < 4; ++k) {
                    f64 part = v.weight[k / 2] * u.weight[k % 2] * number<T>(own[v.place[k / 2] * width + u.place[k % 2]]);
                    sum = !maxima ? sum + part : (is_first || part > sum ? part : sum);
                    is_first = false;
                }
            }
        }
        f64 samples = down.count * across.count;
        store(y[i], !is_there ? 0 : (maxima || samples < 1 ? sum : sum / samples));
    }
}

#define SAMPLING(T)                                                                                                   \
    KERNEL grid_sample_##T(                                                                                           \
        T *y, const T *x, const f64 *grid, count_t batch, count_t channels, count_t z, count_t v, count_t u,          \
        count_t oz, count_t ov, count_t ou, u32 rank, u32 mode, u32 padding, u32 aligned                              \
    ) {                                                                                                               \
        count_t extents[AXES] = {z, v, u};                                                                            \
        grid_sample(y, x, grid, batch, channels, extents, oz * ov * ou, rank, Sampling{mode, padding, aligned != 0}); \
    }                                                                                                                 \
    KERNEL roi_align_##T(                                                                                             \
        T *y, const T *x, const T *regions, const i64 *images, count_t count, count_t batch, count_t channels,        \
        count_t height, count_t width, count_t rows, count_t columns, f64 scale, i64 ratio, u32 half, u32 maxima      \
    ) {                                                                                                               \
        roi_align(                                                                                                    \
            y, x, regions, images, count, batch, channels, height, width, rows, columns, scale, ratio, half != 0,     \
            maxima != 0                                                                                               \
        );                                                                                                            \
    }

SAMPLING(f32)
SAMPLING(f16)
SAMPLING(bf16)
SAMPLING(f64)
