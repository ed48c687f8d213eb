// targets: 80 90
// Tensor cores by instruction: mma.sync, ldmatrix, cp.async, as libraries write them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

using u32 = unsigned;

__device__ u32 shared_address(const void *p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

__device__ void load_x4(u32 (&r)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)));
}
__device__ void load_x2_transposed(u32 (&r)[2], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(row)));
}
__device__ void copy_16(void *to, const void *from, bool valid) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(valid ? 16 : 0) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

__device__ void multiply(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2], __half) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void multiply(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2], __nv_bfloat16) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// A pipeline of two stages: 32 × 32 results a block of four warps, 16 of k a stage. Extents n and k are multiples of
// 32 and 16; rows of a past m are read as zeros.
template <typename T> __device__ void pipeline(const T *a, const T *b, float *c, int m, int n, int k) {
    __shared__ __align__(16) T as[2][32][24], bs[2][16][40];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, row = blockIdx.y * 32, column = blockIdx.x * 32;
    auto fetch = [&](int stage, int i) {
        if (t < 64) {
            int r = row + t / 2, valid = r < m;
            copy_16(&as[stage][t / 2][t % 2 * 8], a + (valid ? r : 0) * k + i + t % 2 * 8, valid);
        } else {
            int u = t - 64;
            copy_16(&bs[stage][u / 4][u % 4 * 8], b + (i + u / 4) * n + column + u % 4 * 8, true);
        }
        commit();
    };
    float sum[2][4] = {};
    fetch(0, 0);
    for (int i = 0, stage = 0; i < k; i += 16, stage ^= 1) {
        if (i + 16 < k) {
            fetch(stage ^ 1, i + 16);
            wait<1>();
        } else {
            wait<0>();
        }
        __syncthreads();
        u32 left[4], right[2];
        load_x4(left, &as[stage][warp / 2 * 16 + lane % 16][lane / 16 * 8]);
        for (int h = 0; h < 2; ++h) {
            load_x2_transposed(right, &bs[stage][lane % 16][warp % 2 * 16 + h * 8]);
            multiply(sum[h], left, right, T());
        }
        __syncthreads();
    }
    for (int h = 0; h < 2; ++h)
        for (int i = 0; i < 4; ++i) {
            int r = row + warp / 2 * 16 + lane / 4 + i / 2 * 8;
            if (r < m) c[r * n + column + warp % 2 * 16 + h * 8 + lane % 4 * 2 + i % 2] = sum[h][i];
        }
}

extern "C" __global__ void __launch_bounds__(128) pipeline_f16(const __half *a, const __half *b, float *c, int m, int n, int k) {
    pipeline(a, b, c, m, n, k);
}
extern "C" __global__ void __launch_bounds__(128)
    pipeline_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int m, int n, int k) {
    pipeline(a, b, c, m, n, k);
}

// One product a warp from row-major a and column-major b, both dense: the fragments' layout is in the loads.
#define LANE int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4

extern "C" __global__ void mma_f16_accumulate(const u32 *a, const u32 *b, u32 *c) {  // 16 × 8 × 16, pairs of halves
    LANE;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                 : "+r"(c[g * 4 + q]), "+r"(c[(g + 8) * 4 + q])
                 : "r"(a[g * 8 + q]), "r"(a[(g + 8) * 8 + q]), "r"(a[g * 8 + q + 4]), "r"(a[(g + 8) * 8 + q + 4]),
                   "r"(b[g * 8 + q]), "r"(b[g * 8 + q + 4]));
}

extern "C" __global__ void mma_f16_k8(const u32 *a, const u32 *b, float *c) {  // 16 × 8 × 8
    LANE;
    float *top = c + g * 8 + q * 2, *bottom = top + 64;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(top[0]), "+f"(top[1]), "+f"(bottom[0]), "+f"(bottom[1])
                 : "r"(a[g * 4 + q]), "r"(a[(g + 8) * 4 + q]), "r"(b[g * 4 + q]));
}

extern "C" __global__ void mma_tf32_k8(const float *a, const float *b, float *c) {  // 16 × 8 × 8
    LANE;
    float *top = c + g * 8 + q * 2, *bottom = top + 64;
    u32 l[4], r[2];
    for (int i = 0; i < 4; ++i)
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(l[i]) : "f"(a[(g + i % 2 * 8) * 8 + q + i / 2 * 4]));
    for (int i = 0; i < 2; ++i) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r[i]) : "f"(b[g * 8 + q + i * 4]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(top[0]), "+f"(top[1]), "+f"(bottom[0]), "+f"(bottom[1])
                 : "r"(l[0]), "r"(l[1]), "r"(l[2]), "r"(l[3]), "r"(r[0]), "r"(r[1]));
}

extern "C" __global__ void mma_tf32_k4(const float *a, const float *b, float *c) {  // 16 × 8 × 4
    LANE;
    float *top = c + g * 8 + q * 2, *bottom = top + 64;
    u32 l[2], r;
    for (int i = 0; i < 2; ++i) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(l[i]) : "f"(a[(g + i * 8) * 4 + q]));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(b[g * 4 + q]));
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(top[0]), "+f"(top[1]), "+f"(bottom[0]), "+f"(bottom[1]) : "r"(l[0]), "r"(l[1]), "r"(r));
}

extern "C" __global__ void mma_s8_k32(const u32 *a, const u32 *b, int *c) {  // 16 × 8 × 32, four to a word
    LANE;
    int *top = c + g * 8 + q * 2, *bottom = top + 64;
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(top[0]), "+r"(top[1]), "+r"(bottom[0]), "+r"(bottom[1])
                 : "r"(a[g * 8 + q]), "r"(a[(g + 8) * 8 + q]), "r"(a[g * 8 + q + 4]), "r"(a[(g + 8) * 8 + q + 4]),
                   "r"(b[g * 8 + q]), "r"(b[g * 8 + q + 4]));
}

extern "C" __global__ void mma_u8_s8_k16(const u32 *a, const u32 *b, int *c) {  // 16 × 8 × 16; saturates
    LANE;
    int *top = c + g * 8 + q * 2, *bottom = top + 64;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+r"(top[0]), "+r"(top[1]), "+r"(bottom[0]), "+r"(bottom[1])
                 : "r"(a[g * 4 + q]), "r"(a[(g + 8) * 4 + q]), "r"(b[g * 4 + q]));
}

extern "C" __global__ void mma_f64(const double *a, const double *b, double *c) {  // 8 × 8 × 4
    LANE;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(c[g * 8 + q * 2]), "+d"(c[g * 8 + q * 2 + 1]) : "d"(a[g * 4 + q]), "d"(b[g * 4 + q]));
}

// The four ldmatrix forms, as they leave the registers: x1, x2, x4, and x4 transposed; 11 words a lane.
extern "C" __global__ void ldmatrix_forms(const __half *x, u32 *out) {
    __shared__ __align__(16) __half tile[32][8];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) tile[i / 8][i % 8] = x[i];
    __syncwarp();
    u32 row = shared_address(&tile[lane][0]), r[11];
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r[1]), "=r"(r[2]) : "r"(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]) : "r"(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[7]), "=r"(r[8]), "=r"(r[9]), "=r"(r[10]) : "r"(row));
    for (int i = 0; i < 11; ++i) out[lane * 11 + i] = r[i];
}

// A register tile transposed in place.
extern "C" __global__ void movmatrix(const u32 *x, u32 *y) {
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y[threadIdx.x]) : "r"(x[threadIdx.x]));
}

// Copies of 4, 8 and 16 bytes, one group each, waited for one by one.
extern "C" __global__ void copy_async_sizes(const int4 *x, int4 *y) {
    __shared__ int4 buffer[64];
    u32 to = shared_address(&buffer[threadIdx.x]);
    const char *from = reinterpret_cast<const char *>(&x[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n\tcp.async.commit_group;" ::"r"(to), "l"(from) : "memory");
    asm volatile("cp.async.ca.shared.global [%0+4], [%1+4], 4;\n\tcp.async.commit_group;" ::"r"(to), "l"(from) : "memory");
    asm volatile("cp.async.ca.shared.global.L2::128B [%0+8], [%1+8], 8;\n\tcp.async.commit_group;" ::"r"(to), "l"(from) : "memory");
    wait<2>();
    int first = buffer[threadIdx.x].x;
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    int4 v = buffer[threadIdx.x ^ 1];
    y[threadIdx.x] = make_int4(first, v.y, v.z, v.w);
}
