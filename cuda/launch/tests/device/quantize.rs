//! Quantization, against plain arithmetic.

use tfrt_host::DType;
use tfrt_launch::{ScaleBlocks, Scales};

use super::{Random, assert_close, device};

#[test]
fn numbers_become_integers_and_numbers_again() {
    let (d, mut random) = (device(), Random::new(95));
    let (outer, extent, inner) = (3usize, 5usize, 4usize);
    let n = outer * extent * inner;
    let mut x = random.f32s(n, -90.0, 90.0);
    (x[0], x[1], x[2]) = (f32::NAN, f32::INFINITY, 1.25);
    let scale = [0.5f32, 2.0, 0.25];
    let zero = [3i8, 0, -7];
    // Two neighbours share a scale; once for all places beside them, and once for each.
    for is_blocked in [false, true] {
        let count = if is_blocked { outer * 3 * inner } else { 3 };
        let (scale, zero): (Vec<f32>, Vec<i8>) = (0..count).map(|i| (scale[i % 3], zero[i % 3])).unzip();
        let of = |i: usize| {
            let place = i / inner % extent / 2;
            if is_blocked { (i / (inner * extent) * 3 + place) * inner + i % inner } else { place }
        };
        let (scales, zeros) = (d.upload(&scale), d.upload(&zero));
        let blocks = ScaleBlocks {
            inner: inner as u64,
            extent: extent as u64,
            block: 2,
            count: 3,
            outer: is_blocked.then_some(outer as u64),
        };
        let given = Scales { scale: &scales, zero: Some(&zeros), blocks };
        let (dx, dy) = (d.upload(&x), d.room::<i8>(n));
        d.kernels.quantize(&d.stream, (DType::I8, &dy), (DType::F32, &dx), given, n as u64).unwrap();
        let integer = |i: usize| {
            let number = (x[i] / scale[of(i)]).round_ties_even() + f32::from(zero[of(i)]);
            if number.is_nan() { 0 } else { number.clamp(-128.0, 127.0) as i8 }
        };
        let expected: Vec<i8> = (0..n).map(integer).collect();
        assert_eq!(d.download::<i8>(&dy, n), expected);
        let back = d.room::<f32>(n);
        d.kernels.dequantize(&d.stream, (DType::F32, &back), (DType::I8, &dy), given, n as u64).unwrap();
        let number = |i: usize| (i32::from(expected[i]) - i32::from(zero[of(i)])) as f32 * scale[of(i)];
        assert_close(&d.download(&back, n), &(0..n).map(number).collect::<Vec<_>>(), 0.0);
    }
}

#[test]
fn integers_of_32_bits_keep_all_of_them() {
    let d = device();
    let blocks = ScaleBlocks { inner: 1, extent: 1, block: 1, count: 1, outer: None };
    let (scale, zero) = (d.upload(&[0.5f32]), d.upload(&[-7i32]));
    let scales = Scales { scale: &scale, zero: Some(&zero), blocks };
    let (x, y) = ([i32::MAX, i32::MIN, 16_777_217], d.room::<f32>(3));
    d.kernels.dequantize(&d.stream, (DType::F32, &y), (DType::I32, &d.upload(&x)), scales, 3).unwrap();
    let expected = x.map(|x| ((f64::from(x) + 7.0) * 0.5) as f32);
    assert_close(&d.download(&y, 3), &expected, 0.0);
    let wrong = d.kernels.quantize(&d.stream, (DType::I32, &y), (DType::F32, &y), scales, 3);
    assert!(wrong.is_err_and(|error| error.detail.contains("i32")));
}
