//! Tests approximate functions: errors within the bounds that PTX documents, and its special
//! values.

use crate::arith::approx;

const NAN: u32 = 0x7fff_ffff;
const INF: u32 = 0x7f80_0000;
const ONE: u32 = 0x3f80_0000;
const NEGATIVE: u32 = 0x8000_0000;

#[test]
fn special_operands() {
    type Function = fn(f32, bool) -> f32;
    // Operands: -inf, -1, -subnormal, -0, +0, +subnormal, +inf, NaN. `None` means that the manual
    // requires no special value.
    let operands =
        [NEGATIVE | INF, NEGATIVE | ONE, NEGATIVE | 1, NEGATIVE, 0, 1, INF, 0xffc0_1234].map(f32::from_bits);
    let tanh: Function = |x, _| approx::tanh(x);
    let table: &[(&str, Function, bool, [Option<u32>; 8])] = &[
        (
            "ex2",
            approx::ex2,
            false,
            [Some(0), Some(0x3f00_0000), Some(ONE), Some(ONE), Some(ONE), Some(ONE), Some(INF), Some(NAN)],
        ),
        (
            "ex2.ftz",
            approx::ex2,
            true,
            [Some(0), Some(0x3f00_0000), Some(ONE), Some(ONE), Some(ONE), Some(ONE), Some(INF), Some(NAN)],
        ),
        (
            "lg2",
            approx::lg2,
            false,
            [
                Some(NAN),
                Some(NAN),
                Some(NAN),
                Some(NEGATIVE | INF),
                Some(NEGATIVE | INF),
                Some(0xc315_0000),
                Some(INF),
                Some(NAN),
            ],
        ),
        (
            "lg2.ftz",
            approx::lg2,
            true,
            [
                Some(NAN),
                Some(NAN),
                Some(NEGATIVE | INF),
                Some(NEGATIVE | INF),
                Some(NEGATIVE | INF),
                Some(NEGATIVE | INF),
                Some(INF),
                Some(NAN),
            ],
        ),
        (
            "rcp",
            approx::rcp,
            false,
            [
                Some(NEGATIVE),
                Some(NEGATIVE | ONE),
                Some(NEGATIVE | INF),
                Some(NEGATIVE | INF),
                Some(INF),
                Some(INF),
                Some(0),
                Some(NAN),
            ],
        ),
        (
            "sqrt",
            approx::sqrt,
            false,
            [Some(NAN), Some(NAN), Some(NAN), Some(NEGATIVE), Some(0), None, Some(INF), Some(NAN)],
        ),
        (
            "sqrt.ftz",
            approx::sqrt,
            true,
            [Some(NAN), Some(NAN), Some(NEGATIVE), Some(NEGATIVE), Some(0), Some(0), Some(INF), Some(NAN)],
        ),
        (
            "rsqrt",
            approx::rsqrt,
            false,
            [Some(NAN), Some(NAN), Some(NAN), Some(NEGATIVE | INF), Some(INF), None, Some(0), Some(NAN)],
        ),
        (
            "rsqrt.ftz",
            approx::rsqrt,
            true,
            [
                Some(NAN),
                Some(NAN),
                Some(NEGATIVE | INF),
                Some(NEGATIVE | INF),
                Some(INF),
                Some(INF),
                Some(0),
                Some(NAN),
            ],
        ),
        (
            "sin",
            approx::sin,
            false,
            [Some(NAN), None, Some(NEGATIVE | 1), Some(NEGATIVE), Some(0), Some(1), Some(NAN), Some(NAN)],
        ),
        (
            "sin.ftz",
            approx::sin,
            true,
            [Some(NAN), None, Some(NEGATIVE), Some(NEGATIVE), Some(0), Some(0), Some(NAN), Some(NAN)],
        ),
        (
            "cos",
            approx::cos,
            false,
            [Some(NAN), None, Some(ONE), Some(ONE), Some(ONE), Some(ONE), Some(NAN), Some(NAN)],
        ),
        (
            "tanh",
            tanh,
            false,
            [
                Some(NEGATIVE | ONE),
                None,
                Some(NEGATIVE | 1),
                Some(NEGATIVE),
                Some(0),
                Some(1),
                Some(ONE),
                Some(NAN),
            ],
        ),
    ];
    for (name, function, ftz, expected) in table {
        for (x, expected) in operands.into_iter().zip(expected) {
            let got = function(x, *ftz);
            assert!(expected.is_none_or(|expected| got.to_bits() == expected), "{name} of {x:e}: {got:e}");
        }
    }
}

/// Returns every 61st number between two bounds, and those around the bounds.
fn sweep(from: f32, to: f32) -> impl Iterator<Item = f32> {
    (from.to_bits()..=to.to_bits()).step_by(611).map(f32::from_bits)
}

/// Returns the difference in units of the last place of `expected`.
fn ulps(got: f32, expected: f64) -> f64 {
    let nearest = expected as f32;
    let unit = f64::from(f32::from_bits((nearest.abs().to_bits() + 1).min(0x7f7f_ffff)))
        - f64::from(f32::from_bits(((nearest.abs().to_bits() + 1).min(0x7f7f_ffff)) - 1));
    (f64::from(got) - expected).abs() / unit
}

#[test]
fn ex2_is_close_to_correctly_rounded() {
    for x in sweep(1e-10, 127.999_99).chain(sweep(1e-10, 151.0).map(|x| -x)) {
        let expected = f64::from(x).exp2();
        let got = approx::ex2(x, false);
        assert!(
            ulps(got, expected) <= if got.is_subnormal() { 1.0 } else { 0.501 },
            "{x}: {got:e} {expected:e}"
        );
        let flushed = approx::ex2(x, true);
        assert!(!flushed.is_subnormal());
    }
    assert_eq!(approx::ex2(128.0, false), f32::INFINITY);
    assert_eq!(approx::ex2(1e30, false), f32::INFINITY);
    assert_eq!(approx::ex2(-1e30, false).to_bits(), 0);
    assert_eq!(approx::ex2(-149.0, false).to_bits(), 1);
    for n in -149..128 {
        assert_eq!(f64::from(approx::ex2(n as f32, false)), 2f64.powi(n));
    }
}

#[test]
fn lg2_is_within_its_bounds() {
    for x in sweep(f32::from_bits(1), f32::MAX) {
        let expected = f64::from(x).log2();
        let error = (f64::from(approx::lg2(x, false)) - expected).abs();
        let bound = 2f64.powi(-22) * if x > 0.5 && x < 2.0 { 1.0 } else { expected.abs() };
        assert!(error <= bound, "{x:e}: {error:e}");
    }
    assert_eq!(approx::lg2(1.0, false).to_bits(), 0);
    for n in -149..128 {
        assert_eq!(approx::lg2(2f64.powi(n) as f32, false), n as f32);
    }
}

#[test]
fn sine_and_cosine_are_within_their_bounds() {
    let turn = std::f32::consts::TAU;
    for x in sweep(1e-6, 50.0 * turn).flat_map(|x| [x, -x]) {
        let bound = 2f64.powf(if x.abs() <= turn { -20.5 } else { -14.7 });
        let sine = (f64::from(approx::sin(x, false)) - f64::from(x).sin()).abs();
        let cosine = (f64::from(approx::cos(x, false)) - f64::from(x).cos()).abs();
        assert!(sine <= bound && cosine <= bound, "{x}: {sine:e} {cosine:e}");
    }
    // Beyond 1000 the error is not bounded, but the result must be a sine.
    for x in sweep(1000.0, f32::MAX) {
        assert!(approx::sin(x, false).abs() <= 1.0 && approx::cos(-x, false).abs() <= 1.0, "{x}");
    }
}

#[test]
fn tanh_is_within_its_bound() {
    for x in sweep(f32::from_bits(1), 20.0) {
        let expected = f64::from(x).tanh();
        let error = (f64::from(approx::tanh(x)) - expected).abs();
        assert!(error <= expected * 2f64.powi(-21), "{x:e}: {:e}", error / expected);
        assert_eq!(approx::tanh(-x), -approx::tanh(x));
    }
}

#[test]
fn roots_and_quotients_are_within_their_bounds() {
    for x in sweep(f32::from_bits(1), f32::MAX) {
        let expected = f64::from(x).sqrt();
        assert!(ulps(approx::sqrt(x, false), expected) <= 1.0, "sqrt {x:e}");
        let error = (f64::from(approx::rsqrt(x, false)) * expected - 1.0).abs();
        assert!(error <= 2f64.powf(-22.9), "rsqrt {x:e}: {error:e}");
        if x > 1e-37 {
            assert!(ulps(approx::rcp(x, false), 1.0 / f64::from(x)) <= 1.0, "rcp {x:e}");
            assert!(
                ulps(approx::div_full(3.7, x, false), f64::from(3.7f32) / f64::from(x)) <= 2.0,
                "div {x:e}"
            );
        }
    }
    let limit = f32::from_bits(253 << 23);
    assert_eq!(approx::div(8.0, limit, false), 8.0 / limit);
    let beyond = limit * 2.0;
    assert_eq!(approx::div(-f32::MAX, beyond, false).to_bits(), NEGATIVE);
    assert_eq!(approx::div(f32::INFINITY, beyond, false).to_bits(), NAN);
    assert_eq!(approx::div(1.0, 0.0, false), f32::INFINITY);
    assert_eq!(approx::div(0.0, 0.0, false).to_bits(), NAN);
    assert_eq!(approx::div(1.0, f32::INFINITY, false).to_bits(), 0);
}

#[test]
fn gross_approximations_of_doubles() {
    let table: [(u64, u64, u64); 7] = [
        (0xfff0_0000_0000_0000, 0x8000_0000_0000_0000, 0x7fff_ffff_0000_0000),
        (0x8000_0001_0000_0000, 0xfff0_0000_0000_0000, 0xfff0_0000_0000_0000),
        (0x8000_0000_0000_0000, 0xfff0_0000_0000_0000, 0xfff0_0000_0000_0000),
        (0x0000_0000_0000_0000, 0x7ff0_0000_0000_0000, 0x7ff0_0000_0000_0000),
        (0x0000_0001_0000_0000, 0x7ff0_0000_0000_0000, 0x7ff0_0000_0000_0000),
        (0x7ff0_0000_0000_0000, 0x0000_0000_0000_0000, 0x0000_0000_0000_0000),
        (0x7ff8_0000_0000_0001, 0x7fff_ffff_0000_0000, 0x7fff_ffff_0000_0000),
    ];
    for (bits, reciprocal, root) in table {
        let x = f64::from_bits(bits);
        assert_eq!(approx::rcp_gross_f64(x).to_bits(), reciprocal, "{bits:x}");
        assert_eq!(approx::rsqrt_gross_f64(x).to_bits(), root, "{bits:x}");
    }
    let got = approx::rcp_gross_f64(3.0);
    assert!((got * 3.0 - 1.0).abs() < 1e-6 && got.to_bits() as u32 == 0);
    assert!((approx::rsqrt_f64(2.0) - 0.5f64.sqrt()).abs() < 1e-15);
    assert_eq!(approx::rsqrt_f64(-0.0), f64::NEG_INFINITY);
}
