// Types of numbers of 32 and 64 bits, positions, and what else kernels need that computes with such numbers alone. Needs no
// headers of CUDA's.
#pragma once

using f32 = float;
using f64 = double;
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
// The type of element counts and element positions.
using count_t = u64;

#define KERNEL extern "C" __global__ void

// Functions of one element. Kernels unroll what they inline, so those of more than a few instructions are called, but in
// kernels of few functions.
#define INLINED \
    template <class A> \
    static __device__ __forceinline__ A
#ifdef HAS_FEW_FUNCTIONS
#define CALLED INLINED
#else
#define CALLED \
    template <class A> \
    static __device__ __noinline__ A
#endif

// NVRTC has no <cmath>.
__device__ __forceinline__ f32 infinity() { return __int_as_float(0x7f800000); }
__device__ __forceinline__ f32 quiet_nan() { return __int_as_float(0x7fc00000); }

__device__ __forceinline__ count_t global_thread() { return (count_t)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ count_t global_threads() { return (count_t)gridDim.x * blockDim.x; }

// The greater of two; NaN if either is.
template <class A>
__device__ __forceinline__ A maximum(A a, A b) { return a > b ? a : b; }
template <>
__device__ __forceinline__ f32 maximum<f32>(f32 a, f32 b) { return a > b || a != a ? a : b; }
template <>
__device__ __forceinline__ f64 maximum<f64>(f64 a, f64 b) { return a > b || a != a ? a : b; }
// The lesser of two; NaN if either is.
template <class A>
__device__ __forceinline__ A minimum(A a, A b) { return a < b ? a : b; }
template <>
__device__ __forceinline__ f32 minimum<f32>(f32 a, f32 b) { return a < b || a != a ? a : b; }
template <>
__device__ __forceinline__ f64 minimum<f64>(f64 a, f64 b) { return a < b || a != a ? a : b; }

__device__ __forceinline__ bool aligned_to_16() { return true; }
// Whether all these pointers are aligned to 16 bytes.
template <class P, class... Rest>
__device__ __forceinline__ bool aligned_to_16(const P *p, const Rest *...rest) {
    return (reinterpret_cast<u64>(p) & 15) == 0 && aligned_to_16(rest...);
}
