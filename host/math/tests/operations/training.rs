//! Softmax, cross-entropy and batch normalization against their definitions, gradients against
//! finite differences.

use crate::support::{Threads, assert_close, inner, numeric_gradient, random, random_f32, run, wide};
use proptest::prelude::*;
use tfrt_math::{
    Activation, BatchNormBackward, BatchNormBackwardInput, BatchNormGradients, BatchNormOutput,
    BatchNormTraining, BlockOp, CrossEntropy, CrossEntropyInput, LogSoftmax, ScaleShift, ScaleShiftInput,
    Serial, ShapeError, Softmax, SparseCrossEntropy, fold_batch_norm,
};

const EPSILON: f64 = 1e-3;

fn naive_softmax(x: &[f64], cols: usize) -> Vec<f64> {
    let row = |row: &[f64]| -> Vec<f64> {
        let sum: f64 = row.iter().map(|x| x.exp()).sum();
        row.iter().map(|x| x.exp() / sum).collect()
    };
    if cols == 0 { Vec::new() } else { x.chunks(cols).flat_map(row).collect() }
}

fn naive_losses(x: &[f64], labels: &[f64], cols: usize) -> Vec<f64> {
    let terms: Vec<f64> = naive_softmax(x, cols).iter().zip(labels).map(|(q, p)| -p * q.ln()).collect();
    terms.chunks(cols).map(|row| row.iter().sum()).collect()
}

/// Mean and biased variance of each column.
fn moments(x: &[f64], cols: usize) -> (Vec<f64>, Vec<f64>) {
    let rows = (x.len() / cols) as f64;
    let column = |c: usize| x[c..].iter().step_by(cols);
    let mean: Vec<f64> = (0..cols).map(|c| column(c).sum::<f64>() / rows).collect();
    let variance = (0..cols).map(|c| column(c).map(|x| (x - mean[c]).powi(2)).sum::<f64>() / rows).collect();
    (mean, variance)
}

fn naive_batch_norm(x: &[f64], scale: &[f64], offset: &[f64]) -> Vec<f64> {
    let cols = scale.len();
    let (mean, variance) = moments(x, cols);
    let y = |(i, x): (usize, &f64)| {
        let c = i % cols;
        (x - mean[c]) / (variance[c] + EPSILON).sqrt() * scale[c] + offset[c]
    };
    x.iter().enumerate().map(y).collect()
}

proptest! {
    #[test]
    fn softmaxes((rows, cols) in (0usize..9, 0usize..9), seed: u64) {
        let x: Vec<f64> = random(seed, rows * cols).iter().map(|x| x * 10.0).collect();
        let expected = naive_softmax(&x, cols);
        let zeros = vec![0.0; x.len()];
        assert_close(&run(&Softmax::new(rows, cols).unwrap(), &x[..], &zeros), &expected, 1e-12);
        let logs: Vec<f64> = expected.iter().map(|p| p.ln()).collect();
        assert_close(&run(&LogSoftmax::new(rows, cols).unwrap(), &x[..], &zeros), &logs, 1e-12);
    }

    #[test]
    fn cross_entropies((rows, cols) in (0usize..6, 1usize..6), seed: u64) {
        let x = random(seed, rows * cols);
        let labels = naive_softmax(&random(seed ^ 1, rows * cols), cols);
        let (mut losses, mut gradients) = (vec![7.0; rows], vec![7.0; rows * cols]);
        let input = CrossEntropyInput { logits: &x, labels: &labels };
        CrossEntropy::new(rows, cols).unwrap().run(&Threads, input, (&mut losses, &mut gradients)).unwrap();
        assert_close(&losses, &naive_losses(&x, &labels, cols), 1e-12);
        assert_close(&gradients, &numeric_gradient(&x, |x| naive_losses(x, &labels, cols).iter().sum()), 1e-8);
    }

    #[test]
    fn sparse_cross_entropy_is_one_hot((rows, cols) in (0usize..6, 1usize..6), seed: u64) {
        let x = random(seed, rows * cols);
        let mut rng = fastrand::Rng::with_seed(seed);
        let classes: Vec<i32> = (0..rows).map(|_| rng.i32(0..cols as i32)).collect();
        let one_hot: Vec<f64> = classes.iter().flat_map(|&k| (0..cols).map(move |c| f64::from(c as i32 == k))).collect();
        let mut dense = (vec![0.0; rows], vec![0.0; rows * cols]);
        let input = CrossEntropyInput { logits: &x, labels: &one_hot };
        CrossEntropy::new(rows, cols).unwrap().run(&Serial, input, (&mut dense.0, &mut dense.1)).unwrap();
        let mut sparse = (vec![0.0; rows], vec![0.0; rows * cols]);
        let input = CrossEntropyInput { logits: &x, labels: &classes };
        SparseCrossEntropy::new(rows, cols).unwrap().run(&Serial, input, (&mut sparse.0, &mut sparse.1)).unwrap();
        assert_close(&sparse.0, &dense.0, 1e-14);
        assert_close(&sparse.1, &dense.1, 1e-14);
    }

    #[test]
    fn batch_normalization((rows, cols) in (1usize..20, 1usize..6), seed: u64) {
        let x: Vec<f64> = random(seed, rows * cols).iter().map(|x| x + 100.0).collect();
        let (scale, offset, dy) = (random(seed ^ 1, cols), random(seed ^ 2, cols), random(seed ^ 3, rows * cols));
        let (mut y, mut mean, mut variance) = (vec![0.0; x.len()], vec![0.0; cols], vec![0.0; cols]);
        let out = BatchNormOutput { y: &mut y, mean: &mut mean, variance: &mut variance };
        let plan = BatchNormTraining::new(rows, cols, EPSILON, Activation::None).unwrap();
        plan.run(&Threads, &x, &scale, &offset, out).unwrap();
        let expected = moments(&x, cols);
        assert_close(&mean, &expected.0, 1e-12);
        assert_close(&variance, &expected.1, 1e-10);
        assert_close(&y, &naive_batch_norm(&x, &scale, &offset), 1e-8);

        let (mut dx, mut dscale, mut doffset) = (vec![0.0; x.len()], vec![0.0; cols], vec![0.0; cols]);
        let input = BatchNormBackwardInput { x: &x, dy: &dy, scale: &scale, mean: &mean, variance: &variance };
        let out = BatchNormGradients { dx: &mut dx, dscale: &mut dscale, doffset: &mut doffset };
        BatchNormBackward::new(rows, cols, EPSILON).unwrap().run(&Threads, input, out).unwrap();
        let loss = |x: &[f64], s: &[f64], o: &[f64]| inner(&naive_batch_norm(x, s, o), &dy);
        assert_close(&dx, &numeric_gradient(&x, |x| loss(x, &scale, &offset)), 1e-4);
        assert_close(&dscale, &numeric_gradient(&scale, |s| loss(&x, s, &offset)), 1e-6);
        assert_close(&doffset, &numeric_gradient(&offset, |o| loss(&x, &scale, o)), 1e-6);
    }
}

/// The gradients in single precision are what they are in double precision, rounded once.
#[test]
fn batch_normalization_gradients_are_rounded_once() {
    let (rows, cols) = (2000, 3);
    let x: Vec<f32> = random_f32(1, rows * cols).iter().map(|x| x + 30.0).collect();
    let (dy, scale) = (random_f32(2, rows * cols), random_f32(3, cols));
    let (mean, variance) = moments(&wide(&x), cols);
    let narrow = |x: Vec<f64>| x.into_iter().map(|x| x as f32).collect::<Vec<_>>();
    let (mean, variance) = (narrow(mean), narrow(variance));
    let (mut dx, mut dscale, mut doffset) = (vec![0.0; x.len()], vec![0.0; cols], vec![0.0; cols]);
    let input = BatchNormBackwardInput { x: &x, dy: &dy, scale: &scale, mean: &mean, variance: &variance };
    let out = BatchNormGradients { dx: &mut dx, dscale: &mut dscale, doffset: &mut doffset };
    BatchNormBackward::new(rows, cols, EPSILON).unwrap().run(&Threads, input, out).unwrap();
    let is_rounded =
        |found: f32, exact: f64| (f64::from(found) - exact).abs() <= 2f64.powi(-24) * exact.abs() + 1e-13;
    for c in 0..cols {
        let [mean, variance, scale] = [mean[c], variance[c], scale[c]].map(f64::from);
        let pairs = || {
            x[c..].iter().zip(&dy[c..]).step_by(cols).map(|(&x, &dy)| (f64::from(x) - mean, f64::from(dy)))
        };
        let (sum, product) = pairs().fold((0.0, 0.0), |(sum, product), (x, dy)| (sum + dy, product + dy * x));
        let inverse = 1.0 / (variance + EPSILON).sqrt();
        assert!(is_rounded(doffset[c], sum) && is_rounded(dscale[c], product * inverse), "{c}");
        let count = rows as f64;
        for (&found, (x, dy)) in dx[c..].iter().step_by(cols).zip(pairs()) {
            let exact = scale * inverse * ((dy - sum / count) - x * inverse * inverse * product / count);
            assert!(is_rounded(found, exact), "{found} for {exact}");
        }
    }
}

#[test]
fn large_logits_do_not_overflow() {
    let x = [1000.0f32, 999.0, -1000.0];
    let p = run(&Softmax::new(1, 3).unwrap(), &x[..], &[0.0; 3]);
    assert!((p[0] - 0.731_058_6).abs() < 1e-6 && p[2] == 0.0);
    let spoilt = run(&Softmax::new(2, 2).unwrap(), &[f32::NAN, 1.0, 0.0, 0.0][..], &[0.0; 4]);
    assert!(spoilt[0].is_nan() && spoilt[1].is_nan() && spoilt[2..] == [0.5, 0.5]);
    // A class of probability zero costs nothing, however impossible.
    let (mut loss, mut gradient) = ([0.0f32], [0.0; 3]);
    let input = CrossEntropyInput { logits: &[0.0, 0.0, f32::NEG_INFINITY], labels: &[0.5, 0.5, 0.0] };
    CrossEntropy::new(1, 3).unwrap().run(&Serial, input, (&mut loss, &mut gradient)).unwrap();
    assert!((loss[0] - std::f32::consts::LN_2).abs() < 1e-6);
}

#[test]
fn batch_normalization_folds() {
    let (multiplier, addend) = fold_batch_norm(&[2.0f32], &[1.0], &[3.0], &[4.0], 0.0).unwrap();
    assert_eq!((multiplier[0], addend[0]), (1.0, -2.0));
    let plan = ScaleShift::new(2, 1, Activation::Relu).unwrap();
    let residual = [0.0f32, 0.5];
    let input = ScaleShiftInput {
        x: &[1.0, 4.0],
        multiplier: &multiplier,
        addend: &addend,
        residual: Some(&residual),
    };
    assert_eq!(run(&plan, input, &[9.0; 2]), [0.0, 2.5]);
    assert!(fold_batch_norm(&[2.0f32], &[1.0, 2.0], &[3.0], &[4.0], 0.0).is_err());
}

#[test]
fn statistics_of_many_rows() {
    // Far from zero, where a plain difference of squares would lose everything.
    let (rows, cols) = (100_000, 3);
    let x: Vec<f32> = random(5, rows * cols).iter().map(|&x| (x + 1000.0) as f32).collect();
    let plan = BatchNormTraining::<f32>::new(rows, cols, EPSILON, Activation::None).unwrap();
    assert!(plan.statistics.block_count() > 2);
    let (mut y, mut mean, mut variance) = (vec![0.0; x.len()], [0.0; 3], [0.0; 3]);
    let out = BatchNormOutput { y: &mut y, mean: &mut mean, variance: &mut variance };
    plan.run(&Threads, &x, &[1.0; 3], &[0.0; 3], out).unwrap();
    let wide: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
    let expected = moments(&wide, cols);
    assert_close(&mean.map(f64::from), &expected.0, 1e-7);
    assert_close(&variance.map(f64::from), &expected.1, 1e-6);
}

#[test]
fn mistakes_are_errors() {
    let input = CrossEntropyInput { logits: &[0.0f32; 4], labels: &[1, 2] };
    let (mut losses, mut gradients) = ([0.0; 2], [0.0; 4]);
    let plan = SparseCrossEntropy::<f32, i32>::new(2, 2).unwrap();
    let bad = plan.run(&Serial, input, (&mut losses, &mut gradients));
    assert_eq!(bad, Err(ShapeError::Index { operand: "labels", position: 1, value: 2, bound: 2 }));
    assert!(plan.run(&Serial, input, (&mut losses[..1], &mut gradients)).is_err());
    assert!(CrossEntropy::<f32>::new(1, 0).is_err());
    assert!(Softmax::<f32>::new(1, 2).unwrap().run(&Serial, &[0.0; 3], &mut [0.0; 2]).is_err());
}
