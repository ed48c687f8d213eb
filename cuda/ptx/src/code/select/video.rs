//! Selects `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`, `vshl`, `vshr`, `vset`, `vmad`, and the
//! forms on two halves and four bytes.

use super::super::emit::{Checked, Emitter};
use super::Words;
use super::compare::comparison_named;
use crate::arith::video::{MultiplyAdd, Part, Scalar, Second, Simd, Video};
use crate::exec::level::Handlers;
use crate::exec::slots::{Fields, RegisterSlot};
use crate::exec::video::{Form, compute};
use crate::syntax::ast::{Instruction, Operand, Selector};
use crate::syntax::types::Type;

/// Returns whether this is a video instruction.
pub(super) fn is_video(opcode: &str) -> bool {
    let bare = opcode.strip_suffix(['2', '4']).unwrap_or(opcode);
    let simd = ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vavrg"];
    simd.contains(&bare) || matches!(opcode, "vshl" | "vshr" | "vmad")
}

/// Returns a source operand: its register, the selected part, and whether it is negated.
fn source_part(e: &mut Emitter<'_, '_>, operand: &Operand) -> Checked<(RegisterSlot, Part, bool)> {
    let Operand::Selected { register, negated, selector } = operand else {
        return Ok((e.source(operand, Type::B32)?, Part::Word, false));
    };
    let part = single_part(*selector)?.unwrap_or_default();
    Ok((e.source(&Operand::Register(*register), Type::B32)?, part, *negated))
}

/// Returns the part that a selector names, or an error if it names several.
fn single_part(selector: Option<Selector>) -> Checked<Option<Part>> {
    Ok(match selector {
        None => None,
        Some(Selector::Byte(index)) => Some(Part::Byte(index)),
        Some(Selector::Half(index)) => Some(Part::Half(index)),
        Some(Selector::Several { .. }) => return Err("one byte or half is needed".into()),
    })
}

/// Returns an operand of an instruction on `lanes` bytes or halves, with the numbers of its parts
/// if it selects them.
fn lane_parts(operand: &Operand, lanes: u32) -> Checked<(Operand, Option<[u8; 4]>)> {
    let Operand::Selected { register, negated: false, selector: Some(selector) } = operand else {
        return Ok((operand.clone(), None));
    };
    match *selector {
        Selector::Several { bytes, count, parts } if bytes == (lanes == 4) && u32::from(count) == lanes => {
            Ok((Operand::Register(*register), Some(parts)))
        }
        _ => Err(format!("{lanes} parts are needed")),
    }
}

/// Returns the destination of an instruction on `lanes` bytes or halves, with a bit for each part
/// that is written.
fn lane_mask(operand: &Operand, lanes: u32) -> Checked<(Operand, u32)> {
    let Operand::Selected { register, negated: false, selector: Some(selector) } = operand else {
        return Ok((operand.clone(), (1 << lanes) - 1));
    };
    let (bytes, count, parts) = match *selector {
        Selector::Byte(part) => (true, 1, [part, 0, 0, 0]),
        Selector::Half(part) => (false, 1, [part, 0, 0, 0]),
        Selector::Several { bytes, count, parts } => (bytes, count, parts),
    };
    let parts = &parts[..count.into()];
    let rising = parts.is_sorted_by(|a, b| a < b) && parts.iter().all(|&part| u32::from(part) < lanes);
    if bytes != (lanes == 4) || !rising {
        return Err("the destination has no such parts".into());
    }
    Ok((Operand::Register(*register), parts.iter().fold(0, |mask, part| mask | 1 << part)))
}

fn signedness(word: &str) -> Option<bool> {
    match word {
        "s32" => Some(true),
        "u32" => Some(false),
        _ => None,
    }
}

fn types<const N: usize>(w: &mut Words<'_>) -> Checked<[bool; N]> {
    let mut signs = [false; N];
    for sign in &mut signs {
        *sign = w.find(signedness).ok_or("a type .u32 or .s32 is missing")?;
    }
    Ok(signs)
}

fn operation(bare: &str, w: &mut Words<'_>) -> Checked<Video> {
    Ok(match bare {
        "vadd" => Video::Add,
        "vsub" => Video::Subtract,
        "vabsdiff" => Video::AbsoluteDifference,
        "vmin" => Video::Min,
        "vmax" => Video::Max,
        "vavrg" => Video::Average,
        "vset" => Video::Compare(w.find(comparison_named).ok_or("the comparison is missing")?),
        shift => {
            let clamp = w.one_of(&["clamp", "wrap"]).ok_or("one of .clamp and .wrap is needed")? == "clamp";
            if shift == "vshl" { Video::ShiftLeft { clamp } } else { Video::ShiftRight { clamp } }
        }
    })
}

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let lanes = match i.opcode.as_bytes().last() {
        Some(b'2') => 2,
        Some(b'4') => 4,
        _ => 1,
    };
    if i.opcode == "vmad" {
        return multiply_add(e, i, w);
    }
    let bare = i.opcode.strip_suffix(['2', '4']).unwrap_or(i.opcode);
    let [signed, a_signed, b_signed] = if bare == "vset" {
        let [a, b] = types(w)?;
        [false, a, b]
    } else {
        types(w)?
    };
    let operation = operation(bare, w)?;
    if matches!(operation, Video::ShiftLeft { .. } | Video::ShiftRight { .. }) && b_signed {
        return Err("the amount of a shift is of type .u32".into());
    }
    let saturate = w.flag("sat");
    if lanes > 1 {
        return simd(e, i, w, (operation, lanes, saturate), [signed, a_signed, b_signed]);
    }
    let second = w.one_of(&["add", "min", "max"]);
    w.finish()?;
    let [target, a, b, rest @ ..] = &i.operands[..] else { return Err("operands are missing".into()) };
    let ((a, a_part, _), (b, b_part, _)) = (source_part(e, a)?, source_part(e, b)?);
    let (target, merge) = match target {
        Operand::Selected { register, selector, negated: false } => {
            (Operand::Register(*register), single_part(*selector)?)
        }
        other => (other.clone(), None),
    };
    let (c, second) = match (rest, second, merge) {
        ([], None, None) => (a, Second::None),
        ([c], Some(second), None) => {
            let second = match second {
                "add" => Second::Add,
                "min" => Second::Min,
                _ => Second::Max,
            };
            (e.source(c, Type::B32)?, second)
        }
        ([c], None, Some(part)) => (e.source(c, Type::B32)?, Second::Merge(part)),
        _ => return Err("operands do not fit the instruction".into()),
    };
    let form = Scalar { operation, signed, a: (a_part, a_signed), b: (b_part, b_signed), saturate, second };
    finish(e, &target, [a, b, c], Form::Scalar(form))
}

fn simd(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    w: &mut Words<'_>,
    (operation, lanes, saturate): (Video, u32, bool),
    [signed, a_signed, b_signed]: [bool; 3],
) -> Checked<()> {
    let accumulate = w.flag("add");
    w.finish()?;
    let [target, a, b, c] = super::operands(i)?;
    let ((a, a_parts), (b, b_parts)) = (lane_parts(a, lanes)?, lane_parts(b, lanes)?);
    let (target, mask) = lane_mask(target, lanes)?;
    let [a, b, c] = [&a, &b, c].map(|operand| e.source(operand, Type::B32));
    let form = Simd {
        operation,
        lanes,
        signed,
        a: (a_parts.unwrap_or([0, 1, 2, 3]), a_signed),
        b: (b_parts.unwrap_or(if lanes == 2 { [2, 3, 0, 0] } else { [4, 5, 6, 7] }), b_signed),
        saturate,
        mask,
        accumulate,
    };
    finish(e, &target, [a?, b?, c?], Form::Simd(form))
}

fn multiply_add(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let [_, a_signed, b_signed] = types(w)?;
    let saturate = w.flag("sat");
    let shift = match w.one_of(&["shr7", "shr15"]) {
        Some("shr7") => 7,
        Some(_) => 15,
        None => 0,
    };
    let plus_one = w.flag("po");
    w.finish()?;
    let [target, a, b, c] = super::operands(i)?;
    let ((a, a_part, a_negated), (b, b_part, b_negated)) = (source_part(e, a)?, source_part(e, b)?);
    let (c, _, negate_c) = source_part(e, c)?;
    let negate_product = a_negated != b_negated;
    if plus_one && (negate_product || negate_c) {
        return Err(".po does not go with negated operands".into());
    }
    if negate_product && negate_c {
        return Err("either the product or what is added to it can be negated".into());
    }
    let form = MultiplyAdd {
        a: (a_part, a_signed),
        b: (b_part, b_signed),
        negate_product,
        negate_c,
        plus_one,
        shift,
        saturate,
    };
    finish(e, target, [a, b, c], Form::MultiplyAdd(form))
}

fn finish(
    e: &mut Emitter<'_, '_>,
    target: &Operand,
    [a, b, c]: [RegisterSlot; 3],
    form: Form,
) -> Checked<()> {
    let dst = e.target(target, Type::B32)?;
    let imm = e.shared.videos.len() as u64;
    e.shared.videos.push(form);
    e.emit(Handlers::uniform(compute), Fields::new().dst(dst).a(a).b(b).c(c).imm(imm));
    Ok(())
}
