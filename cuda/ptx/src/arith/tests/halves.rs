//! Tests f16 and bf16 arithmetic, in which each result is rounded once.

use super::reference::{self, Rational};
use super::{ROUNDINGS, Rounding};
use crate::arith::half::{self, Bf16, F16, Half};
use crate::arith::single::Extremum;
use crate::arith::{Modes, approx};

#[test]
fn every_half_converts_to_f32_and_back() {
    for bits in 0..=u16::MAX {
        let expected = ::half::f16::from_bits(bits);
        let x = F16::to_f32(bits);
        assert_eq!(x.is_nan(), expected.is_nan(), "{bits:04x}");
        if !x.is_nan() {
            assert_eq!(x.to_bits(), expected.to_f32().to_bits(), "{bits:04x}");
            assert_eq!(F16::from_f32(x), bits);
        } else {
            assert_eq!(F16::from_f32(x), half::CANONICAL_NAN);
        }
        let y = Bf16::to_f32(bits);
        if y.is_nan() {
            assert_eq!(Bf16::from_f32(y), half::CANONICAL_NAN);
        } else {
            assert_eq!(Bf16::from_f32(y), bits);
        }
    }
}

/// Covers every half, and the `f32` between it and its neighbour: ties, and numbers next to ties.
#[test]
fn f32_is_rounded_to_halves_as_the_exact_value() {
    fn check<H: Half>(x: f32, format: reference::Format) {
        for rounding in ROUNDINGS {
            let expected = Rational::f32(x).round(format, rounding) as u16;
            assert_eq!(half::round::<H>(x, rounding), expected, "{x:e} {rounding:?}");
        }
    }
    for bits in (0..0x7c00u16).step_by(7) {
        let low = F16::to_f32(bits).to_bits();
        let step = F16::to_f32(bits + 1).to_bits().wrapping_sub(low).min(0x2000);
        for x in [low, low + 1, low + step / 2 - 1, low + step / 2, low + step / 2 + 1] {
            check::<F16>(f32::from_bits(x), reference::F16);
            check::<F16>(f32::from_bits(x | 0x8000_0000), reference::F16);
        }
    }
    for bits in (0..0x7f80u32).step_by(7) {
        for low in [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff] {
            check::<Bf16>(f32::from_bits(bits << 16 | low), reference::BF16);
            check::<Bf16>(f32::from_bits(bits << 16 | low | 0x8000_0000), reference::BF16);
        }
    }
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..50_000 {
        check::<F16>(f32::from_bits(random.u32(0x3300_0000..0x4790_0000)), reference::F16);
    }
    check::<F16>(65519.0, reference::F16);
    check::<F16>(65520.0, reference::F16);
    check::<F16>(f32::MAX, reference::F16);
    assert_eq!(F16::from_f32(f32::INFINITY), 0x7c00);
    assert_eq!(half::round::<F16>(f32::NEG_INFINITY, Rounding::Zero), 0xfc00);
    assert_eq!(half::round::<F16>(f32::NAN, Rounding::Down), 0x7fff);
}

fn finite<H: Half>(random: &mut fastrand::Rng) -> u16 {
    let magnitude = match random.u32(0..3) {
        0 => random.u16(0..H::INFINITY),
        1 => [0, 1, H::MIN_NORMAL - 1, H::MIN_NORMAL, H::INFINITY - 1][random.usize(0..5)],
        _ => H::from_f32(random.f32() * 4.0),
    };
    magnitude | random.u16(..) & 0x8000
}

fn arithmetic<H: Half>(format: reference::Format) {
    let mut random = fastrand::Rng::with_seed(4);
    for _ in 0..100_000 {
        let [a, b, c] = [(); 3].map(|()| finite::<H>(&mut random));
        let [x, y, z] = [a, b, c].map(|bits| Rational::from_bits(bits.into(), format));
        let rn = Rounding::NearestEven;
        let check = |name: &str, got: u16, expected: Rational| {
            assert_eq!(got, expected.round(format, rn) as u16, "{name} {a:04x} {b:04x} {c:04x}");
        };
        check("add", half::add::<H>(a, b, Modes::RN), x.add(&y, rn));
        check("mul", half::mul::<H>(a, b, Modes::RN), x.mul(&y));
        check("fma", half::fma::<H>(a, b, c, Modes::RN), x.mul(&y).add(&z, rn));
        let minus = Rational::from_bits(u64::from(b ^ 0x8000), format);
        check("sub", half::sub::<H>(a, b, Modes::RN), x.add(&minus, rn));
    }
}

#[test]
fn f16_arithmetic_is_rounded_once() {
    arithmetic::<F16>(reference::F16);
}

#[test]
fn bf16_arithmetic_is_rounded_once() {
    arithmetic::<Bf16>(reference::BF16);
    // The product exceeds the range of f32, the sum does not.
    assert_eq!(half::fma::<Bf16>(0x7f00, 0x4000, 0xff00, Modes::RN), 0x7f00);
}

#[test]
fn every_half_through_the_unary_operations() {
    fn check<H: Half>() {
        for a in 0..=u16::MAX {
            let x = H::to_f32(a);
            let subnormal = x != 0.0 && a & 0x7fff < H::MIN_NORMAL;
            let flushed = if subnormal { a & 0x8000 } else { a };
            assert_eq!(half::neg::<H>(a, false), a ^ 0x8000);
            assert_eq!(half::abs::<H>(a, false), a & 0x7fff);
            assert_eq!(half::neg::<H>(a, true), flushed ^ 0x8000);
            assert_eq!(half::abs::<H>(a, true), flushed & 0x7fff);
            let relu = half::relu::<H>(a);
            let saturated = half::saturate::<H>(a);
            if x.is_nan() {
                assert_eq!((relu, saturated), (0x7fff, 0));
                assert_eq!((half::ex2::<H>(a, false), half::tanh::<H>(a)), (0x7fff, 0x7fff));
            } else {
                assert_eq!(relu, if x > 0.0 { a } else { 0 });
                assert_eq!(saturated, H::from_f32(x.clamp(0.0, 1.0).abs()));
                let power = f64::from(x).exp2();
                let error = (f64::from(H::to_f32(half::ex2::<H>(a, false))) - power).abs();
                let largest = f64::from(H::to_f32(H::INFINITY - 1));
                if power > f64::from(H::to_f32(H::MIN_NORMAL)) && power < largest {
                    assert!(error <= power * 2f64.powf(-7.0), "ex2 {x}");
                }
                let expected = f64::from(x).tanh();
                let error = (f64::from(H::to_f32(half::tanh::<H>(a))) - expected).abs();
                assert!(error <= 2f64.powi(-8), "tanh {x}");
            }
        }
    }
    check::<F16>();
    check::<Bf16>();
    // The bounds for f16 are tighter, as documented: 2^-9.9 and 2^-10.987.
    for a in 0..0x7c00u16 {
        let x = f64::from(F16::to_f32(a));
        for (sign, bits) in [(1.0, a), (-1.0, a | 0x8000)] {
            let power = (sign * x).exp2();
            if power > 6.2e-5 && power < 65000.0 {
                let got = f64::from(F16::to_f32(half::ex2::<F16>(bits, false)));
                assert!((got - power).abs() <= power * 2f64.powf(-9.9), "ex2 {x}");
            }
            let got = f64::from(F16::to_f32(half::tanh::<F16>(bits)));
            assert!((got - (sign * x).tanh()).abs() <= 2f64.powf(-10.987), "tanh {x}");
        }
    }
    // The special operands of ex2.approx.ftz.bf16.
    for (a, expected) in [
        (0xff80, 0),
        (0x8001, 0x3f80),
        (0x8000, 0x3f80),
        (0, 0x3f80),
        (1, 0x3f80),
        (0x7f80, 0x7f80),
        (0x7fc0, 0x7fff),
    ] {
        assert_eq!(half::ex2::<Bf16>(a, true), expected, "{a:04x}");
    }
    assert_eq!(half::ex2::<Bf16>(Bf16::from_f32(-127.0), true), 0);
    assert!(approx::tanh(-0.0).is_sign_negative());
}

#[test]
fn special_values() {
    let rn = Modes::RN;
    let ftz = Modes::RN_FTZ;
    let sat = Modes { saturate: true, ..rn };
    let table: &[(&str, u16, u16)] = &[
        ("inf - inf", half::sub::<F16>(0x7c00, 0x7c00, rn), 0x7fff),
        ("NaN", half::add::<F16>(0xfe01, 0x3c00, rn), 0x7fff),
        ("0 * inf", half::mul::<Bf16>(0, 0x7f80, rn), 0x7fff),
        ("fma inf", half::fma::<F16>(0x7bff, 0x7bff, 0xfc00, rn), 0xfc00),
        ("fma overflow", half::fma::<F16>(0x7bff, 0x7bff, 0, rn), 0x7c00),
        ("fma bf16 inf", half::fma::<Bf16>(0x7f7f, 0x7f7f, 0x7f80, rn), 0x7f80),
        ("tiny + 0", half::add::<F16>(1, 0, rn), 1),
        ("tiny + 0 ftz", half::add::<F16>(1, 0, ftz), 0),
        ("-tiny ftz", half::mul::<F16>(0x8001, 0x3c00, ftz), 0x8000),
        ("result ftz", half::mul::<F16>(0x8400, 0x3800, ftz), 0x8000),
        ("sat", half::add::<F16>(0x3c00, 0x3c00, sat), 0x3c00),
        ("sat NaN", half::add::<F16>(0x7e00, 0x3c00, sat), 0),
        ("sat -1", half::add::<F16>(0xbc00, 0, sat), 0),
        ("-0 + 0", half::add::<F16>(0x8000, 0, rn), 0),
        ("-0 + -0", half::add::<F16>(0x8000, 0x8000, rn), 0x8000),
        ("relu -0", half::relu::<F16>(0x8000), 0),
    ];
    for &(name, got, expected) in table {
        assert_eq!(got, expected, "{name}: {got:04x}");
    }
}

#[test]
fn minimum_and_maximum() {
    let number = Extremum::default();
    let nan = Extremum { nan: true, ..number };
    let signs = Extremum { xorsign_abs: true, ..number };
    let ftz = Extremum { ftz: true, ..number };
    let table: &[(u16, u16, Extremum, u16, u16)] = &[
        (0x3c00, 0x4000, number, 0x3c00, 0x4000),
        (0x8000, 0, number, 0x8000, 0),
        (0x7e00, 0x3c00, number, 0x3c00, 0x3c00),
        (0x7e00, 0xfe00, number, 0x7fff, 0x7fff),
        (0x3c00, 0x7e00, nan, 0x7fff, 0x7fff),
        (0xc000, 0x3c00, signs, 0xbc00, 0xc000),
        (0x8001, 0x8002, ftz, 0x8000, 0x8000),
        (0x8001, 0x8002, number, 0x8002, 0x8001),
    ];
    for &(a, b, modes, least, greatest) in table {
        assert_eq!(half::min::<F16>(a, b, modes), least, "min {a:04x} {b:04x} {modes:?}");
        assert_eq!(half::max::<F16>(a, b, modes), greatest, "max {a:04x} {b:04x} {modes:?}");
    }
    assert_eq!(half::max::<Bf16>(0x0001, 0x8001, number), 1);
}
