// targets: 90
// The f64 functions of CUDA's device library, as the compiler inlines them: a kernel a function.

#define ONE(NAME)                                                                    \
    extern "C" __global__ void map_##NAME(const double *x, double *y, int n) {       \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                               \
        if (i < n) y[i] = NAME(x[i]);                                                \
    }
#define TWO(NAME)                                                                                        \
    extern "C" __global__ void map_##NAME(const double *x, const double *y, double *z, int n) {          \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                   \
        if (i < n) z[i] = NAME(x[i], y[i]);                                                              \
    }
ONE(sin)
ONE(cos)
ONE(tan)
ONE(asin)
ONE(atan)
ONE(sinh)
ONE(tanh)
ONE(exp)
ONE(exp2)
ONE(expm1)
ONE(log)
ONE(log2)
ONE(log1p)
ONE(sqrt)
ONE(rsqrt)
ONE(cbrt)
ONE(erf)
ONE(erfc)
ONE(tgamma)
ONE(lgamma)
ONE(floor)
ONE(rint)
ONE(round)
TWO(pow)
TWO(fmod)
TWO(atan2)
TWO(hypot)

extern "C" __global__ void several_f64(const double *x, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i], *o = out + i * 8, whole;
    int exponent;
    o[0] = frexp(v, &exponent);
    o[1] = exponent;
    o[2] = modf(v, &whole);
    o[3] = whole;
    o[4] = 1.0 / v;
    o[5] = v / 3.0;
    o[6] = fma(v, v, -1.0);
    o[7] = ldexp(v, i % 100 - 50);
}
