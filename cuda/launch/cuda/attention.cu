// targets: 75
//
// What attention does besides products and softmax: masks of scores, and rotations of pairs of elements.
//
//   scores_{f32,f64}(y, x, mask, lengths, n, heads, rows, columns, seen, m0, m1, m2, m3, cap, past, causal)
//       y = the scores x of [batch, heads, rows, columns], n in all. With a `cap` above zero, each is cap * tanh(x / cap).
//       `mask`, which may be null, is added: its element is at b * m0 + h * m1 + r * m2 + c * m3 (i64) for the first `seen`
//       columns, later ones are hidden. `lengths` (i64), which may be null, has the number of columns of each of the batch.
//       With `causal` (u32), row r has r + 1 + past columns. What is hidden is minus infinity. y may be x
//   rotary_{f32,f16,bf16,f64}(y, x, cos, sin, positions, n, size, heads, length, half, cached, packed, interleaved)
//       rotates the first 2 * half elements of each row of `size`, n elements in all. Rows are of [batch, heads, length], or
//       with `packed` of [batch, length, heads]. cos and sin have `cached` rows of `half` elements; the row of batch b and
//       place l is number positions[b, l] (i64), or b * length + l if `positions` is null; one that is not there is zeros.
//       Pairs are elements i and i + half, with `interleaved` 2 * i and 2 * i + 1. y and x must not overlap
#include "common.cuh"
#include "functions.cuh"

template <class A>
__device__ __forceinline__ void scores(
    A *y, const A *x, const A *mask, const i64 *lengths, count_t n, count_t heads, count_t rows, count_t columns,
    count_t seen, i64 m0, i64 m1, i64 m2, i64 m3, A cap, count_t past, bool causal
) {
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        count_t line = quotient(i, columns), column = i - line * columns;
        count_t head = quotient(line, rows), row = line - head * rows;
        count_t batch = quotient(head, heads);
        head -= batch * heads;
        A score = x[i];
        if (cap > A(0)) score = function::tanh(score / cap) * cap;
        if (mask != nullptr)
            score = column < seen ? score + mask[(i64)batch * m0 + (i64)head * m1 + (i64)row * m2 + (i64)column * m3]
                                  : A(-infinity());
        bool is_hidden = lengths != nullptr && (i64)column >= lengths[batch];
        is_hidden |= causal && column > row + past;
        y[i] = is_hidden ? A(-infinity()) : score;
    }
}

template <class T>
__device__ __forceinline__ void rotary(
    T *y, const T *x, const T *cos, const T *sin, const i64 *positions, count_t n, count_t size, count_t heads,
    count_t length, count_t half, count_t cached, bool packed, bool interleaved
) {
    using A = accumulator<T>;
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        count_t row = quotient(i, size), at = i - row * size;
        if (at >= 2 * half) {
            y[i] = x[i];
            continue;
        }
        count_t place;
        if (packed) {
            place = quotient(row, heads);
        } else {
            count_t head = quotient(row, length);
            place = quotient(head, heads) * length + (row - head * length);
        }
        i64 of = positions == nullptr ? (i64)place : positions[place];
        bool is_there = of >= 0 && (count_t)of < cached, is_second = interleaved ? at & 1 : at >= half;
        count_t pair = interleaved ? at / 2 : (is_second ? at - half : at);
        count_t step = interleaved ? 1 : half, other = is_second ? i - step : i + step;
        A c = is_there ? widen<T>(cos[(count_t)of * half + pair]) : A(0);
        A s = is_there ? widen<T>(sin[(count_t)of * half + pair]) : A(0);
        A own = widen<T>(x[i]), partner = widen<T>(x[other]);
        y[i] = narrow<T>(is_second ? s * partner + c * own : c * own - s * partner);
    }
}

#define SCORES(A)                                                                                                   \
    KERNEL scores_##A(                                                                                              \
        A *y, const A *x, const A *mask, const i64 *lengths, count_t n, count_t heads, count_t rows,                \
        count_t columns, count_t seen, i64 m0, i64 m1, i64 m2, i64 m3, A cap, count_t past, u32 causal              \
    ) {                                                                                                             \
        scores(y, x, mask, lengths, n, heads, rows, columns, seen, m0, m1, m2, m3, cap, past, causal != 0);         \
    }
#define ROTARY(T)                                                                                                   \
    KERNEL rotary_##T(                                                                                              \
        T *y, const T *x, const T *cos, const T *sin, const i64 *positions, count_t n, count_t size,                \
        count_t heads, count_t length, count_t half, count_t cached, u32 packed, u32 interleaved                    \
    ) {                                                                                                             \
        rotary(y, x, cos, sin, positions, n, size, heads, length, half, cached, packed != 0, interleaved != 0);     \
    }

SCORES(f32)
SCORES(f64)
ROTARY(f32)
ROTARY(f16)
ROTARY(bf16)
ROTARY(f64)
