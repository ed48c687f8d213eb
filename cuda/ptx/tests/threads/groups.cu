// targets: 80
// Cooperative groups: tiles of several warps, and grids that meet.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// Each thread's out is the sum of its tile of 64 threads, and what the first thread of the tile shows, after both
// warps have met.
extern "C" __global__ void wide_tiles(int *out)
{
    __shared__ cg::block_tile_memory<256> memory;
    __shared__ int values[256];
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    int thread = block.thread_rank();
    values[thread] = thread * thread;
    tile.sync();
    int first = thread & ~63, sum = 0;
    for (int i = 0; i < 64; i++) sum += values[first + i];
    int reduced = cg::reduce(tile, thread, cg::plus<int>());
    out[thread] = sum + 1000000 * tile.shfl(thread + 1, 0) + reduced * (tile.any(thread == 70) ? 2 : 1);
}

// Blocks add in turns: what a round reads, all blocks wrote in the one before.
extern "C" __global__ void grid_rounds(int *counts, int *out, int rounds)
{
    auto grid = cg::this_grid();
    int thread = grid.thread_rank(), threads = grid.num_threads();
    for (int round = 0; round < rounds; round++) {
        counts[thread] += round == 0 ? thread : out[(thread + 1) % threads];
        grid.sync();
        out[thread] = counts[(thread + 1) % threads];
        grid.sync();
    }
}

// Where the system's part of shared memory is, and that of the kernel's variables.
extern "C" __global__ void places(unsigned *out)
{
    __shared__ int own[4];
    own[threadIdx.x] = threadIdx.x;
    asm volatile("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(out[0]));
    asm volatile("mov.u32 %0, %%reserved_smem_offset_end;" : "=r"(out[1]));
    asm volatile("mov.u32 %0, %%reserved_smem_offset_cap;" : "=r"(out[2]));
    asm volatile("mov.u32 %0, %%reserved_smem_offset_0;" : "=r"(out[3]));
    asm volatile("mov.u32 %0, %%reserved_smem_offset_1;" : "=r"(out[4]));
    asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(out[5]));
    out[6] = (unsigned)__cvta_generic_to_shared(own);
}
