//! References of `integer.cu`.

use crate::support::{
    Gpu, Random, args,
    compare::{Same, assert_same},
    kernels,
};

kernels! { integer: compute_75 compute_90 => [
    divide_i8 divide_u8 divide_i16 divide_u16 divide_i32 divide_u32 divide_i64 divide_u64 divide_constants products
    wide_128 divide_128 add_carry multiply_carry bits_32 bits_64 bytes_simd averages crc32 sha256 philox power_modulo
] }

/// Launches over `n` elements, blocks of 64.
fn launch(gpu: &Gpu, name: &str, n: usize, params: tfrt_ptx::Params) {
    gpu.launch(name, n.div_ceil(64) as u32, 64, params);
}

fn divide<T: Random + Same + PartialEq + Default>(
    gpu: &mut Gpu,
    name: &str,
    divide: fn(T, T) -> (T, T),
    small: fn(T) -> T,
) {
    let n = gpu.len(500);
    let x = gpu.random::<T>(n);
    // Divisors of every size; the language leaves zero open.
    let y: Vec<T> = (0..n)
        .map(|_| {
            loop {
                let y = T::random(&mut gpu.rng);
                let y = if gpu.rng.bool() { small(y) } else { y };
                if y != T::default() {
                    break y;
                }
            }
        })
        .collect();
    let (dx, dy, quotient, remainder) =
        (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<T>(n), gpu.uninit::<T>(n));
    launch(gpu, name, n, args![dx, dy, quotient, remainder, n as i32]);
    let (q, r): (Vec<T>, Vec<T>) = x.iter().zip(&y).map(|(&x, &y)| divide(x, y)).unzip();
    assert_same(&gpu.read(quotient), &q);
    assert_same(&gpu.read(remainder), &r);
}

macro_rules! divisions {
    ($($name:ident $ty:ty)*) => {$(
        fn $name(gpu: &mut Gpu) {
            divide::<$ty>(gpu, stringify!($name), |x, y| (x.wrapping_div(y), x.wrapping_rem(y)), |y| y % 10);
        }
    )*};
}
divisions! {
    divide_i8 i8 divide_u8 u8 divide_i16 i16 divide_u16 u16
    divide_i32 i32 divide_u32 u32 divide_i64 i64 divide_u64 u64
}

fn divide_constants(gpu: &mut Gpu) {
    let n = gpu.len(500);
    let (x, y) = (gpu.random::<u32>(n), gpu.random::<i64>(n));
    let (dx, dy, ox, oy) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<u32>(n), gpu.uninit::<i64>(n));
    launch(gpu, "divide_constants", n, args![dx, dy, ox, oy, n as i32]);
    assert_same(&gpu.read(ox), &x.iter().map(|x| x / 7 + x % 10 + x / 641).collect::<Vec<_>>());
    let long = |y: &i64| y / 1_000_000_007 - y % 97 + y / -16;
    assert_same(&gpu.read(oy), &y.iter().map(long).collect::<Vec<_>>());
}

fn products(gpu: &mut Gpu) {
    let n = gpu.len(300);
    let (a, b) = (gpu.random::<u32>(n), gpu.random::<u32>(n));
    let (c, d) = (gpu.random::<u64>(n), gpu.random::<u64>(n));
    let inputs = (gpu.upload(&a), gpu.upload(&b), gpu.upload(&c), gpu.upload(&d));
    let out = gpu.uninit::<[u64; 12]>(n);
    launch(gpu, "products", n, args![inputs.0, inputs.1, inputs.2, inputs.3, out, n as i32]);
    let value = |i: usize| {
        let (x, y, c, d) = (a[i], b[i], c[i], d[i]);
        let (sx, sy) = (x as i32, y as i32);
        let high = |a: i64, b: i64| ((i128::from(a) * i128::from(b)) >> 64) as u64;
        // The low 24 bits of each operand, signed or not.
        let (ux, uy) = (u64::from(x & 0xff_ffff), u64::from(y & 0xff_ffff));
        let signed24 = (sx << 8 >> 8).wrapping_mul(sy << 8 >> 8);
        let upper = ((i64::from(sx) * i64::from(sy)) >> 32) as i32;
        [
            (u64::from(x) * u64::from(y)) >> 32,
            u64::from(((i64::from(sx) * i64::from(sy)) >> 32) as u32),
            ((u128::from(c) * u128::from(d)) >> 64) as u64,
            high(c as i64, d as i64),
            u64::from((ux * uy) as u32),
            u64::from(signed24 as u32),
            (u64::from(x) * u64::from(y)).wrapping_add(c),
            (i64::from(sx) * i64::from(sy)).wrapping_sub(d as i64) as u64,
            u64::from((i32::from(x as i16) * i32::from(y as i16)).wrapping_add(sx) as u32),
            c.wrapping_mul(d).wrapping_add(c),
            // The upper 32 of 48 bits.
            u64::from((((ux * uy) >> 16) as u32).wrapping_add(x)),
            u64::from(upper.saturating_add(0x7fff_fff0) as u32),
        ]
    };
    assert_same(&gpu.read(out), &(0..n).map(value).collect::<Vec<_>>());
}

fn wide_128(gpu: &mut Gpu) {
    let n = gpu.len(200);
    let (x, y) = (gpu.random::<[u64; 2]>(n), gpu.random::<[u64; 2]>(n));
    let (dx, dy, out) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[u64; 12]>(n));
    launch(gpu, "wide_128", n, args![dx, dy, out, n as i32]);
    let join = |v: [u64; 2]| u128::from(v[0]) << 64 | u128::from(v[1]);
    let value = |i: usize| {
        let (a, b) = (join(x[i]), join(y[i]));
        let shift = (b & 127) as u32;
        let results = [
            a.wrapping_add(b),
            a.wrapping_sub(b),
            a.wrapping_mul(b),
            a << shift,
            a >> shift,
            if a < b { a ^ b } else { !a },
        ];
        std::array::from_fn(|k| (results[k / 2] >> (64 * (1 - k % 2))) as u64)
    };
    assert_same(&gpu.read(out), &(0..n).map(value).collect::<Vec<[u64; 12]>>());
}

fn divide_128(gpu: &mut Gpu) {
    let n = gpu.len(200);
    let x = gpu.random::<[u64; 2]>(n);
    // Divisors of every length.
    let y: Vec<[u64; 2]> = (0..n)
        .map(|_| {
            let y = (gpu.rng.u128(..) >> gpu.rng.u32(..128)).max(1);
            [(y >> 64) as u64, y as u64]
        })
        .collect();
    let (dx, dy, out) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[u64; 8]>(n));
    launch(gpu, "divide_128", n, args![dx, dy, out, n as i32]);
    let join = |v: [u64; 2]| u128::from(v[0]) << 64 | u128::from(v[1]);
    let value = |i: usize| {
        let (a, b) = (join(x[i]), join(y[i]));
        let (signed_a, signed_b) = (a as i128, b as i128);
        let quotient = signed_a.wrapping_div(signed_b) as u128;
        let results = [a / b, a % b, quotient, signed_a.wrapping_rem(signed_b) as u128];
        std::array::from_fn(|k| (results[k / 2] >> (64 * (1 - k % 2))) as u64)
    };
    assert_same(&gpu.read(out), &(0..n).map(value).collect::<Vec<[u64; 8]>>());
}

fn add_carry(gpu: &mut Gpu) {
    // Words of all ones make carries run far.
    let mut word = || match gpu.rng.u8(..3) {
        0 => u32::MAX,
        1 => 0,
        _ => gpu.rng.u32(..),
    };
    let x: Vec<[u32; 8]> = (0..64).map(|_| std::array::from_fn(|_| word())).collect();
    let y: Vec<[u32; 8]> = (0..64).map(|_| std::array::from_fn(|_| word())).collect();
    let (dx, dy, sum, difference) =
        (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[u32; 9]>(64), gpu.uninit::<[u32; 9]>(64));
    gpu.launch("add_carry", 1, 64, args![dx, dy, sum, difference]);
    let long = |x: &[u32; 8], y: &[u32; 8], sign: i64| {
        let mut carry = 0i64;
        let mut out = [0; 9];
        for k in 0..8 {
            carry += i64::from(x[k]) + sign * i64::from(y[k]);
            out[k] = carry as u32;
            carry >>= 32;
        }
        out[8] = carry as u32;
        out
    };
    let pairs = || x.iter().zip(&y);
    assert_same(&gpu.read(sum), &pairs().map(|(x, y)| long(x, y, 1)).collect::<Vec<_>>());
    assert_same(&gpu.read(difference), &pairs().map(|(x, y)| long(x, y, -1)).collect::<Vec<_>>());
}

fn multiply_carry(gpu: &mut Gpu) {
    let (x, y) = (gpu.random::<u64>(64), gpu.random::<u64>(64));
    let (dx, dy, low, high) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<u64>(64), gpu.uninit::<u64>(64));
    gpu.launch("multiply_carry", 1, 64, args![dx, dy, low, high]);
    let product = |i: usize| u128::from(x[i]) * u128::from(y[i]);
    assert_same(&gpu.read(low), &(0..64).map(|i| product(i) as u64).collect::<Vec<_>>());
    assert_same(&gpu.read(high), &(0..64).map(|i| (product(i) >> 64) as u64).collect::<Vec<_>>());
}

/// A register of bytes selected from eight, each selector's fourth bit copying the sign over the
/// byte.
fn permute(a: u32, b: u32, selectors: u32) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let byte = |k: usize| {
        let selector = (selectors >> (4 * k)) as usize;
        let byte = bytes[selector & 7];
        if selector & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 }
    };
    u32::from_le_bytes(std::array::from_fn(byte))
}

/// Bits of `x` from `start`, `length` of them; past the end the sign's, where there is one.
fn extract(x: u64, start: u32, length: u32, width: u32, signed: bool) -> u64 {
    let sign = signed && length > 0 && x >> (start + length - 1).min(width - 1) & 1 == 1;
    let bit = |k: u32| if k < length && start + k < width { x >> (start + k) & 1 } else { u64::from(sign) };
    (0..width).fold(0, |r, k| r | bit(k) << k)
}

fn insert(x: u64, into: u64, start: u32, length: u32, width: u32) -> u64 {
    (0..length)
        .filter(|k| start + k < width)
        .fold(into, |r, k| r & !(1 << (start + k)) | (x >> k & 1) << (start + k))
}

/// The place of the `offset`-th set bit from `base` on, upwards where positive; of 0 the base
/// itself.
fn find_nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let set = |bit: &u32| mask >> bit & 1 == 1;
    let found = match offset {
        0 => Some(base).filter(set),
        1.. => (base..32).filter(set).nth(offset as usize - 1),
        _ => (0..=base).rev().filter(set).nth((-offset) as usize - 1),
    };
    found.unwrap_or(u32::MAX)
}

fn bits_32(gpu: &mut Gpu) {
    let n = gpu.len(400);
    let x: Vec<u32> = (0..n).map(|_| gpu.rng.u32(..) >> gpu.rng.u32(..32)).collect();
    let y = gpu.random::<u32>(n);
    let (dx, dy, out) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[u32; 16]>(n));
    launch(gpu, "bits_32", n, args![dx, dy, out, n as i32]);
    let value = |i: usize| {
        let (a, b) = (x[i], y[i]);
        let (pair, shift) = (u64::from(b) << 32 | u64::from(a), b & 63);
        let wrapped = b >> 7 & 31;
        let magnitude = if (a as i32) < 0 { !a } else { a };
        [
            a.count_ones(),
            a.leading_zeros(),
            if a == 0 { 0 } else { a.trailing_zeros() + 1 },
            a.reverse_bits(),
            permute(a, b, (b >> 5) & 0x7777),
            (pair << wrapped >> 32) as u32,
            (pair >> wrapped) as u32,
            (u128::from(pair) << shift.min(32) >> 32) as u32,
            (pair >> shift.min(32)) as u32,
            extract(a.into(), b & 63, b >> 8 & 63, 32, false) as u32,
            extract(a.into(), b & 31, b >> 8 & 31, 32, true) as u32,
            insert(a.into(), b.into(), b & 31, b >> 8 & 31, 32) as u32,
            31u32.wrapping_sub(a.leading_zeros()),
            // The shift that brings the highest bit unlike the sign to the top.
            if magnitude == 0 { u32::MAX } else { magnitude.leading_zeros() },
            (a & b) ^ (a >> 16),
            find_nth_set(a, b & 31, (b >> 8 & 7) as i32 - 3),
        ]
    };
    let want: Vec<_> = (0..n).map(value).collect();
    assert_same(&gpu.read(out), &want);
}

fn bits_64(gpu: &mut Gpu) {
    let n = gpu.len(300);
    let x: Vec<u64> = (0..n).map(|_| gpu.rng.u64(..) >> gpu.rng.u32(..64)).collect();
    let y = gpu.random::<u32>(n);
    let (dx, dy, out) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[u64; 8]>(n));
    launch(gpu, "bits_64", n, args![dx, dy, out, n as i32]);
    let value = |i: usize| {
        let (a, b) = (x[i], y[i]);
        let first = if a == 0 { 0 } else { a.trailing_zeros() + 1 };
        [
            (a.count_ones() | a.leading_zeros() << 8 | first << 16).into(),
            a.reverse_bits(),
            a.rotate_left(b & 63),
            ((a as i64) >> (b & 63)) as u64,
            extract(a, b & 63, b >> 8 & 63, 64, false),
            insert(a, !a, b & 63, b >> 8 & 63, 64),
            63u32.wrapping_sub(a.leading_zeros()).into(),
            a.checked_shl(b & 127).unwrap_or(0),
        ]
    };
    assert_same(&gpu.read(out), &(0..n).map(value).collect::<Vec<_>>());
}

fn bytes_simd(gpu: &mut Gpu) {
    let n = gpu.len(300);
    let (x, y) = (gpu.random::<u32>(n), gpu.random::<u32>(n));
    let (dx, dy, out) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[u32; 14]>(n));
    launch(gpu, "bytes_simd", n, args![dx, dy, out, n as i32]);
    let value = |i: usize| {
        let (a, b) = (x[i].to_le_bytes(), y[i].to_le_bytes());
        let signed = |v: [u8; 4]| v.map(|b| i32::from(b as i8));
        let (ah, bh) = ([x[i] as i16, (x[i] >> 16) as i16], [y[i] as i16, (y[i] >> 16) as i16]);
        let dot = |a: [i32; 4], b: [i32; 4]| a.iter().zip(b).map(|(a, b)| a * b).sum::<i32>();
        let bytes = |f: fn(u8, u8) -> u8| u32::from_le_bytes(std::array::from_fn(|k| f(a[k], b[k])));
        let halves = |f: fn(i16, i16) -> i16| {
            u32::from(f(ah[0], bh[0]) as u16) | u32::from(f(ah[1], bh[1]) as u16) << 16
        };
        let (ux, uy) = (a.map(i32::from), b.map(i32::from));
        let uhalf = [x[i] & 0xffff, x[i] >> 16];
        let distance = |k: usize| u32::from(ah[k].abs_diff(bh[k]));
        [
            17 + dot(ux, uy) as u32,
            (dot(signed(a), signed(b)) - 17) as u32,
            5 + uhalf[0] * u32::from(b[0]) + uhalf[1] * u32::from(b[1]),
            (5 + i32::from(ah[0]) * signed(b)[2] + i32::from(ah[1]) * signed(b)[3]) as u32,
            (9 + dot(ux, signed(b))) as u32,
            bytes(u8::wrapping_add),
            halves(i16::wrapping_sub),
            bytes(u8::abs_diff),
            halves(i16::max),
            bytes(|a, b| if a > b { 255 } else { 0 }),
            bytes(|a, b| (u16::from(a) + u16::from(b)).div_ceil(2) as u8),
            distance(0) + distance(1),
            (x[i] as i32).abs_diff(y[i] as i32).wrapping_add(3),
            halves(i16::saturating_add),
        ]
    };
    assert_same(&gpu.read(out), &(0..n).map(value).collect::<Vec<_>>());
}

fn averages(gpu: &mut Gpu) {
    let n = gpu.len(300);
    let (x, y) = (gpu.random::<i32>(n), gpu.random::<i32>(n));
    let (dx, dy, out) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[i32; 7]>(n));
    launch(gpu, "averages", n, args![dx, dy, out, n as i32]);
    let value = |i: usize| {
        let (a, b) = (i64::from(x[i]), i64::from(y[i]));
        let (ua, ub) = (u64::from(x[i] as u32), u64::from(y[i] as u32));
        let signed_y = if x[i] < 0 { y[i].wrapping_neg() } else { y[i] };
        [
            ((a + b) >> 1) as i32,
            ((a + b + 1) >> 1) as i32,
            ((ua + ub) >> 1) as i32,
            ((ua + ub + 1) >> 1) as i32,
            x[i].saturating_add(y[i]),
            x[i].saturating_sub(y[i]),
            x[i].wrapping_abs().wrapping_add(signed_y),
        ]
    };
    assert_same(&gpu.read(out), &(0..n).map(value).collect::<Vec<_>>());
}

fn crc32(gpu: &mut Gpu) {
    let length = 9;
    let mut x = gpu.random::<u8>(32 * length);
    x[..length].copy_from_slice(b"123456789");
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<u32>(32));
    gpu.launch("crc32", 1, 32, args![dx, dy, length as i32]);
    let crc = |row: &[u8]| {
        let byte = |crc: u32, byte: &u8| {
            (0..8).fold(crc ^ u32::from(*byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
        };
        !row.iter().fold(u32::MAX, byte)
    };
    let got = gpu.read(dy);
    assert_eq!(got[0], 0xcbf4_3926, "the check value of CRC-32");
    assert_same(&got, &x.chunks(length).map(crc).collect::<Vec<_>>());
}

fn sha256(gpu: &mut Gpu) {
    // FIPS 180-4's example: the one block of "abc".
    const INITIAL: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    const DIGEST: [u32; 8] = [
        0xba78_16bf,
        0x8f01_cfea,
        0x4141_40de,
        0x5dae_2223,
        0xb003_61a3,
        0x9617_7a9c,
        0xb410_ff61,
        0xf200_15ad,
    ];
    let mut block = [0u32; 16];
    (block[0], block[15]) = (0x6162_6380, 24);
    let mut blocks = gpu.random::<[u32; 16]>(32);
    blocks[7] = block;
    let (db, states) = (gpu.upload(&blocks), gpu.upload(&[INITIAL; 32]));
    gpu.launch("sha256", 1, 32, args![db, states]);
    assert_same(&[gpu.read(states)[7]], &[DIGEST]);
}

fn philox(gpu: &mut Gpu) {
    let (key0, key1) = (gpu.rng.u32(..), gpu.rng.u32(..));
    let out = gpu.uninit::<[u32; 4]>(128);
    gpu.launch("philox", 2, 64, args![key0, key1, out]);
    let value = |i: u32| {
        let (mut c, mut k) = ([i, 0, 1, 2], [key0, key1]);
        for _ in 0..10 {
            let (a, b) = (0xd251_1f53 * u64::from(c[0]), 0xcd9e_8d57 * u64::from(c[2]));
            c = [(b >> 32) as u32 ^ c[1] ^ k[0], b as u32, (a >> 32) as u32 ^ c[3] ^ k[1], a as u32];
            k = [k[0].wrapping_add(0x9e37_79b9), k[1].wrapping_add(0xbb67_ae85)];
        }
        c
    };
    assert_same(&gpu.read(out), &(0..128).map(value).collect::<Vec<_>>());
}

fn power_modulo(gpu: &mut Gpu) {
    let n = gpu.len(200);
    let (base, exponent) = (gpu.random::<u32>(n), gpu.random::<u32>(n));
    let modulus: Vec<u32> = (0..n).map(|_| gpu.rng.u32(1..)).collect();
    let (db, de, dm, out) =
        (gpu.upload(&base), gpu.upload(&exponent), gpu.upload(&modulus), gpu.uninit::<u32>(n));
    launch(gpu, "power_modulo", n, args![db, de, dm, out, n as i32]);
    let power = |i: usize| {
        let m = u64::from(modulus[i]);
        // From the top bit down, where the kernel goes up.
        (0..32).rev().fold(1 % m, |r, k| {
            let square = r * r % m;
            if exponent[i] >> k & 1 == 1 { square * (u64::from(base[i]) % m) % m } else { square }
        }) as u32
    };
    assert_same(&gpu.read(out), &(0..n).map(power).collect::<Vec<_>>());
}
