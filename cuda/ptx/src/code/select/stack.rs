//! Selects `alloca`, `stacksave`, `stackrestore`.

use super::super::emit::{Checked, Emitter};
use super::{Words, no_type, operands};
use crate::exec::level::Handlers;
use crate::exec::slots::{Fields, RegisterSlot};
use crate::exec::stack;
use crate::syntax::ast::{Immediate, Instruction, Operand};
use crate::syntax::types::Type;

/// The default alignment, and the largest one.
const ALIGN: u64 = 8;
const MAX_ALIGN: u64 = 1 << 16;

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    w.finish()?;
    if !matches!(ty, Type::U32 | Type::U64) {
        return no_type(ty);
    }
    match i.opcode {
        "alloca" => {
            let [dst, size, rest @ ..] = &i.operands[..] else { return Err("operands are missing".into()) };
            let imm = match rest {
                [] => ALIGN,
                [Operand::Immediate(Immediate::Integer { bits, .. })]
                    if bits.is_power_of_two() && *bits <= MAX_ALIGN =>
                {
                    *bits
                }
                _ => return Err(format!("an alignment is a power of two up to {MAX_ALIGN}")),
            };
            let size = e.source(size, ty)?;
            let a = if ty == Type::U32 { e.widen(size, false) } else { size };
            e.shared.dynamic_stack = true;
            write_result(e, dst, ty, |e, dst| {
                e.emit(Handlers::uniform(stack::allocate), Fields::new().dst(dst).a(a).imm(imm));
            })
        }
        "stacksave" => {
            let [dst] = operands(i)?;
            write_result(e, dst, ty, |e, dst| {
                e.emit(Handlers::uniform(stack::save), Fields::new().dst(dst));
            })
        }
        _ => {
            let [end] = operands(i)?;
            let end = e.source(end, ty)?;
            let a = if ty == Type::U32 { e.widen(end, false) } else { end };
            e.emit(Handlers::uniform(stack::restore), Fields::new().a(a));
            Ok(())
        }
    }
}

/// Emits an instruction with a 64-bit result for a destination that may have 32 bits.
fn write_result(
    e: &mut Emitter<'_, '_>,
    dst: &Operand,
    ty: Type,
    emit: impl FnOnce(&mut Emitter<'_, '_>, RegisterSlot),
) -> Checked<()> {
    let dst = e.target(dst, ty)?;
    if ty == Type::U64 {
        emit(e, dst);
        return Ok(());
    }
    let wide = e.temp64();
    emit(e, wide);
    let narrow = e.narrow(wide);
    e.copy(ty, dst, narrow);
    Ok(())
}
