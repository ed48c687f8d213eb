//! References of `tensor_core.cu`.

use half::{bf16, f16};

use crate::support::{
    Gpu, Random, args,
    compare::{assert_close, assert_same},
    kernels,
};

kernels! { tensor_core: compute_75 compute_80 compute_90 => [
    wmma_f16_f32 wmma_f16_f32_rows wmma_f16_f32_columns wmma_f16_f16 wmma_f16_tall wmma_f16_wide wmma_s8 wmma_u8 wmma_shared
] }

mod from_80 {
    use super::{kernels, wmma_bf16, wmma_f64, wmma_tf32};
    kernels! { tensor_core: compute_80 compute_90 => [wmma_bf16 wmma_f64 wmma_tf32] }
}

/// How a matrix lies in memory.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Rows,
    Columns,
}
use Layout::{Columns, Rows};

/// A product of random matrices on tiles of m × n × k, in blocks of one warp. Gives what came out,
/// and exact sums.
fn product<T: Random, A: bytemuck::Pod>(
    gpu: &mut Gpu,
    name: &str,
    tile: [usize; 3],
    (left, right): (Layout, Layout),
    wide: fn(T) -> f64,
) -> (Vec<A>, Vec<f64>, usize) {
    let [m, n, k] = tile.map(|extent| extent * gpu.len(3));
    let (a, b) = (gpu.random::<T>(m * k), gpu.random::<T>(k * n));
    let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.uninit::<A>(m * n));
    let grid = ((n / tile[1]) as u32, (m / tile[0]) as u32);
    gpu.launch(name, grid, 32, args![da, db, dc, m as i32, n as i32, k as i32]);
    let at_a = |r: usize, i: usize| wide(a[if left == Rows { r * k + i } else { i * m + r }]);
    let at_b = |i: usize, c: usize| wide(b[if right == Rows { i * n + c } else { c * k + i }]);
    let sum = |i: usize| (0..k).map(|j| at_a(i / n, j) * at_b(j, i % n)).sum();
    (gpu.read(dc), (0..m * n).map(sum).collect(), k)
}

/// Products of halves are exact in single precision: what is left is the error of sums.
fn floats<T: Random + Into<f64>>(gpu: &mut Gpu, name: &str, tile: [usize; 3], layouts: (Layout, Layout)) {
    let (got, want, k) = product::<T, f32>(gpu, name, tile, layouts, Into::into);
    assert_close(&got, &want, 0.0, 1.2e-7 * k as f64);
}

fn integers<T: Random + Into<f64>>(gpu: &mut Gpu, name: &str) {
    let (got, want, _) = product::<T, i32>(gpu, name, [16, 16, 16], (Rows, Columns), Into::into);
    assert_same(&got, &want.iter().map(|&w| w as i32).collect::<Vec<_>>());
}

fn wmma_f16_f32(gpu: &mut Gpu) {
    floats::<f16>(gpu, "wmma_f16_f32", [16, 16, 16], (Rows, Columns));
}
fn wmma_f16_f32_rows(gpu: &mut Gpu) {
    floats::<f16>(gpu, "wmma_f16_f32_rows", [16, 16, 16], (Rows, Rows));
}
fn wmma_f16_f32_columns(gpu: &mut Gpu) {
    floats::<f16>(gpu, "wmma_f16_f32_columns", [16, 16, 16], (Columns, Columns));
}
fn wmma_f16_tall(gpu: &mut Gpu) {
    floats::<f16>(gpu, "wmma_f16_tall", [32, 8, 16], (Rows, Columns));
}
fn wmma_f16_wide(gpu: &mut Gpu) {
    floats::<f16>(gpu, "wmma_f16_wide", [8, 32, 16], (Rows, Rows));
}
fn wmma_bf16(gpu: &mut Gpu) {
    floats::<bf16>(gpu, "wmma_bf16", [16, 16, 16], (Rows, Columns));
}
fn wmma_s8(gpu: &mut Gpu) {
    integers::<i8>(gpu, "wmma_s8");
}
fn wmma_u8(gpu: &mut Gpu) {
    integers::<u8>(gpu, "wmma_u8");
}

fn wmma_f16_f16(gpu: &mut Gpu) {
    let (got, want, k) = product::<f16, f16>(gpu, "wmma_f16_f16", [16, 16, 16], (Rows, Columns), Into::into);
    // Sums are rounded to halves, once an instruction at least; they stay below 16.
    assert_close(&got, &want, 1e-3, 0.004 * (k as f64 / 16.0 + 1.0));
}

fn wmma_f64(gpu: &mut Gpu) {
    let (got, want, _) = product::<f64, f64>(gpu, "wmma_f64", [8, 8, 4], (Rows, Columns), |x| x);
    assert_close(&got, &want, 0.0, 1e-14);
}

fn wmma_tf32(gpu: &mut Gpu) {
    let (m, n, k) = (32, 16, 8 * gpu.len(4));
    let (a, b) = (gpu.random::<f32>(m * k), gpu.random::<f32>(k * n));
    let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.uninit::<f32>(m * n));
    gpu.launch("wmma_tf32", (1, 2), 32, args![da, db, dc, n as i32, k as i32]);
    // Operands of eleven bits, ties away from zero.
    let round = |x: f32| f64::from(f32::from_bits((x.to_bits() + 0x1000) & !0x1fff));
    let sum = |i: usize| (0..k).map(|j| round(a[i / n * k + j]) * round(b[j * n + i % n])).sum();
    assert_close(&gpu.read(dc), &(0..m * n).map(sum).collect::<Vec<_>>(), 0.0, 1.2e-7 * k as f64);
}

fn wmma_shared(gpu: &mut Gpu) {
    let (m, n, k) = (32 * gpu.len(2), 32 * gpu.len(2), 16 * gpu.len(4));
    let (a, b, c) = (gpu.random::<f16>(m * k), gpu.random::<f16>(k * n), gpu.random::<f32>(m * n));
    let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.upload(&c));
    gpu.launch(
        "wmma_shared",
        (n as u32 / 32, m as u32 / 32),
        128,
        args![da, db, dc, n as i32, k as i32, 0.25f32],
    );
    let dot =
        |i: usize| (0..k).map(|j| f64::from(a[i / n * k + j]) * f64::from(b[j * n + i % n])).sum::<f64>();
    let want: Vec<f64> = (0..m * n).map(|i| 0.25 * dot(i) + f64::from(c[i])).collect();
    assert_close(&gpu.read(dc), &want, 0.0, 1.2e-7 * (k as f64 + 2.0));
}
