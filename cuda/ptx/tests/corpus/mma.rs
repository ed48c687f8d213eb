//! References of `mma.cu`.

use half::{bf16, f16};

use crate::support::{
    Gpu, Random, args,
    compare::{assert_close, assert_same},
    kernels,
};

kernels! { mma: compute_80 compute_90 => [
    pipeline_f16 pipeline_bf16 mma_f16_accumulate mma_f16_k8 mma_tf32_k8 mma_tf32_k4 mma_s8_k32 mma_u8_s8_k16 mma_f64
    ldmatrix_forms movmatrix copy_async_sizes
] }

fn pipeline<T: Random + Into<f64>>(gpu: &mut Gpu, name: &str) {
    let (m, n, k) = (gpu.len(70), 32 * gpu.len(2), 16 * gpu.len(5));
    let (a, b) = (gpu.random::<T>(m * k), gpu.random::<T>(k * n));
    let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.uninit::<f32>(m * n));
    let grid = ((n / 32) as u32, m.div_ceil(32) as u32);
    gpu.launch(name, grid, 128, args![da, db, dc, m as i32, n as i32, k as i32]);
    let sum = |i: usize| (0..k).map(|j| a[i / n * k + j].into() * b[j * n + i % n].into()).sum();
    assert_close(&gpu.read(dc), &(0..m * n).map(sum).collect::<Vec<f64>>(), 0.0, 1.2e-7 * k as f64);
}

fn pipeline_f16(gpu: &mut Gpu) {
    pipeline::<f16>(gpu, "pipeline_f16");
}
fn pipeline_bf16(gpu: &mut Gpu) {
    pipeline::<bf16>(gpu, "pipeline_bf16");
}

/// Elements of the three matrices in double precision.
type Widen<A, B, C> = (fn(A) -> f64, fn(B) -> f64, fn(C) -> f64);

/// One instruction: c + a b, a row-major of m × k, b column-major of k × 8. Gives what came out,
/// and exact sums.
fn instruction<A: Random, B: Random, C: Random>(
    gpu: &mut Gpu,
    name: &str,
    (m, k): (usize, usize),
    wide: Widen<A, B, C>,
) -> (Vec<C>, Vec<f64>) {
    let (a, b, c) = (gpu.random::<A>(m * k), gpu.random::<B>(8 * k), gpu.random::<C>(m * 8));
    let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.upload(&c));
    gpu.launch(name, 1, 32, args![da, db, dc]);
    let dot = |i: usize| (0..k).map(|j| wide.0(a[i / 8 * k + j]) * wide.1(b[i % 8 * k + j])).sum::<f64>();
    (gpu.read(dc), (0..m * 8).map(|i| wide.2(c[i]) + dot(i)).collect())
}

fn mma_f16_accumulate(gpu: &mut Gpu) {
    let wide = (f64::from as fn(f16) -> f64, f64::from as fn(f16) -> f64, f64::from as fn(f16) -> f64);
    let (got, want) = instruction(gpu, "mma_f16_accumulate", (16, 16), wide);
    // Rounded to a half; sums stay below 8.
    assert_close(&got, &want, 0.0, 0.004);
}

fn mma_f16_k8(gpu: &mut Gpu) {
    let wide = (f64::from as fn(f16) -> f64, f64::from as fn(f16) -> f64, f64::from as fn(f32) -> f64);
    let (got, want) = instruction(gpu, "mma_f16_k8", (16, 8), wide);
    assert_close(&got, &want, 0.0, 2e-6);
}

/// A single rounded to the eleven bits of TF32, ties away from zero.
fn tf32(x: f32) -> f64 {
    f32::from_bits((x.to_bits() + 0x1000) & !0x1fff).into()
}

fn mma_tf32_k8(gpu: &mut Gpu) {
    let (got, want) = instruction(gpu, "mma_tf32_k8", (16, 8), (tf32, tf32, f64::from as fn(f32) -> f64));
    assert_close(&got, &want, 0.0, 2e-6);
}

fn mma_tf32_k4(gpu: &mut Gpu) {
    let (got, want) = instruction(gpu, "mma_tf32_k4", (16, 4), (tf32, tf32, f64::from as fn(f32) -> f64));
    assert_close(&got, &want, 0.0, 1e-6);
}

fn mma_s8_k32(gpu: &mut Gpu) {
    let wide = (f64::from as fn(i8) -> f64, f64::from as fn(i8) -> f64, f64::from as fn(i32) -> f64);
    let (got, want) = instruction(gpu, "mma_s8_k32", (16, 32), wide);
    // Without saturation the sum wraps.
    assert_same(&got, &want.iter().map(|&w| w as i64 as i32).collect::<Vec<_>>());
}

fn mma_u8_s8_k16(gpu: &mut Gpu) {
    let (a, b) = (gpu.random::<u8>(16 * 16), gpu.random::<i8>(8 * 16));
    // Accumulators near the bounds, where the sum saturates.
    let near_bound = |c: i32| if c < 0 { i32::MIN | c & 0x3ff } else { i32::MAX ^ c & 0x3ff };
    let c: Vec<i32> = gpu.random::<i32>(128).into_iter().map(near_bound).collect();
    let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.upload(&c));
    gpu.launch("mma_u8_s8_k16", 1, 32, args![da, db, dc]);
    let dot =
        |i: usize| (0..16).map(|j| f64::from(a[i / 8 * 16 + j]) * f64::from(b[i % 8 * 16 + j])).sum::<f64>();
    // The cast saturates.
    let want: Vec<i32> = (0..128).map(|i| (f64::from(c[i]) + dot(i)) as i32).collect();
    assert_same(&gpu.read(dc), &want);
}

fn mma_f64(gpu: &mut Gpu) {
    let same: fn(f64) -> f64 = |x| x;
    let (got, want) = instruction(gpu, "mma_f64", (8, 4), (same, same, same));
    assert_close(&got, &want, 0.0, 1e-15);
}

/// Two halves as a register holds them.
fn pair(low: f16, high: f16) -> u32 {
    u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16
}

fn ldmatrix_forms(gpu: &mut Gpu) {
    let x = gpu.random::<f16>(256);
    let (dx, out) = (gpu.upload(&x), gpu.uninit::<[u32; 11]>(32));
    gpu.launch("ldmatrix_forms", 1, 32, args![dx, out]);
    let want = (0..32).map(|lane| {
        let (g, q) = (lane / 4, lane % 4 * 2);
        let plain = |matrix: usize| pair(x[matrix * 64 + g * 8 + q], x[matrix * 64 + g * 8 + q + 1]);
        let transposed = |matrix: usize| pair(x[matrix * 64 + q * 8 + g], x[matrix * 64 + (q + 1) * 8 + g]);
        let mut words = [0; 11];
        for (word, matrix) in words.iter_mut().zip([0, 0, 1, 0, 1, 2, 3]) {
            *word = plain(matrix);
        }
        (0..4).for_each(|matrix| words[7 + matrix] = transposed(matrix));
        words
    });
    assert_same(&gpu.read(out), &want.collect::<Vec<_>>());
}

fn movmatrix(gpu: &mut Gpu) {
    let x = gpu.random::<u16>(64);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<u16>(64));
    gpu.launch("movmatrix", 1, 32, args![dx, dy]);
    assert_same(&gpu.read(dy), &(0..64).map(|i| x[i % 8 * 8 + i / 8]).collect::<Vec<_>>());
}

fn copy_async_sizes(gpu: &mut Gpu) {
    let x = gpu.random::<[i32; 4]>(64);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<[i32; 4]>(64));
    gpu.launch("copy_async_sizes", 1, 64, args![dx, dy]);
    let value = |t: usize| [x[t][0], x[t ^ 1][1], x[t ^ 1][2], x[t ^ 1][3]];
    assert_same(&gpu.read(dy), &(0..64).map(value).collect::<Vec<_>>());
}
