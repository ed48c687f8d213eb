// targets: 75 90
// Integers: division, wide products, bit fields, instructions for bytes, hashes.

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;
using u128 = unsigned __int128;

#define DIVIDE(NAME, T)                                                                                  \
    extern "C" __global__ void NAME(const T *x, const T *y, T *quotient, T *remainder, int n) {          \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                   \
        if (i >= n) return;                                                                              \
        quotient[i] = x[i] / y[i];                                                                       \
        remainder[i] = x[i] % y[i];                                                                      \
    }
DIVIDE(divide_i8, signed char)
DIVIDE(divide_u8, u8)
DIVIDE(divide_i16, short)
DIVIDE(divide_u16, u16)
DIVIDE(divide_i32, int)
DIVIDE(divide_u32, u32)
DIVIDE(divide_i64, long long)
DIVIDE(divide_u64, u64)

// By constants, which become products.
extern "C" __global__ void divide_constants(const u32 *x, const long long *y, u32 *ox, long long *oy, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    ox[i] = x[i] / 7 + x[i] % 10 + x[i] / 641;
    oy[i] = y[i] / 1000000007 - y[i] % 97 + y[i] / -16;
}

// Upper halves of products, 24-bit products, sums with the third operand in two widths.
extern "C" __global__ void products(const u32 *a, const u32 *b, const u64 *c, const u64 *d, u64 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 x = a[i], y = b[i];
    int sx = x, sy = y;
    u64 *o = out + i * 12;
    o[0] = __umulhi(x, y);
    o[1] = static_cast<u32>(__mulhi(sx, sy));
    o[2] = __umul64hi(c[i], d[i]);
    o[3] = __mul64hi(c[i], d[i]);
    o[4] = __umul24(x, y);
    o[5] = static_cast<u32>(__mul24(sx, sy));
    o[6] = static_cast<u64>(x) * y + c[i];
    o[7] = static_cast<long long>(sx) * sy - static_cast<long long>(d[i]);
    o[8] = static_cast<u32>(static_cast<short>(x) * static_cast<short>(y) + sx);
    o[9] = c[i] * d[i] + c[i];
    u32 r;
    asm("mad24.hi.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(x));
    o[10] = r;
    asm("mad.hi.sat.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(0x7ffffff0));
    o[11] = r;
}

// 128 bits, of which the compiler makes carries and wide products.
extern "C" __global__ void wide_128(const u64 *x, const u64 *y, u64 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u128 a = static_cast<u128>(x[2 * i]) << 64 | x[2 * i + 1], b = static_cast<u128>(y[2 * i]) << 64 | y[2 * i + 1];
    u128 r[6] = {a + b, a - b, a * b, a << (b & 127), a >> (b & 127), a < b ? a ^ b : ~a};
    for (int k = 0; k < 6; ++k) {
        out[i * 12 + 2 * k] = static_cast<u64>(r[k] >> 64);
        out[i * 12 + 2 * k + 1] = static_cast<u64>(r[k]);
    }
}

// Quotients and remainders of 128 bits: long divisions, whose carries pass from subtractions to additions.
extern "C" __global__ void divide_128(const u64 *x, const u64 *y, u64 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u128 a = static_cast<u128>(x[2 * i]) << 64 | x[2 * i + 1], b = static_cast<u128>(y[2 * i]) << 64 | y[2 * i + 1];
    __int128 sa = a, sb = b;
    u128 r[4] = {a / b, a % b, static_cast<u128>(sa / sb), static_cast<u128>(sa % sb)};
    for (int k = 0; k < 4; ++k) {
        out[i * 8 + 2 * k] = static_cast<u64>(r[k] >> 64);
        out[i * 8 + 2 * k + 1] = static_cast<u64>(r[k]);
    }
}

// A sum of 256-bit numbers by the carry flag.
extern "C" __global__ void add_carry(const u32 *x, const u32 *y, u32 *sum, u32 *difference) {
    const u32 *a = x + threadIdx.x * 8, *b = y + threadIdx.x * 8;
    u32 *s = sum + threadIdx.x * 9, *d = difference + threadIdx.x * 9;
    asm volatile("add.cc.u32 %0, %4, %8;\n\taddc.cc.u32 %1, %5, %9;\n\taddc.cc.u32 %2, %6, %10;\n\taddc.cc.u32 %3, %7, %11;"
                 : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
    asm volatile("addc.cc.u32 %0, %5, %9;\n\taddc.cc.u32 %1, %6, %10;\n\taddc.cc.u32 %2, %7, %11;\n\taddc.cc.u32 %3, %8, %12;\n\taddc.u32 %4, 0, 0;"
                 : "=r"(s[4]), "=r"(s[5]), "=r"(s[6]), "=r"(s[7]), "=r"(s[8])
                 : "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
    asm volatile("sub.cc.u32 %0, %4, %8;\n\tsubc.cc.u32 %1, %5, %9;\n\tsubc.cc.u32 %2, %6, %10;\n\tsubc.cc.u32 %3, %7, %11;"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
    asm volatile("subc.cc.u32 %0, %5, %9;\n\tsubc.cc.u32 %1, %6, %10;\n\tsubc.cc.u32 %2, %7, %11;\n\tsubc.cc.u32 %3, %8, %12;\n\tsubc.u32 %4, 0, 0;"
                 : "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7]), "=r"(d[8])
                 : "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
}

// A product of 64-bit numbers by mad.cc and madc.
extern "C" __global__ void multiply_carry(const u64 *x, const u64 *y, u64 *low, u64 *high) {
    u64 a = x[threadIdx.x], b = y[threadIdx.x];
    u32 al = a, ah = a >> 32, bl = b, bh = b >> 32, r0, r1, r2, r3;
    asm("mul.lo.u32 %0, %4, %6;\n\tmul.hi.u32 %1, %4, %6;\n\t"
        "mad.lo.cc.u32 %1, %4, %7, %1;\n\tmadc.hi.u32 %2, %4, %7, 0;\n\t"
        "mad.lo.cc.u32 %1, %5, %6, %1;\n\tmadc.hi.cc.u32 %2, %5, %6, %2;\n\tmadc.hi.u32 %3, %5, %7, 0;\n\t"
        "mad.lo.cc.u32 %2, %5, %7, %2;\n\taddc.u32 %3, %3, 0;"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3) : "r"(al), "r"(ah), "r"(bl), "r"(bh));
    low[threadIdx.x] = static_cast<u64>(r1) << 32 | r0;
    high[threadIdx.x] = static_cast<u64>(r3) << 32 | r2;
}

// Bits: counts, reversals, positions, funnels; 16 words an element.
extern "C" __global__ void bits_32(const u32 *x, const u32 *y, u32 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 a = x[i], b = y[i], *o = out + i * 16;
    o[0] = __popc(a);
    o[1] = __clz(a);
    o[2] = __ffs(a);
    o[3] = __brev(a);
    o[4] = __byte_perm(a, b, b >> 5);
    o[5] = __funnelshift_l(a, b, b >> 7);
    o[6] = __funnelshift_r(a, b, b >> 7);
    o[7] = __funnelshift_lc(a, b, b & 63);
    o[8] = __funnelshift_rc(a, b, b & 63);
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(o[9]) : "r"(a), "r"(b & 63), "r"(b >> 8 & 63));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(o[10]) : "r"(a), "r"(b & 31), "r"(b >> 8 & 31));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(o[11]) : "r"(a), "r"(b), "r"(b & 31), "r"(b >> 8 & 31));
    asm("bfind.u32 %0, %1;" : "=r"(o[12]) : "r"(a));
    asm("bfind.shiftamt.s32 %0, %1;" : "=r"(o[13]) : "r"(a));
    asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(o[14]) : "r"(a), "r"(b), "r"(a >> 16));
    asm("fns.b32 %0, %1, %2, %3;" : "=r"(o[15]) : "r"(a), "r"(b & 31), "r"(static_cast<int>(b >> 8 & 7) - 3));
}

extern "C" __global__ void bits_64(const u64 *x, const u32 *y, u64 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 a = x[i], *o = out + i * 8;
    u32 b = y[i], r;
    o[0] = __popcll(a) | __clzll(a) << 8 | __ffsll(a) << 16;
    o[1] = __brevll(a);
    o[2] = a << (b & 63) | a >> (64 - (b & 63)) % 64;
    o[3] = static_cast<long long>(a) >> (b & 63);
    asm("bfe.u64 %0, %1, %2, %3;" : "=l"(o[4]) : "l"(a), "r"(b & 63), "r"(b >> 8 & 63));
    asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(o[5]) : "l"(a), "l"(~a), "r"(b & 63), "r"(b >> 8 & 63));
    asm("bfind.u64 %0, %1;" : "=r"(r) : "l"(a));
    o[6] = r;
    asm("shl.b64 %0, %1, %2;" : "=l"(o[7]) : "l"(a), "r"(b & 127));
}

// Sums of products of bytes, and the SIMD intrinsics.
extern "C" __global__ void bytes_simd(const u32 *x, const u32 *y, u32 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 a = x[i], b = y[i], *o = out + i * 14;
    o[0] = __dp4a(a, b, 17u);
    o[1] = __dp4a(static_cast<int>(a), static_cast<int>(b), -17);
    o[2] = __dp2a_lo(a, b, 5u);
    o[3] = __dp2a_hi(static_cast<int>(a), static_cast<int>(b), 5);
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(o[4]) : "r"(a), "r"(b), "r"(9));
    o[5] = __vadd4(a, b);
    o[6] = __vsub2(a, b);
    o[7] = __vabsdiffu4(a, b);
    o[8] = __vmaxs2(a, b);
    o[9] = __vcmpgtu4(a, b);
    o[10] = __vavgu4(a, b);
    o[11] = __vsads2(a, b);
    o[12] = __sad(static_cast<int>(a), static_cast<int>(b), 3u);
    o[13] = __vaddss2(a, b);
}

extern "C" __global__ void averages(const int *x, const int *y, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int *o = out + i * 7;
    o[0] = __hadd(x[i], y[i]);
    o[1] = __rhadd(x[i], y[i]);
    o[2] = __uhadd(x[i], y[i]);
    o[3] = __urhadd(x[i], y[i]);
    asm("add.sat.s32 %0, %1, %2;" : "=r"(o[4]) : "r"(x[i]), "r"(y[i]));
    asm("sub.sat.s32 %0, %1, %2;" : "=r"(o[5]) : "r"(x[i]), "r"(y[i]));
    o[6] = abs(x[i]) + (x[i] < 0 ? -y[i] : y[i]);
}

// CRC-32 of each row, bit by bit.
extern "C" __global__ void crc32(const u8 *x, u32 *y, int length) {
    u32 crc = 0xffffffffu;
    for (int i = 0; i < length; ++i) {
        crc ^= x[threadIdx.x * length + i];
        for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    y[threadIdx.x] = ~crc;
}

__constant__ u32 round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ u32 rotate(u32 x, int n) { return __funnelshift_r(x, x, n); }

// One SHA-256 compression a thread.
extern "C" __global__ void sha256(const u32 *blocks, u32 *states) {
    u32 w[64], s[8];
    for (int i = 0; i < 16; ++i) w[i] = blocks[threadIdx.x * 16 + i];
#pragma unroll 1
    for (int i = 16; i < 64; ++i) {
        u32 a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    for (int i = 0; i < 8; ++i) s[i] = states[threadIdx.x * 8 + i];
#pragma unroll 1
    for (int i = 0; i < 64; ++i) {
        u32 t1 = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
                 round_constants[i] + w[i];
        u32 t2 = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int k = 7; k > 0; --k) s[k] = s[k - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; ++i) states[threadIdx.x * 8 + i] += s[i];
}

// Philox 4x32-10: random numbers that depend on the counter and the key alone.
extern "C" __global__ void philox(u32 key0, u32 key1, uint4 *out) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 c = make_uint4(i, 0, 1, 2);
    for (int round = 0; round < 10; ++round) {
        u32 h0 = __umulhi(0xd2511f53u, c.x), l0 = 0xd2511f53u * c.x;
        u32 h1 = __umulhi(0xcd9e8d57u, c.z), l1 = 0xcd9e8d57u * c.z;
        c = make_uint4(h1 ^ c.y ^ key0, l1, h0 ^ c.w ^ key1, l0);
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    out[i] = c;
}

// b^e modulo m by squaring, with products of 128 bits.
extern "C" __global__ void power_modulo(const u32 *base, const u32 *exponent, const u32 *modulus, u32 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 b = base[i] % modulus[i], r = 1 % modulus[i];
    for (u32 e = exponent[i]; e; e >>= 1) {
        if (e & 1) r = r * b % modulus[i];
        b = b * b % modulus[i];
    }
    out[i] = r;
}
