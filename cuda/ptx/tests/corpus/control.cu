// targets: 75 90
// Control flow: divergence, jump tables, calls of every kind, barriers that are not the plain one.

using u32 = unsigned;

// Lanes leave a loop at different times.
extern "C" __global__ void collatz(const u32 *x, u32 *steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long v = x[i];
    u32 count = 0;
    while (v > 1) {
        v = v % 2 ? 3 * v + 1 : v / 2;
        ++count;
    }
    steps[i] = count;
}

extern "C" __global__ void mandelbrot(unsigned char *out, int width, int height, int limit) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    double cx = -2.25 + 3.0 * px / width, cy = -1.25 + 2.5 * py / height, x = 0, y = 0;
    int k = 0;
    for (; k < limit && x * x + y * y <= 4.0; ++k) {
        double t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
    }
    out[py * width + px] = k;
}

// Nested branches with a loop inside, a break, a continue and a goto out of both.
extern "C" __global__ void tangled(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i], sum = 0;
    for (int a = 0; a < 8; ++a) {
        if ((v >> a & 3) == 3) continue;
        for (int b = 0; b < 5; ++b) {
            if (a * b == v % 17) goto out;
            if (b > (v & 7)) break;
            sum += a ^ b;
            if (sum % 11 == 7 && v > 0) {
                v -= sum;
                sum += 2;
            } else if (sum % 5 == 1 || (v & 1 && a > 2)) {
                v ^= 0x55;
            }
        }
        sum += 100;
    }
    sum = -sum;
out:
    y[i] = sum * 31 + v;
}

// A dense switch; lanes go every way.
extern "C" __global__ void interpreter(const unsigned char *program, int length, const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = x[i], b = i;
#pragma unroll 1
    for (int pc = 0; pc < length; ++pc) {
        switch (program[(pc + i) % length]) {
            case 0: a += b; break;
            case 1: a -= 3; break;
            case 2: a ^= b << 2; break;
            case 3: b = a; break;
            case 4: b = (b << 5) | static_cast<u32>(b) >> 27; break;
            case 5: a *= 5; break;
            case 6: if (a & 1) { a = a / 2; } else { a = ~a; } break;
            case 7: b += i; /* falls through */
            case 8: a = max(a, b); break;
            case 9: { int t = a; a = b; b = t; } break;
            case 10: a = __popc(a); break;
            case 11: return;
            default: b = -b;
        }
        y[i] = a * 7 + b;
    }
}

// The same by the instruction a jump table becomes: lanes branch to four places by index.
extern "C" __global__ void branch_indexed(const int *x, const u32 *index, int *y) {
    int v = x[threadIdx.x], r;
    asm volatile("{\n\t"
                 "targets: .branchtargets ADD, NEGATE, SQUARE, KEEP;\n\t"
                 "brx.idx %2, targets;\n\t"
                 "ADD: add.s32 %0, %1, 1000;\n\t"
                 "bra.uni DONE;\n\t"
                 "NEGATE: neg.s32 %0, %1;\n\t"
                 "bra DONE;\n\t"
                 "SQUARE: mul.lo.s32 %0, %1, %1;\n\t"
                 "bra DONE;\n\t"
                 "KEEP: mov.b32 %0, %1;\n\t"
                 "DONE:\n\t}"
                 : "=r"(r) : "r"(v), "r"(index[threadIdx.x]));
    y[threadIdx.x] = r;
}

struct Body {
    double mass;
    float x, y;
    short kind;
};

__device__ __noinline__ Body combined(const Body a, Body b, int *tally) {
    double mass = a.mass + b.mass;
    ++*tally;
    Body c;
    c.mass = mass;
    c.x = static_cast<float>((a.mass * a.x + b.mass * b.x) / mass);
    c.y = static_cast<float>((a.mass * a.y + b.mass * b.y) / mass);
    c.kind = a.kind > b.kind ? a.kind : b.kind;
    return c;
}

// Structs by value into and out of a function, and a pointer to a local variable.
extern "C" __global__ void call_with_structs(const Body *bodies, Body *out, int *tallies, int group) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, tally = 0;
    Body sum = bodies[i * group];
#pragma unroll 1
    for (int j = 1; j < group; ++j) sum = combined(sum, bodies[i * group + j], &tally);
    out[i] = sum;
    tallies[i] = tally;
}

__device__ __noinline__ u32 gcd(u32 a, u32 b) {
    while (b) {
        u32 t = a % b;
        a = b;
        b = t;
    }
    return a;
}
__device__ __noinline__ unsigned long long lcm(u32 a, u32 b) { return static_cast<unsigned long long>(a / gcd(a, b)) * b; }

// Calls under divergence, two deep.
extern "C" __global__ void calls(const u32 *a, const u32 *b, unsigned long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = a[i] > b[i] ? lcm(a[i], b[i]) : a[i] % 2 ? gcd(b[i], a[i]) : 0;
}

__device__ float twice(float x) { return 2 * x; }
__device__ float square(float x) { return x * x; }
__device__ float negated(float x) { return -x; }
__device__ float halved(float x) { return x / 2; }
using Function = float (*)(float);
__device__ Function table[4] = {twice, square, negated, halved};

// Calls through a table, a different function a lane.
extern "C" __global__ void call_table(const float *x, const int *which, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = table[which[i]](x[i]);
}

struct Figure {
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};
struct Circle : Figure {
    float radius;
    __device__ Circle(float r) : radius(r) {}
    __device__ float area() const override { return 3.0f * radius * radius; }
};
struct Rectangle : Figure {
    float width, height;
    __device__ Rectangle(float w, float h) : width(w), height(h) {}
    __device__ float area() const override { return width * height; }
    __device__ int corners() const override { return 4; }
};

// Virtual calls: objects lie in local memory, their tables in global.
extern "C" __global__ void virtual_calls(const float *x, float *area, int *corners, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Circle circle(x[i]);
    Rectangle rectangle(x[i], 2.0f);
    const Figure *figure = i % 3 == 0 ? static_cast<const Figure *>(&circle) : &rectangle;
    area[i] = figure->area();
    corners[i] = figure->corners();
}

// Threads that left do not hold up a barrier.
extern "C" __global__ void exit_before_barrier(const int *x, int *y, int keep) {
    __shared__ int values[256];
    values[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x >= keep) return;
    values[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = values[keep - 1 - threadIdx.x];
}

// Whole warps reach the same number of barriers by different ways.
extern "C" __global__ void barrier_in_branches(const int *x, int *y) {
    __shared__ int a[64], b[64];
    int t = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        a[t] = x[t];
        __syncthreads();
        y[t] = b[63 - t];
    } else {
        b[t] = x[64 + t] * 2;
        __syncthreads();
        y[64 + t] = a[63 - t];
    }
}

__device__ __forceinline__ void arrive(int barrier, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ __forceinline__ void sync(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Two warps produce, two consume, through a ring of two buffers and four named barriers.
extern "C" __global__ void producer_consumer(const float *x, float *y, int rounds) {
    __shared__ float ring[2][64];
    int t = threadIdx.x;
    bool producer = t < 64;
    t %= 64;
    if (producer) {
        for (int r = 0; r < rounds; ++r) {
            if (r >= 2) sync(3 + r % 2, 128);  // empty again
            ring[r % 2][t] = x[r * 64 + t] * 2;
            arrive(1 + r % 2, 128);  // full
        }
    } else {
        float sum = 0;
        for (int r = 0; r < rounds; ++r) {
            sync(1 + r % 2, 128);
            sum += ring[r % 2][63 - t];
            if (r + 2 < rounds) arrive(3 + r % 2, 128);
        }
        y[t] = sum;
    }
}

// A barrier of some warps with a vote: barrier.red, and the forms of barrier.cta.
extern "C" __global__ void barrier_votes(const int *x, int *out) {
    int t = threadIdx.x, any, all;
    u32 count;
    if (t < 64) {
        asm volatile("{\n\t.reg .pred p, q;\n\tsetp.gt.s32 p, %1, 0;\n\tbarrier.cta.red.popc.aligned.u32 %0, 5, 64, p;\n\t}"
                     : "=r"(count) : "r"(x[t]) : "memory");
        asm volatile("{\n\t.reg .pred p, q;\n\tsetp.gt.s32 p, %1, 0;\n\tbarrier.red.and.pred q, 6, 64, p;\n\tselp.s32 %0, 1, 0, q;\n\t}"
                     : "=r"(all) : "r"(x[t]) : "memory");
        asm volatile("{\n\t.reg .pred p, q;\n\tsetp.gt.s32 p, %1, 0;\n\tbar.red.or.pred q, 7, 64, !p;\n\tselp.s32 %0, 1, 0, q;\n\t}"
                     : "=r"(any) : "r"(x[t]) : "memory");
        out[t * 3] = count;
        out[t * 3 + 1] = all;
        out[t * 3 + 2] = any;
    }
    asm volatile("barrier.cta.sync 0;" ::: "memory");
}

// Guards without branches, a loop that never runs for some, a return in the middle.
extern "C" __global__ void bisect(const float *sorted, int length, const float *x, int *at, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int low = 0, high = length;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (sorted[middle] == x[i]) {
            at[i] = middle;
            return;
        }
        if (sorted[middle] < x[i]) low = middle + 1;
        else high = middle;
    }
    at[i] = ~low;
}

// N queens by backtracking on local arrays; a thread a first move.
extern "C" __global__ void queens(int n, u32 *solutions) {
    int first = threadIdx.x;
    if (first >= n) return;
    int place[12], row = 1;
    u32 count = 0;
    place[0] = first;
    place[1] = -1;
    while (row > 0) {
        bool moved = false;
        for (int c = place[row] + 1; c < n && !moved; ++c) {
            bool safe = true;
            for (int r = 0; r < row && safe; ++r) safe = place[r] != c && abs(place[r] - c) != row - r;
            if (safe) {
                place[row] = c;
                moved = true;
            }
        }
        if (!moved) {
            --row;
        } else if (row == n - 1) {
            ++count;
        } else {
            place[++row] = -1;
        }
    }
    atomicAdd(solutions, count);
}
