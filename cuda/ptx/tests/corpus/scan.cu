// targets: 75 90
// Prefix sums: in a warp, in a block, over a grid.

// Inclusive sums of a block of any size up to 1024, through shared memory, doubling the distance.
extern "C" __global__ void scan_doubling(const int *x, int *y, int n) {
    extern __shared__ int values[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    values[t] = i < n ? x[i] : 0;
    for (int d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        int v = t >= d ? values[t - d] : 0;
        __syncthreads();
        values[t] += v;
    }
    if (i < n) y[i] = values[t];
}

// Exclusive sums of 512 numbers by 256 threads: up the tree and down again.
extern "C" __global__ void scan_tree(const unsigned *x, unsigned *y) {
    __shared__ unsigned tree[512];
    int t = threadIdx.x;
    x += blockIdx.x * 512;
    y += blockIdx.x * 512;
    tree[2 * t] = x[2 * t];
    tree[2 * t + 1] = x[2 * t + 1];
    int offset = 1;
    for (int d = 256; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    }
    if (t == 0) tree[511] = 0;
    for (int d = 1; d < 512; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            unsigned v = tree[left];
            tree[left] = tree[right];
            tree[right] += v;
        }
    }
    __syncthreads();
    y[2 * t] = tree[2 * t];
    y[2 * t + 1] = tree[2 * t + 1];
}

template <typename T> __device__ T scan_warp(T v) {
    int lane = threadIdx.x % 32;
    for (int d = 1; d < 32; d *= 2) {
        T o = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += o;
    }
    return v;
}

// Inclusive sum of a block in every thread's own place; shared memory holds one sum a warp.
template <typename T> __device__ T scan_block(T v) {
    __shared__ T sums[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = scan_warp(v);
    if (lane == 31) sums[warp] = v;
    __syncthreads();
    if (warp == 0) {
        T s = lane < blockDim.x / 32 ? sums[lane] : T(0);
        sums[lane] = scan_warp(s);
    }
    __syncthreads();
    if (warp > 0) v += sums[warp - 1];
    return v;
}

extern "C" __global__ void scan_shuffle_f64(const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = scan_block(i < n ? x[i] : 0.0);
    if (i < n) y[i] = v;
}
extern "C" __global__ void scan_shuffle_i64(const long long *x, long long *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long v = scan_block(i < n ? x[i] : 0ll);
    if (i < n) y[i] = v;
}

// Sums over the grid in one pass: each block publishes its sum, then looks back until somebody's prefix is known.
// A state is 0 while unknown, 1 << 62 | sum of a block, or 2 << 62 | prefix with it.
extern "C" __global__ void scan_look_back(const unsigned *x, unsigned *y, unsigned long long *states, int n) {
    __shared__ unsigned before;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = scan_block(i < n ? x[i] : 0u);
    if (threadIdx.x == blockDim.x - 1) {
        atomicExch(&states[blockIdx.x], (blockIdx.x == 0 ? 2ull : 1ull) << 62 | v);
        unsigned sum = 0;
        for (int b = static_cast<int>(blockIdx.x) - 1; b >= 0; --b) {
            unsigned long long state;
            do state = atomicAdd(&states[b], 0ull);
            while (state == 0);
            sum += static_cast<unsigned>(state);
            if (state >> 62 == 2) break;
        }
        if (blockIdx.x > 0) atomicExch(&states[blockIdx.x], 2ull << 62 | (sum + v));
        before = sum;
    }
    __syncthreads();
    if (i < n) y[i] = before + v;
}

// Sums that start anew at every flag.
extern "C" __global__ void scan_segmented(const float *x, const unsigned char *starts, float *y, int n) {
    __shared__ float sums[256];
    __shared__ bool flags[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = i < n ? x[i] : 0;
    bool flag = i < n ? starts[i] != 0 : true;
    sums[t] = v;
    flags[t] = flag;
    for (int d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        float o = t >= d ? sums[t - d] : 0;
        bool f = t >= d ? flags[t - d] : false;
        __syncthreads();
        if (!flag) v += o;
        flag |= f;
        sums[t] = v;
        flags[t] = flag;
    }
    if (i < n) y[i] = v;
}

// Keeps what is positive, in order within a block; the place comes from ballots and one atomic a block.
extern "C" __global__ void compact(const int *x, int *y, int *blocks, unsigned *length, int n) {
    __shared__ int offsets[32], base;
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    bool keep = i < n && x[i] > 0;
    unsigned votes = __ballot_sync(~0u, keep);
    if (lane == 0) offsets[warp] = __popc(votes);
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int w = 0; w < blockDim.x / 32; ++w) {
            int count = offsets[w];
            offsets[w] = total;
            total += count;
        }
        base = atomicAdd(length, total);
        blocks[blockIdx.x] = base;
    }
    __syncthreads();
    if (keep) y[base + offsets[warp] + __popc(votes & ((1u << lane) - 1))] = x[i];
}
