//! References of `reduce.cu`.

use half::{bf16, f16};

use crate::support::{
    Buffer, Gpu, Random, args,
    compare::{Same, assert_close, assert_same},
    kernels,
};

kernels! { reduce: compute_75 compute_90 => [
    sum_f32 sum_f64 sum_i8 sum_u16 sum_i32 sum_i64 sum_f16 sum_bf16 sum_f16x2 min_max_tree dot_f64 mean_variance
    argmax_rows sum_columns count_positive sum_last_block
] }

/// Sums of blocks over a grid; `check` compares their total with that of the elements.
fn sums<T: Random, A: bytemuck::Pod>(gpu: &mut Gpu, name: &str, check: impl Fn(&[T], &[A])) {
    for (grid, block) in [(1, 32), (3, 64), (2, 1024), (5, 160)] {
        let n = gpu.len(6000);
        let x = gpu.random::<T>(n);
        let (dx, sums) = (gpu.upload(&x), gpu.uninit::<A>(grid as usize));
        gpu.launch(name, grid, block, args![dx, sums, n as i32]);
        check(&x, &gpu.read(sums));
    }
}

/// Totals within `relative` of the sum of magnitudes.
fn float_sums<T: Random + Into<f64>, A: bytemuck::Pod + Into<f64>>(gpu: &mut Gpu, name: &str, relative: f64) {
    sums::<T, A>(gpu, name, |x, sums| {
        let want: f64 = x.iter().map(|&x| x.into()).sum();
        let magnitude: f64 = x.iter().map(|&x| x.into().abs()).sum();
        let got: f64 = sums.iter().map(|&s| s.into()).sum();
        assert_close(&[got], &[want], 0.0, relative * magnitude);
    });
}

/// Totals that agree exactly, wrapping.
fn int_sums<T: Random + Into<i64>, A: bytemuck::Pod + Same>(
    gpu: &mut Gpu,
    name: &str,
    fold: fn(i64, i64) -> A,
    wide: fn(A) -> i64,
) {
    sums::<T, A>(gpu, name, |x, sums| {
        let want = x.iter().fold(0i64, |sum, &x| sum.wrapping_add(x.into()));
        let got = sums.iter().fold(0i64, |sum, &s| sum.wrapping_add(wide(s)));
        assert_same(&[fold(got, 0)], &[fold(want, 0)]);
    });
}

fn sum_f32(gpu: &mut Gpu) {
    float_sums::<f32, f32>(gpu, "sum_f32", 1e-5);
}
fn sum_f64(gpu: &mut Gpu) {
    float_sums::<f64, f64>(gpu, "sum_f64", 1e-13);
}
fn sum_f16(gpu: &mut Gpu) {
    float_sums::<f16, f32>(gpu, "sum_f16", 1e-5);
}
fn sum_bf16(gpu: &mut Gpu) {
    float_sums::<bf16, f32>(gpu, "sum_bf16", 1e-5);
}
fn sum_i8(gpu: &mut Gpu) {
    int_sums::<i8, i32>(gpu, "sum_i8", |a, b| a.wrapping_add(b) as i32, Into::into);
}
fn sum_u16(gpu: &mut Gpu) {
    int_sums::<u16, u32>(gpu, "sum_u16", |a, b| a.wrapping_add(b) as u32, Into::into);
}
fn sum_i32(gpu: &mut Gpu) {
    int_sums::<i32, i32>(gpu, "sum_i32", |a, b| a.wrapping_add(b) as i32, Into::into);
}
fn sum_i64(gpu: &mut Gpu) {
    int_sums::<i64, i64>(gpu, "sum_i64", i64::wrapping_add, |a| a);
}

fn sum_f16x2(gpu: &mut Gpu) {
    let n = gpu.len(200);
    let x = gpu.random::<f16>(2 * n);
    let (dx, sum) = (gpu.upload(&x), gpu.uninit::<f16>(1));
    gpu.launch("sum_f16x2", 1, 32, args![dx, sum, n as i32]);
    // The same order, in the same type.
    let mut lanes = [[f16::ZERO; 2]; 32];
    for (i, pair) in x.chunks(2).enumerate() {
        lanes[i % 32] = [lanes[i % 32][0] + pair[0], lanes[i % 32][1] + pair[1]];
    }
    for distance in [16, 8, 4, 2, 1] {
        for i in 0..distance {
            lanes[i] = [lanes[i][0] + lanes[i + distance][0], lanes[i][1] + lanes[i + distance][1]];
        }
    }
    assert_same(&gpu.read(sum), &[lanes[0][0] + lanes[0][1]]);
}

fn min_max_tree(gpu: &mut Gpu) {
    for (grid, block) in [(1, 1), (2, 64), (3, 256)] {
        let n = gpu.len(3000);
        let x = gpu.random::<f32>(n);
        let (dx, out) = (gpu.upload(&x), gpu.uninit::<[f32; 2]>(grid as usize));
        gpu.launch_shared("min_max_tree", grid, block, u64::from(block) * 8, args![dx, out, n as i32]);
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for [l, h] in gpu.read(out) {
            (low, high) = (low.min(l), high.max(h));
        }
        assert_same(
            &[low, high],
            &[x.iter().copied().fold(low, f32::min), x.iter().copied().fold(high, f32::max)],
        );
        assert!(x.contains(&low) && x.contains(&high));
    }
}

fn dot_f64(gpu: &mut Gpu) {
    let n = gpu.len(5000);
    let (x, y) = (gpu.random::<f64>(n), gpu.random::<f64>(n));
    let (dx, dy, result) = (gpu.upload(&x), gpu.upload(&y), gpu.zeros::<f64>(1));
    gpu.launch("dot_f64", 4, 96, args![dx, dy, result, n as i32]);
    let want: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
    assert_close(&gpu.read(result), &[want], 0.0, 1e-12);
}

fn mean_variance(gpu: &mut Gpu) {
    for columns in [1, 31, gpu.len(300)] {
        let rows = gpu.len(9);
        let x: Vec<f32> = gpu.random::<f32>(rows * columns).iter().map(|x| x + 3.0).collect();
        let (dx, mean, variance) = (gpu.upload(&x), gpu.uninit::<f32>(rows), gpu.uninit::<f32>(rows));
        let grid = rows.div_ceil(4) as u32;
        gpu.launch("mean_variance", grid, (32, 4), args![dx, mean, variance, rows as i32, columns as i32]);
        let row_mean = |row: &[f32]| row.iter().map(|&x| f64::from(x)).sum::<f64>() / columns as f64;
        let means: Vec<f64> = x.chunks(columns).map(row_mean).collect();
        let spread = |(row, mean): (&[f32], &f64)| {
            row.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / columns as f64
        };
        let variances: Vec<f64> = x.chunks(columns).zip(&means).map(spread).collect();
        assert_close(&gpu.read(mean), &means, 1e-6, 0.0);
        assert_close(&gpu.read(variance), &variances, 1e-4, 1e-6);
    }
}

fn argmax_rows(gpu: &mut Gpu) {
    for block in [32, 128, 256] {
        let (rows, columns) = (gpu.len(6), gpu.len(400));
        // Few distinct values: ties are common.
        let x: Vec<f32> = (0..rows * columns).map(|_| gpu.rng.i8(..) as f32 / 16.0).collect();
        let (dx, index) = (gpu.upload(&x), gpu.uninit::<i32>(rows));
        gpu.launch("argmax_rows", rows as u32, block, args![dx, index, columns as i32]);
        let first_largest = |row: &[f32]| {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            row.iter().position(|&x| x == largest).expect("a largest") as i32
        };
        assert_same(&gpu.read(index), &x.chunks(columns).map(first_largest).collect::<Vec<_>>());
    }
}

fn sum_columns(gpu: &mut Gpu) {
    let (rows, columns) = (gpu.len(70), gpu.len(90));
    let x: Vec<f32> = (0..rows * columns).map(|_| f32::from(gpu.rng.i8(..))).collect();
    let (dx, sums) = (gpu.upload(&x), gpu.zeros::<f32>(columns));
    let grid = (columns.div_ceil(32) as u32, rows.div_ceil(16) as u32);
    gpu.launch("sum_columns", grid, 32, args![dx, sums, rows as i32, columns as i32]);
    // Whole numbers: the order of blocks does not matter.
    let column = |c: usize| (0..rows).map(|r| x[r * columns + c]).sum::<f32>();
    assert_same(&gpu.read(sums), &(0..columns).map(column).collect::<Vec<_>>());
}

fn count_positive(gpu: &mut Gpu) {
    for block in [32usize, 50, 256] {
        let n = gpu.len(1000);
        let sign = [-1, 1, 0][gpu.rng.usize(..3)];
        let x: Vec<i32> = (0..n).map(|_| if sign == 0 { gpu.rng.i32(-1..3) } else { sign }).collect();
        let grid = n.div_ceil(block);
        let (dx, out) = (gpu.upload(&x), gpu.uninit::<[i32; 3]>(grid));
        gpu.launch("count_positive", grid as u32, block as u32, args![dx, out, n as i32]);
        let count = |part: &[i32]| {
            let positive = part.iter().filter(|&&x| x > 0).count();
            [positive as i32, (positive == part.len()).into(), (positive > 0).into()]
        };
        assert_same(&gpu.read(out), &x.chunks(block).map(count).collect::<Vec<_>>());
    }
}

fn sum_last_block(gpu: &mut Gpu) {
    // Blocks hand over through a fence and an atomic.
    gpu.without_race_check();
    let result: Buffer<f32> = gpu.uninit(1);
    // Twice: the counter comes back to zero by itself.
    for (grid, block) in [(7, 64), (4, 256)] {
        let n = gpu.len(3000);
        let x: Vec<f32> = (0..n).map(|_| f32::from(gpu.rng.i8(..))).collect();
        let (dx, partial) = (gpu.upload(&x), gpu.uninit::<f32>(grid as usize));
        gpu.launch("sum_last_block", grid, block, args![dx, partial, result, n as i32]);
        assert_same(&gpu.read(result), &[x.iter().sum()]);
    }
}
