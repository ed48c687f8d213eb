//! References of `elementwise.cu`.

use half::{bf16, f16};

use crate::support::{
    Gpu, Random, Struct, args,
    compare::{Same, assert_close, assert_same, assert_ulps_f32},
    floats::{to_bf16, to_f16},
    kernels,
};

kernels! { elementwise: compute_75 compute_80 compute_90 => [
    empty axpy_f32 axpy_f64 axpy_f16 axpy_bf16 axpy_i8 axpy_u8 axpy_i16 axpy_i32 axpy_i64 axpy_f16x2
    scale_grid_stride scale_float4 add_vectors add_bias add_broadcast activations select_clamp add_saturating
    compare complex_multiply coordinates
] }

mod from_80 {
    use super::{axpy_bf16x2, kernels};
    kernels! { elementwise: compute_80 compute_90 => [axpy_bf16x2] }
}

fn empty(gpu: &mut Gpu) {
    for (grid, block) in
        [((1u32, 1u32, 1u32), (1u32, 1u32, 1u32)), ((5, 4, 3), (8, 4, 2)), ((70_000, 1, 1), (1024, 1, 1))]
    {
        gpu.launch("empty", grid, block, args![]);
    }
}

/// y += a x for one type, in grids that fit exactly and that do not.
fn axpy<T: Random + Same + tfrt_ptx::Param>(
    gpu: &mut Gpu,
    name: &str,
    per_thread: usize,
    f: fn(T, T, T) -> T,
) {
    for block in [32, 96, 256] {
        let n = gpu.len(3000);
        let (a, x, y) = (T::random(&mut gpu.rng), gpu.random::<T>(n), gpu.random::<T>(n));
        let want: Vec<T> = x.iter().zip(&y).map(|(&x, &y)| f(a, x, y)).collect();
        let (dx, dy) = (gpu.upload(&x), gpu.upload(&y));
        let grid = n.div_ceil(per_thread).div_ceil(block);
        gpu.launch(name, grid as u32, block as u32, args![a, dx, dy, n as i32]);
        assert_same(&gpu.read(dy), &want);
    }
}

/// The product and sum of a, x and y, exact, then rounded once.
fn fused(a: f32, x: f32, y: f32) -> f64 {
    // A product of two halves has 22 bits, and adding a third to it fits into 53.
    f64::from(a) * f64::from(x) + f64::from(y)
}

fn axpy_f32(gpu: &mut Gpu) {
    axpy::<f32>(gpu, "axpy_f32", 1, f32::mul_add);
}
fn axpy_f64(gpu: &mut Gpu) {
    axpy::<f64>(gpu, "axpy_f64", 1, f64::mul_add);
}
// The operators of halves are separate instructions: the product is rounded too, unless the
// compiler fuses them.
fn axpy_f16(gpu: &mut Gpu) {
    axpy::<f16>(gpu, "axpy_f16", 1, |a, x, y| a * x + y);
}
fn axpy_bf16(gpu: &mut Gpu) {
    axpy::<bf16>(gpu, "axpy_bf16", 1, |a, x, y| a * x + y);
}
fn axpy_i8(gpu: &mut Gpu) {
    axpy::<i8>(gpu, "axpy_i8", 1, |a, x, y| a.wrapping_mul(x).wrapping_add(y));
}
fn axpy_u8(gpu: &mut Gpu) {
    axpy::<u8>(gpu, "axpy_u8", 1, |a, x, y| a.wrapping_mul(x).wrapping_add(y));
}
fn axpy_i16(gpu: &mut Gpu) {
    axpy::<i16>(gpu, "axpy_i16", 1, |a, x, y| a.wrapping_mul(x).wrapping_add(y));
}
fn axpy_i32(gpu: &mut Gpu) {
    axpy::<i32>(gpu, "axpy_i32", 1, |a, x, y| a.wrapping_mul(x).wrapping_add(y));
}
fn axpy_i64(gpu: &mut Gpu) {
    axpy::<i64>(gpu, "axpy_i64", 1, |a, x, y| a.wrapping_mul(x).wrapping_add(y));
}
fn axpy_f16x2(gpu: &mut Gpu) {
    axpy::<f16>(gpu, "axpy_f16x2", 2, |a, x, y| to_f16(fused(a.into(), x.into(), y.into())));
}
fn axpy_bf16x2(gpu: &mut Gpu) {
    axpy::<bf16>(gpu, "axpy_bf16x2", 2, |a, x, y| to_bf16(fused(a.into(), x.into(), y.into())));
}

fn scale_grid_stride(gpu: &mut Gpu) {
    for (grid, block) in [(1, 32), (3, 64), (7, 33)] {
        let n = gpu.len(2000);
        let x = gpu.random::<f32>(n);
        let dx = gpu.upload(&x);
        gpu.launch("scale_grid_stride", grid, block, args![-2.5f32, dx, n as i64]);
        assert_same(&gpu.read(dx), &x.iter().map(|x| x * -2.5).collect::<Vec<_>>());
    }
}

fn scale_float4(gpu: &mut Gpu) {
    let n = gpu.len(500);
    let x = gpu.random::<f32>(4 * n);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f32>(4 * n));
    gpu.launch("scale_float4", n.div_ceil(128) as u32, 128, args![0.3f32, dx, dy, n as u32]);
    assert_same(&gpu.read(dy), &x.iter().map(|x| x * 0.3).collect::<Vec<_>>());
}

fn add_vectors(gpu: &mut Gpu) {
    let n = gpu.len(300);
    let (b, s, w) = (gpu.random::<u8>(4 * n), gpu.random::<i16>(2 * n), gpu.random::<i32>(4 * n));
    let (l, d) = (gpu.random::<i64>(2 * n), gpu.random::<f64>(2 * n));
    let (ob, os, ow) = (gpu.uninit::<u8>(4 * n), gpu.uninit::<i16>(2 * n), gpu.uninit::<i32>(4 * n));
    let (ol, od) = (gpu.uninit::<i64>(2 * n), gpu.uninit::<f64>(2 * n));
    let inputs = (gpu.upload(&b), gpu.upload(&s), gpu.upload(&w), gpu.upload(&l), gpu.upload(&d));
    let params = args![inputs.0, inputs.1, inputs.2, inputs.3, inputs.4, ob, os, ow, ol, od, n as i32];
    gpu.launch("add_vectors", n.div_ceil(64) as u32, 64, params);
    let bytes: Vec<u8> = b.iter().enumerate().map(|(i, b)| b.wrapping_add(i as u8 % 4 + 1)).collect();
    assert_same(&gpu.read(ob), &bytes);
    let shorts = s.chunks(2).flat_map(|p| [p[1].wrapping_sub(5), p[0].wrapping_sub(6)]);
    assert_same(&gpu.read(os), &shorts.collect::<Vec<_>>());
    let words = w.chunks(4).flat_map(|p| [p[3], p[2] ^ 7, p[1], p[0] | 8]);
    assert_same(&gpu.read(ow), &words.collect::<Vec<_>>());
    let longs = l.chunks(2).flat_map(|p| [p[0].wrapping_add(p[1]), p[0].wrapping_sub(p[1])]);
    assert_same(&gpu.read(ol), &longs.collect::<Vec<_>>());
    let doubles = d.chunks(2).flat_map(|p| [p[0] * p[1], p[0] / p[1]]);
    assert_same(&gpu.read(od), &doubles.collect::<Vec<_>>());
}

fn add_bias(gpu: &mut Gpu) {
    for block in [(32, 4), (16, 16), (7, 5)] {
        let (rows, columns) = (gpu.len(40), gpu.len(70));
        let (x, bias) = (gpu.random::<f32>(rows * columns), gpu.random::<f32>(columns));
        let (dx, db, dy) = (gpu.upload(&x), gpu.upload(&bias), gpu.uninit::<f32>(x.len()));
        let grid = ((columns as u32).div_ceil(block.0), (rows as u32).div_ceil(block.1));
        gpu.launch("add_bias", grid, block, args![dx, db, dy, rows as i32, columns as i32]);
        let want: Vec<f32> = x.iter().enumerate().map(|(i, x)| x + bias[i % columns]).collect();
        assert_same(&gpu.read(dy), &want);
    }
}

fn add_broadcast(gpu: &mut Gpu) {
    let extent = [gpu.len(4), gpu.len(5), gpu.len(3), gpu.len(9)].map(|e| e as i32);
    let n = extent.iter().product::<i32>() as usize;
    // x is dense; y is a matrix of dimensions 1 and 3, broadcast along the others.
    let strides_x = [extent[1] * extent[2] * extent[3], extent[2] * extent[3], extent[3], 1];
    let strides_y = [0, extent[3], 0, 1];
    let (x, y) = (gpu.random::<f32>(n), gpu.random::<f32>((extent[1] * extent[3]) as usize));
    let (dx, dy, dz) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<f32>(n));
    let strides = Struct([extent, strides_x, strides_y]);
    gpu.launch("add_broadcast", n.div_ceil(96) as u32, 96, args![dx, dy, dz, strides, n as i32]);
    let at_y = |i: i32| i / strides_x[1] % extent[1] * extent[3] + i % extent[3];
    let want: Vec<f32> = (0..n).map(|i| x[i] + y[at_y(i as i32) as usize]).collect();
    assert_same(&gpu.read(dz), &want);
}

fn activations(gpu: &mut Gpu) {
    let n = gpu.len(700);
    let x: Vec<f32> = gpu.random::<f32>(n).iter().map(|x| x * 8.0).collect();
    let dx = gpu.upload(&x);
    let outputs = [(); 4].map(|()| gpu.uninit::<f32>(n));
    let params = args![dx, outputs[0], outputs[1], outputs[2], outputs[3], n as i32];
    gpu.launch("activations", n.div_ceil(128) as u32, 128, params);
    let wide: Vec<f64> = x.iter().map(|&x| x.into()).collect();
    let map = |f: fn(f64) -> f64| wide.iter().map(|&x| f(x)).collect::<Vec<_>>();
    assert_same(&gpu.read(outputs[0]), &x.iter().map(|x| x.max(0.0)).collect::<Vec<_>>());
    let gelu = map(|x| 0.5 * x * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2)));
    // Where the sum in brackets cancels, what is left is an error of the f32 sum.
    assert_close(&gpu.read(outputs[1]), &gelu, 1e-6, 1e-6);
    assert_ulps_f32(&x, &gpu.read(outputs[2]), &map(|x| 1.0 / (1.0 + (-x).exp())), 5.0);
    assert_close(&gpu.read(outputs[3]), &map(|x| x / (1.0 + (-x).exp())), 4e-6, 0.0);
}

fn select_clamp(gpu: &mut Gpu) {
    let n = gpu.len(400);
    let condition: Vec<u8> = (0..n).map(|_| gpu.rng.u8(..3)).collect();
    let (x, y) = (gpu.any_f32(n), gpu.any_f64(n));
    let z: Vec<i32> = (0..n).map(|_| gpu.rng.i32(-200..200)).collect();
    let w: Vec<i64> = (0..n).map(|_| gpu.rng.i64(-2000..2000)).collect();
    let (ox, oy, oz, ow) = (gpu.uninit(n), gpu.uninit(n), gpu.uninit(n), gpu.uninit(n));
    let (dc, dx, dy, dz, dw) =
        (gpu.upload(&condition), gpu.upload(&x), gpu.upload(&y), gpu.upload(&z), gpu.upload(&w));
    let params = args![dc, dx, dy, dz, dw, ox, oy, oz, ow, n as i32];
    gpu.launch("select_clamp", n.div_ceil(64) as u32, 64, params);
    let chosen = |i: usize| condition[i] != 0;
    let float = |i: usize| if chosen(i) { x[i].min(0.5) } else { x[i].max(-0.5) };
    assert_same::<f32>(&gpu.read(ox), &(0..n).map(float).collect::<Vec<_>>());
    let double = |i: usize| if chosen(i) { y[i].min(0.25) } else { y[i].max(-0.25) };
    assert_same::<f64>(&gpu.read(oy), &(0..n).map(double).collect::<Vec<_>>());
    let int = |i: usize| if chosen(i) { z[i].min(100) } else { z[i].max(-100) };
    assert_same::<i32>(&gpu.read(oz), &(0..n).map(int).collect::<Vec<_>>());
    let long = |i: usize| if chosen(i) { w[i].min(1000) } else { w[i].max(-1000) };
    assert_same::<i64>(&gpu.read(ow), &(0..n).map(long).collect::<Vec<_>>());
}

fn add_saturating(gpu: &mut Gpu) {
    let n = gpu.len(500);
    let (x, y) = (gpu.random::<i8>(n), gpu.random::<i8>(n));
    let (dx, dy, saturated, wrapped) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit(n), gpu.uninit(n));
    gpu.launch("add_saturating", n.div_ceil(32) as u32, 32, args![dx, dy, saturated, wrapped, n as i32]);
    let pairs = || x.iter().zip(&y);
    assert_same(&gpu.read(saturated), &pairs().map(|(x, &y)| x.saturating_add(y)).collect::<Vec<i8>>());
    assert_same(&gpu.read(wrapped), &pairs().map(|(x, &y)| x.wrapping_add(y)).collect::<Vec<i8>>());
}

fn compare(gpu: &mut Gpu) {
    let n = gpu.len(500);
    let (x, mut y) = (gpu.any_f32(n), gpu.any_f32(n));
    y[0] = x[0];
    let (dx, dy, less, equal, unordered) =
        (gpu.upload(&x), gpu.upload(&y), gpu.uninit(n), gpu.uninit(n), gpu.uninit(n));
    gpu.launch("compare", n.div_ceil(128) as u32, 128, args![dx, dy, less, equal, unordered, n as i32]);
    let check =
        |f: fn(f32, f32) -> bool| x.iter().zip(&y).map(|(&x, &y)| f(x, y).into()).collect::<Vec<u8>>();
    assert_same(&gpu.read(less), &check(|x, y| x < y));
    assert_same(&gpu.read(equal), &check(|x, y| x == y));
    assert_same(&gpu.read(unordered), &check(|x, y| x.is_nan() || y.is_nan()));
}

fn complex_multiply(gpu: &mut Gpu) {
    let n = gpu.len(300);
    let (x, y) = (gpu.random::<f32>(2 * n), gpu.random::<f32>(2 * n));
    let (dx, dy, dz) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<f32>(2 * n));
    gpu.launch("complex_multiply", n.div_ceil(64) as u32, 64, args![dx, dy, dz, n as i32]);
    let wide = |v: &[f32]| (f64::from(v[0]), f64::from(v[1]));
    let product = |(x, y): (&[f32], &[f32])| {
        let ((a, b), (c, d)) = (wide(x), wide(y));
        [a * c - b * d, a * d + b * c]
    };
    let want: Vec<f64> = x.chunks(2).zip(y.chunks(2)).flat_map(product).collect();
    assert_close(&gpu.read(dz), &want, 1e-6, 1.2e-7);
}

fn coordinates(gpu: &mut Gpu) {
    for (grid, block) in
        [((2u32, 3u32, 2u32), (5u32, 4u32, 3u32)), ((1, 1, 4), (32, 1, 2)), ((3, 1, 1), (1, 7, 9))]
    {
        let extent = (grid.0 * block.0, grid.1 * block.1, grid.2 * block.2);
        let n = extent.0 * extent.1 * extent.2;
        let out = gpu.uninit::<[u32; 4]>(n as usize);
        gpu.launch("coordinates", grid, block, args![out]);
        let want = (0..n).map(|i| [i % extent.0, i / extent.0 % extent.1, i / extent.0 / extent.1, extent.2]);
        assert_same(&gpu.read(out), &want.collect::<Vec<_>>());
    }
}
