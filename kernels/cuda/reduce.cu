// targets: 75
//
// Sums, means, maxima and minima over axes.
//
//   reduce_{sum,mean,maximum,minimum}_{f32,f16,bf16,i32}(y, x, outer, extent, inner)
//       x is outer * extent * inner elements; y[o, i] combines x[o, k, i] over all k below `extent`
//   reduce_{sum,maximum,minimum}_parts_{f32,f16,bf16,i32}(partial, x, outer, extent, inner, parts)
//       the same for each of `parts` equal parts of the extent (the last may be shorter or empty):
//       partial[p, o, i], f32 for floats; a mean finishes the parts of a sum
//   reduce_{sum,mean,maximum,minimum}_finish_{f32,f16,bf16,i32}(y, partial, outputs, parts, extent)
//       y[j] combines partial[p, j] over all parts; a mean divides by `extent`
//
// A large reduction to few outputs runs as parts and finish, so that it fills the device: the result does not depend on
// the grid, only on `parts`. Without elements, a sum is 0, a mean of floats NaN and of integers 0, a maximum the lowest
// and a minimum the greatest value. NaN wins maxima and minima. Integers wrap; their mean rounds toward zero.
//
// Gradients of a bias are reduce_sum with outer = 1, extent = rows, inner = channels; global average pooling of NHWC
// images is reduce_mean with outer = images, extent = pixels, inner = channels.
#include "common.cuh"

template <class A>
struct Limits;
template <>
struct Limits<f32> {
    static __device__ __forceinline__ f32 lowest() { return -infinity(); }
    static __device__ __forceinline__ f32 greatest() { return infinity(); }
};
template <>
struct Limits<i32> {
    static __device__ __forceinline__ i32 lowest() { return (i32)0x80000000; }
    static __device__ __forceinline__ i32 greatest() { return 0x7fffffff; }
};

__device__ __forceinline__ f32 divided(f32 sum, count_t extent) { return sum / (f32)extent; }
__device__ __forceinline__ i32 divided(i32 sum, count_t extent) { return extent == 0 ? 0 : (i32)(sum / (i64)extent); }

// How to combine, from what to start, and what to do at the end.
template <class A>
struct Sum : Add {
    static __device__ __forceinline__ A neutral() { return A(0); }
    static __device__ __forceinline__ A finish(A sum, count_t) { return sum; }
};
template <class A>
struct Mean : Add {
    static __device__ __forceinline__ A neutral() { return A(0); }
    static __device__ __forceinline__ A finish(A sum, count_t extent) { return divided(sum, extent); }
};
template <class A>
struct Maximum : Greater {
    static __device__ __forceinline__ A neutral() { return Limits<A>::lowest(); }
    static __device__ __forceinline__ A finish(A value, count_t) { return value; }
};
template <class A>
struct Minimum : Lesser {
    static __device__ __forceinline__ A neutral() { return Limits<A>::greatest(); }
    static __device__ __forceinline__ A finish(A value, count_t) { return value; }
};

// Rows that lie in order: a warp works on each of the shorter ones, a block on each of the others.
constexpr count_t WARP_EXTENT_MAX = 1024;

// Combines the elements of `row` that this thread of `threads` reads, in packs where the row is aligned.
template <class T, class R>
__device__ __forceinline__ accumulator<T> own_share(const T *row, count_t extent, u32 thread, u32 threads, R op) {
    constexpr u32 LENGTH = Pack<T>::LENGTH;
    accumulator<T> value = R::neutral();
    count_t done = 0;
    if (aligned_to_16(row)) {
        done = extent / LENGTH * LENGTH;
        for (count_t k = (count_t)thread * LENGTH; k < done; k += (count_t)threads * LENGTH) {
            Pack<T> pack = load_pack(row + k);
#pragma unroll
            for (u32 j = 0; j < LENGTH; ++j) value = op(value, widen<T>(pack[j]));
        }
    }
    for (count_t k = done + thread; k < extent; k += threads) value = op(value, widen<T>(row[k]));
    return value;
}

// write(o, value) for the part of each row `o` from `begin` to `end`.
template <class T, class R, class Write>
__device__ __forceinline__ void reduce_rows(
    const T *x, count_t outer, count_t extent, count_t begin, count_t end, R op, Write write
) {
    if (end - begin <= WARP_EXTENT_MAX) {
        u32 warps = blockDim.x / WARP;
        for (count_t o = (count_t)blockIdx.x * warps + warp_in_block(); o < outer; o += (count_t)gridDim.x * warps) {
            auto value = over_warp(own_share(x + o * extent + begin, end - begin, lane(), WARP, op), op);
            if (lane() == 0) write(o, value);
        }
    } else {
        for (count_t o = blockIdx.x; o < outer; o += gridDim.x) {
            auto value = own_share(x + o * extent + begin, end - begin, threadIdx.x, blockDim.x, op);
            value = over_block(value, R::neutral(), op);
            if (threadIdx.x == 0) write(o, value);
        }
    }
}

// The same where the elements of a row lie `inner` apart: a warp works on 32 neighbouring outputs, each of the block's
// warps on a share of the extent.
template <class T, class R, class Write>
__device__ __forceinline__ void reduce_columns(
    const T *x, count_t outer, count_t extent, count_t inner, count_t begin, count_t end, R op, Write write
) {
    using A = accumulator<T>;
    __shared__ A partial[WARPS_MAX][WARP];
    u32 warps = blockDim.x / WARP;
    count_t tiles = (inner + WARP - 1) / WARP;
    for (count_t tile = blockIdx.x; tile < outer * tiles; tile += gridDim.x) {
        count_t o = tile / tiles, i = tile % tiles * WARP + lane();
        A value = R::neutral();
        if (i < inner) {
            for (count_t k = begin + warp_in_block(); k < end; k += warps)
                value = op(value, widen<T>(x[(o * extent + k) * inner + i]));
        }
        __syncthreads();
        partial[warp_in_block()][lane()] = value;
        __syncthreads();
        if (warp_in_block() == 0 && i < inner) {
            for (u32 w = 1; w < warps; ++w) value = op(value, partial[w][lane()]);
            write(o * inner + i, value);
        }
    }
}

template <class T, class R, class Write>
__device__ __forceinline__ void reduce_range(
    const T *x, count_t outer, count_t extent, count_t inner, count_t begin, count_t end, R op, Write write
) {
    if (inner == 1)
        reduce_rows(x, outer, extent, begin, end, op, write);
    else
        reduce_columns(x, outer, extent, inner, begin, end, op, write);
}

template <class T, class R>
__device__ __forceinline__ void reduce(T *y, const T *x, count_t outer, count_t extent, count_t inner, R op) {
    reduce_range(x, outer, extent, inner, 0, extent, op, [=](count_t j, accumulator<T> value) {
        y[j] = narrow<T>(R::finish(value, extent));
    });
}

// The grid's second axis strides over the parts.
template <class T, class R>
__device__ __forceinline__ void reduce_parts(
    accumulator<T> *partial, const T *x, count_t outer, count_t extent, count_t inner, count_t parts, R op
) {
    count_t length = (extent + parts - 1) / parts;
    for (count_t p = blockIdx.y; p < parts; p += gridDim.y) {
        count_t begin = min(p * length, extent), end = min(begin + length, extent);
        accumulator<T> *out = partial + p * outer * inner;
        reduce_range(x, outer, extent, inner, begin, end, op, [=](count_t j, accumulator<T> value) { out[j] = value; });
    }
}

template <class T, class R>
__device__ __forceinline__ void reduce_finish(
    T *y, const accumulator<T> *partial, count_t outputs, count_t parts, count_t extent, R op
) {
    for (count_t j = global_thread(); j < outputs; j += global_threads()) {
        accumulator<T> value = R::neutral();
        for (count_t p = 0; p < parts; ++p) value = op(value, partial[p * outputs + j]);
        y[j] = narrow<T>(R::finish(value, extent));
    }
}

#define REDUCTION(NAME, R, T)                                                                                  \
    KERNEL reduce_##NAME##_##T(T *y, const T *x, count_t outer, count_t extent, count_t inner) {                        \
        reduce(y, x, outer, extent, inner, R<accumulator<T>>());                                               \
    }                                                                                                          \
    KERNEL reduce_##NAME##_finish_##T(                                                                                  \
        T *y, const accumulator<T> *partial, count_t outputs, count_t parts, count_t extent                    \
    ) {                                                                                                        \
        reduce_finish(y, partial, outputs, parts, extent, R<accumulator<T>>());                                \
    }
#define PARTS(NAME, R, T)                                                                                      \
    KERNEL reduce_##NAME##_parts_##T(                                                                                   \
        accumulator<T> *partial, const T *x, count_t outer, count_t extent, count_t inner, count_t parts       \
    ) {                                                                                                        \
        reduce_parts(partial, x, outer, extent, inner, parts, R<accumulator<T>>());                            \
    }
#define FAMILY(T)                                                                                              \
    REDUCTION(sum, Sum, T) REDUCTION(mean, Mean, T) REDUCTION(maximum, Maximum, T) REDUCTION(minimum, Minimum, T) \
    PARTS(sum, Sum, T) PARTS(maximum, Maximum, T) PARTS(minimum, Minimum, T)

FAMILY(f32)
FAMILY(f16)
FAMILY(bf16)
FAMILY(i32)
