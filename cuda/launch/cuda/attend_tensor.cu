// targets: 80
// options: -default-device
//
// Attention by tensor cores, otherwise as attend.cu describes it, with the same parameters.
//
//   attend_tensor_{64,128,256}_{f16,bf16}(…)
//       rows of q and k have at most that many elements. Blocks have at most 256 threads, of which each warp has 16 rows
//
// Keys and values come into shared memory while the tensor cores work on the tile before: the next keys during the softmax
// and the product with the values, the next values during the product with the keys. Weights are rounded to the type of the
// values, as their products are; the sum of the weights is that of the weights before.
#include "attend.cuh"

// The rows of a warp.
constexpr u32 ROWS = 16;
// The elements that lie in 16 bytes.
constexpr u32 CHUNK = 8;

__device__ __forceinline__ u32 address_of(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// d += a * b, of 16 x 16 and 16 x 8 elements. A lane has pairs of neighbours of rows lane / 4 and lane / 4 + 8.
__device__ __forceinline__ void multiply_add(f32 (&d)[4], const u32 (&a)[4], u32 b0, u32 b1, f16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiply_add(f32 (&d)[4], const u32 (&a)[4], u32 b0, u32 b1, bf16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// Loads four matrices of 8 x 8 elements, of which each lane has the address of a row.
__device__ __forceinline__ void load_matrices(u32 (&m)[4], u32 row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3]) : "r"(row) : "memory");
}
__device__ __forceinline__ void load_transposed(u32 (&m)[4], u32 row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3]) : "r"(row) : "memory");
}
// Begins to copy 16 bytes to shared memory, or zeros if `bytes` is zero.
__device__ __forceinline__ void copy_chunk(u32 to, const void *from, u32 bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
__device__ __forceinline__ void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for the copies of all groups but the last `COUNT`.
template <u32 COUNT>
__device__ __forceinline__ void wait_for_groups() {
    asm volatile("cp.async.wait_group %0;" ::"n"(COUNT) : "memory");
}

template <class T>
__device__ __forceinline__ u32 packed(T first, T second) {
    Group<T, 2> pair{{first, second}};
    return *reinterpret_cast<u32 *>(&pair);
}

// Rows of WIDTH elements in shared memory. Chunks of a row are permuted, so that those at the same place of eight rows lie in
// different banks.
template <class T, u32 WIDTH>
struct Rows {
    T *data;
    __device__ __forceinline__ T *chunk(u32 row, u32 chunk) const {
        return data + row * WIDTH + (chunk ^ row % 8) * CHUNK;
    }
    // Begins to load `count` rows, `stride` apart, from row `first` on, of which those from `end` on are zeros. Elements from
    // `extent` on are zeros, too.
    __device__ __forceinline__ void
    load(const T *from, i64 stride, u32 first, u32 end, u32 count, u32 extent, bool is_aligned) const {
        for (u32 i = threadIdx.x; i < count * (WIDTH / CHUNK); i += blockDim.x) {
            u32 row = i / (WIDTH / CHUNK), at = i % (WIDTH / CHUNK), element = at * CHUNK;
            bool exists = first + row < end && element < extent;
            const T *source = exists ? from + (first + row) * stride + element : from;
            T *to = chunk(row, at);
            if (is_aligned) {
                copy_chunk(address_of(to), source, exists ? 16 : 0);
                continue;
            }
#pragma unroll
            for (u32 k = 0; k < CHUNK; ++k) to[k] = exists && element + k < extent ? source[k] : narrow<T>(0.0f);
        }
        end_group();
    }
};

// Whether all rows begin at multiples of 16 bytes and have multiples of 16 bytes.
template <class T>
__device__ __forceinline__ bool in_chunks(const T *p, u32 extent, i64 batch, i64 head, i64 row) {
    return aligned_to_16(p) && (extent | batch | head | row) % CHUNK == 0;
}

// A warp's part of a tile: 16 rows. A lane has two of them, in each eight keys or columns two neighbours.
template <class T, u32 DEPTH, u32 COLUMNS, u32 KEYS>
struct Warp {
    const Attention<T> &a;
    Tile tile;
    Sight sight[2];
    u32 query[DEPTH / 16][4];
    f32 max[2], total[2], sum[COLUMNS / 8][4];

    __device__ __forceinline__ Line line(u32 half) const {
        return line_at(a, tile, warp_in_block() * ROWS + half * 8 + lane() / 4);
    }
    __device__ __forceinline__ void begin() {
#pragma unroll
        for (u32 half = 0; half < 2; ++half) {
            Line own = line(half);
            sight[half] = sight_of(a, tile, own);
            max[half] = -infinity();
            total[half] = 0;
            const T *q = a.q + query_at(a, tile, own);
#pragma unroll
            for (u32 part = 0; part < DEPTH / 8; ++part) {
                u32 at = part * 8 + lane() % 4 * 2;
                T first = own.exists && at < a.depth ? q[at] : narrow<T>(0.0f);
                T second = own.exists && at + 1 < a.depth ? q[at + 1] : narrow<T>(0.0f);
                query[part / 2][part % 2 * 2 + half] = packed(first, second);
            }
        }
#pragma unroll
        for (u32 c = 0; c < COLUMNS / 8; ++c)
#pragma unroll
            for (u32 k = 0; k < 4; ++k) sum[c][k] = 0;
    }
    // The products of the rows and the keys of a tile.
    __device__ __forceinline__ void multiply(Rows<T, DEPTH> keys, f32 (&score)[KEYS / 8][4]) const {
#pragma unroll
        for (u32 step = 0; step < DEPTH / 32; ++step)
#pragma unroll
            for (u32 j = 0; j < KEYS / 8; ++j) {
                u32 key[4];
                load_matrices(key, address_of(keys.chunk(j * 8 + lane() % 8, step * 4 + lane() / 8)));
                multiply_add(score[j], query[step * 2], key[0], key[1], T());
                multiply_add(score[j], query[step * 2 + 1], key[2], key[3], T());
            }
    }
    // Makes weights of products, and scales down what earlier keys gave.
    __device__ __forceinline__ void weigh(u32 key, f32 (&score)[KEYS / 8][4]) {
#pragma unroll
        for (u32 half = 0; half < 2; ++half) {
            make_scores(a, sight[half], [&](auto change) {
#pragma unroll
                for (u32 j = 0; j < KEYS / 8; ++j)
#pragma unroll
                    for (u32 k = 0; k < 2; ++k) change(score[j][half * 2 + k], key + j * 8 + lane() % 4 * 2 + k);
            });
            f32 greatest = max[half], weights = 0;
#pragma unroll
            for (u32 j = 0; j < KEYS / 8; ++j)
                greatest = fmaxf(greatest, fmaxf(score[j][half * 2], score[j][half * 2 + 1]));
            greatest = fmaxf(greatest, __shfl_xor_sync(FULL_WARP, greatest, 1));
            greatest = fmaxf(greatest, __shfl_xor_sync(FULL_WARP, greatest, 2));
            f32 scale = weight_of(max[half], greatest);
            max[half] = greatest;
#pragma unroll
            for (u32 j = 0; j < KEYS / 8; ++j)
#pragma unroll
                for (u32 k = half * 2; k < half * 2 + 2; ++k)
                    weights += score[j][k] = weight_of(score[j][k], greatest);
            // The lanes of a row add their parts at the end.
            total[half] = total[half] * scale + weights;
#pragma unroll
            for (u32 c = 0; c < COLUMNS / 8; ++c) sum[c][half * 2] *= scale, sum[c][half * 2 + 1] *= scale;
        }
    }
    // Adds the values of a tile by their weights.
    __device__ __forceinline__ void accumulate(Rows<T, COLUMNS> values, const f32 (&weight)[KEYS / 8][4]) {
#pragma unroll
        for (u32 step = 0; step < KEYS / 16; ++step) {
            u32 weights[4];
#pragma unroll
            for (u32 part = 0; part < 4; ++part) {
                const f32 *from = &weight[step * 2 + part / 2][part % 2 * 2];
                weights[part] = packed(narrow<T>(from[0]), narrow<T>(from[1]));
            }
#pragma unroll
            for (u32 c = 0; c < COLUMNS / 16; ++c) {
                u32 value[4];
                load_transposed(value, address_of(values.chunk(step * 16 + lane() % 16, c * 2 + lane() / 16)));
                multiply_add(sum[c * 2], weights, value[0], value[1], T());
                multiply_add(sum[c * 2 + 1], weights, value[2], value[3], T());
            }
        }
    }
    __device__ __forceinline__ void store() {
#pragma unroll
        for (u32 half = 0; half < 2; ++half) {
            total[half] += __shfl_xor_sync(FULL_WARP, total[half], 1);
            total[half] += __shfl_xor_sync(FULL_WARP, total[half], 2);
            Line own = line(half);
            Target<T> target(a, tile, own, total[half]);
#pragma unroll
            for (u32 c = 0; c < COLUMNS / 8; ++c)
#pragma unroll
                for (u32 k = 0; k < 2; ++k) target.store(c * 8 + lane() % 4 * 2 + k, sum[c][half * 2 + k]);
            if (lane() % 4 == 0) store_totals(a, tile, own, max[half], total[half]);
        }
    }
};

template <class T, u32 DEPTH, u32 COLUMNS, u32 KEYS>
__device__ __forceinline__ void attend_tensor(const Attention<T> &a) {
    __shared__ __align__(128) T key_memory[KEYS * DEPTH], value_memory[KEYS * COLUMNS];
    Rows<T, DEPTH> keys{key_memory};
    Rows<T, COLUMNS> values{value_memory};
    Warp<T, DEPTH, COLUMNS, KEYS> warp{a};
    bool keys_aligned = in_chunks(a.k, a.depth, a.k_batch, a.k_head, a.k_row);
    bool values_aligned = in_chunks(a.v, a.size, a.v_batch, a.v_head, a.v_row);
    u32 rows = blockDim.x / WARP * ROWS;
    count_t tiles = tile_count(a, rows, COLUMNS);
    for (count_t number = blockIdx.x; number < tiles; number += gridDim.x) {
        Tile tile = warp.tile = tile_at(a, number, rows, COLUMNS, KEYS);
        const T *k = a.k + tile.batch * a.k_batch + tile.head * a.k_head;
        const T *v = a.v + tile.batch * a.v_batch + tile.head * a.v_head + tile.column;
        auto load_keys = [&](u32 key) { keys.load(k, a.k_row, key, tile.end, KEYS, a.depth, keys_aligned); };
        auto load_values = [&](u32 key) {
            values.load(v, a.v_row, key, tile.end, KEYS, a.size - tile.column, values_aligned);
        };
        // The values of the tile before may still be being read.
        __syncthreads();
        load_keys(tile.begin);
        load_values(tile.begin);
        warp.begin();
        for (u32 key = tile.begin; key < tile.end; key += KEYS) {
            f32 score[KEYS / 8][4] = {};
            wait_for_groups<1>();
            __syncthreads();
            warp.multiply(keys, score);
            __syncthreads();
            load_keys(key + KEYS);
            warp.weigh(key, score);
            wait_for_groups<1>();
            __syncthreads();
            warp.accumulate(values, score);
            __syncthreads();
            load_values(key + KEYS);
        }
        wait_for_groups<0>();
        warp.store();
    }
}

#define ATTEND(DEPTH, COLUMNS, KEYS, BLOCKS, T)                                                           \
    KERNEL __launch_bounds__(256, BLOCKS) attend_tensor_##DEPTH##_##T(ATTENTION_PARAMETERS(T)) {         \
        attend_tensor<T, DEPTH, COLUMNS, KEYS>(ATTENTION(T));                                           \
    }

ATTEND(64, 64, 64, 2, f16)
ATTEND(64, 64, 64, 2, bf16)
ATTEND(128, 128, 64, 1, f16)
ATTEND(128, 128, 64, 1, bf16)
ATTEND(256, 128, 32, 1, f16)
ATTEND(256, 128, 32, 1, bf16)
