// What the kernels of attention share: their operands, how work is divided into tiles, and what changes scores. See
// attend.cu.
#pragma once

#include "common.cuh"
#include "functions.cuh"

constexpr f32 LOG2_E = 1.4426950408889634f;

// 2 to the power of x, within 2 units of the last place.
__device__ __forceinline__ f32 power_of_two(f32 x) {
    f32 y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
// e to the power of score - max. A max of minus infinity belongs to a row that has seen nothing.
__device__ __forceinline__ f32 weight_of(f32 score, f32 max) {
    return power_of_two((score - (max == -infinity() ? 0.0f : max)) * LOG2_E);
}
static __device__ __noinline__ f32 capped(f32 score, f32 cap) { return function::tanh(score / cap) * cap; }

// How a mask changes scores.
constexpr u32 MASK_HIDES = 1, MASK_ADDS_F32 = 2;

// The parameters of a kernel, as attend.cu describes them.
template <class T>
struct Attention {
    T *y;
    f32 *partial;
    const T *q, *k, *v;
    const u8 *mask;
    const i64 *lengths;
    u32 batch, heads, shared, rows, keys, depth, size, splits;
    i64 y_batch, y_head, y_row, q_batch, q_head, q_row, k_batch, k_head, k_row, v_batch, v_head, v_row;
    i64 m_batch, m_head, m_row, m_column;
    u32 seen, mask_kind, past, is_causal;
    f32 scale, cap;

    // The rows of the heads that share keys: all rows of the first head come first.
    __device__ __forceinline__ u32 group() const { return shared * rows; }
    // The factor that makes weights of sum `total` probabilities. Without keys, the result is zero.
    __device__ __forceinline__ f32 factor(f32 total) const { return keys == 0 ? 0.0f : 1.0f / total; }
    __device__ __forceinline__ count_t lines() const { return (count_t)batch * heads * rows; }
};

#define ATTENTION_PARAMETERS(T)                                                                                       \
    T *y, f32 *partial, const T *q, const T *k, const T *v, const u8 *mask, const i64 *lengths, u32 batch, u32 heads, \
        u32 shared, u32 rows, u32 keys, u32 depth, u32 size, u32 splits, i64 y_batch, i64 y_head, i64 y_row,          \
        i64 q_batch, i64 q_head, i64 q_row, i64 k_batch, i64 k_head, i64 k_row, i64 v_batch, i64 v_head, i64 v_row,   \
        i64 m_batch, i64 m_head, i64 m_row, i64 m_column, u32 seen, u32 mask_kind, u32 past, u32 is_causal,           \
        f32 scale, f32 cap
#define ATTENTION(T)                                                                                                  \
    (Attention<T>{y,       partial, q,       k,       v,      mask,    lengths, batch,  heads,    shared,             \
                  rows,    keys,    depth,   size,    splits, y_batch, y_head,  y_row,  q_batch,  q_head,             \
                  q_row,   k_batch, k_head,  k_row,   v_batch, v_head, v_row,   m_batch, m_head,  m_row,              \
                  m_column, seen,   mask_kind, past,  is_causal, scale, cap})

// What a block works on at a time: some rows of a group, some columns of the values and a part of the keys.
struct Tile {
    u32 batch, head, first, column, split, begin, end;
};

template <class T>
__device__ __forceinline__ count_t tile_count(const Attention<T> &a, u32 tile_rows, u32 tile_columns) {
    u32 downward = (a.group() + tile_rows - 1) / tile_rows, across = (a.size + tile_columns - 1) / tile_columns;
    return (count_t)a.batch * (a.heads / a.shared) * a.splits * downward * across;
}

// The tile of this number. Keys are divided in multiples of `tile_keys`. Tiles that see most keys come first.
template <class T>
__device__ __forceinline__ Tile
tile_at(const Attention<T> &a, count_t number, u32 tile_rows, u32 tile_columns, u32 tile_keys) {
    u32 downward = (a.group() + tile_rows - 1) / tile_rows, across = (a.size + tile_columns - 1) / tile_columns;
    u32 head_count = a.heads / a.shared;
    Tile tile;
    count_t rest = quotient(number, downward);
    tile.first = (downward - 1 - (u32)(number - rest * downward)) * tile_rows;
    number = quotient(rest, across);
    tile.column = (u32)(rest - number * across) * tile_columns;
    rest = quotient(number, a.splits);
    tile.split = (u32)(number - rest * a.splits);
    tile.batch = (u32)quotient(rest, head_count);
    tile.head = (u32)(rest - (count_t)tile.batch * head_count);
    // The keys that some row of the tile sees, of which each split gets a part.
    u32 end = a.seen;
    if (a.lengths != nullptr) {
        i64 length = a.lengths[tile.batch];
        end = length < 0 ? 0 : (length < (i64)end ? (u32)length : end);
    }
    if (a.is_causal) {
        u32 last = tile.first + tile_rows - 1;
        bool is_of_one_head = tile.first / a.rows == last / a.rows;
        u32 visible = (is_of_one_head ? last % a.rows : a.rows - 1) + 1 + a.past;
        end = visible < end ? visible : end;
    }
    u32 part = ((end + a.splits - 1) / a.splits + tile_keys - 1) / tile_keys * tile_keys;
    tile.begin = tile.split * part < end ? tile.split * part : end;
    tile.end = end - tile.begin < part ? end : tile.begin + part;
    return tile;
}

// A row of a tile: its head and number, and whether it exists.
struct Line {
    u32 head, row;
    bool exists;
};
// What a row sees: the first key that it does not see, and where its part of the mask begins.
struct Sight {
    u32 end;
    i64 mask;
};

template <class T>
__device__ __forceinline__ Line line_at(const Attention<T> &a, const Tile &tile, u32 row) {
    Line line;
    u32 number = tile.first + row;
    line.exists = number < a.group();
    u32 head = line.exists ? number / a.rows : 0;
    line.row = line.exists ? number - head * a.rows : 0;
    line.head = tile.head * a.shared + head;
    return line;
}
template <class T>
__device__ __forceinline__ Sight sight_of(const Attention<T> &a, const Tile &tile, const Line &line) {
    u32 end = line.exists ? tile.end : 0, visible = line.row + 1 + a.past;
    if (a.is_causal && visible < end) end = visible;
    return Sight{end, tile.batch * a.m_batch + line.head * a.m_head + line.row * a.m_row};
}

template <class T>
__device__ __forceinline__ i64 query_at(const Attention<T> &a, const Tile &tile, const Line &line) {
    return tile.batch * a.q_batch + line.head * a.q_head + line.row * a.q_row;
}

// Makes scores of a row's products. `each` calls a function of every product and its key. What changes scores does so in
// loops of its own, which others skip.
template <class T, class Each>
__device__ __forceinline__ void make_scores(const Attention<T> &a, const Sight &sight, Each each) {
    each([&](f32 &score, u32) { score *= a.scale; });
    if (a.cap > 0.0f) each([&](f32 &score, u32) { score = capped(score, a.cap); });
    auto add = [&](auto mask) {
        each([&](f32 &score, u32 key) {
            if (key < sight.end) score += (f32)mask[sight.mask + key * a.m_column];
        });
    };
    if (a.mask == nullptr) {
    } else if (a.mask_kind == MASK_HIDES) {
        each([&](f32 &score, u32 key) {
            if (key < sight.end && a.mask[sight.mask + key * a.m_column] == 0) score = -infinity();
        });
    } else if (a.mask_kind == MASK_ADDS_F32) {
        add(reinterpret_cast<const f32 *>(a.mask));
    } else {
        add(reinterpret_cast<const T *>(a.mask));
    }
    each([&](f32 &score, u32 key) { score = key < sight.end ? score : -infinity(); });
}

// Where a line's sums of one split lie, and where its maximum and total.
template <class T>
__device__ __forceinline__ f32 *sums_at(const Attention<T> &a, u32 split, count_t line) {
    return a.partial + (split * a.lines() + line) * a.size;
}
template <class T>
__device__ __forceinline__ f32 *totals_at(const Attention<T> &a, u32 split, count_t line) {
    return a.partial + a.splits * a.lines() * a.size + (split * a.lines() + line) * 2;
}
template <class T>
__device__ __forceinline__ count_t number_of(const Attention<T> &a, const Tile &tile, const Line &line) {
    return ((count_t)tile.batch * a.heads + line.head) * a.rows + line.row;
}

// Where a row's results go: to y, or to the sums of a split.
template <class T>
struct Target {
    T *y;
    f32 *sums;
    f32 factor;
    // How many columns there are from the tile's first one on; none for a row that does not exist.
    u32 columns;

    // `total` is the sum of the weights.
    __device__ __forceinline__ Target(const Attention<T> &a, const Tile &tile, const Line &line, f32 total) {
        y = a.y + tile.batch * a.y_batch + line.head * a.y_head + line.row * a.y_row + tile.column;
        sums = a.splits > 1 ? sums_at(a, tile.split, number_of(a, tile, line)) + tile.column : nullptr;
        factor = a.factor(total);
        columns = line.exists ? a.size - tile.column : 0;
    }
    __device__ __forceinline__ void store(u32 column, f32 sum) const {
        if (column >= columns) return;
        if (sums != nullptr)
            sums[column] = sum;
        else
            y[column] = narrow<T>(sum * factor);
    }
};
// Writes the greatest score and the sum of the weights of a split.
template <class T>
__device__ __forceinline__ void
store_totals(const Attention<T> &a, const Tile &tile, const Line &line, f32 max, f32 total) {
    if (a.splits == 1 || !line.exists || tile.column > 0) return;
    f32 *to = totals_at(a, tile.split, number_of(a, tile, line));
    to[0] = max;
    to[1] = total;
}
