//! Windows over planes of three dimensions, against loops over all places.

use tfrt_host::DType;
use tfrt_launch::{VolumeAxis, VolumeWindow};

use super::{Random, assert_close, device};

/// A window with padding, dilation and cropping, and the number of planes.
const PLANES: u64 = 3;
const WINDOW: VolumeWindow = VolumeWindow {
    axes: [
        VolumeAxis { input: 3, output: 3, kernel: 2, stride: 1, dilation: 1, padding: [1, 0] },
        VolumeAxis { input: 5, output: 2, kernel: 3, stride: 2, dilation: 1, padding: [-1, 1] },
        VolumeAxis { input: 6, output: 4, kernel: 2, stride: 2, dilation: 3, padding: [2, 2] },
    ],
};

/// Each place of a box of extents.
fn places(extent: impl Fn(usize) -> u64) -> Vec<[usize; 3]> {
    let [a, b, c] = [0, 1, 2].map(|axis| extent(axis) as usize);
    (0..a).flat_map(|z| (0..b).flat_map(move |y| (0..c).map(move |x| [z, y, x]))).collect()
}

fn outputs() -> Vec<[usize; 3]> {
    places(|axis| WINDOW.axes[axis].output)
}

fn taps() -> Vec<[usize; 3]> {
    places(|axis| WINDOW.axes[axis].kernel)
}

fn inputs() -> usize {
    WINDOW.axes.iter().map(|axis| axis.input as usize).product()
}

/// The position of a tap along each axis.
fn position(output: [usize; 3], tap: [usize; 3]) -> [i64; 3] {
    let along = |k: usize| {
        let VolumeAxis { stride, dilation, padding, .. } = WINDOW.axes[k];
        (output[k] as u64 * stride + tap[k] as u64 * dilation) as i64 - padding[0]
    };
    [0, 1, 2].map(along)
}

/// The place in its plane of the element under a tap.
fn place(output: [usize; 3], tap: [usize; 3]) -> Option<usize> {
    let mut place = 0;
    for (axis, at) in WINDOW.axes.iter().zip(position(output, tap)) {
        let at = u64::try_from(at).ok().filter(|&at| at < axis.input)?;
        place = place * axis.input as usize + at as usize;
    }
    Some(place)
}

fn is_in_padding(output: [usize; 3], tap: [usize; 3]) -> bool {
    let within = |(axis, at): (&VolumeAxis, i64)| {
        (-axis.padding[0]..axis.input as i64 + axis.padding[1]).contains(&at)
    };
    WINDOW.axes.iter().zip(position(output, tap)).all(within)
}

/// The elements that each window sees, with their places in all planes.
fn seen(x: &[f32]) -> Vec<Vec<(usize, f32)>> {
    let plane = |number: usize| {
        outputs().into_iter().map(move |output| {
            let found = taps().into_iter().filter_map(|tap| place(output, tap));
            found.map(|at| number * inputs() + at).collect::<Vec<_>>()
        })
    };
    let all = (0..PLANES as usize).flat_map(plane);
    all.map(|places| places.into_iter().map(|at| (at, x[at])).collect()).collect()
}

#[test]
fn poolings() {
    let (d, mut random) = (device(), Random::new(91));
    let x = random.f32s(PLANES as usize * inputs(), -3.0, 3.0);
    let (seen, dx) = (seen(&x), d.upload(&x));
    let n = seen.len();
    let (dy, dplaces, at) = (d.room::<f32>(n), d.room::<i64>(n), (PLANES, &WINDOW));

    let greatest =
        |seen: &Vec<(usize, f32)>| seen.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
    d.kernels.volume_max(&d.stream, DType::F32, &dy, Some(&dplaces), &dx, at, (-9.0, false)).unwrap();
    let maxima: Vec<f32> = seen.iter().map(|seen| greatest(seen).map_or(-9.0, |found| found.1)).collect();
    assert_close(&d.download(&dy, n), &maxima, 0.0);
    let first = |i: usize| i / (n / PLANES as usize) * inputs();
    let expected = seen.iter().enumerate().map(|(i, seen)| greatest(seen).map_or(first(i), |found| found.0));
    let expected: Vec<i64> = expected.map(|place| place as i64).collect();
    assert_eq!(d.download::<i64>(&dplaces, n), expected);
    d.kernels.volume_max(&d.stream, DType::F32, &dy, Some(&dplaces), &dx, at, (-9.0, true)).unwrap();
    let turned = expected.iter().map(|&place| {
        let (plane, place) = (place / 90, place % 90);
        plane * 90 + place / 30 + 3 * (place / 6 % 5 + 5 * (place % 6))
    });
    assert_eq!(d.download::<i64>(&dplaces, n), turned.collect::<Vec<_>>());

    for counts_padding in [false, true] {
        d.kernels.volume_average(&d.stream, DType::F32, &dy, &dx, at, counts_padding).unwrap();
        let padded: Vec<usize> = outputs()
            .into_iter()
            .map(|output| taps().into_iter().filter(|&tap| is_in_padding(output, tap)).count())
            .collect();
        let mean = |(i, seen): (usize, &Vec<(usize, f32)>)| {
            let count = if counts_padding { padded[i % padded.len()] } else { seen.len() };
            seen.iter().map(|found| found.1).sum::<f32>() / count as f32
        };
        let expected: Vec<f32> = seen.iter().enumerate().map(mean).collect();
        assert_close(&d.download(&dy, n), &expected, 1e-6);
    }
    for power in [1.0, 2.0, 3.0] {
        d.kernels.volume_norm(&d.stream, DType::F32, &dy, &dx, at, power).unwrap();
        let norm = |seen: &Vec<(usize, f32)>| {
            let sum: f64 = seen.iter().map(|found| f64::from(found.1).abs().powf(power)).sum();
            sum.powf(1.0 / power) as f32
        };
        assert_close(&d.download(&dy, n), &seen.iter().map(norm).collect::<Vec<_>>(), 1e-5);
    }
}

#[test]
fn patches_and_their_sums() {
    let (d, mut random) = (device(), Random::new(92));
    let x = random.f32s(PLANES as usize * inputs(), -3.0, 3.0);
    let (mut expected, mut sums) = (Vec::new(), vec![0.0f32; x.len()]);
    for (plane, tap) in (0..PLANES as usize).flat_map(|plane| taps().into_iter().map(move |tap| (plane, tap)))
    {
        for output in outputs() {
            let at = place(output, tap).map(|at| plane * inputs() + at);
            expected.push(at.map_or(0.0, |at| x[at]));
            if let Some(at) = at {
                sums[at] += x[at];
            }
        }
    }
    let (dx, dy, at) = (d.upload(&x), d.room::<f32>(expected.len()), (PLANES, &WINDOW));
    d.kernels.volume_patches(&d.stream, DType::F32, &dy, &dx, at).unwrap();
    assert_close(&d.download(&dy, expected.len()), &expected, 0.0);
    let back = d.room::<f32>(x.len());
    d.kernels.sum_of_patches(&d.stream, DType::F32, &back, &dy, at).unwrap();
    assert_close(&d.download(&back, x.len()), &sums, 1e-6);
    let bytes: Vec<u8> = (0..x.len()).map(|i| (i % 255) as u8 + 1).collect();
    let dy = d.room::<u8>(expected.len());
    d.kernels.volume_patches(&d.stream, DType::I8, &dy, &d.upload(&bytes), at).unwrap();
    let found = d.download::<u8>(&dy, expected.len());
    assert!(found.iter().zip(&expected).all(|(&byte, &x)| (byte == 0) == (x == 0.0)));
}

#[test]
fn windows_that_cannot_be_computed_are_refused() {
    let d = device();
    let refused = |axis: VolumeAxis| {
        let window = VolumeWindow { axes: [axis, WINDOW.axes[1], WINDOW.axes[2]] };
        let room = d.room::<f32>(4096);
        d.kernels.volume_average(&d.stream, DType::F32, &room, &room, (1, &window), false).is_err()
    };
    let fine = WINDOW.axes[0];
    assert!(
        !refused(fine)
            && refused(VolumeAxis { stride: 0, ..fine })
            && refused(VolumeAxis { dilation: 0, ..fine })
    );
    assert!(refused(VolumeAxis { stride: u64::MAX, ..fine }));
    assert!(refused(VolumeAxis { padding: [i64::MIN, 0], ..fine }));
}
