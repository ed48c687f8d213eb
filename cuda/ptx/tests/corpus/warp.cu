// targets: 75 80 90
// Exchanges and votes within a warp: every mode, widths, masks of some lanes.

using u32 = unsigned;

// Eight exchanges of a lane's value, with widths of a warp and of parts of it; 8 words a lane.
extern "C" __global__ void shuffles(const int *x, int *out, int delta) {
    int lane = threadIdx.x, v = x[blockIdx.x * 32 + lane], *y = out + (blockIdx.x * 32 + lane) * 8;
    y[0] = __shfl_sync(~0u, v, delta);
    y[1] = __shfl_sync(~0u, v, lane * 7 + delta, 8);
    y[2] = __shfl_up_sync(~0u, v, delta);
    y[3] = __shfl_up_sync(~0u, v, delta, 16);
    y[4] = __shfl_down_sync(~0u, v, delta);
    y[5] = __shfl_down_sync(~0u, v, delta, 4);
    y[6] = __shfl_xor_sync(~0u, v, delta);
    y[7] = __shfl_xor_sync(~0u, v, delta & 7, 8);
}

// Values wider and narrower than a register.
extern "C" __global__ void shuffle_types(const double *x, const long long *y, double *ox, long long *oy, unsigned char *oz) {
    int lane = threadIdx.x;
    ox[lane] = __shfl_sync(~0u, x[lane], (lane + 5) % 32);
    oy[lane] = __shfl_xor_sync(~0u, y[lane], 21);
    oz[lane] = __shfl_down_sync(~0u, static_cast<unsigned char>(lane * 9), 3);
}

// The predicate says whether the source lane was in range; else the lane keeps its own value.
extern "C" __global__ void shuffle_predicate(const u32 *x, u32 *y, u32 *in_range, u32 delta, u32 clamp) {
    int lane = threadIdx.x;
    u32 v = x[lane], r, p;
    asm volatile("{\n\t.reg .pred p;\n\tshfl.sync.down.b32 %0|p, %2, %3, %4, 0xffffffff;\n\tselp.u32 %1, 1, 0, p;\n\t}"
                 : "=r"(r), "=r"(p) : "r"(v), "r"(delta), "r"(clamp));
    y[lane] = r;
    in_range[lane] = p;
}

// Only some lanes take part: each half by its own branch, the even ones by another way.
extern "C" __global__ void shuffle_halves(const int *x, int *y) {
    int lane = threadIdx.x % 32, v = x[threadIdx.x], sum = v;
    if (lane < 16) {
        for (int d = 8; d; d /= 2) sum += __shfl_xor_sync(0x0000ffffu, sum, d);
    } else {
        sum = 1;
        for (int d = 8; d; d /= 2) v = max(v, __shfl_xor_sync(0xffff0000u, v, d));
        sum = v;
    }
    if (lane % 2 == 0) sum += __shfl_sync(0x55555555u, sum, 4);
    y[threadIdx.x] = sum;
}

extern "C" __global__ void votes(const int *x, u32 *out, int threshold) {
    int lane = threadIdx.x % 32;
    bool p = x[threadIdx.x] > threshold;
    u32 ballot = __ballot_sync(~0u, p), all = __all_sync(~0u, p), any = __any_sync(~0u, p), odd = 0;
    u32 uniform;
    asm volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %1, 0;\n\tvote.sync.uni.pred q, p, 0xffffffff;\n\tselp.u32 %0, 1, 0, q;\n\t}"
                 : "=r"(uniform) : "r"(static_cast<u32>(p)));
    if (lane % 2) odd = __ballot_sync(0xaaaaaaaau, p);
    u32 *o = out + threadIdx.x * 5;
    o[0] = ballot;
    o[1] = all;
    o[2] = any;
    o[3] = uniform;
    o[4] = odd;
}

// Lanes of equal value, in 32 and 64 bits, and whether all agree.
extern "C" __global__ void matches(const u32 *x, const unsigned long long *y, u32 *out) {
    u32 *o = out + threadIdx.x * 4;
    int agree;
    o[0] = __match_any_sync(~0u, x[threadIdx.x]);
    o[1] = __match_any_sync(~0u, y[threadIdx.x]);
    o[2] = __match_all_sync(~0u, x[threadIdx.x] / 16, &agree);
    o[3] = agree;
}

// Who is there: after a split by value, and after some lanes left.
extern "C" __global__ void active_masks(const int *x, u32 *out) {
    int v = x[threadIdx.x];
    u32 mask;
    if (v % 3 == 0) mask = __activemask();
    else if (v % 3 == 1) mask = __activemask();
    else mask = __activemask();
    out[threadIdx.x * 2] = mask;
    if (v < 0) return;
    out[threadIdx.x * 2 + 1] = __activemask();
}

// One atomic for all lanes of a group that are active: the leader adds, all learn their place.
extern "C" __global__ void aggregated_append(const int *x, int *y, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] % 5 == 2) {
        u32 mask = __activemask(), below;
        asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
        int leader = __ffs(mask) - 1, base = 0;
        if (__popc(mask & below) == 0) base = atomicAdd(count, __popc(mask));
        base = __shfl_sync(mask, base, leader);
        y[base + __popc(mask & below)] = x[i];
    }
}

// What the lane and warp registers say: lane, warp, warps, the five masks; 8 words a thread.
extern "C" __global__ void lane_registers(u32 *out) {
    u32 t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, *o = out + t * 8;
    asm("mov.u32 %0, %%laneid;" : "=r"(o[0]));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(o[1]));
    asm("mov.u32 %0, %%nwarpid;" : "=r"(o[2]));
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(o[3]));
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(o[4]));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(o[5]));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(o[6]));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(o[7]));
}

// Lanes take turns through shared memory, ordered by warp barriers alone.
extern "C" __global__ void warp_barrier(const int *x, int *y) {
    __shared__ int slots[32];
    int lane = threadIdx.x;
    slots[lane] = x[lane];
    __syncwarp();
    int v = slots[31 - lane];
    __syncwarp();
    if (lane < 8) {
        slots[lane] = v;
        __syncwarp(0x000000ffu);
        v = slots[7 - lane];
    }
    y[lane] = v;
}

// Clocks run forward; the block runs on some multiprocessor.
extern "C" __global__ void clocks(long long *elapsed, unsigned long long *time, u32 *processor, u32 *count) {
    long long start = clock64();
    unsigned long long before, after;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before)::"memory");
    u32 low = clock();
    for (int i = 0; i < 10; ++i) asm volatile("" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after)::"memory");
    elapsed[blockIdx.x * 2] = clock64() - start;
    elapsed[blockIdx.x * 2 + 1] = static_cast<int>(static_cast<u32>(clock()) - low);
    time[blockIdx.x * 2] = before;
    time[blockIdx.x * 2 + 1] = after;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(processor[blockIdx.x]));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(count[blockIdx.x]));
}

#if __CUDA_ARCH__ >= 800
// Reductions by one instruction, over the whole warp and over lanes of one parity.
extern "C" __global__ void reduce_instructions(const u32 *x, u32 *out) {
    u32 v = x[threadIdx.x], mask = threadIdx.x % 2 ? 0xaaaaaaaau : 0x55555555u, *o = out + threadIdx.x * 8;
    o[0] = __reduce_add_sync(~0u, v);
    o[1] = __reduce_min_sync(~0u, v);
    o[2] = __reduce_max_sync(~0u, v);
    o[3] = __reduce_min_sync(~0u, static_cast<int>(v));
    o[4] = __reduce_max_sync(~0u, static_cast<int>(v));
    if (threadIdx.x % 2) {
        o[5] = __reduce_and_sync(mask, v);
        o[6] = __reduce_or_sync(mask, v);
        o[7] = __reduce_xor_sync(mask, v);
    } else {
        o[5] = __reduce_xor_sync(mask, v);
        o[6] = __reduce_and_sync(mask, v);
        o[7] = __reduce_or_sync(mask, v);
    }
}
#endif
