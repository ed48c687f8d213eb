// targets: 75 80 90
// Matrix products on tensor cores through nvcuda::wmma; a warp a tile.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda::wmma;

__device__ constexpr bool by_rows(const row_major *) { return true; }
__device__ constexpr bool by_rows(const col_major *) { return false; }

// c = a b for tiles of one shape; all extents are multiples of it. Blocks are one warp.
template <int M, int N, int K, typename T, typename A, typename LA, typename LB>
__device__ void product(const T *a, const T *b, A *c, int m, int n, int k) {
    int row = blockIdx.y * M, column = blockIdx.x * N;
    fragment<accumulator, M, N, K, A> sum;
    fill_fragment(sum, A(0));
    constexpr bool a_rows = by_rows(static_cast<LA *>(nullptr)), b_rows = by_rows(static_cast<LB *>(nullptr));
#pragma unroll 1
    for (int i = 0; i < k; i += K) {
        fragment<matrix_a, M, N, K, T, LA> left;
        fragment<matrix_b, M, N, K, T, LB> right;
        load_matrix_sync(left, a_rows ? a + row * k + i : a + i * m + row, a_rows ? k : m);
        load_matrix_sync(right, b_rows ? b + i * n + column : b + column * k + i, b_rows ? n : k);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(c + row * n + column, sum, n, mem_row_major);
}

#define WMMA(NAME, M, N, K, T, A, LA, LB)                                                              \
    extern "C" __global__ void NAME(const T *a, const T *b, A *c, int m, int n, int k) {               \
        product<M, N, K, T, A, LA, LB>(a, b, c, m, n, k);                                              \
    }
WMMA(wmma_f16_f32, 16, 16, 16, __half, float, row_major, col_major)
WMMA(wmma_f16_f32_rows, 16, 16, 16, __half, float, row_major, row_major)
WMMA(wmma_f16_f32_columns, 16, 16, 16, __half, float, col_major, col_major)
WMMA(wmma_f16_f16, 16, 16, 16, __half, __half, row_major, col_major)
WMMA(wmma_f16_tall, 32, 8, 16, __half, float, row_major, col_major)
WMMA(wmma_f16_wide, 8, 32, 16, __half, float, row_major, row_major)
WMMA(wmma_s8, 16, 16, 16, signed char, int, row_major, col_major)
WMMA(wmma_u8, 16, 16, 16, unsigned char, int, row_major, col_major)
#if __CUDA_ARCH__ >= 800
WMMA(wmma_bf16, 16, 16, 16, __nv_bfloat16, float, row_major, col_major)
WMMA(wmma_f64, 8, 8, 4, double, double, row_major, col_major)

// TF32 needs its operands rounded first.
extern "C" __global__ void wmma_tf32(const float *a, const float *b, float *c, int n, int k) {
    int row = blockIdx.y * 16, column = blockIdx.x * 16;
    fragment<accumulator, 16, 16, 8, float> sum;
    fill_fragment(sum, 0.0f);
#pragma unroll 1
    for (int i = 0; i < k; i += 8) {
        fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> left;
        fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> right;
        load_matrix_sync(left, a + row * k + i, k);
        load_matrix_sync(right, b + i * n + column, n);
        for (int j = 0; j < left.num_elements; ++j) left.x[j] = __float_to_tf32(left.x[j]);
        for (int j = 0; j < right.num_elements; ++j) right.x[j] = __float_to_tf32(right.x[j]);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(c + row * n + column, sum, n, mem_row_major);
}
#endif

// Through shared memory, scaled in the fragments, added to c as it was: four warps a block share the tiles.
extern "C" __global__ void wmma_shared(const __half *a, const __half *b, float *c, int n, int k, float alpha) {
    __shared__ __align__(32) __half as[32][24], bs[16][40];
    int warp = threadIdx.x / 32, row = blockIdx.y * 32, column = blockIdx.x * 32;
    float *out = c + (row + warp / 2 * 16) * n + column + warp % 2 * 16;
    fragment<accumulator, 16, 16, 16, float> sum, before;
    fill_fragment(sum, 0.0f);
#pragma unroll 1
    for (int i = 0; i < k; i += 16) {
        for (int j = threadIdx.x; j < 512; j += 128) {
            as[j / 16][j % 16] = a[(row + j / 16) * k + i + j % 16];
            bs[j / 32][j % 32] = b[(i + j / 32) * n + column + j % 32];
        }
        __syncthreads();
        fragment<matrix_a, 16, 16, 16, __half, row_major> left;
        fragment<matrix_b, 16, 16, 16, __half, row_major> right;
        load_matrix_sync(left, &as[warp / 2 * 16][0], 24);
        load_matrix_sync(right, &bs[0][warp % 2 * 16], 40);
        mma_sync(sum, left, right, sum);
        __syncthreads();
    }
    load_matrix_sync(before, out, n, mem_row_major);
    for (int j = 0; j < sum.num_elements; ++j) sum.x[j] = alpha * sum.x[j] + before.x[j];
    store_matrix_sync(out, sum, n, mem_row_major);
}
