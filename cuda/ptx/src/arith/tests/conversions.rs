//! Tests conversions between all types: every value of the small ones, edges and random values of
//! the others.

use super::reference::{self, Rational};
use super::{ROUNDINGS, Rounding, operand, operand_f64};
use crate::arith::convert::{self, Convert};
use crate::arith::half::{self, Bf16, F16, Half};
use crate::arith::small::{self, SmallFloat, Tf32Rounding};

#[test]
fn rounding_to_integral_values() {
    // Value, then rni, rzi, rmi, rpi.
    let table: [(f32, [f32; 4]); 12] = [
        (0.5, [0.0, 0.0, 0.0, 1.0]),
        (1.5, [2.0, 1.0, 1.0, 2.0]),
        (2.5, [2.0, 2.0, 2.0, 3.0]),
        (-0.5, [-0.0, -0.0, -1.0, -0.0]),
        (-1.5, [-2.0, -1.0, -2.0, -1.0]),
        (-0.0, [-0.0, -0.0, -0.0, -0.0]),
        (0.49999997, [0.0, 0.0, 0.0, 1.0]),
        (8388607.5, [8388608.0, 8388607.0, 8388607.0, 8388608.0]),
        (-8388609.0, [-8388609.0; 4]),
        (1e30, [1e30; 4]),
        (f32::NEG_INFINITY, [f32::NEG_INFINITY; 4]),
        (-1e-45, [-0.0, -0.0, -1.0, -0.0]),
    ];
    for (x, expected) in table {
        for (rounding, expected) in ROUNDINGS.into_iter().zip(expected) {
            let got = convert::integral_f32(x, rounding);
            assert_eq!(got.to_bits(), expected.to_bits(), "{x} {rounding:?}: {got}");
            let x = if x == -1e-45 { -5e-324 } else { f64::from(x) };
            let got = convert::integral_f64(x, rounding);
            assert_eq!(got.to_bits(), f64::from(expected).to_bits(), "{x} {rounding:?}: {got}");
        }
    }
    assert_eq!(convert::integral_f32(f32::NAN, Rounding::Up).to_bits(), 0x7fff_ffff);
}

#[test]
fn floats_to_integers_clamp_and_take_nan() {
    let rz = Rounding::Zero;
    assert_eq!(
        [300.0, -1.0, f32::NAN, f32::INFINITY, 254.9].map(|x| u8::from_f32(x, rz)),
        [255, 0, 0, 255, 254]
    );
    assert_eq!([300.0, -300.0, f32::NAN].map(|x| i8::from_f32(x, rz)), [127, -128, 0]);
    assert_eq!([1e9, -1e9, f32::NAN].map(|x| i16::from_f32(x, rz)), [i16::MAX, i16::MIN, 0]);
    assert_eq!([1e10, -1e10, f32::NAN].map(|x| i32::from_f32(x, rz)), [i32::MAX, i32::MIN, 0]);
    assert_eq!([1e10, -1e10, f32::NAN].map(|x| u32::from_f32(x, rz)), [u32::MAX, 0, 0]);
    assert_eq!([1e30, -1e30, f32::NAN].map(|x| i64::from_f32(x, rz)), [i64::MAX, i64::MIN, i64::MIN]);
    assert_eq!([1e30, -1e30, f32::NAN].map(|x| u64::from_f32(x, rz)), [u64::MAX, 0, 1 << 63]);
    assert_eq!([1e30, -1e30, f64::NAN].map(|x| i32::from_f64(x, rz)), [i32::MAX, i32::MIN, i32::MIN]);
    assert_eq!([1e30, -1e30, f64::NAN].map(|x| u32::from_f64(x, rz)), [u32::MAX, 0, 1 << 31]);
    assert_eq!([1e30, -1e30, f64::NAN].map(|x| u16::from_f64(x, rz)), [u16::MAX, 0, 1 << 15]);
    assert_eq!([1e30, -1e30, f64::NAN].map(|x| i64::from_f64(x, rz)), [i64::MAX, i64::MIN, i64::MIN]);
    assert_eq!(ROUNDINGS.map(|rounding| i32::from_f32(-2.5, rounding)), [-2, -2, -3, -2]);
    assert_eq!(ROUNDINGS.map(|rounding| i64::from_f64(2.5, rounding)), [2, 2, 2, 3]);
    assert_eq!(ROUNDINGS.map(|rounding| u32::from_f64(-0.5, rounding)), [0; 4]);
}

#[test]
fn truncation_is_the_cast_of_the_language() {
    let mut random = fastrand::Rng::with_seed(9);
    for i in 0..200_000 {
        let x = if i % 2 == 0 { f32::from_bits(random.u32(..)) } else { (random.f32() - 0.5) * 1e10 };
        let rz = Rounding::Zero;
        assert_eq!((i32::from_f32(x, rz), u32::from_f32(x, rz)), (x as i32, x as u32), "{x:e}");
        assert_eq!((i8::from_f32(x, rz), u8::from_f32(x, rz)), (x as i8, x as u8), "{x:e}");
        assert_eq!((i16::from_f32(x, rz), u16::from_f32(x, rz)), (x as i16, x as u16), "{x:e}");
    }
    for x in [2147483520.0, 2147483648.0, -2147483648.0, -2147483904.0, 4294967040.0, 4294967296.0, -0.9f32] {
        let rz = Rounding::Zero;
        assert_eq!((i32::from_f32(x, rz), u32::from_f32(x, rz)), (x as i32, x as u32), "{x:e}");
    }
}

#[test]
fn integers_are_rounded_as_the_exact_value() {
    fn check<T: Convert>(x: T, exact: i128) {
        let exact = Rational::from_i128(exact);
        for rounding in ROUNDINGS {
            assert_eq!(
                u64::from(x.to_f32(rounding).to_bits()),
                exact.round(reference::F32, rounding),
                "{exact:?} {rounding:?}"
            );
            assert_eq!(
                x.to_f64(rounding).to_bits(),
                exact.round(reference::F64, rounding),
                "{exact:?} {rounding:?}"
            );
            assert_eq!(
                u64::from(x.to_half::<F16>(rounding)),
                exact.round(reference::F16, rounding),
                "{exact:?} {rounding:?}"
            );
            assert_eq!(
                u64::from(x.to_half::<Bf16>(rounding)),
                exact.round(reference::BF16, rounding),
                "{exact:?} {rounding:?}"
            );
        }
    }
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..20_000 {
        // Few bits far apart, and numbers with all bits random.
        let shift = random.u32(0..64);
        let x = match random.u32(0..3) {
            0 => random.u64(..) >> shift,
            1 => (1u64 << shift).wrapping_add(random.u64(0..3)).wrapping_sub(1),
            _ => 1 << shift | 1 << random.u32(0..64) | 1 << random.u32(0..64),
        };
        check(x, x.into());
        check(x as i64, (x as i64).into());
        check(x as u32, (x as u32).into());
        check(x as i32, (x as i32).into());
        check(x as i16, (x as i16).into());
        check(x as u8, (x as u8).into());
    }
    check(0u64, 0);
    check(i64::MIN, i64::MIN.into());
    check(u64::MAX, u64::MAX.into());
}

#[test]
fn doubles_are_rounded_once() {
    let mut random = fastrand::Rng::with_seed(6);
    for i in 0..60_000 {
        // Around the ties of every format, where two roundings would differ from one.
        let x = match i % 3 {
            0 => operand_f64(&mut random),
            1 => f64::from(operand(&mut random)),
            _ => f64::from(F16::to_f32(random.u16(0..0x7c00))) * (1.0 + 1.0 / 2048.0),
        };
        let x = f64::from_bits(
            x.to_bits().wrapping_add(random.u64(0..3)).wrapping_sub(1) & !(0x7ff << 52)
                | x.to_bits() & 0x7ff << 52,
        );
        let exact = Rational::f64(x);
        for rounding in ROUNDINGS {
            let single = u64::from(convert::f64_to_f32(x, rounding).to_bits());
            assert_eq!(single, exact.round(reference::F32, rounding), "{x:e} {rounding:?}");
            let half = u64::from(convert::f64_to_half::<F16>(x, rounding));
            assert_eq!(half, exact.round(reference::F16, rounding), "{x:e} {rounding:?}");
            let bf = u64::from(convert::f64_to_half::<Bf16>(x, rounding));
            assert_eq!(bf, exact.round(reference::BF16, rounding), "{x:e} {rounding:?}");
        }
    }
    assert_eq!(convert::f64_to_f32(f64::NAN, Rounding::Up).to_bits(), 0x7fff_ffff);
    assert_eq!(convert::f64_to_f32(f64::NEG_INFINITY, Rounding::Up), f32::NEG_INFINITY);
    assert_eq!(convert::f32_to_f64(f32::from_bits(0x7fff_ffff)).to_bits(), 0x7fff_ffff_e000_0000);
    assert_eq!(convert::f32_to_f64(1.5), 1.5);
    assert_eq!(
        [-0.0, 2.0, f64::NAN, 0.25].map(|x| convert::saturate_f64(x).to_bits()),
        [0.0, 1.0, 0.0, 0.25].map(f64::to_bits)
    );
}

#[test]
fn integers_saturate() {
    assert_eq!([300, -300, 5].map(i8::clamp_i64), [127, -128, 5]);
    assert_eq!([300, -300, 5].map(u8::clamp_i64), [255, 0, 5]);
    assert_eq!([-1, i64::MAX].map(u64::clamp_i64), [0, i64::MAX as u64]);
    assert_eq!([u64::MAX, 7].map(i64::clamp_u64), [i64::MAX, 7]);
    assert_eq!([u64::MAX, 7].map(u32::clamp_u64), [u32::MAX, 7]);
    assert_eq!([i64::MIN, i64::MAX].map(i32::clamp_i64), [i32::MIN, i32::MAX]);
    assert_eq!(convert::pack_saturated(70_000, -70_000, 9, 16, true), 0x7fff_8000);
    assert_eq!(convert::pack_saturated(70_000, -70_000, 9, 16, false), 0xffff_0000);
    assert_eq!(convert::pack_saturated(-1, 300, 0x1234_5678, 8, false), 0x5678_00ff);
    assert_eq!(convert::pack_saturated(-9, 9, 0x1234_5678, 4, true), 0x3456_7887);
    assert_eq!(convert::pack_saturated(3, -1, 0xf, 2, false), 0xfc);
}

#[test]
fn halves_saturate() {
    let rn = Rounding::NearestEven;
    let f16 = |x, relu, satfinite| small::half_from_f32::<F16>(x, rn, relu, satfinite);
    assert_eq!([1e9, f32::NEG_INFINITY, -1.0].map(|x| f16(x, false, true)), [0x7bff, 0xfbff, 0xbc00]);
    assert_eq!([1e9, -1e9, -0.0, f32::NAN].map(|x| f16(x, true, false)), [0x7c00, 0, 0, 0x7fff]);
    assert_eq!([1e9, -1e9].map(|x| f16(x, true, true)), [0x7bff, 0]);
    assert_eq!(f16(f32::NAN, false, true), 0x7fff);
    assert_eq!(small::half_from_f32::<Bf16>(f32::MAX, rn, false, true), 0x7f7f);
    assert_eq!(small::half_from_f32::<Bf16>(f32::MAX, Rounding::Zero, false, false), 0x7f7f);
    assert_eq!(half::round::<Bf16>(f32::MAX, rn), 0x7f80);
}

#[test]
fn tf32() {
    let rna = |bits: u32| small::tf32(f32::from_bits(bits), Tf32Rounding::NearestAway, false, false);
    let rn = |bits: u32| small::tf32(f32::from_bits(bits), Tf32Rounding::NearestEven, false, false);
    let rz = |bits: u32| small::tf32(f32::from_bits(bits), Tf32Rounding::Zero, false, false);
    for (bits, away, even, zero) in [
        (0x3f80_0000, 0x3f80_0000, 0x3f80_0000, 0x3f80_0000),
        (0x3f80_1000, 0x3f80_2000, 0x3f80_0000, 0x3f80_0000),
        (0x3f80_3000, 0x3f80_4000, 0x3f80_4000, 0x3f80_2000),
        (0xbf80_0fff, 0xbf80_0000, 0xbf80_0000, 0xbf80_0000),
        (0xbf80_1001, 0xbf80_2000, 0xbf80_2000, 0xbf80_0000),
        (0x7f7f_ffff, 0x7f80_0000, 0x7f80_0000, 0x7f7f_e000),
        (0xff80_0000, 0xff80_0000, 0xff80_0000, 0xff80_0000),
        (0xffc0_0000, 0x7fff_ffff, 0x7fff_ffff, 0x7fff_ffff),
        (0x0000_1000, 0x0000_2000, 0x0000_0000, 0x0000_0000),
    ] {
        assert_eq!([rna(bits), rn(bits), rz(bits)], [away, even, zero], "{bits:08x}");
    }
    assert_eq!(small::tf32(f32::INFINITY, Tf32Rounding::NearestAway, true, false), 0x7f7f_e000);
    assert_eq!(small::tf32(-1.0, Tf32Rounding::NearestEven, false, true), 0);
    assert_eq!(small::tf32_operand(0x3f80_1fff), 1.0);
}

/// Returns all numbers of a format in ascending order, by their definition.
fn numbers(format: SmallFloat) -> Vec<f64> {
    let (fraction, bias, last) = match format {
        SmallFloat::E4m3 => (3, 7, 0x7e),
        SmallFloat::E5m2 => (2, 15, 0x7b),
        SmallFloat::E2m3 => (3, 1, 0x1f),
        SmallFloat::E3m2 => (2, 3, 0x1f),
        SmallFloat::E2m1 => (1, 1, 0x7),
    };
    let number = |code: u32| {
        let (field, low) = (code >> fraction, f64::from(code & ((1 << fraction) - 1)));
        let unit = 2f64.powi(field.max(1) as i32 - bias - fraction);
        unit * (low + if field == 0 { 0.0 } else { f64::from(1 << fraction) })
    };
    (0..=last).map(number).collect()
}

#[test]
fn small_formats() {
    use SmallFloat::*;
    for (format, sign) in [(E4m3, 0x80), (E5m2, 0x80), (E2m3, 0x20), (E3m2, 0x20), (E2m1, 0x8)] {
        let numbers = numbers(format);
        for (code, &number) in numbers.iter().enumerate() {
            assert_eq!(f64::from(format.to_f32(code as u8)), number, "{format:?} {code:02x}");
            assert_eq!(f64::from(format.to_f32(code as u8 | sign)), -number);
            assert_eq!(format.encode(number as f32, false), code as u8);
            assert_eq!(f64::from(F16::to_f32(format.to_half::<F16>(code as u8, false))), number);
        }
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200_000 {
            let x = f32::from_bits(random.u32(0x3600_0000..0x4800_0000));
            let wide = f64::from(x);
            let above = numbers.partition_point(|&number| number < wide);
            let expected = if above == numbers.len() {
                above - 1
            } else if above == 0 {
                0
            } else {
                let middle = (numbers[above - 1] + numbers[above]) / 2.0;
                // The even one of two neighbours has an even code.
                if wide < middle || (wide == middle && above % 2 == 1) { above - 1 } else { above }
            };
            assert_eq!(usize::from(format.encode(x, false)), expected, "{format:?} {x:e}");
            assert_eq!(format.encode(-x, true), 0);
        }
        let largest = numbers.len() as u8 - 1;
        assert_eq!(
            [f32::INFINITY, f32::NEG_INFINITY, f32::MAX].map(|x| format.encode(x, false)),
            [largest, largest | sign, largest]
        );
        assert_eq!(format.to_half::<F16>(sign | 1, true), 0);
        assert_eq!(format.encode(-0.0, false), sign);
        assert_eq!(format.encode(1e-30, false), 0);
    }
    for format in [E4m3, E5m2] {
        assert_eq!(format.encode(-f32::NAN, false), 0x7f);
        assert!(format.to_f32(0x7f).is_nan() && format.to_f32(0xff).is_nan());
        assert_eq!(format.to_half::<F16>(0x7f, false), 0x7fff);
    }
    // The others have no NaN: the largest number stands for it.
    assert_eq!([E2m3, E3m2, E2m1].map(|format| format.encode(-f32::NAN, false)), [0x1f, 0x1f, 0x7]);
    assert!(E5m2.to_f32(0x7c).is_infinite());
    assert_eq!(E4m3.pack(1.0, 448.0, false), 0x387e);
    assert_eq!(E2m1.pack(-6.0, 0.5, false), 0xf1);
}

/// Each exponent and its neighbours.
#[test]
fn exponents() {
    use small::{from_ue8m0, to_ue8m0};
    for code in 0..=254_u8 {
        let number = Bf16::to_f32(from_ue8m0(code));
        assert_eq!(number, 2f32.powi(i32::from(code) - 127), "{code}");
        for up in [false, true] {
            assert_eq!(to_ue8m0(number, up, false), code, "{code}");
            assert_eq!(to_ue8m0(-number, up, true), code, "{code}");
        }
        let above = f32::from_bits(number.to_bits() + 1);
        assert_eq!([to_ue8m0(above, false, true), to_ue8m0(above, true, true)], [code, (code + 1).min(254)]);
    }
    assert_eq!(to_ue8m0(f32::MAX, true, false), 0xff);
    assert_eq!([f32::MAX, f32::INFINITY].map(|x| to_ue8m0(x, true, true)), [254, 254]);
    assert_eq!([0.0, 1e-40, f32::NAN].map(|x| to_ue8m0(x, true, true)), [0, 0, 0xff]);
    assert_eq!(from_ue8m0(0xff), 0x7fff);
}
