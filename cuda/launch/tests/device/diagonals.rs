//! Diagonals of matrices, and matrices with other diagonals.

use bytemuck::Pod;
use tfrt_host::DType;
use tfrt_launch::Diagonals;

use super::device;

/// Where each element of the diagonals lies among those of the matrices; none for padding.
fn places(of: Diagonals) -> Vec<Option<usize>> {
    let mut places = Vec::new();
    let [matrices, rows, columns, count, longest] =
        [of.matrices, of.rows, of.columns, of.count, of.longest].map(|extent| extent as i64);
    for matrix in 0..matrices {
        for k in (0..count).map(|d| of.upper - d) {
            let length = (0..rows).filter(|row| (0..columns).contains(&(row + k))).count() as i64;
            let before = match (k > 0 && of.padding_first[0]) || (k < 0 && of.padding_first[1]) {
                true => longest - length,
                false => 0,
            };
            places.extend((0..longest).map(|i| {
                let (row, column) = (i - before + (-k).max(0), i - before + k.max(0));
                let inside = (before..before + length).contains(&i);
                inside.then_some(((matrix * rows + row) * columns + column) as usize)
            }));
        }
    }
    places
}

fn check<T: Pod + Send + Sync + PartialEq + std::fmt::Debug>(dtype: DType, element: fn(usize) -> T) {
    let d = device();
    for (matrices, rows, columns, count, upper, longest) in [
        (3, 4, 4, 1, 0, 4),
        (2, 3, 5, 4, 2, 3),
        (5, 7, 2, 3, -1, 2),
        (1, 1, 3, 3, 2, 1),
        (2, 30, 40, 69, 39, 30),
        // More than a device's threads at once.
        (3, 130, 110, 239, 109, 110),
    ] {
        for padding_first in [[false, false], [true, false], [false, true], [true, true]] {
            let of = Diagonals { matrices, rows, columns, count, longest, upper, padding_first };
            let places = places(of);
            let whole: Vec<T> = (0..(matrices * rows * columns) as usize).map(element).collect();
            let padding = element(251);
            let expected: Vec<T> = places.iter().map(|place| place.map_or(padding, |at| whole[at])).collect();
            let (x, one, y) = (d.upload(&whole), d.upload(&[padding]), d.room::<T>(places.len()));
            d.kernels.diagonals(&d.stream, dtype, &y, &x, &one, of).unwrap();
            assert_eq!(d.download::<T>(&y, places.len()), expected, "{of:?}");

            let others: Vec<T> = (0..places.len()).map(|i| element(i + 77)).collect();
            let others_there = d.upload(&others);
            for around in [None, Some(&x)] {
                let mut expected = if around.is_some() { whole.clone() } else { vec![padding; whole.len()] };
                for (&place, &other) in places.iter().zip(&others) {
                    if let Some(place) = place {
                        expected[place] = other;
                    }
                }
                let y = around.cloned().unwrap_or_else(|| d.room::<T>(whole.len()));
                let around = (around.unwrap_or(&one), around.is_some());
                d.kernels.with_diagonals(&d.stream, dtype, &y, &others_there, around, of).unwrap();
                assert_eq!(d.download::<T>(&y, whole.len()), expected, "{of:?}");
            }
        }
    }
}

#[test]
fn diagonals_of_elements_of_any_width() {
    check::<u8>(DType::I1, |i| i as u8);
    check::<u16>(DType::BF16, |i| i as u16);
    check::<u32>(DType::I32, |i| i as u32);
    check::<u64>(DType::F64, |i| i as u64);
    check::<[u64; 2]>(DType::Complex128, |i| [i as u64, !(i as u64)]);
}

#[test]
fn diagonals_stay_within_their_buffers() {
    let d = device();
    let of = Diagonals {
        matrices: 2,
        rows: 3,
        columns: 4,
        count: 2,
        longest: 3,
        upper: 1,
        padding_first: [false; 2],
    };
    let (small, matrices, diagonals) = (d.room::<f32>(1), d.room::<f32>(24), d.room::<f32>(12));
    let part = |y, x| d.kernels.diagonals(&d.stream, DType::F32, y, x, &small, of);
    assert!(part(&diagonals, &matrices).is_ok());
    assert!(part(&small, &matrices).is_err() && part(&diagonals, &diagonals).is_err());
    let set = |y, x, whole| d.kernels.with_diagonals(&d.stream, DType::F32, y, x, (&small, whole), of);
    assert!(set(&matrices, &diagonals, false).is_ok() && set(&matrices, &diagonals, true).is_err());
    assert!(set(&diagonals, &diagonals, false).is_err() && set(&matrices, &small, false).is_err());
}
