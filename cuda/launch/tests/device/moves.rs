//! Elements in other places.

use bytemuck::Pod;
use tfrt_host::DType;
use tfrt_launch::{Band, Gather, GatherElements, GatherNd, Move, OneHot};

use super::device;

/// Where a box begins in the result and in the operand; extents, and steps in both.
type Boxed = ([u64; 2], &'static [(u64, i64, i64)]);

/// Moves a box of each shape, and looks at what was moved and at what was not.
fn check<T: Pod + Send + Sync + PartialEq + std::fmt::Debug>(dtype: DType, element: fn(usize) -> T) {
    let d = device();
    let cases: &[Boxed] = &[
        ([0, 0], &[(40, 1, 1)]),
        ([3, 5], &[(7, 1, 1)]),
        ([0, 39], &[(40, 1, -1)]),
        ([8, 16], &[(3, 16, 8), (8, 1, 1)]),
        ([0, 2], &[(4, 12, 0), (3, 4, 5), (4, 1, 2)]),
        ([5, 5], &[]),
        ([0, 0], &[(0, 1, 1)]),
        ([0, 0], &[(2, 32, 1), (2, 1, 2), (2, 16, 4), (2, 2, 8), (2, 8, 16), (2, 4, 8)]),
    ];
    for &(starts, axes) in cases {
        let x: Vec<T> = (0..64).map(element).collect();
        let mut expected: Vec<T> = (0..64).map(|i| element(100 + i)).collect();
        let (dx, dy) = (d.upload(&x), d.upload(&expected));
        let count: u64 = axes.iter().map(|axis| axis.0).product();
        for position in 0..count {
            let (mut rest, mut to, mut from) = (position, starts[0] as i64, starts[1] as i64);
            for &(extent, to_step, from_step) in axes.iter().rev() {
                let at = (rest % extent) as i64;
                (rest, to, from) = (rest / extent, to + at * to_step, from + at * from_step);
            }
            expected[to as usize] = x[from as usize];
        }
        let moved = Move::new(starts, axes).unwrap();
        d.kernels.move_elements(&d.stream, dtype, &dy, &dx, &moved).unwrap();
        assert_eq!(d.download::<T>(&dy, 64), expected, "{starts:?} {axes:?}");
    }
}

#[test]
fn boxes() {
    check::<u8>(DType::I1, |i| i as u8);
    check::<u16>(DType::BF16, |i| i as u16);
    check::<u32>(DType::I32, |i| i as u32);
    check::<u64>(DType::F64, |i| i as u64);
    check::<[u64; 2]>(DType::Complex128, |i| [i as u64, !(i as u64)]);
}

#[test]
fn boxes_stay_within_their_buffers() {
    let d = device();
    let (x, y) = (d.room::<f32>(8), d.room::<f32>(8));
    let moved = Move::new([0, 0], &[(9, 1, 1)]).unwrap();
    assert!(d.kernels.move_elements(&d.stream, DType::F32, &y, &x, &moved).is_err());
}

#[test]
fn gathering() {
    let d = device();
    // Two batches of two rows of five pieces, of one, four and sixteen bytes.
    for width in [1usize, 4, 6, 16] {
        let (batches, outer, extent, index) = (2usize, 2usize, 5usize, [4i32, 0, -1, 2, 5, 1]);
        let x: Vec<u8> = (0..batches * outer * extent * width).map(|i| (i % 251) as u8 + 1).collect();
        let mut expected = Vec::new();
        for row in 0..batches * outer {
            for &at in &index[row / outer * 3..][..3] {
                let piece = usize::try_from(at).ok().filter(|&at| at < extent);
                let bytes = piece.map(|at| x[(row * extent + at) * width..][..width].to_vec());
                expected.extend(bytes.unwrap_or(vec![0; width]));
            }
        }
        let gather = Gather { batches: 2, outer: 2, extent: 5, count: 3, width: width as u64 };
        let (dx, dy) = (d.upload(&x), d.room::<u8>(expected.len()));
        d.kernels.gather(&d.stream, &dy, &dx, (&d.upload(&index), DType::I32), gather).unwrap();
        assert_eq!(d.download::<u8>(&dy, expected.len()), expected, "{width}");
        let wide = index.map(i64::from);
        d.kernels.gather(&d.stream, &dy, &dx, (&d.upload(&wide), DType::I64), gather).unwrap();
        assert_eq!(d.download::<u8>(&dy, expected.len()), expected, "{width}");
    }
}

#[test]
fn gathering_at_coordinates() {
    let d = device();
    // Pieces of one, four and sixteen bytes in a box of three by two; two of the coordinates are
    // outside.
    let index = [2i32, 1, 0, 0, 3, 0, 1, -1, 1, 0];
    for width in [1usize, 4, 6, 16] {
        let x: Vec<u8> = (0..6 * width).map(|i| i as u8 + 1).collect();
        let mut expected = Vec::new();
        for place in [Some(5), Some(0), None, None, Some(2)] {
            expected
                .extend(place.map_or(vec![0; width], |place: usize| x[place * width..][..width].to_vec()));
        }
        let gather = GatherNd { extents: &[3, 2], count: 5, width: width as u64 };
        let (dx, dy) = (d.upload(&x), d.room::<u8>(expected.len()));
        d.kernels.gather_nd(&d.stream, &dy, &dx, (&d.upload(&index), DType::I32), gather).unwrap();
        assert_eq!(d.download::<u8>(&dy, expected.len()), expected, "{width}");
        let wide = index.map(i64::from);
        d.kernels.gather_nd(&d.stream, &dy, &dx, (&d.upload(&wide), DType::I64), gather).unwrap();
        assert_eq!(d.download::<u8>(&dy, expected.len()), expected, "{width}");
    }
    // No coordinates: the whole of it, as often as asked for; and too many.
    let (dx, dy) = (d.upload(&[7u8, 8]), d.room::<u8>(4));
    let none = d.room::<i32>(0);
    let all = GatherNd { extents: &[], count: 2, width: 2 };
    d.kernels.gather_nd(&d.stream, &dy, &dx, (&none, DType::I32), all).unwrap();
    assert_eq!(d.download::<u8>(&dy, 4), [7, 8, 7, 8]);
    let deep = GatherNd { extents: &[1; 9], count: 0, width: 2 };
    assert!(d.kernels.gather_nd(&d.stream, &dy, &dx, (&none, DType::I32), deep).is_err());
}

/// Elements of three by four by two along the middle, by indices of which some do not exist.
#[test]
fn gathering_elements() {
    fn check<T: Pod + Send + Sync + PartialEq + std::fmt::Debug>(dtype: DType, element: fn(usize) -> T) {
        let d = device();
        let x: Vec<T> = (1..25).map(element).collect();
        let index: Vec<i64> = (0..20).map(|i| i % 9 - 5).collect();
        let expected: Vec<T> = index
            .iter()
            .enumerate()
            .map(|(i, &at)| {
                let at = if at < 0 { at + 4 } else { at };
                let (first, last) = (i / 10, i % 2);
                if (0..4).contains(&at) { x[(first * 4 + at as usize) * 2 + last] } else { T::zeroed() }
            })
            .collect();
        let gather = GatherElements::new(&[3, 4, 2], &[2, 5, 2], 1).unwrap();
        let (dx, dy) = (d.upload(&x), d.room::<T>(20));
        let at = (&d.upload(&index), DType::I64);
        d.kernels.gather_elements(&d.stream, dtype, &dy, &dx, at, &gather).unwrap();
        assert_eq!(d.download::<T>(&dy, 20), expected, "{dtype}");
        let narrow: Vec<i32> = index.iter().map(|&at| at as i32).collect();
        let (at, dy) = ((&d.upload(&narrow), DType::I32), d.room::<T>(20));
        d.kernels.gather_elements(&d.stream, dtype, &dy, &dx, at, &gather).unwrap();
        assert_eq!(d.download::<T>(&dy, 20), expected, "{dtype}");
    }
    check::<u8>(DType::I8, |i| i as u8);
    check::<u16>(DType::F16, |i| i as u16);
    check::<u32>(DType::F32, |i| i as u32);
    check::<u64>(DType::I64, |i| i as u64);
    check::<[u64; 2]>(DType::Complex128, |i| [i as u64, !(i as u64)]);
    assert!(GatherElements::new(&[3, 4], &[4, 9], 1).is_err() && GatherElements::new(&[3], &[3], 1).is_err());
}

#[test]
fn indices_from_the_front() {
    let d = device();
    let index = [0i32, -1, 2, -3, -9, 8];
    let dy = d.room::<i32>(6);
    d.kernels.from_front(&d.stream, DType::I32, &dy, &d.upload(&index), 3, &[3, 5]).unwrap();
    assert_eq!(d.download::<i32>(&dy, 6), [0, 4, 2, 2, -6, 8]);
    let (wide, dy) = (d.upload(&index.map(i64::from)), d.room::<i64>(6));
    d.kernels.from_front(&d.stream, DType::I64, &dy, &wide, 3, &[3, 5]).unwrap();
    assert_eq!(d.download::<i64>(&dy, 6), [0, 4, 2, 2, -6, 8]);
    assert!(d.kernels.from_front(&d.stream, DType::I64, &dy, &wide, 0, &[1; 9]).is_err());
}

#[test]
fn one_hot() {
    let d = device();
    let (index, on, off, dy) =
        (d.upload(&[1i32, 3, -1, 0]), d.upload(&[7i16]), d.upload(&[2i16]), d.room::<i16>(12));
    let rows = OneHot { outer: 2, depth: 3, inner: 2 };
    d.kernels.one_hot(&d.stream, DType::F16, &dy, (&index, DType::I32), [&on, &off], rows).unwrap();
    assert_eq!(d.download::<i16>(&dy, 12), [2, 2, 7, 2, 2, 2, 2, 7, 2, 2, 2, 2]);
}

#[test]
fn bands() {
    let d = device();
    let (count, rows, columns) = (3, 5, 7);
    let x: Vec<[u64; 2]> = (1..=count * rows * columns).map(|i| [i, !i]).collect();
    let kept = |i: u64, lower: i64, upper: i64| {
        let below = (i / columns % rows) as i64 - (i % columns) as i64;
        below <= lower && -below <= upper
    };
    for (lower, upper) in
        [(0, 0), (1, 2), (i64::MAX, 0), (0, i64::MAX), (4, 1), (9, 9), (-1, 3), (i64::MAX, -2)]
    {
        let band = Band { count, rows, columns, lower, upper };
        let expected: Vec<_> =
            (0..).zip(&x).map(|(i, &x)| if kept(i, lower, upper) { x } else { [0; 2] }).collect();
        let dx = d.upload(&x);
        d.kernels.band(&d.stream, DType::Complex128, &dx, &dx, band).unwrap();
        assert_eq!(d.download::<[u64; 2]>(&dx, x.len()), expected, "{band:?}");
        let low = |x: &[[u64; 2]]| x.iter().map(|x| x[0] as u8).collect::<Vec<_>>();
        let (dx, dy) = (d.upload(&low(&x)), d.room::<u8>(x.len()));
        d.kernels.band(&d.stream, DType::I8, &dy, &dx, band).unwrap();
        assert_eq!(d.download::<u8>(&dy, x.len()), low(&expected), "{band:?}");
    }
}
