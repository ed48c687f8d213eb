// targets: 75 80 90
// Elementwise kernels: every type, vector accesses, strides, broadcasting.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void empty() {}

// y += a * x, one element a thread.
#define AXPY(NAME, T)                                                                   \
    extern "C" __global__ void NAME(T a, const T *x, T *y, int n) {                     \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                  \
        if (i < n) y[i] = static_cast<T>(a * x[i] + y[i]);                              \
    }
AXPY(axpy_f32, float)
AXPY(axpy_f64, double)
AXPY(axpy_f16, __half)
AXPY(axpy_bf16, __nv_bfloat16)
AXPY(axpy_i8, signed char)
AXPY(axpy_u8, unsigned char)
AXPY(axpy_i16, short)
AXPY(axpy_i32, int)
AXPY(axpy_i64, long long)

// The same in pairs; an odd last element is done by the thread behind the last pair.
extern "C" __global__ void axpy_f16x2(__half a, const __half *x, __half *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 < n) {
        auto *pairs = reinterpret_cast<__half2 *>(y);
        pairs[i] = __hfma2(__half2half2(a), reinterpret_cast<const __half2 *>(x)[i], pairs[i]);
    } else if (2 * i < n) {
        y[2 * i] = __hfma(a, x[2 * i], y[2 * i]);
    }
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void axpy_bf16x2(__nv_bfloat16 a, const __nv_bfloat16 *x, __nv_bfloat16 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 < n) {
        auto *pairs = reinterpret_cast<__nv_bfloat162 *>(y);
        pairs[i] = __hfma2(__bfloat162bfloat162(a), reinterpret_cast<const __nv_bfloat162 *>(x)[i], pairs[i]);
    } else if (2 * i < n) {
        y[2 * i] = __hfma(a, x[2 * i], y[2 * i]);
    }
}
#endif

// A grid of any size covers any number of elements.
extern "C" __global__ void scale_grid_stride(float a, float *x, long long n) {
    long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) x[i] *= a;
}

extern "C" __global__ void __launch_bounds__(128, 4) scale_float4(float a, const float4 *x, float4 *y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = x[i];
    y[i] = make_float4(a * v.x, a * v.y, a * v.z, a * v.w);
}

// Vectors of every element width, in one struct of arrays.
extern "C" __global__ void add_vectors(const uchar4 *b, const short2 *s, const int4 *w, const longlong2 *l,
                                       const double2 *d, uchar4 *ob, short2 *os, int4 *ow, longlong2 *ol, double2 *od,
                                       int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 vb = b[i];
    ob[i] = make_uchar4(vb.x + 1, vb.y + 2, vb.z + 3, vb.w + 4);
    os[i] = make_short2(s[i].y - 5, s[i].x - 6);
    int4 vw = w[i];
    ow[i] = make_int4(vw.w, vw.z ^ 7, vw.y, vw.x | 8);
    ol[i] = make_longlong2(l[i].x + l[i].y, l[i].x - l[i].y);
    od[i] = make_double2(d[i].x * d[i].y, d[i].x / d[i].y);
}

// x[r][c] + bias[c], rows along y.
extern "C" __global__ void add_bias(const float *x, const float *bias, float *y, int rows, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < columns) y[r * columns + c] = x[r * columns + c] + bias[c];
}

struct Strides {
    int extent[4];
    int x[4];
    int y[4];
};

// Sum of two tensors of four dimensions with strides of their own: stride 0 broadcasts.
extern "C" __global__ void add_broadcast(const float *x, const float *y, float *z, Strides s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int rest = i, at_x = 0, at_y = 0;
    for (int d = 3; d >= 0; --d) {
        int k = rest % s.extent[d];
        rest /= s.extent[d];
        at_x += k * s.x[d];
        at_y += k * s.y[d];
    }
    z[i] = x[at_x] + y[at_y];
}

extern "C" __global__ void activations(const float *x, float *relu, float *gelu, float *sigmoid, float *silu, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    relu[i] = fmaxf(v, 0.0f);
    gelu[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
    sigmoid[i] = 1.0f / (1.0f + expf(-v));
    silu[i] = v / (1.0f + __expf(-v));
}

// condition ? min(x, high) : max(x, low), in the types that have instructions for it.
extern "C" __global__ void select_clamp(const unsigned char *condition, const float *x, const double *y, const int *z,
                                        const long long *w, float *ox, double *oy, int *oz, long long *ow, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool c = condition[i];
    ox[i] = c ? fminf(x[i], 0.5f) : fmaxf(x[i], -0.5f);
    oy[i] = c ? fmin(y[i], 0.25) : fmax(y[i], -0.25);
    oz[i] = c ? min(z[i], 100) : max(z[i], -100);
    ow[i] = c ? min(w[i], 1000ll) : max(w[i], -1000ll);
}

// Adds with saturation, in eight bits; the wrapping sum goes beside it.
extern "C" __global__ void add_saturating(const signed char *x, const signed char *y, signed char *saturated,
                                          signed char *wrapped, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = x[i] + y[i];
    saturated[i] = max(-128, min(127, sum));
    wrapped[i] = sum;
}

// Comparisons as masks: less, equal, unordered.
extern "C" __global__ void compare(const float *x, const float *y, unsigned char *less, unsigned char *equal,
                                   unsigned char *unordered, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    less[i] = x[i] < y[i];
    equal[i] = x[i] == y[i];
    unordered[i] = !(x[i] < y[i]) && !(x[i] >= y[i]);
}

// Complex product, of interleaved numbers.
extern "C" __global__ void complex_multiply(const float2 *x, const float2 *y, float2 *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 a = x[i], b = y[i];
    z[i] = make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Every thread of a grid of three dimensions writes where it is.
extern "C" __global__ void coordinates(uint4 *out) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    unsigned width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
    out[(z * height + y) * width + x] = make_uint4(x, y, z, gridDim.z * blockDim.z);
}
