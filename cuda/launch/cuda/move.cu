// targets: 75
//
// Elements in other places: in steps along each axis, or where indices say.
//
//   move_b{8,16,32,64,128}(y, x, n, y_start, x_start, e0..e5, a0..a5, b0..b5)
//       for each of the n positions of a box of extents e0..e5: y[y_start + a · position] = x[x_start + b · position],
//       steps and starts in elements (struct Strided of common.cuh). Slices, reversals, repetitions and transpositions are
//       one of these each; other elements of y stay as they are. y and x must not overlap
//   gather_{i32,i64}(y, x, index, width, batches, outer, extent, count)
//       y[b, o, i] = x[b, o, index[b, i]], pieces of `width` bytes, for b below `batches`, o below `outer`, i below `count`;
//       zeros where the index is not in 0..extent
//   gather_nd_{i32,i64}(y, x, index, width, count, depth, e0..e7)
//       piece i of y, of `width` bytes, becomes the piece of x that index[i, 0..depth] are the coordinates of, in a box of
//       extents e0 to e[depth - 1], for i below `count`; zeros where a coordinate is outside. depth (u32) is 8 at most
//   gather_elements_{i32,i64}_b{8,16,32,64,128}(y, x, index, n, extent, stride, e0..e5, a0..a5)
//       y[i] = x[a · position + index[i] * stride] for each of the n positions of a box of extents e0..e5; an index below zero
//       counts from the end of the axis of x that it is in, which has `extent` elements; zero where there is no such element
//   from_front_{i32,i64}(y, x, n, depth, e0..e7)
//       y[i] = x[i], or x[i] + e[i % depth] where x[i] is below zero. depth (u32) is 8 at most; y may be x
//   one_hot_{u8,i32,i64}_b{8,16,32,64,128}(y, index, on, off, outer, depth, inner)
//       y[o, d, i] = index[o, i] == d ? *on : *off
//   band_b{8,16,32,64,128}(y, x, n, rows, columns, lower, upper)
//       y[m, r, c] = x[m, r, c] within a band of diagonals, where r is at most `lower` more than c, and c at most `upper` more
//       than r; else zero. n elements in all; lower and upper are i64; y may be x
#include "common.cuh"

template <class T>
__device__ __forceinline__ void move(T *y, const T *x, count_t n, const Strided &shape) {
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        i64 to, from;
        locate(shape, i, to, from);
        y[to] = x[from];
    }
}

#define MOVE(BITS, T)                                                                                   \
    KERNEL move_b##BITS(T *y, const T *x, count_t n, count_t y_start, count_t x_start, STRIDED_PARAMETERS) { \
        move(y + y_start, x + x_start, n, STRIDED);                                                     \
    }

MOVE(8, u8)
MOVE(16, u16)
MOVE(32, u32)
MOVE(64, u64)
MOVE(128, uint4)

template <class T, class Index>
__device__ __forceinline__ void gather_elements(
    T *y, const T *x, const Index *index, count_t n, count_t extent, count_t stride, const Strided &shape
) {
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        i64 from, unused, at = index[i];
        locate(shape, i, from, unused);
        if (at < 0) at += (i64)extent;
        T value = {};
        if (at >= 0 && (count_t)at < extent) value = x[from + at * (i64)stride];
        y[i] = value;
    }
}

#define GATHER_ELEMENTS(INDEX, BITS, T)                                                                        \
    KERNEL gather_elements_##INDEX##_b##BITS(                                                                  \
        T *y, const T *x, const INDEX *index, count_t n, count_t extent, count_t stride, count_t e0, count_t e1, \
        count_t e2, count_t e3, count_t e4, count_t e5, i64 a0, i64 a1, i64 a2, i64 a3, i64 a4, i64 a5         \
    ) {                                                                                                        \
        Strided shape = {{e0, e1, e2, e3, e4, e5}, {a0, a1, a2, a3, a4, a5}, {}};                              \
        gather_elements(y, x, index, n, extent, stride, shape);                                                \
    }
#define GATHER_ELEMENTS_BY(INDEX)                                                                              \
    GATHER_ELEMENTS(INDEX, 8, u8)                                                                              \
    GATHER_ELEMENTS(INDEX, 16, u16)                                                                            \
    GATHER_ELEMENTS(INDEX, 32, u32)                                                                            \
    GATHER_ELEMENTS(INDEX, 64, u64)                                                                            \
    GATHER_ELEMENTS(INDEX, 128, uint4)

GATHER_ELEMENTS_BY(i32)
GATHER_ELEMENTS_BY(i64)

#define FROM_FRONT(INDEX)                                                                                      \
    KERNEL from_front_##INDEX(                                                                                 \
        INDEX *y, const INDEX *x, count_t n, u32 depth, count_t e0, count_t e1, count_t e2, count_t e3,        \
        count_t e4, count_t e5, count_t e6, count_t e7                                                         \
    ) {                                                                                                        \
        count_t extents[8] = {e0, e1, e2, e3, e4, e5, e6, e7};                                                 \
        for (count_t i = global_thread(); i < n; i += global_threads()) {                                      \
            INDEX at = x[i];                                                                                   \
            y[i] = at < 0 ? (INDEX)(at + (INDEX)extents[remainder(i, depth)]) : at;                            \
        }                                                                                                      \
    }

FROM_FRONT(i32)
FROM_FRONT(i64)

// Pieces of units of type T.
template <class T, class Index>
__device__ __forceinline__ void gather_units(
    T *y, const T *x, const Index *index, count_t units, count_t batches, count_t outer, count_t extent, count_t count
) {
    count_t n = batches * outer * count * units;
    for (count_t place = global_thread(); place < n; place += global_threads()) {
        count_t piece = quotient(place, units), unit = place - piece * units;
        count_t slab = quotient(piece, count), i = piece - slab * count;
        i64 at = index[quotient(slab, outer) * count + i];
        T value = {};
        if (at >= 0 && (count_t)at < extent) value = x[(slab * extent + (count_t)at) * units + unit];
        y[place] = value;
    }
}

// In units of 16 bytes, of 4, or of one, whichever the width and the pointers allow.
template <class Index>
__device__ __forceinline__ void gather(
    u8 *y, const u8 *x, const Index *index, count_t width, count_t batches, count_t outer, count_t extent, count_t count
) {
    u64 all = reinterpret_cast<u64>(y) | reinterpret_cast<u64>(x) | width;
    if ((all & 15) == 0)
        gather_units((uint4 *)y, (const uint4 *)x, index, width / 16, batches, outer, extent, count);
    else if ((all & 3) == 0)
        gather_units((u32 *)y, (const u32 *)x, index, width / 4, batches, outer, extent, count);
    else
        gather_units(y, x, index, width, batches, outer, extent, count);
}

#define GATHER(INDEX)                                                                                          \
    KERNEL gather_##INDEX(                                                                                     \
        u8 *y, const u8 *x, const INDEX *index, count_t width, count_t batches, count_t outer, count_t extent, \
        count_t count                                                                                          \
    ) {                                                                                                        \
        gather(y, x, index, width, batches, outer, extent, count);                                             \
    }

GATHER(i32)
GATHER(i64)

constexpr u32 COORDINATES_MAX = 8;

struct Box {
    count_t extent[COORDINATES_MAX];
};

template <class T, class Index>
__device__ __forceinline__ void gather_nd_units(
    T *y, const T *x, const Index *index, count_t units, count_t count, u32 depth, const Box &box
) {
    for (count_t place = global_thread(); place < count * units; place += global_threads()) {
        count_t piece = quotient(place, units), unit = place - piece * units, at = 0;
        bool inside = true;
#pragma unroll
        for (u32 axis = 0; axis < COORDINATES_MAX; ++axis) {
            if (axis >= depth) break;
            i64 coordinate = index[piece * depth + axis];
            inside &= coordinate >= 0 && (count_t)coordinate < box.extent[axis];
            at = at * box.extent[axis] + (count_t)coordinate;
        }
        T value = {};
        if (inside) value = x[at * units + unit];
        y[place] = value;
    }
}

// In units as above.
template <class Index>
__device__ __forceinline__ void gather_nd(
    u8 *y, const u8 *x, const Index *index, count_t width, count_t count, u32 depth, const Box &box
) {
    u64 all = reinterpret_cast<u64>(y) | reinterpret_cast<u64>(x) | width;
    if ((all & 15) == 0)
        gather_nd_units((uint4 *)y, (const uint4 *)x, index, width / 16, count, depth, box);
    else if ((all & 3) == 0)
        gather_nd_units((u32 *)y, (const u32 *)x, index, width / 4, count, depth, box);
    else
        gather_nd_units(y, x, index, width, count, depth, box);
}

#define GATHER_ND(INDEX)                                                                                       \
    KERNEL gather_nd_##INDEX(                                                                                  \
        u8 *y, const u8 *x, const INDEX *index, count_t width, count_t count, u32 depth, count_t e0, count_t e1, \
        count_t e2, count_t e3, count_t e4, count_t e5, count_t e6, count_t e7                                 \
    ) {                                                                                                        \
        gather_nd(y, x, index, width, count, depth, Box{{e0, e1, e2, e3, e4, e5, e6, e7}});                    \
    }

GATHER_ND(i32)
GATHER_ND(i64)

template <class T, class Index>
__device__ __forceinline__ void one_hot(
    T *y, const Index *index, const T *on, const T *off, count_t outer, count_t depth, count_t inner
) {
    T set = *on, clear = *off;
    for (count_t place = global_thread(); place < outer * depth * inner; place += global_threads()) {
        count_t row = quotient(place, inner), i = place - row * inner;
        count_t o = quotient(row, depth), d = row - o * depth;
        y[place] = (i64)index[o * inner + i] == (i64)d ? set : clear;
    }
}

#define ONE_HOT(INDEX, BITS, T)                                                                                  \
    KERNEL one_hot_##INDEX##_b##BITS(                                                                            \
        T *y, const INDEX *index, const T *on, const T *off, count_t outer, count_t depth, count_t inner         \
    ) {                                                                                                          \
        one_hot(y, index, on, off, outer, depth, inner);                                                         \
    }
#define ONE_HOTS(INDEX) \
    ONE_HOT(INDEX, 8, u8) ONE_HOT(INDEX, 16, u16) ONE_HOT(INDEX, 32, u32) ONE_HOT(INDEX, 64, u64) \
    ONE_HOT(INDEX, 128, uint4)

ONE_HOTS(u8)
ONE_HOTS(i32)
ONE_HOTS(i64)

template <class T>
__device__ __forceinline__ void band(
    T *y, const T *x, count_t n, count_t rows, count_t columns, i64 lower, i64 upper
) {
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        count_t row = quotient(i, columns), c = i - row * columns, r = remainder(row, rows);
        T value = {};
        i64 below = (i64)r - (i64)c;
        if (below <= lower && -below <= upper) value = x[i];
        y[i] = value;
    }
}

#define BAND(BITS, T)                                                                                            \
    KERNEL band_b##BITS(                                                                                         \
        T *y, const T *x, count_t n, count_t rows, count_t columns, i64 lower, i64 upper                         \
    ) {                                                                                                          \
        band(y, x, n, rows, columns, lower, upper);                                                              \
    }

BAND(8, u8)
BAND(16, u16)
BAND(32, u32)
BAND(64, u64)
BAND(128, uint4)
