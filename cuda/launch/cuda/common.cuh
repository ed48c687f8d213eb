// What the kernels of this folder share: names of types, 16-byte packs, grid-stride loops, sums over warps and blocks.
//
// Conventions of every kernel here, unless its file says otherwise:
//   - `extern "C"`, named FUNCTION_TYPE (`add_f16`) or FUNCTION_BITS (`copy_b32`) where only the width matters.
//   - Parameters: outputs, inputs, counts, scalars, in this order; none is a struct, so that programs can pass them.
//     Pointers are 64-bit device addresses, aligned to their element. Counts are in elements and 64 bits wide
//     (`count_t`), those of windows 32.
//   - Any grid and any one-dimensional block with a multiple of 32 threads computes the same result: loops stride over
//     the grid. No kernel needs dynamic shared memory, initialized memory or an order between blocks, and none uses
//     atomics: the same input gives the same bits.
//   - Elementwise kernels take 16 bytes at a time where all their pointers are aligned to 16, the rest one by one.
//     Such an output may be one of the inputs; it must not overlap them otherwise.
//   - f16 and bf16 are computed in f32 and rounded once, to nearest even.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "scalars.cuh"

using f16 = __half;
using bf16 = __nv_bfloat16;

constexpr u32 WARP = 32;
constexpr u32 FULL_WARP = 0xffffffffu;
// The most warps a block has.
constexpr u32 WARPS_MAX = 32;

// ---- Positions ------------------------------------------------------------------------------------------------------

__device__ __forceinline__ u32 lane() { return threadIdx.x % WARP; }
__device__ __forceinline__ u32 warp_in_block() { return threadIdx.x / WARP; }

// position / extent, in 32 bits where that is enough: a 64-bit division costs several times as much.
__device__ __forceinline__ count_t quotient(count_t position, count_t extent) {
    return (position | extent) >> 32 == 0 ? (u32)position / (u32)extent : position / extent;
}
__device__ __forceinline__ count_t remainder(count_t position, count_t extent) {
    return position - quotient(position, extent) * extent;
}

// ---- Shapes ---------------------------------------------------------------------------------------------------------

constexpr u32 RANK_MAX = 6;

// An output of six axes, outermost first, whose elements lie in order, and where the element that belongs to each lies in
// up to two inputs: at the sum of position * stride. Strides are in elements; 0 repeats the input along the axis. Outputs
// of fewer axes have leading extents of 1, and nobody has more than fits after neighbouring axes are merged.
struct Strided {
    count_t extent[RANK_MAX];
    i64 a[RANK_MAX];
    i64 b[RANK_MAX];
};
// As parameters of a kernel, which are scalars: that is what programs can pass.
#define STRIDED_PARAMETERS                                                                                  \
    count_t e0, count_t e1, count_t e2, count_t e3, count_t e4, count_t e5, i64 a0, i64 a1, i64 a2, i64 a3, \
        i64 a4, i64 a5, i64 b0, i64 b1, i64 b2, i64 b3, i64 b4, i64 b5
#define STRIDED (Strided{{e0, e1, e2, e3, e4, e5}, {a0, a1, a2, a3, a4, a5}, {b0, b1, b2, b3, b4, b5}})

// Where the element that belongs to output `position` lies in both inputs.
__device__ __forceinline__ void locate(const Strided &shape, count_t position, i64 &a, i64 &b) {
    a = b = 0;
#pragma unroll
    for (i32 axis = RANK_MAX - 1; axis >= 0; --axis) {
        if (shape.extent[axis] == 1) continue;
        count_t rest = quotient(position, shape.extent[axis]);
        i64 at = position - rest * shape.extent[axis];
        position = rest;
        a += at * shape.a[axis];
        b += at * shape.b[axis];
    }
}

// ---- Arithmetic type of an element ----------------------------------------------------------------------------------

// What a sum of elements of this type is kept in: of integers a type that has all of their values.
template <class T>
struct Accumulator { using type = f32; };
template <>
struct Accumulator<f64> { using type = f64; };
template <>
struct Accumulator<i8> { using type = i32; };
template <>
struct Accumulator<u8> { using type = i32; };
template <>
struct Accumulator<i16> { using type = i32; };
template <>
struct Accumulator<u16> { using type = i32; };
template <>
struct Accumulator<i32> { using type = i32; };
template <>
struct Accumulator<u32> { using type = i64; };
template <>
struct Accumulator<i64> { using type = i64; };
template <>
struct Accumulator<u64> { using type = u64; };
template <class T>
using accumulator = typename Accumulator<T>::type;

template <class T>
__device__ __forceinline__ accumulator<T> widen(T x) { return x; }
template <>
__device__ __forceinline__ f32 widen<f16>(f16 x) { return __half2float(x); }
template <>
__device__ __forceinline__ f32 widen<bf16>(bf16 x) { return __bfloat162float(x); }

// Integers keep their low bits.
template <class T>
__device__ __forceinline__ T narrow(accumulator<T> x) { return x; }
template <>
__device__ __forceinline__ f16 narrow<f16>(f32 x) { return __float2half_rn(x); }
template <>
__device__ __forceinline__ bf16 narrow<bf16>(f32 x) { return __float2bfloat16_rn(x); }

template <class A>
__device__ __forceinline__ bool is_negative(A x) { return x < A(0); }
template <>
__device__ __forceinline__ bool is_negative<u64>(u64) { return false; }

// ---- 16 bytes at a time ---------------------------------------------------------------------------------------------

// As many elements as 16 bytes hold.
template <class T>
struct Pack {
    static constexpr u32 LENGTH = 16 / sizeof(T);
    union {
        uint4 bits;
        u8 storage[16];
    };
    __device__ __forceinline__ T &operator[](u32 i) { return reinterpret_cast<T *>(storage)[i]; }
    __device__ __forceinline__ T operator[](u32 i) const { return reinterpret_cast<const T *>(storage)[i]; }
};

template <class T>
__device__ __forceinline__ Pack<T> load_pack(const T *p) {
    Pack<T> pack;
    pack.bits = *reinterpret_cast<const uint4 *>(p);
    return pack;
}
template <class T>
__device__ __forceinline__ void store_pack(T *p, const Pack<T> &pack) {
    *reinterpret_cast<uint4 *>(p) = pack.bits;
}

// Some elements that are loaded and stored at once, of 16 bytes at most.
template <class T, u32 N>
struct alignas(sizeof(T) * N) Group {
    T at[N];
};

// y[i] = f(i, x[i]...) for all i below n, all of one type, in packs where the pointers allow it.
template <class T, class F, class... Inputs>
__device__ __forceinline__ void map(T *y, count_t n, F f, const Inputs *...x) {
    count_t done = 0;
    if (aligned_to_16(y, x...)) {
        constexpr u32 LENGTH = Pack<T>::LENGTH;
        count_t packs = n / LENGTH;
        for (count_t p = global_thread(); p < packs; p += global_threads()) {
            count_t start = p * LENGTH;
            map_pack(y + start, start, f, load_pack(x + start)...);
        }
        done = packs * LENGTH;
    }
    for (count_t i = done + global_thread(); i < n; i += global_threads()) y[i] = f(i, x[i]...);
}
template <class T, class F, class... Packs>
__device__ __forceinline__ void map_pack(T *y, count_t start, F f, const Packs &...x) {
    Pack<T> out;
#pragma unroll
    for (u32 k = 0; k < Pack<T>::LENGTH; ++k) out[k] = f(start + k, x[k]...);
    store_pack(y, out);
}

// ---- Over a warp, over a block --------------------------------------------------------------------------------------

struct Add {
    template <class A>
    __device__ __forceinline__ A operator()(A a, A b) const { return a + b; }
    // Unsigned, so that they wrap.
    __device__ __forceinline__ i32 operator()(i32 a, i32 b) const { return (i32)((u32)a + (u32)b); }
    __device__ __forceinline__ i64 operator()(i64 a, i64 b) const { return (i64)((u64)a + (u64)b); }
};
struct Subtract {
    template <class A>
    __device__ __forceinline__ A operator()(A a, A b) const { return a - b; }
    __device__ __forceinline__ i32 operator()(i32 a, i32 b) const { return (i32)((u32)a - (u32)b); }
    __device__ __forceinline__ i64 operator()(i64 a, i64 b) const { return (i64)((u64)a - (u64)b); }
};
struct Multiply {
    template <class A>
    __device__ __forceinline__ A operator()(A a, A b) const { return a * b; }
    __device__ __forceinline__ i32 operator()(i32 a, i32 b) const { return (i32)((u32)a * (u32)b); }
    __device__ __forceinline__ i64 operator()(i64 a, i64 b) const { return (i64)((u64)a * (u64)b); }
};
struct Greater {
    template <class A>
    __device__ __forceinline__ A operator()(A a, A b) const { return maximum(a, b); }
};
struct Lesser {
    template <class A>
    __device__ __forceinline__ A operator()(A a, A b) const { return minimum(a, b); }
};

// Combines a value of each lane; every lane gets the result.
template <class A, class Op>
__device__ __forceinline__ A over_warp(A value, Op op) {
#pragma unroll
    for (u32 step = WARP / 2; step > 0; step /= 2) value = op(value, __shfl_xor_sync(FULL_WARP, value, step));
    return value;
}

// Combines a value of each thread of the block; every thread gets the result. The neutral value stands in for warps that
// do not exist. Every thread of the block must call it.
template <class A, class Op>
__device__ __forceinline__ A over_block(A value, A neutral, Op op) {
    __shared__ A partial[WARPS_MAX];
    value = over_warp(value, op);
    // The result of an earlier call may still be being read.
    __syncthreads();
    if (lane() == 0) partial[warp_in_block()] = value;
    __syncthreads();
    value = lane() < blockDim.x / WARP ? partial[lane()] : neutral;
    return over_warp(value, op);
}
