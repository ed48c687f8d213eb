// targets: 75
//
// Functions of two elements, of inputs of one shape or broadcast.
//
//   FUNCTION_{f32,f16,bf16,f64,i32,i64}(y, a, b, n)     y[i] = FUNCTION(a[i], b[i])
//   broadcast_{f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64}(y, a, b, n, function, e0..e5, a0..a5, b0..b5)
//       the same for an output of extents e0..e5 (n their product) and inputs of strides a0..a5 and b0..b5
//       (struct Strided of common.cuh); function is a number (u32). Types that have no FUNCTION_TYPE have this alone
//   axpy_{f32,f16}(y, x, n, alpha)              y[i] = y[i] + alpha * x[i]; alpha is f32
//   bitwise_b{8,16,32,64}(y, a, b, n, function)   y[i] = a[i] and b[i], bit by bit; function (u32): 0 and, 1 or, 2 exclusive or
//
//   number    0    1    2    3    4        5        6                   7
//   function  add  sub  mul  div  maximum  minimum  squared_difference  pow
//   number    8          9          10          11          12     13   14
//   function  floor_div  floor_mod  div_no_nan  mul_no_nan  atan2  mod  truncate_div
//
// The numbers are part of the kernels' interface: new ones come last.
//
// maximum and minimum give NaN if either is NaN. floor_div and floor_mod round down, so that the rest has the divisor's
// sign; truncate_div rounds toward zero, and mod is the rest of that, of the dividend's sign; div_no_nan and mul_no_nan give
// zero where b is. Integers wrap; div is truncate_div there, and quotient and rest of a divisor of zero are zero; pow with a
// negative exponent is the power without its fraction: 1 and -1 have one, all others (and 0) give zero. Of div_no_nan,
// mul_no_nan and atan2 integers have none (as a number these give zero). The broadcast output may be an input only if that is
// not repeated.
#include "common.cuh"

CALLED power(A a, A b) { return pow(a, b); }
CALLED angle(A a, A b) { return atan2(a, b); }
CALLED rest(A a, A b) {
    A r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
CALLED modulo(A a, A b) { return fmod(a, b); }

// Quotients and rests of integers. Of the least number by -1 the processor has none; what wraps is the number itself.
template <class A>
static __device__ __forceinline__ bool is_minus_one(A b) { return is_negative(b) && b == A(-1); }
CALLED truncated(A a, A b) { return b == 0 ? A(0) : (is_minus_one(b) ? (A)(0 - (u64)a) : a / b); }
CALLED truncated_rest(A a, A b) { return b == 0 || is_minus_one(b) ? A(0) : a % b; }
// Rounded down, the quotient is one less where there is a rest whose sign is not the divisor's.
INLINED floored(A a, A b) {
    A q = truncated(a, b), r = b == 0 ? A(0) : (A)((u64)a - (u64)q * (u64)b);
    return r != 0 && is_negative(r) != is_negative(b) ? q - 1 : q;
}
INLINED floored_rest(A a, A b) {
    A r = truncated_rest(a, b);
    return r != 0 && is_negative(r) != is_negative(b) ? r + b : r;
}

// By squaring; what wraps is what multiplying again and again would give.
CALLED integer_power(A a, A b) {
    if (is_negative(b)) {
        if (a == 1) return 1;
        if (!is_minus_one(a)) return 0;
        b = b & 1;  // Only whether it is odd counts.
    }
    u64 power = 1, square = (u64)a;
    for (; b != 0; b >>= 1) {
        if (b & 1) power *= square;
        square *= square;
    }
    return (A)power;
}

// Integers as unsigned ones U where they may overflow.
#define FUNCTION(NAME, FLOAT, INTEGER)                                                                      \
    struct NAME {                                                                                           \
        static __device__ __forceinline__ f32 run(f32 a, f32 b) { return FLOAT; }                           \
        static __device__ __forceinline__ f64 run(f64 a, f64 b) { return FLOAT; }                           \
        static __device__ __forceinline__ i32 run(i32 a, i32 b) {                                           \
            using U = u32;                                                                                  \
            return (i32)(INTEGER);                                                                          \
        }                                                                                                   \
        static __device__ __forceinline__ i64 run(i64 a, i64 b) {                                           \
            using U = u64;                                                                                  \
            return (i64)(INTEGER);                                                                          \
        }                                                                                                   \
        static __device__ __forceinline__ u64 run(u64 a, u64 b) {                                           \
            using U = u64;                                                                                  \
            return INTEGER;                                                                                 \
        }                                                                                                   \
    };

namespace function {
FUNCTION(add, a + b, (U)a + (U)b)
FUNCTION(sub, a - b, (U)a - (U)b)
FUNCTION(mul, a * b, (U)a * (U)b)
FUNCTION(div, a / b, truncated(a, b))
FUNCTION(maximum, ::maximum(a, b), a > b ? a : b)
FUNCTION(minimum, ::minimum(a, b), a < b ? a : b)
FUNCTION(squared_difference, (a - b) * (a - b), ((U)a - (U)b) * ((U)a - (U)b))
FUNCTION(pow, power(a, b), integer_power(a, b))
FUNCTION(floor_div, floor(a / b), floored(a, b))
FUNCTION(floor_mod, rest(a, b), floored_rest(a, b))
FUNCTION(div_no_nan, b == 0 ? 0 : a / b, U(0))
FUNCTION(mul_no_nan, b == 0 ? 0 : a * b, U(0))
FUNCTION(atan2, angle(a, b), U(0))
FUNCTION(mod, modulo(a, b), truncated_rest(a, b))
FUNCTION(truncate_div, trunc(a / b), truncated(a, b))
}  // namespace function

template <class A>
__device__ __forceinline__ A apply(u32 number, A a, A b) {
    switch (number) {
        case 0: return function::add::run(a, b);
        case 1: return function::sub::run(a, b);
        case 2: return function::mul::run(a, b);
        case 3: return function::div::run(a, b);
        case 4: return function::maximum::run(a, b);
        case 5: return function::minimum::run(a, b);
        case 6: return function::squared_difference::run(a, b);
        case 7: return function::pow::run(a, b);
        case 8: return function::floor_div::run(a, b);
        case 9: return function::floor_mod::run(a, b);
        case 10: return function::div_no_nan::run(a, b);
        case 11: return function::mul_no_nan::run(a, b);
        case 13: return function::mod::run(a, b);
        case 14: return function::truncate_div::run(a, b);
        default: return function::atan2::run(a, b);
    }
}

constexpr u32 LAST = RANK_MAX - 1;

// Whether an input can be read in packs along the last axis: it is repeated there, or lies in order and aligned.
template <class T>
__device__ __forceinline__ bool in_packs(const T *x, const i64 (&stride)[RANK_MAX]) {
    if (stride[LAST] == 0) return true;
    u64 all = 0;
#pragma unroll
    for (u32 axis = 0; axis < LAST; ++axis) all |= (u64)stride[axis];
    return stride[LAST] == 1 && all % Pack<T>::LENGTH == 0 && aligned_to_16(x);
}

template <class T>
__device__ __forceinline__ Pack<T> load_or_repeat(const T *x, bool repeat) {
    if (!repeat) return load_pack(x);
    Pack<T> pack;
    T value = *x;
#pragma unroll
    for (u32 k = 0; k < Pack<T>::LENGTH; ++k) pack[k] = value;
    return pack;
}

// Whether a type's elements are taken in packs: not those that are rare, and many in a pack, so that there is less code.
template <class T>
constexpr bool HAS_PACKS = true;
#define ONE_BY_ONE(T) \
    template <>       \
    constexpr bool HAS_PACKS<T> = false;
ONE_BY_ONE(i8)
ONE_BY_ONE(u8)
ONE_BY_ONE(i16)
ONE_BY_ONE(u16)
ONE_BY_ONE(u32)
ONE_BY_ONE(u64)

template <class T>
__device__ __forceinline__ void broadcast(T *y, const T *a, const T *b, count_t n, const Strided &shape, u32 number) {
    constexpr u32 LENGTH = Pack<T>::LENGTH;
    bool packs = HAS_PACKS<T> && shape.extent[LAST] % LENGTH == 0 && aligned_to_16(y) && in_packs(a, shape.a) &&
                 in_packs(b, shape.b);
    u32 step = packs ? LENGTH : 1;
    for (count_t i = global_thread() * step; i < n; i += global_threads() * step) {
        i64 at_a, at_b;
        locate(shape, i, at_a, at_b);
        if (packs) {
            Pack<T> x = load_or_repeat(a + at_a, shape.a[LAST] == 0), z = load_or_repeat(b + at_b, shape.b[LAST] == 0);
#pragma unroll
            for (u32 k = 0; k < LENGTH; ++k) x[k] = narrow<T>(apply(number, widen<T>(x[k]), widen<T>(z[k])));
            store_pack(y + i, x);
        } else {
            y[i] = narrow<T>(apply(number, widen<T>(a[at_a]), widen<T>(b[at_b])));
        }
    }
}

#define BINARY(NAME, T)                                                                                     \
    KERNEL NAME##_##T(T *y, const T *a, const T *b, count_t n) {                                            \
        map(y, n, [](count_t, T a, T b) { return narrow<T>(function::NAME::run(widen<T>(a), widen<T>(b))); }, a, b); \
    }
#define BROADCAST(T)                                                                                        \
    KERNEL broadcast_##T(T *y, const T *a, const T *b, count_t n, u32 function, STRIDED_PARAMETERS) {       \
        broadcast(y, a, b, n, STRIDED, function);                                                           \
    }
#define FAMILY(T)                                                                                           \
    BINARY(add, T)                                                                                          \
    BINARY(sub, T)                                                                                          \
    BINARY(mul, T)                                                                                          \
    BINARY(div, T)                                                                                          \
    BINARY(maximum, T)                                                                                      \
    BINARY(minimum, T)                                                                                      \
    BINARY(squared_difference, T)                                                                           \
    BINARY(floor_div, T)                                                                                    \
    BINARY(floor_mod, T)                                                                                    \
    BINARY(mod, T)                                                                                          \
    BINARY(truncate_div, T)                                                                                 \
    BROADCAST(T)
#define AXPY(T)                                                                                             \
    KERNEL axpy_##T(T *y, const T *x, count_t n, f32 alpha) {                                               \
        map(y, n, [=](count_t, T y, T x) { return narrow<T>(__fmaf_rn(alpha, widen<T>(x), widen<T>(y))); }, y, x); \
    }

FAMILY(f32)
FAMILY(f16)
FAMILY(bf16)
FAMILY(f64)
FAMILY(i32)
FAMILY(i64)

BROADCAST(i8)
BROADCAST(u8)
BROADCAST(i16)
BROADCAST(u16)
BROADCAST(u32)
BROADCAST(u64)

#define OF_FLOATS(NAME) BINARY(NAME, f32) BINARY(NAME, f16) BINARY(NAME, bf16) BINARY(NAME, f64)
OF_FLOATS(pow)
BINARY(pow, i32)
BINARY(pow, i64)
OF_FLOATS(div_no_nan)
OF_FLOATS(mul_no_nan)
OF_FLOATS(atan2)
AXPY(f32)
AXPY(f16)

#define BITWISE(BITS, T)                                                                                    \
    KERNEL bitwise_b##BITS(T *y, const T *a, const T *b, count_t n, u32 function) {                         \
        map(y, n, [=](count_t, T a, T b) { return (T)(function == 0 ? a & b : (function == 1 ? a | b : a ^ b)); }, a, b); \
    }
BITWISE(8, u8)
BITWISE(16, u16)
BITWISE(32, u32)
BITWISE(64, u64)
