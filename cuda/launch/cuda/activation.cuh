// Activation functions, chosen by number where a kernel takes one as a parameter.
#pragma once

#include "common.cuh"

// The numbers are part of the kernels' interface.
enum Activation : u32 {
    IDENTITY = 0,
    RELU = 1,
    RELU6 = 2,
    SIGMOID = 3,
    TANH = 4,
    GELU = 5,       // x * Φ(x), with the error function
    GELU_TANH = 6,  // its approximation by tanh
    SILU = 7,       // x * sigmoid(x)
};

__device__ __forceinline__ f32 relu(f32 x) { return maximum(x, 0.0f); }
__device__ __forceinline__ f32 relu6(f32 x) { return minimum(relu(x), 6.0f); }
__device__ __forceinline__ f32 sigmoid(f32 x) { return 1.0f / (1.0f + expf(-x)); }
__device__ __forceinline__ f32 silu(f32 x) { return x * sigmoid(x); }
__device__ __forceinline__ f32 gelu(f32 x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)); }
__device__ __forceinline__ f32 gelu_tanh(f32 x) {
    return 0.5f * x * (1.0f + tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x)));
}

// Those that compute more than a few instructions.
static __device__ __noinline__ f32 activate_smoothly(f32 x, u32 activation) {
    switch (activation) {
        case SIGMOID: return sigmoid(x);
        case TANH: return tanhf(x);
        case GELU: return gelu(x);
        case GELU_TANH: return gelu_tanh(x);
        case SILU: return silu(x);
        default: return x;
    }
}

// An unknown number is the identity. The choice is the same for all threads, so that it costs uniform branches.
__device__ __forceinline__ f32 activate(f32 x, u32 activation) {
    if (activation >= SIGMOID) return activate_smoothly(x, activation);
    if (activation == IDENTITY) return x;
    x = relu(x);
    return activation == RELU6 ? minimum(x, 6.0f) : x;
}
