// targets: 75 90
// Reductions: within a warp, a block and a grid, in every type.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Sum of a warp's 32 values, in every lane.
template <typename T> __device__ T warp_sum(T v) {
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

// Sum of a block of up to 1024 threads, in thread 0. Every thread calls it.
template <typename T> __device__ T block_sum(T v) {
    __shared__ T partial[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
    v = warp_sum(v);
    if (lane == 0) partial[warp] = v;
    __syncthreads();
    return warp == 0 ? warp_sum(lane < warps ? partial[lane] : T(0)) : T(0);
}

// One sum a block; blocks are a multiple of a warp.
#define SUM(NAME, T, ACC)                                                                       \
    extern "C" __global__ void NAME(const T *x, ACC *sums, int n) {                             \
        ACC sum = 0;                                                                            \
        _Pragma("unroll 1") for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;          \
                                 i += gridDim.x * blockDim.x) sum += static_cast<ACC>(x[i]);    \
        sum = block_sum(sum);                                                                   \
        if (threadIdx.x == 0) sums[blockIdx.x] = sum;                                           \
    }
SUM(sum_f32, float, float)
SUM(sum_f64, double, double)
SUM(sum_i8, signed char, int)
SUM(sum_u16, unsigned short, unsigned)
SUM(sum_i32, int, int)
SUM(sum_i64, long long, long long)
SUM(sum_f16, __half, float)
SUM(sum_bf16, __nv_bfloat16, float)

// A sum in pairs of halves: the accumulators are halves too.
extern "C" __global__ void sum_f16x2(const __half2 *x, __half *sum, int n) {
    __half2 pair = __float2half2_rn(0.0f);
    for (int i = threadIdx.x; i < n; i += 32) pair = __hadd2(pair, x[i]);
    for (int d = 16; d; d /= 2) pair = __hadd2(pair, __shfl_down_sync(0xffffffffu, pair, d));
    if (threadIdx.x == 0) *sum = __hadd(__low2half(pair), __high2half(pair));
}

// A tree in shared memory, blocks of a power of two: smallest and largest.
extern "C" __global__ void min_max_tree(const float *x, float2 *out, int n) {
    extern __shared__ float2 tree[];
    float2 v = make_float2(__int_as_float(0x7f800000), __int_as_float(0xff800000));
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v = make_float2(fminf(v.x, x[i]), fmaxf(v.y, x[i]));
    tree[threadIdx.x] = v;
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            float2 o = tree[threadIdx.x + half];
            tree[threadIdx.x] = make_float2(fminf(tree[threadIdx.x].x, o.x), fmaxf(tree[threadIdx.x].y, o.y));
        }
    }
    if (threadIdx.x == 0) out[blockIdx.x] = tree[0];
}

// Dot product; blocks meet in an atomic.
extern "C" __global__ void dot_f64(const double *x, const double *y, double *result, int n) {
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(result, sum);
}

// Mean and sum of squared differences of each row, a warp a row, by combining pairs (Chan's form of Welford's method).
extern "C" __global__ void mean_variance(const float *x, float *mean, float *variance, int rows, int columns) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float count = 0, m = 0, s = 0;
    for (int c = threadIdx.x; c < columns; c += 32) {
        float v = x[row * columns + c], d = v - m;
        count += 1;
        m += d / count;
        s += d * (v - m);
    }
    for (int o = 16; o; o /= 2) {
        float other = __shfl_down_sync(~0u, count, o), om = __shfl_down_sync(~0u, m, o);
        float os = __shfl_down_sync(~0u, s, o), total = count + other;
        if (total > 0) {
            float d = om - m;
            m += d * other / total;
            s += os + d * d * count * other / total;
        }
        count = total;
    }
    if (threadIdx.x == 0) {
        mean[row] = m;
        variance[row] = s / columns;
    }
}

// Index of the largest element of each row; the first of equals.
extern "C" __global__ void argmax_rows(const float *x, int *index, int columns) {
    __shared__ float values[256];
    __shared__ int indices[256];
    const float *row = x + static_cast<size_t>(blockIdx.x) * columns;
    float best = __int_as_float(0xff800000);
    int at = columns;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        if (row[c] > best || (row[c] == best && c < at)) {
            best = row[c];
            at = c;
        }
    }
    values[threadIdx.x] = best;
    indices[threadIdx.x] = at;
    for (int half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        int t = threadIdx.x;
        if (t < half) {
            float v = values[t + half];
            int i = indices[t + half];
            if (v > values[t] || (v == values[t] && i < indices[t])) {
                values[t] = v;
                indices[t] = i;
            }
        }
    }
    if (threadIdx.x == 0) index[blockIdx.x] = indices[0];
}

// Sums of columns: each thread a column, consecutive rows a block, atomics between blocks.
extern "C" __global__ void sum_columns(const float *x, float *sums, int rows, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns) return;
    float sum = 0;
    for (int r = blockIdx.y * 16; r < min(rows, static_cast<int>(blockIdx.y) * 16 + 16); ++r) sum += x[r * columns + c];
    atomicAdd(&sums[c], sum);
}

// Whether all, any and how many elements are positive, by the barriers that reduce.
extern "C" __global__ void count_positive(const int *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int positive = i < n && x[i] > 0;
    int count = __syncthreads_count(positive);
    int all = __syncthreads_and(positive || i >= n);
    int any = __syncthreads_or(positive);
    if (threadIdx.x == 0) {
        out[3 * blockIdx.x] = count;
        out[3 * blockIdx.x + 1] = all != 0;
        out[3 * blockIdx.x + 2] = any != 0;
    }
}

__device__ unsigned finished_blocks = 0;

// A grid's sum in one launch: the block that finishes last adds up what the others left.
extern "C" __global__ void sum_last_block(const float *x, volatile float *partial, float *result, int n) {
    __shared__ bool last;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&finished_blocks, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    sum = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += partial[i];
    __syncthreads();
    sum = block_sum(sum);
    if (threadIdx.x == 0) *result = sum;
}
