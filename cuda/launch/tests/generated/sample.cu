// targets: 75
#define HAS_FEW_FUNCTIONS
// Types of numbers of 32 and 64 bits, positions, and what else kernels need that computes with such numbers alone. Needs no
// headers of CUDA's.

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
// Functions of one element, computed in f32 or f64. Needs no headers of CUDA's.


namespace function {
INLINED neg(A x) { return -x; }
INLINED abs(A x) { return ::fabs(x); }
INLINED sign(A x) { return x > A(0) ? A(1) : (x < A(0) ? A(-1) : x); }
INLINED square(A x) { return x * x; }
INLINED floor(A x) { return ::floor(x); }
INLINED ceil(A x) { return ::ceil(x); }
INLINED round(A x) { return ::rint(x); }
INLINED relu(A x) { return ::maximum(x, A(0)); }
INLINED relu6(A x) { return ::minimum(::maximum(x, A(0)), A(6)); }
INLINED sqrt(A x) { return ::sqrt(x); }
INLINED rsqrt(A x) { return ::rsqrt(x); }
INLINED reciprocal(A x) { return A(1) / x; }
CALLED exp(A x) { return ::exp(x); }
CALLED expm1(A x) { return ::expm1(x); }
CALLED log(A x) { return ::log(x); }
CALLED log1p(A x) { return ::log1p(x); }
CALLED sin(A x) { return ::sin(x); }
CALLED cos(A x) { return ::cos(x); }
CALLED tan(A x) { return ::tan(x); }
CALLED asin(A x) { return ::asin(x); }
CALLED acos(A x) { return ::acos(x); }
CALLED atan(A x) { return ::atan(x); }
CALLED sinh(A x) { return ::sinh(x); }
CALLED cosh(A x) { return ::cosh(x); }
CALLED tanh(A x) { return ::tanh(x); }
CALLED asinh(A x) { return ::asinh(x); }
CALLED acosh(A x) { return ::acosh(x); }
CALLED atanh(A x) { return ::atanh(x); }
CALLED erf(A x) { return ::erf(x); }
CALLED erfc(A x) { return ::erfc(x); }
CALLED lgamma(A x) { return ::lgamma(x); }
// The denominator of the logistic function. In f32 the exponential function has few instructions.
static __device__ __forceinline__ f32 logistic(f32 x) { return 1 + ::exp(-x); }
[[maybe_unused]] static __device__ __noinline__ f64 logistic(f64 x) { return 1 + ::exp(-x); }
INLINED sigmoid(A x) { return A(1) / logistic(x); }
INLINED silu(A x) { return x / logistic(x); }
// Of the two forms of the same, the one that neither overflows nor loses the small term.
CALLED softplus(A x) { return ::maximum(x, A(0)) + ::log1p(::exp(-::fabs(x))); }
INLINED softsign(A x) { return x / (A(1) + ::fabs(x)); }
CALLED elu(A x) { return x < A(0) ? ::expm1(x) : x; }
CALLED selu(A x) {
    return x < A(0) ? A(1.7580993408473768599402175208123) * ::expm1(x) : A(1.0507009873554804934193349852946) * x;
}
CALLED gelu(A x) { return A(0.5) * x * (A(1) + ::erf(x * A(0.70710678118654752440))); }
CALLED gelu_tanh(A x) {
    return A(0.5) * x * (A(1) + ::tanh(A(0.79788456080286535588) * (x + A(0.044715) * x * x * x)));
}
}  // namespace function
// What kernels share that a compiler generates for the elementwise functions of a program; see `generated.rs`. Needs no
// headers of CUDA's, so that they can be compiled where there is nothing but the compiler.


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

KERNEL fused_0(f32 *y, u32 n, const f32 *x0, const f32 *x1) {
    auto steps = [](f32 x0, f32 x1) {
        f32 s0 = x0 + x1;
        f32 s1 = x0 - x1;
        f32 s2 = s0 + s1;
        f32 s3 = x0 * x1;
        f32 s4 = s2 + s3;
        f32 s5 = maximum<f32>(x0, x1);
        f32 s6 = s4 + s5;
        f32 s7 = minimum<f32>(x0, x1);
        f32 s8 = s6 + s7;
        f32 s9 = function::square(x0 - x1);
        f32 s10 = s8 + s9;
        f32 s11 = x0 > 0.0f ? x0 : x1 * x0;
        f32 s12 = s10 + s11;
        f32 s13 = function::abs<f32>(x0);
        f32 s14 = s12 + s13;
        f32 s15 = function::ceil<f32>(x0);
        f32 s16 = s14 + s15;
        f32 s17 = function::elu<f32>(x0);
        f32 s18 = s16 + s17;
        f32 s19 = function::erf<f32>(x0);
        f32 s20 = s18 + s19;
        f32 s21 = function::exp<f32>(x0);
        f32 s22 = s20 + s21;
        f32 s23 = function::expm1<f32>(x0);
        f32 s24 = s22 + s23;
        f32 s25 = function::floor<f32>(x0);
        f32 s26 = s24 + s25;
        f32 s27 = function::gelu<f32>(x0);
        f32 s28 = s26 + s27;
        f32 s29 = function::gelu_tanh<f32>(x0);
        f32 s30 = s28 + s29;
        f32 s31 = function::neg<f32>(x0);
        f32 s32 = s30 + s31;
        f32 s33 = function::relu<f32>(x0);
        f32 s34 = s32 + s33;
        f32 s35 = function::relu6<f32>(x0);
        f32 s36 = s34 + s35;
        f32 s37 = function::round<f32>(x0);
        f32 s38 = s36 + s37;
        f32 s39 = function::selu<f32>(x0);
        f32 s40 = s38 + s39;
        f32 s41 = function::sigmoid<f32>(x0);
        f32 s42 = s40 + s41;
        f32 s43 = function::softplus<f32>(x0);
        f32 s44 = s42 + s43;
        f32 s45 = function::softsign<f32>(x0);
        f32 s46 = s44 + s45;
        f32 s47 = function::square<f32>(x0);
        f32 s48 = s46 + s47;
        f32 s49 = function::tanh<f32>(x0);
        return s48 + s49;
    };
    fuse(y, n, steps, Whole<f32>{x0}, Whole<f32>{x1});
}

KERNEL fused_1(f32 *y, u32 n, const f32 *x0, const f32 *x1) {
    auto steps = [](f32 x0, f32 x1) {
        f32 s0 = x0 / x1;
        f32 s1 = function::log<f32>(x0);
        f32 s2 = s0 + s1;
        f32 s3 = function::reciprocal<f32>(x0);
        f32 s4 = s2 + s3;
        f32 s5 = function::rsqrt<f32>(x0);
        f32 s6 = s4 + s5;
        f32 s7 = function::sqrt<f32>(x0);
        return s6 + s7;
    };
    fuse(y, n, steps, Whole<f32>{x0}, Whole<f32>{x1});
}

KERNEL fused_2(f32 *y, u32 n, const f32 *x0) {
    auto steps = [](f32 x0) {
        f32 s0 = function::sigmoid<f32>(x0);
        f32 s1 = function::silu<f32>(x0);
        f32 s2 = function::sigmoid<f32>(s1);
        return function::silu<f32>(s1);
    };
    fuse(y, n, steps, Whole<f32>{x0});
}

KERNEL fused_3(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Whole<f32>{x0}, Repeated<f32, Axis<1, 8, 1>, Axis<96, 2, 8>>{x1}, Repeated<f32, Axis<1, 8, 1>>{x2});
}

KERNEL fused_4(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Whole<f32>{x0}, Repeated<f32, Axis<32, 6, 1>>{x1}, Repeated<f32>{x2});
}

KERNEL fused_5(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f32, Axis<1, 6, 1>>{x0}, Repeated<f32, Axis<6, 24, 1>>{x1}, Repeated<f32>{x2});
}

KERNEL fused_6(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f32, Axis<5, 3, 1>>{x0}, Repeated<f32, Axis<1, 5, 1>>{x1}, Repeated<f32>{x2});
}

KERNEL fused_7(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f32, Axis<3, 30, 1>>{x0}, Repeated<f32, Axis<1, 3, 1>, Axis<15, 6, 3>>{x1}, Whole<f32>{x2});
}

KERNEL fused_8(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f32, Axis<1, 4, 1>, Axis<20, 3, 4>, Axis<300, 2, 12>>{x0}, Repeated<f32, Axis<4, 5, 1>, Axis<60, 5, 5>>{x1}, Whole<f32>{x2});
}

KERNEL fused_9(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f32>{x0}, Repeated<f32>{x1}, Repeated<f32>{x2});
}

KERNEL fused_10(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Whole<f16>{x0}, Repeated<f16, Axis<1, 8, 1>, Axis<96, 2, 8>>{x1}, Repeated<f16, Axis<1, 8, 1>>{x2});
}

KERNEL fused_11(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Whole<f16>{x0}, Repeated<f16, Axis<32, 6, 1>>{x1}, Repeated<f16>{x2});
}

KERNEL fused_12(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f16, Axis<1, 6, 1>>{x0}, Repeated<f16, Axis<6, 24, 1>>{x1}, Repeated<f16>{x2});
}

KERNEL fused_13(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f16, Axis<5, 3, 1>>{x0}, Repeated<f16, Axis<1, 5, 1>>{x1}, Repeated<f16>{x2});
}

KERNEL fused_14(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f16, Axis<3, 30, 1>>{x0}, Repeated<f16, Axis<1, 3, 1>, Axis<15, 6, 3>>{x1}, Whole<f16>{x2});
}

KERNEL fused_15(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f16, Axis<1, 4, 1>, Axis<20, 3, 4>, Axis<300, 2, 12>>{x0}, Repeated<f16, Axis<4, 5, 1>, Axis<60, 5, 5>>{x1}, Whole<f16>{x2});
}

KERNEL fused_16(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f16>{x0}, Repeated<f16>{x1}, Repeated<f16>{x2});
}

KERNEL fused_17(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Whole<bf16>{x0}, Repeated<bf16, Axis<1, 8, 1>, Axis<96, 2, 8>>{x1}, Repeated<bf16, Axis<1, 8, 1>>{x2});
}

KERNEL fused_18(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Whole<bf16>{x0}, Repeated<bf16, Axis<32, 6, 1>>{x1}, Repeated<bf16>{x2});
}

KERNEL fused_19(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<bf16, Axis<1, 6, 1>>{x0}, Repeated<bf16, Axis<6, 24, 1>>{x1}, Repeated<bf16>{x2});
}

KERNEL fused_20(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<bf16, Axis<5, 3, 1>>{x0}, Repeated<bf16, Axis<1, 5, 1>>{x1}, Repeated<bf16>{x2});
}

KERNEL fused_21(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<bf16, Axis<3, 30, 1>>{x0}, Repeated<bf16, Axis<1, 3, 1>, Axis<15, 6, 3>>{x1}, Whole<bf16>{x2});
}

KERNEL fused_22(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<bf16, Axis<1, 4, 1>, Axis<20, 3, 4>, Axis<300, 2, 12>>{x0}, Repeated<bf16, Axis<4, 5, 1>, Axis<60, 5, 5>>{x1}, Whole<bf16>{x2});
}

KERNEL fused_23(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<bf16>{x0}, Repeated<bf16>{x1}, Repeated<bf16>{x2});
}
