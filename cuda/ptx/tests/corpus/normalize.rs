//! References of `normalize.cu`, in double precision.

use half::f16;

use crate::support::{Gpu, args, compare::assert_close, kernels};

kernels! { normalize: compute_75 compute_90 => [
    softmax softmax_online log_softmax_f64 layer_norm rms_norm batch_norm cross_entropy
] }

fn wide<T: Copy + Into<f64>>(x: &[T]) -> Vec<f64> {
    x.iter().map(|&x| x.into()).collect()
}

fn softmax_row(row: &[f64]) -> Vec<f64> {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row.iter().map(|x| (x - largest).exp()).sum();
    row.iter().map(|x| (x - largest).exp() / sum).collect()
}

fn rows_of<T: Copy + Into<f64>>(x: &[T], columns: usize, f: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    wide(x).chunks(columns).flat_map(f).collect()
}

fn softmax(gpu: &mut Gpu) {
    for block in [32, 128, 1024] {
        let (rows, columns) = (gpu.len(5), gpu.len(900));
        let x: Vec<f32> = gpu.random::<f32>(rows * columns).iter().map(|x| x * 20.0).collect();
        let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f32>(x.len()));
        gpu.launch("softmax", rows as u32, block, args![dx, dy, columns as i32]);
        assert_close(&gpu.read(dy), &rows_of(&x, columns, softmax_row), 1e-5, 1e-30);
    }
}

fn softmax_online(gpu: &mut Gpu) {
    for columns in [1, 33, gpu.len(500)] {
        let rows = gpu.len(9);
        let x: Vec<f16> = gpu.random::<f32>(rows * columns).iter().map(|x| f16::from_f32(x * 6.0)).collect();
        let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f16>(x.len()));
        gpu.launch(
            "softmax_online",
            rows.div_ceil(4) as u32,
            128,
            args![dx, dy, rows as i32, columns as i32],
        );
        // Half a unit of a half, and the smallest step of subnormal ones.
        assert_close(&gpu.read(dy), &rows_of(&x, columns, softmax_row), 6e-4, 6e-8);
    }
}

fn log_softmax_f64(gpu: &mut Gpu) {
    let (rows, columns) = (gpu.len(40), gpu.len(20));
    let x: Vec<f64> = gpu.random::<f64>(rows * columns).iter().map(|x| x * 30.0).collect();
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f64>(x.len()));
    gpu.launch("log_softmax_f64", 1, rows as u32, args![dx, dy, columns as i32]);
    let row = |row: &[f64]| {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shift = largest + row.iter().map(|x| (x - largest).exp()).sum::<f64>().ln();
        row.iter().map(|x| x - shift).collect()
    };
    assert_close(&gpu.read(dy), &rows_of(&x, columns, row), 1e-13, 1e-13);
}

fn layer_norm(gpu: &mut Gpu) {
    for block in [32, 256] {
        let (rows, columns) = (gpu.len(4), 2 + gpu.len(700));
        let x: Vec<f32> = gpu.random::<f32>(rows * columns).iter().map(|x| 2.0 * x + 0.5).collect();
        let (gamma, beta) = (gpu.random::<f32>(columns), gpu.random::<f32>(columns));
        let (dx, dg, db) = (gpu.upload(&x), gpu.upload(&gamma), gpu.upload(&beta));
        let (dy, mean, inverse) =
            (gpu.uninit::<f32>(x.len()), gpu.uninit::<f32>(rows), gpu.uninit::<f32>(rows));
        let params = args![dx, dg, db, dy, mean, inverse, columns as i32, 1e-5f32];
        gpu.launch("layer_norm", rows as u32, block, params);
        let moments: Vec<(f64, f64)> = wide(&x)
            .chunks(columns)
            .map(|row| {
                let mean = row.iter().sum::<f64>() / columns as f64;
                let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / columns as f64;
                (mean, 1.0 / (variance + f64::from(1e-5f32)).sqrt())
            })
            .collect();
        let value = |i: usize| {
            let ((mean, inverse), c) = (moments[i / columns], i % columns);
            (f64::from(x[i]) - mean) * inverse * f64::from(gamma[c]) + f64::from(beta[c])
        };
        assert_close(&gpu.read(dy), &(0..x.len()).map(value).collect::<Vec<_>>(), 1e-5, 1e-4);
        assert_close(&gpu.read(mean), &moments.iter().map(|m| m.0).collect::<Vec<_>>(), 1e-5, 1e-5);
        assert_close(&gpu.read(inverse), &moments.iter().map(|m| m.1).collect::<Vec<_>>(), 1e-4, 0.0);
    }
}

fn rms_norm(gpu: &mut Gpu) {
    let (rows, columns) = (gpu.len(5), 2 * gpu.len(300));
    let (x, weight) = (gpu.random::<f16>(rows * columns), gpu.random::<f16>(columns));
    let (dx, dw, dy) = (gpu.upload(&x), gpu.upload(&weight), gpu.uninit::<f16>(x.len()));
    gpu.launch("rms_norm", rows as u32, 64, args![dx, dw, dy, columns as i32 / 2]);
    let weight = wide(&weight);
    let row = |row: &[f64]| {
        let r = 1.0 / (row.iter().map(|x| x * x).sum::<f64>() / columns as f64 + 1e-5).sqrt();
        row.iter().zip(&weight).map(|(x, w)| x * r * w).collect()
    };
    assert_close(&gpu.read(dy), &rows_of(&x, columns, row), 6e-4, 6e-8);
}

fn batch_norm(gpu: &mut Gpu) {
    let (channels, n) = (gpu.len(20), gpu.len(2000));
    let x = gpu.random::<f32>(n);
    let moments: Vec<[f32; 2]> = (0..channels).map(|_| [gpu.rng.f32(), gpu.rng.f32()]).collect();
    let affine: Vec<[f32; 2]> = (0..channels).map(|_| [gpu.rng.f32(), gpu.rng.f32()]).collect();
    let (dx, dm, da, dy) = (gpu.upload(&x), gpu.upload(&moments), gpu.upload(&affine), gpu.uninit::<f32>(n));
    gpu.launch("batch_norm", 3, 64, args![dx, dm, da, dy, channels as i32, n as i32, 1e-3f32]);
    let value = |i: usize| {
        let ([mean, variance], [scale, shift]) =
            (moments[i % channels].map(f64::from), affine[i % channels].map(f64::from));
        (f64::from(x[i]) - mean) / (variance + f64::from(1e-3f32)).sqrt() * scale + shift
    };
    assert_close(&gpu.read(dy), &(0..n).map(value).collect::<Vec<_>>(), 1e-5, 1e-5);
}

fn cross_entropy(gpu: &mut Gpu) {
    let (examples, classes) = (gpu.len(100), 1 + gpu.len(12));
    let logits: Vec<f32> = gpu.random::<f32>(examples * classes).iter().map(|x| x * 5.0).collect();
    let labels: Vec<u8> = (0..examples).map(|_| gpu.rng.u8(..classes as u8)).collect();
    let (dl, dy) = (gpu.upload(&logits), gpu.upload(&labels));
    let (loss, gradient) = (gpu.uninit::<f32>(examples), gpu.uninit::<f32>(logits.len()));
    let params = args![dl, dy, loss, gradient, examples as i32, classes as i32];
    gpu.launch("cross_entropy", examples.div_ceil(32) as u32, 32, params);
    let probability = rows_of(&logits, classes, softmax_row);
    let losses: Vec<f64> = labels
        .iter()
        .enumerate()
        .map(|(e, &label)| -probability[e * classes + usize::from(label)].ln())
        .collect();
    assert_close(&gpu.read(loss), &losses, 1e-5, 2e-6);
    let slope = |i: usize| {
        let hit = f64::from(u8::from(usize::from(labels[i / classes]) == i % classes));
        (probability[i] - hit) / examples as f64
    };
    assert_close(&gpu.read(gradient), &(0..logits.len()).map(slope).collect::<Vec<_>>(), 1e-4, 1e-7);
}
