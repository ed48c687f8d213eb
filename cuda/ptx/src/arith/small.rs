//! The formats that only tensor cores compute in: `tf32` in 32 bits, `e4m3` and `e5m2` in 8.

use super::half::{self, F16, Half};
use super::single::{self, CANONICAL_NAN};

/// The rounding to `tf32`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Tf32Rounding {
    /// `.rna`: to nearest, ties away from zero.
    NearestAway,
    /// `.rn`: to nearest, ties to even.
    NearestEven,
    /// `.rz`: toward zero.
    Zero,
}

/// The number of bits of an `f32` that a `tf32` lacks.
const TF32_CUT: u32 = 13;
const MAX_TF32: u32 = 0x7f7f_e000;

/// `cvt.tf32.f32`, as the bits of an `f32`.
#[inline(always)]
pub(crate) fn tf32(x: f32, rounding: Tf32Rounding, satfinite: bool, relu: bool) -> u32 {
    let sign = x.to_bits() & 0x8000_0000;
    let magnitude = x.to_bits() ^ sign;
    let increment = match rounding {
        Tf32Rounding::NearestAway => 1 << (TF32_CUT - 1),
        Tf32Rounding::NearestEven => (1 << (TF32_CUT - 1)) - 1 + (magnitude >> TF32_CUT & 1),
        Tf32Rounding::Zero => 0,
    };
    let rounded = (magnitude + increment) & !((1 << TF32_CUT) - 1);
    let limit = if satfinite { MAX_TF32 } else { f32::INFINITY.to_bits() };
    let signed = rounded.min(limit) | sign;
    let clamped = if relu & (sign != 0) { 0 } else { signed };
    if x.is_nan() { CANONICAL_NAN.to_bits() } else { clamped }
}

/// Returns the number that tensor cores read from a register that holds a `tf32`: the low bits are
/// ignored.
#[inline(always)]
pub(crate) fn tf32_operand(bits: u32) -> f32 {
    f32::from_bits(bits & !((1 << TF32_CUT) - 1))
}

/// An 8-bit floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Float8 {
    /// Four bits of exponent, three of fraction; no infinity, one NaN of each sign; up to 448.
    E4m3,
    /// Five bits of exponent, two of fraction; the upper half of an `f16`; up to 57344.
    E5m2,
}

/// The bits of a NaN in both formats, without its sign.
const NAN8: u8 = 0x7f;

impl Float8 {
    /// Returns the number of bits of the fraction, the bias of the exponent, and the largest finite
    /// number.
    const fn layout(self) -> (u32, u32, u32) {
        match self {
            Self::E4m3 => (3, 7, 0x7e),
            Self::E5m2 => (2, 15, 0x7b),
        }
    }

    /// `cvt.rn.satfinite`: rounds to nearest, ties to even. Numbers above the largest one become
    /// the largest one.
    #[inline(always)]
    pub(crate) fn encode(self, x: f32, relu: bool) -> u8 {
        let (fraction, bias, largest) = self.layout();
        let negative = x.is_sign_negative();
        let magnitude = x.to_bits() & 0x7fff_ffff;
        let cut = 23 - fraction;
        let odd = magnitude >> cut & 1;
        let normal = ((magnitude + (1 << (cut - 1)) - 1 + odd) >> cut).wrapping_sub((127 - bias) << fraction);
        // The last bit of this power of two is the unit of the format's subnormals, so the addition
        // rounds to it.
        let unit = f32::from_bits((127 + 1 - bias + cut) << 23);
        let subnormal = (f32::from_bits(magnitude) + unit).to_bits().wrapping_sub(unit.to_bits());
        let code = if magnitude < (127 + 1 - bias) << 23 { subnormal } else { normal };
        let clamped = code.min(largest) as u8 | u8::from(negative) << 7;
        let clamped = if relu & negative { 0 } else { clamped };
        if x.is_nan() { NAN8 } else { clamped }
    }

    /// Returns the number that a byte represents.
    #[inline(always)]
    pub(crate) fn to_f32(self, byte: u8) -> f32 {
        match self {
            Self::E5m2 => F16::to_f32(u16::from(byte) << 8),
            Self::E4m3 => {
                let magnitude = u32::from(byte & 0x7f);
                let normal = f32::from_bits((magnitude << 20) + (120 << 23));
                let subnormal = magnitude as f32 * (1.0 / 512.0);
                let number = if magnitude < 8 { subnormal } else { normal };
                let value = if magnitude == 0x7f { CANONICAL_NAN } else { number };
                if byte & 0x80 != 0 { -value } else { value }
            }
        }
    }

    /// `cvt.rn.f16x2`: exact, as every number of both formats is an `f16`.
    #[inline(always)]
    pub(crate) fn to_f16(self, byte: u8, relu: bool) -> u16 {
        let half = F16::from_f32(self.to_f32(byte));
        if relu { half::relu::<F16>(half) } else { half }
    }
}

/// `cvt.rn.satfinite.e4m3x2.f32` and similar forms: `a` in the upper byte, `b` in the lower.
#[inline(always)]
pub(crate) fn pack8(format: Float8, a: f32, b: f32, relu: bool) -> u16 {
    u16::from(format.encode(a, relu)) << 8 | u16::from(format.encode(b, relu))
}

/// `.satfinite` of a conversion to a half: infinities become the largest number.
#[inline(always)]
pub(crate) fn finite_half<H: Half>(bits: u16) -> u16 {
    let infinite = bits & 0x7fff == H::INFINITY;
    if infinite { bits - 1 } else { bits }
}

/// Converts an `f32` to a half with `.relu` and `.satfinite`.
#[inline(always)]
pub(crate) fn half_from_f32<H: Half>(x: f32, rounding: super::Rounding, relu: bool, satfinite: bool) -> u16 {
    let bits = half::round::<H>(single::canonical(x), rounding);
    let bits = if satfinite { finite_half::<H>(bits) } else { bits };
    if relu { half::relu::<H>(bits) } else { bits }
}
