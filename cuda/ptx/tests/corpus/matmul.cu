// targets: 75 90
// Matrix products on ordinary lanes: plain, tiled through shared memory, tiled in registers, and in integers.

extern "C" __global__ void matmul_naive(const float *a, const float *b, float *c, int m, int n, int k) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum = fmaf(a[row * k + i], b[i * n + column], sum);
    c[row * n + column] = sum;
}

template <typename T, int TILE> __device__ void tiled(const T *a, const T *b, T *c, int m, int n, int k) {
    __shared__ T as[TILE][TILE], bs[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    T sum = 0;
    for (int i = 0; i < k; i += TILE) {
        as[y][x] = row < m && i + x < k ? a[row * k + i + x] : T(0);
        bs[y][x] = column < n && i + y < k ? b[(i + y) * n + column] : T(0);
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < TILE; ++j) sum += as[y][j] * bs[j][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

extern "C" __global__ void matmul_tiled_f32(const float *a, const float *b, float *c, int m, int n, int k) {
    tiled<float, 16>(a, b, c, m, n, k);
}
extern "C" __global__ void matmul_tiled_f64(const double *a, const double *b, double *c, int m, int n, int k) {
    tiled<double, 8>(a, b, c, m, n, k);
}
extern "C" __global__ void matmul_tiled_i64(const long long *a, const long long *b, long long *c, int m, int n, int k) {
    tiled<long long, 8>(a, b, c, m, n, k);
}

// 64 × 64 results a block of 256 threads, 4 × 4 a thread. Extents are multiples of 64, that of k of 8.
extern "C" __global__ void __launch_bounds__(256) matmul_registers(const float *a, const float *b, float *c, int n, int k) {
    __shared__ float as[8][64];
    __shared__ __align__(16) float bs[8][64];
    int t = threadIdx.x, x = t % 16 * 4, y = t / 16 * 4;
    a += blockIdx.y * 64 * k;
    b += blockIdx.x * 64;
    float sum[4][4] = {};
    for (int i = 0; i < k; i += 8) {
        for (int j = t; j < 512; j += 256) {
            as[j % 8][j / 8] = a[j / 8 * k + i + j % 8];
            bs[j / 64][j % 64] = b[(i + j / 64) * n + j % 64];
        }
        __syncthreads();
#pragma unroll 2
        for (int j = 0; j < 8; ++j) {
            float4 row = *reinterpret_cast<float4 *>(&bs[j][x]);
            for (int r = 0; r < 4; ++r) {
                float v = as[j][y + r];
                sum[r][0] += v * row.x;
                sum[r][1] += v * row.y;
                sum[r][2] += v * row.z;
                sum[r][3] += v * row.w;
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        *reinterpret_cast<float4 *>(&c[(blockIdx.y * 64 + y + r) * n + blockIdx.x * 64 + x]) =
            make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
}

struct Gemm {
    const float *a, *b;
    float *c;
    int m, n, k;
    float alpha, beta;
    bool transpose_a, transpose_b;
};

// One product of a batch for each block in z; the descriptions lie in memory.
extern "C" __global__ void gemm_batched(const Gemm *gemms) {
    const Gemm &g = gemms[blockIdx.z];
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= g.m || column >= g.n) return;
    float sum = 0;
    for (int i = 0; i < g.k; ++i) {
        float a = g.transpose_a ? g.a[i * g.m + row] : g.a[row * g.k + i];
        float b = g.transpose_b ? g.b[column * g.k + i] : g.b[i * g.n + column];
        sum += a * b;
    }
    float &c = g.c[row * g.n + column];
    c = g.alpha * sum + (g.beta == 0.0f ? 0.0f : g.beta * c);
}

// Eight-bit integers, four to a word along k; b is given by columns.
extern "C" __global__ void matmul_dp4a(const int *a, const int *b, int *c, int m, int n, int words) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    int sum = 0;
    for (int i = 0; i < words; ++i) sum = __dp4a(a[row * words + i], b[column * words + i], sum);
    c[row * n + column] = sum;
}

// A warp a row.
extern "C" __global__ void matvec(const float *a, const float *x, float *y, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    float sum = 0;
    for (int c = threadIdx.x % 32; c < columns; c += 32) sum += a[row * columns + c] * x[c];
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) y[row] = sum;
}
