//! Selects `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`, `bar.warp.sync`.

use super::super::emit::{Checked, Emitter};
use super::{Words, no_type, operands};
use crate::exec::collective::{self, MAGNITUDES, NEGATED, PROPAGATE_NAN, Reduction, SYNC};
use crate::exec::lanes::FULL;
use crate::exec::level::Handlers;
use crate::exec::slots::{Fields, RegisterSlot};
use crate::syntax::ast::{Instruction, Operand};
use crate::syntax::types::Type;

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    match i.opcode {
        "shfl" => shuffle(e, i, w),
        "vote" => vote(e, i, w),
        "match" => match_lanes(e, i, w),
        "redux" => reduce(e, i, w),
        "elect" => elect(e, i, w),
        _ => {
            let ty = w.ty()?;
            w.finish()?;
            if ty != Type::B32 {
                return no_type(ty);
            }
            let [dst] = operands(i)?;
            let dst = e.target(dst, ty)?;
            e.emit(Handlers::uniform(collective::active_mask), Fields::new().dst(dst));
            Ok(())
        }
    }
}

/// Returns a destination and the predicate after it, or an unused one if there is none.
fn with_predicate(e: &mut Emitter<'_, '_>, operand: &Operand) -> Checked<(RegisterSlot, RegisterSlot)> {
    match operand {
        Operand::Pair(pair) => Ok((e.target(&pair.0, Type::B32)?, e.target(&pair.1, Type::Pred)?)),
        single => Ok((e.target(single, Type::B32)?, e.scratch(Type::Pred))),
    }
}

/// Returns the register of the member lanes: the last operand of `.sync` instructions. Other
/// instructions ignore it.
fn members(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, sync: bool) -> Checked<RegisterSlot> {
    match i.operands.last() {
        Some(members) if sync => e.source(members, Type::B32),
        _ => Ok(e.constant32(FULL)),
    }
}

pub(super) fn warp_barrier(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    if !w.flag("sync") {
        return Err(".sync is needed".into());
    }
    w.finish()?;
    let [_] = operands(i)?;
    let c = members(e, i, true)?;
    e.emit_waiting(Handlers::uniform(collective::warp_barrier), Fields::new().c(c).d(SYNC));
    Ok(())
}

fn shuffle(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    let sync = w.flag("sync");
    let modes = ["up", "down", "bfly", "idx"];
    let mode = w.find(|word| modes.iter().position(|mode| *mode == word)).ok_or("the mode is missing")?;
    w.finish()?;
    if ty != Type::B32 {
        return no_type(ty);
    }
    let expected = if sync { 5 } else { 4 };
    if i.operands.len() != expected {
        return Err(format!("{} operands where {expected} are needed", i.operands.len()));
    }
    let a = e.source(&i.operands[1], ty)?;
    let (b, clamp) = (e.source(&i.operands[2], Type::B32)?, e.source(&i.operands[3], Type::B32)?);
    let c = members(e, i, sync)?;
    let (dst, predicate) = with_predicate(e, &i.operands[0])?;
    let list = e.shared.lists.add(&[clamp, c])?;
    let d = if sync { SYNC } else { 0 };
    let fields = Fields::new().dst(dst).a(a).b(b).c(list).d(d).site(predicate).imm(mode as u64);
    e.emit_waiting(Handlers::uniform(collective::shuffle), fields);
    Ok(())
}

fn vote(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    let sync = w.flag("sync");
    let modes = ["all", "any", "uni", "ballot"];
    let mode = w.find(|word| modes.iter().position(|mode| *mode == word)).ok_or("the mode is missing")?;
    w.finish()?;
    if ty != if mode == 3 { Type::B32 } else { Type::Pred } {
        return no_type(ty);
    }
    let expected = if sync { 3 } else { 2 };
    if i.operands.len() != expected {
        return Err(format!("{} operands where {expected} are needed", i.operands.len()));
    }
    let a = e.predicate(&i.operands[1])?;
    let c = members(e, i, sync)?;
    let dst = e.target(&i.operands[0], ty)?;
    let d = if sync { SYNC } else { 0 } | if a.flip != 0 { NEGATED } else { 0 };
    let fields = Fields::new().dst(dst).a(a.slot).c(c).d(d).imm(mode as u64);
    let handlers =
        if mode == 3 { Handlers::uniform(collective::ballot) } else { Handlers::uniform(collective::vote) };
    e.emit_waiting(handlers, fields);
    Ok(())
}

fn match_lanes(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    let mode = w.one_of(&["any", "all"]).ok_or("one of .any and .all is needed")?;
    if !w.flag("sync") {
        return Err(".sync is needed".into());
    }
    w.finish()?;
    let [dst, a, _] = operands(i)?;
    if !matches!(ty, Type::B32 | Type::B64) {
        return no_type(ty);
    }
    let (a, c) = (e.source(a, ty)?, members(e, i, true)?);
    let (dst, predicate) = with_predicate(e, dst)?;
    if matches!(i.operands[0], Operand::Pair(_)) && mode == "any" {
        return Err("there is no predicate destination".into());
    }
    let handlers = if ty == Type::B64 {
        Handlers::uniform(collective::match_lanes::<u64>)
    } else {
        Handlers::uniform(collective::match_lanes::<u32>)
    };
    let fields = Fields::new().dst(dst).a(a).c(c).d(SYNC).site(predicate).imm(u64::from(mode == "all"));
    e.emit_waiting(handlers, fields);
    Ok(())
}

fn reduce(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    let operation = w.one_of(&["add", "min", "max", "and", "or", "xor"]).ok_or("the operation is missing")?;
    if !w.flag("sync") {
        return Err(".sync is needed".into());
    }
    if ty == Type::F32 {
        return reduce_floats(e, i, w, operation);
    }
    w.finish()?;
    let reduction = match (operation, ty) {
        ("add", Type::U32 | Type::S32) => Reduction::Add,
        ("min", Type::U32) => Reduction::MinUnsigned,
        ("min", Type::S32) => Reduction::MinSigned,
        ("max", Type::U32) => Reduction::MaxUnsigned,
        ("max", Type::S32) => Reduction::MaxSigned,
        ("and", Type::B32) => Reduction::And,
        ("or", Type::B32) => Reduction::Or,
        ("xor", Type::B32) => Reduction::Xor,
        _ => return no_type(ty),
    };
    emit_reduction(e, i, ty, reduction as u64)
}

/// Selects `redux.f32`: the minimum or maximum; with `.abs` that of the magnitudes, with `.NaN` a
/// NaN if there is one.
fn reduce_floats(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    w: &mut Words<'_>,
    operation: &str,
) -> Checked<()> {
    let (magnitudes, nan) = (w.flag("abs"), w.flag("NaN"));
    w.finish()?;
    let reduction = match operation {
        "min" => Reduction::MinFloat,
        "max" => Reduction::MaxFloat,
        _ => return no_type(Type::F32),
    };
    let flag = |set: bool, bit: u64| if set { bit } else { 0 };
    let imm = reduction as u64 | flag(magnitudes, MAGNITUDES) | flag(nan, PROPAGATE_NAN);
    emit_reduction(e, i, Type::F32, imm)
}

fn emit_reduction(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, ty: Type, imm: u64) -> Checked<()> {
    let [dst, a, _] = operands(i)?;
    let (a, c) = (e.source(a, ty)?, members(e, i, true)?);
    let dst = e.target(dst, ty)?;
    e.emit_waiting(Handlers::uniform(collective::reduce), Fields::new().dst(dst).a(a).c(c).d(SYNC).imm(imm));
    Ok(())
}

fn elect(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    if !w.flag("sync") {
        return Err(".sync is needed".into());
    }
    w.finish()?;
    let [Operand::Pair(pair), _] = operands(i)? else { return Err("two destinations are needed".into()) };
    let c = members(e, i, true)?;
    let (dst, site) = (e.target(&pair.0, Type::B32)?, e.target(&pair.1, Type::Pred)?);
    e.emit_waiting(Handlers::uniform(collective::elect), Fields::new().dst(dst).c(c).d(SYNC).site(site));
    Ok(())
}
