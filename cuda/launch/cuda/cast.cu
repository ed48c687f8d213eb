// targets: 75
//
// Conversion between element types.
//
//   cast_FROM_TO(y, x, n)            y[i] = x[i] as TO
//   cast_truncate_FROM_TO(y, x, n)   the same without the digits that TO has no place for: f64 to f32, f32 to f16 and bf16
//
// Between f32 and each of f16, bf16, f64, i32, i64, u64, i8, u8, i1; between f64 and each of the same integers and i1; between
// i32 and each of i64, i8, u8, i16 and i1; between f16 and bf16; between i64 and i1; from u16 to i32, and from u32 to i64.
// Rounding is to nearest even. A floating-point number becomes an integer as on the processors TensorFlow is used on most:
// rounded toward zero to 32 or 64 bits, where what does not fit, NaN too, is the least number (u64: or, above what i64 has, the
// nearest one), and then wrapped to the type. Integers to narrower ones keep the low bits; those of one width are each other's
// bits.
// i1 is a byte that is 0 or 1; what is not zero (NaN included) gives 1.
// The output may be the input only where both have one size.
#include "common.cuh"

// A byte that holds a truth value.
struct i1 {
    u8 byte;
};

template <class To, class From>
struct Convert {
    static __device__ __forceinline__ To run(From x) { return static_cast<To>(x); }
};
template <class From>
struct Convert<f16, From> {
    static __device__ __forceinline__ f16 run(From x) { return narrow<f16>(widen(x)); }
};
template <class From>
struct Convert<bf16, From> {
    static __device__ __forceinline__ bf16 run(From x) { return narrow<bf16>(widen(x)); }
};
template <class From>
struct Convert<i1, From> {
    static __device__ __forceinline__ i1 run(From x) { return {static_cast<u8>(x != From(0))}; }
};
template <class To>
struct Convert<To, i1> {
    static __device__ __forceinline__ To run(i1 x) { return static_cast<To>(x.byte != 0); }
};
template <>
struct Convert<f32, f16> {
    static __device__ __forceinline__ f32 run(f16 x) { return widen(x); }
};
template <>
struct Convert<f32, bf16> {
    static __device__ __forceinline__ f32 run(bf16 x) { return widen(x); }
};
// What hardware does for numbers that do not fit differs from ours.
#define TO_INTEGERS(FLOAT, TO_I32, TO_I64, TO_U64)                                                     \
    template <>                                                                                        \
    struct Convert<i32, FLOAT> {                                                                       \
        static __device__ __forceinline__ i32 run(FLOAT x) {                                           \
            return x >= FLOAT(-0x1p31) && x < FLOAT(0x1p31) ? TO_I32(x) : (i32)0x80000000;             \
        }                                                                                              \
    };                                                                                                 \
    template <>                                                                                        \
    struct Convert<i64, FLOAT> {                                                                       \
        static __device__ __forceinline__ i64 run(FLOAT x) {                                           \
            return x >= FLOAT(-0x1p63) && x < FLOAT(0x1p63) ? TO_I64(x) : (i64)0x8000000000000000;     \
        }                                                                                              \
    };                                                                                                 \
    template <>                                                                                        \
    struct Convert<u64, FLOAT> {                                                                       \
        static __device__ __forceinline__ u64 run(FLOAT x) {                                           \
            if (x >= FLOAT(0x1p64)) return 0xffffffffffffffff;                                         \
            return x >= FLOAT(0x1p63) ? TO_U64(x) : (u64)Convert<i64, FLOAT>::run(x);                  \
        }                                                                                              \
    };                                                                                                 \
    template <>                                                                                        \
    struct Convert<i8, FLOAT> {                                                                        \
        static __device__ __forceinline__ i8 run(FLOAT x) { return (i8)Convert<i32, FLOAT>::run(x); }  \
    };                                                                                                 \
    template <>                                                                                        \
    struct Convert<u8, FLOAT> {                                                                        \
        static __device__ __forceinline__ u8 run(FLOAT x) { return (u8)Convert<i32, FLOAT>::run(x); }  \
    };

TO_INTEGERS(f32, __float2int_rz, __float2ll_rz, __float2ull_rz)
TO_INTEGERS(f64, __double2int_rz, __double2ll_rz, __double2ull_rz)

// Zeros in place of the digits that the narrower type has none for, and then rounds what is beyond or below its normal numbers.
template <class To, class From>
struct Truncate;
template <>
struct Truncate<f32, f64> {
    static __device__ __forceinline__ f32 run(f64 x) {
        return __double2float_rn(x != x ? x : __longlong_as_double(__double_as_longlong(x) >> 29 << 29));
    }
};
template <>
struct Truncate<f16, f32> {
    static __device__ __forceinline__ f16 run(f32 x) {
        return __float2half_rn(x != x ? x : __uint_as_float(__float_as_uint(x) >> 13 << 13));
    }
};
template <>
struct Truncate<bf16, f32> {
    static __device__ __forceinline__ bf16 run(f32 x) { return __float2bfloat16_rz(x); }
};

template <template <class, class> class Rule, class To, class From>
__device__ __forceinline__ void cast(To *y, const From *x, count_t n) {
    constexpr u32 SMALLER = sizeof(To) < sizeof(From) ? sizeof(To) : sizeof(From);
    constexpr u32 LARGER = sizeof(To) < sizeof(From) ? sizeof(From) : sizeof(To);
    constexpr u32 LENGTH = LARGER == SMALLER ? 16 / LARGER : (LARGER * 4 <= 16 ? 4 : 16 / LARGER);
    count_t done = 0;
    if (aligned_to_16(x, y)) {
        count_t groups = n / LENGTH;
        for (count_t g = global_thread(); g < groups; g += global_threads()) {
            Group<From, LENGTH> in = reinterpret_cast<const Group<From, LENGTH> *>(x)[g];
            Group<To, LENGTH> out;
#pragma unroll
            for (u32 k = 0; k < LENGTH; ++k) out.at[k] = Rule<To, From>::run(in.at[k]);
            reinterpret_cast<Group<To, LENGTH> *>(y)[g] = out;
        }
        done = groups * LENGTH;
    }
    for (count_t i = done + global_thread(); i < n; i += global_threads()) y[i] = Rule<To, From>::run(x[i]);
}

#define CAST(FROM, TO) \
    KERNEL cast_##FROM##_##TO(TO *y, const FROM *x, count_t n) { cast<Convert>(y, x, n); }
#define CAST_BOTH_WAYS(A, B) CAST(A, B) CAST(B, A)

CAST_BOTH_WAYS(f32, f16)
CAST_BOTH_WAYS(f32, bf16)
CAST_BOTH_WAYS(f32, f64)
CAST_BOTH_WAYS(f32, i32)
CAST_BOTH_WAYS(f32, i64)
CAST_BOTH_WAYS(f32, i8)
CAST_BOTH_WAYS(f32, u8)
CAST_BOTH_WAYS(f32, i1)
CAST_BOTH_WAYS(f16, bf16)
CAST_BOTH_WAYS(i32, i64)
CAST_BOTH_WAYS(i32, i1)
CAST_BOTH_WAYS(f64, i32)
CAST_BOTH_WAYS(f64, i64)
CAST_BOTH_WAYS(f64, i8)
CAST_BOTH_WAYS(f64, u8)
CAST_BOTH_WAYS(f64, i1)
CAST_BOTH_WAYS(i32, i8)
CAST_BOTH_WAYS(i32, u8)
CAST_BOTH_WAYS(i64, i1)
CAST_BOTH_WAYS(f32, u64)
CAST_BOTH_WAYS(f64, u64)
CAST_BOTH_WAYS(i32, i16)
CAST(u16, i32)
CAST(u32, i64)

#define CAST_TRUNCATE(FROM, TO) \
    KERNEL cast_truncate_##FROM##_##TO(TO *y, const FROM *x, count_t n) { cast<Truncate>(y, x, n); }

CAST_TRUNCATE(f64, f32)
CAST_TRUNCATE(f32, f16)
CAST_TRUNCATE(f32, bf16)
