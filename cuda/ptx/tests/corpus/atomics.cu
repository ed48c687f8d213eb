// targets: 75 80 90
// Atomics of every operation, type and scope, and what is built of them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;

// Every thread does every operation on cells of its own group of 4; results do not depend on order.
extern "C" __global__ void atomics_u32(const u32 *x, u32 *cells) {
    u32 v = x[blockIdx.x * blockDim.x + threadIdx.x], *c = cells + threadIdx.x % 4 * 8;
    atomicAdd(&c[0], v);
    atomicSub(&c[1], v);
    atomicMin(&c[2], v);
    atomicMax(&c[3], v);
    atomicAnd(&c[4], v | 0xffff);
    atomicOr(&c[5], v);
    atomicXor(&c[6], v);
    atomicInc(&c[7], 6);
}
extern "C" __global__ void atomics_i32(const int *x, int *cells) {
    int v = x[blockIdx.x * blockDim.x + threadIdx.x], *c = cells + threadIdx.x % 4 * 4;
    atomicAdd(&c[0], v);
    atomicMin(&c[1], v);
    atomicMax(&c[2], v);
    atomicDec(reinterpret_cast<u32 *>(&c[3]), 9);
}
extern "C" __global__ void atomics_u64(const u64 *x, u64 *cells) {
    u64 v = x[blockIdx.x * blockDim.x + threadIdx.x], *c = cells + threadIdx.x % 4 * 6;
    atomicAdd(&c[0], v);
    atomicMin(&c[1], v);
    atomicMax(&c[2], v);
    atomicAnd(&c[3], v | 0xffffffffull);
    atomicOr(&c[4], v);
    atomicXor(&c[5], v);
}
extern "C" __global__ void atomics_i64(const long long *x, long long *cells) {
    long long v = x[blockIdx.x * blockDim.x + threadIdx.x], *c = cells + threadIdx.x % 4 * 2;
    atomicMin(&c[0], v);
    atomicMax(&c[1], v);
}
// Sums of small whole numbers are exact in any order.
extern "C" __global__ void atomics_float(const float *x, float *f, double *d, __half2 *h, __half *single) {
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&f[threadIdx.x % 4], v);
    atomicAdd(&d[threadIdx.x % 4], static_cast<double>(v));
    if (threadIdx.x % 8 == 0) {
        atomicAdd(&h[threadIdx.x % 3], __floats2half2_rn(v, -v));
        atomicAdd(&single[threadIdx.x % 5], __float2half(v));
    }
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void atomics_bf16(const float *x, __nv_bfloat162 *pairs, __nv_bfloat16 *single) {
    float v = x[threadIdx.x];
    if (threadIdx.x % 8 == 0) {
        atomicAdd(&pairs[threadIdx.x % 3], __floats2bfloat162_rn(v, -v));
        atomicAdd(&single[threadIdx.x % 5], __float2bfloat16(v));
    }
}
#endif

// The same on shared memory, results known to the thread: tickets are distinct, exchanges a chain.
extern "C" __global__ void atomics_shared(const u32 *x, u32 *tickets, u32 *exchanged, u64 *sums, float *total) {
    __shared__ u32 counter, chain;
    __shared__ u64 sum;
    __shared__ int low;
    __shared__ float f;
    int t = threadIdx.x;
    if (t == 0) {
        counter = 0;
        chain = 0xffffffffu;
        sum = 0;
        low = 0x7fffffff;
        f = 0;
    }
    __syncthreads();
    tickets[t] = atomicAdd(&counter, 2u);
    exchanged[t] = atomicExch(&chain, static_cast<u32>(t));
    atomicAdd(&sum, static_cast<u64>(x[t]) << 8);
    atomicMin(&low, static_cast<int>(x[t]));
    atomicAdd(&f, 0.5f);
    __syncthreads();
    if (t == 0) {
        exchanged[blockDim.x] = chain;
        sums[0] = sum;
        sums[1] = static_cast<u64>(static_cast<long long>(low));
        *total = f;
    }
}

// Scopes and the forms without a result.
extern "C" __global__ void atomics_scopes(const u32 *x, u32 *cells) {
    u32 v = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd_system(&cells[0], v);
    atomicAdd_block(&cells[1 + blockIdx.x], v);
    asm volatile("red.relaxed.gpu.global.xor.b32 [%0], %1;" ::"l"(cells + 5), "r"(v) : "memory");
    asm volatile("red.release.sys.global.max.u32 [%0], %1;" ::"l"(cells + 6), "r"(v) : "memory");
    asm volatile("atom.acq_rel.gpu.global.or.b32 _, [%0], %1;" ::"l"(cells + 7), "r"(v) : "memory");
}

// Compare and swap in each width: loops that add, and a 16-bit one that doubles.
extern "C" __global__ void cas_loops(const float *x, float *largest, double *sum, u64 *product, u16 *narrow) {
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    u32 *bits = reinterpret_cast<u32 *>(largest), seen = *bits, before;
    do {
        before = seen;
        if (__uint_as_float(before) >= v) break;
        seen = atomicCAS(bits, before, __float_as_uint(v));
    } while (seen != before);

    u64 *cell = reinterpret_cast<u64 *>(sum), wide = *cell, assumed;
    do {
        assumed = wide;
        wide = atomicCAS(cell, assumed, __double_as_longlong(__longlong_as_double(assumed) + v));
    } while (wide != assumed);

    wide = *product;
    do {
        assumed = wide;
        wide = atomicCAS(product, assumed, assumed * 3);
    } while (wide != assumed);

    u16 small = *narrow, expected;
    do {
        expected = small;
        small = atomicCAS(narrow, expected, static_cast<u16>(expected + 5));
    } while (small != expected);
}

// A lock of a try a turn: threads of a warp compete, whoever holds it updates what it guards.
extern "C" __global__ void spin_lock(int *lock, volatile int *guarded, int rounds) {
    for (int r = 0; r < rounds; ++r) {
        bool done = false;
        while (!done) {
            if (atomicCAS(lock, 0, 1) == 0) {
                __threadfence();
                guarded[0] = guarded[0] + 1;
                guarded[1] = guarded[1] + guarded[0];
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
        }
    }
}

// Tickets: a lane waits until its number is called, while others of its warp have yet to be served.
extern "C" __global__ void ticket_lock(u32 *next, volatile u32 *serving, u32 *order) {
    u32 ticket = atomicAdd(next, 1u);
    while (*serving != ticket) {
    }
    __threadfence();
    order[ticket] = blockIdx.x * blockDim.x + threadIdx.x;
    __threadfence();
    *serving = ticket + 1;
}

// Bytes into 256 bins: in shared memory first.
extern "C" __global__ void histogram_shared(const unsigned char *x, u32 *bins, int n) {
    __shared__ u32 own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (own[i]) atomicAdd(&bins[i], own[i]);
}

// Numbers into bins of equal width; those outside are dropped.
extern "C" __global__ void histogram_range(const float *x, int *bins, int count, float low, float high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    if (!(v >= low && v < high)) return;
    atomicAdd(&bins[min(count - 1, static_cast<int>((v - low) / (high - low) * count))], 1);
}

// Equal keys of a warp find each other first; one atomic for all of them.
extern "C" __global__ void histogram_match(const u32 *keys, u32 *bins) {
    u32 key = keys[blockIdx.x * blockDim.x + threadIdx.x], peers = __match_any_sync(~0u, key);
    if (threadIdx.x % 32 == __ffs(peers) - 1) atomicAdd(&bins[key], static_cast<u32>(__popc(peers)));
}

// A hash table of open addressing: keys are inserted once however often they come, and counted.
extern "C" __global__ void hash_count(const u32 *keys, u32 *table, u32 *counts, u32 slots, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 key = keys[i], at = key * 2654435761u % slots;
    for (;;) {
        u32 found = atomicCAS(&table[at], 0xffffffffu, key);
        if (found == 0xffffffffu || found == key) break;
        at = (at + 1) % slots;
    }
    atomicAdd(&counts[at], 1u);
}
