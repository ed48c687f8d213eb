//! References of `transpose.cu`.

use half::f16;

use crate::support::{
    Gpu, Random, Struct, args,
    compare::{Same, assert_same},
    kernels,
};

kernels! { transpose: compute_75 compute_90 => [
    transpose_naive transpose_f32 transpose_conflicts transpose_f16 transpose_i8 transpose_f64 permute transpose_bits
] }

fn transposed<T: Random + Same>(gpu: &mut Gpu, name: &str, tile: u32, block: (u32, u32)) {
    for (rows, columns) in [(gpu.len(100), gpu.len(100)), (32, 64), (1, 33)] {
        let x = gpu.random::<T>(rows * columns);
        let (dx, dy) = (gpu.upload(&x), gpu.uninit::<T>(x.len()));
        let grid = ((columns as u32).div_ceil(tile), (rows as u32).div_ceil(tile));
        gpu.launch(name, grid, block, args![dx, dy, rows as i32, columns as i32]);
        let want: Vec<T> = (0..x.len()).map(|i| x[i % rows * columns + i / rows]).collect();
        assert_same(&gpu.read(dy), &want);
    }
}

fn transpose_naive(gpu: &mut Gpu) {
    transposed::<f32>(gpu, "transpose_naive", 16, (16, 16));
}
fn transpose_f32(gpu: &mut Gpu) {
    transposed::<f32>(gpu, "transpose_f32", 32, (32, 8));
}
fn transpose_conflicts(gpu: &mut Gpu) {
    transposed::<f32>(gpu, "transpose_conflicts", 32, (32, 8));
}
fn transpose_f16(gpu: &mut Gpu) {
    transposed::<f16>(gpu, "transpose_f16", 32, (32, 8));
}
fn transpose_i8(gpu: &mut Gpu) {
    transposed::<i8>(gpu, "transpose_i8", 32, (32, 8));
}
fn transpose_f64(gpu: &mut Gpu) {
    transposed::<f64>(gpu, "transpose_f64", 32, (32, 8));
}

fn permute(gpu: &mut Gpu) {
    let extent = [gpu.len(4), gpu.len(5), gpu.len(3), gpu.len(6), gpu.len(4)].map(|e| e as i64);
    let mut from = [0u8, 1, 2, 3, 4];
    gpu.rng.shuffle(&mut from);
    let n = extent.iter().product::<i64>();
    let x = gpu.random::<i16>(n as usize);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<i16>(x.len()));
    let mut description = [0u8; 48];
    description[..40].copy_from_slice(bytemuck::bytes_of(&extent));
    description[40..45].copy_from_slice(&from);
    gpu.launch("permute", (n as u32).div_ceil(64), 64, args![dx, dy, Struct(description), n]);
    let from = from.map(usize::from);
    let want = (0..n).map(|i| {
        // The place in y, a coordinate a dimension, is the place in x with its coordinates
        // exchanged.
        let (mut rest, mut place) = (i, [0; 5]);
        for d in (0..5).rev() {
            place[from[d]] = rest % extent[from[d]];
            rest /= extent[from[d]];
        }
        x[(0..5).fold(0, |at, d| at * extent[d] + place[d]) as usize]
    });
    assert_same(&gpu.read(dy), &want.collect::<Vec<_>>());
}

fn transpose_bits(gpu: &mut Gpu) {
    let x = gpu.random::<u32>(4 * 32);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<u32>(x.len()));
    gpu.launch("transpose_bits", 2, 64, args![dx, dy]);
    let transpose = |part: &[u32]| {
        (0..32).map(|r| (0..32).fold(0, |w, c| w | (part[c] >> r & 1) << c)).collect::<Vec<u32>>()
    };
    assert_same(&gpu.read(dy), &x.chunks(32).flat_map(transpose).collect::<Vec<_>>());
}
