// targets: 75 80 90
// Conversions between all types, in every rounding the language has.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;

// Floats to integers: values out of range saturate, NaN is zero. Wider ones than a byte by rounding, bytes by casts.
extern "C" __global__ void float_to_int(const float *x, long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    long long *o = out + i * 16;
    o[0] = __float2int_rn(v), o[1] = __float2int_rz(v), o[2] = __float2int_ru(v), o[3] = __float2int_rd(v);
    o[4] = __float2uint_rn(v), o[5] = __float2uint_rz(v), o[6] = __float2uint_ru(v), o[7] = __float2uint_rd(v);
    o[8] = __float2ll_rn(v), o[9] = __float2ll_rz(v), o[10] = __float2ull_ru(v), o[11] = __float2ull_rd(v);
    int r;
    asm("cvt.rni.s8.f32 %0, %1;" : "=r"(r) : "f"(v));
    o[12] = r;
    asm("cvt.rzi.u8.f32 %0, %1;" : "=r"(r) : "f"(v));
    o[13] = r;
    short h;
    asm("cvt.rmi.s16.f32 %0, %1;" : "=h"(h) : "f"(v));
    o[14] = h;
    asm("cvt.rpi.u16.f32 %0, %1;" : "=h"(h) : "f"(v));
    o[15] = static_cast<u16>(h);
}

extern "C" __global__ void double_to_int(const double *x, long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i];
    long long *o = out + i * 8;
    o[0] = __double2int_rn(v), o[1] = __double2int_rz(v), o[2] = __double2uint_ru(v), o[3] = __double2uint_rd(v);
    o[4] = __double2ll_rn(v), o[5] = __double2ll_rd(v), o[6] = __double2ull_rz(v), o[7] = __double2ull_ru(v);
}

extern "C" __global__ void int_to_float(const long long *x, float *out, double *wide, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long v = x[i];
    int s = v;
    float *o = out + i * 16;
    double *d = wide + i * 8;
    o[0] = __int2float_rn(s), o[1] = __int2float_rz(s), o[2] = __int2float_ru(s), o[3] = __int2float_rd(s);
    o[4] = __uint2float_rn(s), o[5] = __uint2float_rz(s), o[6] = __uint2float_ru(s), o[7] = __uint2float_rd(s);
    o[8] = __ll2float_rn(v), o[9] = __ll2float_rz(v), o[10] = __ll2float_ru(v), o[11] = __ll2float_rd(v);
    o[12] = __ull2float_rn(v), o[13] = __ull2float_rd(v), o[14] = static_cast<signed char>(v), o[15] = static_cast<u16>(v);
    d[0] = __int2double_rn(s), d[1] = __uint2double_rn(s);
    d[2] = __ll2double_rn(v), d[3] = __ll2double_rz(v), d[4] = __ll2double_ru(v), d[5] = __ll2double_rd(v);
    d[6] = __ull2double_rn(v), d[7] = __ull2double_ru(v);
}

extern "C" __global__ void between_floats(const double *x, float *out, __half *halves, __nv_bfloat16 *brains, double *back, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i];
    float f = __double2float_rn(v), *o = out + i * 4;
    o[0] = f, o[1] = __double2float_rz(v), o[2] = __double2float_ru(v), o[3] = __double2float_rd(v);
    __half *h = halves + i * 5;
    h[0] = __float2half_rn(f), h[1] = __float2half_rz(f), h[2] = __float2half_ru(f), h[3] = __float2half_rd(f);
    h[4] = __double2half(v);
    __nv_bfloat16 *b = brains + i * 2;
    b[0] = __float2bfloat16_rn(f), b[1] = __float2bfloat16_rz(f);
    back[i * 3] = f;
    back[i * 3 + 1] = __half2float(h[0]);
    back[i * 3 + 2] = __bfloat162float(b[0]);
}

extern "C" __global__ void half_to_int(const __half *x, long long *out, __half *back, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half v = x[i];
    long long *o = out + i * 6;
    o[0] = __half2int_rn(v), o[1] = __half2uint_rz(v), o[2] = __half2short_ru(v);
    o[3] = __half2ushort_rd(v), o[4] = __half2ll_rz(v), o[5] = static_cast<signed char>(__half2char_rz(v));
    back[i * 3] = __int2half_rn(static_cast<int>(o[0]) * 3);
    back[i * 3 + 1] = __ushort2half_rz(static_cast<u16>(i * 37));
    back[i * 3 + 2] = __ll2half_ru(static_cast<long long>(i) * 12345 - 65000);
}

// Integers among themselves: truncation, sign and zero extension, saturation.
extern "C" __global__ void between_ints(const long long *x, long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long v = x[i], *o = out + i * 10;
    o[0] = static_cast<signed char>(v);
    o[1] = static_cast<u8>(v);
    o[2] = static_cast<short>(v);
    o[3] = static_cast<u16>(v);
    o[4] = static_cast<int>(v);
    o[5] = static_cast<u32>(v);
    int r;
    asm("cvt.sat.s8.s64 %0, %1;" : "=r"(r) : "l"(v));
    o[6] = r;
    asm("cvt.sat.u16.s64 %0, %1;" : "=r"(r) : "l"(v));
    o[7] = r;
    asm("cvt.sat.s32.s64 %0, %1;" : "=r"(r) : "l"(v));
    o[8] = r;
    asm("cvt.sat.u32.s64 %0, %1;" : "=r"(r) : "l"(v));
    o[9] = static_cast<u32>(r);
}

#if __CUDA_ARCH__ >= 800
// Two floats to a register at once, with and without a floor of zero.
extern "C" __global__ void packed_pairs(const float *x, const float *y, u32 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 *o = out + i * 6;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(o[0]) : "f"(x[i]), "f"(y[i]));
    asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(o[1]) : "f"(x[i]), "f"(y[i]));
    asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(o[2]) : "f"(x[i]), "f"(y[i]));
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(o[3]) : "f"(x[i]), "f"(y[i]));
    asm("cvt.rz.relu.bf16x2.f32 %0, %1, %2;" : "=r"(o[4]) : "f"(x[i]), "f"(y[i]));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(o[5]) : "f"(x[i]));
}
#endif

#if __CUDA_ARCH__ >= 900
// Eight-bit floats, two to a register, and back to halves.
extern "C" __global__ void eight_bit_floats(const float *x, const float *y, u32 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 *o = out + i * 5;
    u16 a, b, c;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(a) : "f"(x[i]), "f"(y[i]));
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(b) : "f"(x[i]), "f"(y[i]));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(o[0]) : "h"(a));
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(o[1]) : "h"(b));
    asm("cvt.rn.satfinite.relu.e4m3x2.f16x2 %0, %1;" : "=h"(c) : "r"(o[1]));
    o[2] = a;
    o[3] = b;
    o[4] = c;
}
#endif
