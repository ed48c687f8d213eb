//! Matrix products against the definition.

use crate::support::{Threads, assert_close, random, random_f32, run, wide};
use half::bf16;
use proptest::prelude::*;
use tfrt_math::{Activation, BlockOp, Layout, MatMul, MatMulInput, Serial, ShapeError, small_matmul};

/// The product of dense row-major matrices.
fn naive(m: usize, k: usize, n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let element = |i: usize, j: usize| (0..k).map(|p| a[i * k + p] * b[p * n + j]).sum();
    (0..m).flat_map(|i| (0..n).map(move |j| element(i, j))).collect()
}

fn transposed(rows: usize, cols: usize, x: &[f64]) -> Vec<f64> {
    (0..cols).flat_map(|c| (0..rows).map(move |r| x[r * cols + c])).collect()
}

proptest! {
    #[test]
    fn products_with_all_trimmings(
        (m, k, n) in (0usize..40, 0usize..40, 0usize..90),
        (ta, tb) in any::<(bool, bool)>(),
        (alpha, beta) in (prop_oneof![Just(1.0), Just(0.0), Just(-0.5)], prop_oneof![Just(0.0), Just(1.0), Just(2.0)]),
        (bias, residual, relu) in any::<(bool, bool, bool)>(),
        seed: u64,
    ) {
        let (a, b, c) = (random(seed, m * k), random(seed ^ 1, k * n), random(seed ^ 2, m * n));
        let (v, r) = (random(seed ^ 3, n), random(seed ^ 4, m * n));
        let expected: Vec<f64> = naive(m, k, n, &a, &b).iter().enumerate().map(|(i, &p)| {
            let mut y = alpha * p + beta * c[i];
            if bias { y += v[i % n]; }
            if residual { y += r[i]; }
            if relu { y.max(0.0) } else { y }
        }).collect();
        let (at, bt) = (transposed(m, k, &a), transposed(k, n, &b));
        let layout = |t: bool, rows, cols| if t { Layout::transposed(rows, cols) } else { Layout::row_major(rows, cols) };
        let plan = MatMul::<f64>::new(m, k, n, 4).unwrap()
            .scaled(alpha, beta)
            .activated(if relu { Activation::Relu } else { Activation::None })
            .operands(layout(ta, m, k), layout(tb, k, n)).unwrap();
        let input = MatMulInput {
            a: if ta { &at } else { &a },
            b: if tb { &bt } else { &b },
            bias: bias.then_some(&v),
            residual: residual.then_some(&r),
        };
        assert_close(&run(&plan, input, &c), &expected, 1e-12);
    }

    #[test]
    fn batches_with_gaps(batch in 0usize..4, (m, k, n) in (1usize..9, 1usize..9, 1usize..9), gap in 0usize..5, seed: u64) {
        let (row, matrix) = (n + gap, m * (n + gap) + gap);
        let (a, b) = (random(seed, batch * m * k), random(seed ^ 1, k * n));
        let mut out = vec![7.0; batch * matrix];
        let plan = MatMul::<f64>::new(m, k, n, 2).unwrap()
            .batched(batch).unwrap()
            .operands(Layout::row_major(m, k), Layout { batch_stride: 0, ..Layout::row_major(k, n) }).unwrap()
            .output(row, matrix).unwrap();
        plan.run(&Threads, MatMulInput::new(&a, &b), &mut out).unwrap();
        for i in 0..batch {
            let expected = naive(m, k, n, &a[i * m * k..][..m * k], &b);
            for r in 0..m {
                assert_close(&out[i * matrix + r * row..][..n], &expected[r * n..][..n], 1e-12);
                assert!(out[i * matrix + r * row + n..][..gap].iter().all(|&x| x == 7.0), "the gap was written");
            }
        }
    }
}

#[test]
fn small_products_are_those_of_a_plan() {
    let special = |mut x: Vec<f32>| {
        x.iter_mut().step_by(3).for_each(|x| *x = -0.0);
        x.iter_mut().skip(4).step_by(11).for_each(|x| *x = f32::INFINITY);
        x
    };
    let mut small = 0;
    for (m, k, n) in (0..7).flat_map(|m| (0..18).flat_map(move |k| (0..10).map(move |n| (m, k, n)))) {
        let (a, b) = (special(random_f32(1, m * k)), special(random_f32(2, k * n)));
        for layouts in 0..4 {
            let layout = |transposed, rows, cols| match transposed {
                true => Layout::transposed(rows, cols),
                false => Layout::row_major(rows, cols),
            };
            let (of_a, of_b) = (layout(layouts & 1 == 1, m, k), layout(layouts & 2 == 2, k, n));
            let plan = MatMul::<f32>::new(m, k, n, 2).unwrap().operands(of_a, of_b).unwrap();
            let expected = run(&plan, MatMulInput::new(&a, &b), &vec![7.0; m * n]);
            let mut found = vec![7.0; m * n];
            if !small_matmul([m, k, n], (&a, of_a), (&b, of_b), &mut found) {
                assert!(found.iter().all(|&x| x == 7.0));
                continue;
            }
            small += 1;
            let same = |(x, y): (&f32, &f32)| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
            let all_same = found.iter().zip(&expected).all(same);
            assert!(all_same, "{m} {k} {n} {layouts}: {found:?} instead of {expected:?}");
        }
    }
    assert!(small > 1000, "only {small} products were small");
    // What does not fit its layout, or is summed in another type, is left to a plan.
    let (whole, mut out) = (Layout::row_major(2, 2), [0.0f32; 4]);
    assert!(!small_matmul([2, 2, 2], (&[1.0; 3], whole), (&[1.0; 4], whole), &mut out));
    assert!(!small_matmul([2, 2, 2], (&[1.0; 4], whole), (&[1.0; 4], whole), &mut out[..3]));
    let huge = Layout { row_stride: usize::MAX, ..whole };
    assert!(!small_matmul([2, 2, 2], (&[1.0; 4], huge), (&[1.0; 4], whole), &mut out));
    assert!(!small_matmul([1, 1, 1], (&[bf16::ONE], whole), (&[bf16::ONE], whole), &mut [bf16::ONE]));
}

#[test]
fn the_cut_does_not_change_a_bit() {
    for (m, k, n) in [(3, 700, 2000), (130, 600, 700), (2000, 300, 10)] {
        let (a, b) = (random_f32(1, m * k), random_f32(2, k * n));
        let results: Vec<_> = [1, 2, 7, 64]
            .map(|workers| {
                let plan = MatMul::<f32>::new(m, k, n, workers).unwrap();
                assert!(workers == 1 || plan.block_count() > 1, "{m} {k} {n} is not cut for {workers}");
                let mut out = vec![0.0; m * n];
                plan.run(&Threads, MatMulInput::new(&a, &b), &mut out).unwrap();
                out
            })
            .into();
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
        assert_close(&wide(&results[0]), &naive(m, k, n, &wide(&a), &wide(&b)), 1e-4);
    }
}

#[test]
fn narrow_types() {
    let (m, k, n) = (9, 33, 17);
    let (a, b) = (random_f32(1, m * k), random_f32(2, k * n));
    let half = |x: &[f32]| -> Vec<bf16> { x.iter().map(|&x| bf16::from_f32(x)).collect() };
    let back = |x: &[bf16]| -> Vec<f64> { x.iter().map(|x| x.to_f64()).collect() };
    let (a, b) = (half(&a), half(&b));
    let out = run(&MatMul::new(m, k, n, 2).unwrap(), MatMulInput::new(&a, &b), &vec![bf16::NAN; m * n]);
    assert_close(&back(&out), &naive(m, k, n, &back(&a), &back(&b)), 0.01);
    let ints = run(&MatMul::<i8>::new(1, 2, 1, 1).unwrap(), MatMulInput::new(&[100, 2], &[2, 3]), &[0]);
    assert_eq!(ints, [-50]);
}

#[test]
fn mistakes_are_errors() {
    let plan = MatMul::<f32>::new(2, 3, 4, 1).unwrap();
    let (a, b) = ([0.0; 6], [0.0; 12]);
    let mut out = [0.0; 8];
    let short = plan.run(&Serial, MatMulInput::new(&a[..5], &b), &mut out);
    assert_eq!(short, Err(ShapeError::Length { operand: "left matrix", expected: 6, actual: 5 }));
    assert!(plan.run(&Serial, MatMulInput::new(&a, &b), &mut out[..7]).is_err());
    let bias = MatMulInput { bias: Some(&a[..3]), ..MatMulInput::new(&a, &b) };
    assert!(plan.run(&Serial, bias, &mut out).is_err());
    assert!(MatMul::<f32>::new(usize::MAX, 3, 4, 1).is_err());
    assert!(plan.clone().output(3, 8).unwrap().run(&Serial, MatMulInput::new(&a, &b), &mut out).is_err());
    assert!(plan.split(&mut out).unwrap().pop().is_some_and(|tile| {
        plan.run_block(1, MatMulInput::new(&a, &b), tile) == Err(ShapeError::Block { block: 1, count: 1 })
    }));
}
