//! Weighted sums along one axis.

use tfrt_host::DType;
use tfrt_launch::Weighted;

use super::{Random, assert_close, device};

#[test]
fn sums_are_weighted() {
    let (d, mut random) = (device(), Random::new(81));
    let shape = Weighted { outer: 3, extent: 5, inner: 7, count: 4, taps: 3, outside: 9.5 };
    let x = random.f32s(3 * 5 * 7, -2.0, 2.0);
    // The second sum ends early, the third has no terms, and the last ends at what is no index.
    let index = [0i64, 4, 2, 3, -1, 0, -1, 0, 0, 1, 5, 2];
    let weight = random.f32s(12, -1.0, 1.0);
    let counts = [3usize, 1, 0, 1];
    let mut expected = Vec::new();
    for (o, j, i) in (0..3).flat_map(|o| (0..4).flat_map(move |j| (0..7).map(move |i| (o, j, i)))) {
        let term = |t: usize| weight[j * 3 + t] * x[(o * 5 + index[j * 3 + t] as usize) * 7 + i];
        expected.push(if counts[j] == 0 { 9.5 } else { (0..counts[j]).map(term).sum() });
    }
    let (at, dy) = (d.upload(&index), d.room::<f32>(expected.len()));
    let tables = [&at, &d.upload(&weight)];
    d.kernels.weighted(&d.stream, DType::F32, &dy, &d.upload(&x), tables, shape).unwrap();
    assert_close(&d.download(&dy, expected.len()), &expected, 0.0);
    let wide = |x: &[f32]| d.upload(&x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
    let (dy, tables) = (d.room::<f64>(expected.len()), [&at, &wide(&weight)]);
    d.kernels.weighted(&d.stream, DType::F64, &dy, &wide(&x), tables, shape).unwrap();
    let found: Vec<f32> = d.download::<f64>(&dy, expected.len()).iter().map(|&y| y as f32).collect();
    assert_close(&found, &expected, 1e-6);
    assert!(d.kernels.weighted(&d.stream, DType::F16, &dy, &dy, tables, shape).is_err());
}
