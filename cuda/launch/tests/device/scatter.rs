//! Units that go to segments, one after the other.

use tfrt_host::DType;
use tfrt_launch::{Combination, GatherElements, SegmentIds, Segments};

use super::{Random, device};

/// What a combination makes of two elements.
type Reference = fn(i32, i32) -> i32;

#[test]
fn units_are_combined_in_their_order() {
    let (d, mut random) = (device(), Random::new(71));
    let (segments, unit, units) = (40, 7, 90);
    let (start, x) = (random.i32s(segments * unit, -9..10), random.i32s(units * unit, -9..10));
    let ids: Vec<_> = random.i32s(units, -3..50).into_iter().map(|id| id as usize).collect();
    let of_segment = |segment| (0..units).filter(move |&unit| ids[unit] == segment).map(|unit| unit as u64);
    let (mut touched, mut members, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for segment in 0..segments {
        let before = members.len();
        members.extend(of_segment.clone()(segment));
        if members.len() > before {
            touched.push(segment as u64);
            ends.push(members.len() as u64);
        }
    }
    assert!((1..segments).contains(&touched.len()), "some, but not all");
    let (dx, numbers) = (d.upload(&x), d.upload(&touched));
    let (places, bounds) = (d.upload(&members), d.upload(&ends));
    let to = Segments {
        touched: &numbers,
        touched_count: touched.len() as u64,
        members: &places,
        member_count: members.len() as u64,
        ends: &bounds,
        segments: segments as u64,
        units: units as u64,
        unit: unit as u64,
    };
    let references: [(Combination, Reference); 6] = [
        (Combination::Add, |a, b| a + b),
        (Combination::Sub, |a, b| a - b),
        (Combination::Maximum, i32::max),
        (Combination::Minimum, i32::min),
        (Combination::Replace, |_, b| b),
        (Combination::Multiply, i32::wrapping_mul),
    ];
    for (combination, reference) in references {
        let (mut expected, mut first) = (start.clone(), 0);
        for (&segment, &end) in touched.iter().zip(&ends) {
            for &member in &members[first as usize..end as usize] {
                for at in 0..unit {
                    let y = &mut expected[segment as usize * unit + at];
                    *y = reference(*y, x[member as usize * unit + at]);
                }
            }
            first = end;
        }
        let dy = d.upload(&start);
        d.kernels.scatter(&d.stream, combination, DType::I32, &dy, &dx, to).unwrap();
        assert_eq!(d.download::<i32>(&dy, segments * unit), expected, "{combination:?}");
    }
    let dy = d.room::<u8>(segments * unit);
    assert!(d.kernels.scatter(&d.stream, Combination::Add, DType::UI8, &dy, &dx, to).is_err());
}

/// Units of three elements that only the device knows the segments of, some of which do not exist.
#[test]
fn units_find_their_segments_on_the_device() {
    let (d, mut random) = (device(), Random::new(72));
    let (segments, unit, units) = (6, 3, 40);
    let (start, x) = (random.i32s(segments * unit, -9..10), random.i32s(units * unit, -9..10));
    let coordinates = random.i32s(units * 2, -4..4);
    let place = |row: usize| {
        let along = |at: i32, extent: i32| {
            Some(if at < 0 { at + extent } else { at }).filter(|at| (0..extent).contains(at))
        };
        let (first, second) = (along(coordinates[2 * row], 2)?, along(coordinates[2 * row + 1], 3)?);
        Some((first * 3 + second) as usize)
    };
    let (ids, at) = (d.room::<i64>(units), d.upload(&coordinates));
    d.kernels.nd_ids(&d.stream, &ids, (&at, DType::I32), units as u64, &[2, 3]).unwrap();
    let expected: Vec<i64> = (0..units).map(|row| place(row).map_or(-1, |place| place as i64)).collect();
    assert!(expected.contains(&-1) && expected.iter().any(|&id| id > 0));
    assert_eq!(d.download::<i64>(&ids, units), expected);
    let to = SegmentIds { ids: &ids, segments: segments as u64, units: units as u64, unit: unit as u64 };
    let references: [(Combination, Reference); 3] = [
        (Combination::Sub, |a, b| a - b),
        (Combination::Maximum, i32::max),
        (Combination::Replace, |_, b| b),
    ];
    for (combination, reference) in references {
        let mut sums = start.clone();
        for (row, &id) in expected.iter().enumerate().filter(|(_, id)| **id >= 0) {
            for at in 0..unit {
                let y = &mut sums[id as usize * unit + at];
                *y = reference(*y, x[row * unit + at]);
            }
        }
        let dy = d.upload(&start);
        d.kernels.scatter_by_id(&d.stream, combination, DType::I32, &dy, &d.upload(&x), to).unwrap();
        assert_eq!(d.download::<i32>(&dy, segments * unit), sums, "{combination:?}");
    }
}

#[test]
fn indices_along_an_axis_are_places() {
    let d = device();
    let gather = GatherElements::new(&[2, 4, 3], &[1, 3, 2], 1).unwrap();
    let index = [0i64, -1, 3, 4, -5, 1];
    let ids = d.room::<i64>(6);
    d.kernels.element_ids(&d.stream, &ids, (&d.upload(&index), DType::I64), &gather).unwrap();
    assert_eq!(d.download::<i64>(&ids, 6), [0, 10, 9, -1, -1, 4]);
}
