// targets: 75
// options: --generate-line-info
// Kernels that do wrong when told to: the reports' texts are what is tested. printf and assert are here as well.

using u64 = unsigned long long;

// Reads x[index[i]]: whatever index it is given.
extern "C" __global__ void gather(const float *x, const long long *index, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[index[i]];
}

// Writes one word at an address from memory.
extern "C" __global__ void poke(const u64 *address, int value) {
    if (threadIdx.x == 5) *reinterpret_cast<int *>(*address) = value;
}

// Reads eight bytes at any offset of a byte array.
extern "C" __global__ void misaligned(const char *x, double *y, int offset) {
    y[threadIdx.x] = *reinterpret_cast<const double *>(x + threadIdx.x * 8 + offset);
}

__constant__ int table[4] = {1, 2, 3, 4};

// Generic addresses taken for addresses in shared memory.
extern "C" __global__ void wrong_space(const int *x, int *y) {
    __shared__ int own[4];
    own[threadIdx.x % 4] = 1;
    __syncthreads();
    int v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(static_cast<unsigned>(reinterpret_cast<u64>(x))));
    y[threadIdx.x] = v + own[0];
}

extern "C" __global__ void shared_overrun(int *y, int at) {
    __shared__ int own[8];
    own[threadIdx.x % 8] = 1;
    __syncthreads();
    y[threadIdx.x] = own[at];
}

extern "C" __global__ void local_overrun(int *y, int at) {
    int own[6];
    for (int i = 0; i < 6; ++i) own[i] = y[i];
    own[at] = 3;
    y[threadIdx.x] = own[(at + threadIdx.x) % 6];
}

extern "C" __global__ void constant_overrun(int *y, int at) { y[threadIdx.x] = table[at]; }

// Sums what may never have been written.
extern "C" __global__ void sum_words(const int *x, int *y, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    *y = sum;
}

extern "C" __global__ void shared_uninitialized(int *y) {
    __shared__ int own[64];
    if (threadIdx.x < 40) own[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = own[threadIdx.x];
}

// The barrier between writing and reading is missing.
extern "C" __global__ void shared_race(int *y) {
    __shared__ int own[64];
    own[threadIdx.x] = threadIdx.x;
    y[threadIdx.x] = own[63 - threadIdx.x];
}

// Blocks write one word in turn, with no order between them.
extern "C" __global__ void global_race(int *y) {
    if (threadIdx.x == 0) y[blockIdx.x / 2] = blockIdx.x;
}

// Half of the threads wait for a barrier that the others never reach.
extern "C" __global__ void deadlock(int *y) {
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
    }
    y[threadIdx.x] = 1;
}

extern "C" __global__ void check_positive(const int *x) { assert(x[threadIdx.x] > 0); }

extern "C" __global__ void stop(const int *x) {
    if (x[threadIdx.x] < 0) __trap();
}

// Ends when somebody changes the flag, which nobody does.
extern "C" __global__ void forever(volatile int *flag) {
    while (*flag == 0) {
    }
}

extern "C" __global__ void report(const int *x, const double *y) {
    int t = threadIdx.x;
    if (t < 2) printf("thread %d: %d %u 0x%x %c\n", t, x[t], static_cast<unsigned>(x[t]), x[t], 'a' + t);
    if (t == 3) printf("%s has %lld, %5.2f and %-8e| %%\n", "lane three", static_cast<long long>(x[t]) << 33, y[t], y[t]);
}
