// Reductions of every type: how elements are combined, and over what. The kernels are in reduce.cu and reduce_wide.cu.
#pragma once

#include "common.cuh"

template <class A>
struct Limits;
template <>
struct Limits<f32> {
    static __device__ __forceinline__ f32 lowest() { return -infinity(); }
    static __device__ __forceinline__ f32 greatest() { return infinity(); }
};
template <>
struct Limits<f64> {
    static __device__ __forceinline__ f64 lowest() { return -(f64)infinity(); }
    static __device__ __forceinline__ f64 greatest() { return (f64)infinity(); }
};
template <>
struct Limits<i32> {
    static __device__ __forceinline__ i32 lowest() { return (i32)0x80000000; }
    static __device__ __forceinline__ i32 greatest() { return 0x7fffffff; }
};
template <>
struct Limits<i64> {
    static __device__ __forceinline__ i64 lowest() { return (i64)0x8000000000000000; }
    static __device__ __forceinline__ i64 greatest() { return 0x7fffffffffffffff; }
};

__device__ __forceinline__ f32 divided(f32 sum, count_t extent) { return sum / (f32)extent; }
__device__ __forceinline__ f64 divided(f64 sum, count_t extent) { return sum / (f64)extent; }
__device__ __forceinline__ i32 divided(i32 sum, count_t extent) { return extent == 0 ? 0 : (i32)(sum / (i64)extent); }
__device__ __forceinline__ i64 divided(i64 sum, count_t extent) { return extent == 0 ? 0 : sum / (i64)extent; }

// What most reductions do at the end: nothing.
struct AsItIs {
    template <class A>
    static __device__ __forceinline__ A finish(A value, count_t) { return value; }
};

// How to combine, from what to start, and what to do at the end.
template <class A>
struct Sum : Add, AsItIs {
    static __device__ __forceinline__ A neutral() { return A(0); }
};
template <class A>
struct Product : Multiply, AsItIs {
    static __device__ __forceinline__ A neutral() { return A(1); }
};
template <class A>
struct Mean : Add {
    static __device__ __forceinline__ A neutral() { return A(0); }
    static __device__ __forceinline__ A finish(A sum, count_t extent) { return divided(sum, extent); }
};
template <class A>
struct Maximum : Greater, AsItIs {
    static __device__ __forceinline__ A neutral() { return Limits<A>::lowest(); }
};
template <class A>
struct Minimum : Lesser, AsItIs {
    static __device__ __forceinline__ A neutral() { return Limits<A>::greatest(); }
};
// Of truth values: of nothing all are true, and none is.
template <class A>
struct All : Lesser, AsItIs {
    static __device__ __forceinline__ A neutral() { return A(1); }
};
template <class A>
struct Any : Greater, AsItIs {
    static __device__ __forceinline__ A neutral() { return A(0); }
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
// A mean finishes the parts of a sum.
#define SUMS(T) REDUCTION(sum, Sum, T) REDUCTION(mean, Mean, T) PARTS(sum, Sum, T)
#define PRODUCTS(T) REDUCTION(product, Product, T) PARTS(product, Product, T)
#define EXTREMES(T)                                                                                            \
    REDUCTION(maximum, Maximum, T) REDUCTION(minimum, Minimum, T) PARTS(maximum, Maximum, T) PARTS(minimum, Minimum, T)
