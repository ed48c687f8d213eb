//! Kernels beyond the first tutorials: products as sm_90 makes them (`wgmma`), Philox, scans,
//! sorting, histograms, locks, floats of eight bits. Against plain Rust on random inputs.

use bytemuck::Pod;
use half::{bf16, f16};

use super::{launch, softmax_row};
use crate::support::{
    Gpu, Random, args,
    compare::{assert_close, assert_same},
};

macro_rules! kernels {
    ($($name:ident($target:ident, $file:literal, $test:expr);)+) => {$(
        #[test]
        fn $name() {
            crate::support::run(include_str!(concat!("ptx/", $file, ".", stringify!($target), ".ptx")), $test);
        }
    )+};
}

kernels! {
    causal_sm_80(sm_80, "attention_causal", attention_causal);
    causal_sm_90(sm_90, "attention_causal", attention_causal);
    dropout_sm_80(sm_80, "dropout", dropout);
    dropout_sm_90(sm_90, "dropout", dropout);
    recurrence_sm_80(sm_80, "recurrence", recurrence);
    recurrence_sm_90(sm_90, "recurrence", recurrence);
    order_sm_80(sm_80, "order", order);
    order_sm_90(sm_90, "order", order);
    histogram_sm_80(sm_80, "histogram", histogram);
    histogram_sm_90(sm_90, "histogram", histogram);
    formats_sm_90(sm_90, "formats", formats);
    matmul_wgmma(sm_90, "matmul_wgmma", matmul);
    product_f16(sm_90, "product_f16", |gpu| product::<f16, f32>(gpu, tile(32, 64, true), 12_288, wide, 1e-5));
    product_f16_sums(sm_90, "product_f16_sums", |gpu| product::<f16, f16>(gpu, tile(16, 32, false), 5120, wide, 1e-2));
    product_bf16(sm_90, "product_bf16", |gpu| product::<bf16, f32>(gpu, tile(64, 16, true), 16_384, wide, 1e-5));
    product_tf32(sm_90, "product_tf32", |gpu| product::<f32, f32>(gpu, tile(32, 32, false), 24_576, tf32, 1e-5));
    product_e4m3(sm_90, "product_e4m3", |gpu| product::<Byte, f32>(gpu, tile(64, 64, false), 16_384, e4m3, 1e-5));
    product_s8(sm_90, "product_s8", |gpu| product::<i8, i32>(gpu, tile(64, 128, false), 16_384, wide, 0.0));
}

fn wide<T: Into<f64>>(value: T) -> f64 {
    value.into()
}

/// The number without the bits that such a product ignores.
fn tf32(value: f32) -> f64 {
    f32::from_bits(value.to_bits() & !0x1fff).into()
}

/// A pattern of a float of eight bits that is neither NaN nor large.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
struct Byte(u8);

impl Random for Byte {
    fn random(rng: &mut fastrand::Rng) -> Byte {
        Byte(rng.u8(..0x48) | rng.u8(..2) << 7)
    }
}

/// Four bits of exponent from 2^-7 on, three of fraction; no infinities.
fn e4m3(Byte(bits): Byte) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 3 & 15), f64::from(bits & 7) / 8.0);
    let size = match exponent {
        15 if bits & 7 == 7 => f64::NAN,
        0 => fraction * 2f64.powi(-6),
        _ => (1.0 + fraction) * 2f64.powi(exponent - 7),
    };
    if bits & 0x80 == 0 { size } else { -size }
}

/// Sizes of a product of 64 rows: columns, a step along K, whether A lies by columns and B by rows.
#[derive(Clone, Copy)]
struct Tile {
    n: usize,
    step: usize,
    columns: bool,
}

const fn tile(n: usize, step: usize, columns: bool) -> Tile {
    Tile { n, step, columns }
}

fn product<T: Random, C: Pod + Into<f64> + std::fmt::Debug>(
    gpu: &mut Gpu,
    Tile { n, step, columns }: Tile,
    shared: u64,
    value: fn(T) -> f64,
    tolerance: f64,
) {
    const M: usize = 64;
    let k = step * gpu.len(4);
    let (a, b) = (gpu.random::<T>(M * k), gpu.random::<T>(k * n));
    let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.uninit::<C>(M * n));
    launch(gpu, "product", (1, 1), shared, args![da, db, dc, k as i32]);
    let element = |i: usize| {
        let (row, column) = (i / n, i % n);
        let left = |j: usize| value(a[if columns { j * M + row } else { row * k + j }]);
        let right = |j: usize| value(b[if columns { j * n + column } else { column * k + j }]);
        (0..k).map(|j| left(j) * right(j)).sum()
    };
    let want: Vec<f64> = (0..M * n).map(element).collect();
    assert_close(&gpu.read(dc), &want, tolerance, tolerance * (k as f64).sqrt());
}

fn matmul(gpu: &mut Gpu) {
    let [m, n, k] = [(); 3].map(|()| gpu.len(130));
    let (a, b) = (gpu.random::<f16>(m * k), gpu.random::<f16>(k * n));
    let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.uninit::<f16>(m * n));
    let grid = (m.div_ceil(64) as u32, n.div_ceil(32) as u32);
    launch(gpu, "matmul", grid, 6144, args![da, db, dc, m as i32, n as i32, k as i32]);
    let dot = |i: usize| (0..k).map(|j| wide(a[i / n * k + j]) * wide(b[j * n + i % n])).sum::<f64>();
    assert_close(&gpu.read(dc), &(0..m * n).map(dot).collect::<Vec<_>>(), 6e-4, 1e-5);
}

/// Heads of `length` × 64 numbers.
fn attention_causal(gpu: &mut Gpu) {
    // Several warps store the same values to the same places.
    gpu.without_race_check();
    const WIDTH: usize = 64;
    let (heads, length) = (gpu.len(2), gpu.len(100));
    let [q, k, v] = [(); 3].map(|()| gpu.random::<f16>(heads * length * WIDTH));
    let [dq, dk, dv] = [&q, &k, &v].map(|array| gpu.upload(array));
    let out = gpu.uninit::<f16>(q.len());
    let grid = (length.div_ceil(64) as u32, heads as u32);
    launch(gpu, "attention_causal", grid, 12_288, args![dq, dk, dv, out, length as i32, 0.2f32]);
    let row = |i: usize| {
        let head = i / length * length;
        let dot = |j: usize| (0..WIDTH).map(|d| wide(q[i * WIDTH + d]) * wide(k[j * WIDTH + d])).sum::<f64>();
        let weights = softmax_row(&(head..=i).map(|j| 0.2 * dot(j)).collect::<Vec<_>>());
        let value = |d: usize| weights.iter().zip(head..).map(|(w, j)| w * wide(v[j * WIDTH + d])).sum();
        (0..WIDTH).map(value).collect::<Vec<f64>>()
    };
    let want: Vec<f64> = (0..heads * length).flat_map(row).collect();
    assert_close(&gpu.read(out), &want, 2e-3, 1e-3);
}

fn dropout(gpu: &mut Gpu) {
    let (n, seed, p) = (gpu.len(1000), gpu.rng.i32(0..), gpu.rng.f32() * 0.8);
    let x: Vec<f32> = gpu.random::<f32>(n).into_iter().map(|x| x + 2.0).collect();
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f32>(n));
    launch(gpu, "dropout", (n.div_ceil(256) as u32, 1), 0, args![dx, dy, n as i32, p, seed]);
    let want: Vec<f64> = (0..n)
        .map(|i| if uniform(seed, i as u32) > p { f64::from(x[i]) / f64::from(1.0 - p) } else { 0.0 })
        .collect();
    assert_close(&gpu.read(dy), &want, 1e-6, 0.0);
}

/// A number from 0 to 1: the first word of Philox, folded to the positive integers.
fn uniform(seed: i32, counter: u32) -> f32 {
    let (mut c, mut k) = ([counter, 0, 0, 0], [seed as u32, 0]);
    for _ in 0..10 {
        let (a, b) = (0xd251_1f53 * u64::from(c[0]), 0xcd9e_8d57 * u64::from(c[2]));
        c = [(b >> 32) as u32 ^ c[1] ^ k[0], b as u32, (a >> 32) as u32 ^ c[3] ^ k[1], a as u32];
        k = [k[0].wrapping_add(0x9e37_79b9), k[1].wrapping_add(0xbb67_ae85)];
    }
    let word = c[0] as i32;
    (if word < 0 { -word - 1 } else { word }) as f32 * 4.656_612_6e-10
}

fn recurrence(gpu: &mut Gpu) {
    let (a, b) = (gpu.random::<f32>(512), gpu.random::<f32>(512));
    let (da, db, dy) = (gpu.upload(&a), gpu.upload(&b), gpu.uninit::<f32>(512));
    launch(gpu, "recurrence", (1, 1), 128, args![da, db, dy]);
    let mut want: Vec<f64> = b.iter().map(|&b| b.into()).collect();
    for i in (0..512).filter(|i| i % 128 > 0) {
        want[i] += want[i - 1] * f64::from(a[i]);
    }
    assert_close(&gpu.read(dy), &want, 1e-4, 1e-5);
}

fn order(gpu: &mut Gpu) {
    let x = gpu.random::<f32>(512);
    let (dx, sorted, places) = (gpu.upload(&x), gpu.uninit::<f32>(512), gpu.uninit::<i32>(4));
    launch(gpu, "order", (1, 1), 2048, args![dx, sorted, places]);
    let mut want = x.clone();
    want.chunks_mut(128).for_each(|row| row.sort_by(f32::total_cmp));
    assert_same(&gpu.read(sorted), &want);
    let largest = |row: usize| (0..128).max_by(|&i, &j| x[row * 128 + i].total_cmp(&x[row * 128 + j]));
    assert_same(&gpu.read(places), &(0..4).filter_map(largest).map(|i| i as i32).collect::<Vec<_>>());
}

fn histogram(gpu: &mut Gpu) {
    // The lock's holder stores plainly what the next one loads.
    gpu.without_race_check();
    let n = gpu.len(3000);
    let x: Vec<i32> = (0..n).map(|_| gpu.rng.i32(0..64)).collect();
    let (dx, bins, lock, largest) =
        (gpu.upload(&x), gpu.zeros::<i32>(64), gpu.zeros::<i32>(1), gpu.zeros::<i32>(1));
    launch(gpu, "histogram", (n.div_ceil(512) as u32, 1), 256, args![dx, bins, lock, largest, n as i32]);
    let count = |value: i32| x.iter().filter(|&&x| x == value).count() as i32;
    assert_same(&gpu.read(bins), &(0..64).map(count).collect::<Vec<_>>());
    assert_same(&gpu.read(largest), &[x.iter().copied().max().unwrap_or(0)]);
}

fn formats(gpu: &mut Gpu) {
    let x: Vec<f32> = (0..256).map(|_| gpu.rng.f32() * 2f32.powi(gpu.rng.i32(-12..9))).collect();
    let patterns: Vec<u8> = (0..=255).collect();
    let (dx, bytes, y) = (gpu.upload(&x), gpu.upload(&patterns), gpu.uninit::<f32>(768));
    let (narrow, wider) = (gpu.uninit::<u8>(256), gpu.uninit::<u8>(256));
    launch(gpu, "formats", (1, 1), 0, args![dx, narrow, wider, bytes, y]);
    let e5m2 = |bits: u8| f64::from(f16::from_bits(u16::from(bits) << 8));
    let e4m3 = |bits: u8| e4m3(Byte(bits));
    let back = patterns.iter().map(|&p| e4m3(p)).chain(patterns.iter().map(|&p| e5m2(p)));
    let want: Vec<f64> = back.chain(patterns.iter().map(|&p| e4m3(p))).collect();
    assert_close(&gpu.read(y), &want, 0.0, 0.0);
    // The nearest number of the format, ties to even, no larger than the largest.
    let nearest = |x: f32, value: &dyn Fn(u8) -> f64, last: u8| {
        let x = f64::from(x);
        let distance = |&bits: &u8| ((value(bits) - x).abs(), bits & 1);
        (0..=last).min_by(|a, b| distance(a).partial_cmp(&distance(b)).expect("no NaN")).unwrap_or(0)
    };
    assert_same(&gpu.read(narrow), &x.iter().map(|&x| nearest(x, &e4m3, 0x7e)).collect::<Vec<_>>());
    assert_same(&gpu.read(wider), &x.iter().map(|&x| nearest(x, &e5m2, 0x7b)).collect::<Vec<_>>());
}
