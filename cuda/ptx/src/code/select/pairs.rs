//! Selects conversions of pairs of numbers of 4 to 8 bits, which share a register.

use super::super::emit::{Checked, Emitter};
use super::convert::{RELU, SATFINITE};
use super::{emit1, emit2};
use crate::arith::Rounding;
use crate::arith::half::{Bf16, F16};
use crate::arith::small::{SmallFloat, from_ue8m0, to_ue8m0};
use crate::exec::ops::{binary, unary};
use crate::syntax::ast::Instruction;
use crate::syntax::types::Type;

/// Flags in the constant of a conversion to exponents: rounds up; too large numbers are clamped.
const UP: u64 = 1;
const FINITE: u64 = 2;

/// Returns the format of a pair's type.
pub(super) fn format_of(word: &str) -> Option<SmallFloat> {
    Some(match word {
        "e4m3x2" => SmallFloat::E4m3,
        "e5m2x2" => SmallFloat::E5m2,
        "e2m3x2" => SmallFloat::E2m3,
        "e3m2x2" => SmallFloat::E3m2,
        "e2m1x2" => SmallFloat::E2m1,
        _ => return None,
    })
}

/// Returns the type of the register that holds a pair.
fn register_type(format: SmallFloat) -> Type {
    if format == SmallFloat::E2m1 { Type::B8 } else { Type::B16 }
}

/// Evaluates an expression with `$F` as each format, and returns that of `$format`.
macro_rules! by_format {
    ($format:expr, $F:ident => $handlers:expr) => {
        by_format!(@arms $format, $F => $handlers; E4m3 E5m2 E2m3 E3m2 E2m1)
    };
    (@arms $format:expr, $F:ident => $handlers:expr; $($name:ident)+) => {
        match $format {
            $(SmallFloat::$name => {
                const $F: SmallFloat = SmallFloat::$name;
                $handlers
            })+
        }
    };
}

/// Selects a conversion from a type to pairs of a format.
pub(super) fn to_pair(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    (source, format): (&str, SmallFloat),
    rounding: Option<Rounding>,
    flags: u64,
) -> Checked<()> {
    if rounding != Some(Rounding::NearestEven) || flags & !RELU != SATFINITE {
        return Err("a conversion to pairs needs .rn and .satfinite, and takes .relu besides".into());
    }
    let target = register_type(format);
    let handlers = match source {
        "f32" => {
            let handlers = by_format!(format, F => {
                binary!((f32, f32) => u16, |a, b; aux| F.pack(a, b, aux & RELU != 0))
            });
            return emit2(e, i, handlers, (target, [Type::F32; 2]), flags);
        }
        "f16x2" => by_format!(format, F => {
            unary!(u32 => u16, |a; aux| F.pack_halves::<F16>(a, aux & RELU != 0))
        }),
        "bf16x2" => by_format!(format, F => {
            unary!(u32 => u16, |a; aux| F.pack_halves::<Bf16>(a, aux & RELU != 0))
        }),
        _ => return Err(format!("a conversion from .{source} to pairs is not supported")),
    };
    emit1(e, i, handlers, (target, Type::B32), flags)
}

/// Selects a conversion from pairs of a format to a type.
pub(super) fn from_pair(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    (format, target): (SmallFloat, &str),
    rounding: Option<Rounding>,
    flags: u64,
) -> Checked<()> {
    if rounding != Some(Rounding::NearestEven) || flags & !RELU != 0 {
        return Err("a conversion from pairs needs .rn, and takes .relu besides".into());
    }
    let handlers = match target {
        "f16x2" => by_format!(format, F => {
            unary!(u16 => u32, |a; aux| F.unpack::<F16>(a, aux & RELU != 0))
        }),
        "bf16x2" => by_format!(format, F => {
            unary!(u16 => u32, |a; aux| F.unpack::<Bf16>(a, aux & RELU != 0))
        }),
        _ => return Err(format!("a conversion from pairs to .{target} is not supported")),
    };
    emit1(e, i, handlers, (Type::B32, register_type(format)), flags)
}

/// Selects a conversion to a pair of exponents.
pub(super) fn to_exponents(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    source: &str,
    rounding: Option<Rounding>,
    flags: u64,
) -> Checked<()> {
    let up = match rounding {
        Some(Rounding::Up) => UP,
        Some(Rounding::Zero) => 0,
        _ => return Err("a conversion to exponents needs .rp or .rz".into()),
    };
    if flags & !SATFINITE != 0 {
        return Err("a conversion to exponents takes .satfinite at most".into());
    }
    let aux = up | if flags & SATFINITE != 0 { FINITE } else { 0 };
    match source {
        "f32" => {
            let handlers = binary!((f32, f32) => u16, |a, b; aux| exponents(a, b, aux));
            emit2(e, i, handlers, (Type::B16, [Type::F32; 2]), aux)
        }
        "bf16x2" => {
            let handlers = unary!(u32 => u16, |a; aux| {
                exponents(f32::from_bits(a & 0xffff_0000), f32::from_bits(a << 16), aux)
            });
            emit1(e, i, handlers, (Type::B16, Type::B32), aux)
        }
        _ => Err(format!("a conversion from .{source} to exponents is not supported")),
    }
}

#[inline(always)]
fn exponents(a: f32, b: f32, aux: u64) -> u16 {
    let exponent = |x| u16::from(to_ue8m0(x, aux & UP != 0, aux & FINITE != 0));
    exponent(a) << 8 | exponent(b)
}

/// Selects a conversion from a pair of exponents.
pub(super) fn from_exponents(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    target: &str,
    rounding: Option<Rounding>,
    flags: u64,
) -> Checked<()> {
    if target != "bf16x2" || rounding != Some(Rounding::NearestEven) || flags != 0 {
        return Err("exponents are converted by .rn.bf16x2.ue8m0x2".into());
    }
    let handlers = unary!(u16 => u32, |a| {
        u32::from(from_ue8m0((a >> 8) as u8)) << 16 | u32::from(from_ue8m0(a as u8))
    });
    emit1(e, i, handlers, (Type::B32, Type::B16), 0)
}
