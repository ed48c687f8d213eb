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
//   one_hot_{u8,i32,i64}_b{8,16,32,64}(y, index, on, off, outer, depth, inner)
//       y[o, d, i] = index[o, i] == d ? *on : *off
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
#define ONE_HOTS(INDEX) ONE_HOT(INDEX, 8, u8) ONE_HOT(INDEX, 16, u16) ONE_HOT(INDEX, 32, u32) ONE_HOT(INDEX, 64, u64)

ONE_HOTS(u8)
ONE_HOTS(i32)
ONE_HOTS(i64)
