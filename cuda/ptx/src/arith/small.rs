//! The formats that only tensor cores compute in: `tf32` in 32 bits, `e4m3`, `e5m2` and `ue8m0` in 8,
//! `e2m3` and `e3m2` in 6, `e2m1` in 4.

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

/// A floating-point format of 4 to 8 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum SmallFloat {
    /// Four bits of exponent, three of fraction; no infinity, one NaN of each sign; up to 448.
    E4m3,
    /// Five bits of exponent, two of fraction; the upper half of an `f16`; up to 57344.
    E5m2,
    /// Two bits of exponent, three of fraction; neither infinity nor NaN; up to 7.5.
    E2m3,
    /// Three bits of exponent, two of fraction; neither infinity nor NaN; up to 28.
    E3m2,
    /// Two bits of exponent, one of fraction; neither infinity nor NaN; up to 6.
    E2m1,
}

/// The bits of a NaN in the formats of 8 bits, without its sign.
const NAN8: u8 = 0x7f;

impl SmallFloat {
    /// Returns the number of bits of the fraction, the bias of the exponent, the largest finite
    /// number, and the bit of the sign.
    const fn layout(self) -> (u32, u32, u8, u8) {
        match self {
            Self::E4m3 => (3, 7, 0x7e, 0x80),
            Self::E5m2 => (2, 15, 0x7b, 0x80),
            Self::E2m3 => (3, 1, 0x1f, 0x20),
            Self::E3m2 => (2, 3, 0x1f, 0x20),
            Self::E2m1 => (1, 1, 0x7, 0x8),
        }
    }

    /// Returns the bits of a NaN, or of the largest number, which stands for it in a format without
    /// NaN.
    const fn nan(self) -> u8 {
        match self {
            Self::E4m3 | Self::E5m2 => NAN8,
            Self::E2m3 | Self::E3m2 | Self::E2m1 => self.layout().2,
        }
    }

    /// Returns the distance between the two numbers of a pair, in bits.
    const fn distance(self) -> u32 {
        if matches!(self, Self::E2m1) { 4 } else { 8 }
    }

    /// `cvt.rn.satfinite`: rounds to nearest, ties to even. Numbers above the largest one become
    /// the largest one.
    #[inline(always)]
    pub(crate) fn encode(self, x: f32, relu: bool) -> u8 {
        let (fraction, bias, largest, sign) = self.layout();
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
        let clamped = code.min(largest.into()) as u8 | if negative { sign } else { 0 };
        let clamped = if relu & negative { 0 } else { clamped };
        if x.is_nan() { self.nan() } else { clamped }
    }

    /// Returns the number that the low bits of a byte represent.
    #[inline(always)]
    pub(crate) fn to_f32(self, byte: u8) -> f32 {
        if self == Self::E5m2 {
            return F16::to_f32(u16::from(byte) << 8);
        }
        let (fraction, bias, _, sign) = self.layout();
        let magnitude = u32::from(byte & (sign - 1));
        let normal = f32::from_bits((magnitude << (23 - fraction)) + ((127 - bias) << 23));
        let subnormal = magnitude as f32 * f32::from_bits((127 + 1 - bias - fraction) << 23);
        let number = if magnitude < 1 << fraction { subnormal } else { normal };
        let is_nan = self == Self::E4m3 && magnitude == NAN8.into();
        let value = if is_nan { CANONICAL_NAN } else { number };
        if byte & sign != 0 { -value } else { value }
    }

    /// `cvt.rn.f16x2` and `cvt.rn.bf16x2`: exact, as every number of these formats is one of both
    /// halves.
    #[inline(always)]
    pub(crate) fn to_half<H: Half>(self, byte: u8, relu: bool) -> u16 {
        let half = H::from_f32(self.to_f32(byte));
        if relu { half::relu::<H>(half) } else { half }
    }

    /// `cvt.rn.satfinite.e4m3x2.f32` and similar forms: `a` in the upper half, `b` in the lower.
    #[inline(always)]
    pub(crate) fn pack(self, a: f32, b: f32, relu: bool) -> u16 {
        u16::from(self.encode(a, relu)) << self.distance() | u16::from(self.encode(b, relu))
    }

    /// The same from a pair of halves.
    #[inline(always)]
    pub(crate) fn pack_halves<H: Half>(self, pair: u32, relu: bool) -> u16 {
        self.pack(H::to_f32((pair >> 16) as u16), H::to_f32(pair as u16), relu)
    }

    /// `cvt.rn.f16x2.e4m3x2` and similar forms.
    #[inline(always)]
    pub(crate) fn unpack<H: Half>(self, pair: u16, relu: bool) -> u32 {
        let half = |byte: u16| u32::from(self.to_half::<H>(byte as u8, relu));
        half(pair >> self.distance()) << 16 | half(pair)
    }
}

/// The bits of a NaN in `ue8m0`, the exponent of an `f32` alone.
const NAN_UE8M0: u8 = 0xff;

/// `cvt.rp.ue8m0x2` and `cvt.rz.ue8m0x2`: the sign is dropped. Numbers above the largest power of
/// two become a NaN, or that power if `satfinite`.
#[inline(always)]
pub(crate) fn to_ue8m0(x: f32, up: bool, satfinite: bool) -> u8 {
    let magnitude = x.to_bits() & 0x7fff_ffff;
    // A number below the least power of two, which is half of that with the exponent 1, becomes it.
    let rounds_up = if magnitude >> 23 == 0 { magnitude > 0x0040_0000 } else { magnitude & 0x007f_ffff != 0 };
    let code = (magnitude >> 23) + u32::from(up & rounds_up);
    if x.is_nan() {
        NAN_UE8M0
    } else if satfinite {
        code.min(u32::from(NAN_UE8M0) - 1) as u8
    } else {
        code.min(NAN_UE8M0.into()) as u8
    }
}

/// `cvt.rn.bf16x2.ue8m0x2`, for one of the two.
#[inline(always)]
pub(crate) fn from_ue8m0(byte: u8) -> u16 {
    match byte {
        0 => 0x0040,
        NAN_UE8M0 => 0x7fff,
        _ => u16::from(byte) << 7,
    }
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
