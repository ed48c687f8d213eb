// targets: 75 90
// Sorting and selecting.

// A block sorts a power of two of keys in shared memory.
template <typename T> __device__ void bitonic(T *keys, int n) {
    for (int size = 2; size <= n; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            for (int t = threadIdx.x; t < n / 2; t += blockDim.x) {
                int low = t / d * 2 * d + t % d, high = low + d;
                bool up = (low & size) == 0;
                if ((keys[low] > keys[high]) == up) {
                    T v = keys[low];
                    keys[low] = keys[high];
                    keys[high] = v;
                }
            }
        }
    __syncthreads();
}

template <typename T> __device__ void sort_block(const T *x, T *y, int n, int power, T largest) {
    extern __shared__ __align__(8) unsigned char raw[];
    T *keys = reinterpret_cast<T *>(raw);
    for (int i = threadIdx.x; i < power; i += blockDim.x) keys[i] = i < n ? x[i] : largest;
    bitonic(keys, power);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = keys[i];
}

extern "C" __global__ void bitonic_u32(const unsigned *x, unsigned *y, int n, int power) {
    sort_block(x, y, n, power, 0xffffffffu);
}
extern "C" __global__ void bitonic_f64(const double *x, double *y, int n, int power) {
    sort_block(x, y, n, power, __longlong_as_double(0x7ff0000000000000ll));
}

struct Pair {
    float key;
    int value;
    __device__ bool operator>(const Pair &o) const { return key > o.key || (key == o.key && value > o.value); }
};

extern "C" __global__ void bitonic_pairs(const Pair *x, Pair *y, int n, int power) {
    sort_block(x, y, n, power, Pair{__int_as_float(0x7f800000), 0x7fffffff});
}

// One stage of a bitonic network in global memory.
extern "C" __global__ void bitonic_stage(unsigned long long *keys, unsigned size, unsigned d) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, o = i ^ d;
    if (o <= i) return;
    unsigned long long a = keys[i], b = keys[o];
    if ((a > b) == ((i & size) == 0)) {
        keys[i] = b;
        keys[o] = a;
    }
}

// A warp sorts 32 numbers without memory.
extern "C" __global__ void sort_warp(const int *x, int *y) {
    int lane = threadIdx.x % 32, at = blockIdx.x * blockDim.x + threadIdx.x, v = x[at];
    for (int size = 2; size <= 32; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            int o = __shfl_xor_sync(~0u, v, d);
            bool up = (lane & size) == 0, lower = (lane & d) == 0;
            v = up == lower ? min(v, o) : max(v, o);
        }
    y[at] = v;
}

// Stable split by one bit, a block of 256: a pass of a radix sort. Sixteen passes in one launch.
extern "C" __global__ void radix_sort_block(unsigned short *keys) {
    __shared__ unsigned short buffer[256];
    __shared__ int zeros[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    unsigned short key = keys[blockIdx.x * 256 + t];
#pragma unroll 1
    for (int bit = 0; bit < 16; ++bit) {
        bool one = key >> bit & 1;
        unsigned votes = __ballot_sync(~0u, !one);
        if (lane == 0) zeros[warp] = __popc(votes);
        __syncthreads();
        int before = __popc(votes & ((1u << lane) - 1)), total = 0;
        for (int w = 0; w < 8; ++w) {
            if (w < warp) before += zeros[w];
            total += zeros[w];
        }
        buffer[one ? total + t - before : before] = key;
        __syncthreads();
        key = buffer[t];
    }
    keys[blockIdx.x * 256 + t] = key;
}

// The k ≤ 8 largest of each row with their columns, descending; a thread a row, insertion into a local array.
extern "C" __global__ void top_k_thread(const float *x, float *values, int *indices, int rows, int columns, int k) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float best[8];
    int at[8], held = 0;
    for (int c = 0; c < columns; ++c) {
        float v = x[row * columns + c];
        if (held == k && v <= best[k - 1]) continue;
        int p = held < k ? held++ : k - 1;
        while (p > 0 && best[p - 1] < v) {
            best[p] = best[p - 1];
            at[p] = at[p - 1];
            --p;
        }
        best[p] = v;
        at[p] = c;
    }
    for (int i = 0; i < k; ++i) {
        values[row * k + i] = best[i];
        indices[row * k + i] = at[i];
    }
}

// The same by a block a row: k rounds of argmax, each striking out its winner.
extern "C" __global__ void top_k_block(float *x, float *values, int *indices, int columns, int k) {
    __shared__ unsigned long long best;
    x += blockIdx.x * columns;
    for (int round = 0; round < k; ++round) {
        if (threadIdx.x == 0) best = 0;
        __syncthreads();
        for (int c = threadIdx.x; c < columns; c += blockDim.x) {
            // Order of floats as order of integers; an earlier column wins among equals.
            unsigned bits = __float_as_uint(x[c]);
            bits ^= bits >> 31 ? 0xffffffffu : 0x80000000u;
            atomicMax(&best, static_cast<unsigned long long>(bits) << 32 | (0xffffffffu - c));
        }
        __syncthreads();
        unsigned c = 0xffffffffu - static_cast<unsigned>(best);
        if (threadIdx.x == 0) {
            values[blockIdx.x * k + round] = x[c];
            indices[blockIdx.x * k + round] = c;
            x[c] = __int_as_float(0xff800000);
        }
        __syncthreads();
    }
}

// Merges two sorted sequences: each thread finds its element's rank in the other by bisection.
extern "C" __global__ void merge(const int *a, int na, const int *b, int nb, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= na + nb) return;
    bool first = i < na;
    int own = first ? i : i - na, v = first ? a[own] : b[own];
    const int *other = first ? b : a;
    int low = 0, high = first ? nb : na;
    while (low < high) {
        int middle = (low + high) / 2;
        if (first ? other[middle] < v : other[middle] <= v) low = middle + 1;
        else high = middle;
    }
    out[own + low] = v;
}
