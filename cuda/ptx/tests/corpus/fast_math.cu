// targets: 75
// options: --use_fast_math
// What --use_fast_math makes of ordinary code: flushed subnormals, approximate division, roots and functions.

extern "C" __global__ void fast_functions(const float *x, const float *y, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], b = fabsf(y[i]) + 0.5f, *o = out + i * 8;
    o[0] = a / b;
    o[1] = sqrtf(b);
    o[2] = sinf(a) + cosf(b);
    o[3] = expf(a);
    o[4] = logf(b);
    o[5] = powf(b, a);
    o[6] = tanhf(a);
    o[7] = 1.0f / sqrtf(b);
}

// A particle in a field, fifty steps.
extern "C" __global__ void orbit(float4 *state, int steps, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 s = state[i];
#pragma unroll 1
    for (int k = 0; k < steps; ++k) {
        float r = rsqrtf(s.x * s.x + s.y * s.y + 0.01f), f = -r * r * r * dt;
        s.z += f * s.x;
        s.w += f * s.y;
        s.x += s.z * dt;
        s.y += s.w * dt;
    }
    state[i] = s;
}
