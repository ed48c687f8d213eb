//! Elementwise operations, reductions, permutation and padding against their definitions.

use crate::support::{Threads, assert_close, indices, position, random, random_f32, run, wide};
use proptest::prelude::*;
use tfrt_math::{
    Activation, ArgExtreme, BiasAdd, Binary, BlockOp, Max, Mean, Min, Pad, Prod, Reduce, Reduction, Serial,
    ShapeError, Sum, Transpose, Unary, axpy, broadcast_shapes, column_sums, ops,
};

/// A shape and, for two operands that broadcast to it, which axes each has at full extent.
fn broadcast_pair() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    prop::collection::vec((0usize..5, any::<(bool, bool)>()), 0..5).prop_flat_map(|axes| {
        let side = |left: bool| -> Vec<usize> {
            axes.iter().map(|&(extent, (a, b))| if if left { a } else { b } { extent } else { 1 }).collect()
        };
        let (a, b) = (side(true), side(false));
        // Leading axes of extent 1 may be left out.
        let trim = |shape: &[usize]| shape.iter().take_while(|&&extent| extent == 1).count();
        (0..=trim(&a), 0..=trim(&b)).prop_map(move |(i, j)| (a[i..].to_vec(), b[j..].to_vec()))
    })
}

/// A shape with a subset of its axes.
fn shape_and_axes() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    prop::collection::vec((0usize..7, any::<bool>()), 0..5).prop_map(|axes| {
        let chosen = axes.iter().enumerate().filter(|(_, axis)| axis.1).map(|(i, _)| i).rev().collect();
        (axes.iter().map(|axis| axis.0).collect(), chosen)
    })
}

fn reduce<R: Reduction<f64>>(shape: &[usize], axes: &[usize], x: &[f64]) -> Vec<f64> {
    let plan = Reduce::<f64, R>::new(shape, axes).unwrap();
    let blocks = run(&plan, x, &vec![7.0; plan.output_len()]);
    let mut staged = vec![8.0; plan.output_len()];
    plan.run(&Threads, x, &mut staged).unwrap();
    assert_eq!(format!("{blocks:?}"), format!("{staged:?}"), "the two ways of reducing differ");
    blocks
}

fn naive_reduce(
    shape: &[usize],
    axes: &[usize],
    x: &[f64],
    start: f64,
    f: impl Fn(f64, f64) -> f64,
) -> Vec<f64> {
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).collect();
    let kept_shape: Vec<usize> = kept.iter().map(|&axis| shape[axis]).collect();
    let mut out = vec![start; kept_shape.iter().product()];
    for (index, &x) in indices(shape).iter().zip(x) {
        let at: Vec<usize> = kept.iter().map(|&axis| index[axis]).collect();
        let o = &mut out[position(&kept_shape, &at)];
        *o = f(*o, x);
    }
    out
}

proptest! {
    #[test]
    fn broadcasting((left, right) in broadcast_pair(), seed: u64) {
        let (a, b) = (random(seed, left.iter().product()), random(seed ^ 1, right.iter().product()));
        let shape = broadcast_shapes(&left, &right).unwrap();
        let pick = |operand: &[usize], x: &[f64], index: &[usize]| {
            let index = &index[shape.len() - operand.len()..];
            let index: Vec<usize> = operand.iter().zip(index).map(|(&e, &i)| if e == 1 { 0 } else { i }).collect();
            x[position(operand, &index)]
        };
        let expected: Vec<f64> =
            indices(&shape).iter().map(|i| pick(&left, &a, i) - pick(&right, &b, i)).collect();
        let plan = Binary::new(ops::sub::<f64>, &left, &right).unwrap();
        prop_assert_eq!(plan.shape(), &shape[..]);
        prop_assert_eq!(run(&plan, (&a[..], &b[..]), &vec![0.0; expected.len()]), expected);
    }

    #[test]
    fn reductions((shape, axes) in shape_and_axes(), seed: u64) {
        let x = random(seed, shape.iter().product());
        let count: usize = axes.iter().map(|&axis| shape[axis]).product();
        let sums = naive_reduce(&shape, &axes, &x, 0.0, |a, b| a + b);
        assert_close(&reduce::<Sum>(&shape, &axes, &x), &sums, 1e-12);
        let means: Vec<f64> = sums.iter().map(|s| s / count as f64).collect();
        assert_close(&reduce::<Mean>(&shape, &axes, &x), &means, 1e-12);
        assert_close(&reduce::<Prod>(&shape, &axes, &x), &naive_reduce(&shape, &axes, &x, 1.0, |a, b| a * b), 1e-12);
        assert_close(&reduce::<Max>(&shape, &axes, &x), &naive_reduce(&shape, &axes, &x, f64::NEG_INFINITY, f64::max), 0.0);
        assert_close(&reduce::<Min>(&shape, &axes, &x), &naive_reduce(&shape, &axes, &x, f64::INFINITY, f64::min), 0.0);
    }

    #[test]
    fn permutations(shape in prop::collection::vec(0usize..20, 0..4), seed: u64) {
        let mut permutation: Vec<usize> = (0..shape.len()).collect();
        fastrand::Rng::with_seed(seed).shuffle(&mut permutation);
        let x = random(seed, shape.iter().product());
        let plan = Transpose::new(&shape, &permutation).unwrap();
        let expected: Vec<f64> = indices(plan.shape()).iter().map(|out| {
            let mut index = vec![0; shape.len()];
            permutation.iter().zip(out).for_each(|(&axis, &i)| index[axis] = i);
            x[position(&shape, &index)]
        }).collect();
        prop_assert_eq!(run(&plan, &x[..], &vec![7.0; x.len()]), expected);
    }

    #[test]
    fn padding(axes in prop::collection::vec((0usize..5, (0usize..3, 0usize..3)), 0..5), seed: u64) {
        let (shape, padding): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
        let x = random(seed, shape.iter().product());
        let plan = Pad::new(&shape, &padding, 9.0).unwrap();
        let expected: Vec<f64> = indices(plan.shape()).iter().map(|out| {
            let index: Option<Vec<usize>> = out.iter().zip(&shape).zip(&padding)
                .map(|((&o, &extent), pad)| o.checked_sub(pad.0).filter(|&i| i < extent)).collect();
            index.map_or(9.0, |index| x[position(&shape, &index)])
        }).collect();
        prop_assert_eq!(run(&plan, &x[..], &vec![7.0; expected.len()]), expected);
    }

    #[test]
    fn positions_of_extremes((outer, extent, inner) in (0usize..5, 1usize..6, 0usize..5), seed: u64) {
        // Few different values, so that there are ties.
        let x: Vec<i32> = random(seed, outer * extent * inner).iter().map(|x| (x * 3.0) as i32).collect();
        let plan = ArgExtreme::<i32, i64>::argmax(&[outer, extent, inner], 1).unwrap();
        let expected: Vec<i64> = (0..outer * inner).map(|i| {
            let value = |p: usize| x[(i / inner * extent + p) * inner + i % inner];
            let best = (0..extent).map(value).max().unwrap();
            (0..extent).position(|p| value(p) == best).unwrap() as i64
        }).collect();
        prop_assert_eq!(run(&plan, &x[..], &vec![-1; outer * inner]), expected);
    }

    #[test]
    fn bias((rows, cols) in (0usize..50, 0usize..50), relu: bool, seed: u64) {
        let (x, b) = (random(seed, rows * cols), random(seed ^ 1, cols));
        let expected: Vec<f64> = x.iter().enumerate().map(|(i, x)| {
            let y = x + b[i % cols];
            if relu { y.max(0.0) } else { y }
        }).collect();
        let plan = BiasAdd::new(rows, cols, if relu { Activation::Relu } else { Activation::None }).unwrap();
        prop_assert_eq!(run(&plan, (&x[..], &b[..]), &vec![7.0; x.len()]), expected);
    }
}

#[test]
fn large_tensors_are_cut_and_right() {
    let (rows, cols) = (3001, 301);
    let (x, b) = (random_f32(1, rows * cols), random_f32(2, cols));
    let sum = Binary::new(ops::add::<f32>, &[rows, cols], &[cols]).unwrap();
    assert!(sum.block_count() > 4);
    let expected: Vec<f32> = x.iter().enumerate().map(|(i, x)| x + b[i % cols]).collect();
    assert_eq!(run(&sum, (&x[..], &b[..]), &vec![0.0; x.len()]), expected);

    let transpose = Transpose::new(&[rows, cols], &[1, 0]).unwrap();
    let expected: Vec<f32> = (0..rows * cols).map(|i| x[i % rows * cols + i / rows]).collect();
    assert_eq!(run(&transpose, &x[..], &vec![0.0; x.len()]), expected);

    // Whole squares and parts of them, of elements that are exchanged in vectors and of others.
    for [batch, rows, cols] in [[1, 16, 16], [2, 17, 40], [3, 64, 33], [1, 200, 31], [2, 300, 100]] {
        let x = &x[..batch * rows * cols];
        let plan = Transpose::new(&[batch, rows, cols], &[0, 2, 1]).unwrap();
        let from = |i: usize| i / (rows * cols) * rows * cols + i % rows * cols + i / rows % cols;
        let expected: Vec<f32> = (0..x.len()).map(|i| x[from(i)]).collect();
        assert_eq!(run(&plan, x, &vec![0.0; x.len()]), expected, "{batch} {rows} {cols}");
        let plan = Transpose::new(plan.shape(), &[0, 2, 1]).unwrap();
        assert_eq!(run(&plan, &wide(&expected)[..], &vec![0.0; x.len()]), wide(x), "{batch} {rows} {cols}");
    }
    // Elements of four bytes, one of which is padding.
    let pairs: Vec<(u8, u16)> = (0..256).map(|i| (i as u8, 1000 - i)).collect();
    let turned = run(&Transpose::new(&[16, 16], &[1, 0]).unwrap(), &pairs[..], &vec![(0, 0); pairs.len()]);
    assert!(turned.iter().enumerate().all(|(i, pair)| *pair == pairs[i % 16 * 16 + i / 16]));
    let wide_rows = Transpose::<f32>::new(&[20_000, 96], &[1, 0]).unwrap();
    assert_eq!(wide_rows.block_count(), 6, "blocks of sixteen rows");

    // Rows of few elements, each from its own column.
    for columns in [2, 3, 4, 5, 8, 15] {
        let shape = [columns, 9001, 2];
        let x = &x[..shape.iter().product()];
        for (order, run_len) in [([1, 0, 2], 2), ([1, 2, 0], 1)] {
            let transpose = Transpose::new(&shape, &order).unwrap();
            let stride = 9001 * 2;
            let from =
                |i: usize| i / run_len % columns * stride + i / (run_len * columns) * run_len + i % run_len;
            let expected: Vec<f32> = (0..x.len()).map(|i| x[from(i)]).collect();
            assert_eq!(run(&transpose, x, &vec![0.0; x.len()]), expected, "{columns}");
        }
    }

    let columns = column_sums::<f32>(rows, cols).unwrap();
    assert!(columns.partials().is_some_and(|first| first.block_count() > 4));
    let mut out = vec![0.0; cols];
    columns.run(&Threads, &x, &mut out).unwrap();
    assert_close(&wide(&out), &naive_reduce(&[rows, cols], &[0], &wide(&x), 0.0, |a, b| a + b), 1e-6);
    assert_eq!(run(&columns, &x[..], &vec![0.0; cols]), out);
}

#[test]
fn means_are_accurate() {
    // In single precision alone, a running sum would stop growing at 2^24.
    let x = vec![1.0f32; 20_000_000];
    let mean = Reduce::<f32, Mean>::new(&[x.len()], &[0]).unwrap();
    let mut out = [0.0];
    mean.run(&Threads, &x, &mut out).unwrap();
    assert_eq!(out, [1.0]);
}

#[test]
fn nan_spoils_extremes_and_comparisons() {
    let x = [1.0, f32::NAN, 3.0];
    let greatest = Reduce::<f32, Max>::new(&[3], &[0]).unwrap();
    assert!(run(&greatest, &x[..], &[0.0])[0].is_nan());
    let equal = Binary::new(ops::equal::<f32>, &[3], &[3]).unwrap();
    assert_eq!(run(&equal, (&x[..], &x[..]), &[false; 3]), [true, false, true]);
    let differ = Binary::new(ops::not_equal::<f32>, &[3], &[]).unwrap();
    assert_eq!(run(&differ, (&x[..], &[3.0][..]), &[false; 3]), [true, true, false]);
}

#[test]
fn updates_in_place() {
    let step = axpy(-0.5f32, 3).unwrap();
    assert_eq!(run(&step, &[1.0, 2.0, -4.0][..], &[1.0, 1.0, 1.0]), [0.5, 0.0, 3.0]);
    let relu = Unary::new(ops::relu::<f32>, 3).unwrap();
    assert_eq!(run(&relu, &[-1.0, 0.5, -0.0][..], &[9.0; 3]), [0.0, 0.5, -0.0]);
}

#[test]
fn mistakes_are_errors() {
    let broadcast = ShapeError::Broadcast { left: vec![2], right: vec![3] };
    assert_eq!(Binary::new(ops::add::<f32>, &[2], &[3]).err(), Some(broadcast));
    assert_eq!(Reduce::<f32, Sum>::new(&[2, 3], &[1, 1]).unwrap_err(), ShapeError::Axis { axis: 1, rank: 2 });
    assert_eq!(Transpose::<f32>::new(&[2, 3], &[0, 2]).unwrap_err(), ShapeError::Axis { axis: 2, rank: 2 });
    assert!(Transpose::<f32>::new(&[2, 3], &[0]).is_err());
    assert!(Pad::new(&[2], &[], 0.0f32).is_err());
    let unary = Unary::new(ops::relu::<f32>, 3).unwrap();
    let short = ShapeError::Length { operand: "operand", expected: 3, actual: 2 };
    assert_eq!(unary.run(&Serial, &[0.0; 2], &mut [0.0; 3]), Err(short));
    assert!(unary.run(&Serial, &[0.0; 3], &mut [0.0; 2]).is_err());
}
