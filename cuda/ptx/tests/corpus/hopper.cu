// targets: 90
// What compute capability 9.0 adds and an ordinary launch uses: clusters of one block, wide reductions, stmatrix.
#include <cuda_fp16.h>

using u32 = unsigned;
using u64 = unsigned long long;

// The cluster's registers and its barrier, and shared memory seen through it.
extern "C" __global__ void cluster_of_one(const u32 *x, u32 *out) {
    __shared__ u32 values[32];
    u32 t = threadIdx.x, rank, size, mapped, v, own = static_cast<u32>(__cvta_generic_to_shared(&values[31 - t]));
    values[t] = x[t];
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(own), "r"(rank));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(mapped) : "memory");
    out[t] = v + rank * 1000 + size * 100000;
}

// Sums of vectors by one instruction.
extern "C" __global__ void reduce_vectors(const float4 *x, float4 *sums, __half2 *pairs) {
    float4 v = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&sums[threadIdx.x % 2], v);
    if (threadIdx.x % 4 == 0) atomicAdd(&pairs[0], __floats2half2_rn(v.x, v.y));
}

// A register tile goes to shared memory by rows, plain and transposed.
extern "C" __global__ void store_matrix(const u32 *x, u32 *y) {
    __shared__ __align__(16) u32 tile[2][64];
    u32 t = threadIdx.x, a = x[t], b = x[32 + t];
    u32 row = static_cast<u32>(__cvta_generic_to_shared(&tile[0][t % 16 * 4]));
    u32 other = static_cast<u32>(__cvta_generic_to_shared(&tile[1][t % 16 * 4]));
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(row), "r"(a), "r"(b) : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(other), "r"(a), "r"(b) : "memory");
    __syncwarp();
    for (int k = t; k < 128; k += 32) y[k] = tile[k / 64][k % 64];
}
