//! References of `matmul.cu`.

use bytemuck::{Pod, Zeroable};

use crate::support::{
    Gpu, Random, args,
    compare::{assert_close, assert_same},
    kernels,
};

kernels! { matmul: compute_75 compute_90 => [
    matmul_naive matmul_tiled_f32 matmul_tiled_f64 matmul_tiled_i64 matmul_registers gemm_batched matmul_dp4a matvec
] }

fn product(a: &[f64], b: &[f64], m: usize, n: usize, k: usize) -> Vec<f64> {
    let value = |i: usize| (0..k).map(|j| a[i / n * k + j] * b[j * n + i % n]).sum();
    (0..m * n).map(value).collect()
}

fn wide<T: Copy + Into<f64>>(x: &[T]) -> Vec<f64> {
    x.iter().map(|&x| x.into()).collect()
}

fn square_blocks<T: Random + Into<f64>>(gpu: &mut Gpu, name: &str, tile: u32, relative: f64) {
    for (m, n, k) in [(gpu.len(40), gpu.len(40), gpu.len(60)), (32, 16, 48), (1, 1, 1)] {
        let (a, b) = (gpu.random::<T>(m * k), gpu.random::<T>(k * n));
        let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.uninit::<T>(m * n));
        let grid = ((n as u32).div_ceil(tile), (m as u32).div_ceil(tile));
        gpu.launch(name, grid, (tile, tile), args![da, db, dc, m as i32, n as i32, k as i32]);
        assert_close(
            &gpu.read(dc),
            &product(&wide(&a), &wide(&b), m, n, k),
            4.0 * relative,
            2.0 * relative * k as f64,
        );
    }
}

fn matmul_naive(gpu: &mut Gpu) {
    square_blocks::<f32>(gpu, "matmul_naive", 8, 6e-8);
}
fn matmul_tiled_f32(gpu: &mut Gpu) {
    square_blocks::<f32>(gpu, "matmul_tiled_f32", 16, 6e-8);
}
fn matmul_tiled_f64(gpu: &mut Gpu) {
    square_blocks::<f64>(gpu, "matmul_tiled_f64", 8, 1.2e-16);
}

fn matmul_tiled_i64(gpu: &mut Gpu) {
    let (m, n, k) = (gpu.len(20), gpu.len(20), gpu.len(20));
    let (a, b) = (gpu.random::<i64>(m * k), gpu.random::<i64>(k * n));
    let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.uninit::<i64>(m * n));
    let grid = (n.div_ceil(8) as u32, m.div_ceil(8) as u32);
    gpu.launch("matmul_tiled_i64", grid, (8, 8), args![da, db, dc, m as i32, n as i32, k as i32]);
    let value =
        |i: usize| (0..k).fold(0i64, |s, j| s.wrapping_add(a[i / n * k + j].wrapping_mul(b[j * n + i % n])));
    assert_same(&gpu.read(dc), &(0..m * n).map(value).collect::<Vec<_>>());
}

fn matmul_registers(gpu: &mut Gpu) {
    let (m, n, k) = (64 * gpu.len(2), 64 * gpu.len(2), 8 * gpu.len(6));
    let (a, b) = (gpu.random::<f32>(m * k), gpu.random::<f32>(k * n));
    let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.uninit::<f32>(m * n));
    gpu.launch(
        "matmul_registers",
        (n as u32 / 64, m as u32 / 64),
        256,
        args![da, db, dc, n as i32, k as i32],
    );
    assert_close(&gpu.read(dc), &product(&wide(&a), &wide(&b), m, n, k), 2.4e-7, 1.2e-7 * k as f64);
}

/// As `Gemm` of the source.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Gemm {
    operands: [u64; 3],
    extents: [i32; 3],
    alpha: f32,
    beta: f32,
    transpose_a: u8,
    transpose_b: u8,
    padding: [u8; 2],
}

fn gemm_batched(gpu: &mut Gpu) {
    let mut gemms = Vec::new();
    let mut wanted = Vec::new();
    for (transpose_a, transpose_b, beta) in [(0, 0, 0.0), (1, 0, 0.5), (0, 1, -1.0), (1, 1, 0.0)] {
        let (m, n, k) = (gpu.len(20), gpu.len(20), gpu.len(20));
        let (a, b, c) = (gpu.random::<f32>(m * k), gpu.random::<f32>(k * n), gpu.random::<f32>(m * n));
        let (da, db) = (gpu.upload(&a), gpu.upload(&b));
        // Where beta is 0, c is not read: it need not be there.
        let dc = if beta == 0.0 { gpu.uninit::<f32>(m * n) } else { gpu.upload(&c) };
        gemms.push(Gemm {
            operands: [da.address, db.address, dc.address],
            extents: [m as i32, n as i32, k as i32],
            alpha: 1.5,
            beta,
            transpose_a,
            transpose_b,
            padding: [0; 2],
        });
        let at_a = |r: usize, i: usize| f64::from(if transpose_a == 1 { a[i * m + r] } else { a[r * k + i] });
        let at_b = |i: usize, c: usize| f64::from(if transpose_b == 1 { b[c * k + i] } else { b[i * n + c] });
        let value = |i: usize| {
            1.5 * (0..k).map(|j| at_a(i / n, j) * at_b(j, i % n)).sum::<f64>()
                + f64::from(beta) * f64::from(c[i])
        };
        wanted.push((dc, (0..m * n).map(value).collect::<Vec<_>>()));
    }
    let descriptions = gpu.upload(&gemms);
    gpu.launch("gemm_batched", (3, 3, 4), (8, 8), args![descriptions]);
    for (c, want) in wanted {
        assert_close(&gpu.read(c), &want, 1e-5, 1e-5);
    }
}

fn matmul_dp4a(gpu: &mut Gpu) {
    let (m, n, words) = (gpu.len(20), gpu.len(20), gpu.len(16));
    let (a, b) = (gpu.random::<i8>(m * words * 4), gpu.random::<i8>(n * words * 4));
    let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.uninit::<i32>(m * n));
    let grid = (n.div_ceil(16) as u32, m.div_ceil(4) as u32);
    gpu.launch("matmul_dp4a", grid, (16, 4), args![da, db, dc, m as i32, n as i32, words as i32]);
    let row = |x: &[i8], r: usize| x[r * words * 4..][..words * 4].to_vec();
    let dot =
        |x: Vec<i8>, y: Vec<i8>| x.iter().zip(y).map(|(&x, y)| i32::from(x) * i32::from(y)).sum::<i32>();
    assert_same(&gpu.read(dc), &(0..m * n).map(|i| dot(row(&a, i / n), row(&b, i % n))).collect::<Vec<_>>());
}

fn matvec(gpu: &mut Gpu) {
    let (rows, columns) = (gpu.len(20), gpu.len(200));
    let (a, x) = (gpu.random::<f32>(rows * columns), gpu.random::<f32>(columns));
    let (da, dx, dy) = (gpu.upload(&a), gpu.upload(&x), gpu.uninit::<f32>(rows));
    gpu.launch("matvec", rows.div_ceil(3) as u32, 96, args![da, dx, dy, rows as i32, columns as i32]);
    assert_close(
        &gpu.read(dy),
        &product(&wide(&a), &wide(&x), rows, 1, columns),
        2.4e-7,
        1.2e-7 * columns as f64,
    );
}
