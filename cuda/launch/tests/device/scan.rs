//! Running sums and products, the greatest elements of lines, and steps of optimizers with numbers
//! on the device.

use tfrt_host::DType;
use tfrt_launch::{AdamBuffers, AdamNumbers, Line, LineOrder, ReductionShape, Scan};

use super::{Random, assert_close, device};

#[test]
fn running_results() {
    let (d, mut random) = (device(), Random::new(61));
    let shape = ReductionShape { outer: 3, extent: 9, inner: 5 };
    let x = random.i32s(135, -5..6);
    let (dx, dy) = (d.upload(&x), d.room::<i32>(135));
    for (multiplies, exclusive, reverse) in
        [(false, false, false), (false, true, false), (false, false, true), (true, true, true)]
    {
        let scan = Scan { multiplies, exclusive, reverse };
        d.kernels.scan(&d.stream, scan, DType::I32, &dy, &dx, shape).unwrap();
        let mut expected = vec![0; 135];
        for line in 0..15 {
            let mut running = i32::from(multiplies);
            for k in 0..9 {
                let at = line / 5 * 45 + if reverse { 8 - k } else { k } * 5 + line % 5;
                let next = if multiplies { running.wrapping_mul(x[at]) } else { running + x[at] };
                expected[at] = if exclusive { running } else { next };
                running = next;
            }
        }
        assert_eq!(d.download::<i32>(&dy, 135), expected, "{scan:?}");
    }
}

#[test]
fn the_greatest_and_the_least() {
    let (d, mut random) = (device(), Random::new(62));
    for (outer, extent, inner, count) in [(3, 7, 1, 7), (2, 100, 3, 5), (1, 1, 1, 1), (4, 70, 1, 0)] {
        let mut x = random.f32s(outer * extent * inner, -4.0, 4.0);
        x.iter_mut().for_each(|x| *x = x.round());
        if extent > 3 {
            x[2] = f32::NAN;
        }
        let shape = ReductionShape { outer: outer as u64, extent: extent as u64, inner: inner as u64 };
        let n = outer * count * inner;
        let (dx, values, positions) = (d.upload(&x), d.room::<f32>(n), d.room::<i32>(n));
        for order in [LineOrder::Greatest, LineOrder::Least, LineOrder::GreatestNanFirst] {
            let (line, least) = (Line { count: count as u64, order }, order == LineOrder::Least);
            let is_nan_first = order == LineOrder::GreatestNanFirst;
            d.kernels.top(&d.stream, line, DType::F32, Some(&values), &positions, &dx, shape).unwrap();
            let (mut places, mut elements) = (vec![0; n], vec![0.0; n]);
            for row in 0..outer * inner {
                let (o, i) = (row / inner, row % inner);
                let at = |k: usize| x[(o * extent + k) * inner + i];
                let mut sorted: Vec<usize> = (0..extent).collect();
                sorted.sort_by(|&a, &b| {
                    let (a, b) = if least { (at(b), at(a)) } else { (at(a), at(b)) };
                    let nans = a.is_nan().cmp(&b.is_nan());
                    let nans = if least || is_nan_first { nans.reverse() } else { nans };
                    nans.then(b.partial_cmp(&a).unwrap_or(std::cmp::Ordering::Equal))
                });
                for (j, &k) in sorted.iter().take(count).enumerate() {
                    let to = (o * count + j) * inner + i;
                    (places[to], elements[to]) = (k as i32, at(k));
                }
            }
            assert_eq!(d.download::<i32>(&positions, n), places, "{order:?} {shape:?}");
            assert_close(&d.download::<f32>(&values, n), &elements, 0.0);
        }
    }
    let (x, y) = (d.room::<f32>(2), d.room::<i32>(3));
    let shape = ReductionShape { outer: 1, extent: 2, inner: 1 };
    let line = Line { count: 3, order: LineOrder::Greatest };
    assert!(d.kernels.top(&d.stream, line, DType::F32, None, &y, &x, shape).is_err());
}

#[test]
fn nobody_counts_lines_without_elements() {
    let d = device();
    let (x, y) = (d.room::<f32>(0), d.room::<i32>(0));
    let shape = ReductionShape { outer: 1 << 40, extent: 0, inner: 6 };
    let scan = Scan { multiplies: true, exclusive: false, reverse: false };
    d.kernels.scan(&d.stream, scan, DType::F32, &x, &x, shape).unwrap();
    let line = Line { count: 0, order: LineOrder::Greatest };
    d.kernels.top(&d.stream, line, DType::F32, Some(&x), &y, &x, shape).unwrap();
    assert!(d.download::<f32>(&x, 0).is_empty());
}

#[test]
fn steps_of_optimizers() {
    let (d, mut random) = (device(), Random::new(63));
    let n = 259;
    let number = |x: f32| d.upload(&[x]);
    let [w, m, g] = [0; 3].map(|_| random.f32s(n, -1.0, 1.0));
    let v = random.f32s(n, 0.1, 1.0);
    let [dw, dm, dv, dg] = [&w, &m, &v, &g].map(|x| d.upload(x));
    let zip = |f: &dyn Fn(usize) -> f32| (0..n).map(f).collect::<Vec<_>>();

    d.kernels.apply_gradient_descent(&d.stream, DType::F32, &dw, [&dg, &number(0.5)], n as u64).unwrap();
    let w = zip(&|i| w[i] - 0.5 * g[i]);
    assert_close(&d.download::<f32>(&dw, n), &w, 1e-6);

    let numbers = [&dg, &number(0.1), &number(0.9)];
    d.kernels.apply_momentum(&d.stream, DType::F32, [&dw, &dm], numbers, n as u64, true).unwrap();
    let m = zip(&|i| 0.9 * m[i] + g[i]);
    let w = zip(&|i| w[i] - 0.1 * (g[i] + 0.9 * m[i]));
    assert_close(&d.download::<f32>(&dm, n), &m, 1e-6);
    assert_close(&d.download::<f32>(&dw, n), &w, 1e-6);

    let [power1, power2, rate, beta1, beta2, epsilon] =
        [0.9f32 * 0.9, 0.99 * 0.99, 0.01, 0.9, 0.99, 1e-6].map(number);
    let numbers = AdamNumbers {
        power1: &power1,
        power2: &power2,
        rate: &rate,
        beta1: &beta1,
        beta2: &beta2,
        epsilon: &epsilon,
    };
    let changed = AdamBuffers { weights: &dw, means: &dm, squares: &dv };
    d.kernels.apply_adam(&d.stream, DType::F32, changed, &dg, numbers, n as u64, false).unwrap();
    let m = zip(&|i| m[i] + (g[i] - m[i]) * (1.0 - 0.9));
    let v = zip(&|i| v[i] + (g[i] * g[i] - v[i]) * (1.0 - 0.99));
    let alpha = 0.01 * (1.0f32 - 0.99 * 0.99).sqrt() / (1.0 - 0.9 * 0.9);
    let w = zip(&|i| w[i] - alpha * m[i] / (v[i].sqrt() + 1e-6));
    assert_close(&d.download::<f32>(&dw, n), &w, 1e-5);
}
