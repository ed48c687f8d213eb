// targets: 75 90
// Transposes and permutations of dimensions.
#include <cuda_fp16.h>

extern "C" __global__ void transpose_naive(const float *x, float *y, int rows, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < columns) y[c * rows + r] = x[r * columns + c];
}

// Tiles of 32 × 32 through shared memory, a column wider so that banks differ; blocks of 32 × 8.
template <typename T, int PADDING> __device__ void transpose(const T *x, T *y, int rows, int columns) {
    __shared__ T tile[32][32 + PADDING];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (c < columns && r + j < rows) tile[threadIdx.y + j][threadIdx.x] = x[(r + j) * columns + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x;
    r = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (c < rows && r + j < columns) y[(r + j) * rows + c] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transpose_f32(const float *x, float *y, int rows, int columns) {
    transpose<float, 1>(x, y, rows, columns);
}
extern "C" __global__ void transpose_conflicts(const float *x, float *y, int rows, int columns) {
    transpose<float, 0>(x, y, rows, columns);
}
extern "C" __global__ void transpose_f16(const __half *x, __half *y, int rows, int columns) {
    transpose<__half, 2>(x, y, rows, columns);
}
extern "C" __global__ void transpose_i8(const signed char *x, signed char *y, int rows, int columns) {
    transpose<signed char, 4>(x, y, rows, columns);
}
extern "C" __global__ void transpose_f64(const double *x, double *y, int rows, int columns) {
    transpose<double, 1>(x, y, rows, columns);
}

struct Permutation {
    long long extent[5];
    unsigned char from[5];
};

// y's dimension d is x's dimension from[d]; extents are x's.
extern "C" __global__ void permute(const short *x, short *y, const __grid_constant__ Permutation p, long long n) {
    long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long stride[5], rest = i, at = 0;
    stride[4] = 1;
    for (int d = 3; d >= 0; --d) stride[d] = stride[d + 1] * p.extent[d + 1];
    for (int d = 4; d >= 0; --d) {
        int from = p.from[d];
        at += rest % p.extent[from] * stride[from];
        rest /= p.extent[from];
    }
    y[i] = x[at];
}

// A warp transposes 32 × 32 bits with shuffles alone.
extern "C" __global__ void transpose_bits(const unsigned *x, unsigned *y) {
    int lane = threadIdx.x % 32, at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = x[at];
    unsigned mask = 0x0000ffffu;
    for (int d = 16; d; d /= 2, mask ^= mask << d) {
        unsigned o = __shfl_xor_sync(0xffffffffu, v, d);
        v = lane & d ? (v & ~mask) | ((o >> d) & mask) : (v & mask) | ((o & mask) << d);
    }
    y[at] = v;
}
