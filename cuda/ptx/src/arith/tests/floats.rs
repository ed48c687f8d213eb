//! Tests f32 and f64 arithmetic in every rounding mode, against exact arithmetic.

use super::reference::{F32, F64, Rational};
use super::{ROUNDINGS, Rounding, operand, operand_f64};
use crate::arith::single::{self, Extremum, Property};
use crate::arith::{Modes, double};

const NAN: u32 = 0x7fff_ffff;

fn modes(rounding: Rounding) -> Modes {
    Modes { rounding, ..Modes::RN }
}

#[test]
fn f32_arithmetic_is_rounded_as_the_exact_result() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..20_000 {
        let (a, b, c) = (operand(&mut random), operand(&mut random), operand(&mut random));
        let (x, y, z) = (Rational::f32(a), Rational::f32(b), Rational::f32(c));
        for rounding in ROUNDINGS {
            let check = |name: &str, got: f32, expected: Rational| {
                let expected = expected.round(F32, rounding) as u32;
                assert_eq!(got.to_bits(), expected, "{name} {rounding:?} {a:e} {b:e} {c:e}: {got:e}");
            };
            let m = modes(rounding);
            check("add", single::add(a, b, m), x.add(&y, rounding));
            check("sub", single::sub(a, b, m), x.add(&Rational::f32(-b), rounding));
            check("mul", single::mul(a, b, m), x.mul(&y));
            check("fma", single::fma::<false>(a, b, c, m), x.mul(&y).add(&z, rounding));
            check("fma", single::fma::<true>(a, b, c, m), x.mul(&y).add(&z, rounding));
            if b != 0.0 {
                check("div", single::div(a, b, rounding, false), x.div(&y));
                check("rcp", single::rcp(b, rounding, false), Rational::f32(1.0).div(&y));
            }
            if a.is_sign_positive() {
                check("sqrt", single::sqrt(a, rounding, false), x.sqrt());
            }
        }
    }
}

#[test]
fn f64_arithmetic_is_rounded_as_the_exact_result() {
    let mut random = fastrand::Rng::with_seed(2);
    for _ in 0..10_000 {
        let (a, b, c) = (operand_f64(&mut random), operand_f64(&mut random), operand_f64(&mut random));
        // Sums that nearly cancel reveal errors first.
        let c = if random.bool() { c } else { -(a * b) };
        if !c.is_finite() {
            continue;
        }
        let (x, y, z) = (Rational::f64(a), Rational::f64(b), Rational::f64(c));
        for rounding in ROUNDINGS {
            let check = |name: &str, got: f64, expected: Rational| {
                let expected = expected.round(F64, rounding);
                assert_eq!(got.to_bits(), expected, "{name} {rounding:?} {a:e} {b:e} {c:e}: {got:e}");
            };
            check("add", double::add(a, b, rounding), x.add(&y, rounding));
            check("sub", double::sub(a, b, rounding), x.add(&Rational::f64(-b), rounding));
            check("mul", double::mul(a, b, rounding), x.mul(&y));
            check("fma", double::fma(a, b, c, rounding), x.mul(&y).add(&z, rounding));
            if b != 0.0 {
                check("div", double::div(a, b, rounding), x.div(&y));
                check("rcp", double::rcp(b, rounding), Rational::f64(1.0).div(&y));
            }
            if a.is_sign_positive() {
                check("sqrt", double::sqrt(a, rounding), x.sqrt());
            }
        }
    }
}

#[test]
fn f32_special_values() {
    let inf = f32::INFINITY;
    let nan = f32::from_bits(0xffc0_1234);
    let tiny = f32::from_bits(1);
    let rn = Modes::RN;
    let ftz = Modes::RN_FTZ;
    let sat = Modes { saturate: true, ..Modes::RN };
    let down = modes(Rounding::Down);
    let table: &[(&str, f32, u32)] = &[
        ("NaN payload", single::add(nan, 1.0, rn), NAN),
        ("inf - inf", single::sub(inf, inf, rn), NAN),
        ("0 * inf", single::mul(0.0, inf, rn), NAN),
        ("inf * 0 + NaN", single::fma::<true>(inf, 0.0, nan, rn), NAN),
        ("NaN, directed", single::add(nan, 1.0, down), NAN),
        ("inf - inf, directed", single::sub(inf, inf, down), NAN),
        ("inf, directed", single::add(inf, 1.0, down), 0x7f80_0000),
        ("0 / 0", single::div(0.0, 0.0, Rounding::NearestEven, false), NAN),
        ("0 / 0, directed", single::div(0.0, 0.0, Rounding::Up, false), NAN),
        ("-1 / 0", single::div(-1.0, 0.0, Rounding::Up, false), 0xff80_0000),
        ("1 / -inf", single::div(1.0, -inf, Rounding::Down, false), 0x8000_0000),
        ("sqrt -1", single::sqrt(-1.0, Rounding::NearestEven, false), NAN),
        ("sqrt -0", single::sqrt(-0.0, Rounding::Up, false), 0x8000_0000),
        ("sqrt -tiny", single::sqrt(-tiny, Rounding::NearestEven, false), NAN),
        ("sqrt.ftz -tiny", single::sqrt(-tiny, Rounding::NearestEven, true), 0x8000_0000),
        ("1 - 1", single::sub(1.0, 1.0, rn), 0),
        ("1 - 1 down", single::sub(1.0, 1.0, down), 0x8000_0000),
        ("-0 + 0", single::add(-0.0, 0.0, rn), 0),
        ("-0 + 0 down", single::add(-0.0, 0.0, down), 0x8000_0000),
        ("-0 + -0 up", single::add(-0.0, -0.0, modes(Rounding::Up)), 0x8000_0000),
        ("0 + 0 down", single::add(0.0, 0.0, down), 0),
        ("overflow rz", single::add(f32::MAX, f32::MAX, modes(Rounding::Zero)), 0x7f7f_ffff),
        ("overflow rm", single::mul(f32::MAX, 2.0, down), 0x7f7f_ffff),
        ("-overflow rm", single::mul(f32::MAX, -2.0, down), 0xff80_0000),
        ("underflow rp", single::mul(tiny, tiny, modes(Rounding::Up)), 1),
        ("-underflow rp", single::mul(tiny, -tiny, modes(Rounding::Up)), 0x8000_0000),
        ("-underflow rm", single::mul(tiny, -tiny, down), 0x8000_0001),
        ("tiny + tiny", single::add(tiny, tiny, rn), 2),
        ("tiny + -1 ftz", single::add(tiny, -0.0, ftz), 0),
        ("-tiny ftz", single::add(-tiny, -0.0, ftz), 0x8000_0000),
        ("result ftz", single::mul(f32::MIN_POSITIVE, -0.5, ftz), 0x8000_0000),
        ("-tiny * 1 ftz", single::mul(-tiny, 1.0, ftz), 0x8000_0000),
        ("1 / tiny ftz", single::div(1.0, tiny, Rounding::NearestEven, true), 0x7f80_0000),
        ("sat 2", single::add(1.0, 1.0, sat), 0x3f80_0000),
        ("sat -1", single::add(-1.0, 0.0, sat), 0),
        ("sat -0", single::mul(-1.0, 0.0, sat), 0),
        ("sat NaN", single::add(nan, 0.0, sat), 0),
        ("sat inf", single::add(inf, 0.0, sat), 0x3f80_0000),
        ("sat 0.5", single::mul(0.5, 1.0, sat), 0x3f00_0000),
        ("neg NaN", single::neg(nan, false), 0x7fc0_1234),
        ("abs -tiny ftz", single::abs(-tiny, true), 0),
        ("neg tiny ftz", single::neg(tiny, true), 0x8000_0000),
        ("copysign", single::copysign(-0.0, 3.0), 0xc040_0000),
    ];
    for &(name, got, expected) in table {
        assert_eq!(got.to_bits(), expected, "{name}: {got:e}");
    }
}

#[test]
fn f32_minimum_and_maximum() {
    let nan = f32::from_bits(0xffc0_1234);
    let number = Extremum::default();
    let with_nan = Extremum { nan: true, ..number };
    let signs = Extremum { xorsign_abs: true, ..number };
    let ftz = Extremum { ftz: true, ..number };
    let table: &[(f32, f32, Extremum, u32, u32)] = &[
        (1.0, 2.0, number, 0x3f80_0000, 0x4000_0000),
        (-0.0, 0.0, number, 0x8000_0000, 0),
        (0.0, -0.0, number, 0x8000_0000, 0),
        (nan, 1.0, number, 0x3f80_0000, 0x3f80_0000),
        (1.0, nan, number, 0x3f80_0000, 0x3f80_0000),
        (nan, nan, number, NAN, NAN),
        (nan, 1.0, with_nan, NAN, NAN),
        (1.0, nan, with_nan, NAN, NAN),
        (f32::INFINITY, f32::NEG_INFINITY, number, 0xff80_0000, 0x7f80_0000),
        (-2.0, 1.0, signs, 0xbf80_0000, 0xc000_0000),
        (-2.0, -1.0, signs, 0x3f80_0000, 0x4000_0000),
        (nan, 1.0, signs, 0xbf80_0000, 0xbf80_0000),
        (nan, nan, signs, NAN, NAN),
        (f32::from_bits(0x8000_0001), 1.0, ftz, 0x8000_0000, 0x3f80_0000),
        (f32::from_bits(2), f32::from_bits(1), ftz, 0, 0),
        (f32::from_bits(2), f32::from_bits(1), number, 1, 2),
    ];
    for &(a, b, modes, least, greatest) in table {
        assert_eq!(single::min(a, b, modes).to_bits(), least, "min {a:e} {b:e} {modes:?}");
        assert_eq!(single::max(a, b, modes).to_bits(), greatest, "max {a:e} {b:e} {modes:?}");
    }
}

#[test]
fn f64_special_values() {
    let signaling = f64::from_bits(0x7ff0_0000_0000_0123);
    let quiet = f64::from_bits(0xfff8_0000_0000_0456);
    let rn = Rounding::NearestEven;
    let table: &[(&str, f64, u64)] = &[
        ("payload of a", double::add(signaling, quiet, rn), 0x7ff8_0000_0000_0123),
        ("payload of b", double::sub(1.0, quiet, rn), 0xfff8_0000_0000_0456),
        ("payload, directed", double::mul(1.0, quiet, Rounding::Up), 0xfff8_0000_0000_0456),
        ("inf - inf", double::sub(f64::INFINITY, f64::INFINITY, rn), 0xfff8_0000_0000_0000),
        ("0 / 0", double::div(0.0, 0.0, Rounding::Down), 0xfff8_0000_0000_0000),
        ("sqrt -1", double::sqrt(-1.0, Rounding::Zero), 0xfff8_0000_0000_0000),
        ("sqrt -0", double::sqrt(-0.0, Rounding::Zero), 1 << 63),
        ("1 / -0", double::div(1.0, -0.0, Rounding::Zero), 0xfff0_0000_0000_0000),
        ("0 / -5", double::div(0.0, -5.0, Rounding::Zero), 1 << 63),
        ("1 - 1 down", double::sub(1.0, 1.0, Rounding::Down), 1 << 63),
        ("1 - 1 up", double::sub(1.0, 1.0, Rounding::Up), 0),
        ("overflow rz", double::mul(f64::MAX, 2.0, Rounding::Zero), 0x7fef_ffff_ffff_ffff),
        ("inf rz", double::mul(f64::INFINITY, 2.0, Rounding::Zero), 0x7ff0_0000_0000_0000),
        ("fma inf", double::fma(f64::MAX, 2.0, f64::NEG_INFINITY, Rounding::Up), 0xfff0_0000_0000_0000),
        ("min -0", double::min(0.0, -0.0), 1 << 63),
        ("max -0", double::max(-0.0, 0.0), 0),
        ("min NaN", double::min(quiet, 3.0), 0x4008_0000_0000_0000),
        ("max NaN", double::max(3.0, quiet), 0x4008_0000_0000_0000),
        ("abs NaN", double::abs(quiet), 0xfff8_0000_0000_0456),
        ("copysign", double::copysign(-1.0, 2.0), 0xc000_0000_0000_0000),
    ];
    for &(name, got, expected) in table {
        assert_eq!(got.to_bits(), expected, "{name}: {got:e}");
    }
}

#[test]
fn properties() {
    // finite, infinite, number, not a number, normal, subnormal
    let table: [(f32, [bool; 6]); 5] = [
        (0.0, [true, false, true, false, true, false]),
        (-1.5, [true, false, true, false, true, false]),
        (f32::from_bits(0x8000_0001), [true, false, true, false, false, true]),
        (f32::NEG_INFINITY, [false, true, true, false, false, false]),
        (f32::NAN, [false, false, false, true, false, false]),
    ];
    let properties = [
        Property::Finite,
        Property::Infinite,
        Property::Number,
        Property::NotANumber,
        Property::Normal,
        Property::Subnormal,
    ];
    for (x, expected) in table {
        assert_eq!(properties.map(|property| single::test(x, property)), expected, "{x}");
        let wide = if x.is_subnormal() { f64::from_bits(1) } else { f64::from(x) };
        assert_eq!(properties.map(|property| double::test(wide, property)), expected, "{x}");
    }
}
