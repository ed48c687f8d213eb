// targets: 75
//
// Random numbers, from Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011).
//
//   random_uniform_{f32,f16,bf16,f64}(y, n, key, counter_low, counter_high)     between 0 and 1, without 1
//   random_normal_{f32,f16,bf16,f64}(…)        with mean 0 and deviation 1 (Box and Muller's transform)
//   random_truncated_{f32,f16,bf16,f64}(…)     the same, without what is 2 or more away from the mean
//   random_integer_{i32,i64}(y, n, key, counter_low, counter_high, low, range)
//       from low up to low + range, which is not among them; range (u32, u64) is not 0
//
// The generator gives four words for each value of a 128-bit counter: numbers 4 i to 4 i + 3 of a result are made of those of
// counter + i, and of types of 64 bits, which take two words each, numbers 2 i and 2 i + 1. A thread computes those that share
// a counter. Where numbers are drawn until enough are near the mean, RESERVED counters are set aside for each.
// The words are the same everywhere. Normally distributed numbers are as exact as logarithm, sine and cosine are, so that one
// within a last digit of 2 may be kept by one processor and not by another.
#include "common.cuh"

struct Generator {
    u64 key, low, high;
};
#define GENERATOR_PARAMETERS u64 key, u64 counter_low, u64 counter_high
#define GENERATOR (Generator{key, counter_low, counter_high})

// The four words `skip` counters further on.
__device__ __forceinline__ uint4 block_of(const Generator &generator, u64 skip) {
    u64 low = generator.low + skip, high = generator.high + (low < skip);
    uint4 x = make_uint4((u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32));
    u32 key0 = (u32)generator.key, key1 = (u32)(generator.key >> 32);
#pragma unroll
    for (u32 round = 0; round < 10; ++round) {
        u64 a = (u64)x.x * 0xD2511F53u, b = (u64)x.z * 0xCD9E8D57u;
        x = make_uint4((u32)(b >> 32) ^ x.y ^ key0, (u32)b, (u32)(a >> 32) ^ x.w ^ key1, (u32)a);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return x;
}

// The results that share a counter: 16 bytes, of halves 8.
template <class T>
constexpr u32 COUNT = sizeof(T) == 8 ? 2 : 4;
template <class T>
using Numbers = Group<T, COUNT<T>>;

// y becomes the numbers of all blocks, which of(block) gives; those that lie as a group are stored at once.
template <class T, class Of>
__device__ __forceinline__ void draw(T *y, count_t n, Of of) {
    for (count_t block = global_thread(); block * COUNT<T> < n; block += global_threads()) {
        const Numbers<T> numbers = of(block);
        count_t first = block * COUNT<T>, rest = n - first;
        u64 address = reinterpret_cast<u64>(y + first);
        if (address % sizeof(numbers) == 0 && rest >= COUNT<T>) {
            *reinterpret_cast<Numbers<T> *>(address) = numbers;
            continue;
        }
#pragma unroll
        for (u32 i = 0; i < COUNT<T>; ++i)
            if (i < rest) y[first + i] = numbers.at[i];
    }
}

// Between 0 and 1: random digits behind a one, less that.
__device__ __forceinline__ f32 uniform(u32 word) { return __uint_as_float(127u << 23 | (word & 0x7fffffu)) - 1.0f; }
__device__ __forceinline__ f64 uniform(u32 low, u32 high) {
    return __hiloint2double((i32)(1023u << 20 | (low & 0xfffffu)), (i32)high) - 1.0;
}

template <class T>
__device__ __forceinline__ T uniform_of(u32 word);
template <>
__device__ __forceinline__ f32 uniform_of<f32>(u32 word) { return uniform(word); }
template <>
__device__ __forceinline__ f16 uniform_of<f16>(u32 word) {
    return narrow<f16>(widen<f16>(__ushort_as_half((u16)(15u << 10 | (word & 0x3ffu)))) - 1.0f);
}
template <>
__device__ __forceinline__ bf16 uniform_of<bf16>(u32 word) {
    return narrow<bf16>(widen<bf16>(__ushort_as_bfloat16((u16)(127u << 7 | (word & 0x7fu)))) - 1.0f);
}

template <class T>
__device__ __forceinline__ Numbers<T> uniform_numbers(uint4 x) {
    return {uniform_of<T>(x.x), uniform_of<T>(x.y), uniform_of<T>(x.z), uniform_of<T>(x.w)};
}
template <>
__device__ __forceinline__ Numbers<f64> uniform_numbers<f64>(uint4 x) {
    return {uniform(x.x, x.y), uniform(x.z, x.w)};
}

// Two normally distributed numbers from two uniform ones: Box and Muller's transform.
static __device__ __noinline__ float2 normals(f32 a, f32 b) {
    f32 radius = ::sqrt(-2.0f * ::log(::fmax(a, 1e-7f))), sine, cosine;
    ::sincosf(6.283185307179586f * b, &sine, &cosine);
    return make_float2(sine * radius, cosine * radius);
}
static __device__ __noinline__ double2 normals(f64 a, f64 b) {
    f64 radius = ::sqrt(-2.0 * ::log(::fmax(a, 1e-7))), sine, cosine;
    ::sincos(6.283185307179586 * b, &sine, &cosine);
    return make_double2(sine * radius, cosine * radius);
}

// As many as a block has words for, not rounded to halves yet.
template <class T>
__device__ __forceinline__ Numbers<accumulator<T>> normal_numbers(uint4 x) {
    float2 a = normals(uniform(x.x), uniform(x.y)), b = normals(uniform(x.z), uniform(x.w));
    return {a.x, a.y, b.x, b.y};
}
template <>
__device__ __forceinline__ Numbers<f64> normal_numbers<f64>(uint4 x) {
    double2 a = normals(uniform(x.x, x.y), uniform(x.z, x.w));
    return {a.x, a.y};
}

template <class T>
__device__ __forceinline__ Numbers<T> narrowed(const Numbers<accumulator<T>> &wide) {
    Numbers<T> numbers;
#pragma unroll
    for (u32 i = 0; i < COUNT<T>; ++i) numbers.at[i] = narrow<T>(wide.at[i]);
    return numbers;
}

// Counters that are set aside for each number where not all that is drawn is taken.
constexpr u64 RESERVED = 64;

template <class T>
__device__ __forceinline__ Numbers<T> truncated_numbers(const Generator &generator, count_t block) {
    Numbers<accumulator<T>> kept;
    u32 count = 0;
    for (u64 skip = block * (COUNT<T> * RESERVED); count < COUNT<T>; ++skip) {
        Numbers<accumulator<T>> drawn = normal_numbers<T>(block_of(generator, skip));
#pragma unroll
        for (u32 i = 0; i < COUNT<T>; ++i) {
            if (!(::fabs(drawn.at[i]) < accumulator<T>(2))) continue;
            // By comparisons, as places that are known stay in registers.
#pragma unroll
            for (u32 place = 0; place < COUNT<T>; ++place)
                if (place == count) kept.at[place] = drawn.at[i];
            ++count;
        }
    }
    return narrowed<T>(kept);
}

#define DISTRIBUTIONS(T)                                                                                      \
    KERNEL random_uniform_##T(T *y, count_t n, GENERATOR_PARAMETERS) {                                        \
        draw(y, n, [=](count_t block) { return uniform_numbers<T>(block_of(GENERATOR, block)); });            \
    }                                                                                                         \
    KERNEL random_normal_##T(T *y, count_t n, GENERATOR_PARAMETERS) {                                         \
        draw(y, n, [=](count_t block) { return narrowed<T>(normal_numbers<T>(block_of(GENERATOR, block))); }); \
    }                                                                                                         \
    KERNEL random_truncated_##T(T *y, count_t n, GENERATOR_PARAMETERS) {                                      \
        draw(y, n, [=](count_t block) { return truncated_numbers<T>(GENERATOR, block); });                    \
    }

DISTRIBUTIONS(f32)
DISTRIBUTIONS(f16)
DISTRIBUTIONS(bf16)
DISTRIBUTIONS(f64)

// Unsigned, so that they wrap.
KERNEL random_integer_i32(u32 *y, count_t n, GENERATOR_PARAMETERS, u32 low, u32 range) {
    draw(y, n, [=](count_t block) {
        uint4 x = block_of(GENERATOR, block);
        return Numbers<u32>{low + x.x % range, low + x.y % range, low + x.z % range, low + x.w % range};
    });
}
KERNEL random_integer_i64(u64 *y, count_t n, GENERATOR_PARAMETERS, u64 low, u64 range) {
    draw(y, n, [=](count_t block) {
        uint4 x = block_of(GENERATOR, block);
        u64 a = x.x | (u64)x.y << 32, b = x.z | (u64)x.w << 32;
        return Numbers<u64>{low + a % range, low + b % range};
    });
}
