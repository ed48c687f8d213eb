// targets: 75
//
// Neighbouring diagonals of matrices, as rows of a tensor, the uppermost first: row d is diagonal upper - d, so many places
// right of the main one. A row is as long as the longest diagonal; shorter ones have padding behind them, or before them where
// an alignment says so.
//
//   diagonal_part_b{8,16,32,64,128}(y, x, padding, n, rows, columns, count, longest, upper, alignment)
//       y, n elements, is the diagonals of the matrices x; padding is one element
//   diagonal_set_b{8,16,32,64,128}(y, x, around, n, rows, columns, count, longest, upper, alignment, whole)
//       y, n elements, is matrices with the diagonals x; what else they hold is that of the matrices `around`, or with
//       whole = 0 the one element that is there; y may be those matrices
//
// count (u64) diagonals, upper is i64. alignment (u32): 1 if those above the main one have their padding before them, 2 if those
// below it have, 3 if both; the main one has none. x and y must not overlap.
#include "common.cuh"

struct Diagonals {
    count_t rows, columns, count, longest;
    i64 upper;
    u32 alignment;
};
#define DIAGONALS_PARAMETERS count_t rows, count_t columns, count_t count, count_t longest, i64 upper, u32 alignment
#define DIAGONALS (Diagonals{rows, columns, count, longest, upper, alignment})

// How many elements diagonal k has.
__device__ __forceinline__ i64 length(const Diagonals &all, i64 k) {
    i64 below = (i64)all.rows + (k < 0 ? k : 0), beside = (i64)all.columns - (k > 0 ? k : 0);
    return below < beside ? below : beside;
}

// How much padding precedes diagonal k.
__device__ __forceinline__ i64 padding_before(const Diagonals &all, i64 k) {
    return all.alignment & (k > 0 ? 1 : 2) ? (i64)all.longest - length(all, k) : 0;
}

template <class T>
__device__ __forceinline__ void diagonal_part(T *y, const T *x, const T *padding, count_t n, const Diagonals &all) {
    for (count_t place = global_thread(); place < n; place += global_threads()) {
        count_t row = quotient(place, all.longest), matrix = quotient(row, all.count);
        i64 k = all.upper - (i64)(row - matrix * all.count);
        i64 at = (i64)(place - row * all.longest) - padding_before(all, k);
        const T *element = padding;
        if (at >= 0 && at < length(all, k)) {
            count_t i = at + (k < 0 ? -k : 0), j = at + (k > 0 ? k : 0);
            element = x + (matrix * all.rows + i) * all.columns + j;
        }
        y[place] = *element;
    }
}

template <class T>
__device__ __forceinline__ void diagonal_set(
    T *y, const T *x, const T *around, count_t n, const Diagonals &all, bool whole
) {
    for (count_t place = global_thread(); place < n; place += global_threads()) {
        count_t row = quotient(place, all.columns), matrix = quotient(row, all.rows);
        i64 i = row - matrix * all.rows, j = place - row * all.columns, k = j - i, d = all.upper - k;
        const T *element = around + (whole ? place : 0);
        if (d >= 0 && d < (i64)all.count)
            element = x + (matrix * all.count + d) * all.longest + padding_before(all, k) + (i < j ? i : j);
        y[place] = *element;
    }
}

#define DIAGONAL(BITS, T)                                                                                     \
    KERNEL diagonal_part_b##BITS(T *y, const T *x, const T *padding, count_t n, DIAGONALS_PARAMETERS) {       \
        diagonal_part(y, x, padding, n, DIAGONALS);                                                           \
    }                                                                                                         \
    KERNEL diagonal_set_b##BITS(                                                                              \
        T *y, const T *x, const T *around, count_t n, DIAGONALS_PARAMETERS, u32 whole                         \
    ) {                                                                                                       \
        diagonal_set(y, x, around, n, DIAGONALS, whole != 0);                                                 \
    }

DIAGONAL(8, u8)
DIAGONAL(16, u16)
DIAGONAL(32, u32)
DIAGONAL(64, u64)
DIAGONAL(128, uint4)
