// targets: 75
//
// Transposition, and copies into and out of strided places.
//
//   transpose_b{8,16,32,64,128}(y, x, batch, rows, columns)      y[b, c, r] = x[b, r, c]; NHWC to NCHW is rows = pixels,
//                                                             columns = channels, and back the other way round
//   permute_b{8,16,32,64,128}(y, x, n, e0..e5, a0..a5)            y, of extents e0..e5 (n their product), from x at strides
//                                                             a0..a5: any permutation, slice with steps or broadcast;
//                                                             x points to the element of position zero
//   pad_b{8,16,32,64}(y, x, n, value, e0..e5, a0..a5, b0..b5) y, of extents e0..e5 (n their product), is x, of extents
//                                                             a0..a5, with `value` around it; b0..b5 of it come before
//                                                             x along each axis
//
// Only the width of an element matters; `value` has its bits. Fewer axes than six have leading extents of 1.
#include "common.cuh"

// Rows and columns of a tile that is moved element by element, and of one that is moved in packs: the narrower the elements,
// the more it takes for a warp to access whole lines.
constexpr u32 TILE = 32;
template <class T>
constexpr u32 PACKED_TILE = sizeof(T) <= 2 ? 64 : 32;

// Calls f(image, first row, first column) for the tiles of this block, one after another.
template <u32 EXTENT, class F>
__device__ __forceinline__ void for_tiles(count_t batch, count_t rows, count_t columns, F f) {
    count_t down = (rows + EXTENT - 1) / EXTENT, across = (columns + EXTENT - 1) / EXTENT;
    for (count_t t = blockIdx.x; t < batch * down * across; t += gridDim.x)
        f(t / (down * across), t / across % down * EXTENT, t % across * EXTENT);
}

// A tile is read row by row and written column by column, through shared memory padded by one element a row, so that
// lanes which read a column of 4-byte elements do not meet in a bank.
template <class T>
__device__ __forceinline__ void transpose_elements(T *y, const T *x, count_t batch, count_t rows, count_t columns) {
    __shared__ T tile[TILE][TILE + 1];
    u32 warps = blockDim.x / WARP;
    for_tiles<TILE>(batch, rows, columns, [=](count_t image, count_t r0, count_t c0) {
        const T *in = x + image * rows * columns;
        T *out = y + image * rows * columns;
        for (u32 k = warp_in_block(); k < TILE; k += warps) {
            count_t r = r0 + k, c = c0 + lane();
            if (r < rows && c < columns) tile[k][lane()] = in[r * columns + c];
        }
        __syncthreads();
        for (u32 k = warp_in_block(); k < TILE; k += warps) {
            count_t r = r0 + lane(), c = c0 + k;
            if (r < rows && c < columns) out[c * rows + r] = tile[lane()][k];
        }
        __syncthreads();
    });
}

// The same in packs of 16 bytes on both sides: rows and columns are multiples of a pack. Rows of the tile are padded by four
// bytes, so that neither the lanes that write a row nor those that read a column meet in a bank, or at most two of them.
template <class T>
__device__ __forceinline__ void transpose_packs(T *y, const T *x, count_t batch, count_t rows, count_t columns) {
    constexpr u32 EXTENT = PACKED_TILE<T>, LENGTH = Pack<T>::LENGTH, PACKS = EXTENT / LENGTH;
    constexpr u32 PADDING = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
    __shared__ T tile[EXTENT][EXTENT + PADDING];
    for_tiles<EXTENT>(batch, rows, columns, [=](count_t image, count_t r0, count_t c0) {
        const T *in = x + image * rows * columns;
        T *out = y + image * rows * columns;
        for (u32 i = threadIdx.x; i < EXTENT * PACKS; i += blockDim.x) {
            u32 row = i / PACKS, column = i % PACKS * LENGTH;
            if (r0 + row >= rows || c0 + column >= columns) continue;
            Pack<T> pack = load_pack(in + (r0 + row) * columns + c0 + column);
#pragma unroll
            for (u32 k = 0; k < LENGTH; ++k) tile[row][column + k] = pack[k];
        }
        __syncthreads();
        for (u32 i = threadIdx.x; i < EXTENT * PACKS; i += blockDim.x) {
            u32 column = i / PACKS, row = i % PACKS * LENGTH;
            if (r0 + row >= rows || c0 + column >= columns) continue;
            Pack<T> pack;
#pragma unroll
            for (u32 k = 0; k < LENGTH; ++k) pack[k] = tile[row + k][column];
            store_pack(out + (c0 + column) * rows + r0 + row, pack);
        }
        __syncthreads();
    });
}

// A few rows or columns, such as the channels of pictures, would leave most of a tile unused. So each thread moves the few
// elements of one place along the long side. On the side where the places are neighbours, a warp accesses whole lines.
constexpr u32 NARROW = 8;
template <class T>
__device__ __forceinline__ void transpose_narrow(T *y, const T *x, count_t batch, count_t rows, count_t columns) {
    bool few_rows = rows <= columns;
    count_t few = few_rows ? rows : columns, many = few_rows ? columns : rows;
    count_t from_many = few_rows ? 1 : columns, from_few = few_rows ? columns : 1;
    count_t to_many = few_rows ? rows : 1, to_few = few_rows ? 1 : rows;
    for (count_t i = global_thread(); i < batch * many; i += global_threads()) {
        count_t image = quotient(i, many), place = i - image * many;
        const T *in = x + image * rows * columns + place * from_many;
        T *out = y + image * rows * columns + place * to_many;
        for (count_t k = 0; k < few; ++k) out[k * to_few] = in[k * from_few];
    }
}

// Three channels, those of most pictures: each thread moves a pack of pixels, in packs of 16 bytes on both sides. The number
// of pixels is a multiple of a pack. `Interleave` is whether the channels of a pixel are together in `y`, or in `x`.
constexpr u32 COLOURS = 3;
template <bool Interleave, class T>
__device__ __forceinline__ void transpose_colours(T *y, const T *x, count_t batch, count_t pixels) {
    constexpr u32 LENGTH = Pack<T>::LENGTH;
    count_t packs = pixels / LENGTH;
    for (count_t i = global_thread(); i < batch * packs; i += global_threads()) {
        count_t image = quotient(i, packs), pixel = (i - image * packs) * LENGTH;
        T *planes = (Interleave ? const_cast<T *>(x) : y) + image * COLOURS * pixels + pixel;
        T *together = (Interleave ? y : const_cast<T *>(x)) + (image * pixels + pixel) * COLOURS;
        Pack<T> from[COLOURS], to[COLOURS];
#pragma unroll
        for (u32 k = 0; k < COLOURS; ++k)
            from[k] = load_pack(Interleave ? planes + k * pixels : together + k * LENGTH);
#pragma unroll
        for (u32 e = 0; e < COLOURS * LENGTH; ++e) {
            if (Interleave)
                to[e / LENGTH][e % LENGTH] = from[e % COLOURS][e / COLOURS];
            else
                to[e % COLOURS][e / COLOURS] = from[e / LENGTH][e % LENGTH];
        }
#pragma unroll
        for (u32 k = 0; k < COLOURS; ++k)
            store_pack(Interleave ? together + k * LENGTH : planes + k * pixels, to[k]);
    }
}

template <class T>
__device__ __forceinline__ void transpose(T *y, const T *x, count_t batch, count_t rows, count_t columns) {
    constexpr u32 LENGTH = Pack<T>::LENGTH;
    bool in_packs = LENGTH > 1 && aligned_to_16(y, x);
    if (in_packs && rows == COLOURS && columns % LENGTH == 0)
        transpose_colours<true>(y, x, batch, columns);
    else if (in_packs && columns == COLOURS && rows % LENGTH == 0)
        transpose_colours<false>(y, x, batch, rows);
    else if (rows <= NARROW || columns <= NARROW)
        transpose_narrow(y, x, batch, rows, columns);
    else if (in_packs && rows % LENGTH == 0 && columns % LENGTH == 0)
        transpose_packs(y, x, batch, rows, columns);
    else
        transpose_elements(y, x, batch, rows, columns);
}

template <class T>
__device__ __forceinline__ void permute(T *y, const T *x, count_t n, const Strided &shape) {
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        i64 from, unused;
        locate(shape, i, from, unused);
        y[i] = x[from];
    }
}

template <class T>
__device__ __forceinline__ void pad(T *y, const T *x, count_t n, const Strided &shape, T value) {
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        count_t rest = i, from = 0, step = 1;
        bool inside = true;
#pragma unroll
        for (i32 axis = RANK_MAX - 1; axis >= 0; --axis) {
            count_t above = quotient(rest, shape.extent[axis]);
            i64 at = (i64)(rest - above * shape.extent[axis]) - shape.b[axis];
            rest = above;
            inside = inside && at >= 0 && at < shape.a[axis];
            from += at * step;
            step *= shape.a[axis];
        }
        y[i] = inside ? x[from] : value;
    }
}

// Of a transposition, BLOCKS of 256 threads shall be resident on a multiprocessor.
#define PERMUTE(BITS, T, BLOCKS)                                                                           \
    KERNEL __launch_bounds__(256, BLOCKS)                                                                  \
        transpose_b##BITS(T *y, const T *x, count_t batch, count_t rows, count_t columns) {                \
        transpose(y, x, batch, rows, columns);                                                             \
    }                                                                                                      \
    KERNEL permute_b##BITS(                                                                                \
        T *y, const T *x, count_t n, count_t e0, count_t e1, count_t e2, count_t e3, count_t e4, count_t e5,  \
        i64 a0, i64 a1, i64 a2, i64 a3, i64 a4, i64 a5                                                     \
    ) {                                                                                                    \
        permute(y, x, n, Strided{{e0, e1, e2, e3, e4, e5}, {a0, a1, a2, a3, a4, a5}, {}});                 \
    }
#define PAD(BITS, T)                                                                                       \
    KERNEL pad_b##BITS(T *y, const T *x, count_t n, T value, STRIDED_PARAMETERS) {                         \
        pad(y, x, n, STRIDED, value);                                                                      \
    }

PERMUTE(8, u8, 8)
PERMUTE(16, u16, 8)
PERMUTE(32, u32, 8)
PERMUTE(64, u64, 6)
PERMUTE(128, uint4, 8)
PAD(8, u8)
PAD(16, u16)
PAD(32, u32)
PAD(64, u64)
