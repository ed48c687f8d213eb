//! Tests fragments of matrices and their products, against plain loops.

use crate::arith::Rounding;
use crate::arith::half::{Bf16, F16, Half};
use crate::arith::matrix::*;
use crate::arith::small::SmallFloat;

/// The family, M×N×K, the elements and the accumulator.
type Form = (Family, (usize, usize, usize), Element, Accumulator);

const FORMS: [Form; 36] = {
    use Accumulator as To;
    use Element::*;
    use Family::*;
    [
        (Mma, (16, 8, 8), F16, To::F16),
        (Mma, (16, 8, 8), F16, To::F32),
        (Mma, (16, 8, 16), F16, To::F16),
        (Mma, (16, 8, 16), F16, To::F32),
        (Mma, (16, 8, 8), Bf16, To::F32),
        (Mma, (16, 8, 16), Bf16, To::F32),
        (Mma, (16, 8, 4), Tf32, To::F32),
        (Mma, (16, 8, 8), Tf32, To::F32),
        (Mma, (16, 8, 16), E4m3, To::F32),
        (Mma, (16, 8, 32), E5m2, To::F32),
        (Mma, (16, 8, 32), E4m3, To::F16),
        (Mma, (8, 8, 16), S8, To::S32),
        (Mma, (16, 8, 16), U8, To::S32),
        (Mma, (16, 8, 32), S8, To::S32),
        (Mma, (8, 8, 32), S4, To::S32),
        (Mma, (16, 8, 32), U4, To::S32),
        (Mma, (16, 8, 64), S4, To::S32),
        (Mma, (8, 8, 128), B1, To::S32),
        (Mma, (16, 8, 128), B1, To::S32),
        (Mma, (16, 8, 256), B1, To::S32),
        (Wmma, (16, 16, 16), F16, To::F16),
        (Wmma, (16, 16, 16), F16, To::F32),
        (Wmma, (8, 32, 16), F16, To::F32),
        (Wmma, (32, 8, 16), F16, To::F32),
        (Wmma, (16, 16, 16), Bf16, To::F32),
        (Wmma, (8, 32, 16), Bf16, To::F32),
        (Wmma, (32, 8, 16), Bf16, To::F32),
        (Wmma, (16, 16, 8), Tf32, To::F32),
        (Wmma, (16, 16, 16), S8, To::S32),
        (Wmma, (8, 32, 16), U8, To::S32),
        (Wmma, (32, 8, 16), S8, To::S32),
        (Wmma, (8, 8, 32), U4, To::S32),
        (Wmma, (8, 8, 32), S4, To::S32),
        (Wmma, (8, 8, 128), B1, To::S32),
        (Mma, (16, 8, 16), E5m2, To::F16),
        (Mma, (16, 8, 32), U8, To::S32),
    ]
};

fn form(family: Family, (m, n, k): (usize, usize, usize), element: Element, to: Accumulator) -> Multiply {
    Multiply {
        family,
        shape: Shape { m, n, k },
        a: element,
        b: element,
        c: to,
        d: to,
        saturate: false,
        bit_operation: BitOperation::Xor,
        rounding: Rounding::NearestEven,
    }
}

/// Returns the bits of a small integer as an element.
fn encode(element: Element, x: i32) -> u32 {
    match element {
        Element::F16 => F16::from_f32(x as f32).into(),
        Element::Bf16 => Bf16::from_f32(x as f32).into(),
        Element::Tf32 => (x as f32).to_bits(),
        Element::E4m3 => SmallFloat::E4m3.encode(x as f32, false).into(),
        Element::E5m2 => SmallFloat::E5m2.encode(x as f32, false).into(),
        Element::U8 | Element::S8 => u32::from(x as u8),
        Element::U4 | Element::S4 => x as u32 & 15,
        Element::B1 => x as u32 & 1,
        Element::F64 => unreachable!("not in 32-bit registers"),
    }
}

/// Returns a random small integer that the element's type can represent.
fn number(element: Element, random: &mut fastrand::Rng) -> i32 {
    match element {
        Element::U8 => random.i32(0..256),
        Element::S8 => random.i32(-128..128),
        Element::U4 => random.i32(0..16),
        Element::S4 => random.i32(-8..8),
        Element::B1 => random.i32(0..2),
        _ => random.i32(-4..5),
    }
}

fn fill(fragment: &Fragment, element: impl Fn(usize, usize) -> u32) -> Vec<Register> {
    let mut registers = vec![[0; 32]; fragment.registers()];
    for index in 0..fragment.elements() {
        let bit = index * fragment.bits();
        for (lane, word) in registers[bit / 32].iter_mut().enumerate() {
            let (row, column) = fragment.position(lane, index);
            *word |= element(row, column) << (bit % 32);
        }
    }
    registers
}

#[test]
fn products_of_whole_numbers_are_exact() {
    let mut random = fastrand::Rng::with_seed(8);
    for (family, shape, element, to) in FORMS {
        let form = form(family, shape, element, to);
        assert!(form.is_known(), "{form:?}");
        let (m, n, k) = shape;
        let a: Vec<i32> = (0..m * k).map(|_| number(element, &mut random)).collect();
        let b: Vec<i32> = (0..k * n).map(|_| number(element, &mut random)).collect();
        let c: Vec<i32> = (0..m * n).map(|_| random.i32(-9..10)).collect();
        let accumulator = |x: i32| match to {
            Accumulator::F16 => u32::from(F16::from_f32(x as f32)),
            Accumulator::F32 => (x as f32).to_bits(),
            _ => x as u32,
        };
        let left = fill(&form.fragment_a(), |row, column| encode(element, a[row * k + column]));
        let right = fill(&form.fragment_b(), |row, column| encode(element, b[row * n + column]));
        let before = fill(&form.fragment_c(), |row, column| accumulator(c[row * n + column]));
        let mut after = vec![[0; 32]; form.fragment_d().registers()];
        form.execute(&left, &right, &before, &mut after);
        let expected = fill(&form.fragment_d(), |row, column| {
            let products = (0..k).map(|i| match element {
                Element::B1 => a[row * k + i] ^ b[i * n + column],
                _ => a[row * k + i] * b[i * n + column],
            });
            accumulator(c[row * n + column] + products.sum::<i32>())
        });
        assert_eq!(after, expected, "{form:?}");
    }
}

#[test]
fn every_element_of_a_matrix_has_its_place() {
    for (family, shape, element, to) in FORMS {
        let form = form(family, shape, element, to);
        for fragment in [form.fragment_a(), form.fragment_b(), form.fragment_c()] {
            let (rows, columns) = fragment.size();
            let mut times = vec![0; rows * columns];
            for lane in 0..32 {
                for index in 0..fragment.elements() {
                    let (row, column) = fragment.position(lane, index);
                    times[row * columns + column] += 1;
                }
            }
            let repeats = 32 * fragment.elements() / (rows * columns);
            assert!(times.iter().all(|&times| times == repeats), "{fragment:?}");
        }
    }
}

/// Checks examples calculated from the manual's formulas.
#[test]
fn places_of_elements() {
    let at = |element, shape, fragment: fn(&Multiply) -> Fragment, lane, index| {
        let to = if matches!(element, Element::S8) { Accumulator::S32 } else { Accumulator::F32 };
        fragment(&form(Family::Mma, shape, element, to)).position(lane, index)
    };
    let (a, b, c) = (Multiply::fragment_a, Multiply::fragment_b, Multiply::fragment_c);
    assert_eq!(at(Element::F16, (16, 8, 16), a, 5, 1), (1, 3));
    assert_eq!(at(Element::F16, (16, 8, 16), a, 5, 2), (9, 2));
    assert_eq!(at(Element::F16, (16, 8, 16), a, 5, 5), (1, 11));
    assert_eq!(at(Element::F16, (16, 8, 16), a, 5, 7), (9, 11));
    assert_eq!(at(Element::F16, (16, 8, 16), b, 5, 1), (3, 1));
    assert_eq!(at(Element::F16, (16, 8, 16), b, 5, 2), (10, 1));
    assert_eq!(at(Element::F16, (16, 8, 16), c, 5, 3), (9, 3));
    assert_eq!(at(Element::F16, (16, 8, 8), a, 31, 3), (15, 7));
    assert_eq!(at(Element::Tf32, (16, 8, 8), a, 6, 1), (9, 2));
    assert_eq!(at(Element::Tf32, (16, 8, 8), a, 6, 2), (1, 6));
    assert_eq!(at(Element::Tf32, (16, 8, 8), b, 6, 1), (6, 1));
    assert_eq!(at(Element::S8, (16, 8, 32), a, 6, 5), (9, 9));
    assert_eq!(at(Element::S8, (16, 8, 32), a, 6, 9), (1, 25));
    assert_eq!(at(Element::S8, (16, 8, 32), b, 6, 5), (25, 1));
    assert_eq!(at(Element::S8, (8, 8, 16), a, 6, 3), (1, 11));
}

#[test]
fn unknown_forms() {
    let unknown = [
        form(Family::Mma, (8, 8, 4), Element::F16, Accumulator::F32),
        form(Family::Mma, (16, 8, 16), Element::Tf32, Accumulator::F32),
        form(Family::Mma, (16, 8, 16), Element::Bf16, Accumulator::F16),
        form(Family::Mma, (16, 8, 16), Element::S8, Accumulator::F32),
        form(Family::Wmma, (16, 16, 16), Element::Tf32, Accumulator::F32),
        form(Family::Wmma, (16, 16, 16), Element::E4m3, Accumulator::F32),
        Multiply { d: Accumulator::F16, ..form(Family::Mma, (16, 8, 16), Element::F16, Accumulator::F32) },
        Multiply { b: Element::U8, ..form(Family::Wmma, (16, 16, 16), Element::S8, Accumulator::S32) },
    ];
    for form in unknown {
        assert!(!form.is_known(), "{form:?}");
    }
    let mixed = Multiply { b: Element::U8, ..form(Family::Mma, (16, 8, 32), Element::S8, Accumulator::S32) };
    assert!(mixed.is_known());
}

#[test]
fn accumulators_round_clamp_and_wrap() {
    let form16 = form(Family::Mma, (16, 8, 8), Element::F16, Accumulator::F32);
    let one_row = |x: f32| {
        fill(
            &form16.fragment_a(),
            |row, column| if (row, column) == (0, 0) { F16::from_f32(x).into() } else { 0 },
        )
    };
    let ones = fill(&form16.fragment_b(), |_, _| F16::from_f32(1.0).into());
    let run = |x: f32, c: f32| {
        let before = fill(&form16.fragment_c(), |_, _| c.to_bits());
        let mut after = vec![[0; 32]; 4];
        form16.execute(&one_row(x), &ones, &before, &mut after);
        after[0][0]
    };
    assert_eq!(run(f32::NAN, 1.0), 0x7fff_ffff);
    assert_eq!(run(1.0, f32::NEG_INFINITY), f32::NEG_INFINITY.to_bits());
    assert_eq!(run(f32::INFINITY, f32::NEG_INFINITY), 0x7fff_ffff);
    assert_eq!(run(0.5, 16_777_216.0), 16_777_216f32.to_bits());
    assert_eq!(run(-65504.0, f32::MIN).to_owned(), f32::MIN.to_bits());
    let mut integers = form(Family::Mma, (8, 8, 16), Element::U8, Accumulator::S32);
    let full = vec![[u32::MAX; 32]; 1];
    let before = vec![[i32::MAX as u32; 32]; 2];
    let mut after = vec![[0; 32]; 2];
    integers.execute(&full, &full, &before, &mut after);
    assert_eq!(after[1][9], (i32::MAX as u32).wrapping_add(16 * 255 * 255));
    integers.saturate = true;
    integers.execute(&full, &full, &before, &mut after);
    assert_eq!(after[1][9], i32::MAX as u32);
    let bits = Multiply {
        bit_operation: BitOperation::And,
        ..form(Family::Wmma, (8, 8, 128), Element::B1, Accumulator::S32)
    };
    bits.execute(&full, &[[0x0f0f_0f0f; 32]], &[[0; 32]; 2], &mut after);
    assert_eq!(after, vec![[64; 32]; 2]);
}

#[test]
fn doubles_are_fused_along_k() {
    for (family, shape) in [
        (Family::Mma, (8, 8, 4)),
        (Family::Mma, (16, 8, 16)),
        (Family::Mma, (16, 8, 8)),
        (Family::Wmma, (8, 8, 4)),
    ] {
        let form = form(family, shape, Element::F64, Accumulator::F64);
        assert!(form.is_known());
        let (_, n, k) = shape;
        let value = |row: usize, column: usize| 1.0 / (1.0 + row as f64 * 17.0 + column as f64);
        let fill = |fragment: Fragment| -> Vec<[f64; 32]> {
            (0..fragment.registers())
                .map(|i| {
                    std::array::from_fn(|lane| fragment.position(lane, i))
                        .map(|(row, column)| value(row, column))
                })
                .collect()
        };
        let (a, b, c) = (fill(form.fragment_a()), fill(form.fragment_b()), fill(form.fragment_c()));
        let mut d = vec![[0.0; 32]; c.len()];
        form.execute_f64(&a, &b, &c, &mut d);
        for lane in 0..32 {
            for (i, register) in d.iter().enumerate() {
                let (row, column) = form.fragment_c().position(lane, i);
                assert!(column < n);
                let expected =
                    (0..k).fold(value(row, column), |sum, j| value(row, j).mul_add(value(j, column), sum));
                assert_eq!(register[lane], expected);
            }
        }
    }
}

#[test]
fn tiles() {
    let rows: [[u16; 8]; 8] =
        std::array::from_fn(|row| std::array::from_fn(|column| (row * 16 + column) as u16));
    let plain = load_tile(&rows, false);
    assert_eq!([plain[0], plain[1], plain[31]], [0x0001_0000, 0x0003_0002, 0x0077_0076]);
    let transposed = load_tile(&rows, true);
    assert_eq!([transposed[0], transposed[1], transposed[4]], [0x0010_0000, 0x0030_0020, 0x0011_0001]);
    assert_eq!(transpose_tile(&plain), transposed);
    assert_eq!(store_tile(&plain, false), rows);
    assert_eq!(store_tile(&transposed, true), rows);
}
