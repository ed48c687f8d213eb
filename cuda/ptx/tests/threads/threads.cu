// targets: 75
// Threads that wait for each other, part and meet: what depends on how a warp is scheduled.

extern "C" __global__ void spin_lock(int* lock, int* count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) { int v = *(volatile int*)count; *(volatile int*)count = v + 1; __threadfence(); atomicExch(lock, 0); done = true; }
  }
}
extern "C" __global__ void spin_lock_naive(int* lock, int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  int v = *(volatile int*)count; *(volatile int*)count = v + 1; __threadfence(); atomicExch(lock, 0);
}
extern "C" __global__ void shuffle_paths(int* out) {
  int lane = threadIdx.x; int v = lane * 10; int r;
  if (lane & 1) { r = __shfl_xor_sync(0xffffffffu, v, 1) + 1000; } else { r = __shfl_xor_sync(0xffffffffu, v + 1, 1) + 2000; }
  out[lane] = r;
}
extern "C" __global__ void tiles(int* out) {
  int lane = threadIdx.x & 31; unsigned m = 0xfu << (lane & 28);
  int v = threadIdx.x;
  for (int d = 1; d < 4; d <<= 1) v += __shfl_xor_sync(m, v, d);
  out[threadIdx.x] = v + 100 * __popc(__ballot_sync(m, lane % 3 == 0));
}
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void recursion(int* out) { out[threadIdx.x] = fib(threadIdx.x % 12); }
__device__ __noinline__ float f0(float x) { return x + 1; }
__device__ __noinline__ float f1(float x) { return x * 2; }
__device__ __noinline__ float f2(float x) { return x * x; }
typedef float (*fn)(float);
__device__ fn table[3] = { f0, f1, f2 };
extern "C" __global__ void indirect(float* out) { out[threadIdx.x] = table[threadIdx.x % 3]((float)threadIdx.x); }
extern "C" __global__ void switches(const int* in, int* out) {
  int x = in[threadIdx.x]; int r = 0;
  switch (x) { case 0: r = 5; break; case 1: r = x * 7 + threadIdx.x; break; case 2: r = -1; case 3: r += 11; break; case 4: for (int i = 0; i < (int)threadIdx.x; ++i) r += i * x; break; case 5: r = 55; break; case 6: r = 66; break; default: r = 99; }
  out[threadIdx.x] = r;
}
extern "C" __global__ void barrier_paths(int* out) {
  __shared__ int s[64];
  if (threadIdx.x < 32) { s[threadIdx.x] = threadIdx.x; __syncthreads(); } else { s[threadIdx.x] = 2 * threadIdx.x; __syncthreads(); }
  out[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void deadlock() { if (threadIdx.x < 32) asm volatile("bar.sync 1, 96;"); else asm volatile("bar.sync 2, 64;"); }
extern "C" __global__ void endless(volatile int* p) { while (*p == 0) {} }
extern "C" __global__ void producer(int* out) {
  __shared__ int buf[32];
  if (threadIdx.x < 32) { for (int i = 0; i < 4; ++i) { asm volatile("bar.sync 2, 64;"); buf[threadIdx.x] = i * 100 + threadIdx.x; asm volatile("bar.arrive 1, 64;"); } }
  else { int s = 0; for (int i = 0; i < 4; ++i) { asm volatile("bar.arrive 2, 64;"); asm volatile("bar.sync 1, 64;"); s += buf[threadIdx.x - 32]; } out[threadIdx.x - 32] = s; }
}
extern "C" __global__ void collatz(int* out) {
  unsigned n = threadIdx.x + 1 + blockIdx.x * blockDim.x; int steps = 0;
  while (n != 1) { n = (n & 1) ? 3 * n + 1 : n / 2; ++steps; }
  out[threadIdx.x + blockIdx.x * blockDim.x] = steps;
}
struct P { int x; float y; double z; char c[5]; };
__device__ __noinline__ P change(P p, int k) { p.x += k; p.y *= k; p.z -= k; p.c[k % 5] = k; return p; }
extern "C" __global__ void structs(P p, double* out) { P q = change(p, threadIdx.x); q = change(q, 2); out[threadIdx.x] = q.x + q.y + q.z + q.c[threadIdx.x % 5] + q.c[2]; }
extern "C" __global__ void locals(const int* in, int* out, int n) { int a[16]; for (int i = 0; i < 16; ++i) a[i] = in[i] * threadIdx.x; int* p = a + (threadIdx.x % 8); out[threadIdx.x] = p[n] + a[(threadIdx.x * 7) % 16]; }

extern "C" __global__ void say(int x) { printf("%d %5.2f %s|", x + (int)threadIdx.x, 1.5 * threadIdx.x, "hey"); }
extern "C" __global__ void votes(unsigned* out) {
  unsigned t = threadIdx.x; unsigned r = __ballot_sync(~0u, t % 5 == 1); r ^= __match_any_sync(~0u, t % 7); int p; r += __match_all_sync(~0u, t / 64, &p); r += p + __any_sync(~0u, t == 3) + 2 * __all_sync(~0u, t < 100); if (t < 20) r ^= __activemask() << 8; out[t] = r; }
extern "C" __global__ void syncs(int* out) { int a = __syncthreads_count(threadIdx.x % 3 == 0); int b = __syncthreads_and(threadIdx.x < 1000); int c = __syncthreads_or(threadIdx.x == 77); out[threadIdx.x] = a * 4 + b * 2 + (c != 0); }
extern "C" __global__ void exits(int* out, int n) { if (threadIdx.x >= n) return; __syncthreads(); out[threadIdx.x] = 1; __syncthreads(); if (threadIdx.x & 1) return; out[threadIdx.x] = 2; __syncwarp(); out[threadIdx.x] += 5;}
extern "C" __global__ void grid_barrier(unsigned* arrived, unsigned* out) {
  __syncthreads();
  if (threadIdx.x == 0) { __threadfence(); atomicAdd(arrived, 1); while (*(volatile unsigned*)arrived < gridDim.x) {} }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = *(volatile unsigned*)arrived;
}
extern "C" __global__ void look_back(volatile unsigned* flags, unsigned* out) {
  if (threadIdx.x == 0) { unsigned before = 0; if (blockIdx.x > 0) { while ((before = flags[blockIdx.x - 1]) == 0) {} } out[blockIdx.x] = before; __threadfence(); flags[blockIdx.x] = before + 1; }
}
