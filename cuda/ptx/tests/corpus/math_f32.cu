// targets: 75
// The f32 functions of CUDA's device library, as the compiler inlines them: a kernel a function.

#define ONE(NAME)                                                                    \
    extern "C" __global__ void map_##NAME(const float *x, float *y, int n) {         \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                               \
        if (i < n) y[i] = NAME(x[i]);                                                \
    }
#define TWO(NAME)                                                                                       \
    extern "C" __global__ void map_##NAME(const float *x, const float *y, float *z, int n) {            \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                  \
        if (i < n) z[i] = NAME(x[i], y[i]);                                                             \
    }
ONE(sinf)
ONE(cosf)
ONE(tanf)
ONE(sinpif)
ONE(asinf)
ONE(acosf)
ONE(atanf)
ONE(sinhf)
ONE(coshf)
ONE(tanhf)
ONE(asinhf)
ONE(acoshf)
ONE(atanhf)
ONE(expf)
ONE(exp2f)
ONE(exp10f)
ONE(expm1f)
ONE(logf)
ONE(log2f)
ONE(log10f)
ONE(log1pf)
ONE(logbf)
ONE(sqrtf)
ONE(rsqrtf)
ONE(cbrtf)
ONE(erff)
ONE(erfcf)
ONE(tgammaf)
ONE(lgammaf)
ONE(j0f)
ONE(floorf)
ONE(ceilf)
ONE(truncf)
ONE(rintf)
ONE(roundf)
ONE(normcdff)
ONE(erfinvf)
TWO(powf)
TWO(fmodf)
TWO(remainderf)
TWO(atan2f)
TWO(hypotf)
TWO(fdimf)
TWO(copysignf)
TWO(nextafterf)
TWO(fdividef)

// Those with other results: fraction and exponent, sine and cosine, integral part, scaling, classes.
extern "C" __global__ void several_f32(const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], *o = out + i * 12, whole, s, c;
    int exponent;
    o[0] = frexpf(v, &exponent);
    o[1] = exponent;
    o[2] = modff(v, &whole);
    o[3] = whole;
    sincosf(v, &s, &c);
    o[4] = s;
    o[5] = c;
    o[6] = ldexpf(v, i % 300 - 150);
    o[7] = ilogbf(v);
    o[8] = isnan(v) | isinf(v) << 1 | signbit(v) << 2 | isfinite(v) << 3;
    o[9] = fmaf(v, v, -1.0f);
    o[10] = lrintf(v);
    o[11] = __saturatef(v);
}
