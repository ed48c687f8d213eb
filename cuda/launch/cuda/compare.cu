// targets: 75
//
// Comparisons, truth values, and choosing by them. A truth value is a byte that is 0 or 1; every other byte is true.
//
//   {equal,not_equal,less,less_equal}_{f32,f16,bf16,f64,i8,u8,i32,i64}(y, a, b, n)   y[i] = a[i] ? b[i], bytes; greater
//                                                     and greater_equal are these with a and b exchanged. NaN is unequal
//   compare_{i16,u16,u32,u64}(y, a, b, n, comparison)   the same by number (u32): equal 0, not_equal 1, less 2, less_equal 3
//   {is_nan,is_infinite,is_finite}_{f32,f16,bf16,f64}(y, x, n)        bytes
//   {and,or}_i1(y, a, b, n)
//   select_b{8,16,32,64,128}(y, condition, a, b, n)       y[i] = condition[i] ? a[i] : b[i]
//   count_equal_{i32,i64}(y, a, b, n)                 *y (u64) = how many a[i] equal b[i]; one block does the work
#include "common.cuh"

template <class A, class F>
__device__ __forceinline__ void compare(u8 *y, const A *a, const A *b, count_t n, F f) {
    for (count_t i = global_thread(); i < n; i += global_threads()) y[i] = f(widen<A>(a[i]), widen<A>(b[i]));
}

#define COMPARE(NAME, OPERATOR, T)                                                                       \
    KERNEL NAME##_##T(u8 *y, const T *a, const T *b, count_t n) {                                        \
        compare(y, a, b, n, [](accumulator<T> a, accumulator<T> b) { return a OPERATOR b; });            \
    }
#define COMPARISONS(T)                                                                                   \
    COMPARE(equal, ==, T) COMPARE(not_equal, !=, T) COMPARE(less, <, T) COMPARE(less_equal, <=, T)

COMPARISONS(f32)
COMPARISONS(f16)
COMPARISONS(bf16)
COMPARISONS(f64)
COMPARISONS(i8)
COMPARISONS(u8)
COMPARISONS(i32)
COMPARISONS(i64)

#define COMPARE_BY_NUMBER(T)                                                                             \
    KERNEL compare_##T(u8 *y, const T *a, const T *b, count_t n, u32 comparison) {                       \
        compare(y, a, b, n, [=](accumulator<T> a, accumulator<T> b) {                                    \
            switch (comparison) {                                                                        \
                case 0: return a == b;                                                                   \
                case 1: return a != b;                                                                   \
                case 2: return a < b;                                                                    \
                default: return a <= b;                                                                  \
            }                                                                                            \
        });                                                                                              \
    }
COMPARE_BY_NUMBER(i16)
COMPARE_BY_NUMBER(u16)
COMPARE_BY_NUMBER(u32)
COMPARE_BY_NUMBER(u64)

template <class T, class F>
__device__ __forceinline__ void classify(u8 *y, const T *x, count_t n, F f) {
    for (count_t i = global_thread(); i < n; i += global_threads()) y[i] = f(widen<T>(x[i]));
}

// A difference of infinities is NaN, and so is one with NaN; of anything else with itself it is zero.
#define CLASSES(T)                                                                                       \
    KERNEL is_nan_##T(u8 *y, const T *x, count_t n) {                                                    \
        classify(y, x, n, [](accumulator<T> x) { return x != x; });                                      \
    }                                                                                                    \
    KERNEL is_infinite_##T(u8 *y, const T *x, count_t n) {                                               \
        classify(y, x, n, [](accumulator<T> x) { return x == x && x - x != 0; });                        \
    }                                                                                                    \
    KERNEL is_finite_##T(u8 *y, const T *x, count_t n) {                                                 \
        classify(y, x, n, [](accumulator<T> x) { return x - x == 0; });                                  \
    }

CLASSES(f32)
CLASSES(f16)
CLASSES(bf16)
CLASSES(f64)

KERNEL and_i1(u8 *y, const u8 *a, const u8 *b, count_t n) {
    map(y, n, [](count_t, u8 a, u8 b) { return (u8)(a != 0 && b != 0); }, a, b);
}
KERNEL or_i1(u8 *y, const u8 *a, const u8 *b, count_t n) {
    map(y, n, [](count_t, u8 a, u8 b) { return (u8)((a | b) != 0); }, a, b);
}

template <class T>
__device__ __forceinline__ void select(T *y, const u8 *condition, const T *a, const T *b, count_t n) {
    map(y, n, [=](count_t i, T a, T b) { return condition[i] != 0 ? a : b; }, a, b);
}
KERNEL select_b8(u8 *y, const u8 *condition, const u8 *a, const u8 *b, count_t n) { select(y, condition, a, b, n); }
KERNEL select_b16(u16 *y, const u8 *condition, const u16 *a, const u16 *b, count_t n) { select(y, condition, a, b, n); }
KERNEL select_b32(u32 *y, const u8 *condition, const u32 *a, const u32 *b, count_t n) { select(y, condition, a, b, n); }
KERNEL select_b64(u64 *y, const u8 *condition, const u64 *a, const u64 *b, count_t n) { select(y, condition, a, b, n); }
KERNEL select_b128(uint4 *y, const u8 *condition, const uint4 *a, const uint4 *b, count_t n) {
    select(y, condition, a, b, n);
}

template <class T>
__device__ __forceinline__ void count_equal(u64 *y, const T *a, const T *b, count_t n) {
    if (blockIdx.x != 0) return;
    u64 equal = 0;
    for (count_t i = threadIdx.x; i < n; i += blockDim.x) equal += a[i] == b[i];
    equal = over_block(equal, (u64)0, Add());
    if (threadIdx.x == 0) *y = equal;
}
KERNEL count_equal_i32(u64 *y, const i32 *a, const i32 *b, count_t n) { count_equal(y, a, b, n); }
KERNEL count_equal_i64(u64 *y, const i64 *a, const i64 *b, count_t n) { count_equal(y, a, b, n); }
