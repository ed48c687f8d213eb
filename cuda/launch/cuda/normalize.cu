// targets: 75
// options: -default-device
//
// Normalization of rows, with a factor and a shift for each column or channel.
//
//   normalize_{f32,f16,bf16,f64}(y, means, factors, x, scale, shift, rows, columns, period, plane, epsilon, centered)
//       y[r, c] = (x[r, c] - means[r]) * factors[r] * scale[p] + shift[p], where
//       means[r] = the row's mean, or 0 if `centered` is 0,
//       factors[r] = 1 / sqrt(mean of (x[r, c] - means[r])^2 + epsilon), and
//       p = ((r % period) * columns + c) / plane
//
// Layer normalization has a period and a plane of 1; normalization of groups has as many rows a period as there are groups,
// and planes of as many elements as a channel. `means`, `factors` and epsilon are f32; `means`, `factors` and `shift` may be
// null. y may be x. A warp works on a row of up to 512 columns, a block on a longer one; blocks stride over the rows.
#include "rows.cuh"

// What every row needs.
template <class T>
struct Normalization {
    const T *scale;
    const T *shift;
    count_t columns;
    count_t plane;
    accumulator<T> epsilon;
    bool centered;
};

// What a row was shifted and multiplied by.
template <class A>
struct Statistics {
    A mean;
    A factor;
};

__device__ __forceinline__ f32 inverse_root(f32 x) { return 1.0f / sqrtf(x); }
static __device__ __noinline__ f64 inverse_root(f64 x) { return 1.0 / sqrt(x); }

// The factors and shifts of the elements of a group that starts at `position`, as `p` above before its division.
template <bool PACKED, class T, class A>
__device__ __forceinline__ void coefficients(
    const Normalization<T> &all, count_t position, A (&scale)[Positions<T, PACKED>::LENGTH],
    A (&shift)[Positions<T, PACKED>::LENGTH]
) {
    using At = Positions<T, PACKED>;
#pragma unroll
    for (u32 k = 0; k < At::LENGTH; ++k) shift[k] = 0;
    if (all.plane == 1) {
        At::load(all.scale, position, [&](u32 k, A element) { scale[k] = element; });
        if (all.shift != nullptr) At::load(all.shift, position, [&](u32 k, A element) { shift[k] = element; });
        return;
    }
    count_t channel = quotient(position, all.plane), within = position - channel * all.plane;
#pragma unroll
    for (u32 k = 0; k < At::LENGTH; ++k) {
        scale[k] = widen<T>(all.scale[channel]);
        if (all.shift != nullptr) shift[k] = widen<T>(all.shift[channel]);
        if (++within == all.plane) {
            within = 0;
            ++channel;
        }
    }
}

// A row of at most COUNT elements a thread, which is read once and stays in registers.
template <bool PACKED, u32 COUNT, class T, class Team>
__device__ __forceinline__ Statistics<accumulator<T>> normalize_in_registers(
    Team team, T *y, const T *x, count_t first, const Normalization<T> &all
) {
    using A = accumulator<T>;
    using At = Positions<T, PACKED>;
    A value[COUNT], sum = 0, mean = 0, squares = 0;
#pragma unroll
    for (u32 g = 0; g < COUNT / At::LENGTH; ++g) {
        count_t start = At::start(team, g);
        if (start < all.columns) At::load(x, start, [&](u32 k, A element) {
            value[g * At::LENGTH + k] = element;
            sum += element;
        });
    }
    if (all.centered) mean = team.combine(sum, A(0), Add()) / (A)all.columns;
#pragma unroll
    for (u32 g = 0; g < COUNT / At::LENGTH; ++g) {
        if (At::start(team, g) >= all.columns) continue;
#pragma unroll
        for (u32 k = g * At::LENGTH; k < (g + 1) * At::LENGTH; ++k) {
            value[k] -= mean;
            squares += value[k] * value[k];
        }
    }
    A factor = inverse_root(team.combine(squares, A(0), Add()) / (A)all.columns + all.epsilon);
#pragma unroll
    for (u32 g = 0; g < COUNT / At::LENGTH; ++g) {
        count_t start = At::start(team, g);
        if (start >= all.columns) continue;
        A scale[At::LENGTH], shift[At::LENGTH];
        coefficients<PACKED>(all, first + start, scale, shift);
        At::store(y, start, [&](u32 k) { return value[g * At::LENGTH + k] * factor * scale[k] + shift[k]; });
    }
    return {mean, factor};
}

// A longer row, which is read three times.
template <bool PACKED, class T, class Team>
__device__ __forceinline__ Statistics<accumulator<T>> normalize_in_passes(
    Team team, T *y, const T *x, count_t first, const Normalization<T> &all
) {
    using A = accumulator<T>;
    using At = Positions<T, PACKED>;
    A sum = 0, mean = 0, squares = 0;
    if (all.centered) {
        for (u32 g = 0; At::start(team, g) < all.columns; ++g)
            At::load(x, At::start(team, g), [&](u32, A element) { sum += element; });
        mean = team.combine(sum, A(0), Add()) / (A)all.columns;
    }
    for (u32 g = 0; At::start(team, g) < all.columns; ++g)
        At::load(x, At::start(team, g), [&](u32, A element) { squares += (element - mean) * (element - mean); });
    A factor = inverse_root(team.combine(squares, A(0), Add()) / (A)all.columns + all.epsilon);
    for (u32 g = 0; At::start(team, g) < all.columns; ++g) {
        count_t start = At::start(team, g);
        A value[At::LENGTH], scale[At::LENGTH], shift[At::LENGTH];
        At::load(x, start, [&](u32 k, A element) { value[k] = element; });
        coefficients<PACKED>(all, first + start, scale, shift);
        At::store(y, start, [&](u32 k) { return (value[k] - mean) * factor * scale[k] + shift[k]; });
    }
    return {mean, factor};
}

template <class T, class Team>
__device__ __forceinline__ Statistics<accumulator<T>> normalize_row(
    Team team, T *y, const T *x, count_t first, const Normalization<T> &all, bool packed
) {
    // Doubles are rare.
    if constexpr (sizeof(T) <= sizeof(f32)) {
        if (packed && all.columns <= (count_t)team.count() * KEPT_MANY)
            return normalize_in_registers<true, KEPT_MANY>(team, y, x, first, all);
        if (packed) return normalize_in_passes<true>(team, y, x, first, all);
    }
    return normalize_in_passes<false>(team, y, x, first, all);
}

template <class T>
__device__ __forceinline__ void normalize(
    T *y, f32 *means, f32 *factors, const T *x, count_t rows, count_t period, const Normalization<T> &all
) {
    bool packed = all.columns % Pack<T>::LENGTH == 0 && aligned_to_16(y, x);
    // Of channels, factors and shifts are read one by one.
    packed = packed && (all.plane != 1 || aligned_to_16(all.scale, all.shift));
    for_rows(rows, all.columns, [=](auto team, count_t row) {
        count_t start = row * all.columns, first = remainder(row, period) * all.columns;
        auto found = normalize_row(team, y + start, x + start, first, all, packed);
        if (team.index() != 0) return;
        if (means != nullptr) means[row] = (f32)found.mean;
        if (factors != nullptr) factors[row] = (f32)found.factor;
    });
}

#define NORMALIZE(T)                                                                                           \
    KERNEL normalize_##T(                                                                                      \
        T *y, f32 *means, f32 *factors, const T *x, const T *scale, const T *shift, count_t rows,              \
        count_t columns, count_t period, count_t plane, f32 epsilon, u32 centered                              \
    ) {                                                                                                        \
        normalize(                                                                                             \
            y, means, factors, x, rows, period,                                                                \
            Normalization<T>{scale, shift, columns, plane, (accumulator<T>)epsilon, centered != 0}             \
        );                                                                                                     \
    }

NORMALIZE(f32)
NORMALIZE(f16)
NORMALIZE(bf16)
NORMALIZE(f64)
