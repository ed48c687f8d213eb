//! Video instructions.

use super::super::Form;
use super::super::emit::{Checked, Emitter, Fields, SlotOffset};
use super::{Words, operands};
use crate::arith::compare::Comparison;
use crate::arith::video::{MultiplyAdd, Part, Scalar, Second, Simd, Video};
use crate::exec::level::Handlers;
use crate::exec::video;
use crate::syntax::ast::{Instruction, Operand, Selector};
use crate::syntax::types::Type;

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    match i.opcode {
        "vmad" => multiply_add(e, i, w),
        opcode if opcode.ends_with(['2', '4']) => simd(e, i, w),
        _ => scalar(e, i, w),
    }
}

/// `.s32` gives true, `.u32` false.
fn signed(w: &mut Words<'_>) -> Checked<bool> {
    w.one_of(&["s32", "u32"]).map(|word| word == "s32").ok_or_else(|| "a type is missing".into())
}

/// The operation that an opcode names, without the digit of its SIMD forms.
fn operation(opcode: &str, w: &mut Words<'_>) -> Checked<Video> {
    let shift = |w: &mut Words<'_>| {
        let mode = w.one_of(&["clamp", "wrap"]).ok_or("the mode is missing")?;
        Ok::<bool, String>(mode == "clamp")
    };
    Ok(match opcode {
        "vadd" => Video::Add,
        "vsub" => Video::Subtract,
        "vabsdiff" => Video::AbsoluteDifference,
        "vmin" => Video::Min,
        "vmax" => Video::Max,
        "vavrg" => Video::Average,
        "vshl" => Video::ShiftLeft { clamp: shift(w)? },
        "vshr" => Video::ShiftRight { clamp: shift(w)? },
        _ => Video::Compare(comparison(w)?),
    })
}

fn comparison(w: &mut Words<'_>) -> Checked<Comparison> {
    let found = w.find(|word| {
        Some(match word {
            "eq" => Comparison::Equal,
            "ne" => Comparison::NotEqual,
            "lt" => Comparison::Less,
            "le" => Comparison::LessOrEqual,
            "gt" => Comparison::Greater,
            "ge" => Comparison::GreaterOrEqual,
            _ => return None,
        })
    });
    found.ok_or_else(|| "the comparison is missing".into())
}

fn part(selector: Option<Selector>) -> Part {
    match selector {
        None => Part::Word,
        Some(Selector::Byte(index)) => Part::Byte(index),
        Some(Selector::Half(index)) => Part::Half(index),
    }
}

/// A source: its slot, its part, and whether it is negated.
fn source(e: &mut Emitter<'_, '_>, operand: &Operand) -> Checked<(SlotOffset, Part, bool)> {
    match operand {
        Operand::Selected { register, negated, selector } => {
            Ok((e.source(&Operand::Register(*register), Type::B32)?, part(*selector), *negated))
        }
        plain => Ok((e.source(plain, Type::B32)?, Part::Word, false)),
    }
}

/// A source that cannot be negated.
fn plain_source(e: &mut Emitter<'_, '_>, operand: &Operand) -> Checked<(SlotOffset, Part)> {
    match source(e, operand)? {
        (slot, part, false) => Ok((slot, part)),
        _ => Err("a negated operand is not supported here".into()),
    }
}

fn emit(e: &mut Emitter<'_, '_>, form: Form, fields: Fields) {
    e.shared.forms.push(form);
    let imm = e.shared.forms.len() as u64 - 1;
    e.emit(Handlers::same(video::video), Fields { imm, ..fields });
}

fn scalar(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let compares = i.opcode == "vset";
    let is_signed = if compares { false } else { signed(w)? };
    let (a_signed, b_signed) = (signed(w)?, signed(w)?);
    let operation = operation(i.opcode, w)?;
    let saturate = !compares && w.flag("sat");
    let second = w.one_of(&["add", "min", "max"]);
    w.finish()?;
    if matches!(operation, Video::ShiftLeft { .. } | Video::ShiftRight { .. }) && b_signed {
        return Err("the amount of a shift is of type .u32".into());
    }
    let (target, merged) = match &i.operands[..] {
        [Operand::Selected { register, negated: false, selector: Some(selector) }, ..] => {
            (Operand::Register(*register), Some(part(Some(*selector))))
        }
        [target, ..] => (target.clone(), None),
        [] => return Err("operands are missing".into()),
    };
    let second = match (second, merged) {
        (None, None) => Second::None,
        (None, Some(part)) => Second::Merge(part),
        (Some("add"), None) => Second::Add,
        (Some("min"), None) => Second::Min,
        (Some(_), None) => Second::Max,
        (Some(_), Some(_)) => {
            return Err("a second operation and a part of the destination exclude each other".into());
        }
    };
    let expected = if second == Second::None { 3 } else { 4 };
    if i.operands.len() != expected {
        return Err(format!("{} operands where {expected} are needed", i.operands.len()));
    }
    let ((a, a_part), (b, b_part)) = (plain_source(e, &i.operands[1])?, plain_source(e, &i.operands[2])?);
    let c = if expected == 4 { e.source(&i.operands[3], Type::B32)? } else { a };
    let dst = e.target(&target, Type::B32)?;
    let (a_read, b_read) = ((a_part, a_signed), (b_part, b_signed));
    let form = Scalar { operation, signed: is_signed, a: a_read, b: b_read, saturate, second };
    emit(e, Form::Scalar(form), Fields { dst, a, b, c, ..Fields::default() });
    Ok(())
}

/// The forms on two halves or four bytes, with each operand's own parts in order.
fn simd(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let (opcode, lanes) = i.opcode.split_at(i.opcode.len() - 1);
    let lanes = if lanes == "2" { 2 } else { 4 };
    let compares = opcode == "vset";
    let is_signed = if compares { false } else { signed(w)? };
    let (a_signed, b_signed) = (signed(w)?, signed(w)?);
    let operation = operation(opcode, w)?;
    let saturate = !compares && w.flag("sat");
    let accumulate = w.flag("add");
    w.finish()?;
    if saturate && accumulate {
        return Err(".sat and .add exclude each other".into());
    }
    let [target, a, b, c] = operands(i)?;
    let ((a, a_part), (b, b_part)) = (plain_source(e, a)?, plain_source(e, b)?);
    if (a_part, b_part) != (Part::Word, Part::Word) {
        return Err("a selection of parts is not supported here".into());
    }
    let (c, dst) = (e.source(c, Type::B32)?, e.target(target, Type::B32)?);
    let second = if lanes == 2 { [2, 3, 0, 0] } else { [4, 5, 6, 7] };
    let form = Simd {
        operation,
        lanes,
        signed: is_signed,
        a: ([0, 1, 2, 3], a_signed),
        b: (second, b_signed),
        saturate,
        mask: (1 << lanes) - 1,
        accumulate,
    };
    emit(e, Form::Simd(form), Fields { dst, a, b, c, ..Fields::default() });
    Ok(())
}

fn multiply_add(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let (d_signed, a_signed, b_signed) = (signed(w)?, signed(w)?, signed(w)?);
    let (plus_one, saturate) = (w.flag("po"), w.flag("sat"));
    let shift = match w.one_of(&["shr7", "shr15"]) {
        None => 0,
        Some("shr7") => 7,
        Some(_) => 15,
    };
    w.finish()?;
    let [target, a, b, c] = operands(i)?;
    let ((a, a_part, a_negated), (b, b_part, b_negated)) = (source(e, a)?, source(e, b)?);
    let (c, c_part, negate_c) = source(e, c)?;
    let negate_product = a_negated != b_negated;
    let signed = a_signed || b_signed || negate_product || negate_c;
    if c_part != Part::Word
        || (negate_product && negate_c)
        || (plus_one && (negate_c || a_negated || b_negated))
    {
        return Err("this combination of negations and parts is not supported".into());
    }
    if signed != d_signed {
        return Err(format!("the result is {}", if signed { "signed" } else { "unsigned" }));
    }
    let dst = e.target(target, Type::B32)?;
    let (a_read, b_read) = ((a_part, a_signed), (b_part, b_signed));
    let form = MultiplyAdd { a: a_read, b: b_read, negate_product, negate_c, plus_one, shift, saturate };
    emit(e, Form::MultiplyAdd(form), Fields { dst, a, b, c, ..Fields::default() });
    Ok(())
}
