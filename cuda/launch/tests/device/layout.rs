//! Moving elements.

use bytemuck::Pod;
use tfrt_host::DType;
use tfrt_launch::{Padded, Permutation};

use super::{Random, device};

/// Element `order` of a position: the operand's index for each of the result's.
fn permuted<T: Copy>(x: &[T], extents: &[usize], order: &[usize]) -> Vec<T> {
    let stride = |axis: usize| extents[axis + 1..].iter().product::<usize>();
    (0..x.len())
        .map(|position| {
            let (mut rest, mut from) = (position, 0);
            for &axis in order.iter().rev() {
                from += rest % extents[axis] * stride(axis);
                rest /= extents[axis];
            }
            x[from]
        })
        .collect()
}

fn check_permutation<T: Pod + Send + Sync + PartialEq + std::fmt::Debug>(
    dtype: DType,
    element: fn(usize) -> T,
) {
    let d = device();
    let cases: &[(&[usize], &[usize])] = &[
        (&[4, 6], &[1, 0]),
        (&[33, 65], &[1, 0]),
        // In packs, with parts of tiles at both edges.
        (&[48, 80], &[1, 0]),
        (&[3, 16, 144], &[0, 2, 1]),
        // Rows in packs, and columns not.
        (&[32, 50], &[1, 0]),
        (&[2, 5, 7, 3], &[0, 3, 1, 2]),
        (&[2, 40, 5, 7], &[0, 2, 3, 1]),
        // Few rows or columns, and one more than few.
        (&[2, 3, 40, 30], &[0, 2, 3, 1]),
        (&[2, 40, 30, 3], &[0, 3, 1, 2]),
        (&[8, 300], &[1, 0]),
        (&[300, 9], &[1, 0]),
        (&[3, 4, 5], &[2, 1, 0]),
        (&[2, 3, 4, 5], &[2, 0, 3, 1]),
        (&[6], &[0]),
        (&[0, 3], &[1, 0]),
    ];
    for &(extents, order) in cases {
        let x: Vec<T> = (0..extents.iter().product()).map(element).collect();
        let wide: Vec<u64> = extents.iter().map(|&extent| extent as u64).collect();
        let permutation = Permutation::new(&wide, order).unwrap();
        let (dx, dy) = (d.upload(&x), d.room::<T>(x.len()));
        d.kernels.permute(&d.stream, dtype, &dy, &dx, &permutation).unwrap();
        assert_eq!(d.download::<T>(&dy, x.len()), permuted(&x, extents, order), "{extents:?} {order:?}");
    }
}

#[test]
fn permutations() {
    check_permutation::<u8>(DType::UI8, |i| i as u8);
    check_permutation::<u16>(DType::F16, |i| i as u16);
    check_permutation::<u32>(DType::F32, |i| i as u32);
    check_permutation::<u64>(DType::F64, |i| i as u64);
}

#[test]
fn padding() {
    let (d, mut random) = (device(), Random::new(31));
    let x = random.f32s(2 * 3 * 4, -1.0, 1.0);
    let padding = [(0, 1), (2, 0), (1, 3)];
    let padded = Padded::new(&[2, 3, 4], &padding).unwrap();
    let (dx, dy) = (d.upload(&x), d.room::<f32>(3 * 5 * 8));
    d.kernels.pad(&d.stream, DType::F32, &dy, &dx, &padded, Some((-7f32).into())).unwrap();
    let mut expected = vec![-7.0; 3 * 5 * 8];
    for (i, &value) in x.iter().enumerate() {
        let (a, b, c) = (i / 12, i / 4 % 3, i % 4);
        expected[(a * 5 + b + 2) * 8 + c + 1] = value;
    }
    assert_eq!(d.download::<f32>(&dy, expected.len()), expected);
    assert!(Padded::new(&[2], &padding).is_err());
}

#[test]
fn concatenation_and_gathering() {
    let (d, mut random) = (device(), Random::new(32));
    for (rows, parts) in [(3u64, [4u64, 12, 8]), (5, [3, 1, 7]), (2, [16, 32, 16]), (1, [5, 6, 7])] {
        let pitch: u64 = parts.iter().sum();
        let dy = d.upload(&vec![0u8; (rows * pitch) as usize]);
        let (mut offset, mut expected) = (0, vec![0u8; (rows * pitch) as usize]);
        for width in parts {
            let x: Vec<u8> = (0..rows * width).map(|_| random.0.u8(..)).collect();
            let dx = d.upload(&x);
            d.kernels.copy_rows(&d.stream, (&dy, offset, pitch), (&dx, 0, width), width, rows).unwrap();
            for row in 0..rows as usize {
                let (to, width) = (row * pitch as usize + offset as usize, width as usize);
                expected[to..to + width].copy_from_slice(&x[row * width..][..width]);
            }
            offset += width;
        }
        assert_eq!(d.download::<u8>(&dy, expected.len()), expected);
        // One byte more than there is.
        let dx = d.room::<u8>(64);
        let beyond = (&dy, pitch - 3, pitch);
        assert!(d.kernels.copy_rows(&d.stream, beyond, (&dx, 0, 4), 4, rows).is_err());
    }
    let x: Vec<u32> = (0..40).collect();
    let (dx, index, dy) = (d.upload(&x), d.upload(&[3i64, 9, -1, 10, 0]), d.room::<u32>(20));
    d.kernels.gather_rows(&d.stream, &dy, (&dx, 10, 16), (&index, DType::I64), 5).unwrap();
    let expected = [12, 13, 14, 15, 36, 37, 38, 39, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3];
    assert_eq!(d.download::<u32>(&dy, 20), expected);
}
