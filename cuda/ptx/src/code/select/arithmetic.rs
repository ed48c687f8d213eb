//! Selects `add`, `sub`, `mul`, `mad`, `div`, `rem`, `abs`, `neg`, `min`, `max`, `sad`, `mul24`,
//! `mad24`, and the forms with carry. Integers are here, floating point is in `float`.

use super::super::emit::{Checked, Emitter};
use super::{Words, emit1, emit2, emit3, float, integers, no_constants, no_type, slots};
use crate::arith::int::{self, Integer};
use crate::exec::level::Handlers;
use crate::exec::ops::{CARRY_OUT, Carry, binary, carrying, ternary, unary};
use crate::exec::slots::Fields;
use crate::syntax::ast::Instruction;
use crate::syntax::types::Type;

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    match i.opcode {
        "addc" | "subc" | "madc" => return carry(e, i, w, true),
        "add" | "sub" | "mad" if i.has("cc") => return carry(e, i, w, false),
        "mul24" | "mad24" => return product24(e, i, w),
        _ => {}
    }
    if w.left.last() == Some(&"sat") {
        // ptxas also accepts the order of `mad.hi.s32.sat`.
        w.left.rotate_right(1);
    }
    let word = w.last()?;
    if matches!(word, "u16x2" | "s16x2") {
        return pair(e, i, w, word == "s16x2");
    }
    if word == "f32x2" {
        return float::pair32(e, i, w);
    }
    let Some(ty) = Type::from_word(word) else { return Err(format!("unknown type .{word}")) };
    if ty.is_float() {
        return float::arithmetic(e, i, w, ty);
    }
    match i.opcode {
        "mul" | "mad" => product(e, i, w, ty),
        _ => integer(e, i, w, ty),
    }
}

/// Evaluates an expression for each signed integer type.
macro_rules! signed {
    ($ty:expr, $T:ident => $e:expr) => {
        match $ty {
            Type::S16 => {
                type $T = i16;
                Some($e)
            }
            Type::S32 => {
                type $T = i32;
                Some($e)
            }
            Type::S64 => {
                type $T = i64;
                Some($e)
            }
            _ => None,
        }
    };
}

fn integer(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>, ty: Type) -> Checked<()> {
    let saturate = matches!(ty, Type::S32) && matches!(i.opcode, "add" | "sub") && w.flag("sat");
    let relu = matches!(ty, Type::S32) && matches!(i.opcode, "min" | "max") && w.flag("relu");
    w.finish()?;
    let one = match i.opcode {
        "abs" if ty.is_signed() => signed!(ty, T => unary!(T => T, |a| a.wrapping_abs())),
        "neg" if ty.is_signed() => signed!(ty, T => unary!(T => T, |a| a.wrapping_neg())),
        _ => None,
    };
    if let Some(handlers) = one {
        return emit1(e, i, handlers, (ty, ty), 0);
    }
    let two = match i.opcode {
        "add" if saturate => Some(binary!((i32, i32) => i32, |a, b| a.add_sat(b))),
        "sub" if saturate => Some(binary!((i32, i32) => i32, |a, b| a.sub_sat(b))),
        "min" if relu => Some(binary!((i32, i32) => i32, |a, b| a.min(b).max(0))),
        "max" if relu => Some(binary!((i32, i32) => i32, |a, b| a.max(b).max(0))),
        "add" => integers!(ty, T => binary!((T, T) => T, |a, b| a.wrapping_add(b))),
        "sub" => integers!(ty, T => binary!((T, T) => T, |a, b| a.wrapping_sub(b))),
        "min" => integers!(ty, T => binary!((T, T) => T, |a, b| a.min(b))),
        "max" => integers!(ty, T => binary!((T, T) => T, |a, b| a.max(b))),
        "div" => integers!(ty, T => binary!((T, T) => T, |a, b| a.quotient(b))),
        "rem" => integers!(ty, T => binary!((T, T) => T, |a, b| a.remainder(b))),
        _ => None,
    };
    if let Some(handlers) = two {
        return emit2(e, i, handlers, (ty, [ty; 2]), 0);
    }
    let three = match i.opcode {
        "sad" => integers!(ty, T => ternary!((T, T, T) => T, |a, b, c| a.sad(b, c))),
        _ => None,
    };
    match three {
        Some(handlers) => emit3(e, i, handlers, (ty, [ty; 3]), 0),
        None => no_type(ty),
    }
}

/// `mul` and `mad` of integers.
fn product(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>, ty: Type) -> Checked<()> {
    let Some(part) = w.one_of(&["lo", "hi", "wide"]) else {
        return Err("one of .lo, .hi and .wide is needed".into());
    };
    let add = i.opcode == "mad";
    let saturate = add && part == "hi" && ty == Type::S32 && w.flag("sat");
    w.finish()?;
    if part == "wide" {
        return wide_product(e, i, ty, add);
    }
    let handlers = match (add, part) {
        (false, "lo") => integers!(ty, T => binary!((T, T) => T, |a, b| a.wrapping_mul(b))),
        (false, _) => integers!(ty, T => binary!((T, T) => T, |a, b| a.mul_hi(b))),
        (true, "lo") => integers!(ty, T => ternary!((T, T, T) => T, |a, b, c| a.mad_lo(b, c))),
        (true, _) if saturate => Some(ternary!((i32, i32, i32) => i32, |a, b, c| a.mad_hi_sat(b, c))),
        (true, _) => integers!(ty, T => ternary!((T, T, T) => T, |a, b, c| a.mad_hi(b, c))),
    };
    match handlers {
        Some(handlers) if add => emit3(e, i, handlers, (ty, [ty; 3]), 0),
        Some(handlers) => emit2(e, i, handlers, (ty, [ty; 2]), 0),
        None => no_type(ty),
    }
}

fn wide_product(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, ty: Type, add: bool) -> Checked<()> {
    macro_rules! wide {
        ($T:ty, $W:ty) => {
            if add {
                ternary!(($T, $T, $W) => $W, |a, b, c| <$W>::from(a).wrapping_mul(<$W>::from(b)).wrapping_add(c))
            } else {
                binary!(($T, $T) => $W, |a, b| <$W>::from(a).wrapping_mul(<$W>::from(b)))
            }
        };
    }
    let (handlers, wide): (Handlers, Type) = match ty {
        Type::U16 => (wide!(u16, u32), Type::U32),
        Type::S16 => (wide!(i16, i32), Type::S32),
        Type::U32 => (wide!(u32, u64), Type::U64),
        Type::S32 => (wide!(i32, i64), Type::S64),
        _ => return no_type(ty),
    };
    if add {
        emit3(e, i, handlers, (wide, [ty, ty, wide]), 0)
    } else {
        emit2(e, i, handlers, (wide, [ty; 2]), 0)
    }
}

fn product24(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let word = w.last()?;
    let Some(ty) = Type::from_word(word) else { return Err(format!("unknown type .{word}")) };
    let Some(part) = w.one_of(&["lo", "hi"]) else { return Err("one of .lo and .hi is needed".into()) };
    let add = i.opcode == "mad24";
    let saturate = add && part == "hi" && ty == Type::S32 && w.flag("sat");
    w.finish()?;
    macro_rules! product {
        ($T:ty, $f:path) => {
            if add {
                ternary!(($T, $T, $T) => $T, |a, b, c| $f(a, b).wrapping_add(c))
            } else {
                binary!(($T, $T) => $T, |a, b| $f(a, b))
            }
        };
    }
    let handlers = match (ty, part) {
        (Type::U32, "lo") => product!(u32, int::mul24_lo_u32),
        (Type::U32, _) => product!(u32, int::mul24_hi_u32),
        (Type::S32, "lo") => product!(i32, int::mul24_lo_s32),
        (Type::S32, _) if saturate => {
            ternary!((i32, i32, i32) => i32, |a, b, c| int::mul24_hi_s32(a, b).saturating_add(c))
        }
        (Type::S32, _) => product!(i32, int::mul24_hi_s32),
        _ => return no_type(ty),
    };
    if add { emit3(e, i, handlers, (ty, [ty; 3]), 0) } else { emit2(e, i, handlers, (ty, [ty; 2]), 0) }
}

/// Selects an operation on two 16-bit integers in one register.
fn pair(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>, signed: bool) -> Checked<()> {
    let relu = signed && matches!(i.opcode, "min" | "max") && w.flag("relu");
    w.finish()?;
    macro_rules! halves {
        (|$a:ident, $b:ident| $e:expr) => {
            binary!((u32, u32) => u32, |x, y| int::pairwise([x, y], |[$a, $b]| $e))
        };
    }
    let handlers = match (i.opcode, signed, relu) {
        ("add", ..) => halves!(|a, b| a.wrapping_add(b)),
        ("min", false, _) => halves!(|a, b| a.min(b)),
        ("max", false, _) => halves!(|a, b| a.max(b)),
        ("min", true, false) => halves!(|a, b| (a as i16).min(b as i16) as u16),
        ("max", true, false) => halves!(|a, b| (a as i16).max(b as i16) as u16),
        ("min", true, true) => halves!(|a, b| (a as i16).min(b as i16).max(0) as u16),
        ("max", true, true) => halves!(|a, b| (a as i16).max(b as i16).max(0) as u16),
        _ => return Err("the instruction is not supported for pairs".into()),
    };
    no_constants(i)?;
    emit2(e, i, handlers, (Type::B32, [Type::B32; 2]), 0)
}

macro_rules! carry_op {
    ($T:ty, |$a:ident, $b:ident, $c:ident, $carry:ident| $e:expr) => {{
        struct O;
        impl Carry for O {
            type A = $T;
            #[inline(always)]
            fn apply(_aux: u64, $a: $T, $b: $T, $c: $T, $carry: bool) -> ($T, bool) {
                $e
            }
        }
        const { carrying::<O>() }
    }};
}

/// Selects `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`. `takes` says whether the carry is
/// read.
fn carry(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>, takes: bool) -> Checked<()> {
    let ty = w.ty()?;
    let out = w.flag("cc");
    let part = w.one_of(&["lo", "hi"]);
    w.finish()?;
    let kind = &i.opcode[..3];
    let handlers = match (kind, part, takes) {
        ("add", None, true) => integers!(ty, T => carry_op!(T, |a, b, _c, carry| a.add_carry(b, carry))),
        ("add", None, false) => integers!(ty, T => carry_op!(T, |a, b, _c, _carry| a.add_carry(b, false))),
        ("sub", None, true) => integers!(ty, T => carry_op!(T, |a, b, _c, carry| a.sub_carry(b, carry))),
        ("sub", None, false) => integers!(ty, T => carry_op!(T, |a, b, _c, _carry| a.sub_carry(b, true))),
        ("mad", Some("lo"), true) => {
            integers!(ty, T => carry_op!(T, |a, b, c, carry| a.wrapping_mul(b).add_carry(c, carry)))
        }
        ("mad", Some("lo"), false) => {
            integers!(ty, T => carry_op!(T, |a, b, c, _carry| a.wrapping_mul(b).add_carry(c, false)))
        }
        ("mad", Some("hi"), true) => {
            integers!(ty, T => carry_op!(T, |a, b, c, carry| a.mul_hi(b).add_carry(c, carry)))
        }
        ("mad", Some("hi"), false) => {
            integers!(ty, T => carry_op!(T, |a, b, c, _carry| a.mul_hi(b).add_carry(c, false)))
        }
        _ => None,
    };
    let Some(handlers) = handlers.filter(|_| ty.bits() >= 32) else { return no_type(ty) };
    let (dst, a, b, c) = if kind == "mad" {
        let (dst, [a, b, c]) = slots(e, i, ty, [ty; 3])?;
        (dst, a, b, c)
    } else {
        let (dst, [a, b]) = slots(e, i, ty, [ty; 2])?;
        (dst, a, b, b)
    };
    let d = e.carry();
    let imm = if out { CARRY_OUT } else { 0 };
    e.emit(handlers, Fields::new().dst(dst).a(a).b(b).c(c).d(d).imm(imm));
    Ok(())
}
