//! What the tests share: a parallel runner that misorders blocks on purpose, random data,
//! comparison.

use std::ops::Range;

use tfrt_math::{BlockOp, ParallelFor, Serial};

/// Runs iterations on two threads, the last ones first.
pub(crate) struct Threads;

impl ParallelFor for Threads {
    fn parallel_for(&self, total: usize, _min_block: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
        std::thread::scope(|scope| {
            scope.spawn(|| (total / 2..total).rev().for_each(|i| body(i..i + 1)));
            (0..total / 2).rev().for_each(|i| body(i..i + 1));
        });
    }

    fn parallelism(&self) -> usize {
        2
    }
}

/// Runs a plan with one output both serially and in parallel, checks that the results are
/// identical, and returns one.
pub(crate) fn run<'i, T, P, I>(plan: &P, input: I, initial: &[T]) -> Vec<T>
where
    T: Copy + PartialEq + std::fmt::Debug,
    I: Copy,
    P: for<'a> BlockOp<Output<'a> = &'a mut [T]> + BlockOp<Input<'i> = I>,
{
    let (mut serial, mut parallel) = (initial.to_vec(), initial.to_vec());
    plan.run(&Serial, input, &mut serial).expect("the plan runs");
    plan.run(&Threads, input, &mut parallel).expect("the plan runs in parallel");
    // Through text, so that NaN equals itself.
    assert_eq!(format!("{serial:?}"), format!("{parallel:?}"), "the result depends on the order of blocks");
    serial
}

/// `n` numbers in -1..1, the same for the same seed.
pub(crate) fn random(seed: u64, n: usize) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..n).map(|_| rng.f64() * 2.0 - 1.0).collect()
}

/// The same in single precision.
pub(crate) fn random_f32(seed: u64, n: usize) -> Vec<f32> {
    random(seed, n).into_iter().map(|x| x as f32).collect()
}

/// Checks that numbers agree to within `tolerance`, relative above 1 and absolute below, NaN
/// agreeing with NaN and infinity with itself alone.
#[track_caller]
pub(crate) fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len());
    for (i, (&a, &e)) in actual.iter().zip(expected).enumerate() {
        let close = (a - e).abs() < tolerance * e.abs().max(1.0) || a == e || (a.is_nan() && e.is_nan());
        assert!(close, "element {i}: {a} instead of {e}");
    }
}

/// Widens to `f64`.
pub(crate) fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| f64::from(x)).collect()
}

/// The gradient of a scalar function at `x` by central differences.
pub(crate) fn numeric_gradient(x: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    const STEP: f64 = 1e-5;
    let mut x = x.to_vec();
    (0..x.len())
        .map(|i| {
            let old = x[i];
            x[i] = old + STEP;
            let above = f(&x);
            x[i] = old - STEP;
            let below = f(&x);
            x[i] = old;
            (above - below) / (2.0 * STEP)
        })
        .collect()
}

/// The inner product of two tensors: a scalar whose gradient with respect to `a` is `b`.
pub(crate) fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The index of every element of a shape, in row-major order.
pub(crate) fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let count = shape.iter().product();
    (0..count)
        .map(|mut position: usize| {
            let mut index = vec![0; shape.len()];
            for axis in (0..shape.len()).rev() {
                index[axis] = position % shape[axis];
                position /= shape[axis];
            }
            index
        })
        .collect()
}

/// The row-major position of an index.
pub(crate) fn position(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |p, (&extent, &i)| p * extent + i)
}
