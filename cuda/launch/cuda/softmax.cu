// targets: 75
// options: -default-device
//
// Softmax over rows, its gradient, and cross-entropy of logits with labels.
//
//   softmax_{f32,f16,bf16,f64}(y, x, rows, columns)                     y = exp(x - max) / sum of exp(x - max), for each row
//   log_softmax_{f32,f16,bf16,f64}(y, x, rows, columns)                 its logarithm: x - max - ln(sum)
//   softmax_gradient_{f32,f16,bf16,f64}(dx, y, dy, rows, columns)       y the softmax: dx = y * (dy - sum of y * dy)
//   log_softmax_gradient_{f32,f16,bf16,f64}(dx, y, dy, rows, columns)   y the log-softmax: dx = dy - exp(y) * sum of dy
//   cross_entropy_{f32,f16,bf16,f64}(loss, dx, x, labels, rows, columns, scale)
//       loss[r] = sum over c of labels[r, c] * (ln(sum of exp(x - max)) - (x[r, c] - max));
//       dx = (softmax(x) * sum of labels - labels) * scale; a label of zero adds nothing to the loss
//   sparse_cross_entropy_{f32,f16,bf16,f64}_{i32,i64}(loss, dx, x, labels, rows, columns, scale)
//       the same for one class number a row; a number not in 0..columns gives a row of NaN
//
// loss is f32, of f64 it is f64; scale is f32; `dx` or `loss` may be null. Outputs may be inputs. A warp works on a row of up
// to 512 columns, a block on a longer one; blocks stride over the rows.
#include "rows.cuh"

// Called where it is double precision, whose code is long.
__device__ __forceinline__ f32 exponential(f32 x) { return expf(x); }
static __device__ __noinline__ f64 exponential(f64 x) { return exp(x); }
__device__ __forceinline__ f32 logarithm(f32 x) { return logf(x); }
static __device__ __noinline__ f64 logarithm(f64 x) { return log(x); }

template <class Team, class T>
__device__ __forceinline__ accumulator<T> row_maximum(Team team, const T *x, count_t columns) {
    return over_row(team, columns, -(accumulator<T>)infinity(), Greater(), [=](count_t c) { return widen<T>(x[c]); });
}
template <class Team, class T>
__device__ __forceinline__ accumulator<T> row_exp_sum(Team team, const T *x, count_t columns, accumulator<T> max) {
    return over_row(team, columns, accumulator<T>(0), Add(), [=](count_t c) { return exponential(widen<T>(x[c]) - max); });
}

// The softmax of an element, or its logarithm; `total` is the sum, or the logarithm of the sum.
template <class A>
__device__ __forceinline__ A softmax_of(A x, A max, A total, bool log) {
    return log ? x - max - total : exponential(x - max) / total;
}

// A row of at most COUNT elements a thread, which is read once and stays in registers.
template <bool PACKED, u32 COUNT, class T, class Team>
__device__ __forceinline__ void softmax_in_registers(Team team, T *y, const T *x, count_t columns, bool log) {
    using A = accumulator<T>;
    using At = Positions<T, PACKED>;
    A value[COUNT], max = -(A)infinity(), sum = 0;
#pragma unroll
    for (u32 g = 0; g < COUNT / At::LENGTH; ++g) {
        count_t start = At::start(team, g);
        if (start < columns) At::load(x, start, [&](u32 k, A element) {
            value[g * At::LENGTH + k] = element;
            max = maximum(max, element);
        });
    }
    max = team.combine(max, -(A)infinity(), Greater());
#pragma unroll
    for (u32 g = 0; g < COUNT / At::LENGTH; ++g) {
        if (At::start(team, g) >= columns) continue;
#pragma unroll
        for (u32 k = g * At::LENGTH; k < (g + 1) * At::LENGTH; ++k) {
            A power = exponential(value[k] - max);
            sum += power;
            value[k] = log ? value[k] - max : power;
        }
    }
    sum = team.combine(sum, A(0), Add());
    A log_sum = log ? logarithm(sum) : A(0);
#pragma unroll
    for (u32 g = 0; g < COUNT / At::LENGTH; ++g) {
        count_t start = At::start(team, g);
        if (start < columns) At::store(y, start, [&](u32 k) {
            A element = value[g * At::LENGTH + k];
            return log ? element - log_sum : element / sum;
        });
    }
}

// A longer row, which is read twice: the greatest element and the sum come from one pass, in which a sum is scaled whenever a
// greater element is found.
template <bool PACKED, class T, class Team>
__device__ __forceinline__ void softmax_online(Team team, T *y, const T *x, count_t columns, bool log) {
    using A = accumulator<T>;
    using At = Positions<T, PACKED>;
    const A least = -(A)infinity();
    A max = least, sum = 0;
    for (u32 g = 0; At::start(team, g) < columns; ++g) {
        A value[At::LENGTH], greatest = max;
        At::load(x, At::start(team, g), [&](u32 k, A element) {
            value[k] = element;
            greatest = maximum(greatest, element);
        });
        // Until there is an element above it, nothing was added.
        if (greatest == least) continue;
        sum *= exponential(max - greatest);
        max = greatest;
#pragma unroll
        for (u32 k = 0; k < At::LENGTH; ++k) sum += exponential(value[k] - max);
    }
    A all = team.combine(max, least, Greater());
    sum = team.combine(max == least ? A(0) : sum * exponential(max - all), A(0), Add());
    A total = log ? logarithm(sum) : sum;
    for (u32 g = 0; At::start(team, g) < columns; ++g) {
        count_t start = At::start(team, g);
        A value[At::LENGTH];
        At::load(x, start, [&](u32 k, A element) { value[k] = element; });
        At::store(y, start, [&](u32 k) { return softmax_of(value[k], all, total, log); });
    }
}

template <class T>
__device__ __forceinline__ void softmax_row(WarpTeam team, T *y, const T *x, count_t columns, bool packed, bool log) {
    if (columns <= WARP * KEPT_FEW) {
        if (packed)
            softmax_in_registers<true, KEPT_FEW>(team, y, x, columns, log);
        else
            softmax_in_registers<false, KEPT_FEW>(team, y, x, columns, log);
    } else if (packed) {
        softmax_in_registers<true, KEPT_MANY>(team, y, x, columns, log);
    } else {
        softmax_online<false>(team, y, x, columns, log);
    }
}
template <class T>
__device__ __forceinline__ void softmax_row(BlockTeam team, T *y, const T *x, count_t columns, bool packed, bool log) {
    if (!packed)
        softmax_online<false>(team, y, x, columns, log);
    else if (columns <= (count_t)team.count() * KEPT_MANY)
        softmax_in_registers<true, KEPT_MANY>(team, y, x, columns, log);
    else
        softmax_online<true>(team, y, x, columns, log);
}

// Not inlined, as both the softmax and its logarithm call it.
template <class T>
static __device__ __noinline__ void softmax(T *y, const T *x, count_t rows, count_t columns, bool log) {
    bool packed = columns % Pack<T>::LENGTH == 0 && aligned_to_16(y, x);
    for_rows(rows, columns, [=](auto team, count_t row) {
        softmax_row(team, y + row * columns, x + row * columns, columns, packed, log);
    });
}

template <class T>
__device__ __forceinline__ void softmax_gradient(T *dx, const T *y, const T *dy, count_t rows, count_t columns) {
    for_rows(rows, columns, [=](auto team, count_t row) {
        count_t start = row * columns;
        accumulator<T> dot = over_row(team, columns, accumulator<T>(0), Add(), [=](count_t c) {
            return widen<T>(y[start + c]) * widen<T>(dy[start + c]);
        });
        for_columns(team, columns, [=](count_t c) {
            dx[start + c] = narrow<T>(widen<T>(y[start + c]) * (widen<T>(dy[start + c]) - dot));
        });
    });
}

template <class T>
__device__ __forceinline__ void log_softmax_gradient(T *dx, const T *y, const T *dy, count_t rows, count_t columns) {
    for_rows(rows, columns, [=](auto team, count_t row) {
        count_t start = row * columns;
        accumulator<T> sum = over_row(team, columns, accumulator<T>(0), Add(), [=](count_t c) { return widen<T>(dy[start + c]); });
        for_columns(team, columns, [=](count_t c) {
            dx[start + c] = narrow<T>(widen<T>(dy[start + c]) - exponential(widen<T>(y[start + c])) * sum);
        });
    });
}

// `label(c)` is the label of column c of this row.
template <class Team, class T, class Label>
__device__ __forceinline__ void cross_entropy_row(
    Team team, accumulator<T> *loss, T *dx, const T *x, count_t columns, f32 scale, Label label
) {
    using A = accumulator<T>;
    A max = row_maximum(team, x, columns), sum = row_exp_sum(team, x, columns, max), log_sum = logarithm(sum);
    A labels = over_row(team, columns, A(0), Add(), label);
    A total = over_row(team, columns, A(0), Add(), [=](count_t c) {
        A p = label(c);
        return p == A(0) ? A(0) : p * (log_sum - (widen<T>(x[c]) - max));
    });
    if (loss != nullptr && team.index() == 0) *loss = total;
    if (dx == nullptr) return;
    for_columns(team, columns, [=](count_t c) {
        dx[c] = narrow<T>((exponential(widen<T>(x[c]) - max) / sum * labels - label(c)) * scale);
    });
}

template <class T>
__device__ __forceinline__ void cross_entropy(
    accumulator<T> *loss, T *dx, const T *x, const T *labels, count_t rows, count_t columns, f32 scale
) {
    for_rows(rows, columns, [=](auto team, count_t row) {
        count_t start = row * columns;
        accumulator<T> *row_loss = loss == nullptr ? nullptr : loss + row;
        T *row_dx = dx == nullptr ? nullptr : dx + start;
        cross_entropy_row(team, row_loss, row_dx, x + start, columns, scale, [=](count_t c) {
            return widen<T>(labels[start + c]);
        });
    });
}

template <class T, class Index>
__device__ __forceinline__ void sparse_cross_entropy(
    accumulator<T> *loss, T *dx, const T *x, const Index *labels, count_t rows, count_t columns, f32 scale
) {
    for_rows(rows, columns, [=](auto team, count_t row) {
        count_t start = row * columns;
        i64 label = labels[row];
        accumulator<T> one = label >= 0 && (count_t)label < columns ? 1.0f : quiet_nan();
        accumulator<T> *row_loss = loss == nullptr ? nullptr : loss + row;
        T *row_dx = dx == nullptr ? nullptr : dx + start;
        cross_entropy_row(team, row_loss, row_dx, x + start, columns, scale, [=](count_t c) {
            return (i64)c == label || one != one ? one : accumulator<T>(0);
        });
    });
}

#define SPARSE(T, INDEX)                                                                                    \
    KERNEL sparse_cross_entropy_##T##_##INDEX(                                                              \
        accumulator<T> *loss, T *dx, const T *x, const INDEX *labels, count_t rows, count_t columns, f32 scale\
    ) {                                                                                                     \
        sparse_cross_entropy(loss, dx, x, labels, rows, columns, scale);                                    \
    }
#define FAMILY(T)                                                                                           \
    KERNEL softmax_##T(T *y, const T *x, count_t rows, count_t columns) {                                   \
        softmax(y, x, rows, columns, false);                                                                \
    }                                                                                                       \
    KERNEL log_softmax_##T(T *y, const T *x, count_t rows, count_t columns) {                               \
        softmax(y, x, rows, columns, true);                                                                 \
    }                                                                                                       \
    KERNEL softmax_gradient_##T(T *dx, const T *y, const T *dy, count_t rows, count_t columns) {            \
        softmax_gradient(dx, y, dy, rows, columns);                                                         \
    }                                                                                                       \
    KERNEL log_softmax_gradient_##T(T *dx, const T *y, const T *dy, count_t rows, count_t columns) {        \
        log_softmax_gradient(dx, y, dy, rows, columns);                                                     \
    }                                                                                                       \
    KERNEL cross_entropy_##T(                                                                               \
        accumulator<T> *loss, T *dx, const T *x, const T *labels, count_t rows, count_t columns, f32 scale  \
    ) {                                                                                                     \
        cross_entropy(loss, dx, x, labels, rows, columns, scale);                                           \
    }                                                                                                       \
    SPARSE(T, i32)                                                                                          \
    SPARSE(T, i64)

FAMILY(f32)
FAMILY(f16)
FAMILY(bf16)
FAMILY(f64)
