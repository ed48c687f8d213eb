// targets: 75
// options: -default-device
//
// Attention: softmax(scale * Q * K^T + mask) * V, a tile of scores at a time, which never leave the multiprocessor. The
// softmax of a row is computed as its scores come: sums and weights are scaled down when a greater score appears (Milakov
// and Gimelshein 2018, Dao 2023). Sums are f32.
//
// Also f32 is computed so, at any length. Products by a library with a softmax between them move 16 bytes for each score,
// and do 4 * size operations. At 4 TB/s and 50 TFLOP/s that takes 4 + 5 ps for a size of 64, and 4 + 10 ps for 128. Here a
// warp reads shared memory 12 times for 64 multiplications, so that arithmetic is the bound: at 60 % of the peak of 67
// TFLOP/s it takes 6 and 13 ps, and no memory for scores. (Estimates for an H200, not measured.)
//
//   attend_{64,128}_f32, attend_few_{64,128}_f32, attend_64_{f16,bf16}(y, partial, q, k, v, mask, lengths, batch, heads,
//       shared, rows, keys, depth, size, splits, y_batch, y_head, y_row, q_batch, q_head, q_row, k_batch, k_head, k_row,
//       v_batch, v_head, v_row, m_batch, m_head, m_row, m_column, seen, mask_kind, past, is_causal, scale, cap)
//       y[b, h, r] is the sum over keys c of the probability of c times v[b, h / shared, c]; rows of q and k have `depth`
//       elements, those of v and y `size`, which lie side by side. The next twelve (i64) say how far batches, heads and
//       rows of each operand are apart. Other counts are u32. A score is q[b, h, r] * k[b, h / shared, c] * scale; with a
//       `cap` above zero it becomes cap * tanh(score / cap). `mask`, which may be null, has an element at b * m_batch + h *
//       m_head + r * m_row + c * m_column: with `mask_kind` 0 one of T that is added, with 2 one of f32, with 1 a byte that is
//       zero where c is hidden. Keys from `seen` on are hidden. `lengths` (i64), which may be null, has the number of keys of each of the
//       batch. With `is_causal`, row r has r + 1 + past keys. A row that sees no key is NaN, and zero if there is none.
//       A tile has 64 or 128 columns of v, and `few` rows of q or more. Blocks have at most 256 threads
//   attend_join_{f32,f16,bf16}(…)
//       the same parameters; y from what `splits` parts of the keys gave. With `splits` above one, the kernels above
//       write to `partial` instead of y: for each split and row `size` sums, then for each split and row the greatest
//       score and the sum of the weights
#include "attend.cuh"

// A tile has KEYS keys, of which STEP elements, or STEP of their values, are in shared memory at a time.
constexpr u32 KEYS = 64, STEP = 32;
// The distance of rows in shared memory, so that lanes that read 16 bytes of neighbouring rows use all banks.
constexpr u32 PITCH = STEP + 4, WEIGHT_PITCH = KEYS + 4;
// The threads of a team, which share rows.
constexpr u32 TEAM = 16;
constexpr u32 TEAMS_MAX = 16;

template <class Op>
__device__ __forceinline__ f32 over_team(f32 value, Op op) {
#pragma unroll
    for (u32 step = TEAM / 2; step > 0; step /= 2) value = op(value, __shfl_xor_sync(FULL_WARP, value, step));
    return value;
}

// What a block keeps in shared memory: queries and keys, or values, and weights.
template <u32 ROWS, u32 COLUMNS>
struct Stage {
    union {
        struct {
            f32 q[ROWS][PITCH], k[KEYS][PITCH];
        };
        f32 v[STEP][COLUMNS];
    };
    f32 weights[ROWS][WEIGHT_PITCH];
    i64 queries[ROWS];
};

// Elements `from` to `from + STEP` of `rows` rows. Row r begins at start(r), which is negative if there is none.
template <class T, u32 WIDTH, class Start>
__device__ __forceinline__ void
load_rows(f32 *to, u32 pitch, const T *data, u32 rows, u32 from, u32 extent, Start start) {
    for (u32 i = threadIdx.x; i < rows * WIDTH; i += blockDim.x) {
        u32 row = i / WIDTH, at = i % WIDTH;
        i64 begin = start(row);
        to[row * pitch + at] = begin >= 0 && from + at < extent ? widen<T>(data[begin + from + at]) : 0.0f;
    }
}

__device__ __forceinline__ float4 four(const f32 *p) { return *reinterpret_cast<const float4 *>(p); }

// A thread has R rows of a tile, every TEAM-th key of them, and COLUMNS / TEAM columns of their results.
template <class T, u32 R, u32 COLUMNS>
struct Team {
    static constexpr u32 EACH = COLUMNS / TEAM;
    using Shared = Stage<TEAMS_MAX * R, COLUMNS>;
    const Attention<T> &a;
    Shared &stage;
    Tile tile;
    Sight sight[R];
    f32 max[R], total[R], sum[R][EACH];

    __device__ __forceinline__ u32 member() const { return threadIdx.x % TEAM; }
    __device__ __forceinline__ u32 row(u32 i) const { return threadIdx.x / TEAM + i * (blockDim.x / TEAM); }

    __device__ __forceinline__ void begin() {
#pragma unroll
        for (u32 i = 0; i < R; ++i) {
            Line line = line_at(a, tile, row(i));
            sight[i] = sight_of(a, tile, line);
            max[i] = -infinity();
            total[i] = 0;
            if (member() == 0) stage.queries[row(i)] = line.exists ? query_at(a, tile, line) : -1;
#pragma unroll
            for (u32 c = 0; c < EACH; ++c) sum[i][c] = 0;
        }
    }
    // The products of the rows and the keys from `key` on.
    __device__ __forceinline__ void multiply(u32 key, f32 (&score)[R][KEYS / TEAM]) {
        u32 rows = blockDim.x / TEAM * R;
        i64 keys = tile.batch * a.k_batch + tile.head * a.k_head;
        for (u32 from = 0; from < a.depth; from += STEP) {
            __syncthreads();
            load_rows<T, STEP>(stage.q[0], PITCH, a.q, rows, from, a.depth, [&](u32 r) { return stage.queries[r]; });
            load_rows<T, STEP>(stage.k[0], PITCH, a.k, KEYS, from, a.depth, [&](u32 r) {
                return key + r < tile.end ? keys + (key + r) * a.k_row : -1;
            });
            __syncthreads();
#pragma unroll 1
            for (u32 at = 0; at < STEP; at += 4) {
                float4 q[R];
#pragma unroll
                for (u32 i = 0; i < R; ++i) q[i] = four(&stage.q[row(i)][at]);
#pragma unroll
                for (u32 j = 0; j < KEYS / TEAM; ++j) {
                    float4 k = four(&stage.k[member() + j * TEAM][at]);
#pragma unroll
                    for (u32 i = 0; i < R; ++i)
                        score[i][j] += q[i].x * k.x + q[i].y * k.y + q[i].z * k.z + q[i].w * k.w;
                }
            }
        }
    }
    // Makes weights of products, and scales down what earlier keys gave.
    __device__ __forceinline__ void weigh(u32 key, f32 (&score)[R][KEYS / TEAM]) {
#pragma unroll
        for (u32 i = 0; i < R; ++i) {
            make_scores(a, sight[i], [&](auto change) {
#pragma unroll
                for (u32 j = 0; j < KEYS / TEAM; ++j) change(score[i][j], key + member() + j * TEAM);
            });
            f32 greatest = max[i], weights = 0;
#pragma unroll
            for (u32 j = 0; j < KEYS / TEAM; ++j) greatest = fmaxf(greatest, score[i][j]);
            greatest = over_team(greatest, [](f32 x, f32 y) { return fmaxf(x, y); });
            f32 scale = weight_of(max[i], greatest);
            max[i] = greatest;
#pragma unroll
            for (u32 j = 0; j < KEYS / TEAM; ++j) {
                f32 weight = weight_of(score[i][j], greatest);
                weights += weight;
                stage.weights[row(i)][member() + j * TEAM] = weight;
            }
            total[i] = total[i] * scale + over_team(weights, Add());
#pragma unroll
            for (u32 c = 0; c < EACH; ++c) sum[i][c] *= scale;
        }
    }
    // Adds the values from `key` on, by their weights. A thread has 4 columns of each 64.
    __device__ __forceinline__ void accumulate(u32 key) {
        i64 values = tile.batch * a.v_batch + tile.head * a.v_head;
        for (u32 from = 0; from < KEYS && key + from < tile.end; from += STEP) {
            __syncthreads();
            load_rows<T, COLUMNS>(stage.v[0], COLUMNS, a.v, STEP, tile.column, a.size, [&](u32 r) {
                return key + from + r < tile.end ? values + (key + from + r) * a.v_row : -1;
            });
            __syncthreads();
#pragma unroll 1
            for (u32 at = 0; at < STEP; at += 4) {
                float4 weight[R];
#pragma unroll
                for (u32 i = 0; i < R; ++i) weight[i] = four(&stage.weights[row(i)][from + at]);
#pragma unroll
                for (u32 c = 0; c < EACH; c += 4) {
                    const f32 *v = &stage.v[at][c * TEAM + member() * 4];
                    add<0>(c, weight, four(v));
                    add<1>(c, weight, four(v + COLUMNS));
                    add<2>(c, weight, four(v + 2 * COLUMNS));
                    add<3>(c, weight, four(v + 3 * COLUMNS));
                }
            }
        }
    }
    template <u32 PLACE>
    __device__ __forceinline__ void add(u32 c, const float4 (&weight)[R], float4 value) {
#pragma unroll
        for (u32 i = 0; i < R; ++i) {
            f32 w = PLACE == 0 ? weight[i].x : PLACE == 1 ? weight[i].y : PLACE == 2 ? weight[i].z : weight[i].w;
            sum[i][c] += w * value.x;
            sum[i][c + 1] += w * value.y;
            sum[i][c + 2] += w * value.z;
            sum[i][c + 3] += w * value.w;
        }
    }
    __device__ __forceinline__ void store() {
#pragma unroll
        for (u32 i = 0; i < R; ++i) {
            Line line = line_at(a, tile, row(i));
            Target<T> target(a, tile, line, total[i]);
#pragma unroll
            for (u32 c = 0; c < EACH; ++c) target.store(c / 4 * 4 * TEAM + member() * 4 + c % 4, sum[i][c]);
            if (member() == 0) store_totals(a, tile, line, max[i], total[i]);
        }
    }
};

template <class T, u32 R, u32 COLUMNS>
__device__ __forceinline__ void attend(const Attention<T> &a) {
    __shared__ __align__(16) unsigned char memory[sizeof(typename Team<T, R, COLUMNS>::Shared)];
    Team<T, R, COLUMNS> team{a, *reinterpret_cast<typename Team<T, R, COLUMNS>::Shared *>(memory)};
    u32 rows = blockDim.x / TEAM * R;
    count_t tiles = tile_count(a, rows, COLUMNS);
    for (count_t number = blockIdx.x; number < tiles; number += gridDim.x) {
        team.tile = tile_at(a, number, rows, COLUMNS, KEYS);
        // The tile before may still be being read.
        __syncthreads();
        team.begin();
        __syncthreads();
        for (u32 key = team.tile.begin; key < team.tile.end; key += KEYS) {
            f32 score[R][KEYS / TEAM] = {};
            team.multiply(key, score);
            team.weigh(key, score);
            team.accumulate(key);
        }
        team.store();
    }
}

// A warp joins what the splits gave for a row.
template <class T>
__device__ __forceinline__ void attend_join(const Attention<T> &a) {
    u32 warps = blockDim.x / WARP;
    for (count_t number = (count_t)blockIdx.x * warps + warp_in_block(); number < a.lines();
         number += (count_t)gridDim.x * warps) {
        f32 max = -infinity(), total = 0;
        for (u32 split = 0; split < a.splits; ++split) max = fmaxf(max, totals_at(a, split, number)[0]);
        for (u32 split = 0; split < a.splits; ++split) {
            const f32 *totals = totals_at(a, split, number);
            total += weight_of(totals[0], max) * totals[1];
        }
        count_t head = quotient(number, a.rows), row = number - head * a.rows;
        count_t batch = quotient(head, a.heads);
        head -= batch * a.heads;
        T *to = a.y + (i64)batch * a.y_batch + (i64)head * a.y_head + (i64)row * a.y_row;
        for (u32 column = lane(); column < a.size; column += WARP) {
            f32 sum = 0;
            for (u32 split = 0; split < a.splits; ++split)
                sum += weight_of(totals_at(a, split, number)[0], max) * sums_at(a, split, number)[column];
            to[column] = narrow<T>(sum * a.factor(total));
        }
    }
}

#define ATTEND(NAME, T, R, COLUMNS) \
    KERNEL __launch_bounds__(256, 2) NAME##_##COLUMNS##_##T(ATTENTION_PARAMETERS(T)) { attend<T, R, COLUMNS>(ATTENTION(T)); }
#define JOIN(T) \
    KERNEL attend_join_##T(ATTENTION_PARAMETERS(T)) { attend_join<T>(ATTENTION(T)); }

ATTEND(attend, f32, 4, 64)
ATTEND(attend, f32, 4, 128)
ATTEND(attend_few, f32, 1, 64)
ATTEND(attend_few, f32, 1, 128)
ATTEND(attend, f16, 4, 64)
ATTEND(attend, bf16, 4, 64)
JOIN(f32)
JOIN(f16)
JOIN(bf16)
