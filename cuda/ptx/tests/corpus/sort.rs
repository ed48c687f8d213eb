//! References of `sort.cu`.

use bytemuck::{Pod, Zeroable};

use crate::support::{
    Gpu, Random, args,
    compare::{Same, assert_same},
    kernels,
};

kernels! { sort: compute_75 compute_90 => [
    bitonic_u32 bitonic_f64 bitonic_pairs bitonic_stage sort_warp radix_sort_block top_k_thread top_k_block merge
] }

/// Sorts one array by a block, through shared memory of the next power of two.
fn sort_block<T: Pod>(gpu: &Gpu, name: &str, block: u32, x: &[T]) -> Vec<T> {
    let power = x.len().next_power_of_two();
    let (dx, dy) = (gpu.upload(x), gpu.uninit::<T>(x.len()));
    let shared = (power * size_of::<T>()) as u64;
    gpu.launch_shared(name, 1, block, shared, args![dx, dy, x.len() as i32, power as i32]);
    gpu.read(dy)
}

fn bitonic<T: Random + Same>(gpu: &mut Gpu, name: &str, order: fn(&T, &T) -> std::cmp::Ordering) {
    for block in [32, 256] {
        let n = gpu.len(1000);
        let mut x = gpu.random::<T>(n);
        let sorted = sort_block(gpu, name, block, &x);
        x.sort_by(order);
        assert_same(&sorted, &x);
    }
}

fn bitonic_u32(gpu: &mut Gpu) {
    bitonic::<u32>(gpu, "bitonic_u32", u32::cmp);
}
fn bitonic_f64(gpu: &mut Gpu) {
    bitonic::<f64>(gpu, "bitonic_f64", f64::total_cmp);
}

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Pair {
    key: f32,
    value: i32,
}

fn bitonic_pairs(gpu: &mut Gpu) {
    let n = gpu.len(600);
    let mut x: Vec<Pair> =
        (0..n).map(|_| Pair { key: f32::from(gpu.rng.i8(..)) / 4.0, value: gpu.rng.i32(..) }).collect();
    let sorted = sort_block(gpu, "bitonic_pairs", 64, &x);
    x.sort_by(|a, b| a.key.total_cmp(&b.key).then(a.value.cmp(&b.value)));
    assert_eq!(sorted, x);
}

fn bitonic_stage(gpu: &mut Gpu) {
    let n = 1u32 << gpu.rng.u32(5..10);
    let mut x = gpu.random::<u64>(n as usize);
    let keys = gpu.upload(&x);
    let mut size = 2;
    while size <= n {
        let mut distance = size / 2;
        while distance > 0 {
            gpu.launch("bitonic_stage", n / 32, 32, args![keys, size, distance]);
            distance /= 2;
        }
        size *= 2;
    }
    x.sort_unstable();
    assert_same(&gpu.read(keys), &x);
}

fn sort_warp(gpu: &mut Gpu) {
    let mut x = gpu.random::<i32>(6 * 32);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<i32>(x.len()));
    gpu.launch("sort_warp", 2, 96, args![dx, dy]);
    x.chunks_mut(32).for_each(<[i32]>::sort_unstable);
    assert_same(&gpu.read(dy), &x);
}

fn radix_sort_block(gpu: &mut Gpu) {
    let mut x = gpu.random::<u16>(3 * 256);
    let keys = gpu.upload(&x);
    gpu.launch("radix_sort_block", 3, 256, args![keys]);
    x.chunks_mut(256).for_each(<[u16]>::sort_unstable);
    assert_same(&gpu.read(keys), &x);
}

/// Values and columns of the k largest of each row, descending; an earlier column first among
/// equals.
fn largest(x: &[f32], columns: usize, k: usize) -> (Vec<f32>, Vec<i32>) {
    let row = |row: &[f32]| {
        let mut order: Vec<usize> = (0..columns).collect();
        order.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
        order.truncate(k);
        order.into_iter().map(|c| (row[c], c as i32)).collect::<Vec<_>>()
    };
    x.chunks(columns).flat_map(row).unzip()
}

fn top_k_thread(gpu: &mut Gpu) {
    let (rows, k) = (gpu.len(70), gpu.len(8));
    let columns = k + gpu.len(40);
    let x: Vec<f32> = (0..rows * columns).map(|_| f32::from(gpu.rng.i8(..)) + 0.5).collect();
    let (dx, values, indices) = (gpu.upload(&x), gpu.uninit::<f32>(rows * k), gpu.uninit::<i32>(rows * k));
    let params = args![dx, values, indices, rows as i32, columns as i32, k as i32];
    gpu.launch("top_k_thread", rows.div_ceil(32) as u32, 32, params);
    let want = largest(&x, columns, k);
    assert_same(&gpu.read(values), &want.0);
    assert_same(&gpu.read(indices), &want.1);
}

fn top_k_block(gpu: &mut Gpu) {
    let (rows, k) = (gpu.len(5), gpu.len(12));
    let columns = k + gpu.len(300);
    let x: Vec<f32> = (0..rows * columns).map(|_| f32::from(gpu.rng.i8(..)) / 8.0 + 0.03125).collect();
    let (dx, values, indices) = (gpu.upload(&x), gpu.uninit::<f32>(rows * k), gpu.uninit::<i32>(rows * k));
    gpu.launch("top_k_block", rows as u32, 64, args![dx, values, indices, columns as i32, k as i32]);
    let want = largest(&x, columns, k);
    assert_same(&gpu.read(values), &want.0);
    assert_same(&gpu.read(indices), &want.1);
}

fn merge(gpu: &mut Gpu) {
    let (na, nb) = (gpu.len(300), gpu.len(300));
    let mut a: Vec<i32> = (0..na).map(|_| gpu.rng.i32(-50..50)).collect();
    let mut b: Vec<i32> = (0..nb).map(|_| gpu.rng.i32(-50..50)).collect();
    a.sort_unstable();
    b.sort_unstable();
    let (da, db, out) = (gpu.upload(&a), gpu.upload(&b), gpu.uninit::<i32>(na + nb));
    gpu.launch("merge", (na + nb).div_ceil(64) as u32, 64, args![da, na as i32, db, nb as i32, out]);
    a.append(&mut b);
    a.sort_unstable();
    assert_same(&gpu.read(out), &a);
}
