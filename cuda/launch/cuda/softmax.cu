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
// to 1024 columns, a block on a longer one; blocks stride over the rows.
#include "common.cuh"

// Called where it is double precision, whose code is long.
__device__ __forceinline__ f32 exponential(f32 x) { return expf(x); }
static __device__ __noinline__ f64 exponential(f64 x) { return exp(x); }
__device__ __forceinline__ f32 logarithm(f32 x) { return logf(x); }
static __device__ __noinline__ f64 logarithm(f64 x) { return log(x); }

// The threads that work on one row: `count` of them, this one being number `index`, and how they combine values.
struct WarpTeam {
    __device__ __forceinline__ u32 index() const { return lane(); }
    __device__ __forceinline__ u32 count() const { return WARP; }
    template <class A, class Op>
    __device__ __forceinline__ A combine(A value, A, Op op) const { return over_warp(value, op); }
};
struct BlockTeam {
    __device__ __forceinline__ u32 index() const { return threadIdx.x; }
    __device__ __forceinline__ u32 count() const { return blockDim.x; }
    template <class A, class Op>
    __device__ __forceinline__ A combine(A value, A neutral, Op op) const {
        return over_block(value, neutral, op);
    }
};

constexpr count_t WARP_COLUMNS_MAX = 1024;

// Calls f(team, row) for the rows this thread works on, together with its team.
template <class F>
__device__ __forceinline__ void for_rows(count_t rows, count_t columns, F f) {
    if (columns <= WARP_COLUMNS_MAX) {
        u32 warps = blockDim.x / WARP;
        for (count_t row = (count_t)blockIdx.x * warps + warp_in_block(); row < rows; row += (count_t)gridDim.x * warps)
            f(WarpTeam(), row);
    } else {
        for (count_t row = blockIdx.x; row < rows; row += gridDim.x) f(BlockTeam(), row);
    }
}

// Combines `term(c)` over all columns.
template <class Team, class A, class Op, class Term>
__device__ __forceinline__ A over_row(Team team, count_t columns, A neutral, Op op, Term term) {
    A value = neutral;
    for (count_t c = team.index(); c < columns; c += team.count()) value = op(value, term(c));
    return team.combine(value, neutral, op);
}

template <class Team, class T>
__device__ __forceinline__ accumulator<T> row_maximum(Team team, const T *x, count_t columns) {
    return over_row(team, columns, -(accumulator<T>)infinity(), Greater(), [=](count_t c) { return widen<T>(x[c]); });
}
template <class Team, class T>
__device__ __forceinline__ accumulator<T> row_exp_sum(Team team, const T *x, count_t columns, accumulator<T> max) {
    return over_row(team, columns, accumulator<T>(0), Add(), [=](count_t c) { return exponential(widen<T>(x[c]) - max); });
}

template <class Team, class F>
__device__ __forceinline__ void for_columns(Team team, count_t columns, F f) {
    for (count_t c = team.index(); c < columns; c += team.count()) f(c);
}

template <class T>
__device__ __forceinline__ void softmax(T *y, const T *x, count_t rows, count_t columns) {
    for_rows(rows, columns, [=](auto team, count_t row) {
        const T *in = x + row * columns;
        T *out = y + row * columns;
        accumulator<T> max = row_maximum(team, in, columns), sum = row_exp_sum(team, in, columns, max);
        for_columns(team, columns, [=](count_t c) { out[c] = narrow<T>(exponential(widen<T>(in[c]) - max) / sum); });
    });
}

template <class T>
__device__ __forceinline__ void log_softmax(T *y, const T *x, count_t rows, count_t columns) {
    for_rows(rows, columns, [=](auto team, count_t row) {
        const T *in = x + row * columns;
        T *out = y + row * columns;
        accumulator<T> max = row_maximum(team, in, columns), log_sum = logarithm(row_exp_sum(team, in, columns, max));
        for_columns(team, columns, [=](count_t c) { out[c] = narrow<T>(widen<T>(in[c]) - max - log_sum); });
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
    KERNEL softmax_##T(T *y, const T *x, count_t rows, count_t columns) { softmax(y, x, rows, columns); }   \
    KERNEL log_softmax_##T(T *y, const T *x, count_t rows, count_t columns) {                               \
        log_softmax(y, x, rows, columns);                                                                   \
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
