//! Rounding by definition: to a format of any width, in any direction, from an exact value.

use half::{bf16, f16};

/// Where a value goes that lies between two numbers of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mode {
    Nearest,
    Zero,
    Up,
    Down,
}

/// All of them, in the order of CUDA's suffixes rn, rz, ru, rd.
pub(crate) const MODES: [Mode; 4] = [Mode::Nearest, Mode::Zero, Mode::Up, Mode::Down];

/// A binary floating-point format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// Bits of a normal number, the hidden one with them.
    precision: i32,
    /// The exponent of the least normal number.
    least: i32,
    max: f64,
}

pub(crate) const F16: Format = Format { precision: 11, least: -14, max: 65504.0 };
pub(crate) const BF16: Format = Format { precision: 8, least: -126, max: 255.0 * (1u128 << 120) as f64 };
pub(crate) const F32: Format = Format { precision: 24, least: -126, max: f32::MAX as f64 };
pub(crate) const F64: Format = Format { precision: 53, least: -1022, max: f64::MAX };
pub(crate) const E4M3: Format = Format { precision: 4, least: -6, max: 448.0 };
pub(crate) const E5M2: Format = Format { precision: 3, least: -14, max: 57344.0 };

/// The exact value `value + rest`, rounded. Of `rest`, which is less than half of the last place of
/// `value`, the sign counts alone.
pub(crate) fn round(value: f64, rest: f64, format: Format, mode: Mode) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    let toward_zero = rest * value.signum() < 0.0;
    let magnitude = value.abs();
    let mut exponent = exponent_of(magnitude);
    // Just below a power of two the numbers lie twice as dense.
    if toward_zero && magnitude == power_of_two(exponent) {
        exponent -= 1;
    }
    let step = exponent.max(format.least) - format.precision + 1;
    let scaled = scale(magnitude, -step);
    let floor = scaled.floor();
    let low = if scaled == floor && toward_zero { floor - 1.0 } else { floor };
    let exact = scaled == floor && rest == 0.0;
    let up = match mode {
        _ if exact => false,
        Mode::Zero => false,
        Mode::Up => value > 0.0,
        Mode::Down => value < 0.0,
        Mode::Nearest => {
            let part = scaled - low;
            let tie = part == 0.5 && rest == 0.0;
            if tie { low % 2.0 == 1.0 } else { part > 0.5 || part == 0.5 && !toward_zero }
        }
    };
    let result = scale(if up { low + 1.0 } else { low }, step);
    let outward = match mode {
        Mode::Nearest => true,
        Mode::Zero => false,
        Mode::Up => value > 0.0,
        Mode::Down => value < 0.0,
    };
    let result = match result <= format.max {
        true => result,
        false if outward => f64::INFINITY,
        false => format.max,
    };
    result.copysign(value)
}

fn exponent_of(magnitude: f64) -> i32 {
    let bits = (magnitude.to_bits() >> 52) as i32;
    if bits == 0 { -1011 - magnitude.to_bits().leading_zeros() as i32 } else { bits - 1023 }
}

fn power_of_two(exponent: i32) -> f64 {
    scale(1.0, exponent)
}

/// `value` times a power of two, in steps that do not leave the range before the result does.
fn scale(value: f64, exponent: i32) -> f64 {
    libm::ldexp(value, exponent)
}

/// The nearest half.
pub(crate) fn to_f16(value: f64) -> f16 {
    f16::from_f32(round(value, 0.0, F16, Mode::Nearest) as f32)
}

/// The nearest bfloat16.
pub(crate) fn to_bf16(value: f64) -> bf16 {
    bf16::from_f32(round(value, 0.0, BF16, Mode::Nearest) as f32)
}

/// A sum in two parts: the rounded one, and exactly what it lacks.
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// A product in two parts.
pub(crate) fn two_product(a: f64, b: f64) -> (f64, f64) {
    (a * b, a.mul_add(b, -(a * b)))
}

/// A product and sum in two parts, of the second the sign alone.
pub(crate) fn two_fma(a: f64, b: f64, c: f64) -> (f64, f64) {
    let result = a.mul_add(b, c);
    let (product, product_rest) = two_product(a, b);
    let (sum, sum_rest) = two_sum(product, c);
    let (high, low) = two_sum(sum - result, sum_rest);
    let (top, rest) = two_sum(high, product_rest);
    (result, if top == 0.0 { rest + low } else { top + (rest + low) })
}

#[test]
fn rounding_agrees_with_the_hardware() {
    for _ in 0..10_000 {
        let value = f64::from_bits(fastrand::u64(..));
        let single = f32::from_bits(fastrand::u32(..));
        if value.is_finite() {
            assert_eq!(round(value, 0.0, F32, Mode::Nearest) as f32, value as f32);
            assert_eq!(round(value, 0.0, F64, Mode::Up), value);
        }
        if single.is_finite() {
            assert_eq!(to_f16(single.into()), f16::from_f32(single));
            assert_eq!(to_bf16(single.into()), bf16::from_f32(single));
        }
    }
    assert_eq!(round(1.0, -1e-30, F64, Mode::Down), 1.0 - f64::EPSILON / 2.0);
    assert_eq!(round(-65504.0, -1.0, F16, Mode::Down), f64::NEG_INFINITY);
    assert_eq!(round(1e9, 0.0, F16, Mode::Up), f64::INFINITY);
    assert_eq!(round(1e9, 0.0, F16, Mode::Zero), 65504.0);
    assert_eq!(round(1e-30, 0.0, F16, Mode::Up), 2f64.powi(-24));
}
