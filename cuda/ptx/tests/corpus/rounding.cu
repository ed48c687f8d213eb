// targets: 75 90
// Floating point by its rounding: directed modes, flushing, saturation, the fast approximations.

// One operation in four modes each: nearest, to zero, up, down; 24 words.
extern "C" __global__ void directed_f32(const float *x, const float *y, const float *z, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], b = y[i], c = z[i], *o = out + i * 24, p = fabsf(a);
    o[0] = __fadd_rn(a, b), o[1] = __fadd_rz(a, b), o[2] = __fadd_ru(a, b), o[3] = __fadd_rd(a, b);
    o[4] = __fmul_rn(a, b), o[5] = __fmul_rz(a, b), o[6] = __fmul_ru(a, b), o[7] = __fmul_rd(a, b);
    o[8] = __fmaf_rn(a, b, c), o[9] = __fmaf_rz(a, b, c), o[10] = __fmaf_ru(a, b, c), o[11] = __fmaf_rd(a, b, c);
    o[12] = __fdiv_rn(a, b), o[13] = __fdiv_rz(a, b), o[14] = __fdiv_ru(a, b), o[15] = __fdiv_rd(a, b);
    o[16] = __fsqrt_rn(p), o[17] = __fsqrt_rz(p), o[18] = __fsqrt_ru(p), o[19] = __fsqrt_rd(p);
    o[20] = __frcp_rn(a), o[21] = __frcp_rz(a), o[22] = __frcp_ru(a), o[23] = __frcp_rd(a);
}

extern "C" __global__ void directed_f64(const double *x, const double *y, const double *z, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double a = x[i], b = y[i], c = z[i], *o = out + i * 24, p = fabs(a);
    o[0] = __dadd_rn(a, b), o[1] = __dadd_rz(a, b), o[2] = __dadd_ru(a, b), o[3] = __dadd_rd(a, b);
    o[4] = __dmul_rn(a, b), o[5] = __dmul_rz(a, b), o[6] = __dmul_ru(a, b), o[7] = __dmul_rd(a, b);
    o[8] = __fma_rn(a, b, c), o[9] = __fma_rz(a, b, c), o[10] = __fma_ru(a, b, c), o[11] = __fma_rd(a, b, c);
    o[12] = __ddiv_rn(a, b), o[13] = __ddiv_rz(a, b), o[14] = __ddiv_ru(a, b), o[15] = __ddiv_rd(a, b);
    o[16] = __dsqrt_rn(p), o[17] = __dsqrt_rz(p), o[18] = __dsqrt_ru(p), o[19] = __dsqrt_rd(p);
    o[20] = __drcp_rn(a), o[21] = __drcp_rz(a), o[22] = __drcp_ru(a), o[23] = __drcp_rd(a);
}

// The approximate instructions behind the fast functions; 9 words.
extern "C" __global__ void approximations(const float *x, const float *y, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], b = y[i], *o = out + i * 10;
    o[0] = __sinf(a);
    o[1] = __cosf(a);
    o[2] = __expf(a);
    o[3] = __logf(fabsf(b));
    o[4] = __fdividef(a, b);
    o[5] = __powf(fabsf(b), a);
    o[6] = __tanf(a);
    o[7] = __frsqrt_rn(fabsf(b));
    asm("tanh.approx.f32 %0, %1;" : "=f"(o[8]) : "f"(a));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(o[9]) : "f"(b));
}

// Subnormal numbers count as zero with .ftz, and results saturate to [0, 1] with .sat; 7 words.
extern "C" __global__ void flushed(const float *x, const float *y, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], b = y[i], *o = out + i * 8;
    asm("add.ftz.f32 %0, %1, %2;" : "=f"(o[0]) : "f"(a), "f"(b));
    asm("mul.ftz.f32 %0, %1, %2;" : "=f"(o[1]) : "f"(a), "f"(b));
    asm("fma.rn.ftz.f32 %0, %1, %2, %1;" : "=f"(o[2]) : "f"(a), "f"(b));
    asm("add.sat.f32 %0, %1, %2;" : "=f"(o[3]) : "f"(a), "f"(b));
    asm("fma.rz.ftz.sat.f32 %0, %1, %2, %2;" : "=f"(o[4]) : "f"(a), "f"(b));
    asm("min.ftz.f32 %0, %1, %2;" : "=f"(o[5]) : "f"(a), "f"(b));
    asm("abs.ftz.f32 %0, %1;" : "=f"(o[6]) : "f"(a));
    float r;
    asm("{\n\t.reg .pred p;\n\tsetp.eq.ftz.f32 p, %1, 0f00000000;\n\tselp.f32 %0, 0f3F800000, 0f00000000, p;\n\t}" : "=f"(r) : "f"(a));
    o[7] = r;
}
