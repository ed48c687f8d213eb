//! Reductions.

use half::f16;
use tfrt_host::DType;
use tfrt_launch::{Reduction, ReductionShape};

use super::{Random, assert_close, device, widened};

fn shapes() -> Vec<ReductionShape> {
    let all = [
        (1, 1, 1),
        (4, 7, 1),
        (3, 1500, 1),
        (2, 5, 3),
        (1, 300, 40),
        (2, 33, 65),
        (3, 0, 2),
        (1, 40_000, 1),
        (1, 20_000, 5),
        (1, 17_001, 1),
    ];
    all.map(|(outer, extent, inner)| ReductionShape { outer, extent, inner }).into()
}

fn reduce(reduction: Reduction, x: &[f32], shape: ReductionShape) -> Vec<f32> {
    let [outer, extent, inner] = [shape.outer, shape.extent, shape.inner].map(|n| n as usize);
    let at = |o: usize, i: usize| (0..extent).map(move |k| f64::from(x[(o * extent + k) * inner + i]));
    let one = |j: usize| {
        let mut all = at(j / inner, j % inner);
        let result = match reduction {
            Reduction::Sum => all.sum::<f64>(),
            Reduction::Product => all.product::<f64>(),
            Reduction::Mean => all.sum::<f64>() / extent as f64,
            Reduction::Maximum => all.fold(f64::NEG_INFINITY, f64::max),
            Reduction::Minimum => all.by_ref().fold(f64::INFINITY, f64::min),
        };
        result as f32
    };
    (0..outer * inner).map(one).collect()
}

#[test]
fn reductions() {
    let (d, mut random) = (device(), Random::new(21));
    for shape in shapes() {
        let n = (shape.outer * shape.extent * shape.inner) as usize;
        let outputs = shape.outputs().unwrap() as usize;
        let (x, halves) = (random.f32s(n, -1.0, 1.0), random.halves(n, -1.0, 1.0));
        let (dx, dh) = (d.upload(&x), d.upload(&halves));
        let scratch = d.allocate(shape.scratch_bytes().unwrap() as usize);
        for &reduction in Reduction::ALL {
            let dy = d.room::<f32>(outputs);
            d.kernels.reduce(&d.stream, reduction, DType::F32, &dy, &dx, Some(&scratch), shape).unwrap();
            assert_close(&d.download::<f32>(&dy, outputs), &reduce(reduction, &x, shape), 2e-4);
            d.kernels.reduce(&d.stream, reduction, DType::F16, &dy, &dh, Some(&scratch), shape).unwrap();
            let expected: Vec<_> = reduce(reduction, &widened(&halves), shape);
            assert_close(&widened(&d.download::<f16>(&dy, outputs)), &expected, 2e-3);
        }
    }
}

#[test]
fn integers() {
    let (d, mut random) = (device(), Random::new(22));
    let shape = ReductionShape { outer: 2, extent: 100, inner: 3 };
    let x = random.i32s(600, i32::MIN..i32::MAX);
    let (dx, dy) = (d.upload(&x), d.room::<i32>(6));
    let check = |reduction, one: fn(&[i32]) -> i32| {
        d.kernels.reduce(&d.stream, reduction, DType::I32, &dy, &dx, None, shape).unwrap();
        let column = |j: usize| (0..100).map(|k| x[(j / 3 * 100 + k) * 3 + j % 3]).collect::<Vec<_>>();
        let expected: Vec<_> = (0..6).map(|j| one(&column(j))).collect();
        assert_eq!(d.download::<i32>(&dy, 6), expected, "{reduction:?}");
    };
    check(Reduction::Sum, |x| x.iter().fold(0, |sum, &x| sum.wrapping_add(x)));
    check(Reduction::Mean, |x| x.iter().fold(0i32, |sum, &x| sum.wrapping_add(x)) / 100);
    check(Reduction::Maximum, |x| x.iter().copied().max().unwrap());
    check(Reduction::Minimum, |x| x.iter().copied().min().unwrap());
}

#[test]
fn not_a_number_wins_extremes() {
    let d = device();
    let mut x = vec![1.0f32; 100];
    x[57] = f32::NAN;
    let shape = ReductionShape { outer: 1, extent: 100, inner: 1 };
    let (dx, dy) = (d.upload(&x), d.room::<f32>(1));
    for reduction in [Reduction::Maximum, Reduction::Minimum] {
        d.kernels.reduce(&d.stream, reduction, DType::F32, &dy, &dx, None, shape).unwrap();
        assert!(d.download::<f32>(&dy, 1)[0].is_nan());
    }
}

#[test]
fn equal_elements_are_counted() {
    let (d, mut random) = (device(), Random::new(23));
    let (a, b) = (random.i32s(5000, 0..4), random.i32s(5000, 0..4));
    let (da, db, dy) = (d.upload(&a), d.upload(&b), d.room::<u64>(1));
    d.kernels.count_equal(&d.stream, DType::I32, &dy, [&da, &db], 5000).unwrap();
    let expected = a.iter().zip(&b).filter(|(a, b)| a == b).count() as u64;
    assert_eq!(d.download::<u64>(&dy, 1), [expected]);
}
