//! Complex numbers, against what undoes a function, and against sums and products of their parts.

use tfrt_host::DType;
use tfrt_launch::{Binary, Broadcast, Products, ReductionShape, Scan, Unary};
use tfrt_tensor::Complex;

use super::{Device, Random, device};

type C = Complex<f64>;
const DTYPE: DType = DType::Complex128;

/// What a function makes of two numbers.
type Reference = fn(C, C) -> C;

fn parts(x: &[C]) -> Vec<[f64; 2]> {
    x.iter().map(|x| [x.re, x.im]).collect()
}

fn numbers(random: &mut Random, count: usize) -> Vec<C> {
    let [re, im] = [(); 2].map(|()| random.f32s(count, -1.5, 1.5));
    re.into_iter().zip(im).map(|(re, im)| C::new(re.into(), im.into())).collect()
}

fn apply(d: &Device, function: Unary, x: &[C]) -> Vec<C> {
    let (n, dx) = (x.len(), d.upload(&parts(x)));
    d.kernels.unary(&d.stream, function, DTYPE, &dx, &dx, n as u64).unwrap();
    d.download::<[f64; 2]>(&dx, n).into_iter().map(|[re, im]| C::new(re, im)).collect()
}

fn assert_near(found: &[C], expected: &[C], what: &str) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let distance = (found - expected).norm();
        assert!(distance <= 1e-13 * expected.norm().max(1.0), "{what}: {found} instead of {expected}");
    }
}

#[test]
fn functions_of_complex_numbers() {
    let (d, mut random) = (device(), Random::new(91));
    let x = numbers(&mut random, 300);
    for (first, second) in [
        (Unary::Sqrt, Unary::Square),
        (Unary::Log, Unary::Exp),
        (Unary::Log1p, Unary::Expm1),
        (Unary::Reciprocal, Unary::Reciprocal),
        (Unary::Asin, Unary::Sin),
        (Unary::Acos, Unary::Cos),
        (Unary::Atan, Unary::Tan),
        (Unary::Asinh, Unary::Sinh),
        (Unary::Acosh, Unary::Cosh),
        (Unary::Atanh, Unary::Tanh),
        (Unary::Neg, Unary::Neg),
    ] {
        assert_near(&apply(d, second, &apply(d, first, &x)), &x, &format!("{first:?}"));
    }
    let expected = |f: fn(C) -> C| x.iter().map(|&x| f(x)).collect::<Vec<_>>();
    assert_near(&apply(d, Unary::Sign, &x), &expected(|x| x / x.norm()), "sign");
    assert_near(&apply(d, Unary::Rsqrt, &x), &expected(|x| 1.0 / x.sqrt()), "rsqrt");
    assert_near(&apply(d, Unary::Sigmoid, &x), &expected(|x| 1.0 / (1.0 + (-x).exp())), "sigmoid");
    let (n, dx) = (x.len(), d.upload(&parts(&x)));
    d.kernels.conjugate(&d.stream, &dx, &dx, n as u64).unwrap();
    assert_eq!(d.download::<[f64; 2]>(&dx, n), parts(&expected(|x| x.conj())));
    assert!(d.kernels.unary(&d.stream, Unary::Floor, DTYPE, &dx, &dx, n as u64).is_err());
}

#[test]
fn pairs_of_complex_numbers() {
    let (d, mut random) = (device(), Random::new(92));
    let (a, b) = (numbers(&mut random, 12), numbers(&mut random, 4));
    let shape = Broadcast::new(&[3, 4], &[4]).unwrap();
    let (da, db, dy) = (d.upload(&parts(&a)), d.upload(&parts(&b)), d.room::<[f64; 2]>(12));
    let references: [(Binary, Reference); 9] = [
        (Binary::Add, |a, b| a + b),
        (Binary::Sub, |a, b| a - b),
        (Binary::Mul, |a, b| a * b),
        (Binary::Div, |a, b| a / b),
        (Binary::TruncateDiv, |a, b| a / b),
        (Binary::DivNoNan, |a, b| a / b),
        (Binary::MulNoNan, |a, b| a * b),
        (Binary::SquaredDifference, |a, b| (a - b) * (a - b).conj()),
        (Binary::Pow, |a, b| (b * a.ln()).exp()),
    ];
    for (function, reference) in references {
        d.kernels.binary(&d.stream, function, DTYPE, &dy, &da, &db, &shape).unwrap();
        let found: Vec<_> =
            d.download::<[f64; 2]>(&dy, 12).into_iter().map(|[re, im]| C::new(re, im)).collect();
        let expected: Vec<_> = a.iter().zip(b.iter().cycle()).map(|(&a, &b)| reference(a, b)).collect();
        assert_near(&found, &expected, &format!("{function:?}"));
    }
    assert!(d.kernels.binary(&d.stream, Binary::Maximum, DTYPE, &dy, &da, &db, &shape).is_err());
}

#[test]
fn sums_and_products_of_complex_numbers() {
    // Of whole numbers nothing is rounded.
    let (d, mut random) = (device(), Random::new(93));
    let mut whole = |count| {
        let parts = random.i32s(2 * count, -3..4);
        parts.chunks(2).map(|x| C::new(x[0].into(), x[1].into())).collect::<Vec<_>>()
    };
    let (x, [outer, extent, inner]) = (whole(2 * 5 * 3), [2, 5, 3usize]);
    let (dx, dy) = (d.upload(&parts(&x)), d.room::<[f64; 2]>(x.len()));
    for flags in 0..8 {
        let scan = Scan { multiplies: flags & 1 != 0, exclusive: flags & 2 != 0, reverse: flags & 4 != 0 };
        let mut expected = x.clone();
        for line in 0..outer * inner {
            let place = |i| {
                let i = if scan.reverse { extent - 1 - i } else { i };
                (line / inner * extent + i) * inner + line % inner
            };
            let mut running = C::new(f64::from(u8::from(scan.multiplies)), 0.0);
            for i in 0..extent {
                let before = running;
                running = if scan.multiplies { running * x[place(i)] } else { running + x[place(i)] };
                expected[place(i)] = if scan.exclusive { before } else { running };
            }
        }
        let shape = ReductionShape::new(&[outer, extent, inner].map(|extent| extent as u64), 1..2).unwrap();
        d.kernels.scan(&d.stream, scan, DTYPE, &dy, &dx, shape).unwrap();
        assert_eq!(d.download::<[f64; 2]>(&dy, x.len()), parts(&expected), "{scan:?}");
    }

    let (rows, terms, columns) = (3, 4, 2);
    let (a, b) = (whole(rows * terms), whole(terms * columns));
    let entry =
        |i: usize| (0..terms).map(|k| a[i / columns * terms + k] * b[k * columns + i % columns]).sum();
    let expected: Vec<C> = (0..rows * columns).map(entry).collect();
    let products = Products {
        batch: 1,
        rows: rows as u64,
        inner: terms as u64,
        columns: columns as u64,
        transposed: [false; 2],
        single: [true; 2],
    };
    let (da, db) = (d.upload(&parts(&a)), d.upload(&parts(&b)));
    d.kernels.products(&d.stream, DTYPE, &dy, [&da, &db], products).unwrap();
    assert_eq!(d.download::<[f64; 2]>(&dy, expected.len()), parts(&expected));
}
