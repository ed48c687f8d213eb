//! Selects `cvt`.

use super::super::emit::{Checked, Emitter};
use super::float::{FTZ, rounding_bits, rounding_of};
use super::{Words, emit2, emit3, operands, pairs};
use crate::arith::convert::{self, Convert, integral_f32, integral_f64};
use crate::arith::half::{self, Bf16, F16, Half};
use crate::arith::small::{self, Tf32Rounding};
use crate::arith::{Rounding, single};
use crate::exec::level::Handlers;
use crate::exec::ops::{binary, ternary, unary};
use crate::exec::slots::{Fields, RegisterSlot};
use crate::syntax::ast::Instruction;
use crate::syntax::types::Type;

const SAT: u64 = 8;
pub(super) const RELU: u64 = 16;
pub(super) const SATFINITE: u64 = 32;
/// A flag in the constant: rounds to integral values.
const INTEGRAL: u64 = 64;

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    if w.flag("pack") {
        return pack(e, i, w);
    }
    let (source, target) = (w.last()?, w.last()?);
    let rounding = w.find(|word| {
        Some(match word {
            "rn" => (Rounding::NearestEven, false),
            "rz" => (Rounding::Zero, false),
            "rm" => (Rounding::Down, false),
            "rp" => (Rounding::Up, false),
            "rni" => (Rounding::NearestEven, true),
            "rzi" => (Rounding::Zero, true),
            "rmi" => (Rounding::Down, true),
            "rpi" => (Rounding::Up, true),
            _ => return None,
        })
    });
    let mut flags = 0;
    for (word, bit) in [("ftz", FTZ), ("sat", SAT), ("relu", RELU), ("satfinite", SATFINITE)] {
        flags |= if w.flag(word) { bit } else { 0 };
    }
    let is_small = |word: &str| {
        matches!(word, "tf32" | "f16x2" | "bf16x2" | "ue8m0x2") || pairs::format_of(word).is_some()
    };
    if is_small(source) || is_small(target) {
        return small_formats(e, i, w, (source, target), rounding, flags);
    }
    w.finish()?;
    let ty = |word| Type::from_word(word).ok_or_else(|| format!("unknown type .{word}"));
    let (source, target) = (ty(source)?, ty(target)?);
    let [dst, a] = operands(i)?;
    let from = e.source_of_cvt(a, source)?;
    let mut result = Ok(());
    e.target_or_wider(dst, target, |e, slot| {
        result = Conversion { source, target, rounding, flags }.emit(e, slot, from);
    })?;
    result
}

struct Conversion {
    source: Type,
    target: Type,
    /// The rounding, and whether it is to integral values.
    rounding: Option<(Rounding, bool)>,
    flags: u64,
}

/// Selects a handler with an integer source, for each type. The closure gets the value and the
/// constant.
macro_rules! from_integer {
    ($ty:expr, $R:ty, |$a:ident; $aux:ident| $e:expr) => {
        match $ty {
            Type::U8 | Type::B8 => Some(unary!(u8 => $R, |$a; $aux| $e)),
            Type::S8 => Some(unary!(i8 => $R, |$a; $aux| $e)),
            Type::U16 | Type::B16 => Some(unary!(u16 => $R, |$a; $aux| $e)),
            Type::S16 => Some(unary!(i16 => $R, |$a; $aux| $e)),
            Type::U32 | Type::B32 => Some(unary!(u32 => $R, |$a; $aux| $e)),
            Type::S32 => Some(unary!(i32 => $R, |$a; $aux| $e)),
            Type::U64 | Type::B64 => Some(unary!(u64 => $R, |$a; $aux| $e)),
            Type::S64 => Some(unary!(i64 => $R, |$a; $aux| $e)),
            _ => None,
        }
    };
}

/// Selects a handler with an integer target, for each type `$R`.
macro_rules! to_integer {
    ($ty:expr, $A:ty, $R:ident, |$a:ident; $aux:ident| $e:expr) => {
        match $ty {
            Type::U8 => { type $R = u8; Some(unary!($A => u8, |$a; $aux| $e)) }
            Type::S8 => { type $R = i8; Some(unary!($A => i8, |$a; $aux| $e)) }
            Type::U16 => { type $R = u16; Some(unary!($A => u16, |$a; $aux| $e)) }
            Type::S16 => { type $R = i16; Some(unary!($A => i16, |$a; $aux| $e)) }
            Type::U32 => { type $R = u32; Some(unary!($A => u32, |$a; $aux| $e)) }
            Type::S32 => { type $R = i32; Some(unary!($A => i32, |$a; $aux| $e)) }
            Type::U64 => { type $R = u64; Some(unary!($A => u64, |$a; $aux| $e)) }
            Type::S64 => { type $R = i64; Some(unary!($A => i64, |$a; $aux| $e)) }
            _ => None,
        }
    };
}

impl Conversion {
    fn aux(&self) -> u64 {
        let (rounding, integral) = self.rounding.unwrap_or_default();
        rounding_bits(rounding) | self.flags | if integral { INTEGRAL } else { 0 }
    }

    fn emit(&self, e: &mut Emitter<'_, '_>, dst: RegisterSlot, a: RegisterSlot) -> Checked<()> {
        if self.flags & FTZ != 0 && self.source != Type::F32 && self.target != Type::F32 {
            return Err("modifier .ftz is for numbers of type .f32, and there are none".into());
        }
        let handlers = match (self.source.is_float(), self.target.is_float()) {
            (false, false) => return self.between_integers(e, dst, a),
            (false, true) => self.integer_source()?,
            (true, false) => self.integer_target()?,
            (true, true) => self.between_floats()?,
        };
        let Some(handlers) = handlers else { return self.unsupported() };
        e.emit(handlers, Fields::new().dst(dst).a(a).imm(self.aux()));
        Ok(())
    }

    fn unsupported<T>(&self) -> Checked<T> {
        Err(format!(
            "a conversion from {} to {} with these modifiers is not supported",
            self.source, self.target
        ))
    }

    fn between_integers(&self, e: &mut Emitter<'_, '_>, dst: RegisterSlot, a: RegisterSlot) -> Checked<()> {
        let (source, target) = (self.source, self.target);
        if self.flags & !SAT != 0 || self.rounding.is_some() || source == Type::Pred || target == Type::Pred {
            return self.unsupported();
        }
        if self.flags & SAT == 0 {
            let handlers = if target.bits() == 64 {
                from_integer!(source, u64, |a; _aux| a as u64)
            } else {
                from_integer!(source, u32, |a; _aux| a as u32)
            };
            let Some(handlers) = handlers else { return self.unsupported() };
            e.emit(handlers, Fields::new().dst(dst).a(a));
            return Ok(());
        }
        let wide = e.temp64();
        let (extend, clamp) = if source.is_signed() {
            (
                from_integer!(source, i64, |a; _aux| a as i64),
                to_integer!(target, i64, R, |a; _aux| <R as Convert>::clamp_i64(a)),
            )
        } else {
            (
                from_integer!(source, u64, |a; _aux| a as u64),
                to_integer!(target, u64, R, |a; _aux| <R as Convert>::clamp_u64(a)),
            )
        };
        let (Some(extend), Some(clamp)) = (extend, clamp) else { return self.unsupported() };
        e.emit(extend, Fields::new().dst(wide).a(a));
        e.emit(clamp, Fields::new().dst(dst).a(wide));
        Ok(())
    }

    fn integer_source(&self) -> Checked<Option<Handlers>> {
        let Some((rounding, false)) = self.rounding else {
            return Err("a rounding modifier is needed".into());
        };
        // Integers never become subnormal numbers, so flushing them has no effect.
        let flushes = if self.target == Type::F32 { FTZ } else { 0 };
        if self.flags & !(SAT | flushes) != 0 {
            return self.unsupported();
        }
        let plain = rounding == Rounding::NearestEven && self.flags & SAT == 0;
        Ok(match self.target {
            Type::F32 if plain => {
                from_integer!(self.source, f32, |a; _aux| a.to_f32(Rounding::NearestEven))
            }
            Type::F32 => from_integer!(self.source, f32, |a; aux| {
                let value = a.to_f32(rounding_of(aux));
                if aux & SAT != 0 { single::saturate(value) } else { value }
            }),
            Type::F64 => from_integer!(self.source, f64, |a; aux| {
                let value = a.to_f64(rounding_of(aux));
                if aux & SAT != 0 { convert::saturate_f64(value) } else { value }
            }),
            Type::F16 => from_integer!(self.source, u16, |a; aux| {
                let value = a.to_half::<F16>(rounding_of(aux));
                if aux & SAT != 0 { half::saturate::<F16>(value) } else { value }
            }),
            Type::Bf16 => from_integer!(self.source, u16, |a; aux| {
                let value = a.to_half::<Bf16>(rounding_of(aux));
                if aux & SAT != 0 { half::saturate::<Bf16>(value) } else { value }
            }),
            _ => None,
        })
    }

    fn integer_target(&self) -> Checked<Option<Handlers>> {
        let Some((rounding, true)) = self.rounding else {
            return Err("a rounding modifier to integers is needed".into());
        };
        if self.flags & !(SAT | FTZ) != 0 {
            return self.unsupported();
        }
        // These conversions saturate anyway.
        let truncate = rounding == Rounding::Zero && self.flags & FTZ == 0;
        Ok(match self.source {
            Type::F32 if truncate => {
                to_integer!(self.target, f32, R, |a; _aux| <R as Convert>::from_f32(a, Rounding::Zero))
            }
            Type::F32 => to_integer!(self.target, f32, R, |a; aux| {
                <R as Convert>::from_f32(single::flush(a, aux & FTZ != 0), rounding_of(aux))
            }),
            Type::F64 => {
                to_integer!(self.target, f64, R, |a; aux| <R as Convert>::from_f64(a, rounding_of(aux)))
            }
            Type::F16 => to_integer!(self.target, u16, R, |a; aux| {
                <R as Convert>::from_f32(F16::to_f32(a), rounding_of(aux))
            }),
            Type::Bf16 => to_integer!(self.target, u16, R, |a; aux| {
                <R as Convert>::from_f32(Bf16::to_f32(a), rounding_of(aux))
            }),
            _ => None,
        })
    }

    fn between_floats(&self) -> Checked<Option<Handlers>> {
        let (source, target) = (self.source, self.target);
        let integral = self.rounding.is_some_and(|(_, integral)| integral);
        let narrows = target.bits() < source.bits() || source != target && target.bits() == source.bits();
        // Between the two 16-bit formats, assemblers take a missing rounding as `.rn`.
        let may_miss = source.bits() == 16 && target.bits() == 16;
        if narrows && self.rounding.map_or(!may_miss, |(_, integral)| integral) {
            return Err("a rounding modifier is needed".into());
        }
        if integral && source != target {
            return self.unsupported();
        }
        if self.flags & (RELU | SATFINITE) != 0 && !(source == Type::F32 && target.bits() == 16) {
            return self.unsupported();
        }
        let plain = self.flags == 0 && self.rounding.is_none_or(|(r, i)| r == Rounding::NearestEven && !i);
        Ok(Some(match (source, target) {
            (Type::F32, Type::F32) => unary!(f32 => f32, |a; aux| {
                let a = single::flush(a, aux & FTZ != 0);
                let a = if aux & INTEGRAL != 0 { integral_f32(a, rounding_of(aux)) } else { a };
                if aux & SAT != 0 { single::saturate(a) } else { a }
            }),
            (Type::F64, Type::F64) => unary!(f64 => f64, |a; aux| {
                let a = if aux & INTEGRAL != 0 { integral_f64(a, rounding_of(aux)) } else { a };
                if aux & SAT != 0 { convert::saturate_f64(a) } else { a }
            }),
            (Type::F64, Type::F32) => unary!(f64 => f32, |a; aux| {
                let a = single::flush(convert::f64_to_f32(a, rounding_of(aux)), aux & FTZ != 0);
                if aux & SAT != 0 { single::saturate(a) } else { a }
            }),
            (Type::F32, Type::F64) => unary!(f32 => f64, |a; aux| {
                let a = convert::f32_to_f64(single::flush(a, aux & FTZ != 0));
                if aux & SAT != 0 { convert::saturate_f64(a) } else { a }
            }),
            (Type::F32, Type::F16) if plain => unary!(f32 => u16, |a| F16::from_f32(a)),
            (Type::F32, Type::Bf16) if plain => unary!(f32 => u16, |a| Bf16::from_f32(a)),
            (Type::F32, Type::F16) => unary!(f32 => u16, |a; aux| from_single::<F16>(a, aux)),
            (Type::F32, Type::Bf16) => unary!(f32 => u16, |a; aux| from_single::<Bf16>(a, aux)),
            (Type::F16, Type::F32) if plain => unary!(u16 => f32, |a| single::canonical(F16::to_f32(a))),
            (Type::Bf16, Type::F32) if plain => unary!(u16 => f32, |a| Bf16::to_f32(a)),
            (Type::F16, Type::F32) => unary!(u16 => f32, |a; aux| to_single::<F16>(a, aux)),
            (Type::Bf16, Type::F32) => unary!(u16 => f32, |a; aux| to_single::<Bf16>(a, aux)),
            (Type::F16, Type::F64) => unary!(u16 => f64, |a; aux| {
                let a = f64::from(F16::to_f32(a));
                if aux & SAT != 0 { convert::saturate_f64(a) } else { a }
            }),
            (Type::Bf16, Type::F64) => unary!(u16 => f64, |a; aux| {
                let a = f64::from(Bf16::to_f32(a));
                if aux & SAT != 0 { convert::saturate_f64(a) } else { a }
            }),
            (Type::F64, Type::F16) => unary!(f64 => u16, |a; aux| {
                let a = convert::f64_to_half::<F16>(a, rounding_of(aux));
                if aux & SAT != 0 { half::saturate::<F16>(a) } else { a }
            }),
            (Type::F64, Type::Bf16) => unary!(f64 => u16, |a; aux| {
                let a = convert::f64_to_half::<Bf16>(a, rounding_of(aux));
                if aux & SAT != 0 { half::saturate::<Bf16>(a) } else { a }
            }),
            (Type::F16, Type::F16) => unary!(u16 => u16, |a; aux| between_halves::<F16, F16>(a, aux)),
            (Type::Bf16, Type::Bf16) => unary!(u16 => u16, |a; aux| between_halves::<Bf16, Bf16>(a, aux)),
            (Type::F16, Type::Bf16) => unary!(u16 => u16, |a; aux| between_halves::<F16, Bf16>(a, aux)),
            (Type::Bf16, Type::F16) => unary!(u16 => u16, |a; aux| between_halves::<Bf16, F16>(a, aux)),
            _ => return Ok(None),
        }))
    }
}

#[inline(always)]
fn from_single<H: Half>(a: f32, aux: u64) -> u16 {
    let a = single::flush(a, aux & FTZ != 0);
    let value = small::half_from_f32::<H>(a, rounding_of(aux), aux & RELU != 0, aux & SATFINITE != 0);
    if aux & SAT != 0 { half::saturate::<H>(value) } else { value }
}

#[inline(always)]
fn to_single<H: Half>(a: u16, aux: u64) -> f32 {
    // Subnormal numbers of the narrow format that are normal in the wide one are kept.
    let a = single::flush(H::to_f32(a), aux & FTZ != 0);
    if aux & SAT != 0 { single::saturate(a) } else { single::canonical(a) }
}

#[inline(always)]
fn between_halves<A: Half, R: Half>(a: u16, aux: u64) -> u16 {
    let a = A::to_f32(a);
    let value = if aux & INTEGRAL != 0 {
        R::from_f32(integral_f32(a, rounding_of(aux)))
    } else {
        half::round::<R>(a, rounding_of(aux))
    };
    if aux & SAT != 0 { half::saturate::<R>(value) } else { value }
}

/// Selects conversions of pairs of halves, of tf32, and of what [`pairs`] selects.
fn small_formats(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    w: &mut Words<'_>,
    (source, target): (&str, &str),
    rounding: Option<(Rounding, bool)>,
    flags: u64,
) -> Checked<()> {
    let nearest_away = w.flag("rna");
    w.finish()?;
    if nearest_away && (rounding.is_some() || flags & RELU != 0 || target != "tf32") {
        return Err("a conversion with these modifiers is not supported".into());
    }
    if target == "tf32" && !nearest_away && rounding.is_none() {
        return Err("a rounding modifier is needed".into());
    }
    if rounding.is_some_and(|(_, integral)| integral) {
        return Err("a conversion with these modifiers is not supported".into());
    }
    let rounding = rounding.map(|(rounding, _)| rounding);
    match (source, target) {
        (_, "ue8m0x2") => return pairs::to_exponents(e, i, source, rounding, flags),
        ("ue8m0x2", _) => return pairs::from_exponents(e, i, target, rounding, flags),
        _ => {}
    }
    if let Some(format) = pairs::format_of(target) {
        return pairs::to_pair(e, i, (source, format), rounding, flags);
    }
    if let Some(format) = pairs::format_of(source) {
        return pairs::from_pair(e, i, (format, target), rounding, flags);
    }
    let aux = rounding_bits(rounding.unwrap_or_default()) | flags;
    match (source, target) {
        ("f32", "f16x2") => {
            let handlers = binary!((f32, f32) => u32, |a, b; aux| {
                u32::from(from_single::<F16>(a, aux)) << 16 | u32::from(from_single::<F16>(b, aux))
            });
            emit2(e, i, handlers, (Type::F16x2, [Type::F32; 2]), aux)
        }
        ("f32", "bf16x2") => {
            let handlers = binary!((f32, f32) => u32, |a, b; aux| {
                u32::from(from_single::<Bf16>(a, aux)) << 16 | u32::from(from_single::<Bf16>(b, aux))
            });
            emit2(e, i, handlers, (Type::Bf16x2, [Type::F32; 2]), aux)
        }
        ("f32", "tf32") => {
            let away = u64::from(nearest_away) << 8;
            let handlers = unary!(f32 => u32, |a; aux| {
                let rounding = match (aux >> 8 != 0, rounding_of(aux)) {
                    (true, _) => Tf32Rounding::NearestAway,
                    (_, Rounding::Zero) => Tf32Rounding::Zero,
                    _ => Tf32Rounding::NearestEven,
                };
                small::tf32(a, rounding, aux & SATFINITE != 0, aux & RELU != 0)
            });
            super::emit1(e, i, handlers, (Type::B32, Type::F32), aux | away)
        }
        _ => Err(format!("a conversion from .{source} to .{target} is not supported")),
    }
}

/// Selects `cvt.pack.sat.u16.s32 d, a, b` and `cvt.pack.sat.u8.s32.b32 d, a, b, c`.
fn pack(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let saturate = w.flag("sat");
    let third = w.flag("b32");
    let (source, target) = (w.last()?, w.last()?);
    w.finish()?;
    if !saturate || source != "s32" {
        return Err("only .sat and .s32 are supported".into());
    }
    let (bits, signed) = match target {
        "u16" => (16, false),
        "s16" => (16, true),
        "u8" => (8, false),
        "s8" => (8, true),
        "u4" => (4, false),
        "s4" => (4, true),
        "u2" => (2, false),
        "s2" => (2, true),
        _ => return Err(format!("unknown type .{target}")),
    };
    if third == (bits == 16) {
        return Err("a third source goes with types below 16 bits".into());
    }
    let imm = bits | u64::from(signed) << 8;
    if third {
        let handlers = ternary!((i32, i32, u32) => u32, |a, b, c; aux| {
            convert::pack_saturated(a, b, c, aux as u32 & 0xff, aux >> 8 != 0)
        });
        return emit3(e, i, handlers, (Type::B32, [Type::S32, Type::S32, Type::B32]), imm);
    }
    let handlers = binary!((i32, i32) => u32, |a, b; aux| {
        convert::pack_saturated(a, b, 0, aux as u32 & 0xff, aux >> 8 != 0)
    });
    emit2(e, i, handlers, (Type::B32, [Type::S32; 2]), imm)
}
