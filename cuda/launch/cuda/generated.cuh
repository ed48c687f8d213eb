// What kernels share that a compiler generates for the elementwise functions of a program; see `generated.rs`. Needs no
// headers of CUDA's, so that they can be compiled where there is nothing but the compiler.
#pragma once

#include "functions.cuh"

#define INLINE __device__ __forceinline__

// ---- Numbers of 16 bits, which are computed in f32 and rounded to nearest even --------------------------------------

struct f16 { u16 bits; };
struct bf16 { u16 bits; };

template <class T>
INLINE f32 widen(T x) { return x; }
template <>
INLINE f32 widen<f16>(f16 x) {
    f32 wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
    return wide;
}
template <>
INLINE f32 widen<bf16>(bf16 x) { return __uint_as_float((u32)x.bits << 16); }

template <class T>
INLINE T narrow(f32 x) { return x; }
template <>
INLINE f16 narrow<f16>(f32 x) {
    f16 narrowed;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrowed.bits) : "f"(x));
    return narrowed;
}
template <>
INLINE bf16 narrow<bf16>(f32 x) {
    u32 bits = __float_as_uint(x);
    return {x != x ? (u16)0x7fff : (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

// ---- Arguments ------------------------------------------------------------------------------------------------------

// The number of elements in 16 bytes.
template <class T>
constexpr u32 LENGTH = 16 / sizeof(T);

template <class T>
struct alignas(16) Pack { T at[LENGTH<T>]; };

// The elements of a pack as they are computed.
template <class T>
struct Numbers { f32 at[LENGTH<T>]; };

template <class T>
INLINE Numbers<T> load(const T *x) {
    Pack<T> pack = *reinterpret_cast<const Pack<T> *>(x);
    Numbers<T> numbers;
#pragma unroll
    for (u32 k = 0; k < LENGTH<T>; ++k) numbers.at[k] = widen(pack.at[k]);
    return numbers;
}

// An argument whose elements lie as the result's do.
template <class T>
struct Whole {
    const T *x;

    INLINE bool has_packs() const { return aligned_to_16(x); }
    INLINE f32 at(u32 i) const { return widen(x[i]); }
    // Those that belong to the pack from position i on.
    INLINE Numbers<T> pack(u32 i) const { return load(x + i); }
};

// Where the element for position i of the result lies, along one axis or several that lie in order: in elements.
template <u32 DIVISOR, u32 EXTENT, u32 STRIDE>
struct Axis {
    INLINE static u32 place(u32 i) { return i / DIVISOR % EXTENT * STRIDE; }
    // Whether that is the same place for all elements of a pack of N.
    INLINE static constexpr bool is_same(u32 n) { return DIVISOR % n == 0; }
    // Whether those are the next places.
    INLINE static constexpr bool is_next(u32 n) { return DIVISOR == 1 && STRIDE == 1 && EXTENT % n == 0; }
};

// An argument that is repeated along the axes that are not named.
template <class T, class... Axes>
struct Repeated {
    static constexpr u32 N = LENGTH<T>;
    static constexpr bool IS_ONE = (Axes::is_same(N) && ...);
    static constexpr bool IS_PACK = !IS_ONE && ((Axes::is_same(N) || Axes::is_next(N)) && ...);

    const T *x;

    INLINE bool has_packs() const { return !IS_PACK || aligned_to_16(x); }
    INLINE f32 at(u32 i) const { return widen(x[(0u + ... + Axes::place(i))]); }
    INLINE Numbers<T> pack(u32 i) const {
        if constexpr (IS_PACK) {
            return load(x + (0u + ... + Axes::place(i)));
        } else {
            Numbers<T> numbers;
#pragma unroll
            for (u32 k = 0; k < N; ++k) numbers.at[k] = k > 0 && IS_ONE ? numbers.at[0] : at(i + k);
            return numbers;
        }
    }
};

// ---- The loop -------------------------------------------------------------------------------------------------------

template <class T, class Steps, class... Inputs>
INLINE void store(T *y, Steps steps, const Inputs &...x) {
    Pack<T> pack;
#pragma unroll
    for (u32 k = 0; k < LENGTH<T>; ++k) pack.at[k] = narrow<T>(steps(x.at[k]...));
    *reinterpret_cast<Pack<T> *>(y) = pack;
}

// y[i] = steps(x.at(i)...) for all i below n, in packs where the pointers allow it. y may be an argument that is whole.
template <class T, class Steps, class... Arguments>
INLINE void fuse(T *y, u32 n, Steps steps, Arguments... x) {
    count_t done = 0;
    if (aligned_to_16(y) && (x.has_packs() && ...)) {
        u32 packs = n / LENGTH<T>;
        for (count_t p = global_thread(); p < packs; p += global_threads()) {
            u32 i = (u32)p * LENGTH<T>;
            store(y + i, steps, x.pack(i)...);
        }
        done = packs * LENGTH<T>;
    }
    for (count_t i = done + global_thread(); i < n; i += global_threads()) {
        y[i] = narrow<T>(steps(x.at((u32)i)...));
    }
}
