//! Selects floating-point arithmetic and functions: `f32`, `f64`, `f16`, `bf16` and pairs of the
//! last two.

use super::super::emit::{Checked, Emitter};
use super::{Words, emit1, emit2, emit3, no_constants, no_type, slots};
use crate::arith::half::{self, Bf16, F16, Half as _};
use crate::arith::int::pairwise;
use crate::arith::single::{self, Extremum, Property};
use crate::arith::{Modes, Rounding, approx, double};
use crate::exec::level::Handlers;
use crate::exec::ops::{binary, compare, ternary, unary};
use crate::exec::slots::Fields;
use crate::syntax::ast::{Instruction, Version};
use crate::syntax::types::Type;

/// Encodes a rounding in the low two bits of an instruction's constant.
pub(super) fn rounding_bits(rounding: Rounding) -> u64 {
    match rounding {
        Rounding::NearestEven => 0,
        Rounding::Zero => 1,
        Rounding::Down => 2,
        Rounding::Up => 3,
    }
}

#[inline(always)]
pub(super) fn rounding_of(aux: u64) -> Rounding {
    match aux & 3 {
        0 => Rounding::NearestEven,
        1 => Rounding::Zero,
        2 => Rounding::Down,
        _ => Rounding::Up,
    }
}

/// Flags in an instruction's constant: `.ftz`, `.sat`, `.relu`.
pub(super) const FTZ: u64 = 4;
const SAT: u64 = 8;
const RELU: u64 = 16;

fn mode_bits(modes: Modes) -> u64 {
    let flag = |set: bool, bit| if set { bit } else { 0 };
    rounding_bits(modes.rounding) | flag(modes.ftz, FTZ) | flag(modes.saturate, SAT)
}

#[inline(always)]
fn modes_of(aux: u64) -> Modes {
    Modes { rounding: rounding_of(aux), ftz: aux & FTZ != 0, saturate: aux & SAT != 0 }
}

fn extremum_bits(modes: Extremum) -> u64 {
    u64::from(modes.ftz) | u64::from(modes.nan) << 1 | u64::from(modes.xorsign_abs) << 2
}

/// A flag in the constant of `min` and `max` of three operands: `.abs`.
const MAGNITUDES: u64 = 8;

#[inline(always)]
fn extremum_of(aux: u64) -> Extremum {
    Extremum { ftz: aux & 1 != 0, nan: aux & 2 != 0, xorsign_abs: aux & 4 != 0 }
}

/// Selects `add`, `sub`, `mul`, `mad`, `fma`, `div`, `abs`, `neg`, `min`, `max`.
pub(super) fn arithmetic(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    w: &mut Words<'_>,
    ty: Type,
) -> Checked<()> {
    match (i.opcode, ty) {
        ("min" | "max", _) => extremum(e, i, w, ty),
        ("abs" | "neg", _) => sign(e, i, w, ty),
        ("add" | "sub" | "fma", Type::F16 | Type::Bf16) if w.flag("f32") => mixed(e, i, w, ty),
        (_, Type::F32) => arithmetic32(e, i, w),
        (_, Type::F64) => arithmetic64(e, i, w),
        _ => arithmetic16(e, i, w, ty),
    }
}

/// Selects one of three handlers: for `.rn`, for `.rn.ftz`, and for all other modes.
macro_rules! by_modes {
    ($modes:expr, |$m:ident| $handlers:expr, $slow:expr) => {
        if $modes == Modes::RN {
            const $m: Modes = Modes::RN;
            $handlers
        } else if $modes == Modes::RN_FTZ {
            const $m: Modes = Modes::RN_FTZ;
            $handlers
        } else {
            $slow
        }
    };
}

fn arithmetic32(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = Type::F32;
    if i.opcode == "div" {
        return divide32(e, i, w);
    }
    let rounding = w.rounding();
    // Early versions accepted `mad.f32` for `mad.rn.f32`.
    let may_miss = i.opcode == "mad" && e.module.version < Version { major: 3, minor: 2 };
    if matches!(i.opcode, "fma" | "mad") && rounding.is_none() && !may_miss {
        return Err("a rounding modifier is needed".into());
    }
    let modes = Modes { rounding: rounding.unwrap_or_default(), ftz: w.flag("ftz"), saturate: w.flag("sat") };
    w.finish()?;
    let imm = mode_bits(modes);
    let Some(handlers) = handlers32(i.opcode, modes) else { return no_type(ty) };
    if matches!(i.opcode, "fma" | "mad") {
        return emit3(e, i, handlers, (ty, [ty; 3]), imm);
    }
    emit2(e, i, handlers, (ty, [ty; 2]), imm)
}

/// Returns the handlers of an operation on `f32`, whose constant is [`mode_bits`].
fn handlers32(opcode: &str, modes: Modes) -> Option<Handlers> {
    Some(match opcode {
        "add" => by_modes!(
            modes,
            |M| binary!((f32, f32) => f32, |a, b| single::add(a, b, M)),
            binary!((f32, f32) => f32, |a, b; aux| single::add(a, b, modes_of(aux)))
        ),
        "sub" => by_modes!(
            modes,
            |M| binary!((f32, f32) => f32, |a, b| single::sub(a, b, M)),
            binary!((f32, f32) => f32, |a, b; aux| single::sub(a, b, modes_of(aux)))
        ),
        "mul" => by_modes!(
            modes,
            |M| binary!((f32, f32) => f32, |a, b| single::mul(a, b, M)),
            binary!((f32, f32) => f32, |a, b; aux| single::mul(a, b, modes_of(aux)))
        ),
        // Compilers divide the argument of an exponential function with it.
        "fma" if modes == Modes::RM => {
            ternary!((f32, f32, f32) => f32, |a, b, c| single::fma::<FMA>(a, b, c, Modes::RM))
        }
        "fma" if modes == Modes::RM_FTZ => {
            ternary!((f32, f32, f32) => f32, |a, b, c| single::fma::<FMA>(a, b, c, Modes::RM_FTZ))
        }
        "fma" | "mad" => by_modes!(
            modes,
            |M| ternary!((f32, f32, f32) => f32, |a, b, c| single::fma::<FMA>(a, b, c, M)),
            ternary!((f32, f32, f32) => f32, |a, b, c; aux| single::fma::<FMA>(a, b, c, modes_of(aux)))
        ),
        _ => return None,
    })
}

/// Selects `add.f32x2`, `sub.f32x2`, `mul.f32x2`, `fma.f32x2`: operations on two numbers in 64
/// bits.
pub(super) fn pair32(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    use single::pairwise;
    let ty = Type::B64;
    let rounding = w.rounding();
    if i.opcode == "fma" && rounding.is_none() {
        return Err("a rounding modifier is needed".into());
    }
    let modes = Modes { rounding: rounding.unwrap_or_default(), ftz: w.flag("ftz"), saturate: false };
    w.finish()?;
    no_constants(i)?;
    let imm = mode_bits(modes);
    let two = match i.opcode {
        "add" => by_modes!(
            modes,
            |M| binary!((u64, u64) => u64, |x, y| pairwise([x, y], |[a, b]| single::add(a, b, M))),
            binary!((u64, u64) => u64, |x, y; aux| pairwise([x, y], |[a, b]| single::add(a, b, modes_of(aux))))
        ),
        "sub" => by_modes!(
            modes,
            |M| binary!((u64, u64) => u64, |x, y| pairwise([x, y], |[a, b]| single::sub(a, b, M))),
            binary!((u64, u64) => u64, |x, y; aux| pairwise([x, y], |[a, b]| single::sub(a, b, modes_of(aux))))
        ),
        "mul" => by_modes!(
            modes,
            |M| binary!((u64, u64) => u64, |x, y| pairwise([x, y], |[a, b]| single::mul(a, b, M))),
            binary!((u64, u64) => u64, |x, y; aux| pairwise([x, y], |[a, b]| single::mul(a, b, modes_of(aux))))
        ),
        "fma" => {
            let handlers = by_modes!(
                modes,
                |M| ternary!((u64, u64, u64) => u64, |x, y, z| {
                    pairwise([x, y, z], |[a, b, c]| single::fma::<FMA>(a, b, c, M))
                }),
                ternary!((u64, u64, u64) => u64, |x, y, z; aux| {
                    pairwise([x, y, z], |[a, b, c]| single::fma::<FMA>(a, b, c, modes_of(aux)))
                })
            );
            return emit3(e, i, handlers, (ty, [ty; 3]), imm);
        }
        _ => return Err("type f32x2 is not supported here".into()),
    };
    emit2(e, i, two, (ty, [ty; 2]), imm)
}

/// Selects `add.f32.f16`, `sub.f32.bf16`, `fma.f32.f16` and similar forms. All operands except the
/// last are halves, which `f32` represents exactly.
fn mixed(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>, half: Type) -> Checked<()> {
    let rounding = w.rounding();
    if i.opcode == "fma" && rounding.is_none() {
        return Err("a rounding modifier is needed".into());
    }
    let modes = Modes { rounding: rounding.unwrap_or_default(), ftz: false, saturate: w.flag("sat") };
    w.finish()?;
    let Some(handlers) = handlers32(i.opcode, modes) else { return no_type(half) };
    let wanted = if i.opcode == "fma" { 4 } else { 3 };
    let [target, halves @ .., last] = &i.operands[..] else { return Err("operands are missing".into()) };
    if i.operands.len() != wanted {
        return Err(format!("{} operands where {wanted} are needed", i.operands.len()));
    }
    let widen = match half {
        Type::F16 => unary!(u16 => f32, |a| F16::to_f32(a)),
        _ => unary!(u16 => f32, |a| Bf16::to_f32(a)),
    };
    let mut sources = Vec::with_capacity(halves.len() + 1);
    for operand in halves {
        let (a, single) = (e.source(operand, half)?, e.temp32());
        e.emit(widen, Fields::new().dst(single).a(a));
        sources.push(single);
    }
    sources.push(e.source(last, Type::F32)?);
    let fields = Fields::new().dst(e.target(target, Type::F32)?).imm(mode_bits(modes));
    let fields = match sources[..] {
        [a, b, c] => fields.a(a).b(b).c(c),
        [a, b] => fields.a(a).b(b),
        _ => return Err("a wrong number of operands".into()),
    };
    e.emit(handlers, fields);
    Ok(())
}

fn divide32(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = Type::F32;
    let (approx, full, rounding) = (w.flag("approx"), w.flag("full"), w.rounding());
    let ftz = w.flag("ftz");
    w.finish()?;
    let handlers = match (approx, full, rounding, ftz) {
        (true, ..) => binary!((f32, f32) => f32, |a, b; aux| approx::div(a, b, aux & FTZ != 0)),
        (_, true, ..) => binary!((f32, f32) => f32, |a, b; aux| approx::div_full(a, b, aux & FTZ != 0)),
        (_, _, Some(Rounding::NearestEven), false) => {
            binary!((f32, f32) => f32, |a, b| single::div(a, b, Rounding::NearestEven, false))
        }
        (_, _, Some(_), _) => {
            binary!((f32, f32) => f32, |a, b; aux| single::div(a, b, rounding_of(aux), aux & FTZ != 0))
        }
        _ => return Err("one of .approx, .full and a rounding modifier is needed".into()),
    };
    let imm = rounding_bits(rounding.unwrap_or_default()) | if ftz { FTZ } else { 0 };
    emit2(e, i, handlers, (ty, [ty; 2]), imm)
}

fn arithmetic64(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    const RN: Rounding = Rounding::NearestEven;
    let ty = Type::F64;
    let rounding = w.rounding();
    w.finish()?;
    if rounding.is_none() && matches!(i.opcode, "fma" | "div" | "mad") {
        return Err("a rounding modifier is needed".into());
    }
    let nearest = rounding.is_none_or(|rounding| rounding == RN);
    let imm = rounding_bits(rounding.unwrap_or_default());
    let handlers = match (i.opcode, nearest) {
        ("add", true) => binary!((f64, f64) => f64, |a, b| double::add(a, b, RN)),
        ("add", false) => binary!((f64, f64) => f64, |a, b; aux| double::add(a, b, rounding_of(aux))),
        ("sub", true) => binary!((f64, f64) => f64, |a, b| double::sub(a, b, RN)),
        ("sub", false) => binary!((f64, f64) => f64, |a, b; aux| double::sub(a, b, rounding_of(aux))),
        ("mul", true) => binary!((f64, f64) => f64, |a, b| double::mul(a, b, RN)),
        ("mul", false) => binary!((f64, f64) => f64, |a, b; aux| double::mul(a, b, rounding_of(aux))),
        ("div", true) => binary!((f64, f64) => f64, |a, b| double::div(a, b, RN)),
        ("div", false) => binary!((f64, f64) => f64, |a, b; aux| double::div(a, b, rounding_of(aux))),
        ("fma" | "mad", true) => {
            let handlers = ternary!((f64, f64, f64) => f64, |a, b, c| double::fma(a, b, c, RN));
            return emit3(e, i, handlers, (ty, [ty; 3]), imm);
        }
        ("fma" | "mad", false) => {
            let handlers =
                ternary!((f64, f64, f64) => f64, |a, b, c; aux| double::fma(a, b, c, rounding_of(aux)));
            return emit3(e, i, handlers, (ty, [ty; 3]), imm);
        }
        _ => return no_type(ty),
    };
    emit2(e, i, handlers, (ty, [ty; 2]), imm)
}

/// Selects handlers for a half format or for pairs of it, by type.
macro_rules! halves2 {
    ($ty:expr, |$a:ident, $b:ident; $aux:ident, $H:ident| $e:expr) => {
        match $ty {
            Type::F16 => { type $H = F16; Some(binary!((u16, u16) => u16, |$a, $b; $aux| $e)) }
            Type::Bf16 => { type $H = Bf16; Some(binary!((u16, u16) => u16, |$a, $b; $aux| $e)) }
            Type::F16x2 => {
                type $H = F16;
                Some(binary!((u32, u32) => u32, |x, y; $aux| pairwise([x, y], |[$a, $b]| $e)))
            }
            Type::Bf16x2 => {
                type $H = Bf16;
                Some(binary!((u32, u32) => u32, |x, y; $aux| pairwise([x, y], |[$a, $b]| $e)))
            }
            _ => None,
        }
    };
}
macro_rules! halves1 {
    ($ty:expr, |$a:ident; $aux:ident, $H:ident| $e:expr) => {
        match $ty {
            Type::F16 => { type $H = F16; Some(unary!(u16 => u16, |$a; $aux| $e)) }
            Type::Bf16 => { type $H = Bf16; Some(unary!(u16 => u16, |$a; $aux| $e)) }
            Type::F16x2 => { type $H = F16; Some(unary!(u32 => u32, |x; $aux| pairwise([x], |[$a]| $e))) }
            Type::Bf16x2 => { type $H = Bf16; Some(unary!(u32 => u32, |x; $aux| pairwise([x], |[$a]| $e))) }
            _ => None,
        }
    };
}
macro_rules! halves3 {
    ($ty:expr, |$a:ident, $b:ident, $c:ident; $aux:ident, $H:ident| $e:expr) => {
        match $ty {
            Type::F16 => { type $H = F16; Some(ternary!((u16, u16, u16) => u16, |$a, $b, $c; $aux| $e)) }
            Type::Bf16 => { type $H = Bf16; Some(ternary!((u16, u16, u16) => u16, |$a, $b, $c; $aux| $e)) }
            Type::F16x2 => {
                type $H = F16;
                Some(ternary!((u32, u32, u32) => u32, |x, y, z; $aux| pairwise([x, y, z], |[$a, $b, $c]| $e)))
            }
            Type::Bf16x2 => {
                type $H = Bf16;
                Some(ternary!((u32, u32, u32) => u32, |x, y, z; $aux| pairwise([x, y, z], |[$a, $b, $c]| $e)))
            }
            _ => None,
        }
    };
}

fn arithmetic16(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>, ty: Type) -> Checked<()> {
    let rounding = w.rounding();
    if rounding.is_some_and(|rounding| rounding != Rounding::NearestEven) {
        return Err(format!("only .rn is supported for type {ty}"));
    }
    let modes = Modes { rounding: Rounding::NearestEven, ftz: w.flag("ftz"), saturate: w.flag("sat") };
    let relu = i.opcode == "fma" && w.flag("relu");
    w.finish()?;
    let imm = mode_bits(modes) | if relu { RELU } else { 0 };
    let handlers = match i.opcode {
        "add" => halves2!(ty, |a, b; aux, H| half::add::<H>(a, b, modes_of(aux))),
        "sub" => halves2!(ty, |a, b; aux, H| half::sub::<H>(a, b, modes_of(aux))),
        "mul" => halves2!(ty, |a, b; aux, H| half::mul::<H>(a, b, modes_of(aux))),
        "fma" => {
            let handlers = if relu {
                halves3!(ty, |a, b, c; aux, H| half::relu::<H>(half::fma::<H>(a, b, c, modes_of(aux))))
            } else {
                halves3!(ty, |a, b, c; aux, H| half::fma::<H>(a, b, c, modes_of(aux)))
            };
            let Some(handlers) = handlers else { return no_type(ty) };
            return emit3(e, i, handlers, (ty, [ty; 3]), imm);
        }
        _ => None,
    };
    let Some(handlers) = handlers else { return no_type(ty) };
    emit2(e, i, handlers, (ty, [ty; 2]), imm)
}

fn extremum(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>, ty: Type) -> Checked<()> {
    let modes = Extremum {
        ftz: ty != Type::F64 && w.flag("ftz"),
        nan: ty != Type::F64 && w.flag("NaN"),
        xorsign_abs: ty != Type::F64 && w.flag("xorsign"),
    };
    if modes.xorsign_abs && !w.flag("abs") {
        return Err("modifier .xorsign needs .abs".into());
    }
    let of_three = i.operands.len() == 4;
    let magnitudes = of_three && w.flag("abs");
    w.finish()?;
    let imm = extremum_bits(modes);
    let max = i.opcode == "max";
    if of_three {
        if modes.xorsign_abs {
            return Err("modifier .xorsign is not supported here".into());
        }
        return extremum_of_three(e, i, ty, imm | if magnitudes { MAGNITUDES } else { 0 }, max);
    }
    let plain = imm == 0;
    const PLAIN: Extremum = Extremum { ftz: false, nan: false, xorsign_abs: false };
    let handlers = match (ty, max) {
        (Type::F32, true) if plain => Some(binary!((f32, f32) => f32, |a, b| single::max(a, b, PLAIN))),
        (Type::F32, false) if plain => Some(binary!((f32, f32) => f32, |a, b| single::min(a, b, PLAIN))),
        (Type::F32, true) => {
            Some(binary!((f32, f32) => f32, |a, b; aux| single::max(a, b, extremum_of(aux))))
        }
        (Type::F32, false) => {
            Some(binary!((f32, f32) => f32, |a, b; aux| single::min(a, b, extremum_of(aux))))
        }
        (Type::F64, true) => Some(binary!((f64, f64) => f64, |a, b| double::max(a, b))),
        (Type::F64, false) => Some(binary!((f64, f64) => f64, |a, b| double::min(a, b))),
        (_, true) => halves2!(ty, |a, b; aux, H| half::max::<H>(a, b, extremum_of(aux))),
        (_, false) => halves2!(ty, |a, b; aux, H| half::min::<H>(a, b, extremum_of(aux))),
    };
    let Some(handlers) = handlers else { return no_type(ty) };
    emit2(e, i, handlers, (ty, [ty; 2]), imm)
}

fn extremum_of_three(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    ty: Type,
    imm: u64,
    max: bool,
) -> Checked<()> {
    if ty != Type::F32 {
        return no_type(ty);
    }
    #[inline(always)]
    fn magnitude(x: f32, aux: u64) -> f32 {
        if aux & MAGNITUDES != 0 { single::abs(x, false) } else { x }
    }
    let handlers = if max {
        ternary!((f32, f32, f32) => f32, |a, b, c; aux| {
            let (modes, [a, b, c]) = (extremum_of(aux), [a, b, c].map(|x| magnitude(x, aux)));
            single::max(single::max(a, b, modes), c, modes)
        })
    } else {
        ternary!((f32, f32, f32) => f32, |a, b, c; aux| {
            let (modes, [a, b, c]) = (extremum_of(aux), [a, b, c].map(|x| magnitude(x, aux)));
            single::min(single::min(a, b, modes), c, modes)
        })
    };
    emit3(e, i, handlers, (ty, [ty; 3]), imm)
}

fn sign(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>, ty: Type) -> Checked<()> {
    let ftz = ty != Type::F64 && w.flag("ftz");
    w.finish()?;
    let negate = i.opcode == "neg";
    let handlers = match (ty, negate) {
        (Type::F32, true) => Some(unary!(f32 => f32, |a; aux| single::neg(a, aux != 0))),
        (Type::F32, false) => Some(unary!(f32 => f32, |a; aux| single::abs(a, aux != 0))),
        (Type::F64, true) => Some(unary!(f64 => f64, |a| double::neg(a))),
        (Type::F64, false) => Some(unary!(f64 => f64, |a| double::abs(a))),
        (_, true) => halves1!(ty, |a; aux, H| half::neg::<H>(a, aux != 0)),
        (_, false) => halves1!(ty, |a; aux, H| half::abs::<H>(a, aux != 0)),
    };
    let Some(handlers) = handlers else { return no_type(ty) };
    emit1(e, i, handlers, (ty, ty), ftz.into())
}

/// Selects `rcp`, `sqrt`, `rsqrt`, `ex2`, `lg2`, `sin`, `cos`, `tanh`, `copysign`, `testp`.
pub(super) fn functions(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    match i.opcode {
        "testp" => return test(e, i, w, ty),
        "copysign" => {
            w.finish()?;
            let handlers = match ty {
                // According to the manual, the result has the sign of the first operand and the
                // magnitude of the second.
                Type::F32 => binary!((f32, f32) => f32, |a, b| single::copysign(a, b)),
                Type::F64 => binary!((f64, f64) => f64, |a, b| double::copysign(a, b)),
                _ => return no_type(ty),
            };
            return emit2(e, i, handlers, (ty, [ty; 2]), 0);
        }
        _ => {}
    }
    let (approximate, rounding, ftz) = (w.flag("approx"), w.rounding(), w.flag("ftz"));
    w.finish()?;
    if approximate == rounding.is_some() {
        return Err("either .approx or a rounding modifier is needed".into());
    }
    let imm = rounding_bits(rounding.unwrap_or_default()) | if ftz { FTZ } else { 0 };
    let handlers: Option<Handlers> = match (i.opcode, ty, approximate) {
        ("rcp", Type::F32, true) => Some(unary!(f32 => f32, |a; aux| approx::rcp(a, aux & FTZ != 0))),
        ("rcp", Type::F32, false) => {
            Some(unary!(f32 => f32, |a; aux| single::rcp(a, rounding_of(aux), aux & FTZ != 0)))
        }
        ("rcp", Type::F64, true) => Some(unary!(f64 => f64, |a| approx::rcp_gross_f64(a))),
        ("rcp", Type::F64, false) => Some(unary!(f64 => f64, |a; aux| double::rcp(a, rounding_of(aux)))),
        ("sqrt", Type::F32, true) => Some(unary!(f32 => f32, |a; aux| approx::sqrt(a, aux & FTZ != 0))),
        ("sqrt", Type::F32, false) => {
            Some(unary!(f32 => f32, |a; aux| single::sqrt(a, rounding_of(aux), aux & FTZ != 0)))
        }
        ("sqrt", Type::F64, false) => Some(unary!(f64 => f64, |a; aux| double::sqrt(a, rounding_of(aux)))),
        ("rsqrt", Type::F32, true) => Some(unary!(f32 => f32, |a; aux| approx::rsqrt(a, aux & FTZ != 0))),
        ("rsqrt", Type::F64, true) if ftz => Some(unary!(f64 => f64, |a| approx::rsqrt_gross_f64(a))),
        ("rsqrt", Type::F64, true) => Some(unary!(f64 => f64, |a| approx::rsqrt_f64(a))),
        ("ex2", Type::F32, true) => Some(unary!(f32 => f32, |a; aux| approx::ex2(a, aux & FTZ != 0))),
        ("lg2", Type::F32, true) => Some(unary!(f32 => f32, |a; aux| approx::lg2(a, aux & FTZ != 0))),
        ("sin", Type::F32, true) => Some(unary!(f32 => f32, |a; aux| approx::sin(a, aux & FTZ != 0))),
        ("cos", Type::F32, true) => Some(unary!(f32 => f32, |a; aux| approx::cos(a, aux & FTZ != 0))),
        ("tanh", Type::F32, true) if !ftz => Some(unary!(f32 => f32, |a| approx::tanh(a))),
        ("ex2", _, true) => halves1!(ty, |a; aux, H| half::ex2::<H>(a, aux & FTZ != 0)),
        ("tanh", _, true) if !ftz => halves1!(ty, |a; _aux, H| half::tanh::<H>(a)),
        _ => None,
    };
    let Some(handlers) = handlers else { return no_type(ty) };
    emit1(e, i, handlers, (ty, ty), imm)
}

fn test(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>, ty: Type) -> Checked<()> {
    const PROPERTIES: [(&str, Property); 6] = [
        ("finite", Property::Finite),
        ("infinite", Property::Infinite),
        ("number", Property::Number),
        ("notanumber", Property::NotANumber),
        ("normal", Property::Normal),
        ("subnormal", Property::Subnormal),
    ];
    let property = w.find(|word| PROPERTIES.iter().position(|(known, _)| *known == word));
    w.finish()?;
    let Some(property) = property else { return Err("what to test is missing".into()) };
    let (dst, [a]) = slots(e, i, Type::Pred, [ty])?;
    #[inline(always)]
    fn property_of(aux: u64) -> Property {
        PROPERTIES[aux as usize % PROPERTIES.len()].1
    }
    let handlers = match ty {
        Type::F32 => compare!(f32, |a, _b; aux| single::test(a, property_of(aux))),
        Type::F64 => compare!(f64, |a, _b; aux| double::test(a, property_of(aux))),
        _ => return no_type(ty),
    };
    e.emit(handlers, Fields::new().dst(dst).a(a).b(a).imm(property as u64));
    Ok(())
}
