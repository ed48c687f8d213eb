// targets: 75
//
// Several functions of elements in one pass, as a compiler fuses them.
//
//   steps_T(y, n, code, x0, x1, x2, x3)   y[i] is the result of the last step; n is below 2^32; y may be an argument whose
//                                         elements lie as those of y do
//
// T is f32, f16 or bf16; steps are computed in f32, and the last one's result is rounded.
//
// `code` (u32) has the number of steps; six numbers for each of the four arguments: d0, m0, s0, d1, m1, s1; and six for each
// step: its function, the place of its result (of PLACES), and for both operands a kind and a number (see below). Element i
// of an argument lies at i / d0 % m0 * s0 + i / d1 % m1 * s1, or at i if m0 is zero.
#include "common.cuh"
#include "functions.cuh"

// The numbers are part of the kernel's interface, as are those of kinds of operands.
enum Function : u32 {
    ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM, SQUARED_DIFFERENCE, LEAKY_RELU, ABS, CEIL, ELU, ERF, EXP, EXPM1, FLOOR, GELU,
    GELU_TANH, LOG, NEG, RECIPROCAL, RELU, RELU6, ROUND, RSQRT, SELU, SIGMOID, SOFTPLUS, SOFTSIGN, SQRT, SQUARE, TANH,
};
enum Kind : u32 {
    PLACE,     // the result of an earlier step
    ARGUMENT,
    NUMBER,    // the bits of an f32
};
constexpr u32 PLACES = 8, ARGUMENTS = 4;
// Each thread computes some elements at a time, so that the code is read less often.
constexpr u32 WIDTH = 4;
using Elements = Pack<f32>;

#define EACH(NAME, VALUE)                                      \
    case NAME:                                                 \
        _Pragma("unroll") for (u32 k = 0; k < WIDTH; ++k) r[k] = VALUE; \
        break;

__device__ __forceinline__ Elements step(u32 name, const Elements &a, const Elements &b) {
    Elements r = a;
    switch (name) {
        EACH(ADD, a[k] + b[k])
        EACH(SUB, a[k] - b[k])
        EACH(MUL, a[k] * b[k])
        EACH(DIV, a[k] / b[k])
        EACH(MAXIMUM, maximum(a[k], b[k]))
        EACH(MINIMUM, minimum(a[k], b[k]))
        EACH(SQUARED_DIFFERENCE, (a[k] - b[k]) * (a[k] - b[k]))
        EACH(LEAKY_RELU, a[k] > 0.0f ? a[k] : b[k] * a[k])
        EACH(ABS, function::abs(a[k]))
        EACH(CEIL, function::ceil(a[k]))
        EACH(ELU, function::elu(a[k]))
        EACH(ERF, function::erf(a[k]))
        EACH(EXP, function::exp(a[k]))
        EACH(EXPM1, function::expm1(a[k]))
        EACH(FLOOR, function::floor(a[k]))
        EACH(GELU, function::gelu(a[k]))
        EACH(GELU_TANH, function::gelu_tanh(a[k]))
        EACH(LOG, function::log(a[k]))
        EACH(NEG, function::neg(a[k]))
        EACH(RECIPROCAL, function::reciprocal(a[k]))
        EACH(RELU, function::relu(a[k]))
        EACH(RELU6, function::relu6(a[k]))
        EACH(ROUND, function::round(a[k]))
        EACH(RSQRT, function::rsqrt(a[k]))
        EACH(SELU, function::selu(a[k]))
        EACH(SIGMOID, function::sigmoid(a[k]))
        EACH(SOFTPLUS, function::softplus(a[k]))
        EACH(SOFTSIGN, function::softsign(a[k]))
        EACH(SQRT, function::sqrt(a[k]))
        EACH(SQUARE, function::square(a[k]))
        EACH(TANH, function::tanh(a[k]))
    }
    return r;
}

// Elements of T that are loaded and stored at once.
template <class T>
using Stored = Group<T, WIDTH>;

template <class T>
__device__ __forceinline__ bool is_aligned(const T *p) { return reinterpret_cast<u64>(p) % sizeof(Stored<T>) == 0; }

// The elements of an argument from position `start` on. Behind the end they are those of the last position.
template <class T>
__device__ __forceinline__ Elements argument(const T *x, const u32 *layout, u32 start, u32 n) {
    bool is_whole = layout[1] == 0;
    Elements elements;
    if (is_whole && n - start >= WIDTH && is_aligned(x)) {
        Stored<T> stored = *reinterpret_cast<const Stored<T> *>(x + start);
#pragma unroll
        for (u32 k = 0; k < WIDTH; ++k) elements[k] = widen<T>(stored.at[k]);
        return elements;
    }
#pragma unroll
    for (u32 k = 0; k < WIDTH; ++k) {
        u32 i = n - start > k ? start + k : n - 1;
        elements[k] =
            widen<T>(x[is_whole ? i : i / layout[0] % layout[1] * layout[2] + i / layout[3] % layout[4] * layout[5]]);
    }
    return elements;
}

template <class T>
__device__ __forceinline__ void steps(
    T *y, count_t n, const u32 *code, const T *x0, const T *x1, const T *x2, const T *x3
) {
    Elements places[PLACES];
    for (count_t start = global_thread() * WIDTH; start < n; start += global_threads() * WIDTH) {
        Elements result;
        for (u32 k = 0; k < code[0]; ++k) {
            const u32 *now = code + 1 + 6 * ARGUMENTS + 6 * k;
            auto operand = [&](u32 kind, u32 number) {
                if (kind == PLACE) return places[number];
                if (kind == ARGUMENT) {
                    const T *x = number == 0 ? x0 : number == 1 ? x1 : number == 2 ? x2 : x3;
                    return argument(x, code + 1 + 6 * number, (u32)start, (u32)n);
                }
                Elements same;
#pragma unroll
                for (u32 i = 0; i < WIDTH; ++i) same[i] = __uint_as_float(number);
                return same;
            };
            Elements a = operand(now[2], now[3]);
            result = step(now[0], a, operand(now[4], now[5]));
            places[now[1]] = result;
        }
        Stored<T> stored;
#pragma unroll
        for (u32 k = 0; k < WIDTH; ++k) stored.at[k] = narrow<T>(result[k]);
        if (n - start >= WIDTH && is_aligned(y)) {
            *reinterpret_cast<Stored<T> *>(y + start) = stored;
        } else {
            for (u32 k = 0; k < WIDTH && start + k < n; ++k) y[start + k] = stored.at[k];
        }
    }
}

#define STEPS(T)                                                                                                   \
    KERNEL steps_##T(T *y, count_t n, const u32 *code, const T *x0, const T *x1, const T *x2, const T *x3) {       \
        steps(y, n, code, x0, x1, x2, x3);                                                                        \
    }
STEPS(f32)
STEPS(f16)
STEPS(bf16)
