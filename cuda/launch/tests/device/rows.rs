//! Softmax, cross-entropy, positions of extremes.

use half::f16;
use tfrt_host::DType;
use tfrt_launch::{CrossEntropyBuffers, LabelType, Rows};

use super::{Random, assert_close, device, widened};

/// Rows for warps, rows for blocks, and none; such that are multiples of 16 bytes, and others; such
/// that registers hold, and longer ones.
const SHAPES: &[(usize, usize)] = &[
    (1, 1),
    (5, 10),
    (9, 33),
    (7, 64),
    (3, 257),
    (4, 512),
    (3, 1000),
    (2, 1025),
    (2, 3000),
    (2, 4100),
    (2, 4104),
    (0, 4),
];

fn softmax(x: &[f32], columns: usize, log: bool) -> Vec<f32> {
    let row = |row: &[f32]| {
        let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = row.iter().map(|&x| f64::from(x - max).exp()).sum();
        let one = |&x: &f32| {
            let x = f64::from(x - max);
            (if log { x - sum.ln() } else { x.exp() / sum }) as f32
        };
        row.iter().map(one).collect::<Vec<_>>()
    };
    x.chunks(columns).flat_map(row).collect()
}

fn shape(rows: usize, columns: usize) -> Rows {
    Rows { rows: rows as u64, columns: columns as u64 }
}

#[test]
fn softmax_and_its_gradient() {
    let (d, mut random) = (device(), Random::new(11));
    for &(rows, columns) in SHAPES {
        let n = rows * columns;
        let (x, dy) = (random.f32s(n, -10.0, 10.0), random.f32s(n, -1.0, 1.0));
        let halves = random.halves(n, -4.0, 4.0);
        for log in [false, true] {
            let (dx, room) = (d.upload(&x), d.room::<f32>(n));
            d.kernels.softmax(&d.stream, DType::F32, log, &room, &dx, shape(rows, columns)).unwrap();
            let y = softmax(&x, columns, log);
            assert_close(&d.download::<f32>(&room, n), &y, 3e-6);

            let (ddy, gradient) = (d.upload(&dy), d.room::<f32>(n));
            let operands = [&room, &ddy];
            let rows_shape = shape(rows, columns);
            d.kernels.softmax_gradient(&d.stream, DType::F32, log, &gradient, operands, rows_shape).unwrap();
            let row_gradient = |(y, dy): (&[f32], &[f32])| {
                let dot: f32 = y.iter().zip(dy).map(|(y, dy)| y * dy).sum();
                let sum: f32 = dy.iter().sum();
                let one = |(y, dy): (&f32, &f32)| if log { dy - y.exp() * sum } else { y * (dy - dot) };
                y.iter().zip(dy).map(one).collect::<Vec<_>>()
            };
            let expected: Vec<_> = y.chunks(columns).zip(dy.chunks(columns)).flat_map(row_gradient).collect();
            assert_close(&d.download::<f32>(&gradient, n), &expected, 2e-5);

            let dh = d.upload(&halves);
            d.kernels.softmax(&d.stream, DType::F16, log, &dh, &dh, shape(rows, columns)).unwrap();
            let expected = softmax(&widened(&halves), columns, log);
            assert_close(&widened(&d.download::<f16>(&dh, n)), &expected, 1e-3);
        }
    }
}

/// Infinities and NaN, in rows of every length: the result is NaN where TensorFlow's is, and exact
/// elsewhere.
#[test]
fn softmax_of_extreme_elements() {
    let d = device();
    for &(_, columns) in SHAPES.iter().filter(|(_, columns)| *columns >= 10) {
        let row = |special: &[f32]| {
            let mut row = vec![-1.0; columns];
            row[..special.len()].copy_from_slice(special);
            row[columns - 1] = 2.0;
            row
        };
        let infinite = f32::INFINITY;
        let rows = [
            row(&[-infinite, -infinite, -infinite]),
            row(&[f32::NAN]),
            row(&[3.0, infinite]),
            vec![-infinite; columns],
        ];
        let (x, n) = (rows.concat(), 4 * columns);
        let (dx, y) = (d.upload(&x), d.room::<f32>(n));
        for log in [false, true] {
            d.kernels.softmax(&d.stream, DType::F32, log, &y, &dx, shape(4, columns)).unwrap();
            let found = d.download::<f32>(&y, n);
            let expected = softmax(&x[..columns], columns, log);
            for (&found, &expected) in found[..columns].iter().zip(&expected) {
                assert!(found == expected || (found - expected).abs() < 3e-6, "{found} {expected} {columns}");
            }
            // One NaN makes the whole row NaN, and so does a row without a finite element.
            assert!(found[columns..2 * columns].iter().all(|x| x.is_nan()), "{columns}");
            assert!(found[3 * columns..].iter().all(|x| x.is_nan()), "{columns}");
            assert!(found[2 * columns + 1].is_nan(), "{columns}");
        }
    }
}

/// Losses and gradients.
fn cross_entropy(x: &[f32], labels: &[f32], columns: usize, scale: f32) -> (Vec<f32>, Vec<f32>) {
    let (log, plain) = (softmax(x, columns, true), softmax(x, columns, false));
    let loss = |(log, p): (&[f32], &[f32])| log.iter().zip(p).map(|(log, p)| -log * p).sum();
    let losses = log.chunks(columns).zip(labels.chunks(columns)).map(loss).collect();
    let sums: Vec<f32> = labels.chunks(columns).map(|row| row.iter().sum()).collect();
    let gradients = (0..x.len()).map(|i| (plain[i] * sums[i / columns] - labels[i]) * scale).collect();
    (losses, gradients)
}

#[test]
fn cross_entropies() {
    let (d, mut random) = (device(), Random::new(12));
    for &(rows, columns) in SHAPES {
        let n = rows * columns;
        let x = random.f32s(n, -5.0, 5.0);
        let classes = random.i32s(rows, 0..columns as i32);
        let dense: Vec<f32> =
            (0..n).map(|i| f32::from(u8::from(classes[i / columns] as usize == i % columns))).collect();
        let (losses, gradients) = cross_entropy(&x, &dense, columns, 0.125);
        let wide: Vec<i64> = classes.iter().map(|&class| class.into()).collect();
        let (logits, loss, gradient) = (d.upload(&x), d.room::<f32>(rows), d.room::<f32>(n));
        let all = [
            (LabelType::Dense, d.upload(&dense)),
            (LabelType::I32, d.upload(&classes)),
            (LabelType::I64, d.upload(&wide)),
        ];
        for (kind, labels) in &all {
            let (loss_room, gradient_room) = (Some(&loss), Some(&gradient));
            let buffers =
                CrossEntropyBuffers { loss: loss_room, gradient: gradient_room, logits: &logits, labels };
            let shape = shape(rows, columns);
            d.kernels.cross_entropy(&d.stream, DType::F32, *kind, buffers, shape, 0.125).unwrap();
            assert_close(&d.download::<f32>(&loss, rows), &losses, 2e-5);
            assert_close(&d.download::<f32>(&gradient, n), &gradients, 2e-6);
        }
    }
}

#[test]
fn double_precision() {
    let d = device();
    let x = [0.25f64, -1.5, 3.0, 1e-9, 2.0, -0.75];
    let (logits, labels, y) = (d.upload(&x), d.upload(&[2i64, 0]), d.room::<f64>(6));
    let (loss, gradient) = (d.room::<f64>(2), d.room::<f64>(6));
    d.kernels.softmax(&d.stream, DType::F64, false, &y, &logits, shape(2, 3)).unwrap();
    let buffers = CrossEntropyBuffers {
        loss: Some(&loss),
        gradient: Some(&gradient),
        logits: &logits,
        labels: &labels,
    };
    d.kernels.cross_entropy(&d.stream, DType::F64, LabelType::I64, buffers, shape(2, 3), 1.0).unwrap();
    let (likely, losses) = (d.download::<f64>(&y, 6), d.download::<f64>(&loss, 2));
    for (row, class) in [(0, 2), (1, 0)] {
        let sum: f64 = x[row * 3..][..3].iter().map(|x| x.exp()).sum();
        assert!((losses[row] - (sum.ln() - x[row * 3 + class])).abs() < 1e-14);
        for c in 0..3 {
            let p = x[row * 3 + c].exp() / sum;
            let slope = d.download::<f64>(&gradient, 6)[row * 3 + c];
            assert!((likely[row * 3 + c] - p).abs() < 1e-15);
            assert!((slope - (p - f64::from(u8::from(c == class)))).abs() < 1e-15);
        }
    }
}

#[test]
fn a_class_that_is_not_there_spoils_its_row_alone() {
    let d = device();
    let (logits, labels) = (d.upload(&[0.0f32; 6]), d.upload(&[1i32, 3]));
    let (loss, gradient) = (d.room::<f32>(2), d.room::<f32>(6));
    let buffers = CrossEntropyBuffers {
        loss: Some(&loss),
        gradient: Some(&gradient),
        logits: &logits,
        labels: &labels,
    };
    d.kernels.cross_entropy(&d.stream, DType::F32, LabelType::I32, buffers, shape(2, 3), 1.0).unwrap();
    let losses = d.download::<f32>(&loss, 2);
    assert!((losses[0] - 3f32.ln()).abs() < 1e-6 && losses[1].is_nan(), "{losses:?}");
    let gradients = d.download::<f32>(&gradient, 6);
    assert!(gradients[..3].iter().all(|g| g.is_finite()) && gradients[3..].iter().all(|g| g.is_nan()));
}

#[test]
fn positions_of_extremes() {
    let (d, mut random) = (device(), Random::new(13));
    for &(rows, columns) in SHAPES {
        // Few values, so that there are ties.
        let mut x: Vec<f32> = random.i32s(rows * columns, 0..6).into_iter().map(|x| x as f32).collect();
        if columns > 30 && rows > 1 {
            (x[columns + 7], x[columns + 29]) = (f32::NAN, f32::NAN);
        }
        let (dx, dy) = (d.upload(&x), d.room::<i32>(rows));
        for least in [false, true] {
            d.kernels.arg_extreme(&d.stream, DType::F32, least, &dy, &dx, shape(rows, columns)).unwrap();
            let position = |row: &[f32]| {
                let beats = |a: f32, b: f32| {
                    if a.is_nan() {
                        !b.is_nan()
                    } else if least {
                        a < b
                    } else {
                        a > b
                    }
                };
                (1..row.len()).fold(0, |best, c| if beats(row[c], row[best]) { c } else { best }) as i32
            };
            let expected: Vec<_> = x.chunks(columns).map(position).collect();
            assert_eq!(d.download::<i32>(&dy, rows), expected, "{rows} × {columns}, {least}");
        }
    }
    assert!(
        d.kernels
            .arg_extreme(&d.stream, DType::I32, false, &d.room::<i32>(1), &d.room::<i32>(1), shape(1, 0))
            .is_err()
    );
}
