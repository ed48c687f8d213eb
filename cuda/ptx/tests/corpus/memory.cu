// targets: 75 90
// Memory: spaces, initializers, parameters, vectors, generic addresses, wide indices.

using u8 = unsigned char;
using u32 = unsigned;
using u64 = unsigned long long;

__constant__ int primes[12] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
__constant__ double weights[3] = {0.25, -1.5, 1e300};
__constant__ char text[] = "constant text";
__device__ short signed_table[2][3] = {{-1, 2, -3}, {4, -5, 6}};
__device__ float floats[4] = {1.5f, -0.0f, 3.0e-45f, 1e38f};
__device__ u64 counter = 0x0123456789abcdefull;
__device__ u8 untouched[16];
__device__ const short *pointer_into_table = &signed_table[1][1];

struct Record {
    u8 tag;
    double value;
    const char *name;
    short pair[2];
};
__device__ Record records[2] = {{7, 2.5, text, {1, -1}}, {9, -0.125, text + 9, {30000, -30000}}};

// What initializers left, and that globals keep what kernels write.
extern "C" __global__ void initialized_globals(int *ints, double *doubles, u64 *wide, int step) {
    int t = threadIdx.x;
    if (t < 12) ints[t] = primes[(t * step) % 12];
    if (t < 13) ints[12 + t] = text[t];
    if (t < 6) ints[25 + t] = signed_table[t / 3][t % 3];
    if (t < 16) ints[31 + t] = untouched[t];
    if (t < 2) {
        const Record &r = records[t];
        ints[47 + t * 4] = r.tag;
        ints[48 + t * 4] = r.name[0];
        ints[49 + t * 4] = r.pair[0];
        ints[50 + t * 4] = r.pair[1];
        doubles[3 + t] = r.value;
    }
    if (t < 3) doubles[t] = weights[t];
    if (t < 4) doubles[5 + t] = floats[t];
    if (t == 0) {
        ints[55] = *pointer_into_table;
        wide[0] = counter;
        counter += step;
        untouched[3] += 1;
    }
}

// Dynamic shared memory, cut into arrays of three types.
extern "C" __global__ void dynamic_shared(const double *d, const int *i, const u8 *b, double *out, int n) {
    extern __shared__ double doubles[];
    int *ints = reinterpret_cast<int *>(doubles + n);
    u8 *bytes = reinterpret_cast<u8 *>(ints + n);
    for (int t = threadIdx.x; t < n; t += blockDim.x) {
        doubles[t] = d[t];
        ints[t] = i[t];
        bytes[t] = b[t];
    }
    __syncthreads();
    for (int t = threadIdx.x; t < n; t += blockDim.x) out[t] = doubles[n - 1 - t] * ints[(t + 1) % n] + bytes[(t * 7) % n];
}

struct Inner {
    char c;
    long long l;
};
struct __align__(16) Parameters {
    u8 bytes[5];
    short s;
    float matrix[3][3];
    Inner inner[2];
    double d;
    const float *x;
    float *y;
};

// A struct of every kind of member, by value, read by constant and by computed offsets.
extern "C" __global__ void struct_parameter(Parameters p, int row, u8 flag, bool on, short s, long long *out) {
    int t = threadIdx.x;
    float sum = 0;
    for (int c = 0; c < 3; ++c) sum += p.matrix[(t + row) % 3][c] * p.x[t * 3 + c];
    p.y[t] = sum + p.bytes[t % 5] + static_cast<float>(p.d);
    if (t == 0) {
        out[0] = p.inner[0].l + p.inner[1].c;
        out[1] = p.inner[row % 2].l;
        out[2] = p.s;
        out[3] = flag;
        out[4] = on ? s : -s;
    }
}

// Four kilobytes of parameters.
struct Large {
    int values[1000];
};
extern "C" __global__ void large_parameter(const __grid_constant__ Large p, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = p.values[(i * 37) % 1000];
}

// Indices beyond 32 bits: the element wanted lies far behind a base far before the allocation.
extern "C" __global__ void wide_index(const float *base, float *y, long long first, u32 stride, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long at = first + static_cast<long long>(i) * stride;
    y[i] = base[at];
}

// One pointer, three spaces: which it is depends on the lane.
extern "C" __global__ void generic_pointers(int *global, int *y, int *spaces) {
    __shared__ int shared[32];
    int local[4], t = threadIdx.x;
    shared[t] = 100 + t;
    for (int i = 0; i < 4; ++i) local[i] = 1000 * i + t;
    __syncwarp();
    int *p = t % 3 == 0 ? &global[t] : t % 3 == 1 ? &shared[31 - t] : &local[t % 4];
    int v = *p;
    __syncwarp();
    *p = v + 1;
    __syncwarp();
    y[t] = v + local[t % 4] + shared[t];
    spaces[t] = __isGlobal(p) | __isShared(p) << 1 | __isLocal(p) << 2;
}

// A local array, written and read at computed places, deep enough not to become registers.
extern "C" __global__ void local_array(const u8 *x, u32 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 counts[32];
    for (int k = 0; k < 32; ++k) counts[k] = 0;
    for (int k = 0; k < n; ++k) counts[(x[k] ^ i) % 32] += k;
    u32 hash = 0;
    for (int k = 0; k < 32; ++k) hash = hash * 31 + counts[(k * 5 + i) % 32];
    y[i] = hash;
}

__device__ __noinline__ void fill(u32 *to, u32 n, u32 seed) {
    for (u32 i = 0; i < n; ++i) to[i] = seed = seed * 1664525u + 1013904223u;
}

// A callee writes its caller's local array, its caller's shared array, and global memory, by the same code.
extern "C" __global__ void pass_pointers(u32 *global, u32 *y) {
    __shared__ u32 shared[32 * 5];
    u32 local[5], t = threadIdx.x;
    fill(local, 5, t);
    fill(shared + t * 5, 5, t + 1000);
    fill(global + t * 5, 5, t + 2000);
    u32 sum = 0;
    for (u32 i = 0; i < 5; ++i) sum += local[(i + t) % 5] ^ shared[t * 5 + i] ^ global[t * 5 + (i * t) % 5];
    y[t] = sum;
}

union Bits {
    float f;
    u32 u;
    u8 b[4];
};
struct Fields {
    u32 low : 5;
    int middle : 11;
    u32 high : 16;
};

// Views of the same bytes, and bit fields.
extern "C" __global__ void views(const float *x, u8 *bytes, u32 *fields, u64 *pairs) {
    int t = threadIdx.x;
    Bits bits;
    bits.f = x[t];
    for (int i = 0; i < 4; ++i) bytes[t * 4 + i] = bits.b[3 - i];
    Fields f;
    f.low = bits.u;
    f.middle = static_cast<int>(bits.u) >> 7;
    f.high = bits.u >> 16;
    fields[t] = f.low + f.middle * 3 + f.high * 5;
    pairs[t] = __double_as_longlong(__hiloint2double(bits.u, t)) ^ __double2loint(static_cast<double>(x[t]));
}

// Loads and stores of every cache operator; the path for read-only data; volatile.
extern "C" __global__ void cache_operators(const float *__restrict__ x, const int4 *__restrict__ v, float *y, int4 *w, volatile int *flag) {
    int t = threadIdx.x;
    float sum = __ldg(&x[t]) + __ldcg(&x[t + 32]) + __ldca(&x[t + 64]) + __ldcs(&x[t + 96]) + __ldlu(&x[t + 128]) + __ldcv(&x[t + 160]);
    __stcg(&y[t], sum);
    __stcs(&y[t + 32], -sum);
    __stwt(&y[t + 64], 2 * sum);
    __stwb(&y[t + 96], 0.5f * sum);
    int4 q = __ldg(&v[t]);
    __stcg(&w[t], make_int4(q.w, q.z, q.y, q.x));
    asm volatile("prefetch.global.L2 [%0];\n\tprefetchu.L1 [%1];" ::"l"(y), "l"(x));
    if (t == 0) *flag = *flag + *flag;
}

// Bytes of a packed structure, whose fields are aligned to nothing.
struct __attribute__((packed)) Packed {
    u8 kind;
    u32 value;
    short delta;
    double weight;
};
extern "C" __global__ void packed(const Packed *x, Packed *y, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    Packed p = x[i];
    p.value = p.value * 3 + p.kind;
    p.weight += p.delta;
    y[n - 1 - i] = p;
}

// Copies by words, by bytes, and within shared memory by a volatile pointer.
extern "C" __global__ void copy_bytes(const u8 *x, u8 *y, int n) {
    __shared__ u8 buffer[256];
    volatile u8 *view = buffer;
    for (int base = blockIdx.x * 256; base < n; base += gridDim.x * 256) {
        int i = base + threadIdx.x;
        if (i < n) view[threadIdx.x] = x[i];
        __syncthreads();
        int mirror = base + 255 - static_cast<int>(threadIdx.x);
        if (mirror < n) y[mirror] = view[255 - threadIdx.x];
        __syncthreads();
    }
}

// Reads between threads of a block with only a fence and a flag between them.
extern "C" __global__ void publish(const float *x, float *y, float *mailbox, int *flag) {
    if (blockIdx.x == 0) {
        mailbox[threadIdx.x] = x[threadIdx.x] * 4;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        if (threadIdx.x == 0) {
            int ready;
            do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(ready) : "l"(flag) : "memory");
            while (!ready);
        }
        __syncthreads();
        y[threadIdx.x] = mailbox[blockDim.x - 1 - threadIdx.x];
    }
}
