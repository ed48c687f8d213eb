//! Units that go to segments, one after the other.

use tfrt_host::DType;
use tfrt_launch::{Combination, Segments};

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
