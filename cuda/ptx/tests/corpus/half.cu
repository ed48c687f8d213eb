// targets: 75 80 90
// Half precision: arithmetic, comparisons, minima, functions; in f16, f16x2, and bf16 where the target has it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

using u16 = unsigned short;
using u32 = unsigned;

extern "C" __global__ void arithmetic_f16(const __half *x, const __half *y, const __half *z, __half *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half a = x[i], b = y[i], c = z[i], *o = out + i * 12;
    o[0] = __hadd(a, b);
    o[1] = __hsub(a, b);
    o[2] = __hmul(a, b);
    o[3] = __hfma(a, b, c);
    o[4] = __hdiv(a, b);
    o[5] = __hneg(a);
    o[6] = __habs(a);
    o[7] = __hadd_sat(a, b);
    o[8] = __hmul_sat(a, b);
    o[9] = __hfma_sat(a, b, c);
    o[10] = hsqrt(__habs(a));
    o[11] = hrcp(b);
}

extern "C" __global__ void arithmetic_f16x2(const __half2 *x, const __half2 *y, const __half2 *z, __half2 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 a = x[i], b = y[i], c = z[i], *o = out + i * 7;
    o[0] = __hadd2(a, b);
    o[1] = __hsub2(a, b);
    o[2] = __hmul2(a, b);
    o[3] = __hfma2(a, b, c);
    o[4] = __hneg2(__habs2(a));
    o[5] = __lowhigh2highlow(__hadd2_sat(a, b));
    o[6] = __halves2half2(__high2half(a), __low2half(b));
}

// Comparisons ordered and unordered, of numbers and of pairs.
extern "C" __global__ void compare_f16(const __half2 *x, const __half2 *y, u32 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 a = x[i], b = y[i];
    __half l = __low2half(a), r = __low2half(b);
    u32 bits = __hlt(l, r) | __heq(l, r) << 1 | __hge(l, r) << 2 | __hne(l, r) << 3 | __hltu(l, r) << 4 | __hequ(l, r) << 5 |
               __hisnan(l) << 6 | __hbgt2(a, b) << 7 | __hbequ2(a, b) << 8;
    out[i * 2] = bits;
    __half2 mask = __hle2(a, b);
    out[i * 2 + 1] = *reinterpret_cast<u32 *>(&mask);
}

extern "C" __global__ void functions_f16(const __half *x, __half *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half a = x[i], p = __habs(a), *o = out + i * 9;
    o[0] = hexp(a);
    o[1] = hexp2(a);
    o[2] = hlog(p);
    o[3] = hlog2(p);
    o[4] = hrsqrt(p);
    o[5] = hfloor(a);
    o[6] = hrint(a);
    o[7] = htrunc(a);
    o[8] = hsin(a);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void newer_f16(const __half2 *x, const __half2 *y, const __half2 *z, __half2 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 a = x[i], b = y[i], *o = out + i * 7;
    o[0] = __hmin2(a, b);
    o[1] = __hmax2(a, b);
    o[2] = __hmin2_nan(a, b);
    o[3] = __hmax2_nan(a, b);
    o[4] = __hfma2_relu(a, b, z[i]);
    asm("tanh.approx.f16x2 %0, %1;" : "=r"(*reinterpret_cast<u32 *>(&o[5])) : "r"(*reinterpret_cast<u32 *>(&a)));
    asm("ex2.approx.f16x2 %0, %1;" : "=r"(*reinterpret_cast<u32 *>(&o[6])) : "r"(*reinterpret_cast<u32 *>(&a)));
}

extern "C" __global__ void arithmetic_bf16(const __nv_bfloat162 *x, const __nv_bfloat162 *y, const __nv_bfloat162 *z,
                                           __nv_bfloat162 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat162 a = x[i], b = y[i], c = z[i], *o = out + i * 9;
    o[0] = __hadd2(a, b);
    o[1] = __hsub2(a, b);
    o[2] = __hmul2(a, b);
    o[3] = __hfma2(a, b, c);
    o[4] = __hmin2(a, b);
    o[5] = __hmax2_nan(a, b);
    o[6] = __hneg2(__habs2(a));
    o[7] = __hfma2_relu(a, b, c);
    o[8] = __halves2bfloat162(__hadd(__low2bfloat16(a), __high2bfloat16(b)), __hfma(__high2bfloat16(a), __low2bfloat16(b), __low2bfloat16(c)));
}
#endif
