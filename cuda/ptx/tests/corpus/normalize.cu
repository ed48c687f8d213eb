// targets: 75 90
// Softmax, layer normalization and their kin: two reductions a row and an elementwise end.
#include <cuda_fp16.h>

constexpr unsigned ALL = 0xffffffffu;

__device__ float warp_max(float v) {
    for (int d = 16; d; d /= 2) v = fmaxf(v, __shfl_xor_sync(ALL, v, d));
    return v;
}

__device__ float warp_sum(float v) {
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(ALL, v, d);
    return v;
}

// A reduction of a block in every thread; `shared` has a place for each warp.
template <typename F> __device__ float block_all(float v, float identity, float *shared, F warp_reduce) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    v = warp_reduce(v);
    __syncthreads();
    if (lane == 0) shared[warp] = v;
    __syncthreads();
    return warp_reduce(lane < warps ? shared[lane] : identity);
}

// A block a row.
extern "C" __global__ void softmax(const float *x, float *y, int columns) {
    __shared__ float partial[32];
    x += static_cast<size_t>(blockIdx.x) * columns;
    y += static_cast<size_t>(blockIdx.x) * columns;
    float largest = __int_as_float(0xff800000);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) largest = fmaxf(largest, x[c]);
    largest = block_all(largest, __int_as_float(0xff800000), partial, warp_max);
    float sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        float e = expf(x[c] - largest);
        y[c] = e;
        sum += e;
    }
    sum = block_all(sum, 0.0f, partial, warp_sum);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) y[c] /= sum;
}

// A warp a row, one pass: a new maximum scales the sum so far.
extern "C" __global__ void softmax_online(const __half *x, __half *y, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    x += row * columns;
    y += row * columns;
    float largest = -1e30f, sum = 0;
    for (int c = lane; c < columns; c += 32) {
        float v = __half2float(x[c]), m = fmaxf(largest, v);
        sum = sum * __expf(largest - m) + __expf(v - m);
        largest = m;
    }
    float all = warp_max(largest);
    sum = warp_sum(sum * __expf(largest - all));
    for (int c = lane; c < columns; c += 32) y[c] = __float2half(__expf(__half2float(x[c]) - all) / sum);
}

extern "C" __global__ void log_softmax_f64(const double *x, double *y, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    x += row * columns;
    y += row * columns;
    double largest = x[0], sum = 0;
    for (int c = 1; c < columns; ++c) largest = fmax(largest, x[c]);
    for (int c = 0; c < columns; ++c) sum += exp(x[c] - largest);
    double shift = largest + log(sum);
    for (int c = 0; c < columns; ++c) y[c] = x[c] - shift;
}

extern "C" __global__ void layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean,
                                      float *inverse, int columns, float epsilon) {
    __shared__ float partial[32];
    x += static_cast<size_t>(blockIdx.x) * columns;
    y += static_cast<size_t>(blockIdx.x) * columns;
    float sum = 0, squares = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c];
    float m = block_all(sum, 0.0f, partial, warp_sum) / columns;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) squares += (x[c] - m) * (x[c] - m);
    float r = rsqrtf(block_all(squares, 0.0f, partial, warp_sum) / columns + epsilon);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) y[c] = (x[c] - m) * r * gamma[c] + beta[c];
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = m;
        inverse[blockIdx.x] = r;
    }
}

// Root mean square, in halves, two a thread.
extern "C" __global__ void rms_norm(const __half2 *x, const __half2 *weight, __half2 *y, int pairs) {
    __shared__ float partial[32];
    x += static_cast<size_t>(blockIdx.x) * pairs;
    y += static_cast<size_t>(blockIdx.x) * pairs;
    float squares = 0;
    for (int c = threadIdx.x; c < pairs; c += blockDim.x) {
        float2 v = __half22float2(x[c]);
        squares += v.x * v.x + v.y * v.y;
    }
    float r = rsqrtf(block_all(squares, 0.0f, partial, warp_sum) / (2 * pairs) + 1e-5f);
    for (int c = threadIdx.x; c < pairs; c += blockDim.x) {
        float2 v = __half22float2(x[c]), w = __half22float2(weight[c]);
        y[c] = __floats2half2_rn(v.x * r * w.x, v.y * r * w.y);
    }
}

struct Moments {
    float mean, variance;
};

// NHWC, statistics known: one scale and shift a channel.
extern "C" __global__ void batch_norm(const float *x, const Moments *moments, const float2 *scale_shift, float *y,
                                      int channels, int n, float epsilon) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int c = i % channels;
        float r = 1.0f / sqrtf(moments[c].variance + epsilon);
        y[i] = fmaf((x[i] - moments[c].mean) * r, scale_shift[c].x, scale_shift[c].y);
    }
}

// Loss and gradient of softmax followed by cross entropy; a thread an example.
extern "C" __global__ void cross_entropy(const float *logits, const unsigned char *labels, float *loss, float *gradient,
                                         int examples, int classes) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= examples) return;
    logits += e * classes;
    gradient += e * classes;
    float largest = logits[0], sum = 0;
    for (int c = 1; c < classes; ++c) largest = fmaxf(largest, logits[c]);
    for (int c = 0; c < classes; ++c) sum += expf(logits[c] - largest);
    int label = labels[e];
    loss[e] = logf(sum) + largest - logits[label];
    for (int c = 0; c < classes; ++c)
        gradient[c] = (expf(logits[c] - largest) / sum - (c == label ? 1.0f : 0.0f)) / examples;
}
