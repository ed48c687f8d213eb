// targets: 75
//
// Along one axis of x, which is outer * extent * inner elements: running sums and products, and the greatest elements.
//
//   scan_{sum,product}_{f32,f16,bf16,f64,i32,i64}(y, x, outer, extent, inner, exclusive, reverse)
//       y[o, k, i] combines x[o, j, i] over all j up to k (`exclusive`: below k; `reverse`: from k, or beyond it, to the end)
//   top_{f32,f16,bf16,f64,i32,i64}(values, positions, x, outer, extent, inner, count, order)
//       values[o, j, i] is the j-th greatest of x[o, k, i] over all k, or with order 1 the j-th least, for j below `count`,
//       which is at most `extent`; positions (i32) says at which k. Of equals the first comes first. NaN comes last; order 2 is
//       that of the greatest, with NaN first. `values` may be null. For few elements of many: the work grows with `count`
//       times `extent`
//
// exclusive, reverse and order are u32. Integers wrap. A thread computes all running results of a line, so that each is a
// sum in one order; a warp finds the greatest of a line.
#include "scan.cuh"

// An element and its place along the line; a place of -1 is none.
template <class A>
struct Found {
    A value;
    i32 place;
};

// The numbers are part of the kernel's interface.
enum Order : u32 { GREATEST, LEAST, GREATEST_NAN_FIRST };

// Whether a comes before b: none never does.
template <class A>
__device__ __forceinline__ bool comes_before(Found<A> a, Found<A> b, u32 order) {
    if (a.place < 0 || b.place < 0) return a.place >= 0;
    bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
    if (a_is_nan && b_is_nan) return a.place < b.place;
    if (a_is_nan || b_is_nan) return order == GREATEST_NAN_FIRST ? a_is_nan : b_is_nan;
    if (a.value == b.value) return a.place < b.place;
    return order == LEAST ? a.value < b.value : a.value > b.value;
}

template <class T>
__device__ __forceinline__ void top(
    T *values, i32 *positions, const T *x, count_t outer, count_t extent, count_t inner, count_t count, u32 order
) {
    using A = accumulator<T>;
    u32 warps = blockDim.x / WARP;
    count_t first_line = (count_t)blockIdx.x * warps + warp_in_block();
    for (count_t line = first_line; line < outer * inner; line += (count_t)gridDim.x * warps) {
        count_t o = quotient(line, inner), i = line - o * inner;
        Found<A> last = {A(0), -1};
        for (count_t j = 0; j < count; ++j) {
            // The first of those that come after the last one found.
            Found<A> best = {A(0), -1};
            for (count_t k = lane(); k < extent; k += WARP) {
                Found<A> next = {widen<T>(x[(o * extent + k) * inner + i]), (i32)k};
                bool is_left = last.place < 0 || comes_before(last, next, order);
                if (is_left && comes_before(next, best, order)) best = next;
            }
#pragma unroll
            for (u32 step = WARP / 2; step > 0; step /= 2) {
                Found<A> other = {
                    __shfl_xor_sync(FULL_WARP, best.value, step),
                    __shfl_xor_sync(FULL_WARP, best.place, step),
                };
                if (comes_before(other, best, order)) best = other;
            }
            if (lane() == 0) {
                count_t to = (o * count + j) * inner + i;
                positions[to] = best.place;
                if (values != nullptr) values[to] = x[(o * extent + (count_t)best.place) * inner + i];
            }
            last = best;
        }
    }
}

#define SCAN(NAME, FIRST, OP, T)                                                                                  \
    KERNEL scan_##NAME##_##T(                                                                                     \
        T *y, const T *x, count_t outer, count_t extent, count_t inner, u32 exclusive, u32 reverse                \
    ) {                                                                                                           \
        scan(y, x, outer, extent, inner, exclusive, reverse, accumulator<T>(FIRST), OP());                        \
    }
#define FAMILY(T)                                                                                                 \
    SCAN(sum, 0, Add, T)                                                                                          \
    SCAN(product, 1, Multiply, T)                                                                                 \
    KERNEL top_##T(                                                                                               \
        T *values, i32 *positions, const T *x, count_t outer, count_t extent, count_t inner, count_t count, u32 order \
    ) {                                                                                                           \
        top(values, positions, x, outer, extent, inner, count, order);                                            \
    }

FAMILY(f32)
FAMILY(f16)
FAMILY(bf16)
FAMILY(f64)
FAMILY(i32)
FAMILY(i64)
