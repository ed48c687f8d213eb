//! References of `hopper.cu`.

use half::f16;

use crate::support::{
    Gpu, args,
    compare::{assert_close, assert_same},
    kernels,
};

kernels! { hopper: compute_90 => [cluster_of_one reduce_vectors store_matrix] }

fn cluster_of_one(gpu: &mut Gpu) {
    let x: Vec<u32> = (0..32).map(|_| gpu.rng.u32(..1000)).collect();
    let (dx, out) = (gpu.upload(&x), gpu.uninit::<u32>(32));
    gpu.launch("cluster_of_one", 1, 32, args![dx, out]);
    assert_same(&gpu.read(out), &x.iter().rev().map(|x| x + 100_000).collect::<Vec<_>>());
}

fn reduce_vectors(gpu: &mut Gpu) {
    let x: Vec<[f32; 4]> = (0..96).map(|_| std::array::from_fn(|_| f32::from(gpu.rng.i8(-8..8)))).collect();
    let (dx, sums, pairs) = (gpu.upload(&x), gpu.zeros::<f32>(8), gpu.zeros::<f16>(2));
    gpu.launch("reduce_vectors", 2, 48, args![dx, sums, pairs]);
    let sum = |stride: usize, first: usize, k: usize| {
        x[first..].iter().step_by(stride).map(|v| f64::from(v[k])).sum()
    };
    assert_close(&gpu.read(sums), &(0..8).map(|i| sum(2, i / 4, i % 4)).collect::<Vec<_>>(), 0.0, 0.0);
    assert_close(&gpu.read(pairs), &[sum(4, 0, 0), sum(4, 0, 1)], 0.0, 0.0);
}

fn store_matrix(gpu: &mut Gpu) {
    let x = gpu.random::<u16>(128);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<u16>(256));
    gpu.launch("store_matrix", 1, 32, args![dx, dy]);
    // The registers of lane l hold row l / 4, columns 2 (l % 4) and the next: both matrices lie in
    // x by rows.
    let value = |i: usize| if i < 128 { x[i] } else { x[i / 64 % 2 * 64 + i % 8 * 8 + i / 8 % 8] };
    assert_same(&gpu.read(dy), &(0..256).map(value).collect::<Vec<_>>());
}
