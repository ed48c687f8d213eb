// Rows that are worked on one by one: which threads have one, and which elements each thread has.
#pragma once

#include "common.cuh"

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

constexpr count_t WARP_COLUMNS_MAX = 512;

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

template <class Team, class F>
__device__ __forceinline__ void for_columns(Team team, count_t columns, F f) {
    for (count_t c = team.index(); c < columns; c += team.count()) f(c);
}

// The elements of a row that each thread of a team has: `value[k]` is the element at `position(team, k)`. With packs, a thread's
// elements are adjacent in groups of 16 bytes, which the row must be aligned to and a multiple of.
template <class T, bool PACKED>
struct Positions {
    static constexpr u32 LENGTH = PACKED ? Pack<T>::LENGTH : 1;
    template <class Team>
    static __device__ __forceinline__ count_t start(Team team, u32 group) {
        return ((count_t)group * team.count() + team.index()) * LENGTH;
    }
    // Calls f(k, element) for the elements of a group that starts within the row.
    template <class F>
    static __device__ __forceinline__ void load(const T *x, count_t start, F f) {
        if constexpr (PACKED) {
            Pack<T> pack = load_pack(x + start);
#pragma unroll
            for (u32 k = 0; k < LENGTH; ++k) f(k, widen<T>(pack[k]));
        } else {
            f(0, widen<T>(x[start]));
        }
    }
    // Stores f(k) as the elements of such a group.
    template <class F>
    static __device__ __forceinline__ void store(T *y, count_t start, F f) {
        if constexpr (PACKED) {
            Pack<T> pack;
#pragma unroll
            for (u32 k = 0; k < LENGTH; ++k) pack[k] = narrow<T>(f(k));
            store_pack(y + start, pack);
        } else {
            y[start] = narrow<T>(f(0));
        }
    }
};

// The most elements of a row that a thread keeps: few, so that short rows take few steps, or as many as registers allow.
constexpr u32 KEPT_FEW = 8;
constexpr u32 KEPT_MANY = 16;
