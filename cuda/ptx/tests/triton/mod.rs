//! Kernels compiled by Triton (`kernels.py`, by `ci/triton`): against NumPy's results on fixed
//! inputs, which are committed beside them, and against plain Rust on random ones.

mod more;

use half::f16;
use tfrt_ptx::Params;

use crate::support::{
    Buffer, Gpu, args,
    compare::{assert_close, assert_same},
};

/// Tests for both targets.
macro_rules! kernels {
    ($($name:ident = $file:literal;)+) => {
        mod sm_80 {
            $(
                #[test]
                fn $name() {
                    crate::support::run(include_str!(concat!("ptx/", $file, ".sm_80.ptx")), super::$name);
                }
            )+
        }
        mod sm_90 {
            $(
                #[test]
                fn $name() {
                    crate::support::run(include_str!(concat!("ptx/", $file, ".sm_90.ptx")), super::$name);
                }
            )+
        }
    };
}

kernels! {
    vector_add = "vector_add";
    softmax = "softmax";
    matmul = "matmul";
    layer_norm = "layer_norm";
    layer_norm_backward = "layer_norm_backward";
    attention = "attention";
    numpy_vector_add = "vector_add";
    numpy_softmax = "softmax";
    numpy_matmul = "matmul";
    numpy_layer_norm = "layer_norm";
    numpy_layer_norm_backward = "layer_norm_backward";
    numpy_attention = "attention";
}

/// Four warps a program; bytes of shared memory as `ci/triton` prints them. Behind a kernel's own
/// parameters stand two pointers to scratch memory, which these kernels do not use.
fn launch(gpu: &Gpu, name: &str, grid: (u32, u32), shared: u64, params: Params) {
    gpu.launch_shared(name, grid, 128, shared, params.push(0u64).push(0u64));
}

/// Arrays of NumPy's file, one behind the other.
struct Arrays(&'static [u8]);

impl Arrays {
    fn take<T: bytemuck::Pod>(&mut self, len: usize) -> Vec<T> {
        let (bytes, rest) = self.0.split_at(len * size_of::<T>());
        self.0 = rest;
        bytemuck::pod_collect_to_vec(bytes)
    }
}

fn wide<T: Copy + Into<f64>>(x: &[T]) -> Vec<f64> {
    x.iter().map(|&x| x.into()).collect()
}

fn add(gpu: &Gpu, x: &[f32], y: &[f32]) -> Vec<f32> {
    let (dx, dy, dz) = (gpu.upload(x), gpu.upload(y), gpu.uninit::<f32>(x.len()));
    launch(gpu, "vector_add", (x.len().div_ceil(256) as u32, 1), 0, args![dx, dy, dz, x.len() as i32]);
    gpu.read(dz)
}

fn numpy_vector_add(gpu: &mut Gpu) {
    let mut arrays = Arrays(include_bytes!("numpy/vector_add"));
    let (x, y) = (arrays.take(1000), arrays.take(1000));
    assert_same(&add(gpu, &x, &y), &arrays.take(1000));
}

fn vector_add(gpu: &mut Gpu) {
    let n = gpu.len(2000);
    let (x, y) = (gpu.random::<f32>(n), gpu.random::<f32>(n));
    assert_same(&add(gpu, &x, &y), &x.iter().zip(&y).map(|(x, y)| x + y).collect::<Vec<_>>());
}

fn softmax_of(gpu: &Gpu, x: &[f32], columns: usize) -> Vec<f32> {
    let (dx, dy) = (gpu.upload(x), gpu.uninit::<f32>(x.len()));
    let grid = ((x.len() / columns) as u32, 1);
    launch(gpu, "softmax", grid, 16, args![dx, dy, columns as i32, columns as i32]);
    gpu.read(dy)
}

fn numpy_softmax(gpu: &mut Gpu) {
    let mut arrays = Arrays(include_bytes!("numpy/softmax"));
    let x = arrays.take(300);
    assert_close(&softmax_of(gpu, &x, 100), &wide(&arrays.take::<f32>(300)), 2e-6, 1e-12);
}

fn softmax(gpu: &mut Gpu) {
    let (rows, columns) = (gpu.len(5), gpu.len(512));
    let x: Vec<f32> = gpu.random::<f32>(rows * columns).iter().map(|x| x * 9.0).collect();
    let want = wide(&x).chunks(columns).flat_map(softmax_row).collect::<Vec<_>>();
    assert_close(&softmax_of(gpu, &x, columns), &want, 5e-6, 1e-12);
}

fn softmax_row(row: &[f64]) -> Vec<f64> {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row.iter().map(|x| (x - largest).exp()).sum();
    row.iter().map(|x| (x - largest).exp() / sum).collect()
}

fn product(gpu: &Gpu, a: &[f16], b: &[f16], [m, n, k]: [usize; 3]) -> Vec<f16> {
    let (da, db, dc) = (gpu.upload(a), gpu.upload(b), gpu.uninit::<f16>(m * n));
    let grid = (m.div_ceil(32) as u32, n.div_ceil(32) as u32);
    launch(gpu, "matmul", grid, 4096, args![da, db, dc, m as i32, n as i32, k as i32]);
    gpu.read(dc)
}

fn numpy_matmul(gpu: &mut Gpu) {
    let mut arrays = Arrays(include_bytes!("numpy/matmul"));
    let (a, b) = (arrays.take(40 * 50), arrays.take(50 * 36));
    let got = product(gpu, &a, &b, [40, 36, 50]);
    assert_close(&got, &wide(&arrays.take::<f16>(40 * 36)), 1e-3, 1e-5);
}

fn matmul(gpu: &mut Gpu) {
    let [m, n, k] = [(); 3].map(|()| gpu.len(90));
    let (a, b) = (gpu.random::<f16>(m * k), gpu.random::<f16>(k * n));
    let dot =
        |i: usize| (0..k).map(|j| f64::from(a[i / n * k + j]) * f64::from(b[j * n + i % n])).sum::<f64>();
    let want: Vec<f64> = (0..m * n).map(dot).collect();
    assert_close(&product(gpu, &a, &b, [m, n, k]), &want, 6e-4, 1e-5);
}

/// Results, means and inverse deviations.
fn normalize(gpu: &Gpu, x: &[f32], weight: &[f32], bias: &[f32]) -> [Vec<f32>; 3] {
    let columns = weight.len();
    let rows = x.len() / columns;
    let (dx, dw, db) = (gpu.upload(x), gpu.upload(weight), gpu.upload(bias));
    let (dy, means, inverses) =
        (gpu.uninit::<f32>(x.len()), gpu.uninit::<f32>(rows), gpu.uninit::<f32>(rows));
    let params = args![dx, dw, db, dy, means, inverses, columns as i32, 1e-5f32];
    launch(gpu, "layer_norm", (rows as u32, 1), 16, params);
    [dy, means, inverses].map(|buffer| gpu.read(buffer))
}

fn numpy_layer_norm(gpu: &mut Gpu) {
    let mut arrays = Arrays(include_bytes!("numpy/layer_norm"));
    let (x, weight, bias) = (arrays.take(800), arrays.take(200), arrays.take(200));
    let results = normalize(gpu, &x, &weight, &bias);
    for (got, len) in results.iter().zip([800, 4, 4]) {
        assert_close(got, &wide(&arrays.take::<f32>(len)), 1e-5, 1e-6);
    }
}

/// Mean and inverse deviation of a row.
fn moments(row: &[f32]) -> (f64, f64) {
    let mean = wide(row).iter().sum::<f64>() / row.len() as f64;
    let variance = wide(row).iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
    (mean, 1.0 / (variance + f64::from(1e-5f32)).sqrt())
}

fn layer_norm(gpu: &mut Gpu) {
    let (rows, columns) = (gpu.len(4), 2 + gpu.len(700));
    let (x, weight, bias) =
        (gpu.random(rows * columns), gpu.random::<f32>(columns), gpu.random::<f32>(columns));
    let [y, means, inverses] = normalize(gpu, &x, &weight, &bias);
    let want: Vec<(f64, f64)> = x.chunks(columns).map(moments).collect();
    let value = |i: usize| {
        let ((mean, inverse), c) = (want[i / columns], i % columns);
        (f64::from(x[i]) - mean) * inverse * f64::from(weight[c]) + f64::from(bias[c])
    };
    assert_close(&y, &(0..x.len()).map(value).collect::<Vec<_>>(), 1e-5, 1e-4);
    assert_close(&means, &want.iter().map(|w| w.0).collect::<Vec<_>>(), 1e-5, 1e-6);
    assert_close(&inverses, &want.iter().map(|w| w.1).collect::<Vec<_>>(), 1e-4, 0.0);
}

/// Gradients of input, weight and bias.
fn gradients(
    gpu: &Gpu,
    dy: &[f32],
    x: &[f32],
    weight: &[f32],
    means: &[f32],
    inverses: &[f32],
) -> [Vec<f32>; 3] {
    let columns = weight.len();
    let inputs: [Buffer<f32>; 5] = [dy, x, weight, means, inverses].map(|array| gpu.upload(array));
    let (dx, dweight, dbias) =
        (gpu.uninit::<f32>(x.len()), gpu.zeros::<f32>(columns), gpu.zeros::<f32>(columns));
    let [dy, x, weight, means, inverses] = inputs;
    let params = args![dy, x, weight, means, inverses, dx, dweight, dbias, columns as i32];
    launch(gpu, "layer_norm_backward", (gpu.read(means).len() as u32, 1), 16, params);
    [dx, dweight, dbias].map(|buffer| gpu.read(buffer))
}

fn numpy_layer_norm_backward(gpu: &mut Gpu) {
    let mut arrays = Arrays(include_bytes!("numpy/layer_norm_backward"));
    let inputs: [Vec<f32>; 5] = [800, 800, 200, 4, 4].map(|len| arrays.take(len));
    let results = gradients(gpu, &inputs[0], &inputs[1], &inputs[2], &inputs[3], &inputs[4]);
    for (got, len) in results.iter().zip([800, 200, 200]) {
        assert_close(got, &wide(&arrays.take::<f32>(len)), 1e-5, 2e-6);
    }
}

fn layer_norm_backward(gpu: &mut Gpu) {
    let (rows, columns) = (gpu.len(4), 1 + gpu.len(255));
    let (dy, x) = (gpu.random::<f32>(rows * columns), gpu.random::<f32>(rows * columns));
    let weight = gpu.random::<f32>(columns);
    let of_rows: Vec<(f64, f64)> = x.chunks(columns).map(moments).collect();
    let means: Vec<f32> = of_rows.iter().map(|m| m.0 as f32).collect();
    let inverses: Vec<f32> = of_rows.iter().map(|m| m.1 as f32).collect();
    let [dx, dweight, dbias] = gradients(gpu, &dy, &x, &weight, &means, &inverses);
    let scaled = |i: usize| (f64::from(x[i]) - of_rows[i / columns].0) * of_rows[i / columns].1;
    let weighted = |i: usize| f64::from(dy[i]) * f64::from(weight[i % columns]);
    let row_mean = |i: usize, f: &dyn Fn(usize) -> f64| {
        let first = i / columns * columns;
        (first..first + columns).map(f).sum::<f64>() / columns as f64
    };
    let slope = |i: usize| {
        let along = row_mean(i, &|j| weighted(j) * scaled(j));
        (weighted(i) - scaled(i) * along - row_mean(i, &weighted)) * of_rows[i / columns].1
    };
    let scale = inverses.iter().copied().fold(1.0, f32::max);
    assert_close(&dx, &(0..x.len()).map(slope).collect::<Vec<_>>(), 1e-4, 1e-5 * f64::from(scale));
    let over_rows = |f: &dyn Fn(usize) -> f64| {
        (0..columns).map(|c| (0..rows).map(|r| f(r * columns + c)).sum()).collect::<Vec<f64>>()
    };
    assert_close(&dweight, &over_rows(&|i| f64::from(dy[i]) * scaled(i)), 1e-4, 1e-4);
    assert_close(&dbias, &over_rows(&|i| f64::from(dy[i])), 1e-5, 1e-6);
}

/// Heads of `length` × 32 numbers.
fn attend(gpu: &Gpu, q: &[f16], k: &[f16], v: &[f16], length: usize, scale: f32) -> Vec<f16> {
    let (dq, dk, dv, out) = (gpu.upload(q), gpu.upload(k), gpu.upload(v), gpu.uninit::<f16>(q.len()));
    let grid = (length.div_ceil(32) as u32, (q.len() / (length * 32)) as u32);
    launch(gpu, "attention", grid, 4096, args![dq, dk, dv, out, length as i32, scale]);
    gpu.read(out)
}

fn numpy_attention(gpu: &mut Gpu) {
    // Several warps store the same values to the same places.
    gpu.without_race_check();
    let mut arrays = Arrays(include_bytes!("numpy/attention"));
    let [q, k, v] = [(); 3].map(|()| arrays.take::<f16>(2 * 45 * 32));
    // The weights are rounded to halves before the second product.
    let got = attend(gpu, &q, &k, &v, 45, 0.25);
    assert_close(&got, &wide(&arrays.take::<f16>(2 * 45 * 32)), 2e-3, 1e-3);
}

fn attention(gpu: &mut Gpu) {
    // Several warps store the same values to the same places.
    gpu.without_race_check();
    let (heads, length) = (gpu.len(2), gpu.len(80));
    let [q, k, v] = [(); 3].map(|()| gpu.random::<f16>(heads * length * 32));
    let row = |i: usize| {
        let head = i / length * length;
        let dot =
            |j: usize| (0..32).map(|d| f64::from(q[i * 32 + d]) * f64::from(k[j * 32 + d])).sum::<f64>();
        let weights = softmax_row(&(head..head + length).map(|j| 0.2 * dot(j)).collect::<Vec<_>>());
        (0..32)
            .map(|d| weights.iter().enumerate().map(|(j, w)| w * f64::from(v[(head + j) * 32 + d])).sum())
            .collect::<Vec<f64>>()
    };
    let want: Vec<f64> = (0..heads * length).flat_map(row).collect();
    assert_close(&attend(gpu, &q, &k, &v, length, 0.2), &want, 2e-3, 1e-3);
}
