//! Selects `mov` with packing, `cvta`, `isspacep`, `mapa`.

use super::super::emit::{Checked, Emitter};
use super::{Words, no_type, operands};
use crate::exec::access;
use crate::exec::address::{AccessSpace, WINDOW_BYTES};
use crate::exec::level::Handlers;
use crate::exec::ops::{binary, compare, unary};
use crate::exec::slots::{Fields, RegisterSlot};
use crate::syntax::ast::{Instruction, Operand};
use crate::syntax::types::{Axis, SpecialRegister, Type};

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    match i.opcode {
        "mov" => mov(e, i, w),
        "cvta" => convert_address(e, i, w),
        "isspacep" => is_space(e, i, w),
        "mapa" => map_address(e, i, w),
        _ => cluster_rank(e, i, w),
    }
}

fn mov(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    let count = w.one_of(&["v2", "v4"]).map(|word| if word == "v2" { 2 } else { 4 });
    w.finish()?;
    let [dst, a] = operands(i)?;
    if let Some(count) = count {
        return mov_vector(e, ty, dst, a, count);
    }
    match (dst, a) {
        (_, Operand::Vector(parts)) => pack(e, ty, dst, parts),
        (Operand::Vector(parts), _) => unpack(e, ty, parts, a),
        _ if ty == Type::Pred => {
            let dst = e.target(dst, ty)?;
            let a = e.predicate(a)?;
            let imm = if a.flip == 0 { 0b1111_0000 } else { 0b0000_1111 };
            let handlers = Handlers::uniform(crate::exec::ops::predicate_logic);
            e.emit(handlers, Fields::new().dst(dst).a(a.slot).b(a.slot).c(a.slot).imm(imm));
            Ok(())
        }
        _ => {
            let a = e.source_of_mov(a, ty)?;
            let dst = e.target(dst, ty)?;
            e.copy(ty, dst, a);
            Ok(())
        }
    }
}

/// Selects `mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid`.
fn mov_vector(e: &mut Emitter<'_, '_>, ty: Type, dst: &Operand, a: &Operand, count: usize) -> Checked<()> {
    let (Operand::Vector(targets), Operand::Vector(sources)) = (dst, a) else {
        return Err("two vectors are needed".into());
    };
    if targets.len() != count || sources.len() != count {
        return Err(format!("two vectors of {count} are needed"));
    }
    // A whole special register such as `%tid` provides its low bits. In other vectors, each
    // register must have the type.
    let whole = count == 4 && is_whole_special(sources);
    // A destination may also be a source.
    let mut values = Vec::new();
    for source in sources {
        let source = if whole { e.source_of_mov(source, ty)? } else { e.source(source, ty)? };
        let copy = e.temp(ty);
        e.copy(ty, copy, source);
        values.push(copy);
    }
    for (target, value) in targets.iter().zip(values) {
        let target = e.target(target, ty)?;
        e.copy(ty, target, value);
    }
    Ok(())
}

/// Returns whether a vector holds all axes of one special register, followed by a zero.
fn is_whole_special(parts: &[Operand]) -> bool {
    use SpecialRegister as S;
    let [Operand::Special(x), Operand::Special(y), Operand::Special(z), Operand::Immediate(_)] = parts else {
        return false;
    };
    let axis = |of: fn(Axis) -> S| [Axis::X, Axis::Y, Axis::Z].map(of) == [*x, *y, *z];
    [S::Tid, S::NTid, S::CtaId, S::NCtaId, S::ClusterId, S::NClusterId, S::ClusterCtaId, S::ClusterNCtaId]
        .into_iter()
        .any(axis)
}

/// Returns the type of one of `count` parts of a value.
fn part_type(ty: Type, count: usize) -> Checked<Type> {
    match (ty.bits(), count) {
        (16, 2) => Ok(Type::B8),
        (32, 2) | (64, 4) => Ok(Type::B16),
        (32, 4) => Ok(Type::B8),
        (64, 2) => Ok(Type::B32),
        (128, 2) => Ok(Type::B64),
        _ => Err(format!("{count} parts of a value of type {ty}")),
    }
}

/// Selects `mov.b32 %r, {a, b}`.
fn pack(e: &mut Emitter<'_, '_>, ty: Type, dst: &Operand, parts: &[Operand]) -> Checked<()> {
    let part = part_type(ty, parts.len())?;
    if ty.bits() == 128 {
        let slots = parts.iter().map(|operand| e.source(operand, part)).collect::<Checked<Vec<_>>>()?;
        let dst = e.target(dst, ty)?;
        for (slot, to) in slots.into_iter().zip(dst.halves()?) {
            e.copy(part, to, slot);
        }
        return Ok(());
    }
    let dst = e.target(dst, ty)?;
    let slots = parts.iter().map(|operand| e.source_or_wider(operand, part)).collect::<Checked<Vec<_>>>()?;
    let (bits, wide) = (part.bits(), ty.bits() == 64);
    if wide && slots.len() == 2 {
        let handlers = binary!((u32, u32) => u64, |a, b| u64::from(a) | u64::from(b) << 32);
        e.emit(handlers, Fields::new().dst(dst).a(slots[0]).b(slots[1]));
        return Ok(());
    }
    let pair = |e: &mut Emitter<'_, '_>, dst: RegisterSlot, a: RegisterSlot, b: RegisterSlot, bits: u32| {
        let handlers = binary!((u32, u32) => u32, |a, b; aux| a & ((1 << aux) - 1) | b << aux);
        e.emit(handlers, Fields::new().dst(dst).a(a).b(b).imm(bits.into()));
    };
    if let [a, b] = slots[..] {
        pair(e, dst, a, b, bits);
        return Ok(());
    }
    let (low, high) = (e.temp32(), e.temp32());
    pair(e, low, slots[0], slots[1], bits);
    pair(e, high, slots[2], slots[3], bits);
    if wide {
        let handlers = binary!((u32, u32) => u64, |a, b| u64::from(a) | u64::from(b) << 32);
        e.emit(handlers, Fields::new().dst(dst).a(low).b(high));
    } else {
        pair(e, dst, low, high, 16);
    }
    Ok(())
}

/// Selects `mov.b32 {a, b}, %r`.
fn unpack(e: &mut Emitter<'_, '_>, ty: Type, parts: &[Operand], a: &Operand) -> Checked<()> {
    let part = part_type(ty, parts.len())?;
    let source = e.source_of_mov(a, ty)?;
    if ty.bits() == 128 {
        for (part_operand, from) in parts.iter().zip(source.halves()?) {
            let dst = e.target(part_operand, part)?;
            e.copy(part, dst, from);
        }
        return Ok(());
    }
    // If a part is the source register itself, it is written last.
    let aliases = |operand: &Operand| operand == a;
    let (last, first): (Vec<_>, Vec<_>) = parts.iter().enumerate().partition(|(_, operand)| aliases(operand));
    for (index, operand) in first.into_iter().chain(last) {
        if *operand == Operand::Sink {
            continue;
        }
        let shift = u64::from(part.bits()) * index as u64;
        e.target_or_wider(operand, part, |e, dst| {
            let fields = Fields::new().dst(dst).a(source).imm(shift);
            let handlers = match ty.bits() {
                64 => unary!(u64 => u32, |a; aux| (a >> aux) as u32),
                _ => unary!(u32 => u32, |a; aux| a >> aux),
            };
            e.emit(handlers, fields);
        })?;
    }
    Ok(())
}

/// Takes the space that a modifier names.
fn space_of(w: &mut Words<'_>) -> Option<AccessSpace> {
    w.find(|word| match word {
        "global" => Some(AccessSpace::Global),
        "shared" | "shared::cta" | "shared::cluster" => Some(AccessSpace::Shared),
        "local" => Some(AccessSpace::Local),
        "const" => Some(AccessSpace::Const),
        "param" | "param::entry" => Some(AccessSpace::Param),
        _ => None,
    })
}

fn convert_address(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    let to_space = w.flag("to");
    let Some(space) = space_of(w) else { return Err("the space is missing".into()) };
    w.finish()?;
    let [dst, a] = operands(i)?;
    if ty != Type::U64 {
        return Err("only addresses of 64 bits are supported".into());
    }
    if let Operand::Symbol { .. } = a {
        // The name must belong to that space.
        e.address(a, space)?;
    }
    let a = e.source(a, ty)?;
    let dst = e.target(dst, ty)?;
    // Parameters of device functions are in local memory.
    let in_frame = space == AccessSpace::Param && !e.function.is_entry;
    let space = if in_frame { AccessSpace::Local } else { space };
    let window = space.window();
    if window == 0 {
        e.copy(ty, dst, a);
        return Ok(());
    }
    let shift = if to_space { window.wrapping_neg() } else { window };
    let b = e.constant64(shift);
    e.emit(binary!((u64, u64) => u64, |a, b| a.wrapping_add(b)), Fields::new().dst(dst).a(a).b(b));
    Ok(())
}

fn is_space(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let Some(space) = space_of(w) else { return Err("the space is missing".into()) };
    w.finish()?;
    let [dst, a] = operands(i)?;
    let narrow = matches!(a, Operand::Register(register) if e.register_type(*register).bits() == 32);
    let a = if narrow {
        let a = e.source(a, Type::B32)?;
        e.widen(a, false)
    } else {
        e.source(a, Type::B64)?
    };
    let dst = e.target(dst, Type::Pred)?;
    if matches!(space, AccessSpace::Global | AccessSpace::Const) {
        let imm = u64::from(space == AccessSpace::Const);
        e.emit(Handlers::uniform(access::is_space), Fields::new().dst(dst).a(a).imm(imm));
        return Ok(());
    }
    let b = e.constant64(space.window());
    let handlers = compare!(u64, |a, b| a.wrapping_sub(b) < WINDOW_BYTES);
    e.emit(handlers, Fields::new().dst(dst).a(a).b(b));
    Ok(())
}

/// Selects `mapa`: the shared address in another block of the cluster, of which there is only this
/// one.
fn map_address(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    w.flag("shared::cluster");
    w.finish()?;
    let [dst, a, _rank] = operands(i)?;
    if !matches!(ty, Type::U32 | Type::U64) {
        return no_type(ty);
    }
    let a = e.source(a, ty)?;
    let dst = e.target(dst, ty)?;
    e.copy(ty, dst, a);
    Ok(())
}

/// Selects `getctarank`: the block of the cluster that a shared address belongs to.
fn cluster_rank(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    w.flag("shared::cluster");
    w.finish()?;
    let [dst, a] = operands(i)?;
    e.source(a, ty)?;
    let (dst, zero) = (e.target(dst, Type::U32)?, e.constant32(0));
    e.copy(Type::B32, dst, zero);
    Ok(())
}
