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

constexpr u32 TILE = 32;

// A tile is read row by row and written column by column, through shared memory padded by one element a row, so that
// lanes which read a column of 4-byte elements do not meet in a bank. A block takes tiles one after another.
template <class T>
__device__ __forceinline__ void transpose(T *y, const T *x, count_t batch, count_t rows, count_t columns) {
    __shared__ T tile[TILE][TILE + 1];
    count_t down = (rows + TILE - 1) / TILE, across = (columns + TILE - 1) / TILE;
    u32 warps = blockDim.x / WARP;
    for (count_t t = blockIdx.x; t < batch * down * across; t += gridDim.x) {
        count_t image = t / (down * across), r0 = t / across % down * TILE, c0 = t % across * TILE;
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
    }
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

#define PERMUTE(BITS, T)                                                                                   \
    KERNEL transpose_b##BITS(T *y, const T *x, count_t batch, count_t rows, count_t columns) {             \
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

PERMUTE(8, u8)
PERMUTE(16, u16)
PERMUTE(32, u32)
PERMUTE(64, u64)
PERMUTE(128, uint4)
PAD(8, u8)
PAD(16, u16)
PAD(32, u32)
PAD(64, u64)
