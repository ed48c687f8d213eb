//! Selects logic, shifts and bit fields.

use super::super::emit::{Checked, Emitter};
use super::{Words, check_constant, emit1, emit2, emit3, integers, no_type, operands, slots, untyped};
use crate::arith::bits::{self, Bits, Permutation};
use crate::arith::int::Integer;
use crate::exec::level::Handlers;
use crate::exec::ops::{binary, predicate_logic, quaternary, ternary, unary};
use crate::exec::slots::{Fields, RegisterSlot};
use crate::syntax::ast::{Immediate, Instruction, Operand};
use crate::syntax::types::Type;

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    match i.opcode {
        "and" | "or" | "xor" | "not" | "cnot" => logic(e, i, w),
        "shl" | "shr" => shift(e, i, w),
        "shf" => funnel(e, i, w),
        "bfe" | "bfi" | "bfind" => field(e, i, w),
        "brev" | "clz" | "popc" => count(e, i, w),
        "prmt" => permute(e, i, w),
        "lop3" => logic3(e, i, w),
        _ => other(e, i, w),
    }
}

fn logic(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    w.finish()?;
    if ty == Type::Pred {
        return predicates(e, i);
    }
    let one = match i.opcode {
        "not" => untyped!(ty, T => unary!(T => T, |a| !a)),
        "cnot" => untyped!(ty, T => unary!(T => T, |a| T::from(a == 0))),
        _ => None,
    };
    if let Some(handlers) = one {
        return emit1(e, i, handlers, (ty, ty), 0);
    }
    let two = match i.opcode {
        "and" => untyped!(ty, T => binary!((T, T) => T, |a, b| a & b)),
        "or" => untyped!(ty, T => binary!((T, T) => T, |a, b| a | b)),
        "xor" => untyped!(ty, T => binary!((T, T) => T, |a, b| a ^ b)),
        _ => None,
    };
    match two {
        Some(handlers) => emit2(e, i, handlers, (ty, [ty; 2]), 0),
        None => no_type(ty),
    }
}

fn predicates(e: &mut Emitter<'_, '_>, i: &Instruction<'_>) -> Checked<()> {
    if i.opcode == "not" {
        let [dst, a] = operands(i)?;
        let (dst, a) = (e.target(dst, Type::Pred)?, e.predicate(a)?);
        let imm = if a.flip == 0 { 0b0000_1111 } else { 0b1111_0000 };
        let (a, handlers) = (a.slot, Handlers::uniform(predicate_logic));
        e.emit(handlers, Fields::new().dst(dst).a(a).b(a).c(a).imm(imm));
        return Ok(());
    }
    let [dst, a, b] = operands(i)?;
    let (a, b) = (e.predicate(a)?, e.predicate(b)?);
    let dst = e.target(dst, Type::Pred)?;
    let mut imm = 0;
    for row in 0..8u64 {
        let (x, y) = ((row >> 2 & 1 != 0) != (a.flip != 0), (row >> 1 & 1 != 0) != (b.flip != 0));
        let value = match i.opcode {
            "and" => x & y,
            "or" => x | y,
            "xor" => x ^ y,
            _ => return no_type(Type::Pred),
        };
        imm |= u64::from(value) << row;
    }
    let handlers = Handlers::uniform(predicate_logic);
    e.emit(handlers, Fields::new().dst(dst).a(a.slot).b(b.slot).c(b.slot).imm(imm));
    Ok(())
}

fn shift(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    w.finish()?;
    let handlers = if i.opcode == "shl" {
        untyped!(ty, T => binary!((T, u32) => T, |a, b| a.shift_left(b)))
    } else {
        let of_bits = untyped!(ty, T => binary!((T, u32) => T, |a, b| a.shift_right(b)));
        of_bits.or_else(|| integers!(ty, T => binary!((T, u32) => T, |a, b| a.shift_right(b))))
    };
    let Some(handlers) = handlers else { return no_type(ty) };
    emit2(e, i, handlers, (ty, [ty, Type::U32]), 0)
}

fn funnel(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    let direction = w.one_of(&["l", "r"]).ok_or("one of .l and .r is needed")?;
    let mode = w.one_of(&["clamp", "wrap"]).ok_or("one of .clamp and .wrap is needed")?;
    w.finish()?;
    if ty != Type::B32 {
        return no_type(ty);
    }
    let handlers = if direction == "l" {
        ternary!((u32, u32, u32) => u32, |a, b, c; aux| bits::funnel_left(a, b, c, aux != 0))
    } else {
        ternary!((u32, u32, u32) => u32, |a, b, c; aux| bits::funnel_right(a, b, c, aux != 0))
    };
    emit3(e, i, handlers, (ty, [ty, ty, Type::U32]), u64::from(mode == "clamp"))
}

fn field(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    let shift = i.opcode == "bfind" && w.flag("shiftamt");
    w.finish()?;
    let number = Type::U32;
    if let ("bfe" | "bfi", [.., start, length]) = (i.opcode, &i.operands[..]) {
        for operand in [start, length] {
            check_constant(operand, |bits| bits <= 255, "a number from 0 to 255")?;
        }
    }
    match i.opcode {
        "bfe" => {
            let handlers = match ty {
                Type::U32 => ternary!((u32, u32, u32) => u32, |a, b, c| a.extract(b, c)),
                Type::U64 => ternary!((u64, u32, u32) => u64, |a, b, c| a.extract(b, c)),
                Type::S32 => ternary!((u32, u32, u32) => u32, |a, b, c| a.extract_signed(b, c)),
                Type::S64 => ternary!((u64, u32, u32) => u64, |a, b, c| a.extract_signed(b, c)),
                _ => return no_type(ty),
            };
            emit3(e, i, handlers, (ty, [ty, number, number]), 0)
        }
        "bfi" => {
            let handlers = match ty {
                Type::B32 => quaternary!((u32, u32, u32, u32) => u32, |a, b, c, d; _aux| b.insert(a, c, d)),
                Type::B64 => quaternary!((u64, u64, u32, u32) => u64, |a, b, c, d; _aux| b.insert(a, c, d)),
                _ => return no_type(ty),
            };
            let (dst, [a, b, c, d]) = slots(e, i, ty, [ty, ty, number, number])?;
            e.emit(handlers, Fields::new().dst(dst).a(a).b(b).c(c).d(d));
            Ok(())
        }
        _ => {
            let handlers = match (ty, shift) {
                (Type::U32, false) => unary!(u32 => u32, |a| a.find()),
                (Type::U32, true) => unary!(u32 => u32, |a| a.find_shift()),
                (Type::S32, false) => unary!(u32 => u32, |a| a.find_signed()),
                (Type::S32, true) => unary!(u32 => u32, |a| a.find_shift_signed()),
                (Type::U64, false) => unary!(u64 => u32, |a| a.find()),
                (Type::U64, true) => unary!(u64 => u32, |a| a.find_shift()),
                (Type::S64, false) => unary!(u64 => u32, |a| a.find_signed()),
                (Type::S64, true) => unary!(u64 => u32, |a| a.find_shift_signed()),
                _ => return no_type(ty),
            };
            emit1(e, i, handlers, (number, ty), 0)
        }
    }
}

fn count(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    w.finish()?;
    let (handlers, target) = match (i.opcode, ty) {
        ("brev", Type::B32) => (unary!(u32 => u32, |a| a.reverse_bits()), ty),
        ("brev", Type::B64) => (unary!(u64 => u64, |a| a.reverse_bits()), ty),
        ("clz", Type::B32) => (unary!(u32 => u32, |a| a.leading_zeros()), Type::U32),
        ("clz", Type::B64) => (unary!(u64 => u32, |a| a.leading_zeros()), Type::U32),
        ("popc", Type::B32) => (unary!(u32 => u32, |a| a.count_ones()), Type::U32),
        ("popc", Type::B64) => (unary!(u64 => u32, |a| a.count_ones()), Type::U32),
        _ => return no_type(ty),
    };
    emit1(e, i, handlers, (target, ty), 0)
}

fn permute(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    const MODES: [(&str, Permutation); 6] = [
        ("f4e", Permutation::Forward4),
        ("b4e", Permutation::Backward4),
        ("rc8", Permutation::Replicate8),
        ("ecl", Permutation::EdgeLeft),
        ("ecr", Permutation::EdgeRight),
        ("rc16", Permutation::Replicate16),
    ];
    // The mode stands after the type.
    let mode = w.find(|word| MODES.iter().position(|(known, _)| *known == word));
    let ty = w.ty()?;
    w.finish()?;
    if ty != Type::B32 {
        return no_type(ty);
    }
    let handlers = match mode {
        None => ternary!((u32, u32, u32) => u32, |a, b, c| bits::permute(a, b, c, Permutation::Index)),
        Some(_) => ternary!((u32, u32, u32) => u32, |a, b, c; aux| {
            bits::permute(a, b, c, MODES[aux as usize % MODES.len()].1)
        }),
    };
    emit3(e, i, handlers, (ty, [ty; 3]), mode.unwrap_or(0) as u64)
}

fn logic3(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    let combination = w.one_of(&["and", "or"]);
    w.finish()?;
    let expected = if combination.is_some() { 6 } else { 5 };
    if i.operands.len() != expected {
        return Err(format!("{} operands where {expected} are needed", i.operands.len()));
    }
    let Operand::Immediate(Immediate::Integer { bits, .. }) = i.operands[4] else {
        return Err("the table must be a constant".into());
    };
    // The assembler uses the low eight bits of a larger constant.
    let table = bits & 0xff;
    if ty != Type::B32 {
        return no_type(ty);
    }
    let [a, b, c] = [1, 2, 3].map(|at| e.source(&i.operands[at], ty));
    let (a, b, c) = (a?, b?, c?);
    macro_rules! tables {
        ($($table:literal)*) => {
            match table {
                $($table => ternary!((u32, u32, u32) => u32, |a, b, c| bits::logic3(a, b, c, $table)),)*
                _ => ternary!((u32, u32, u32) => u32, |a, b, c; aux| bits::logic3(a, b, c, aux as u8)),
            }
        };
    }
    // The tables that compilers emit most often: xor of three, majority, choice, and, or.
    let handlers = tables!(0x96 0xe8 0xca 0xd8 0x80 0xfe 0xea 0xf8 0x78 0x6a);
    if let Some(combination) = combination {
        return logic3_predicate(e, i, (handlers, table), [a, b, c], combination);
    }
    let dst = e.target(&i.operands[0], ty)?;
    e.emit(handlers, Fields::new().dst(dst).a(a).b(b).c(c).imm(table));
    Ok(())
}

/// Selects `lop3.and.b32 d|p, a, b, c, table, q`: `p` is whether the result is not zero, combined
/// with `q`.
fn logic3_predicate(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    (handlers, table): (Handlers, u64),
    [a, b, c]: [RegisterSlot; 3],
    combination: &str,
) -> Checked<()> {
    let Operand::Pair(pair) = &i.operands[0] else { return Err("two destinations are needed".into()) };
    let (dst, p) = (e.target(&pair.0, Type::B32)?, e.target(&pair.1, Type::Pred)?);
    let q = e.predicate(&i.operands[5])?;
    let result = e.temp32();
    e.emit(handlers, Fields::new().dst(result).a(a).b(b).c(c).imm(table));
    let (holds, zero) = (e.temp_predicate(), e.constant32(0));
    let differs = crate::exec::ops::compare!(u32, |a, b| a != b);
    e.emit(differs, Fields::new().dst(holds).a(result).b(zero));
    let mut imm = 0;
    for row in 0..8u64 {
        let (x, y) = (row >> 2 & 1 != 0, (row & 1 != 0) != (q.flip != 0));
        imm |= u64::from(if combination == "and" { x & y } else { x | y }) << row;
    }
    let logic = Handlers::uniform(predicate_logic);
    e.emit(logic, Fields::new().dst(p).a(holds).b(q.slot).c(q.slot).imm(imm));
    e.copy(Type::B32, dst, result);
    Ok(())
}

fn other(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    match i.opcode {
        "fns" => {
            let ty = w.ty()?;
            w.finish()?;
            let handlers = ternary!((u32, u32, i32) => u32, |a, b, c| bits::find_nth_set(a, b, c));
            emit3(e, i, handlers, (ty, [Type::B32, Type::B32, Type::S32]), 0)
        }
        "szext" => {
            let ty = w.ty()?;
            let mode = w.one_of(&["clamp", "wrap"]).ok_or("one of .clamp and .wrap is needed")?;
            w.finish()?;
            let handlers = match ty {
                Type::U32 => binary!((u32, u32) => u32, |a, b; aux| bits::zero_extend(a, b, aux != 0)),
                Type::S32 => binary!((u32, u32) => u32, |a, b; aux| bits::sign_extend(a, b, aux != 0)),
                _ => return no_type(ty),
            };
            emit2(e, i, handlers, (ty, [ty, Type::U32]), u64::from(mode == "clamp"))
        }
        "bmsk" => {
            let ty = w.ty()?;
            let mode = w.one_of(&["clamp", "wrap"]).ok_or("one of .clamp and .wrap is needed")?;
            w.finish()?;
            let handlers = binary!((u32, u32) => u32, |a, b; aux| bits::bit_mask(a, b, aux != 0));
            emit2(e, i, handlers, (ty, [Type::U32; 2]), u64::from(mode == "clamp"))
        }
        _ => dot(e, i, w),
    }
}

/// `dp4a`, `dp2a`.
fn dot(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let (b_type, a_type) = (w.ty()?, w.ty()?);
    let high = i.opcode == "dp2a" && w.one_of(&["lo", "hi"]).ok_or("one of .lo and .hi is needed")? == "hi";
    w.finish()?;
    let signed = |ty| match ty {
        Type::S32 => Ok(true),
        Type::U32 => Ok(false),
        ty => no_type(ty),
    };
    let imm = u64::from(signed(a_type)?) | u64::from(signed(b_type)?) << 1 | u64::from(high) << 2;
    let handlers = if i.opcode == "dp4a" {
        ternary!((u32, u32, u32) => u32, |a, b, c; aux| bits::dot4(a, b, c, aux & 1 != 0, aux & 2 != 0))
    } else {
        ternary!((u32, u32, u32) => u32, |a, b, c; aux| {
            bits::dot2(a, b, c, aux & 4 != 0, aux & 1 != 0, aux & 2 != 0)
        })
    };
    let sum = if imm & 3 == 0 { Type::U32 } else { Type::S32 };
    emit3(e, i, handlers, (sum, [Type::B32, Type::B32, sum]), imm)
}
