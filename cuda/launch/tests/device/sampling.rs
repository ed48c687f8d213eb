//! Images at coordinates and in regions, where the results are known.

use tfrt_host::DType;
use tfrt_launch::{GridSampling, Regions, SampledPadding, SampledPlanes};

use super::{assert_close, device};

/// Two channels of three by four elements, the second ten times the first.
fn images() -> Vec<f32> {
    (0..12).map(|i| i as f32).chain((0..12).map(|i| 10.0 * i as f32)).collect()
}

#[test]
fn grids() {
    let d = device();
    let planes = SampledPlanes { batch: 1, channels: 2, input: [1, 3, 4], output: [1, 1, 4], rank: 2 };
    // The first element, the middle between the first two, the last, and one step to its right.
    let grid = [-1.0f64, -1.0, -2.0 / 3.0, -1.0, 1.0, 1.0, 5.0 / 3.0, 1.0];
    let (dx, at, dy) = (d.upload(&images()), d.upload(&grid), d.room::<f32>(8));
    let check = |taps, padding, expected: [f32; 4]| {
        let sampling = GridSampling { taps, padding, aligned: true };
        d.kernels.grid_sample(&d.stream, DType::F32, &dy, [&dx, &at], planes, sampling).unwrap();
        let both: Vec<f32> = expected.into_iter().chain(expected.map(|x| 10.0 * x)).collect();
        assert_close(&d.download(&dy, 8), &both, 1e-5);
    };
    check(2, SampledPadding::Zeros, [0.0, 0.5, 11.0, 0.0]);
    check(2, SampledPadding::Border, [0.0, 0.5, 11.0, 11.0]);
    check(2, SampledPadding::Reflection, [0.0, 0.5, 11.0, 10.0]);
    check(1, SampledPadding::Zeros, [0.0, 0.0, 11.0, 0.0]);
    // Between two elements of a line, cubic convolution weighs four by -0.09375 and 0.59375.
    check(4, SampledPadding::Border, [0.0, 0.59375 - 0.09375 * 2.0, 11.0, 11.0]);
    let wrong = GridSampling { taps: 3, padding: SampledPadding::Zeros, aligned: true };
    assert!(d.kernels.grid_sample(&d.stream, DType::F32, &dy, [&dx, &at], planes, wrong).is_err());
    let empty = SampledPlanes { input: [1, 0, 4], ..planes };
    let linear = GridSampling { taps: 2, ..wrong };
    assert!(d.kernels.grid_sample(&d.stream, DType::F32, &dy, [&dx, &at], empty, linear).is_err());
}

#[test]
fn regions() {
    let d = device();
    // The middle of an image, a region that is outside of it, and one of no image.
    let corners = [1.0f32, 1.0, 3.0, 2.0, 20.0, 20.0, 22.0, 22.0, 0.0, 0.0, 1.0, 1.0];
    let (dx, at, of) = (d.upload(&images()), d.upload(&corners), d.upload(&[0i64, 0, 3]));
    let regions = Regions {
        count: 3,
        batch: 1,
        channels: 2,
        input: [3, 4],
        output: [1, 2],
        scale: 1.0,
        ratio: 1,
        half: true,
        maxima: false,
    };
    let dy = d.room::<f32>(12);
    d.kernels.roi_align(&d.stream, DType::F32, &dy, [&dx, &at, &of], regions).unwrap();
    let mut expected = vec![5.0, 6.0, 50.0, 60.0];
    expected.resize(12, 0.0);
    assert_close(&d.download(&dy, 12), &expected, 1e-5);
    // Four samples of each result, of which the greatest part counts.
    let maxima = Regions { ratio: 2, maxima: true, ..regions };
    d.kernels.roi_align(&d.stream, DType::F32, &dy, [&dx, &at, &of], maxima).unwrap();
    let greatest = d.download::<f32>(&dy, 12);
    assert!(greatest[0] > 2.0 && greatest[1] > greatest[0] && greatest[4..].iter().all(|&x| x == 0.0));
    let empty = Regions { input: [0, 4], ..regions };
    assert!(d.kernels.roi_align(&d.stream, DType::F32, &dy, [&dx, &at, &of], empty).is_err());
}
